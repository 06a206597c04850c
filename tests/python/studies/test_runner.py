"""Points are simulated once, stored, and reused. Stored points survive an interruption."""

import dataclasses
import json
import os
import signal
from math import isnan

import pytest

from lasthop import _core
from lasthop.batch import Parts
from lasthop.errors import Stopped
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.simulate import Progress
from lasthop.studies.runner import Plan, _Reader
from lasthop.studies.study import Run, Study


def tree(name: str, downloads: int = 1) -> dict:
    return {
        "name": name,
        "duration": "2 s",
        "replications": 3,
        "cell": {"phy": "802.11b"},
        "station": {"first": {"download": downloads}},
    }


def study(name: str = "fig01", **points: dict) -> Study:
    return Study(key=f"demo-{name}", title="a figure", points=points, measure=lambda runs: {})


def count_simulations(monkeypatch) -> list[str]:
    names: list[str] = []
    real = _core.simulate

    def counted(scenario, *options):
        names.append(json.loads(scenario.to_json())["name"])
        return real(scenario, *options)

    monkeypatch.setattr(_core, "simulate", counted)
    return names


def test_a_run_has_the_samples_of_every_replication(tmp_path):
    runs = Plan([study(one=tree("one"))]).run(tmp_path)
    goodput = runs["demo-fig01"]["one"].quantity("stations", "first", "goodput_bps")
    assert len(goodput.samples) == 3
    assert goodput.measured().simulated > 1e6


def test_a_point_is_simulated_once_for_all_studies_and_never_again(tmp_path, monkeypatch):
    names = count_simulations(monkeypatch)
    studies = [study(a=tree("one"), b=tree("two", 2)), study("fig02", c=tree("one"))]
    plan = Plan(studies)
    first = plan.run(tmp_path)
    assert sorted(names) == ["one", "two"]
    assert plan.finished(tmp_path) == (2, 2)
    again = Plan(studies).run(tmp_path)
    assert len(names) == 2
    assert again["demo-fig02"]["c"].samples == first["demo-fig01"]["a"].samples


def test_threads_are_spread_over_points_and_their_replications(tmp_path, monkeypatch):
    asked = []
    real = _core.simulate

    def noted(scenario, jobs, *options):
        asked.append(jobs)
        return real(scenario, jobs, *options)

    monkeypatch.setattr(_core, "simulate", noted)
    single = Plan([study(one=tree("one"))]).run(tmp_path / "one", jobs=1)
    assert Plan([study(one=tree("one"))]).run(tmp_path / "six", jobs=6) == single
    Plan([study(one=tree("one"), two=tree("two", 2))]).run(tmp_path / "two", jobs=6)
    assert asked == [1, 6, 3, 3]


def test_fewer_replications_are_other_runs_with_the_same_first_samples(tmp_path):
    full = Plan([study(one=tree("one"))]).run(tmp_path)
    quick = Plan([study(one=tree("one")).shortened(0.5)]).run(tmp_path)

    def samples(runs: dict[str, dict[str, Run]]) -> list[float]:
        run = runs["demo-fig01"]["one"]
        return list(run.quantity("stations", "first", "goodput_bps").samples)

    assert samples(quick) == samples(full)[:2]


def test_a_study_with_a_quick_form_is_shortened_to_it():
    quick = study(one=tree("one"))
    full = dataclasses.replace(study(one=tree("one", 2)), quick=quick)
    assert full.shortened(0.5) is quick


def test_an_interrupted_plan_continues_where_it_stopped(tmp_path, monkeypatch):
    studies = [study(a=tree("one"), b=tree("two", 2))]
    real = _core.simulate

    def disturbed(*args):
        os.kill(os.getpid(), signal.SIGINT)  # running simulations are completed
        return real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(_core, "simulate", disturbed)
        with pytest.raises(KeyboardInterrupt):
            Plan(studies).run(tmp_path, jobs=1)
    assert Plan(studies).finished(tmp_path) == (1, 2)
    assert json.loads((tmp_path / "progress.json").read_text())["state"] == "interrupted"
    names = count_simulations(monkeypatch)
    Plan(studies).run(tmp_path)
    assert names == ["two"]


def test_an_interrupted_point_is_not_saved(tmp_path):
    plan = Plan([study(a=tree("one") | {"duration": "20000 s"})])
    with pytest.raises(Stopped):
        plan.run(tmp_path, lambda progress: False)
    assert plan.finished(tmp_path) == (0, 1)


def test_a_callback_that_stops_between_replications_is_not_ctrl_c(tmp_path):
    long = {"duration": "500 s", "replications": 500}
    plan = Plan([study(a=tree("one") | long)])
    with pytest.raises(Stopped, match="finished runs are kept"):
        plan.run(tmp_path, lambda progress: progress["replications_done"] < 1, 1)
    assert plan.finished(tmp_path) == (0, 1)


def test_a_damaged_point_is_run_again(tmp_path, monkeypatch):
    plan = Plan([study(a=tree("one"))])
    plan.run(tmp_path)
    [file] = (tmp_path / "parts").iterdir()
    content = file.read_bytes()
    file.write_bytes(content[:-100])
    assert plan.finished(tmp_path) == (0, 1)
    names = count_simulations(monkeypatch)
    plan.run(tmp_path)
    assert names == ["one"]
    assert file.read_bytes() == content


def test_progress_runs_over_all_points(tmp_path):
    seen: list[Progress] = []
    plan = Plan([study(a=tree("one"), b=tree("two", 2))])
    plan.run(tmp_path, lambda progress: seen.append(dict(progress)) or True)
    assert {progress["total_s"] for progress in seen} <= {12.0}
    assert all(progress["simulated_s"] <= 12.0 for progress in seen)


def test_a_scenario_that_the_model_refuses_has_no_prediction_but_its_reason(tmp_path):
    udp = tree("udp") | {"station": {"first": {"udp_down": "1 Mbps"}}}
    run = Plan([study(udp=udp)]).run(tmp_path)["demo-fig01"]["udp"]
    assert run.prediction == {}
    assert len(run.remarks) == 1


def test_a_study_may_choose_its_model(tmp_path):
    downloads = study(one=tree("one"))
    named = dataclasses.replace(downloads, key="demo-fig02", model="edca")
    runs = Plan([downloads, named]).run(tmp_path)
    assert "collision_rate" not in runs["demo-fig01"]["one"].prediction["stations"]["first"]
    [remark] = runs["demo-fig02"]["one"].remarks
    assert remark.startswith("breaks the assumption that every TCP segment is acknowledged")


def test_a_run_keeps_the_series_that_its_scenario_records(tmp_path):
    recorded = tree("one") | {"record": {"series_interval": "500 ms"}}
    plan = Plan([study(plain=tree("one"), recorded=recorded)])
    first, again = plan.run(tmp_path), plan.run(tmp_path)
    times, lengths = first["demo-fig01"]["recorded"].track("queues", "ap", "occupancy_packets")
    assert times == [0.5, 1.0, 1.5, 2.0]
    assert len(lengths) == 4
    assert max(lengths) > 10
    assert again["demo-fig01"]["recorded"].series == first["demo-fig01"]["recorded"].series
    plain = first["demo-fig01"]["plain"]
    assert plain.samples == first["demo-fig01"]["recorded"].samples
    with pytest.raises(KeyError):
        plain.track("queues", "ap", "occupancy_packets")


def test_a_replication_without_a_number_is_nan_and_absent_series_are_empty(tmp_path, monkeypatch):
    stored = {"samples": b'{"cells": {"cell": {"jain": [1.0, null]}}}', "series": b"null"}
    monkeypatch.setattr(Parts, "read", lambda parts, key, what: stored[what])
    scenario = Scenario(tree("one"))
    run = _Reader(Parts(tmp_path)).run(scenario, None)
    first, second = run.samples["cells"]["cell"]["jain"]
    assert first == 1.0
    assert isnan(second)
    assert run.series == {}

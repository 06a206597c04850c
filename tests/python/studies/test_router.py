"""The packet-level studies of paper 004: their measured values, figures and scenarios."""

import dataclasses

import pytest

from lasthop.scenario.scenario import Scenario, check
from lasthop.studies.red import PACKETS, router
from lasthop.studies.runner import Plan
from lasthop.studies.study import Study

from .brief import RunsByStudy, read_by_claims


def short(study: Study) -> Study:
    """Return the study with few runs of one second.

    For figures 18 and 19, runs of two seconds are long enough that transfers end and queues lose
    packets. Points with more replications than other points still have more.
    """
    longer = study.name.startswith(("fig18", "fig19"))
    duration, warmup = ("2 s", "1 s") if longer else ("1 s", "0 s")
    points = {}
    for name, tree in study.points.items():
        few = {20: 3, 40: 4}.get(tree["replications"], 2)
        brief = {**tree, "duration": duration, "warmup": warmup, "replications": few}
        for shape in {"dumbbell", "parking_lot"} & set(tree):
            brief[shape] = {**tree[shape], "start_spread": "0.2 s"}
        brief["flow"] = {
            key: {**flow, "segments": 20} if "segments" in flow else flow
            for key, flow in tree["flow"].items()
        }
        if "from" in tree["record"]:
            brief["record"] = {k: value for k, value in tree["record"].items() if k != "from"}
        points[name] = brief
    return dataclasses.replace(study, points=points)


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> RunsByStudy:
    return RunsByStudy(map(short, PACKETS), tmp_path_factory.mktemp("studies"))


@pytest.mark.smoke(3)
@pytest.mark.parametrize("study", PACKETS, ids=lambda study: study.name)
def test_a_study_measures_every_value_that_claims_read(study, runs):
    values = study.values(runs[study.key])
    assert read_by_claims(study)
    assert read_by_claims(study) <= set(values)
    assert all(values[key].simulated is not None for key in read_by_claims(study))


def seconds(studies: list[Study]) -> float:
    """Return the total simulated time of the studies. A scenario in several studies is counted
    once. [s]
    """
    distinct = {Scenario(tree).key: tree for study in studies for tree in study.points.values()}
    return sum(
        float(tree["duration"].removesuffix(" s")) * tree["replications"]
        for tree in distinct.values()
    )


@pytest.mark.slow
def test_a_quick_run_simulates_an_eighth_and_measures_all_values_of_claims(tmp_path):
    quick = [study.shortened(0.3) for study in PACKETS]
    assert seconds(quick) < seconds(list(PACKETS)) / 8
    assert all("quick" in study.title for study in quick)
    fig18 = next(study for study in quick if study.name == "fig18")
    runs = Plan([short(fig18)]).run(tmp_path)
    values = fig18.values(runs[fig18.key])
    assert values["fig18.completion_red_200"].simulated is not None
    # A transfer of another size cannot be compared with the paper's gain of five minutes.
    assert values["fig18.completion_gain_200"].simulated is None


@pytest.mark.parametrize("study", PACKETS, ids=lambda study: study.name)
def test_a_study_draws_its_figure_with_labelled_axes(study, runs):
    figure = study.draw(runs[study.key])
    assert all(axes.get_ylabel() for axes in figure.axes)
    assert figure.axes[-1].get_xlabel()
    findings = study.findings(runs[study.key])
    assert all(any(letter.isdigit() for letter in text) for text in findings.values())


def test_the_router_is_that_of_section_5():
    tree = check(router.dumbbell(200, router.red(50, 100)))
    assert (tree["duration_s"], tree["warmup_s"]) == (500, 475)
    [bottleneck] = [link for link in tree["links"] if link["name"] == "bottleneck"]
    assert bottleneck["rate_bps"] == 100e6
    assert bottleneck["queue_packets"] == 2084
    rates = sorted(link["rate_bps"] for link in tree["links"] if link["name"].endswith("/access"))
    assert len(rates) == 60
    assert rates[0] == 1.99e6
    assert rates[-1] == 2.01e6
    by_name = {link["name"]: link for link in tree["links"]}
    for flow in tree["flows"]:
        round_trip = sum(by_name[name]["delay_s"] for name in flow["forward"] + flow["back"])
        assert round_trip == pytest.approx(0.2)
        assert flow["tcp"]["congestion"] == "compound"
        assert flow["tcp"]["mss_bytes"] + flow["tcp"]["header_bytes"] == 1500


def test_the_parking_lot_is_that_of_figure_16():
    tree = check(router.parking_lot(10, router.threshold(15)))
    routes = {
        tuple(name for name in flow["forward"] if name.startswith("bottleneck"))
        for flow in tree["flows"]
    }
    first, second = "bottleneck-1", "bottleneck-2"
    assert routes == {(first, second), (first,), (second,)}
    assert len(tree["flows"]) == 90


def test_loss_at_two_queues_combines_both(runs):
    run = runs["red-fig19"]["red-10"]
    first, other = (router.loss(run, (link,)) for link in ("bottleneck-1", "bottleneck-2"))
    both = router.loss(run, ("bottleneck-1", "bottleneck-2"))
    assert both.samples == pytest.approx(1 - (1 - first.samples) * (1 - other.samples))

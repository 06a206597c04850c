"""Results and scenarios can be pickled, copied and compared."""

import copy
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.emulation import Emulation
from lasthop.tuning.search import TuneProgress

from .conftest import EXAMPLES, SMALL

WAYS: dict[str, Callable[[Any], Any]] = {
    "pickle": lambda answer: pickle.loads(pickle.dumps(answer)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}

SHORT = {"duration": "4 s", "warmup": "1 s"}
KINDS = {"cell": "hotspot.toml", "router": "dumbbell.toml", "graph": "csma-hidden.toml"}


@pytest.fixture(scope="module", params=KINDS)
def result(request: pytest.FixtureRequest) -> lh.Result:
    """Return a result of a cell, of a router, or of a conflict graph."""
    path = EXAMPLES / KINDS[request.param]
    return lh.simulate(path, settings=SHORT, replications=2, series="0.5 s")


@pytest.fixture(scope="module")
def everything(result: lh.Result) -> list[Any]:
    """Return one object of each class, about the same scenario if possible."""
    scenario = result.scenario
    over = {"seed": [1, 2]}
    bare = lh.check(EXAMPLES / Path(scenario.source).name)
    answers = [scenario, result, lh.compare(bare, settings=SHORT, replications=1)]
    answers.append(Emulation({**result.summary, "kind": "emulation"}, scenario))
    answers.append(lh.sweep(bare, over, settings=SHORT, replications=1))
    return [*answers, *([answers[2].prediction] if answers[2].prediction is not None else [])]


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_object_is_equal_and_has_the_same_hash(everything: list[Any], way: str) -> None:
    for answer in everything:
        again = WAYS[way](answer)
        assert again == answer
        assert hash(again) == hash(answer)
        assert type(again) is type(answer)
        assert repr(again) == repr(answer)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_result_is_complete(result: lh.Result, way: str) -> None:
    again = WAYS[way](result)
    assert again.to_json() == result.to_json()
    assert again.warnings == result.warnings
    assert again.sample_tree == result.sample_tree
    assert again.series.equals(result.series)
    assert again.scenario == result.scenario
    assert (again.interrupted, again.seed) == (result.interrupted, result.seed)


@pytest.mark.parametrize("way", WAYS)
def test_a_copied_result_writes_the_same_capture(
    small_result: lh.Result, tmp_path: Path, way: str
) -> None:
    again = WAYS[way](small_result)
    small_result.save_capture(tmp_path / "here.pcapng")
    again.save_capture(tmp_path / "there.pcapng")
    assert again.frame_count == 1000
    content = (tmp_path / "there.pcapng").read_bytes()
    assert len(content) > 10_000
    assert content == (tmp_path / "here.pcapng").read_bytes()


def test_a_pickle_is_read_without_the_engine_and_without_files(small: Path) -> None:
    packed = pickle.dumps(lh.simulate(small))
    small.unlink()
    assert b"SimulationOutput" not in packed
    assert pickle.loads(packed) == lh.simulate(SMALL)


def test_results_differ_only_by_seed_and_samples() -> None:
    first = lh.simulate(SMALL)
    assert first == lh.simulate(SMALL, jobs=2)
    assert first != lh.simulate(SMALL, seed=5)
    assert first != first.to_dict()
    other = pickle.loads(pickle.dumps(first))
    changed = other._output.samples_json.replace("1", "2", 1)
    object.__setattr__(other._output, "samples_json", changed)
    assert other.to_json() == first.to_json()
    assert other != first


def test_missing_values_are_equal() -> None:
    """A quantity without a value is null in JSON and NaN in Python."""
    endless = {"station.near.download.segments": 100_000}  # the downloads do not complete
    first, other = (lh.simulate(SMALL, settings=endless, replications=2) for _ in range(2))
    assert None in first.sample_tree["flows"]["near/down/1"]["completion_s"]
    assert first == other
    model, same = (
        lh.Prediction({"scenario": "x", "model": "m", "p": float("nan")}, None) for _ in range(2)
    )
    assert model == same
    assert hash(model) == hash(same)


def test_a_deep_copy_shares_nothing_that_can_be_changed() -> None:
    first = lh.simulate(SMALL, replications=1)
    other, shallow = copy.deepcopy(first), copy.copy(first)
    other.summary["stations"][0]["name"] = "another"
    assert first.summary["stations"][0]["name"] == "near"
    assert shallow.summary == first.summary
    assert other == first  # a changed dictionary does not change the result


def test_scenarios_with_the_same_meaning_are_equal_and_a_single_element_of_a_set() -> None:
    first, other = lh.Scenario(SMALL), lh.Scenario("# the same\n" + SMALL)
    assert len({first, other, first.with_("seed", 2)}) == 2
    assert copy.deepcopy(first) is first


@pytest.fixture(scope="module")
def tuning() -> lh.Tuning:
    """Return the result of a search whose progress cannot be pickled."""
    seen: list[TuneProgress] = []
    return lh.tune(
        {
            "duration": "2 s",
            "warmup": "1 s",
            "replications": 1,
            "cell": {"phy": "802.11b", "cwmax": 63},
            "station": {"reader": {"count": 2, "download": 1}},
        },
        pifs=False,
        txop=False,
        confirm=1,
        progress=lambda at: seen.append(at),
    )


@pytest.mark.parametrize("way", WAYS)
def test_a_tuning_can_be_copied(tuning: lh.Tuning, way: str) -> None:
    again = WAYS[way](tuning)
    assert again == tuning
    assert hash(again) == hash(tuning)
    assert again.to_json() == tuning.to_json()
    assert again.chosen.result == tuning.chosen.result
    assert again.scenario == tuning.scenario
    assert again.table.equals(tuning.table)
    assert repr(again) == repr(tuning)


def test_interruptions_and_errors_can_be_pickled() -> None:
    for error in (lh.UserError("a", "b"), lh.Stopped("a", [1]), lh.TooCostlyError("a", "b")):
        again = pickle.loads(pickle.dumps(error))
        assert (str(again), type(again)) == (str(error), type(error))
    assert pickle.loads(pickle.dumps(lh.Stopped("a", [1]))).finished == [1]
    assert pickle.loads(pickle.dumps(lh.UserError("a", "b"))).hint == "b"

"""Arguments of the wrong type are refused in one line, with name, value and what is accepted."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lasthop as lh
from lasthop.arguments import short

from .conftest import CALL, SMALL

ITSELF: dict[str, Any] = dict(CALL)
ITSELF["cell"] = ITSELF

NESTED: list[Any] = []
NESTED.append(NESTED)


@pytest.mark.parametrize("scenario", [5, None, b"x", [CALL], object()])
@pytest.mark.parametrize("function", [lh.check, lh.simulate, lh.predict, lh.Session])
def test_other_objects_are_no_scenarios(function: Callable[..., Any], scenario: Any) -> None:
    with pytest.raises(lh.ScenarioError) as caught:
        function(scenario)
    accepted = "is no scenario; expected a file name, text, a mapping or a Scenario"
    assert str(caught.value) == f"{short(scenario)}: {accepted}"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("a=1", r"^settings='a=1': expected a mapping of key paths, or pairs"),
        (3, "^settings=3: expected a mapping"),
        (None, "^settings=None: expected a mapping"),
        ([("a",)], r"^settings=\[\('a',\)\]: expected a mapping"),
        ({3: 4}, "^settings={3: 4}: expected a mapping"),
        ({"seed": 1j}, "^settings seed: `seed`: 1j: expected a number, text, a boolean, a list"),
        ({"seed": np.array([1, 2])}, r"^settings seed=\[1, 2\]: `seed`: a list is not a number"),
        ({"seed": NESTED}, "^settings seed: `seed`: has more than 100 levels, or contains itself$"),
    ],
)
def test_wrong_settings_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(lh.UserError, match=message) as caught:
        lh.simulate(SMALL, settings=settings)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("scenario", "message"),
    [
        (ITSELF, "^<dict>: `cell`: has more than 100 levels, or contains itself$"),
        ({**CALL, "seed": 1j}, "^<dict>: `seed`: 1j: expected a number, text, a boolean, a list"),
        ({**CALL, "station": {"a": {"upload": {1}}}}, "^<dict>: `station.a.upload`: .1.: expected"),
        ({**CALL, ("a", "b"): 1}, "unknown key"),
    ],
)
def test_wrong_values_of_a_mapping_are_refused(scenario: Any, message: str) -> None:
    with pytest.raises(lh.ScenarioError, match=message):
        lh.check(scenario)


def test_arrays_of_numpy_are_values() -> None:
    assert lh.Scenario(SMALL, {"seed": np.array(3)})["seed"] == 3
    assert lh.Scenario({**CALL, "seed": np.array(3)})["seed"] == 3


@pytest.mark.parametrize("function", [lh.simulate, lh.compare, lh.tune, lh.explain, lh.reproduce])
def test_progress_must_be_a_function(function: Callable[..., Any]) -> None:
    given = () if function is lh.reproduce else (SMALL,)
    with pytest.raises(lh.UserError, match=r"^progress=3: expected a function, or None$"):
        function(*given, progress=3)


def test_other_arguments_of_many_simulations_are_checked() -> None:
    number: Any = 3
    with pytest.raises(lh.UserError, match=r"^progress=3: expected"):
        lh.sweep(SMALL, {"seed": [1, 2]}, progress=number)
    with pytest.raises(lh.UserError, match=r"^progress=3: expected"):
        lh.what_if(SMALL, {"other": {"seed": 2}}, progress=number)
    with pytest.raises(lh.ScenarioError, match=r"^settings seed: `seed`: 1j: expected"):
        lh.sweep(SMALL, {"seed": [1, 1j]})
    with pytest.raises(lh.ScenarioError, match=r"^settings seed: `seed`: 1j: expected"):
        lh.what_if(SMALL, {"other": {"seed": 1j}})


@pytest.mark.parametrize("function", [lh.simulate, lh.Session])
def test_tails_is_true_or_false(function: Callable[..., Any]) -> None:
    with pytest.raises(lh.UserError, match=r"^tails='no': expected True or False$"):
        function(SMALL, tails="no")
    assert function(SMALL, tails=np.bool_(False)) is not None


def test_values_are_short_in_messages() -> None:
    assert short(np.float64(0.5)) == "0.5"
    assert short(np.array([1, 2])) == "[1, 2]"
    assert short(np.ndarray) == "<class 'numpy.ndarray'>"
    assert short("a\nb") == r"'a\nb'"
    assert len(short([0] * 1000)) == 63

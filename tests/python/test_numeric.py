"""Numbers of all types among the arguments of functions, except booleans."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import lasthop as lh
from lasthop.numeric import real_number, whole_number
from lasthop.simulation.simulate import thread_count

from .conftest import SMALL


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.array(3)])
def test_whole_numbers_of_all_types_are_accepted(value: object) -> None:
    assert whole_number(value) == 3
    assert type(whole_number(value)) is int
    assert real_number(value) == 3.0


@pytest.mark.parametrize("value", [True, False, np.bool_(True), 3.0, np.float64(3.0), "3", None])
def test_other_values_are_no_whole_numbers(value: object) -> None:
    assert whole_number(value) is None


def test_real_numbers_of_all_types_are_accepted() -> None:
    numbers = [0.5, np.float32(0.5), np.float64(0.5), Fraction(1, 2)]
    assert [real_number(number) for number in numbers] == [0.5] * 4
    assert [real_number(value) for value in (True, "0.5", None, np.zeros(2))] == [None] * 4


def test_functions_accept_whole_numbers_of_numpy() -> None:
    one: Any = np.int64(1)
    expected = lh.simulate(SMALL, replications=1, seed=1, jobs=1).summary
    assert lh.simulate(SMALL, replications=one, seed=one, jobs=one).summary == expected
    many = lh.simulate_many(SMALL, quantities="cells.jain", seeds=[one], jobs=one)
    assert many["cells.jain"].shape == (1,)
    session = lh.Session(SMALL, replication=one)
    assert session.read() == lh.Session(SMALL, replication=1).read()
    assert thread_count(one) == 1


@pytest.mark.parametrize("jobs", [True, 1.0, "1", 0])
def test_other_values_are_refused_as_a_number_of_threads(jobs: Any) -> None:
    with pytest.raises(lh.UserError, match=f"^jobs={jobs!r}: must be a whole number of threads"):
        lh.simulate(SMALL, jobs=jobs)


def test_other_values_are_refused_in_a_search_and_in_a_session() -> None:
    with pytest.raises(lh.UserError, match=r"^confirm=True: must be a whole number"):
        lh.tune(SMALL, confirm=True)
    with pytest.raises(lh.UserError, match=r"^give_up=True: must be a fraction"):
        lh.tune(SMALL, give_up=True)
    with pytest.raises(lh.UserError, match=r"^replication=True: expected a whole number from 0 to"):
        lh.Session(SMALL, replication=True)

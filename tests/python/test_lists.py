"""Requests for lists and time series that a result does not have."""

import pytest

import lasthop as lh
from lasthop.answers.quantities import LISTS

CELL = {
    "duration": "1 s",
    "replications": 1,
    "cell": {"phy": "802.11b"},
    "station": {"reader": {"download": 1}, "writer": {"upload": 1}},
}


@pytest.fixture(scope="module")
def result() -> lh.Result:
    return lh.simulate(CELL, series="0.5 s")


def test_an_unknown_list_is_refused_with_similar_names(result):
    with pytest.raises(lh.UserError, match=r'^no list "flow"; the nearest are flows') as caught:
        result.table("flow")
    assert caught.value.hint == f"the lists are {', '.join(LISTS)}"


def test_a_list_that_this_result_lacks_is_empty(result):
    assert result.table("links").empty
    assert not result.table("flows").empty


def test_an_unknown_series_is_refused_with_the_series_most_similar_in_each_part(result):
    with pytest.raises(lh.UserError) as caught:
        result.track("queue", "wrter", "occupancy")
    start = "no series of queue, wrter, occupancy; the nearest are queues, writer, "
    assert str(caught.value).startswith(f"{start}occupancy_packets; ")


def test_check_accepts_settings():
    changed = lh.check(CELL, settings={"cell.ap_queue": 7})
    assert changed["cell.ap.queue_packets"] == 7
    assert lh.check(changed) is changed

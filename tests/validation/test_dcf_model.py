"""Saturated UDP in cells of 802.11a, b and g: the model `dcf`, compared with the engine.

The grid is that of ``docs/papers/dcf.md``, which states the error of the model.
"""

from collections.abc import Iterator
from itertools import islice, product
from pathlib import Path
from typing import Any

import pytest

import lasthop as lh
from lasthop.models.dcf.assumptions import SMALL_ERRORS, SPREAD, TIMEOUT_ERROR

RATES = {"802.11b": ("1 Mbps", "11 Mbps")}
OFDM_RATES = ("6 Mbps", "54 Mbps")
COLLISIONS = 0.018
"""Largest error of a station's collision rate in the grid. [-]"""
UP = {"udp_up": "greedy"}


def scenario(stations: dict[str, Any], seconds: int, **cell: Any) -> lh.Scenario:
    return lh.Scenario(
        {
            "name": "saturated",
            "duration": f"{seconds + 1} s",
            "warmup": "1 s",
            "replications": 2,
            "seed": 1,
            "cell": cell,
            "station": stations,
        }
    )


def grid(start: int = 0, step: int = 1) -> Iterator[lh.Scenario]:
    """Yield the cells number `start`, `start + step` and so on of the grid of 1,440 cells. The page
    of the model states the errors in this grid.
    """
    cells = product(
        ("802.11b", "802.11g", "802.11a"),
        (1, 2, 5, 10, 30),
        (0, 1),
        (7, 15, 31, 63),
        (False, True),
        (100, 1472),
        (0, 0.1, 0.3),
    )
    for phy, count, rate, cwmin, protect, payload, error in islice(cells, start, None, step):
        cell = {"phy": phy, "cwmin": cwmin, "rate": RATES.get(phy, OFDM_RATES)[rate]}
        if protect:
            cell["rts_threshold"] = "0 B"
        source = {"rate": "greedy", "packet": f"{payload} B"}
        stations = {"s": {"count": count, "udp_up": source, "error": error}}
        yield scenario(stations, 60 if phy == "802.11b" else 20, **cell)


def off(known: lh.Scenario) -> tuple[float, float]:
    """Return the relative error of the cell's goodput, and the error of a station's collision rate.
    [-]
    """
    seen, predicted = lh.simulate(known).summary, lh.predict(known).summary
    assert predicted["model"] == "dcf"

    def goodput(summary: Any) -> float:
        return float(summary["cells"][0]["goodput_bps"]["mean"])

    def collisions(summary: Any) -> float:
        senders = [*summary["stations"], *summary["aps"]]
        rates = [
            sender["collision_rate"]["mean"] for sender in senders if "collision_rate" in sender
        ]
        return float(sum(rates) / len(rates))

    return goodput(predicted) / goodput(seen) - 1.0, collisions(predicted) - collisions(seen)


def test_a_cell_of_each_physical_layer_is_within_the_spread() -> None:
    for known in grid(200, 480):
        error, collided = off(known)
        assert abs(error) <= SPREAD
        assert abs(collided) <= COLLISIONS


@pytest.mark.slow
def test_cells_are_as_far_off_as_the_page_says() -> None:
    errors = [off(known) for known in grid()]
    goodputs = sorted(abs(error) for error, _ in errors)
    assert goodputs[-1] <= SPREAD
    assert goodputs[int(0.95 * len(goodputs))] <= 0.008
    assert max(abs(collided) for _, collided in errors) <= COLLISIONS


@pytest.mark.slow
@pytest.mark.parametrize("phy", ["802.11b", "802.11g"])
@pytest.mark.parametrize("count", [2, 5, 20])
def test_small_windows_and_timeouts_are_as_far_off_as_warnings_say(phy: str, count: int) -> None:
    for cwmin in (1, 3, 5):
        most = next(error for up_to, error in SMALL_ERRORS if cwmin <= up_to)
        error, _ = off(scenario({"s": {"count": count, **UP}}, 60, phy=phy, cwmin=cwmin))
        assert abs(error) <= most
    known = scenario({"s": {"count": count, **UP}}, 60, phy=phy, ack_timeout="50 us")
    assert abs(off(known)[0]) <= TIMEOUT_ERROR


MIXED = {
    "rates": ({"f": {"count": 3, **UP}, "s": {"count": 2, "rate": "6 Mbps", **UP}}, {}),
    "both ways": ({"s": {"count": 5, "udp_up": "greedy", "udp_down": "greedy"}}, {}),
    "downloads": ({"s": {"count": 5, "udp_down": "greedy", "error": 0.2}}, {}),
    "RTS and losses": (
        {"f": {"count": 3, **UP}, "s": {"count": 3, "error": 0.4, **UP}},
        {"rts_threshold": "0 B"},
    ),
    "counters of 802.11e": ({"s": {"count": 5, "error": 0.5, **UP}}, {"countdown": "edca"}),
    "RTS with counters of 802.11e": (
        {"s": {"count": 5, "error": 0.2, **UP}},
        {"countdown": "edca", "rts_threshold": "0 B"},
    ),
    "AIFSN": (
        {"f": {"count": 5, **UP}, "s": {"count": 3, "aifsn": 4, **UP}},
        {"countdown": "edca"},
    ),
    "TXOP": ({"s": {"count": 5, **UP}}, {"txop_packets": 3}),
    "one attempt": ({"s": {"count": 10, **UP}}, {"attempts_short": 1}),
    "hundreds": ({"s": {"count": 300, **UP}}, {}),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", MIXED)
def test_mixed_cells_are_within_one_per_cent(case: str) -> None:
    stations, cell = MIXED[case]
    error, _ = off(scenario(stations, 120, phy="802.11g", **cell))
    assert abs(error) <= 0.01


def test_the_page_has_these_numbers() -> None:
    path = Path(__file__).parents[2] / "docs" / "papers" / "dcf.md"
    page = " ".join(path.read_text("utf-8").split())  # joins lines, which may break anywhere
    assert f"by at most {100 * SPREAD:g} %" in page
    assert f"within {100 * COLLISIONS:g} percentage points in all cells" in page
    small = [f"{100 * error:g}" for _, error in reversed(SMALL_ERRORS)]
    assert "within {} %, {} % and {} %".format(*small) in page
    assert f"within {100 * TIMEOUT_ERROR:g} %" in page

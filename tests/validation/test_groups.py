"""Groups of a virtual shared bottleneck: simulation, compared with the fluid model of shares."""

from typing import Any

import pytest

import lasthop as lh

CELL: dict[str, Any] = {
    # The run is long, because up to 400 kB of the warm-up are counted after the warm-up.
    # These segments wait for a lost segment at the end of the warm-up.
    "duration": "220 s",
    "warmup": "20 s",
    "replications": 2,
    "cell": {"phy": "802.11g", "ap_queue": 100},
    "wire": {"delay": "5 ms"},
    "tcp": {"sack": True, "window": 300},
    "station": {
        "family": {"count": 3, "download": 2},
        "guest": {"upload": 1},
        "own": {"download": 1},
    },
}
GROUPS: dict[str, dict[str, Any]] = {
    "none": {},
    "family": {"family": {"stations": "family"}},
    "share": {"family": {"stations": "family", "share": 2}},
    "max below its part": {"family": {"stations": "family", "share": 3, "max": "4.5 Mbps"}},
    "max of a small share": {
        "family": {"stations": "family", "share": 4},
        "unlisted": {"share": 0.1, "max": "150 kbps"},
    },
    "max": {"family": {"stations": "family"}, "unlisted": {"max": "2 Mbps"}},
}


@pytest.mark.parametrize("name", GROUPS)
def test_stations_get_the_predicted_shares_of_their_groups(name: str) -> None:
    groups = {"group": GROUPS[name]} if GROUPS[name] else {}
    scenario = CELL | {"vsb": {"rate": "8 Mbps", **groups}}
    simulated = lh.simulate(scenario).stations["goodput_bps"]
    predicted = lh.predict(scenario).stations["goodput_bps"]
    for station in predicted.index:
        assert simulated[station] == pytest.approx(predicted[station], rel=0.02), station

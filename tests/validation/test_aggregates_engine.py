"""Cells with aggregation: the engine, compared with the theory. The theory was written before the
engine and was not changed.

Seeds are fixed, and the half width of each 95 % interval is asserted.
"""

import pytest

import lasthop as lh
from lasthop.models import predict


def both(stations, cell=None, aggregation=None, duration="12 s"):
    scenario = lh.Scenario(
        {
            "name": "saturated",
            "duration": duration,
            "warmup": "0.5 s",
            "replications": 8,
            "seed": 1,
            "cell": {
                "phy": "802.11ax",
                "width": "80 MHz",
                "streams": 2,
                "txop_limit": "none",
                "aggregation": {"mpdus": 64, **(aggregation or {})},
                **(cell or {}),
            },
            "station": stations,
        }
    )
    return predict(scenario.typed, "aggregates"), lh.simulate(scenario).summary


def near(theory, seen, rel, known) -> None:
    """Assert that the theory is within `rel` of the simulated mean, whose half width is at most
    `known`.
    """
    assert seen["ci95"] <= known * seen["mean"]
    assert theory["mean"] == pytest.approx(seen["mean"], rel=rel)


UP = {"udp_up": "greedy"}
OLD = {"phy": "802.11a", **UP}
OLDER = {"phy": "802.11n", **UP}


@pytest.mark.parametrize(
    ("count", "mpdus"),
    [
        (5, 64),
        pytest.param(20, 64, marks=pytest.mark.slow),
        pytest.param(50, 64, marks=pytest.mark.slow),
        (5, 1),
        (50, 1),
    ],
)
def test_contenders_get_the_goodput_of_the_theory(count, mpdus) -> None:
    theory, seen = both({"s": {"count": count, **UP}}, aggregation={"mpdus": mpdus})
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.01, 0.01)
    for name in ("collision_rate", "mpdus_per_ppdu"):
        of_all = [row[name]["mean"] for row in seen["stations"]]
        assert theory["stations"][0][name]["mean"] == pytest.approx(sum(of_all) / count, rel=0.02)


@pytest.mark.smoke(2)
@pytest.mark.parametrize(
    "more",
    [
        {"cell": {"rts_threshold": "2000 B"}},
        {"cell": {"txop_limit": "2.528 ms"}},
        {"cell": {"phy": "802.11ac", "txop_limit": "2.528 ms"}, "aggregation": {"amsdu": "4000 B"}},
        {"cell": {"countdown": "dcf", "eifs": "ack", "durations": "ns-3"}},
        {"aggregation": {"attempts": 3}},
    ],
)
def test_rts_opportunities_amsdus_switches_and_attempts_agree_with_the_theory(more) -> None:
    theory, seen = both({"s": {"count": 10, **UP}}, **more)
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.01, 0.01)


@pytest.mark.slow
def test_older_stations_agree_with_the_theory() -> None:
    stations = {"s": {"count": 3, **UP}, "n": {"udp_down": "greedy", **OLDER}, "a": OLD}
    theory, seen = both(stations, {"txop_limit": "2.528 ms"}, duration="60 s")
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.01, 0.02)
    for predicted, simulated in zip(theory["stations"][3:], seen["stations"][3:], strict=True):
        # The mean of a single station is less accurate than the mean of the cell.
        own = simulated["goodput_bps"]
        assert own["ci95"] <= 0.05 * own["mean"]
        assert (
            abs(predicted["goodput_bps"]["mean"] - own["mean"]) <= 0.02 * own["mean"] + own["ci95"]
        )


@pytest.mark.parametrize(
    ("loss", "aggregation"),
    [
        (0.1, {}),
        pytest.param(0.1, {"mpdus": 256}, marks=pytest.mark.slow),
        pytest.param(0.3, {"mpdus": 40, "attempts": 4}, marks=pytest.mark.slow),
        (0.1, {"mpdus": 1}),
    ],
)
def test_losses_of_a_single_sender_agree_with_the_theory(loss, aggregation) -> None:
    stations = {"s": {"udp_down": "greedy", "error": loss}}
    theory, seen = both(stations, aggregation=aggregation)
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.005, 0.005)
    for name in ("mpdus_per_ppdu", "reordering_s"):
        near(theory["aps"][0][name], seen["aps"][0][name], 0.01, 0.02)
    if aggregation.get("attempts") == 4:
        near(
            theory["aps"][0]["discard_probability"],
            seen["aps"][0]["discard_probability"],
            0.05,
            0.1,
        )


def test_losses_and_collisions_in_small_windows_agree_with_the_theory() -> None:
    theory, seen = both({"s": {"count": 3, "error": 0.05, **UP}}, aggregation={"mpdus": 8})
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.01, 0.01)


@pytest.mark.slow
def test_losses_with_collisions_agree_with_the_theory() -> None:
    theory, seen = both({"s": {"count": 5, "error": 0.05, **UP}})
    near(theory["cells"][0]["goodput_bps"], seen["cells"][0]["goodput_bps"], 0.01, 0.01)
    near(theory["stations"][0]["mpdus_per_ppdu"], seen["stations"][0]["mpdus_per_ppdu"], 0.01, 0.02)

"""Stations that share one queue. The model is compared with the engine. The engine's air time is
compared with its log of frames.

Seeds are fixed. The tolerance of air time is one percentage point. The tolerance of throughput is
the random variation of the number of arrivals in 8 s.
"""

import pytest

import lasthop as lh

POISSON = {"rate": "20 Mbps", "arrivals": "poisson"}
LONGEST_PPDU_S = 5.484e-3
"""Longest duration of a PPDU, aPPDUMaxTime (IEEE 802.11-2020, table 21-29). [s]"""


def behind(queue, source="greedy", **cell) -> lh.Scenario:
    """Return a scenario whose stations share the queue `queue` of the access point. Two stations
    are at HT20 MCS 15, and one station is at MCS 0. All loads are equal.
    """
    return lh.Scenario(
        {
            "duration": "9 s",
            "warmup": "1 s",
            "replications": 1,
            "seed": 1,
            "record": {"frames": 400_000, "from": "1 s"},
            "cell": {
                "phy": "802.11n",
                "width": "20 MHz",
                "guard_interval": "0.4 us",
                "txop_limit": "none",
                "ap_queue": queue,
                **cell,
            },
            "station": {
                "near": {"count": 2, "mcs": 7, "streams": 2, "udp_down": source},
                "far": {"mcs": 0, "streams": 1, "udp_down": source},
            },
        }
    )


def logged(result: lh.Result) -> dict[str, float]:
    """Return the fraction of air time of each station: the total duration of its PPDUs in the log
    of frames, divided by the 8 s of the log.
    """
    frames = result.frames()
    data = frames[(frames.sender == "ap") & (frames.kind == "data")]
    return (data.groupby("receiver").duration_s.sum() / 8.0).to_dict()


def compared(scenario: lh.Scenario, *, own: float | None, fed: float) -> None:
    """Compare predicted with simulated air time and throughput. `own` is the tolerance of a
    prediction that computes the aggregate sizes. `fed` is the tolerance of a prediction that gets
    the sizes of the run.
    """
    result = lh.simulate(scenario)
    seen = {row["name"]: row for row in result.summary["stations"]}
    log = logged(result)
    # The tolerance is two PPDUs, since the first and the last may be only partly in the 8 s.
    for name, row in seen.items():
        cut = 2 * LONGEST_PPDU_S / 8.0
        assert row["airtime_fraction"]["mean"] == pytest.approx(log[name], abs=cut)
    sizes = {name: row["downlink_mpdus_per_ppdu"]["mean"] for name, row in seen.items()}
    for options, rel in (({}, own), ({"aggregates": sizes}, fed)):
        if rel is None:
            continue
        for row in lh.predict(scenario, model="airtime", options=options).summary["stations"]:
            theirs = seen[row["name"]]
            fraction = theirs["airtime_fraction"]["mean"]
            assert row["airtime_fraction"]["mean"] == pytest.approx(fraction, abs=0.01)
            goodput_bps = theirs["goodput_bps"]["mean"]
            assert row["goodput_bps"]["mean"] == pytest.approx(goodput_bps, rel=rel)


@pytest.mark.parametrize(
    ("queue", "source", "cell"),
    [
        (100, "greedy", {}),
        (40, POISSON, {}),
        (200, POISSON, {"txop_limit": "2.528 ms", "rts_threshold": "500 B"}),
        (200, POISSON, {"phy": "802.11ac", "width": "40 MHz"}),
    ],
)
def test_a_fifo_agrees_with_the_model(queue, source, cell) -> None:
    # Arrivals are random.
    # With 4,000 packets for each station in 8 s, the standard deviation of their number is 1.6 %.
    compared(behind(queue, source, **cell), own=0.04, fed=0.04)


FAST = {"rate": "200 Mbps", "arrivals": "poisson"}
RTS = {"txop_limit": "2.528 ms", "rts_threshold": "500 B"}
AC = {"phy": "802.11ac", "width": "80 MHz"}


@pytest.mark.parametrize("cell", [{}, RTS, AC])
def test_air_time_fairness_gives_equal_shares(cell) -> None:
    """Each station has a third of the air time. PPDUs are a little shorter than the TXOP limit,
    because some packets are already in the device's queue.
    """
    scenario = behind({"mac80211": {}}, FAST, **cell)
    compared(scenario, own=0.02, fed=0.02)
    answer = lh.predict(scenario).summary["stations"]
    fractions = [row["airtime_fraction"]["mean"] for row in answer]
    assert fractions == pytest.approx([sum(fractions) / 3] * 3)


def test_a_device_that_holds_two_aggregates_agrees_with_fed_sizes() -> None:
    """Without AQL, packets wait in the device, which truncates aggregates. The model does not
    predict the truncation, but agrees if it gets the aggregate sizes of the run.
    """
    fair = behind({"mac80211": {"aql": False}}, FAST)
    compared(fair, own=0.03, fed=0.01)
    turns = behind({"mac80211": {"aql": False, "airtime_fairness": False}}, FAST)
    compared(turns, own=None, fed=0.01)

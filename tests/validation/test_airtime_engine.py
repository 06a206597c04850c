"""Stations behind one FIFO: the model beside the engine, air time off counters and log of frames.

Seeds are fixed; tolerances are a point of air time, and for throughput what 8 s of random
arrivals leave open.
"""

import pytest

import lasthop as lh

POISSON = {"rate": "20 Mbps", "arrivals": "poisson"}


def fifo(source="greedy", queue=100, **cell) -> lh.Scenario:
    """Two stations at HT20 MCS 15 and one at MCS 0, the same load for each."""
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


def airtime_shares(result: lh.Result) -> dict[str, float]:
    """Air time from the first frame of an exchange to the end of its response, off the log."""
    spent: dict[str, float] = {}
    began_s = receiver = None
    for frame in result.frames().itertuples():
        if frame.sender == "ap" and frame.kind in ("rts", "data"):
            if began_s is None:
                began_s, receiver = frame.start_s, frame.receiver
        elif frame.kind in ("ack", "block-ack") and began_s is not None:
            ended_s = frame.start_s + frame.duration_s
            spent[receiver] = spent.get(receiver, 0.0) + ended_s - began_s
            began_s = None
    return {name: each / sum(spent.values()) for name, each in spent.items()}


@pytest.mark.parametrize(
    ("source", "queue", "cell"),
    [
        ("greedy", 100, {}),
        (POISSON, 40, {}),
        (POISSON, 200, {"txop_limit": "2.528 ms", "rts_threshold": "500 B"}),
        (POISSON, 200, {"phy": "802.11ac", "width": "40 MHz"}),
    ],
)
def test_one_fifo(source, queue, cell) -> None:
    scenario = fifo(source, queue, **cell)
    result = lh.simulate(scenario)
    seen = {one["name"]: one for one in result.summary["stations"]}
    air = airtime_shares(result)
    for name, one in seen.items():  # the log ends with an exchange, the counters with the run
        assert one["airtime_share"]["mean"] == pytest.approx(air[name], abs=1e-3)
    sizes = {name: one["downlink_mpdus_per_ppdu"]["mean"] for name, one in seen.items()}
    for options in ({}, {"aggregates": sizes}):
        for one in lh.predict(scenario, model="airtime", options=options).summary["stations"]:
            name = one["name"]
            assert one["airtime_share"]["mean"] == pytest.approx(air[name], abs=0.01)
            own = seen[name]["goodput_bps"]["mean"]
            assert one["goodput_bps"]["mean"] == pytest.approx(own, rel=0.04)
            # drawn arrivals: a queue has more or less for a station than its part
            mpdus = one["downlink_mpdus_per_ppdu"]["mean"]
            assert mpdus == pytest.approx(sizes[name], rel=0.06)

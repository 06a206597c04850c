"""Warnings of `simulate_many`, and reasons for missing values."""

import pytest

import lasthop as lh

HOTSPOT = {
    "duration": "4 s",
    "replications": 1,
    "cell": {"phy": "802.11b", "ap_queue": 75},
    "tcp": {"congestion": "reno", "window": 42},
    "station": {"sender": {"upload": 4}, "reader": {"download": 1}},
}


def test_short_warmups_are_one_warning_with_the_number_of_scenarios():
    warmups = ["1 s", "1 s", "2 s"]
    many = lh.simulate_many(
        HOTSPOT,
        quantities=["cells.goodput_bps", "flows.rtt_s"],
        settings={"warmup": warmups},
        seeds=[1, 2, 3],
    )
    longest = max(many["flows.rtt_s"][:2].ravel())
    first, second = many.warnings
    assert first.startswith(
        f"`warmup` = 1 s is shorter than 10 round trips, of up to {longest:.2g} s, in 2 scenarios:"
    )
    assert second.startswith("`warmup` = 2 s is shorter than 10 round trips")
    assert second.count("in 1 scenario:") == 1
    assert repr(many).endswith("; see warnings: 2)")
    alone = lh.simulate(HOTSPOT, seed=1, settings={"warmup": "1 s"})
    assert any("is shorter than 10 round trips" in each for each in alone.warnings)


def test_a_long_warmup_and_flows_that_begin_later_cause_no_warning():
    long = HOTSPOT | {"duration": "40 s", "warmup": "38 s"}
    assert lh.simulate_many(long, quantities="cells.jain", seeds=[1]).warnings == []
    late = HOTSPOT | {
        "warmup": "1 s",
        "station": {"sender": {"upload": {"connections": 4, "start": "1.5 s"}}},
    }
    assert lh.simulate_many(late, quantities="cells.goodput_bps", seeds=[1]).warnings == []


def test_the_hint_at_tails_is_only_for_quantities_that_need_them():
    with pytest.warns(RuntimeWarning, match="flows.one_way_delay_s") as caught:
        lh.simulate_many(HOTSPOT, quantities="flows.one_way_delay_s", seeds=[1])
    assert "tails" not in str(caught[0].message)
    with pytest.warns(RuntimeWarning, match=r"flows.rtt_p99_s; some quantities need tails=True"):
        lh.simulate_many(HOTSPOT, quantities="flows.rtt_p99_s", seeds=[1])

"""Statements of the guides on home networks, checked with ten seeds and another PHY."""

from collections.abc import Mapping
from pathlib import Path
from statistics import fmean

import pytest

import lasthop as lh

EXAMPLES = Path(__file__).parents[2] / "examples"
SEEDS = range(1, 11)
CALL_PHYS = ("802.11ac", "802.11ax")
OLD_PHYS = ("802.11ax", "802.11ac")
FIBRE = {
    "wire.rate": "1000 Mbps",
    "wire.back_rate": "500 Mbps",
    "station.television.snr": "10 dB",
}
FAIR = {"cell.ap_queue": "{ mac80211 = {} }"}
VOICE = {f"station.phone.udp_{way}.category": "voice" for way in ("up", "down")}


def run(example: str, seed: int, *settings: Mapping[str, object]) -> lh.Result:
    """Return the result of one replication of an example with another seed and settings."""
    merged = {key: value for each in settings for key, value in each.items()}
    return lh.simulate(EXAMPLES / f"{example}.toml", settings=merged, seed=seed, replications=1)


def call_ms(result: lh.Result, way: str, quantity: str = "one_way_delay_p99_s") -> float:
    """Return a delay of the call in one direction. [ms]"""
    return float(1e3 * result.flows.loc[f"phone/udp-{way}/1", quantity])


@pytest.mark.slow
@pytest.mark.parametrize("phy", CALL_PHYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_on_a_slow_line_only_the_queue_of_the_line_helps(seed: int, phy: str) -> None:
    """Compare the mean waiting times of a call with two queues. The waiting time is the delay minus
    10 ms, the delay of the path without queues.
    """
    own = {"cell.phy": phy}
    as_it_is = run("home-call", seed, own)
    on_the_line = run("home-call", seed, own, {"wire.queue.fq_codel": "{}"})
    mean = "one_way_delay_s"
    waited_ms = call_ms(as_it_is, "up", mean) - 10.0
    assert waited_ms > 20.0
    assert call_ms(on_the_line, "up", mean) - 10.0 < waited_ms / 10.0
    fair, fifo = (each.flows.goodput_bps for each in (on_the_line, as_it_is))
    assert fair.filter(like="television").sum() > 90e6
    # The goodput of the upload falls slightly, because ACKs of downloads use 1.7 of 20 Mb/s.
    # There is one ACK of 52 B for every second segment.
    assert fair["laptop/up/1"] > 0.9 * fifo["laptop/up/1"]


@pytest.mark.slow
@pytest.mark.parametrize("phy", CALL_PHYS)
def test_on_a_slow_line_changes_in_the_air_help_little(phy: str) -> None:
    """The test compares means over the seeds, because the delay in the line's queue varies by a
    factor of three between runs.
    """

    def waited_ms(*settings: Mapping[str, object]) -> float:
        runs = [run("home-call", seed, {"cell.phy": phy}, *settings) for seed in SEEDS]
        return fmean(call_ms(each, "up", "one_way_delay_s") - 10.0 for each in runs)

    assert waited_ms(FAIR, VOICE) > waited_ms() / 3.0


@pytest.mark.slow
@pytest.mark.parametrize("phy", CALL_PHYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_in_slow_air_a_fair_queue_helps_and_voice_most(seed: int, phy: str) -> None:
    own = {"cell.phy": phy, **FIBRE}
    as_it_is, fair, voice = (run("home-call", seed, own, each) for each in ({}, FAIR, VOICE))
    mean = "one_way_delay_s"
    down_ms = [call_ms(each, "down", mean) - 10.0 for each in (as_it_is, fair, voice)]
    assert down_ms[0] > down_ms[1] > down_ms[2]
    assert down_ms[2] < 5.0
    assert call_ms(voice, "up", mean) < call_ms(fair, "up", mean)


@pytest.mark.slow
@pytest.mark.parametrize("phy", OLD_PHYS)
@pytest.mark.parametrize("seed", SEEDS)
def test_one_old_laptop_has_the_air_of_a_fifo_and_a_third_with_mac80211(
    seed: int, phy: str
) -> None:
    own = {"cell.phy": phy, "station.new.mcs": 9}
    fifo = run("old-laptop", seed, own)
    fair = run("old-laptop", seed, own, FAIR)
    dropped = {"cell.ap_queue": "{ mac80211 = { slow_stations = true } }"}
    rule = run("old-laptop", seed, own, dropped)
    limited = run("old-laptop", seed, own, {"station.old.tcp.window": 8})
    short = run("old-laptop", seed, own, {"cell.ap_queue": 100})
    voice = run("old-laptop", seed, own, {"station.phone.udp_down.category": "voice"})

    def new_bps(result: lh.Result) -> float:
        return float(result.flows.goodput_bps[["new-1/down/1", "new-2/down/1"]].mean())

    assert fifo.stations.airtime_fraction["old"] > 0.5
    assert fair.stations.airtime_fraction["old"] == pytest.approx(0.35, abs=0.05)
    # With the fair queue, the new stations have two thirds of the air time.
    # Without it, they have less than half of the air time.
    assert new_bps(fair) > 1.5 * new_bps(fifo)
    assert new_bps(limited) > 1.5 * new_bps(fifo)
    voice_ms, short_ms, fair_ms, fifo_ms = (
        call_ms(each, "down") for each in (voice, short, fair, fifo)
    )
    assert voice_ms < short_ms < fair_ms < fifo_ms
    assert rule.flows.rtt_s["old/down/1"] > 1.2 * fair.flows.rtt_s["old/down/1"]
    old_bps = [each.flows.goodput_bps["old/down/1"] for each in (rule, fair)]
    assert old_bps[0] == pytest.approx(old_bps[1], rel=0.15)

"""A greedy downlink fills the first queue on its path that has a rate. The delays are computed by
hand.
"""

import pytest

import lasthop as lh

PAYLOAD, PACKET = 1472, 1500
CELL = {"phy": "802.11g", "ap_queue": 40, "node": "ap-side"}
LINKS = {
    "near": {"from": "middle", "to": "ap-side", "delay": "5 ms"},
    "far": {"from": "server", "to": "middle", "delay": "20 ms"},
}


SERVER = {"rate": "greedy", "server": "server"}


def simulate(source="greedy", other=None, **settings):
    stations = {"a": {"udp_down": source}} | ({"b": other} if other else {})
    run = {"duration": "3 s", "warmup": "1 s", "replications": 1}
    return lh.simulate({**run, "cell": CELL, "link": LINKS, "station": stations}, settings=settings)


def flow(result, quantity, name="a/udp-down/1"):
    flows = {row["name"]: row for row in result.to_dict()["flows"]}
    return flows[name][quantity]["mean"]


ALONE = simulate()


@pytest.mark.parametrize(
    ("source", "path", "wait_s"),
    [
        # A datagram enters the queue as its tenth packet, when another packet leaves.
        # The datagram leaves the queue after ten services of 12 ms.
        ("greedy", {"wire.rate": "1 Mbps", "wire.queue": 10}, 0.12),
        (
            "greedy",
            {"wire.rate": "1 Mbps", "wire.queue.threshold": 10, "wire.delay": "9 ms"},
            0.129,
        ),
        ("greedy", {"wire.rate": {"trace": [12]}, "wire.queue": 10}, 0.12),
        (SERVER, {"link.near.rate": "1 Mbps", "link.near.queue": 10}, 0.145),
        (SERVER, {"link.far.rate": "1 Mbps", "link.far.queue": 10}, 0.145),
        (
            SERVER,
            {"link.far.rate": "1 Mbps", "link.far.queue": 10, "wire.rate": "2 Mbps"},
            0.151,
        ),
        (SERVER, {"vsb.rate": "1 Mbps", "vsb.queue": 10}, 0.145),
    ],
)
def test_goodput_and_delay_are_those_of_the_slowest_link_on_the_path(source, path, wait_s):
    result = simulate(source, **path)
    assert flow(result, "goodput_bps") == pytest.approx(1e6 * PAYLOAD / PACKET, rel=0.01)
    # In addition, the time on the air is less than two milliseconds.
    assert 0 < flow(result, "one_way_delay_s") - wait_s < 0.002


@pytest.mark.parametrize(
    ("source", "path", "longer_s"),
    [("greedy", {"wire.delay": "100 ms"}, 0.1), (SERVER, {"wire.delay": "100 ms"}, 0.125)],
)
def test_without_a_rate_limit_the_cell_is_as_full_and_packets_are_later(source, path, longer_s):
    result = simulate(source, **path)
    assert flow(result, "goodput_bps") == pytest.approx(flow(ALONE, "goodput_bps"), rel=1e-3)
    later_s = flow(result, "one_way_delay_s") - flow(ALONE, "one_way_delay_s")
    assert later_s == pytest.approx(longer_s, abs=1e-4)


def test_without_a_rate_losses_before_the_air_are_relative_to_sent_packets():
    result = simulate(SERVER, **{"wire.loss": {"every": 4}, "link.far.loss": {"every": 3}})
    assert flow(result, "goodput_bps") == pytest.approx(flow(ALONE, "goodput_bps"), rel=1e-3)
    assert flow(result, "loss_probability") == pytest.approx(1 - 2 / 3 * 3 / 4, abs=2e-3)


def test_the_first_datagram_comes_after_the_delay_and_the_last_as_long_after_the_stop():
    source = {"rate": "greedy", "start": "1 s", "stop": "2 s"}
    full_bps = flow(ALONE, "goodput_bps")

    def between(warmup, duration):
        times = {"warmup": warmup, "duration": duration, "wire.delay": "400 ms"}
        return flow(simulate(source, **times), "goodput_bps")

    assert between("1.1 s", "1.4 s") == 0
    assert between("1.4 s", "1.5 s") == pytest.approx(full_bps, rel=0.02)
    assert between("2.3 s", "2.4 s") == pytest.approx(full_bps, rel=0.02)
    assert between("2.43 s", "2.5 s") == 0  # The queue of the access point has a delay of 16 ms.


@pytest.mark.parametrize("path", [{"wire.rate": "2 Mbps"}, {"vsb.rate": "2 Mbps"}])
def test_datagrams_left_in_the_queue_of_a_link_drain_after_the_stop(path):
    source = {"rate": "greedy", "stop": "1.5 s"}
    queue = {f"{next(iter(path)).partition('.')[0]}.queue": 50}  # 50 packets take 0.3 s
    drains = simulate(source, warmup="1.5 s", **path, **queue)
    drained_bps = 50 * 8 * PAYLOAD / 1.5
    assert flow(drains, "goodput_bps") == pytest.approx(drained_bps, rel=0.05)


def test_a_download_gets_its_part_of_the_shared_bottleneck():
    result = simulate(other={"download": 1}, **{"vsb.rate": "5 Mbps"})
    assert flow(result, "goodput_bps") == pytest.approx(2.5e6 * PAYLOAD / PACKET, rel=0.01)
    assert flow(result, "goodput_bps", "b/down/1") == pytest.approx(2.5e6 * 0.96, rel=0.02)
    # Until the bottleneck begins, the queue of the access point is full.
    begins = simulate(other={"download": 1}, **{"vsb.rate": "5 Mbps", "vsb.start": "2 s"})
    assert 10e6 < flow(begins, "goodput_bps") < flow(ALONE, "goodput_bps")


def test_two_sources_take_turns_at_the_wire():
    result = simulate(other={"udp_down": "greedy"}, **{"wire.rate": "2 Mbps", "wire.queue": 3})
    each = [flow(result, "goodput_bps", f"{name}/udp-down/1") for name in "ab"]
    assert each == pytest.approx([1e6 * PAYLOAD / PACKET] * 2, rel=0.01)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"wire.rate": "1 Mbps", "wire.queue.codel": {}},
            "`station.a.udp_down`: a greedy source fills the queue of `wire` to",
        ),
        (
            {"wire.rate": "100 Gbps"},
            "fills `wire` with 8333333 datagrams per second: expected at most",
        ),
        (
            {"wire.loss": 0.995},
            "99.5 % of its datagrams are lost before the queue: expected",
        ),
        ({"vsb.start": "1 s", "station.a.power_save": "0 s"}, "would never sleep"),
    ],
)
def test_a_queue_that_cannot_be_filled_is_refused(settings, message):
    with pytest.raises(lh.ScenarioError, match=message):
        simulate(**settings)


def test_after_a_rate_limit_the_cell_may_be_managed_and_its_station_may_sleep():
    rate = {"wire.rate": "1 Mbps", "wire.queue": 10}
    asleep = simulate(**rate, **{"station.a.power_save": "0 s"})
    assert flow(asleep, "one_way_delay_s") > 0.13
    managed = simulate(**rate, **{"cell.ap_queue": {"codel": {}}})
    assert flow(managed, "goodput_bps") == pytest.approx(1e6 * PAYLOAD / PACKET, rel=0.01)

"""Packet counts, losses and warnings of an emulation, without the kernel and without real time."""

import random
from math import inf
from types import SimpleNamespace

import pytest

import lasthop as lh
from lasthop.emulated.emulation import Emulation
from lasthop.emulated.lateness import in_time_pps, lateness
from lasthop.emulation.datagrams import Datagrams, percentile_99
from lasthop.emulation.greedy import losses
from lasthop.emulation.limits import datagrams_per_second, filling_s
from lasthop.emulation.summary import Seen, classes, loss, of_programs, summary
from lasthop.emulation.user import User
from lasthop.emulation.web import Counts

LATE = "1 % of the packets were handed over more than 7.1 ms late"


def test_a_machine_that_is_in_time_says_how_late_it_was():
    message = lateness(0.0019, 0.99, 14_000)
    assert message == "1 % of the packets were handed over more than 1.9 ms late"


def test_a_machine_that_is_too_slow_says_what_it_could_carry():
    # At 14,400 packets per second, this machine is busy for 0.96 of the time.
    # Packets are on time if it is busy for at most 0.8: at 14400 * 0.8 / 0.96 packets per second.
    assert in_time_pps(0.96, 14_400) == pytest.approx(12_000)
    assert lateness(0.0071, 0.96, 14_400) == (
        f"warning: {LATE}: the machine carries about 12,000 packets per second of this "
        "scenario, which needs 14,000"
    )


def test_a_machine_shared_with_other_programs_is_reported():
    assert lateness(0.0071, 0.12, 900) == (
        f"warning: {LATE}: carrying them took 12% of the time, so something else had this machine"
    )
    assert lateness(0.0071, None, None) == f"warning: {LATE}"


def test_simultaneous_packets_are_named_if_they_are_the_reason():
    # Each of 256 packets takes 15 us, so that the last packet of an aggregate is late by 3.8 ms.
    assert lateness(0.0071, 0.6, 40_000, 256) == (
        f"warning: {LATE}: up to 256 packets are due simultaneously, and to carry as many takes "
        "3.8 ms"
    )
    assert "something else" in lateness(0.0071, 0.6, 40_000, 64)
    assert "carries about" in lateness(0.0071, 0.96, 40_000, 256)


def test_web_connections_are_counted_as_in_a_simulation():
    counts = Counts()
    for _ in range(4):
        counts.begin()
    counts.finish(9.0)
    counts.refused = 5
    counts.begin_to_count()
    assert counts.quantities() == {
        "connections_finished": 0.0,
        "connections_refused": 0.0,
        "unfinished": 3.0,
    }
    counts.finish(0.1)
    counts.finish(0.3)
    counts.break_off()
    counts.refused += 1
    assert counts.quantities() == {
        "connections_finished": 2.0,
        "connections_refused": 1.0,
        "unfinished": 1.0,
        "completion_s": pytest.approx(0.2),
        "completion_p95_s": 0.3,
    }
    counts.open += 1
    with pytest.raises(ArithmeticError, match=r"web: 4 connections begun, 3 finished \+ 1 broken"):
        counts.quantities()


def test_99th_percentile_is_that_of_a_simulation():
    # The percentile is the smallest value v so that at least 99 % of the values are v or less.
    # This is the 198th of 200 values, and the 99th of 100 values.
    assert percentile_99(range(200, 0, -1)) == 198
    assert percentile_99(range(1, 101)) == 99
    assert percentile_99([0.3]) == 0.3


def test_a_class_of_calls_has_the_percentile_of_all_their_datagrams():
    def call(name: str, delays_s: list[float]) -> Seen:
        mean_s = sum(delays_s) / len(delays_s)
        quantities = {"one_way_delay_s": mean_s, "one_way_delay_p99_s": percentile_99(delays_s)}
        return Seen(name, "call", "", "", 64e3, quantities, delays_s=delays_s)

    quick, slow = call("call-1", [0.01] * 150), call("call-2", [0.01] * 48 + [0.5, 0.9])
    calls = classes([quick, slow], 128e3)["call"]
    assert calls["one_way_delay_p99_s"] == 0.01
    assert slow.quantities["one_way_delay_p99_s"] == 0.9


def test_losses_of_a_program_are_relative_to_packets_with_a_known_fate():
    # Three datagrams are sent in the warm-up and lost after it.
    # One datagram is sent in the warm-up and arrives after it.
    assert loss(3, 1) == {"loss_probability": 0.75}
    assert loss(0, 0) == {}


def test_datagrams_that_arrive_out_of_order_are_not_lost():
    flow = Datagrams(None, None, None, ("", 0), 1.0, random.Random(1))  # type: ignore[arg-type]
    for number in (6, 5, 9):
        flow.count(number)
    assert flow.quantities() == {"loss_probability": 1 - 3 / 5}


def test_connections_of_a_user_are_averaged_over_its_life():
    timeline = SimpleNamespace(warmup_s=5.0, until_s=25.0)
    user = User(None, None, {}, None, SimpleNamespace(), 1.0, False)  # type: ignore[arg-type]
    user.traffic = timeline  # type: ignore[assignment]
    assert user.existed == 0.0
    user.begun_s, user.stopped_s = 15.0, 20.0
    assert user.existed == 0.25
    user.stopped_s = inf
    assert user.existed == 0.5


def test_a_program_has_the_loss_of_its_own_packets_per_direction() -> None:
    row = {
        "place": "server",
        "protocol": "tcp",
        "own": "10.0.0.1:999",
        "other": "10.255.0.1:80",
        "leaves": True,
        "sent": 0,
        "arrived": 3,
        "lost": 1,
        "payload_bytes": 300,
    }
    scenario = SimpleNamespace(stations=())
    [seen] = of_programs(scenario, [row], 2.0)  # type: ignore[arg-type]
    assert seen.quantities == {"loss_probability": 0.25}
    assert (seen.goodput_bps, seen.traffic, seen.existed) == (1200.0, "tcp 80 out", 1.0)


def network_lists(flow: str, lost: float, queue: str, dropped: float) -> dict[str, list[object]]:
    return {
        "flows": [{"name": flow, "loss_probability": {"mean": lost, "ci95": None}}],
        "queues": [{"name": queue, "drop_probability": {"mean": dropped, "ci95": None}}],
        "programs": [],
    }


LOSSY_QUEUE = {"rate": "5 Mbps", "loss": 0.1, "queue": 20}
VOICE = {"rate": "greedy", "category": "voice"}


@pytest.mark.parametrize(
    ("station", "settings", "queue"),
    [
        ({"udp_down": "greedy"}, {}, "ap"),
        ({"udp_down": "greedy", "udp_up": "64 kbps"}, {}, "ap"),
        ({"udp_down": VOICE}, {"cell.phy": "802.11n"}, "ap/voice"),
        ({"udp_down": "greedy"}, {"wire": LOSSY_QUEUE}, "wire/down"),
        ({"udp_up": "greedy"}, {"b": {"upload": 1}}, "a"),
        (
            {"udp_down": "greedy"},
            {"b": {"upload": 1}},
            None,
        ),  # The queue also has ACKs of the upload.
        ({"udp_down": "greedy"}, {"b": {"udp_down": "64 kbps"}}, None),
        ({"udp_up": "greedy", "download": 1}, {}, None),
        ({"udp_down": "greedy"}, {"vsb": {}}, None),
    ],
)
def test_the_excess_of_a_greedy_source_is_no_loss_where_its_drops_are_known(
    station: dict[str, object], settings: dict[str, object], queue: str | None
) -> None:
    rest = dict(settings)
    stations = {"a": station, "b": rest.pop("b", {})}
    table = {"duration": "1 s", "cell": {"phy": "802.11g"}, "station": stations}
    typed = lh.Scenario(table, settings=rest).typed
    greedy = next(flow.name for flow in typed.udp_flows if flow.udp.arrivals == "greedy")
    # 10 % of the datagrams are lost before the queue. The queue drops 40 % of the others.
    lists = network_lists(greedy, 0.46, queue or "ap", 0.4)
    result = losses(typed, lists, {}, programs_run=False)
    assert result == {greedy: pytest.approx(0.1) if queue else None}
    assert losses(typed, lists, {}, programs_run=True) == {greedy: None}
    # If a source starts late, the queue can seem to drop more datagrams than were lost.
    # The result is then 0, and not negative.
    lists = network_lists(greedy, 0.4, queue or "ap", 0.4001)
    assert losses(typed, lists, {}, programs_run=False) == {greedy: 0.0 if queue else None}


@pytest.mark.parametrize(
    ("sent", "arrived", "lost", "dropped", "expected"),
    [
        # 200 of 1000 datagrams are dropped, and 800 enter the queue. 500 of the 800 have left the
        # queue, and 300 are in it.
        (1000, 500, 200, 0.2, 0.0),
        # Of 1000 datagrams, 100 are lost before the queue. The queue drops 180 of the other 900.
        (1000, 400, 280, 0.2, 0.1),
        # Of the 800 datagrams that enter the queue, 80 are lost after it.
        (1000, 420, 280, 0.2, 0.1),
        # More datagrams have arrived than were sent, because the queue was not empty at the start.
        (500, 700, 100, 0.2, 0.0),
        (1000, 0, 1000, 0.2, 1.0),
        (0, 0, 1000, 0.2, 1.0),
    ],
)
def test_datagrams_in_a_queue_that_fills_are_not_lost(
    sent: int, arrived: int, lost: int, dropped: float, expected: float
) -> None:
    station = {"a": {"udp_down": "greedy"}}
    table = {"duration": "1 s", "cell": {"phy": "802.11g"}, "station": station}
    typed = lh.Scenario(table).typed
    [flow] = typed.udp_flows
    lists = network_lists(flow.name, lost / (lost + arrived), "ap", dropped)
    result = losses(typed, lists, {flow.name: (sent, arrived)}, programs_run=False)
    assert result == {flow.name: pytest.approx(expected, abs=1e-12)}


def test_a_source_counts_datagrams_after_the_warm_up() -> None:
    station = {"a": {"udp_down": "greedy"}}
    scenario = lh.Scenario({"duration": "1 s", "cell": {"phy": "802.11g"}, "station": station})
    [flow] = scenario.typed.udp_flows
    source = Datagrams(flow, None, None, ("", 0), 1.0, random.Random(1))  # type: ignore[arg-type]
    source.sent = 7
    source.begin_to_count()
    source.sent, source.received_bytes = 12, 4 * flow.udp.payload_bytes
    assert source.counts == (5, 4)


def test_a_frame_of_a_call_is_sent_as_one_burst() -> None:
    table = {"duration": "9 s", "cell": {"phy": "802.11ac"}, "station": {"phone": {"call": 1}}}
    typed = lh.Scenario(table).typed
    flow = next(flow for flow in typed.udp_flows if flow.name == "phone/video-up/1")
    gap_s = 1 / datagrams_per_second(flow, typed)
    assert gap_s == pytest.approx(1 / 150)
    sizes: list[int] = []
    agenda: list[float] = []
    sender = SimpleNamespace(sendto=lambda data, _: sizes.append(len(data)))
    source = Datagrams(flow, sender, None, ("", 0), gap_s, random.Random(1))  # type: ignore[arg-type]
    source.open = True
    source.send(SimpleNamespace(at=lambda when_s, _: agenda.append(when_s)))  # type: ignore[arg-type]
    assert sizes == [1000] * 5
    assert agenda == [pytest.approx(1 / 30)]
    assert source.sent == 5


def test_losses_of_a_greedy_flow_replace_those_of_its_sockets_or_cause_a_warning() -> None:
    station = {"a": {"udp_down": "greedy"}}
    scenario = lh.Scenario({"duration": "1 s", "cell": {"phy": "802.11g"}, "station": station})
    [flow] = scenario.typed.udp_flows
    source = Datagrams(flow, None, None, ("", 0), 1.0, random.Random(1))  # type: ignore[arg-type]
    for number in (1, 10):
        source.count(number)
    lists = network_lists(flow.name, 0.8, "ap", 0.8)

    def lost(losses: dict[str, float | None]) -> object:
        tree = summary(scenario.typed, [source], lists, 1.0, {}, losses)
        return tree["flows"][0]["loss_probability"]["mean"]

    assert lost({flow.name: 0.0}) == 0.0
    assert lost({flow.name: None}) == pytest.approx(0.8)
    answer = Emulation({}, scenario)
    assert answer.warnings == []
    answer.with_excess = {flow.name: None}
    assert answer.warnings[0].startswith("loss of a/udp-down/1: it includes the datagrams that")


@pytest.mark.parametrize(("loss", "queue"), [(0.0, 20), (0.01, 100), (0.5, 100)])
def test_a_greedy_source_fills_its_queue_at_first_and_keeps_it_full(
    loss: float, queue: int
) -> None:
    wire = {"rate": "5 Mbps", "queue": queue, "loss": loss}
    station = {"a": {"udp_down": {"rate": "greedy", "start": "3 s"}}}
    cell = {"phy": "802.11g"}
    table = {"duration": "9 s", "cell": cell, "wire": wire, "station": station}
    typed = lh.Scenario(table).typed
    [flow] = typed.udp_flows
    gap_s = 1 / datagrams_per_second(flow, typed)
    gaps = random.Random(1)
    fills_s = filling_s(flow, typed)
    source = Datagrams(flow, None, None, ("", 0), gap_s, gaps, fills_s)  # type: ignore[arg-type]
    lost = random.Random(2)
    service_s = 8 * 1500 / 5e6
    source.due_s, before_s, waiting = flow.start_s, flow.start_s, 0.0
    lengths = []
    while source.due_s < 9.0:
        waiting = max(0.0, waiting - (source.due_s - before_s) / service_s)
        before_s = source.due_s
        if source.due_s > flow.start_s + 1.2 * fills_s:
            lengths.append(waiting)
        if lost.random() >= loss:
            waiting = min(waiting + 1.0, queue)
        source.due_s += source.next_gap_s()
    assert queue - 3 < sum(lengths) / len(lengths) <= queue

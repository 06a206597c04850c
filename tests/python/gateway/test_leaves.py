"""The queue of a leaf, its messages to the kernel, and error messages about it."""

from dataclasses import replace

import pytest

from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import Gateway
from lasthop.enforce.gateway.layout import Layout
from lasthop.enforce.gateway.leaves import memory, unmanaged, why
from lasthop.enforce.gateway.shaper import plan
from lasthop.linux import leaf_queue
from lasthop.linux.described import described
from lasthop.linux.leaf_queue import Queue
from lasthop.linux.tc import Device

IFB = Device("lh", 1)


def gateway(more: str = "") -> Gateway:
    return config.read(f'[gateway]\nwan = "eth0"\nlan = "eth1"\n{more}\n')


def queue(more: str) -> Queue:
    """Return the queue settings of the leaves of a gateway with one access point. The lines `more`
    are added to the gateway's configuration.
    """
    (result,) = Layout(gateway(more), IFB).queues.values()
    return result


@pytest.mark.parametrize(
    ("more", "target_ms"),
    [
        # CoDel's target is the transmission time of 1.5 packets of 1514 bytes at a rate of C / 10.
        # The time is 15 * 12112 bits / C.
        ('rate = "6 Mbps"', 31),
        ('rate = "1 Mbps"', 182),
        ('rate = "20 Mbps"', 10),
        ('rate = "100 Mbps"', 5),
        ('rate = "6 Mbps"\nfairness = "direction"', 7),
        ('rate = "6 Mbps"\nfairness = "flow"', 31),
        ('rate = "6 Mbps"\nfairness = "flow"\nflow_leaves = 4', 13),
        ('rate = "3 Mbps"\nfairness = "flow"\ndiscipline = "fq_codel"', 7),
    ],
)
def test_the_target_is_a_packet_and_a_half_at_the_share_of_ten(more: str, target_ms: int) -> None:
    result = queue(more)
    assert result.target_us == 1000 * target_ms
    assert result.interval_us == result.target_us + 95_000


@pytest.mark.parametrize(
    ("more", "target_ms"),
    [
        # With FQ-CoDel, the target is at least 3/7 of the sum of the threshold and 30 ms.
        # Every target is at least the time of 1.5 packets at a tenth of the largest C: 10 ms.
        ("", 30),
        ("wce.threshold = '75 ms'", 45),
        ("wce.threshold = '6 ms'", 16),
        ("discipline = 'codel'", 10),
        ('wce.max = "6 Mbps"', 31),
    ],
)
def test_with_an_estimated_capacity_a_flow_keeps_its_queue_when_its_window_falls(
    more: str, target_ms: int
) -> None:
    assert queue(more if "max" in more else f'wce.max = "20 Mbps"\n{more}').target_us == (
        1000 * target_ms
    )


def test_turns_of_many_packets_raise_the_target_up_to_the_queue() -> None:
    def of_ratio(rate: str) -> Queue:
        return queue(
            'rate = "10 Mbps"\nfairness = "rate"\n'
            'station.slow = { address = "10.0.0.1", rate = "1 Mbps" }\n'
            f'station.fast = {{ address = "10.0.0.2", rate = "{rate}" }}'
        )

    packet_us = 10 * 12_112 / 10  # duration of 12112 bits at a tenth of 10 Mbit/s
    assert of_ratio("11 Mbps").target_us == pytest.approx(1.5 * 11 * packet_us, abs=1000)
    assert of_ratio("900 Mbps").target_us == pytest.approx(200 * packet_us, abs=1000)


def test_shared_leaves_have_more_flows() -> None:
    assert queue("").flows == 128
    assert queue('fairness = "flow"').flows == 128
    assert queue('fairness = "direction"').flows == 1024
    assert queue('fairness = "flow"\ndiscipline = "fq_codel"').flows == 1024


def test_flows_have_the_same_hash_with_every_kernel() -> None:
    best, codel = (
        Layout(gateway(f'fairness = "flow"\ndiscipline = "{word}"'), IFB)
        for word in ("best", "codel")
    )
    fifo = Layout(best.gateway, IFB, "pfifo")
    assert len(best.fixed["wlan"]) == len(fifo.fixed["wlan"]) == len(codel.fixed["wlan"]) == 256


@pytest.mark.parametrize(
    ("discipline", "arguments"),
    [
        ("pfifo", "pfifo limit 200"),
        ("sfq", "sfq limit 200 perturb 10"),
        ("codel", "codel limit 200 target 31000us interval 126000us ecn"),
        (
            "fq_codel",
            "fq_codel limit 200 target 31000us interval 126000us ecn flows 128 "
            "memory_limit 921600b",
        ),
        (
            "cake",
            "cake unlimited besteffort flows nonat nowash no-ack-filter split-gso rtt 620000us "
            "noatm raw memlimit 921600b",
        ),
    ],
)
def test_the_command_of_tc_contains_the_queue(discipline: str, arguments: str) -> None:
    lines = plan(
        gateway(f'rate = "6 Mbps"\ndiscipline = "{discipline}"\nstation.a.address = "10.0.0.1"')
    )
    others = [line for line in lines if "tc qdisc add dev lh-eth1 parent 6c68:" in line]
    assert len(others) == 3  # leaves for unclassified and multicast packets
    assert others[-1] == f"tc qdisc add dev lh-eth1 parent 6c68:100 {arguments}"
    assert not any(line.startswith("#") for line in lines)


def test_a_plan_says_what_it_assumes_of_the_kernel() -> None:
    lines = plan(gateway('station.a.address = "10.0.0.1"'))
    assert lines[0] == "# leaves: fq_codel, if the kernel has it; see `check`"
    assert sum(" fq_codel limit " in line for line in lines) == 3


def test_times_are_compared_in_units_of_the_kernel() -> None:
    """The kernel stores times in units of 1.024 us and reports 29999 for 30000."""
    asked, rounded, other = (
        leaf_queue.add(IFB, 1, Queue("codel", 200, target_us=target))
        for target in (30_000, 29_999, 29_000)
    )
    settings = [described(each.kind, each.body) for each in (asked, rounded, other)]
    assert settings[0] == settings[1] != settings[2]


@pytest.mark.parametrize("field", ["packets", "target_us", "interval_us", "flows"])
def test_every_changed_parameter_is_detected(field: str) -> None:
    queue = Queue("fq_codel", 200)
    changed = replace_field(queue, field)
    first, other = (leaf_queue.add(IFB, 1, each) for each in (queue, changed))
    assert described(first.kind, first.body) != described(other.kind, other.body)


def replace_field(queue: Queue, field: str) -> Queue:
    """Return the queue with a field whose value is doubled."""
    return queue._replace(**{field: 2 * getattr(queue, field)})


def test_leaves_of_cake_need_much_memory() -> None:
    (line,) = memory("cake")
    assert "1.1 MB" in line
    assert memory("fq_codel") == []


def test_a_kernel_without_codel_causes_a_warning_unless_the_file_asks_for_a_fifo() -> None:
    assert unmanaged(gateway(), "fq_codel") == unmanaged(gateway(), "codel") == []
    (line,) = unmanaged(gateway(), "pfifo")
    assert "calls and queries of a station wait for its own downloads" in line
    chosen = replace(gateway(), discipline="pfifo")
    assert unmanaged(chosen, "pfifo") == []
    assert (why(gateway()), why(chosen)) == (
        "the best that this kernel has",
        "set by `gateway.discipline`",
    )

"""Differences between the kernel's settings and the requested settings, with a simulated kernel."""

from dataclasses import replace
from ipaddress import ip_address

import pytest

from lasthop.daemon.differences import EVERYTHING, Body, Difference, inside, summarised
from lasthop.daemon.sides import of_ifb, of_side
from lasthop.enforce.gateway import config
from lasthop.enforce.gateway.config import KnownStation
from lasthop.enforce.gateway.layout import MAJOR, Layout
from lasthop.linux import leaf_queue, tc
from lasthop.linux.changes import Hooks, Merging
from lasthop.linux.counters import Qdisc
from lasthop.linux.links import Link
from lasthop.linux.netlink import CREATE, REPLACE, Request
from lasthop.linux.tc import Device

IFB = Device("lh-lan", 9)
TEXT = """
[gateway]
wan = "wan"
lan = "lan"
rate = "{rate}"
metrics = "off"
fairness = "{fairness}"
{more}
station.s0 = {{ address = "10.0.0.1, fd00::1" }}
station.s1 = {{ address = "10.0.0.2" }}
"""


def layout(fairness: str = "station", discipline: str = "pfifo") -> Layout:
    """Return the layout of a gateway with its stations."""
    more = 'udp = "both"\n' + ("flow_leaves = 3" if fairness == "flow" else "")
    gateway = config.read(TEXT.format(fairness=fairness, rate="5 Mbps", more=more))
    made = Layout(gateway, IFB, discipline)
    for station in gateway.stations:
        made.join(station)
    return made


def wanted(made: Layout) -> list[Request]:
    """Return all kernel requests of a gateway."""
    rates = {ap.name: 5_000_000 for ap in made.gateway.aps}
    return [
        *made.hierarchy(rates),
        *made.ifb_filters(),
        *made.block_filters(made.to_block),
        *made.block_filters(made.from_block),
    ]


def as_kernel(requests: list[Request]) -> list[Body]:
    """Return the messages of a kernel with the requested settings."""
    return [(request.kind, request.body) for request in requests]


def compared(has: list[Body], fairness: str = "station") -> list[Difference]:
    made = layout(fairness)
    spreads = {made.ap_class[ap]: ap for ap in made.hashing_aps()}
    return inside(IFB, wanted(made), has, spreads)


@pytest.mark.parametrize("fairness", ["station", "flow", "direction"])
def test_requested_settings_are_not_a_difference(fairness: str) -> None:
    assert compared(as_kernel(wanted(layout(fairness))), fairness) == []


@pytest.mark.parametrize("fairness", ["station", "flow"])
def test_every_kind_of_request_of_a_gateway_is_expected(fairness: str) -> None:
    """A guest adds requests when it joins. After the guest has left, the expected requests are
    those from before it joined.
    """
    made = layout(fairness)
    before = {request.command for request in wanted(made)}
    made.join(KnownStation("guest", made.gateway.aps[0].name, (ip_address("10.0.0.9"),)))
    more = {request.command for request in wanted(made)}
    assert before < more
    made.leave("guest")
    assert {request.command for request in wanted(made)} == before


def test_missing_parts_are_created_again_in_order() -> None:
    requests = wanted(layout())
    for k, request in enumerate(requests):
        (difference,) = compared(as_kernel(requests[:k] + requests[k + 1 :]))
        assert difference.repair == [request]
        assert difference.message.endswith("gone")
    assert [each.repair[0] for each in compared([])] == requests


def test_a_class_with_another_rate_is_changed_back() -> None:
    made = layout()
    (ap,) = made.gateway.aps
    requests = wanted(made)
    slow = made.rate(ap, 100_000, change=False)
    has = [slow if each == made.rate(ap, 5_000_000, change=False) else each for each in requests]
    (difference,) = compared(as_kernel(has))
    (repair,) = difference.repair
    assert difference.message == "class 6c68:1 of lh-lan is changed"
    assert isinstance(repair, Request)
    assert (repair.flags, repair.command.split()[:3]) == (0, ["tc", "class", "change"])


def test_the_quantum_of_a_leaf_counts_and_that_of_a_bottleneck_does_not() -> None:
    made = layout()
    requests = wanted(made)
    messages = []
    for k, request in enumerate(requests):
        if request.kind == tc.NEWCLASS:
            body = request.body.replace(
                (1514).to_bytes(4, "little") + bytes(8), (1515).to_bytes(4, "little") + bytes(8)
            )
            assert body != request.body
            has = [*requests[:k], request._replace(body=body), *requests[k + 1 :]]
            messages += summarised(compared(as_kernel(has)))
    leaves = [*made.shared["wlan"], *(made.members[name].leaf for name in ("s0", "s1"))]
    assert messages == [f"class {tc.shown(leaf)} of lh-lan is changed" for leaf in leaves]


def test_another_queue_is_replaced_and_a_filter_removed_first() -> None:
    made = layout()
    requests = wanted(made)
    leaf = made.members["s0"].leaf
    short = leaf_queue.add(IFB, leaf, leaf_queue.Queue("pfifo", 2))
    has = [short if " pfifo " in r.command and "6c68:100 " in r.command else r for r in requests]
    (difference,) = compared(as_kernel(has))
    (repair,) = difference.repair
    assert isinstance(repair, Request)
    assert repair.flags == CREATE | REPLACE
    assert difference.message == "the queue of class 6c68:100 of lh-lan is changed"
    # The number of flows of FQ-CoDel cannot be changed later.
    made = layout(discipline="fq_codel")
    requests = wanted(made)
    other = leaf_queue.add(IFB, leaf, made.queues["wlan", None]._replace(flows=7))
    fifo = leaf_queue.add(IFB, leaf, leaf_queue.Queue("pfifo", 200))
    for has_now, kinds in ((other, [tc.DELQDISC, tc.NEWQDISC]), (fifo, [tc.NEWQDISC])):
        has = [
            has_now if " fq_codel " in r.command and "6c68:100 " in r.command else r
            for r in requests
        ]
        (difference,) = inside(IFB, requests, as_kernel(has), {})
        assert [r.kind for r in difference.repair if isinstance(r, Request)] == kinds
    requests = wanted(layout())
    # A filter sends packets of one station to the leaf of another station.
    entry = tc.u32_entry(
        IFB, 1, 1, ip_address("10.0.0.1"), leaf + 1, source=False, major=MAJOR, order=4
    )
    has = [
        entry if r.command.startswith(entry.command.partition(" flowid")[0]) else r
        for r in requests
    ]
    (difference,) = compared(as_kernel(has))
    assert [r.kind for r in difference.repair if isinstance(r, Request)] == [
        tc.DELFILTER,
        tc.NEWFILTER,
    ]


def test_foreign_filters_are_removed_before_foreign_classes() -> None:
    requests = wanted(layout())
    others = [
        tc.htb_class(
            IFB, 0x6C680999, 0x6C680001, rate_bps=1, ceil_bps=1, burst_bytes=1, quantum_bytes=1
        ),
        # This class belongs to another queueing discipline and is ignored.
        tc.htb_class(IFB, 0x10001, 0x10000, rate_bps=1, ceil_bps=1, burst_bytes=1, quantum_bytes=1),
        tc.u32_entry(IFB, 1, 7, ip_address("10.0.0.7"), 1, source=False, major=MAJOR),
    ]
    differences = compared(as_kernel([*requests, *others]))
    repairs = [r for each in differences for r in each.repair if isinstance(r, Request)]
    assert [r.kind for r in repairs] == [tc.DELFILTER, tc.DELCLASS]
    assert summarised(differences) == [
        "filters of dev lh-lan are not ours",
        "class 6c68:999 of lh-lan is not ours",
    ]


def test_a_foreign_list_is_removed_as_a_whole() -> None:
    requests = wanted(layout())
    first, two = (
        tc.u32_entry(IFB, 1, node, ip_address("10.0.0.7"), 1, source=False, major=MAJOR)
        for node in (1, 2)
    )
    index, handle, parent, info = tc.TCMSG.unpack_from(first.body)[1:]
    has = as_kernel(requests)
    for request in (first, two):
        header = tc.TCMSG.pack(0, index, handle, parent, info + (6 << 16))
        has.append((request.kind, header + request.body[tc.TCMSG.size :]))
    repairs = [r for each in compared(has) for r in each.repair if isinstance(r, Request)]
    assert repairs
    assert {r.command for r in repairs} == {"tc filter del dev 9 parent 6c68: pref 7"}


def test_a_missing_hierarchy_is_reported_in_one_line() -> None:
    assert summarised(compared([])) == ["the classes of lh-lan are gone"]


def test_many_differences_of_a_kind_are_counted() -> None:
    many = [Difference(("class", 9, k), f"class 6c68:{k} of lh-lan is changed") for k in range(9)]
    assert summarised(many) == [
        *(each.message for each in many[:3]),
        "6 more classes and queues differ from their settings",
    ]


def test_an_interface_with_wrong_settings_is_a_difference() -> None:
    block, link = (7, 8), Link(3, "veth", b"", True, 0)
    ours, another = Qdisc("clsact", True, block), Qdisc("clsact", True, (0, 0))
    assert of_side("wan", None, link, [another], False) == []
    assert of_side("wan", block, link, [ours], False) == []
    (down,) = of_side("wan", block, link._replace(is_up=False), [ours], False)
    assert (down.message, down.repair) == ("interface wan is down", ())
    (gone,) = of_side("wan", block, None, [], False)
    assert (gone.message, gone.repair) == ("interface wan is gone", ())
    (unhooked,) = of_side("wan", block, link, [], False)
    assert unhooked.repair == (Hooks(Device("wan", 3), block),)
    (taken,) = of_side("wan", block, link, [another], False)
    assert (taken.message, taken.repair) == ("the clsact of wan is no longer ours", ())
    (merging,) = of_side("wan", block, link, [ours], True)
    assert merging.repair == (Merging(Device("wan", 3)),)


def test_the_ifb_is_identified_by_name_and_number() -> None:
    link = Link(9, "ifb", b"", True, 0)
    assert of_ifb(IFB, {"lh-lan": link}) is None
    for links in ({}, {"odd": link}, {"lh-lan": link._replace(number=8)}):
        gone = of_ifb(IFB, links)
        assert gone is not None
        assert (gone.name, gone.repair) == (EVERYTHING, ())
    down = of_ifb(IFB, {"lh-lan": link._replace(is_up=False)})
    assert down is not None
    assert [r.command for r in down.repair if isinstance(r, Request)] == ["ip link set lh-lan up"]


def test_rates_above_32_bits_are_compared_completely() -> None:
    made = layout()
    fast = replace(made.gateway.aps[0], rate_bps=40_000_000_000)
    gateway = replace(made.gateway, aps=(fast,))
    large = Layout(gateway, IFB)
    rates = {fast.name: 40_000_000_000}
    requests = list(large.hierarchy(rates))
    assert inside(IFB, requests, as_kernel(requests), {}) == []
    other = list(large.hierarchy({fast.name: 41_000_000_000}))
    assert len(inside(IFB, requests, as_kernel(other), {})) == 1

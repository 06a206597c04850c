"""CAKE at an interface, without a kernel: commands, requests, refusals and the status."""

import errno
from typing import Any

import pytest

from lasthop.cli.queue import queue_text
from lasthop.enforce.queue import config
from lasthop.enforce.queue.cake import rows, shaped_bps
from lasthop.enforce.queue.config import LinkQueue
from lasthop.enforce.queue.layout import Layout, discipline_of, warnings_for
from lasthop.enforce.queue.live import tables
from lasthop.enforce.queue.shaped import Shaped, plan, same_kind
from lasthop.errors import UserError
from lasthop.linux import cake, tc
from lasthop.linux.described import described
from lasthop.linux.netlink import KernelError, attribute, u32_attribute
from lasthop.linux.undo import UndoLog

WORDS = (
    "diffserv3 triple-isolate nonat nowash no-ack-filter split-gso rtt 100000us noatm overhead 14"
)


def of(queue: str, more: str = "") -> LinkQueue:
    return config.read(f'[interface]\nname = "eth0"\nqueue.cake = {queue}\n{more}')


def test_the_plan_is_one_command_at_the_root() -> None:
    assert plan(of('"18 Mbps"')) == [
        f"tc qdisc add dev eth0 root handle 6c68: cake bandwidth 18000000bit {WORDS}"
    ]
    assert plan(of("{}", 'rate = "5 Mbps"\nfrom = "br0"')) == [
        "ethtool -K br0 gro off",
        f"tc qdisc add dev eth0 root handle 6c68: cake bandwidth 5000000bit {WORDS}",
    ]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ('diffserv = "besteffort"', "besteffort"),
        ('diffserv = "diffserv8"', "diffserv8"),
        ('isolation = "dual-dsthost"', "dual-dsthost"),
        ("nat = true", "nat"),
        ('ack_filter = "conservative"', "ack-filter"),
        ('ack_filter = "aggressive"', "ack-filter-aggressive"),
        ('overhead = "40 B"', "overhead 40"),
        ('mpu = "64 B"', "mpu 64"),
        ('link_layer = "atm"', "atm"),
        ('link_layer = "ptm"', "ptm"),
        ('rtt = "30 ms"', "rtt 30000us"),
        ('memory_limit = "8 MB"', "memlimit 8000000b"),
        ("ingress = true", "ingress"),
    ],
)
def test_every_key_is_a_word_and_an_option(keys: str, words: str) -> None:
    usual, changed = (of(f'{{ bandwidth = "1 Mbps"{more} }}') for more in ("", f", {keys}"))
    (command,) = plan(changed)
    assert f" {words} " in f"{command} "
    settings = [described(each.kind, each.body) for each in map(root, (usual, changed))]
    assert None not in settings
    assert settings[0] != settings[1]
    assert same_kind(usual, changed)


def root(wanted: LinkQueue) -> Any:
    (request,) = Layout(wanted, tc.Device("eth0", 7)).hierarchy()
    return request


def test_the_shaper_has_the_bandwidth_or_else_the_rate() -> None:
    assert shaped_bps(of('"18 Mbps"')) == 18_000_000
    assert shaped_bps(of('"18 Mbps"', 'rate = "20 Mbps"')) == 18_000_000
    assert shaped_bps(of("{}", 'rate = "20 Mbps"')) == 20_000_000
    text = f"eth0, cake bandwidth 18000000bit {WORDS}"
    assert queue_text(of('"18 Mbps"')) == text


def test_a_bandwidth_above_the_rate_is_refused_in_one_line() -> None:
    with pytest.raises(UserError, match=r"cake.bandwidth of 18 Mbit/s exceeds the rate of 9 Mb"):
        discipline_of(of('"18 Mbps"', 'rate = "9 Mbps"'))


def test_differences_from_a_simulation_are_reported() -> None:
    assert warnings_for(of('"18 Mbps"')) == []
    wanted = config.read(
        '[interface]\nname = "eth0"\nqueue = { limit = 100, cake = { bandwidth = "1 Mbps" } }\n'
    )
    assert "has no limit in packets" in warnings_for(wanted)[0]
    limited = of('{ bandwidth = "1 Mbps", memory_limit = "1 MB" }')
    assert warnings_for(limited) == []


def test_a_kernel_without_cake_is_refused_with_its_option(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    def refuse(*_: object) -> None:
        raise KernelError(errno.ENOENT, "No such file or directory", "tc qdisc add")

    with Shaped(of('"18 Mbps"'), UndoLog(tmp_path / "undo")) as shaped:
        monkeypatch.setattr(shaped.changes, "add_root", refuse)
        with pytest.raises(UserError) as refused:
            shaped.add_root(Layout(shaped.wanted, tc.Device("eth0", 7)))
    assert str(refused.value) == "interface.queue: this kernel has no cake (CONFIG_NET_SCH_CAKE)"
    assert refused.value.hint == "install a kernel (or its package of modules) with sch_cake"


def test_a_tin_is_read_from_its_attributes() -> None:
    has = {kind: kind.to_bytes(4, "little") for kind in range(2, 23)}
    tin = cake.tin(has)
    assert (tin.arrived_packets, tin.dropped_packets, tin.acks_dropped) == (2, 4, 6)
    assert (tin.marked_packets, tin.backlog_packets, tin.backlog_bytes) == (8, 10, 11)
    assert (tin.threshold_bps, tin.target_s, tin.interval_s) == (8 * 12, 13e-6, 14e-6)
    assert (tin.peak_delay_s, tin.mean_delay_s, tin.base_delay_s) == (18e-6, 19e-6, 20e-6)
    assert (tin.sparse_flows, tin.bulk_flows) == (21, 22)


def test_tins_have_the_names_of_tc() -> None:
    tins = [cake.tin({2: bytes([number, 0, 0, 0])}) for number in range(8)]
    assert [row["name"] for row in rows(tins[:3], "diffserv3")] == ["bulk", "best-effort", "voice"]
    assert [row["name"] for row in rows(tins, "diffserv8")][-1] == "tin-7"
    status = {
        **{"interface": "eth0", "queue": "cake", "rate_bps": 1e6, "limit_packets": 10240},
        **{"classes": [], "warnings": [], "faults": []},
        "tins": rows(tins[:1], "besteffort"),
    }
    assert tables(status)


def test_options_are_compared_as_the_kernel_reports_them() -> None:
    """The kernel leaves `RAW` out, and reports further attributes."""
    options = cake.Options(None, 0.1, "besteffort", "flows", False, "off", None).discipline.options
    extra = u32_attribute(9, 1) + attribute(1, b"")
    assert cake.compared(options + extra) == cake.compared(options)

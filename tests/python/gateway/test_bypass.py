"""Detection of kernel features that let traffic bypass the classifier."""

import struct

import pytest

from lasthop.enforce.gateway import bypass, config, operate
from lasthop.enforce.gateway.bypass import among
from lasthop.enforce.gateway.suitability import by_address
from lasthop.errors import UserError
from lasthop.linux.flowtables import Flowtable, flowtable
from lasthop.linux.links import Link, below
from lasthop.linux.netlink import attribute


def link(number: int, kind: str = "", master: int = 0, lower: int = 0) -> Link:
    return Link(number, kind, b"", True, master, lower=lower)


THERE = {
    "eth0": link(1),
    "eth1": link(2, master=5),
    "eth2": link(3),
    "eth2.20": link(4, "vlan", master=5, lower=3),
    "br0": link(5, "bridge"),
}


def message(devices: bytes, flags: int) -> bytes:
    """Return a message of the kernel (linux/netfilter/nf_tables.h)."""
    hook = attribute(1, struct.pack("!I", 0)) + attribute(2, struct.pack("!i", 0))
    hook += attribute(3 | 0x8000, devices)
    body = struct.pack("!BBH", 1, 0, 7)
    body += attribute(1, b"fw4\0") + attribute(2, b"ft\0") + attribute(3 | 0x8000, hook)
    return body + attribute(4, bytes(4)) + attribute(7, struct.pack("!I", flags))


def test_a_message_about_a_flowtable_is_read() -> None:
    devices = attribute(1, b"eth0\0") + attribute(2, b"eth2\0")
    parsed = flowtable(message(devices, 1))
    assert parsed == Flowtable("inet", "fw4", "ft", ("eth0", "eth2*"), True)
    assert [parsed.has(name) for name in ("eth0", "eth01", "eth2.20")] == [True, False, True]
    assert not flowtable(message(devices, 0)).is_hardware


def test_devices_below_a_bridge_are_its_ports_and_their_parent_devices() -> None:
    assert below("br0", THERE) == ["br0", "eth1", "eth2.20", "eth2"]
    assert below("eth1", THERE) == ["eth1"]
    assert below("gone", THERE) == ["gone"]


def test_hardware_offload_is_a_fault_and_a_software_flowtable_is_a_warning() -> None:
    tables = [
        Flowtable("inet", "fw4", "ft", ("eth0", "eth2"), True),
        Flowtable("ip", "x", "y", ("eth1", "eth0"), False),
        Flowtable("ip", "x", "z", ("eth0",), True),
    ]
    result = among(tables, ["br0"], THERE)
    assert result.faults == [
        "flowtable inet fw4 ft offloads eth2 to hardware: its packets are neither classified nor "
        "counted: take it out of the flowtable, or remove `flags offload`"
    ]
    assert result.warnings == [
        "flowtable ip x y contains eth1: its packets may pass without being classified: "
        "take it out of the flowtable"
    ]


def test_check_fails_if_hardware_bypasses_the_classifier(monkeypatch: pytest.MonkeyPatch) -> None:
    gateway = config.read('[gateway]\nwan = "eth0"\nlan = "br0"')
    table = Flowtable("inet", "fw4", "ft", ("br0",), True)
    monkeypatch.setattr(bypass, "flowtables", lambda: [table])
    monkeypatch.setattr(operate.rights, "lacking", lambda: None)
    trial = operate.rights.Trial(None, None, "pfifo")
    monkeypatch.setattr(operate.rights, "tried", lambda _: trial)
    monkeypatch.setattr(operate.rights, "bpf_refused", lambda: None)
    with pytest.raises(UserError, match="flowtable inet fw4 ft offloads br0 to hardware"):
        operate.check(gateway)


def test_stations_classified_by_address_are_reported_by_reason() -> None:
    stations = {f"s{k}": "no MAC address is known" for k in range(5)} | {"till": "x"}
    assert by_address(stations) == [
        "stations s0, s1, s2 and 2 more: classified by IP address, since no MAC address is known: "
        "a guest can forge such an address, and new addresses are unclassified",
        "station till: classified by IP address, since x: "
        "a guest can forge such an address, and new addresses are unclassified",
    ]

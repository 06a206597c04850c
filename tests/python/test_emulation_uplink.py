"""The uplink of an emulation, tested without privileges."""

from pathlib import Path

import pytest

from lasthop.emulation.uplink import CABLES, ends_of_cable, leads_out, name_servers


@pytest.mark.parametrize(
    ("text", "leads"),
    [
        ("nameserver 127.0.0.53\noptions edns0\n", False),
        ("nameserver ::1\n", False),
        ("# nameserver 192.0.2.1\nnameserver\n", False),
        ("nameserver 127.0.0.1\nnameserver 192.0.2.1\n", True),
    ],
)
def test_a_server_on_the_same_machine_needs_no_uplink(text: str, leads: bool) -> None:
    assert leads_out(text) == leads


def test_names_are_resolved_as_on_the_machine(tmp_path: Path) -> None:
    file = tmp_path / "resolv.conf"
    file.write_text("nameserver 192.0.2.1\n")
    assert name_servers(file) == "nameserver 192.0.2.1\n"


def test_each_cable_has_its_own_network() -> None:
    ends = [ends_of_cable(number) for number in range(1, 3000)]
    assert all(first.network == other.network for first, other in ends)
    assert all(first.network.subnet_of(CABLES) for first, _ in ends)
    assert len({first.network for first, _ in ends}) == len(ends)

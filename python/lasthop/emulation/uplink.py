"""Path from a scenario to outside addresses: packets leave through an interface of the machine, and
replies return.

```text
  places -- emulator -- TUN | gate | cable ======= cable | machine | INTERFACE -- outside
                             masquerade     of two        masquerade
```

The gate is a separate network namespace. Its masquerade (source NAT) replaces the source address of
all packets by one address that the machine does not use elsewhere. The machine's masquerade then
replaces this address by that of INTERFACE. The machine must already forward packets, since its
settings are not changed. The cable is a pair of veth interfaces. The end of an emulation removes
the cable. If the process is killed, the kernel removes the cable a little later, with the gate's
namespace. It removes the machine's nf_tables table when the socket that created the table is
closed, at the latest when the process ends.
"""

import contextlib
import os
import secrets
from collections.abc import Iterable
from functools import partial
from ipaddress import IPv4Interface, IPv4Network
from pathlib import Path

from lasthop.errors import UserError
from lasthop.linux import veth
from lasthop.linux.links import index_of, remove_link, set_up
from lasthop.linux.nat import Translation
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import by_way_of, through
from lasthop.linux.tun import address_of, open_tun

OUTSIDE = "10.255.0.2"
"""Address of the gate at its interface towards the scenario's hosts."""
TO_PLACES, TO_MACHINE = "lasthop", "uplink"
"""Names of the gate's interfaces: towards the scenario's hosts, and towards the machine."""
CABLES = IPv4Network("198.18.0.0/15")
"""Address range of the cables (veth pairs). It is reserved for tests of networks (RFC 2544). Each
cable uses a subnet of four addresses, chosen by the interface number of the machine's veth
interface."""
SETTINGS = Path("/proc/sys/net/ipv4/conf")


def open_uplink(
    interface: str, places: Iterable[str], mtu: int, stack: contextlib.ExitStack
) -> int:
    """Create a path from the scenario's hosts to outside addresses.

    Parameters
    ----------
    interface : str
        Interface of the machine through which packets leave.
    places : iterable of str
        Addresses of the scenario's hosts, to which replies are routed.
    mtu : int
        Length of the largest IP packet. [bytes]
    stack : ExitStack
        Closes everything that is created.

    Returns
    -------
    int
        Descriptor of the gate's TUN interface, with one IP packet per read or write.

    Raises
    ------
    UserError
        If the machine does not forward packets or lacks a feature, or if permission is missing.
    """
    refuse_what_leads_nowhere(interface)
    gate = Namespace()
    stack.callback(gate.close)
    opened = partial(open_tun, TO_PLACES, OUTSIDE, "255.255.255.255", mtu, offloads=True)
    descriptor = gate.run(opened)
    stack.callback(os.close, descriptor)
    own = f"lasthop-{secrets.token_hex(3)}"
    try:
        with Socket() as kernel:
            kernel.carry_out([veth.add_pair(own, TO_MACHINE, gate.descriptor)])
            stack.callback(remove_cable, own)
            machine, present = ends_of_cable(index_of(own))
            kernel.carry_out([veth.address(own, machine), set_up(own), veth.forward(own)])
        gate.run(partial(set_up_gate, [*places], machine, present))
        stack.enter_context(gate.run(partial(Translation, "lasthop", TO_MACHINE)))
        stack.enter_context(Translation(own, interface, present.ip, inside=own))
    except UserError as error:
        raise UserError(f"uplink={interface!r}: {error}", error.hint) from None
    return descriptor


def remove_cable(own: str) -> None:
    """Remove the cable with the machine's interface `own`, if it exists."""
    with Socket() as kernel, contextlib.suppress(UserError, OSError):
        kernel.carry_out([remove_link(own)])


def refuse_what_leads_nowhere(interface: str) -> None:
    """Raise `UserError` for an interface through which the machine cannot forward packets."""
    index_of(interface)
    if address_of(interface) is None:
        raise UserError(
            f"uplink={interface!r}: the interface has no IPv4 address, or is down",
            "expected an interface that leads to the outside",
        )
    try:
        forwards = (SETTINGS / interface / "forwarding").read_text().strip() != "0"
    except OSError as error:
        raise UserError(f"uplink={interface!r}: {error.filename}: {error.strerror}") from None
    if not forwards:
        raise UserError(
            f"uplink={interface!r}: this machine does not forward packets from this interface, so "
            f"that replies would be lost",
            f"sysctl -w net.ipv4.conf.{interface}.forwarding=1",
        )


def ends_of_cable(number: int) -> tuple[IPv4Interface, IPv4Interface]:
    """Return the addresses of both ends of a cable: first at the machine, then at the gate.
    `number` is the number of the machine's interface."""
    first = CABLES[4 * number % CABLES.num_addresses]
    return IPv4Interface((first + 1, 30)), IPv4Interface((first + 2, 30))


def set_up_gate(places: list[str], machine: IPv4Interface, own: IPv4Interface) -> None:
    """Set up addresses, routes and forwarding of the gate, whose namespace is that of the calling
    thread."""
    with Socket() as kernel:
        kernel.carry_out([veth.address(TO_MACHINE, own), set_up(TO_MACHINE)])
        kernel.carry_out([through(IPv4Network(place), TO_PLACES) for place in places])
        kernel.carry_out([by_way_of(machine.ip, TO_MACHINE)])
        kernel.carry_out([veth.forward(TO_PLACES), veth.forward(TO_MACHINE)])


def name_servers(of: Path = Path("/etc/resolv.conf")) -> str:
    """Return the text of the file resolv.conf for programs.

    The text contains the machine's name servers. If the machine's list contains only the machine
    itself, the text contains the upstream servers of systemd-resolved.
    """
    known = text_of(of)
    outside = Path("/run/systemd/resolve/resolv.conf")
    if leads_out(known) or not leads_out(text_of(outside)):
        return known
    return text_of(outside)


def text_of(path: Path) -> str:
    """Return the text of a file; empty if the file does not exist."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def leads_out(known: str) -> bool:
    """Return whether a list of name servers contains a server other than the machine itself."""
    lines = [line.split() for line in known.splitlines()]
    named = [words[1] for words in lines if words[:1] == ["nameserver"] and len(words) > 1]
    return any(not server.startswith("127.") and server != "::1" for server in named)

"""The way out: what leaves a scenario goes on by an interface of the machine, answers come back.

```text
  places -- emulator -- TUN | gate | cable ======= cable | machine | INTERFACE -- outside
                             masquerade     of two        masquerade
```

The gate is a namespace of its own. Its masquerade gives all packets one address that nobody else
has on the machine, the machine's gives them that of INTERFACE. The machine forwards already, or
nothing is done: no setting of it is changed. The cable ends with the gate's namespace, the
machine's table with the socket that made it, and both with the process, however it ends.
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
from lasthop.linux.links import index_of, set_up
from lasthop.linux.nat import Translation
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import by_way_of, through
from lasthop.linux.tun import address_of, open_tun

OUTSIDE = "10.255.0.2"
"""Address of the gate towards the places."""
TO_PLACES, TO_MACHINE = "lasthop", "uplink"
"""The gate's interfaces."""
CABLES = IPv4Network("198.18.0.0/15")
"""Networks of four addresses are taken from here, by the number of the machine's end of the cable;
meant for tests of networks (RFC 2544)."""
SETTINGS = Path("/proc/sys/net/ipv4/conf")


def open_uplink(
    interface: str, places: Iterable[str], mtu: int, stack: contextlib.ExitStack
) -> int:
    """Open a way to the outside.

    Parameters
    ----------
    interface : str
        The machine's, by which packets leave.
    places : iterable of str
        Addresses to which answers go.
    mtu : int
        Largest IP packet. [bytes]
    stack : ExitStack
        Closes what is made.

    Returns
    -------
    int
        Descriptor of the outside: one IP packet a read or write.

    Raises
    ------
    UserError
        If the machine does not forward, lacks something that is needed, or this process may not.
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
            machine, present = ends_of_cable(index_of(own))
            kernel.carry_out([veth.address(own, machine), set_up(own), veth.forward(own)])
        gate.run(partial(set_up_gate, [*places], machine, present))
        stack.enter_context(gate.run(partial(Translation, "lasthop", TO_MACHINE)))
        stack.enter_context(Translation(own, interface, present.ip, inside=own))
    except UserError as error:
        raise UserError(f"uplink={interface!r}: {error}", error.hint) from None
    return descriptor


def refuse_what_leads_nowhere(interface: str) -> None:
    """Refuse an interface by which no packet of others can leave."""
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
    """Addresses of the machine's end, whose interface has this number, and of the gate's."""
    first = CABLES[4 * number % CABLES.num_addresses]
    return IPv4Interface((first + 1, 30)), IPv4Interface((first + 2, 30))


def set_up_gate(places: list[str], machine: IPv4Interface, own: IPv4Interface) -> None:
    """Addresses, routes and forwarding of the calling thread's namespace, which is the gate."""
    with Socket() as kernel:
        kernel.carry_out([veth.address(TO_MACHINE, own), set_up(TO_MACHINE)])
        kernel.carry_out([through(IPv4Network(place), TO_PLACES) for place in places])
        kernel.carry_out([by_way_of(machine.ip, TO_MACHINE)])
        kernel.carry_out([veth.forward(TO_PLACES), veth.forward(TO_MACHINE)])


def name_servers(of: Path = Path("/etc/resolv.conf")) -> str:
    """Where names are looked up: the machine's own list, or where that names itself alone the list
    that systemd-resolved has from outside.
    """
    known = text_of(of)
    outside = Path("/run/systemd/resolve/resolv.conf")
    if leads_out(known) or not leads_out(text_of(outside)):
        return known
    return text_of(outside)


def text_of(path: Path) -> str:
    """A file's text; nothing where there is none."""
    try:
        return path.read_text(errors="replace")
    except OSError:
        return ""


def leads_out(known: str) -> bool:
    """Whether a list of servers names one that is not the machine itself."""
    lines = [line.split() for line in known.splitlines()]
    named = [words[1] for words in lines if words[:1] == ["nameserver"] and len(words) > 1]
    return any(not server.startswith("127.") and server != "::1" for server in named)

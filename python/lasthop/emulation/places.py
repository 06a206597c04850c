"""Where hosts are: network namespaces with a TUN interface each, and the two ends of every flow.

The servers have one, each station has one, and where there are flows between wired nodes all their
sources have one together and all their sinks have one. Addresses are those of crates/emulator.
"""

import contextlib
import os
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Network

from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import acknowledge_at_once, all_local
from lasthop.linux.tcp import without_timestamps
from lasthop.linux.tun import open_tun
from lasthop.models.reading import Flow
from lasthop.models.reading import Scenario as Typed

SERVER = "10.255.0.1"
STATIONS = IPv4Address("10.0.0.0")
"""Number that k is added to for the address of station k, from 1."""
SOURCES, SINKS = IPv4Network("10.64.0.0/10"), IPv4Network("10.128.0.0/10")
"""Where the source and the sink of flow k between wired nodes have address number k + 1."""
FIRST_PORT = 20_000
"""Number that k is added to for the port of flow k at its server or sink."""
OTHER_PORT = 10_000
"""Number that k is added to for the port of a UDP flow k at its station or source."""

MASK = "255.0.0.0"
INTERFACE = "lasthop"
LEAST_MTU = 576
"""Length of a packet that every host takes (RFC 791); answers to pings need some of it. [bytes]"""


@dataclass(frozen=True)
class Host:
    """An address, and the namespace that has it."""

    namespace: Namespace
    address: str


@dataclass(frozen=True)
class Ends:
    """The two ends of a flow."""

    index: int
    """Number of the flow."""
    listening: Host
    """The server or sink, to whose port the other end connects."""
    connecting: Host
    """The station or source."""
    listener_sends: bool
    """Whether the data goes from the server to the station."""

    @property
    def port(self) -> int:
        """Port of the end that listens."""
        return FIRST_PORT + self.index

    @property
    def sender(self) -> Host:
        """Where its data comes from."""
        return self.listening if self.listener_sends else self.connecting

    @property
    def receiver(self) -> Host:
        """Where its data goes to."""
        return self.connecting if self.listener_sends else self.listening


class Places:
    """The hosts of a scenario.

    Parameters
    ----------
    scenario : Scenario
    stack : ExitStack
        Closes what is made.

    Raises
    ------
    UserError
        If this process may not make namespaces and interfaces.
    """

    def __init__(self, scenario: Typed, stack: contextlib.ExitStack) -> None:
        self.scenario = scenario
        self.stack = stack
        self.descriptors: list[int] = []
        """Descriptors of the nodes by number, as in crates/emulator."""
        self.mtu = max(LEAST_MTU, *(flow.transport.packet_bytes for flow in scenario.flows))
        self.server = self.node(SERVER)
        self.stations: dict[str, Host] = {}
        for number, station in enumerate(scenario.stations, start=1):
            self.stations[station.name] = self.node(str(STATIONS + number))
        if any(not flow.station for flow in scenario.flows):
            self.sources, self.sinks = self.nodes(SOURCES), self.nodes(SINKS)

    def node(self, address: str) -> Host:
        """A namespace with an interface."""
        namespace = Namespace()
        self.stack.callback(namespace.close)

        def interface() -> int:
            without_timestamps()
            return open_tun(INTERFACE, address, MASK, self.mtu)

        descriptor = namespace.run(interface)
        self.stack.callback(os.close, descriptor)
        self.descriptors.append(descriptor)
        return Host(namespace, address)

    def nodes(self, addresses: IPv4Network) -> Namespace:
        """A namespace that has all of these addresses."""
        host = self.node(str(addresses.broadcast_address - 1))
        host.namespace.run(partial(add_route, addresses))
        return host.namespace

    def ends(self, index: int, flow: Flow) -> Ends:
        """The two ends of flow number `index`."""
        if flow.station:
            return Ends(index, self.server, self.stations[flow.station], not flow.is_up)
        source = Host(self.sources, str(SOURCES[index + 1]))
        return Ends(index, Host(self.sinks, str(SINKS[index + 1])), source, listener_sends=False)

    def acknowledge_at_once(self) -> None:
        """Where receivers do not delay their ACKs, let the route to the sender say so."""
        ways = set()
        for index, flow in enumerate(self.scenario.flows):
            if flow in self.scenario.tcp_flows and not flow.transport.delayed_ack:
                ends = self.ends(index, flow)
                ways.add((ends.receiver.namespace, ends.sender.address))
        for namespace, sender in sorted(ways, key=lambda way: way[1]):
            namespace.run(partial(add_quick_route, sender))


def add_quick_route(sender: str) -> None:
    """Have what this address sends acknowledged at once, in the calling thread's namespace."""
    with Socket() as kernel:
        kernel.carry_out([acknowledge_at_once(sender, INTERFACE)])


def add_route(addresses: IPv4Network) -> None:
    """Have all these addresses in the calling thread's namespace."""
    with Socket() as kernel:
        kernel.carry_out([all_local(addresses, INTERFACE)])

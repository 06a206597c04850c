"""Hosts of a scenario in network namespaces, each with a TUN interface, and the two ends of every
flow.

The servers share a namespace, and each station has a namespace of its own. All sources of flows
between wired nodes share a namespace, and all sinks share another namespace. crates/emulator uses
the same addresses. A place is a host of the scenario at which programs run: a station, the server,
or the source or sink of a wired flow. If programs can reach addresses outside the scenario, packets
to these addresses leave through the last node of the emulator.
"""

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

from lasthop.emulation.uplink import open_uplink
from lasthop.errors import UserError
from lasthop.linux.links import set_up
from lasthop.linux.netlink import Request, Socket
from lasthop.linux.netns import Namespace
from lasthop.linux.routes import EVERYTHING, RouteMetrics, all_local, habits_towards, through
from lasthop.linux.sysctl import write
from lasthop.linux.tcp import prefer_congestion, without_timestamps
from lasthop.linux.tun import open_tun
from lasthop.scenario.typed import Flow, TcpFlow
from lasthop.scenario.typed import Scenario as Typed

SERVER = "10.255.0.1"
STATIONS = IPv4Address("10.0.0.0")
"""Base of the stations' addresses. The first station has this address plus 1, the second station
this address plus 2, and so on."""
SOURCES, SINKS = IPv4Network("10.64.0.0/10"), IPv4Network("10.128.0.0/10")
"""Networks of the sources and of the sinks of wired flows. The flow with index k in the scenario
uses the address with index k + 1 of each network."""
FIRST_PORT = 20_000
"""Base of the port numbers that flows use at their listening hosts. The flow with index k in the
scenario has this port number plus k."""
OTHER_PORT = 10_000
"""Base of the port numbers that UDP flows use at stations and at sources of wired flows. The flow
with index k in the scenario has this port number plus k."""

MASK = "255.0.0.0"
INTERFACE = "lasthop"
MIN_MTU = 576
"""Smallest MTU. Every host must accept packets of this length (RFC 791). [bytes]"""
USUAL_MTU = 1500
"""MTU of the interfaces if programs run. [bytes]"""

Ways: TypeAlias = Mapping[str, tuple[str, str]]
"""Names of the source and the sink of each flow that only defines the path of programs, by the
flow's name. Packets to addresses outside the scenario leave at the sink."""


@dataclass(frozen=True)
class Host:
    """Host of an emulation: an IP address, and the network namespace that has this address."""

    namespace: Namespace
    address: str


@dataclass(frozen=True)
class Ends:
    """Hosts at the two ends of a flow."""

    index: int
    """Index of the flow in the scenario, from 0."""
    listening: Host
    """Host that listens: the server, the sink, or the source of web traffic."""
    connecting: Host
    """Host that connects to the listening host."""
    listener_sends: bool
    """Whether the listening host sends the data of the flow."""

    @property
    def port(self) -> int:
        """Port number of the listening host."""
        return FIRST_PORT + self.index

    @property
    def sender(self) -> Host:
        """Host that sends the data of the flow."""
        return self.listening if self.listener_sends else self.connecting

    @property
    def receiver(self) -> Host:
        """Host that receives the data of the flow."""
        return self.connecting if self.listener_sends else self.listening


class Place(NamedTuple):
    """Host of the scenario at which programs can run: server, station, source or sink."""

    what: Literal["server", "station", "source", "sink"]
    number: int
    """Index of the station in the scenario, or index of the flow of a source or sink, from 0. The
    server has 0."""
    address: str
    other: str
    """Name of the other host, whose programs communicate with the programs of this host."""


class Opened(NamedTuple):
    """Place at which programs run, with the address and namespace in the emulation (`Host`)."""

    host: Host
    place: Place


class Places:
    """Hosts of a scenario, with their namespaces and interfaces.

    Parameters
    ----------
    scenario : Scenario
    stack : ExitStack
        Closes every namespace and interface that is created.
    names : iterable of str
        Names of the hosts at which programs run.
    ways : mapping
        See `Ways`.
    uplink : str, optional
        Interface of the machine through which programs reach the outside.
    sysctl : mapping, optional
        Network settings of the kernel (sysctl) at each host.

    Raises
    ------
    UserError
        If this process may not create namespaces and interfaces, or if the kernel lacks a setting.
    """

    def __init__(
        self,
        scenario: Typed,
        stack: contextlib.ExitStack,
        names: Iterable[str] = (),
        *,
        ways: Ways | None = None,
        uplink: str | None = None,
        sysctl: Mapping[str, str] | None = None,
    ) -> None:
        self.scenario = scenario
        self.sysctl = sysctl or {}
        self.ways = ways or {}
        self.uplink = uplink
        self.known = every_place(scenario, self.ways)
        self.stack = stack
        self.wanted = tuple(dict.fromkeys(names))
        self.open: dict[str, Opened] = {}
        """Hosts at which programs run, by name. The server may be such a host."""
        self.numbers: dict[str, int] = {}
        """Index of each node in the engine, by the node's IP address."""
        self.descriptors: list[int] = []
        """File descriptors of the nodes' TUN interfaces, in the order of the nodes' indices in
        crates/emulator."""
        lengths = [flow.transport.packet_bytes for flow in scenario.flows]
        least = USUAL_MTU if self.wanted else MIN_MTU
        self.mtu = max([least, *lengths])
        self.server = self.node(SERVER)
        self.stations: dict[str, Host] = {}
        for number, station in enumerate(scenario.stations, start=1):
            self.stations[station.name] = self.node(str(STATIONS + number))
        if any(not flow.station for flow in scenario.flows):
            self.sources, self.sinks = self.nodes(SOURCES), self.nodes(SINKS)
        self.hosts: dict[int, tuple[Host, Host]] = {}
        """Source and sink of each wired flow whose hosts run programs, by the index of the flow."""
        for name in self.wanted:
            self.run_at(name)
        if uplink is not None:
            addresses = [place.address for place in self.known.values()]
            self.descriptors.append(open_uplink(uplink, addresses, self.mtu, stack))

    def node(self, address: str) -> Host:
        """Return a host in a new namespace with a TUN interface."""
        namespace = Namespace()
        self.stack.callback(namespace.close)

        def interface() -> int:
            without_timestamps()
            for name, value in self.sysctl.items():
                write(name, value)
            return open_tun(INTERFACE, address, MASK, self.mtu, offloads=True)

        descriptor = namespace.run(interface)
        self.stack.callback(os.close, descriptor)
        self.numbers[address] = len(self.descriptors)
        self.descriptors.append(descriptor)
        return Host(namespace, address)

    def nodes(self, addresses: IPv4Network) -> Namespace:
        """Return a new namespace that has all addresses of a network."""
        host = self.node(str(addresses.broadcast_address - 1))
        host.namespace.run(partial(carry_out, all_local, addresses, INTERFACE))
        return host.namespace

    def ends(self, index: int, flow: Flow) -> Ends:
        """Return the hosts at the two ends of a flow. `index` is the index of the flow in the
        scenario."""
        if flow.station:
            return Ends(index, self.server, self.stations[flow.station], not flow.is_up)
        own = Host(self.sources, str(SOURCES[index + 1])), Host(self.sinks, str(SINKS[index + 1]))
        source, sink = self.hosts.get(index, own)
        if isinstance(flow, TcpFlow) and flow.web is not None:
            return Ends(index, source, sink, listener_sends=True)  # web clients are at the sink
        return Ends(index, sink, source, listener_sends=False)

    def run_at(self, name: str) -> None:
        """Prepare a host of the scenario so that programs can run in its namespace.

        Raises
        ------
        UserError
            If no host has this name.
        """
        place = place_named(self.scenario, name, self.ways)
        match place.what:
            case "server":
                host = self.server
            case "station":
                host = self.stations[name]
            case "source" | "sink":
                index = place.number
                if index not in self.hosts:
                    source = self.node(str(SOURCES[index + 1]))
                    self.hosts[index] = source, self.node(str(SINKS[index + 1]))
                host = self.hosts[index][place.what == "sink"]
        self.open[name] = Opened(host, place)
        host.namespace.run(partial(carry_out, set_up, "lo"))
        host.namespace.run(let_ping)
        if self.uplink is not None:
            host.namespace.run(partial(carry_out, through, EVERYTHING, INTERFACE))

    def prefer(self, congestion: str | None) -> bool:
        """Set the default congestion control for sockets of programs, by the kernel's name.

        Return whether the kernel permits the change at all hosts.
        """
        if congestion is None:
            return True
        prefer = partial(prefer_congestion, congestion)
        lets = [each.host.namespace.run(prefer) for each in self.open.values()]
        return all(lets)

    def of_programs(self) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
        """Return a list of stations and a list of wired flows, each as pairs of name and index.

        The lists contain the stations and wired flows at which programs can communicate. If a
        program runs at the server, all stations are returned.
        """
        opened = {name: each.place for name, each in self.open.items()}
        if any(place.what == "server" for place in opened.values()):
            opened = self.known
        stations = [(name, each.number) for name, each in opened.items() if each.what == "station"]
        names = [self.ways.get(flow.name, (flow.name,))[0] for flow in self.scenario.flows]
        return stations, [(names[index], index) for index in self.hosts]

    def nodes_at_uplink(self) -> list[int] | None:
        """Return the indices of the nodes through which packets leave the scenario; None without an
        uplink."""
        if self.uplink is None:
            return None
        ends = [self.hosts[index][1] for index in self.hosts if self.is_way(index)]
        return [0, *(self.numbers[end.address] for end in ends)]

    def is_way(self, index: int) -> bool:
        """Return whether a flow only defines the path of programs."""
        return self.scenario.flows[index].name in self.ways

    def follow(self, *, initial_window: bool) -> None:
        """Disable delayed ACKs for flows whose receivers do not delay ACKs in the scenario, by
        setting route metrics.

        With `initial_window`, also set route metrics at senders, so that they use the scenario's
        initial window.
        """
        habits: dict[tuple[str, Namespace], RouteMetrics] = {}

        def add(at: Host, towards: Host, **habit: Any) -> None:
            way = towards.address, at.namespace
            habits[way] = replace(habits.get(way, RouteMetrics()), **habit)

        for index, flow in enumerate(self.scenario.flows):
            if not isinstance(flow, TcpFlow):
                continue
            ends = self.ends(index, flow)
            if not flow.tcp.delayed_ack:
                add(ends.receiver, ends.sender, acknowledges_each=True)
            if initial_window:
                add(ends.sender, ends.receiver, initial_window=flow.tcp.initial_cwnd_packets)
        for (address, namespace), habit in sorted(habits.items(), key=lambda item: item[0][0]):
            namespace.run(partial(carry_out, habits_towards, address, INTERFACE, habit))


def let_ping() -> None:
    """Permit ICMP sockets for ping in the calling thread's namespace. The kernel chooses unique
    identifiers for such sockets.

    Without ICMP sockets, ping uses its process number as the identifier, which can be equal in two
    process namespaces.
    """
    with contextlib.suppress(OSError):
        Path("/proc/sys/net/ipv4/ping_group_range").write_text("0 2147483647")


def carry_out(make: Callable[..., Request], *arguments: object) -> None:
    """Send the netlink request that `make` returns, in the calling thread's namespace."""
    with Socket() as kernel:
        kernel.carry_out([make(*arguments)])


def every_place(scenario: Typed, ways: Ways | None = None) -> dict[str, Place]:
    """Return all hosts at which programs could run, by name."""
    server = Place("server", 0, SERVER, "all stations")
    places = {"server": server} if scenario.stations else {}
    for number, station in enumerate(scenario.stations):
        address = str(STATIONS + number + 1)
        places[station.name] = Place("station", number, address, "server")
    for index, flow in enumerate(scenario.flows):
        source, sink = ends_of(flow, ways or {})
        if not flow.station:
            places[source] = Place("source", index, str(SOURCES[index + 1]), sink)
            places[sink] = Place("sink", index, str(SINKS[index + 1]), source)
    return places


def place_named(scenario: Typed, name: str, ways: Ways | None = None) -> Place:
    """Return the host of this name at which programs can run.

    Raises
    ------
    UserError
        If no host has this name.
    """
    places = every_place(scenario, ways)
    if name not in places:
        known = ", ".join(list(places)[:10])
        raise UserError(f"{name or 'an empty name'}: no such place", f"places: {known}")
    return places[name]


def ends_of(flow: Flow, ways: Ways) -> tuple[str, str]:
    """Return the names of the source and the sink of a wired flow."""
    return ways.get(flow.name, (f"{flow.name}/source", f"{flow.name}/sink"))

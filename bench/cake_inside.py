"""Program that `cake_kernel.py` runs in user-mode Linux: a case through the kernel's `sch_cake`.

    cake_inside.py CASE SEED ...
    cake_inside.py spacing

`spacing` sends one flow of 20 Mbit/s through CAKE with 10 Mbit/s, and prints the gaps between
packets after CAKE. The last line of the output has the results as JSON.

Datagrams enter CAKE by a packet socket, at the times of the list. The packets of TCP come from a
namespace of sources, and netem delays the packets of the sinks. The time in the queue of a packet
is the time from its arrival at the router to its arrival at the namespace of the sinks. The
interfaces take no time. IPv6 is off, because its own packets would pass CAKE.
"""

import ctypes
import ipaddress
import itertools
import json
import selectors
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from cake_points import (
    CASES,
    LENGTH_S,
    NS_PER_S,
    WARMUP_S,
    Cake,
    Case,
    Datagrams,
    Flow,
    Tcp,
    flows,
    packets,
    path_delay_ms,
    tcp_starts_s,
)
from cake_results import of_datagrams, of_tcp
from cake_ring import Ring
from kernel_tcp_points import SYSCTLS
from short_queues_inside import CHUNK, sh

from lasthop.linux import veth
from lasthop.linux.netlink import Socket
from lasthop.linux.netns import Namespace

NEAR, FAR, OURS, THEIRS = "near", "far", "inner", "outer"
SOURCES, SINKS = "10.200.0.", "10.201.0."
FIRST_HOST, HOSTS = 2, 8
PORT = 9_000
PR_SET_TIMERSLACK, TIMER_ABSTIME = 29, 1
SO_SNDBUFFORCE = 32
ETHERNET = bytes.fromhex("020000000002 020000000001 0800")
"""Ethernet header to an address that is not that of the sink, which therefore ignores the
packet."""
SEQUENCE_AT = 28
NO_IPV6 = "sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1"
COUNTS = ("sent_packets", "sent_bytes", "drops", "ecn_mark", "ack_drops")
"""Counters of a tin. `sent_packets` and `sent_bytes` count the packets that arrive."""
STATES = (
    *("threshold_rate", "target_us", "interval_us", "peak_delay_us", "avg_delay_us"),
    *("base_delay_us", "way_indirect_hits", "way_misses", "way_collisions"),
    *("sparse_flows", "bulk_flows", "unresponsive_flows", "max_pkt_len", "flow_quantum"),
)


def main() -> None:
    """Run the case that the command line names, once per seed."""
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0)
    if sys.argv[1:] == ["spacing"]:
        print(json.dumps(spacing()))
        return
    case, seeds = CASES[sys.argv[1]], [int(word) for word in sys.argv[2:]]
    print(json.dumps([run(case, seed) for seed in seeds]))


def run(case: Case, seed: int) -> dict[str, Any]:
    """Make one run, and return its results."""
    with ExitStack() as stack:
        sinks = enter(stack, case)
        out = stack.enter_context(sinks.run(lambda: Ring(FAR)))
        if not case.tcp:
            return measured(case, seed, out, None, lambda until_s: time.sleep(until_s))
        sources = namespace(stack)
        into = join(stack, case, sources, sinks)
        ends = connected(stack, case, sources, sinks, tcp_starts_s(case, seed))
        return measured(case, seed, out, into, Loop(ends).push, ends)


def spacing() -> dict[str, Any]:
    """Return the shortest, the longest and the mean gap between packets after CAKE. [ns]"""
    case = Case("spacing", Cake(), (Datagrams("one", 1, 20_000_000),))
    with ExitStack() as stack:
        sinks = enter(stack, case)
        out = stack.enter_context(sinks.run(lambda: Ring(FAR)))
        some = flows(case, 1)
        send(some, packets(some))
        times_ns = [seen.at_ns for seen in out.packets()]
    gaps_ns = [after - before for before, after in itertools.pairwise(times_ns)]
    mean_ns = (times_ns[-1] - times_ns[0]) / len(gaps_ns)
    return {"packets": len(times_ns), "min": min(gaps_ns), "max": max(gaps_ns), "mean": mean_ns}


# -- network ------------------------------------------------------------------------------------


def add_pair(stack: ExitStack, name: str, peer: str, namespace: Namespace) -> None:
    """Add a pair of interfaces that ends in a namespace, and remove it at the end."""
    with Socket() as kernel:
        kernel.carry_out([veth.add_pair(name, peer, namespace.descriptor)])
    stack.callback(sh, f"ip link delete {name}")


def namespace(stack: ExitStack) -> Namespace:
    """Create a network namespace without IPv6."""
    made = Namespace()
    stack.callback(made.close)
    made.run(lambda: sh(NO_IPV6))
    return made


def enter(stack: ExitStack, case: Case) -> Namespace:
    """Create the network of the sinks, with CAKE at the interface that leads to it."""
    sh(NO_IPV6)
    sinks = namespace(stack)
    add_pair(stack, NEAR, FAR, sinks)
    sh(f"ip address add {SINKS}1/24 dev {NEAR}; ip link set {NEAR} gso_max_segs 1 up")
    sinks.run(lambda: sh(f"{addresses(SINKS, FAR)}; ip route add default via {SINKS}1"))
    sh(f"tc qdisc replace dev {NEAR} root cake {case.cake.words}")
    return sinks


def addresses(network: str, interface: str) -> str:
    """Return the commands that give an interface the addresses of all hosts."""
    each = "; ".join(
        f"ip address add {network}{FIRST_HOST + host}/24 dev {interface}" for host in range(HOSTS)
    )
    return f"ip link set lo up; {each}; ip link set {interface} gso_max_segs 1 up"


def join(stack: ExitStack, case: Case, sources: Namespace, sinks: Namespace) -> Ring:
    """Create the network of the sources, and the delay. Return a recorder of the packets that
    arrive at the router from the sources.
    """
    add_pair(stack, OURS, THEIRS, sources)
    sh(f"ip address add {SOURCES}1/24 dev {OURS}; ip link set {OURS} gso_max_segs 1 up")
    sh("sysctl -qw net.ipv4.ip_forward=1")
    settings = {
        **SYSCTLS,
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_timestamps": "0",
        "net.ipv4.tcp_ecn": str(int(case.has_ecn)),
    }
    sysctls = "sysctl -qw " + " ".join(f"'{name}={value}'" for name, value in settings.items())
    route = f"ip route add default via {SOURCES}1"
    sources.run(lambda: sh(f"{addresses(SOURCES, THEIRS)}; {route}; {sysctls}"))
    if case.down is not None:
        sh(f"tc qdisc replace dev {OURS} root cake {case.down.words}")
    netem = f"tc qdisc add dev {FAR} root netem delay {path_delay_ms(case)}ms limit 100000"
    sinks.run(lambda: sh(f"{sysctls}; {netem}"))
    for name, place in ((THEIRS, sources), (FAR, sinks)):
        place.run(partial(sh, f"ethtool -K {name} gro off tso off gso off"))
    for name in (NEAR, OURS):
        sh(f"ethtool -K {name} gro off tso off gso off")
    return stack.enter_context(Ring(OURS))


# -- TCP ----------------------------------------------------------------------------------------


@dataclass
class Connection:
    """A connection with both of its ends, which this process serves."""

    name: str
    sender: socket.socket
    receiver: socket.socket
    start_s: float
    received_bytes: int = 0


def connected(
    stack: ExitStack,
    case: Case,
    sources: Namespace,
    sinks: Namespace,
    starts_s: dict[str, float],
) -> list[Connection]:
    """Return all connections of a case."""
    made = []
    door = sinks.run(lambda: socket.create_server(("", PORT), backlog=512))
    stack.enter_context(door)
    for group in case.tcp:
        for number in range(1, group.count + 1):
            near = sources.run(partial(connect, group))
            far, _ = door.accept()
            stack.enter_context(near)
            stack.enter_context(far)
            for end in (near, far):
                congestion = group.congestion.encode()
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion)
                end.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, group.dscp << 2)
                end.setblocking(False)
            sender, receiver = (far, near) if group.is_down else (near, far)
            name = f"{group.name}-{number}"
            made.append(Connection(name, sender, receiver, starts_s[name]))
    return made


def connect(group: Tcp) -> socket.socket:
    """Return the end of a connection at its source."""
    return socket.create_connection(
        (f"{SINKS}{FIRST_HOST + group.sink}", PORT),
        source_address=(f"{SOURCES}{FIRST_HOST + group.source}", 0),
    )


class Loop:
    """Sends and receives on all connections."""

    def __init__(self, connections: Sequence[Connection]) -> None:
        self.waiting = sorted(connections, key=lambda each: each.start_s)
        self.selector = selectors.DefaultSelector()
        for each in connections:
            self.selector.register(each.receiver, selectors.EVENT_READ, each)
        self.began_s = time.monotonic()

    def push(self, length_s: float) -> None:
        """Serve the connections for this duration."""
        until_s = time.monotonic() + length_s
        while (now_s := time.monotonic()) < until_s:
            while self.waiting and self.waiting[0].start_s <= now_s - self.began_s:
                first = self.waiting.pop(0)
                self.selector.register(first.sender, selectors.EVENT_WRITE, first)
            next_s = self.began_s + self.waiting[0].start_s if self.waiting else until_s
            for key, events in self.selector.select(max(min(next_s, until_s) - now_s, 1e-6)):
                connection: Connection = key.data
                try:
                    if events & selectors.EVENT_WRITE:
                        connection.sender.send(CHUNK)
                    else:
                        connection.received_bytes += len(connection.receiver.recv(1 << 20))
                except BlockingIOError:
                    continue


# -- datagrams ----------------------------------------------------------------------------------


def header(flow: Flow) -> bytes:
    """Return Ethernet, IP and UDP header of a flow's packets."""
    group = flow.group
    ip = struct.pack(
        ">BBHHHBBH4s4s",
        *(0x45, group.dscp << 2, group.packet_bytes, 0, 0, 64, socket.IPPROTO_UDP, 0),
        ipaddress.ip_address(f"{SOURCES}{FIRST_HOST + group.source}").packed,
        ipaddress.ip_address(f"{SINKS}{FIRST_HOST + group.sink}").packed,
    )
    udp = struct.pack(">HHHH", flow.port, PORT, group.packet_bytes - 20, 0)
    return ETHERNET + ip + udp


def send(some: Sequence[Flow], listed: Sequence[tuple[int, int]]) -> None:
    """Send all datagrams of a list at their times, which are relative to the call.

    The number after the UDP header is the index in the list. A packet is sent at most 2 us late,
    since simulated time passes only while this program sleeps.
    """
    began_ns = time.monotonic_ns()
    libc, until = ctypes.CDLL(None), (ctypes.c_long * 2)()
    frames = [bytearray(header(flow).ljust(14 + flow.group.packet_bytes, b"\0")) for flow in some]
    at = len(ETHERNET) + SEQUENCE_AT
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as out:
        out.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 28)
        out.bind((NEAR, 0))
        for number, (at_ns, index) in enumerate(listed):
            until[0], until[1] = divmod(began_ns + at_ns, NS_PER_S)
            libc.clock_nanosleep(time.CLOCK_MONOTONIC, TIMER_ABSTIME, until, None)
            struct.pack_into(">I", frames[index], at, number)
            out.send(frames[index])


# -- results ------------------------------------------------------------------------------------


def measured(
    case: Case,
    seed: int,
    out: Ring,
    into: Ring | None,
    serve: Callable[[float], object],
    connections: Sequence[Connection] = (),
) -> dict[str, Any]:
    """Make the run in this network, and return its results. `serve` passes time."""
    some = flows(case, seed)
    listed = packets(some)
    thread = threading.Thread(target=send, args=(some, listed))
    began_ns = time.time_ns()
    thread.start()
    serve(WARMUP_S - (time.time_ns() - began_ns) / NS_PER_S)
    first, before = statistics(), [each.received_bytes for each in connections]
    from_ns = time.time_ns()
    serve(LENGTH_S - (from_ns - began_ns) / NS_PER_S)
    last, until_ns = statistics(), time.time_ns()
    thread.join()
    over_s = (until_ns - from_ns) / NS_PER_S
    goodputs = {
        each.name: 8 * (each.received_bytes - start) / over_s
        for each, start in zip(connections, before, strict=True)
    }
    left = [
        (struct.unpack_from(">I", seen.ip, SEQUENCE_AT)[0], seen.at_ns - began_ns)
        for seen in out.packets()
        if seen.ip[9] == socket.IPPROTO_UDP
    ]
    by_flow = of_datagrams(some, listed, left, (from_ns - began_ns, until_ns - began_ns))
    return {
        "flows": by_flow,
        "tcp_goodput_bps": goodputs,
        "tcp": {} if into is None else of_tcp(into.packets(), out.packets(), (from_ns, until_ns)),
        "queue": difference(first, last),
    }


def statistics() -> dict[str, Any]:
    """Return what `tc` prints about CAKE."""
    [qdisc] = json.loads(sh(f"tc -s -j qdisc show dev {NEAR}"))
    return dict(qdisc)


def difference(first: dict[str, Any], last: dict[str, Any]) -> dict[str, Any]:
    """Return the statistics of the measured period."""
    tins = [
        {name: after[name] - before[name] for name in COUNTS}
        | {name: after[name] for name in STATES if name in after}
        for before, after in zip(first["tins"], last["tins"], strict=True)
    ]
    totals = {name: last[name] - first[name] for name in ("bytes", "packets", "drops")}
    return {**totals, "memory_used_bytes": last["memory_used"], "tins": tins}


if __name__ == "__main__":
    main()

"""A hot-spot of network namespaces, created inside user-mode Linux.

    SERVER --- ISP --- wan ROUTER lan --- AP (a bridge) ))) air ((( five stations
          delay of the Internet                 frames of both directions, one at a time

**The air** is one shaper for the frames of both directions. The access point and each station have
a FIFO. Senders with a backlog send one frame each in turn, as the contention of 802.11 achieves on
average. A frame occupies the air for its bytes at the data rate, plus a fixed overhead (backoff,
preamble, MAC header, MAC ACK). Small frames therefore use nearly as much air time as large frames.
There are no collisions and no losses on the air.
"""

import ctypes
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

SERVER, ISP, ROUTER, AP = "server", "isp", "router", "ap"
STATIONS = {
    name: f"10.3.0.{10 + k}" for k, name in enumerate(("heavy", "light", "idle", "phone", "reader"))
}
"""Address of each station, by its name. The name is also that of the station's namespace."""
CROWD = {f"s{k:02}": f"10.3.0.{30 + k}" for k in range(20)}
"""Addresses of twenty stations that replace the other stations in the traffic "crowd"."""
ADDRESSES = STATIONS | CROWD
SERVERS = [f"10.1.1.{k}" for k in range(1, 21)]
"""Addresses of the server. Each connection uses the next address, as if it led to another host."""

FAST_BPS, SLOW_BPS = 54_000_000, 24_000_000
"""Data rates of 802.11g. [bit/s]"""
FRAME_S = 165.5e-6
"""Air time of an 802.11g frame in addition to the transmission time of its bytes: 28 us DIFS, 67.5
us mean backoff, 26 us preamble and signal extension, 10 us SIFS, 34 us MAC ACK. [s]"""
HEADER_BYTES = 22
"""Header bytes of a frame in addition to the bytes that the kernel counts: 36 bytes of MAC and LLC
headers minus 14 bytes of Ethernet header. [bytes]"""
DEVICE_DELAY = "1ms"
"""Time in which a station processes a frame. It is simulated as a delay, because computing takes no
simulated time."""
FIFO_PACKETS = 256
"""Length of the FIFOs of the access point and of each station. [frames]"""
BURST_BYTES = 5_000
"""Bytes that the shaper may send at once if a timer of the kernel is late, so that no air time is
lost. [bytes]"""


def sh(command: str) -> str:
    """Run shell commands, and return their output. Raises `RuntimeError` with the output if they
    fail."""
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{command}\n{done.stderr}")
    return done.stdout


@contextmanager
def entered(namespace: str) -> Iterator[None]:
    """Run the body of a `with` statement in a namespace. Sockets that are created in the body
    remain in this namespace."""
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    target = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        enter(target)
        yield
    finally:
        enter(before)
        os.close(before)
        os.close(target)


def enter(descriptor: int) -> None:
    """Enter the namespace of a file descriptor. Raises `OSError`."""
    if ctypes.CDLL(None, use_errno=True).setns(descriptor, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def build(rtt_s: float, data_rate_bps: int) -> None:
    """Create the whole hot-spot. The router has no queue of its own.

    Parameters
    ----------
    rtt_s : float
        Round-trip time of the Internet. [s]
    data_rate_bps : int
        Data rate of all frames on the air. [bit/s]
    """
    wires(rtt_s, STATIONS)
    air(data_rate_bps)


def wires(rtt_s: float, stations: Iterable[str], device_delay: str = DEVICE_DELAY) -> None:
    """Create the namespaces and their links for these stations, but not the air."""
    stations = tuple(stations)
    for name in (SERVER, ISP, ROUTER, AP, *stations):
        sh(f"ip netns add {name}")
        ip(name, ["link set lo up"])
    wire(SERVER, "up0", ISP, "down0")
    wire(ISP, "up0", ROUTER, "wan")
    wire(ROUTER, "lan", AP, "up0")
    for name in stations:
        wire(AP, name, name, "wlan")
    ip(SERVER, [f"address add {address}/16 dev up0" for address in ("10.1.0.2", *SERVERS)])
    ip(SERVER, ["route add default via 10.1.0.1"])
    ip(ISP, ["address add 10.1.0.1/16 dev down0", "address add 10.2.0.1/24 dev up0"])
    ip(ISP, ["route add default via 10.2.0.2"])
    ip(ROUTER, ["address add 10.2.0.2/24 dev wan", "address add 10.3.0.1/24 dev lan"])
    ip(ROUTER, ["route add default via 10.2.0.1"])
    for name in stations:
        ip(name, [f"address add {ADDRESSES[name]}/24 dev wlan", "route add default via 10.3.0.1"])
    ip(AP, ["link add bridge type bridge", "link set bridge up"])
    ip(AP, [f"link set {port} master bridge" for port in ("up0", *stations)])
    for name in (ISP, ROUTER):
        sh(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1")
    sh(f"ip netns exec {SERVER} sysctl -qw net.ipv4.tcp_no_metrics_save=1")
    delay = f"netem delay {1e3 * rtt_s / 2:g}ms limit 100000"
    tc(ISP, [f"qdisc add dev {device} root {delay}" for device in ("up0", "down0")])
    tc(AP, [f"qdisc add dev {port} root netem delay {device_delay}" for port in stations])


def wire(a: str, device_a: str, b: str, device_b: str) -> None:
    """Connect two namespaces by an Ethernet link that transmits every segment as a separate
    frame."""
    sh(f"ip link add {device_a} netns {a} type veth peer name {device_b} netns {b}")
    for name, device in ((a, device_a), (b, device_b)):
        ip(name, [f"link set dev {device} gso_max_segs 1 up"])


def air(data_rate_bps: int) -> None:
    """Redirect all frames that enter the access point, from either side, through one shaper: the
    air."""
    turns(data_rate_bps, STATIONS, round(FRAME_S * data_rate_bps / 8) + HEADER_BYTES)


def turns(
    data_rate_bps: int,
    stations: Iterable[str],
    overhead_bytes: int,
    fifo_packets: int = FIFO_PACKETS,
) -> None:
    """Redirect all frames through one shaper, in which senders take turns. `overhead_bytes` is
    added to the length of each frame.

    Without this overhead the result is a wire shared by all stations, whose rate counts only the
    bytes of frames.
    """
    stations = tuple(stations)
    rate = f"ceil {data_rate_bps} overhead {overhead_bytes} cburst {BURST_BYTES}"
    parameters = f"rate {data_rate_bps} burst {BURST_BYTES} {rate}"
    ip(AP, ["link add air type ifb", "link set air up"])
    lines = [
        "qdisc add dev air root handle 1: htb default 10",
        f"class add dev air parent 1: classid 1:1 htb {parameters}",
    ]
    for number, name in enumerate((None, *stations), start=10):
        # With a quantum of 1 byte, HTB serves one frame of a class per turn.
        lines += [
            f"class add dev air parent 1:1 classid 1:{number} htb rate 8 {rate} quantum 1",
            f"qdisc add dev air parent 1:{number} pfifo limit {fifo_packets}",
        ]
        if name is not None:
            match = f"u32 match ip src {ADDRESSES[name]}/32 flowid 1:{number}"
            lines.append(f"filter add dev air parent 1: protocol ip {match}")
    tc(AP, lines)
    redirect(AP, ("up0", *stations), "air")


def redirect(namespace: str, devices: Sequence[str], ifb: str) -> None:
    """Redirect all packets that arrive at `devices` to the interface `ifb`, whose queue they
    pass."""
    lines = []
    for device in devices:
        action = f"action mirred egress redirect dev {ifb}"
        lines += [
            f"qdisc add dev {device} ingress",
            f"filter add dev {device} parent ffff: protocol all u32 match u32 0 0 {action}",
        ]
    tc(namespace, lines)


def ip(namespace: str, lines: Sequence[str]) -> None:
    """Run ip commands in a namespace."""
    batch("ip", namespace, lines)


def tc(namespace: str, lines: Sequence[str]) -> None:
    """Run tc commands in a namespace."""
    batch("tc", namespace, lines)


def batch(program: str, namespace: str, lines: Sequence[str]) -> None:
    """Run several commands of `program` in one process, since starting a process is slow in
    user-mode Linux."""
    text = "\n".join(lines)
    sh(f"{program} -n {namespace} -batch - <<'end'\n{text}\nend")

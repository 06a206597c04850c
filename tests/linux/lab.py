"""A hot-spot in network namespaces: a server, the gateway, stations after a rate-limited hop.

```text
SERVER --- ISP --- wan GATEWAY lan --- AP --- 10.77.1.10, .11, ... STATIONS
10.77.0.2                                  FIFO of 75 packets, 6 Mbit/s, to the stations
```

The routers next to the gateway are necessary. If a waiting packet comes directly from a sender's
socket, the sender waits too (TCP small queues, the socket's buffer). If the packet comes from
another machine, the sender does not wait. A lab without a slow hop has no AP, so that the stations
are direct neighbours of the gateway.

The station's namespace holds all stations, as addresses of one interface. All names contain the
number of the process. Everything is removed when the lab closes.
"""

import ctypes
import os
import pickle
import random
import re
import signal
import subprocess
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Self

from lasthop.linux import leaf_queue, links, tc
from lasthop.linux.changes import Changes
from lasthop.linux.netlink import Socket
from lasthop.linux.undo import UndoLog

PREFIX = f"lh{os.getpid()}"
SERVER, ISP, GATEWAY, AP, STATIONS = (
    f"{PREFIX}-{role}" for role in ("srv", "isp", "gw", "ap", "sta")
)
SERVER_V4, SERVER_V6 = "10.77.0.2", "fd77::2"
RATE_BPS = 6_000_000
PORT = 5001
PATIENCE_S = 60.0
"""Longest wait for an event, even on a busy machine. [s]"""


def station_v4(k: int) -> str:
    return f"10.77.{1 + (k + 10) // 250}.{(k + 10) % 250}"


def station_v6(k: int) -> str:
    return f"fd77:1::{k + 10:x}"


def sh(command: str) -> str:
    """Run shell commands and return their output."""
    done = subprocess.run(["sh", "-ec", command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stderr}"
    return done.stdout


def clean_up(prefix: str = PREFIX) -> None:
    """Remove the namespaces of this process, or of a killed process."""
    for line in sh("ip netns list").splitlines():
        name = line.split()[0]
        if name.startswith(f"{prefix}-"):
            with suppress(AssertionError):
                sh(f"ip netns del {name}")


@contextmanager
def entered(namespace: str) -> Iterator[None]:
    """Run the body in a namespace. Sockets that the body creates remain in this namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    before = os.open("/proc/thread-self/ns/net", os.O_RDONLY)
    entered_namespace = os.open(f"/run/netns/{namespace}", os.O_RDONLY)
    try:
        assert libc.setns(entered_namespace, 0) == 0, os.strerror(ctypes.get_errno())
        yield
    finally:
        assert libc.setns(before, 0) == 0, os.strerror(ctypes.get_errno())
        os.close(before)
        os.close(entered_namespace)


def number_of(namespace: str) -> int:
    """Return the number of a namespace, which identifies the state of its gateway."""
    return os.stat(f"/run/netns/{namespace}").st_ino


class Child:
    """A function that runs in a separate process, in a namespace."""

    def __init__(self, namespace: str, function: Callable[[], Any]) -> None:
        reader, writer = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reader)
            answer: tuple[bool, Any] = (False, "no answer")
            try:
                with entered(namespace):
                    answer = (True, function())
            except BaseException:
                answer = (False, traceback.format_exc())
            try:
                # this write fails if the parent has failed and no longer reads
                os.write(writer, pickle.dumps(answer))
            finally:
                os._exit(0)
        os.close(writer)
        self.reader = reader

    def result(self) -> Any:
        """Return the result of the function; None if the process was killed."""
        with os.fdopen(self.reader, "rb") as file:
            data = file.read()
        _, status = os.waitpid(self.pid, 0)
        if os.WIFSIGNALED(status):
            return None
        good, answer = pickle.loads(data)
        assert good, answer
        return answer

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)


class Lab:
    """Network namespaces of a hot-spot, with a given number of stations."""

    def __init__(self, stations: int = 5, rate_bps: int | None = RATE_BPS) -> None:
        clean_up()
        self.stations = stations
        for name in (SERVER, ISP, GATEWAY, AP, STATIONS):
            sh(f"ip netns add {name}; ip -n {name} link set lo up")
        pair(SERVER, "up0", ISP, "down0")
        pair(ISP, "up0", GATEWAY, "wan")
        address(SERVER, "up0", ["10.77.0.2/24", "fd77::2/64"])
        address(ISP, "down0", ["10.77.0.1/24", "fd77::1/64"])
        address(ISP, "up0", ["10.78.0.1/24", "fd78::1/64"])
        address(GATEWAY, "wan", ["10.78.0.2/24", "fd78::2/64"])
        for name in (ISP, GATEWAY, AP):
            sh(f"ip netns exec {name} sysctl -qw net.ipv4.ip_forward=1")
            sh(f"ip netns exec {name} sysctl -qw net.ipv6.conf.all.forwarding=1")
        routes(SERVER, "10.77.0.1", "fd77::1")
        routes(ISP, "10.78.0.2", "fd78::2")
        routes(GATEWAY, "10.78.0.1", "fd78::1")
        gate = ["10.77.1.1/16", "fd77:1::1/64"]
        if rate_bps is None:
            pair(GATEWAY, "lan", STATIONS, "wl0")
            address(GATEWAY, "lan", gate)
        else:
            pair(GATEWAY, "lan", AP, "up0")
            pair(AP, "down0", STATIONS, "wl0")
            address(GATEWAY, "lan", ["10.79.0.1/24", "fd79::1/64"])
            address(AP, "up0", ["10.79.0.2/24", "fd79::2/64"])
            address(AP, "down0", gate)
            routes(AP, "10.79.0.1", "fd79::1")
            sh(f"ip -n {AP} route add 10.77.0.0/24 via 10.79.0.1")
            sh(f"ip -n {GATEWAY} route add 10.77.0.0/16 via 10.79.0.2")
            sh(f"ip -n {GATEWAY} -6 route add fd77:1::/64 via fd79::2")
        sh(f"ip -n {GATEWAY} route add 10.77.0.0/24 via 10.78.0.1")
        address(STATIONS, "wl0", [f"{station_v4(k)}/16" for k in range(stations)])
        address(STATIONS, "wl0", [f"{station_v6(k)}/64" for k in range(stations)])
        sh(f"ip -n {STATIONS} route add 10.77.0.0/24 via 10.77.1.1")
        routes(STATIONS, "10.77.1.1", "fd77:1::1")
        if rate_bps is not None:
            with entered(STATIONS):
                rate_limit("wl0", rate_bps)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        clean_up()


def address(namespace: str, device: str, addresses: Sequence[str]) -> None:
    """Give an interface addresses that are usable immediately."""
    lines = [f"address add {a} dev {device}{' nodad' if ':' in a else ''}" for a in addresses]
    batch = "\n".join(lines)
    sh(f"ip -n {namespace} -batch - <<'end'\n{batch}\nend")


def routes(namespace: str, v4: str, v6: str) -> None:
    """Set the default routes."""
    sh(f"ip -n {namespace} route add default via {v4}")
    sh(f"ip -n {namespace} -6 route add default via {v6}")


def pair(a: str, device_a: str, b: str, device_b: str) -> None:
    """Connect two namespaces by an Ethernet that sends every segment as a separate frame."""
    sh(f"ip link add {device_a} netns {a} type veth peer name {device_b} netns {b}")
    for name, device in ((a, device_a), (b, device_b)):
        sh(f"ip -n {name} link set {device} gso_max_segs 1 up")


def rate_limit(device: str, rate_bps: int, packets: int = 75) -> None:
    """Pass incoming packets through a FIFO with the given rate and length, like the WLAN's
    downlink.
    """
    with Socket() as kernel:
        wlan = tc.Device(device, links.index_of(device))
        kernel.carry_out([links.add_ifb("air", b"\x02\0\0\0\0\1", 1000), links.set_up("air")])
        air = tc.Device("air", links.index_of("air"))
        leaf, block = tc.classid(1, 1), tc.Block(7)
        rates = {"rate_bps": rate_bps, "ceil_bps": rate_bps}
        kernel.carry_out(
            [
                tc.htb_qdisc(air, 1, 1000),
                tc.htb_class(
                    air, leaf, tc.classid(1, 0), burst_bytes=1600, quantum_bytes=1514, **rates
                ),
                leaf_queue.add(air, leaf, leaf_queue.Queue("pfifo", packets)),
                tc.bpf_filter(air, tc.classid(1, 0), [(6, 0, 0, leaf)]),
                tc.hooks(wlan, block.number, block.number + 1),
            ]
        )
    sh(
        f"tc filter add block {block.number} protocol all pref 1 u32 match u32 0 0 "
        "action mirred egress redirect dev air"
    )


def gateway_text(
    stations: int = 5, more: str = "", rate: str = "5 Mbps", discipline: str = "pfifo"
) -> str:
    """Return the text of a gateway file with `stations` stations. `more` is added to its table
    [gateway].

    The leaves are FIFOs, which every kernel supports.
    """
    lines = ["[gateway]", 'wan = "wan"', 'lan = "lan"', f'rate = "{rate}"', 'metrics = "off"']
    lines += [f'discipline = "{discipline}"', more]
    for k in range(stations):
        addresses = f"{station_v4(k)}, {station_v6(k)}"
        lines.append(f'station.s{k} = {{ address = "{addresses}" }}')
    return "\n".join(lines) + "\n"


def process_of(printed: str) -> int:
    """Return the process ID that `up` prints."""
    match = re.search(r"process (\d+)", printed)
    assert match is not None, printed
    return int(match[1])


def leftovers() -> list[str]:
    """Return the parts of a gateway in this namespace: interfaces, queueing disciplines, shared
    blocks."""
    remaining = [line for line in sh("ip -o link").splitlines() if ": lh-" in line]
    remaining += [
        line for line in sh("tc qdisc show").splitlines() if "clsact" in line or "htb" in line
    ]
    return remaining


def log_in(directory: Path) -> UndoLog:
    return UndoLog(directory / "undo.log")


def take_back(directory: Path) -> list[str]:
    """Undo the changes of a gateway that does not run, as `down` does."""
    with Socket() as kernel:
        return Changes(kernel, log_in(directory)).undo_all()


def wait_until(condition: Callable[[], bool], what: str) -> None:
    """Wait for a condition, even on a busy machine. The waiting time is not measured."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, f"{what} did not happen within {PATIENCE_S:g} s"
        time.sleep(0.02)


def seeded_random(what: str) -> random.Random:
    """Return a random generator, seeded by the variable SEED if it is set; print the seed."""
    seed = os.environ.get("SEED") or str(random.SystemRandom().randrange(10**9))
    print(f"{what}: set SEED={seed} to draw the same again")
    return random.Random(f"{what} {seed}")


def mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

"""Programs that use an outside network: traffic to this network, replies, and the state of the
machine after the emulation.

```text
  [machine: emulate] wan ======= out [outside: serves]
                     lan ======= aside [another network, which is not requested]
```
"""

import contextlib
import json
import random
import shlex
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

import lasthop as lh
from emulating import COMMAND, emulated, skip_without_rights
from lab import PATIENCE_S, wait_until
from lasthop.emulation.uplink import name_servers
from lasthop.linux import nat, veth
from lasthop.linux.links import set_up
from lasthop.linux.netlink import DUMP, HEADER, Socket
from lasthop.linux.netns import Namespace

CELL = """\
name = "a way out"
duration = "9 s"
warmup = "100 ms"
cell = { phy = "802.11g" }
tcp.congestion = "reno"
[station.laptop]
[station.other]
upload = 1
"""
LINK = "12 Mbps, 40 ms, queue 100"
OUTSIDE, ASIDE, OWN = "192.0.2.9", "198.51.100.9", "192.0.2.1"
SENT_BYTES = 50_000
ASKS = """
import socket, sys, time
start = time.monotonic()
try:
    one = socket.create_connection((sys.argv[1], 80), float(sys.argv[2]))
except OSError:
    print("none")
    sys.exit(7)
took = time.monotonic() - start
print(took, len(b"".join(iter(lambda: one.recv(65536), b""))))
"""


@pytest.fixture(autouse=True, scope="module")
def rights() -> None:
    skip_without_rights()


class Machine:
    """A machine between two networks, with a server in each network."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.namespace = Namespace()
        stack.callback(self.namespace.close)
        self.callers: list[str] = []
        """Addresses that have connected to the servers."""
        for interface, other, own, address in [
            ("wan", "out", f"{OWN}/24", OUTSIDE),
            ("lan", "aside", "198.51.100.1/24", ASIDE),
        ]:
            beyond = Namespace()
            stack.callback(beyond.close)
            self.namespace.run(partial(lay, interface, other, own, beyond))
            beyond.run(partial(take_into_service, other, f"{address}/24"))
            listener = beyond.run(partial(socket.create_server, (address, 80)))
            stack.callback(listener.close)
            stack.callback(listener.shutdown, socket.SHUT_RDWR)  # wakes the accepting thread
            threading.Thread(target=self.serve, args=[listener], daemon=True).start()

    def serve(self, listener: socket.socket) -> None:
        """Send bytes to every caller."""
        while True:
            try:
                caller, (address, _) = listener.accept()
            except OSError:
                return
            self.callers.append(address)
            with caller, contextlib.suppress(OSError):
                caller.sendall(bytes(SENT_BYTES))

    def emulated(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """Run a command on the machine."""
        return self.namespace.run(lambda: emulated(*words))

    def state(self) -> object:
        """Return interfaces, routes, the number of nf_tables tables, and forwarding settings."""
        return self.namespace.run(seen_of_machine)


def lay(interface: str, other: str, own: str, beyond: Namespace, forwards: bool = True) -> None:
    """Connect the calling thread's namespace to another namespace. `forwards` is whether packets
    are forwarded.
    """
    with Socket() as kernel:
        kernel.carry_out([veth.add_pair(interface, other, beyond.descriptor)])
    take_into_service(interface, own)
    with Socket() as kernel:
        kernel.carry_out([veth.forward(interface)] if forwards else [])


def take_into_service(interface: str, own: str) -> None:
    """Bring an interface up with an address."""
    with Socket() as kernel:
        kernel.carry_out([veth.address(interface, IPv4Interface(own)), set_up(interface)])


def seen_of_machine() -> tuple[list[str], str, int, str]:
    """Return the network state of the calling thread's namespace: interfaces, routes, number of
    nf_tables tables, and forwarding.
    """
    interfaces = sorted(name for _, name in socket.if_nameindex())
    routes = Path("/proc/thread-self/net/route").read_text()
    settings = Path("/proc/sys/net/ipv4/conf")
    forwarding = []
    for directory in sorted(settings.glob("*/forwarding")):
        with contextlib.suppress(FileNotFoundError):  # An interface may disappear in the meantime.
            forwarding.append((directory.parent.name, directory.read_text()))
    return interfaces, routes, tables(), str(forwarding)


def tables() -> int:
    """Return the number of nf_tables tables in the calling thread's namespace."""
    kind = nat.SUBSYSTEM << 8 | 1  # NFT_MSG_GETTABLE
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, nat.NETFILTER) as kernel:
        kernel.send(nat.message(kind, DUMP, 1, b""))
        data, offset, count = kernel.recv(1 << 16), 0, 0
        while offset + HEADER.size <= len(data):
            length, answered, *_ = HEADER.unpack_from(data, offset)
            count += answered == nat.SUBSYSTEM << 8
            offset += (length + 3) & ~3
    return count


@pytest.fixture
def machine() -> Iterator[Machine]:
    with contextlib.ExitStack() as stack:
        yield Machine(stack)


def asks(address: str, patience_s: float = 20.0) -> list[str]:
    """Return a command that connects to a server."""
    return ["--", sys.executable, "-c", ASKS, address, str(patience_s)]


def test_packets_to_the_outside_cross_the_air_and_leave_with_the_machines_address(
    tmp_path, machine
):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    before = machine.state()
    words = [str(path), "--json", "--uplink", "wan", "--at", "laptop", *asks(OUTSIDE)]
    done = machine.emulated(*words)
    assert done.returncode == 0, done.stderr
    assert done.stderr.split()[1] == str(SENT_BYTES)
    assert machine.callers == [OWN]
    result = json.loads(done.stdout)
    flows = [flow for flow in result["flows"] if "/program/" in flow["name"]]
    assert {flow["direction"] for flow in flows} == {"up", "down"}
    assert all(f"{OUTSIDE}:80" in flow["connection"] for flow in flows)
    length_s = result["duration_s"] - result["warmup_s"]
    most = max(flow["goodput_bps"]["mean"] * length_s / 8 for flow in flows)
    assert SENT_BYTES * 0.999 <= most < 1.3 * SENT_BYTES
    assert machine.state() == before


def test_the_outside_is_reached_over_the_link_and_its_server(machine, tmp_path):
    words = ["--json", "--uplink", "wan", "--link", LINK]
    asks_once = f"{sys.executable} -c '{ASKS}' {OUTSIDE} 20"
    # The run ends with the client's program, so the client asks after the server has got its reply.
    ready = tmp_path / "ready"
    at_server = f"sh -c {shlex.quote(f'{asks_once}; touch {ready}')}"
    at_client = f"until [ -e {ready} ]; do sleep 0.1; done; {asks_once}"
    words += ["--with", "server", at_server, "--", "timeout", str(PATIENCE_S), "sh", "-c"]
    done = machine.emulated(*words, at_client)
    assert done.returncode == 0, done.stderr
    calls = [line.split() for line in done.stderr.splitlines() if line.endswith(f" {SENT_BYTES}")]
    assert len(calls) == 2
    # the round trip crosses the link twice, 40 ms each
    assert max(float(took_s) for took_s, _ in calls) >= 0.08
    assert machine.callers == [OWN, OWN]
    names = [flow["name"] for flow in json.loads(done.stdout)["flows"]]
    assert names == [
        "client/program/1",
        "client/program/2",
    ]  # connections at the server cross no network


def test_nothing_leaves_the_scenario_by_itself(machine):
    done = machine.emulated("--link", LINK, *asks(OUTSIDE))
    assert (done.returncode, done.stdout.split()[0]) == (7, "none"), done.stderr
    assert machine.callers == []


def test_packets_leave_by_no_other_interface(machine):
    done = machine.emulated("--uplink", "wan", "--link", "100 Mbps, 0 ms", *asks(ASIDE, 1.0))
    assert (done.returncode, done.stdout.split()[0]) == (7, "none"), done.stderr
    assert machine.callers == []


def test_names_are_looked_up_where_the_machine_does(machine):
    words = ["--uplink", "wan", "--link", LINK, "--", "cat", "/etc/resolv.conf"]
    assert machine.emulated(*words).stdout.startswith(name_servers())
    words = ["--link", LINK, "--", "sh", "-c", "cat /etc/resolv.conf | wc -c"]
    assert machine.emulated(*words).stdout.startswith("0\n")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--uplink", "nowhere", *asks(OUTSIDE)], "error: interface nowhere: no interface"),
        (
            ["--uplink", "lo", *asks(OUTSIDE)],
            "error: --uplink lo: the interface has no IPv4 address, or is d",
        ),
        (["--uplink", "mute", *asks(OUTSIDE)], "error: --uplink mute: this machine does not forwa"),
    ],
)
def test_an_interface_that_leads_nowhere_is_refused_in_one_line(machine, words, message):
    machine.namespace.run(partial(lay, "mute", "end", "203.0.113.1/24", machine.namespace, False))
    before = machine.state()
    done = machine.emulated("--link", LINK, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(message), done.stderr
    assert len(done.stderr.splitlines()) == 2
    assert machine.state() == before


def test_an_uplink_without_programs_is_refused(tmp_path, machine):
    path = tmp_path / "x.toml"
    path.write_text(CELL)
    done = machine.emulated(str(path), "--uplink", "wan")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "error: --uplink wan: no program runs that could use the uplink\n"


def test_a_kernel_without_translation_is_named(machine, monkeypatch):
    chain = nat.chain
    monkeypatch.setattr(nat, "chain", lambda of, name, _, *more: chain(of, name, b"none", *more))
    with pytest.raises(lh.UserError, match=r"^the kernel has no address translation: ") as caught:
        machine.namespace.run(lambda: nat.Translation("x", "wan"))
    assert "nft_masq" in (caught.value.hint or "")
    assert machine.namespace.run(tables) == 0


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_nothing_is_left_on_the_machine(machine, how):
    before = machine.state()
    words = [*COMMAND, "--uplink", "wan", "--link", LINK, "--", "sleep", "30"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    process = machine.namespace.run(lambda: subprocess.Popen(words, **quiet))
    wait_until(lambda: machine.namespace.run(tables) > 0, "the program is let out")
    interfaces, _, made, _ = machine.state()
    assert made == 1
    assert any(name.startswith("lasthop-") for name in interfaces)
    process.send_signal(how)
    process.wait(PATIENCE_S)
    in_time(machine, before)


def in_time(machine: Machine, before: object) -> None:
    """Wait until a machine has its previous state: the kernel removes namespaces with a delay."""
    wait_until(lambda: machine.state() == before, "all is as it was")


@pytest.mark.slow
def test_nothing_is_left_of_fifty_emulations(machine):
    before = machine.state()
    draws = random.Random(1)
    words = [*COMMAND, "--uplink", "wan", "--link", LINK, "--", *asks(OUTSIDE)[1:]]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    for _ in range(50):
        process = machine.namespace.run(lambda: subprocess.Popen(words, **quiet))
        time.sleep(draws.uniform(0.2, 2.0))
        process.send_signal(draws.choice([signal.SIGKILL, signal.SIGTERM]))
        process.wait(PATIENCE_S)
        in_time(machine, before)

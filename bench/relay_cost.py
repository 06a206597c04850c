"""Cost of a pair of relays, as CPU time per byte and per connection, and as memory.

    python bench/relay_cost.py [--quick]

A program sends a gigabyte over loopback to another program. The data is sent directly, through two
relays, through two socats, and over MPTCP with as many subflows as the relays have connections. The
variants alternate in rounds. The script prints the median CPU seconds per gigabyte of each process,
and their sum over all four processes. These times include the kernel's work for loopback.
The script then measures the cost to open, close and keep connections in the relays.
Everything runs in a separate network namespace, which needs root. The script writes
out/relay_cost.json.
"""

import argparse
import ctypes
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import relay_connections
from measure import BenchError, require_release_build
from peers import apt_install
from relay_connections import MANY

HERE = Path(__file__).parent
OUT = HERE / "out" / "relay_cost.json"
LASTHOP = str(Path(sys.executable).with_name("lasthop"))
CHUNK = 1 << 18
PATIENCE_S = 60.0
CONNECTIONS = 4
ADDRESSES = [f"127.0.0.{number}" for number in range(1, CONNECTIONS + 1)]


# -- sender and receiver programs -------------------------------------------------------------


def give(port: str, size: str, protocol: str) -> None:
    """Send `size` bytes to the first client that connects to a port."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(protocol)) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("127.0.0.1", int(port)))
        listener.listen()
        connection, _ = listener.accept()
        with connection:
            chunk, left = bytes(CHUNK), int(size)
            while left:
                left -= connection.send(chunk[:left])


def take(port: str, size: str, protocol: str) -> None:
    """Connect to a port, and receive `size` bytes."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, int(protocol)) as connection:
        connection.connect(("127.0.0.1", int(port)))
        left, room = int(size), bytearray(CHUNK)
        while left:
            count = connection.recv_into(room)
            if count == 0:
                raise SystemExit(f"{left} bytes are missing")
            left -= count


# -- processes --------------------------------------------------------------------------------


@dataclass
class Process:
    """A child process whose CPU time and memory are measured."""

    name: str
    running: "subprocess.Popen[str]"

    @property
    def cpu_s(self) -> float:
        """Return the CPU time of the process's threads so far. [s]"""
        tasks = Path(f"/proc/{self.running.pid}/task").iterdir()
        return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9

    @property
    def memory_bytes(self) -> int:
        """Return the memory that only this process uses. [bytes]"""
        sizes = re.findall(
            r"Private_\w+:\s+(\d+) kB", Path(f"/proc/{self.running.pid}/smaps_rollup").read_text()
        )
        return 1024 * sum(map(int, sizes))

    def lines(self, until: str) -> None:
        """Read lines that the process prints, until a line contains the text `until`."""
        assert self.running.stdout is not None
        while until not in (line := self.running.stdout.readline()):
            if not line:
                raise BenchError(f"{self.name} has ended")


@contextmanager
def process(name: str, *command: str) -> Iterator[Process]:
    """Run a child process until the block ends."""
    running = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        yield Process(name, running)
    finally:
        running.terminate()
        running.wait(PATIENCE_S)


def program(todo: str, *words: str) -> tuple[str, ...]:
    """Return the command that runs this file as a sender or receiver."""
    return (sys.executable, __file__, "--inside", todo, *words)


def await_port(port: int) -> None:
    """Wait until a process listens at the port."""
    until_s = time.monotonic() + PATIENCE_S
    while f":{port} " not in output_of("ss", "-Hltn", f"sport = :{port}"):
        if time.monotonic() > until_s:
            raise BenchError(f"nobody listens at {port}")
        time.sleep(0.05)


def output_of(*command: str) -> str:
    """Run a command, and return its standard output."""
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


# -- compared transports ----------------------------------------------------------------------

Way = Callable[[ExitStack, int], tuple[list[Process], int]]
"""Function that starts the programs between sender and receiver, in front of the sender's port. It
returns their processes and the port to which the receiver connects."""


def directly(_stack: ExitStack, port: int) -> tuple[list[Process], int]:
    """Connect directly, without programs between sender and receiver."""
    return [], port


def through_socats(stack: ExitStack, port: int) -> tuple[list[Process], int]:
    """Start two socats in a row between sender and receiver."""
    processes = []
    for name in ("socat there", "socat here"):
        way = (f"TCP-LISTEN:{port + 1},bind=127.0.0.1,reuseaddr", f"TCP:127.0.0.1:{port}")
        processes.append(stack.enter_context(process(name, "socat", "-b", str(CHUNK), *way)))
        port += 1
        await_port(port)
    return processes, port


def through_relays(stack: ExitStack, port: int) -> tuple[list[Process], int]:
    """Start two relays with several connections between sender and receiver."""
    relays = stack.enter_context(pair(CONNECTIONS, port))
    return relays, port + 2


@contextmanager
def pair(connections: int | str, port: int, *options: str) -> Iterator[list[Process]]:
    """Run two relays. The relay near the receiver listens at `port + 2` and forwards streams to
    `port`."""
    with ExitStack() as stack:
        key = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "key"
        output_of(LASTHOP, "relay", "key", str(key))
        far = ("serve", "--listen", f"127.0.0.1:{port + 1}")
        near = ("connect", f"127.0.0.1:{port + 1}", "--connections", str(connections), *options)
        near += ("--forward", f"{port + 2}:127.0.0.1:{port}")
        server = process("relay there", LASTHOP, "relay", *far, "--key", str(key))
        relays = [stack.enter_context(server)]
        await_port(port + 1)
        client = process("relay here", LASTHOP, "relay", *near, "--key", str(key))
        relays.append(stack.enter_context(client))
        await_port(port + 2)
        relays[1].lines("connected")
        yield relays


CONTENDERS: Mapping[str, Way] = {
    "directly": directly,
    "two relays": through_relays,
    "two socats": through_socats,
    "MPTCP": directly,
}


def transfer(name: str, size: int, port: int) -> dict[str, Any]:
    """Send `size` bytes from a sender to a receiver. Return the CPU time of all processes."""
    with ExitStack() as stack:
        protocol = socket.IPPROTO_MPTCP if name == "MPTCP" else 0
        giving = program("give", str(port), str(size), str(protocol))
        giver = stack.enter_context(process("sender", *giving))
        await_port(port)
        between, asked = CONTENDERS[name](stack, port)
        before = [each.cpu_s for each in between]
        begun_s = time.monotonic()
        taking = program("take", str(asked), str(size), str(protocol))
        taker = stack.enter_context(process("receiver", *taking))
        for each in (giver, taker):
            each.lines("done")
        wall_s = time.monotonic() - begun_s
        costs = {each.name: each.cpu_s - was for each, was in zip(between, before, strict=True)}
        costs |= {each.name: each.cpu_s for each in (giver, taker)}
        return {"contender": name, "wall_s": wall_s, "bytes": size, "cpu_s": costs}


# -- connections ------------------------------------------------------------------------------


def memory(port: int) -> dict[str, float]:
    """Return the memory per connection of each relay, and of the kernel for both ends of a
    connection. [bytes]
    """
    single, many = (held(number, port) for number in (1, MANY))
    return {name: (many[name] - single[name]) / (MANY - 1) for name in single}


def held(number: int, port: int) -> dict[str, float]:
    """Return the memory of two relays with this many idle connections, and of the kernel. The
    values are medians over several runs."""
    runs = []
    for cycle in range(relay_connections.CYCLES):
        with pair(number, port + 10 * cycle) as relays:
            time.sleep(1.0)
            connected = output_of(
                "ss", "-Htn", "state", "established", f"dport = :{port + 10 * cycle + 1}"
            )
            if len(connected.splitlines()) != number:
                raise BenchError(f"{number} connections: {connected}")
            run = {each.name: each.memory_bytes for each in relays}
            runs.append({**run, "kernel": slab_bytes()})
    return {name: median(run[name] for run in runs) for name in runs[0]}


def slab_bytes() -> int:
    """Return the kernel's memory for TCP sockets, their files and related objects. [bytes]"""
    names = ("TCP", "sock_inode_cache", "filp", "dentry", "eventpoll_epi", "eventpoll_pwq")
    rows = (line.split() for line in Path("/proc/slabinfo").read_text().splitlines()[2:])
    return sum(int(row[1]) * int(row[3]) for row in rows if row[0] in names)


# -- main program -----------------------------------------------------------------------------


def main(*, quick: bool) -> None:
    """Make all measurements in a separate network namespace, print them, and write
    out/relay_cost.json."""
    if os.geteuid() != 0:
        print("relay_cost: left out: needs root")
        return
    if shutil.which("socat") is None:
        apt_install("socat")
    unshare()
    output_of("ip", "link", "set", "lo", "up")
    for address in ADDRESSES[1:]:
        output_of("ip", "address", "add", f"{address}/8", "dev", "lo")
        output_of("ip", "mptcp", "endpoint", "add", address, "dev", "lo", "subflow")
    output_of("ip", "mptcp", "limits", "set", "subflow", str(CONNECTIONS - 1))
    size, rounds = (100_000_000, 1) if quick else (1_000_000_000, 5)
    runs = []
    for number in range(rounds):
        for index, name in enumerate(CONTENDERS):
            runs.append(transfer(name, size, 20_000 + 100 * number + 10 * index))
            print(json.dumps(runs[-1]), flush=True)
    measured = {"runs": runs, "memory_bytes": memory(30_000), "cpu_s": relay_connections.costs()}
    OUT.parent.mkdir(exist_ok=True)
    OUT.write_text(json.dumps(measured, indent=1) + "\n")
    tell(measured)


def unshare() -> None:
    """Move this process into a new network namespace."""
    if ctypes.CDLL(None, use_errno=True).unshare(0x40000000) != 0:
        raise BenchError("no network namespace")


def tell(measured: Mapping[str, Any]) -> None:
    """Print the tables of the measurements."""
    print(f"{'':12} {'Gbit/s':>7}  CPU s/GB: all   of each")
    for name in CONTENDERS:
        mine = [run for run in measured["runs"] if run["contender"] == name]
        rate = median(8 * run["bytes"] / run["wall_s"] for run in mine) / 1e9
        costs = costs_per_gb(mine)
        total = median(sum(run["cpu_s"].values()) / run["bytes"] * 1e9 for run in mine)
        words = ", ".join(f"{who} {cost:.2f}" for who, cost in costs.items())
        print(f"{name:12} {rate:7.2f}  {total:13.2f}   {words}")
    print(json.dumps({name: measured[name] for name in ("memory_bytes", "cpu_s")}, indent=1))


def costs_per_gb(runs: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Return the median CPU time per gigabyte of each process. [s/GB]"""
    return {
        who: median(run["cpu_s"][who] / run["bytes"] * 1e9 for run in runs)
        for who in runs[0]["cpu_s"]
    }


if __name__ == "__main__":
    require_release_build()
    if sys.argv[1:2] == ["--inside"]:
        {"give": give, "take": take}[sys.argv[2]](*sys.argv[3:])
        print("done", flush=True)
        time.sleep(PATIENCE_S)  # while the process sleeps, the parent process reads its CPU time
    else:
        parser = argparse.ArgumentParser(description="what a pair of relays costs")
        parser.add_argument("--quick", action="store_true", help="one short round")
        main(quick=parser.parse_args().quick)

"""Many streams through two relays. For each stream, both ends record the data and the outcome.

Each stream begins with instructions for both ends. A stream that ends well has delivered every
byte, in order. Any other stream ends with an error at each end that still runs.
"""

import asyncio
import hashlib
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from commands import ForkedCommand
from lasthop import relay
from lasthop.relay.settings import write_key

LASTHOP = "import sys, lasthop.cli; sys.exit(lasthop.cli.main())"
HEAD = struct.Struct("!IIIB")
"""Header of a stream: its number, the bytes to send up and down, and how the stream ends."""
CLIENT_FIRST, SERVER_FIRST, CLIENT_RESETS, SERVER_RESETS = range(4)
PIECE = 16_384
SIZES = (0, 1, 1_000, 30_000, 300_000)
PATIENCE_S = 30.0
"""Longest time from the start of a stream, or from a later disturbance, to the end of the stream.
[s]
"""


def content(number: int, way: str, size: int) -> bytes:
    """Return the data of stream `number` in one direction: `way` is "up" or "down"."""
    return random.Random(f"{number}{way}").randbytes(size)


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection."""
    connection = writer.get_extra_info("socket")
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()


async def read_all(reader: asyncio.StreamReader) -> bytes:
    """Read all data until the end."""
    pieces = []
    while piece := await reader.read(PIECE):
        pieces.append(piece)
    return b"".join(pieces)


@dataclass
class Received:
    """Data that targets have received, by the number of the stream."""

    digests: dict[int, bytes] = field(default_factory=dict)
    """Digests of streams that ended well."""
    broken: set[int] = field(default_factory=set)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Receive a stream and send the reply, as the program to which the relays connect."""
        number = -1
        try:
            head = await reader.readexactly(HEAD.size)
            number, up, down, how = HEAD.unpack(head)
            reply = content(number, "down", down)
            if how == SERVER_RESETS:
                await reader.read(min(up, 1))
                reset(writer)
                return
            if how == SERVER_FIRST:
                writer.write(reply)
                await writer.drain()
                writer.write_eof()
            heard = await read_all(reader)
            self.digests[number] = hashlib.sha256(heard).digest()
            if how == CLIENT_FIRST:
                writer.write(reply)
                await writer.drain()
                writer.write_eof()
        except (OSError, asyncio.IncompleteReadError):
            self.broken.add(number)
        finally:
            with suppress(OSError):
                writer.close()
                await writer.wait_closed()


async def run_stream(
    number: int, how: int, up: int, down: int, target: int, via: tuple[str, int]
) -> str:
    """Open a stream through the relays, send and receive its data, and return its outcome."""
    try:
        reader, writer = await relay.open_connection("127.0.0.1", target, via=via)
    except (OSError, TimeoutError):
        return "refused"
    try:
        upload = content(number, "up", up)
        writer.write(HEAD.pack(number, up, down, how))
        if how == CLIENT_RESETS:
            writer.write(upload[: up // 2])
            await writer.drain()
            reset(writer)
            return "reset here"
        writer.write(upload)
        if how == SERVER_RESETS:
            await writer.drain()
            heard = await read_all(reader)
            return f"ended though it was reset: {len(heard)}"
        if how == CLIENT_FIRST:
            await writer.drain()
            writer.write_eof()
            heard = await read_all(reader)
        else:
            heard = await read_all(reader)
            await writer.drain()
            writer.write_eof()
        if heard != content(number, "down", down):
            return f"wrong: {len(heard)} of {down} bytes, then an end"
        return "well"
    except (OSError, asyncio.IncompleteReadError):
        return "broken"
    finally:
        with suppress(OSError):
            writer.close()
            await writer.wait_closed()


@dataclass
class Outcome:
    """Outcome of many streams."""

    ends: dict[int, str]
    plans: dict[int, tuple[int, int, int]]
    heard: Received
    longest_s: float
    """Longest duration of a stream. If a disturbance occurred during the stream, the time from the
    last disturbance to the end of the stream counts instead. [s]
    """

    def counted(self) -> Counter[str]:
        """Return the number of streams per outcome."""
        return Counter(self.ends.values())

    def wrong(self) -> list[str]:
        """Return the outcomes that must not occur."""
        faults = []
        for number, end in self.ends.items():
            how, up, _ = self.plans[number]
            digest = hashlib.sha256(content(number, "up", up)).digest()
            known = self.heard.digests.get(number)
            # in TCP, the end that closes last does not learn whether its data arrived
            if end == "well" and how == CLIENT_FIRST and known is None:
                faults.append(f"{number}: ended well, though the target has not heard all")
            if end not in ("well", "broken", "refused", "reset here"):
                faults.append(f"{number}: {end}")
            if how == CLIENT_RESETS and known is not None:
                faults.append(f"{number}: was reset, and ended well at the target")
            if known is not None and known != digest:
                faults.append(f"{number}: the target has heard something else")
        return faults


async def many_streams(
    count: int, at_once: int, via: tuple[str, int], seed: int, disturb: "Disturbance | None" = None
) -> Outcome:
    """Run this many streams; each must end within `PATIENCE_S` after the last disturbance."""
    heard = Received()
    server = await asyncio.start_server(heard.answer, "127.0.0.1", 0, backlog=1024)
    target = server.sockets[0].getsockname()[1]
    drawn = random.Random(seed)
    kinds = [CLIENT_FIRST] * 6 + [SERVER_FIRST] * 2 + [CLIENT_RESETS, SERVER_RESETS]
    plans = {
        number: (drawn.choice(kinds), drawn.choice(SIZES), drawn.choice(SIZES))
        for number in range(count)
    }
    turn = asyncio.Semaphore(at_once)
    ends: dict[int, str] = {}
    longest_s = 0.0

    async def run(number: int) -> None:
        nonlocal longest_s
        async with turn:
            begun_s = time.monotonic()
            how, up, down = plans[number]
            task = asyncio.ensure_future(run_stream(number, how, up, down, target, via))
            while not task.done():
                await asyncio.wait([task], timeout=1.0)
                since_s = max(begun_s, disturb.last_s if disturb else 0.0)
                waited_s = time.monotonic() - since_s
                if not task.done() and waited_s > PATIENCE_S:
                    task.cancel()
                    ends[number] = f"still there after {waited_s:.0f} s"
                    return
            since_s = max(begun_s, disturb.last_s if disturb else 0.0)
            longest_s = max(longest_s, time.monotonic() - since_s)
            ends[number] = task.result()
            if disturb is not None and len(ends) >= disturb.restart_at:
                disturb.is_due.set()

    async with server:
        disturbing = asyncio.ensure_future(disturb.go_on()) if disturb else None
        await asyncio.gather(*map(run, range(count)))
        if disturb is not None and disturbing is not None:
            disturb.is_over = True
            await disturbing
        await asyncio.sleep(0.5)
    return Outcome(ends, plans, heard, longest_s)


Process = ForkedCommand | subprocess.Popen[str]
"""Process of a relay: a fork of this process, or a new process."""


@dataclass
class Pair:
    """Two relays, each in a separate process."""

    directory: Path
    options: tuple[str, ...] = ()
    is_program: bool = False
    """Whether each relay is started as a new program, so that its memory can be measured."""
    server_port: int = 0
    socks_port: int = 0
    forward_port: int = 0
    """Port of the option ``--forward``, which has port 0: the relay chooses a free port."""
    server: Process | None = None
    client: Process | None = None

    def begin(self) -> None:
        """Start both relays."""
        write_key(self.directory / "key")
        self.start_server()
        self.client = self.start(
            "connect", f"127.0.0.1:{self.server_port}", *self.options, "--socks", "127.0.0.1:0"
        )
        self.socks_port = self.port_of(self.client)
        if "--forward" in self.options:
            self.forward_port = self.port_of(self.client)

    def start_server(self) -> None:
        """Start the server, at its previous port."""
        self.server = self.start("serve", "--listen", f"127.0.0.1:{self.server_port}")
        self.server_port = self.port_of(self.server)

    def start(self, *args: str) -> Process:
        """Start a process of `lasthop relay`."""
        words = ("relay", *args, "--key", str(self.directory / "key"))
        if not self.is_program:
            return ForkedCommand(words, is_read=True)
        command = (sys.executable, "-c", LASTHOP, *words)
        return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)

    @staticmethod
    def port_of(process: Process) -> int:
        """Return the port in the next line of a process."""
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r"127\.0\.0\.1:(\d+)", line)
        if match is None:
            # If the output has ended, so has the process, or it will soon.
            code = process.wait(10) if not line else process.poll()
            errors = process.written()[1] if isinstance(process, ForkedCommand) else ""
            pytest.fail(f"exit code {code}, printed {line!r}, errors: {errors}")
        return int(match[1])

    @property
    def via(self) -> tuple[str, int]:
        """Return the address of the SOCKS server."""
        return ("127.0.0.1", self.socks_port)

    def end(self) -> None:
        """End both relays."""
        for process in (self.client, self.server):
            if process is not None:
                process.send_signal(signal.SIGTERM)
                try:
                    process.wait(10)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
                forget(process)


def forget(process: Process) -> None:
    """Close the output of a process that has ended."""
    if isinstance(process, ForkedCommand):
        process.close()
    elif process.stdout is not None:
        process.stdout.close()


@contextmanager
def relays(directory: Path, *options: str, is_program: bool = False) -> Iterator[Pair]:
    """Run two relays while the body runs."""
    pair = Pair(directory, options, is_program)
    try:
        pair.begin()
        yield pair
    finally:
        pair.end()


@dataclass
class Disturbance:
    """Task that kills connections between relays, and that kills and restarts the server once."""

    pair: Pair
    every_s: float
    restart_at: int
    """Number of ended streams after which the server is restarted. [-]"""
    is_due: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when the server is to be restarted."""
    last_s: float = 0.0
    killed: int = 0
    restarted: bool = False
    is_over: bool = False
    """Whether all streams have ended. The task is not cancelled, since that could leave a process
    running.
    """

    async def go_on(self) -> None:
        """Kill connections until all streams have ended. Kill and restart the server once."""
        while not self.is_over:
            with suppress(TimeoutError):
                await asyncio.wait_for(self.is_due.wait(), self.every_s)
            await self.kill()
            if self.is_due.is_set() and not self.restarted:
                await self.restart()
                self.is_due = asyncio.Event()

    async def kill(self) -> None:
        """Let the kernel kill one TCP connection between the relays."""
        port = self.pair.server_port
        listed = await run("ss", "-Htn", "state", "established", "dport", "=", f"{port}")
        locals_ = [line.split()[2].rpartition(":")[2] for line in listed.splitlines()]
        if locals_:
            chosen = random.choice(locals_)
            await run("ss", "-K", "sport", "=", chosen, "dport", "=", f"{port}")
            self.killed += 1

    async def restart(self) -> None:
        """Kill the server and start it again."""
        self.restarted = True
        server = self.pair.server
        assert server is not None
        server.kill()
        server.wait()
        forget(server)
        self.last_s = time.monotonic()
        await asyncio.sleep(0.3)
        await asyncio.to_thread(self.pair.start_server)
        self.last_s = time.monotonic()


async def run(*command: str) -> str:
    """Return the output of a command."""
    process = await asyncio.create_subprocess_exec(
        *command, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    out, _ = await process.communicate()
    return out.decode()


def memory_bytes(process: Process) -> int:
    """Return the peak resident memory of a process. [bytes]"""
    text = Path(f"/proc/{process.pid}/status").read_text()
    line = next(line for line in text.splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024


def cpu_s(process: Process) -> float:
    """Return the CPU time of a process. [s]"""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

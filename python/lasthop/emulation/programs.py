"""Programs that run at hosts of a scenario. The run ends when the foreground program ends; other
programs run in addition."""

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from lasthop.emulation.places import Place, Places
from lasthop.emulation.uplink import name_servers
from lasthop.linux.listening import listening
from lasthop.linux.netns import Namespace
from lasthop.linux.processes import any_at_work, cpu_time_s

PATIENCE_S, MAX_PATIENCE_S, MAX_START_S = 1.0, 10.0, 60.0
"""Longest time that the foreground program waits until the other programs listen at a socket. The
second value is the limit if one of them uses a processor or a disk, as programs do when they start.
The third value is the limit if, in addition, their CPU time is below `MAX_START_CPU_S`, because the
machine is busy with other work. [s]"""
MAX_START_CPU_S = 3.0
"""CPU time after which programs are no longer expected to listen soon. [s]"""
IDLE_S = 0.5
"""Time without such use, after which a program is no longer expected to listen soon. [s]"""
LAUNCH = Path(__file__).with_name("launch.py")
BY_SIGNAL = 128
"""Smallest exit code of a program that a signal has ended."""


@dataclass(frozen=True)
class Program:
    """Command, and the name of the host at which the command runs."""

    place: str
    command: Sequence[str]

    @classmethod
    def of_shell(cls, place: str, command: str) -> "Program":
        """Return the program that runs a command text in a shell."""
        return cls(place, ["sh", "-c", command])

    @property
    def text(self) -> str:
        """Command as text."""
        if self.command[:2] == ["sh", "-c"]:
            return " ".join(self.command[2].split())
        return shlex.join(self.command)


@dataclass
class Patience:
    """Decision how long the foreground program waits until the other programs listen."""

    at_work_s: float = 0.0
    """Time at which one of the other programs was last seen at work, from the start of the wait.
    [s]"""
    max_cpu_s: float = MAX_START_CPU_S

    def lasts(self, waited_s: float, processes: Sequence[int]) -> bool:
        """Return whether to wait on for these processes, after a wait of `waited_s`."""
        if waited_s > PATIENCE_S - IDLE_S and any_at_work(processes):
            self.at_work_s = waited_s
        is_idle = waited_s - self.at_work_s > IDLE_S
        if waited_s <= PATIENCE_S or is_idle or waited_s > MAX_START_S:
            return waited_s <= PATIENCE_S
        return waited_s <= MAX_PATIENCE_S or cpu_time_s(processes) < self.max_cpu_s


class Programs:
    """Programs that run at the hosts of a scenario.

    Parameters
    ----------
    places : Places
    foreground : Program, optional
    others : sequence of Program
    stack : ExitStack
        Ends all programs when it closes.
    quiet : bool
        Whether the output of programs goes to standard error.
    """

    def __init__(
        self,
        places: Places,
        foreground: Program | None,
        others: Sequence[Program],
        stack: ExitStack,
        *,
        quiet: bool = False,
    ) -> None:
        self.places = places
        self.foreground = foreground
        self.others = others
        self.out = sys.stderr.fileno() if quiet else None
        self.running: subprocess.Popen[bytes] | None = None
        self.exit_code: int | None = None
        self.stack = stack
        self.background: list[tuple[str, subprocess.Popen[bytes]]] = []
        self.patience = Patience()
        self.silent: dict[str, set[tuple[str, str]]] = {}
        """Sockets that were already listening at a host before the programs were started, by the
        host's name."""
        self.names = self.file("hosts", hosts_file(places.known))
        servers = name_servers() if places.uplink is not None else ""
        self.servers = self.file("resolv.conf", servers)

    def file(self, name: str, content: str) -> int:
        """Return the descriptor of a file in memory with this content."""
        descriptor = os.memfd_create(name, 0)
        self.stack.callback(os.close, descriptor)
        os.write(descriptor, content.encode())
        return descriptor

    def start_others(self) -> None:
        """Start all programs except the foreground program."""
        for program in self.others:
            if program.place not in self.silent:
                self.silent[program.place] = self.at(program.place).run(listening)
        self.background = [(program.place, self.start(program)) for program in self.others]

    def at(self, place: str) -> Namespace:
        """Return the network namespace of a host."""
        return self.places.open[place].host.namespace

    def is_ready(self) -> bool:
        """Return whether the other programs are ready: at each host at which one of them still
        runs, a new socket listens."""
        waiting = {place for place, process in self.background if process.poll() is None}
        return all(self.at(place).run(listening) - self.silent[place] for place in waiting)

    def is_patient(self, waited_s: float) -> bool:
        """Return whether the foreground program waits for the other programs, after it has waited
        for `waited_s`."""
        return self.patience.lasts(waited_s, [process.pid for _, process in self.background])

    def start_foreground(self) -> None:
        """Start the foreground program. From then on, only this program handles Ctrl-C of the
        terminal."""
        if self.foreground is not None:
            with suppress(ValueError):  # outside the main thread, a signal handler cannot be set
                before = signal.signal(signal.SIGINT, signal.SIG_IGN)
                self.stack.callback(signal.signal, signal.SIGINT, before)
            self.running = self.start(self.foreground)

    def start(self, program: Program) -> "subprocess.Popen[bytes]":
        """Start a program in the network namespace of its host."""
        namespace = self.at(program.place).descriptor
        own = (namespace, self.names, self.servers)
        process = subprocess.Popen(
            [
                sys.executable,
                "-S",
                "-E",
                LAUNCH,
                str(os.getpid()),
                *map(str, own),
                *program.command,
            ],
            pass_fds=own,
            stdout=self.out,
        )
        self.stack.callback(end, process)
        return process

    def is_over(self) -> bool:
        """Return whether the foreground program has ended."""
        if self.running is not None and self.exit_code is None:
            self.exit_code = self.running.poll()
        return self.exit_code is not None

    def failures(self) -> list[str]:
        """Return a line for each program that has ended with an error, except for the foreground
        program. Programs that a signal has ended are left out, since scripts end programs so."""
        lines = []
        for program, (_, process) in zip(self.others, self.background, strict=False):
            code = process.poll() or 0
            if 0 < code < BY_SIGNAL:
                lines.append(f"at {program.place}, exit code {code}: {program.text}")
        return lines


def end(process: "subprocess.Popen[bytes]") -> None:
    """End a program and its children: SIGTERM, then SIGKILL after 2 s."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(2)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def hosts_file(places: Mapping[str, Place]) -> str:
    """Return the content of `/etc/hosts` for programs, with the names of all hosts of the
    scenario."""
    lines = ["127.0.0.1 localhost", "::1 localhost"]
    lines += [f"{place.address} {host_name(name)}" for name, place in places.items()]
    return "\n".join(lines) + "\n"


def host_name(place: str) -> str:
    """Return the host name for `/etc/hosts`, which must not contain a slash."""
    return place.replace("/", ".")


def shell_of_user() -> list[str]:
    """Return the path of the user's shell."""
    return [os.environ.get("SHELL", "/bin/sh")]

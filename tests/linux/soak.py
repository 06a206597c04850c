"""Run a gateway for an hour with all disturbances: does any resource grow, and is all damage
repaired?

    make soak                          an hour, as root
    make soak SOAK_S=600               ten minutes
    .venv/bin/python tests/linux/soak.py --seconds 600

`lasthop gateway up` runs in the lab (`lab.py`). Listed stations send and receive data by TCP.
Guests join and leave every second, as leases and as neighbours in the kernel, and receive UDP.
The gateway's metrics are read every second. Every minute the gateway loads another file. While
the file has a fixed rate, the script does damage to the kernel state, which the gateway must
repair. Every 30 s the script records the gateway's resources, after all leaving guests have
left. Ctrl-C ends the run early, with a report.

The exit status is 1 if memory grows by more than `LIMIT_MB_PER_H`. This growth is the lower end
of the 95 % confidence interval, over samples after a warm-up of ten minutes. Each kind of damage
is done once in the warm-up. The exit status is also 1 if threads or descriptors grow, if the
kernel holds objects that no station needs, or if damage is not repaired. The script writes
out/soak.json.
"""

import argparse
import itertools
import json
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import held
from damage import DAMAGES, damage, is_as, snapshot
from held import Held
from lab import GATEWAY, SERVER, Lab, entered, gateway_text, leftovers, sh, station_v4
from lasthop.daemon.state import State
from traffic import Flow, run

ROOT = Path(__file__).parents[2]
LISTED, GUESTS = 5, 40
LIMIT_MB_PER_H = 1.0
WARM_UP_S = 600.0
"""Warm-up; half of the run if that is shorter. [s]

When an event happens for the first time, it may use memory permanently: some kinds of damage use
half a megabyte.
"""
NOTED_EVERY_S = 30.0
SHORT_S = 540.0
"""Shortest time after the warm-up in which the growth of memory is checked. In a shorter run the
growth is not checked. [s]
"""
DAMAGES_AT_ONCE = 3
"""Number of kinds of damage done in a row, so that each kind occurs within the warm-up. [-]"""
PATIENCE_S = 60.0
"""Longest wait for an automatic action of the gateway. [s]"""
METRICS = "127.0.0.1:9477"
GUEST_DATAGRAMS = 5
"""Number of datagrams of 1000 B sent to each guest per second. [1/s]"""
DISCOVERY = """discover.interval = "1 s"
discover.absence = "2 s"
discover.neighbours = true
discover.quarantine = "1 s"
"""

SERVICE = """
import ctypes, os, sys, threading, time
from lasthop.cli import main

class Malloc(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in (
        "arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks",
        "fordblks", "keepcost")]

mallinfo2 = ctypes.CDLL(None).mallinfo2
mallinfo2.restype = Malloc

def tell():
    with open(sys.argv[1], "w") as file:
        while True:
            now = mallinfo2()
            file.seek(0)
            file.write(f"{sys.getallocatedblocks():20}{now.uordblks + now.hblkhd:20}")
            file.flush()
            time.sleep(1)

os.register_at_fork(after_in_child=threading.Thread(target=tell, daemon=True).start)
sys.exit(main(["gateway", *sys.argv[2:]]))
"""
"""Program that runs `lasthop gateway`. Its background process reports the memory in use: blocks of
Python's allocator for small objects, and bytes of malloc for all other memory.
"""


@dataclass(frozen=True)
class Phase:
    """A gateway file that is used for a minute."""

    what: str
    rate: str
    more: str = ""
    listed: int = LISTED
    leaves: int = 0
    is_damaged: bool = False
    """Whether damage is done during the phase. Damage requires a file with a fixed rate."""


PHASES = (
    Phase("a fixed rate", "20 Mbps", is_damaged=True),
    Phase("an estimated rate", "estimated", 'wce.max = "30 Mbps"'),
    Phase("a station fewer", "20 Mbps", listed=LISTED - 1, is_damaged=True),
    Phase("flows", "20 Mbps", 'fairness = "flow"\nflow_leaves = 16', leaves=16),
    Phase("uplink UDP alone", "20 Mbps", 'udp = "down"', is_damaged=True),
    Phase("directions", "estimated", 'fairness = "direction"\nwce.max = "30 Mbps"', leaves=2),
)

ANEW = ("the IFB is removed", "the IFB has another name")
"""Kinds of damage after which the gateway creates all its objects again. A station that joined
after the start may then have another class number than before the damage.
"""


class Gateway:
    """The gateway under test, and the traffic of its stations."""

    def __init__(self, directory: Path) -> None:
        self.state = State(directory / "state")
        self.file = directory / "cafe.toml"
        self.leases = directory / "leases"
        self.blocks = directory / "blocks"
        self.phase = PHASES[0]
        self.guests: set[int] = set()
        self.flows: list[Flow] = []
        self.draw = random.Random(1)
        with entered(SERVER):
            self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.setblocking(False)
        self.settle_guests(set())
        self.write()
        self.act("up")
        self.pid = self.status()["pid"]
        self.began_s = time.monotonic()

    def write(self) -> None:
        """Write the file of a phase."""
        more = f'{self.phase.more}\ndiscover.leases = "{self.leases}"\n{DISCOVERY}'
        text = gateway_text(self.phase.listed, more, self.phase.rate, discipline="best")
        self.file.write_text(text.replace('metrics = "off"', f'metrics = "{METRICS}"'))

    def act(self, verb: str) -> None:
        """Run a command of `lasthop gateway`."""
        command = [sys.executable, "-c", SERVICE, self.blocks, verb, self.file]
        with entered(GATEWAY):
            done = subprocess.run(
                [*command, "--state", self.state.directory],
                capture_output=True,
                text=True,
                check=False,
            )
        assert done.returncode == 0, done.stdout + done.stderr

    def status(self) -> dict[str, Any]:
        return self.state.answer({"do": "status"})

    # Events.

    def another_file(self, phase: Phase) -> None:
        """Load another file."""
        self.phase = phase
        self.write()
        self.act("up")

    def come_and_go(self) -> None:
        """Remove some guests and add others."""
        changed = {self.draw.randrange(GUESTS) for _ in range(4)}
        self.settle_guests(self.guests ^ changed)

    def settle_guests(self, present: set[int]) -> None:
        """Let guests join and leave until exactly the guests in `present` are present. Guests with
        even numbers have leases, and guests with odd numbers are neighbours.
        """
        lines = [f"0 {mac(k)} {guest_v4(k)} guest{k} *" for k in sorted(present) if k % 2 == 0]
        self.leases.write_text("".join(f"{line}\n" for line in lines))
        commands = []
        for k in sorted(present ^ self.guests):
            for address in (guest_v4(k), guest_v6(k)) if k % 2 else ():
                verb, state = ("replace", "nud permanent") if k in present else ("del", "")
                commands.append(f"neigh {verb} {address} lladdr {mac(k)} dev lan {state}")
        batch = "\n".join(commands)
        # the kernel may have removed a neighbour already
        sh(f"ip -n {GATEWAY} -force -batch - <<'end' 2> /dev/null || true\n{batch}\nend")
        self.guests = present

    def send(self) -> None:
        """Send datagrams to guests, and data between the server and listed stations, sometimes over
        new connections.
        """
        for k in self.guests:
            for _ in range(GUEST_DATAGRAMS):
                with suppress(OSError):
                    self.udp.sendto(bytes(972), (guest_v4(k), 9))
        if self.draw.random() < 0.2:
            self.hang_up()
        while len(self.flows) < 4:
            k = self.draw.randrange(self.phase.listed)
            with suppress(OSError):
                self.flows.append(Flow(station_v4(k), download=self.draw.random() < 0.7))

    def hang_up(self) -> None:
        for flow in self.flows:
            flow.close()
        self.flows = []

    def move(self, seconds: float) -> None:
        """Transfer data for the given time."""
        try:
            run(self.flows, seconds)
        except OSError:  # the damage has ended a connection
            self.hang_up()

    def read_metrics(self) -> None:
        with (
            entered(GATEWAY),
            urllib.request.urlopen(f"http://{METRICS}/metrics", timeout=20) as page,
        ):
            assert b"lasthop_shaping" in page.read()

    # Resources.

    def has_members(self) -> bool:
        """Return whether the gateway has the present stations, and no others, with their kernel
        objects.
        """
        status = self.status()
        names = {f"s{k}" for k in range(self.phase.listed)}
        names |= {f"guest{k}" if k % 2 == 0 else mac(k) for k in self.guests}
        stations = [each for each in status["stations"] if each["name"] in names]
        more = {each["name"] for each in status["stations"]} - names
        with entered(GATEWAY), suppress(AssertionError):
            return (
                len(stations) == len(names)
                and all(is_lab_station(name) for name in more)
                and held.in_kernel(self.pid)
                == held.needed_by(status["stations"], self.phase.leaves)
            )
        return False

    def note(self) -> Held:
        """Return the current resources of the gateway."""
        with entered(GATEWAY):
            kernel = held.in_kernel(self.pid)
        log, rest = held.files_bytes(self.state.directory)
        return Held(
            time.monotonic() - self.began_s,
            held.rss_bytes(self.pid),
            *map(int, self.blocks.read_text().split()),
            held.threads(self.pid),
            held.descriptors(self.pid),
            len(self.status()["stations"]),
            kernel,
            log,
            rest,
        )


def is_lab_station(name: str) -> bool:
    """Return whether a station belongs to the lab, in which all addresses have one MAC address."""
    return not name.startswith(("guest", "02:bb:"))


def mac(k: int) -> str:
    return f"02:bb:00:00:00:{k:02x}"


def guest_v4(k: int) -> str:
    return f"10.77.9.{k + 1}"


def guest_v6(k: int) -> str:
    return f"fd77:1::9:{k + 1:x}"


@dataclass
class Soak:
    """A run and its results."""

    gateway: Gateway
    seconds: float
    samples: list[Held] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    """Remaining faults, as messages."""
    mended: int = 0
    files: int = 0

    def run(self) -> None:
        """Run until the time is over, or until an interrupt."""
        every_s = min(NOTED_EVERY_S, self.seconds / 10)
        end_s = self.gateway.began_s + self.seconds
        next_s = self.gateway.began_s + every_s
        damages = itertools.cycle(DAMAGES)
        while (now_s := time.monotonic()) < end_s:
            self.gateway.come_and_go()
            self.gateway.send()
            self.gateway.read_metrics()
            self.gateway.move(max(0.05, 1 - (time.monotonic() - now_s)))
            if time.monotonic() >= next_s:
                self.look()
                for _ in range(DAMAGES_AT_ONCE if self.gateway.phase.is_damaged else 0):
                    self.do_damage(next(damages))
                if len(self.samples) % 2 == 0:
                    self.files += 1
                    self.gateway.another_file(PHASES[self.files % len(PHASES)])
                next_s = max(next_s + every_s, time.monotonic())

    def look(self) -> None:
        """Record the resources after the leaving guests have left."""
        self.wait(self.gateway.has_members, self.missing_parts)
        self.samples.append(self.gateway.note())
        self.show(self.samples[-1])

    def missing_parts(self) -> str:
        """Return the kernel objects that differ from the needs of the stations, as a message."""
        status = self.gateway.status()
        with entered(GATEWAY):
            has = held.in_kernel(self.gateway.pid)
        phase = self.gateway.phase
        wants = held.needed_by(status["stations"], phase.leaves)
        names = sorted(each["name"] for each in status["stations"])
        guests = sorted(self.gateway.guests)
        return f"{phase.what}: {has} for {wants}; {names} for guests {guests}; {status['faults']}"

    def do_damage(self, what: str) -> None:
        """Do damage, and check that it is repaired."""
        with entered(GATEWAY):
            before = snapshot()
        damage(DAMAGES[what])
        is_mended = self.gateway.has_members if what in ANEW else lambda: is_as(before)
        self.mended += self.wait(
            is_mended, lambda: f"{self.gateway.phase.what}: {what}: not mended"
        ) and self.wait(
            lambda: self.gateway.status()["faults"] == [],
            lambda: f"{what}: {self.gateway.status()['faults']}",
        )

    def wait(self, condition: Callable[[], bool], what: Callable[[], str]) -> bool:
        """Wait for an automatic action of the gateway, under traffic; return whether it
        happened.
        """
        until_s = time.monotonic() + PATIENCE_S
        while not condition():
            if time.monotonic() > until_s:
                self.wrong.append(what())
                print(f"wrong: {self.wrong[-1]}", file=sys.stderr, flush=True)
                return False
            self.gateway.move(0.2)
        return True

    def show(self, sample: Held) -> None:
        """Print a sample."""
        line = (
            f"{sample.at_s:6.0f} of {self.seconds:g} s: {sample.rss_bytes / 1e6:.1f} MB, "
            f"{sample.stations} stations, {sample.kernel.macs} MAC addresses, {self.files} files, "
            f"{self.mended} damages mended, {len(self.wrong)} wrong"
        )
        if sys.stderr.isatty():
            print(f"\r{line:<79}", end="", file=sys.stderr, flush=True)
        else:
            print(line, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Let all guests leave, and then end the gateway. Check that no kernel objects or files of
        the guests and the gateway remain.
        """
        gateway = self.gateway
        gateway.hang_up()
        gateway.udp.close()
        gateway.settle_guests(set())
        gateway.another_file(PHASES[0])
        self.wait(gateway.has_members, self.missing_parts)
        gateway.act("down")
        with entered(GATEWAY):
            self.wrong += [f"left: {line}" for line in leftovers()]
        names = {path.name for path in gateway.state.directory.iterdir()}
        self.wrong += [f"left: {name}" for name in names - STAYS]


STAYS = {"lock", "file", "namespace", "sort", "log", "log.1", "stations"}
"""Files that stay in the directory of a gateway that is not running."""


def report(soak: Soak) -> list[str]:
    """Print the table; return the faults, as messages."""
    warm_s = min(WARM_UP_S, soak.seconds / 2)
    counted = [sample for sample in soak.samples if sample.at_s >= warm_s]
    wrong = list(soak.wrong)
    if not soak.samples:
        return [*wrong, "nothing was noted"]
    first, last = (counted or soak.samples)[0], soak.samples[-1]
    print(f"\nGateway, {last.at_s:.0f} s, of which {warm_s:.0f} s are warm-up")
    print(f"{soak.files} files, {soak.mended} damages mended, {len(soak.samples)} samples")
    print(f"{'':24}{'first':>12}{'last':>12}{'growth an hour, 95 %':>28}")
    times = [sample.at_s for sample in counted]
    slopes: dict[str, dict[str, float] | None] = {}
    for what, unit, values in (
        ("memory [MB]", 1e6, [sample.rss_bytes for sample in counted]),
        ("malloc's [MB]", 1e6, [sample.malloc_bytes for sample in counted]),
        ("Python's [1000 pieces]", 1e3, [sample.python_blocks for sample in counted]),
    ):
        line = held.slope(times, [value / unit for value in values])
        slopes[what] = line and asdict(line)
        grown = "too few samples" if line is None else f"{line.per_h:+.3f} ± {line.ci95:.3f}"
        start, end = (getattr(each, FIELDS[what]) / unit for each in (first, last))
        print(f"{what:24}{start:12.2f}{end:12.2f}{grown:>28}")
        if line is not None and what == "memory [MB]":
            if last.at_s - warm_s < SHORT_S:
                print(f"{'':24}too short a run to judge that")
            elif line.least > LIMIT_MB_PER_H:
                wrong.append(f"memory grows by {grown} MB an hour, limit {LIMIT_MB_PER_H:g}")
    for what, name in (
        ("threads", "threads"),
        ("descriptors", "descriptors"),
        ("stations", "stations"),
    ):
        print(f"{what:24}{getattr(first, name):12}{getattr(last, name):12}")
    for what in ("threads", "descriptors"):
        fault = held.leak(what, [getattr(sample, what) for sample in counted])
        wrong += [fault] if fault else []
    print(f"{'log [kB]':24}{first.log_bytes / 1e3:12.1f}{last.log_bytes / 1e3:12.1f}")
    print(f"{'other files [kB]':24}{first.state_bytes / 1e3:12.1f}{last.state_bytes / 1e3:12.1f}")
    content = {
        "seconds": last.at_s,
        "warm_up_s": warm_s,
        "files": soak.files,
        "mended": soak.mended,
        "slopes_per_h": slopes,
        "wrong": wrong,
        "samples": [asdict(sample) for sample in soak.samples],
    }
    out = ROOT / "out"
    out.mkdir(exist_ok=True)
    out.joinpath("soak.json").write_text(json.dumps(content, indent=1) + "\n")
    return wrong


FIELDS = {
    "memory [MB]": "rss_bytes",
    "malloc's [MB]": "malloc_bytes",
    "Python's [1000 pieces]": "python_blocks",
}


def soaked(seconds: float) -> list[str]:
    """Run the soak, and print the report; return the faults, as messages."""
    with ExitStack() as stack:
        stack.enter_context(Lab(LISTED, rate_bps=None))
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        gateway = Gateway(directory)
        soak = Soak(gateway, seconds)
        try:
            try:
                soak.run()
            except KeyboardInterrupt:
                print("\ninterrupted: what there is", file=sys.stderr)
        finally:
            soak.end()
        return report(soak)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak for the given time; return 1 if there is a fault."""
    parser = argparse.ArgumentParser(description="a gateway for a long time, with all that happens")
    parser.add_argument("--seconds", type=float, default=3600.0, help="how long (3600)")
    seconds: float = parser.parse_args(arguments).seconds

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)
    wrong = soaked(seconds)
    for line in wrong:
        print(f"wrong: {line}")
    print("nothing grows, nothing is left" if not wrong else f"{len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    raise SystemExit(main())

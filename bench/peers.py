"""Simulators that lasthop is compared with: ns-2, ns-3 and htsim.

ns-2 and ns-3 are installed if they are missing, and run the seven-station cell. htsim is built if
its source is available.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from measure import BenchError, Run, process

HERE = Path(__file__).parent
STORE = HERE / ".peers"
NS3_WHEEL = "ns3==3.44.post0"
NS3_CELL = STORE / "ns3-cell"
NS3_AGGREGATES = STORE / "ns3-aggregates"
NS3_DUMBBELL = STORE / "ns3-dumbbell"
NS3_WIFI = (
    "applications",
    "internet",
    "wifi",
    "traffic-control",
    "mobility",
    "propagation",
    "network",
    "core",
)
#: C++ programs that are built against the ns-3 wheel, with the ns-3 libraries that they need.
#: The sources of these programs are in peers/.
NS3_PROGRAMS = {
    NS3_CELL: NS3_WIFI,
    NS3_AGGREGATES: NS3_WIFI,
    NS3_DUMBBELL: (
        "applications",
        "internet",
        "point-to-point",
        "traffic-control",
        "nix-vector-routing",
        "network",
        "core",
    ),
}

#: Environment variable with the folder of htsim's source. No package registry contains this source.
HTSIM_SOURCE = "LASTHOP_HTSIM"
HTSIM = STORE / "htsim"
#: Source files of htsim that are needed for TCP over queues and pipes.
HTSIM_PARTS = (
    *("config", "eventlist", "logfile", "loggers", "network", "rng", "route"),
    *("pipe", "queue", "fairpullqueue", "tcp", "tcppacket", "mtcp", "ndppacket"),
    "eth_pause_packet",
)

WARMUP_S = 10.0


class Simulator(Protocol):
    """Program that simulates the seven-station cell."""

    def __call__(self, duration_s: float) -> Run:
        """Simulate for `duration_s`, including the warm-up."""


@dataclass(frozen=True)
class Peer:
    """A simulator, the lengths of its runs, and the required ratio of its cost to lasthop's."""

    name: str
    variant: str
    run: Simulator
    short_s: float
    long_s: float
    #: Number of rounds. Each round measures this simulator and lasthop, one after the other.
    rounds: int
    aim: float | None
    """Required ratio of the simulator's cost to lasthop's; None if the ratio is printed but not
    checked."""


def peers(*, quick: bool) -> list[Peer]:
    """Return three simulators: ns-2 as installed, ns-2 with its fastest settings, and ns-3. The
    runs of ns-3 are shorter than those of ns-2."""
    install_ns2()
    install_ns3()
    ns2_s, ns3_s, rounds = (600.0, 40.0, 1) if quick else (2000.0, 120.0, 5)
    return [
        Peer("ns-2", "as installed", Ns2("default"), 200.0, ns2_s, rounds, 120.0),
        Peer("ns-2", "tuned", Ns2("tuned"), 200.0, ns2_s, rounds, None),
        Peer("ns-3", "release build", Ns3(), 20.0, ns3_s, min(rounds, 3), 2400.0),
    ]


@dataclass(frozen=True)
class Ns2:
    """ns-2 from the Debian package `ns2`, with a Tcl script.

    As installed, ns-2 allocates the headers of every protocol in every packet, and stores events in
    a calendar queue. In the variant "tuned", it allocates only the headers in use, and stores
    events in a list. A list is its fastest scheduler for so few events.
    """

    how: str

    def __call__(self, duration_s: float) -> Run:
        return delivered(["ns", str(HERE / "peers" / "cell.tcl")], duration_s, 1, self.how)


@dataclass(frozen=True)
class Ns3:
    """ns-3 from the Python wheel `ns3`, with a C++ program. The wheel contains a release build and
    the headers of ns-3."""

    options: tuple[str, ...] = ()
    #: Number of the replication, by which ns-3 selects its random numbers.
    replication: int = 1

    def __call__(self, duration_s: float) -> Run:
        return delivered([str(NS3_CELL)], duration_s, self.replication, *self.options)


def delivered(program: list[str], duration_s: float, seed: int, *more: str) -> Run:
    """Run a simulator and read its output line `delivered IN_ALL AFTER_WARMUP`."""
    argv = [*program, str(duration_s), str(WARMUP_S), str(seed), *more]
    ended = process(argv)
    for line in ended.output.splitlines():
        if line.startswith("delivered "):
            segments = int(line.split()[2])
            return Run(ended.cpu_s, segments, duration_s - WARMUP_S, ended.peak_rss_mb)
    raise BenchError(f"`{' '.join(argv)}` printed no line `delivered ...`")


def install_ns2() -> None:
    """Install the Debian package of ns-2, if there is no command `ns`."""
    if shutil.which("ns") is None:
        apt_install("ns2")


def install_ns3() -> None:
    """Install the ns-3 wheel in a folder next to this file, and build the programs against it."""
    prefix = STORE / "ns3" / "ns3"
    if not prefix.exists():
        print(f"installing {NS3_WHEEL} (520 MB) in {STORE.relative_to(HERE.parent)}")
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        must([*pip, "--no-deps", "--target", str(STORE / "ns3"), NS3_WHEEL])
    ensure_compiler()
    for program, libraries in NS3_PROGRAMS.items():
        name = program.name.removeprefix("ns3-")
        source = HERE / "peers" / f"{name}.cc"
        changed = max(each.stat().st_mtime for each in source.parent.glob(f"{name}*.[ch]*"))
        if not program.exists() or changed > program.stat().st_mtime:
            include, lib = prefix / "include", prefix / "lib64"
            link = [f"-l:libns3.44-{library}.so" for library in libraries]
            link = [f"-L{lib}", f"-Wl,-rpath,{lib}", *link]
            flags = ["-std=c++20", "-O2", "-Wall", f"-I{include}"]
            must(["g++", *flags, str(source), "-o", str(program), *link])


def htsim_absent() -> str | None:
    """Return the reason why htsim cannot be measured; None if its source is available."""
    folder = os.environ.get(HTSIM_SOURCE)
    if not folder:
        return f"htsim: skipped, {HTSIM_SOURCE} names no folder (`sim` of Broadcom/csg-htsim)"
    missing = [name for name in HTSIM_PARTS if not Path(folder, f"{name}.cpp").exists()]
    if missing:
        return f"htsim: skipped, {HTSIM_SOURCE}={folder} has no {missing[0]}.cpp"
    return None


def install_htsim() -> None:
    """Build the htsim program of peers/ with the source files that it needs. Nothing is written to
    htsim's folder."""
    ensure_compiler()
    folder = Path(os.environ[HTSIM_SOURCE])
    sources = [HERE / "peers" / "htsim.cc", *(folder / f"{name}.cpp" for name in HTSIM_PARTS)]
    if HTSIM.exists() and max(map(modified_s, sources)) <= modified_s(HTSIM):
        return
    STORE.mkdir(exist_ok=True)
    # flags that htsim's Makefile uses
    flags = ["-std=c++11", "-O3", f"-I{folder}"]
    must(["g++", *flags, *map(str, sources), "-o", str(HTSIM)])


def ensure_compiler() -> None:
    """Install the Debian package `g++`, if there is no C++ compiler."""
    if shutil.which("g++") is None:
        apt_install("g++")


def modified_s(file: Path) -> float:
    """Return the modification time of a file. [s]"""
    return file.stat().st_mtime


def apt_install(package: str) -> None:
    """Install a Debian package, which requires root. Only one process installs at a time."""
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise BenchError(f"{package} is not installed; as root: apt-get install {package}")
    print(f"installing {package} with apt-get")
    install = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *package.split()]
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    with Path(tempfile.gettempdir(), "lasthop-apt").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            must(install)
        except BenchError:
            must(["apt-get", "update", "-qq"])
            must(install)


def must(argv: list[str]) -> None:
    """Run a command, and raise an error if it fails."""
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BenchError(f"`{' '.join(argv)}` failed\n{done.stderr.strip()}")

"""Measure long and large runs, and estimate the resources for a million flows.

    make bench ONLY=large                             six minutes: keep the machine quiet
    .venv/bin/python bench/large.py --only web        one run; other results are kept
    .venv/bin/python bench/large.py --quick           a tenth of each run, as a test
    .venv/bin/python bench/large.py --page            the tables in bench/README.md

For each case, CPU time and peak memory are measured, and the memory is compared with a computed
bound. Each case runs in three new processes: the engine's example `summary`, a Python process that
calls `lh.simulate` and reads the warnings, and the command `lasthop simulate`, which also prints
tables and an explanation. The peak memory is the kernel's high-water mark. A run of a third of the
length shows whether memory grows with time.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path

import hot_spots
from large_bound import Network, command_bytes, engine_bytes, python_bytes
from measure import BenchError, process, require_release_build

HERE = Path(__file__).parent
CASES = HERE / "cases"
OUT = HERE / "out" / "large.json"
GROWTH_MB, GROWTH = 1.0, 0.02
"""Largest accepted growth of memory from a third of the run to its end: in megabytes, or as a
fraction. The larger of the two limits applies.
"""


@dataclass(frozen=True)
class Case:
    """A run: its network, duration and warm-up. [s]"""

    name: str
    what: str
    network: Network
    duration_s: float
    warmup_s: float


CASES_RUN = (
    Case(
        "campus",
        "100,000 flows, router of 100 Gb/s, 6 s",
        Network(CASES / "campus.toml", "dumbbell.flows", 100_000),
        6.0,
        0.4,
    ),
    Case(
        "stations",
        "5,000 stations, 10,000 flows, 60 s",
        Network(CASES / "five_thousand_stations.toml", "station.laptop.count", 5_000),
        60.0,
        10.0,
    ),
    Case(
        "parking lot",
        "parking lot of 50 links, 1,020 flows, 20 s",
        Network(CASES / "parking_lot.toml", "parking_lot.hops", 50),
        20.0,
        5.0,
    ),
    Case("ten hours", "cell of seven, ten hours", Network(CASES / "seven.toml"), 36_000.0, 10.0),
    Case(
        "web",
        "5,000 web connections a second, 60 s",
        # A connection is open for ten round-trip times, half of them for losses.
        # Without losses, the opening, the request and three windows take five round-trip times.
        Network(CASES / "web.toml", open_connections=round(5_000 * 10 * 0.02)),
        60.0,
        5.0,
    ),
)
SLOPES, WARMUP_S, SHORT_S, LONG_S = (10_000, 30_000, 100_000), 1.0, 1.0, 2.0
"""Numbers of flows for which costs are measured and then extrapolated to a million flows. The other
values are the warm-up, and the durations of the short and the long run after the warm-up. [s]"""
MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """CPU time, memory and packets of a process."""

    cpu_s: float
    peak_mb: float
    #: Number of segments and datagrams delivered after the warm-up.
    packets: int


@dataclass(frozen=True)
class Entry:
    """CPU time and peak memory of a case, and the computed bound of its memory. `by` is the process
    that ran the case: ``engine`` (its example program), ``Python`` or ``command``.
    """

    name: str
    what: str
    by: str
    duration_s: float
    bound_mb: float
    #: CPU time of a run of a third of the duration. The next field is that of the complete run. [s]
    third_cpu_s: float
    cpu_s: float
    third_mb: float
    peak_mb: float
    packets: int

    @property
    def is_flat(self) -> bool:
        """Whether the memory does not grow with the simulated time."""
        return self.peak_mb - self.third_mb < max(GROWTH_MB, GROWTH * self.peak_mb)

    def missed(self) -> list[str]:
        """Return a message for each violated bound."""
        missed = []
        if self.peak_mb > self.bound_mb:
            missed.append(f"{self.peak_mb:.0f} MB, bound {self.bound_mb:.0f}")
        if not self.is_flat:
            missed.append(f"{self.third_mb:.1f} MB after a third, {self.peak_mb:.1f} at the end")
        return [f"{self.name}, {self.by}: {each}" for each in missed]


@dataclass(frozen=True)
class Slope:
    """Cost of a number of flows through a router in the engine."""

    flows: int
    us_per_segment: float
    #: Number of delivered segments per simulated second.
    segments_per_s: float
    #: CPU time to parse the scenario, to build the network and to write the result. [s]
    start_s: float
    bytes_per_flow: float


def by_engine(case: Case, duration_s: float, size: int | None = None) -> Usage:
    """Run the engine's example program, and return its resources."""
    network = case.network
    words = [f"{network.unit}={size or network.size}"] if network.unit else []
    words += [f"{key}={value}" for key, value in network.settings.items()]
    words += [f"duration={duration_s:g} s", f"warmup={min(case.warmup_s, duration_s / 2):g} s"]
    ended = process([str(hot_spots.program("summary")), str(network.file), "1", *words])
    packets = json.loads(ended.output)["totals"][0]["packets_delivered"]["mean"]
    return Usage(ended.cpu_s, ended.peak_rss_mb, round(packets))


def by_python(case: Case, duration_s: float) -> Usage:
    """Run a Python process that calls `lh.simulate` and reads the warnings, and return its
    resources.
    """
    words = [str(case.network.file), json.dumps(settings_of(case, duration_s))]
    ended = process([sys.executable, str(HERE / "large_inside.py"), *words])
    return Usage(**json.loads(ended.output))


def by_command(case: Case, duration_s: float) -> Usage:
    """Run `lasthop simulate`, and return its resources. The number of packets is not printed."""
    idle = process([sys.executable, "-c", ""])
    settings = settings_of(case, duration_s) | {"replications": "1"}
    words = [word for path, value in settings.items() for word in ("--set", f"{path}={value}")]
    command = [sys.executable, "-m", "lasthop", "simulate", str(case.network.file), *words]
    ended = process([*command, "--jobs", "1"])
    return Usage(ended.cpu_s, ended.peak_rss_mb - idle.peak_rss_mb, 0)


def settings_of(case: Case, duration_s: float) -> dict[str, str]:
    """Return the settings of a case with this duration."""
    settings = {"duration": f"{duration_s:g} s"}
    settings["warmup"] = f"{min(case.warmup_s, duration_s / 2):g} s"
    if case.network.unit:
        settings[case.network.unit] = str(case.network.size)
    return settings


def measured(case: Case, part: float) -> list[Entry]:
    """Measure a case with the engine's example, from Python and by the command. The bounds are
    printed before the runs.
    """
    duration_s = part * case.duration_s
    measured_s = duration_s - case.warmup_s
    bounds_mb = {
        "engine": engine_bytes(case.network, measured_s) / 2**20,
        "Python": python_bytes(case.network, measured_s) / 2**20,
        "command": command_bytes(case.network, measured_s) / 2**20,
    }
    shown = ", ".join(f"{by} {mb:,.0f} MB" for by, mb in bounds_mb.items())
    print(f"{case.name}: bounds {shown}", flush=True)
    entries = []
    for by, run in (("engine", by_engine), ("Python", by_python), ("command", by_command)):
        third, full = run(case, duration_s / 3), run(case, duration_s)
        entry = Entry(
            case.name,
            case.what,
            by,
            duration_s,
            bounds_mb[by],
            third.cpu_s,
            full.cpu_s,
            third.peak_mb,
            full.peak_mb,
            full.packets,
        )
        print(
            f"{case.name:12} {by:8}{entry.third_cpu_s:8.2f} and {entry.cpu_s:.2f} CPU s"
            f"{entry.packets:13,} packets"
            f"{entry.third_mb:9.1f} MB after a third{entry.peak_mb:9.1f} MB",
            flush=True,
        )
        entries.append(entry)
    return entries


def slope(flows: int) -> Slope:
    """Measure a campus network with this many flows, by runs of two durations. The rate and the
    queue limit are proportional to the number of flows.
    """
    campus = CASES_RUN[0]
    settings = {"dumbbell.bottleneck": f"{flows}000000 bps", "queue": 15 * flows // 100}
    network = Network(campus.network.file, campus.network.unit, flows, settings)
    case = Case(campus.name, "", network, LONG_S, WARMUP_S)
    short, long = (by_engine(case, WARMUP_S + each) for each in (SHORT_S, LONG_S))
    segments = long.packets - short.packets
    each_s = (long.cpu_s - short.cpu_s) / segments
    per_s = segments / (LONG_S - SHORT_S)
    # `packets` excludes the warm-up, in which the rate of segments is at most `per_s`
    start_s = max(0.0, long.cpu_s - each_s * (long.packets + WARMUP_S * per_s))
    return Slope(flows, 1e6 * each_s, per_s, start_s, long.peak_mb * 2**20 / flows)


def million(slopes: Sequence[Slope]) -> dict[str, float]:
    """Return the estimated resources for a million flows at a terabit per second, extrapolated from
    the last two measurements.

    The CPU time per segment is extrapolated as a power of the number of flows, because the data
    already exceeds the caches. The CPU time of the start is proportional to n log(n) for n flows,
    because flows are stored in trees. Memory is proportional to the number of flows.
    """
    before, last = slopes[-2:]
    times = MILLION / last.flows
    power = max(
        0.0, log(last.us_per_segment / before.us_per_segment) / log(last.flows / before.flows)
    )
    us = last.us_per_segment * times**power
    segments_per_s = last.segments_per_s * times
    small = slopes[0]
    return {
        "us_per_segment": us,
        "segments_per_s": segments_per_s,
        "cpu_s_per_s": us * segments_per_s / 1e6,
        "start_s": last.start_s * times * log(MILLION) / log(last.flows),
        "memory_gb": last.bytes_per_flow * MILLION / 1e9,
        "chunks": MILLION / small.flows,
        "chunk_cpu_s_per_s": small.us_per_segment * small.segments_per_s / 1e6,
        "chunk_start_s": small.start_s,
        "chunk_memory_gb": small.bytes_per_flow * small.flows / 1e9,
    }


def judged(*, quick: bool, only: Sequence[str] = ()) -> int:
    """Run all cases, and return 1 if a bound is exceeded. With `quick`, nothing is checked, because
    a tenth of a run consists mostly of its start.
    """
    missed_goals = main(quick=quick, only=only)
    missed = [] if quick else missed_goals
    for line in missed:
        print(f"missed: {line}")
    return int(bool(missed))


def main(*, quick: bool, only: Sequence[str] = ()) -> list[str]:
    """Run all cases, and return a message for each exceeded bound. Results are written after each
    case, unless `quick` is true.
    """
    part = 0.1 if quick else 1.0
    entries, slopes = known()
    missed = []
    for case in CASES_RUN:
        if only and case.name not in only:
            continue
        new = measured(case, part)
        missed += [line for entry in new for line in entry.missed()]
        entries = [each for each in entries if each.name != case.name] + new
        if not quick:
            save(entries, slopes)
    if not only or "million" in only:
        slopes = []
        for flows in SLOPES:
            slopes.append(slope(flows // 10 if quick else flows))
            print(slopes[-1], flush=True)
            if not quick:
                save(entries, slopes)
        print(million(slopes))
    return missed


def known() -> tuple[list[Entry], list[Slope]]:
    """Return the stored measurements."""
    content = json.loads(OUT.read_text()) if OUT.exists() else {}
    runs, slopes = content.get("runs", []), content.get("slopes", [])
    return [Entry(**each) for each in runs], [Slope(**each) for each in slopes]


def save(entries: Sequence[Entry], slopes: Sequence[Slope]) -> None:
    """Write the measurements."""
    OUT.parent.mkdir(exist_ok=True)
    content = {
        "runs": [asdict(each) for each in entries],
        "slopes": [asdict(each) for each in slopes],
    }
    OUT.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="long and large runs beside their bounds")
    parser.add_argument("--quick", action="store_true", help="a tenth of each")
    names = [case.name for case in CASES_RUN]
    parser.add_argument("--only", action="append", choices=[*names, "million"], default=[])
    parser.add_argument("--page", action="store_true", help="write the tables")
    options = parser.parse_args()
    try:
        if options.page:
            import large_page

            large_page.main()
        else:
            sys.exit(judged(quick=options.quick, only=options.only))
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)

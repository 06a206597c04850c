"""Measure long runs and large networks, and estimate the resources for a million flows.

    make bench ONLY=large                             six minutes: keep the machine quiet
    .venv/bin/python bench/large.py --only web        one case; stored results of other cases remain
    .venv/bin/python bench/large.py --quick           a tenth of each duration; checks nothing
    .venv/bin/python bench/large.py --page            the tables in bench/README.md

For each case, CPU time and peak memory are measured, and the memory is compared with a computed
bound. Each case runs in three kinds of new processes: the engine's example `summary`, a Python
process that calls `lh.simulate` and reads the warnings, and the command `lasthop simulate`, which
also prints tables and an explanation. The peak memory is the kernel's high-water mark. A separate
run of a third of the duration shows whether memory grows with simulated time.
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
MIB = 2**20
"""Number of bytes in a mebibyte."""
GIB = 2**30
"""Number of bytes in a gibibyte."""
GROWTH_MIB, GROWTH = 1.0, 0.02
"""Largest accepted excess of the complete run's memory over that of the run of a third: in MiB, or
as a fraction of the complete run's memory. The larger of the two limits applies.
"""


@dataclass(frozen=True)
class Case:
    """Network, duration [s] and warm-up [s] of a run."""

    name: str
    """Name on the command line and in messages."""
    title: str
    """Name in the table of the page."""
    network: Network
    """Simulated network."""
    duration_s: float
    """Simulated time, including the warm-up. [s]"""
    warmup_s: float
    """Duration of the warm-up. [s]"""


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
        "cell, 5,000 stations, 10,000 flows, 60 s",
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
    Case("ten hours", "cell, 7 stations, ten hours", Network(CASES / "seven.toml"), 36_000.0, 10.0),
    Case(
        "web",
        "5,000 web connections per second, 60 s",
        # A connection is open for ten round-trip times, half of them for losses.
        # Without losses, the opening, the request and three windows take five round-trip times.
        Network(CASES / "web.toml", open_connections=round(5_000 * 10 * 0.02)),
        60.0,
        5.0,
    ),
)
FLOWS = (10_000, 30_000, 100_000)
"""Numbers of flows for which costs are measured and then extrapolated to a million flows."""
WARMUP_S, SHORT_S, LONG_S = 1.0, 1.0, 2.0
"""Warm-up, and durations of the short and the long run after the warm-up. [s]"""
MILLION = 1_000_000


@dataclass(frozen=True)
class Usage:
    """CPU time, memory and packets of a process."""

    cpu_s: float
    #: Peak memory. [MiB]
    peak_mib: float
    #: Number of segments and datagrams delivered after the warm-up.
    packets: int


@dataclass(frozen=True)
class CaseResult:
    """CPU time and peak memory of a case in one kind of process, and the computed bound of its
    memory.
    """

    name: str
    """Name of the case."""
    title: str
    """Title of the case."""
    process: str
    """Process that ran the case: ``engine`` (its example program) or ``Python``."""
    duration_s: float
    """Simulated time of the complete run. [s]"""
    bound_mib: float
    """Computed bound of the memory. [MiB]"""
    third_cpu_s: float
    """CPU time of the run of a third of the duration. [s]"""
    cpu_s: float
    """CPU time of the complete run. [s]"""
    third_mib: float
    """Peak memory of the run of a third of the duration. [MiB]"""
    peak_mib: float
    """Peak memory of the complete run. [MiB]"""
    packets: int
    """Number of segments and datagrams that the complete run delivered after the warm-up."""

    @property
    def has_constant_memory(self) -> bool:
        """Whether the peak memory of the complete run exceeds that of the run of a third by no more
        than the accepted growth.
        """
        return self.peak_mib - self.third_mib < max(GROWTH_MIB, GROWTH * self.peak_mib)

    def missed(self) -> list[str]:
        """Return a message for each violated bound."""
        missed = []
        if self.peak_mib > self.bound_mib:
            missed.append(f"{self.peak_mib:.0f} MiB, bound {self.bound_mib:.0f} MiB")
        if not self.has_constant_memory:
            missed.append(
                f"{self.third_mib:.1f} MiB in a run of a third, {self.peak_mib:.1f} MiB in the "
                "complete run"
            )
        return [f"{self.name}, {self.process}: {each}" for each in missed]


@dataclass(frozen=True)
class Slope:
    """Engine's cost per segment, set-up time and memory for a router with this many flows."""

    flows: int
    us_per_segment: float
    #: Number of delivered segments per simulated second.
    segments_per_s: float
    #: CPU time to read the scenario, to build the network and to write the result. [s]
    set_up_s: float
    bytes_per_flow: float


def run_engine(case: Case, duration_s: float, size: int | None = None) -> Usage:
    """Run the engine's example program, and return its resources."""
    network = case.network
    words = [f"{network.unit}={size or network.size}"] if network.unit else []
    words += [f"{key}={value}" for key, value in network.settings.items()]
    words += [f"duration={duration_s:g} s", f"warmup={min(case.warmup_s, duration_s / 2):g} s"]
    ended = process([str(hot_spots.program("summary")), str(network.file), "1", *words])
    packets = json.loads(ended.output)["totals"][0]["packets_delivered"]["mean"]
    return Usage(ended.cpu_s, ended.peak_rss_mb, round(packets))


def run_python(case: Case, duration_s: float) -> Usage:
    """Run a Python process that calls `lh.simulate` and reads the warnings, and return its
    resources.
    """
    words = [str(case.network.file), json.dumps(settings_of(case, duration_s))]
    ended = process([sys.executable, str(HERE / "large_inside.py"), *words])
    return Usage(**json.loads(ended.output))


def run_command(case: Case, duration_s: float) -> Usage:
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


def measure(case: Case, fraction: float) -> list[CaseResult]:
    """Measure a fraction of a case's duration, with the engine's example, from Python and by the
    command. The bounds are printed before the runs.
    """
    duration_s = fraction * case.duration_s
    measured_s = duration_s - case.warmup_s
    bounds_mib = {
        "engine": engine_bytes(case.network, measured_s) / MIB,
        "Python": python_bytes(case.network, measured_s) / MIB,
        "command": command_bytes(case.network, measured_s) / MIB,
    }
    shown = ", ".join(f"{name} {mib:,.0f} MiB" for name, mib in bounds_mib.items())
    print(f"{case.name}: bounds {shown}", flush=True)
    results = []
    for name, run in (("engine", run_engine), ("Python", run_python), ("command", run_command)):
        third, full = run(case, duration_s / 3), run(case, duration_s)
        result = CaseResult(
            case.name,
            case.title,
            name,
            duration_s,
            bounds_mib[name],
            third.cpu_s,
            full.cpu_s,
            third.peak_mib,
            full.peak_mib,
            full.packets,
        )
        print(
            f"{case.name:12} {name:8}{result.third_cpu_s:8.2f} and {result.cpu_s:.2f} CPU s"
            f"{result.packets:13,} packets"
            f"{result.third_mib:9.1f} MiB in a run of a third{result.peak_mib:9.1f} MiB",
            flush=True,
        )
        results.append(result)
    return results


def slope(flows: int) -> Slope:
    """Measure a campus network with this many flows, by runs of two durations. The rate and the
    queue limit are proportional to the number of flows.
    """
    campus = CASES_RUN[0]
    settings = {"dumbbell.bottleneck": f"{flows}000000 bps", "queue": 15 * flows // 100}
    network = Network(campus.network.file, campus.network.unit, flows, settings)
    case = Case(campus.name, "", network, LONG_S, WARMUP_S)
    short, long = (run_engine(case, WARMUP_S + each) for each in (SHORT_S, LONG_S))
    segments = long.packets - short.packets
    each_s = (long.cpu_s - short.cpu_s) / segments
    per_s = segments / (LONG_S - SHORT_S)
    # `packets` excludes the warm-up, in which the rate of segments is at most `per_s`
    set_up_s = max(0.0, long.cpu_s - each_s * (long.packets + WARMUP_S * per_s))
    return Slope(flows, 1e6 * each_s, per_s, set_up_s, long.peak_mib * MIB / flows)


def million(slopes: Sequence[Slope]) -> dict[str, float]:
    """Return the estimated resources for a million flows at a terabit per second, extrapolated from
    the last two measurements.

    The CPU time per segment is extrapolated as a power of the number of flows, because the data
    already exceeds the caches. The set-up time is proportional to n log(n) for n flows, because
    flows are stored in trees. Memory is proportional to the number of flows.
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
        "set_up_s": last.set_up_s * times * log(MILLION) / log(last.flows),
        "memory_gib": last.bytes_per_flow * MILLION / GIB,
        "scenarios": MILLION / small.flows,
        "scenario_cpu_s_per_s": small.us_per_segment * small.segments_per_s / 1e6,
        "scenario_set_up_s": small.set_up_s,
        "scenario_memory_gib": small.bytes_per_flow * small.flows / GIB,
    }


def run_and_check(*, quick: bool, only: Sequence[str] = ()) -> int:
    """Run all cases, and return 1 if a bound is exceeded. With `quick`, nothing is checked, because
    set-up dominates a run of a tenth of the duration.
    """
    messages = main(quick=quick, only=only)
    missed = [] if quick else messages
    for line in missed:
        print(f"missed: {line}")
    return int(bool(missed))


def main(*, quick: bool, only: Sequence[str] = ()) -> list[str]:
    """Run all cases, and return a message for each exceeded bound. Results are written after each
    case, unless `quick` is true.
    """
    fraction = 0.1 if quick else 1.0
    results, slopes = stored()
    missed = []
    for case in CASES_RUN:
        if only and case.name not in only:
            continue
        new = measure(case, fraction)
        missed += [line for result in new for line in result.missed()]
        results = [each for each in results if each.name != case.name] + new
        if not quick:
            save(results, slopes)
    if not only or "million" in only:
        slopes = []
        for flows in FLOWS:
            slopes.append(slope(flows // 10 if quick else flows))
            print(slopes[-1], flush=True)
            if not quick:
                save(results, slopes)
        print(million(slopes))
    return missed


def stored() -> tuple[list[CaseResult], list[Slope]]:
    """Return the stored measurements."""
    content = json.loads(OUT.read_text()) if OUT.exists() else {}
    runs, slopes = content.get("runs", []), content.get("slopes", [])
    return [CaseResult(**each) for each in runs], [Slope(**each) for each in slopes]


def save(results: Sequence[CaseResult], slopes: Sequence[Slope]) -> None:
    """Write the measurements."""
    OUT.parent.mkdir(exist_ok=True)
    content = {
        "runs": [asdict(each) for each in results],
        "slopes": [asdict(each) for each in slopes],
    }
    OUT.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(
        description="Measure long runs and large networks, and compare their memory with computed "
        "bounds."
    )
    parser.add_argument(
        "--quick", action="store_true", help="Simulate a tenth of each duration; check nothing."
    )
    names = [case.name for case in CASES_RUN]
    parser.add_argument(
        "--only",
        action="append",
        choices=[*names, "million"],
        default=[],
        help="Run only this case; can be repeated.",
    )
    parser.add_argument(
        "--page", action="store_true", help="Write the tables of bench/README.md; measure nothing."
    )
    options = parser.parse_args()
    try:
        if options.page:
            import large_page

            large_page.main()
        else:
            sys.exit(run_and_check(quick=options.quick, only=options.only))
    except BenchError as problem:
        print(f"error: {problem}", file=sys.stderr)
        sys.exit(2)

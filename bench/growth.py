"""Measure the CPU time per segment as a network grows, in lasthop and in other simulators.

    make bench ONLY=growth                               90 minutes: keep the machine quiet
    .venv/bin/python bench/growth.py --quick             each point once, with short runs
    .venv/bin/python bench/growth.py --axis flows        one axis; other results remain
    .venv/bin/python bench/growth.py --page              table in bench/README.md, and the picture

Four values are increased: the number of flows through a router, the round-trip time, the number of
stations, and the number of flows in a cell. A point is a network with one of these values. The
other simulators (peers) are minimal programs, htsim, ns-2 and ns-3. The CPU time per segment is the
slope between a short and a long run. Both runs contain the start phase, in which flows begin and
windows grow, so its cost cancels. Rounds of all simulators alternate, and the median is used. A
peer has ten CPU minutes per point. If the previous points predict a longer time, the point is
skipped, and the table shows the predicted time.
"""

import argparse
import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Literal

import lean
import ours
from measure import BenchError, Run, Stopped, limited, process, require_release_build
from peers import (
    HTSIM,
    NS3_CELL,
    NS3_DUMBBELL,
    htsim_absent,
    install_htsim,
    install_ns2,
    install_ns3,
)

HERE = Path(__file__).parent
OUT = HERE / "out" / "growth.json"
BUDGET_S, QUICK_BUDGET_S = 600.0, 20.0
"""Limit of the CPU time of another simulator (peer) per point, without and with `--quick`. [s]"""
MAX_GB = 8.0
ROUNDS = 3
NS3_LEAST_RTO_MS = 5000
"""Minimum RTO of ns-3 in larger cells: twice the queueing delay of a full queue. With 200 ms,
repeated spurious timeouts would send each segment several times (bench/README.md). [ms]
"""
SAME = 0.05
"""The table shows the relative difference of a simulator's throughput from lasthop's only if the
difference is above this value. [-]"""

Axis = Literal["flows", "rtt", "stations", "connections"]
AXES: tuple[Axis, ...] = ("flows", "rtt", "stations", "connections")


@dataclass(frozen=True)
class Point:
    """A network in which one value (the axis) is increased to `size`."""

    axis: Axis
    size: int
    flows: int
    rtt_ms: int = 10
    stations: int = 0

    @property
    def is_larger_cell(self) -> bool:
        """Whether the network is a cell with more than seven downloads."""
        return self.stations > 0 and self.flows > 7

    @property
    def limit(self) -> int:
        """Return the queue limit: in a router 15 packets at 100 Mb/s, and in proportion at other
        rates; in a larger cell 1000 packets. [packets]
        """
        if self.stations:
            return 1000 if self.is_larger_cell else 100
        return 15 * self.flows // 60

    @property
    def file(self) -> Path:
        """Return the scenario file. `settings` replace settings of this file."""
        return HERE / "cases" / ("seven.toml" if self.stations else "dumbbell.toml")

    @property
    def segments_per_s(self) -> float:
        """Return the expected number of segments per second through the router's link, or through
        the 802.11b cell. [1/s]
        """
        return 380.0 if self.stations else self.flows * 100e6 / 60 / 12000

    def lengths_s(self, segments: float, least: float) -> tuple[float, float]:
        """Return the durations of a short and a long run. The long run has `segments` more
        segments. The difference of the durations is at least `least` times the short duration,
        because noise in the short run affects the slope.
        """
        if self.stations:
            short_s = 100.0 if self.flows <= 1000 else 200.0
        else:
            short_s = max(5.0, self.rtt_ms / 20)
        return short_s, short_s + max(segments / self.segments_per_s, least * short_s)

    def settings(self, warmup_s: float) -> Mapping[str, object]:
        """Return the settings that replace settings of cases/seven.toml or cases/dumbbell.toml."""
        common: dict[str, object] = {"warmup": f"{warmup_s:g} s", "replications": 1}
        if self.stations:
            cell = {"station.laptop.count": self.stations, "cell.ap_queue": self.limit}
            return common | cell | {"station.laptop.download": self.flows // self.stations}
        router = {"dumbbell.flows": self.flows, "dumbbell.rtt": f"{self.rtt_ms} ms"}
        rate = f"{round(self.flows * 1e8 / 60)} bps"
        return common | router | {"dumbbell.bottleneck": rate, "queue": self.limit}


POINTS = (
    *(Point("flows", flows, flows) for flows in (60, 600, 6_000, 60_000)),
    *(Point("rtt", rtt_ms, 60, rtt_ms) for rtt_ms in (10, 20, 50, 100, 200, 500)),
    *(Point("stations", count, count, stations=count) for count in (7, 70, 1000)),
    *(Point("connections", 7 * each, 7 * each, stations=7) for each in (1, 100, 1429)),
)


@dataclass(frozen=True)
class Simulator:
    """A simulator, with a function that returns its command for a network. The function returns
    None if the simulator does not support the network.
    """

    name: str
    router_segments: float
    """Number of segments by which the long run exceeds the short run, for a router."""
    cell_segments: float
    """Number of segments by which the long run exceeds the short run, for a cell."""
    #: Whether the CPU time per point is limited.
    budgeted: bool
    command: Callable[[Point, list[str]], Sequence[str] | None]

    def runs(
        self, point: Point, lengths_s: tuple[float, float], budget_s: float
    ) -> tuple[Run, Run]:
        """Return a short and a long run. Runs of a peer are aborted at its limit of CPU time."""
        short_s, long_s = lengths_s
        if self.name == "lasthop":
            three_s = [short_s, short_s, long_s]
            _, short, long = ours.worker(point.file, point.settings(short_s / 2), three_s)
            return short, long
        short = self.run(point, short_s, short_s / 2, budget_s)
        return short, self.run(point, long_s, short_s / 2, budget_s - short.cpu_s)

    def run(self, point: Point, duration_s: float, warmup_s: float, budget_s: float) -> Run:
        """Run one process."""
        argv = self.command(point, [f"{duration_s:g}", f"{warmup_s:g}", "1"])
        assert argv is not None
        ended = process(limited(argv, max(1.0, budget_s), MAX_GB) if self.budgeted else argv)
        for line in ended.output.splitlines():
            if line.startswith("delivered "):
                segments = int(line.split()[2])
                return Run(ended.cpu_s, segments, duration_s - warmup_s, ended.peak_rss_mb)
        raise BenchError(f"`{' '.join(argv)}` printed no line `delivered ...`")


def lean_command(how: str) -> Callable[[Point, list[str]], Sequence[str] | None]:
    """Return a function that returns the command of a minimal program. There is no minimal program
    of a cell with one event per hop.
    """

    def command(point: Point, numbers: list[str]) -> Sequence[str] | None:
        if not point.stations:
            return lean.router(how, point.flows, point.rtt_ms, point.limit, *numbers)
        sizes = (point.stations, point.flows // point.stations, point.limit)
        return [str(lean.CELL), *numbers, *map(str, sizes)] if how == "once" else None

    return command


def htsim(point: Point, numbers: list[str]) -> Sequence[str] | None:
    """Return the command of htsim; None for a cell, because htsim has no 802.11."""
    if point.stations:
        return None
    return [str(HTSIM), *numbers, *map(str, (point.flows, point.rtt_ms, point.limit)), "bare"]


def ns2(point: Point, numbers: list[str]) -> Sequence[str]:
    """Return the command of the installed ns-2."""
    if point.stations:
        sizes = (point.stations, point.flows // point.stations, point.limit)
        return ["ns", str(HERE / "peers/cell.tcl"), *numbers, "default", *map(str, sizes)]
    words = [str(point.rtt_ms), "droptail", "bare", str(point.flows), str(point.limit)]
    return ["ns", str(HERE / "peers/dumbbell.tcl"), *numbers, *words]


def ns3(point: Point, numbers: list[str]) -> Sequence[str]:
    """Return the command of ns-3, which is a release build."""
    if point.stations:
        each = point.flows // point.stations
        sizes = [f"--stations={point.stations}", f"--flows={each}", f"--queue={point.limit}"]
        if point.is_larger_cell:
            sizes.append(f"--minRto={NS3_LEAST_RTO_MS}")
        return [str(NS3_CELL), *numbers, *sizes]
    sizes = [f"--rtt={point.rtt_ms}", f"--flows={point.flows}", f"--limit={point.limit}"]
    return [str(NS3_DUMBBELL), *numbers, *sizes, "--queue=droptail"]


SIMULATORS = (
    Simulator("lasthop", 3e6, 1e6, False, lambda *_: ()),
    Simulator("lean", 3e6, 1e6, False, lean_command("once")),
    Simulator("hops", 3e6, 1e6, False, lean_command("hops")),
    Simulator("htsim", 2e6, 0, True, htsim),
    Simulator("ns-2", 4e6, 1e5, True, ns2),
    Simulator("ns-3", 1e5, 1e4, True, ns3),
)


@dataclass(frozen=True)
class Entry:
    """Result of a simulator for a network: the CPU time per segment, or the reason why it is
    missing.
    """

    axis: Axis
    size: int
    simulator: str
    rounds: int
    us_per_segment: float | None
    #: Median CPU time of a round. [s]
    round_s: float
    segments_per_s: float
    peak_rss_mb: float
    why: str = ""


def estimate_s(before: Sequence[Entry], segments: Sequence[float], size: int) -> float:
    """Return the estimated CPU time of a round at the next point. [s]

    The estimate uses the CPU times of rounds at the previous points. `segments` are the numbers of
    segments at these points and at the next point. The CPU time per segment is that of a whole
    round, including the short run. If this time has increased from the second last to the last
    point, it is extrapolated as a power of the axis value.
    """
    if not before:
        return 0.0
    costs_s = [entry.round_s / number for entry, number in zip(before, segments, strict=False)]
    last_s = costs_s[-1] * segments[-1]
    if len(before) == 1:
        return last_s
    power = math.log(costs_s[-1] / costs_s[-2]) / math.log(before[-1].size / before[-2].size)
    return last_s * math.pow(size / before[-1].size, max(0.0, power))


def measured(simulator: Simulator, point: Point, rounds: Sequence[tuple[Run, Run]]) -> Entry:
    """Return the result of a simulator: the medians over the rounds."""
    short, long = rounds[-1]
    segments = long.segments - short.segments
    if segments <= 0:
        raise BenchError(f"{simulator.name}, {point}: a longer run delivers no more")
    return Entry(
        point.axis,
        point.size,
        simulator.name,
        len(rounds),
        median(b.cpu_s - a.cpu_s for a, b in rounds) / segments * 1e6,
        median(a.cpu_s + b.cpu_s for a, b in rounds),
        segments / (long.measured_s - short.measured_s),
        long.peak_rss_mb,
    )


def main(*, quick: bool, axes: Sequence[Axis] = AXES) -> None:
    """Measure all points of these axes. The file of results is written after each point."""
    install_ns2()
    install_ns3()
    lean.install()
    skipped = htsim_absent()
    if skipped is None:
        install_htsim()
    else:
        print(skipped)
    simulators = [each for each in SIMULATORS if each.name != "htsim" or skipped is None]
    entries = [entry for entry in stored() if entry.axis not in axes]
    for axis in axes:
        entries += along(axis, simulators, quick=quick, keep=entries)


def along(
    axis: Axis, simulators: Sequence[Simulator], *, quick: bool, keep: Sequence[Entry]
) -> list[Entry]:
    """Measure the points of an axis, the smallest first."""
    budget_s = QUICK_BUDGET_S if quick else BUDGET_S
    done: list[Entry] = []
    sizes: dict[str, list[float]] = {simulator.name: [] for simulator in simulators}
    for point in (point for point in POINTS if point.axis == axis):
        results: dict[str, list[tuple[Run, Run]]] = {simulator.name: [] for simulator in simulators}
        why: dict[str, str] = {}
        wanted: dict[str, float] = {}
        for number in range(1 if quick else ROUNDS):
            for simulator in simulators:
                if simulator.name in why or simulator.command(point, []) is None:
                    continue
                segments = simulator.cell_segments if point.stations else simulator.router_segments
                lengths_s = point.lengths_s(segments * (0.1 if quick else 1), 0.1 if quick else 1)
                wanted[simulator.name] = sum(lengths_s) * point.segments_per_s
                before = [entry for entry in done if entry.simulator == simulator.name]
                load = [*sizes[simulator.name], wanted[simulator.name]]
                if stopped := reason(simulator, before, load, point.size, budget_s):
                    why[simulator.name] = stopped
                    continue
                spent_s = sum(a.cpu_s + b.cpu_s for a, b in results[simulator.name])
                if simulator.budgeted and number and spent_s * (number + 1) / number > budget_s:
                    continue
                try:
                    results[simulator.name].append(simulator.runs(point, lengths_s, budget_s))
                except Stopped:
                    why[simulator.name] = f"over {budget_s / 60:.2g} min"
                except BenchError as error:
                    why[simulator.name] = f"failed: {str(error).splitlines()[-1][:60]}"
        for simulator in simulators:
            if results[simulator.name]:
                done.append(measured(simulator, point, results[simulator.name]))
                sizes[simulator.name].append(wanted[simulator.name])
            elif simulator.name in why:
                done.append(
                    Entry(axis, point.size, simulator.name, 0, None, 0, 0, 0, why[simulator.name])
                )
            else:
                continue
            print(line(done[-1], done), flush=True)
        OUT.parent.mkdir(exist_ok=True)
        OUT.write_text(json.dumps([asdict(each) for each in (*keep, *done)], indent=1) + "\n")
    return done


def reason(
    simulator: Simulator,
    before: Sequence[Entry],
    segments: Sequence[float],
    size: int,
    budget_s: float,
) -> str | None:
    """Return why a simulator is skipped at a point; None if it is not skipped."""
    if not simulator.budgeted:
        return None
    if before and before[-1].us_per_segment is None:
        return "stopped before"
    needs_s = estimate_s(before, segments, size)
    return f"would take {short(needs_s / 60)} min" if needs_s > budget_s else None


def short(value: float) -> str:
    """Return a number with three significant digits as text. Digits before the decimal point are
    never rounded.
    """
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def line(entry: Entry, done: Sequence[Entry]) -> str:
    """Return the line that is printed for a result."""
    name = f"{entry.axis:12}{entry.size:7}  {entry.simulator:8}"
    if entry.us_per_segment is None:
        return f"{name} {entry.why}"
    apart = throughput_apart(entry, done)
    other = f"  throughput {apart:+.0%}" if abs(apart) > SAME else ""
    return (
        f"{name}{entry.us_per_segment:10.3f} us/segment{entry.round_s:8.1f} s a round"
        f"{entry.peak_rss_mb:8.0f} MB{other}"
    )


def throughput_apart(entry: Entry, entries: Sequence[Entry]) -> float:
    """Return the relative difference of a simulator's throughput from lasthop's in the same
    network. [-]
    """
    for mine in entries:
        if (mine.axis, mine.size, mine.simulator) == (entry.axis, entry.size, "lasthop"):
            return entry.segments_per_s / mine.segments_per_s - 1
    return 0.0


def stored() -> list[Entry]:
    """Return the stored results."""
    return [Entry(**each) for each in json.loads(OUT.read_text())] if OUT.exists() else []


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="Measure the cost per segment as networks grow.")
    parser.add_argument(
        "--quick",
        action="store_true",
        help="Run each point once; give each other simulator 20 s per point.",
    )
    parser.add_argument(
        "--axis", action="append", choices=AXES, help="Measure only this axis; can be repeated."
    )
    parser.add_argument(
        "--page", action="store_true", help="Write the table and the picture; measure nothing."
    )
    options = parser.parse_args()
    if options.page:
        import growth_page

        growth_page.main()
    else:
        try:
            main(quick=options.quick, axes=options.axis or AXES)
        except BenchError as problem:
            print(f"error: {problem}", file=sys.stderr)
            sys.exit(2)

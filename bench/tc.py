"""The gateway compared with queues of plain `tc`, with the kernel's TCP over one shared channel.

    make bench ONLY=tc                                  everything, some hours of CPU time
    .venv/bin/python bench/run.py --only tc --quick     one round-trip time, one short run
    .venv/bin/python bench/tc.py --quick lasthop CAKE   only these

Every run is a separate user-mode Linux in simulated time (`uml.py`). A run has a hot-spot
(`tc_network.py`), one of the compared queues at the router (a contender, `tc_contenders.py`), and
traffic (`tc_traffic.py`). The script writes all runs to out/tc.json, and the picture to out/tc.png.
"""

import argparse
import json
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from statistics import mean
from typing import Any, TypeVar

import uml
from measure import BenchError, require_release_build
from tc_contenders import CONTENDERS, Measured

from lasthop.emulated.emulation import SIMULATED
from lasthop.uml.kernel import Kernel, find_kernel

HERE = Path(__file__).parent
INSIDE = HERE / "tc_inside.py"
OUT = HERE / "out"

RTTS_S: Mapping[str, tuple[float, ...]] = {
    "12 downloads": (0.005, 0.020, 0.100),
    "12 uploads": (0.005, 0.020, 0.100),
    "12 downloads, slower air": (0.020,),
}
"""Kinds of traffic, each with the round-trip times of the Internet in its runs. [s]"""
SPEED_TEST, TYPICAL_S = "speed test", 0.020
RUNS = 5
MEMORY_MB = 1024

Table = dict[str, Any]
Key = TypeVar("Key")


@dataclass(frozen=True)
class Length:
    """Warm-up and measured time of a run. [s]"""

    warm_up_s: float
    measured_s: float


FULL, QUICK = Length(30.0, 20.0), Length(10.0, 10.0)


@dataclass(frozen=True)
class Case:
    """Parameters of a run. Every contender (compared queue) is run with the same combinations of
    traffic, round-trip time and seed."""

    traffic: str
    rtt_s: float
    contender: str
    seed: int


@dataclass(frozen=True)
class Run:
    """A run with its observations."""

    case: Case
    seen: Table

    @property
    def goodput_bps(self) -> float:
        """Return the total goodput of both stations with bulk traffic. [bit/s]"""
        return float(sum(self.seen["bulk"].values()))

    @property
    def light_bps(self) -> float:
        """Return the goodput of the station that has one connection. [bit/s]"""
        return float(self.seen["bulk"]["light"])

    @property
    def jain(self) -> float:
        """Return Jain's index of the two stations with bulk traffic. [-]"""
        values = list(self.seen["bulk"].values())
        return float(sum(values) ** 2 / (len(values) * sum(value**2 for value in values)))

    def added(self, probe: str, station: str, which: str) -> float:
        """Return a round-trip time (`which`: median or p95) to a station minus the round-trip time
        of the Internet; infinite if no reply arrived. [s]"""
        rtt_s = self.seen[probe][station][f"rtt_{which}_s"]
        return math.inf if rtt_s is None else float(rtt_s) - self.case.rtt_s

    @property
    def call_p95_s(self) -> float:
        """Return the 95th percentile of a call's delay minus the delay of the Internet, in the
        direction with the larger delay. [s]"""
        ways = [self.seen["call"][f"{way}_delay_p95_s"] for way in ("down", "up")]
        return math.inf if None in ways else float(max(ways)) - self.case.rtt_s / 2

    @property
    def call_loss(self) -> float:
        """Return the loss fraction of a call, in the direction with the larger loss. [-]"""
        return float(max(self.seen["call"][f"{way}_loss"] for way in ("down", "up")))

    @property
    def page_s(self) -> float:
        """Return the median load time of a page. [s]"""
        load_s = self.seen["page"]["load_median_s"]
        return math.inf if load_s is None else float(load_s)


@dataclass(frozen=True)
class Column:
    """A quantity of the table and of the picture."""

    head: str
    label: str
    value: Callable[[Run], float]
    digits: int
    """Number of decimals in the table."""


def added_ms(station: str, which: str) -> Callable[[Run], float]:
    """Return a function that computes the UDP round-trip time to a station minus that of the
    Internet. [ms]"""
    return lambda run: 1e3 * run.added("echo", station, which)


COLUMNS = (
    Column("total", "goodput of both [Mbit/s]", lambda run: run.goodput_bps / 1e6, 1),
    Column("light", "the one connection\n[Mbit/s]", lambda run: run.light_bps / 1e6, 1),
    Column("Jain", "Jain's index of the two [-]", lambda run: run.jain, 2),
    Column("idle", "round trip added,\nidle station, median [ms]", added_ms("idle", "median"), 0),
    Column("p95", "round trip added,\nidle station, 95 % [ms]", added_ms("idle", "p95"), 0),
    Column(
        "own", "round trip added, beside\nown download, median [ms]", added_ms("light", "median"), 0
    ),
    Column("p95", "round trip added, beside\nown download, 95 % [ms]", added_ms("light", "p95"), 0),
    Column("call", "delay of a call added,\n95 % [ms]", lambda run: 1e3 * run.call_p95_s, 0),
    Column("loss", "call, lost [%]", lambda run: 100 * run.call_loss, 1),
    Column("page", "load time of a page\n[s]", lambda run: run.page_s, 2),
)
DRAWN = (1, 3, 5, 7, 9)
"""Indices of the columns that the picture shows."""


def main(
    *, quick: bool, contenders: Sequence[str] = tuple(CONTENDERS), again: bool = False
) -> list[str]:
    """Run all cases, print the table, and write out/tc.json and out/tc.png.

    Stored runs with the same kernel and the same length are not repeated. With `again`, the runs of
    `contenders` are repeated.
    """
    if (reason := uml.missing()) is not None:
        print(f"tc: left out: {reason}")
        return []
    kernel = find_kernel()
    length = QUICK if quick else FULL
    began = time.monotonic()
    records = OUT / ("tc-quick.json" if quick else "tc.json")
    runs, air = finished(records, kernel, length)
    if again:
        runs = [run for run in runs if run.case.contender not in contenders]
    air = air or speed_test(length)
    done = {run.case for run in runs}
    cases = [case for case in plan(contenders, quick=quick) if case not in done]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for run in pool.map(lambda case: carry_out(case, length, air), cases):
            runs.append(run)
            write(records, kernel, length, air, runs)
    order = list(plan(tuple(CONTENDERS), quick=quick))
    runs.sort(key=lambda run: order.index(run.case))
    head(kernel, length, air, len(runs), time.monotonic() - began)
    table(runs)
    print(f"\nrecords: {records.relative_to(HERE.parent)}")
    if runs:
        from tc_picture import figure

        figure([COLUMNS[k] for k in DRAWN], runs).savefig(OUT / "tc.png")
        print(f"picture: {(OUT / 'tc.png').relative_to(HERE.parent)}")
    return []


def finished(records: Path, kernel: Kernel, length: Length) -> tuple[list[Run], Measured | None]:
    """Return the stored runs with this kernel and length, and the result of the speed test from
    which the rates of these runs were computed. The result of the speed test is None if no such
    runs are stored."""
    try:
        content = json.loads(records.read_text())
    except FileNotFoundError:
        return [], None
    if (content["kernel"], content["length"]) != (described(kernel), asdict(length)):
        return [], None
    names = [field.name for field in fields(Case)]
    runs = [Run(Case(*(run[name] for name in names)), run["seen"]) for run in content["runs"]]
    return runs, Measured(**content["air"])


def described(kernel: Kernel) -> Table:
    """Return the description of a kernel, as it is stored with the runs."""
    return {"version": kernel.version, "time": SIMULATED}


def plan(contenders: Sequence[str], *, quick: bool) -> Iterator[Case]:
    """Yield all cases. Cases that differ only in the contender are consecutive."""
    for seed in range(1, 2 if quick else RUNS + 1):
        for traffic, rtts_s in RTTS_S.items():
            for rtt_s in (TYPICAL_S,) if quick else rtts_s:
                for contender in contenders:
                    yield Case(traffic, rtt_s, contender, seed)


def speed_test(length: Length) -> Measured:
    """Measure the rates of the air without a queue at the router. The rates of the contenders are
    computed from them."""
    unknown = Measured(0, 0, 0)
    case = Case(SPEED_TEST, TYPICAL_S, "nothing", 1)
    seen = carry_out(case, length, unknown).seen
    return Measured(seen["bulk"]["light"], seen["air_all"]["bps"], seen["air_down"]["bps"])


def carry_out(case: Case, length: Length, air: Measured) -> Run:
    """Run a case in user-mode Linux. Raises `BenchError`."""
    settings = json.dumps(asdict(case) | asdict(length) | {"air": asdict(air)})
    try:
        seen = uml.answer(INSIDE, settings, memory_mb=MEMORY_MB)
    except uml.UmlError as error:
        raise BenchError(f"{case}: {error}") from None
    return Run(case, seen)


def head(
    kernel: Kernel,
    length: Length,
    air: Measured,
    runs: int,
    took_s: float,
) -> None:
    """Print the kernel, the length and the number of the runs, and the load of the air."""
    print(
        f"\nthe gateway beside plain tc: Linux {kernel.version} in user mode, in {SIMULATED} time"
    )
    print(
        f"  one download: {air.goodput_bps / 1e6:.1f} Mbit/s, the air carries"
        f" {air.carried_bps / 1e6:.1f}; runs of {length.warm_up_s:g} + {length.measured_s:g} s"
    )
    print(f"  {runs} runs; the host was busy for {took_s / 60:.0f} min")
    print("  goodput [Mbit/s] of both stations and of the one with one connection, Jain's index;")
    print("  what UDP round trips take beyond the Internet's [ms], median and 95 %, of an idle")
    print("  station and of the one with the download; a call's delay one way, 95 %, beyond the")
    print(
        "  Internet's [ms], and loss [%]; a page [s]. Means of the runs, in brackets their range."
    )


def table(runs: Sequence[Run]) -> None:
    """Print the table of means over the runs of each case."""
    for (traffic, rtt_s), of_case in grouped(runs, lambda r: (r.case.traffic, r.case.rtt_s)):
        print(f"\n{traffic}, against one download, {1e3 * rtt_s:g} ms")
        print(f"  {'':18}" + "".join(f"{column.head:>17}" for column in COLUMNS) + f"{'runs':>6}")
        for contender, same in grouped(of_case, lambda r: r.case.contender):
            cells = [spread([column.value(r) for r in same], column.digits) for column in COLUMNS]
            print(f"  {contender:18}" + "".join(f"{c:>17}" for c in cells) + f"{len(same):6}")


def spread(values: Sequence[float], digits: int) -> str:
    """Return the mean of the values as text, with the smallest and the largest value if there are
    several."""
    middle = f"{mean(values):.{digits}f}"
    if len(values) == 1:
        return middle
    return f"{middle} ({min(values):.{digits}f}-{max(values):.{digits}f})"


def grouped(runs: Sequence[Run], key: Callable[[Run], Key]) -> Iterator[tuple[Key, list[Run]]]:
    """Yield the runs grouped by their keys, in the order in which the keys first occur."""
    groups: dict[Key, list[Run]] = {}
    for run in runs:
        groups.setdefault(key(run), []).append(run)
    yield from groups.items()


def write(
    records: Path, kernel: Kernel, length: Length, air: Measured, runs: Sequence[Run]
) -> None:
    """Write all runs to out/tc.json."""
    OUT.mkdir(exist_ok=True)
    content: Mapping[str, object] = {
        "kernel": described(kernel),
        "length": asdict(length),
        "air": asdict(air),
        "runs": [asdict(run.case) | {"seen": run.seen} for run in runs],
    }
    records.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    require_release_build()
    parser = argparse.ArgumentParser(description="compare the gateway with queues of plain tc")
    parser.add_argument("--quick", action="store_true", help="one round-trip time, one short run")
    parser.add_argument("--again", action="store_true", help="run what is in out/tc.json once more")
    names = ", ".join(CONTENDERS).replace("%", "%%")
    parser.add_argument("contender", nargs="*", help=f"one of {names}; all")
    options = parser.parse_args()
    unknown = [name for name in options.contender if name not in CONTENDERS]
    if unknown:
        parser.error(f"{unknown[0]!r} is none of {', '.join(CONTENDERS)}")
    chosen = options.contender or tuple(CONTENDERS)
    main(quick=options.quick, contenders=chosen, again=options.again)

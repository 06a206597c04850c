"""Write the page and the picture of `emulations.py`: docs/reference/emulation-measured.md."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import emulations
from emulations import Case
from emulations_aggregates_page import LATE, of_aggregate_loads, of_aggregates
from emulations_values import (
    Reader,
    Simulated,
    cell_quantity,
    estimate,
    goodput,
    interval_text,
    lateness_text,
    link_mean,
    queue,
    scaled,
)
from equivalence import Agreement, Difference
from matplotlib.axes import Axes
from pages import table
from runs import Table, kept, machine

import lasthop as lh
from lasthop.errors import ConvergenceError
from lasthop.plot.figure import EMULATION, MODEL, SIMULATION, Figure, house_style, title
from lasthop.studies.vbs import cell, fig08

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference/emulation-measured.md"
IMAGE = DOCS / "images/testbed.png"
ACCEPTED = {"utilisation": 0.03, "queue": 0.15, "drops": 0.2}
"""Largest relative differences between emulated and simulated values at which both are called
equal. The limits were set before the first run. [-]
"""


def write() -> None:
    """Write the page with the tables of stored runs. Sections of suites without runs are not
    changed.
    """
    done, simulated = emulations.RUNS.known(), Simulated()
    before = PAGE.read_text().split(SECTION)
    parts = (part.strip() for part in page(before, done, simulated))
    PAGE.write_text(f"\n\n{SECTION}".join(parts) + "\n")
    if ran("devices", done) and ran("classes", done):
        picture(done, simulated).savefig(IMAGE)


def ran(suite: str, done: Mapping[str, Table]) -> bool:
    """Return whether every scenario of a suite has a stored run."""
    return all(case.key(1) in done for case in emulations.SUITES[suite]())


def predicted(case: Case) -> Table | None:
    """Return the prediction of the fixed-point model for a scenario; None if the model has no
    solution.
    """
    try:
        return kept(lh.predict(dict(case.tree)).summary, emulations.LISTS)
    except ConvergenceError:
        return None


# -- the page -----------------------------------------------------------------------------------


def page(before: Sequence[str], done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Yield the introduction and the sections of the page. `before` is the old page, from which
    sections without runs are copied.
    """
    yield HEAD.format(machine=machine())
    for number, (suite, section) in enumerate(SECTIONS.items(), start=1):
        if ran(suite, done):
            yield "\n".join(section(done, simulated))
        elif number < len(before):
            yield before[number]


SECTION = "## "
"""Beginning of the title line of a section."""


VARIANTS = {
    "plain": "as in the paper",
    "errors": f"channel error probability {fig08.ERROR}",
    "window": f"receive window of {fig08.SMALL_WINDOW} packets",
}
"""Variants of figure 8 of paper 000, with their names in the table."""


def heads(name: str, *kinds: str) -> list[str]:
    """Return the titles of a quantity's columns. Only the first column has the unit."""
    short = name.split(" [")[0]
    return [f"{name if kind == kinds[0] else short}: {kind}" for kind in kinds]


def of_devices(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Yield the table of figure 8 of paper 000."""
    yield from DEVICES.splitlines()
    cases = list(emulations.devices())
    columns = (
        ("goodput of all devices [Mb/s]", cell_quantity("goodput_bps", 1e6), 3),
        ("Jain's index", cell_quantity("jain"), 4),
        ("queue length [packets]", queue, 1),
    )
    head = ["variant", "devices"]
    for name, *_ in columns:
        head += heads(name, "model", "simulation", "emulation")

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            variant, count = case.name.split("-")
            runs, _ = emulations.seen_of(case, done)
            model = predicted(case)
            row = [VARIANTS[variant], count]
            for _, read, digits in columns:
                row.append("no solution" if model is None else f"{read(model):.{digits}f}")
                row.append(interval_text(estimate(read, simulated.replications(case)), digits))
                row.append(interval_text(estimate(read, runs), digits))
            yield row

    yield from table(head, rows())
    yield ""
    yield lateness_text(cases, done)


def of_classes(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Yield the table of figures 11, 14 and 15 of paper 000."""
    yield from CLASSES.splitlines()
    cases = list(emulations.classes())
    columns = (
        ("goodput of class 1 [Mb/s]", goodput("high"), 2),
        ("goodput of class 2 [Mb/s]", goodput("low"), 2),
        ("queue length [packets]", queue, 1),
    )
    head = ["queue", "p_w of class 2"]
    for name, *_ in columns:
        head += heads(name, "simulation", "emulation")

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            law, error = case.name.split("-")
            runs, _ = emulations.seen_of(case, done)
            row = [cell.WORDS[law], error.replace("_", ".")]
            for _, read, digits in columns:
                row.append(interval_text(estimate(read, simulated.replications(case)), digits))
                row.append(interval_text(estimate(read, runs), digits))
            yield row

    yield from table(head, rows())
    yield ""
    yield lateness_text(cases, done)


WIRES: Mapping[str, tuple[Reader, float, int]] = {
    "utilisation": (link_mean("links", "utilisation"), 0.01, 1),
    "queue": (link_mean("queues", "occupancy_packets"), 1.0, 1),
    "drops": (link_mean("queues", "drop_probability"), 0.01, 2),
}


NAMES = (
    (r"dumbbell of (\d+), (\d+ Mbit/s)", r"dumbbell: \1 flows, \2"),
    (r"parking lot of (\d+), (\d+ Mbit/s)", r"parking lot: \1 hops, \2"),
    (r"802.11g, (\d+) stations with", r"802.11g: \1 stations, each with"),
    (r"(\d+ ms), (\d+), ", r"RTT \1, drop-tail with \2 packets, "),
    (r"(\d+ ms), codel, ", r"RTT \1, CoDel, "),
    (r"(\d+ ms), red, ", r"RTT \1, RED, "),
    (r", delayed$", ", delayed ACKs"),
    (r", each$", ", an ACK per segment"),
)
"""Patterns of scenario names, and their text on the page."""


def words(name: str) -> str:
    """Return the name of a scenario on the page. `name` is the key of the stored runs."""
    for pattern, shown_as in NAMES:
        name = re.sub(pattern, shown_as, name)
    return name


def of_wires(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Yield the table of dumbbells and parking lots."""
    yield from BOTTLENECKS.splitlines()
    cases = list(emulations.wires())
    head = ["network"]
    for name in ("utilisation [%]", "queue length [packets]", "drops [%]"):
        head += heads(name, "simulation", "emulation")
    head += ["difference above the limit"]

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            runs, _ = emulations.seen_of(case, done)
            row, outside = [words(case.name)], []
            for name, (read, unit, digits) in WIRES.items():
                both = [estimate(read, seen) for seen in (simulated.replications(case), runs)]
                row += [interval_text(scaled(value, unit), digits) for value in both]
                first, second = both
                if first is not None and second is not None:
                    difference = Difference.of(first, second, ACCEPTED[name])
                    if difference.agreement is not Agreement.EQUAL:
                        outside.append(f"{name} {difference.words}")
            yield [*row, ", ".join(outside)]

    yield from table(head, rows())
    yield ""
    yield lateness_text(cases, done)


def of_loads(done: Mapping[str, Table], _: Simulated) -> Iterator[str]:
    """Yield the table of loads that two processor cores can process."""
    yield from LOADS.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in emulations.loads():
            seen = done.get(case.key(1))
            if seen is not None:
                run = seen["totals"]["run"]
                late_ms = 1e3 * run["lateness_p99_s"]
                every = seen["cells"] or seen["classes"]
                mbps = sum(flow["goodput_bps"] for flow in every.values()) / 1e6
                waited = 100 * emulations.wait(seen)
                pps = run["carried_pps"]
                name = words(case.name)
                yield name, f"{mbps:.1f}", f"{pps:,.0f}", f"{late_ms:.2f}", f"{waited:.0f}"

    head = ("network or cell", "goodput [Mb/s]", "packets/s", *LATE)
    yield from table(head, rows())
    yield ""
    yield "(aggregating-cells-beside-their-simulation)="


SECTIONS: Mapping[str, Callable[[Mapping[str, Table], Simulated], Iterator[str]]] = {
    "devices": of_devices,
    "classes": of_classes,
    "wires": of_wires,
    "loads": of_loads,
    "aggregates": of_aggregates,
    "aggregate loads": of_aggregate_loads,
}
"""Functions that write the sections of the page, by suite."""


# -- the picture --------------------------------------------------------------------------------


def picture(done: Mapping[str, Table], simulated: Simulated) -> Figure:
    """Draw figure 8 of paper 000, with figures 11 and 15 below it."""
    with house_style(200.0, columns=2) as drawn:
        axes = drawn.subplots(4, 3, sharey="row")
        for column, (variant, word) in zip(axes.T, fig08.WORDS.items(), strict=True):
            cases = [case for case in emulations.devices() if case.name.startswith(f"{variant}-")]
            reads = (cell_quantity("goodput_bps", 1e6), cell_quantity("jain"), queue)
            for axis, read in zip(column[:3], reads, strict=True):
                curve(axis, cases, read, done, simulated, fig08.DEVICES, "o")
                axis.set(xlabel="devices", xticks=fig08.DEVICES)
            title(column[0], word)
        for axis, law in zip(axes[3], cell.WORDS, strict=True):
            cases = [case for case in emulations.classes() if case.name.startswith(f"{law}-")]
            for prefix, marker in (("high", "^"), ("low", "v")):
                errors = cell.ERRORS
                curve(axis, cases, goodput(prefix), done, simulated, errors, marker, model=False)
            axis.set(xlabel="errors of class 2, p_w", ylim=(0, 5))
            title(axis, cell.WORDS[law])
        labels = ("goodput of all [Mb/s]", "Jain's index", "queue [packets]", "a class [Mb/s]")
        for row, label in zip(axes, labels, strict=True):
            row[0].set_ylabel(label)
        for label, colour, line in (
            ("model", MODEL, "-"),
            ("simulation", SIMULATION, "-"),
            ("emulation, Linux's TCP", EMULATION, ""),
        ):
            marker = "" if line else "x"
            axes[0][2].plot([], [], color=colour, linestyle=line, marker=marker, label=label)
        axes[0][2].legend()
        return drawn


def curve(
    axis: Axes,
    cases: Sequence[Case],
    read: Reader,
    done: Mapping[str, Table],
    simulated: Simulated,
    abscissa: Sequence[float],
    marker: str,
    *,
    model: bool = True,
) -> None:
    """Draw one quantity: prediction of the model, simulation, and emulation with its confidence
    interval.
    """
    if model:
        solved = [
            (x, value)
            for x, case in zip(abscissa, cases, strict=True)
            if (value := predicted(case))
        ]
        points = [x for x, _ in solved], [read(value) for _, value in solved]
        axis.plot(*points, color=MODEL, linewidth=0.8)
    means = [fmean(map(read, simulated.replications(case))) for case in cases]
    axis.plot(abscissa, means, color=SIMULATION, marker=marker, markersize=3)
    estimates = [estimate(read, emulations.seen_of(case, done)[0]) for case in cases]
    known = [(x, value) for x, value in zip(abscissa, estimates, strict=True) if value is not None]
    axis.errorbar(
        [x for x, _ in known],
        [value.mean for _, value in known],
        [value.ci95 or 0.0 for _, value in known],
        color=EMULATION,
        linestyle="",
        marker="x",
        capsize=2,
    )


HEAD = """\
# The emulator, measured

<!-- written by `bench/emulations.py --page` -->

This page compares emulations of scenarios with simulations of the same scenario files. If lasthop
has a model of a scenario, the page also shows the model's predictions. The emulation runs in real
time, with the kernel's own TCP. In emulations and in simulations, lasthop's engine provides the
medium and the queues, so only TCP differs.

If a section states nothing else, an emulated value is the mean of five runs of 60 s with different
seeds. The first 10 s of each run are left out. A simulated value is the mean of 20 replications of
the same length. The number after ± is half of the width of the 95 % confidence interval. The
machine of the emulations was: {machine}.

`python bench/emulations.py` makes all runs of this page. The script runs several emulations at a
time if they need little CPU time. Its option `--page` writes this page. A run is left out if
its packets were delivered more than 2 ms late (99th percentile). A run is also left out if its
sockets waited for a processor for half of the time.

"""

DEVICES = """\
A test-bed for figure 8 of paper 000

Devices download with Compound TCP through one access point, from a server that is 70 ms away. The
queue of the access point holds at most 100 packets. The test has three variants. The first variant
is that of the paper. The second variant has a channel error probability p_w of 0.2. The third
variant has TCP receive windows of 20 packets. The emulation uses [lasthop's Compound for
Linux](congestion.md).

The paper says that the aggregate goodput grows slightly with the number of devices, and that Jain's
index falls. The paper shows the values only as points of figure 8, not as numbers.

![Goodput, Jain's index and queue by devices; goodput of two classes](../images/testbed.png)

In the emulation of the first variant, the aggregate goodput stays within 0.3 % of 6.65 Mb/s from
two devices to ten. The goodput does not grow, since the queue is never empty. In the model and in
the simulation, the aggregate goodput does not grow either. With receive windows of 20 packets the
aggregate goodput grows by 6 %, since the windows of two devices do not fill the path. In the
variant with channel errors, the aggregate goodput grows by 1 %. Jain's index falls in all three
variants.
"""

CLASSES = """\
Two classes with Linux's Compound: figures 11, 14 and 15

Five devices (class 1) download without channel errors. Five other devices (class 2) download with
the channel error probability p_w. The queue of the access point is drop-tail (figure 11), or
divided into shares for the two classes (figures 14 and 15). Two algorithms divide the queue:
Algorithm 1 of the paper, and lasthop's `regulated` algorithm ("regulator" in the table). Both
algorithms have a target of 60 packets in the queue. All values of the paper come from simulations.
The emulation adds values with real TCP, which the paper does not have.
"""

BOTTLENECKS = """\
Dumbbells and parking lots with Linux's Reno

A dumbbell has one bottleneck. A parking lot has one bottleneck per hop. The values of a parking lot
are averages over its bottlenecks. The first column contains the rate of a bottleneck and, for
dumbbells, the round-trip time and the queue. "Delayed ACKs" means that receivers acknowledge every
second segment. "An ACK per segment" means that receivers acknowledge each segment.

The last column shows by how much the emulated value differs from the simulated value, if the
difference may be above a limit. The limits are 3 % of the utilisation, 15 % of the mean queue, and
20 % of the drops. A question mark means that the runs cannot decide whether the difference is above
the limit. The last column was computed from the rounded values of the table.

Linux increases its congestion window by the number of acknowledged segments. The simulator
increases the window by the number of ACKs. RFC 5681, section 3.1, allows both rules. With delayed
ACKs, Linux's windows therefore grow twice as fast as the simulator's, and Linux's flows lose twice
as many packets. With an ACK per segment, the windows of Linux and of the simulator grow at the same
speed.
"""

LOADS = """\
How much a machine holds

Each emulation runs while no other emulation runs on the machine. The load of a scenario grows from
row to row. Each value comes from one run of 25 s. The machine is fast enough if packets are at most
2 ms late (99th percentile). The column "packets/s" counts the packets of the emulated network,
including ACKs. One thread of Python drives all sockets. If this thread waits for a processor for
half of the time, the sockets limit the goodput. The last column shows the part of the time for
which the sockets waited.
"""

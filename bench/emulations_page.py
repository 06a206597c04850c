"""Page and picture of what `emulations.py` has run: docs/reference/emulation-measured.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean

import emulations
from emulations import Case
from emulations_aggregates_page import of_aggregate_loads, of_aggregates
from emulations_read import (
    Reading,
    Simulated,
    estimate,
    goodput,
    late,
    mean_of,
    of_cell,
    queue,
    scaled,
    shown,
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
"""Bands within which the emulated figure is equal to the simulated one, as parts of it; set before
the first run. [-]"""


def write() -> None:
    """Write what has been run anew; sections of suites that have not been run stay as they are."""
    done, simulated = emulations.RUNS.known(), Simulated()
    before = PAGE.read_text().split(SECTION)
    parts = (part.strip() for part in page(before, done, simulated))
    PAGE.write_text(f"\n\n{SECTION}".join(parts) + "\n")
    if ran("devices", done) and ran("classes", done):
        picture(done, simulated).savefig(IMAGE)


def ran(suite: str, done: Mapping[str, Table]) -> bool:
    """Whether each scenario of a suite has been run."""
    return all(case.key(1) in done for case in emulations.SUITES[suite]())


def predicted(case: Case) -> Table | None:
    """The model's figures, if it has a solution."""
    try:
        return kept(lh.predict(dict(case.tree)).summary, emulations.LISTS)
    except ConvergenceError:
        return None


# -- the page -----------------------------------------------------------------------------------


def page(before: Sequence[str], done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Its head and sections, those that have not been run as they were `before`."""
    yield HEAD.format(machine=machine())
    for number, (suite, section) in enumerate(SECTIONS.items(), start=1):
        if ran(suite, done):
            yield "\n".join(section(done, simulated))
        elif number < len(before):
            yield before[number]


SECTION = "## "
"""What a section begins with."""


def of_devices(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Figure 8 of paper 000."""
    yield from DEVICES.splitlines()
    cases = list(emulations.devices())
    columns = (
        ("goodput of all [Mb/s]", of_cell("goodput_bps", 1e6), 3),
        ("Jain's index", of_cell("jain"), 4),
        ("queue [packets]", queue, 1),
    )
    head = ["", "devices"]
    for name, *_ in columns:
        head += [f"{name}: model", "simulation", "emulation"]

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            variant, count = case.name.split("-")
            runs, _ = emulations.seen_of(case, done)
            model = predicted(case)
            row = [fig08.WORDS[variant], count]
            for _, read, digits in columns:
                row.append("none" if model is None else f"{read(model):.{digits}f}")
                row.append(shown(estimate(read, simulated.of(case)), digits))
                row.append(shown(estimate(read, runs), digits))
            yield row

    yield from table(head, rows())
    yield ""
    yield late(cases, done)


def of_classes(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Figures 11, 14 and 15."""
    yield from CLASSES.splitlines()
    cases = list(emulations.classes())
    columns = (
        ("class 1 [Mb/s]", goodput("high"), 2),
        ("class 2 [Mb/s]", goodput("low"), 2),
        ("queue [packets]", queue, 1),
    )
    head = ["queue", "p_w"]
    for name, *_ in columns:
        head += [f"{name}: simulation", "emulation"]

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            law, error = case.name.split("-")
            runs, _ = emulations.seen_of(case, done)
            row = [cell.WORDS[law], error.replace("_", ".")]
            for _, read, digits in columns:
                row.append(shown(estimate(read, simulated.of(case)), digits))
                row.append(shown(estimate(read, runs), digits))
            yield row

    yield from table(head, rows())
    yield ""
    yield late(cases, done)


WIRES: Mapping[str, tuple[Reading, float, int]] = {
    "utilisation": (mean_of("links", "utilisation"), 0.01, 1),
    "queue": (mean_of("queues", "occupancy_packets"), 1.0, 1),
    "drops": (mean_of("queues", "drop_probability"), 0.01, 2),
}


def of_wires(done: Mapping[str, Table], simulated: Simulated) -> Iterator[str]:
    """Dumbbells and parking lots."""
    yield from BOTTLENECKS.splitlines()
    cases = list(emulations.wires())
    head = ["", "utilisation [%]: simulation", "emulation", "queue [packets]: simulation"]
    head += ["emulation", "dropped [%]: simulation", "emulation", "not equal"]

    def rows() -> Iterator[Sequence[str]]:
        for case in cases:
            runs, _ = emulations.seen_of(case, done)
            row, outside = [case.name], []
            for name, (read, unit, digits) in WIRES.items():
                both = [estimate(read, seen) for seen in (simulated.of(case), runs)]
                row += [shown(scaled(one, unit), digits) for one in both]
                first, second = both
                if first is not None and second is not None:
                    found = Difference.of(first, second, ACCEPTED[name])
                    if found.agreement is not Agreement.EQUAL:
                        outside.append(f"{name} {found.words}")
            yield [*row, ", ".join(outside)]

    yield from table(head, rows())
    yield ""
    yield late(cases, done)


def of_loads(done: Mapping[str, Table], _: Simulated) -> Iterator[str]:
    """How much two cores hold."""
    yield from LOADS.splitlines()

    def rows() -> Iterator[Sequence[str]]:
        for case in emulations.loads():
            seen = done.get(case.key(1))
            if seen is not None:
                run = seen["totals"]["run"]
                late_ms = 1e3 * run["lateness_p99_s"]
                every = seen["cells"] or seen["classes"]
                mbps = sum(one["goodput_bps"] for one in every.values()) / 1e6
                waited = 100 * emulations.wait(seen)
                pps = run["carried_pps"]
                yield case.name, f"{mbps:.1f}", f"{pps:,.0f}", f"{late_ms:.2f}", f"{waited:.0f}"

    head = ("", "goodput [Mb/s]", "packets/s", "late, 99th percentile [ms]", "sockets waited [%]")
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
"""The page's sections, each by its suite."""


# -- the picture --------------------------------------------------------------------------------


def picture(done: Mapping[str, Table], simulated: Simulated) -> Figure:
    """Figure 8, and figures 11 and 15 below it."""
    with house_style(200.0, columns=2) as drawn:
        axes = drawn.subplots(4, 3, sharey="row")
        for column, (variant, word) in zip(axes.T, fig08.WORDS.items(), strict=True):
            cases = [one for one in emulations.devices() if one.name.startswith(f"{variant}-")]
            reads = (of_cell("goodput_bps", 1e6), of_cell("jain"), queue)
            for axis, read in zip(column[:3], reads, strict=True):
                curve(axis, cases, read, done, simulated, fig08.DEVICES, "o")
                axis.set(xlabel="devices", xticks=fig08.DEVICES)
            title(column[0], word)
        for axis, law in zip(axes[3], cell.WORDS, strict=True):
            cases = [one for one in emulations.classes() if one.name.startswith(f"{law}-")]
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
    read: Reading,
    done: Mapping[str, Table],
    simulated: Simulated,
    abscissa: Sequence[float],
    marker: str,
    *,
    model: bool = True,
) -> None:
    """One quantity: model, simulation, emulation with its interval."""
    if model:
        solved = [
            (x, one) for x, case in zip(abscissa, cases, strict=True) if (one := predicted(case))
        ]
        points = [x for x, _ in solved], [read(one) for _, one in solved]
        axis.plot(*points, color=MODEL, linewidth=0.8)
    means = [fmean(map(read, simulated.of(case))) for case in cases]
    axis.plot(abscissa, means, color=SIMULATION, marker=marker, markersize=3)
    found = [estimate(read, emulations.seen_of(case, done)[0]) for case in cases]
    known = [(x, one) for x, one in zip(abscissa, found, strict=True) if one is not None]
    axis.errorbar(
        [x for x, _ in known],
        [one.mean for _, one in known],
        [one.ci95 or 0.0 for _, one in known],
        color=EMULATION,
        linestyle="",
        marker="x",
        capsize=2,
    )


HEAD = """\
# The emulator, measured

<!-- written by `bench/emulations.py --page` -->

This page compares the emulation of a scenario with the simulation of the same file. If there is a
model, its predictions are shown too. The emulation runs in real time, with the kernel's own TCP. In
both, the engine provides the medium and the queues, so only TCP differs.

An emulated value comes from five runs of 60 s with different seeds, without their first 10 s. A
simulated value comes from 20 replications of the same length. ± is half of the width of the 95 %
interval. The machine was: {machine}.

`python bench/emulations.py` runs everything. It runs several emulations at a time if they need
little processor time. `--page` writes this page. A run does not count if its packets were handed
over more than 2 ms late (99th percentile). It does not count either if its sockets waited for a
processor for half of the time.

"""

DEVICES = """\
A test-bed for figure 8 of paper 000

Devices download with Compound TCP through one access point, from a server that is 70 ms away. The
queue of the access point has room for 100 packets. There are three variants: as stated in the
paper, with a channel error probability of 0.2 (p_w 0.2), and with receive windows of 20 packets.
Compound is [lasthop's for Linux](congestion.md).

The paper says that the aggregate goodput grows slightly with the number of devices, and that Jain's
index falls. It does not print its points as numbers.

![Goodput, fairness and queue over devices; goodput of two classes](../images/testbed.png)

With Linux's Compound, the aggregate of the first variant stays within 0.3 % of 6.65 Mb/s from two
devices to ten. It does not grow, and neither do model and simulation, since the queue is never
empty. With small windows it grows by 6 %, since the windows of two devices do not fill the path.
With channel errors it grows by 1 %. Jain's index falls in all three variants.
"""

CLASSES = """\
Two classes with Linux's Compound: figures 11, 14 and 15

Five devices download without channel errors, and five with the error probability p_w. The queue of
the access point is drop-tail (figure 11), or divided into shares for the two classes (figures 14
and 15). The shares have a target of 60 packets. In the paper, these figures come from a simulation.
The values with real TCP are new.
"""

BOTTLENECKS = """\
Dumbbells and parking lots with Linux's Reno

Values are averages over the bottlenecks. The name of a row contains the number of flows or hops and
the rate of a bottleneck. For dumbbells, the round-trip time and the queue follow. The queue is a
number of packets of drop-tail, or an algorithm. Receivers acknowledge every second segment
("delayed") or each segment ("each").

The last column names the quantities that are not equal. The limits are 3 % of the utilisation, 15 %
of the mean queue, and 20 % of the drops. A question mark means that the runs do not decide. This
column was computed from the figures as printed.

Linux's windows grow by acknowledged segments, and the simulator's windows grow by ACKs. RFC 5681,
section 3.1, allows both. If every second segment is acknowledged, Linux's windows grow twice as
fast and lose twice as many packets. If each segment is acknowledged, both grow at the same speed.
"""

LOADS = """\
How much a machine holds

Each scenario runs without others on the machine, and its load grows from row to row. Each value
comes from one run of 25 s. A machine keeps time if packets are at most 2 ms late. Packets are those
of the emulated network, including ACKs. One thread of Python drives all sockets. If this thread
waits for a processor for half of the time, the sockets limit the goodput.
"""

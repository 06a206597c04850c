"""Write the page and the pictures of `kernel_tcp.py`: docs/reference/kernel-tcp-measured.md."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import Any

from equivalence import Agreement, Difference
from kernel_tcp import SEEDS, Run, is_late, simulated_key
from kernel_tcp_points import (
    AS_THEY_ARE,
    LAWS,
    QUEUE_TITLES,
    RTTS_MS,
    SUITES,
    VARIANTS,
    Point,
    Variant,
    grid,
    points,
)
from matplotlib.axes import Axes
from pages import rewrite, table
from PIL import Image
from runs import OUT, Runs

from lasthop.answers.estimates import Estimate
from lasthop.errors import UserError
from lasthop.plot.figure import EMULATION, MODEL, QUIET, SIMULATION, Figure, house_style, title

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference/kernel-tcp-measured.md"
APART, WINDOWS = "kernel-tcp.png", "kernel-tcp-windows.png"
"""File names of the pictures: differences between Linux and the engine, and windows over time."""
DOTS_PER_INCH, COLOURS = 240, 32
"""Resolution and number of colours of the picture with windows over time. With the defaults, its
many lines would need a megabyte. [1/inch, -]
"""
QUEUE_LABELS = [
    words.replace(" queue", "").replace("link loses", "link loss").replace(" of the packets", "")
    for words in QUEUE_TITLES.values()
]
"""Names of the queue disciplines in the picture."""
PICTURES = {
    "Where Linux and the engine differ": "![Linux's goodput, packet loss and queue length divided "
    f"by the engine's; the grey band is the range called equal](../images/{APART})",
    "How many points agree": f"![Windows of a single flow over time](../images/{WINDOWS})",
}
"""Markdown of the pictures, by the title of the section that contains them."""

QUANTITIES: Mapping[str, tuple[str, float, int, float]] = {
    "goodput_bps": ("goodput [Mb/s]", 1e-6, 2, 0.05),
    "loss": ("packet loss [%]", 100, 3, 0.15),
    "queue_packets": ("queue length [packets]", 1, 1, 0.15),
    "jain": ("Jain's index", 1, 3, float("inf")),
}
"""For each quantity: title, factor of the unit, digits, and the relative band around the engine's
value within which both values are called equal.
"""
COUNTERS: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "retransmitted segments": ("run", "sender", ("RetransSegs",)),
    "timeouts": ("run", "sender", ("TCPTimeouts",)),
    "lost retransmissions": ("run", "sender", ("TCPLostRetransmit",)),
    "tail loss probes": ("run", "sender", ("TCPLossProbes",)),
    "tail loss probes that repaired a loss": ("run", "sender", ("TCPLossProbeRecovery",)),
    "undone window reductions": (
        "run",
        "sender",
        ("TCPFullUndo", "TCPPartialUndo", "TCPDSACKUndo", "TCPLossUndo"),
    ),
    "spurious timeouts": ("run", "sender", ("TCPSpuriousRTOs",)),
    "ACKs held by SACK compression": ("run", "receiver", ("TCPAckCompressed",)),
    "HyStart: ended by ACK train, by delay": (
        "warmup",
        "sender",
        ("TCPHystartTrainDetect", "TCPHystartDelayDetect"),
    ),
}
"""Columns with the kernel's counters: title, phase of the run, sender or receiver, and the counters
whose sum is shown. The counters of HyStart are shown separately.
"""
CAUSES: Mapping[str, str] = {
    "newreno, 1 of 50 ms, drop-tail 1/4 BDP": "no-deferral",
    "newreno, 1 of 50 ms, drop-tail 1 BDP": "no-deferral",
    "newreno, 1 of 200 ms, drop-tail 4 BDP": "wide",
    "newreno, 1 of 200 ms, CoDel": "no-quick-acks",
    "newreno, 12 of 10 ms, drop-tail 1 BDP": "no-quick-acks",
    "cubic, 1 of 10 ms, drop-tail 1/4 BDP": "no-deferral",
    "cubic, 1 of 50 ms, drop-tail 1 BDP": "no-quick-acks",
    "cubic, 1 of 200 ms, CoDel": "no-quick-acks",
}
"""For each scenario with a difference, the variant that affects the difference most. The variants
were selected after the runs. The page shows two values: the difference that remains with this
variant, and the difference that remains without the kernel's rules for bursts.
"""
SWITCHED = ("by-acks", "no-rack", "no-undo", "no-prr", "bare", "rfc-cubic", "no-hystart")
"""Variants of the engine's settings that were run in all scenarios of the grid."""
OF_ENGINE = {
    "": "all settings",
    "no-rack": "all settings but `rack` and `undo`",
    "no-undo": "all settings but `undo`",
    "by-acks": "all settings but `byte_counting`",
    "no-prr": "all settings but `prr`",
    "bare": "all settings but `rack`, `undo` and `byte_counting`",
    "rfc-cubic": "all settings, but CUBIC and HyStart++ of the RFCs instead of `cubic_linux`",
    "no-hystart": "all settings, but `cubic_linux` without HyStart",
}
"""Text of each variant of the engine on the page."""
DRAWN = ("drop-tail 1 BDP", "drop-tail 4 BDP", "1 BDP, 1 % lost")
"""Queue disciplines for which windows over time are drawn."""

MUCH, TICKS = 0.1, (0.5, 0.7, 1.0, 1.4, 2.0, 3.0)
"""Largest difference on the linear part of the axis. Larger differences are on a logarithmic part
with these ticks. [-]
"""

NOT_EQUAL = "difference of Linux from the engine, if not equal"
"""Title of the column that names the quantities that are different or undecided."""

SMALL = 0.1
"""Values below this number, in the unit of the table, are shown with one more digit."""

Seen = Mapping[str, Any]


@dataclass(frozen=True)
class Both:
    """Simulations and emulations of a scenario with a variant."""

    point: Point
    variant: Variant
    engine: Seen | None
    """Results of the simulations; None if there are none."""
    kernel: Sequence[Seen]
    """Results of the emulations that were not late."""
    late: Sequence[tuple[Run, Seen]]

    def of_engine(self, key: str) -> Estimate | None:
        """Return the mean of a quantity over the simulations. The losses of a periodic flow are
        those of whole periods.
        """
        if self.engine is None:
            return None
        if self.counts_periods(key):
            return estimate(self.engine["by_period"])
        return estimate([run[key] for run in self.engine["runs"]])

    def of_kernel(self, key: str) -> Estimate | None:
        """Return the mean of a quantity over the emulations. The losses of a periodic flow are
        those of whole periods.
        """
        if self.counts_periods(key):
            return estimate([seen["by_period"] for seen in self.kernel])
        return estimate([run["figures"][key] for run in self.kernel])

    def counts_periods(self, key: str) -> bool:
        """Return whether a quantity is computed over whole periods. This is true only for the
        losses of a single flow whose window is periodic in simulations and emulations.
        """
        engine = self.engine or {}
        return (
            key == "loss"
            and bool(engine.get("by_period"))
            and bool(self.kernel)
            and all(seen.get("by_period") is not None for seen in self.kernel)
        )

    def difference(self, key: str) -> Difference | None:
        """Return the relative difference of the kernel's value from the engine's, with its
        confidence interval.
        """
        ours, theirs = self.of_engine(key), self.of_kernel(key)
        if ours is None or theirs is None:
            return None
        return Difference.of(ours, theirs, QUANTITIES[key][3])

    def apart(self, key: str) -> float | None:
        """Return the relative difference of the kernel's value from the engine's; None if a value
        is missing.
        """
        difference = self.difference(key)
        return None if difference is None or difference.part == 0.0 else difference.part

    def agreement(self, key: str) -> Agreement:
        """Return whether the values of kernel and engine are equal, different, or undecided."""
        difference = self.difference(key)
        return Agreement.UNDECIDED if difference is None else difference.agreement

    def is_equal(self, key: str) -> bool:
        """Return whether the values of kernel and engine are equal, or equality is not tested for
        this quantity.
        """
        return QUANTITIES[key][3] == float("inf") or self.agreement(key) is Agreement.EQUAL

    def how_far(self, key: str) -> str:
        """Return the difference of the kernel's value from the engine's, as text."""
        difference = self.difference(key)
        much = (
            "not run"
            if difference is None
            else difference.words.replace("the reference", "the engine")
        )
        return f"{QUANTITIES[key][0].split(' [')[0]} {much}"

    def parts(self) -> Iterator[str]:
        """Yield the quantities that are different or undecided, as text."""
        yield from (self.how_far(key) for key in QUANTITIES if not self.is_equal(key))

    @property
    def is_apart(self) -> bool:
        """Return whether kernel and engine are different in at least one quantity."""
        judged = (key for key in QUANTITIES if QUANTITIES[key][3] < float("inf"))
        return any(self.agreement(key) is Agreement.APART for key in judged)


def estimate(values: Sequence[float]) -> Estimate | None:
    """Return the mean with its confidence interval; None if a value is missing."""
    return Estimate.of(values) if values and not any(map(isnan, values)) else None


class Measured:
    """All stored runs."""

    def __init__(self, runs: Runs) -> None:
        self.done = runs.known()

    def of(self, point: Point, variant: Variant = AS_THEY_ARE) -> Both:
        """Return the runs of a scenario with a variant."""
        each = [Run(point, variant, seed) for seed in range(1, SEEDS + 1)]
        known = [(run, self.done[run.key]) for run in each if run.key in self.done]
        return Both(
            point,
            variant,
            self.done.get(simulated_key(point, variant)),
            [seen for _, seen in known if not is_late(seen)],
            [(run, seen) for run, seen in known if is_late(seen)],
        )

    def beside(self, point: Point, variant: Variant) -> Both:
        """Return the runs of a scenario with a variant. If only the engine or only the
        kernel was run with the variant, the runs of the other are those without the variant.
        """
        base, changed = self.of(point), self.of(point, variant)
        return replace(
            changed, engine=changed.engine or base.engine, kernel=changed.kernel or base.kernel
        )

    def all(self) -> list[Both]:
        """Return the runs of every scenario that was run without a variant."""
        return [
            comparison
            for point in points()
            if (comparison := self.of(point)).kernel or comparison.engine
        ]

    def variants(self) -> list[Variant]:
        """Return the variants that were run, including variants that only stored runs contain."""
        by_name: dict[str, Variant] = {}
        for seen in self.done.values():
            made = seen["variant"]
            by_name.setdefault(made["name"], VARIANTS.get(made["name"], Variant(**made)))
        return [each for name, each in by_name.items() if name]


# -- tables -------------------------------------------------------------------------------------


def write(runs: Runs, seconds: float | None) -> None:
    """Write the page and its pictures. If the runs are shorter than usual, the files are written to
    the folder of the runs.
    """
    measured = Measured(runs)
    if not measured.done:
        raise UserError(f"{runs.path}: nothing has been run; the page stays as it is")
    page, images = PAGE, DOCS / "images"
    if seconds is not None:
        page, images = OUT / f"kernel-tcp-{seconds:g}s.md", OUT
        length = f"Trial runs of {seconds:g} s. The text below describes runs of 60 s.\n\n"
        text = PAGE.read_text().replace("../images/", "").replace("../", f"{DOCS}/")
        begin = "This page measures the same queues twice"
        page.write_text(text.replace(begin, f"{length}{begin}", 1))
    tables = {
        LAWS["newreno"]: of_law(measured, "newreno"),
        LAWS["cubic"]: of_law(measured, "cubic"),
        LAWS["bbr"]: of_law(measured, "bbr"),
        "Where Linux and the engine differ": parted(measured),
        "How many points agree": switched(measured, ()),
        "Single settings of the engine turned off": switched(measured, SWITCHED),
        "Single settings changed": taken_away(measured),
        "A router with sixty flows": of_suite(
            measured, "router", ("congestion control", "receivers send an ACK for")
        ),
        "Cells": of_suite(measured, "cell", ("cell", "congestion control")),
        "Runs that do not count": late(measured),
    }
    rewrite(page, tables, PICTURES if seconds is None else None)
    apart_picture(measured).savefig(images / APART)
    keep_small(windows_picture(measured), images / WINDOWS)
    print(page)


def of_law(measured: Measured, law: str) -> Iterator[str]:
    """Yield the table of all scenarios of the grid with this congestion control."""
    mine = [point for point in grid() if point.name.startswith(f"{law}, ")]
    return compared([measured.of(point) for point in mine], ("flows", "RTT [ms]", "queue"))


def of_suite(measured: Measured, suite: str, head: tuple[str, ...]) -> Iterator[str]:
    """Yield the table of the scenarios of a suite."""
    return compared([measured.of(point) for point in SUITES[suite]()], head)


def compared(rows: Sequence[Both], head: tuple[str, ...]) -> Iterator[str]:
    """Yield a table with the values of engine and kernel, and their differences. Without
    simulations, the table contains only the kernel's values.
    """
    known = [comparison for comparison in rows if comparison.kernel or comparison.engine]
    if not known:
        return iter(())
    has_engine = any(comparison.engine for comparison in known)
    titles = [words for words, *_ in QUANTITIES.values()]
    if has_engine:
        columns = [f"{words}: {way}" for words in titles for way in ("engine", "Linux")]
        return table(
            [*head, *columns, NOT_EQUAL],
            ([*comparison.point.row, *cells(comparison)] for comparison in known),
        )
    rows_of_kernel = (
        [*comparison.point.row, *(shown(comparison.of_kernel(key), key) for key in QUANTITIES)]
        for comparison in known
    )
    return table([*head, *titles], rows_of_kernel)


def cells(comparison: Both) -> Iterator[str]:
    """Yield the table cells of a scenario: every quantity of the engine and of the kernel, then the
    quantities that are not equal.
    """
    for key in QUANTITIES:
        yield shown(comparison.of_engine(key), key)
        yield shown(comparison.of_kernel(key), key)
    yield ", ".join(comparison.parts())


def shown(quantity: Estimate | None, key: str) -> str:
    """Return a mean with its confidence interval as text."""
    if quantity is None:
        return ""
    _, factor, digits, _ = QUANTITIES[key]
    digits += factor * quantity.mean < SMALL
    half = "" if quantity.ci95 is None else f" ± {factor * quantity.ci95:.{digits}f}"
    return f"{factor * quantity.mean:.{digits}f}{half}"


def parted(measured: Measured) -> Iterator[str]:
    """Yield the table of scenarios in which engine and kernel are different, with counters of the
    kernel.
    """
    rows = (
        [
            comparison.point.title,
            ", ".join(comparison.parts()),
            left_by(measured, comparison.point, CAUSES.get(comparison.point.name)),
            left_by(measured, comparison.point, "prompt"),
            *(counted(comparison, name) for name in COUNTERS),
        ]
        for comparison in measured.all()
        if comparison.is_apart
    )
    head = (
        "point of the grid",
        "difference of Linux from the engine",
        "difference after one change",
        "difference without TSO deferral and without quick ACKs",
        *(f"counter: {words}" for words in COUNTERS),
    )
    return table(head, rows)


def left_by(measured: Measured, point: Point, name: str | None) -> str:
    """Return as text the difference that remains in a scenario with this variant of the kernel. The
    text is empty if the variant was not run.
    """
    if name is None or not measured.of(point, VARIANTS[name]).kernel:
        return ""
    changed = measured.beside(point, VARIANTS[name])
    keys = [key for key in QUANTITIES if not measured.of(point).is_equal(key)]
    left = ", ".join(changed.how_far(key) for key in keys)
    return f"{changed.variant.words}: {left}"


def switched(measured: Measured, names: Sequence[str]) -> Iterator[str]:
    """Yield the table that counts the equal, different and undecided scenarios of the grid, for
    each variant of the engine.
    """
    keys = [key for key, (*_, allowed) in QUANTITIES.items() if allowed < float("inf")]
    titles = [QUANTITIES[key][0].split(" [")[0] for key in keys]

    def rows() -> Iterator[Sequence[str]]:
        for variant in (AS_THEY_ARE, *(VARIANTS[name] for name in names)):
            for law, words in LAWS.items():
                mine = [point for point in grid() if point.name.startswith(f"{law}, ")]
                there = [point for point in mine if measured.of(point, variant).engine]
                both = [measured.beside(point, variant) for point in there]
                if both:
                    counts = [counted_as(both, key) for key in keys]
                    yield [
                        OF_ENGINE.get(variant.name, variant.words),
                        words,
                        str(len(both)),
                        *counts,
                    ]

    head = [f"{each}: points equal / different / undecided" for each in titles]
    return table(
        ["settings of the engine", "congestion control", "points of the grid", *head], rows()
    )


def counted_as(both: Sequence[Both], key: str) -> str:
    """Return as text the numbers of scenarios in which a quantity is equal, different and
    undecided.
    """
    counts = Counter(point.agreement(key) for point in both)
    return " / ".join(str(counts[each]) for each in Agreement)


def counted(comparison: Both, name: str) -> str:
    """Return a counter of the kernel as text, averaged over the emulations."""
    when, end, words = COUNTERS[name]
    sums = [
        fmean(seen["counters"][when][end].get(word, 0) for seen in comparison.kernel)
        for word in words
    ]
    return ", ".join(f"{each:.1f}" for each in (sums if when == "warmup" else [sum(sums)]))


def taken_away(measured: Measured) -> Iterator[str]:
    """Yield the table of scenarios with variants, each after the scenario without a variant."""
    head = ["point", "change"]
    columns = [
        f"{words}: {way}" for words, *_ in QUANTITIES.values() for way in ("engine", "Linux")
    ]

    def rows() -> Iterator[Sequence[str]]:
        variants = measured.variants()
        for point in points():
            there = [each for each in variants if taken(measured.of(point, each))]
            for variant in [AS_THEY_ARE, *there] if there else []:
                comparison = measured.beside(point, variant)
                yield [point.title, variant.words, *cells(comparison)]

    return table([*head, *columns, NOT_EQUAL], rows())


def taken(comparison: Both) -> bool:
    """Return whether a variant has its own row in the table. Variants that were run in the whole
    grid have no row.
    """
    return bool(comparison.kernel) or (
        comparison.point.suite == "router" and comparison.engine is not None
    )


def late(measured: Measured) -> Iterator[str]:
    """Yield the table of excluded runs."""
    every = [*measured.all()]
    every += [measured.of(point, each) for each in measured.variants() for point in points()]
    rows = (
        [run.key, f"{1e3 * seen['late_s']:.2f}", f"{100 * seen['wait']:.0f}", str(seen["beside"])]
        for comparison in every
        for run, seen in comparison.late
    )
    return table(
        [
            "run that does not count",
            "lateness, 99th percentile [ms]",
            "time that sockets waited for a processor [%]",
            "emulations at a time",
        ],
        rows,
    )


# -- pictures -----------------------------------------------------------------------------------


def apart_picture(measured: Measured) -> Figure:
    """Draw Linux's goodput, loss and queue length divided by the engine's, for all scenarios of the
    grid.
    """
    keys = ("goodput_bps", "loss", "queue_packets")
    laws = ("newreno", "cubic")
    with house_style(150.0, columns=2) as drawn:
        axes = drawn.subplots(len(keys), len(laws), sharex=True, sharey="row")
        for column, law in zip(axes.T, laws, strict=True):
            mine = [point for point in grid() if point.name.startswith(f"{law}, ")]
            title(column[0], LAWS[law])
            for axis, key in zip(column, keys, strict=True):
                ratios(axis, [measured.of(point) for point in mine], key)
            column[-1].set_xticks(range(len(QUEUE_LABELS)), QUEUE_LABELS, rotation=40, ha="right")
        for row, key in zip(axes, keys, strict=True):
            row[0].set_ylabel(f"{QUANTITIES[key][0].split(' [')[0]}, Linux / engine")
        axes[1][1].legend(ncols=2, loc="upper center")
        return drawn


def ratios(axis: Axes, mine: Sequence[Both], key: str) -> None:
    """Draw one quantity for each queue discipline. Colours show round-trip times, and crosses show
    twelve flows.
    """
    allowed = QUANTITIES[key][3]
    axis.axhspan(1 - allowed, 1 + allowed, color=QUIET, alpha=0.2, linewidth=0)
    for number, rtt_ms in enumerate(RTTS_MS):
        for flows, marker in (("1", "o"), ("12", "x")):
            these = [
                comparison
                for comparison in mine
                if comparison.point.row[:2] == (flows, str(rtt_ms))
            ]
            known = [
                (k, apart) for k, comparison in enumerate(these) if (apart := comparison.apart(key))
            ]
            axis.plot(
                [k + 0.2 * (number - 1) for k, _ in known],
                [1 + apart for _, apart in known],
                marker,
                color=(SIMULATION, MODEL, EMULATION)[number],
                fillstyle="none",
                label=f"{flows} flow{'s' if flows != '1' else ''}, RTT {rtt_ms} ms",
            )
    if allowed > MUCH:
        axis.set_yscale("log", base=2)
        axis.set_yticks(TICKS)
        axis.yaxis.set_major_formatter("{x:g}")


def windows_picture(measured: Measured) -> Figure:
    """Draw the congestion window of a single flow over time."""
    laws = ("newreno", "cubic")
    rows = [(law, queue) for law in laws for queue in DRAWN]
    with house_style(40.0 * len(rows), columns=2) as drawn:
        axes = drawn.subplots(len(rows), len(RTTS_MS), sharex=True)
        for row, (law, queue) in zip(axes, rows, strict=True):
            for axis, rtt_ms in zip(row, RTTS_MS, strict=True):
                name = f"{law}, 1 of {rtt_ms} ms, {queue}"
                [point] = [each for each in grid() if each.name == name]
                tracks(axis, measured.of(point))
                title(axis, f"{LAWS[law]}, RTT {rtt_ms} ms, {queue}")
            row[0].set_ylabel("window [packets]")
        for axis in axes[-1]:
            axis.set_xlabel("time [s]")
        if axes[0][0].get_lines():
            axes[0][0].legend()
        return drawn


def keep_small(drawn: Figure, path: Path) -> None:
    """Save a picture of thin lines with few colours. Its file is a quarter as large as a file with
    all colours.
    """
    rendered = BytesIO()
    drawn.savefig(rendered, dpi=DOTS_PER_INCH)
    with Image.open(rendered) as picture:
        few = picture.convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    few.save(path, optimize=True)


def tracks(axis: Axes, comparison: Both) -> None:
    """Draw the windows over time of the first simulation and of the first emulation."""
    ways = (
        ("engine", [comparison.engine] if comparison.engine else [], SIMULATION),
        ("Linux", comparison.kernel[:1], EMULATION),
    )
    for label, seen, colour in ways:
        for each in seen:
            windows = each["track"]
            axis.plot(windows["time_s"], windows["first"], color=colour, linewidth=0.8, label=label)
    axis.set_ylim(bottom=0)

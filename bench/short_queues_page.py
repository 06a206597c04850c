"""Writes the page and the picture of the runs of `short_queues.py`:
docs/reference/queue-measured.md."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any, TypeAlias

from matplotlib.axes import Axes
from pages import rewrite, table
from short_queues import LONGEST_TRANSFER_S, QUEUES, RTTS_S, Case, cases

from lasthop.plot.figure import EMULATION, MODEL, SIMULATION, Figure, house_style, title

DOCS = Path(__file__).parent.parent / "docs"
PAGE = DOCS / "reference/queue-measured.md"
IMAGE = DOCS / "images/short-queues.png"
NAMES = {
    "threshold 15": "threshold of 15 packets",
    "drop-tail 100": "drop-tail of 100 packets",
    "RED 50/100": "RED, thresholds of 50 and 100 packets",
}
"""Names of queues in the tables."""
LAWS = {"newreno": "NewReno", "compound": "Compound"}
COLOURS = {"simulated": SIMULATION, "emulated": EMULATION, "enforced": MODEL, "in uml": MODEL}
MARKERS = {"simulated": "o", "emulated": "x", "enforced": "+", "in uml": "+"}
QUANTITIES: Mapping[str, tuple[str, float, int]] = {
    "utilisation": ("utilisation [%]", 100, 1),
    "queue_packets": ("mean queue [packets]", 1, 1),
    "drop_probability": ("drops [%]", 100, 2),
    "jain": ("Jain's index", 1, 3),
    "least_share": ("least goodput of a flow / mean goodput", 1, 2),
}
"""Title, unit factor and number of decimals of each quantity in the tables."""

Seen: TypeAlias = Mapping[str, Any]
Known: TypeAlias = Mapping[tuple[str, str], Seen]


def write(done: Known) -> None:
    """Write the sections of the series that have new runs. Other sections are not changed."""
    tables: dict[str, Iterator[str]] = {}
    for series, heading in HEADINGS.items():
        mine = [case for case in cases() if case.series == series]
        if all((case.key, way) in done for case in mine for way in case.ways()):
            is_short = series == "transfers"
            tables[heading] = transfers(mine, done) if is_short else compared(series, mine, done)
    rewrite(PAGE, tables)
    if all((c.key, way) in done for c in cases() if c.series == "queues" for way in c.ways()):
        picture(done).savefig(IMAGE)


HEADINGS = {
    "queues": "Sixty flows at 100 Mbit/s",
    "sack": "Without selective acknowledgements",
    "access": "Flows with equal access links",
    "transfers": "Transfers of 5 MB per flow",
    "uml": "Six flows at 10 Mbit/s, and the kernel's RED",
    "why": "The effect of two properties of Linux's TCP",
}
"""Titles of the page's sections, by series."""


def compared(series: str, mine: Sequence[Case], done: Known) -> Iterator[str]:
    """Yield the rows of a table, one row per case, with one cell per kind of run."""
    keys = [key for key in QUANTITIES if key != "least_share" or series == "access"]
    what = "what is turned off" if series == "why" else "queue"
    head = [what, "congestion control", "RTT", *(QUANTITIES[key][0] for key in keys)]
    rows = (
        [without(case) if series == "why" else NAMES[case.queue], LAWS[case.law]]
        + [f"{1e3 * case.rtt_s:g} ms"]
        + [" / ".join(shown(done[case.key, way], key) for way in case.ways()) for key in keys]
        for case in mine
    )
    yield from table(head, rows)


def without(case: Case) -> str:
    """Return the features that a case turns off, as text."""
    lacks = [] if case.delayed_ack else ["delayed ACKs"]
    lacks += ["RACK and tail loss probes"] if case.sysctls else []
    return ", ".join(lacks) or "nothing"


def shown(seen: Seen, key: str) -> str:
    """Return the mean of a quantity over all runs, as text."""
    _, factor, digits = QUANTITIES[key]
    return f"{factor * figure(seen, key):.{digits}f}"


def figure(seen: Seen, key: str) -> float:
    """Return the mean of a quantity over all runs."""
    return fmean(run[key] for run in seen["runs"])


def transfers(mine: Sequence[Case], done: Known) -> Iterator[str]:
    """Yield the rows of the table of completion times: mean, maximum, and the number of transfers
    that did not complete."""
    head = ["queue", "RTT", "mean completion time [s]", "last completion [s]"]
    head += ["transfers not completed"]
    of: Sequence[Callable[[Case, Seen], str]] = (
        lambda case, seen: f"{fmean(times(case, seen)):.1f}",
        lambda case, seen: f"{max(times(case, seen)):.1f}",
        lambda case, seen: str(unfinished(seen)),
    )
    rows = (
        [NAMES[case.queue], f"{1e3 * case.rtt_s:g} ms"]
        + [" / ".join(each(case, done[case.key, way]) for way in case.ways()) for each in of]
        for case in mine
    )
    yield from table(head, rows)


def times(case: Case, seen: Seen) -> list[float]:
    """Return the completion times of all flows in all runs. For a flow that did not complete, the
    value is the longest measured time of a transfer. [s]"""
    every = [each for run in seen["runs"] for each in run["completions_s"]]
    return [LONGEST_TRANSFER_S[case.rtt_s] if is_none(each) else each for each in every]


def unfinished(seen: Seen) -> int:
    """Return the number of transfers in all runs that did not complete."""
    return sum(is_none(each) for run in seen["runs"] for each in run["completions_s"])


def is_none(value: float | None) -> bool:
    """Return whether a completion time is missing, that is, None."""
    return value is None or value != value


def picture(done: Known) -> Figure:
    """Draw the utilisation, queue length and drops of each queue and congestion control, over the
    round-trip time."""
    with house_style(120.0, columns=2) as drawn:
        axes = drawn.subplots(3, 2, sharex=True, sharey="row")
        for column, rtt_s in zip(axes.T, RTTS_S, strict=True):
            mine = [Case("queues", queue, rtt_s, law) for queue in QUEUES for law in LAWS]
            for axis, key in zip(column, QUANTITIES, strict=False):
                points(axis, mine, key, done)
            title(column[0], f"round trip {1e3 * rtt_s:g} ms")
            column[-1].set_xticks(
                range(len(mine)),
                [f"{case.queue}\n{LAWS[case.law]}" for case in mine],
                rotation=40,
                ha="right",
            )
        for row, key in zip(axes, QUANTITIES, strict=False):
            row[0].set_ylabel(QUANTITIES[key][0])
        axes[0][0].legend()
        return drawn


def points(axis: Axes, mine: Sequence[Case], key: str, done: Known) -> None:
    """Draw one quantity, with one mark per kind of run."""
    for way in ("simulated", "emulated", "enforced"):
        of_way = [(k, case) for k, case in enumerate(mine) if way in case.ways()]
        values = [QUANTITIES[key][1] * figure(done[case.key, way], key) for _, case in of_way]
        axis.plot(
            [k for k, _ in of_way],
            values,
            MARKERS[way],
            color=COLOURS[way],
            fillstyle="none",
            label=way,
        )
    axis.set_ylim(0, max(1.06 * max(values), axis.get_ylim()[1]))

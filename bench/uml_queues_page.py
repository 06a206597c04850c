"""Writes the section of docs/reference/kernel-tcp-measured.md about the runs of `uml_queues.py`."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from equivalence import Agreement, Difference
from kernel_tcp import SEEDS, Run, is_late, simulated_key
from kernel_tcp_page import PAGE, estimate
from kernel_tcp_points import AS_THEY_ARE, Point
from pages import rewrite, table
from runs import Runs
from uml_queues import key_of, points
from uml_queues_codel import worked_out
from uml_queues_datagrams import LOADS, LOOKS_S, OVERLOAD, PACKETS_PER_S, Load, red_mean_packets

from lasthop.answers.estimates import Estimate

SECTION = "The kernel's RED and CoDel"
QUANTITIES = {
    "goodput_bps": ("goodput [Mb/s]", 1e-6, 2, 0.05),
    "drops": ("packet drops at the queue [%]", 100, 3, 0.15),
    "queue_packets": ("queue length [packets]", 1, 1, 0.15),
}
"""Title, unit factor and number of decimals of each quantity. The last value is the largest
relative difference at which two queues under the same TCP are called equal."""
NOT_EQUAL = "difference of the kernel's queue from the engine's queue, if not equal"
"""Title of the column for quantities that differ or are undecided."""
LATE_DATAGRAMS_S = 0.002


class Measured:
    """The stored runs of `uml_queues.py`."""

    def __init__(self, runs: Runs) -> None:
        self.done = runs.known()

    def figures(self, point: Point, way: str, variant: Any = AS_THEY_ARE) -> list[dict[str, float]]:
        """Return the quantities of each run of a point, without runs that were late."""
        if way == "simulated":
            known = self.done.get(simulated_key(point, variant))
            return [] if known is None else known["runs"]
        each = [Run(point, variant, seed) for seed in range(1, SEEDS + 1)]
        keys = [run.key if way == "emulated" else key_of(run, way) for run in each]
        seen = [self.done[key] for key in keys if key in self.done]
        return [
            result["figures"] for result in seen if "late_s" not in result or not is_late(result)
        ]

    def of(self, point: Point, way: str, key: str, variant: Any = AS_THEY_ARE) -> Estimate | None:
        """Return the mean of a quantity over all runs, with its confidence interval."""
        return estimate([figures[key] for figures in self.figures(point, way, variant)])


def write(runs: Runs) -> None:
    """Write the tables of the section."""
    measured = Measured(runs)
    everywhere = {
        "simulated": "engine's TCP, engine's queue",
        "emulated": "Linux's TCP, engine's queue",
        "uml": "TCP of user-mode Linux, kernel's queue",
    }
    alone = {"uml-emulated": "engine's queue", "uml": "kernel's queue"}
    lines = [
        *under_tcp(measured, everywhere),
        "",
        "In the next table, all flows use the TCP of user-mode Linux, with the engine's queue or",
        "with the kernel's queue:",
        *under_tcp(measured, alone),
        "",
        "In the next table, UDP datagrams arrive at 1.1 times the rate of the link, without TCP.",
        "The datagrams of the last row arrive in two bursts at twice the rate of the link.",
        *under_datagrams(measured),
    ]
    rewrite(PAGE, {SECTION: lines})
    print(PAGE)


def under_tcp(measured: Measured, ways: Mapping[str, str]) -> Iterator[str]:
    """Yield a row for each point that was run in all of the ways `ways`."""
    head = ["congestion control", "flows", "RTT [ms]", "queue"]
    head += [f"{words}: {way}" for words, *_ in QUANTITIES.values() for way in ways.values()]

    def rows() -> Iterator[Sequence[str]]:
        for point in points():
            if all(len(measured.figures(point, way)) > 1 for way in ways):
                cells = [
                    shown(measured.of(point, way, key), key) for key in QUANTITIES for way in ways
                ]
                yield [*point.row, *cells, ", ".join(parts(measured, point, [*ways][-2:]))]

    return table([*head, NOT_EQUAL], rows())


def parts(measured: Measured, point: Point, ways: Sequence[str]) -> Iterator[str]:
    """Yield the quantities in which the kernel's queue differs from the engine's queue, or for
    which this is undecided. The second of `ways` is the way with the kernel's queue."""
    goodput = measured.of(point, ways[-1], "goodput_bps")
    if goodput is not None and goodput.mean == 0:
        yield "the flow stalled"
        return
    for key, (words, _, _, allowed) in QUANTITIES.items():
        ours, theirs = (measured.of(point, way, key) for way in ways)
        if ours is None or theirs is None or ours.mean == 0:
            continue
        difference = Difference.of(ours, theirs, allowed)
        if difference.agreement is not Agreement.EQUAL:
            yield f"{words.split(' [')[0].split(' at')[0]} {difference.words}"


def shown(value: Estimate | None, key: str) -> str:
    """Return a quantity with its confidence interval, as text."""
    if value is None:
        return ""
    _, factor, digits, _ = QUANTITIES[key]
    half = "" if value.ci95 is None else f" ± {factor * value.ci95:.{digits}f}"
    return f"{factor * value.mean:.{digits}f}{half}"


def under_datagrams(measured: Measured) -> Iterator[str]:
    """Yield a row for each load, with the predicted drops and those of both queues."""
    codel, red, bursts = LOADS
    each = [
        worked_out(
            codel.packets_per_s,
            PACKETS_PER_S,
            codel.looks_s,
            codel.settled_s,
            is_newton=is_newton,
        )
        for is_newton in (False, True)
    ]
    lost = f"{100 * (1 - 1 / OVERLOAD):.2f}"

    def rows() -> Iterator[Sequence[str]]:
        for number, look_s in enumerate(LOOKS_S):
            cells = both(measured, codel, partial(dropped, number), 0)
            by_hand = [str(run.drops[number]) for run in each]
            yield [f"CoDel: packets dropped in the first {look_s:g} s", *by_hand, *cells]
        of_codel = [f"{100 * run.lost:.2f}" for run in each]
        yield [
            "CoDel: datagrams lost from 5 s to 20 s [%]",
            *of_codel,
            *both(measured, codel, part_lost, 2),
        ]
        of_codel = [f"{run.queue_packets:.1f}" for run in each]
        yield [
            "CoDel: mean queue length from 5 s to 20 s [packets]",
            *of_codel,
            *both(measured, codel, queue, 1),
        ]
        yield [
            "RED: datagrams lost from 10 s to 60 s [%]",
            lost,
            "",
            *both(measured, red, part_lost, 2),
        ]
        of_red = [
            f"{red_mean_packets(fmean(map(part_lost, seen)) / 100, is_linux=way == 'uml'):.1f}"
            for way in ("engine", "uml")
            if (seen := runs_in_time(measured, red, way))
        ]
        yield [
            "RED: mean queue length from 10 s to 60 s [packets]",
            *of_red,
            *both(measured, red, queue, 1),
        ]
        begins_s, ends_s = bursts.pause_s or (0.0, 0.0)
        words = f"RED: datagrams lost of a burst, {ends_s - begins_s:g} s after another burst [%]"
        yield [words, "0.00", "", *both(measured, bursts, part_lost, 2)]

    head = (
        "queue and quantity",
        "calculated with the engine's rules",
        "calculated with Linux's rules",
        "measured, engine's queue",
        "measured, kernel's queue",
    )
    return table(head, rows())


def dropped(number: int, seen: Mapping[str, Any]) -> float:
    """Return the number of drops until the time with this index."""
    return float(seen["drops"][number])


def part_lost(seen: Mapping[str, Any]) -> float:
    """Return the fraction of datagrams lost. [%]"""
    return 100 * float(seen["lost"])


def queue(seen: Mapping[str, Any]) -> float:
    """Return the mean queue length. [packets]"""
    return float(seen["queue_packets"])


def runs_in_time(measured: Measured, load: Load, way: str) -> list[Mapping[str, Any]]:
    """Return the runs of a load that were not late."""
    keys = [load.key(way, seed) for seed in range(1, SEEDS + 1)]
    seen = [measured.done[each] for each in keys if each in measured.done]
    return [run for run in seen if run.get("late_s", 0.0) <= LATE_DATAGRAMS_S]


def both(
    measured: Measured, load: Load, of: Callable[[Mapping[str, Any]], float], digits: int
) -> Iterator[str]:
    """Yield the means of a load through the engine's queue, and through the kernel's queue."""
    for way in ("engine", "uml"):
        seen = runs_in_time(measured, load, way)
        yield f"{fmean(map(of, seen)):.{digits}f}" if seen else ""

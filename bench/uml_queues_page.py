"""Section of docs/reference/kernel-tcp-measured.md on what `uml_queues.py` has run."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from statistics import fmean
from typing import Any

from kernel_tcp import SEEDS, Run, is_late, simulated_key
from kernel_tcp_page import PAGE, estimate
from kernel_tcp_points import AS_THEY_ARE, Point
from pages import rewrite, table
from runs import Runs
from uml_queues import key_of, points
from uml_queues_codel import worked_out
from uml_queues_datagrams import LOADS, LOOKS_S, OVERLOAD, PACKETS_PER_S, Load, red_mean_packets

from lasthop.estimates import Estimate

SECTION = "The kernel's RED and CoDel"
QUANTITIES = {
    "goodput_bps": ("goodput [Mb/s]", 1e-6, 2, 0.05),
    "drops": ("lost at the queue [%]", 100, 3, 0.15),
    "queue_packets": ("queue [packets]", 1, 1, 0.15),
}
"""Title, factor, digits, and by what part two queues may differ under the same TCP."""
LATE_DATAGRAMS_S = 0.002


class Measured:
    """All that was run."""

    def __init__(self, runs: Runs) -> None:
        self.done = runs.known()

    def figures(self, point: Point, way: str, variant: Any = AS_THEY_ARE) -> list[dict[str, float]]:
        """Of each run of a point that kept time."""
        if way == "simulated":
            found = self.done.get(simulated_key(point, variant))
            return [] if found is None else found["runs"]
        each = [Run(point, variant, seed) for seed in range(1, SEEDS + 1)]
        keys = [run.key if way == "emulated" else key_of(run, way) for run in each]
        seen = [self.done[key] for key in keys if key in self.done]
        return [one["figures"] for one in seen if "late_s" not in one or not is_late(one)]

    def of(self, point: Point, way: str, key: str, variant: Any = AS_THEY_ARE) -> Estimate | None:
        """A quantity of all runs."""
        return estimate([figures[key] for figures in self.figures(point, way, variant)])


def write(runs: Runs) -> None:
    """Write the section's tables."""
    measured = Measured(runs)
    rewrite(PAGE, {SECTION: [*under_tcp(measured), "", *under_datagrams(measured)]})
    print(PAGE)


def under_tcp(measured: Measured) -> Iterator[str]:
    """A row a point; the last column is the kernel's queue beside the engine's under one TCP."""
    ways = {
        "simulated": "engine's TCP and queue",
        "emulated": "Linux 6.18, engine's queue",
        "uml-emulated": "Linux 6.1, engine's queue",
        "uml": "Linux 6.1, kernel's queue",
    }
    head = ["law", "flows", "RTT [ms]", "queue"]
    head += [f"{words}: {way}" for words, *_ in QUANTITIES.values() for way in ways.values()]

    def rows() -> Iterator[Sequence[str]]:
        for point in points():
            if measured.figures(point, "uml"):
                cells = [
                    shown(measured.of(point, way, key), key) for key in QUANTITIES for way in ways
                ]
                yield [*point.row, *cells, ", ".join(parts(measured, point))]

    return table([*head, "apart"], rows())


def parts(measured: Measured, point: Point) -> Iterator[str]:
    """In what the two queues part under the TCP of user-mode Linux."""
    for key, (words, _, _, allowed) in QUANTITIES.items():
        ours = measured.of(point, "uml-emulated", key)
        theirs = measured.of(point, "uml", key)
        if ours is None or theirs is None or ours.mean == 0:
            continue
        apart = theirs.mean / ours.mean - 1
        if abs(apart) > allowed:
            is_sure = abs(ours.mean - theirs.mean) > (ours.ci95 or 0.0) + (theirs.ci95 or 0.0)
            yield f"{words.split(' [')[0].split(' at')[0]} {apart:+.0%}{'' if is_sure else ' (?)'}"


def shown(found: Estimate | None, key: str) -> str:
    """A quantity with its interval."""
    if found is None:
        return ""
    _, factor, digits, _ = QUANTITIES[key]
    half = "" if found.ci95 is None else f" ± {factor * found.ci95:.{digits}f}"
    return f"{factor * found.mean:.{digits}f}{half}"


def under_datagrams(measured: Measured) -> Iterator[str]:
    """Drops that the laws foretell, and what the two queues did."""
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
    settings = red.queue["red"]
    settled = red_mean_packets(settings["min_th"], settings["max_th"], 0.1) + 1
    lost = f"{100 * (1 - 1 / OVERLOAD):.2f}"

    def rows() -> Iterator[Sequence[str]]:
        for number, look_s in enumerate(LOOKS_S):
            cells = both(measured, codel, partial(dropped, number), 0)
            by_hand = [str(one.drops[number]) for one in each]
            yield [f"CoDel: dropped within {look_s:g} s", *by_hand, *cells]
        laws = {
            "CoDel, 5 to 20 s": (
                codel,
                [f"{100 * one.lost:.2f}" for one in each],
                [f"{one.queue_packets:.1f}" for one in each],
            ),
            "RED, 10 to 60 s": (red, [lost, ""], [f"{settled:.1f}", ""]),
        }
        for words, (load, parts_lost, queues) in laws.items():
            cells = both(measured, load, lambda seen: 100 * seen["lost"], 2)
            yield [f"{words}: lost [%]", *parts_lost, *cells]
            cells = both(measured, load, lambda seen: seen["queue_packets"], 1)
            yield [f"{words}: queue [packets]", *queues, *cells]
        begins_s, ends_s = bursts.pause_s or (0.0, 0.0)
        count = bursts.offered(bursts.looks_s[-1]) - bursts.offered(ends_s)
        cells = both(measured, bursts, lambda seen: seen["drops"][2] - seen["drops"][1], 0)
        words = f"dropped of {count:.0f} that come {ends_s - begins_s:g} s behind a burst"
        yield [f"RED: {words}", "0", "", *cells]

    head = ("datagrams", "worked out", "with Linux's root", "engine", "kernel")
    return table(head, rows())


def dropped(number: int, seen: Mapping[str, Any]) -> float:
    """Drops until a look."""
    return float(seen["drops"][number])


def both(
    measured: Measured, load: Load, of: Callable[[Mapping[str, Any]], float], digits: int
) -> Iterator[str]:
    """The mean of the runs that kept time, of the engine's queue and of the kernel's."""
    for way in ("engine", "uml"):
        keys = [load.key(way, seed) for seed in range(1, SEEDS + 1)]
        seen = [measured.done[each] for each in keys if each in measured.done]
        values = [of(one) for one in seen if one.get("late_s", 0.0) <= LATE_DATAGRAMS_S]
        yield f"{fmean(values):.{digits}f}" if values else ""

"""Figures 15 and 17 to 19: RED 8/15 against the threshold policy of 15 packets, at one router and
in a parking lot, of Compound flows and of mixed traffic: queues, delay, loss, throughput and
completion times.

The threshold policy is a drop-tail queue of 15 packets: RED is compared with a small buffer.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from lasthop.studies.red import router
from lasthop.studies.red.router import POLICIES, Effort
from lasthop.studies.study import Quantity, Run, Runs, Study, largest

if TYPE_CHECKING:
    from lasthop.plot.family import FamilyPanel, Member
    from lasthop.plot.figure import Figure

LABELS: Mapping[str, str] = {"red": "RED 8/15", "threshold": "threshold 15"}

LOT = ("bottleneck-1", "bottleneck-2")
"""The queues of the parking lot."""

ENDS = (10, 200)
"""Round-trip times of the paper's traces. [ms]"""

LOCKED_RTTS = (10, 100, 200)
"""Round-trip times at which flows with equal access rates are shown. [ms]"""

COARSE_S = 0.5
"""Width of wider bins for the least utilisation. [s]"""

Scenario = Callable[..., dict[str, Any]]


def fig15(effort: Effort) -> Study:
    """Return figure 15: queue and utilisation at 10 and 200 ms."""
    at_200 = {**POLICIES, "red500": router.red(8, 15, packet="500 B")}

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for name in POLICIES:
            for rtt in effort.rtts:
                run = runs[f"{name}-{rtt}"]
                values[f"utilisation_{name}_{rtt}"] = router.utilisation(run)
                values[f"utilisation_min_{name}_{rtt}"] = router.least_utilisation(run)
            longest = [router.queue_max(runs[f"{name}-{rtt}"]) for rtt in ENDS]
            values[f"queue_max_{name}"] = largest(longest)
        return values

    def findings(runs: Runs) -> dict[str, str]:
        def least(bin_s: float) -> str:
            each = [runs[f"{name}-200-bin-{bin_s:g}"] for name in ("threshold", "red", "red500")]
            return ", ".join(str(router.least_utilisation(run)) for run in each)

        red, small = (runs[f"{name}-200"] for name in POLICIES)
        fair, locked, random = (
            runs[name] for name in ("threshold-10", "equal-threshold-10", "equal-red-10")
        )
        return {
            "red-14": (
                "least utilisation at 200 ms with the threshold, with RED, and with RED that takes "
                f"500 bytes for the mean packet as ns-2 does: {least(0.1)} over 0.1 s, "
                f"{least(COARSE_S)} over {COARSE_S:g} s; windows correlate by "
                f"{router.synchrony(small)} with the threshold and {router.synchrony(red)} with "
                "RED. With equal access rates packets arrive in lock step, and the same flows are "
                f"lost at the threshold again and again: at 10 ms {router.starved(locked)} of "
                f"{router.FLOWS} flows starve and Jain's index is {router.fairness(locked)}, with "
                f"rates spread over 1 %, as everywhere else, {router.starved(fair)} and "
                f"{router.fairness(fair)}; RED, which drops at random, has "
                f"{router.fairness(random)} with equal rates"
            )
        }

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import FamilyPanel, Member

        rates = [
            Member(
                LABELS["threshold"],
                LOCKED_RTTS,
                [router.fairness(runs[f"{prefix}threshold-{rtt}"]) for rtt in LOCKED_RTTS],
                variant,
            )
            for prefix, variant in {"": "", "equal-": "equal access rates"}.items()
        ]
        return _draw(
            [
                *_panels(effort, runs, {"utilisation": router.utilisation, **_LEAST_AND_LONGEST}),
                FamilyPanel("Jain's index\nof goodputs", rates, from_zero=False),
            ]
        )

    def point(rtt: int, queue: router.Tree, **options: Any) -> dict[str, Any]:
        return router.dumbbell(rtt, queue, effort=effort, **options)

    points = _points(effort, _more_at_the_ends(effort, point))
    points |= {
        f"equal-threshold-{rtt}": point(rtt, POLICIES["threshold"], spread=0.0)
        for rtt in LOCKED_RTTS
    }
    points["equal-red-10"] = point(10, POLICIES["red"], spread=0.0)
    points |= {
        f"{name}-200-bin-{bin_s:g}": point(200, queue, bin_s=bin_s, replications=effort.close)
        for name, queue in at_200.items()
        for bin_s in (0.1, COARSE_S)
    }
    return Study(
        subject="red",
        name="fig15",
        title="Figure 15: RED 8/15 and a threshold of 15 packets",
        points=points,
        measure=measure,
        findings=findings,
        draw=draw,
    )


def fig17(effort: Effort) -> Study:
    """Return figure 17: queues in the parking lot under mixed traffic."""

    def longest(runs: Runs, name: str) -> Quantity:
        ends = [runs[f"{name}-{rtt}"] for rtt in ENDS]
        return largest([router.queue_max(run, link) for run in ends for link in LOT])

    def findings(runs: Runs) -> dict[str, str]:
        def red(suffix: str) -> str:
            each = [
                largest([router.queue_max(runs[f"red-{rtt}{suffix}"], link) for link in LOT])
                for rtt in ENDS
            ]
            return " and ".join(map(str, each))

        return {
            "red-17": (
                f"RED's longest queue in {router.READ_S} s is {red('')} packets at 10 and 200 ms, "
                f"and {red('-without-web')} without the bursts of web traffic"
            )
        }

    def of(link: str) -> Callable[[Run], Quantity]:
        return lambda run: router.queue_max(run, link)

    points = _points(effort, _lot(effort, mixed=True))
    for rtt in ENDS:
        tree = router.parking_lot(rtt, POLICIES["red"], effort=effort, mixed=True)
        flows = {name: flow for name, flow in tree["flow"].items() if "web" not in flow}
        points[f"red-{rtt}-without-web"] = {**tree, "flow": flows}
    return Study(
        subject="red",
        name="fig17",
        title="Figure 17: a parking lot with mixed traffic",
        points=points,
        measure=lambda runs: {f"queue_max_{name}": longest(runs, name) for name in POLICIES},
        findings=findings,
        draw=lambda runs: _draw(
            _panels(effort, runs, {f"longest queue\n{link} [packets]": of(link) for link in LOT})
        ),
    )


def costs(effort: Effort, *, lot: bool, mixed: bool) -> Study:
    """Return figure 18, one router, or 19, the lot: delay, loss, throughput and completion."""
    links = LOT if lot else (router.BOTTLENECK,)
    megabytes = effort.megabytes if lot or mixed else effort.megabytes_long

    def delay(run: Run) -> Quantity:
        return router.delay_ms(run, links)

    def loss(run: Run) -> Quantity:
        return router.loss(run, links)

    def throughput(run: Run) -> Quantity:
        return router.throughput(run, links)

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for rtt in effort.rtts:
            for name in POLICIES:
                run, finite = runs[f"{name}-{rtt}"], runs[f"finite-{name}-{rtt}"]
                values[f"delay_{name}_{rtt}"] = delay(run)
                values[f"loss_{name}_{rtt}"] = loss(run)
                values[f"completion_{name}_{rtt}"] = router.completion(finite)
            if not lot:  # where the policies have as many replications
                ratio = throughput(runs[f"threshold-{rtt}"]) / throughput(runs[f"red-{rtt}"])
                values[f"throughput_ratio_{rtt}"] = ratio
            gain = values[f"completion_red_{rtt}"] - values[f"completion_threshold_{rtt}"]
            comparable = 1.0 if megabytes == PAPERS_MEGABYTES else np.nan
            values[f"completion_gain_{rtt}"] = gain * comparable
        return values

    def findings(runs: Runs) -> dict[str, str]:
        def compared(quantity: Callable[[Run], Quantity], prefix: str = "") -> str:
            pairs = [[quantity(runs[f"{prefix}{name}-{rtt}"]) for name in POLICIES] for rtt in ENDS]
            return "; ".join(f"{a} and {b}" for a, b in pairs)

        text = (
            f"RED and threshold at 10 and at 200 ms: throughput {compared(throughput)} Mb/s, delay "
            f"{compared(delay)} ms, loss {compared(loss)}"
        )
        if mixed:
            return {}
        times = f"mean completion times: {compared(router.completion, 'finite-')} s"
        if lot:
            classes = "; ".join(
                f"{words} {compared(partial(router.completion, start=start), 'finite-')} s"
                for start, words in {"through": "through both", "first": "through one"}.items()
            )
            return {
                "red-17": f"{text}; {times}, of flows {classes}: the threshold is kinder to the "
                "longer way, at the cost of the other two thirds of the flows"
            }
        text += ": throughputs part where RED's queue swings and empties"
        return {"red-15": text, "red-16": times}

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import FamilyPanel

        return _draw(
            [
                *_panels(effort, runs, {"queueing\ndelay [ms]": delay, "loss": loss}, zero=True),
                *_panels(effort, runs, {"throughput [Mb/s]": throughput}),
                FamilyPanel(
                    f"completion of\n{megabytes} MB [s]",
                    _members(effort, runs, router.completion, "finite-"),
                    from_zero=False,
                ),
            ]
        )

    number = 19 if lot else 18
    where = "a parking lot" if lot else "one router"
    scenario = _lot(effort, mixed=mixed) if lot else _one(effort, mixed=mixed)

    def finite(rtt: int, queue: router.Tree) -> dict[str, Any]:
        place = router.parking_lot if lot else router.dumbbell
        return place(rtt, queue, effort=effort, mixed=mixed, megabytes=megabytes)

    transfers = _points(effort, finite)
    return Study(
        subject="red",
        name=f"fig{number}" + ("_mixed" if mixed else ""),
        title=f"Figure {number}: RED and threshold at {where}, "
        + ("mixed traffic" if mixed else "Compound flows"),
        points={
            **_points(effort, scenario),
            **{f"finite-{name}": tree for name, tree in transfers.items()},
        },
        measure=measure,
        findings=findings,
        draw=draw,
    )


PAPERS_MEGABYTES = 500
"""What each flow transfers in the paper, and the only size whose gain is compared with it. [MB]"""


def _one(effort: Effort, *, mixed: bool) -> Scenario:
    def point(rtt: int, queue: router.Tree, **options: Any) -> dict[str, Any]:
        return router.dumbbell(rtt, queue, effort=effort, mixed=mixed, **options)

    return point if mixed else _more_at_the_ends(effort, point)


def _more_at_the_ends(effort: Effort, point: Scenario) -> Scenario:
    """More replications where the longest queue and the least utilisation are read."""
    more = {10: effort.close, 200: effort.least}
    return lambda rtt, queue: point(rtt, queue, replications=more.get(rtt))


def _lot(effort: Effort, *, mixed: bool) -> Scenario:
    """More replications with RED and mixed traffic at the ends, whose longest queue is read."""

    def point(rtt: int, queue: router.Tree) -> dict[str, Any]:
        replications = effort.close if mixed and rtt in ENDS and "red" in queue else None
        return router.parking_lot(rtt, queue, effort=effort, mixed=mixed, replications=replications)

    return point


_LEAST_AND_LONGEST: Mapping[str, Callable[[Run], Quantity]] = {
    "least utilisation\nin 0.1 s": router.least_utilisation,
    "longest queue\n[packets]": router.queue_max,
}


def _points(effort: Effort, scenario: Scenario) -> dict[str, dict[str, Any]]:
    return {
        f"{name}-{rtt}": scenario(rtt, queue)
        for name, queue in POLICIES.items()
        for rtt in effort.rtts
    }


def _members(
    effort: Effort, runs: Runs, quantity: Callable[[Run], Quantity], prefix: str = ""
) -> "list[Member]":
    """Return both policies over the round-trip time."""
    from lasthop.plot.family import Member

    return [
        Member(
            LABELS[name],
            effort.rtts,
            [quantity(runs[f"{prefix}{name}-{rtt}"]) for rtt in effort.rtts],
        )
        for name in POLICIES
    ]


def _panels(
    effort: Effort,
    runs: Runs,
    quantities: Mapping[str, Callable[[Run], Quantity]],
    *,
    zero: bool = False,
) -> "list[FamilyPanel]":
    from lasthop.plot.family import FamilyPanel

    return [
        FamilyPanel(label, _members(effort, runs, quantity), from_zero=zero)
        for label, quantity in quantities.items()
    ]


def _draw(panels: "Sequence[FamilyPanel]") -> "Figure":
    from lasthop.plot.family import family_figure

    return family_figure("round-trip time [ms]", panels, panel_mm=38.0)

"""Figures 6 to 13: the queue at one router over the round-trip time, with and without averaging, at
small and large thresholds; of Compound flows alone and of mixed traffic.

Every figure of mixed traffic repeats one of Compound alone, so that both are made here.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.studies.red import router
from lasthop.studies.red.router import Effort
from lasthop.studies.study import Quantity, Run, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.family import FamilyPanel, Member
    from lasthop.plot.figure import Figure

RED = router.red(50, 100)
PLAIN = router.red(50, 100, averaging=False)
ABRUPT = router.red(50, 100, averaging=False, gentle=False)

GROUPS: Mapping[str, tuple[int, int]] = {"small": (5, 15), "large": (100, 300)}
"""Round-trip times of the two halves of the flows. [ms]"""

THRESHOLDS = ((8, 15), (100, 200))
"""Of RED in the third experiment, at 100 ms. [packets]"""

BINS = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Widths over which the least utilisation is shown. [s]"""

BINNED_RTT = 100
"""Round-trip time at which it is. [ms]"""


def titled(figure: int, what: str, mixed: bool) -> str:
    """Return the title of a figure."""
    return f"Figure {figure}: {what}, {'mixed traffic' if mixed else 'Compound flows'}"


CLOSE_RTTS = (50, 100)
"""Where mixed traffic leaves the two regimes of figure 12 close together. [ms]"""

Curve = tuple[str, Sequence[float], Sequence[Run]]
"""Label, abscissae and runs."""


def _router(effort: Effort, rtt_ms: int, queue: router.Tree, *, mixed: bool) -> dict[str, Any]:
    replications = effort.close if mixed and rtt_ms in CLOSE_RTTS else None
    return router.dumbbell(rtt_ms, queue, effort=effort, mixed=mixed, replications=replications)


def members(curves: Sequence[Curve], quantity: Callable[[Run], Quantity]) -> "list[Member]":
    """Return what a panel draws: one quantity of every curve."""
    from lasthop.plot.family import Member

    return [Member(label, x, [quantity(run) for run in runs]) for label, x, runs in curves]


def panels(curves: Sequence[Curve]) -> "list[FamilyPanel]":
    """Return panels of utilisation, queue and windows, each with every curve."""
    from lasthop.plot.family import FamilyPanel

    return [
        FamilyPanel("utilisation", members(curves, router.utilisation), from_zero=False),
        FamilyPanel(
            "least utilisation\nin 0.1 s",
            members(curves, router.least_utilisation),
            from_zero=False,
        ),
        FamilyPanel("deviation of\nthe queue [packets]", members(curves, router.oscillation)),
        FamilyPanel("correlation\nof windows", members(curves, router.synchrony), from_zero=False),
    ]


def over_rtt(effort: Effort, *, mixed: bool) -> Study:
    """Return figure 6 or 10: RED 50/100 over the round-trip time."""
    number = 10 if mixed else 6

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for rtt in (10, 200):
            run = runs[f"{rtt}"]
            values[f"window_{rtt}"] = router.window(run)
            values[f"utilisation_{rtt}"] = router.utilisation(run)
            values[f"utilisation_min_{rtt}"] = router.least_utilisation(run)
            values[f"oscillation_{rtt}"] = router.oscillation(run)
            values[f"synchrony_{rtt}"] = router.synchrony(run)
        return values

    def findings(runs: Runs) -> dict[str, str]:
        if mixed:
            return {}
        here, there, newreno = (runs[name] for name in ("10", "25", "newreno-10"))
        return {
            "red-9": (
                f"windows follow the loss that RED needs to keep the queue: {router.loss(here)} at "
                f"10 ms, and {router.loss(there)} at 25 ms, where the mean is "
                f"{router.window(there)} packets; that is not Compound's doing, NewReno has "
                f"{router.window(newreno)} at 10 ms. The paper gives traces, no mean"
            )
        }

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import family_figure

        curve = ("RED 50/100", effort.rtts, [runs[f"{rtt}"] for rtt in effort.rtts])
        return family_figure("round-trip time [ms]", panels([curve]), panel_mm=38.0)

    points = {f"{rtt}": _router(effort, rtt, RED, mixed=mixed) for rtt in effort.rtts}
    if not mixed:
        points["newreno-10"] = {**points["10"], "tcp": {**router.TCP, "congestion": "newreno"}}
    return Study(
        subject="red",
        name=f"fig{number:02d}",
        title=titled(number, "RED 50/100 over the round-trip time", mixed),
        points=points,
        measure=measure,
        findings=findings,
        draw=draw,
    )


def two_groups(effort: Effort, *, mixed: bool) -> Study:
    """Return figure 7 or 11: two round-trip times at once."""
    number = 11 if mixed else 7

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for name in GROUPS:
            run = runs[name]
            values[f"utilisation_{name}"] = router.utilisation(run)
            values[f"utilisation_min_{name}"] = router.least_utilisation(run)
            values[f"oscillation_{name}"] = router.oscillation(run)
            values[f"synchrony_{name}"] = router.synchrony(run)
        return values

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import family_figure

        places = [float(sum(rtts)) / 2 for rtts in GROUPS.values()]
        curve = ("RED 50/100", places, [runs[name] for name in GROUPS])
        ticks = {
            place: f"{rtts[0]} and {rtts[1]}"
            for place, rtts in zip(places, GROUPS.values(), strict=True)
        }
        return family_figure(
            "round-trip times of the two halves [ms]", panels([curve]), ticks=ticks, panel_mm=38.0
        )

    return Study(
        subject="red",
        name=f"fig{number:02d}",
        title=titled(number, "two groups of round-trip times", mixed),
        points={
            name: router.dumbbell(
                rtts, RED, effort=effort, mixed=mixed, replications=effort.close if mixed else None
            )
            for name, rtts in GROUPS.items()
        },
        measure=measure,
        draw=draw,
    )


def averaging(effort: Effort, *, mixed: bool) -> Study:
    """Return figure 8 or 12: RED with and without averaging."""
    number = 12 if mixed else 8
    queues = {"averaged": RED, "plain": PLAIN}
    labels = {"averaged": "with averaging", "plain": "without"}

    def measure(runs: Runs) -> dict[str, Quantity]:
        values = {
            f"utilisation_min_{name}_{rtt}": router.least_utilisation(runs[f"{name}-{rtt}"])
            for name in queues
            for rtt in effort.rtts
        }
        values["queue_max_plain"] = router.queue_max(runs["plain-25"])
        values["queue_max_averaged"] = router.queue_max(runs["averaged-25"])
        return values

    def findings(runs: Runs) -> dict[str, str]:
        longest = [router.queue_max(runs[name]) for name in ("plain-25", "abrupt-25")]

        def least(name: str, bin_s: float) -> Quantity:
            return router.least_utilisation(runs[f"{name}-bin-{bin_s:g}"])

        shown = "; ".join(
            f"{bin_s:g} s: {least('averaged', bin_s)} and {least('plain', bin_s)}" for bin_s in BINS
        )
        at = [runs[f"{name}-{BINNED_RTT}"] for name in queues]
        means = " and ".join(str(router.utilisation(run)) for run in at)
        lengths = " and ".join(str(router.queue_mean(run)) for run in at)
        return {
            "red-13" if mixed else "red-11": (
                f"least utilisation at {BINNED_RTT} ms with and without averaging, by the width of "
                f"the bins: {shown}; mean utilisation {means}, mean queue {lengths} packets; the "
                f"longest queue without averaging at 25 ms is {longest[0]} packets with the one in "
                f"service, and {longest[1]} with gentle off, when nothing enters beyond 100 waiting"
            )
        }

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import FamilyPanel, family_figure

        curves = [
            (label, effort.rtts, [runs[f"{name}-{rtt}"] for rtt in effort.rtts])
            for name, label in labels.items()
        ]
        binned = [
            (label, BINS, [runs[f"{name}-bin-{bin_s:g}"] for bin_s in BINS])
            for name, label in labels.items()
        ]
        least = FamilyPanel(
            f"least utilisation\nat {BINNED_RTT} ms",
            members(binned, router.least_utilisation),
            from_zero=False,
            x_label="width of the bins [s]",
        )
        return family_figure("round-trip time [ms]", [*panels(curves), least], panel_mm=38.0)

    points = {
        f"{name}-{rtt}": _router(effort, rtt, queue, mixed=mixed)
        for name, queue in queues.items()
        for rtt in effort.rtts
    }
    points["abrupt-25"] = _router(effort, 25, ABRUPT, mixed=mixed)
    points |= {
        f"{name}-bin-{bin_s:g}": router.dumbbell(
            BINNED_RTT, queue, effort=effort, mixed=mixed, bin_s=bin_s
        )
        for name, queue in queues.items()
        for bin_s in BINS
    }
    return Study(
        subject="red",
        name=f"fig{number:02d}",
        title=titled(number, "RED with and without averaging", mixed),
        points=points,
        measure=measure,
        findings=findings,
        draw=draw,
    )


def thresholds(effort: Effort, *, mixed: bool) -> Study:
    """Return figure 9 or 13: small and large thresholds of RED."""
    number = 13 if mixed else 9

    def measure(runs: Runs) -> dict[str, Quantity]:
        return {
            f"oscillation_{low}_{high}": router.oscillation(runs[f"{low}-{high}"])
            for low, high in THRESHOLDS
        }

    def findings(runs: Runs) -> dict[str, str]:
        small, large = (runs[f"{low}-{high}"] for low, high in THRESHOLDS)
        relative = [router.oscillation(run) / router.queue_mean(run) for run in (small, large)]
        return {
            "red-13" if mixed else "red-12": (
                f"the deviation is {router.oscillation(small)} packets with 8/15 and "
                f"{router.oscillation(large)} with 100/200, but over the mean queue it is "
                f"{relative[0]} and {relative[1]}; windows correlate by {router.synchrony(small)} "
                f"and {router.synchrony(large)}, and the least utilisation is "
                f"{router.least_utilisation(small)} and {router.least_utilisation(large)}: the "
                "larger queue swings further mostly because it is larger"
            )
        }

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import family_figure

        places = [float(high) for _, high in THRESHOLDS]
        curve = ("RTT 100 ms", places, [runs[f"{low}-{high}"] for low, high in THRESHOLDS])
        ticks = {float(high): f"{low}/{high}" for low, high in THRESHOLDS}
        return family_figure("thresholds [packets]", panels([curve]), ticks=ticks, panel_mm=38.0)

    return Study(
        subject="red",
        name=f"fig{number:02d}",
        title=titled(number, "thresholds of RED at 100 ms", mixed),
        points={
            f"{low}-{high}": router.dumbbell(100, router.red(low, high), effort=effort, mixed=mixed)
            for low, high in THRESHOLDS
        },
        measure=measure,
        findings=findings,
        draw=draw,
    )

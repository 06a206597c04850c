"""Figures 15 and 17 to 19: RED 8/15 against the threshold policy of 15 packets, at one router and
in a parking lot: queues, delay, loss, goodput and completion times.

The threshold policy is a drop-tail queue of 15 packets: RED is compared with a small buffer.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lasthop.studies.red import router
from lasthop.studies.red.router import POLICIES, RTTS
from lasthop.studies.study import Quantity, Run, Runs, Study, largest

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

LABELS: Mapping[str, str] = {"red": "RED 8/15", "threshold": "threshold 15"}

MEGABYTES = 500
"""What each flow transfers where completion times are taken. [MB]"""

SEGMENTS = MEGABYTES * 1_000_000 // 1460 + 1

LOT = ("bottleneck-1", "bottleneck-2")
"""The queues of the parking lot."""

Scenario = Callable[..., dict[str, Any]]


def fig15() -> Study:
    """Return figure 15: queue and utilisation at 10 and 200 ms."""

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for name in POLICIES:
            for rtt in RTTS:
                run = runs[f"{name}-{rtt}"]
                values[f"utilisation_{name}_{rtt}"] = router.utilisation(run)
                values[f"utilisation_min_{name}_{rtt}"] = router.least_utilisation(run)
            ends = [runs[f"{name}-{rtt}"] for rtt in (10, 200)]
            values[f"queue_max_{name}"] = largest([router.queue_max(run) for run in ends])
        return values

    def findings(runs: Runs) -> dict[str, str]:
        red, small = (runs[f"{name}-200"] for name in POLICIES)
        return {
            "red-14": (
                f"at 200 ms the least utilisation is {router.least_utilisation(small)} with the "
                f"threshold and {router.least_utilisation(red)} with RED, over 0.1 s; windows "
                f"correlate by {router.synchrony(small)} and {router.synchrony(red)}"
            )
        }

    return Study(
        subject="red",
        name="fig15",
        title="Figure 15: RED 8/15 and a threshold of 15 packets",
        points=_points(router.dumbbell),
        measure=measure,
        findings=findings,
        draw=lambda runs: _draw(runs, (("utilisation", router.utilisation), _LEAST, _LONGEST)),
    )


def fig17() -> Study:
    """Return figure 17: queues in the parking lot under mixed traffic."""

    def measure(runs: Runs) -> dict[str, Quantity]:
        def longest(name: str) -> Quantity:
            ends = [runs[f"{name}-{rtt}"] for rtt in (10, 200)]
            return largest([router.queue_max(run, link) for run in ends for link in LOT])

        return {f"queue_max_{name}": longest(name) for name in POLICIES}

    def of(link: str) -> Callable[[Run], Quantity]:
        return lambda run: router.queue_max(run, link)

    return Study(
        subject="red",
        name="fig17",
        title="Figure 17: a parking lot with mixed traffic",
        points=_points(lambda rtt, queue: router.parking_lot(rtt, queue, mixed=True)),
        measure=measure,
        draw=lambda runs: _draw(
            runs, tuple((f"longest queue\n{link} [packets]", of(link)) for link in LOT)
        ),
    )


def costs(number: int) -> Study:
    """Return figure 18, one router, or 19, the parking lot: delay, loss, goodput and completion."""
    lot = number == 19
    scenario: Scenario = router.parking_lot if lot else router.dumbbell
    links = LOT if lot else (router.BOTTLENECK,)

    def delay(run: Run) -> Quantity:
        return router.delay_ms(run, links)

    def loss(run: Run) -> Quantity:
        return router.loss(run, links)

    def measure(runs: Runs) -> dict[str, Quantity]:
        values: dict[str, Quantity] = {}
        for rtt in RTTS:
            for name in POLICIES:
                run, finite = runs[f"{name}-{rtt}"], runs[f"finite-{name}-{rtt}"]
                values[f"delay_{name}_{rtt}"] = delay(run)
                values[f"loss_{name}_{rtt}"] = loss(run)
                values[f"completion_{name}_{rtt}"] = router.completion(finite)
            ratio = router.goodput(runs[f"threshold-{rtt}"]) / router.goodput(runs[f"red-{rtt}"])
            values[f"throughput_ratio_{rtt}"] = ratio
            gain = values[f"completion_red_{rtt}"] - values[f"completion_threshold_{rtt}"]
            values[f"completion_gain_{rtt}"] = gain
        return values

    def findings(runs: Runs) -> dict[str, str]:
        def compared(quantity: Callable[[Run], Quantity], prefix: str = "") -> str:
            pairs = [
                [quantity(runs[f"{prefix}{name}-{rtt}"]) for name in POLICIES] for rtt in (10, 200)
            ]
            return "; ".join(f"{a} and {b}" for a, b in pairs)

        text = (
            f"RED and threshold at 10 and at 200 ms: goodput {compared(router.goodput)} Mb/s, "
            f"delay {compared(delay)} ms, loss {compared(loss)}"
        )
        if lot:
            return {"red-17": text}
        times = compared(router.completion, "finite-")
        return {"red-15": text, "red-16": f"mean completion times: {times} s"}

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.family import FamilyPanel, Member, family_figure

        def members(quantity: Callable[[Run], Quantity], prefix: str = "") -> list[Member]:
            return [
                Member(
                    LABELS[name], RTTS, [quantity(runs[f"{prefix}{name}-{rtt}"]) for rtt in RTTS]
                )
                for name in POLICIES
            ]

        return family_figure(
            "round-trip time [ms]",
            [
                FamilyPanel("queueing\ndelay [ms]", members(delay)),
                FamilyPanel("loss", members(loss)),
                FamilyPanel("goodput [Mb/s]", members(router.goodput), from_zero=False),
                FamilyPanel(
                    f"completion of\n{MEGABYTES} MB [s]",
                    members(router.completion, "finite-"),
                    from_zero=False,
                ),
            ],
            panel_mm=38.0,
        )

    where = "a parking lot" if lot else "one router"
    finite = _points(lambda rtt, queue: scenario(rtt, queue, segments=SEGMENTS))
    return Study(
        subject="red",
        name=f"fig{number}",
        title=f"Figure {number}: RED and threshold at {where}, Compound flows",
        points={**_points(scenario), **{f"finite-{name}": tree for name, tree in finite.items()}},
        measure=measure,
        findings=findings,
        draw=draw,
    )


_LEAST = ("least utilisation\nin 0.1 s", router.least_utilisation)
_LONGEST = ("longest queue\n[packets]", router.queue_max)


def _points(scenario: Scenario) -> dict[str, dict[str, Any]]:
    return {
        f"{name}-{rtt}": scenario(rtt, queue) for name, queue in POLICIES.items() for rtt in RTTS
    }


def _draw(
    runs: Runs,
    quantities: Sequence[tuple[str, Callable[[Run], Quantity]]],
) -> "Figure":
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    def members(quantity: Callable[[Run], Quantity]) -> list[Member]:
        return [
            Member(LABELS[name], RTTS, [quantity(runs[f"{name}-{rtt}"]) for rtt in RTTS])
            for name in POLICIES
        ]

    return family_figure(
        "round-trip time [ms]",
        [FamilyPanel(label, members(quantity), from_zero=False) for label, quantity in quantities],
    )

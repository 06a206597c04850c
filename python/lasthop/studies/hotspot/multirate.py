"""Figures 7 and 10: station 1 at 2 Mb/s beside the same cell at 11 Mb/s."""

from typing import TYPE_CHECKING

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import (
    CONNECTIONS,
    LOSSLESS_QUEUE,
    SLOW,
    connections,
    named,
    read,
)
from lasthop.studies.study import Quantity, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


def _measure(runs: Runs) -> dict[str, Quantity]:
    slow = read(runs, CONNECTIONS, cell.fairness, "slow-")
    fast = read(runs, CONNECTIONS, cell.fairness, "fast-")
    ratios = [s / f for s, f in zip(slow, fast, strict=True)]
    return {**named("eta", CONNECTIONS, slow), **named("eta_ratio", CONNECTIONS, ratios)}


def study(name: str, number: int, direction: str) -> Study:
    """Return the study of one direction, ``upload`` or ``download``."""

    lossless = f"{direction}s, station 1 at {SLOW}, AP buffer {LOSSLESS_QUEUE}"
    isolating = {
        "lossless": cell.scenario(
            lossless, {direction: 1, "rate": SLOW}, {direction: 1}, ap_queue=LOSSLESS_QUEUE
        )
    }

    def findings(runs: Runs) -> dict[str, str]:
        ratio = cell.fairness(runs["slow-1"]) / cell.fairness(runs["fast-1"])
        return {
            "hotspot-6": (
                f"one {direction} each: eta at 2 Mb/s is {ratio} of that at 11 Mb/s; where nothing "
                f"is lost (AP buffer {LOSSLESS_QUEUE}) eta at 2 Mb/s is "
                f"{cell.fairness(runs['lossless'])}. Losses are not quite independent of the rate"
            )
        }

    def draw(runs: Runs) -> "Figure":
        from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

        slow, fast = (
            Curve(CONNECTIONS, read(runs, CONNECTIONS, cell.fairness, prefix), label, hollow)
            for prefix, label, hollow in (("slow-", "2 Mb/s", False), ("fast-", "11 Mb/s", True))
        )
        ratio = Curve(
            CONNECTIONS,
            [s / f for s, f in zip(slow.quantities, fast.quantities, strict=True)],
            slow.label,
        )
        heading = f"station 1 at 2 Mb/s: X {direction}s against 1"
        return sweep_figure(
            f"{direction}s of station 1",
            [
                Panel("fairness level η₁₂", [fast, slow], title=heading),
                Panel(
                    "η₁₂ at 2 Mb/s\n/ η₁₂ at 11 Mb/s",
                    [ratio],
                    Stated.value(CONNECTIONS, [1.0] * len(CONNECTIONS)),
                    from_zero=False,
                ),
            ],
        )

    slow, fast = connections(direction, direction, rate=SLOW), connections(direction, direction)
    return Study(
        subject="hotspot",
        name=name,
        title=f"Figure {number}: station 1 at 2 Mb/s, X {direction}s against one",
        points={
            **{f"slow-{x}": tree for x, tree in slow.items()},
            **{f"fast-{x}": tree for x, tree in fast.items()},
            **isolating,
        },
        measure=_measure,
        draw=draw,
        findings=findings,
    )


FIG07 = study("fig07", 7, "download")
FIG10 = study("fig10", 10, "upload")

"""Draw the pictures of the concept pages and guides: ``python docs/figures.py [NAME ...]``."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import claims
import guide_figures
import home_figures
import numpy as np

from lasthop import simulate
from lasthop.plot.conflicts import conflict_figure
from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title
from lasthop.plot.stability import draw_branch
from lasthop.stability import (
    Axis,
    Case,
    branch,
    chart,
    hopf_points,
    integrate,
    normal_form,
    roots,
    sweep,
)
from lasthop.studies import ax, kept
from lasthop.studies.study import Study
from lasthop.studies.vbs.updown import OPPOSITE

DCF = {"csma.access": "dcf", "csma.queue": 50}
IMAGES = Path(__file__).parent / "images"
DPI = 160
CASE = Case.of("red", gamma=0.03)
"""Fluid model of RED with averaging, whose Hopf bifurcation is at a round-trip time of 171 ms."""


def starving() -> Figure:
    """Draw the air time of the links of four networks: with 802.11, where the link in the middle
    starves, and with adaptive CSMA.
    """
    file = Path(__file__).parents[1] / "examples/csma.toml"
    return conflict_figure(
        [
            ("802.11: the link in the middle starves", simulate(file, settings=DCF)),
            ("adaptive CSMA, AQM and n = k T connections", simulate(file)),
        ]
    )


def trajectories() -> Figure:
    """Draw the window after a disturbance: before, at and after the Hopf bifurcation."""
    with house_style(95.0) as figure:
        column = figure.subplots(3, 1, sharex=True)
        for axes, rtt in zip(column, (0.12, 0.171, 0.2), strict=True):
            case = CASE.with_(rtt=rtt)
            trajectory = integrate(case, 120.0, start={"window": 1.3 * case.equilibrium[0]})
            times = np.linspace(0.0, 120.0, 3000)
            axes.plot(times, trajectory.at(times)[0], color=MODEL, linewidth=0.8)
            axes.axhline(case.equilibrium[0], color=QUIET, linewidth=0.8, linestyle="--")
            axes.set_ylabel("window\n[packets]")
            title(axes, f"round-trip time {1e3 * rtt:g} ms")
        column[-1].set_xlabel("time [s]")
        return figure


def crossing() -> Figure:
    """Draw the rightmost pair of characteristic roots as it crosses the imaginary axis."""
    with house_style(62.0) as figure:
        axes = figure.subplots()
        delays = np.linspace(0.1, 0.26, 60)
        pairs = np.array([roots(CASE.with_(rtt=rtt), 2).values[0] for rtt in delays])
        for sign in (1.0, -1.0):
            axes.plot(pairs.real, sign * np.abs(pairs.imag), color=MODEL)
        for rtt in (0.1, 0.171, 0.26):
            root = roots(CASE.with_(rtt=rtt), 2).values[0]
            axes.plot([root.real] * 2, [root.imag, -root.imag], "o", color=MODEL)
            axes.annotate(
                f"{1e3 * rtt:g} ms", (root.real, abs(root.imag)), (4, 5), textcoords="offset points"
            )
        axes.axvline(0.0, color="black", linewidth=0.8)
        axes.set_xlabel("growth rate [1/s]")
        axes.set_ylabel("frequency [rad/s]")
        axes.set_ylim(-1.4, 1.4)
        return figure


def kinds() -> Figure:
    """Draw the amplitude of oscillations as a function of the parameter, for a super-critical and a
    sub-critical Hopf bifurcation.
    """
    with house_style(100.0) as figure:
        column = figure.subplots(2, 1)
        for axes, gamma, low, high in zip(
            column, (0.03, 0.002), (0.165, 0.082), (0.1745, 0.098), strict=True
        ):
            [point] = hopf_points(CASE.with_(gamma=gamma), "rtt", 0.01, 1.0)
            traced = branch(point, low, high, cycles=30)
            heights = [cycle.amplitude for cycle in traced.cycles]
            draw_branch(axes, traced, heights, at_hopf=0.0)
            axes.plot([low, point.value], [0.0, 0.0], color="black", linewidth=1.4)
            axes.plot([point.value, high], [0.0, 0.0], color="black", linestyle=":")
            kind = "super" if normal_form(point).supercritical else "sub"
            title(axes, f"{kind}-critical: gain of the average {gamma:g}")
            axes.set_xlim(low, high)
            axes.locator_params(axis="x", nbins=6)
            axes.set_ylabel("amplitude [packets]")
        column[-1].set_xlabel("round-trip time τ [s]")
        return figure


def region() -> Figure:
    """Draw the region in which RED is stable, as a function of the round-trip time and the gain
    gamma of its averaging.
    """
    from lasthop.plot.stability import chart_figure

    return chart_figure(chart(Case.of("red"), Axis("gamma", 1e-4, 0.5), Axis("rtt", 0.01, 0.5)))


def sides() -> Figure:
    """Draw the amplitudes found with increasing and with decreasing round-trip time. Before a
    sub-critical Hopf bifurcation, they show an equilibrium and an oscillation for the same
    parameters.
    """
    case = CASE.with_(gamma=0.002)
    [point] = hopf_points(case, "rtt", 0.01, 1.0)
    swept = sweep(case, Axis("rtt", 0.0845, 0.0955), 12)
    with house_style(62.0) as figure:
        axes = figure.subplots()
        for ends, color, marker, label in (
            (swept.down, MODEL, "<", "coming back"),
            (swept.up, SIMULATION, ">", "going up"),
        ):
            heights = [np.nan if end is None else end.amplitude for end in ends]
            axes.plot(1e3 * swept.values, heights, color=color, marker=marker, label=label)
        axes.axvline(1e3 * point.value, color=QUIET, linestyle="--", label="Hopf point")
        axes.set_xlabel("round-trip time τ [ms]")
        axes.set_ylabel("amplitude [packets]")
        axes.legend(loc="upper left")
        return figure


def stored_figure(study: Study) -> Figure:
    """Return the picture of a study, drawn from its stored runs."""
    assert study.draw is not None
    content = {**claims.load(), "runs": claims.samples()}
    return study.draw(kept.runs_of(study, content))


PICTURES: dict[str, Callable[[], Figure]] = {
    **{f"hopf-{each.__name__}": each for each in (trajectories, crossing, kinds, sides, region)},
    "csma-starving": starving,
    **{study.key: partial(stored_figure, study) for study in (*ax.STUDIES, OPPOSITE)},
    **guide_figures.PICTURES,
    **home_figures.PICTURES,
}
"""Functions that draw the pictures, by file name."""


def main(names: list[str]) -> None:
    """Write the pictures with these names, or all pictures."""
    for name in names or PICTURES:
        PICTURES[name]().savefig(IMAGES / f"{name}.png", dpi=DPI)
        print(f"{name}.png", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])

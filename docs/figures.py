"""Draws the pictures of the concepts pages: ``python docs/figures.py``."""

from pathlib import Path

import numpy as np

from lasthop.plot.figure import MODEL, QUIET, Figure, house_style, title
from lasthop.plot.stability import draw_branch
from lasthop.stability import Axis, Case, branch, chart, hopf_points, integrate, normal_form, roots

IMAGES = Path(__file__).parent / "images"
CASE = Case.of("red", gamma=0.03)
"""RED with averaging, critical at a round-trip time of 171 ms."""


def motions() -> Figure:
    """The window after a push, before, at and beyond the Hopf point."""
    with house_style(95.0) as figure:
        column = figure.subplots(3, 1, sharex=True)
        for axes, rtt in zip(column, (0.12, 0.171, 0.2), strict=True):
            case = CASE.with_(rtt=rtt)
            motion = integrate(case, 120.0, start={"window": 1.3 * case.equilibrium[0]})
            times = np.linspace(0.0, 120.0, 3000)
            axes.plot(times, motion.at(times)[0], color=MODEL, linewidth=0.8)
            axes.axhline(case.equilibrium[0], color=QUIET, linewidth=0.8, linestyle="--")
            axes.set_ylabel("window\n[packets]")
            title(axes, f"round-trip time {1e3 * rtt:g} ms")
        column[-1].set_xlabel("time [s]")
        return figure


def crossing() -> Figure:
    """The rightmost pair of roots on its way over the imaginary axis."""
    with house_style(62.0) as figure:
        axes = figure.subplots()
        delays = np.linspace(0.1, 0.26, 60)
        found = np.array([roots(CASE.with_(rtt=rtt), 2).values[0] for rtt in delays])
        for sign in (1.0, -1.0):
            axes.plot(found.real, sign * np.abs(found.imag), color=MODEL)
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
    """Swing over the parameter: super-critical and sub-critical."""
    with house_style(100.0) as figure:
        column = figure.subplots(2, 1)
        for axes, gamma, low, high in zip(
            column, (0.03, 0.002), (0.165, 0.082), (0.1745, 0.098), strict=True
        ):
            [point] = hopf_points(CASE.with_(gamma=gamma), "rtt", 0.01, 1.0)
            traced = branch(point, low, high, cycles=30)
            draw_branch(axes, traced, [cycle.amplitude for cycle in traced.cycles])
            axes.plot([low, point.value], [0.0, 0.0], color="black", linewidth=1.4)
            axes.plot([point.value, high], [0.0, 0.0], color="black", linestyle=":")
            kind = "super" if normal_form(point).supercritical else "sub"
            title(axes, f"{kind}-critical: gain of the average {gamma:g}")
            axes.set_xlim(low, high)
            axes.set_ylabel("swing of the window [packets]")
        column[-1].set_xlabel("round-trip time τ [s]")
        return figure


def region() -> Figure:
    """Where RED is stable over round-trip time and gain of its average."""
    from lasthop.plot.stability import chart_figure

    return chart_figure(chart(Case.of("red"), Axis("gamma", 1e-4, 0.5), Axis("rtt", 0.01, 0.5)))


def main() -> None:
    """Write every picture."""
    for draw in (motions, crossing, kinds, region):
        draw().savefig(IMAGES / f"hopf-{draw.__name__}.png", dpi=160)


if __name__ == "__main__":
    main()

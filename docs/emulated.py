"""Draw emulated fairness for validation.md: ``python docs/emulated.py``, in eight minutes.

The picture shows the fairness level of paper 002's figures 5 and 6 without a bottleneck. The
fairness level is predicted, simulated, and emulated with the kernel's TCP (with and without quick
ACKs).
"""

from pathlib import Path
from typing import Any

import lasthop as lh
from lasthop.answers.answer import Answer
from lasthop.emulation import emulate
from lasthop.plot.figure import MODEL, QUIET, SIMULATION, Figure, house_style, title

IMAGE = Path(__file__).parent / "images" / "eta-emulated.png"

CONNECTIONS = range(1, 7)


def cell(direction: str, count: int) -> dict[str, Any]:
    """Return a cell in which station 1 has `count` connections and four other stations have one
    download each.
    """
    return {
        "name": f"{count} x {direction} against a download",
        "duration": "22 s",
        "warmup": "6 s",
        "replications": 20,
        "stagger": "100 ms",
        "cell": {"phy": "802.11b", "ap_queue": 75},
        "tcp": {"congestion": "reno", "window": 42},
        "station": {"first": {direction: count}, "others": {"count": 4, "download": 1}},
    }


def eta(answer: Answer) -> float:
    """Return the fairness level: goodput of station 1 divided by the mean goodput of the other
    stations. [-]
    """
    shares = answer.stations["goodput_share"]
    return float(shares["first"] / shares.drop("first").mean())


def figure() -> Figure:
    """Draw two panels: uploads and downloads of station 1."""
    with house_style(110.0) as drawn:
        for axes, direction in zip(
            drawn.subplots(2, sharex=True), ("upload", "download"), strict=True
        ):
            cells = [cell(direction, count) for count in CONNECTIONS]
            predicted = [eta(lh.predict(scenario)) for scenario in cells]
            simulated = [eta(lh.simulate(scenario, jobs=1)) for scenario in cells]
            emulated = [eta(emulate(scenario)) for scenario in cells]
            slower = [eta(emulate(scenario, quick_acks=False)) for scenario in cells]
            rows = (predicted, simulated, emulated, slower)
            print(direction, *(f"{row!r}" for row in rows), sep="\n", flush=True)
            axes.plot(CONNECTIONS, predicted, color=MODEL, label="model")
            axes.plot(CONNECTIONS, simulated, "o", color=SIMULATION, label="simulation")
            axes.plot(CONNECTIONS, emulated, "x", color="black", label="emulation, kernel TCP")
            label = "emulation, no quick ACKs"
            axes.plot(CONNECTIONS, slower, "+", color="black", markersize=8, label=label)
            axes.axhline(1.0, color=QUIET, linewidth=0.8, linestyle="--")
            axes.set_ylim(bottom=0)
            axes.set_ylabel("fairness level η₁₂")
            title(axes, f"X {direction}s against a download each of four")
        axes.set_xlabel("connections of station 1, X")
        drawn.axes[0].legend()
        return drawn


if __name__ == "__main__":
    figure().savefig(IMAGE)

"""RED's drop probability over the average queue (004, eqs. 6, 7, 25), and its settings."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from lasthop.stability.parameters import Choice, Number, Parameter

ROUNDING = 1e-12
"""Part of a queue that scaling it forth and back may add. [-]"""

FLOWS = Number(
    "flows",
    60.0,
    "-",
    "number of flows; used where queue is total, or link_capacity or queue_weight is set",
)

RED: tuple[Parameter, ...] = (
    Number("min_th", 50.0, "packets", "lower threshold", closed=True),
    Number("max_th", 550.0, "packets", "upper threshold"),
    Number("max_p", 0.1, "-", "drop probability at the upper threshold", high=1.0),
    Choice(
        "drop",
        "gentle",
        ("gentle", "strict", "linear"),
        "drops beyond max_th: up to 1 at twice max_th (eq. 6), 1, or the line of eq. (7)",
    ),
    Choice(
        "queue",
        "per_flow",
        ("per_flow", "total"),
        "queue that the thresholds count: that of one flow, as in the papers, or of all flows",
    ),
    FLOWS,
    Choice(
        "feedback", "loss", ("loss", "ecn"), "whether packets are dropped, or marked and served"
    ),
    Choice(
        "delay",
        "propagation",
        ("propagation", "queueing"),
        "whether the round-trip time is only rtt, as in the papers, or rtt and the queueing delay",
    ),
)
"""Parameters of RED; the defaults are those of the paper's section II-C."""


def settings(values: Mapping[str, Any]) -> dict[str, Any]:
    r"""Return slopes and scale of the drop law.

    .. math:: \rho = \bar p / (\bar b - \underline b), \quad \eta = (1 - \bar p) / \bar b

    Notes
    -----
    Manjunath & Raina, after Eq. (6). With ``queue = "total"`` thresholds count the queue of all
    flows, which is ``scale`` times the queue of one flow, the state of the models.
    """
    low, high, top = values["min_th"], values["max_th"], values["max_p"]
    with np.errstate(divide="ignore", invalid="ignore"):
        rho = np.where(np.asarray(high) > low, np.divide(top, np.subtract(high, low)), np.nan)
    scale = values["flows"] if values["queue"] == "total" else 1.0
    return {"rho": rho[()], "eta": (1.0 - top) / high, "scale": scale}


def queue_at(p: Mapping[str, Any], loss: Any) -> Any:
    """Return the queue per flow at which packets are dropped with probability `loss`. [packets]

    NaN where the law has no such queue.
    """
    linear = p["min_th"] + loss / p["rho"]
    if p["drop"] == "linear":
        return linear / p["scale"]
    beyond = np.nan
    if p["drop"] == "gentle":
        with np.errstate(divide="ignore", invalid="ignore"):  # eta is 0 where max_p is 1
            beyond = np.divide(loss + 1.0 - 2.0 * p["max_p"], p["eta"])
    return np.where(loss <= p["max_p"], linear, beyond) / p["scale"]


def piece(p: Mapping[str, Any], loss: Any) -> Any:
    """Return 1 where the average is beyond the upper threshold, on another line, else 0."""
    return np.asarray((p["drop"] == "gentle") & (np.asarray(loss) > p["max_p"]), dtype=np.int64)


def line(p: Mapping[str, Any], loss: Any) -> dict[str, Any]:
    """Return slope and offset of the law's piece at the equilibrium: slope * queue - offset."""
    gentle = piece(p, loss) > 0
    slope = np.where(gentle, p["eta"], p["rho"])[()]
    offset = np.where(gentle, 1.0 - 2.0 * p["max_p"], p["rho"] * p["min_th"])[()]
    return {"slope": slope * p["scale"], "offset": offset}


def law(p: Mapping[str, Any], average: Any) -> Any:
    """Return the drop probability at an average queue per flow. [-]

    It is that of the piece at the equilibrium, unless ``p["constrained"]`` asks for all of (6).
    """
    if not p.get("constrained"):
        return p["slope"] * average - p["offset"]
    queue = p["scale"] * average
    if queue <= p["min_th"]:
        return 0.0
    if p["drop"] == "linear":
        return min(1.0, p["rho"] * (queue - p["min_th"]))
    if queue <= p["max_th"] * (1.0 + ROUNDING):
        return p["rho"] * (queue - p["min_th"])
    if p["drop"] == "gentle":
        return min(1.0, p["eta"] * queue - (1.0 - 2.0 * p["max_p"]))
    return 1.0

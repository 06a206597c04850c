"""Figures 8 and 11: the receive window of station 1 against 42 packets of the others."""

import numpy as np

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import WINDOWS, picture, windows
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Run, Runs, Study, largest, mean_of

STATED = {
    "upload": [(w, w / cell.WINDOW) for w in WINDOWS],
    "download": [(w, 1.0) for w in WINDOWS if w > 24],
}
"""Fairness levels that the paper states, by direction. [-]"""

INACCURATE = (16, 20, 24)
"""Windows of 24 to 36 kbytes, for which the paper reports inaccuracies of the model. [packets]"""

DOWNLOADS = windows("download")
UPLOADS = windows("upload")


def error(run: Run) -> Quantity:
    """Return the relative difference of eta from the model, positive on average. [-]"""
    eta = cell.fairness(run)
    if eta.predicted is None:
        return Quantity(np.full_like(eta.samples, np.nan))
    difference = eta.samples / eta.predicted - 1.0
    return Quantity(np.copysign(1.0, difference.mean()) * difference)


def errors(runs: Runs) -> dict[str, Quantity]:
    """Return eta, and the largest differences from the model in figure 8. [-]"""
    parts = {
        "16_24": DOWNLOADS.at(x=INACCURATE),
        "elsewhere": DOWNLOADS.at(x=[w for w in WINDOWS if w not in INACCURATE]),
    }
    return {
        **DOWNLOADS.values(runs, {"eta_{x}": cell.fairness}),
        **{f"error_{part}": largest(sweep.read(runs, error)) for part, sweep in parts.items()},
    }


def rtt_ratio(run: Run) -> Quantity:
    """Return the round trip of station 1's upload over that of the others'. [-]"""
    return cell.rtt(run, "first/up/1") / mean_of(
        [cell.rtt(run, f"{station}/up/1") for station in cell.others(run)]
    )


def segment_loss(run: Run) -> Quantity:
    """Return the largest part of segments that a connection loses. [-]"""
    flows = run.items("flows")
    return largest([run.quantity("flows", flow, "loss_probability") for flow in flows])


def others_queue(run: Run) -> Quantity:
    """Return the largest mean queue of the other stations. [packets]"""
    names = cell.others(run)
    return largest([run.quantity("stations", name, "queue_packets") for name in names])


def empty_buffers(runs: Runs) -> dict[str, Quantity]:
    """Return eta, stations' queues, round trips and losses of figure 11, and its mean goodput."""
    table = {
        "eta_{x}": cell.fairness,
        "queue_{x}": cell.station_queue,
        "others_queue_{x}": others_queue,
        "rtt_ratio_{x}": rtt_ratio,
        "segment_loss_{x}": segment_loss,
    }
    values = UPLOADS.values(runs, table)
    return values | {"goodput": mean_of(UPLOADS.read(runs, cell.total))}


def panel(direction: str) -> Panel:
    """Return the fairness level over the window of station 1."""
    return Panel(
        "fairness level η₁₂",
        (DOWNLOADS if direction == "download" else UPLOADS).lines("", "x", cell.fairness),
        f"one {direction} each, window W₁ against {cell.WINDOW}",
        stated=STATED[direction],
    )


LABEL = "receive window of station 1, W₁ [packets]"

FIG08 = Study(
    key="hotspot-fig08",
    title="Figure 8: downloads, receive window of station 1 from 6 to 42 packets",
    points=DOWNLOADS.points(),
    measure=errors,
    shown=lambda runs: DOWNLOADS.values(runs, cell.STANDING),
    draw=picture(LABEL, [panel("download")]).draw,
)

FIG11 = Study(
    key="hotspot-fig11",
    title="Figure 11: uploads, receive window of station 1 from 6 to 42 packets",
    points=UPLOADS.points(),
    measure=empty_buffers,
    shown=lambda runs: UPLOADS.values(runs, {"loss_{x}": cell.ap_loss}),
    draw=picture(LABEL, [panel("upload")]).draw,
)

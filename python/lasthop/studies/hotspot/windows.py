"""Figures 8 and 11: receive windows of station 1. The other stations have windows of 42 packets."""

from collections.abc import Mapping

import numpy as np

from lasthop.answers.digits import plain
from lasthop.models.hotspot.padhye import received_per_rtt
from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import LOSSLESS_QUEUE, WINDOWS, picture, windows
from lasthop.studies.picture import Panel
from lasthop.studies.study import (
    Quantity,
    Read,
    Run,
    Runs,
    Study,
    about,
    changed,
    largest,
    listed,
    mean_of,
)
from lasthop.studies.sweep import Sweep, points_of

STATED = {
    "upload": [(w, w / cell.WINDOW) for w in WINDOWS],
    "download": [(w, 1.0) for w in WINDOWS if w > 24],
}
"""Fairness levels that the paper states, by direction of the connections. [-]"""

INACCURATE = (16, 20, 24)
"""Windows of 24 to 36 kbytes, for which the paper reports inaccuracies of the model. [packets]"""

DOWNLOADS = windows("download")
UPLOADS = windows("upload")

RANDOM_LOSS = 0.004
"""Loss probability of segments on the wire, similar to that of the access point's buffer. [-]"""


def random_losses(x: int) -> cell.Tree:
    """Return a scenario of figure 8 with random losses on the wire and no losses in the buffer."""
    tree = changed(DOWNLOADS.scenario(x=x), cell={"ap": {"queue": LOSSLESS_QUEUE}})
    return {**tree, "wire": {"loss": RANDOM_LOSS}}


RANDOM = Sweep("random-{x}", random_losses, {"x": (6, 12, 16, 20)})


def error(run: Run) -> Quantity:
    """Return the relative difference between eta and the model. The sign is chosen such that the
    mean over replications is positive. [-]
    """
    eta = cell.fairness(run)
    if eta.predicted is None:
        return Quantity(np.full_like(eta.samples, np.nan))
    difference = eta.samples / eta.predicted - 1.0
    return Quantity(np.copysign(1.0, difference.mean()) * difference)


def errors(runs: Runs) -> dict[str, Quantity]:
    """Return eta, and its largest relative differences from the model in figure 8. [-]"""
    parts = {
        "16_24": DOWNLOADS.at(x=INACCURATE),
        "elsewhere": DOWNLOADS.at(x=[w for w in WINDOWS if w not in INACCURATE]),
    }
    return {
        **DOWNLOADS.values(runs, {"eta_{x}": cell.fairness}),
        **{f"error_{part}": largest(sweep.read(runs, error)) for part, sweep in parts.items()},
    }


def finding(runs: Runs) -> str:
    """Return a text on bursts of losses at a full buffer, which affect small windows less."""
    small, least = DOWNLOADS.at(x=(12, 6)).runs(runs)
    swept = RANDOM.settings["x"]
    flows = ("first/down/1", "others-1/down/1")
    lost = [small.quantity("flows", flow, "loss_probability") * 100 for flow in flows]
    usual = received_per_rtt(RANDOM_LOSS, cell.WINDOW)
    formulas = [plain(received_per_rtt(RANDOM_LOSS, window) / usual) for window in swept]
    loss = cell.ap_loss(least) * 100
    assert loss.predicted is not None
    return (
        "the model has one loss probability for all stations (a6). A full buffer loses packets in "
        "bursts, which hit a small window less often. At a window of 12, station 1 loses "
        f"{lost[0]} % of its segments, and another station {lost[1]} %. If instead the wire loses "
        f"{RANDOM_LOSS * 100:g} % at random and the buffer holds all windows, eta at windows of "
        f"{', '.join(map(str, swept))} is {listed(RANDOM.read(runs, cell.fairness))}. The model's "
        f"formulas with that loss give {', '.join(formulas)}. At a window of 6 the model's loss is "
        f"{plain(loss.predicted)} %, and the simulated loss is {loss} %"
    )


def rtt_ratio(run: Run) -> Quantity:
    """Return the ratio of the round-trip time of station 1's upload to that of the other uploads.
    [-]
    """
    return cell.rtt(run, "first/up/1") / mean_of(
        [cell.rtt(run, f"{station}/up/1") for station in cell.others(run)]
    )


def segment_loss(run: Run) -> Quantity:
    """Return the largest fraction of lost segments of any connection. [-]"""
    flows = run.items("flows")
    return largest([run.quantity("flows", flow, "loss_probability") for flow in flows])


def others_queue(run: Run) -> Quantity:
    """Return the largest mean queue of any station other than station 1. [packets]"""
    names = cell.others(run)
    return largest([run.quantity("stations", name, "queue_packets") for name in names])


def empty_buffers(runs: Runs) -> dict[str, Quantity]:
    """Return eta, stations' queues, round-trip times and losses of figure 11, and its mean
    goodput.
    """
    table: dict[str, Read] = {
        "eta_{x}": cell.fairness,
        "queue_{x}": cell.station_queue,
        "others_queue_{x}": others_queue,
        "rtt_ratio_{x}": rtt_ratio,
        "segment_loss_{x}": segment_loss,
    }
    values = UPLOADS.values(runs, table)
    return values | {"goodput": mean_of(UPLOADS.read(runs, cell.total))}


SMALL_CWMIN = 7
"""CWmin with which a station has almost no queue. [slots]"""

MANY_ATTEMPTS = 255
"""Number of attempts with which no frame is given up. The default is 7."""


STATIONS = ("first", "others")
ISOLATING: Mapping[str, cell.Tree] = {
    "lossless": {"cell": {"ap": {"queue": LOSSLESS_QUEUE}}},
    "prompt": {"station": {name: {"cwmin": SMALL_CWMIN} for name in STATIONS}},
    "patient": {
        "cell": {"ap": {"attempts_short": MANY_ATTEMPTS}},
        "station": {name: {"attempts_short": MANY_ATTEMPTS} for name in STATIONS},
    },
}
"""Settings of runs with windows of 42 packets in which no ACK is lost, channel access is quick, or
no frame is given up. The runs isolate causes of the queues.
"""

ISOLATED = Sweep(
    "{name}",
    lambda name: changed(UPLOADS.scenario(x=cell.WINDOW), **ISOLATING[name]),
    {"name": tuple(ISOLATING)},
)


def queue_finding(runs: Runs) -> str:
    """Return a text on why stations have a queue, and on where segments are lost."""
    usual = UPLOADS.run(runs, x=cell.WINDOW)
    lossless, prompt, patient = ISOLATED.runs(runs)
    return (
        f"Eq. (5) is a balance of means. The AP loses {cell.ap_loss(usual) * 100} % of the ACKs. "
        "The next ACK then covers more segments, and its station sends them in a burst, which has "
        f"to wait. The queue has {others_queue(usual)} packets, including the packet in service. "
        f"Without ACK loss (AP buffer {LOSSLESS_QUEUE}) it has {others_queue(lossless)}, and with "
        f"CWmin {SMALL_CWMIN} at the stations {others_queue(prompt)}. The AP and the stations lose "
        "some segments in a million after 7 collisions, which contradicts a7. With "
        f"{MANY_ATTEMPTS} attempts the loss is {segment_loss(patient)}"
    )


def panel(direction: str) -> Panel:
    """Return the panel of the fairness level over the receive window of station 1."""
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
    points=points_of(DOWNLOADS, RANDOM),
    measure=errors,
    shown=lambda runs: DOWNLOADS.values(runs, cell.STANDING),
    draw=picture(LABEL, [panel("download")]).draw,
    findings=about("hotspot-16", finding),
)

FIG11 = Study(
    key="hotspot-fig11",
    title="Figure 11: uploads, receive window of station 1 from 6 to 42 packets",
    points=points_of(UPLOADS, ISOLATED),
    measure=empty_buffers,
    shown=lambda runs: UPLOADS.values(runs, {"loss_{x}": cell.ap_loss}),
    draw=picture(LABEL, [panel("upload")]).draw,
    findings=about("hotspot-18", queue_finding),
)

"""Figures 9 to 13: two classes of five downloads, over the error probability of class 2."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.study import (
    Figure,
    Quantity,
    Read,
    Reading,
    Runs,
    Study,
    about,
    changed,
    listed,
    mean_reading,
    reading,
)
from lasthop.studies.sweep import Point, Sweep, points_of, tag
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.models.vbs import Options

ERRORS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
CLASSES = {"1": "high", "2": "low"}

SWEEP = Sweep(
    "{error}",
    lambda error: cell.scenario(f"two classes of five, p_w {error:g}", cell.classes(error)),
    {"error": ERRORS},
)
CLAIMED = SWEEP.at(error=cell.ERRORS)
"""Runs with the error probabilities that claims use."""

WITH_ERRORS = cell.ERRORS[1:]

FRAMES = {"data": "errors of data frames", "acks": "errors of TCP ACKs too"}


def _setting(attempts: int, frames: str, error: float) -> dict[str, Any]:
    return cell.scenario(
        f"two classes of five, {attempts}-{frames}, p_w {error:g}",
        cell.classes(error, acks=frames == "acks"),
        attempts=attempts,
    )


SETTINGS = Sweep(
    "{attempts}-{frames}-{error}",
    _setting,
    {
        "attempts": (cell.ATTEMPTS, cell.STATED_ATTEMPTS),
        "frames": tuple(FRAMES),
        "error": WITH_ERRORS,
    },
)
"""Runs over the number of attempts, and over the frames of class 2 that have errors: data frames,
or also TCP ACKs.
"""

STATED = SETTINGS.at(attempts=cell.STATED_ATTEMPTS, frames="data")
"""Runs with the number of attempts in table II, and errors of data frames."""

SNR_DB = {0.1: 16.617, 0.2: 16.381, 0.3: 16.23}
"""Signal-to-noise ratio for each error probability of data frames at 36 Mb/s. A test checks these
values. [dB]
"""


KINDS = {
    "snr_fixed": ("fixed", True, "noise, fixed rates"),
    "snr_arf": ("arf", True, "noise, fallback"),
    "any_arf": ("arf", False, "errors at any rate"),
}
"""Names of the runs with rate control. Each value has the rate control, whether errors depend on
the rate (as errors by noise do), and a text.
"""


def _fallback(kind: str, error: float) -> dict[str, Any]:
    control, by_snr, _ = KINDS[kind]
    cause = {"snr": f"{SNR_DB[error]} dB"} if by_snr else {"error_down": error}
    tree = cell.scenario(
        f"two classes of five, {control} rates, {cause}",
        {**cell.classes(0.0), "low": {"count": 5, "download": 1, **cause}},
    )
    return changed(tree, cell={"rate_control": control})


FALLBACK = Sweep(
    "{kind}-{error}",
    _fallback,
    {"kind": tuple(KINDS), "error": tuple(SNR_DB)},
    words={kind: words for kind, (_, _, words) in KINDS.items()},
)
"""Runs with automatic rate fallback for section II-B. Fallback increases the gap between the
classes according to the paper.
"""


def failure(prefix: str) -> Reading:
    """Return the function that reads from a run the probability that a transmission from the access
    point to a station of a class fails. [-]

    The names of the stations begin with `prefix`. In runs without channel errors, the value is that
    of all stations.
    """
    return _per_class(prefix, "downlink_failure_rate", "frame_failure_rate")


def discard(prefix: str) -> Reading:
    """Return the function that reads from a run the probability that the access point discards a
    frame to a station of a class, after the last attempt. [-]

    The names of the stations begin with `prefix`. In runs without channel errors, the value is that
    of all stations.
    """
    return _per_class(prefix, "downlink_discard_probability", "discard_probability")


def _per_class(prefix: str, own: str, of_all: str) -> Reading:
    mean, total = mean_reading("stations", prefix, own), reading("aps", "ap", of_all)
    # Without channel errors, results have no values per station, but only the access point's total.
    return Reading(lambda run: (mean if run.has("stations", f"{prefix}-1", own) else total)(run))


ENDS = SWEEP.at(error=(0.0, 0.3))
"""Runs without errors, and with the highest error probability."""


def measure_failures(runs: Runs) -> dict[str, Quantity]:
    """Return how much the failure probabilities grow with the errors of class 2."""
    none, some, most = SWEEP.at(error=(0.0, 0.15, 0.3)).read(runs, failure("low"))
    class_1, class_1_most = ENDS.read(runs, failure("high"))
    return {
        "growth_ratio_2": (most - some) / (some - none),
        "ratio_1": class_1_most / class_1,
    }


def finding_failures(runs: Runs) -> str:
    """Return a text on what class 1's failure probability consists of."""
    none, some = ENDS.read(runs, failure("high"))
    return (
        f"the frames of class 1 fail only because of collisions. The fraction is {none} at p_w = 0 "
        f"and {some} at 0.3. It is lower at 0.3, since the stations have fewer ACKs to send in the "
        "same time"
    )


def measure_discards(runs: Runs) -> dict[str, Quantity]:
    """Return the discard probabilities of both classes, and how much they change with the errors.

    The runs have the number of attempts of figure 11, or the number in table II.
    """
    changes = {}
    for number, prefix in CLASSES.items():
        none, most = ENDS.read(runs, discard(prefix))
        changes[f"change_{number}"] = most - none
    return {
        **changes,
        **STATED.values(runs, {"stated_discard_2_{error}": discard("low")}),
        **SWEEP.at(error=(0.15, 0.3)).values(runs, {"discard_2_{error}": discard("low")}),
        **ENDS.values(runs, {"discard_1_{error}": discard("high")}),
    }


def measure_goodputs(runs: Runs) -> dict[str, Quantity]:
    """Return the goodputs of both classes and their ratio."""
    table = {f"goodput_{number}_{{error}}": cell.goodput(name) for number, name in CLASSES.items()}
    values = CLAIMED.values(runs, {"ratio_{error}": cell.ratio, **table})
    values |= FALLBACK.values(runs, {"ratio_{kind}_{error}": cell.ratio})
    for error, own in zip(cell.ERRORS, _by_papers_model(), strict=True):
        for number, prefix in CLASSES.items():
            seen = values[f"goodput_{number}_{tag(error)}"].samples
            papers = Quantity(seen, own.goodput_mbps(prefix))
            values[f"papers_goodput_{number}_{tag(error)}"] = papers
    return values


def shown_goodputs(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs of the classes [Mb/s] and the loss at the buffer, with table II's number of
    attempts.

    The values are those of the runs, of our model, and of the paper.
    """
    of_classes = {
        f"stated_goodput_{number}_{{error}}": cell.goodput(prefix)
        for number, prefix in CLASSES.items()
    }
    values = STATED.values(runs, {"stated_loss_{error}": cell.buffer_loss, **of_classes})
    lines: dict[str, float] = {}
    for error, own in zip(map(tag, WITH_ERRORS), _by_papers_model(stated=True), strict=True):
        lines[f"stated_loss_{error}"] = own.loss
        for number, prefix in CLASSES.items():
            lines[f"stated_goodput_{number}_{error}"] = own.goodput_mbps(prefix)
    papers = {
        f"papers_{name}": Quantity(values[name].samples, item) for name, item in lines.items()
    }
    return values | papers


@dataclass(frozen=True)
class Predicted:
    """Prediction of the model for one cell.

    Attributes
    ----------
    goodputs_mbps : mapping
        Goodput of each station, by its name. [Mb/s]
    loss : float
        Loss probability of the buffer. [-]
    """

    goodputs_mbps: Mapping[str, float]
    loss: float

    def goodput_mbps(self, prefix: str) -> float:
        """Return the goodput of the stations whose names begin with `prefix`. [Mb/s]"""
        each = self.goodputs_mbps.items()
        return float(sum(goodput for name, goodput in each if name.startswith(prefix)) / 1e6)


def _predicted(scenario: Mapping[str, Any], options: "Options") -> Predicted:
    """Return the prediction of the model for a scenario, with these options of the model."""
    from lasthop.models.vbs import predict
    from lasthop.scenario.scenario import Scenario

    answer = predict(Scenario(scenario).typed, options)
    [queue] = answer["queues"]
    goodputs = {item["name"]: item["goodput_bps"]["mean"] for item in answer["stations"]}
    return Predicted(goodputs, float(queue["drop_probability"]["mean"]))


def _ratio_by(options: "Options") -> float:
    """Return the predicted goodput ratio of the classes at the error probability p_w = 0.3. [-]"""
    predicted = _predicted(SWEEP.scenario(error=0.3), options)
    return predicted.goodput_mbps("high") / predicted.goodput_mbps("low")


@cache
def _by_papers_model(stated: bool = False) -> list[Predicted]:
    """Return the predictions of the paper's corrected model for the error probabilities in claims.

    If `stated`, the number of attempts is that of table II, and the error probability 0 is omitted.
    """
    from lasthop.models.vbs import PAPER

    points = (STATED if stated else CLAIMED).points()
    return [_predicted(tree, PAPER) for tree in points.values()]


def measure_loss(runs: Runs) -> dict[str, Quantity]:
    """Return the loss at the buffer in the simulations, in our model, and in the paper."""
    values = CLAIMED.values(runs, {"loss_{error}": cell.buffer_loss})
    for error, own in zip(cell.ERRORS, _by_papers_model(), strict=True):
        seen = values[f"loss_{tag(error)}"].samples
        values[f"papers_loss_{tag(error)}"] = Quantity(seen, own.loss)
    return values


def findings_goodputs(runs: Runs) -> dict[str, str]:
    """Return texts on the setting that gives the paper's gap between the classes, and on rate
    fallback.

    A further text is on effects that the paper's model ignores.
    """
    from lasthop.models.vbs import PAPER

    gaps = [
        f"with {attempts} attempts and {words} "
        + listed(SETTINGS.at(attempts=attempts, frames=frames).read(runs, cell.ratio))
        for attempts in SETTINGS.settings["attempts"]
        for frames, words in FRAMES.items()
    ]
    ratios, totals = (
        [listed(FALLBACK.at(kind=kind).read(runs, reading)) for kind in KINDS]
        for reading in (cell.ratio, cell.total)
    )
    errors = ", ".join(f"{error:g}" for error in WITH_ERRORS)
    bursts = replace(PAPER, losses="bursts")
    by_option = [
        f"{_ratio_by(options):.2f}"
        for options in (
            PAPER,
            bursts,
            replace(PAPER, collisions="draining"),
            replace(bursts, collisions="draining"),
        )
    ]
    return {
        "vbs-7": (
            f"the ratio of the classes at p_w = 0.3 is {cell.ratio(SWEEP.run(runs, error=0.3))} in "
            f"the simulation and {by_option[0]} in the paper's model. With losses in bursts the "
            f"model gives {by_option[1]}, with collisions by attempt {by_option[2]}, and with both "
            f"{by_option[3]}"
        ),
        "vbs-2": (f"class 1 over class 2 at p_w = {errors} is as follows: {'; '.join(gaps)}"),
        "vbs-21": (
            f"these runs have {cell.ATTEMPTS} attempts, and noise that loses as many frames at 36 "
            f"Mb/s. The ratios at p_w = {errors} are {ratios[0]} with fixed rates and {ratios[1]} "
            f"with fallback. The totals are {totals[0]} and {totals[1]} Mb/s, because frames get "
            "through at slower rates. If errors do not depend on the rate, as with interference, "
            f"the ratios stay at {ratios[2]}, and all devices lose throughput: {totals[2]} Mb/s"
        ),
    }


def _over_fallback(y_label: str, reading: Read, title: str, **more: Any) -> Panel:
    return Panel(
        y_label,
        FALLBACK.lines("{kind}", "error", reading),
        f"{title}, {cell.ATTEMPTS} attempts, rate fallback",
        **more,
    )


GAP = "class 1 over class 2 [-]"

SETTINGS_PICTURE = Picture(
    replace(cell.ERROR_AXIS, ticks=WITH_ERRORS),
    [
        Panel(
            GAP,
            [
                line
                for attempts in SETTINGS.settings["attempts"]
                for frames, variant in (("data", ""), ("acks", "ACK errors too"))
                for line in SETTINGS.at(attempts=attempts, frames=frames).lines(
                    "{attempts} attempts", "error", cell.ratio, variant
                )
            ],
            "ratio of goodputs, by number of attempts",
            from_zero=False,
            levels={"equal": 1.0},
        ),
        _over_fallback(
            GAP, cell.ratio, "ratio of goodputs", from_zero=False, levels={"equal": 1.0}
        ),
        _over_fallback("goodput of all [Mb/s]", cell.total, "goodput"),
    ],
    panel_mm=44.0,
)


def measure_windows(runs: Runs) -> dict[str, Quantity]:
    """Return mean and largest windows at the error probability p_w = 0.3, averaged over the flows
    of a class.
    """
    run = SWEEP.run(runs, error=0.3)
    return {
        "cwnd_high": cell.window("high")(run),
        "cwnd_low": cell.window("low")(run),
        "cwnd_high_max": mean_reading("flows", "high", "cwnd_max_packets")(run),
    }


def draw_windows(runs: Runs) -> Figure:
    """Draw the window of one connection of each class over time."""
    from lasthop.plot.traces import traces_figure

    return traces_figure(cell.window_panels(TRACE.run(runs), "a connection of each class"))


def findings_loss(runs: Runs) -> dict[str, str]:
    """Return texts on how bursts of packets affect the predicted loss."""
    from lasthop.models.vbs import Options

    seen = CLAIMED.read(runs, cell.buffer_loss)

    def off(losses: Iterable[float | None]) -> str:
        return ", ".join(
            f"{loss / float(each.samples.mean()) - 1.0:+.0%}"
            for loss, each in zip(losses, seen, strict=True)
            if loss is not None
        )

    independent = Options(losses="independent")
    trees = CLAIMED.points().values()
    return {
        "vbs-8": (
            f"the paper's model is off by {off(own.loss for own in _by_papers_model())}, because "
            "of two errors that cancel: it halves a window at every loss, and ignores the time of "
            f"recovery. At p_w = {cell.ERRORS_STATED} our model, in which an overflow loses "
            f"several packets of a window, is off by {off(each.predicted for each in seen)}. With "
            "losses that are independent of each other it would be off by "
            f"{off(_predicted(tree, independent).loss for tree in trees)}"
        )
    }


def _both(y_label: str, reading_of: Callable[[str], Reading], title: str) -> Panel:
    """Return the panel of a quantity of both classes, over the error probability of class 2."""
    return Panel(y_label, cell.of_classes(SWEEP, reading_of), title)


TRACE = Point("trace", cell.traced("two classes of five over time", cell.classes(0.3)))


OVER_ERRORS = Picture(
    cell.ERROR_AXIS,
    [
        _both("failed attempts [-]", failure, "figure 9: frames of the AP"),
        _both("discarded frames [-]", discard, "figure 10: frames of the AP"),
        _both("goodput of a class [Mb/s]", cell.goodput, "figure 11"),
        _both("window [packets]", cell.window, "figure 12, means"),
        Panel("buffer loss [-]", SWEEP.lines("buffer", "error", cell.buffer_loss), "figure 13"),
    ],
    panel_mm=40.0,
)

FIG09 = Study(
    key="vbs-fig09",
    title="Figures 9 to 13: two classes of five downloads",
    points=SWEEP.points(),
    measure=measure_failures,
    findings=about("vbs-5", finding_failures),
    draw=OVER_ERRORS.draw,
)
FIG11 = Study(
    key="vbs-fig11",
    title="Figure 11: which setting gives the gap between the classes",
    points=points_of(SWEEP, SETTINGS, FALLBACK),
    measure=measure_goodputs,
    shown=shown_goodputs,
    findings=findings_goodputs,
    draw=SETTINGS_PICTURE.draw,
)
FIG10 = Study(
    key="vbs-fig10",
    title="Figure 10: discards",
    points=points_of(SWEEP, STATED),
    measure=measure_discards,
)
FIG12 = Study(
    key="vbs-fig12",
    title="Figure 12: windows over time, p_w 0.3",
    points=points_of(SWEEP, TRACE),
    measure=measure_windows,
    draw=draw_windows,
)
FIG13 = Study(
    key="vbs-fig13",
    title="Figure 13: buffer loss",
    points=SWEEP.points(),
    measure=measure_loss,
    findings=findings_loss,
)

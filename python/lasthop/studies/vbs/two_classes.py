"""Figures 9 to 13: two classes of five downloads over the errors of class 2."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.study import Figure, Quantity, Run, Runs, Study, listed
from lasthop.studies.sweep import Reading, Sweep, tag
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
"""Part of the sweep that claims speak of."""

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
"""Attempts, and the frames of class 2 that have errors."""

STATED = SETTINGS.at(attempts=cell.STATED_ATTEMPTS, frames="data")
"""Settings of table II, with errors of data frames."""

SNR_DB = {0.1: 16.617, 0.2: 16.381, 0.3: 16.23}
"""Signal-to-noise ratios at which frames with data at 36 Mb/s have these errors; a test checks."""


KINDS = {
    "snr_fixed": ("fixed", True, "noise, fixed rates"),
    "snr_arf": ("arf", True, "noise, fallback"),
    "any_arf": ("arf", False, "errors at any rate"),
}
"""Control of the rate, whether errors depend on the rate as noise has them, and both in words."""


def _fallback(kind: str, error: float) -> dict[str, Any]:
    control, by_snr, _ = KINDS[kind]
    cause = {"snr": f"{SNR_DB[error]} dB"} if by_snr else {"error_down": error}
    tree = cell.scenario(
        f"two classes of five, {control} rates, {cause}",
        {**cell.classes(0.0), "low": {"count": 5, "download": 1, **cause}},
    )
    return {**tree, "cell": {**tree["cell"], "rate_control": control}}


FALLBACK = Sweep(
    "{kind}-{error}",
    _fallback,
    {"kind": tuple(KINDS), "error": tuple(SNR_DB)},
    words={kind: words for kind, (_, _, words) in KINDS.items()},
)
"""Section II-B: automatic rate fallback, which worsens the gap according to the paper."""


def failure(run: Run, prefix: str) -> Quantity:
    """Return how often an attempt of the access point to a class fails. [-]"""
    return _per_class(run, prefix, "downlink_failure_rate", "frame_failure_rate")


def discard(run: Run, prefix: str) -> Quantity:
    """Return how often the access point gives a frame to a class up. [-]"""
    return _per_class(run, prefix, "downlink_discard_probability", "discard_probability")


def _per_class(run: Run, prefix: str, own: str, of_all: str) -> Quantity:
    # without errors the access point's frames are all alike, and not counted by station
    if own in run.samples["stations"][f"{prefix}-1"]:
        return cell.over(run, "stations", prefix, own)
    return run.quantity("aps", "ap", of_all)


def measure_failures(runs: Runs) -> dict[str, Quantity]:
    """Return how the failure probabilities grow."""
    at = {error: failure(runs[error], "low") for error in ("0", "0_15", "0_3")}
    return {
        "growth_ratio_2": (at["0_3"] - at["0_15"]) / (at["0_15"] - at["0"]),
        "ratio_1": failure(runs["0_3"], "high") / failure(runs["0"], "high"),
    }


def findings_failures(runs: Runs) -> dict[str, str]:
    """Return what the failure probability of class 1 is made of."""
    none, some = failure(runs["0"], "high"), failure(runs["0_3"], "high")
    return {
        "vbs-5": (
            f"the frames of class 1 fail only because of collisions. The fraction is {none} at "
            f"p_w = 0 and {some} at 0.3. It is lower at 0.3, since the stations have fewer ACKs "
            "to send in the same time"
        )
    }


def measure_discards(runs: Runs) -> dict[str, Quantity]:
    """Return discard probabilities of both classes, and how they change, with figure 11's attempts
    and with table II's.
    """
    changes = {
        f"change_{number}": discard(runs["0_3"], prefix) - discard(runs["0"], prefix)
        for number, prefix in CLASSES.items()
    }
    return {
        **changes,
        **STATED.values(runs, {"stated_discard_2_{error}": partial(discard, prefix="low")}),
        "discard_2_0_15": discard(runs["0_15"], "low"),
        "discard_2_0_3": discard(runs["0_3"], "low"),
        "discard_1_0": discard(runs["0"], "high"),
        "discard_1_0_3": discard(runs["0_3"], "high"),
    }


def measure_goodputs(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs of the classes and their ratio."""
    table = {
        f"goodput_{number}_{{error}}": cell.goodput_of(prefix) for number, prefix in CLASSES.items()
    }
    values = CLAIMED.values(runs, {"ratio_{error}": cell.ratio, **table})
    values |= FALLBACK.values(runs, {"ratio_{kind}_{error}": cell.ratio})
    for error, own in zip(cell.ERRORS, _by_papers_model(), strict=True):
        for number, prefix in CLASSES.items():
            seen = values[f"goodput_{number}_{tag(error)}"].samples
            papers = Quantity(seen, _goodput_of(own, prefix))
            values[f"papers_goodput_{number}_{tag(error)}"] = papers
    return values


def shown_goodputs(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs of the classes [Mb/s] and the buffer's loss with table II's attempts, of the
    runs, our model and the paper.
    """
    of_classes = {
        f"stated_goodput_{number}_{{error}}": cell.goodput_of(prefix)
        for number, prefix in CLASSES.items()
    }
    values = STATED.values(runs, {"stated_loss_{error}": cell.buffer_loss, **of_classes})
    lines: dict[str, float] = {}
    for error, own in zip(map(tag, WITH_ERRORS), _by_papers_model(stated=True), strict=True):
        lines[f"stated_loss_{error}"] = _loss_of(own)
        for number, prefix in CLASSES.items():
            lines[f"stated_goodput_{number}_{error}"] = _goodput_of(own, prefix)
    papers = {
        f"papers_{name}": Quantity(values[name].samples, item) for name, item in lines.items()
    }
    return values | papers


def _loss_of(own: Any) -> float:
    """Return the buffer's loss in an answer. [-]"""
    [queue] = own["queues"]
    return float(queue["drop_probability"]["mean"])


def _goodput_of(own: Any, prefix: str) -> float:
    """Return the goodput of a class in an answer. [Mb/s]"""
    each = [
        item["goodput_bps"]["mean"] for item in own["stations"] if item["name"].startswith(prefix)
    ]
    return float(sum(each) / 1e6)


def _ratio_by(options: "Options") -> float:
    """Return the ratio of the classes at p_w = 0.3 by the model with these options. [-]"""
    from lasthop.models.vbs import predict
    from lasthop.scenario.scenario import Scenario

    answer = predict(Scenario(SWEEP.scenario(error=0.3)).typed, options)
    goodput = dict.fromkeys(CLASSES.values(), 0.0)
    for item in answer["stations"]:
        goodput[item["name"].partition("-")[0]] += item["goodput_bps"]["mean"]
    return goodput["high"] / goodput["low"]


@cache
def _by_papers_model(stated: bool = False) -> list[Any]:
    """Return what the paper's own model, as corrected, says at the errors that claims speak of;
    with table II's attempts, of those but 0.
    """
    from lasthop.models.vbs import PAPER, predict
    from lasthop.scenario.scenario import Scenario

    points = (STATED if stated else CLAIMED).points()
    return [predict(Scenario(tree).typed, PAPER) for tree in points.values()]


def measure_loss(runs: Runs) -> dict[str, Quantity]:
    """Return the buffer's loss, of the runs, our model and the paper."""
    values = CLAIMED.values(runs, {"loss_{error}": cell.buffer_loss})
    for error, own in zip(cell.ERRORS, _by_papers_model(), strict=True):
        seen = values[f"loss_{tag(error)}"].samples
        values[f"papers_loss_{tag(error)}"] = Quantity(seen, _loss_of(own))
    return values


def findings_goodputs(runs: Runs) -> dict[str, str]:
    """Return which setting gives the published gap, what fallback does to it, and what the paper's
    model lacks.
    """
    from lasthop.models.vbs import PAPER

    gaps = [
        f"with {attempts} attempts and {words} "
        + listed(SETTINGS.at(attempts=attempts, frames=frames).read(runs, cell.ratio))
        for attempts in SETTINGS.settings["attempts"]
        for frames, words in FRAMES.items()
    ]
    ratio, total = (
        {kind: listed(FALLBACK.at(kind=kind).read(runs, reading)) for kind in KINDS}
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
            f"the ratio of the classes at p_w = 0.3 is {cell.ratio(runs['0_3'])} in the "
            f"simulation and {by_option[0]} in the paper's model. With losses in bursts the model "
            f"gives {by_option[1]}, with collisions by attempt {by_option[2]}, and with both "
            f"{by_option[3]}"
        ),
        "vbs-2": (f"class 1 over class 2 at p_w = {errors} is as follows: {'; '.join(gaps)}"),
        "vbs-21": (
            f"these runs have {cell.ATTEMPTS} attempts, and noise that loses as many frames at 36 "
            f"Mb/s. The ratios at p_w = {errors} are {ratio['snr_fixed']} with fixed rates and "
            f"{ratio['snr_arf']} with fallback. The totals are {total['snr_fixed']} and "
            f"{total['snr_arf']} Mb/s, because frames get through at slower rates. If errors do "
            "not depend on the rate, as with interference, the ratios stay at "
            f"{ratio['any_arf']}, and all devices lose throughput: {total['any_arf']} Mb/s"
        ),
    }


def _over_fallback(y_label: str, reading: Reading, title: str, **more: Any) -> Panel:
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
    """Return mean windows and the largest at p_w = 0.3, means over the flows of a class."""
    run = runs["0_3"]
    return {
        "cwnd_high": cell.window(run, "high"),
        "cwnd_low": cell.window(run, "low"),
        "cwnd_high_max": cell.over(run, "flows", "high", "cwnd_max_packets"),
    }


def draw_windows(runs: Runs) -> Figure:
    """Draw the window of one connection of each class over time."""
    from lasthop.plot.traces import traces_figure

    return traces_figure(cell.window_panels(runs["trace"], "a connection of each class"))


def findings_loss(runs: Runs) -> dict[str, str]:
    """Return what bursts do to the model's loss."""
    from lasthop.models.vbs import Options, predict
    from lasthop.scenario.scenario import Scenario

    def without_bursts(error: float) -> float:
        tree = Scenario(SWEEP.scenario(error=error)).typed
        [queue] = predict(tree, Options(losses="independent"))["queues"]
        return float(queue["drop_probability"]["mean"])

    seen = CLAIMED.read(runs, cell.buffer_loss)
    off = [
        f"{without_bursts(error) / float(item.samples.mean()) - 1.0:+.0%}"
        for error, item in zip(cell.ERRORS, seen, strict=True)
    ]
    bursts = [
        f"{each.predicted / float(each.samples.mean()) - 1.0:+.0%}"
        for each in seen
        if each.predicted is not None
    ]
    papers = [
        f"{own['queues'][0]['drop_probability']['mean'] / float(item.samples.mean()) - 1.0:+.0%}"
        for own, item in zip(_by_papers_model(), seen, strict=True)
    ]
    return {
        "vbs-8": (
            f"the paper's model is off by {', '.join(papers)}, because of two errors that cancel: "
            "it halves a window at every loss, and ignores the time of recovery. At p_w = "
            f"{cell.ERRORS_STATED} our model, in which an overflow loses several packets of a "
            f"window, is off by {', '.join(bursts)}. With losses that are independent of each "
            f"other it would be off by {', '.join(off)}"
        )
    }


def _both(y_label: str, read: Callable[..., Quantity], title: str) -> Panel:
    """Return a quantity of both classes over the errors."""
    return Panel(y_label, cell.of_classes(SWEEP, read), title)


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
    findings=findings_failures,
    draw=OVER_ERRORS.draw,
)
FIG11 = Study(
    key="vbs-fig11",
    title="Figure 11: which setting gives the gap between the classes",
    points={**SWEEP.points(), **SETTINGS.points(), **FALLBACK.points()},
    measure=measure_goodputs,
    shown=shown_goodputs,
    findings=findings_goodputs,
    draw=SETTINGS_PICTURE.draw,
)
FIG10 = Study(
    key="vbs-fig10",
    title="Figure 10: discards",
    points={
        **SWEEP.points(),
        **STATED.points(),
    },
    measure=measure_discards,
)
FIG12 = Study(
    key="vbs-fig12",
    title="Figure 12: windows over time, p_w 0.3",
    points={
        **SWEEP.points(),
        "trace": cell.traced("two classes of five over time", cell.classes(0.3)),
    },
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

"""Figures 9 to 13: two classes of five downloads over the errors of class 2."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from lasthop.studies.study import Quantity, Run, Runs, Study, mean_of
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

ERRORS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3)
POINTS = {
    cell.tag(error): cell.scenario(f"two classes of five, p_w {error:g}", cell.classes(error))
    for error in ERRORS
}
CLASSES = {"1": "high", "2": "low"}

SETTINGS = {
    f"{attempts}-{'acks' if acks else 'data'}": (attempts, acks)
    for attempts in (cell.ATTEMPTS, cell.STATED_ATTEMPTS)
    for acks in (False, True)
}
"""Attempts, and whether class 2's TCP ACKs have errors too."""

VARIANTS = {
    f"{name}-{cell.tag(error)}": cell.scenario(
        f"two classes of five, {name}, p_w {error:g}",
        cell.classes(error, acks=acks),
        attempts=attempts,
    )
    for name, (attempts, acks) in SETTINGS.items()
    for error in cell.ERRORS[1:]
}

SNR_DB = {0.1: 16.617, 0.2: 16.381, 0.3: 16.23}
"""Signal-to-noise ratios at which frames with data at 36 Mb/s have these errors; a test checks."""


def _fallback(error: float, control: str, *, by_snr: bool) -> dict[str, Any]:
    """Return the cell with errors that depend on the rate, as noise has them, or do not."""
    cause = {"snr": f"{SNR_DB[error]} dB"} if by_snr else {"error_down": error}
    tree = cell.scenario(
        f"two classes of five, {control} rates, {cause}",
        {**cell.classes(0.0), "low": {"count": 5, "download": 1, **cause}},
    )
    return {**tree, "cell": {**tree["cell"], "rate_control": control}}


FALLBACK = {
    f"{name}-{cell.tag(error)}": _fallback(error, control, by_snr=by_snr)
    for name, control, by_snr in (
        ("snr_fixed", "fixed", True),
        ("snr_arf", "arf", True),
        ("any_arf", "arf", False),
    )
    for error in SNR_DB
}
"""Section II-B: automatic rate fallback, said to worsen the gap."""


def failure(run: Run, prefix: str) -> Quantity:
    """Return how often an attempt of the access point to a class fails. [-]"""
    return _per_class(run, prefix, "downlink_failure_rate", "frame_failure_rate")


def discard(run: Run, prefix: str) -> Quantity:
    """Return how often the access point gives a frame to a class up. [-]"""
    return _per_class(run, prefix, "downlink_discard_probability", "discard_probability")


def _per_class(run: Run, prefix: str, own: str, of_all: str) -> Quantity:
    # without errors the access point's frames are all alike, and not counted by station
    if own in run.samples["stations"][f"{prefix}-1"]:
        return cell.over_stations(run, prefix, own)
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
            f"class 1's frames fail by collisions alone, {none} of all at p_w = 0 and {some} at "
            "0.3: fewer, since the stations have fewer ACKs to send in the same time"
        )
    }


def measure_discards(runs: Runs) -> dict[str, Quantity]:
    """Return discard probabilities of both classes."""
    return {
        "discard_2_0_15": discard(runs["0_15"], "low"),
        "discard_2_0_3": discard(runs["0_3"], "low"),
        "discard_1_0_3": discard(runs["0_3"], "high"),
    }


def measure_goodputs(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs of the classes and their ratio."""
    values = {}
    for error in cell.ERRORS:
        run = runs[cell.tag(error)]
        values[f"ratio_{cell.tag(error)}"] = cell.ratio(run)
        for number, prefix in CLASSES.items():
            values[f"goodput_{number}_{cell.tag(error)}"] = cell.goodput(run, prefix)
    return values


def findings_goodputs(runs: Runs) -> dict[str, str]:
    """Return which setting gives the published gap."""
    words = {"data": "errors of data frames", "acks": "errors of TCP ACKs too"}
    gaps = [
        f"{attempts} attempts and {words[name.split('-')[1]]} "
        + cell.listed([cell.ratio(runs[f"{name}-{cell.tag(error)}"]) for error in cell.ERRORS[1:]])
        for name, (attempts, _) in SETTINGS.items()
    ]
    return {
        "vbs-2": f"class 1 over class 2 at p_w = 0.1, 0.2, 0.3: {'; '.join(gaps)}. "
        + _findings_fallback(runs)
    }


def _findings_fallback(runs: Runs) -> str:
    """Return what rate fallback does to the gap and to the total."""

    def over(name: str, read: Callable[[Run], Quantity]) -> str:
        return cell.listed([read(runs[f"{name}-{cell.tag(error)}"]) for error in SNR_DB])

    return (
        "Section II-B says that rate fallback worsens the gap. With 4 attempts and noise that "
        f"loses as many frames at 36 Mb/s, {over('snr_fixed', cell.ratio)} with fixed rates become "
        f"{over('snr_arf', cell.ratio)}, and the total {over('snr_fixed', cell.total)} Mb/s "
        f"{over('snr_arf', cell.total)}: at slower rates the frames get through. With errors that "
        f"no rate escapes, such as interference, the ratio stays, {over('any_arf', cell.ratio)}, "
        f"and all lose, {over('any_arf', cell.total)} Mb/s"
    )


def draw_settings(runs: Runs) -> "Figure":
    """Draw the ratio of the classes under each setting."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    errors = cell.ERRORS[1:]
    members = [
        Member(
            f"{attempts} attempts",
            errors,
            [cell.ratio(runs[f"{name}-{cell.tag(error)}"]) for error in errors],
            "ACK errors too" if acks else "",
        )
        for name, (attempts, acks) in SETTINGS.items()
    ]
    words = {
        "snr_fixed": "noise, fixed rates",
        "snr_arf": "noise, fallback",
        "any_arf": "errors at any rate",
    }
    fallback = [
        [
            Member(word, errors, [read(runs[f"{name}-{cell.tag(error)}"]) for error in errors])
            for name, word in words.items()
        ]
        for read in (cell.ratio, cell.total)
    ]
    level = {"equal": 1.0}
    return family_figure(
        cell.ERROR_AXIS,
        [
            FamilyPanel(
                "class 1 over class 2 [-]",
                members,
                "ratio of goodputs, by number of attempts",
                from_zero=False,
                levels=level,
            ),
            FamilyPanel(
                "class 1 over class 2 [-]",
                fallback[0],
                "ratio of goodputs, 4 attempts, rate fallback",
                from_zero=False,
                levels=level,
            ),
            FamilyPanel("goodput of all [Mb/s]", fallback[1], "goodput, 4 attempts, rate fallback"),
        ],
        ticks={error: f"{error:g}" for error in errors},
        panel_mm=44.0,
    )


def measure_windows(runs: Runs) -> dict[str, Quantity]:
    """Return mean windows and the largest at p_w = 0.3, means over the flows of a class."""
    run = runs["0_3"]
    high = [name for name in run.items("flows") if name.startswith("high")]
    peaks = [run.quantity("flows", name, "cwnd_max_packets") for name in high]
    return {
        "cwnd_high": cell.window(run, "high"),
        "cwnd_low": cell.window(run, "low"),
        "cwnd_high_max": mean_of(peaks),
    }


def draw_windows(runs: Runs) -> "Figure":
    """Draw the window of one connection of each class over time."""
    from lasthop.plot.traces import traces_figure

    return traces_figure(cell.window_panels(runs["trace"], "a connection of each class"))


def measure_loss(runs: Runs) -> dict[str, Quantity]:
    """Return the loss of the queue."""
    return {
        f"loss_{cell.tag(error)}": cell.buffer_loss(runs[cell.tag(error)]) for error in cell.ERRORS
    }


def findings_loss(runs: Runs) -> dict[str, str]:
    """Return what bursts do to the model's loss."""
    from lasthop.models.vbs import Options, predict
    from lasthop.scenario import Scenario

    def without_bursts(error: float) -> float:
        tree = Scenario(POINTS[cell.tag(error)]).typed
        [queue] = predict(tree, Options(losses="independent"))["queues"]
        return float(queue["drop_probability"]["mean"])

    seen = [cell.buffer_loss(runs[cell.tag(error)]) for error in cell.ERRORS]
    off = [
        f"{without_bursts(error) / float(one.samples.mean()) - 1.0:+.0%}"
        for error, one in zip(cell.ERRORS, seen, strict=True)
    ]
    bursts = [
        f"{one.predicted / float(one.samples.mean()) - 1.0:+.0%}"
        for one in seen
        if one.predicted is not None
    ]
    return {
        "vbs-8": (
            "at p_w = 0, 0.1, 0.2, 0.3 the model, whose overflows lose several packets of a window "
            f"at once, is off by {', '.join(bursts)}; with losses that are independent of each "
            f"other it would be {', '.join(off)}"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw failures, discards, goodputs, windows and losses."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    points = [runs[cell.tag(error)] for error in ERRORS]

    def both(read: "object") -> list[Member]:
        assert callable(read)
        return [
            Member(f"class {number}", ERRORS, [read(run, prefix) for run in points])
            for number, prefix in CLASSES.items()
        ]

    return family_figure(
        cell.ERROR_AXIS,
        [
            FamilyPanel("failed attempts [-]", both(failure), "figure 9: frames of the AP"),
            FamilyPanel("discarded frames [-]", both(discard), "figure 10: frames of the AP"),
            FamilyPanel("goodput of a class [Mb/s]", both(cell.goodput), "figure 11"),
            FamilyPanel("window [packets]", both(cell.window), "figure 12, means"),
            FamilyPanel(
                "buffer loss [-]",
                [Member("buffer", ERRORS, [cell.buffer_loss(run) for run in points])],
                "figure 13",
            ),
        ],
        panel_mm=40.0,
    )


FIG09 = Study(
    subject="vbs",
    name="fig09",
    title="Figures 9 to 13: two classes of five downloads",
    points=POINTS,
    measure=measure_failures,
    findings=findings_failures,
    draw=draw,
)
FIG11 = Study(
    subject="vbs",
    name="fig11",
    title="Figure 11: which setting gives the gap between the classes",
    points={**POINTS, **VARIANTS, **FALLBACK},
    measure=measure_goodputs,
    findings=findings_goodputs,
    draw=draw_settings,
)
FIG10 = Study(
    subject="vbs",
    name="fig10",
    title="Figure 10: discards",
    points=POINTS,
    measure=measure_discards,
)
FIG12 = Study(
    subject="vbs",
    name="fig12",
    title="Figure 12: windows over time, p_w 0.3",
    points={**POINTS, "trace": cell.traced("two classes of five over time", cell.classes(0.3))},
    measure=measure_windows,
    draw=draw_windows,
)
FIG13 = Study(
    subject="vbs",
    name="fig13",
    title="Figure 13: buffer loss",
    points=POINTS,
    measure=measure_loss,
    findings=findings_loss,
)

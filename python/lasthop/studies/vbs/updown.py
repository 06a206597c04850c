"""Figures 16 and 17: five uploads and five downloads, all with channel errors."""

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Run, Runs, Study, listed
from lasthop.studies.sweep import Sweep, tag
from lasthop.studies.vbs import cell

LARGE = 300
"""The "large AP buffer" of figure 16, whose size the paper does not give: more than the 225 packets
of the downloads' windows. [packets]"""

BUFFERS = (50, 100, 150)
ERRORS = (0.1, 0.2, 0.3)


def _scenario(law: str, error: float, buffer: int) -> dict[str, object]:
    """Return the cell. Shares are of the service: packets of uploads in the queue are ACKs."""
    station = {"count": 5, "error": error, "ack_error": 0.0}
    queue: object = buffer
    if law != "plain":
        vbs = {"by": "direction", "share_of": "service", **cell.LAWS[law]}
        queue = {"limit": buffer, "vbs": vbs}
    return cell.scenario(
        f"uploads and downloads, {cell.WORDS[law]}, p_w {error:g}, {buffer} packets",
        {"up": {**station, "upload": 1}, "down": {**station, "download": 1}},
        queue=queue,
        attempts=cell.STATED_ATTEMPTS,
    )


BY_ERROR = Sweep(
    "{law}-{error}",
    lambda law, error: _scenario(law, error, LARGE),
    {"law": tuple(cell.WORDS), "error": ERRORS},
    words=cell.WORDS,
)
BY_BUFFER = Sweep(
    "{law}-{buffer}",
    lambda law, buffer: _scenario(law, 0.2, buffer),
    {"law": tuple(cell.WORDS), "buffer": BUFFERS},
    words=cell.WORDS,
)

UP, DOWN = cell.goodput_of("up"), cell.goodput_of("down")


def ratio(run: Run) -> Quantity:
    """Return the goodput of uploads over that of downloads. [-]"""
    return UP(run) / DOWN(run)


def measure_errors(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs without shares, ratio and gap with Algorithm 1, over the errors."""
    values = _measured(BY_ERROR, "{error}", runs)
    gaps = {f"gap_vbs_{error}": values[f"ratio_vbs_{error}"] - 1.0 for error in map(tag, ERRORS)}
    return values | gaps


def _measured(sweep: Sweep, setting: str, runs: Runs) -> dict[str, Quantity]:
    plain = {f"up_{setting}": UP, f"down_{setting}": DOWN}
    return sweep.at(law="plain").values(runs, plain) | sweep.at(law="vbs").values(
        runs, {f"ratio_vbs_{setting}": ratio}
    )


def _regulated(sweep: Sweep, setting: str, runs: Runs) -> dict[str, Quantity]:
    """Return the regulator's ratio."""
    return sweep.at(law="regulated").values(runs, {f"ratio_regulated_{setting}": ratio})


def findings_errors(runs: Runs) -> dict[str, str]:
    """Return why Algorithm 1 leaves a gap, and that the regulator does not."""
    held = listed(BY_ERROR.at(law="regulated").read(runs, ratio))
    errors = ", ".join(f"{error:g}" for error in ERRORS)
    return {
        "vbs-11": (
            "Algorithm 1 blocks only while the queue holds c B. An upload does well without most "
            "of its ACKs, and gets enough of them through below c B. The regulator blocks with a "
            f"probability whatever the length: up over down {held} at p_w = {errors}"
        )
    }


def measure_buffers(runs: Runs) -> dict[str, Quantity]:
    """Return the same values over buffers, and the totals."""
    totals = BY_BUFFER.at(law="plain").values(runs, {"{buffer}": cell.total})
    ratios = {f"total_ratio_{buffer}": total / totals["100"] for buffer, total in totals.items()}
    return _measured(BY_BUFFER, "{buffer}", runs) | ratios


def findings_buffers(runs: Runs) -> dict[str, str]:
    """Return what the regulator makes of it, and why the total changes."""
    regulated = BY_BUFFER.at(law="regulated")
    held, totals = (listed(regulated.read(runs, reading)) for reading in (ratio, cell.total))
    drops = listed(BY_BUFFER.at(law="plain").read(runs, cell.buffer_loss))
    return {
        "vbs-12": (
            f"with the regulator up over down is {held} with room for "
            f"{', '.join(map(str, BUFFERS))} packets, the total {totals} Mb/s. Without shares the "
            f"queue drops {drops} of what comes, ACKs of uploads for the most part: the fewer ACKs "
            "a segment needs on the air, the more the cell carries. Algorithm 1 blocks only while "
            "the queue holds c B"
        )
    }


def _picture(sweep: Sweep, over: str, abscissa: Abscissa) -> Picture:
    """Return the goodput of either direction under each law."""
    return Picture(
        abscissa,
        [
            Panel("goodput [Mb/s]", sweep.lines("{law}", over, UP), "five uploads together"),
            Panel("goodput [Mb/s]", sweep.lines("{law}", over, DOWN), "five downloads together"),
        ],
    )


FIG16 = Study(
    key="vbs-fig16",
    title=f"Figure 16: uploads and downloads, room for {LARGE} packets",
    points=BY_ERROR.points(),
    measure=measure_errors,
    shown=lambda runs: _regulated(BY_ERROR, "{error}", runs),
    findings=findings_errors,
    draw=_picture(
        BY_ERROR, "error", Abscissa("channel errors $p_w$ of all stations [-]", ticks=ERRORS)
    ).draw,
)

FIG17 = Study(
    key="vbs-fig17",
    title="Figure 17: uploads and downloads, p_w 0.2",
    points=BY_BUFFER.points(),
    measure=measure_buffers,
    shown=lambda runs: _regulated(BY_BUFFER, "{buffer}", runs),
    findings=findings_buffers,
    draw=_picture(BY_BUFFER, "buffer", Abscissa("room at the AP [packets]", ticks=BUFFERS)).draw,
)

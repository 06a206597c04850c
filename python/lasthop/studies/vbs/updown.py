"""Figures 16 and 17: five uploads and five downloads, all with channel errors."""

from typing import TYPE_CHECKING

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

LARGE = 300
"""The "large AP buffer" of figure 16, whose size the paper does not give: more than the 225 packets
of the downloads' windows. [packets]"""

BUFFERS = (50, 100, 150)
ERRORS = (0.1, 0.2, 0.3)

WORDS = {"plain": "drop-tail", "vbs": "Algorithm 1", "regulated": "regulator"}


def _scenario(law: str, error: float, buffer: int) -> dict[str, object]:
    """Return the cell. Shares are of the service: packets of uploads in the queue are ACKs."""
    station = {"count": 5, "error": error, "ack_error": 0.0}
    queue: object = buffer
    if law != "plain":
        vbs = {"by": "direction", "share_of": "service", **cell.LAWS[law]}
        queue = {"limit": buffer, "vbs": vbs}
    return cell.scenario(
        f"uploads and downloads, {WORDS[law]}, p_w {error:g}, {buffer} packets",
        {"up": {**station, "upload": 1}, "down": {**station, "download": 1}},
        queue=queue,
        attempts=cell.STATED_ATTEMPTS,
    )


def ratio(run: Run) -> Quantity:
    """Return the goodput of uploads over that of downloads. [-]"""
    return cell.goodput(run, "up") / cell.goodput(run, "down")


def measure_errors(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs without shares, ratio and gap with Algorithm 1, over the errors."""
    values = {}
    for tag in map(cell.tag, ERRORS):
        values[f"up_{tag}"] = cell.goodput(runs[f"plain-{tag}"], "up")
        values[f"down_{tag}"] = cell.goodput(runs[f"plain-{tag}"], "down")
        values[f"ratio_vbs_{tag}"] = ratio(runs[f"vbs-{tag}"])
        values[f"gap_vbs_{tag}"] = ratio(runs[f"vbs-{tag}"]) - 1.0
    return values


def findings_errors(runs: Runs) -> dict[str, str]:
    """Return why Algorithm 1 leaves a gap, and that the regulator does not."""
    held = cell.listed([ratio(runs[f"regulated-{cell.tag(error)}"]) for error in ERRORS])
    return {
        "vbs-11": (
            "Algorithm 1 blocks only while the queue holds c B. An upload does well without most "
            "of its ACKs, and gets enough of them through below c B. The regulator blocks with a "
            f"probability whatever the length: up over down {held} at p_w = 0.1, 0.2, 0.3"
        )
    }


def measure_buffers(runs: Runs) -> dict[str, Quantity]:
    """Return the same over buffers, and the totals."""
    values = {}
    reference = cell.total(runs["plain-100"])
    for buffer in BUFFERS:
        values[f"up_{buffer}"] = cell.goodput(runs[f"plain-{buffer}"], "up")
        values[f"down_{buffer}"] = cell.goodput(runs[f"plain-{buffer}"], "down")
        values[f"ratio_vbs_{buffer}"] = ratio(runs[f"vbs-{buffer}"])
        values[f"total_ratio_{buffer}"] = cell.total(runs[f"plain-{buffer}"]) / reference
    return values


def findings_buffers(runs: Runs) -> dict[str, str]:
    """Return what the regulator makes of it, and why the total changes."""
    held = cell.listed([ratio(runs[f"regulated-{buffer}"]) for buffer in BUFFERS])
    drops = cell.listed([cell.buffer_loss(runs[f"plain-{buffer}"]) for buffer in BUFFERS])
    totals = cell.listed([cell.total(runs[f"regulated-{buffer}"]) for buffer in BUFFERS])
    return {
        "vbs-12": (
            f"with the regulator up over down is {held} with room for 50, 100, 150 packets, the "
            f"total {totals} Mb/s. Without shares the queue drops {drops} of what comes, ACKs of "
            "uploads for the most part: the fewer ACKs a segment needs on the air, the more the "
            "cell carries. "
            "Algorithm 1 blocks only while the queue holds c B"
        )
    }


def _draw(x_label: str, places: list[float], suffixes: list[str], runs: Runs) -> "Figure":
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    def members(prefix: str) -> list[Member]:
        return [
            Member(word, places, [cell.goodput(runs[f"{law}-{one}"], prefix) for one in suffixes])
            for law, word in WORDS.items()
        ]

    return family_figure(
        x_label,
        [
            FamilyPanel("goodput [Mb/s]", members("up"), "five uploads together"),
            FamilyPanel("goodput [Mb/s]", members("down"), "five downloads together"),
        ],
        ticks={place: f"{place:g}" for place in places},
    )


def draw_errors(runs: Runs) -> "Figure":
    """Draw goodputs over the errors."""
    return _draw(
        "channel errors $p_w$ of all stations [-]",
        list(ERRORS),
        [cell.tag(error) for error in ERRORS],
        runs,
    )


def draw_buffers(runs: Runs) -> "Figure":
    """Draw goodputs over buffers."""
    places = [float(buffer) for buffer in BUFFERS]
    return _draw("room at the AP [packets]", places, [str(buffer) for buffer in BUFFERS], runs)


FIG16 = Study(
    subject="vbs",
    name="fig16",
    title=f"Figure 16: uploads and downloads, room for {LARGE} packets",
    points={
        f"{law}-{cell.tag(error)}": _scenario(law, error, LARGE)
        for law in WORDS
        for error in ERRORS
    },
    measure=measure_errors,
    findings=findings_errors,
    draw=draw_errors,
)

FIG17 = Study(
    subject="vbs",
    name="fig17",
    title="Figure 17: uploads and downloads, p_w 0.2",
    points={f"{law}-{buffer}": _scenario(law, 0.2, buffer) for law in WORDS for buffer in BUFFERS},
    measure=measure_buffers,
    findings=findings_buffers,
    draw=draw_buffers,
)

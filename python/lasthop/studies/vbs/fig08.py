"""Figure 8: goodput and fairness over the number of devices, 70 ms away."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

DEVICES = (2, 4, 6, 8, 10)

SMALL_WINDOW = 20
"""A receive window of which two do not fill 70 ms of wire: that takes 46 packets. [packets]"""

WORDS = {"plain": "as stated", "errors": "p_w 0.2", "window": "window of 20"}


def _scenario(variant: str, count: int) -> dict[str, object]:
    error = {"error_down": 0.2} if variant == "errors" else {}
    tree = cell.scenario(
        f"{count} downloads, 70 ms, {WORDS[variant]}",
        {"high": {"count": count, "download": 1, **error}},
        delay_ms=35,
    )
    if variant == "window":
        tree["tcp"] = {**tree["tcp"], "window": SMALL_WINDOW}
    return tree


def _over_devices(runs: Runs, variant: str) -> list[Run]:
    return [runs[f"{variant}-{count}"] for count in DEVICES]


def jain(run: Run) -> Quantity:
    """Return Jain's index of the stations. [-]"""
    return run.quantity("cells", "cell", "jain")


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return aggregate goodput and Jain's index with two and ten devices."""
    values = {}
    for count in (DEVICES[0], DEVICES[-1]):
        values[f"aggregate_{count}"] = cell.total(runs[f"plain-{count}"])
        values[f"jain_{count}"] = jain(runs[f"plain-{count}"])
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return why the aggregate does not grow, and when it does."""

    def queue(variant: str) -> str:
        return cell.listed([cell.occupancy(run) for run in _over_devices(runs, variant)])

    def aggregate(variant: str) -> str:
        first, *_, last = _over_devices(runs, variant)
        return f"{cell.total(first)} to {cell.total(last)} Mb/s"

    return {
        "vbs-4": (
            f"the queue holds {queue('plain')} packets with {', '.join(map(str, DEVICES))} devices "
            "and the access point always has a frame to send, so that nothing is left to gain. "
            "Where two connections leave it empty at times, the aggregate grows, slightly, and the "
            "index falls as in the figure: with channel errors of 0.2 and 4 attempts from "
            f"{aggregate('errors')} (queue {queue('errors')}), with a receive window of "
            f"{SMALL_WINDOW} packets from {aggregate('window')} (queue {queue('window')}). The "
            "channel of a test-bed has errors"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw both over the number of devices."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(count) for count in DEVICES]

    def panel(label: str, read: Callable[[Run], Quantity]) -> FamilyPanel:
        members = [
            Member(word, places, [read(run) for run in _over_devices(runs, variant)])
            for variant, word in WORDS.items()
        ]
        return FamilyPanel(label, members, from_zero=False)

    return family_figure(
        "devices",
        [
            panel("goodput of all [Mb/s]", cell.total),
            panel("Jain's index", jain),
            panel("queue of the AP [packets]", cell.occupancy),
        ],
        ticks={place: f"{place:g}" for place in places},
    )


STUDY = Study(
    subject="vbs",
    name="fig08",
    title="Figure 8: devices 70 ms away",
    points={
        f"{variant}-{count}": _scenario(variant, count) for variant in WORDS for count in DEVICES
    },
    measure=measure,
    draw=draw,
    findings=findings,
)

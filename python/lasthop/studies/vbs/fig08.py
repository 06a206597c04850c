"""Figure 8: goodput and fairness over the number of devices, 70 ms away."""

from typing import TYPE_CHECKING

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

DEVICES = (2, 4, 6, 8, 10)


def jain(run: Run) -> Quantity:
    """Return Jain's index of the stations. [-]"""
    return run.quantity("cells", "cell", "jain")


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return aggregate goodput and Jain's index with two and ten devices."""
    values = {}
    for count in (DEVICES[0], DEVICES[-1]):
        values[f"aggregate_{count}"] = cell.total(runs[str(count)])
        values[f"jain_{count}"] = jain(runs[str(count)])
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return why the aggregate does not grow."""
    queue = cell.listed([cell.occupancy(runs[str(count)]) for count in DEVICES])
    return {
        "vbs-4": (
            f"the queue holds {queue} packets with {', '.join(map(str, DEVICES))} devices and the "
            "access point always has a frame to send, so that nothing is left to gain; more "
            "devices with ACKs to send collide more. An aggregate that grows needs an access point "
            "that runs empty at times, as windows or buffers of a test-bed may make it"
        )
    }


def draw(runs: Runs) -> "Figure":
    """Draw both over the number of devices."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    places = [float(count) for count in DEVICES]
    points = [runs[str(count)] for count in DEVICES]
    return family_figure(
        "devices",
        [
            FamilyPanel(
                "goodput [Mb/s]",
                [Member("all devices", places, [cell.total(run) for run in points])],
                from_zero=False,
            ),
            FamilyPanel(
                "Jain's index",
                [Member("Jain's index", places, [jain(run) for run in points])],
                from_zero=False,
            ),
        ],
    )


STUDY = Study(
    subject="vbs",
    name="fig08",
    title="Figure 8: devices 70 ms away",
    points={
        str(count): cell.scenario(
            f"{count} downloads, 70 ms", {"high": {"count": count, "download": 1}}, delay_ms=35
        )
        for count in DEVICES
    },
    measure=measure,
    draw=draw,
    findings=findings,
)

"""Section III-B: how many devices contend, whatever their number."""

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell

DEVICES = (2, 5, 10, 20)


def active(run: Run) -> Quantity:
    """Return the mean number of stations with a frame to send, over time. [-]"""
    return run.quantity("cells", "cell", "active_stations")


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return it for each number of devices."""
    return {f"active_{count}": active(runs[str(count)]) for count in DEVICES}


def findings(runs: Runs) -> dict[str, str]:
    """Return what the mean is over."""
    each = cell.listed([active(runs[str(count)]) for count in DEVICES])
    return {
        "vbs-18": (
            f"{each} stations of {', '.join(map(str, DEVICES))} have a frame to send, over time: "
            "hardly more with more devices, as stated. The cited models count 1.5 at slots in "
            "which somebody may send; over time the long frames of the access point weigh more, "
            "at whose "
            "end a station has yet to become active"
        )
    }


STUDY = Study(
    subject="vbs",
    name="contenders",
    title="Section III-B: devices that contend",
    points={
        str(count): cell.scenario(
            f"{count} downloads",
            {"high": {"count": count, "download": 1}},
            attempts=cell.STATED_ATTEMPTS,
            replications=5,
        )
        for count in DEVICES
    },
    measure=measure,
    findings=findings,
)

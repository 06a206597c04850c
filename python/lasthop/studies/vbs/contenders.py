"""Section III-B: how many devices contend, whatever their number."""

from typing import Any

from lasthop.studies.study import Quantity, Run, Runs, Study
from lasthop.studies.vbs import cell

DEVICES = (2, 5, 10, 20)
REPLICATIONS = 5


def active(run: Run) -> Quantity:
    """Return the mean number of stations with a frame to send, over time. [-]"""
    return run.quantity("cells", "cell", "active_stations")


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return it for each number of devices."""
    return {f"active_{count}": active(runs[str(count)]) for count in DEVICES}


def findings(runs: Runs) -> dict[str, str]:
    """Return what the mean is over."""
    each = cell.listed([active(runs[str(count)]) for count in DEVICES])
    equal = cell.listed([active(runs[f"equal-{count}"]) for count in DEVICES])
    dense = cell.listed([active(runs[f"dense-{count}"]) for count in DEVICES])
    return {
        "vbs-18": (
            f"{each} stations of {', '.join(map(str, DEVICES))} have a frame to send, over time: "
            "hardly more with more devices, as stated. The cited models count 1.5 at the ends of "
            "exchanges, each taken alike. Over time the frames of the access point weigh more, "
            "and so do the idle slots, which are many while few contend. With segments of 1 byte, "
            f"whose frames last as long as those of ACKs, it is {equal}; with slots of 1 us too, "
            f"so that nearly all the time is frames, {dense}. What is left is the backoff, which "
            "the cited models forget after every exchange: a station that lost against the access "
            "point goes on with what its counter has left, against a new draw of the latter"
        )
    }


EQUAL = {"tcp": {"mss": "1 B"}}
DENSE = {**EQUAL, "cell": {"slot": "1 us"}}


def _scenario(count: int, **changes: Any) -> dict[str, Any]:
    tree = cell.scenario(
        " ".join([f"{count} downloads", *changes]),
        {"high": {"count": count, "download": 1}},
        attempts=cell.STATED_ATTEMPTS,
        replications=REPLICATIONS,
    )
    return {**tree, **{table: {**tree[table], **keys} for table, keys in changes.items()}}


STUDY = Study(
    subject="vbs",
    name="contenders",
    title="Section III-B: devices that contend",
    points={
        **{str(count): _scenario(count) for count in DEVICES},
        **{f"equal-{count}": _scenario(count, **EQUAL) for count in DEVICES},
        **{f"dense-{count}": _scenario(count, **DENSE) for count in DEVICES},
    },
    measure=measure,
    findings=findings,
)

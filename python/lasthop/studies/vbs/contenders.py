"""Section III-B: number of contending devices over the total number of devices."""

from typing import Any

from lasthop.studies.study import Runs, Study, about, changed, listed, reading
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

DEVICES = (2, 5, 10, 20)
REPLICATIONS = 5

CITED = 1.5
"""Mean number of contending stations in the models that the paper cites. [-]"""

CHANGES: dict[str, dict[str, dict[str, str]]] = {
    "": {},
    "equal-": {"tcp": {"mss": "1 B"}},
    "dense-": {"tcp": {"mss": "1 B"}, "cell": {"slot": "1 us"}},
}
"""Changes of the settings of the paper's cell, by the prefix of the points' names."""


def scenario(changes: str, count: int) -> dict[str, Any]:
    """Return a cell with `count` downloads and changed settings, such as short frames and slots."""
    tree = cell.scenario(
        " ".join([f"{count} downloads", *CHANGES[changes]]),
        {"high": {"count": count, "download": 1}},
        attempts=cell.STATED_ATTEMPTS,
        replications=REPLICATIONS,
    )
    return changed(tree, **CHANGES[changes])


SWEEP = Sweep("{changes}{count}", scenario, {"changes": tuple(CHANGES), "count": DEVICES})


active = reading("cells", "cell", "active_stations")
"""Time average of the number of stations with a frame to send. [-]"""


def finding(runs: Runs) -> str:
    """Return a text on the average that corresponds to the paper's number of contending
    stations.
    """
    plain, equal, dense = (
        listed(SWEEP.at(changes=changes).read(runs, active)) for changes in CHANGES
    )
    return (
        f"averaged over time, {plain} stations of {', '.join(map(str, DEVICES))} have a frame to "
        "send. The number hardly grows with the devices, as stated. The models that the paper "
        f"cites count {CITED} at the ends of exchanges, with equal weight for each exchange. In "
        "the average over time, the frames of the access point have more weight, and so do the "
        "idle slots, which are many while few stations contend. With segments of 1 byte, whose "
        f"frames last as long as those of ACKs, the number is {equal}. With slots of 1 us too, so "
        f"that frames take almost all the time, it is {dense}. The remaining difference is the "
        "backoff, which the cited models reset after every exchange. A station that lost against "
        "the access point continues with its remaining counter, against a new draw of the access "
        "point"
    )


STUDY = Study(
    key="vbs-contenders",
    title="Section III-B: devices that contend",
    points=SWEEP.points(),
    measure=lambda runs: SWEEP.at(changes="").values(runs, {"active_{count}": active}),
    findings=about("vbs-18", finding),
)

"""The cells of the study of BBR and CUBIC, with BBR v3 as a further row.

The study is run by `bench/bbr3_wifi.py`. Its runs are not stored, so that it is not in `STUDIES`
and has no claims.
"""

from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.bbr_wifi import sharing
from lasthop.studies.study import Quantity, Runs, Study
from lasthop.studies.sweep import Sweep, points_of

CONTROLS = ("bbr", "bbr3")
"""The congestion controls that share with CUBIC."""


def both(phy: str, direction: str, queue: int | str, control: str) -> Any:
    """Return a cell with a connection of one version of BBR next to one of CUBIC."""
    return sharing.scenario(phy, direction, queue, (control, "cubic"))


BOTH = Sweep(
    "{phy}-{direction}-{queue}-{control}",
    both,
    {
        "phy": cell.BOTH,
        "direction": sharing.DIRECTIONS,
        "queue": sharing.QUEUES,
        "control": CONTROLS,
    },
    words=sharing.WORDS,
)
ALONE = Sweep(
    "{phy}-{direction}-{queue}-{control}-single",
    sharing.alone,
    {
        "phy": cell.BOTH,
        "direction": sharing.DIRECTIONS,
        "queue": sharing.QUEUES,
        "control": (*CONTROLS, "cubic"),
    },
    words=sharing.WORDS,
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return each version's share of the goodput next to CUBIC, and the goodput of one
    connection.
    """
    values: dict[str, Quantity] = {}
    for control in CONTROLS:
        own = cell.goodput(control)
        share = own / (own + cell.goodput("cubic"))
        some = BOTH.at(control=control)
        values |= some.values(runs, {"share_{control}_{phy}_{direction}_{queue}": share})
    return values | ALONE.values(runs, {"single_{control}_{phy}_{direction}_{queue}": cell.total})


STUDY = Study(
    key="bbr-wifi-version3",
    title="BBR v1, BBR v3 and CUBIC with a FIFO, FQ-CoDel and mac80211",
    points=points_of(BOTH, ALONE),
    measure=measure,
)

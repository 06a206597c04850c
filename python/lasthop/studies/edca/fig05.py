"""Figure 5: the access point and the stations share one CWmin (section 6.1.1)."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from lasthop.studies.edca import cell
from lasthop.studies.edca.cell import CWMINS, DIRECTIONS
from lasthop.studies.study import Quantity, Run, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure


STATED = {15: 4.56, 31: 4.46}
"""Aggregate throughput of downloads that the paper prints, by CWmin. [Mb/s]"""

SMALL = (3, 7, 15)
"""Windows at which the runs that isolate a cause are made. [slots]"""

SHORT_RTO = "200 ms"

PATIENT = {"min_rto": "20 s", "initial_rto": "20 s"}
"""Without doubling a frame may take seconds: senders wait, and nothing is sent twice."""


def fixed(cwmin: int) -> dict[str, int]:
    """Return a window that does not double at a collision, and frames that are never given up."""
    return {"cwmin": cwmin, "cwmax": cwmin, "attempts_short": 255}


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughput, collision rates and active stations of both directions."""
    values: dict[str, Quantity] = {}
    for way in DIRECTIONS:
        for cwmin in CWMINS:
            run = runs[f"{way}-{cwmin}"]
            values[f"{way}_{cwmin}"] = cell.throughput(run)
            values[f"collision_ap_{way}_{cwmin}"] = cell.ap_collisions(run)
            values[f"collision_station_{way}_{cwmin}"] = cell.station_collisions(run)
            values[f"active_{way}_{cwmin}"] = cell.active(run)
        values[f"fall_{way}"] = (values[f"{way}_15"] - values[f"{way}_3"]) / values[f"{way}_15"]
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return what exponential backoff does at small windows, and what the timeout does."""
    real, without = runs["down-3"], runs["down-3-fixed"]
    backoff = (
        "exponential backoff remembers: at CWmin 3 who has collided waits with a doubled window, "
        "while the last winner starts again from 3. Packets gather at the losers: "
        f"{cell.active(real)} stations are active, the p-persistent chain has "
        f"{cell.predicted(cell.active(real))}, and collisions follow. With windows that do not "
        f"double it is {cell.active(without)} against {cell.predicted(cell.active(without))}"
    )
    timeouts = ", ".join(
        f"{cell.change(runs[f'{way}-{cwmin}-short-rto'], runs[f'{way}-{cwmin}'])} {way} at {cwmin}"
        for cwmin in SMALL
        for way in DIRECTIONS
    )
    differences = "; ".join(
        f"{way}load at CWmin {cwmin} {cell.difference(cell.throughput(runs[f'{way}-{cwmin}']))}, "
        f"without doubling {cell.difference(cell.throughput(runs[f'{way}-{cwmin}-fixed']))}"
        for cwmin in (3, 7)
        for way in DIRECTIONS
    )
    return {
        "edca-3": (
            f"{backoff}. Simulation over model: {differences}. A minimum RTO of {SHORT_RTO} "
            f"instead of {cell.MIN_RTO} changes throughput by {timeouts}"
        ),
        "edca-6": backoff,
    }


def draw(runs: Runs) -> "Figure":
    """Draw throughput, collision rates and active stations over CWmin."""
    from lasthop.plot.family import FamilyPanel, Member, family_figure

    windows = [float(k) for k in range(len(CWMINS))]

    def members(quantity: Callable[[Run], Quantity], variant: str = "") -> list[Member]:
        return [
            Member(f"{way}load", windows, [quantity(runs[f"{way}-{cw}"]) for cw in CWMINS], variant)
            for way in DIRECTIONS
        ]

    collisions = members(cell.station_collisions) + members(cell.ap_collisions, "AP")
    return family_figure(
        "CWmin of all [slots]",
        [
            FamilyPanel(
                "throughput [Mb/s]",
                members(cell.throughput),
                stated=[(CWMINS.index(cwmin), value) for cwmin, value in STATED.items()],
            ),
            FamilyPanel("collision rate", collisions),
            FamilyPanel("active stations", members(cell.active)),
        ],
        ticks=dict(zip(windows, map(str, CWMINS), strict=True)),
    )


STUDY = Study(
    subject="edca",
    name="fig05",
    title="Figure 5: access point and stations with the same CWmin",
    points={
        **{
            f"{way}-{cwmin}": cell.scenario(way, ap=cwmin, station=cwmin)
            for way in DIRECTIONS
            for cwmin in CWMINS
        },
        **{
            f"{way}-{cwmin}-fixed": cell.scenario(
                way, ap=fixed(cwmin), station=fixed(cwmin), tcp=PATIENT
            )
            for way in DIRECTIONS
            for cwmin in SMALL
        },
        **{
            f"{way}-{cwmin}-short-rto": cell.scenario(
                way, ap=cwmin, station=cwmin, tcp={"min_rto": SHORT_RTO}
            )
            for way in DIRECTIONS
            for cwmin in SMALL
        },
    },
    measure=measure,
    draw=draw,
    findings=findings,
)

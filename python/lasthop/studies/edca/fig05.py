"""Figure 5: throughput over a CWmin that is equal at access point and stations (section 6.1.1)."""

from lasthop.studies.edca import cell, counters
from lasthop.studies.edca.cell import CWMINS, DIRECTIONS
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Read, Runs, Study
from lasthop.studies.sweep import Sweep, points_of

STATED = {15: 4.56, 31: 4.46}
"""Aggregate throughput of downloads that the paper prints, by CWmin. [Mb/s]"""

SMALL = (3, 7, 15)
"""Values of CWmin in the runs that isolate the effect of exponential backoff. [slots]"""

LARGE = 63
"""CWmin at which collisions are rare, so that exponential backoff has little effect. [slots]"""

SHORT_RTO = "200 ms"

LONG_RTO = {"min_rto": "20 s", "initial_rto": "20 s"}
"""TCP timeouts for runs in which contention windows do not double. In these runs a frame may take
seconds. The timeouts are so long that no segment is sent twice.
"""


def fixed(cwmin: int) -> dict[str, int]:
    """Return access parameters with a fixed contention window and no limit of attempts."""
    return {"cwmin": cwmin, "cwmax": cwmin, "attempts_short": 255}


SWEEP = Sweep(
    "{way}-{cwmin}",
    lambda way, cwmin: cell.scenario(way, ap=cwmin, station=cwmin),
    {"way": DIRECTIONS, "cwmin": CWMINS},
)

FIXED = Sweep(
    "{way}-{cwmin}-fixed",
    lambda way, cwmin: cell.scenario(way, ap=fixed(cwmin), station=fixed(cwmin), tcp=LONG_RTO),
    {"way": DIRECTIONS, "cwmin": (*SMALL, LARGE)},
)

SHORT_RTO_SWEEP = Sweep(
    "{way}-{cwmin}-short-rto",
    lambda way, cwmin: cell.scenario(way, ap=cwmin, station=cwmin, tcp={"min_rto": SHORT_RTO}),
    {"way": DIRECTIONS, "cwmin": SMALL},
)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughput, collision rates and active stations of both directions."""
    values = SWEEP.values(
        runs,
        {
            "{way}_{cwmin}": cell.throughput,
            "collision_ap_{way}_{cwmin}": cell.ap_collisions,
            "collision_station_{way}_{cwmin}": cell.station_collisions,
            "active_{way}_{cwmin}": cell.active,
        },
    )
    for way in DIRECTIONS:
        values[f"fall_{way}"] = (values[f"{way}_15"] - values[f"{way}_3"]) / values[f"{way}_15"]
    return values


def findings(runs: Runs) -> dict[str, str]:
    """Return texts on the effect of exponential backoff at small CWmin, and of the TCP timeout."""
    smallest = SMALL[0]
    real, without = runs[f"down-{smallest}"], runs[f"down-{smallest}-fixed"]
    backoff = (
        f"exponential backoff has a memory: at CWmin {smallest} a station that has collided waits "
        f"with a doubled window, while the last winner starts again from {smallest}. Packets "
        f"gather at the stations that lose: {cell.active(real)} stations are active, and in the "
        f"p-persistent chain {cell.predicted(cell.active(real))}. More collisions follow. If "
        f"windows do not double, {cell.active(without)} stations are active, against "
        f"{cell.predicted(cell.active(without))} in the chain"
    )
    timeouts = ", ".join(
        f"{cell.change(runs[f'{way}-{cwmin}-short-rto'], runs[f'{way}-{cwmin}'])} ({way}load, "
        f"CWmin {cwmin})"
        for cwmin in SMALL
        for way in DIRECTIONS
    )
    differences = "; ".join(
        f"{cell.difference(cell.throughput(runs[f'{way}-{cwmin}']))} for {way}loads at CWmin "
        f"{cwmin} ({cell.difference(cell.throughput(runs[f'{way}-{cwmin}-fixed']))} without "
        "doubling)"
        for cwmin in SMALL[:2]
        for way in DIRECTIONS
    )
    large, single = runs[f"down-{LARGE}"], runs[f"down-{LARGE}-fixed"]
    forgetting, keeping = (counters.simulate(LARGE, memory=memory) for memory in (False, True))
    return {
        "edca-20": (
            f"{backoff}. From CWmin 31 on, the backoff counter has the memory. At CWmin {LARGE} "
            f"{cell.active(large)} stations of a download are active, and a fraction of "
            f"{cell.station_collisions(large)} of their attempts collides. Without doubling these "
            f"are {cell.active(single)} and {cell.station_collisions(single)}, and in the chain "
            f"{cell.predicted(cell.active(single))} and "
            f"{cell.predicted(cell.station_collisions(single))}. A count slot by slot, without "
            f"engine and chain, gives {forgetting.active} and {forgetting.collisions} if counters "
            "are drawn again after each busy period, which is p-persistent backoff. With the "
            f"counters of 802.11, which keep their remaining slots, it gives {keeping.active} and "
            f"{keeping.collisions}. The engine counts a station as active from the end of its "
            "segment on, not from the end of the exchange. Counted in this way, the slot-by-slot "
            f"count has {keeping.active_from_receipt} active stations"
        ),
        "edca-7": (
            "the engine counts a station as active from the end of its segment on, and the chain "
            "from the end of the exchange. If stations are counted as in the chain, a count slot "
            f"by slot at CWmin {LARGE} has {keeping.active} active stations with the counters of "
            f"802.11, and {forgetting.active} with p-persistent backoff"
        ),
        "edca-3": (
            f"{backoff}. The simulation differs from the model by {differences}. A minimum RTO of "
            f"{SHORT_RTO} instead of {cell.MIN_RTO} changes throughput by {timeouts}"
        ),
        "edca-6": backoff,
    }


def lines(reading: Read, variant: str = "") -> list[Line]:
    """Return lines over CWmin, one for downloads and one for uploads."""
    return SWEEP.lines("{way}load", "cwmin", reading, variant)


PICTURE = Picture(
    Abscissa("CWmin of all [slots]", evenly(CWMINS), CWMINS),
    [
        Panel("throughput [Mb/s]", lines(cell.throughput), stated=list(STATED.items())),
        Panel("collision rate", lines(cell.station_collisions) + lines(cell.ap_collisions, "AP")),
        Panel("active stations", lines(cell.active)),
    ],
)

STUDY = Study(
    key="edca-fig05",
    title="Figure 5: access point and stations with the same CWmin",
    points=points_of(SWEEP, FIXED, SHORT_RTO_SWEEP),
    measure=measure,
    regime=cell.lossless,
    draw=PICTURE.draw,
    findings=findings,
)

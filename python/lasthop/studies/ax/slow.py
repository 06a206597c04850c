"""One slow and two fast stations: the performance anomaly, with a FIFO and with fair queues."""

from typing import Any

from lasthop.studies.ax import cell
from lasthop.studies.picture import Abscissa, Line, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, about, mean_reading, reading
from lasthop.studies.sweep import Sweep

MCSS = (0, 1, 2, 4, 7)
"""MCS of the slow station, which has one spatial stream. [-]"""

LOADS: dict[str, dict[str, Any]] = {"udp": {"udp_down": "300 Mbps"}, "tcp": {"download": 1}}
"""Traffic of each station: Traffic of each station, by name: UDP at a rate above the station's
share, or one TCP download.
"""

QUEUES = {"fifo": cell.ROOM, "linux": cell.LINUX}
WORDS = {"fifo": "FIFO", "linux": "Linux queue", "udp": "UDP", "tcp": "TCP"}


def scenario(phy: str, load: str, queue: str, mcs: int) -> dict[str, Any]:
    """Return a cell with two fast stations and one slow station, all with the same traffic."""
    own = LOADS[load]
    stations = {
        "fast": {"count": 2, **own},
        "slow": {**own, "mcs": mcs, "streams": 1},
    }
    words = f"{WORDS[load]}, a station at MCS {mcs}, {WORDS[queue]}"
    return cell.scenario(words, phy, stations, queue=QUEUES[queue], seconds=(3, 9))


SWEEP = Sweep(
    "{phy}-{load}-{queue}-{mcs}",
    scenario,
    {"phy": cell.BOTH, "load": tuple(LOADS), "queue": tuple(QUEUES), "mcs": MCSS},
    words=WORDS,
)


fast, slow = cell.goodput("fast"), cell.goodput("slow")
"""Goodput of a fast station, and of the slow station. [Mb/s]"""

evenness = slow / fast
"""Ratio of the goodput of the slow station to that of a fast station. [-]"""

OF_SLOW = reading("stations", "slow", "airtime_fraction")
air = OF_SLOW / (OF_SLOW + mean_reading("stations", "fast", "airtime_fraction") * 2.0)
"""Air time of the slow station, divided by the air time of all three stations. [-]"""

LENGTHS = {
    name: mean_reading("stations", name, "downlink_mpdus_per_ppdu") for name in ("fast", "slow")
}
"""Mean length of the aggregates to a fast station, and to the slow station. [MPDUs]"""


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the throughput of each station in the cell whose slow station has MCS 0."""
    readings = {"even": evenness, "air": air, "fast": fast, "slow": slow, "total": cell.total}
    table = {f"{name}_{{phy}}_{{load}}_{{queue}}": read for name, read in readings.items()}
    return SWEEP.at(mcs=MCSS[0]).values(runs, table)


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return goodputs, air times and aggregate lengths over the MCS of the slow station."""
    readings = {"fast": fast, "slow": slow, "air": air}
    lengths = {f"mpdus_{name}": length for name, length in LENGTHS.items()}
    return SWEEP.values(
        runs,
        {
            f"{name}_{{phy}}_{{load}}_{{queue}}_{{mcs}}": read
            for name, read in (readings | lengths).items()
        },
    )


def finding(runs: Runs) -> str:
    """Return a text on the benefit of equal air times per station, and on aggregates as the cause
    of this benefit.
    """
    fifo, linux = (runs[f"ax-tcp-{queue}-0"] for queue in QUEUES)
    lengths = [length(run) for run in (fifo, linux) for length in LENGTHS.values()]
    return (
        f"with downloads in 802.11ax, each fast station gets {fast(fifo)} Mb/s with the FIFO and "
        f"{fast(linux)} with the Linux queue. The slow station gets {slow(fifo)} and "
        f"{slow(linux)}. With the FIFO, aggregates of the slow station have {lengths[1]} MPDUs, "
        f"and those of a fast station {lengths[0]}. With the Linux queue they have {lengths[3]} "
        f"and {lengths[2]}"
    )


def _lines(load: str) -> list[Line]:
    """Return lines with the goodputs of fast and slow stations under one kind of traffic, in
    802.11ax.
    """
    mine = SWEEP.at(phy="ax", load=load)
    return [
        line
        for queue, variant in (("fifo", ""), ("linux", "Linux queue"))
        for label, read in (("a fast station", fast), ("the slow station", slow))
        for line in mine.at(queue=queue).lines(label, "mcs", read, variant)
    ]


def _air(phy: str) -> list[Line]:
    mine = SWEEP.at(phy=phy)
    return [
        line
        for queue, variant in (("fifo", ""), ("linux", "Linux queue"))
        for load, words in (("udp", "the slow station"), ("tcp", "the slow station, TCP"))
        for line in mine.at(queue=queue, load=load).lines(words, "mcs", air, variant)
    ]


PICTURE = Picture(
    Abscissa("MCS of the slow station, one stream", places=evenly(MCSS), ticks=MCSS),
    [
        *(
            Panel("goodput [Mb/s]", _lines(load), f"{WORDS[load]}, {cell.PHY_WORDS['ax']}")
            for load in LOADS
        ),
        *(
            Panel(
                "fraction of air time [-]",
                _air(phy),
                f"air time of the slow station, {cell.PHY_WORDS[phy]}",
                levels={"a third": 1 / 3},
            )
            for phy in cell.BOTH
        ),
    ],
)

STUDY = Study(
    key="ax-slow",
    title="One slow station",
    points=SWEEP.points(),
    measure=measure,
    shown=shown,
    findings=about("ax-2", finding),
    draw=PICTURE.draw,
)

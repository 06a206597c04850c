"""Footnote 2: figures 5 to 9 with receive windows other than 4 packets."""

from lasthop.studies.edca import cell, fig06, fig07, fig09
from lasthop.studies.edca.cell import CWMINS, DIRECTIONS, PIFS
from lasthop.studies.edca.fig05 import LONG_RTO, fixed
from lasthop.studies.picture import Abscissa, Panel, Picture, evenly
from lasthop.studies.study import Quantity, Runs, Study, about, largest, listed
from lasthop.studies.sweep import Sweep, points_of

WINDOWS = (2, 8, 12)
"""Receive windows; footnote 2 names the last value. [packets]"""

STATION_CWMIN = 7
"""CWmin of the stations in the runs where the access point has a larger CWmin. [slots]"""

EQUAL = Sweep(
    "{way}-w{window}-{cwmin}",
    lambda way, window, cwmin: cell.scenario(way, ap=cwmin, station=cwmin, tcp={"window": window}),
    {"way": DIRECTIONS, "window": WINDOWS, "cwmin": CWMINS},
)

PAIRS = Sweep(
    "down-w{window}-{ap}-{station}",
    lambda window, ap, station: cell.scenario(
        "down", ap=ap, station=station, tcp={"window": window}
    ),
    {"window": WINDOWS, "ap": CWMINS, "station": CWMINS},
)
ROWS = PAIRS.at(ap=fig06.SMALL_AP)
BELOW = PAIRS.at(ap=[ap for ap in CWMINS if ap > STATION_CWMIN], station=STATION_CWMIN)
"""Additional runs in which the access point has a larger CWmin than the stations."""

PIFS_ACCESS = Sweep(
    "down-w{window}-pifs-{cwmin}",
    lambda window, cwmin: cell.scenario("down", ap=PIFS, station=cwmin, tcp={"window": window}),
    {"window": WINDOWS, "cwmin": CWMINS},
)

EXTREME_CWMINS = (3, 7, 127, 255)
"""CWmin of the stations at which the throughput is near a minimum or a maximum, if the CWmin of the
access point is 3. [slots]
"""

LIMITS = (1, 2)
"""TXOP limits of access point and stations. [packets]"""

TXOP = Sweep(
    "down-w{window}-txop-{limit}",
    lambda window, limit: fig07.scenario("fifo", limit, limit, {"window": window}),
    {"window": WINDOWS, "limit": LIMITS},
)

PIFS_TXOP = Sweep(
    "down-w{window}-pifs-limit-{limit}",
    lambda window, limit: fig09.scenario("down", 1, limit, {"window": window}),
    {"window": WINDOWS, "limit": LIMITS},
)

FIXED = Sweep(
    "down-w{window}-{ap}-{station}-fixed",
    lambda window, ap, station: cell.scenario(
        "down", ap=fixed(ap), station=fixed(station), tcp={**LONG_RTO, "window": window}
    ),
    {"window": WINDOWS, "ap": CWMINS[:1], "station": EXTREME_CWMINS},
)
"""Runs with the smallest CWmin of the access point, and contention windows that do not double."""

SWEEPS = (EQUAL, ROWS, BELOW, PIFS_ACCESS, TXOP, PIFS_TXOP, FIXED)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return throughputs, collision rates and active stations by receive window, and extremes of
    curves.
    """
    values = EQUAL.values(
        runs,
        {
            "{way}_{window}_{cwmin}": cell.throughput,
            "collision_ap_{way}_{window}_{cwmin}": cell.ap_collisions,
            "collision_station_{way}_{window}_{cwmin}": cell.station_collisions,
        },
    )
    for sweep in (ROWS, BELOW):
        values |= sweep.values(runs, {"active_{window}_{ap}_{station}": cell.active})
    values |= TXOP.values(runs, {"txop_{window}_{limit}": cell.throughput})
    values |= PIFS_TXOP.values(runs, {"pifs_limit_{limit}_{window}": cell.throughput})
    for window in WINDOWS:
        for way in DIRECTIONS:
            equal = EQUAL.at(way=way, window=window)
            slow, fast = values[f"{way}_{window}_3"], values[f"{way}_{window}_15"]
            values[f"fall_{way}_{window}"] = (fast - slow) / fast
            values[f"active_most_{way}_{window}"] = largest(equal.read(runs, cell.active))
        pairs = [each.at(window=window).read(runs, cell.throughput) for each in (ROWS, BELOW)]
        equals = EQUAL.at(way="down", window=window).read(runs, cell.throughput)
        values[f"best_equal_{window}"] = largest(equals)
        values[f"best_pair_{window}"] = largest([*pairs[0], *pairs[1], *equals])
        pifs = PIFS_ACCESS.at(window=window)
        values[f"best_pifs_{window}"] = largest(pifs.read(runs, cell.throughput))
        for ap in fig06.SMALL_AP:
            values |= curves(runs, window, ap)
    return values


def curves(runs: Runs, window: int, ap: int) -> dict[str, Quantity]:
    """Return extremes and end values of the curves for one CWmin of the access point."""
    row = ROWS.at(window=window, ap=ap)
    values = fig06.curve_values(runs, row, ap)
    for node, rate in (("ap", cell.ap_collisions), ("station", cell.station_collisions)):
        for end, station in (("start", ap), ("end", CWMINS[-1])):
            [values[f"collision_{node}_{end}"]] = row.at(station=station).read(runs, rate)
    return {f"{name}_{window}_{ap}": item for name, item in values.items()}


def finding(runs: Runs) -> str:
    """Return a text on the effect of exponential backoff at the smallest CWmin, by receive
    window.
    """
    lines = []
    for window in WINDOWS:
        extremes = FIXED.at(window=window, station=EXTREME_CWMINS)
        real, single = runs[f"down-w{window}-3-3"], runs[f"down-w{window}-3-3-fixed"]
        lines.append(
            f"With {window} packets, {cell.active(real)} stations are active at CWmin 3, "
            f"{cell.active(single)} without doubling, and {cell.predicted(cell.active(single))} in "
            "the chain. Without doubling, the throughput is "
            f"{listed(extremes.read(runs, cell.throughput))} Mb/s, and the AP's collision rate "
            f"{listed(extremes.read(runs, cell.ap_collisions))}, at CWmin "
            f"{', '.join(map(str, EXTREME_CWMINS))} of the stations"
        )
    return (
        "at CWmin 3 exponential backoff makes many stations active, as with a window of 4 "
        f"(studies fig05 and fig06). {'. '.join(lines)}"
    )


PICTURE = Picture(
    Abscissa("CWmin of all, or of the stations [slots]", evenly(CWMINS), CWMINS),
    [
        Panel(
            "throughput [Mb/s]",
            EQUAL.at(way="down").lines("window {window}", "cwmin", cell.throughput),
            "equal CWmin, downloads, by receive window",
        ),
        Panel(
            "active stations",
            EQUAL.at(way="down").lines("window {window}", "cwmin", cell.active),
        ),
        Panel(
            "throughput [Mb/s]",
            ROWS.at(ap=7).lines("window {window}", "station", cell.throughput),
            "CWmin 7 of the AP",
            from_zero=False,
        ),
        Panel("active stations", ROWS.at(ap=7).lines("window {window}", "station", cell.active)),
    ],
)

STUDY = Study(
    key="edca-windows",
    title="Footnote 2: other receive windows",
    points=points_of(*SWEEPS),
    measure=measure,
    draw=PICTURE.draw,
    findings=about("edca-22", finding),
)

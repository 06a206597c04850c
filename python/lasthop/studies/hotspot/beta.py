"""Section 5: beta, the priority of a station over the access point, measured by the method of the
paper.

One station sends greedy UDP datagrams of 1472 bytes, as iperf does, and receives the same kind of
stream at the same time. beta is the ratio of the two goodputs. The sweep over the station's CWmin
shows which window gives the paper's 1.2.
"""

from collections.abc import Mapping
from typing import Any

from lasthop.models.access import Access
from lasthop.models.hotspot.access import beta_from_access
from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Run, Runs, Study, about
from lasthop.studies.sweep import Sweep

CWMINS = tuple(range(24, 36))
"""Values of CWmin of the station among which beta is closest to the paper's value. [slots]"""

PAPER_BETA = 1.2


def scenario(cwmin: int) -> Mapping[str, Any]:
    """Return one station with greedy UDP in both directions."""
    tree = cell.scenario(f"greedy UDP both ways, station CWmin {cwmin}", {}, {}, cwmin=cwmin)
    return tree | {"station": {"first": {"udp_up": "greedy", "udp_down": "greedy"}}}


SWEEP = Sweep("{cwmin}", scenario, {"cwmin": CWMINS})


def beta(run: Run) -> Quantity:
    """Return beta, the ratio of uplink to downlink goodput. The prediction is that of the Markov
    chain of two nodes. [-]
    """
    up, down = (
        run.quantity("flows", f"first/udp-{direction}/1", "goodput_bps")
        for direction in ("up", "down")
    )
    [station] = run.scenario["stations"]
    predicted = beta_from_access(Access(cwmin=station["cwmin"]), Access(cwmin=cell.AP_CWMIN))
    return Quantity((up / down).samples, predicted)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return beta for every CWmin of the sweep, and for the CWmin values that other studies use."""
    values = SWEEP.values(runs, {"cwmin_{cwmin}": beta})
    return values | {"recipe": values[f"cwmin_{cell.STATION_CWMIN}"]}


def finding(runs: Runs) -> str:
    """Return a text on the effect of CWmin on beta."""
    least, most = (beta(runs[f"{cwmin}"]) for cwmin in (CWMINS[-1], CWMINS[0]))
    return (
        f"the contention windows decide beta. With a window of {cell.AP_CWMIN} at the access "
        f"point, beta is {least} if the station has {CWMINS[-1]}, and {most} if it has {CWMINS[0]}"
    )


PICTURE = picture(
    "CWmin of the station [slots]",
    [
        Panel(
            "β, uplink / downlink",
            SWEEP.lines("", "cwmin", beta),
            f"greedy UDP both ways, AP CWmin {cell.AP_CWMIN}",
            from_zero=False,
            stated=[(cell.STATION_CWMIN, PAPER_BETA)],
        )
    ],
)

STUDY = Study(
    key="hotspot-beta",
    title="Section 5: beta over the station's CWmin",
    points=SWEEP.points(),
    measure=measure,
    draw=PICTURE.draw,
    findings=about("hotspot-15", finding),
)

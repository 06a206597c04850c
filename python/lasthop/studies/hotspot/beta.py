"""Section 5: beta, the priority of a station over the access point, measured as the paper does.

One station sends greedy UDP datagrams of iperf's 1472 bytes and receives such a stream at the same
time; beta is the ratio of the two goodputs. The sweep over the station's CWmin shows which window
gives the paper's 1.2.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lasthop.models.access import Access
from lasthop.models.hotspot.access import beta_from_access
from lasthop.studies.hotspot import cell
from lasthop.studies.study import Quantity, Run, Runs, Study

if TYPE_CHECKING:
    from lasthop.plot.figure import Figure

CWMINS = tuple(range(24, 36))
"""Candidate windows of the station. [slots]"""

PAPER_BETA = 1.2


def scenario(cwmin: int) -> Mapping[str, Any]:
    """Return one station with greedy UDP both ways."""
    tree = cell.scenario(f"greedy UDP both ways, station CWmin {cwmin}", {}, {}, cwmin=cwmin)
    return tree | {"station": {"first": {"udp_up": "greedy", "udp_down": "greedy"}}}


def beta(run: Run, cwmin: int) -> Quantity:
    """Return uplink over downlink goodput, beside the two-node chain's answer. [-]"""
    goodput = {
        direction: run.quantity("flows", f"first/udp-{direction}/1", "goodput_bps")
        for direction in ("up", "down")
    }
    predicted = beta_from_access(Access(cwmin=cwmin), Access(cwmin=cell.AP_CWMIN))
    return Quantity((goodput["up"] / goodput["down"]).samples, predicted)


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return beta of every candidate and of the recipe in use."""
    values = {cwmin: beta(runs[str(cwmin)], cwmin) for cwmin in CWMINS}
    return {
        **{f"cwmin_{cwmin}": value for cwmin, value in values.items()},
        "recipe": values[cell.STATION_CWMIN],
    }


def draw(runs: Runs) -> "Figure":
    """Draw beta over the station's CWmin."""
    from lasthop.plot.study import Curve, Panel, Stated, sweep_figure

    curve = Curve(CWMINS, [beta(runs[str(cwmin)], cwmin) for cwmin in CWMINS])
    stated = Stated.value([cell.STATION_CWMIN], [PAPER_BETA])
    heading = f"greedy UDP both ways, AP CWmin {cell.AP_CWMIN}"
    panel = Panel("β, uplink / downlink", [curve], stated, heading, from_zero=False)
    return sweep_figure("CWmin of the station [slots]", [panel])


STUDY = Study(
    subject="hotspot",
    name="beta",
    title="Section 5: beta over the station's CWmin",
    points={str(cwmin): scenario(cwmin) for cwmin in CWMINS},
    measure=measure,
    draw=draw,
)

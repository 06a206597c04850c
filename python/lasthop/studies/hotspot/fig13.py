"""Figures 13 and 14: the bottleneck with other definitions of fairness (section 4.1, appendix
V).
"""

from typing import Any

from lasthop.models.dcf.airtime import exchange_s
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CellScenario
from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import SLOW
from lasthop.studies.study import Figure, Quantity, Run, Runs, Study, about, listed, reading

DATA_BYTES, ACK_BYTES = 1500, 40
"""Lengths of the IP packets of a download: segment and ACK. [bytes]"""

PAYLOAD_BITS = 8 * 1460

KINDS = ("airtime", "rate", "flow", "direction")
"""Names of the definitions of fairness."""

MULTIRATE: dict[str, Any] = {"download": 1, "rate": SLOW}


def scenario(fairness: str) -> dict[str, Any]:
    """Return the cell whose bottleneck uses the given definition of fairness."""
    title = f"fairness by {fairness}"
    if fairness in ("airtime", "rate"):
        tree = cell.scenario(title, MULTIRATE, {"download": 1})
    elif fairness == "flow":
        tree = cell.scenario(title, {"download": 4}, {"upload": 1})
    else:
        tree = cell.scenario(title, {"upload": 4}, {"download": 1})
    return tree | {"replications": 20, "vsb": {**cell.PAPERS_VSB, "fairness": fairness}}


def airtime(run: Run, scenario: Scenario, station: str) -> Quantity:
    """Return the fraction of time in which a station's exchanges are on the air. [-]

    Each segment counts with half a TCP ACK, because ACKs are delayed. Collisions are ignored.
    """
    known = scenario.typed
    assert isinstance(known, CellScenario)
    own = known.station[station]
    data = exchange_s(known.cell, DATA_BYTES, own.downlink_rate_bps, *own.downlink_control_bps)
    ack = exchange_s(known.cell, ACK_BYTES, own.rate_bps, *own.uplink_control_bps)
    return run.quantity("stations", station, "goodput_bps") * ((data + ack / 2) / PAYLOAD_BITS)


def airtime_ratio(run: Run, fairness: str) -> Quantity:
    """Return the ratio of the air time of the slow station to that of a fast station. [-]"""
    checked = Scenario(scenario(fairness))
    return airtime(run, checked, "first") / airtime(run, checked, cell.others(run)[0])


def flow_ratio(run: Run) -> Quantity:
    """Return the goodput of one of station 1's four flows, divided by that of another station's
    flow. [-]
    """
    share = run.quantity("stations", "first", "goodput_bps") / 4.0
    return share / run.quantity("stations", cell.others(run)[0], "goodput_bps")


updown_ratio = reading("cells", "cell", "updown_ratio")
"""Ratio of the goodput of all uploads to that of all downloads. [-]"""

NAMES = ("airtime_ratio", "airtime_ratio_by_rates", "flow_ratio", "updown_ratio")
"""Names of the ratios, in the order of `KINDS`. Each ratio is 1 if the bottleneck is fair by the
corresponding definition.
"""


def ratios(runs: Runs, prefix: str = "") -> list[Quantity]:
    """Return, for each definition of fairness, the ratio that is 1 if the bottleneck is fair. [-]

    The ratios are read from the points whose names begin with `prefix`.
    """
    by_airtime, by_rate, by_flow, by_direction = (runs[f"{prefix}{kind}"] for kind in KINDS)
    return [
        airtime_ratio(by_airtime, "airtime"),
        airtime_ratio(by_rate, "rate"),
        flow_ratio(by_flow),
        updown_ratio(by_direction),
    ]


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return, for each definition of fairness, the ratio that is 1 if the bottleneck is fair. Also
    return the ratio of air times with the paper's weights.
    """
    return dict(zip(NAMES, ratios(runs), strict=True))


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the ratios of `measure` with the default estimator of C. [-]"""
    named = zip(NAMES, ratios(runs, "agreed-"), strict=True)
    return {f"agreed_{name}": ratio for name, ratio in named}


def finding(runs: Runs) -> str:
    """Return a text on the air times with the paper's weights."""
    by_rate, by_airtime = (airtime_ratio(runs[kind], kind) for kind in ("rate", "airtime"))
    return (
        "preambles and ACKs take the same time at any rate. So weights in proportion to the "
        f"physical rates, as in section 4.1, give the slow station {by_rate} of the air time of a "
        f"fast station. With weights by the duration of whole exchanges the ratio is {by_airtime}. "
        "With C by agreement, the ratios for air times, bytes in proportion to rates, flows, and "
        f"up and down are {listed(ratios(runs, 'agreed-'))}"
    )


def draw(runs: Runs) -> Figure:
    """Draw, for each definition of fairness, the ratio that is 1 if the bottleneck is fair."""
    from lasthop.studies.drawing.study import BarPanel, bar_figure

    words = ("air times", "bytes as rates", "flows", "up and down")
    pairs = zip(words, ratios(runs), ratios(runs, "agreed-"), strict=True)
    groups = {word: [judged, agreed] for word, judged, agreed in pairs}
    label = "ratio of the shares\n(pale: C by agreement)"
    return bar_figure([BarPanel(label, groups, stated=(1.0, 1.0))])


STUDY = Study(
    key="hotspot-fig13",
    title="Figures 13 and 14: fairness of air times, of flows, of directions",
    points={
        **{kind: scenario(kind) for kind in KINDS},
        **{f"agreed-{kind}": cell.by_agreement(scenario(kind)) for kind in KINDS},
    },
    measure=measure,
    shown=shown,
    draw=draw,
    findings=about("hotspot-12", finding),
)

"""Figure 4: the rate of the estimator while downloads begin and end (section 4.2.1).

A download at 11 Mb/s begins at 25 s, and a download at 2 Mb/s begins at 57 s, as in the paper. The
paper does not state when the download at 2 Mb/s ends; the study uses 95 s. Each phase is measured
after the estimated rate has settled.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.sweeps import picture
from lasthop.studies.picture import Panel
from lasthop.studies.study import Quantity, Runs, Study, about, listed, reading
from lasthop.studies.sweep import Point, Sweep, points_of

FAST_S, SLOW_S, GONE_S = 25, 57, 95
"""Start times of the fast and of the slow download, and end time of the slow download. [s]"""

PHASES = {"idle": (5, FAST_S), "one": (35, SLOW_S), "two": (67, GONE_S), "after": (107, 140)}
"""Time intervals in which the rate C is averaged, by phase. [s]"""


def scenario(phase: str) -> dict[str, Any]:
    """Return the cell of figure 4, with measurements in one phase only."""
    begin, end = PHASES[phase]
    fast = {"connections": 1, "start": f"{FAST_S} s"}
    stations: dict[str, Any] = {"first": {"download": fast}, "others": {"rate": "2 Mbps"}}
    if end > SLOW_S:
        slow = {"connections": 1, "start": f"{SLOW_S} s"}
        if end > GONE_S:
            slow["stop"] = f"{GONE_S} s"
        stations["others"]["download"] = slow
    tree = cell.scenario(f"figure 4, {phase}", {}, {}, stagger="0 s")
    return tree | {
        "duration": f"{end}.001 s",  # the end is after the start of every flow
        "warmup": f"{begin} s",
        "replications": 20,
        "station": stations,
        "vsb": dict(cell.PAPERS_VSB),
    }


def free(rates: Mapping[str, str]) -> dict[str, Any]:
    """Return the scenario without the bottleneck, in which each station of `rates` downloads at its
    PHY rate.
    """
    tree = cell.scenario(f"the cell alone, {', '.join(rates)}", {}, {})
    stations = {name: {"rate": rate, "download": 1} for name, rate in rates.items()}
    return tree | {"duration": "60 s", "replications": 20, "station": stations}


SWEEP = Sweep("{phase}", scenario, {"phase": tuple(PHASES)})
AGREED = replace(
    SWEEP, name="agreed-{phase}", scenario=lambda phase: cell.by_agreement(scenario(phase))
)
"""Figure 4 with the default estimator (rule ``agreement``). No claim uses its values."""


p95 = reading("links", "vsb", "ping_rtt_p95_s") * 1e3
"""95th percentile of the pings' round-trip time. [ms]"""


ALONE = Point("alone", free({"first": "11 Mbps"}))


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the pings' round-trip times in each phase, and the rate C of the default estimator.
    [ms, Mb/s]
    """
    pings = SWEEP.values(runs, {"ping_p95_{phase}": p95})
    agreed = {"agreed_capacity_{phase}": cell.capacity, "agreed_ping_p95_{phase}": p95}
    return pings | AGREED.values(runs, agreed)


def finding(runs: Runs) -> str:
    """Return a text on the difference between the rate C and the capacity of the cell, and on the
    pings.
    """
    single, both = SWEEP.at(phase=("one", "two")).runs(runs)
    alone, shared = cell.total(ALONE.run(runs)), cell.total(single)
    return (
        f"with one station at 11 Mb/s the goodput is {shared} Mb/s, and {alone} without the "
        f"bottleneck. The 95th percentile of the pings is {p95(single)} ms, and {p95(both)} ms "
        "with an additional station at 2 Mb/s. With C by agreement, C is "
        f"{listed(AGREED.read(runs, cell.capacity))} Mb/s in the four phases. In the last three "
        f"phases the 95th percentile of the pings is then {listed(AGREED.read(runs, p95)[1:])} ms"
    )


STATED = {"idle": 6.0, "one": 5.4, "two": 2.4, "after": 5.4}
"""Rate C in each phase, read from the paper's figure. [Mb/s]"""

PICTURE = picture(
    "time [s]",
    [
        Panel(
            "C [Mb/s]",
            SWEEP.lines("", "phase", cell.capacity)
            + AGREED.lines("C by agreement", "phase", cell.capacity, "agreed"),
            "idle, one at 11 Mb/s, another at 2 Mb/s, gone",
            stated=list(STATED.items()),
        ),
        Panel(
            "95th percentile\nof pings [ms]",
            SWEEP.lines("", "phase", p95) + AGREED.lines("C by agreement", "phase", p95, "agreed"),
        ),
    ],
    places=lambda phase: sum(PHASES[phase]) / 2,
)

STUDY = Study(
    key="hotspot-fig04",
    title="Figure 4: the estimated rate while stations come and go",
    points=points_of(SWEEP, AGREED, ALONE),
    measure=lambda runs: SWEEP.values(runs, {"capacity_{phase}": cell.capacity}),
    shown=shown,
    draw=PICTURE.draw,
    findings=about("hotspot-10", finding),
)

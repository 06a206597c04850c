"""Figure 2: goodput of each station and fairness level of station 1 in four scenarios (section
2).
"""

from collections.abc import Mapping
from typing import Any

from lasthop.studies.hotspot import cell
from lasthop.studies.hotspot.fig09 import PROMPT, PROMPT_CWMIN
from lasthop.studies.hotspot.sweeps import SLOW, connections
from lasthop.studies.study import Figure, Quantity, Runs, Study, about

CASES: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "up_down": ("1 up\nagainst down", connections("upload", "download").points()["1"]),
    "down_down": ("6 down\nagainst down", connections("download", "download").points()["6"]),
    "up_up": ("6 up\nagainst up", connections("upload", "upload").points()["6"]),
    "multirate": (
        "6 down, 2 Mb/s\nagainst down",
        connections("download", "download", rate=SLOW).points()["6"],
    ),
}


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return eta in each scenario, and the goodputs in the scenarios `down_down` and `multirate`.
    Also return the ratio of eta in `multirate` to eta in `down_down`.
    """
    goodputs = {
        f"goodput_{case}_{index}": cell.goodput(runs[case], station)
        for case in ("down_down", "multirate")
        for index, station in enumerate(runs[case].items("stations"), 1)
    }
    single, multirate = (cell.fairness(runs[case]) for case in ("down_down", "multirate"))
    return {
        **{f"eta_{case}": cell.fairness(runs[case]) for case in CASES},
        **goodputs,
        "eta_multirate_over_single": multirate / single,
    }


def finding(runs: Runs) -> str:
    """Return a text on the effect that increases eta if all stations upload."""
    return (
        "if all stations upload, a station with one upload has a short queue, which lengthens its "
        f"round-trip time. eta is {cell.fairness(runs['up_up'])}, and "
        f"{cell.fairness(PROMPT.run(runs))} with CWmin {PROMPT_CWMIN} at those stations"
    )


def draw(runs: Runs) -> Figure:
    """Draw a panel with the goodputs above a panel with the fairness levels."""
    from lasthop.studies.drawing.study import BarPanel, bar_figure

    goodputs, levels = {}, {}
    for case, (label, _) in CASES.items():
        run = runs[case]
        stations = ["first", *cell.others(run)]
        goodputs[label] = [cell.goodput(run, station) for station in stations]
        shares = [run.quantity("stations", station, "goodput_share") for station in stations]
        levels[label] = [shares[0] / share for share in shares]
    return bar_figure(
        [
            BarPanel("goodput [Mb/s]", goodputs),
            BarPanel("fairness level η₁ⱼ", levels, stated=(2.0, 6.0)),
        ]
    )


STUDY = Study(
    key="hotspot-fig02",
    title="Figure 2: four cases, stations 1 to 5 from left to right",
    points={**{case: tree for case, (_, tree) in CASES.items()}, **PROMPT.points()},
    measure=measure,
    findings=about("hotspot-14", finding),
    draw=draw,
)

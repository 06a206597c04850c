"""Figure 18: users join and leave. The target share h* is 0.526, and the error probability p_w of
class 2 is 0.3.

There are five users of each class. At 100 s two users of class 1 join. At 200 s they leave, and two
users of class 2 join. Results are measured in time windows. Each window has its own run. The run
begins at time 0 and ends at the end of the window.
"""

from typing import Any

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.study import Quantity, Runs, Study, about, listed
from lasthop.studies.sweep import Sweep
from lasthop.studies.vbs import cell

SHARE = 0.526
TARGET = 1.11
CHANGES_S = (0, 100, 200)
LENGTH_S, REST_S = 100, 30
"""Length of a phase between two changes. Length of the time at the start of each phase that is
excluded from averages. [s]
"""

STEP_S, STEPS = 5, 4
"""Length and number of the windows after a change in which the settling time is measured. [s, -]"""

REPLICATIONS = 10
JUDGED = 40
"""Number of replications of the runs by which claims are judged. With ten replications, confidence
intervals would have half widths of 1 %. Such intervals would overlap the band that a rule accepts,
although the means are outside the band. Claims would then stay open.
"""


def _stations(end_s: int) -> dict[str, Any]:
    low = {"error_down": 0.3}
    stations: dict[str, Any] = {
        "high": {"count": 5, "download": 1},
        "low": {"count": 5, "download": 1, **low},
    }
    if end_s > CHANGES_S[1]:
        come = {"start": f"{CHANGES_S[1]} s", "stop": f"{CHANGES_S[2]} s"}
        stations["high-guest"] = {"count": 2, "download": come}
    if end_s > CHANGES_S[2]:
        stations["low-guest"] = {"count": 2, "download": {"start": f"{CHANGES_S[2]} s"}, **low}
    return stations


def scenario(algorithm: str, window: tuple[int, int]) -> dict[str, Any]:
    """Return the scenario that ends with a window [s], and is measured in this window only."""
    begin_s, end_s = window
    classes = {
        "high": {"error_below": 0.1, "share": SHARE},
        "low": {"error_from": 0.1, "share": 1.0 - SHARE},
    }
    return cell.scenario(
        f"{algorithm}, {begin_s} s to {end_s} s",
        _stations(end_s),
        queue={"limit": cell.BUFFER, "vbs": {"class": classes, **cell.ALGORITHMS[algorithm]}},
        attempts=cell.STATED_ATTEMPTS,
        seconds=(begin_s, end_s),
        replications=JUDGED
        if algorithm != "regulated" and end_s - begin_s > STEP_S
        else REPLICATIONS,
    )


WINDOWS = (*((STEP_S * k, STEP_S * (k + 1)) for k in range(STEPS)), (REST_S, LENGTH_S))
"""Windows of a phase: short windows after the change, then the averaged time. [s]"""


def after(change_s: int) -> list[tuple[int, int]]:
    """Return the windows of the phase that follows a change. [s]"""
    return [(change_s + begin, change_s + end) for begin, end in WINDOWS]


SWEEP = Sweep(
    "{algorithm}-{window}",
    scenario,
    {
        "algorithm": tuple(cell.ALGORITHMS),
        "window": [window for change in CHANGES_S for window in after(change)],
    },
    words=cell.WORDS,
)
AVERAGED = SWEEP.at(window=[after(change)[-1] for change in CHANGES_S])


def measure(runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratio of the classes in each phase, from 30 s after the change on."""
    ratios = AVERAGED.at(algorithm="vbs").read(runs, cell.ratio)
    return {f"ratio_{k}": ratio for k, ratio in enumerate(ratios, 1)}


def shown(runs: Runs) -> dict[str, Quantity]:
    """Return the goodput ratio of the classes in each phase, with the regulator and with the
    partition.
    """
    return {
        f"{algorithm}_ratio_{k}": ratio
        for algorithm in ("regulated", "partition")
        for k, ratio in enumerate(AVERAGED.at(algorithm=algorithm).read(runs, cell.ratio), 1)
    }


def settling_s(runs: Runs, algorithm: str) -> str:
    """Return as text, for each change, the time after which the goodput ratio stays within 5 % of
    its target. [s]
    """
    times = []
    for change in CHANGES_S:
        late = 0
        ratios = SWEEP.at(algorithm=algorithm, window=after(change)).read(runs, cell.ratio)
        for (_, end), ratio in zip(WINDOWS, ratios, strict=True):
            if abs(float(ratio.samples.mean()) / TARGET - 1.0) > 0.05:
                late = end
        times.append("never" if late == LENGTH_S else f"{late} s")
    return ", ".join(times)


def finding(runs: Runs) -> str:
    """Return a text on settling times, and on the goodput ratio of the classes with the
    regulator.
    """
    held, remaining = (
        listed(AVERAGED.at(algorithm=algorithm).read(runs, cell.ratio))
        for algorithm in ("regulated", "partition")
    )
    return (
        "Algorithm 1 blocks only while the queue holds c B packets, and below c B it admits a "
        "class with more users again. Its settling times after the three changes are "
        f"{settling_s(runs, 'vbs')}. The model assumes that the target is met. With the regulator "
        f"the ratio is {held}, and the settling times are {settling_s(runs, 'regulated')}. With a "
        f"partition the ratio is {remaining}, and the settling times are "
        f"{settling_s(runs, 'partition')}"
    )


PICTURE = Picture(
    Abscissa("time [s]", lambda window: sum(window) / 2.0),
    [
        Panel(
            "class 1 over class 2 [-]",
            SWEEP.lines("{algorithm}", "window", cell.ratio),
            "two of class 1 join at 100 s; at 200 s they leave and two of class 2 join",
            from_zero=False,
            levels={"target": TARGET},
        )
    ],
    panel_mm=60.0,
)

STUDY = Study(
    key="vbs-fig18",
    title="Figure 18: users come and go",
    points=SWEEP.points(),
    measure=measure,
    shown=shown,
    findings=about("vbs-13", finding),
    draw=PICTURE.draw,
)

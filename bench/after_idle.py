"""Compare the window after a pause of the application: engine and Linux, in simulated time.

    python bench/after_idle.py              pauses of 1.5 s, 5 s and 20 s
    python bench/after_idle.py --seeds 5    with more seeds (default: 3)

One connection sends for 3 s, pauses, and sends for 3 s again, over a link of 50 Mbit/s with a
round-trip time of 60 ms and a queue of 200 packets. The engine uses `cubic_linux` with
`after_idle = "linux"`. Linux uses its CUBIC in user-mode Linux, where no computation takes
simulated time. The script prints the highest and the mean congestion window of the second on
period. It also prints whether the means of engine and Linux are equal within the band of the queue
length (`kernel_tcp_page.py`).
"""

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import fmean
from typing import Any

import uml
from equivalence import Difference
from kernel_tcp import windows_of
from kernel_tcp_page import QUANTITIES
from kernel_tcp_plan import UML_HZ
from kernel_tcp_points import NEAREST
from kernel_tcp_watch import SAMPLED_S
from measure import require_release_build

import lasthop as lh
from lasthop.answers.estimates import Estimate

Tree = Mapping[str, Any]

ON_S = 3.0
PAUSES_S = (1.5, 5.0, 20.0)
SPREAD_S = 0.25
"""Largest random delay of the start of the connection. [s]"""
INSIDE = Path(__file__).parent / "after_idle_inside.py"


def scenario(pause_s: float, **flow: str) -> Tree:
    """Return the scenario, with further keys of its flow."""
    return {
        "duration": f"{2 * ON_S + pause_s:g} s",
        "warmup": "0 s",
        "link": {
            "bottleneck": {"from": "left", "to": "right", "rate": "50 Mbps", "queue": 200},
        },
        "flow": {
            "flow": {
                "from": "left",
                "to": "right",
                "rtt": "60 ms",
                "start_spread": f"{SPREAD_S} s",
                **flow,
            }
        },
        "tcp": {**NEAREST, "congestion": "cubic_linux", "cubic_linux": {"hz": UML_HZ}},
    }


def windows(track: Mapping[str, Sequence[float]], pause_s: float) -> list[float]:
    """Return the windows of the second on period. [packets]"""
    begin_s = ON_S + pause_s + SPREAD_S
    samples = zip(track["time_s"], track["first"], strict=True)
    return [cwnd for at_s, cwnd in samples if begin_s < at_s < begin_s + ON_S - SPREAD_S]


def of_engine(pause_s: float, seed: int) -> list[float]:
    """Return the windows of the second on period in a simulation. [packets]"""
    tree = scenario(pause_s, on=f"{ON_S:g} s", off=f"{pause_s:g} s", after_idle="linux")
    settings = {"record.series_interval": f"{SAMPLED_S} s"}
    result = lh.simulate(tree, settings=settings, replications=1, seed=seed)
    return windows(windows_of(result), pause_s)


def of_linux(pause_s: float, seed: int) -> list[float]:
    """Return the windows of the second on period in an emulation in simulated time. [packets]"""
    tree = json.dumps(scenario(pause_s))
    track = uml.answer(INSIDE, tree, str(seed), str(ON_S), str(pause_s))
    return windows(track, pause_s)


def compare(seeds: Sequence[int], pauses_s: Sequence[float] = PAUSES_S) -> None:
    """Make all runs, and print two lines per pause."""
    band = QUANTITIES["queue_packets"][3]
    print("pause [s]  cwnd     engine [packets]  Linux [packets]  difference")
    for pause_s in pauses_s:
        engine = [of_engine(pause_s, seed) for seed in seeds]
        linux = [of_linux(pause_s, seed) for seed in seeds]
        for name, value in (("highest", max), ("mean", fmean)):
            ours, theirs = (Estimate.of([*map(value, each)]) for each in (engine, linux))
            assert ours is not None
            assert theirs is not None
            difference = Difference.of(ours, theirs, band)
            words = f"{difference.words} ({difference.agreement.value} within {band:.0%})"
            print(
                f"{pause_s:9g}  {name:7}  {text(ours):>16}  {text(theirs):>15}  {words}", flush=True
            )


def text(estimate: Estimate) -> str:
    """Return a mean and its interval, as text."""
    return f"{estimate.mean:.0f} ± {estimate.ci95 or 0:.0f}"


def main() -> None:
    """Parse the command line, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds")
    options = parser.parse_args()
    require_release_build()
    compare(range(1, options.seeds + 1))


if __name__ == "__main__":
    main()

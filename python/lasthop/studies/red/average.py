"""Average queue of RED at the shortest and the longest round-trip time of figure 6. The average is
computed from samples of the queue.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lasthop.studies.picture import Abscissa, Line, Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import Experiment
from lasthop.studies.red.router import BOTTLENECK, Tree
from lasthop.studies.study import Quantity, Run, Runs
from lasthop.studies.sweep import Sweep

THRESHOLDS = (50, 100)
"""Lower and upper threshold of RED. [packets]"""

RTTS = (10, 200)
"""Shortest and longest round-trip time of figure 6. [ms]"""

SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the runs with a sampled queue. Each run records the time series of its first replication
only.
"""

TIME_CONSTANT_S = 1.0
"""Time constant T of RED's average at a fully used link. For a link with a rate of C packets/s, the
automatic weight of ns-2 is 1 - exp(-1 / C T). T is ten times 0.1 s, the smallest round-trip time
that ns-2 assumes. [s]
"""

STEP_S = 0.01
"""Interval between the samples of the queue. [s]"""

SETTLE_S = 25
"""Time before the measured interval, in which the computed average forgets its initial value.
[s]
"""

PACKETS_PER_S = router.BOTTLENECK_MBPS * 1e6 / (8 * 1500)
"""Rate of the bottleneck link. [packets/s]"""


def average(queue: NDArray[np.float64], arrivals_per_s: float) -> NDArray[np.float64]:
    """Return RED's average queue at all samples except the first sample, which is the initial
    value. [packets]

    If the weight per arrival is w, an interval with n arrivals multiplies the previous average by
    (1 - w)^n. The average of ns-2 does not include the packet in service.

    Parameters
    ----------
    queue : array
        Samples of the queue, including the packet in service. [packets]
    arrivals_per_s : float
        Arrival rate of packets. [1/s]
    """
    remaining = float(np.exp(-arrivals_per_s * STEP_S / (PACKETS_PER_S * TIME_CONSTANT_S)))
    waiting = np.maximum(queue - 1.0, 0.0)
    value, values = waiting[0], []
    for each in waiting[1:]:
        value = remaining * value + (1.0 - remaining) * each
        values.append(value)
    return np.asarray(values)


class Average(Experiment):
    """Runs that sample the queue, and RED's average at a small and a large round-trip time."""

    name = "average"
    title = "Figure 6: RED's average queue at 10 and 200 ms"

    @property
    def sweep(self) -> Sweep:
        """Runs at the shortest and the longest round-trip time, with one run per seed."""
        return Sweep("{rtt}-seed-{seed}", self._sampled, {"rtt": RTTS, "seed": SEEDS})

    def _sampled(self, rtt: int, seed: int) -> dict[str, Any]:
        tree = self.dumbbell(rtt, router.red(*THRESHOLDS), replications=1)
        begin_s = self.effort.duration_s - router.READ_S - SETTLE_S
        series = {"series_interval": f"{STEP_S:g} s", "from": f"{begin_s} s"}
        return {**tree, "seed": seed, "record": {**tree["record"], **series}}

    def points(self) -> dict[str, Tree]:
        """Return the scenarios of all runs."""
        return self.sweep.points()

    def averages(self, run: Run) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return times [s] and RED's averages [packets] in the measured interval."""
        stamps, queue = map(np.asarray, run.track("queues", BOTTLENECK, "occupancy_packets"))
        lost = float(router.loss(run).samples[0])
        served_per_s = PACKETS_PER_S * float(router.utilisation(run).samples[0])
        values = average(queue, served_per_s / (1.0 - lost))
        late = stamps[1:] > stamps[-1] - router.READ_S
        return stamps[1:][late], values[late]

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return smallest and largest value and the standard deviation of RED's average."""
        values: dict[str, Quantity] = {}
        for rtt in RTTS:
            every = [self.averages(run)[1] for run in self.sweep.at(rtt=rtt).runs(runs)]
            ends = {
                "least": [item.min() for item in every],
                "largest": [item.max() for item in every],
                "oscillation": [item.std() for item in every],
            }
            values |= {f"{name}_{rtt}": Quantity(np.asarray(each)) for name, each in ends.items()}
        return values

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return a text on the smallest and largest value of RED's average."""
        value = self.measure(runs)
        ends = "; ".join(
            f"from {value[f'least_{rtt}']} to {value[f'largest_{rtt}']} packets at {rtt} ms"
            for rtt in RTTS
        )
        low, high = THRESHOLDS
        return {"red-19": f"with thresholds of {low} and {high} packets, the average ranges {ends}"}

    def picture(self) -> Picture:
        """Return a picture of RED's average over time in the first run."""
        end_s = self.effort.duration_s
        shown = np.arange(end_s - router.READ_S + 0.5, end_s, 0.5)

        def line(rtt: int) -> Line:
            def read(runs: Runs) -> list[Quantity]:
                times, values = self.averages(runs[f"{rtt}-seed-{SEEDS[0]}"])
                return [Quantity(np.atleast_1d(each)) for each in np.interp(shown, times, values)]

            return Line(f"RTT {rtt} ms", list(shown), read)

        low, high = THRESHOLDS
        levels = {"lower threshold": low, "upper threshold": high}
        return Picture(
            Abscissa("time [s]"),
            [Panel("RED's average\n[packets]", [line(rtt) for rtt in RTTS], levels=levels)],
            panel_mm=60.0,
        )

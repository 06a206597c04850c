"""Section II, remark (ii): RED with other numbers of users, where the resources per user are
constant.

In the fluid model, capacity, queue and thresholds are values per flow, and the number of flows does
not appear. The runs scale link rate, buffer and thresholds with the number of flows. The automatic
weight decreases with the link rate, so that RED always averages over the same time. The measured
interval begins after a fifth of the run. The measured interval of figure 6, 25 s, is too short for
this study. Losses over 25 s differ by a tenth between runs, so that they do not decide the claim at
200 ms.
"""

from typing import Any

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import Experiment
from lasthop.studies.red.router import BUFFER, FLOWS, Tree
from lasthop.studies.study import Quantity, Read, Run, Runs, listed
from lasthop.studies.sweep import Sweep, points_of

FLOW_COUNTS = (30, 60, 120)
"""Numbers of flows. The paper uses 60 flows."""

RTTS = (10, 200)
"""Round-trip times of the runs. [ms]"""

THRESHOLDS = (50, 100)
"""Lower and upper threshold of RED for 60 flows. [packets]"""

RATIOS: dict[str, Read] = {
    "window": router.window,
    "loss": router.loss,
    "utilisation": router.utilisation,
}
"""Quantities that the model predicts to be independent of the number of flows, by the names of
values.
"""


class Users(Experiment):
    """Experiment with RED 50/100 for 60 flows, and with equal resources per flow for 30 and 120
    flows.
    """

    name = "users"
    title = "Section II, remark (ii): the number of users"

    @property
    def sweep(self) -> Sweep:
        """Runs over the number of flows, with thresholds that grow in proportion."""
        return Sweep("{flow_count}-{rtt}", self._scaled, {"flow_count": FLOW_COUNTS, "rtt": RTTS})

    @property
    def fixed_thresholds(self) -> Sweep:
        """Runs with 30 and 120 flows, and the thresholds of 60 flows."""
        others = tuple(flow_count for flow_count in FLOW_COUNTS if flow_count != FLOWS)
        return Sweep("held-{flow_count}-{rtt}", self._fixed, {"flow_count": others, "rtt": RTTS})

    def _scaled(self, flow_count: int, rtt: int) -> dict[str, Any]:
        low, high = (threshold * flow_count // FLOWS for threshold in THRESHOLDS)
        queue = router.red(low, high, buffer=BUFFER * flow_count // FLOWS)
        close = self.effort.close if rtt == RTTS[-1] else None
        return self._read_longer(
            self.dumbbell(rtt, queue, flow_count=flow_count, replications=close)
        )

    def _fixed(self, flow_count: int, rtt: int) -> dict[str, Any]:
        return self._read_longer(self.dumbbell(rtt, router.red(*THRESHOLDS), flow_count=flow_count))

    def _read_longer(self, tree: Tree) -> dict[str, Any]:
        return {**tree, "warmup": f"{self.effort.duration_s // 5} s"}

    def points(self) -> dict[str, Tree]:
        """Return the scenarios of both sweeps."""
        return points_of(self.sweep, self.fixed_thresholds)

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the standard deviation of the queue per flow, and the ratio of each quantity to
        its value with 60 flows.
        """
        values = self.sweep.values(runs, {"oscillation_{flow_count}_{rtt}": router.oscillation})
        for name, reading in RATIOS.items():
            values |= self.over_sixty(
                runs, reading, f"{name}_ratio_{{flow_count}}_flows_at_{{rtt}}_ms"
            )
        far = self.over_sixty(runs, deviation_of_each, "oscillation_ratio_{flow_count}_{rtt}")
        return values | {name: item for name, item in far.items() if name.endswith(f"_{RTTS[-1]}")}

    def over_sixty(self, runs: Runs, reading: Read, name: str) -> dict[str, Quantity]:
        """Return the ratios of a quantity to its value with 60 flows, under names that contain
        `name`.
        """
        values: dict[str, Quantity] = {}
        for rtt in RTTS:
            [sixty] = self.sweep.at(flow_count=FLOWS, rtt=rtt).read(runs, reading)
            others = self.sweep.at(
                flow_count=[item for item in FLOW_COUNTS if item != FLOWS], rtt=rtt
            )
            each = others.values(runs, {name: reading})
            values |= {key: item / sixty for key, item in each.items()}
        return values

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on the measured ratios, and on thresholds that do not grow with the number
        of flows.
        """

        def over_flow_counts(sweep: Sweep, reading: Read) -> str:
            each = (f"{listed(sweep.at(rtt=rtt).read(runs, reading))} at {rtt} ms" for rtt in RTTS)
            return "; ".join(each)

        every = ", ".join(map(str, FLOW_COUNTS))
        others = " and ".join(str(flow_count) for flow_count in FLOW_COUNTS if flow_count != FLOWS)
        read: dict[str, Read] = {
            "Windows": router.window,
            "Losses": router.loss,
            "Utilisations": router.utilisation,
            "Deviations of the queue per flow": deviation_of_each,
            "Correlations of windows": router.synchrony,
        }
        scaled = ". ".join(
            f"{name}: {over_flow_counts(self.sweep, item)}" for name, item in read.items()
        )
        fixed = f"windows of {over_flow_counts(self.fixed_thresholds, router.window)}"
        return {
            "red-21": (
                f"the following values are for {every} flows. {scaled}. With the thresholds of "
                f"{FLOWS} flows for each number of flows, {others} flows have {fixed}"
            )
        }

    def picture(self) -> Picture:
        """Return a picture, over the number of flows, of the quantities that should be equal."""

        def panel(label: str, reading: Read) -> Panel:
            lines = self.sweep.lines("RTT {rtt} ms", "flow_count", reading)
            return Panel(
                label,
                lines
                + self.fixed_thresholds.lines(
                    "RTT {rtt} ms", "flow_count", reading, FIXED_THRESHOLDS
                ),
            )

        return Picture(
            Abscissa("flows", ticks=FLOW_COUNTS),
            [
                panel("window [packets]", router.window),
                panel("loss", router.loss),
                panel("deviation of the queue\nper flow [packets]", deviation_of_each),
            ],
        )


FIXED_THRESHOLDS = "RED 50/100 for each number of flows"
"""Legend entry of the runs whose thresholds do not grow with the number of flows."""


def deviation_of_each(run: Run) -> Quantity:
    """Return the standard deviation of the queue divided by the number of flows. [packets]"""
    return router.oscillation(run) / float(len(run.items("flows")))

"""Figures 15 and 17: queues and utilisation under RED 8/15 and the threshold policy of 15 packets.
The networks are one router and a parking lot. The module `costs` has delay, loss and completion
times of both policies. The threshold policy is a drop-tail queue of 15 packets, so the comparison
is between RED and a small buffer.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import OVER_RTT, Experiment
from lasthop.studies.red.router import POLICIES
from lasthop.studies.study import Quantity, Read, Run, Runs, largest, listed, mean_of
from lasthop.studies.sweep import Sweep, points_of

WORDS: Mapping[str, str] = {"red": "RED 8/15", "threshold": "threshold 15"}

LOT = ("bottleneck-1", "bottleneck-2")
"""Names of the queues of the parking lot."""

EQUAL_RATES = "equal rates"
"""Legend entry of a parking lot whose two links have exactly equal rates."""

ENDS = [10, 200]
"""Round-trip times of the queue traces in the paper. [ms]"""

ENDS_STATED = " and ".join(map(str, ENDS))

LOCKED_RTTS = (10, 100, 200)
"""Round-trip times of the runs whose access links have exactly equal rates. [ms]"""

FINE_S, COARSE_S = 0.1, 0.5
"""Widths of the narrow and wide bins for the minimum utilisation. [s]"""

NS2_PACKET = "500 B"
"""Default of ns-2 for the mean packet length of RED."""


class Policies(Experiment):
    """Experiment that compares RED with the threshold policy over the round-trip time."""

    @abstractmethod
    def point(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of a policy at a round-trip time in milliseconds."""

    @property
    def sweep(self) -> Sweep:
        """Runs of both policies over the round-trip time."""
        return self.swept("{policy}-{rtt}", self.point)

    def swept(self, name: str, point: Callable[..., dict[str, Any]]) -> Sweep:
        """Return the sweep over both policies and all round-trip times."""
        settings = {"policy": tuple(POLICIES), "rtt": self.effort.rtts}
        return Sweep(name, point, settings, words=WORDS)

    def panel(self, y_label: str, reading: Read, *, from_zero: bool = False) -> Panel:
        """Return the panel of a quantity of both policies over the round-trip time."""
        return Panel(y_label, self.sweep.lines("{policy}", "rtt", reading), from_zero=from_zero)

    def where_extremes_are_read(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of one router. The scenario has more replications at round-trip times
        at which longest queues or minimum utilisations are compared.
        """
        more = {10: self.effort.close, 200: self.effort.least}
        return self.dumbbell(rtt, POLICIES[policy], replications=more.get(rtt))

    def where_red_is_longest(self, policy: str, rtt: int, **more: Any) -> dict[str, Any]:
        """Return the scenario of the parking lot. The scenario has more replications at round-trip
        times at which the longest queues of RED are compared.
        """
        close = self.mixed and rtt in ENDS and policy == "red"
        replications = self.effort.close if close else None
        return self.parking_lot(rtt, POLICIES[policy], replications=replications, **more)

    def with_equal_rates(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of the parking lot whose two links have exactly equal rates, as in
        the paper.
        """
        return self.where_red_is_longest(policy, rtt, rate_spread=0.0)

    @property
    def equal(self) -> Sweep:
        """Runs of both policies at 10 and 200 ms, in a parking lot whose links have equal rates."""
        return self.swept("equal-{policy}-{rtt}", self.with_equal_rates).at(rtt=ENDS)


class Queues(Policies):
    """Figure 15: queue and utilisation at 10 and 200 ms."""

    name = "fig15"
    title = "Figure 15: RED 8/15 and a threshold of 15 packets"
    point = Policies.where_extremes_are_read

    @property
    def locked(self) -> Sweep:
        """Runs of the threshold policy whose access links have exactly equal rates."""
        return Sweep(
            "equal-threshold-{rtt}",
            lambda rtt: self.dumbbell(rtt, POLICIES["threshold"], spread=0.0),
            {"rtt": LOCKED_RTTS},
        )

    @property
    def binned(self) -> Sweep:
        """Runs with wide and narrow utilisation bins at 200 ms, also with ns-2's default packet
        length.
        """
        queues = {**POLICIES, "red500": router.red(8, 15, packet=NS2_PACKET)}
        return Sweep(
            "{queue}-200-bin-{bin_s}",
            lambda queue, bin_s: self.dumbbell(
                200, queues[queue], bin_s=bin_s, replications=self.effort.close
            ),
            {"queue": ("threshold", "red", "red500"), "bin_s": (FINE_S, COARSE_S)},
        )

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of all sweeps, and of RED with equal access rates at 10 ms."""
        return {
            **self.sweep.points(),
            **self.locked.points(),
            "equal-red-10": self.dumbbell(10, POLICIES["red"], spread=0.0),
            **self.binned.points(),
        }

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the utilisation at every round-trip time, and the longest queues."""
        table: dict[str, Read] = {
            "utilisation_{policy}_{rtt}": router.utilisation,
            "utilisation_min_{policy}_{rtt}": router.least_utilisation,
        }
        values = self.sweep.values(runs, table)
        for policy in POLICIES:
            ends = self.sweep.at(policy=policy, rtt=ENDS)
            values[f"queue_max_{policy}"] = largest(ends.read(runs, router.queue_max))
        ends = self.sweep.at(rtt=ENDS)
        return values | ends.values(runs, {"queue_mean_{policy}_{rtt}": router.queue_mean})

    def shown(self, runs: Runs) -> dict[str, Quantity]:
        """Return the minimum utilisation for each width of the bins."""
        name = "utilisation_min_{queue}_bin_{bin_s}"
        return self.binned.values(runs, {name: router.least_utilisation})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on the effects of the bin width, of RED's mean packet length, and of equal
        access rates.
        """
        fine, coarse = (
            listed(self.binned.at(bin_s=bin_s).read(runs, router.least_utilisation))
            for bin_s in (FINE_S, COARSE_S)
        )
        red, small = (router.synchrony(runs[f"{name}-200"]) for name in POLICIES)
        fair, locked, random = (
            runs[name] for name in ("threshold-10", "equal-threshold-10", "equal-red-10")
        )
        return {
            "red-14": (
                "minimum utilisations at 200 ms are given for the threshold policy, for RED, and "
                f"for RED with a mean packet of {NS2_PACKET} as in ns-2. They are {fine} in bins "
                f"of {FINE_S:g} s and {coarse} in bins of {COARSE_S:g} s. Windows correlate by "
                f"{small} with the threshold policy and {red} with RED. With equal access rates "
                "packets arrive in lock step, and the threshold policy drops packets of the same "
                f"flows again and again. At 10 ms {router.starved(locked)} of {router.FLOWS} flows "
                f"then starve, and Jain's index is {router.fairness(locked)}. With rates that are "
                f"spread over {100 * router.HOST['access_spread']:g} %, as in all other runs, the "
                f"values are {router.starved(fair)} and {router.fairness(fair)}. RED, which drops "
                f"at random, has an index of {router.fairness(random)} with equal rates"
            )
        }

    def picture(self) -> Picture:
        """Return a picture of the utilisation, the longest queue and, with equal access rates, the
        fairness.
        """
        label = WORDS["threshold"]
        spread = self.sweep.at(policy="threshold", rtt=LOCKED_RTTS)
        rates = spread.lines(label, "rtt", router.fairness) + self.locked.lines(
            label, "rtt", router.fairness, "equal access rates"
        )
        return Picture(
            OVER_RTT,
            [
                self.panel("utilisation", router.utilisation),
                self.panel(f"minimum utilisation\nin {FINE_S:g} s", router.least_utilisation),
                self.panel("longest queue\n[packets]", router.queue_max),
                Panel("Jain's index\nof goodputs", rates, from_zero=False),
            ],
            panel_mm=38.0,
        )


class ParkingLot(Policies):
    """Figure 17: queues in the parking lot under mixed traffic."""

    name = "fig17"
    title = "Figure 17: a parking lot with mixed traffic"
    point = Policies.where_red_is_longest

    @property
    def calm(self) -> Sweep:
        """Runs of RED without web traffic, at 10 and 200 ms."""
        return Sweep("red-{rtt}-without-web", self.without_web, {"rtt": ENDS})

    def without_web(self, rtt: int) -> dict[str, Any]:
        """Return the scenario of RED without web traffic."""
        tree = self.parking_lot(rtt, POLICIES["red"])
        flows = {name: flow for name, flow in tree["flow"].items() if "web" not in flow}
        return {**tree, "flow": flows}

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of both policies, of RED without web traffic, and of links with
        equal rates.
        """
        return points_of(self.sweep, self.calm, self.equal)

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the longest queue of each policy, with different and with equal rates of the
        links.
        """
        return self.queues(runs, self.sweep, "") | self.queues(runs, self.equal, "equal_")

    def queues(self, runs: Runs, sweep: Sweep, prefix: str) -> dict[str, Quantity]:
        """Return mean and longest queues of a sweep, under names that begin with `prefix`."""
        ends = {policy: sweep.at(policy=policy, rtt=ENDS).runs(runs) for policy in POLICIES}
        [near, _] = ends["threshold"]
        mean = mean_of([router.queue_mean(near, link) for link in LOT])
        return {
            f"{prefix}queue_mean_threshold_10": mean,
            **{
                f"{prefix}queue_max_{policy}": largest(
                    [router.queue_max(run, link) for run in of for link in LOT]
                )
                for policy, of in ends.items()
            },
        }

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on the effect of web traffic on RED's queue."""

        def longest(run: Run) -> Quantity:
            return largest([router.queue_max(run, link) for link in LOT])

        red, calm = (
            " and ".join(map(str, sweep.read(runs, longest)))
            for sweep in (self.sweep.at(policy="red", rtt=ENDS), self.calm)
        )
        return {
            "red-17": (
                f"RED's longest queue in {router.READ_S} s is {red} packets at {ENDS_STATED} ms, "
                f"and {calm} packets without the bursts of web traffic"
            )
        }

    def picture(self) -> Picture:
        """Return a picture of the longest queue of both links."""
        return Picture(
            OVER_RTT,
            [
                self.panel(f"longest queue\n{link} [packets]", partial(router.queue_max, link=link))
                for link in LOT
            ],
            panel_mm=38.0,
        )

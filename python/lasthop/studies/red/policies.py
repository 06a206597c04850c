"""Figures 15 and 17 to 19: RED 8/15 against the threshold policy of 15 packets, at one router and
in a parking lot, of Compound flows and of mixed traffic: queues, delay, loss, throughput and
completion times.

The threshold policy is a drop-tail queue of 15 packets: RED is compared with a small buffer.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import OVER_RTT, Experiment
from lasthop.studies.red.router import POLICIES
from lasthop.studies.study import Quantity, Run, Runs, largest, listed, mean_of
from lasthop.studies.sweep import Reading, Sweep

WORDS: Mapping[str, str] = {"red": "RED 8/15", "threshold": "threshold 15"}

LOT = ("bottleneck-1", "bottleneck-2")
"""The queues of the parking lot."""

EQUAL_RATES = "equal rates"
"""How legends call a parking lot whose links have exactly equal rates."""

ENDS = [10, 200]
"""Round-trip times of the paper's traces. [ms]"""

ENDS_STATED = " and ".join(map(str, ENDS))

SHORT_RTTS, LONG_RTTS = [10, 25], [150, 200]
"""Round-trip times between which completion times do not rise. [ms]"""

LOCKED_RTTS = (10, 100, 200)
"""Round-trip times at which flows with equal access rates are shown. [ms]"""

FINE_S, COARSE_S = 0.1, 0.5
"""Widths of the bins for the least utilisation. [s]"""

NS2_PACKET = "500 B"
"""Mean length of a packet that ns-2 takes by default."""

DATA_PART = 1460 / 1500
"""Part of a packet that is data. [-]"""

PAPERS_MEGABYTES = 500
"""What each flow transfers in the paper, and the only size whose gain is compared with it. [MB]"""


class Policies(Experiment):
    """Both policies over the round-trip time."""

    @abstractmethod
    def point(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of a policy at a round-trip time. [ms]"""

    @property
    def sweep(self) -> Sweep:
        """Policies and round-trip times."""
        return self.swept("{policy}-{rtt}", self.point)

    def swept(self, name: str, point: Callable[..., dict[str, Any]]) -> Sweep:
        """Return scenarios of both policies at all round-trip times."""
        settings = {"policy": tuple(POLICIES), "rtt": self.effort.rtts}
        return Sweep(name, point, settings, words=WORDS)

    def panel(self, y_label: str, reading: Reading, *, from_zero: bool = False) -> Panel:
        """Return a quantity of both policies over the round-trip time."""
        return Panel(y_label, self.sweep.lines("{policy}", "rtt", reading), from_zero=from_zero)

    def where_extremes_are_read(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return one router, with more replications where extremes are compared."""
        more = {10: self.effort.close, 200: self.effort.least}
        return self.dumbbell(rtt, POLICIES[policy], replications=more.get(rtt))

    def where_red_is_longest(self, policy: str, rtt: int, **more: Any) -> dict[str, Any]:
        """Return the parking lot, with more replications where RED's longest queue is read."""
        close = self.mixed and rtt in ENDS and policy == "red"
        replications = self.effort.close if close else None
        return self.parking_lot(rtt, POLICIES[policy], replications=replications, **more)

    def with_equal_rates(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the same with exactly equal rates of both links, as the paper has them."""
        return self.where_red_is_longest(policy, rtt, rate_spread=0.0)

    @property
    def equal(self) -> Sweep:
        """Both policies at both ends, in a parking lot with equal rates."""
        return self.swept("equal-{policy}-{rtt}", self.with_equal_rates).at(rtt=ENDS)


class Queues(Policies):
    """Figure 15: queue and utilisation at 10 and 200 ms."""

    name = "fig15"
    title = "Figure 15: RED 8/15 and a threshold of 15 packets"
    point = Policies.where_extremes_are_read

    @property
    def locked(self) -> Sweep:
        """Equal access rates, with the threshold."""
        return Sweep(
            "equal-threshold-{rtt}",
            lambda rtt: self.dumbbell(rtt, POLICIES["threshold"], spread=0.0),
            {"rtt": LOCKED_RTTS},
        )

    @property
    def binned(self) -> Sweep:
        """Wider and narrower bins at the longest round-trip time, with ns-2's packet too."""
        queues = {**POLICIES, "red500": router.red(8, 15, packet=NS2_PACKET)}
        return Sweep(
            "{queue}-200-bin-{bin_s}",
            lambda queue, bin_s: self.dumbbell(
                200, queues[queue], bin_s=bin_s, replications=self.effort.close
            ),
            {"queue": ("threshold", "red", "red500"), "bin_s": (FINE_S, COARSE_S)},
        )

    def points(self) -> dict[str, router.Tree]:
        """Return the sweeps, and RED with equal access rates."""
        return {
            **self.sweep.points(),
            **self.locked.points(),
            "equal-red-10": self.dumbbell(10, POLICIES["red"], spread=0.0),
            **self.binned.points(),
        }

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return utilisations over the round-trip time, and the longest queues."""
        table = {
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
        """Return least utilisations by the width of bins."""
        name = "utilisation_min_{queue}_bin_{bin_s}"
        return self.binned.values(runs, {name: router.least_utilisation})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return what hangs on bins and mean packet, and what equal access rates do."""
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
                "least utilisation at 200 ms with the threshold, with RED, and with RED that "
                f"takes {NS2_PACKET} for the mean packet as ns-2 does: {fine} over {FINE_S:g} s, "
                f"{coarse} over {COARSE_S:g} s; windows correlate by {small} with the threshold "
                f"and {red} with RED. With equal access rates packets arrive in lock step, and the "
                "same flows are lost at the threshold again and again: at 10 ms "
                f"{router.starved(locked)} of {router.FLOWS} flows starve and Jain's index is "
                f"{router.fairness(locked)}, with rates spread over "
                f"{100 * router.HOST['access_spread']:g} %, as everywhere else, "
                f"{router.starved(fair)} and {router.fairness(fair)}; RED, which drops at random, "
                f"has {router.fairness(random)} with equal rates"
            )
        }

    def picture(self) -> Picture:
        """Return utilisation, longest queue and, with equal access rates, fairness."""
        label = WORDS["threshold"]
        spread = self.sweep.at(policy="threshold", rtt=LOCKED_RTTS)
        rates = spread.lines(label, "rtt", router.fairness) + self.locked.lines(
            label, "rtt", router.fairness, "equal access rates"
        )
        return Picture(
            OVER_RTT,
            [
                self.panel("utilisation", router.utilisation),
                self.panel(f"least utilisation\nin {FINE_S:g} s", router.least_utilisation),
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
        """RED without web traffic."""
        return Sweep("red-{rtt}-without-web", self.without_web, {"rtt": ENDS})

    def without_web(self, rtt: int) -> dict[str, Any]:
        """Return RED without the bursts of web traffic."""
        tree = self.parking_lot(rtt, POLICIES["red"])
        flows = {name: flow for name, flow in tree["flow"].items() if "web" not in flow}
        return {**tree, "flow": flows}

    def points(self) -> dict[str, router.Tree]:
        """Return the sweep, RED without web traffic, and equal rates."""
        return {**self.sweep.points(), **self.calm.points(), **self.equal.points()}

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return each policy's longest queue of all, also with equal rates."""
        return self.queues(runs, self.sweep, "") | self.queues(runs, self.equal, "equal_")

    def queues(self, runs: Runs, sweep: Sweep, prefix: str) -> dict[str, Quantity]:
        """Return the values of a sweep, whose names begin with `prefix`."""
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
        """Return what the web traffic does to RED's queue."""

        def longest(run: Run) -> Quantity:
            return largest([router.queue_max(run, link) for link in LOT])

        red, calm = (
            " and ".join(map(str, sweep.read(runs, longest)))
            for sweep in (self.sweep.at(policy="red", rtt=ENDS), self.calm)
        )
        return {
            "red-17": (
                f"RED's longest queue in {router.READ_S} s is {red} packets at {ENDS_STATED} ms, "
                f"and {calm} without the bursts of web traffic"
            )
        }

    def picture(self) -> Picture:
        """Return the longest queue of either link."""
        return Picture(
            OVER_RTT,
            [
                self.panel(f"longest queue\n{link} [packets]", partial(router.queue_max, link=link))
                for link in LOT
            ],
            panel_mm=38.0,
        )


@dataclass(frozen=True)
class Costs(Policies):
    """Figure 18, one router, or 19, the lot: delay, loss, throughput and completion."""

    lot: bool = False

    @property
    def name(self) -> str:
        """Name of the study."""
        return f"fig{19 if self.lot else 18}" + ("_mixed" if self.mixed else "")

    @property
    def title(self) -> str:
        """Title of the figure."""
        number, where = (19, "a parking lot") if self.lot else (18, "one router")
        traffic = "mixed traffic" if self.mixed else "Compound flows"
        return f"Figure {number}: RED and threshold at {where}, {traffic}"

    @property
    def megabytes(self) -> int:
        """Size of a flow's transfer. [MB]"""
        effort = self.effort
        return effort.megabytes if self.lot or self.mixed else effort.megabytes_long

    @property
    def costs(self) -> dict[str, Reading]:
        """Delay [ms], loss [-] and throughput [Mb/s] of all links on the way."""
        links = LOT if self.lot else (router.BOTTLENECK,)
        return {
            "delay": partial(router.delay_ms, links=links),
            "loss": partial(router.loss, links=links),
            "throughput": partial(router.throughput, links=links),
        }

    def point(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return flows without end."""
        if self.lot:
            return self.where_red_is_longest(policy, rtt)
        if self.mixed:
            return self.dumbbell(rtt, POLICIES[policy])
        return self.where_extremes_are_read(policy, rtt)

    def transfer(self, policy: str, rtt: int, **more: Any) -> dict[str, Any]:
        """Return flows that end."""
        place = self.parking_lot if self.lot else self.dumbbell
        return place(rtt, POLICIES[policy], megabytes=self.megabytes, **more)

    def equal_transfer(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return flows that end in a parking lot with equal rates."""
        return self.transfer(policy, rtt, rate_spread=0.0)

    @property
    def equal_transfers(self) -> Sweep:
        """Both policies at both ends, flows that end, with equal rates."""
        return self.swept("equal-finite-{policy}-{rtt}", self.equal_transfer).at(rtt=ENDS)

    @property
    def sacked(self) -> Sweep | None:
        """Both policies at both ends with SACK, where only Compound flows share one router."""
        if self.lot or self.mixed:
            return None
        return self.swept("sack-{policy}-{rtt}", self.with_sack).at(rtt=ENDS)

    def with_sack(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return one router with SACK, which the paper's simulator lacks."""
        tree = self.dumbbell(rtt, POLICIES[policy])
        return {**tree, "tcp": {**tree["tcp"], "sack": True}}

    @property
    def unaveraged(self) -> Sweep | None:
        """RED without averaging at the longest round-trip times, where there is SACK."""
        if self.sacked is None:
            return None
        far = [rtt for rtt in LONG_RTTS if rtt in self.effort.rtts]
        plain = router.red(8, 15, averaging=False)
        return Sweep("plain-red-{rtt}", lambda rtt: self.dumbbell(rtt, plain), {"rtt": far})

    @property
    def transfers(self) -> Sweep:
        """Both policies over the round-trip time, flows that end."""
        return self.swept("finite-{policy}-{rtt}", self.transfer)

    def points(self) -> dict[str, router.Tree]:
        """Return flows without end, flows that end, and in a lot both with equal rates; of Compound
        flows at one router also those with SACK.
        """
        points = {**self.sweep.points(), **self.transfers.points()}
        if self.sacked is not None:
            points |= self.sacked.points()
        if self.unaveraged is not None:
            points |= self.unaveraged.points()
        if self.lot:
            points |= {**self.equal.points(), **self.equal_transfers.points()}
        return points

    def costs_of(
        self, runs: Runs, sweep: Sweep, transfers: Sweep, prefix: str = ""
    ) -> dict[str, Quantity]:
        """Return delay, loss and completion time of two sweeps, by names that begin with
        `prefix`.
        """
        ending = "{policy}_{rtt}"
        table = {f"{prefix}{name}_{ending}": self.costs[name] for name in ("delay", "loss")}
        done = {f"{prefix}completion_{ending}": router.completion}
        return sweep.values(runs, table) | transfers.values(runs, done)

    def cost_panel(self, y_label: str, cost: str, *, from_zero: bool = False) -> Panel:
        """Return the panel of a cost."""
        lines = self.sweep.lines("{policy}", "rtt", self.costs[cost])
        if self.lot:
            lines += self.equal.lines("{policy}", "rtt", self.costs[cost], EQUAL_RATES)
        return Panel(y_label, lines, from_zero=from_zero)

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return costs of both policies, and what the threshold gains."""
        values = self.costs_of(runs, self.sweep, self.transfers)
        if self.lot:
            values |= self.costs_of(runs, self.equal, self.equal_transfers, "equal_")
        comparable = 1.0 if self.megabytes == PAPERS_MEGABYTES else np.nan
        for rtt in self.effort.rtts:
            if not self.lot:  # where the policies have as many replications
                red, threshold = self.sweep.at(rtt=rtt).read(runs, self.costs["throughput"])
                values[f"throughput_ratio_{rtt}"] = threshold / red
                red, threshold = self.sweep.at(rtt=rtt).read(runs, router.goodput)
                values[f"goodput_ratio_{rtt}"] = threshold / red
                red, threshold = self.sweep.at(rtt=rtt).read(runs, self.costs["loss"])
                values[f"loss_ratio_{rtt}"] = threshold / red
            gain = values[f"completion_red_{rtt}"] - values[f"completion_threshold_{rtt}"]
            values[f"completion_gain_{rtt}"] = gain * comparable
        return values

    def shown(self, runs: Runs) -> dict[str, Quantity]:
        """Return what the links carry with SACK, and without."""
        if self.sacked is None:
            return {}
        plain = self.sweep.at(rtt=ENDS)
        return self.sacked.values(
            runs, {"utilisation_sack_{policy}_{rtt}": router.utilisation}
        ) | plain.values(runs, {"utilisation_{policy}_{rtt}": router.utilisation})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return all costs at both ends."""
        if self.mixed:
            return {}

        def compared(sweep: Sweep, reading: Reading) -> str:
            each = (sweep.at(rtt=rtt).read(runs, reading) for rtt in ENDS)
            return "; ".join(f"{red} and {threshold}" for red, threshold in each)

        at = {name: compared(self.sweep, reading) for name, reading in self.costs.items()}
        text = (
            f"RED and threshold at {ENDS_STATED} ms: throughput {at['throughput']} Mb/s, delay "
            f"{at['delay']} ms, loss {at['loss']}"
        )
        times = f"mean completion times: {compared(self.transfers, router.completion)} s"
        if not self.lot:
            text += ": throughputs part where RED's queue swings and empties"
            far = "why the difference is so large at the longest round trip no run isolates"
            sacked = compared(self.sacked, router.utilisation) if self.sacked else ""
            bare = compared(self.sweep, router.utilisation)
            sack = (
                f"with SACK RED and threshold use {sacked} of the link at {ENDS_STATED} ms, "
                f"without {bare}"
            )
            return {
                "red-15": text,
                "red-16": f"{times}; {far}; {sack}",
                "red-20": self.slopes(runs),
            }
        through, first = (
            compared(self.transfers, partial(router.completion, start=start))
            for start in ("through", "first")
        )
        own, equal = (
            listed(
                [
                    router.class_loss(run, "second")
                    for run in sweep.at(policy="threshold", rtt=ENDS).runs(runs)
                ]
            )
            for sweep in (self.sweep, self.equal)
        )
        return {
            "red-17": f"{text}; {times}, of flows through both {through} s; through one {first} s: "
            "the threshold is kinder to the longer way, at the cost of the others. The rates of "
            f"the two links differ by {100 * router.RATE_SPREAD:g} %: with exactly equal rates the "
            "threshold at the second link favours packets from the first, and the flows that join "
            f"there lose {equal} of their packets at {ENDS_STATED} ms, with these rates {own}"
        }

    def slopes(self, runs: Runs) -> str:
        """Return why completion times do not rise everywhere."""
        plain = self.unaveraged
        assert plain is not None
        far = plain.settings["rtt"]
        used, new, lost = (
            "; ".join(
                f"{WORDS[policy]} {listed(self.sweep.at(policy=policy, rtt=rtts).read(runs, read))}"
                for policy in POLICIES
            )
            for rtts, read in (
                (far, router.utilisation),
                (SHORT_RTTS, new_part),
                (SHORT_RTTS, router.loss),
            )
        )
        averaged = self.sweep.at(policy="red", rtt=far)
        return (
            f"at {' and '.join(map(str, SHORT_RTTS))} ms new data takes these parts of the link: "
            f"{new}, with losses of {lost}: at the shorter one more is sent again. At "
            f"{' and '.join(map(str, far))} ms the link is used by {used}; {WORDS['red']} without "
            f"averaging {listed(plain.read(runs, router.utilisation))}. It is the averaging that "
            "costs most at the shorter of them: the queue deviates by "
            f"{listed(averaged.read(runs, router.oscillation))} packets with it, and by "
            f"{listed(plain.read(runs, router.oscillation))} without"
        )

    def picture(self) -> Picture:
        """Return every cost over the round-trip time, of a lot also with equal rates."""
        completion = self.transfers.lines("{policy}", "rtt", router.completion)
        if self.lot:
            completion += self.equal_transfers.lines(
                "{policy}", "rtt", router.completion, EQUAL_RATES
            )
        return Picture(
            OVER_RTT,
            [
                self.cost_panel("queueing\ndelay [ms]", "delay", from_zero=True),
                self.cost_panel("loss", "loss", from_zero=True),
                self.cost_panel("throughput [Mb/s]", "throughput"),
                Panel(f"completion of\n{self.megabytes} MB [s]", completion, from_zero=False),
            ],
            panel_mm=38.0,
        )


def new_part(run: Run) -> Quantity:
    """Return the part of the link's rate, less headers, that carries new data. [-]"""
    return router.goodput(run) / (router.BOTTLENECK_MBPS * DATA_PART)

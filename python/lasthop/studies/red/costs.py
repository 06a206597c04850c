"""Figures 18 and 19: delay, loss, throughput and completion times under RED 8/15 and the threshold
policy of 15 packets. The networks are one router and a parking lot, with Compound flows or mixed
traffic.
"""

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from lasthop.studies.picture import Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import OVER_RTT
from lasthop.studies.red.policies import ENDS, ENDS_STATED, EQUAL_RATES, LOT, WORDS, Policies
from lasthop.studies.red.router import POLICIES
from lasthop.studies.study import Quantity, Read, Run, Runs, changed, listed
from lasthop.studies.sweep import Sweep, points_of

SHORT_RTTS, LONG_RTTS = [10, 25], [150, 200]
"""A pair of short and a pair of long round-trip times. From the first to the second value of a
pair, completion times do not increase. [ms]
"""

DATA_PART = 1460 / 1500
"""Payload of a packet as a fraction of its length. [-]"""

PAPERS_MEGABYTES = 500
"""Volume of each flow in the paper. Only runs with this volume are compared with the paper's gain.
[MB]
"""


@dataclass(frozen=True)
class Costs(Policies):
    """Figure 18 (one router) or 19 (parking lot): delay, loss, throughput and completion times."""

    is_parking_lot: bool = False

    @property
    def name(self) -> str:
        """Name of the study, such as ``fig18_mixed``."""
        return f"fig{19 if self.is_parking_lot else 18}" + ("_mixed" if self.mixed else "")

    @property
    def title(self) -> str:
        """Title of the figure."""
        number, where = (19, "a parking lot") if self.is_parking_lot else (18, "one router")
        traffic = "mixed traffic" if self.mixed else "Compound flows"
        return f"Figure {number}: RED and threshold policy, {where}, {traffic}"

    @property
    def megabytes(self) -> int:
        """Volume of each finite flow. [MB]"""
        effort = self.effort
        return effort.megabytes if self.is_parking_lot or self.mixed else effort.megabytes_long

    @property
    def costs(self) -> dict[str, Read]:
        """Functions that read delay [ms], loss [-] and throughput [Mb/s] over all links of the
        path.
        """
        links = LOT if self.is_parking_lot else (router.BOTTLENECK,)
        return {
            "delay": partial(router.delay_ms, links=links),
            "loss": partial(router.loss, links=links),
            "throughput": partial(router.throughput, links=links),
        }

    def point(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of a policy and a round-trip time [ms], with flows that never end."""
        if self.is_parking_lot:
            return self.where_red_is_longest(policy, rtt)
        if self.mixed:
            return self.dumbbell(rtt, POLICIES[policy])
        return self.where_extremes_are_read(policy, rtt)

    def transfer(self, policy: str, rtt: int, **more: Any) -> dict[str, Any]:
        """Return the scenario of a policy and a round-trip time [ms], with finite flows."""
        place = self.parking_lot if self.is_parking_lot else self.dumbbell
        return place(rtt, POLICIES[policy], megabytes=self.megabytes, **more)

    def equal_transfer(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario with finite flows in a parking lot whose links have equal rates."""
        return self.transfer(policy, rtt, rate_spread=0.0)

    @property
    def equal_transfers(self) -> Sweep:
        """Runs of both policies at 10 and 200 ms, with finite flows and links of equal rates."""
        return self.swept("equal-finite-{policy}-{rtt}", self.equal_transfer).at(rtt=ENDS)

    @property
    def sacked(self) -> Sweep | None:
        """Runs of both policies at 10 and 200 ms with SACK. The value is None unless only Compound
        flows share one router.
        """
        if self.is_parking_lot or self.mixed:
            return None
        return self.swept("sack-{policy}-{rtt}", self.with_sack).at(rtt=ENDS)

    def with_sack(self, policy: str, rtt: int) -> dict[str, Any]:
        """Return the scenario of one router with SACK, which the paper's simulator does not
        have.
        """
        return changed(self.dumbbell(rtt, POLICIES[policy]), tcp={"sack": True})

    @property
    def unaveraged(self) -> Sweep | None:
        """Runs of RED without averaging at the longest round-trip times. The value is None if
        `sacked` is None.
        """
        if self.sacked is None:
            return None
        far = [rtt for rtt in LONG_RTTS if rtt in self.effort.rtts]
        plain = router.red(8, 15, averaging=False)
        return Sweep("plain-red-{rtt}", lambda rtt: self.dumbbell(rtt, plain), {"rtt": far})

    @property
    def transfers(self) -> Sweep:
        """Runs of both policies with finite flows, over the round-trip time."""
        return self.swept("finite-{policy}-{rtt}", self.transfer)

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios with infinite and with finite flows.

        The parking lot also has runs whose links have equal rates. One router with Compound flows
        also has runs with SACK.
        """
        points = points_of(self.sweep, self.transfers)
        if self.sacked is not None:
            points |= self.sacked.points()
        if self.unaveraged is not None:
            points |= self.unaveraged.points()
        if self.is_parking_lot:
            points |= points_of(self.equal, self.equal_transfers)
        return points

    def costs_of(
        self, runs: Runs, sweep: Sweep, transfers: Sweep, prefix: str = ""
    ) -> dict[str, Quantity]:
        """Return delay and loss of `sweep` and completion times of `transfers`. Names begin with
        `prefix`.
        """
        ending = "{policy}_{rtt}"
        table = {f"{prefix}{name}_{ending}": self.costs[name] for name in ("delay", "loss")}
        done = {f"{prefix}completion_{ending}": router.completion}
        return sweep.values(runs, table) | transfers.values(runs, done)

    def cost_panel(self, y_label: str, cost: str, *, from_zero: bool = False) -> Panel:
        """Return the panel of delay, loss or throughput over the round-trip time."""
        lines = self.sweep.lines("{policy}", "rtt", self.costs[cost])
        if self.is_parking_lot:
            lines += self.equal.lines("{policy}", "rtt", self.costs[cost], EQUAL_RATES)
        return Panel(y_label, lines, from_zero=from_zero)

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return delay, loss and completion time of both policies, and the gain of the threshold
        policy.
        """
        values = self.costs_of(runs, self.sweep, self.transfers)
        if self.is_parking_lot:
            values |= self.costs_of(runs, self.equal, self.equal_transfers, "equal_")
        comparable = 1.0 if self.megabytes == PAPERS_MEGABYTES else np.nan
        for rtt in self.effort.rtts:
            if not self.is_parking_lot:  # A ratio requires equal numbers of replications.
                for name, read in self.costs.items():
                    if name != "delay":
                        red, threshold = self.sweep.at(rtt=rtt).read(runs, read)
                        values[f"{name}_ratio_{rtt}"] = threshold / red
                red, threshold = self.sweep.at(rtt=rtt).read(runs, router.goodput)
                values[f"goodput_ratio_{rtt}"] = threshold / red
            gain = values[f"completion_red_{rtt}"] - values[f"completion_threshold_{rtt}"]
            values[f"completion_gain_{rtt}"] = gain * comparable
        return values

    def shown(self, runs: Runs) -> dict[str, Quantity]:
        """Return the throughputs with and without SACK."""
        if self.sacked is None:
            return {}
        plain = self.sweep.at(rtt=ENDS)
        return self.sacked.values(
            runs, {"utilisation_sack_{policy}_{rtt}": router.utilisation}
        ) | plain.values(runs, {"utilisation_{policy}_{rtt}": router.utilisation})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on delay, loss, throughput and completion time at 10 and 200 ms."""
        if self.mixed:
            return {}

        def compared(sweep: Sweep, reading: Read) -> str:
            each = (sweep.at(rtt=rtt).read(runs, reading) for rtt in ENDS)
            return "; ".join(f"{red} and {threshold}" for red, threshold in each)

        delay, loss, throughput = (compared(self.sweep, read) for read in self.costs.values())
        text = (
            f"the values of RED and the threshold policy at {ENDS_STATED} ms are: throughput "
            f"{throughput} Mb/s, delay {delay} ms, loss {loss}"
        )
        times = f"mean completion times are {compared(self.transfers, router.completion)} s"
        if not self.is_parking_lot:
            text += ". Throughputs differ where RED's queue oscillates and empties"
            far = "No run isolates why the difference is so large at the longest round-trip time"
            sacked = compared(self.sacked, router.utilisation) if self.sacked else ""
            bare = compared(self.sweep, router.utilisation)
            sack = (
                f"With SACK, RED and the threshold policy use {sacked} of the link at "
                f"{ENDS_STATED} ms, and without SACK {bare}"
            )
            return {
                "red-15": text,
                "red-16": f"{times}. {far}. {sack}",
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
            "red-17": f"{text}. The {times}. They are {through} s for flows through both links "
            f"and {first} s for flows through one link. So the threshold policy helps "
            "the longer path, at the cost of the others. The rates of the two links "
            f"differ by {100 * router.RATE_SPREAD:g} %. With exactly equal rates the "
            "threshold at the second link favours packets from the first link. The "
            f"flows that join there then lose {equal} of their packets at {ENDS_STATED} "
            f"ms, and {own} with the rates of this study"
        }

    def slopes(self, runs: Runs) -> str:
        """Return a text on why completion times do not always increase with the round-trip time."""
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
            f"at {' and '.join(map(str, SHORT_RTTS))} ms new data uses these fractions of the "
            f"link: {new}. The losses are {lost}, so at the shorter round-trip time more packets "
            f"are sent again. At {' and '.join(map(str, far))} ms the utilisations are {used}, "
            f"and {listed(plain.read(runs, router.utilisation))} for {WORDS['red']} without "
            "averaging. Averaging costs most at the shorter of these round-trip times. The "
            "standard deviation of the queue is "
            f"{listed(averaged.read(runs, router.oscillation))} packets with averaging, and "
            f"{listed(plain.read(runs, router.oscillation))} without"
        )

    def picture(self) -> Picture:
        """Return a picture of delay, loss, throughput and completion time over the round-trip
        time.
        """
        completion = self.transfers.lines("{policy}", "rtt", router.completion)
        if self.is_parking_lot:
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
    """Return the goodput as a fraction of the link's payload rate, which is its rate without
    headers. [-]
    """
    return router.goodput(run) / (router.BOTTLENECK_MBPS * DATA_PART)

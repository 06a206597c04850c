"""Figures 6 to 13: the queue at one router over the round-trip time. The figures compare RED with
and without averaging, and small and large thresholds. Figures 6 to 9 have Compound flows only;
figures 10 to 13 repeat them with mixed traffic.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from lasthop.studies.picture import Abscissa, Panel, Picture
from lasthop.studies.red import router
from lasthop.studies.red.experiment import OVER_RTT, Experiment
from lasthop.studies.study import Quantity, Read, Runs, changed
from lasthop.studies.sweep import Sweep, points_of

RED = router.red(50, 100)
PLAIN = router.red(50, 100, averaging=False)
ABRUPT = router.red(50, 100, averaging=False, gentle=False)

GROUPS: Mapping[str, tuple[int, int]] = {"small": (5, 15), "large": (100, 300)}
"""Round-trip times of the two halves of the flows, in runs with small and in runs with large
round-trip times. [ms]
"""

THRESHOLDS: Mapping[str, tuple[int, int]] = {"8_15": (8, 15), "100_200": (100, 200)}
"""Lower and upper thresholds of RED in figures 9 and 13, by the names of values. [packets]"""

QUEUES: Mapping[str, router.Tree] = {"averaged": RED, "plain": PLAIN}
WORDS = {"averaged": "with averaging", "plain": "without"}

SEEDS = (1, 2, 3, 4, 5)
"""Seeds of the runs with a sampled queue. Each run records the time series of its first replication
only.
"""

SAMPLED_S = (25, 125)
"""Start of the measured time, and length of the run, for runs with a sampled queue. [s]"""

BINS = (0.05, 0.1, 0.2, 0.5, 1.0)
"""Widths of the bins for the minimum utilisation. [s]"""

BINNED_RTT = 100
"""Round-trip time at which the minimum utilisation is shown for each bin width. [ms]"""

CLOSE_RTTS = (50, 100)
"""Round-trip times at which the two curves of figure 12 are close together. [ms]"""

LONGEST_RTT = 25
"""Round-trip time at which the longest queues are compared. [ms]"""

FOLLOWED_RTTS = (10, 25)
"""Round-trip times at which the windows are compared with the loss probability. [ms]"""

SWINGING: Mapping[str, Read] = {
    "utilisation": router.utilisation,
    "utilisation_min": router.least_utilisation,
    "oscillation": router.oscillation,
    "synchrony": router.synchrony,
}
"""Quantities that show whether the queue oscillates, by the names of their values."""


LABELS = {
    "utilisation": "utilisation",
    "utilisation_min": "minimum utilisation\nin 0.1 s",
    "oscillation": "deviation of\nthe queue [packets]",
    "synchrony": "correlation\nof windows",
}
"""Axis labels of the quantities in `SWINGING`."""


class Swings(Experiment):
    """An experiment that the paper makes with Compound flows and repeats with mixed traffic."""

    numbers: tuple[int, int]
    """Number of the figure with Compound flows, and number of the figure with mixed traffic."""

    what: str
    """Short description of the experiment for the title of the figure."""

    @property
    def name(self) -> str:
        """Name of the study, which is the name of the figure."""
        return f"fig{self.numbers[self.mixed]:02d}"

    @property
    def title(self) -> str:
        """Title of the figure."""
        traffic = "mixed traffic" if self.mixed else "Compound flows"
        return f"Figure {self.numbers[self.mixed]}: {self.what}, {traffic}"

    @property
    @abstractmethod
    def sweep(self) -> Sweep:
        """Runs that give the curves of the figure."""

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of all runs, by name."""
        return self.sweep.points()

    def swinging(self, abscissa: Abscissa, label: str, over: str, *more: Panel) -> Picture:
        """Return a picture with utilisation, queue and windows over a setting."""
        shown = [
            Panel(
                LABELS[name], self.sweep.lines(label, over, read), from_zero=name == "oscillation"
            )
            for name, read in SWINGING.items()
        ]
        return Picture(abscissa, [*shown, *more], panel_mm=38.0)

    def router(self, rtt: int, queue: router.Tree) -> dict[str, Any]:
        """Return the scenario at a round-trip time [ms], with more replications where curves are
        close together.
        """
        replications = self.effort.close if self.mixed and rtt in CLOSE_RTTS else None
        return self.dumbbell(rtt, queue, replications=replications)


class OverRtt(Swings):
    """Figure 6 or 10: RED 50/100 over the round-trip time."""

    numbers = (6, 10)
    what = "RED 50/100 over the round-trip time"

    @property
    def sweep(self) -> Sweep:
        """Runs with RED 50/100 over the round-trip time."""
        return Sweep("{rtt}", lambda rtt: self.router(rtt, RED), {"rtt": self.effort.rtts})

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of the sweep, and of NewReno at 10 ms."""
        points = super().points()
        if not self.mixed:
            newreno = changed(self.router(10, RED), tcp={"congestion": "newreno"})
            points["newreno-10"] = newreno
        return points

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return windows, and the quantities of `SWINGING` at 10 and 200 ms."""
        table = {f"{name}_{{rtt}}": read for name, read in SWINGING.items()}
        ends = self.sweep.at(rtt=[10, 200])
        return ends.values(runs, {"window_{rtt}": router.window, **table})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on how the windows depend on the loss probability."""
        if self.mixed:
            return {}
        near, far = FOLLOWED_RTTS
        short, long = self.sweep.at(rtt=FOLLOWED_RTTS).runs(runs)
        newreno = runs["newreno-10"]
        return {
            "red-9": (
                "the windows follow from the loss that RED needs to keep the queue short. The "
                f"loss is {router.loss(short)} at {near} ms, and {router.loss(long)} at {far} ms, "
                f"where the mean window is {router.window(long)} packets. Compound TCP is not "
                f"the cause, since NewReno has {router.window(newreno)} packets at {near} ms. The "
                "paper gives traces and no mean"
            )
        }

    def picture(self) -> Picture:
        """Return a picture of the quantities of `SWINGING` over the round-trip time."""
        return self.swinging(OVER_RTT, "RED 50/100", "rtt")


class TwoGroups(Swings):
    """Figure 7 or 11: flows with two different round-trip times in one run."""

    numbers = (7, 11)
    what = "two groups of round-trip times"

    @property
    def sweep(self) -> Sweep:
        """Runs with small and with large round-trip times."""
        replications = self.effort.close if self.mixed else None
        return Sweep(
            "{group}",
            lambda group: self.dumbbell(GROUPS[group], RED, replications=replications),
            {"group": tuple(GROUPS)},
        )

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the quantities of `SWINGING` for small and for large round-trip times."""
        return self.sweep.values(
            runs, {f"{name}_{{group}}": reading for name, reading in SWINGING.items()}
        )

    def picture(self) -> Picture:
        """Return a picture of the quantities of `SWINGING` over the mean round-trip time."""
        pairs = Abscissa(
            "round-trip times of the two halves [ms]",
            lambda group: sum(GROUPS[group]) / 2,
            {group: f"{item} and {other}" for group, (item, other) in GROUPS.items()},
        )
        return self.swinging(pairs, "RED 50/100", "group")


class Averaging(Swings):
    """Figure 8 or 12: RED with and without averaging."""

    numbers = (8, 12)
    what = "RED with and without averaging"

    @property
    def sweep(self) -> Sweep:
        """Runs with and without averaging, over the round-trip time."""
        return Sweep(
            "{queue}-{rtt}",
            lambda queue, rtt: self.router(rtt, QUEUES[queue]),
            {"queue": tuple(QUEUES), "rtt": self.effort.rtts},
            words=WORDS,
        )

    @property
    def binned(self) -> Sweep:
        """Runs with and without averaging, over the width of the utilisation bins."""
        return Sweep(
            "{queue}-bin-{bin_s}",
            lambda queue, bin_s: self.dumbbell(BINNED_RTT, QUEUES[queue], bin_s=bin_s),
            {"queue": tuple(QUEUES), "bin_s": BINS},
            words=WORDS,
        )

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of both sweeps, and of RED without `gentle`."""
        abrupt = {f"abrupt-{LONGEST_RTT}": self.router(LONGEST_RTT, ABRUPT)}
        return {**self.sweep.points(), **abrupt, **self.binned.points()}

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return the minimum utilisation at every round-trip time, and the longest queues."""
        values = self.sweep.values(
            runs, {"utilisation_min_{queue}_{rtt}": router.least_utilisation}
        )
        longest = self.sweep.at(rtt=LONGEST_RTT)
        return values | longest.values(runs, {"queue_max_{queue}": router.queue_max})

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return texts on the effects of the bin width and of `gentle`."""
        shown = "; ".join(
            f"{bin_s:g} s: {' and '.join(map(str, least))}"
            for bin_s in BINS
            for least in [self.binned.at(bin_s=bin_s).read(runs, router.least_utilisation)]
        )
        at = self.sweep.at(rtt=BINNED_RTT)
        means, lengths = (
            " and ".join(map(str, at.read(runs, reading)))
            for reading in (router.utilisation, router.queue_mean)
        )
        longest = [router.queue_max(runs[f"{name}-{LONGEST_RTT}"]) for name in ("plain", "abrupt")]
        return {
            "red-13" if self.mixed else "red-11": (
                f"the minimum utilisations at {BINNED_RTT} ms with and without averaging depend on "
                f"the width of the bins: {shown}. The mean utilisations are {means}, and the mean "
                f"queues {lengths} packets. The longest queue without averaging at {LONGEST_RTT} "
                f"ms is {longest[0]} packets, including the packet in service. With gentle off it "
                f"is {longest[1]}, because no packet enters if {ABRUPT['red']['max_th']} packets "
                "wait"
            )
        }

    def picture(self) -> Picture:
        """Return a picture of the quantities of `SWINGING` over the RTT, and of the minimum
        utilisation over the bin width.
        """
        least = Panel(
            f"minimum utilisation\nat {BINNED_RTT} ms",
            self.binned.lines("{queue}", "bin_s", router.least_utilisation),
            from_zero=False,
            x_label="width of the bins [s]",
        )
        return self.swinging(OVER_RTT, "{queue}", "rtt", least)


class Thresholds(Swings):
    """Figure 9 or 13: small and large thresholds of RED."""

    numbers = (9, 13)
    what = "thresholds of RED at 100 ms"

    @property
    def sweep(self) -> Sweep:
        """Runs with small and with large thresholds."""
        return Sweep(
            "{pair}",
            lambda pair: self.dumbbell(100, router.red(*THRESHOLDS[pair])),
            {"pair": tuple(THRESHOLDS)},
        )

    @property
    def sampled(self) -> Sweep:
        """Runs with small and with large thresholds that sample the queue over time."""
        return Sweep(
            "{pair}-seed-{seed}",
            lambda pair, seed: {
                **self.dumbbell(100, router.red(*THRESHOLDS[pair])),
                "seed": seed,
                "replications": 1,
                "warmup": f"{SAMPLED_S[0]} s",
                "duration": f"{SAMPLED_S[1]} s",
                "record": {"series_interval": "100 ms"},
            },
            {"pair": tuple(THRESHOLDS), "seed": SEEDS},
        )

    def points(self) -> dict[str, router.Tree]:
        """Return the scenarios of both thresholds, and of the runs that sample the queue."""
        return points_of(self.sweep, self.sampled)

    def measure(self, runs: Runs) -> dict[str, Quantity]:
        """Return windows, utilisation, and the oscillation of the queues for both thresholds.

        The oscillation is given in packets, relative to the mean queue, and by its periodicity.
        """
        likeness = {
            f"likeness_{pair}": router.likeness(self.sampled.at(pair=pair).runs(runs), SAMPLED_S[0])
            for pair in THRESHOLDS
        }
        return likeness | self.sweep.values(
            runs,
            {
                "relative_oscillation_{pair}": router.relative_oscillation,
                **{f"{name}_{{pair}}": reading for name, reading in SWINGING.items()},
            },
        )

    def findings(self, runs: Runs) -> dict[str, str]:
        """Return a text on the amplitude of the queue, which grows with its mean."""
        _, least, swing, synchrony = (self.sweep.read(runs, read) for read in SWINGING.values())
        lengths = self.sweep.read(runs, router.queue_mean)
        small, large = (f"{low}/{high}" for low, high in THRESHOLDS.values())
        return {
            "red-13" if self.mixed else "red-12": (
                f"the deviation is {swing[0]} packets with {small} and {swing[1]} with {large}, "
                f"but relative to the mean queue it is {swing[0] / lengths[0]} and "
                f"{swing[1] / lengths[1]}. Windows correlate by {synchrony[0]} and "
                f"{synchrony[1]}, and the minimum utilisation is {least[0]} and {least[1]}. The "
                "larger queue has a larger amplitude mostly because it is larger"
            )
        }

    def picture(self) -> Picture:
        """Return a picture of the quantities of `SWINGING` over the upper threshold."""
        thresholds = Abscissa(
            "thresholds [packets]",
            lambda pair: float(THRESHOLDS[pair][1]),
            {pair: f"{low}/{high}" for pair, (low, high) in THRESHOLDS.items()},
        )
        return self.swinging(thresholds, "RTT 100 ms", "pair")

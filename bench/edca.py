"""Compare EDCA parameters of 802.11e with ns-3: goodput and CPU time.

Both simulators run the cell of paper 003 with the same parameters. If the goodputs differ, the
script names the option of lasthop that selects ns-3's rule and thus removes the difference.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import ours
from equivalence import Agreement, Difference, agreement
from measure import Cost, Run, slope
from peers import Ns3, install_ns3

import lasthop
from lasthop.answers.estimates import Estimate

FILE = Path(__file__).parent / "cases" / "edca.toml"
SEGMENT_BITS = 8 * 1460
SAME = 0.02
"""Largest relative difference at which goodputs are called equal. [-] This limit applies if lasthop
uses its defaults, or only one rule of ns-3."""
#: Largest relative difference of equal goodputs, if lasthop uses all rules of ns-3. [-]
SAME_RULES = 0.005
#: Smallest accepted ratio of ns-3's CPU time per delivered segment to lasthop's. [-]
RATIO_AIM = 1000.0

Settings = Mapping[str, object]

COUNTDOWN: Settings = {"cell.countdown": "edca"}
CF_END: Settings = {"cell.cf_end": True}
ACK_TIMEOUT: Settings = {"cell.ack_timeout": "222 us"}
"""ACK timeout of ns-3, as a setting of lasthop: the sum of SIFS, a slot time, and the preamble of
the MAC ACK."""


@dataclass(frozen=True)
class Case:
    """A case: EDCA parameters, as settings of lasthop and as options of peers/cell.cc."""

    name: str
    settings: Settings
    peer_options: tuple[str, ...]
    #: Option of lasthop that selects the rule of ns-3 with the largest effect.
    switch: Settings = field(default_factory=lambda: COUNTDOWN)

    @property
    def rules(self) -> Settings:
        """Return all options of lasthop that select rules of ns-3."""
        return {**COUNTDOWN, **ACK_TIMEOUT, **self.switch}


def windows(ap: int, station: int) -> Case:
    """Return the case with these values of CWmin for the access point and the stations."""
    return Case(
        f"CWmin {ap} / {station}",
        {"cell.ap.cwmin": ap, "cell.cwmin": station},
        (f"--apCwmin={ap}", f"--stationCwmin={station}"),
    )


CASES = (
    windows(15, 15),
    windows(31, 31),
    windows(63, 63),
    windows(31, 7),
    Case(
        "PIFS / 31",
        {"cell.ap.aifsn": 1, "cell.ap.cwmin": 0, "cell.ap.cwmax": 0},
        ("--apAifsn=1", "--apCwmin=0", "--apCwmax=0"),
    ),
    # TXOP limits for three data frames (access point) and three TCP ACKs (stations), with MAC ACKs.
    # The limits are times, because ns-3 supports no limits in frames.
    Case(
        "TXOP 3 / 3",
        {"cell.ap.txop_limit": "4736 us", "cell.txop_limit": "1568 us"},
        ("--apTxop=4736", "--stationTxop=1568"),
        switch=CF_END,
    ),
)


@dataclass(frozen=True)
class Compared:
    """Results of one case in lasthop and ns-3."""

    case: Case
    ours: Estimate
    switched: Estimate
    all_rules: Estimate
    peer: Estimate
    our_cost: Cost
    peer_cost: Cost

    @property
    def ratio(self) -> float:
        """Ratio of ns-3's CPU time per delivered segment to lasthop's. [-]"""
        return self.peer_cost.us_per_segment / self.our_cost.us_per_segment

    @property
    def verdict(self) -> str:
        """Return as text whether the goodputs are equal: with lasthop's defaults, only with the
        option `case.switch` of lasthop, or not at all.
        """
        usual, switched = (agreement(ours, self.peer, SAME) for ours in (self.ours, self.switched))
        if usual is Agreement.EQUAL:
            return "same"
        if switched is Agreement.EQUAL:
            return f"same with {written(self.case.switch)}"
        return "undecided" if Agreement.UNDECIDED in (usual, switched) else "different"

    def over(self, ours: Estimate) -> Difference:
        """Return the difference of ns-3's goodput from a goodput of lasthop."""
        return Difference.of(ours, self.peer, SAME_RULES)

    def missed(self) -> Iterator[str]:
        """Yield a message for each missed aim of this case."""
        if self.verdict in ("different", "undecided"):
            apart = f"{self.over(self.ours).part:+.1%} and {self.over(self.switched).part:+.1%}"
            which = f"{apart} with {written(self.case.switch)}"
            yield f"{self.case.name}: {self.verdict}: ns-3 is {which}"
        every = self.over(self.all_rules)
        if every.agreement is not Agreement.EQUAL:
            apart = f"{every.agreement.value}, {every.part:+.2%}"
            yield f"{self.case.name}: ns-3 is {apart}, though all rules are the same"
        if self.ratio < RATIO_AIM:
            yield f"{self.case.name}: {self.ratio:.0f} times less than ns-3, aim {RATIO_AIM:.0f}"

    def record(self) -> dict[str, object]:
        """Return the goodputs for the records."""

        def estimate(value: Estimate) -> dict[str, float | None]:
            return value.to_dict()

        return {
            "case": f"cell 802.11e, {self.case.name}",
            "peer": "ns-3",
            "peer_bps": estimate(self.peer),
            "ours_bps": estimate(self.ours),
            "switch": dict(self.case.switch),
            "switched_bps": estimate(self.switched),
            "all_rules": dict(self.case.rules),
            "all_rules_bps": estimate(self.all_rules),
            "verdict": self.verdict,
        }


def written(settings: Settings) -> str:
    """Return settings as text, in the form of a scenario file."""
    return ", ".join(
        f"{key.rpartition('.')[2]} = {'true' if value is True else value}"
        for key, value in settings.items()
    )


def compare(*, quick: bool) -> list[Compared]:
    """Run all cases. Only one process runs at a time."""
    install_ns3()
    replications, long_s = (3, 40.0) if quick else (5, 60.0)
    return [in_both(case, replications, long_s) for case in CASES]


def in_both(case: Case, replications: int, long_s: float) -> Compared:
    """Run one case in lasthop and in ns-3. The cost of ns-3 is computed from a long and a short
    run. The long run is the first replication.
    """
    numbers = range(1, replications + 1)
    runs = [Ns3(("--edca", *case.peer_options), number)(long_s) for number in numbers]
    known = {long_s: runs[0]}
    first = Ns3(("--edca", *case.peer_options))
    peer_cost = slope(lambda s: known[s] if s in known else first(s), long_s / 4, long_s, repeats=1)
    return Compared(
        case=case,
        ours=goodput(case.settings),
        switched=goodput({**case.settings, **case.switch}),
        all_rules=goodput({**case.settings, **case.rules}),
        peer=estimate(runs),
        our_cost=ours.cost(FILE, 200.0, 2000.0, 3, case.settings),
        peer_cost=peer_cost,
    )


def goodput(settings: Settings) -> Estimate:
    """Return the goodput of lasthop."""
    result = lasthop.simulate(lasthop.Scenario(FILE, settings), jobs=1)
    [cell] = result.summary["cells"]
    return Estimate(**cell["goodput_bps"])


def estimate(runs: Sequence[Run]) -> Estimate:
    """Return the mean goodput of independent runs. [bit/s]"""
    return Estimate.of([run.segments * SEGMENT_BITS / run.measured_s for run in runs])

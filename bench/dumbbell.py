"""Compare sixty NewReno flows through one router with ns-2, ns-3 and htsim: results and CPU time.

All simulators run the same topology with the same settings. The script compares utilisation, queue
and drops over independent replications, and then the CPU time per delivered segment. In comparisons
with ns-3 the flows use SACK, because ns-3's NewReno without SACK sends many segments twice.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import inf
from pathlib import Path
from typing import Literal

import lean
import ours
from equivalence import Agreement, Difference
from measure import BenchError, Cost, Paired, Process, Run, in_turn, process, slope, typical
from peers import HTSIM, NS3_DUMBBELL, htsim_absent, install_htsim, install_ns2, install_ns3

import lasthop
from lasthop.answers.estimates import Estimate

HERE = Path(__file__).parent
FILE = HERE / "cases" / "dumbbell.toml"
SCRIPT = HERE / "peers" / "dumbbell.tcl"
WARMUP_S = 25.0
FLOWS = 60
#: Number of links that a segment and its ACK pass: access, bottleneck and exit in each direction.
TRANSMISSIONS = 6
#: Simulated times of lasthop's short and long run, from which the cost per segment follows. [s]
SHORT_S, LONG_S = 100.0, 500.0

Measure = Literal["utilisation", "queue", "drops"]
SAME: Mapping[Measure, float] = {"utilisation": 0.03, "queue": 0.10, "drops": 0.10}
"""Largest relative differences between ns-2 and lasthop at which the results are called equal. The
differences of other simulators are printed but not checked."""


@dataclass(frozen=True)
class Case:
    """A round-trip time and a queue discipline."""

    rtt_ms: int
    queue: Literal["droptail", "red", "bytes"]

    @property
    def name(self) -> str:
        """Return the name of the case in results.json."""
        return f"RTT {self.rtt_ms} ms, {QUEUES[self.queue][0]}"

    @property
    def settings(self) -> Mapping[str, object]:
        """Return the settings of lasthop. The queue limit of lasthop is larger by 1 than the limit
        of ns-2, because ns-2's limit does not include the packet in service.

        In the case with ns-2's default RED, lasthop uses ns-2's rule for timeouts in fast recovery.
        """
        settings = {"dumbbell.rtt": f"{self.rtt_ms} ms", "queue": QUEUES[self.queue][1]}
        return settings | ({"tcp.rto_halves_again": True} if self.queue == "bytes" else {})


QUEUES = {
    "droptail": ("drop-tail 15", "15"),
    "red": ("RED 50/100", "{ limit = 2084, red = { min_th = 50, max_th = 100 } }"),
    "bytes": (
        "RED 20/60 in bytes",
        "{ limit = 101, red = { min_th = 20, max_th = 60, bytes = true } }",
    ),
}
"""Name of each queue discipline, and its settings in lasthop."""

CASES = (
    *(Case(rtt, queue) for rtt in (10, 200) for queue in ("droptail", "red")),
    *(Case(rtt, "bytes") for rtt in (10, 200)),
)
NS3_CASES = CASES[:4]
#: Cases with drop-tail queues, the only queues that htsim and the minimal programs support.
DROP_TAIL = tuple(case for case in CASES if case.queue == "droptail")


Router = Mapping[Measure, Estimate]
"""Results of the router: utilisation [-], mean queue including the packet in service [packets],
fraction of dropped packets [-].
"""


@dataclass(frozen=True)
class Peer:
    """Another simulator (peer) with the lengths of its runs. `aim` refers to the ratio of costs:
    the peer's CPU time per segment divided by lasthop's.
    """

    name: Literal["ns-2", "ns-3", "htsim", "lean", "hops"]
    cases: Sequence[Case]
    #: Length of a run that measures the queue. [s]
    duration_s: float
    #: Simulated time of the short run. [s]
    short_s: float
    #: Simulated time of the long run. [s]
    long_s: float
    replications: int
    #: Smallest accepted ratio of costs; 0 if the ratio is printed but not checked.
    aim: float
    same: Mapping[Measure, float]
    #: Settings of the flows in lasthop for the comparison with this peer.
    settings: Mapping[str, object]

    def run(self, case: Case, times_s: tuple[float, float], seed: int, *, measure: bool) -> Process:
        """Run the script or the program of this simulator once. `times_s` are the length and the
        warm-up.
        """
        numbers = [*map(str, times_s), str(seed)]
        if self.name == "ns-2":
            mode = "measure" if measure else "bare"
            return process(["ns", str(SCRIPT), *numbers, str(case.rtt_ms), case.queue, mode])
        if self.name in ("lean", "hops"):
            how = "once" if self.name == "lean" else "hops"
            limit = int(QUEUES[case.queue][1])
            return process(lean.router(how, FLOWS, case.rtt_ms, limit, *numbers))
        if self.name == "htsim":
            mode = "measure" if measure else "bare"
            words = [str(FLOWS), str(case.rtt_ms), QUEUES[case.queue][1], mode]
            return process([str(HTSIM), *numbers, *words])
        options = [f"--rtt={case.rtt_ms}", f"--queue={case.queue}"]
        return process([str(NS3_DUMBBELL), *numbers, *options, *["--measure"][: int(measure)]])

    def router(self, case: Case) -> Router:
        """Return the results of the router in this simulator, averaged over runs with a monitor on
        the queue.
        """
        rows = []
        for seed in range(1, self.replications + 1):
            ended = self.run(case, (self.duration_s, WARMUP_S), seed, measure=True)
            rows.append([float(word) for word in line(ended.output, "bottleneck", self.name)])
        columns = zip(*rows, strict=True)
        return {measure: Estimate.of(column) for measure, column in zip(SAME, columns, strict=True)}

    def bare(self, case: Case, duration_s: float) -> Run:
        """Run once without a monitor, because a monitor would increase the CPU time."""
        warmup_s = min(WARMUP_S, self.short_s / 2)
        ended = self.run(case, (duration_s, warmup_s), 1, measure=False)
        segments = int(line(ended.output, "delivered", self.name)[1])
        return Run(ended.cpu_s, segments, duration_s - warmup_s, ended.peak_rss_mb)


def peers(*, quick: bool) -> Sequence[Peer]:
    """Return the available peers: the installed ns-2, the minimal programs, htsim if its source
    is available, and ns-3.
    """
    seeds = 3 if quick else 5
    sack = {"tcp.sack": True}
    return (
        Peer("ns-2", CASES, 105.0, 35.0, 235.0, seeds, 15.0, SAME, {}),
        Peer("lean", DROP_TAIL, 105.0, SHORT_S, LONG_S, seeds, 0.0, {}, {}),
        Peer("hops", DROP_TAIL, 105.0, SHORT_S, LONG_S, seeds, 0.0, {}, {}),
        *(
            [Peer("htsim", DROP_TAIL, 105.0, 35.0, 235.0, seeds, 12.0, {}, {})]
            if htsim_absent() is None
            else []
        ),
        Peer("ns-3", NS3_CASES, 45.0, 10.0, 20.0, 2 if quick else 3, 450.0, {}, sack),
    )


@dataclass(frozen=True)
class Compared:
    """Results and costs of one case in lasthop and in another simulator (peer)."""

    case: Case
    peer: Peer
    ours: Router
    theirs: Router
    cost: Paired

    @property
    def name(self) -> str:
        """Return the name of this comparison in the records."""
        return f"dumbbell, {self.case.name}, {self.peer.name}"

    def apart(self, measure: Measure) -> float:
        """Return the relative difference of the peer from lasthop for a quantity of the router."""
        return Difference.of(self.ours[measure], self.theirs[measure], inf).part

    @property
    def our_cost(self) -> Cost:
        """Return lasthop's median cost."""
        return typical(self.cost.ours)

    @property
    def peer_cost(self) -> Cost:
        """Return the peer's median cost."""
        return typical(self.cost.peer)

    @property
    def spread(self) -> str:
        """Return as text the smallest and the largest ratio of costs, and the number of rounds."""
        ratios = self.cost.ratios
        return f"{min(ratios):.3g} to {max(ratios):.3g} in {len(ratios)}"

    def missed(self) -> Iterator[str]:
        """Yield a message for each missed aim of this case."""
        name, aim = self.peer.name, self.peer.aim
        for measure, allowed in self.peer.same.items():
            difference = Difference.of(self.ours[measure], self.theirs[measure], allowed)
            if difference.agreement is not Agreement.EQUAL:
                yield f"{self.case.name}: {measure} of {name} is {difference.words} off"
        if self.cost.ratio < aim:
            ratio = f"{self.cost.ratio:.1f} times less than {name} ({self.spread} rounds)"
            yield f"{self.case.name}: {ratio}, aim {aim:.0f}"

    def record(self) -> dict[str, object]:
        """Return the results of the router for the records."""
        return {
            "case": self.name,
            "peer": self.peer.name,
            "ours": {measure: asdict(value) for measure, value in self.ours.items()},
            "ratios": self.cost.ratios,
            "peer_values": {measure: asdict(value) for measure, value in self.theirs.items()},
        }


def compare(*, quick: bool) -> Iterator[Compared]:
    """Yield the comparisons of all cases with all peers. Only one process runs at a time."""
    install_ns2()
    install_ns3()
    lean.install()
    if skipped := htsim_absent():
        print(skipped)
    else:
        install_htsim()
    for peer in peers(quick=quick):
        for case in peer.cases:
            yield in_both(case, peer, rounds=3 if quick or peer.name == "ns-3" else 5)


def in_both(case: Case, peer: Peer, rounds: int) -> Compared:
    """Run one case in lasthop and in a peer."""
    settings = {**case.settings, **peer.settings}
    return Compared(
        case=case,
        peer=peer,
        ours=router(settings),
        theirs=peer.router(case),
        cost=in_turn(
            lambda: ours.cost(FILE, SHORT_S, LONG_S, 3, settings),
            lambda: slope(lambda time_s: peer.bare(case, time_s), peer.short_s, peer.long_s, 1),
            peer.aim,
            rounds,
        ),
    )


def router(settings: Mapping[str, object]) -> Router:
    """Return the results of the router in lasthop, averaged over the replications that the file
    sets.
    """
    result = lasthop.simulate(lasthop.Scenario(FILE, settings), jobs=1)
    [link] = [link for link in result.summary["links"] if link["name"] == "bottleneck"]
    [queue] = [queue for queue in result.summary["queues"] if queue["name"] == "bottleneck"]
    return {
        "utilisation": Estimate(**link["utilisation"]),
        "queue": Estimate(**queue["occupancy_packets"]),
        "drops": Estimate(**queue["drop_probability"]),
    }


def line(output: str, name: str, peer: str) -> list[str]:
    """Return the words after `name` in the line of a peer's output that begins with `name`."""
    for text in output.splitlines():
        first, *words = text.split()
        if first == name:
            return words
    raise BenchError(f"{peer} printed no line `{name} ...`")

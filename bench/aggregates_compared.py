"""Results of ns-3 and lasthop for the same cell with A-MPDU aggregation."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypedDict

from aggregates_cases import STANDARD, Case, Settings
from equivalence import Agreement, Difference
from measure import BenchError, process
from peers import NS3_AGGREGATES
from runs import OUT, Runs

import lasthop
from lasthop.answers.estimates import Estimate
from lasthop.answers.fairness import jain

FILE = Path(__file__).parent / "cases" / "aggregates.toml"
RUNS = Runs(OUT / "aggregates.jsonl")
#: Two goodputs are called equal if their relative difference is smaller than this value. [-]
EQUAL_WITHIN = 0.02


class PeerRun(TypedDict):
    """Results of one replication of ns-3."""

    goodput_bps: float
    jain: float | None


@dataclass(frozen=True)
class Delivered:
    """Segments and bytes that a run of ns-3 delivered after its warm-up."""

    segments: int
    #: Bytes delivered to each station, and bytes delivered from it. [bytes]
    stations: Sequence[tuple[int, int]]

    @property
    def bytes(self) -> int:
        """Total number of bytes delivered to and from all stations."""
        return sum(map(sum, self.stations))

    @property
    def jain(self) -> float | None:
        """Jain's index of the stations' goodputs; None for a single station. [-]"""
        return jain([sum(flows) for flows in self.stations])


def parsed(output: str) -> Delivered:
    """Read the lines `delivered IN_ALL AFTER_WARMUP` and `station DOWN UP` from ns-3's output."""
    segments = None
    stations = []
    for line in output.splitlines():
        match line.split():
            case ["delivered", _, after]:
                segments = int(after)
            case ["station", down, up]:
                stations.append((int(down), int(up)))
    if segments is None or not any(map(sum, stations)):
        raise BenchError(f"ns-3 delivered nothing:\n{output}")
    return Delivered(segments, stations)


def peer_run(case: Case, seed: int) -> PeerRun:
    """Run one replication of ns-3."""
    generation = case.generation
    words = [str(generation.peer_s), str(generation.peer_warmup_s), str(seed), *case.argv]
    ended = process([str(NS3_AGGREGATES), *words])
    delivered = parsed(ended.output)
    measured_s = generation.peer_s - generation.peer_warmup_s
    return {"goodput_bps": 8 * delivered.bytes / measured_s, "jain": delivered.jain}


@dataclass(frozen=True)
class SimulatorResult:
    """Result of one simulator for a case: the goodput, and Jain's index."""

    goodput_bps: Estimate
    jain: Estimate | None


@dataclass(frozen=True)
class Compared:
    """Results of both simulators for a case."""

    case: Case
    peer: SimulatorResult
    ours: SimulatorResult
    """Result of lasthop with the rules of ns-3. The field `standard` contains the result of lasthop
    with the rules of the standard."""
    standard: SimulatorResult

    @property
    def relative_difference(self) -> float:
        """Difference of ns-3's goodput from lasthop's goodput, divided by lasthop's goodput. [-]"""
        return self.difference.part

    @property
    def difference(self) -> Difference:
        """Difference of ns-3's goodput from lasthop's goodput, divided by lasthop's goodput, with
        the confidence interval of the difference.
        """
        return Difference.of(self.ours.goodput_bps, self.peer.goodput_bps, EQUAL_WITHIN)

    def missed(self) -> Iterator[str]:
        """Yield a message if the goodputs of ns-3 and lasthop are not equal."""
        if self.difference.agreement is not Agreement.EQUAL:
            verdict = self.difference.agreement.value
            yield f"{self.case.name}: {verdict}: ns-3 is {self.relative_difference:+.1%} off"


def compare(cases: Sequence[Case]) -> Iterator[Compared]:
    """Yield the comparison of each case for which there are stored runs of ns-3. The simulations
    with lasthop are run now, since they are not stored.
    """
    done = RUNS.known()
    for case in cases:
        seen = [done[key] for key in case.keys if key in done]
        if seen:
            standard = own_result({**case.settings, **STANDARD})
            yield Compared(case, peer_result(seen), own_result(case.settings), standard)


def peer_result(seen: Sequence[Mapping[str, float]]) -> SimulatorResult:
    """Return the means over the replications of ns-3."""
    indices = [run["jain"] for run in seen if run["jain"] is not None]
    goodput_bps = Estimate.of([run["goodput_bps"] for run in seen])
    return SimulatorResult(goodput_bps, Estimate.of(indices) if indices else None)


def own_result(settings: Settings) -> SimulatorResult:
    """Return the result of lasthop with these settings."""
    result = lasthop.simulate(lasthop.Scenario(FILE, settings), jobs=1)
    [cell] = result.summary["cells"]
    jain_index = cell.get("jain")
    return SimulatorResult(
        Estimate(**cell["goodput_bps"]), None if jain_index is None else Estimate(**jain_index)
    )

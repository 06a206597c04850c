"""Number of calls that a cell can carry in addition to its other traffic."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from math import nan

from lasthop.answers.calls import DELAY_P99_S, LOSS, is_paced
from lasthop.scenario.scenario import Scenario
from lasthop.simulation.result import Result
from lasthop.tuning.categories import cell_flows, cell_scenario

CALL = {"calls": "audio", "category": "voice"}
"""Settings of a call of a station: codec G.711 in both directions, with 20 ms of speech per
datagram.
"""

MAX_CALLS = 200
"""Largest number of calls that the search tries."""

Simulate = Callable[[Scenario], Result]


@dataclass(frozen=True)
class Calls:
    """Stations with one call each. The search varies the number of these stations.

    Attributes
    ----------
    group : str
        Name of the stations' table, below ``station``.
    own : bool
        Whether the scenario file contains the stations.
    """

    group: str
    own: bool

    def of(self, scenario: Scenario, count: int) -> Scenario:
        """Return the scenario with its calls replaced by `count` calls. `count` is at least 1."""
        return Scenario(scenario, [(f"station.{self.group}.count", count)])

    def alongside(self, scenario: Scenario) -> Scenario:
        """Return the scenario for the measurement of other quantities, in which one call is added
        if the scenario has no calls.
        """
        if self.own:
            return scenario
        return scenario.with_station(self.group, {"count": 1, "call": CALL})

    @property
    def what(self) -> str:
        """Short name of the calls."""
        if self.own:
            return f"stations of `station.{self.group}`, as the file has them"
        return "G.711, 160 B each 20 ms each way, category voice, a station of its own each"


def calls_of(scenario: Scenario) -> Calls:
    """Return the calls of the scenario file, or calls with the settings `CALL`.

    A table of stations describes calls if the stations send and receive datagrams at a rate and
    have no other flows.
    """
    station = scenario.typed.station
    flows = sorted(cell_flows(scenario), key=lambda flow: station[flow.station].group)
    for group, members in groupby(flows, key=lambda flow: station[flow.station].group):
        own = list(members)
        paced = all(is_paced(flow) for flow in own)
        if paced and {flow.direction for flow in own} == {"up", "down"}:
            return Calls(group, own=True)
    groups = {each.group for each in cell_scenario(scenario).stations}
    name = "call"
    while name in groups:
        name += "s"
    return Calls(name, own=False)


@dataclass(frozen=True)
class Attempt:
    """Results of a simulation with a given number of calls; each field has one value per
    replication.
    """

    holds: Sequence[bool]
    """Whether every call met the limits `DELAY_P99_S` and `LOSS` in both directions."""
    goodput_bps: Sequence[float]
    """Goodput of all flows of stations without a call. [bit/s]"""


class Capacity:
    """Search for the largest number of calls in each replication, with one setting of access
    parameters.

    A number of calls is feasible if every call meets its limits. The search starts at a hint,
    doubles the step until a bound is found, and then halves the step. The search assumes that more
    calls are never better than fewer calls. `check` tests this assumption near the result.
    """

    def __init__(self, calls: Calls, scenario: Scenario, simulate: Simulate) -> None:
        self._calls = calls
        self._scenario = scenario
        self._simulate = simulate
        self._attempts: dict[int, Attempt] = {}

    def most(self, hint: int) -> list[int]:
        """Return the largest number of calls in each replication; the search begins at `hint`."""
        count = len(self._attempt(max(hint, 1)).holds)
        return [self._most_of(k, max(hint, 1)) for k in range(count)]

    def check(self, most: Sequence[int]) -> tuple[list[int], list[str]]:
        """Check the result of the search. For each given number n, simulate n - 2 and n - 1 calls,
        which should be feasible, and n + 2 and n + 3 calls, which should not be feasible.

        Returns
        -------
        tuple
            The given numbers, or smaller numbers if fewer calls are not feasible, and messages
            about observations that contradict the assumption.
        """
        result, text = list(most), []
        for k, own in enumerate(most):
            for count in range(max(own - 2, 1), own):
                if not self._attempt(count).holds[k]:
                    result[k] = min(result[k], count - 1)
                    text.append(f"{count} calls do not fit, although {own} calls do")
            for count in range(own + 2, min(own + 3, MAX_CALLS) + 1):
                if self._attempt(count).holds[k]:
                    text.append(f"{count} calls fit, although {own + 1} calls do not")
        return result, text

    def goodput_bps(self, most: Sequence[int]) -> list[float]:
        """Return the goodput of all other traffic with the given numbers of calls, per replication.
        [bit/s]
        """
        return [
            self._attempt(count).goodput_bps[k] if count else nan for k, count in enumerate(most)
        ]

    def _most_of(self, replication: int, hint: int) -> int:
        def holds(count: int) -> bool:
            return count < 1 or self._attempt(count).holds[replication]

        low, high, step = hint, hint, 1
        if holds(hint):
            while holds(high := min(low + step, MAX_CALLS)):
                low, step = high, 2 * step
                if high == MAX_CALLS:
                    return MAX_CALLS
        else:
            while not holds(low := max(high - step, 0)):
                high, step = low, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if holds(middle) else (low, middle)
        return low

    def _attempt(self, count: int) -> Attempt:
        if count not in self._attempts:
            scenario = self._calls.of(self._scenario, count)
            self._attempts[count] = judged(self._simulate(scenario), self._calls.group)
        return self._attempts[count]


def judged(result: Result, group: str) -> Attempt:
    """Return whether the calls of a group of stations met their limits, and the goodput of the
    other stations.
    """
    station = result.scenario.typed.station
    of_calls = {
        flow.name: station[flow.station].group == group for flow in cell_flows(result.scenario)
    }
    holds = [True] * result.replications
    goodput_bps = [0.0] * result.replications
    flows = result.sample_tree["flows"]
    for name, is_call in of_calls.items():
        if is_call:
            for quantity, most in (
                ("one_way_delay_p99_s", DELAY_P99_S),
                ("loss_probability", LOSS),
            ):
                for k, value in enumerate(flows[name][quantity]):
                    holds[k] &= value is not None and value <= most
        else:
            for k, value in enumerate(flows[name]["goodput_bps"]):
                goodput_bps[k] += value or 0.0
    return Attempt(holds, goodput_bps)

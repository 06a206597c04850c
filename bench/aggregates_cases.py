"""Cases of `aggregates.py`: cells of 802.11n, ac and ax, and rules in which ns-3 differs from
lasthop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Settings = Mapping[str, object]
Name = Literal["n", "ac", "ax"]

#: lasthop's defaults for the settings that cases/aggregates.toml sets to the values of ns-3.
STANDARD: Settings = {
    "cell.durations": "standard",
    "cell.eifs": "expected",
    "cell.ack_timeout": "eifs",
    "cell.attempts_short": 7,
    "cell.aggregation.attempts": 15,
    "cell.aggregation.bar_after_failure": False,
    "cell.aggregation.reorder_timeout": "100 ms",
}
WITHOUT_BAR: Settings = {"cell.aggregation.bar_after_failure": False}


@dataclass(frozen=True)
class Generation:
    """Generation of 802.11 (n, ac or ax) with its settings. peers/aggregates.cc contains the same
    values.
    """

    name: Name
    settings: Settings
    #: Duration of a run of ns-3, including the warm-up. The next field is the warm-up. [s]
    peer_s: float
    peer_warmup_s: float


GENERATIONS = (
    Generation(
        "n",
        {"cell.phy": "802.11n", "cell.streams": 2, "cell.guard_interval": "0.4 us"},
        13.0,
        3.0,
    ),
    Generation(
        "ac",
        {"cell.phy": "802.11ac", "cell.streams": 1, "cell.guard_interval": "0.4 us"},
        8.5,
        2.5,
    ),
    Generation(
        "ax",
        {"cell.phy": "802.11ax", "cell.streams": 2},
        4.5,
        2.0,
    ),
)


@dataclass(frozen=True)
class Flows:
    """The flows of a case: each station has a download, or an upload, or both."""

    title: str
    stations: int
    kind: Literal["udp", "tcp"]
    directions: tuple[Literal["down", "up"], ...]

    @property
    def text(self) -> str:
        """Return the flows as text for the pages."""
        kind = self.kind.upper()
        both = f"{kind} in both directions"
        flows = both if len(self.directions) == 2 else f"{kind} {self.directions[0]}loads"
        return f"{flows}, {self.stations} station{'s' if self.stations > 1 else ''}"

    @property
    def settings(self) -> Settings:
        """Return the settings of lasthop for these flows."""
        traffic = {"down": "download", "up": "upload"}
        flows = {
            f"station.laptop.{traffic[direction]}"
            if self.kind == "tcp"
            else f"station.laptop.udp_{direction}": (1 if self.kind == "tcp" else "greedy")
            for direction in self.directions
        }
        return {"station.laptop.count": self.stations, **flows}

    @property
    def peer_options(self) -> tuple[str, ...]:
        """Return the options of ns-3 for these flows."""
        directions = (f"--{direction}" for direction in self.directions)
        return (f"--stations={self.stations}", f"--traffic={self.kind}", *directions)


UDP_UP = tuple(Flows(f"UDP up, {n}", n, "udp", ("up",)) for n in (5, 20))
TCP = (
    Flows("TCP down, 5", 5, "tcp", ("down",)),
    Flows("TCP up, 5", 5, "tcp", ("up",)),
    Flows("TCP both ways, 5", 5, "tcp", ("down", "up")),
)
FLOWS = (Flows("UDP down, 1", 1, "udp", ("down",)), *UDP_UP, *TCP)


@dataclass(frozen=True)
class Case:
    """A generation of 802.11 and its flows. In some cases a rule of ns-3 or lasthop is changed."""

    generation: Generation
    flows: Flows
    rule: str = ""
    peer_options: tuple[str, ...] = ()
    changed_settings: Settings = field(default_factory=dict)
    #: Number of runs of ns-3, with different seeds.
    runs: int = 3

    @property
    def name(self) -> str:
        """Name under which the runs of this case are stored."""
        rule = f", {self.rule}" if self.rule else ""
        return f"802.11{self.generation.name}, {self.flows.title}{rule}"

    @property
    def title(self) -> str:
        """Name of the case on the pages."""
        rule = f", {RULE_TITLES[self.rule]}" if self.rule else ""
        return f"802.11{self.generation.name}, {self.flows.text}{rule}"

    @property
    def settings(self) -> Settings:
        """Settings of lasthop's scenario. The duration equals that of the runs of ns-3, because
        Jain's index grows with the duration of a run.
        """
        generation = self.generation
        durations = {
            "duration": f"{generation.peer_s:g} s",
            "warmup": f"{generation.peer_warmup_s:g} s",
        }
        return {**durations, **generation.settings, **self.flows.settings, **self.changed_settings}

    @property
    def argv(self) -> tuple[str, ...]:
        """Return the options of ns-3."""
        phy = f"--phy={self.generation.name}"
        return (phy, *self.flows.peer_options, *self.peer_options)

    @property
    def keys(self) -> Sequence[str]:
        """Names under which ns-3's runs with seeds 1, 2, ... are stored."""
        durations = f"{self.generation.peer_s:g} s, {self.generation.peer_warmup_s:g} s"
        return [f"{' '.join(self.argv)}, {durations}, {seed}" for seed in range(1, self.runs + 1)]


CASES = tuple(
    Case(generation, flows, runs=12 if flows.stations == 20 else 6)
    for generation in GENERATIONS
    for flows in FLOWS
)
SURVIVE, NO_BAR = "MPDUs survive", "no BlockAckReq"
RULE_TITLES = {
    SURVIVE: "ns-3's own receivers",
    NO_BAR: "no BlockAckReq in ns-3 and lasthop",
}
"""Description of each rule of the simulators that a case may change. The pages print it in the
title of the case.
"""
#: Cases with one changed rule. The rule is changed only in ns-3, or in both simulators.
RULES = (
    *(
        Case(generation, flows, SURVIVE, ("--survive",))
        for generation in GENERATIONS
        for flows in (*UDP_UP, TCP[-1])
        if (generation.name, flows.stations) != ("ax", 20)
    ),
    *(
        Case(generation, UDP_UP[-1], NO_BAR, ("--bar=0",), WITHOUT_BAR)
        for generation in GENERATIONS[:2]
    ),
)

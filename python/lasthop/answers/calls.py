"""Calls of a result: delay, loss and verdict of each direction. A call is a station or wired host
with paced datagrams in both directions. ``lasthop tune --for calls`` uses the same limits of delay
and loss.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

from lasthop import _core
from lasthop.answers.estimates import Estimate
from lasthop.scenario.from_json import Table, read_as
from lasthop.scenario.typed import UdpFlow

if TYPE_CHECKING:
    from lasthop.scenario.scenario import Scenario

__all__ = [
    "DELAY_P99_S",
    "FLOW_NAME",
    "LOSS",
    "Call",
    "CallFacts",
    "call_facts",
    "call_of",
    "is_paced",
]

DELAY_P99_S = _core.CALL_DELAY_P99_S
"""Largest 99th percentile of the one-way delay of a good call. ITU-T G.114 recommends at most this
delay from mouth to ear. [s]
"""

LOSS = _core.CALL_LOSS
"""Largest fraction of lost datagrams of a good call. [-]"""

MAX_CALLS = 2
"""Maximum number of calls that are shown one by one. If there are more, only the worst call is
shown.
"""

GOOD, UNCERTAIN, BAD = "good", "uncertain", "bad"
"""Verdicts on calls, from best to worst."""

RANKS = {GOOD: 0, UNCERTAIN: 1, BAD: 2}

FLOW_NAME = r"(?P<owner>.+)/(?:\w+-)?(?P<direction>up|down)/(?P<number>\d+)"
"""Pattern of a flow name, which contains a station or host and a direction: ``phone/udp-up/1``."""


@dataclass(frozen=True)
class Call:
    """One direction of a call.

    Attributes
    ----------
    name : str
        Name of the call, which is the name of its station or host.
    direction : str
        Direction of the packets, ``"up"`` or ``"down"``.
    flows : tuple of str
        Names of the flows in this direction.
    delay_p99_s : Estimate or None
        Largest 99th percentile of the one-way delay of all flows; None if no packet arrived. [s]
    loss : Estimate
        Largest fraction of lost datagrams of all flows. [-]
    verdict : str
        ``"good"`` or ``"bad"``; ``"uncertain"`` if an interval includes a limit.
    waits_at : str
        Queue in which the packets wait longest; empty if it is unknown.
    """

    name: str
    direction: str
    flows: tuple[str, ...]
    delay_p99_s: Estimate | None
    loss: Estimate
    verdict: str
    waits_at: str = ""

    @property
    def label(self) -> str:
        """Name and direction of the call."""
        return f"{self.name} {self.direction}"

    @property
    def badness(self) -> tuple[int, float, float]:
        """Sort key of the calls: the worst call is last."""
        late_s = 0.0 if self.delay_p99_s is None else self.delay_p99_s.mean
        return RANKS[self.verdict], late_s, self.loss.mean

    @property
    def is_good(self) -> bool:
        """Whether the verdict is good."""
        return self.verdict == GOOD

    @property
    def faults(self) -> tuple[str, ...]:
        """Quantities that exceed a limit of good calls: ``"delay"``, ``"loss"``, or both.

        In a bad direction, the whole interval is above the limit. In an uncertain direction, the
        interval includes the limit.
        """
        sign = -1.0 if self.verdict == BAD else 1.0
        limits = (("delay", self.delay_p99_s, DELAY_P99_S), ("loss", self.loss, LOSS))
        return tuple(
            name
            for name, result, limit in limits
            if result is not None and result.mean + sign * (result.ci95 or 0.0) > limit
        )

    def to_dict(self) -> dict[str, Any]:
        """Return this direction of a call as a dictionary, which `call_of` can read."""
        delay_p99 = self.delay_p99_s
        return {
            "name": self.name,
            "direction": self.direction,
            "flows": list(self.flows),
            "delay_p99_s": None if delay_p99 is None else delay_p99.to_dict(),
            "loss": self.loss.to_dict(),
            "verdict": self.verdict,
            "waits_at": self.waits_at,
        }


@dataclass(frozen=True)
class CallFacts:
    """Calls of a result, and the queues in which datagrams wait.

    Attributes
    ----------
    calls : sequence of Call
        Each direction of each call.
    waits : mapping
        For each flow, by name: the queue in which the packets wait longest, and the fraction of the
        mean delay that arises in this queue.
    """

    calls: Sequence[Call] = ()
    waits: Mapping[str, tuple[str, float]] = field(default_factory=dict)


def call_facts(summary: Mapping[str, Any], scenario: "Scenario | None") -> CallFacts:
    """Return the calls of a result, and the queues in which datagrams wait.

    Parameters
    ----------
    summary : mapping
        Summary of the result.
    scenario : Scenario or None
        Scenario of the result. Without a scenario there are no calls, because a summary does not
        contain which flows are paced.
    """
    if scenario is None:
        return CallFacts()
    if not any(is_paced(flow) for flow in scenario.typed.flows):
        return CallFacts()
    return _read(json.loads(_core.explain(scenario.to_json(), json.dumps(dict(summary)))))


def is_paced(flow: object) -> bool:
    """Return whether a flow sends datagrams at a given rate, instead of as fast as the path
    allows.
    """
    return isinstance(flow, UdpFlow) and flow.udp.rate_bps > 0


class _Call(Table):
    """One direction of a call, as the engine writes it in JSON."""

    name: str
    direction: str
    flows: tuple[str, ...]
    delay_p99_s: Annotated[Estimate | None, Estimate.read] = None
    loss: Annotated[Estimate | None, Estimate.read] = None
    verdict: str
    waits_at: str = ""


def call_of(item: Mapping[str, Any]) -> Call:
    """Return one direction of a call from its JSON object.

    Raises
    ------
    KeyError, TypeError, ValueError
        If the object has an unexpected structure.
    """
    call = read_as(_Call, item)
    if call.verdict not in RANKS:
        raise ValueError(f"not a verdict on a call: {call.verdict}")
    loss = call.loss or Estimate(0.0, None)
    delay_p99_s = call.delay_p99_s
    return Call(
        call.name, call.direction, call.flows, delay_p99_s, loss, call.verdict, call.waits_at
    )


class _Part(Table):
    """Share of one queue in the mean delay of a flow."""

    queue: str
    wait_s: float
    share: float


class _Delay(Table):
    """Mean delay of a flow, split by the queues on the path."""

    flow: str
    parts: tuple[_Part, ...] = ()


class _Facts(Table):
    """Calls and delays of a result, as the engine writes them in JSON."""

    calls: tuple[Any, ...] = ()
    delays: tuple[_Delay, ...] = ()


def _read(explained: Mapping[str, Any]) -> CallFacts:
    facts = read_as(_Facts, explained)
    waits = {}
    for delay in facts.delays:
        if delay.parts:
            longest = max(delay.parts, key=lambda part: part.wait_s)
            waits[delay.flow] = longest.queue, longest.share
    return CallFacts([call_of(item) for item in facts.calls], waits)

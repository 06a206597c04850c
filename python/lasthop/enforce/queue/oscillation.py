"""Stability of a shaped queue, computed from the fluid models of paper 004."""

import json
from dataclasses import replace
from typing import Any, NamedTuple

from lasthop.enforce.queue.config import LinkQueue
from lasthop.errors import ScenarioError, UserError
from lasthop.models.errors import ModelError
from lasthop.models.red.fluid import fluid
from lasthop.scenario.queues import Pi, Queue, Red
from lasthop.scenario.scenario import Scenario
from lasthop.stability.errors import NoEquilibriumError, ParameterError
from lasthop.stability.spectrum import roots

OPTIONS = {"dumbbell.flows": "--flows", "dumbbell.rtt": "--rtt", "tcp.congestion": "--congestion"}
"""Command-line option that sets a value of the scenario, by the value's key path. Error messages
name the option."""
WINDOW_PACKETS = 65_535
"""Receive window of the flows, which is large enough to limit no flow. [packets]"""


class Verdict(NamedTuple):
    """Result of a fluid model for a queue."""

    oscillates: bool | None
    """Whether the queue oscillates; None if no fluid model applies."""
    period_s: float | None
    why: str
    """Reason why no model applies, or why the result is uncertain."""

    def as_json(self) -> dict[str, Any]:
        """Return the result as an object for JSON."""
        return {"swings": self.oscillates, "period_s": self.period_s, "why": self.why}


def verdict(wanted: LinkQueue, flows: int, rtt: str, congestion: str) -> Verdict:
    """Compute from a fluid model whether the queue would oscillate with long-lived flows.

    Parameters
    ----------
    wanted : LinkQueue
    flows : int
    rtt : str
        Round-trip time without queueing delay, such as "40 ms".
    congestion : str
        Congestion control of all flows.

    Raises
    ------
    UserError
        For a value that scenarios do not support.
    """
    if wanted.discipline == "vbs":
        # For `vbs`, a scenario with drop-tail is built instead, to find errors in the other values.
        wanted = replace(wanted, queue=Queue(discipline="drop_tail"))
        scenario_of(wanted, flows, rtt, congestion)
        return Verdict(None, None, "no fluid model supports virtual buffer sharing")
    return verdict_of(scenario_of(wanted, flows, rtt, congestion))


def scenario_of(wanted: LinkQueue, flows: int, rtt: str, congestion: str) -> Scenario:
    """Return a dumbbell scenario with this number of flows through the queue.

    Raises
    ------
    UserError
        For a value that scenarios do not support.
    """
    try:
        return Scenario(json.dumps(dumbbell(wanted, flows, rtt, congestion)))
    except ScenarioError as error:
        problem = error.problems[0]
        option = OPTIONS.get(problem.path, problem.path)
        raise UserError(f"{option}: {problem.message}") from None


def verdict_of(scenario: Scenario) -> Verdict:
    """Compute from a fluid model whether the queue of a scenario would oscillate."""
    try:
        result = fluid(scenario.to_dict())
        spectrum = roots(result.case, 2)
    except (ModelError, NoEquilibriumError, ParameterError) as error:
        return Verdict(None, None, str(error).splitlines()[0])
    return Verdict(not spectrum.stable, spectrum.period, "; ".join(result.warnings))


def dumbbell(wanted: LinkQueue, flows: int, rtt: str, congestion: str) -> dict[str, Any]:
    """Return the scenario as a tree of settings, with this number of flows through the queue."""
    return {
        "duration": "60 s",
        "queue": queue_of(wanted),
        "dumbbell": {
            "flows": flows,
            "bottleneck": f"{wanted.rate_bps} bps",
            "rtt": rtt,
        },
        "tcp": {"congestion": congestion, "window": WINDOW_PACKETS},
    }


def queue_of(wanted: LinkQueue) -> dict[str, Any]:
    """Return the settings of the queue in the format of scenario files."""
    queue = wanted.queue
    settings: dict[str, object] = {}
    match queue:
        case Red():
            settings = {
                "min_th": queue.min_th_packets,
                "max_th": queue.max_th_packets,
                "max_p": queue.max_p,
                "weight": queue.weight,
                "gentle": queue.gentle,
                "bytes": queue.counts_bytes,
                "mean_packet": f"{queue.mean_packet_bytes} B",
            }
        case Pi():
            settings = {
                "target": queue.target_packets,
                "a": queue.a,
                "b": queue.b,
                "update": f"{queue.update_s} s",
            }
        case Queue(discipline="drop_tail" | "threshold"):
            return {"threshold": wanted.queue_packets}
    return {"limit": wanted.queue_packets, queue.discipline: settings}


def in_words(result: Verdict, text: str) -> str:
    """Return a line with the result; `text` names the traffic."""
    if result.oscillates is None:
        return f"{text}: it is unknown whether the queue would oscillate: {result.why}"
    what = "the queue would be stable"
    if result.oscillates:
        period = f", with a period of {result.period_s:.2g} s" if result.period_s else ""
        what = f"the queue would oscillate{period}"
    reason = f"; {result.why}" if result.why else ""
    return f"{text}: {what}{reason}"

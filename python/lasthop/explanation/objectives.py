"""Objectives of `explain`: a number per replication to improve, and when the objective is met.

For each objective, the table contains the number and whether less or more is better:

=============  ======================================================================  ======
objective      number per replication                                                  better
=============  ======================================================================  ======
``calls``      number of bad call directions, plus a remainder below 1: the mean over  less
               directions of half of the 99th percentile of the one-way delay in
               seconds, at most 1 s, and of half of ten times the loss, at most 10 %
``delay``      the worst flow's delay in seconds: the 99th percentile of the one-way   less
               delay of datagrams (the 95th of reports over TCP) plus 1 s times their
               loss; without datagrams the 95th percentile of the completion time of
               web pages, chunks and flows with an end, where chunks of adaptive video
               count only without others; without these the 99th percentile of
               the round-trip times of pings, plus 1 s times their loss; without pings
               the 99th percentile of TCP's round-trip time
``video``      the largest fraction of time for which a stream of adaptive video        less
               stalls, plus a hundredth of the largest missing part of a stream's
               highest bitrate
``throughput`` goodput of all flows, in bit/s                                          more
``fairness``   Jain's index of the goodputs of stations of a cell that always demand   more
               more (each direction, if a station has both), else of such flows, also
               of one station if it is the only one and they have one direction; also
               of datagrams at 500 kb/s or more that lose more than 1 %, or get more
               than the mean of the others
=============  ======================================================================  ======

If a target is given, calls, delay, video and throughput are those of the target's flows. Fairness
is then the target's goodput divided by the mean goodput of all stations or flows that always demand
more.
"""

from collections.abc import Callable, Mapping

from lasthop.errors import UserError
from lasthop.explanation.delays import calls, delay
from lasthop.explanation.objective import Objective
from lasthop.explanation.shares import fairness, throughput
from lasthop.explanation.traffic import (
    call_directions,
    is_delay_sensitive,
    is_paced,
    is_video,
    other_than_pings,
    pings_of,
)
from lasthop.explanation.video import video
from lasthop.scenario.scenario import Scenario
from lasthop.scenario.typed import CsmaScenario

__all__ = ["OBJECTIVES", "default_objective", "objective_for"]

OBJECTIVES: Mapping[str, Callable[[Scenario, str | None], Objective]] = {
    "calls": calls,
    "delay": delay,
    "video": video,
    "throughput": throughput,
    "fairness": fairness,
}
"""Functions that create the objectives, by name."""


def objective_for(
    scenario: Scenario, name: str | None = None, target: str | None = None
) -> Objective:
    """Return an objective of a scenario; the default is that of `default_objective`.

    Raises
    ------
    UserError
        If the objective or target does not exist, or does not apply to the scenario.
    """
    if isinstance(scenario.typed, CsmaScenario):
        raise UserError(
            f"{scenario.source}: [csma]: users of a conflict graph cannot be explained; expected a "
            "scenario of cells or links",
            "run `lasthop compare FILE`, which compares users with the optimum",
        )
    if name is None:
        name = default_objective(scenario, target)
    if name not in OBJECTIVES:
        known = ", ".join(OBJECTIVES)
        raise UserError(f'objective="{name}": expected one of {known}')
    return OBJECTIVES[name](scenario, target)


def default_objective(scenario: Scenario, target: str | None = None) -> str:
    """Return the objective of a scenario for which the user does not choose an objective.

    The objective is ``calls`` if the scenario has calls. It is ``video`` with adaptive video, but
    without datagrams at a fixed rate and sensors. It is ``delay`` with datagrams at a fixed rate,
    sensors, web pages, finite flows, chunks or pings, and ``throughput`` otherwise.
    """
    flows = other_than_pings(scenario, target)
    if call_directions(flows):
        return "calls"
    if any(map(is_video, flows)) and not any(map(is_paced, flows)):
        return "video"
    is_short = any(map(is_delay_sensitive, flows)) or bool(pings_of(scenario, target))
    return "delay" if is_short else "throughput"

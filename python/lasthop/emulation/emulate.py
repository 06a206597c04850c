"""One scenario in real time, from namespaces to a result."""

import contextlib
import json
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import Any

from lasthop import _core
from lasthop.caution import cautions
from lasthop.congestion import loaded
from lasthop.emulation.connection import connection
from lasthop.emulation.datagrams import datagrams
from lasthop.emulation.lateness import lateness
from lasthop.emulation.limits import (
    CONGESTION,
    LONGEST_S,
    check,
    check_programs,
    datagrams_per_second,
    unfollowed,
)
from lasthop.emulation.places import Places
from lasthop.emulation.programs import Program, Programs
from lasthop.emulation.reports import reports
from lasthop.emulation.summary import summary
from lasthop.emulation.traffic import Driven, Traffic
from lasthop.emulation.user import user
from lasthop.emulation.users import with_users
from lasthop.emulation.web import room_for, web
from lasthop.models.reading import CsmaScenario, SensorFlow, Tcp, TcpFlow, UdpFlow
from lasthop.result import Answer
from lasthop.run import replaced
from lasthop.scenario import Scenario, ScenarioLike

Progress = Callable[[float, float], object]
"""Function that is called with the time passed and the duration. [s]"""


class Emulation(Answer):
    """Answer of an emulation: one run in real time, without intervals."""

    intervals = False
    exit_code: int | None = None
    """The foreground program's, if there was one."""

    def __repr__(self) -> str:
        return f"Emulation({self.summary['scenario']!r}: {self.summary['duration_s']:g} s)"

    @property
    def warnings(self) -> list[str]:
        """Surprises in the scenario, and settings that had no effect."""
        return [*cautions(self.scenario.typed), *unfollowed(with_users(self.scenario))]

    @property
    def lateness_p99_s(self) -> float | None:
        """By how much packets were handed over too late, 99th percentile. [s]"""
        return self.total("lateness_p99_s")

    @property
    def lateness(self) -> str | None:
        """The same as a line, which says from 2 ms on what this machine could carry in time."""
        late_s = self.lateness_p99_s
        if late_s is None:
            return None
        return lateness(late_s, self.total("at_work_fraction"), self.total("carried_pps"))

    def total(self, quantity: str) -> float | None:
        """A quantity of the run as a whole, if it is known."""
        run = self.summary["totals"][0].get(quantity)
        return None if run is None else float(run["mean"])


def emulate(
    scenario: ScenarioLike,
    *,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    progress: Progress | None = None,
    quick_acks: bool = True,
    foreground: Program | None = None,
    others: Sequence[Program] = (),
    quiet: bool = False,
) -> Emulation:
    """Emulate a scenario once, in real time: the engine's network, the kernel's TCP and UDP.

    The servers have a network namespace and so has each station, with a TUN interface each, and
    so have all sources and all sinks of flows between wired nodes; the namespaces have no names
    and end with this process, however it ends.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace: ``{"cell.ap.cwmin": 15}``.
    progress : callable, optional
        Called about every 100 ms with the time passed and the duration; Ctrl-C ends the run.
    quick_acks : bool
        Whether receivers may acknowledge 16 segments one by one after a gap, as Linux does; the
        simulator's never do.
    foreground : Program, optional
        A program that begins when the warm-up is over, and with which the run ends, whatever the
        scenario's duration is; its exit code is the answer's.
    others : sequence of Program
        Programs that run beside it, or until the end.
    quiet : bool
        Whether what programs print goes to standard error.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If it cannot be emulated, or this process may not make namespaces.
    """
    checked = replaced(scenario, settings)
    if foreground is not None:
        warmup_s = checked.typed.warmup_s
        lasting = {"warmup": f"{warmup_s} s", "duration": f"{LONGEST_S:g} s"}
        checked = replaced(checked, lasting)
    check(checked)
    if foreground is not None or others:
        check_programs(checked)
    started = [*others] if foreground is None else [foreground, *others]
    with contextlib.ExitStack() as stack:
        known = with_users(checked)
        places = Places(known, stack, [program.place for program in started])
        places.acknowledge_at_once()
        carriers = [flow.transport for flow in known.flows]
        laws = [each.congestion for each in carriers if isinstance(each, Tcp)]
        algorithms = CONGESTION | stack.enter_context(loaded(laws))
        flows = make_flows(checked, places, stack, algorithms, quick_acks)
        traffic = Traffic(flows, known.warmup_s, known.duration_s)
        stack.callback(traffic.close)
        programs = Programs(places, foreground, others, stack, quiet=quiet)
        lists = run(checked, places, traffic, programs, progress)
        answer = Emulation(summary(known, flows, lists, traffic.until_s), checked)
        answer.exit_code = programs.exit_code
        return answer


def make_flows(
    scenario: Scenario,
    places: Places,
    stack: contextlib.ExitStack,
    algorithms: Mapping[str, str],
    quick_acks: bool,
) -> list[Driven]:
    """The sockets of every flow; `algorithms` are the kernel's names of congestion controls."""
    known = places.scenario
    sources = [flow for flow in known.tcp_flows if flow.web is not None]
    room = room_for(len(sources)) if sources else 0
    flows: list[Driven] = []
    for index, flow in enumerate(known.flows):
        ends = places.ends(index, flow)
        made: Driven
        if isinstance(flow, UdpFlow):
            made = datagrams(flow, ends, datagrams_per_second(flow, known), known.seed)
        elif isinstance(flow, SensorFlow):
            made = reports(flow, ends, algorithms, known.seed)
        elif not isinstance(flow, TcpFlow):
            raise TypeError(f"flow {flow.name} is no flow of an emulation")
        elif flow.web is not None:
            plan = _core.Transactions(scenario.checked, index)
            made = web(flow, ends, algorithms, plan, room, quick_acks=quick_acks)
        elif isinstance(known, CsmaScenario):
            own = known.csma
            is_one = own.connections == "one"
            rule = None if is_one else _core.MultiConnection(scenario.checked, index)
            every_s = own.connections_interval_s
            made = user(flow, ends, algorithms, rule, every_s, quick_acks=quick_acks)
        else:
            made = connection(flow, ends, algorithms, quick_acks=quick_acks)
        stack.callback(made.close)
        flows.append(made)
    return flows


def run(
    scenario: Scenario,
    places: Places,
    traffic: Traffic,
    programs: Programs,
    progress: Progress | None,
) -> dict[str, Any]:
    """Run medium and traffic side by side; return what was measured of the medium."""
    reading, stopping = os.pipe()

    def medium() -> Any:
        # where the system allows it: packets are late by tens of microseconds then, not by more
        with contextlib.suppress(OSError):
            os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(10))
        descriptors = places.descriptors
        of_programs = places.of_programs()
        return json.loads(_core.emulate(scenario.checked, descriptors, reading, *of_programs))

    def keep_going(now: float) -> bool:
        if progress is not None:
            progress(now, scenario.typed.duration_s)
        return not (lists.done() and lists.exception()) and not programs.is_over()

    warmup_s = scenario.typed.warmup_s
    traffic.at(0.0, programs.start_others)
    traffic.at(warmup_s, programs.start_foreground)
    with ThreadPoolExecutor(1) as pool:
        lists = pool.submit(medium)
        try:
            traffic.run(keep_going)
            if programs.is_over():
                os.write(stopping, b".")  # to the end, and no further
            wait([lists])
        finally:
            os.close(stopping)  # the other end becomes readable, and the medium stops
            wait([lists])
            os.close(reading)
    return dict(lists.result())

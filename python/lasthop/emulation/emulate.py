"""Run one emulation: create the namespaces, run the network and the flows, and return the
result."""

import contextlib
import errno
import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

from lasthop import _core
from lasthop.emulated.emulation import Emulation
from lasthop.emulated.users import with_users
from lasthop.emulation.capture import CaptureFile, capture_file
from lasthop.emulation.connection import connection
from lasthop.emulation.datagrams import Datagrams, datagrams
from lasthop.emulation.greedy import losses
from lasthop.emulation.limits import (
    CONGESTION,
    LONGEST_S,
    datagrams_per_second,
    filling_s,
    initial_rto_s,
)
from lasthop.emulation.pings import pings
from lasthop.emulation.places import Places, Ways
from lasthop.emulation.programs import Program, Programs
from lasthop.emulation.relayed import relayed
from lasthop.emulation.reports import reports
from lasthop.emulation.request import Progress, Request
from lasthop.emulation.summary import summary
from lasthop.emulation.traffic import LOOK_S, Driven, Traffic
from lasthop.emulation.user import user
from lasthop.emulation.web import room_for, web
from lasthop.enforce.congestion import loaded
from lasthop.errors import UserError
from lasthop.linux.descriptors import raise_descriptors
from lasthop.linux.scheduling import preferred, real_time
from lasthop.linux.sock_ops import first_timeouts
from lasthop.linux.tcp import largest_window
from lasthop.scenario.scenario import Scenario, ScenarioLike
from lasthop.scenario.transports import Tcp
from lasthop.scenario.typed import CsmaScenario, PingFlow, SensorFlow, TcpFlow, UdpFlow
from lasthop.scenario.typed import Scenario as Typed
from lasthop.simulation.simulate import replaced
from lasthop.uml.boot import MAX_PROCESSOR_S
from lasthop.uml.clock import is_simulated

Watch = Callable[[Places, Sequence[Driven]], contextlib.AbstractContextManager[object]]
"""Function that is called before a run. Its arguments are the hosts (`Places`) and the flows. It
returns a context manager, which is active during the run."""


BY_DEADLINE = 124
"""Exit code of a program that was ended at the deadline. The program timeout(1) uses the same exit
code."""


def unwatched(_places: Places, _flows: Sequence[Driven]) -> contextlib.AbstractContextManager[None]:
    """Return a context manager without effect. This function is the default value of the parameter
    `watch` of `emulate`."""
    return contextlib.nullcontext()


def emulate(
    scenario: ScenarioLike,
    *,
    settings: Mapping[str, object] | Sequence[tuple[str, object]] = (),
    progress: Progress | None = None,
    quick_acks: bool = True,
    foreground: Program | None = None,
    others: Sequence[Program] = (),
    quiet: bool = False,
    ways: Ways | None = None,
    uplink: str | None = None,
    pcapng: str | os.PathLike[str] | None = None,
    sysctl: Mapping[str, str] | None = None,
    relays: bool = False,
    follow: Collection[str] = (),
    gro: bool = False,
    watch: Watch = unwatched,
    virtual: bool = False,
    deadline_s: float = LONGEST_S,
    max_time_s: float = MAX_PROCESSOR_S,
) -> Emulation:
    """Emulate a scenario once, with the engine's network and the kernel's TCP and UDP.

    By default the emulation runs in real time. With `virtual`, it runs in simulated time in a
    user-mode Linux, without root and with the same result in each run.

    The servers share a network namespace, and each station has its own. All sources of flows
    between wired nodes share a namespace, and all sinks share another namespace. Each namespace has
    a TUN interface. The namespaces have no names and end with this process.

    Parameters
    ----------
    scenario : str, path, mapping or Scenario
        See `Scenario`.
    settings : mapping or pairs
        Values to replace, such as ``{"cell.ap.cwmin": 15}``.
    progress : callable, optional
        Called about every 100 ms with the time passed and the duration; Ctrl-C ends the run.
    quick_acks : bool
        Whether receivers may acknowledge 16 segments one by one after a gap, as Linux does.
        Receivers of the simulator do not acknowledge in this way.
    foreground : Program, optional
        Program that begins when the warm-up is over. The run ends when the program ends, whatever
        the scenario's duration. The exit code of the program becomes that of the emulation.
    others : sequence of Program
        Programs that run in addition to `foreground`, until the end of the run.
    quiet : bool
        Whether the output of programs goes to standard error.
    ways : mapping, optional
        Flows that only define the path of programs and have no traffic. The mapping has the names
        of source and sink by the name of the flow.
    uplink : str, optional
        Interface of the machine through which programs reach addresses outside the scenario. By
        default no packet leaves the scenario.
    pcapng : path, optional
        File for the frames of a cell on the air, with the packets that Linux sent, for Wireshark;
        at most ``record.frames``, or a million.
    sysctl : mapping, optional
        Network settings of the kernel at each host, such as ``{"net.ipv4.tcp_sack": "0"}``.
    relays : bool
        Whether each user of a conflict graph sends one stream through a pair of relays
        (`lasthop.relay`) instead of over connections of its own.
    follow : collection of str
        Settings of the scenario's table ``tcp`` to apply to the kernel's TCP, which otherwise uses
        its own values. ``"initial_rto"``, which needs a BPF program, and ``"initial_window"`` are
        accepted.
    gro : bool
        Whether hosts get segments of a connection that arrive together, such as in a PPDU, as one
        packet. Network cards with generic receive offload (GRO) deliver segments in this way. Linux
        then acknowledges the packet once; receivers of the simulator acknowledge every second
        segment.
    watch : callable, optional
        Function that is called with the hosts (`Places`) and the flows before anything is sent. It
        returns a context manager that is left after the run, while sockets and hosts still exist.
        The context may read values from the kernel, or change settings that a scenario does not
        have. `watch` is not supported in simulated time.
    virtual : bool
        Whether the emulation runs in simulated time. The seed of the scenario is then also the seed
        of the kernel's random numbers.
    deadline_s : float
        Time since the start of the emulation at which `foreground` is ended; its exit code is then
        124. [s]
    max_time_s : float
        Limit of the CPU time of an emulation in simulated time. The run ends early if its
        estimated total exceeds the limit. [s]

    Returns
    -------
    Emulation
        Data frames in the form of a simulation's, without intervals; `lateness` reports the load
        that the machine could carry in time.

    Raises
    ------
    ScenarioError
        If the scenario is refused.
    UserError
        If the scenario cannot be emulated, this process may not make namespaces, the kernel has no
        such setting, or the interface is not connected to the outside. In simulated time, if there
        is no suitable user-mode Linux, or the run would take more than `max_time_s`.
    KeyboardInterrupt
        At Ctrl-C; no result is kept.

    Examples
    --------
    Real time needs Linux and root rights. Simulated time needs Linux and Debian's package
    ``user-mode-linux``.

    >>> import lasthop as lh
    >>> answer = lh.emulate("hotspot.toml", settings={"duration": "20 s"})  # doctest: +SKIP
    >>> answer = lh.emulate("hotspot.toml", virtual=True)  # doctest: +SKIP
    >>> answer.stations["goodput_bps"]  # doctest: +SKIP
    """
    request = Request(
        replaced(scenario, settings),
        foreground=foreground,
        others=tuple(others),
        quiet=quiet,
        ways=dict(ways or {}),
        uplink=uplink,
        pcapng=None if pcapng is None else Path(pcapng),
        sysctl=dict(sysctl or {}),
        relays=relays,
        follow=tuple(follow),
        gro=gro,
        quick_acks=quick_acks,
        deadline_s=deadline_s,
    ).checked()
    if virtual:
        if watch is not unwatched:
            raise UserError("watch: not supported in simulated time")
        from lasthop.emulation.virtual import emulate_in_simulated_time

        return emulate_in_simulated_time(request, progress, max_time_s)
    return carry_out(request, progress, watch)


def carry_out(
    request: Request, progress: Progress | None = None, watch: Watch = unwatched
) -> Emulation:
    """Emulate a scenario with the kernel on which this process runs; see `emulate`."""
    limit = raise_descriptors()
    try:
        return _carried_out(request, progress, watch)
    except OSError as error:
        if error.errno != errno.EMFILE:
            raise
        raise UserError(
            f"{request.scenario.source}: the emulation needs more than {limit} open files",
            "raise the limit of open files: ulimit -n",
        ) from None


def _carried_out(request: Request, progress: Progress | None, watch: Watch) -> Emulation:
    checked, started = request.scenario, request.programs
    with contextlib.ExitStack() as stack:
        known = with_users(checked)
        names = [program.place for program in started]
        places = Places(
            known, stack, names, ways=request.ways, uplink=request.uplink, sysctl=request.sysctl
        )
        places.follow(initial_window="initial_window" in request.follow)
        carriers = [flow.transport for flow in known.flows]
        named = [each.congestion for each in carriers if isinstance(each, Tcp)]
        algorithms = CONGESTION | stack.enter_context(loaded(named))
        if "initial_rto" in request.follow:
            stack.enter_context(first_timeouts(initial_rto_s(checked)))
        algorithm = algorithms.get(algorithm_of_programs(checked, places))
        is_preferred = places.prefer(algorithm)
        flows = make_flows(
            checked,
            places,
            stack,
            algorithms,
            quick_acks=request.quick_acks,
            relays=request.relays,
        )
        traffic = Traffic(flows, known.warmup_s, known.duration_s)
        stack.callback(traffic.close)
        programs = Programs(places, request.foreground, request.others, stack, quiet=request.quiet)
        capture = stack.enter_context(capture_file(request.pcapng))
        with watch(places, flows):
            lists = run(checked, places, traffic, programs, progress, capture, gro=request.gro)
        failures = programs.failures()
        captured = capture.ended(lists.pop("capture", None))
        lists = without(lists, places.ways)
        counts = {each.flow.name: each.counts for each in flows if isinstance(each, Datagrams)}
        lost = losses(known, lists, counts, programs_run=bool(started or request.ways))
        answer = Emulation(
            summary(known, flows, lists, traffic.until_s, traffic.processor_wait(), lost), checked
        )
        answer.with_excess = {name: None for name, each in lost.items() if each is None}
        answer.exit_code = programs.exit_code
        if request.foreground is not None and programs.exit_code is None:
            answer.exit_code, answer.is_cut = BY_DEADLINE, True
        answer.failed_programs = tuple(failures)
        answer.followed = request.follow
        answer.refused_congestion = None if is_preferred else algorithm
        answer.short_window_packets = short_window_packets(known)
        answer.captured = captured
        return answer


def short_window_packets(scenario: Typed) -> int | None:
    """Return the largest receive window that the kernel permits, if it is smaller than that of a
    flow; otherwise None. [packets]
    """
    for flow in scenario.tcp_flows:
        permitted = largest_window(flow.tcp.window_packets * flow.tcp.mss_bytes)
        if permitted < flow.tcp.window_packets * flow.tcp.mss_bytes:
            return permitted // flow.tcp.mss_bytes
    return None


def algorithm_of_programs(scenario: Scenario, places: Places) -> str:
    """Return the default congestion control for the sockets of programs.

    If all flows of the scenario have the same congestion control, the result is this congestion
    control. Otherwise, the result is ``""``, which means the machine's default. Flows that only
    define the path of programs are considered only if ``tcp.congestion`` is set.
    """
    is_set = any(path == "tcp.congestion" for path, _ in scenario.checked.settings)
    results = {
        flow.tcp.congestion
        for index, flow in enumerate(places.scenario.flows)
        if isinstance(flow, TcpFlow) and (is_set or not places.is_way(index))
    }
    return results.pop() if len(results) == 1 else ""


def make_flows(
    scenario: Scenario,
    places: Places,
    stack: contextlib.ExitStack,
    algorithms: Mapping[str, str],
    *,
    quick_acks: bool,
    relays: bool,
) -> list[Driven]:
    """Create the sockets of every flow that has traffic in the scenario, and return these flows.

    `algorithms` maps names of congestion controls in scenarios to those of the kernel.
    """
    known = places.scenario
    sources = [flow for flow in known.tcp_flows if flow.web is not None]
    room = room_for(len(sources)) if sources else 0
    flows: list[Driven] = []
    for index, flow in enumerate(known.flows):
        if places.is_way(index):
            continue
        ends = places.ends(index, flow)
        made: Driven
        if isinstance(flow, UdpFlow):
            per_second = datagrams_per_second(flow, known)
            filling = filling_s(flow, known)
            made = datagrams(flow, ends, per_second, known.seed, filling)
        elif isinstance(flow, SensorFlow):
            made = reports(flow, ends, algorithms, known.seed)
        elif isinstance(flow, PingFlow):
            made = pings(flow, ends, known.seed)
        elif not isinstance(flow, TcpFlow):
            raise TypeError(f"flow {flow.name} cannot be emulated")
        elif flow.web is not None:
            plan = _core.Transactions(scenario.checked, index)
            made = web(flow, ends, algorithms, plan, room, quick_acks=quick_acks)
        elif isinstance(known, CsmaScenario) and relays:
            made = relayed(flow, ends, algorithms, known.csma, index)
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


def without(lists: Mapping[str, Any], ways: Ways) -> dict[str, Any]:
    """Return the measured lists of a result without the rows of flows that only define the path of
    programs."""
    return {
        name: [item for item in items if item.get("name") not in ways]
        if name in ("flows", "classes")
        else items
        for name, items in lists.items()
    }


def run(
    scenario: Scenario,
    places: Places,
    traffic: Traffic,
    programs: Programs,
    progress: Progress | None,
    capture: CaptureFile,
    *,
    gro: bool,
) -> dict[str, Any]:
    """Run the engine's network and the traffic simultaneously. Return the network's
    measurements."""
    reading, stopping = os.pipe()
    warmup_s = scenario.typed.warmup_s

    def medium() -> Any:
        descriptors = places.descriptors
        run = _core.emulate(
            scenario.checked,
            descriptors,
            reading,
            *places.of_programs(),
            places.nodes_at_uplink(),
            capture.descriptor,
            gro,
            is_simulated(),
        )
        return json.loads(run)

    def start_foreground() -> None:
        now_s = traffic.now_s()
        if programs.is_ready() or not programs.is_patient(now_s - warmup_s):
            programs.start_foreground()
        else:
            traffic.at(now_s + LOOK_S / 4, start_foreground)

    def keep_going(now: float) -> bool:
        if progress is not None:
            progress(now, scenario.typed.duration_s)
        return not (lists.done() and lists.exception()) and not programs.is_over()

    traffic.at(0.0, programs.start_others)
    traffic.at(warmup_s, start_foreground)
    with ThreadPoolExecutor(1) as pool:
        # The pool's thread starts with the task `real_time`, before the network is submitted to the
        # thread. If Ctrl-C interrupts the start of the thread, the network does not run yet. With
        # real-time priority, the lateness of packets is only tens of microseconds.
        pool.submit(real_time)
        try:
            lists = pool.submit(medium)
            with preferred():
                traffic.run(keep_going)
            if programs.is_over():
                os.write(stopping, b".")  # This makes the network stop at its current time.
            wait([lists])
        finally:
            # If the network still runs, it detects that this end of the pipe is closed, and stops.
            os.close(stopping)
            pool.shutdown()
            os.close(reading)
    return dict(lists.result())

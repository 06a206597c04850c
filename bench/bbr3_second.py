"""A second, independent implementation of BBR version 3, which reads traces of the first.

It was written from the Internet draft draft-ietf-ccwg-bbr only, without sight of the engine.
`SecondBbr` is the congestion control; it does not know traces. The functions after it read traces
(`bench/README.md` has their format), replay their events, and compare the results with those that
the traces record.

Section numbers refer to the draft, counted from its headings ("Introduction" is section 1,
"Detailed Algorithm" is section 5). Names of methods follow the functions of the draft.

Usage: python bbr3_second.py [--set READING=VALUE]... TRACE...
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from bbr3_model import Machine
from bbr3_readings import AMBIGUOUS, Constants, Packet, Readings, State

NANOSECONDS_PER_SECOND = 1_000_000_000
BITS_PER_BYTE = 8


class SecondBbr(Machine):
    """BBR version 3 for one connection, with the sampler of delivery rates that it needs.

    The transport calls `on_packet_sent`, `mark_connection_app_limited`, `on_ack`,
    `on_enter_rto`, `on_enter_fast_recovery` and `on_exit_recovery`. It reads
    `pacing_rate_bytes_per_s`, `cwnd_bytes` and `send_quantum_bytes`.
    """

    def __init__(
        self,
        smss_bytes: int,
        initial_cwnd_bytes: int,
        now_ns: int,
        draw_uniform: Callable[[], float],
        constants: Constants | None = None,
        readings: Readings | None = None,
        srtt_ns: int | None = None,
        has_selective_acks: bool = True,
    ) -> None:
        """Initialize the connection and BBR (OnInit(), section 5.2.1)."""
        super().__init__(
            smss_bytes,
            initial_cwnd_bytes,
            now_ns,
            draw_uniform,
            constants,
            readings,
            srtt_ns,
            has_selective_acks,
        )
        self.reset_congestion_signals()
        self.reset_short_term_model()
        self.init_round_counting()
        self.reset_full_bw()
        self.init_pacing_rate()
        self.enter_startup()
        self.set_send_quantum()

    def on_packet_sent(
        self, packet_id: int, size_bytes: int, now_ns: int, send_time_ns: int | None = None
    ) -> None:
        """Handle a transmission (OnTransmit(), 5.2.2, then OnPacketSent(), 4.1.2.2)."""
        self.now_ns = now_ns
        self.handle_restart_from_idle()
        departure_ns = now_ns if send_time_ns is None else send_time_ns
        if self.inflight_bytes == 0:
            self.first_send_time_ns = departure_ns
            self.delivered_time_ns = departure_ns
        self.inflight_bytes += size_bytes
        self.packets[packet_id] = Packet(
            packet_id=packet_id,
            size_bytes=size_bytes,
            send_time_ns=departure_ns,
            delivered_bytes=self.delivered_bytes,
            lost_bytes=self.lost_bytes,
            delivered_time_ns=self.delivered_time_ns,
            first_send_time_ns=self.first_send_time_ns,
            is_app_limited=self.app_limited_bytes != 0,
            tx_in_flight_bytes=self.inflight_bytes,
        )
        self.note_cwnd_usage()

    def on_ack(
        self,
        now_ns: int,
        delivered_ids: Sequence[int],
        lost_ids: Sequence[int],
        rtt_ns: int | None,
        is_in_recovery: bool,
    ) -> None:
        """Handle an ACK with its losses first, then its deliveries, then UpdateOnACK() (5.2.3)."""
        self.now_ns = now_ns
        self.init_rate_sample()
        self.mark_lost(lost_ids)
        self.is_in_loss_recovery = is_in_recovery
        self.rs.rtt_ns = rtt_ns
        if self.readings.transport_min_rtt == "before":
            self.update_transport_rtt(rtt_ns)
        for packet_id in delivered_ids:
            packet = self.packets.pop(packet_id, None)
            if packet is not None:
                self.update_rate_sample(packet)
        self.update_on_ack()
        if self.readings.transport_min_rtt == "after":
            self.update_transport_rtt(rtt_ns)
        self.note_cwnd_usage()

    def on_losses(self, now_ns: int, lost_ids: Sequence[int]) -> None:
        """Handle losses found outside an ACK and a timeout, by a timer (section 5.2.4)."""
        self.now_ns = now_ns
        self.init_rate_sample()
        self.mark_lost(lost_ids)

    def forget_transmission(self, packet_id: int) -> None:
        """Take a transmission out of flight that will be neither delivered nor lost."""
        packet = self.packets.pop(packet_id)
        if packet.is_in_flight:
            self.inflight_bytes -= packet.size_bytes

    def on_enter_rto(self, now_ns: int, lost_ids: Sequence[int]) -> None:
        """Handle a retransmission timeout (OnEnterRTO(), section 5.6.4.4)."""
        self.now_ns = now_ns
        self.init_rate_sample()
        if self.readings.timeout_order == "losses_first":
            self.mark_lost(lost_ids)
        self.save_cwnd()
        self.save_state_upon_loss()
        self.is_in_loss_recovery = True
        if self.readings.timeout_order == "save_first":
            self.mark_lost(lost_ids)
        self.cwnd_bytes = self.inflight_bytes + self.smss_bytes

    def on_enter_fast_recovery(self, now_ns: int) -> None:
        """Handle the entry to fast recovery (OnEnterFastRecovery(), section 5.6.4.4)."""
        self.now_ns = now_ns
        self.save_cwnd()
        self.save_state_upon_loss()
        self.is_in_loss_recovery = True

    def on_exit_recovery(self, now_ns: int, is_spurious: bool) -> None:
        """Handle the end of a loss recovery, repaired or undone (section 5.6.4.4)."""
        self.now_ns = now_ns
        self.is_in_loss_recovery = False
        if is_spurious:
            self.handle_spurious_loss_detection()
        else:
            self.restore_cwnd()

    def mark_lost(self, lost_ids: Sequence[int]) -> None:
        """Count packets as lost, one by one, and call HandleLostPacket() (section 5.2.4)."""
        if lost_ids:
            self.acks_with_loss_in_round += 1
        for packet_id in lost_ids:
            packet = self.packets[packet_id]
            if packet.is_in_flight:
                packet.is_in_flight = False
                self.inflight_bytes -= packet.size_bytes
            self.lost_bytes += packet.size_bytes
            self.rs.newly_lost_bytes += packet.size_bytes
            self.lost_ids_in_round.add(packet_id)
            self.handle_lost_packet(packet)

    def update_transport_rtt(self, rtt_ns: int | None) -> None:
        """Keep C.min_rtt and C.srtt; the first sample sets the initial pacing rate (5.6.2)."""
        if rtt_ns is None:
            return
        self.transport_min_rtt_ns = min(self.transport_min_rtt_ns, rtt_ns)
        if self.srtt_ns is None and rtt_ns > 0:
            self.srtt_ns = rtt_ns
            if self.readings.initial_pacing == "first_rtt":
                self.init_pacing_rate()

    def update_on_ack(self) -> None:
        """UpdateOnACK(), section 5.2.3."""
        self.generate_rate_sample()
        self.update_model_and_state()
        self.update_control_parameters()

    def update_model_and_state(self) -> None:
        """UpdateModelAndState(), section 5.2.3."""
        self.update_latest_delivery_signals()
        self.update_congestion_signals()
        self.update_ack_aggregation()
        self.check_full_bw_reached()
        self.check_startup_done()
        self.check_drain_done()
        self.update_probe_bw_cycle_phase()
        self.update_min_rtt()
        self.check_probe_rtt()
        self.advance_latest_delivery_signals()
        self.bound_bw_for_model()

    def update_control_parameters(self) -> None:
        """UpdateControlParameters(), section 5.2.3."""
        self.set_pacing_rate()
        self.set_send_quantum()
        self.set_cwnd()

    def handle_inflight_too_high(self) -> None:
        """HandleInflightTooHigh(), section 5.5.10.2."""
        self.prev_probe_too_high = True
        self.is_bw_probe_sample = False
        if not self.rs.is_app_limited or self.readings.too_high_limited == "update":
            self.inflight_longterm_bytes = max(
                self.rs.tx_in_flight_bytes, self.target_inflight() * self.constants.beta
            )
        if self.state == State.PROBE_BW_UP:
            self.undo_state = State.PROBE_BW_UP
            self.start_probe_bw_down()

    def handle_lost_packet(self, packet: Packet) -> None:
        """HandleLostPacket(), section 5.5.10.2."""
        self.note_loss()
        if not self.is_bw_probe_sample:
            return
        self.rs.tx_in_flight_bytes = packet.tx_in_flight_bytes
        self.rs.lost_bytes = self.lost_bytes - packet.lost_bytes
        self.rs.is_app_limited = packet.is_app_limited
        if self.is_inflight_too_high():
            self.rs.tx_in_flight_bytes = self.inflight_at_loss(packet)
            self.handle_inflight_too_high()

    def handle_spurious_loss_detection(self) -> None:
        """HandleSpuriousLossDetection(), section 5.5.11.2."""
        self.restore_cwnd()
        self.is_loss_in_round = False
        self.reset_full_bw()
        self.bw_shortterm_bytes_per_s = max(
            self.bw_shortterm_bytes_per_s, self.undo_bw_shortterm_bytes_per_s
        )
        self.inflight_shortterm_bytes = max(
            self.inflight_shortterm_bytes, self.undo_inflight_shortterm_bytes
        )
        self.inflight_longterm_bytes = max(
            self.inflight_longterm_bytes, self.undo_inflight_longterm_bytes
        )
        if self.undo_state == State.STARTUP and self.state != State.STARTUP:
            self.full_bw_reached = False
            if self.state != State.PROBE_RTT:
                self.enter_startup()
        elif self.undo_state == State.PROBE_BW_UP and self.state not in (
            State.PROBE_BW_UP,
            State.PROBE_RTT,
        ):
            self.start_probe_bw_refill()
        self.undo_state = None


# The replayer of traces.

COMPARED = (
    "pacing_rate_bps",
    "cwnd_bytes",
    "max_bw_bps",
    "bw_bps",
    "min_rtt_ns",
    "inflight_longterm_bytes",
    "inflight_shortterm_bytes",
    "extra_acked_bytes",
)
TOLERANCE = 0.02
LONGEST_LIST = 10


def finite_or_none(value: float) -> float | None:
    """Give null for infinity, as the traces do."""
    return None if math.isinf(value) else value


def snapshot(bbr: SecondBbr) -> dict[str, Any]:
    """Give the quantities that a trace records under `then`."""
    return {
        "state": bbr.state.value,
        "pacing_rate_bps": bbr.pacing_rate_bytes_per_s * BITS_PER_BYTE,
        "cwnd_bytes": bbr.cwnd_bytes,
        "max_bw_bps": bbr.max_bw_bytes_per_s * BITS_PER_BYTE,
        "bw_bps": bbr.bw_bytes_per_s * BITS_PER_BYTE,
        "min_rtt_ns": finite_or_none(bbr.min_rtt_ns),
        "inflight_longterm_bytes": finite_or_none(bbr.inflight_longterm_bytes),
        "inflight_shortterm_bytes": finite_or_none(bbr.inflight_shortterm_bytes),
        "extra_acked_bytes": bbr.extra_acked_bytes,
        "round_count": bbr.round_count,
    }


def is_close(own: Any, recorded: Any, tolerance: float = TOLERANCE) -> bool:
    """Say whether two values agree within the tolerance; null agrees with null alone."""
    if isinstance(own, (int, float)) and isinstance(recorded, (int, float)):
        return abs(own - recorded) <= tolerance * max(abs(own), abs(recorded))
    return bool(own == recorded)


def with_next(
    items: Iterable[tuple[int, dict[str, Any]]],
) -> Iterator[tuple[tuple[int, dict[str, Any]], tuple[int, dict[str, Any]] | None]]:
    """Give every item together with the one that follows."""
    previous: tuple[int, dict[str, Any]] | None = None
    for item in items:
        if previous is not None:
            yield previous, item
        previous = item
    if previous is not None:
        yield previous, None


@dataclass
class Difference:
    """A place where the state or the pacing rate begins to differ."""

    at_ns: int
    line: int
    kinds: list[str]
    own: dict[str, Any]
    recorded: dict[str, Any]


@dataclass
class Report:
    """The result of the comparison of one trace."""

    acks: int = 0
    timeouts: int = 0
    agreeing: dict[str, int] = field(default_factory=dict)
    differences: list[Difference] = field(default_factory=list)
    begins: int = 0
    exact_begins: dict[str, tuple[int, int]] = field(default_factory=dict)
    missing_draws: int = 0
    unused_draws: int = 0
    newest_mismatches: int = 0


def read_constants(recorded: dict[str, Any], smss_bytes: int = 1460) -> tuple[Constants, list[str]]:
    """Take the constants of a trace by the names of the draft; return those not understood."""
    constants = Constants()
    fields = {f.name: f.name for f in dataclasses.fields(Constants)}
    by_plain_name = {name.replace("_", ""): name for name in fields}
    for suffix in ("_ns", "_bytes", "_s", "_packets", "_cycles", "_rounds"):
        for name in fields:
            if name.endswith(suffix):
                by_plain_name.setdefault(name.removesuffix(suffix).replace("_", ""), name)
    by_plain_name["startupfulllosscnt"] = "startup_full_loss_count"
    unknown: list[str] = []
    for key, value in recorded.items():
        plain = key.removeprefix("BBR.").removeprefix("BBR").removeprefix("C.")
        field_name = by_plain_name.get(plain.replace("_", "").lower())
        if field_name is None or isinstance(value, bool) or not isinstance(value, (int, float)):
            unknown.append(f"{key}={value}")
            continue
        if field_name.endswith("_ns") and value < 1000:
            value = round(value * NANOSECONDS_PER_SECOND)
        if field_name == "min_pipe_cwnd_packets" and value > 100:
            value = round(value / smss_bytes)
        setattr(constants, field_name, value)
    return constants, unknown


class Draws:
    """Gives the recorded uniform numbers of one event in their order."""

    def __init__(self) -> None:
        """Start without numbers."""
        self.waiting: deque[float] = deque()
        self.missing = 0

    def __call__(self) -> float:
        """Give the next number, or one half if the trace has no more."""
        if self.waiting:
            return self.waiting.popleft()
        self.missing += 1
        return 0.5


def replay(
    lines: Iterable[str],
    readings: Readings,
    note: Callable[[str], None] = lambda _: None,
    watch: Callable[[dict[str, Any], SecondBbr], None] | None = None,
) -> Report:
    """Replay a trace and compare; `then` is read only after the own values are computed."""
    report = Report(agreeing=dict.fromkeys(("state", *COMPARED, "round_count"), 0))
    draws = Draws()
    bbr: SecondBbr | None = None
    differed: set[str] = set()
    last_of_segments: int | None = None
    events = ((n, json.loads(line)) for n, line in enumerate(lines, 1) if line.strip())
    for (number, event), following in with_next(events):
        kind = event["event"]
        at_ns = event["at_ns"]
        if kind == "start":
            constants, unknown = read_constants(event.get("constants", {}), event["mss_bytes"])
            if unknown:
                note("constants not understood: " + ", ".join(unknown))
            bbr = SecondBbr(
                event["mss_bytes"],
                event["initial_window_bytes"],
                at_ns,
                draws,
                constants,
                readings,
                event.get("srtt_ns"),
            )
            continue
        if bbr is None:
            raise ValueError("The trace does not begin with the event 'start'.")
        report.unused_draws += len(draws.waiting)
        draws.waiting = deque(event.get("random", []))
        if kind == "sent":
            if event.get("replaces_last_of_segment") and last_of_segments is not None:
                bbr.forget_transmission(last_of_segments)
            if not event["is_retransmission"] or event.get("replaces_last_of_segment"):
                last_of_segments = event["id"]
            bbr.on_packet_sent(event["id"], event["bytes"], at_ns)
        elif kind == "application_limited":
            bbr.now_ns = at_ns
            bbr.mark_connection_app_limited()
        elif kind == "ack":
            bbr.on_ack(
                at_ns,
                event["delivered"],
                event["lost"],
                event["rtt_ns"],
                event["is_in_recovery"],
            )
            newest = bbr.rs.last_acked_packet_id
            if bbr.rs.has_data and event.get("round_trip_of", newest) != newest:
                report.newest_mismatches += 1
        elif kind == "timeout":
            bbr.on_enter_rto(at_ns, event["lost"])
        elif kind == "recovery":
            if not event["is_entered"]:
                bbr.on_exit_recovery(at_ns, event.get("is_spurious", False))
            elif following is None or following[1]["event"] != "timeout":
                bbr.on_enter_fast_recovery(at_ns)
        elif kind == "lost":
            bbr.on_losses(at_ns, event["lost"])
        else:
            note(f"line {number}: unknown event {kind}")
        if watch is not None:
            watch(event, bbr)
        if "then" not in event:
            continue
        own = snapshot(bbr)
        recorded = event["then"]
        if kind == "timeout":
            report.timeouts += 1
        else:
            report.acks += 1
        differing: set[str] = set()
        for name in report.agreeing:
            if name not in report.exact_begins and not is_close(own[name], recorded[name], 1e-9):
                report.exact_begins[name] = (at_ns, number)
            if name in ("state", "round_count"):
                is_same = own[name] == recorded[name]
            else:
                is_same = is_close(own[name], recorded[name])
            if not is_same:
                differing.add(name)
            elif kind != "timeout":
                report.agreeing[name] += 1
        begun = sorted((differing - differed) & {"state", "pacing_rate_bps"})
        differed = differing
        if begun:
            report.begins += 1
            if len(report.differences) < LONGEST_LIST:
                report.differences.append(Difference(at_ns, number, begun, own, recorded))
    report.unused_draws += len(draws.waiting)
    report.missing_draws = draws.missing
    return report


def format_values(values: dict[str, Any]) -> str:
    """Write the values of a snapshot on one line."""
    parts: list[str] = []
    for name in ("state", *COMPARED, "round_count"):
        value = values.get(name)
        text = f"{value:.0f}" if isinstance(value, float) else str(value)
        parts.append(f"{name}={text}")
    return " ".join(parts)


def print_report(name: str, report: Report) -> None:
    """Print the result of one trace."""
    print(f"{name}: {report.acks} ACKs, {report.timeouts} timeouts")
    for quantity, count in report.agreeing.items():
        share = 100 * count / report.acks if report.acks else 100.0
        begin = ""
        if quantity in report.exact_begins:
            at_ns, line = report.exact_begins[quantity]
            begin = f"  not exact from {at_ns / NANOSECONDS_PER_SECOND:.6f} s (line {line})"
        print(f"  {quantity:26} {share:7.3f} %{begin}")
    if report.missing_draws or report.unused_draws or report.newest_mismatches:
        print(
            f"  draws missing {report.missing_draws}, draws unused {report.unused_draws},"
            f" other newest packet {report.newest_mismatches}"
        )
    print(f"  state or pacing rate begins to differ {report.begins} times")
    for difference in report.differences:
        seconds = difference.at_ns / NANOSECONDS_PER_SECOND
        print(f"  at {seconds:.9f} s (line {difference.line}): {', '.join(difference.kinds)}")
        print(f"    own   {format_values(difference.own)}")
        print(f"    trace {format_values(difference.recorded)}")


def main(arguments: Sequence[str]) -> int:
    """Replay the traces named on the command line and print the comparison."""
    parser = argparse.ArgumentParser(description="Replay traces of a BBR v3 sender and compare.")
    parser.add_argument("--set", action="append", default=[], metavar="READING=VALUE")
    parser.add_argument("--ambiguous", action="store_true", help="print the list AMBIGUOUS")
    parser.add_argument("traces", nargs="*")
    options = parser.parse_args(arguments)
    if options.ambiguous:
        for item in AMBIGUOUS:
            print(f"{item.section}\n  readings: {item.readings}\n  chosen: {item.chosen}")
            if item.switch:
                print(f"  switch: {item.switch}")
    readings = Readings()
    for assignment in options.set:
        name, _, value = assignment.partition("=")
        if not hasattr(readings, name):
            parser.error(f"There is no reading {name}.")
        setattr(readings, name, value)
    for path in options.traces:
        with open(path, encoding="utf-8") as stream:
            report = replay(stream, readings, print)
        print_report(path, report)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

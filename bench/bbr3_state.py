"""State, rate samples and control parameters (sections 4.1 and 5.6 of the draft).

Part of the independent implementation of BBR v3 in `bbr3_second.py`.
"""

import math
from collections.abc import Callable

from bbr3_readings import (
    NANOSECONDS_PER_SECOND,
    AckPhase,
    Constants,
    Packet,
    RateSample,
    Readings,
    State,
    make_max_filter,
)


class BbrState:
    """The variables of a connection and of BBR v3."""

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
        self.constants = constants or Constants()
        self.readings = readings or Readings()
        self.draw_uniform = draw_uniform
        self.now_ns = now_ns
        # State of the connection (sections 2.2, 2.4 and 4.1.2.1.1).
        self.smss_bytes = smss_bytes
        self.initial_cwnd_bytes = initial_cwnd_bytes
        self.has_selective_acks = has_selective_acks
        self.srtt_ns = srtt_ns
        self.transport_min_rtt_ns: float = srtt_ns if srtt_ns else math.inf
        self.delivered_bytes = 0
        self.lost_bytes = 0
        self.inflight_bytes = 0
        self.delivered_time_ns = now_ns
        self.first_send_time_ns = now_ns
        self.app_limited_bytes = 0
        self.is_in_loss_recovery = False
        self.packets: dict[int, Packet] = {}
        self.is_cwnd_full_in_round = False
        self.was_cwnd_full_in_last_round = False
        self.cwnd_bytes: float = initial_cwnd_bytes
        self.pacing_rate_bytes_per_s = 0.0
        self.send_quantum_bytes = 0.0
        self.rs = RateSample()
        # State of BBR.
        self.state = State.STARTUP
        self.pacing_gain = 1.0
        self.cwnd_gain = 1.0
        self.max_bw_filter = make_max_filter(self.readings.max_bw_window)
        self.cycle_count = 0
        self.max_bw_bytes_per_s = 0.0
        self.bw_bytes_per_s = 0.0
        self.bdp_bytes = 0.0
        self.max_inflight_bytes = 0.0
        self.offload_budget_bytes = 0.0
        self.min_rtt_ns: float = srtt_ns if srtt_ns else math.inf
        self.min_rtt_stamp_ns = now_ns
        self.probe_rtt_min_delay_ns: float = self.min_rtt_ns
        self.probe_rtt_min_stamp_ns = now_ns
        self.probe_rtt_expired = False
        self.probe_rtt_done_stamp_ns: int | None = None
        self.probe_rtt_round_done = False
        self.prior_cwnd_bytes = 0.0
        self.undo_state: State | None = None
        self.undo_bw_shortterm_bytes_per_s = 0.0
        self.undo_inflight_shortterm_bytes = 0.0
        self.undo_inflight_longterm_bytes = 0.0
        self.idle_restart = False
        self.extra_acked_filter = make_max_filter(self.readings.extra_acked_window)
        self.extra_acked_interval_start_ns = now_ns
        self.extra_acked_delivered_bytes = 0.0
        self.extra_acked_bytes = 0.0
        self.full_bw_reached = False
        self.full_bw_now = False
        self.full_bw_bytes_per_s = 0.0
        self.full_bw_count = 0
        self.drain_start_round = 0
        self.inflight_longterm_bytes = math.inf
        self.probe_up_acked_per_inc_bytes = math.inf
        self.bw_probe_up_acked_bytes = 0.0
        self.bw_probe_up_rounds = 0
        self.rounds_since_probe_up = 0
        self.is_bw_probe_sample = False
        self.prev_probe_too_high = False
        self.prev_probe_precautionary = False
        self.ack_phase = AckPhase.INIT
        self.cycle_stamp_ns = 0
        self.bw_probe_wait_s = 0.0
        self.loss_round_delivered_bytes = 0
        self.loss_round_start = False
        self.is_loss_in_round = False
        self.bw_latest_bytes_per_s = 0.0
        self.inflight_latest_bytes = 0.0
        self.bw_shortterm_bytes_per_s = math.inf
        self.inflight_shortterm_bytes = math.inf
        self.next_round_delivered_bytes = 0
        self.round_start = False
        self.round_count = 0
        self.lost_ids_in_round: set[int] = set()
        self.acks_with_loss_in_round = 0


class Samples(BbrState):
    """Rate samples, and properties of the state."""

    def note_cwnd_usage(self) -> None:
        """Record whether the congestion window is fully used now (section 2.2)."""
        room_bytes = self.cwnd_bytes - self.inflight_bytes
        if self.readings.cwnd_limited_test == "no_room":
            is_full = room_bytes < self.smss_bytes
        else:
            is_full = room_bytes <= 0
        if is_full:
            self.is_cwnd_full_in_round = True

    def is_cwnd_limited(self) -> bool:
        """Say whether cwnd was fully used in the last packet-timed round trip (section 2.2)."""
        if self.readings.cwnd_limited_rounds == "previous":
            return self.was_cwnd_full_in_last_round
        if self.readings.cwnd_limited_rounds == "current":
            return self.is_cwnd_full_in_round
        return self.is_cwnd_full_in_round or self.was_cwnd_full_in_last_round

    def init_rate_sample(self) -> None:
        """InitRateSample(), section 4.1.2.3."""
        self.rs = RateSample()

    def update_rate_sample(self, packet: Packet) -> None:
        """UpdateRateSample(), section 4.1.2.3, for one newly acknowledged packet.

        The caller forgets acknowledged packets, so that no packet is counted twice.
        """
        if packet.is_in_flight:
            packet.is_in_flight = False
            self.inflight_bytes -= packet.size_bytes
        self.delivered_bytes += packet.size_bytes
        self.delivered_time_ns = self.now_ns
        rs = self.rs
        rs.newly_acked_bytes += packet.size_bytes
        if not rs.has_data or self.is_newest_packet(packet):
            rs.has_data = True
            rs.prior_delivered_bytes = packet.delivered_bytes
            rs.prior_time_ns = packet.delivered_time_ns
            rs.is_app_limited = packet.is_app_limited
            rs.send_elapsed_ns = packet.send_time_ns - packet.first_send_time_ns
            rs.ack_elapsed_ns = self.delivered_time_ns - packet.delivered_time_ns
            rs.last_acked_packet_id = packet.packet_id
            rs.tx_in_flight_bytes = packet.tx_in_flight_bytes
            rs.lost_bytes = self.lost_bytes - packet.lost_bytes
            self.first_send_time_ns = packet.send_time_ns

    def is_newest_packet(self, packet: Packet) -> bool:
        """IsNewestPacket(), section 4.1.2.3."""
        return packet.send_time_ns > self.first_send_time_ns or (
            packet.send_time_ns == self.first_send_time_ns
            and packet.packet_id > self.rs.last_acked_packet_id
        )

    def generate_rate_sample(self) -> None:
        """GenerateRateSample(), section 4.1.2.3."""
        if self.app_limited_bytes and self.delivered_bytes > self.app_limited_bytes:
            self.app_limited_bytes = 0
        rs = self.rs
        if not rs.has_data:
            return
        rs.interval_ns = max(rs.send_elapsed_ns, rs.ack_elapsed_ns)
        rs.delivered_bytes = self.delivered_bytes - rs.prior_delivered_bytes
        if rs.interval_ns < self.transport_min_rtt_ns:
            return
        if rs.interval_ns != 0:
            rs.delivery_rate_bytes_per_s = (
                rs.delivered_bytes * NANOSECONDS_PER_SECOND / rs.interval_ns
            )

    def mark_connection_app_limited(self) -> None:
        """MarkConnectionAppLimited(), section 4.1.2.4."""
        self.app_limited_bytes = max(self.delivered_bytes + self.inflight_bytes, 1)

    def is_in_a_probe_bw_state(self) -> bool:
        """IsInAProbeBWState(), section 5.3.3.9."""
        return self.state in (
            State.PROBE_BW_DOWN,
            State.PROBE_BW_CRUISE,
            State.PROBE_BW_REFILL,
            State.PROBE_BW_UP,
        )

    def is_probing_bw(self) -> bool:
        """IsProbingBW(), section 5.3.3.9."""
        return self.state in (State.STARTUP, State.PROBE_BW_REFILL, State.PROBE_BW_UP)

    def has_elapsed_in_phase(self, interval_s: float) -> bool:
        """HasElapsedInPhase(), section 5.3.3.9."""
        return self.now_ns > self.cycle_stamp_ns + interval_s * NANOSECONDS_PER_SECOND

    def min_pipe_cwnd_bytes(self) -> float:
        """BBR.MinPipeCwnd in bytes, section 2.8."""
        return self.constants.min_pipe_cwnd_packets * self.smss_bytes

    def inflight_with_headroom(self) -> float:
        """InflightWithHeadroom(), section 5.3.3.9."""
        if math.isinf(self.inflight_longterm_bytes):
            return math.inf
        headroom_bytes = max(
            self.smss_bytes, self.constants.headroom * self.inflight_longterm_bytes
        )
        return max(self.inflight_longterm_bytes - headroom_bytes, self.min_pipe_cwnd_bytes())


class Control(Samples):
    """The control parameters (section 5.6)."""

    def init_pacing_rate(self) -> None:
        """InitPacingRate(), section 5.6.2."""
        if self.srtt_ns:
            srtt_s = self.srtt_ns / NANOSECONDS_PER_SECOND
        else:
            srtt_s = self.constants.initial_rtt_s
        nominal_bytes_per_s = self.initial_cwnd_bytes / srtt_s
        self.pacing_rate_bytes_per_s = self.constants.startup_pacing_gain * nominal_bytes_per_s

    def set_pacing_rate_with_gain(self, pacing_gain: float) -> None:
        """SetPacingRateWithGain(), section 5.6.2."""
        share = (100 - self.constants.pacing_margin_percent) / 100
        rate = pacing_gain * self.bw_bytes_per_s * share
        if self.full_bw_reached or rate > self.pacing_rate_bytes_per_s:
            self.pacing_rate_bytes_per_s = rate

    def set_pacing_rate(self) -> None:
        """SetPacingRate(), section 5.6.2."""
        self.set_pacing_rate_with_gain(self.pacing_gain)

    def set_send_quantum(self) -> None:
        """SetSendQuantum(), section 5.6.3."""
        quantum = self.pacing_rate_bytes_per_s * self.constants.send_quantum_interval_s
        quantum = min(quantum, self.constants.send_quantum_max_bytes)
        self.send_quantum_bytes = max(quantum, 2 * self.smss_bytes)

    def bdp_multiple(self, gain: float) -> float:
        """BDPMultiple(), section 5.6.4.2."""
        if math.isinf(self.min_rtt_ns):
            return self.initial_cwnd_bytes
        self.bdp_bytes = self.bw_bytes_per_s * self.min_rtt_ns / NANOSECONDS_PER_SECOND
        return gain * self.bdp_bytes

    def update_offload_budget(self) -> None:
        """UpdateOffloadBudget(), section 5.5.8."""
        factor = 3 if self.readings.offload == "tcp" else 1
        self.offload_budget_bytes = factor * self.send_quantum_bytes

    def quantization_budget(self, inflight_cap_bytes: float) -> float:
        """QuantizationBudget(), section 5.6.4.2."""
        self.update_offload_budget()
        cap_bytes = max(inflight_cap_bytes, self.offload_budget_bytes, self.min_pipe_cwnd_bytes())
        if self.state == State.PROBE_BW_UP:
            cap_bytes += 2 * self.smss_bytes
        return cap_bytes

    def inflight(self, gain: float) -> float:
        """Inflight(), section 5.6.4.2."""
        return self.quantization_budget(self.bdp_multiple(gain))

    def update_max_inflight(self) -> None:
        """UpdateMaxInflight(), section 5.6.4.2."""
        cap_bytes = self.bdp_multiple(self.cwnd_gain) + self.extra_acked_bytes
        self.max_inflight_bytes = self.quantization_budget(cap_bytes)

    def save_cwnd(self) -> None:
        """SaveCwnd(), section 5.6.4.4."""
        if not self.is_in_loss_recovery and self.state != State.PROBE_RTT:
            self.prior_cwnd_bytes = self.cwnd_bytes
        else:
            self.prior_cwnd_bytes = max(self.prior_cwnd_bytes, self.cwnd_bytes)

    def restore_cwnd(self) -> None:
        """RestoreCwnd(), section 5.6.4.4."""
        self.cwnd_bytes = max(self.cwnd_bytes, self.prior_cwnd_bytes)

    def probe_rtt_cwnd(self) -> float:
        """ProbeRTTCwnd(), section 5.6.4.5."""
        return max(
            self.bdp_multiple(self.constants.probe_rtt_cwnd_gain), self.min_pipe_cwnd_bytes()
        )

    def bound_cwnd_for_probe_rtt(self) -> None:
        """BoundCwndForProbeRTT(), section 5.6.4.5."""
        if self.state == State.PROBE_RTT:
            self.cwnd_bytes = min(self.cwnd_bytes, self.probe_rtt_cwnd())

    def set_cwnd(self) -> None:
        """SetCwnd(), section 5.6.4.6."""
        self.update_max_inflight()
        newly_acked_bytes = self.rs.newly_acked_bytes
        if self.full_bw_reached:
            self.cwnd_bytes = min(self.cwnd_bytes + newly_acked_bytes, self.max_inflight_bytes)
        elif (
            self.cwnd_bytes < self.max_inflight_bytes
            or self.delivered_bytes < self.initial_cwnd_bytes
        ):
            self.cwnd_bytes += newly_acked_bytes
        self.cwnd_bytes = max(self.cwnd_bytes, self.min_pipe_cwnd_bytes())
        self.bound_cwnd_for_probe_rtt()
        self.bound_cwnd_for_model()

    def bound_cwnd_for_model(self) -> None:
        """BoundCwndForModel(), section 5.6.4.7."""
        cap_bytes = math.inf
        if self.is_in_a_probe_bw_state() and self.state != State.PROBE_BW_CRUISE:
            cap_bytes = self.inflight_longterm_bytes
        elif self.state in (State.PROBE_RTT, State.PROBE_BW_CRUISE):
            cap_bytes = self.inflight_with_headroom()
        elif self.state == State.DRAIN and self.readings.drain_cap == "longterm":
            cap_bytes = self.inflight_longterm_bytes
        cap_bytes = min(cap_bytes, self.inflight_shortterm_bytes)
        cap_bytes = max(cap_bytes, self.min_pipe_cwnd_bytes())
        self.cwnd_bytes = min(self.cwnd_bytes, cap_bytes)

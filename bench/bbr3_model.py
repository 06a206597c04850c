"""The model of the path and the state machine (sections 5.3 to 5.5 of the draft).

Part of the independent implementation of BBR v3 in `bbr3_second.py`.
"""

import math

from bbr3_readings import NANOSECONDS_PER_SECOND, AckPhase, Packet, State
from bbr3_state import Control


class Model(Control):
    """The model of the network path (section 5.5)."""

    def init_round_counting(self) -> None:
        """InitRoundCounting(), section 5.5.1."""
        self.next_round_delivered_bytes = 0
        self.round_start = False
        self.round_count = 0

    def update_round(self) -> None:
        """UpdateRound(), section 5.5.1, for the newest packet of this ACK."""
        self.round_start = (
            self.rs.has_data and self.rs.prior_delivered_bytes >= self.next_round_delivered_bytes
        )
        if self.round_start:
            self.start_round()
            self.round_count += 1
            self.rounds_since_probe_up += 1
            self.was_cwnd_full_in_last_round = self.is_cwnd_full_in_round
            self.is_cwnd_full_in_round = False

    def start_round(self) -> None:
        """StartRound(), section 5.5.1."""
        self.next_round_delivered_bytes = self.delivered_bytes

    def update_max_bw(self) -> None:
        """UpdateMaxBw(), section 5.5.5."""
        self.update_round()
        rate = self.rs.delivery_rate_bytes_per_s
        if rate > 0 and (rate >= self.max_bw_bytes_per_s or not self.rs.is_app_limited):
            length = self.constants.max_bw_filter_len_cycles
            self.max_bw_bytes_per_s = self.max_bw_filter.update(rate, self.cycle_count, length)

    def advance_max_bw_filter(self) -> None:
        """AdvanceMaxBwFilter(), section 5.5.6."""
        self.cycle_count += 1

    def update_ack_aggregation(self) -> None:
        """UpdateACKAggregation(), section 5.5.9."""
        interval_ns = self.now_ns - self.extra_acked_interval_start_ns
        expected_bytes = self.bw_bytes_per_s * interval_ns / NANOSECONDS_PER_SECOND
        if self.extra_acked_delivered_bytes <= expected_bytes:
            self.extra_acked_delivered_bytes = 0.0
            self.extra_acked_interval_start_ns = self.now_ns
            expected_bytes = 0.0
        self.extra_acked_delivered_bytes += self.rs.newly_acked_bytes
        extra_bytes = min(self.extra_acked_delivered_bytes - expected_bytes, self.cwnd_bytes)
        length = self.constants.extra_acked_filter_len_rounds if self.full_bw_reached else 1
        self.extra_acked_bytes = self.extra_acked_filter.update(
            extra_bytes, self.round_count, length
        )

    def is_inflight_too_high(self) -> bool:
        """IsInflightTooHigh(), section 5.5.10.2."""
        rs = self.rs
        return rs.lost_bytes > rs.tx_in_flight_bytes * self.constants.loss_thresh or (
            rs.lost_bytes > 0 and not self.has_selective_acks
        )

    def note_loss(self) -> None:
        """NoteLoss(), section 5.5.10.2."""
        if not self.is_loss_in_round:
            self.loss_round_delivered_bytes = self.delivered_bytes
            if self.readings.save_state == "every_round" or not self.is_in_loss_recovery:
                self.save_state_upon_loss()
        self.is_loss_in_round = True

    def inflight_at_loss(self, packet: Packet) -> float:
        """InflightAtLoss(), section 5.5.10.2."""
        inflight_prev_bytes = self.rs.tx_in_flight_bytes - packet.size_bytes
        lost_prev_bytes = self.rs.lost_bytes - packet.size_bytes
        thresh = self.constants.loss_thresh
        lost_prefix_bytes = (thresh * inflight_prev_bytes - lost_prev_bytes) / (1 - thresh)
        return inflight_prev_bytes + lost_prefix_bytes

    def update_latest_delivery_signals(self) -> None:
        """UpdateLatestDeliverySignals(), section 5.5.10.3."""
        rs = self.rs
        self.loss_round_start = False
        self.bw_latest_bytes_per_s = max(self.bw_latest_bytes_per_s, rs.delivery_rate_bytes_per_s)
        self.inflight_latest_bytes = max(self.inflight_latest_bytes, rs.delivered_bytes)
        if rs.has_data and rs.prior_delivered_bytes >= self.loss_round_delivered_bytes:
            self.loss_round_delivered_bytes = self.delivered_bytes
            self.loss_round_start = True

    def advance_latest_delivery_signals(self) -> None:
        """AdvanceLatestDeliverySignals(), section 5.5.10.3, and the end of the lost ranges."""
        if self.loss_round_start:
            self.bw_latest_bytes_per_s = self.rs.delivery_rate_bytes_per_s
            self.inflight_latest_bytes = self.rs.delivered_bytes
            self.lost_ids_in_round.clear()
            self.acks_with_loss_in_round = 0

    def reset_congestion_signals(self) -> None:
        """ResetCongestionSignals(), section 5.5.10.3."""
        self.is_loss_in_round = False
        self.bw_latest_bytes_per_s = 0.0
        self.inflight_latest_bytes = 0.0

    def update_congestion_signals(self) -> None:
        """UpdateCongestionSignals(), section 5.5.10.3."""
        self.update_max_bw()
        if not self.loss_round_start:
            return
        self.adapt_lower_bounds_from_congestion()
        self.is_loss_in_round = False

    def adapt_lower_bounds_from_congestion(self) -> None:
        """AdaptLowerBoundsFromCongestion(), section 5.5.10.3."""
        if self.is_probing_bw():
            return
        if self.is_loss_in_round:
            self.init_lower_bounds()
            self.loss_lower_bounds()

    def init_lower_bounds(self) -> None:
        """InitLowerBounds(), section 5.5.10.3."""
        if math.isinf(self.bw_shortterm_bytes_per_s):
            self.bw_shortterm_bytes_per_s = self.max_bw_bytes_per_s
        if math.isinf(self.inflight_shortterm_bytes):
            self.inflight_shortterm_bytes = self.cwnd_bytes

    def loss_lower_bounds(self) -> None:
        """LossLowerBounds(), section 5.5.10.3."""
        beta = self.constants.beta
        self.bw_shortterm_bytes_per_s = max(
            self.bw_latest_bytes_per_s, beta * self.bw_shortterm_bytes_per_s
        )
        self.inflight_shortterm_bytes = max(
            self.inflight_latest_bytes, beta * self.inflight_shortterm_bytes
        )

    def reset_short_term_model(self) -> None:
        """ResetShortTermModel(), section 5.5.10.3."""
        self.bw_shortterm_bytes_per_s = math.inf
        self.inflight_shortterm_bytes = math.inf

    def bound_bw_for_model(self) -> None:
        """BoundBWForModel(), section 5.5.10.3."""
        self.bw_bytes_per_s = min(self.max_bw_bytes_per_s, self.bw_shortterm_bytes_per_s)

    def save_state_upon_loss(self) -> None:
        """SaveStateUponLoss(), section 5.5.11.1."""
        self.save_cwnd()
        self.undo_state = None
        self.undo_bw_shortterm_bytes_per_s = self.bw_shortterm_bytes_per_s
        self.undo_inflight_shortterm_bytes = self.inflight_shortterm_bytes
        self.undo_inflight_longterm_bytes = self.inflight_longterm_bytes


class Machine(Model):
    """The state machine (sections 5.3 and 5.4)."""

    def enter_startup(self) -> None:
        """EnterStartup(), section 5.3.1.1."""
        self.state = State.STARTUP
        self.pacing_gain = self.constants.startup_pacing_gain
        self.cwnd_gain = self.constants.default_cwnd_gain

    def check_startup_done(self) -> None:
        """CheckStartupDone(), section 5.3.1.1."""
        self.check_startup_high_loss()
        if self.state == State.STARTUP and self.full_bw_reached:
            self.enter_drain()

    def reset_full_bw(self) -> None:
        """ResetFullBW(), section 5.3.1.2."""
        self.full_bw_bytes_per_s = 0.0
        self.full_bw_count = 0
        self.full_bw_now = False

    def check_full_bw_reached(self) -> None:
        """CheckFullBWReached(), section 5.3.1.2."""
        if self.full_bw_now or not self.round_start or self.rs.is_app_limited:
            return
        rate = self.rs.delivery_rate_bytes_per_s
        if rate >= self.full_bw_bytes_per_s * self.constants.full_bw_growth:
            self.reset_full_bw()
            self.full_bw_bytes_per_s = rate
            return
        self.full_bw_count += 1
        self.full_bw_now = self.full_bw_count >= self.constants.full_bw_rounds
        if self.full_bw_now:
            self.full_bw_reached = True

    def check_startup_high_loss(self) -> None:
        """CheckStartupHighLoss(), section 5.3.1.3, which the draft describes in words only."""
        if self.state != State.STARTUP or not self.is_in_loss_recovery:
            return
        if self.has_selective_acks:
            if self.readings.startup_loss_round == "loss_round":
                is_round_over = self.loss_round_start
            else:
                is_round_over = self.round_start
            is_high = (
                is_round_over
                and self.is_inflight_too_high()
                and self.count_lost_ranges() >= self.constants.startup_full_loss_count
            )
        else:
            is_high = self.rs.newly_lost_bytes > 0
        if is_high:
            self.undo_state = State.STARTUP
            self.full_bw_now = True
            self.full_bw_reached = True
            self.inflight_longterm_bytes = max(self.bdp_bytes, self.inflight_latest_bytes)
            self.enter_drain()

    def count_lost_ranges(self) -> int:
        """Count the discontiguous ranges lost in the current loss round (section 5.3.1.3)."""
        if self.readings.loss_ranges == "acks":
            return self.acks_with_loss_in_round
        if self.readings.loss_ranges == "packets":
            return len(self.lost_ids_in_round)
        return sum(
            1 for packet_id in self.lost_ids_in_round if packet_id - 1 not in self.lost_ids_in_round
        )

    def enter_drain(self) -> None:
        """EnterDrain(), section 5.3.2."""
        self.state = State.DRAIN
        self.pacing_gain = self.constants.drain_pacing_gain
        self.cwnd_gain = self.constants.default_cwnd_gain
        self.drain_start_round = self.round_count

    def check_drain_done(self) -> None:
        """CheckDrainDone(), section 5.3.2."""
        if self.state != State.DRAIN:
            return
        rounds = self.round_count - self.drain_start_round
        least = 4 if self.readings.drain_rounds == "more_than_3" else 3
        is_time_over = rounds >= least
        if self.inflight_bytes <= self.inflight(1.0) or is_time_over:
            self.enter_probe_bw()

    def is_time_to_probe_bw(self) -> bool:
        """IsTimeToProbeBW(), section 5.3.3.8."""
        if self.has_elapsed_in_phase(self.bw_probe_wait_s) or self.is_reno_coexistence_probe_time():
            self.start_probe_bw_refill()
            return True
        return False

    def pick_probe_wait(self) -> None:
        """PickProbeWait(), section 5.3.3.8. It draws an integer first, then a real number."""
        self.rounds_since_probe_up = math.floor(self.draw_uniform() * 2)
        self.bw_probe_wait_s = self.constants.probe_wait_base_s + self.draw_uniform()

    def is_reno_coexistence_probe_time(self) -> bool:
        """IsRenoCoexistenceProbeTime(), section 5.3.3.8, with the BDP in packets."""
        reno_rounds = self.target_inflight()
        if self.readings.reno_unit != "bytes":
            reno_rounds /= self.smss_bytes
        if self.readings.reno_unit == "whole_packets":
            reno_rounds = math.floor(reno_rounds)
        return self.rounds_since_probe_up >= min(reno_rounds, self.constants.reno_bound_rounds)

    def target_inflight(self) -> float:
        """TargetInflight(), section 5.3.3.8."""
        return min(self.bdp_bytes, self.cwnd_bytes)

    def enter_probe_bw(self) -> None:
        """EnterProbeBW(), section 5.3.3.9."""
        self.cwnd_gain = self.constants.default_cwnd_gain
        self.start_probe_bw_down()

    def set_probe_bw_state(self, state: State, pacing_gain: float, cwnd_gain: float) -> None:
        """Enter a ProbeBW state with the gains of the table in section 5.6.1."""
        self.state = state
        self.pacing_gain = pacing_gain
        self.cwnd_gain = cwnd_gain

    def start_probe_bw_down(self) -> None:
        """StartProbeBW_DOWN(), section 5.3.3.9."""
        self.reset_congestion_signals()
        self.probe_up_acked_per_inc_bytes = math.inf
        self.pick_probe_wait()
        self.cycle_stamp_ns = self.now_ns
        self.ack_phase = AckPhase.PROBE_STOPPING
        self.start_round()
        self.set_probe_bw_state(
            State.PROBE_BW_DOWN,
            self.constants.probe_down_pacing_gain,
            self.constants.default_cwnd_gain,
        )

    def start_probe_bw_cruise(self) -> None:
        """StartProbeBW_CRUISE(), section 5.3.3.9."""
        self.set_probe_bw_state(State.PROBE_BW_CRUISE, 1.0, self.constants.default_cwnd_gain)

    def start_probe_bw_refill(self) -> None:
        """StartProbeBW_REFILL(), section 5.3.3.9."""
        self.reset_short_term_model()
        self.bw_probe_up_rounds = 0
        self.bw_probe_up_acked_bytes = 0.0
        self.prev_probe_precautionary = False
        self.ack_phase = AckPhase.REFILLING
        self.start_round()
        self.set_probe_bw_state(State.PROBE_BW_REFILL, 1.0, self.constants.default_cwnd_gain)

    def start_probe_bw_up(self) -> None:
        """StartProbeBW_UP(), section 5.3.3.9."""
        self.ack_phase = AckPhase.PROBE_STARTING
        self.start_round()
        self.reset_full_bw()
        self.full_bw_bytes_per_s = self.rs.delivery_rate_bytes_per_s
        self.set_probe_bw_state(
            State.PROBE_BW_UP,
            self.constants.probe_up_pacing_gain,
            self.constants.probe_up_cwnd_gain,
        )
        self.raise_inflight_longterm_slope()

    def update_probe_bw_cycle_phase(self) -> None:
        """UpdateProbeBWCyclePhase(), section 5.3.3.9."""
        if not self.rs.has_data and self.readings.empty_ack == "skip":
            return
        if not self.full_bw_reached:
            return
        if self.adapt_long_term_model():
            return
        if self.state == State.PROBE_BW_DOWN:
            if self.is_time_to_probe_bw():
                return
            if self.is_time_to_cruise():
                self.start_probe_bw_cruise()
        elif self.state == State.PROBE_BW_CRUISE:
            self.is_time_to_probe_bw()
        elif self.state == State.PROBE_BW_REFILL:
            if self.round_start:
                self.is_bw_probe_sample = True
                self.start_probe_bw_up()
        elif self.state == State.PROBE_BW_UP and self.is_time_to_go_down():
            self.prev_probe_too_high = False
            self.start_probe_bw_down()

    def is_time_to_cruise(self) -> bool:
        """IsTimeToCruise(), section 5.3.3.9."""
        if self.inflight_bytes > self.inflight_with_headroom():
            return False
        if self.readings.cruise_bandwidth == "bw":
            target_bytes = self.inflight(1.0)
        elif math.isinf(self.min_rtt_ns):
            target_bytes = self.quantization_budget(self.initial_cwnd_bytes)
        else:
            target_bytes = self.quantization_budget(
                self.max_bw_bytes_per_s * self.min_rtt_ns / NANOSECONDS_PER_SECOND
            )
        return self.inflight_bytes <= target_bytes

    def is_time_to_go_down(self) -> bool:
        """IsTimeToGoDown(), section 5.3.3.9."""
        if self.prev_probe_too_high and self.inflight_bytes >= self.inflight_longterm_bytes:
            self.prev_probe_precautionary = True
            return True
        if self.is_cwnd_limited() and self.cwnd_bytes >= self.inflight_longterm_bytes:
            self.reset_full_bw()
            self.full_bw_bytes_per_s = self.rs.delivery_rate_bytes_per_s
        elif self.full_bw_now:
            return True
        return False

    def raise_inflight_longterm_slope(self) -> None:
        """RaiseInflightLongtermSlope(), section 5.3.3.9."""
        growth_this_round = 1 << self.bw_probe_up_rounds
        self.bw_probe_up_rounds = min(self.bw_probe_up_rounds + 1, 30)
        self.probe_up_acked_per_inc_bytes = max(
            self.cwnd_bytes / growth_this_round, self.smss_bytes
        )

    def probe_inflight_longterm_upward(self) -> None:
        """ProbeInflightLongtermUpward(), section 5.3.3.9."""
        if not self.is_cwnd_limited() or self.cwnd_bytes < self.inflight_longterm_bytes:
            return
        self.bw_probe_up_acked_bytes += self.rs.newly_acked_bytes
        if self.bw_probe_up_acked_bytes >= self.probe_up_acked_per_inc_bytes:
            delta = self.bw_probe_up_acked_bytes // self.probe_up_acked_per_inc_bytes
            self.bw_probe_up_acked_bytes -= delta * self.probe_up_acked_per_inc_bytes
            self.inflight_longterm_bytes += delta * self.smss_bytes
        if self.round_start:
            self.raise_inflight_longterm_slope()

    def adapt_long_term_model(self) -> bool:
        """AdaptLongTermModel(), section 5.3.3.9. It returns whether it decided a transition."""
        if self.ack_phase == AckPhase.PROBE_STARTING and self.round_start:
            self.ack_phase = AckPhase.PROBE_FEEDBACK
        if self.ack_phase == AckPhase.PROBE_STOPPING and self.round_start:
            self.is_bw_probe_sample = False
            self.ack_phase = AckPhase.INIT
            if self.is_in_a_probe_bw_state() and not self.rs.is_app_limited:
                self.advance_max_bw_filter()
            if (
                self.is_in_a_probe_bw_state()
                and self.prev_probe_precautionary
                and not self.prev_probe_too_high
            ):
                self.start_probe_bw_refill()
                return True
        if not self.is_inflight_too_high():
            if math.isinf(self.inflight_longterm_bytes):
                return False
            if self.rs.tx_in_flight_bytes > self.inflight_longterm_bytes:
                self.inflight_longterm_bytes = self.rs.tx_in_flight_bytes
            if self.state == State.PROBE_BW_UP:
                self.probe_inflight_longterm_upward()
        return False

    def update_min_rtt(self) -> None:
        """UpdateMinRTT(), section 5.3.4.3."""
        self.probe_rtt_expired = (
            self.now_ns > self.probe_rtt_min_stamp_ns + self.constants.probe_rtt_interval_ns
        )
        rtt_ns = self.rs.rtt_ns
        if rtt_ns is not None and (rtt_ns < self.probe_rtt_min_delay_ns or self.probe_rtt_expired):
            self.probe_rtt_min_delay_ns = rtt_ns
            self.probe_rtt_min_stamp_ns = self.now_ns
        is_min_rtt_expired = (
            self.now_ns > self.min_rtt_stamp_ns + self.constants.min_rtt_filter_len_ns
        )
        if self.probe_rtt_min_delay_ns < self.min_rtt_ns or is_min_rtt_expired:
            self.min_rtt_ns = self.probe_rtt_min_delay_ns
            self.min_rtt_stamp_ns = self.probe_rtt_min_stamp_ns

    def check_probe_rtt(self) -> None:
        """CheckProbeRTT(), section 5.3.4.3."""
        if self.state != State.PROBE_RTT and self.probe_rtt_expired and not self.idle_restart:
            if self.readings.probe_rtt_save == "before":
                self.save_cwnd()
            self.enter_probe_rtt()
            if self.readings.probe_rtt_save == "after":
                self.save_cwnd()
            self.probe_rtt_done_stamp_ns = None
            self.ack_phase = AckPhase.PROBE_STOPPING
            self.start_round()
        if self.state == State.PROBE_RTT:
            self.handle_probe_rtt()
        if self.rs.delivered_bytes > 0:
            self.idle_restart = False

    def enter_probe_rtt(self) -> None:
        """EnterProbeRTT(), section 5.3.4.3."""
        self.state = State.PROBE_RTT
        self.pacing_gain = 1.0
        self.cwnd_gain = self.constants.probe_rtt_cwnd_gain

    def handle_probe_rtt(self) -> None:
        """HandleProbeRTT(), section 5.3.4.3."""
        self.mark_connection_app_limited()
        if self.probe_rtt_done_stamp_ns is None:
            if self.inflight_bytes <= self.probe_rtt_cwnd():
                self.probe_rtt_done_stamp_ns = self.now_ns + self.constants.probe_rtt_duration_ns
                self.probe_rtt_round_done = False
                self.start_round()
        else:
            if self.round_start:
                self.probe_rtt_round_done = True
            if self.probe_rtt_round_done:
                self.check_probe_rtt_done()

    def check_probe_rtt_done(self) -> None:
        """CheckProbeRTTDone(), section 5.3.4.3."""
        if self.probe_rtt_done_stamp_ns is not None and self.now_ns > self.probe_rtt_done_stamp_ns:
            self.probe_rtt_min_stamp_ns = self.now_ns
            self.restore_cwnd()
            self.exit_probe_rtt()

    def exit_probe_rtt(self) -> None:
        """ExitProbeRTT(), section 5.3.4.4."""
        self.reset_short_term_model()
        if self.full_bw_reached:
            self.start_probe_bw_down()
            self.start_probe_bw_cruise()
        else:
            self.enter_startup()

    def handle_restart_from_idle(self) -> None:
        """HandleRestartFromIdle(), section 5.4.1."""
        if self.inflight_bytes == 0 and self.app_limited_bytes:
            self.idle_restart = True
            self.extra_acked_interval_start_ns = self.now_ns
            if self.is_in_a_probe_bw_state():
                self.set_pacing_rate_with_gain(1.0)
            elif self.state == State.PROBE_RTT:
                self.check_probe_rtt_done()

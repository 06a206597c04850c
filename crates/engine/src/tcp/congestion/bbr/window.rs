//! The congestion window of BBR: bandwidth-delay product, bursts, and packet conservation.
//!
//! Reference: Linux 6.12, `bbr_set_cwnd` and the functions before it in net/ipv4/tcp_bbr.c.

use super::bandwidth::{Bandwidth, UNIT_GAIN};
use super::{Bbr, Mode};
use crate::kernel::time::Time;
use crate::tcp::congestion::control::{Processed, RecoveryPhase};
use crate::tcp::congestion::pacer::burst_goal;
use crate::tcp::congestion::window::Window;

/// `bbr_cwnd_min_target`: smallest window. [packets]
pub(super) const MIN_CWND: u32 = 4;

/// `TCP_INIT_CWND`: window before the first round-trip sample. [packets]
const INITIAL: u32 = 10;

/// `bbr_min_tso_rate`: below this rate, a burst may be a single segment. [bytes/s]
const MIN_BURST_RATE: u64 = 1_200_000 / 8;

impl Bbr {
    /// `bbr_min_tso_segs`: returns the minimum number of segments of a burst.
    pub(super) fn min_burst(&self) -> u32 {
        match self.pacing_rate < MIN_BURST_RATE {
            true => 1,
            false => 2,
        }
    }

    /// `bbr_bdp`: returns the bandwidth-delay product times `gain`. [packets]
    fn bdp(&self, bw: Bandwidth, gain: u64) -> u32 {
        match self.min_rtt_us {
            Some(us) => bw.packets_up(us, gain),
            None => INITIAL,
        }
    }

    /// `bbr_tso_segs_goal`: returns the number of segments of a burst.
    fn burst_goal(&self) -> u32 {
        burst_goal(self.pacing_rate, self.mss as u32, self.min_burst())
    }

    /// `bbr_quantization_budget`: adds the bursts that end systems hold to a window.
    fn with_bursts(&self, cwnd: u32) -> u32 {
        let even = (cwnd + 3 * self.burst_goal()).next_multiple_of(2);
        let probes = self.mode == Mode::ProbeBw && self.phase == 0;
        even + 2 * u32::from(probes)
    }

    /// `bbr_inflight`: returns the number of segments in flight at the bandwidth `bw` and the gain
    /// `gain`.
    pub(super) fn target_in_flight(&self, bw: Bandwidth, gain: u64) -> u32 {
        self.with_bursts(self.bdp(bw, gain))
    }

    /// `bbr_packets_in_net_at_edt`: returns the number of segments in the network at the departure of
    /// the next segment, if `in_flight` segments are in the network now.
    pub(super) fn in_network_at_departure(&self, now: Time, in_flight: u32) -> u32 {
        let wait_us = self.pacer.next_burst().max(now).since(now).0 / 1_000;
        let leaving = self.bw().packets(wait_us) as u32;
        let grows = self.pacing_gain > UNIT_GAIN;
        let then = match grows {
            true => in_flight + self.burst_goal(),
            false => in_flight,
        };
        then.saturating_sub(leaving)
    }

    /// `bbr_save_cwnd`: stores the window, to restore it after a recovery or ProbeRtt.
    pub(super) fn save_cwnd(&mut self, window: &Window) {
        let cwnd = window.cwnd as u32;
        let is_usual = self.last_phase < RecoveryPhase::Fast && self.mode != Mode::ProbeRtt;
        self.prior_cwnd = match is_usual {
            true => cwnd,
            false => self.prior_cwnd.max(cwnd),
        };
    }

    /// `bbr_set_cwnd_to_recover_or_restore`: returns the window at the beginning, in and at the end
    /// of a recovery, and whether it follows packet conservation.
    fn recover(&mut self, cwnd: u32, state: &Processed, acked: u32) -> (u32, bool) {
        let mut cwnd = match state.newly_lost {
            0 => cwnd,
            lost => cwnd.saturating_sub(lost).max(1),
        };
        let before = std::mem::replace(&mut self.last_phase, state.phase);
        let conserved = state.in_flight + acked;
        if state.phase == RecoveryPhase::Fast && before != RecoveryPhase::Fast {
            self.conserves = true;
            self.round_end = self.rate.delivered();
            cwnd = conserved;
        } else if before >= RecoveryPhase::Fast && state.phase < RecoveryPhase::Fast {
            cwnd = cwnd.max(self.prior_cwnd);
            self.conserves = false;
        }
        match self.conserves {
            true => (cwnd.max(conserved), true),
            false => (cwnd, false),
        }
    }

    /// `bbr_set_cwnd`: sets the window after an ACK that reports `acked` segments for the first time.
    pub(super) fn set_cwnd(&mut self, window: &mut Window, state: &Processed, acked: u32) {
        let mut cwnd = window.cwnd as u32;
        if acked > 0 {
            cwnd = self.next_cwnd(cwnd, state, acked);
        }
        if self.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(MIN_CWND);
        }
        window.cwnd = f64::from(cwnd).min(window.receive);
    }

    fn next_cwnd(&mut self, cwnd: u32, state: &Processed, acked: u32) -> u32 {
        let (cwnd, conserves) = self.recover(cwnd, state, acked);
        if conserves {
            return cwnd;
        }
        let bw = self.bw();
        let mut target = self.bdp(bw, self.cwnd_gain);
        if self.is_full {
            target += self.aggregation.extra(bw);
        }
        let target = self.with_bursts(target);
        let next = match self.is_full {
            true => (cwnd + acked).min(target),
            false if cwnd < target || self.rate.delivered() < INITIAL => cwnd + acked,
            false => cwnd,
        };
        next.max(MIN_CWND)
    }
}

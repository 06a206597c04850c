//! PIE: controls the queueing delay by a drop probability so that it stays near a target. A
//! proportional-integral controller updates the probability at regular times (RFC 8033).
//!
//! If the egress has a fixed rate, the queueing delay is the backlog divided by this rate (RFC
//! 8033, section 4.3). If the rate varies, the queueing delay is the sojourn time of the last
//! departed packet, and zero while the queue is empty (section 4.3, timestamps).
//!
//! In addition to sections 4.1 to 4.5, this file includes ECN (5.1), de-randomisation (5.4), and
//! the limit on the change of the probability per update (5.5). Differs from RFC 8033 in five
//! points. The queue includes the packet in service. The controller is always active (5.3). The
//! departure rate is not estimated (5.2). The probability does not depend on the length of the
//! packet. Updates occur at multiples of the interval from the start of the run.

use super::discipline::{Backlog, Egress, OfDiscipline, Verdict, moving};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{MS, S, duration, flag, number};
use crate::packet::Packet;
use crate::table;

table! {
    /// PIE: a drop probability that keeps the queueing delay near a target.
    pub struct PieSetting: Copy in "pie" {
        /// Target queueing delay.
        target: Span = duration(0..=10 * S).default("15 ms");
        /// Time between updates of the drop probability.
        update: Span = duration(MS..=10 * S).default("15 ms");
        /// Weight of the difference between queueing delay and target, per second.
        alpha: f64, json "alpha_per_s" = number(0.0..=100.0).default(0.125);
        /// Weight of the change of the queueing delay, per second.
        beta: f64, json "beta_per_s" = number(0.0..=100.0).default(1.25);
        /// Time for which a burst after a quiet period passes without drops.
        max_burst: Span = duration(0..=100 * S).default("150 ms");
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(false);
    }
}

impl OfDiscipline for PieSetting {
    moving!(target, alpha, beta);

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// Backlog up to which no packet is dropped early: two packets of 1500 bytes (section 4.1). [bytes]
const SPARED_BYTES: u64 = 2 * 1_500;

/// Probability below which packets are marked and above which they are dropped (section 5.1). [-]
const MARKED_BELOW: f64 = 0.1;

/// The state of one PIE queue.
#[derive(Clone, Debug)]
pub struct Pie {
    setting: PieSetting,
    /// Maximum number of packets, including the packet in service.
    limit: u32,
    /// Rate by which the backlog is divided to obtain the queueing delay; `None` if the queueing
    /// delay is the sojourn time of the last packet. [bit/s]
    rate_bps: Option<u64>,
    next_update: Time,
    /// Drop probability after the last update. [-]
    probability: f64,
    /// Sum of the drop probabilities at the arrivals since the last drop. [-]
    accumulated: f64,
    /// Remaining time during which no packet of a burst is dropped.
    burst_allowance: Span,
    /// Queueing delay at the last update. [s]
    delay: f64,
    /// Sojourn time of the last departed packet. [s]
    last_sojourn: f64,
    stream: Stream,
}

impl Pie {
    /// Returns an empty queue.
    pub fn new(setting: PieSetting, limit: u32, egress: Egress, stream: Stream) -> Pie {
        Pie {
            limit,
            rate_bps: egress.is_fixed.then_some(egress.rate_bps),
            next_update: Time::ZERO + setting.update,
            probability: 0.0,
            accumulated: 0.0,
            burst_allowance: setting.max_burst,
            delay: 0.0,
            last_sojourn: 0.0,
            setting,
            stream,
        }
    }

    /// Performs the updates that are due until `now`. `bytes_at` returns the backlog [bytes] at a
    /// past time.
    pub fn advance(&mut self, now: Time, mut bytes_at: impl FnMut(Time) -> u64) {
        while self.next_update <= now {
            let bytes = bytes_at(self.next_update);
            self.update(self.delay_of(bytes));
            self.next_update += self.setting.update;
        }
    }

    /// Records that a packet has left after this sojourn time.
    pub fn departed(&mut self, sojourn: Span) {
        self.last_sojourn = sojourn.seconds();
    }

    /// Returns the queueing delay of a queue that holds `bytes` bytes. [s]
    fn delay_of(&self, bytes: u64) -> f64 {
        match self.rate_bps {
            Some(rate) => bytes as f64 * 8.0 / rate as f64,
            None if bytes == 0 => 0.0,
            None => self.last_sojourn,
        }
    }

    /// Performs one step of the controller (section 4.2).
    fn update(&mut self, delay: f64) {
        let PieSetting { alpha, beta, .. } = self.setting;
        let target = self.setting.target.seconds();
        let step = alpha * (delay - target) + beta * (delay - self.delay);
        let mut step = step * self.gain();
        if self.probability >= 0.1 {
            step = step.min(0.02);
        }
        self.probability += step;
        if delay == 0.0 && self.delay == 0.0 {
            self.probability *= 0.98;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.delay = delay;
        self.burst_allowance = self.burst_allowance - self.setting.update;
    }

    /// Returns the factor of auto-tuning, by which a change of the probability is multiplied: it is
    /// small if the probability is small (section 4.2). [-]
    fn gain(&self) -> f64 {
        let below = [
            (0.000_001, 1.0 / 2_048.0),
            (0.000_01, 1.0 / 512.0),
            (0.000_1, 1.0 / 128.0),
            (0.001, 1.0 / 32.0),
            (0.01, 1.0 / 8.0),
            (0.1, 1.0 / 2.0),
        ];
        let row = below.iter().find(|(bound, _)| self.probability < *bound);
        row.map_or(1.0, |(_, gain)| *gain)
    }

    /// Sets the limit and the settings that may change at run time. The next update of the
    /// probability uses the new values.
    pub(super) fn change(&mut self, setting: PieSetting, limit: u32) {
        self.setting = self.setting.moved_to(setting);
        self.limit = limit;
    }

    /// Returns the verdict on `packet`, which arrives now, when the queue holds `backlog`.
    /// `advance` must have been called for this time.
    pub fn admit(&mut self, backlog: &Backlog, packet: &Packet) -> Verdict {
        if backlog.packets >= self.limit {
            self.accumulated = 0.0;
            return Verdict::Drop;
        }
        let is_quiet = self.delay < self.setting.target.seconds() / 2.0;
        if self.probability == 0.0 && is_quiet {
            self.burst_allowance = self.setting.max_burst;
        }
        if self.burst_allowance > Span::ZERO || !self.drops_early(backlog, is_quiet) {
            return Verdict::Enter;
        }
        self.accumulated = 0.0;
        Verdict::early(self.setting.ecn && self.probability < MARKED_BELOW, packet)
    }

    /// Returns whether a packet is dropped or marked before the queue is full (sections 4.1 and
    /// 5.4). `is_quiet` says whether the queueing delay was below half of the target at the last
    /// update.
    fn drops_early(&mut self, backlog: &Backlog, is_quiet: bool) -> bool {
        if (is_quiet && self.probability < 0.2) || backlog.bytes <= SPARED_BYTES {
            return false;
        }
        if self.probability == 0.0 {
            self.accumulated = 0.0;
        }
        self.accumulated += self.probability;
        if self.accumulated < 0.85 {
            return false;
        }
        self.accumulated >= 8.5 || self.stream.chance(self.probability)
    }
}

#[cfg(test)]
mod tests;

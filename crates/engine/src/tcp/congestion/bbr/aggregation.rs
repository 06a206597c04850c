//! Allowance for aggregated ACKs, which arrive together, as from Wi-Fi links.
//!
//! Reference: Linux 6.12, `bbr_update_ack_aggregation` in net/ipv4/tcp_bbr.c.
//!
//! ```text
//! extra = segments that have arrived in the epoch - bw * length of the epoch
//! cwnd is larger by the maximum of `extra` over the last 5 to 10 rounds
//! ```
//!
//! An epoch begins when no more segments have arrived than expected at the estimated bandwidth.
//! While no ACK arrives, a sender with a window of two bandwidth-delay products may run out of
//! window. The additional window lets it send until the next ACKs arrive.

use super::bandwidth::Bandwidth;
use crate::kernel::time::Time;

/// `bbr_extra_acked_win_rtts`: number of rounds of each of the two periods over which the maximum
/// is taken.
const PERIOD: u32 = 5;

/// `bbr_ack_epoch_acked_reset_thresh`: number of segments after which a new epoch begins.
const MAX_EPOCH: u32 = 1 << 20;

/// `bbr_extra_acked_max_us`: the additional window is at most the bandwidth times this time. [us]
const MAX_US: u64 = 100_000;

#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// `ack_epoch_mstamp`: start of the epoch.
    start: Time,
    /// `ack_epoch_acked`: number of segments that have arrived in the epoch.
    acked: u32,
    /// `extra_acked`: maxima of the two periods.
    extra: [u32; 2],
    /// `extra_acked_win_idx`: index of the current period.
    period: usize,
    /// `extra_acked_win_rtts`: age of the current period. [rounds]
    rounds: u32,
}

impl Aggregation {
    pub(super) fn new() -> Aggregation {
        Aggregation {
            start: Time::ZERO,
            acked: 0,
            extra: [0, 0],
            period: 0,
            rounds: 0,
        }
    }

    /// Begins a new epoch at a restart after an idle time.
    pub(super) fn restart(&mut self, now: Time) {
        self.start = now;
        self.acked = 0;
    }

    /// Processes an ACK that reports `newly` segments, at the estimated bandwidth `bw` and the window
    /// `cwnd`. `time` is the time of the ACK.
    #[inline]
    pub(super) fn on_ack(
        &mut self,
        time: Time,
        newly: u32,
        bw: Bandwidth,
        round_start: bool,
        cwnd: u32,
    ) {
        if round_start {
            self.rounds += 1;
            if self.rounds >= PERIOD {
                self.rounds = 0;
                self.period = 1 - self.period;
                self.extra[self.period] = 0;
            }
        }
        let mut expected = bw.packets(time.since(self.start).0 / 1_000);
        if u64::from(self.acked) <= expected || self.acked + newly >= MAX_EPOCH {
            self.restart(time);
            expected = 0;
        }
        self.acked += newly;
        let extra = (u64::from(self.acked) - expected).min(u64::from(cwnd)) as u32;
        self.extra[self.period] = self.extra[self.period].max(extra);
    }

    /// `bbr_ack_aggregation_cwnd`: returns the number of segments by which the window is larger at
    /// the bandwidth `bw`. [packets]
    #[inline]
    pub(super) fn extra(&self, bw: Bandwidth) -> u32 {
        let [a, b] = self.extra;
        a.max(b).min(bw.packets(MAX_US) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bandwidth is one packet per ms, and sixteen segments are acknowledged together every 16
    /// ms. The number of expected segments is rounded down, so that one more may be extra.
    #[test]
    fn segments_acknowledged_together_count_as_extra() {
        let bw = Bandwidth::of(10, 10_000);
        let mut aggregation = Aggregation::new();
        for burst in 1..=20 {
            let time = Time(16_000_000 * burst);
            aggregation.on_ack(time, 16, bw, burst % 4 == 0, 100);
            assert!((16..=17).contains(&aggregation.extra(bw)));
        }
        // single ACKs at the bandwidth, after a pause of 21 ms: after two periods of five rounds, one or two are extra
        for ms in 341..=360 {
            aggregation.on_ack(Time(1_000_000 * ms), 1, bw, true, 100);
        }
        assert!((1..=2).contains(&aggregation.extra(bw)));
    }

    #[test]
    fn window_and_a_tenth_of_a_second_bound_the_extra_segments() {
        let bw = Bandwidth::of(1, 10_000);
        let mut aggregation = Aggregation::new();
        aggregation.on_ack(Time(1), 40, bw, false, 12);
        assert_eq!(aggregation.extra(Bandwidth::of(10, 10_000)), 12);
        assert_eq!(aggregation.extra(bw), 9); // 100 ms at just under 0.1 packets per ms
    }
}

//! HyStart: slow start ends when ACKs arrive at the rate of the path, or when the round-trip time
//! increases.
//!
//! References: S. Ha, I. Rhee, "Taming the elephants: new TCP slow start", Computer Networks 55(9),
//! 2011. The parameters are those of CUBIC in Linux (`tcp_cubic.c`, 6.x).
//!
//! ```text
//! train: ACKs at most 2 ms apart from the beginning of a round on, for longer than
//!        (delay_min + cushion)/2                                --> ssthresh = cwnd
//! delay: the minimum RTT of the round, of more than 8 samples, above delay_min + clamp(delay_min/8, 4, 16 ms)
//!                                                               --> ssthresh = cwnd
//! ```
//!
//! delay_min is the minimum round-trip time so far.
//! Both rules apply at windows of 16 packets or more. They end slow start at most once until the
//! next timeout. A round begins with an ACK of a segment that was sent after the previous round
//! began.
//!
//! Differs from Linux in:
//! - The cushion compensates for segments that hosts send and receive in batches. Here the cushion
//!   is always 1 ms, which is its maximum in Linux. In Linux the cushion is smaller above 2 Gbit/s.
//! - Round-trip times are computed from timestamps, and include the delay of delayed ACKs.
//! - After a timeout a round begins with the next ACK.

use super::control::NewAck;
use crate::kernel::time::{Span, Time};

const US: u64 = 1_000;
const MS: u64 = 1_000 * US;

/// `hystart_low_window`: smallest window at which HyStart applies. [packets]
const LOW_WINDOW: u32 = 16;

/// `hystart_ack_delta_us`: maximum time between two consecutive ACKs of a train.
const ACK_DELTA: Span = Span(2 * MS);

/// `HYSTART_MIN_SAMPLES`: number of round-trip time samples in a round after which the delay rule
/// applies.
const MIN_SAMPLES: u32 = 8;

/// `HYSTART_DELAY_MIN` and `HYSTART_DELAY_MAX`: smallest and largest threshold of the delay rule,
/// above the minimum round-trip time.
const DELAY_MIN: Span = Span(4 * MS);
const DELAY_MAX: Span = Span(16 * MS);

/// Maximum value of `hystart_ack_delay`. A train must be longer than half of the sum of `delay_min`
/// and this cushion.
const CUSHION: Span = Span(MS);

#[derive(Clone, Debug)]
pub(super) struct HybridSlowStart {
    /// Whether HyStart has ended slow start.
    has_ended: bool,
    round_start: Time,
    /// Number of the last segment of the round. An ACK beyond this segment begins the next round.
    end_seq: u32,
    /// Time of the last ACK of the train.
    last_ack: Time,
    /// Minimum round-trip time of the round.
    curr_rtt: Span,
    samples: u32,
}

impl HybridSlowStart {
    pub(super) fn new() -> HybridSlowStart {
        HybridSlowStart {
            has_ended: false,
            round_start: Time::ZERO,
            end_seq: 0,
            last_ack: Time::ZERO,
            curr_rtt: Span(u64::MAX),
            samples: 0,
        }
    }

    /// Processes an ACK in slow start at the window `cwnd`. `rtt` is its round-trip time, and
    /// `delay_min` the minimum round-trip time. Returns whether slow start has ended.
    pub(super) fn on_ack(&mut self, ack: &NewAck, cwnd: u32, rtt: Span, delay_min: Span) -> bool {
        if self.has_ended {
            return false;
        }
        if ack.snd_una > self.end_seq {
            self.begin_round(ack);
        }
        if cwnd < LOW_WINDOW {
            return false;
        }
        let train = self.is_train(ack.now, delay_min);
        let late = self.is_late(rtt, delay_min);
        self.has_ended = train || late;
        self.has_ended
    }

    fn begin_round(&mut self, ack: &NewAck) {
        *self = HybridSlowStart {
            round_start: ack.now,
            end_seq: ack.snd_nxt,
            last_ack: ack.now,
            ..HybridSlowStart::new()
        };
    }

    fn is_train(&mut self, now: Time, delay_min: Span) -> bool {
        if now.since(self.last_ack) > ACK_DELTA {
            return false;
        }
        self.last_ack = now;
        let half = Span((delay_min + CUSHION).0 / 2);
        now.since(self.round_start) > half
    }

    fn is_late(&mut self, rtt: Span, delay_min: Span) -> bool {
        self.curr_rtt = self.curr_rtt.min(rtt);
        if self.samples < MIN_SAMPLES {
            self.samples += 1;
            return false;
        }
        let threshold = Span(delay_min.0 / 8).max(DELAY_MIN).min(DELAY_MAX);
        self.curr_rtt > delay_min + threshold
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::rtt::RttEstimator;

    /// Delivers the ACK with number `snd_una` at the time `us`, while 100 segments are outstanding.
    fn ack(hystart: &mut HybridSlowStart, us: u64, snd_una: u32, cwnd: u32, rtt: u64) -> bool {
        let estimator = RttEstimator::new(Span(1), Span(1));
        let ack = NewAck {
            now: Time(us * US),
            acked: 1,
            delivered: 1,
            snd_una,
            snd_nxt: snd_una + 100,
            rtt: &estimator,
        };
        hystart.on_ack(&ack, cwnd, Span(rtt * MS), Span(40 * MS))
    }

    /// The minimum round-trip time is 40 ms and the cushion is 1 ms, so a train must be longer than
    /// (40 + 1)/2 = 20.5 ms. A gap of more than 2 ms between ACKs ends the train.
    #[test]
    fn a_train_of_half_the_minimum_delay_ends_slow_start() {
        let mut hystart = HybridSlowStart::new();
        let mut ended = None;
        for k in 0..40 {
            // ACKs at intervals of 1 ms, in the round that begins with the first ACK
            if ack(&mut hystart, 1_000 * k, 1 + k as u32, 50, 40) {
                ended = Some(k);
                break;
            }
        }
        assert_eq!(ended, Some(21));
        assert!(!ack(&mut hystart, 22_000, 23, 50, 400), "once");

        let mut hystart = HybridSlowStart::new();
        for k in 0..40 {
            let pause = if k > 10 { 2_001 } else { 0 };
            assert!(
                !ack(&mut hystart, 1_000 * k + pause, 1 + k as u32, 50, 40),
                "{k}"
            );
        }
    }

    #[test]
    fn a_train_does_not_continue_in_the_next_round() {
        let mut hystart = HybridSlowStart::new();
        for k in 0..40 {
            // each round has ten ACKs
            let snd_una = 1 + 101 * (k / 10) as u32 + (k % 10) as u32;
            assert!(!ack(&mut hystart, 1_000 * k, snd_una, 50, 40), "{k}");
        }
    }

    /// The threshold is 40 ms plus an eighth: 45 ms. With an RTT of 45 ms slow start continues.
    /// With 46 ms it ends at the ninth sample.
    #[test]
    fn nine_late_samples_of_a_round_end_slow_start() {
        for (rtt, ends) in [(45, None), (46, Some(9))] {
            let mut hystart = HybridSlowStart::new();
            let mut late = |n: u64| ack(&mut hystart, 3_000 * n, n as u32, 50, rtt);
            assert_eq!((1..=30).find(|&n| late(n)), ends);
        }
        // a single sample below the threshold keeps slow start running
        let mut hystart = HybridSlowStart::new();
        for n in 1..=30 {
            let rtt = if n == 5 { 40 } else { 90 };
            assert!(!ack(&mut hystart, 3_000 * n, n as u32, 50, rtt));
        }
    }

    #[test]
    fn small_windows_stay_in_slow_start() {
        let mut hystart = HybridSlowStart::new();
        for n in 1..=30 {
            assert!(!ack(&mut hystart, 100 * n, n as u32, 15, 400));
        }
    }
}

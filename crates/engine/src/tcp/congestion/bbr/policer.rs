//! Long-term bandwidth, for paths with a token-bucket policer.
//!
//! References: Linux 6.12, `bbr_lt_bw_sampling` in net/ipv4/tcp_bbr.c; T. Flach et al., "An
//! Internet-wide analysis of traffic policing", SIGCOMM 2016.
//!
//! ```text
//! idle --loss--> interval of 4 to 16 rounds, which a loss ends, with at least 50/256 lost
//!      --two such intervals whose bandwidths differ by at most 1/8--> in use for 48 rounds --> idle
//! ```
//!
//! While the long-term bandwidth is in use, it replaces the maximum bandwidth, and the pacing gain is
//! 1.

use super::bandwidth::Bandwidth;
use crate::kernel::time::Time;

/// `bbr_lt_intvl_min_rtts`: minimum length of an interval; its maximum length is four times as
/// long. [rounds]
const MIN_ROUNDS: u32 = 4;

/// `bbr_lt_loss_thresh`: minimum number of lost segments per delivered segment. [1/256]
const MIN_LOSS: u64 = 50;

/// `bbr_lt_bw_max_rtts`: time for which the long-term bandwidth is used. [rounds]
const MAX_USE: u32 = 48;

#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    stage: Stage,
    /// `lt_bw`: bandwidth of the last interval, or the long-term bandwidth in use.
    bw: Bandwidth,
    /// `lt_rtt_cnt`: number of rounds of the interval, or of the use of the long-term bandwidth.
    rounds: u32,
    /// `lt_last_stamp`: start of the interval. [ms]
    start_ms: u64,
    /// `lt_last_delivered`, `lt_last_lost`: segments delivered and lost before the interval.
    delivered: u32,
    lost: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Idle,
    Sampling,
    InUse,
}

/// The values on which the long-term bandwidth depends, at one ACK or timeout.
pub(super) struct Event {
    pub(super) delivered_time: Time,
    /// Number of segments that have arrived so far.
    pub(super) delivered: u32,
    /// Number of segments declared lost so far.
    pub(super) lost: u32,
    /// Number of segments that this event declares lost.
    pub(super) losses: u32,
    pub(super) round_start: bool,
    pub(super) is_app_limited: bool,
    /// Whether BBR is in ProbeBw.
    pub(super) probes_bw: bool,
}

/// The effect of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// The use of the long-term bandwidth begins.
    Begins,
    /// The use of the long-term bandwidth ends.
    Ends,
}

impl Policer {
    pub(super) fn new() -> Policer {
        Policer {
            stage: Stage::Idle,
            bw: Bandwidth::ZERO,
            rounds: 0,
            start_ms: 0,
            delivered: 0,
            lost: 0,
        }
    }

    /// Returns the long-term bandwidth, if it is in use.
    #[inline]
    pub(super) fn bw(&self) -> Option<Bandwidth> {
        (self.stage == Stage::InUse).then_some(self.bw)
    }

    /// Returns whether no interval is in progress, and the long-term bandwidth is not in use.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.stage == Stage::Idle
    }

    /// `bbr_reset_lt_bw_sampling`: ends the search for a policer.
    pub(super) fn reset(&mut self) {
        *self = Policer::new();
    }

    /// `bbr_reset_lt_bw_sampling_interval`: begins an interval of the search.
    fn begin_interval(&mut self, event: &Event) {
        self.start_ms = event.delivered_time.0 / 1_000_000;
        self.delivered = event.delivered;
        self.lost = event.lost;
        self.rounds = 0;
    }

    /// `bbr_lt_bw_sampling`: processes an ACK or a timeout. Segments have `mss` bytes.
    #[inline]
    pub(super) fn on_sample(&mut self, event: &Event, mss: u64) -> Change {
        match self.stage {
            Stage::Idle if event.losses == 0 => return Change::None,
            Stage::Idle => {
                self.begin_interval(event);
                self.stage = Stage::Sampling;
            }
            Stage::InUse => return self.use_on(event),
            Stage::Sampling => {}
        }
        self.sample(event, mss)
    }

    fn use_on(&mut self, event: &Event) -> Change {
        if event.probes_bw && event.round_start {
            self.rounds += 1;
            if self.rounds >= MAX_USE {
                self.reset();
                return Change::Ends;
            }
        }
        Change::None
    }

    fn sample(&mut self, event: &Event, mss: u64) -> Change {
        if event.is_app_limited {
            self.reset();
            return Change::None;
        }
        self.rounds += u32::from(event.round_start);
        if self.rounds < MIN_ROUNDS {
            return Change::None;
        }
        if self.rounds > 4 * MIN_ROUNDS {
            self.reset();
            return Change::None;
        }
        if event.losses == 0 {
            return Change::None;
        }
        let lost = u64::from(event.lost - self.lost);
        let delivered = event.delivered - self.delivered;
        if delivered == 0 || lost << 8 < MIN_LOSS * u64::from(delivered) {
            return Change::None;
        }
        let length_ms = event.delivered_time.0 / 1_000_000 - self.start_ms;
        if length_ms == 0 {
            return Change::None;
        }
        self.end_interval(event, Bandwidth::of(delivered, 1_000 * length_ms), mss)
    }

    /// `bbr_lt_bw_interval_done`: ends an interval with the bandwidth `bw`.
    fn end_interval(&mut self, event: &Event, bw: Bandwidth, mss: u64) -> Change {
        if self.bw > Bandwidth::ZERO && self.bw.is_near(bw, mss) {
            self.bw = Bandwidth((bw.0 + self.bw.0) / 2);
            self.stage = Stage::InUse;
            self.rounds = 0;
            return Change::Begins;
        }
        self.bw = bw;
        self.begin_interval(event);
        Change::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten segments arrive per round of 10 ms, and `lost` segments per round are lost. Returns the
    /// changes, with their rounds.
    fn play(policer: &mut Policer, rounds: std::ops::Range<u32>, lost: u32) -> Vec<(u32, Change)> {
        rounds
            .filter_map(|round| {
                let event = Event {
                    delivered_time: Time(u64::from(round) * 10_000_000),
                    delivered: 10 * round,
                    lost: lost * round,
                    losses: lost,
                    round_start: true,
                    is_app_limited: false,
                    probes_bw: true,
                };
                let change = policer.on_sample(&event, 1460);
                (change != Change::None).then_some((round, change))
            })
            .collect()
    }

    /// The first interval begins with the first loss, in round 1, which counts. It ends in round 4,
    /// after 4 rounds. The second interval ends in round 8. The long-term bandwidth is used for 48
    /// rounds.
    #[test]
    fn two_intervals_with_equal_bandwidth_and_much_loss_show_a_policer() {
        let mut policer = Policer::new();
        let changes = play(&mut policer, 1..9, 2);
        assert_eq!(changes, [(8, Change::Begins)]);
        assert_eq!(policer.bw(), Some(Bandwidth::of(40, 40_000)));
        let changes = play(&mut policer, 9..60, 2);
        assert_eq!(changes[0], (56, Change::Ends));
    }

    /// With one lost segment per ten delivered segments, 26/256 are lost, but the threshold is 50/256.
    #[test]
    fn a_tenth_of_loss_shows_no_policer() {
        let mut policer = Policer::new();
        assert_eq!(play(&mut policer, 1..100, 1), []);
        assert_eq!(policer.bw(), None);
    }
}

//! Rounds: round trips that are delimited by sequence numbers, with their round-trip times.
//!
//! A round begins with an ACK, and ends before the ACK of the first segment sent after that ACK.
//! Delay-based algorithms decide once per round. Sums are in whole nanoseconds, so that a path
//! without any queue has a delay of exactly 0.

use super::control::NewAck;
use crate::kernel::time::Span;

/// The position of an ACK in the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// The current round continues.
    Within,
    /// A round begins: the first round of the connection, or the first round after a loss.
    Begins,
    /// A round begins, and the contained round has ended.
    Over(Round),
}

/// The round-trip times of a round. [s]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// Mean of the round-trip times in the round.
    pub(super) mean_rtt: f64,
    /// Queueing delay of the mean: its difference to the smallest round-trip time so far (baseRTT).
    pub(super) delay: f64,
    /// Maximum queueing delay of any segment so far.
    pub(super) largest_delay: f64,
}

/// The current round, and the extremes of the round-trip time so far.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Segment whose ACK begins the next round. It was the next segment to send when the current
    /// round began.
    end: Option<u32>,
    sum: Span,
    samples: u64,
    /// Smallest of all samples.
    least: Span,
    greatest: Span,
}

impl Rounds {
    pub(super) fn new() -> Rounds {
        Rounds {
            end: None,
            sum: Span::ZERO,
            samples: 0,
            least: Span(u64::MAX),
            greatest: Span::ZERO,
        }
    }

    /// Adds the sample of an ACK.
    pub(super) fn on_ack(&mut self, ack: &NewAck) -> Turn {
        let Some(sample) = ack.rtt.last_sample() else {
            return Turn::Within;
        };
        let turn = match self.end {
            Some(end) if ack.snd_una <= end => Turn::Within,
            Some(_) => Turn::Over(self.round()),
            None => Turn::Begins,
        };
        if turn != Turn::Within {
            self.interrupt();
            self.end = Some(ack.snd_nxt);
        }
        self.least = self.least.min(sample);
        self.greatest = self.greatest.max(sample);
        self.sum = self.sum + sample;
        self.samples += 1;
        turn
    }

    /// Ends the current round without a result, because of a loss. The next round begins with the
    /// next ACK.
    pub(super) fn interrupt(&mut self) {
        self.end = None;
        self.sum = Span::ZERO;
        self.samples = 0;
    }

    /// Returns the round that has ended. It has a sample, because it began with an ACK.
    fn round(&self) -> Round {
        let samples = self.samples as f64;
        let delay = Span(self.sum.0 - self.samples * self.least.0);
        Round {
            mean_rtt: self.sum.seconds() / samples,
            delay: delay.seconds() / samples,
            largest_delay: Span(self.greatest.0 - self.least.0).seconds(),
        }
    }
}

//! Divides a connection into rounds: round trips that are delimited by sequence numbers. The
//! round-trip times of each round are summarised.
//!
//! A round begins with an ACK, and ends before the ACK of the first segment sent after that ACK.
//! Delay-based congestion controls update their state once per round. Sums are in whole
//! nanoseconds, so that a path without any queue has a delay of exactly 0.

use super::control::NewAck;
use crate::kernel::time::Span;

/// The effect of an ACK on the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// The ACK belongs to the current round.
    Within,
    /// The ACK begins a round: the first of the connection, or the first after a loss.
    Begins,
    /// The ACK begins a round, and the previous round has ended with this result.
    Over(Round),
}

/// The result of a round: its round-trip times. [s]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// Mean of the round-trip times in the round.
    pub(super) mean_rtt: f64,
    /// Mean queueing delay: mean of the round-trip times in the round, minus the minimum round-trip
    /// time so far (baseRTT).
    pub(super) delay: f64,
    /// Maximum queueing delay of any sample so far.
    pub(super) largest_delay: f64,
}

/// The current round, with the minimum and maximum round-trip time so far.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// Number of the segment whose ACK begins the next round: the next segment to send when the
    /// current round began; `None` if no round is in progress.
    end: Option<u32>,
    sum: Span,
    samples: u64,
    /// Minimum round-trip time of all samples so far.
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

    /// Adds the round-trip time sample of an ACK. Returns the effect of the ACK on the rounds.
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

    /// Discards the current round because of a loss. The next round begins with the next ACK.
    pub(super) fn interrupt(&mut self) {
        self.end = None;
        self.sum = Span::ZERO;
        self.samples = 0;
    }

    /// Returns the result of the round that has ended. It has at least one sample, because it began
    /// with an ACK.
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

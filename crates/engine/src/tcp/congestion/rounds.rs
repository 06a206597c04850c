//! Round trips, told apart by sequence numbers, and the round-trip times seen in them.
//!
//! A round begins with an ACK and ends before the ACK of the first segment sent after that.
//! Delay-based laws decide once a round. Sums are of whole nanoseconds, so that a path without
//! any queue has a delay of exactly 0.

use super::control::NewAck;
use crate::kernel::time::Span;

/// What an ACK means to the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Turn {
    /// The round goes on.
    Within,
    /// A round begins, the first or the first after a loss.
    Begins,
    /// A round begins, and this one is over.
    Over(Round),
}

/// What a round showed. [s]
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Round {
    /// Mean of its round-trip times.
    pub(super) mean_rtt: f64,
    /// Queueing delay in that mean: what it is above the least round-trip time so far (baseRTT).
    pub(super) delay: f64,
    /// Largest queueing delay of any segment so far.
    pub(super) largest_delay: f64,
}

/// Tells rounds apart.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// The segment whose ACK begins the next round: the next to send when this round began.
    end: Option<u32>,
    sum: Span,
    samples: u64,
    /// The shortest of all samples.
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

    /// Takes the sample of an ACK.
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

    /// A loss: the round under way does not count, the next one begins with the next ACK.
    pub(super) fn interrupt(&mut self) {
        self.end = None;
        self.sum = Span::ZERO;
        self.samples = 0;
    }

    /// The round that is over; it began with an ACK, so that it has a sample.
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

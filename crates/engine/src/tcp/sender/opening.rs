//! How a connection begins: SYN and SYN-ACK, and what it costs that one of them is lost.
//!
//! References: RFC 9293, section 3.5; RFC 6298, rules 2.1, 5.5 and 5.7; RFC 5681, section 3.1; RFC 7323,
//! section 3.2.
//!
//! ```text
//! Closed --open--> Due --next_opening--> Sent --SYN-ACK--> Open, which sends data
//!                   ^---- the timer expires ----'
//! ```
//!
//! Who has data opens the connection. The first segment carries the ACK that ends the handshake. The
//! SYN-ACK echoes the time of the SYN that it answers, so that it is a round-trip sample even where
//! the SYN was repeated.
//!
//! Differs from the RFCs in: whoever answers keeps no timer of its own, but answers every SYN; where
//! a SYN-ACK is lost the next SYN comes when that timer would have expired, unless it is lost too.
//! FIN is left out: whoever has nothing more to send is done. Differs from Linux in: after a lost SYN
//! one segment is sent and not `initial_window` (RFC 5681, section 3.1), and the RTO is 3 s (RFC 6298,
//! rule 5.7).

use super::Sender;
use crate::kernel::time::{Span, Time};

/// Least RTO after a lost SYN, until the next sample (RFC 6298, rule 5.7).
const RTO_AFTER_LOSS: Span = Span(3_000_000_000);

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Closed,
    /// A SYN has to leave.
    Due,
    /// A SYN has left.
    Sent,
    Open,
}

/// The beginning of a connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    stage: Stage,
    /// Whether the SYN was sent again.
    repeated: bool,
}

impl Opening {
    pub(super) fn new(handshake: bool) -> Opening {
        Opening {
            stage: if handshake {
                Stage::Closed
            } else {
                Stage::Open
            },
            repeated: false,
        }
    }
}

/// A SYN to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Syn {
    /// Whether it was sent before.
    pub repeated: bool,
}

impl Sender {
    /// The connection is to be opened, if it has a handshake; [`open`](Sender::open) does so too.
    pub fn connect(&mut self) {
        if self.opening.stage == Stage::Closed {
            self.opening.stage = Stage::Due;
        }
    }

    /// What may be sent once the connection is open; all of it from now on if it is.
    pub(super) fn grant(&mut self, limit: u32) {
        self.granted = limit;
        if self.opening.stage == Stage::Open {
            self.limit = limit;
        }
    }

    /// Whether a SYN has to leave; to be asked once there is no [`next_segment`](Sender::next_segment).
    #[inline(always)]
    pub fn has_to_open(&self) -> bool {
        self.opening.stage == Stage::Due
    }

    /// Whether data may be sent.
    pub(super) fn is_open(&self) -> bool {
        self.opening.stage == Stage::Open
    }

    /// The SYN that has to leave, which counts as sent from here on.
    #[cold]
    pub fn next_opening(&mut self, now: Time) -> Option<Syn> {
        if !self.has_to_open() {
            return None;
        }
        self.opening.stage = Stage::Sent;
        self.restart_timer(now);
        Some(Syn {
            repeated: self.opening.repeated,
        })
    }

    /// The timer expired; whether it was that of a SYN, which has to leave again.
    pub(super) fn repeats_syn(&mut self) -> bool {
        if self.opening.stage != Stage::Sent {
            return false;
        }
        self.opening.stage = Stage::Due;
        self.opening.repeated = true;
        self.rtt.back_off();
        self.timer = Time::NEVER;
        true
    }

    /// A SYN-ACK arrived, which answers a SYN sent at `echo`; poll for segments afterwards.
    #[cold]
    pub fn on_syn_ack(&mut self, now: Time, echo: Time) {
        if !matches!(self.opening.stage, Stage::Due | Stage::Sent) {
            return;
        }
        self.rtt.on_sample(now.since(echo), 1);
        if self.opening.repeated {
            self.rtt.be_at_least(RTO_AFTER_LOSS);
            self.congestion.begin_with_one();
        }
        self.opening.stage = Stage::Open;
        self.limit = self.granted;
        self.timer = Time::NEVER;
    }

    /// Nothing is to be sent any more; a connection that is not open will not be opened.
    pub(super) fn stop_opening(&mut self) {
        if self.opening.stage != Stage::Open {
            self.opening.stage = Stage::Open;
            self.timer = Time::NEVER;
        }
    }
}

#[cfg(test)]
mod tests;

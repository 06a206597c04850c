//! The handshake at the beginning of a connection: SYN, SYN-ACK, and the effect of their loss.
//!
//! References: RFC 9293, section 3.5; RFC 6298, rules 2.1, 5.5 and 5.7; RFC 5681, section 3.1; RFC 7323,
//! section 3.2.
//!
//! ```text
//! Closed --open--> Due --next_opening--> Sent --SYN-ACK--> Open, which sends data
//!                   ^---- the timer expires ----'
//! ```
//!
//! The side that has data opens the connection. The first segment carries the ACK that ends the
//! handshake. The SYN-ACK echoes the time of the SYN that caused it. Therefore it gives a
//! round-trip sample even if the SYN was repeated.
//!
//! Differs from the RFCs in:
//! - The side that receives the SYN has no timer, but replies to every SYN. If a SYN-ACK is lost,
//!   the next SYN arrives when such a timer would have expired, unless this SYN is lost as well.
//! - There is no FIN: a sender that has no more data is finished.
//!
//! Differs from Linux in: after a lost SYN one segment is sent, not `initial_window` segments (RFC
//! 5681, section 3.1), and the RTO is 3 s (RFC 6298, rule 5.7).

use super::Sender;
use super::handshake::{Stage, Syn};
use crate::kernel::time::{Span, Time};

/// Smallest RTO after a lost SYN, until the next sample (RFC 6298, rule 5.7).
const MIN_RTO_AFTER_LOSS: Span = Span(3_000_000_000);

impl Sender {
    /// Begins the handshake, if the connection has a handshake. [`open`](Sender::open) calls this
    /// function.
    pub fn connect(&mut self) {
        if self.handshake.stage == Stage::Closed {
            self.handshake.stage = Stage::Due;
        }
    }

    /// Permits the transmission of segments before `limit`, as soon as the connection is open.
    pub(super) fn grant(&mut self, limit: u32) {
        self.granted = limit;
        if self.handshake.stage == Stage::Open {
            self.limit = limit;
        }
    }

    /// Returns whether a SYN must be sent. Call this function after
    /// [`next_segment`](Sender::next_segment) has returned `None`.
    #[inline(always)]
    pub fn has_to_open(&self) -> bool {
        self.handshake.stage == Stage::Due
    }

    /// Returns whether data may be sent.
    pub(super) fn is_open(&self) -> bool {
        self.handshake.stage == Stage::Open
    }

    /// Returns the SYN that must be sent; `None` if there is no such SYN. The SYN is then
    /// considered sent.
    #[cold]
    pub fn next_opening(&mut self, now: Time) -> Option<Syn> {
        if !self.has_to_open() {
            return None;
        }
        self.handshake.stage = Stage::Sent;
        self.restart_timer(now);
        Some(Syn {
            repeated: self.handshake.repeated,
        })
    }

    /// Processes the expiry of the timer. Returns whether the timer was that of a SYN, which
    /// must then be retransmitted.
    pub(super) fn repeats_syn(&mut self) -> bool {
        if self.handshake.stage != Stage::Sent {
            return false;
        }
        self.handshake.stage = Stage::Due;
        self.handshake.repeated = true;
        self.rtt.back_off();
        self.timer = Time::NEVER;
        true
    }

    /// Processes a SYN-ACK in response to the SYN sent at `echo`. Poll for segments afterwards.
    #[cold]
    pub fn on_syn_ack(&mut self, now: Time, echo: Time) {
        if !matches!(self.handshake.stage, Stage::Due | Stage::Sent) {
            return;
        }
        self.rtt.on_sample(now.since(echo), 1);
        if self.handshake.repeated {
            self.rtt.be_at_least(MIN_RTO_AFTER_LOSS);
            self.congestion.begin_with_one();
        }
        self.handshake.stage = Stage::Open;
        self.limit = self.granted;
        self.timer = Time::NEVER;
    }

    /// Ends a handshake that is not complete, because nothing more will be sent.
    pub(super) fn stop_opening(&mut self) {
        if self.handshake.stage != Stage::Open {
            self.handshake.stage = Stage::Open;
            self.timer = Time::NEVER;
        }
    }
}

#[cfg(test)]
mod tests;

//! Validation of the congestion window of a sender whose application does not always have data: the
//! restart after idle time, and the growth of a window that is not used.
//!
//! References: RFC 5681, section 4.1; RFC 7661; Linux 6.x, `tcp_cwnd_restart`, `tcp_cwnd_validate`
//! and `tcp_cwnd_application_limited` in net/ipv4/tcp_output.c, `tcp_is_cwnd_limited` in
//! include/net/tcp.h.
//!
//! IW is the initial window. "Idle" means that nothing is outstanding, and that the last segment was
//! sent more than one RTO ago.
//!
//! ```text
//! keep      the window is not changed
//! rfc5681   before a write after idle    cwnd = min(cwnd, IW)
//! linux     before a write after idle    ssthresh = max(ssthresh, 3/4 cwnd); cwnd is halved for
//!                                        each further RTO, but not below min(cwnd, IW)
//!           window not used for an RTO   ssthresh = max(ssthresh, 3/4 cwnd);
//!                                        cwnd = (cwnd + max(used, IW)) / 2 if used is below cwnd
//!           growth                       only while cwnd is used up, or in slow start while
//!                                        cwnd < 2 used
//! rfc7661   non-validated phase          while pipeACK < cwnd / 2
//!           growth                       in the non-validated phase only while cwnd is used up
//!           a loss in this phase         cwnd, ssthresh at most max(pipeACK, flight) / 2
//!           five minutes in this phase   ssthresh = max(ssthresh, 3/4 cwnd);
//!                                        cwnd = max(cwnd / 2, IW)
//! ```
//!
//! `used` is the largest number of outstanding segments, and pipeACK the largest number of segments
//! acknowledged per round trip in the last max(3 SRTT, 1 s). pipeACK is not defined before the first
//! sample and after a loss, and the window then counts as validated.
//!
//! The congestion controls process idle time and application-limited periods themselves: see
//! `cubic.rs` and `cubic_linux.rs` for the epoch of CUBIC.
//!
//! Differs from Linux in: times are exact, and not in timer ticks.
//!
//! Differs from RFC 7661 in:
//! - A burst after idle time is not paced (section 4.4 recommends it), unless `pacing` is set.
//! - The number of retransmitted segments is not subtracted after a recovery (section 4.4.1).
//! - The five minutes begin at the last ACK that found the window validated, and they are checked
//!   when the application writes or an ACK arrives.

use std::collections::VecDeque;

use super::congestion::Window;
use crate::kernel::time::{Span, Time};
use crate::words;

words! {
    /// Rule for the congestion window of a sender that was idle or does not use its window.
    pub enum AfterIdle {
        /// The window is kept, and grows with every ACK.
        Keep = "keep",
        /// Restart with the initial window after idle time of more than an RTO (RFC 5681, section 4.1).
        Rfc5681 = "rfc5681",
        /// Congestion window validation (RFC 7661).
        Rfc7661 = "rfc7661",
        /// The rules of Linux with `tcp_slow_start_after_idle`.
        Linux = "linux",
    }
}

/// Duration of the non-validated phase after which the window is reduced (RFC 7661, section 4.4.3).
const NON_VALIDATED_PERIOD: Span = Span(300_000_000_000);

/// Shortest period over which pipeACK is the maximum (RFC 7661, section 4.2).
const MIN_SAMPLING_PERIOD: Span = Span(1_000_000_000);

/// The state of a sender on an event of its application or of an ACK.
#[derive(Clone, Copy, Debug)]
pub(super) struct SenderView {
    pub(super) now: Time,
    pub(super) snd_una: u32,
    pub(super) snd_nxt: u32,
    pub(super) rto: Span,
    pub(super) srtt: Option<Span>,
}

impl SenderView {
    fn flight(&self) -> u32 {
        self.snd_nxt - self.snd_una
    }
}

/// The validation of one sender's window.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Validation {
    rule: AfterIdle,
    /// Initial window. [packets]
    initial: f64,
    /// Time of the last transmission; `None` before the first.
    last_sent: Option<Time>,
    usage: Usage,
    pipe_ack: PipeAck,
    /// Time of the last ACK that found the window validated (RFC 7661).
    validated_at: Time,
    is_validated: bool,
}

/// The use of the window, as Linux records it.
#[derive(Clone, Copy, Debug, Default)]
struct Usage {
    /// Whether the sender has used up its window, `is_cwnd_limited`.
    is_limited: bool,
    /// `max_packets_out`, the largest number of outstanding segments in the present window.
    max_flight: u32,
    /// `cwnd_usage_seq`, the number of the segment at which the next window begins.
    next: u32,
    /// `snd_cwnd_used`, the largest number of outstanding segments since `since`.
    used: u32,
    /// `snd_cwnd_stamp`, the last time at which the window was used up or validated.
    since: Time,
}

impl Validation {
    /// Returns the validation by `rule` for a connection with the initial window `initial`; `None`
    /// if the rule keeps the window.
    pub(super) fn new(rule: AfterIdle, initial: u32) -> Option<Validation> {
        let validation = Validation {
            rule,
            initial: f64::from(initial),
            last_sent: None,
            usage: Usage::default(),
            pipe_ack: PipeAck::default(),
            validated_at: Time::ZERO,
            is_validated: true,
        };
        (rule != AfterIdle::Keep).then_some(validation)
    }

    /// Changes the window before the application writes.
    pub(super) fn on_write(&mut self, sender: &SenderView, window: &mut Window) {
        let Some(last_sent) = self.last_sent else {
            return;
        };
        let idle = sender.now.since(last_sent);
        let is_idle = sender.flight() == 0 && idle > sender.rto;
        match self.rule {
            AfterIdle::Keep => {}
            AfterIdle::Rfc5681 if is_idle => window.cwnd = window.cwnd.min(self.initial),
            AfterIdle::Linux if is_idle => self.restart_as_linux(sender, idle, window),
            AfterIdle::Rfc7661 => self.check_phase(sender, window),
            AfterIdle::Rfc5681 | AfterIdle::Linux => {}
        }
    }

    /// Halves the window once per RTO of idle time, as `tcp_cwnd_restart`.
    fn restart_as_linux(&mut self, sender: &SenderView, idle: Span, window: &mut Window) {
        window.ssthresh = current_ssthresh(window);
        let least = window.cwnd.min(self.initial);
        let mut left = idle.0 - sender.rto.0;
        let mut cwnd = window.cwnd;
        while left > 0 && cwnd > least {
            cwnd = libm::floor(cwnd / 2.0);
            left = left.saturating_sub(sender.rto.0.max(1));
        }
        window.cwnd = cwnd.max(least);
        self.usage.used = 0;
        self.usage.since = sender.now;
    }

    /// Records the transmission of a segment.
    pub(super) fn on_sent(&mut self, sender: &SenderView) {
        self.last_sent = Some(sender.now);
    }

    /// Records the use of the window after the sender has sent all segments that it may send.
    pub(super) fn on_poll(&mut self, sender: &SenderView, window: &mut Window) {
        let flight = sender.flight();
        let is_limited = f64::from(flight + 1) > window.cwnd;
        // the window is checked only if the sender has sent something, or could not
        if self.last_sent != Some(sender.now) && !is_limited {
            return;
        }
        let usage = &mut self.usage;
        if sender.snd_una >= usage.next
            || is_limited
            || !usage.is_limited && flight > usage.max_flight
        {
            usage.is_limited = is_limited;
            usage.max_flight = flight;
            usage.next = sender.snd_nxt;
        }
        if self.rule != AfterIdle::Linux {
            return;
        }
        if self.uses_window(window) {
            self.usage.used = 0;
            self.usage.since = sender.now;
            return;
        }
        let usage = &mut self.usage;
        usage.used = usage.used.max(flight);
        if sender.now.since(usage.since) >= sender.rto {
            let used = f64::from(usage.used).max(self.initial);
            if used < window.cwnd {
                window.ssthresh = current_ssthresh(window);
                window.cwnd = libm::floor((window.cwnd + used) / 2.0);
            }
            usage.used = 0;
            usage.since = sender.now;
        }
    }

    /// Returns whether the sender uses its window, as `tcp_is_cwnd_limited`.
    fn uses_window(&self, window: &Window) -> bool {
        self.usage.is_limited
            || window.is_below_ssthresh() && window.cwnd < 2.0 * f64::from(self.usage.max_flight)
    }

    /// Processes an ACK of the segments from `before` up to before `sender.snd_una`, before the
    /// window grows.
    pub(super) fn on_ack(&mut self, before: u32, sender: &SenderView, window: &mut Window) {
        if self.rule == AfterIdle::Rfc7661 {
            if sender.snd_una > before {
                self.pipe_ack.on_ack(before, sender);
            }
            self.check_phase(sender, window);
        }
    }

    /// Determines the phase of RFC 7661, and ends a non-validated phase of five minutes.
    fn check_phase(&mut self, sender: &SenderView, window: &mut Window) {
        self.is_validated = (self.pipe_ack.value(sender))
            .is_none_or(|pipe_ack| f64::from(pipe_ack) >= window.cwnd / 2.0);
        if self.is_validated {
            self.validated_at = sender.now;
        }
        while sender.now.since(self.validated_at) > NON_VALIDATED_PERIOD {
            window.ssthresh = current_ssthresh(window);
            window.cwnd = (window.cwnd / 2.0).max(self.initial.min(window.cwnd));
            self.validated_at += NON_VALIDATED_PERIOD;
        }
    }

    /// Returns whether an ACK of new data may increase the window.
    pub(super) fn may_grow(&self, window: &Window) -> bool {
        match self.rule {
            AfterIdle::Keep | AfterIdle::Rfc5681 => true,
            AfterIdle::Linux => self.uses_window(window),
            AfterIdle::Rfc7661 => self.is_validated || self.usage.is_limited,
        }
    }

    /// Limits the window after the congestion control has reduced it, because a loss was detected
    /// while `flight` segments were outstanding.
    pub(super) fn on_loss(&mut self, sender: &SenderView, flight: u32, window: &mut Window) {
        if self.rule != AfterIdle::Rfc7661 {
            return;
        }
        if !self.is_validated {
            let pipe_ack = self.pipe_ack.value(sender).unwrap_or(0);
            let least = window.cwnd.min(2.0);
            let most = f64::from(pipe_ack.max(flight)) / 2.0;
            let excess = (window.ssthresh - most.max(least)).max(0.0);
            window.ssthresh -= excess;
            window.cwnd = (window.cwnd - excess).max(least);
        }
        self.reset(sender.now);
    }

    /// Discards the samples of pipeACK after a loss (RFC 7661, section 4.4.1).
    pub(super) fn reset(&mut self, now: Time) {
        self.pipe_ack = PipeAck::default();
        self.is_validated = true;
        self.validated_at = now;
    }
}

/// Returns the slow-start threshold of a sender that has not used its window: at least 3/4 of the
/// window, in whole packets (`tcp_current_ssthresh`).
fn current_ssthresh(window: &Window) -> f64 {
    let three_quarters = libm::floor(window.cwnd / 2.0) + libm::floor(window.cwnd / 4.0);
    window.ssthresh.max(three_quarters)
}

/// The variable pipeACK of RFC 7661 (section 4.2).
#[derive(Clone, Debug, Default)]
struct PipeAck {
    /// Numbers of the first segment of the present round trip, and of the segment after its last.
    round: Option<(u32, u32)>,
    /// Samples, each with its time. The samples decrease, because an earlier sample has no effect
    /// if a later one is as large.
    samples: VecDeque<(Time, u32)>,
    /// Whether there was a sample since the start or since the last loss.
    is_defined: bool,
}

impl PipeAck {
    /// Processes an ACK. Before it, the first unacknowledged segment was `before`. A round trip
    /// begins with the first ACK of outstanding segments, and ends when these segments are
    /// acknowledged.
    fn on_ack(&mut self, before: u32, sender: &SenderView) {
        let &mut (first, end) = self.round.get_or_insert((before, sender.snd_nxt));
        if sender.snd_una < end {
            return;
        }
        let sample = sender.snd_una - first;
        while self
            .samples
            .back()
            .is_some_and(|&(_, other)| other <= sample)
        {
            self.samples.pop_back();
        }
        self.samples.push_back((sender.now, sample));
        self.is_defined = true;
        self.round = None;
    }

    /// Returns the largest sample of the sampling period; 0 if the period has no sample, and `None`
    /// if the variable is not defined. [packets]
    fn value(&mut self, sender: &SenderView) -> Option<u32> {
        let period = MIN_SAMPLING_PERIOD.max(sender.srtt.unwrap_or(Span::ZERO) * 3);
        while let Some(&(at, _)) = self.samples.front()
            && sender.now.since(at) > period
        {
            self.samples.pop_front();
        }
        let largest = self.samples.front().map_or(0, |&(_, sample)| sample);
        self.is_defined.then_some(largest)
    }
}

#[cfg(test)]
mod cubic_tests;
#[cfg(test)]
mod tests;

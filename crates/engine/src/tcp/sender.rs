//! The sending half of a connection: sequence numbers, timers, and the choice of the next segment.
//!
//! References: RFC 9293 (names), RFC 6298 (timer), RFC 5681 and RFC 6582 (recovery).
//!
//! ```text
//!      snd_una           snd_nxt            snd_max            limit
//! acked   |  outstanding    |  sent, to be sent |   never sent    |  no data
//!         |                 |  again (go-back-N) |                 |
//! ```
//!
//! Differs from the RFCs in:
//! - FlightSize is snd_nxt - snd_una: after a timeout, all segments sent before it are considered
//!   lost.
//! - A fast retransmit restarts the timer, as in BSD, Linux and ns-2. With RFC 6298 only, the timer
//!   could expire while the retransmission is in flight.
//! - cwnd is reset after idle time (RFC 5681, section 4.1) only with `after_idle` (`validation.rs`). A
//!   bulk flow is never idle.
//! - Spurious timeouts are detected and undone only with `undo` (`undo.rs`), and without F-RTO (RFC
//!   5682).

mod board;
mod ecn;
mod handshake;
mod idle;
mod marks;
mod opening;
mod rack_tlp;
mod selective;
mod timed;
mod tracking;
mod undo;

use board::Board;
use handshake::Handshake;
pub use handshake::Syn;
use marks::Marks;

use super::Ack;
use super::congestion::state::Congestion;
use super::congestion::{CongestionSign, NewAck, RecoveryAck, Sent};
use super::limit::Limit;
use super::recovery::{Reaction, Recovery, RecoveryMode};
use super::rtt::RttEstimator;
use crate::kernel::time::{Span, Time};
use crate::packet::{Ecn, EcnEcho};
use crate::tcp::TcpSettings;

/// Number of segments that a delayed ACK covers (RFC 5681, section 4.2).
const DELAYED_ACK: u32 = 2;

/// A data segment to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the segment in its flow, counted from 0.
    pub number: u32,
    /// Whether the segment was sent before.
    pub retransmission: bool,
    /// ECN codepoint, which states whether queues may mark the segment.
    pub ecn: Ecn,
    /// CWR flag, on the first new segment after a reduction of the window.
    pub echo: EcnEcho,
}

/// The sending half of one connection.
///
/// After each of [`open`](Sender::open), [`on_ack`](Sender::on_ack),
/// [`on_syn_ack`](Sender::on_syn_ack) and [`on_timer`](Sender::on_timer), call
/// [`next_segment`](Sender::next_segment), and then [`next_opening`](Sender::next_opening), until
/// both return `None`. Each of these calls may move the [`deadline`](Sender::deadline), also to an
/// earlier time.
#[derive(Clone, Debug)]
#[repr(align(64))] // three cache lines
pub struct Sender {
    /// Oldest unacknowledged segment.
    snd_una: u32,
    /// Next segment to send. Go-back-N sets it to `snd_una`.
    snd_nxt: u32,
    /// One past the highest segment ever sent.
    snd_max: u32,
    /// One past the last segment that may be sent; 0 until the flow is opened or supplied with
    /// data.
    limit: u32,
    /// Value to which `limit` is set when the connection is established.
    granted: u32,
    /// One past the last segment of the flow.
    end: u32,
    /// Whether the flow was closed before all of its data was sent.
    is_cut: bool,
    /// Whether segment `snd_una` must be retransmitted, regardless of the window.
    retransmit: bool,
    recovery_mode: RecoveryMode,
    recovery: Recovery,
    pub(super) congestion: Congestion,
    /// Scoreboard of segments that are known to have arrived; `None` without SACK.
    scoreboard: Option<Box<Board>>,
    /// Whether ACKs and transmissions are processed with the scoreboard or the state of each
    /// segment, not only by sequence numbers. With a scoreboard the value is true from the first
    /// sign of a loss until the loss is repaired. The value is always true with RACK-TLP, if the
    /// congestion control attaches a state to each segment, or if the window is validated.
    in_detail: bool,
    /// Whether a timeout in fast recovery halves ssthresh again.
    rto_halves_again: bool,
    marks: Marks,
    handshake: Handshake,
    /// Limit that ended the last poll for segments.
    limit_met: Limit,
    rtt: RttEstimator,
    /// Expiry of the armed timer: the retransmission timer, or one of the three timers of RACK-TLP.
    timer: Time,
    /// Departure time of the next segment, while the congestion control delays this segment;
    /// otherwise [`Time::NEVER`].
    departure: Time,
    fast_retransmits: u32,
}

impl Sender {
    /// Returns a sender, which sends nothing before it is opened.
    pub fn new(settings: &TcpSettings) -> Sender {
        let end = settings.segments.unwrap_or(u64::MAX);
        let congestion = Congestion::new(settings);
        let is_tracked = congestion.is_tracked();
        let is_validated = congestion.is_validated();
        Sender {
            snd_una: 0,
            snd_nxt: 0,
            snd_max: 0,
            limit: 0,
            granted: 0,
            end: u32::try_from(end).unwrap_or(u32::MAX),
            is_cut: false,
            retransmit: false,
            recovery_mode: congestion.recovery_mode(),
            recovery: Recovery::START,
            congestion,
            scoreboard: settings.sack.then(|| Board::new(settings).into()),
            in_detail: settings.sack && settings.rack || is_tracked || is_validated,
            rto_halves_again: settings.rto_halves_again,
            marks: Marks::new(settings),
            handshake: Handshake::new(settings.handshake),
            limit_met: Limit::None,
            rtt: RttEstimator::new(settings.initial_rto, settings.min_rto),
            timer: Time::NEVER,
            departure: Time::NEVER,
            fast_retransmits: 0,
        }
    }

    /// Starts the flow.
    pub fn open(&mut self) {
        self.connect();
        self.check_app_limited();
        self.grant(self.end);
    }

    /// Stops sending new data. Outstanding segments are still retransmitted if they are lost.
    pub fn close(&mut self) {
        self.is_cut |= self.end > self.snd_max;
        self.end = self.snd_max;
        self.stop_opening();
        self.grant(self.snd_max);
        if self.snd_nxt >= self.limit {
            self.meet_end();
        }
    }

    /// Processes an ACK. Poll for segments afterwards.
    #[inline(always)]
    pub fn on_ack(&mut self, now: Time, ack: Ack) {
        if ack.ece.speaks() {
            return self.on_speaking_ack(now, ack.next, ack.echo, ack.ece);
        }
        self.take_ack(now, ack.next, ack.echo, false);
    }

    /// Processes an ACK with an ECN echo. The arguments are single values, because an `Ack` would be
    /// written to memory on every ACK.
    #[cold]
    #[inline(never)]
    fn on_speaking_ack(&mut self, now: Time, next: u32, echo: Time, ece: EcnEcho) {
        self.on_echo(now, next, ece);
        self.take_ack(now, next, echo, ece.is_set());
    }

    /// Processes an ACK apart from its ECN echo. `next` is the number of the next expected segment,
    /// and `echo` is the echoed timestamp. The window does not grow if `holds` is true.
    #[inline(always)]
    fn take_ack(&mut self, now: Time, next: u32, echo: Time, holds: bool) {
        if next > self.snd_una {
            self.on_new_ack(now, next, echo, holds);
        } else if next == self.snd_una && self.snd_una < self.snd_max {
            self.on_dup_ack(now);
        }
        // an ACK below `snd_una` is ignored, because a later ACK has overtaken it
    }

    /// Returns the next segment to send. The segment is then considered sent. Poll until the result
    /// is `None`.
    #[inline(always)]
    pub fn next_segment(&mut self, now: Time) -> Option<Segment> {
        let (number, is_retransmission) = match self.in_detail {
            true => self.next_in_detail(now)?,
            false => self.next_in_order(now, |_| true)?,
        };
        // arm the timer if it is off (RFC 6298, rule 5.1)
        if self.timer == Time::NEVER {
            self.restart_timer(now);
        }
        Some(self.segment(number, is_retransmission))
    }

    /// Chooses the next segment by sequence numbers only. If the segment may be sent now, marks it
    /// as sent, and returns its number and whether it is a retransmission.
    #[inline(always)]
    fn next_in_order(
        &mut self,
        now: Time,
        may_leave: impl FnOnce(&mut Sender) -> bool,
    ) -> Option<(u32, bool)> {
        if !self.retransmit {
            if self.snd_nxt >= self.limit {
                self.meet_end();
                self.on_out_of_data(now);
                return None;
            }
            if !self.congestion.permits_beyond(self.flight()) {
                self.meet_window();
                return None;
            }
        }
        if !may_leave(self) {
            return None;
        }
        if self.retransmit {
            self.retransmit = false;
            return Some((self.snd_una, true));
        }
        let number = self.snd_nxt;
        self.snd_nxt += 1;
        let is_retransmission = number < self.snd_max;
        self.snd_max = self.snd_max.max(self.snd_nxt);
        Some((number, is_retransmission))
    }

    /// Chooses the next segment with the scoreboard, if there is one. If the congestion control
    /// permits, marks the segment as sent, and returns its number and whether it is a
    /// retransmission.
    #[inline(never)]
    fn next_in_detail(&mut self, now: Time) -> Option<(u32, bool)> {
        let next = self.choose_in_detail(now);
        if next.is_none() && self.limit_met == Limit::App {
            self.on_out_of_data(now);
        }
        if self.congestion.is_validated() {
            self.note_poll(now, next.is_some());
        }
        next
    }

    #[inline(always)]
    fn choose_in_detail(&mut self, now: Time) -> Option<(u32, bool)> {
        let is_tracked = self.congestion.is_tracked();
        let may_leave = |sender: &mut Sender| !is_tracked || sender.may_depart(now);
        let Some(mut board) = self.scoreboard.take() else {
            let next = self.next_in_order(now, may_leave);
            if let Some(sent) = next {
                self.report_departure(now, sent, false);
            }
            return next;
        };
        let is_probe = board.has_probe();
        let next = match &mut *board {
            Board::Counted(board) => self.next_by_count(board, may_leave),
            Board::Timed(timed) => self.next_by_time(now, timed, may_leave),
        };
        self.scoreboard = Some(board);
        if is_tracked && let Some(sent) = next {
            self.report_departure(now, sent, is_probe);
        }
        next
    }

    /// Reports the transmission of a segment to the congestion control. The segment is given by its
    /// number and by whether it is a retransmission.
    #[inline(never)]
    fn report_departure(
        &mut self,
        now: Time,
        (number, is_retransmission): (u32, bool),
        is_probe: bool,
    ) {
        self.congestion.on_sent(&Sent {
            now,
            number,
            is_retransmission,
            is_probe,
            flight: self.flight(),
            srtt: self.rtt.srtt(),
        });
    }

    /// Returns whether the congestion control permits the transmission of a segment now. If not,
    /// stores the time from which it is permitted.
    #[inline(never)]
    fn may_depart(&mut self, now: Time) -> bool {
        let departure = self.congestion.earliest_departure(now);
        let is_due = departure <= now;
        self.departure = match is_due {
            true => Time::NEVER,
            false => departure,
        };
        if !is_due {
            self.limit_met = Limit::Cwnd;
        }
        is_due
    }

    /// Returns the limit that the last poll for segments met. The result is valid until the next
    /// poll.
    #[inline(always)]
    pub fn limit_met(&self) -> Limit {
        self.limit_met
    }

    /// Records that the congestion window or the receive window limited the last poll.
    #[inline]
    fn meet_window(&mut self) {
        self.limit_met = Limit::of_window(self.congestion.fills_receive_window());
    }

    /// Records that a lack of data limited the last poll.
    #[inline(never)]
    fn meet_end(&mut self) {
        self.limit_met = match self.is_open() && !self.finished() {
            true => Limit::App,
            false => Limit::None,
        };
    }

    /// Returns the time of the next [`on_timer`](Sender::on_timer): the expiry of the armed timer,
    /// or the departure of a segment that the congestion control delays. Before this time the
    /// sender acts only on ACKs and on data from the application. [`Time::NEVER`] means that there
    /// is neither a timer nor a delayed segment.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.timer.min(self.departure)
    }

    /// Returns whether the simulation may process an ACK now, although the ACK arrives later, at
    /// the time `at`. This is the case if the sender has no deadline before `at`.
    #[inline]
    pub fn may_act_at(&self, at: Time) -> bool {
        at <= self.deadline()
    }

    /// Processes the [`deadline`](Sender::deadline). Poll for segments afterwards.
    ///
    /// If the retransmission timer expires, the sender backs off, collapses the window, and retransmits
    /// all segments from `snd_una` on (RFC 6298, rules 5.4 to 5.6). With RACK-TLP, the expired timer
    /// may be the reordering timer or the probe timer.
    pub fn on_timer(&mut self, now: Time) {
        debug_assert!(now >= self.deadline(), "timer called before its deadline");
        self.departure = Time::NEVER;
        if self.timer > now || self.repeats_syn() {
            return;
        }
        if self.on_deadline_by_time(now) {
            return;
        }
        self.collapse(now, self.flight());
        self.in_detail = self.scoreboard.is_some() || self.is_watched();
        self.go_back();
        self.restart_timer(now);
    }

    /// Backs off and collapses the window, because the retransmission timer expired while `flight` segments
    /// were outstanding.
    fn collapse(&mut self, now: Time, flight: u32) {
        let first = self.rtt.backoffs() == 0;
        let remaining = match (self.recovery.is_fast(), self.rto_halves_again) {
            (true, true) => 0.5,
            (true, false) => 1.0,
            (false, _) => f64::INFINITY,
        };
        self.congestion.on_timeout(flight, first, remaining);
        self.recovery.on_timeout(self.snd_max);
        self.reduced();
        self.rtt.back_off();
        if let Some((validation, _)) = self.congestion.validation() {
            validation.reset(now);
        }
    }

    /// Returns the congestion window. In fast recovery the inflation is included. [packets]
    pub fn cwnd(&self) -> f64 {
        self.congestion.cwnd()
    }

    /// Returns the slow-start threshold. [packets]
    pub fn ssthresh(&self) -> f64 {
        self.congestion.ssthresh()
    }

    /// Returns the number of outstanding segments. A segment sent before a timeout is counted only
    /// after it has been sent again. [packets]
    #[inline]
    pub fn flight(&self) -> u32 {
        self.snd_nxt - self.snd_una
    }

    /// Returns the smoothed round-trip time, or `None` before the first sample.
    pub fn srtt(&self) -> Option<Span> {
        self.rtt.srtt()
    }

    /// Returns the number of expiries of the retransmission timer so far.
    pub fn timeouts(&self) -> u64 {
        u64::from(self.rtt.timeouts())
    }

    /// Returns the number of fast recoveries so far. Further lost segments in the same recovery are
    /// not counted.
    pub fn fast_retransmits(&self) -> u64 {
        u64::from(self.fast_retransmits)
    }

    /// Returns the number of segments acknowledged so far.
    pub fn acked(&self) -> u64 {
        u64::from(self.snd_una)
    }

    /// Returns whether all data of the flow is acknowledged.
    pub fn finished(&self) -> bool {
        self.snd_una == self.end
    }

    /// Returns whether the flow has sent all of its data, and all of it is acknowledged. The result
    /// is false for a flow that was closed before all of its data was sent.
    pub fn completed(&self) -> bool {
        self.finished() && !self.is_cut
    }

    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, next: u32, echo: Time, holds: bool) {
        debug_assert!(next <= self.snd_max, "ACK of data never sent");
        let acked = next - self.snd_una;
        self.rtt.on_sample(now.since(echo), self.flight());
        self.snd_una = next;
        // after go-back-N the ACK may cover segments that have not been sent again yet
        self.snd_nxt = self.snd_nxt.max(next);
        self.retransmit = false;

        let mut restart = true;
        match self.recovery.on_new_ack(self.recovery_mode, next) {
            Reaction::Partial { first } => {
                self.congestion
                    .on_recovery_ack(RecoveryAck::Partial { acked });
                self.retransmit = true;
                restart = first;
            }
            Reaction::Recovered => self.congestion.on_recovery_ack(RecoveryAck::Full),
            // the window does not grow on an ACK with the echo of a mark (RFC 3168, section 6.1.2)
            _ if holds => {}
            Reaction::GrowAfterLoss => self.grow(now, acked, acked.min(DELAYED_ACK)),
            Reaction::Grow => self.grow(now, acked, acked),
            // these reactions occur only after duplicate ACKs
            Reaction::Ignore | Reaction::Loss | Reaction::Inflate => {}
        }
        if self.snd_una == self.snd_max {
            self.timer = Time::NEVER; // all data is acknowledged (RFC 6298, rule 5.2)
        } else if restart {
            self.restart_timer(now); // new data is acknowledged (RFC 6298, rule 5.3)
        }
    }

    #[inline(never)]
    fn on_dup_ack(&mut self, now: Time) {
        match self.recovery.on_dup_ack(self.recovery_mode, self.snd_max) {
            Reaction::Loss => {
                let after_mark = self.reduced_in_this_window();
                let sign = match after_mark {
                    true => CongestionSign::DuplicateAcksAfterMark,
                    false => CongestionSign::DuplicateAcks,
                };
                self.congestion.on_loss(self.flight(), sign);
                if !after_mark {
                    self.reduced();
                }
                match self.recovery_mode {
                    RecoveryMode::GoBackN => self.go_back(),
                    RecoveryMode::FirstHole | RecoveryMode::EachHole => self.retransmit = true,
                }
                self.restart_timer(now);
                self.fast_retransmits += 1;
            }
            Reaction::Inflate => self.congestion.on_recovery_ack(RecoveryAck::Duplicate),
            _ => {}
        }
    }

    /// Increases the window on an ACK of new data outside fast recovery. `delivered` is
    /// [`NewAck::delivered`].
    #[inline(always)]
    fn grow(&mut self, now: Time, acked: u32, delivered: u32) {
        if !self.congestion.grow_as_newreno() {
            self.congestion.on_ack(NewAck {
                now,
                acked,
                delivered,
                snd_una: self.snd_una,
                snd_nxt: self.snd_nxt,
                rtt: &self.rtt,
            });
        }
    }

    fn go_back(&mut self) {
        self.snd_nxt = self.snd_una;
        self.retransmit = false;
    }

    #[inline]
    fn restart_timer(&mut self, now: Time) {
        self.timer = now + self.rtt.rto();
    }
}

#[cfg(test)]
mod tests;

//! The sender with SACK: recovery by the scoreboard.
//!
//! Reference: RFC 6675, section 5. The comments name the steps of this section.
//!
//! Outside recovery the window limits the number of outstanding segments that are not SACKed.
//! Therefore new segments are sent on the first two duplicate ACKs (limited transmit, step 3). In
//! recovery the number of segments that may be sent is the window minus the pipe, or it is computed
//! by proportional rate reduction. Each ACK of new data restarts the retransmission timer (RFC
//! 6298, rule 5.3), unlike in NewReno.
//!
//! The recovery mode of the congestion control has no effect here. Therefore Reno and NewReno
//! behave in the same way.
//!
//! While all segments arrive in order, the sender works like a sender without SACK.

use super::Sender;
use super::board::Board;
use crate::kernel::time::Time;
use crate::tcp::congestion::{CongestionSign, RecoveryAck};
use crate::tcp::limit::Limit;
use crate::tcp::recovery::{DUPACK_THRESHOLD, Recovery};
use crate::tcp::scoreboard::{NextSeg, Scoreboard, Update};
use crate::tcp::{Ack, Blocks};

impl Sender {
    /// Returns whether this ACK must be passed to [`on_sack`](Sender::on_sack), with its blocks.
    #[inline]
    pub fn needs_blocks(&self, ack: &Ack) -> bool {
        self.in_detail || self.scoreboard.is_some() && (ack.sack != 0 || ack.next <= self.snd_una)
    }

    /// Processes an ACK with its SACK blocks. Poll for segments afterwards.
    #[inline(never)]
    pub fn on_sack(&mut self, now: Time, ack: Ack, blocks: &Blocks) {
        match self.congestion.is_validated() {
            true => self.on_validated_ack(now, ack, blocks),
            false => self.on_detailed_ack(now, ack, blocks),
        }
    }

    #[inline(always)]
    pub(super) fn on_detailed_ack(&mut self, now: Time, ack: Ack, blocks: &Blocks) {
        if ack.ece.speaks() {
            self.on_echo(now, ack.next, ack.ece);
        }
        if self.congestion.follows_arrivals() {
            self.congestion.on_delivered(now, ack.next, blocks);
        }
        let Some(mut board) = self.scoreboard.take() else {
            let holds = ack.ece.is_set() || !self.congestion.may_grow();
            return self.take_ack(now, ack.next, ack.echo, holds);
        };
        match &mut *board {
            Board::Counted(board) => self.on_counted_ack(now, ack, blocks, board),
            Board::Timed(timed) => self.on_timed_ack(now, ack, blocks, timed),
        }
        self.scoreboard = Some(board);
    }

    /// Processes an ACK whose ECN echo has already been processed.
    #[inline]
    fn on_counted_ack(&mut self, now: Time, ack: Ack, blocks: &Blocks, board: &mut Scoreboard) {
        if ack.next >= self.snd_una && self.snd_una < self.snd_max {
            let before = self.snd_una;
            let recovers = matches!(self.recovery, Recovery::Fast { .. });
            let update = board.update(before, ack.next, self.snd_max, blocks);
            if ack.next > before {
                self.rtt.on_sample(now.since(ack.echo), self.flight());
                self.snd_una = ack.next;
                self.snd_nxt = self.snd_nxt.max(ack.next);
            }
            let acked = ack.next - before;
            self.update_recovery(now, acked, update, board);
            if acked > 0 && !recovers && !ack.ece.is_set() && self.congestion.may_grow() {
                self.grow(now, acked, update.delivered);
            }
            if self.snd_una == self.snd_max {
                self.timer = Time::NEVER;
            } else if ack.next > before {
                self.restart_timer(now);
            }
        }
        self.in_detail = self.recovery != Recovery::START || !board.is_empty() || self.is_watched();
    }

    /// Updates the state of recovery by an ACK of `acked` new segments.
    fn update_recovery(&mut self, now: Time, acked: u32, update: Update, board: &mut Scoreboard) {
        match self.recovery {
            Recovery::Fast { recover, .. } => {
                if self.snd_una >= recover {
                    self.recovery = Recovery::START; // RFC 6675, section 5, step A
                    self.congestion.on_recovery_ack(RecoveryAck::Full);
                } else {
                    self.count_in_recovery(acked, update, board); // RFC 6675, section 5, steps B and C
                }
            }
            // section 5.1: no recovery until all segments sent before the timeout have arrived
            Recovery::Careful { recover } => {
                if self.snd_una >= recover {
                    self.recovery = Recovery::START;
                }
            }
            Recovery::Open { .. } if acked > 0 => self.recovery = Recovery::START,
            Recovery::Open { dupacks } if update.sacked > 0 => {
                if dupacks == 0 {
                    board.limited = 0;
                }
                let dupacks = dupacks + 1; // RFC 6675, section 5, steps 1 and 2
                if dupacks < DUPACK_THRESHOLD && !board.first_is_lost() {
                    self.recovery = Recovery::Open { dupacks };
                } else {
                    self.begin_recovery(now, update, board);
                }
            }
            Recovery::Open { .. } => {}
        }
    }

    /// Begins a recovery (step 4). FlightSize does not include the segments of limited transmit (RFC 5681,
    /// section 3.2).
    fn begin_recovery(&mut self, now: Time, update: Update, board: &mut Scoreboard) {
        self.recovery = Recovery::Fast {
            recover: self.snd_max,
            partial: false,
        };
        if !self.reduced_in_this_window() {
            let flight = self.flight() - board.limited;
            self.congestion.on_loss(flight, CongestionSign::Selective);
            self.reduced();
        }
        board.begin_recovery(self.snd_una, update);
        self.count_in_recovery(0, update, board);
        self.restart_timer(now);
        self.fast_retransmits += 1;
    }

    fn count_in_recovery(&self, acked: u32, update: Update, board: &mut Scoreboard) {
        let cwnd = self.congestion.usable();
        board.on_ack_in_recovery(self.snd_una, self.snd_max, update, acked > 0, cwnd);
    }

    /// Chooses the next segment by the scoreboard, and marks it as sent if it may be sent now.
    #[inline]
    pub(super) fn next_by_count(
        &mut self,
        board: &mut Scoreboard,
        may_leave: impl FnOnce(&mut Sender) -> bool,
    ) -> Option<(u32, bool)> {
        match self.recovery {
            Recovery::Fast { recover, .. } => self.next_in_recovery(recover, board, may_leave),
            Recovery::Open { .. } | Recovery::Careful { .. } => {
                self.next_unsacked(board, may_leave)
            }
        }
    }

    /// Returns one past the last segment that the receive window and the length of the flow permit.
    pub(super) fn right_edge(&self) -> u32 {
        let edge = self
            .snd_una
            .saturating_add(self.congestion.receive_window());
        edge.min(self.limit)
    }

    /// Records which limit the last poll met, if `next` is the [`right_edge`](Sender::right_edge):
    /// the end of the data or the end of the receive window.
    #[inline]
    pub(super) fn meet_right_edge(&mut self, next: u32) {
        if next >= self.limit {
            self.meet_end();
        } else {
            self.limit_met = Limit::Rwnd;
        }
    }

    fn next_in_recovery(
        &mut self,
        recover: u32,
        board: &mut Scoreboard,
        may_leave: impl FnOnce(&mut Sender) -> bool,
    ) -> Option<(u32, bool)> {
        if !board.has_room(self.snd_una, self.snd_max, self.congestion.usable()) {
            self.meet_window();
            return None;
        }
        let fresh = self.snd_max < self.right_edge();
        let Some(next) = board.next_seg(self.snd_una, self.snd_max, fresh) else {
            self.meet_right_edge(self.snd_max);
            return None;
        };
        if !may_leave(self) {
            return None;
        }
        board.on_sent(next, recover);
        Some(match next {
            NextSeg::Again(number) | NextSeg::Rescue(number) => (number, true),
            NextSeg::New => {
                let number = self.snd_max;
                self.snd_max += 1;
                self.snd_nxt = self.snd_max;
                (number, false)
            }
        })
    }

    /// Chooses the next segment outside recovery. Usually the next segment is a new segment. After
    /// a timeout, segments that were sent before the timeout and are not SACKed are sent first.
    fn next_unsacked(
        &mut self,
        board: &mut Scoreboard,
        may_leave: impl FnOnce(&mut Sender) -> bool,
    ) -> Option<(u32, bool)> {
        while self.snd_nxt < self.snd_max && board.is_sacked(self.snd_nxt) {
            self.snd_nxt += 1;
        }
        if self.snd_nxt >= self.right_edge() {
            self.meet_right_edge(self.snd_nxt);
            return None;
        }
        if board.unsacked(self.snd_una, self.snd_nxt) >= self.congestion.usable() {
            self.meet_window();
            return None;
        }
        if !may_leave(self) {
            return None;
        }
        if let Recovery::Open { dupacks: 1.. } = self.recovery {
            board.limited += 1; // RFC 6675, section 5, step 3
        }
        let number = self.snd_nxt;
        self.snd_nxt += 1;
        let is_retransmission = number < self.snd_max;
        self.snd_max = self.snd_max.max(self.snd_nxt);
        Some((number, is_retransmission))
    }
}

#[cfg(test)]
impl Sender {
    /// Makes the sender use the scoreboard even if it is not needed. The sender must behave as
    /// without this call.
    pub(in crate::tcp) fn look_at_scoreboard(&mut self) {
        self.in_detail = self.scoreboard.is_some();
    }
}

#[cfg(test)]
mod tests;

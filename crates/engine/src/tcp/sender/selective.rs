//! The sender with SACK: recovery by scoreboard.
//!
//! Reference: RFC 6675, section 5; its steps are named below.
//!
//! Outside recovery the window bounds what is outstanding and not SACKed, so that the first two
//! duplicate ACKs let new segments out (limited transmit, step 3). In recovery it bounds the pipe,
//! or proportional rate reduction counts what may leave. The retransmission timer is restarted by
//! each ACK of new data (RFC 6298, rule 5.3), unlike NewReno's.
//!
//! Reno and NewReno are the same here: neither says how losses are repaired.
//!
//! While all arrives in order there is nothing to select: the sender does what it does without SACK.

use super::timed::Timed;
use super::{Segment, Sender};
use crate::kernel::time::Time;
use crate::tcp::limit::Limit;
use crate::tcp::recovery::{DUPACK_THRESHOLD, Recovery};
use crate::tcp::scoreboard::{NextSeg, Scoreboard, Update};
use crate::tcp::{Ack, Blocks, TcpSettings};

/// How a sender with SACK finds losses.
#[derive(Clone, Debug)]
pub(super) enum Board {
    /// By three SACKed segments above.
    Counted(Scoreboard),
    /// By time.
    Timed(Box<Timed>),
}

impl Board {
    pub(super) fn new(settings: &TcpSettings) -> Board {
        if settings.rack {
            Board::Timed(Timed::new(settings).into())
        } else {
            Board::Counted(Scoreboard::new(settings.window_packets, settings.prr))
        }
    }
}

impl Sender {
    /// Whether this ACK is to be given to [`on_sack`](Sender::on_sack), with its blocks.
    #[inline]
    pub fn needs_blocks(&self, ack: &Ack) -> bool {
        self.by_scoreboard
            || self.scoreboard.is_some() && (ack.sack != 0 || ack.next <= self.snd_una)
    }

    /// An ACK arrived at a sender with SACK; poll for segments afterwards.
    #[inline(never)]
    pub fn on_sack(&mut self, now: Time, ack: Ack, blocks: &Blocks) {
        if ack.ece.speaks() {
            self.on_echo(now, ack.next, ack.ece);
        }
        let Some(mut board) = self.scoreboard.take() else {
            return;
        };
        match &mut *board {
            Board::Counted(board) => self.on_counted_ack(now, ack, blocks, board),
            Board::Timed(timed) => self.on_timed_ack(now, ack, blocks, timed),
        }
        self.scoreboard = Some(board);
    }

    /// An ACK arrived, whose mark has been heeded.
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
            self.judge(now, acked, update, board);
            if acked > 0 && !recovers && !ack.ece.is_set() {
                self.grow(now, acked, update.delivered);
            }
            if self.snd_una == self.snd_max {
                self.deadline = Time::NEVER;
            } else if ack.next > before {
                self.restart_timer(now);
            }
        }
        self.by_scoreboard = self.recovery != Recovery::START || !board.is_empty();
    }

    /// What an ACK of `acked` new segments means to recovery.
    fn judge(&mut self, now: Time, acked: u32, update: Update, board: &mut Scoreboard) {
        match self.recovery {
            Recovery::Fast { recover, .. } => {
                if self.snd_una >= recover {
                    self.recovery = Recovery::START; // step A
                    self.congestion.on_recovered();
                } else {
                    self.count_in_recovery(acked, update, board); // steps B and C
                }
            }
            // section 5.1: no recovery until all that was sent before the timeout has arrived
            Recovery::Careful { recover } => {
                if self.snd_una >= recover {
                    self.recovery = Recovery::START;
                }
            }
            Recovery::Open { .. } if acked > 0 => self.recovery = Recovery::START,
            Recovery::Open { dupacks } if update.news > 0 => {
                if dupacks == 0 {
                    board.limited = 0;
                }
                let dupacks = dupacks + 1; // steps 1 and 2
                if dupacks < DUPACK_THRESHOLD && !board.first_is_lost() {
                    self.recovery = Recovery::Open { dupacks };
                } else {
                    self.begin_recovery(now, update, board);
                }
            }
            Recovery::Open { .. } => {}
        }
    }

    /// Step 4. FlightSize is without the segments of limited transmit (RFC 5681, section 3.2).
    fn begin_recovery(&mut self, now: Time, update: Update, board: &mut Scoreboard) {
        self.recovery = Recovery::Fast {
            recover: self.snd_max,
            partial: false,
        };
        if !self.reduced_in_this_window() {
            self.congestion.decrease(self.flight() - board.limited);
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

    /// The next segment to send.
    #[inline(never)]
    pub(super) fn next_by_scoreboard(&mut self, now: Time) -> Option<Segment> {
        let mut board = self.scoreboard.take()?;
        let next = match &mut *board {
            Board::Counted(board) => self.next_by_count(now, board),
            Board::Timed(timed) => self.next_by_time(now, timed),
        };
        self.scoreboard = Some(board);
        next
    }

    #[inline]
    fn next_by_count(&mut self, now: Time, board: &mut Scoreboard) -> Option<Segment> {
        let next = match self.recovery {
            Recovery::Fast { recover, .. } => self.next_in_recovery(recover, board),
            Recovery::Open { .. } | Recovery::Careful { .. } => self.next_in_order(board),
        };
        let (number, retransmission) = next?;
        if self.deadline == Time::NEVER {
            self.restart_timer(now); // RFC 6298, rule 5.1
        }
        Some(self.segment(number, retransmission))
    }

    /// One past the last segment that the receive window and the flow's length allow.
    pub(super) fn right_edge(&self) -> u32 {
        let edge = self
            .snd_una
            .saturating_add(self.congestion.receive_window());
        edge.min(self.limit)
    }

    /// A poll finds the window used up.
    #[inline]
    pub(super) fn meet_window(&mut self) {
        self.limit_met = Limit::of_window(self.congestion.fills_receive_window());
    }

    /// A poll finds the [`right_edge`](Sender::right_edge) at `next`: the end of the data, or of the receive window.
    #[inline]
    pub(super) fn meet_right_edge(&mut self, next: u32) {
        if next >= self.limit {
            self.meet_end();
        } else {
            self.limit_met = Limit::Rwnd;
        }
    }

    /// Number of the next segment, and whether it was sent before.
    fn next_in_recovery(&mut self, recover: u32, board: &mut Scoreboard) -> Option<(u32, bool)> {
        if !board.has_room(self.snd_una, self.snd_max, self.congestion.usable()) {
            self.meet_window();
            return None;
        }
        let fresh = self.snd_max < self.right_edge();
        let Some(next) = board.next_seg(self.snd_una, self.snd_max, recover, fresh) else {
            self.meet_right_edge(self.snd_max);
            return None;
        };
        board.on_sent();
        Some(match next {
            NextSeg::Again(number) => (number, true),
            NextSeg::New => {
                let number = self.snd_max;
                self.snd_max += 1;
                self.snd_nxt = self.snd_max;
                (number, false)
            }
        })
    }

    /// Outside recovery: new segments, but after a timeout first those sent before and not SACKed.
    fn next_in_order(&mut self, board: &mut Scoreboard) -> Option<(u32, bool)> {
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
        if let Recovery::Open { dupacks: 1.. } = self.recovery {
            board.limited += 1; // step 3
        }
        let number = self.snd_nxt;
        self.snd_nxt += 1;
        let retransmission = number < self.snd_max;
        self.snd_max = self.snd_max.max(self.snd_nxt);
        Some((number, retransmission))
    }
}

#[cfg(test)]
impl Sender {
    /// Uses the scoreboard, needed or not: what the shortcut must equal.
    pub(in crate::tcp) fn look_at_scoreboard(&mut self) {
        self.by_scoreboard = self.scoreboard.is_some();
    }
}

#[cfg(test)]
mod tests;

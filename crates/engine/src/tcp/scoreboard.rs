//! The SACK scoreboard: the segments that have arrived, the segments that are lost, and the next
//! segment to send.
//!
//! Reference: RFC 6675, sections 3 and 4. The names of the RFC are in the docstrings.
//!
//! With whole segments, IsLost() requires three SACKed segments above a segment. A segment is
//! therefore lost if it is below the third highest SACKed segment. Sets are stored as bits in a
//! ring. Counts are computed a word at a time when an ACK needs them. Outside a recovery, and while
//! nothing is SACKed, no ACK needs them.
//!
//! Differs from the RFC in:
//! - SACKed segments stay SACKed after a timeout, because this receiver never withdraws a report
//!   (RFC 2018, section 8, asks the sender to forget them).
//! - HighRxt is kept after its recovery. A segment that was lost and retransmitted after the
//!   recovery began may start the next recovery, but is not sent a third time, which would be
//!   unnecessary.
//! - The rescue retransmission repeats a tail only if it is above all segments that were SACKed or
//!   retransmitted. The text of the RFC includes a segment that was retransmitted just before.
//!
//! The loss of a retransmission, and the loss of a tail, is repaired by a timeout, as in the RFC.
//! Linux detects these losses by time, see [`super::rack`].

use super::prr::{Progress, RateReduction};
use super::ring::Ring;
use super::sack::Blocks;

/// DupThresh: number of SACKed segments above a lost segment.
const DUP_THRESH: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// SACKed segments above `snd_una`.
    sacked: Ring,
    /// One past the highest segment ever SACKed.
    high_sacked: u32,
    /// HighRxt + 1: one past the highest segment that was retransmitted in a recovery.
    high_rxt: u32,
    /// RescueRxt + 1: there is no rescue retransmission before an ACK beyond this segment.
    rescue: u32,
    /// Whether the next retransmission is the first of a recovery. The first leaves regardless of
    /// the pipe (step 4.3).
    pub(super) first: bool,
    /// Number of segments that left since the first duplicate ACK (limited transmit).
    pub(super) limited: u32,
    /// Upper bound of the lost segments at the last ACK. Segments below it that are not SACKed were
    /// lost.
    lost_edge: u32,
    reduces: bool,
    prr: Option<RateReduction>,
}

/// The segment that NextSeg() chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSeg {
    /// Retransmission of this segment.
    Again(u32),
    /// Retransmission of this segment, the last of a recovery that has no other segment to send
    /// (rule 4).
    Rescue(u32),
    /// The next segment that was never sent.
    New,
}

/// The segments that an ACK reports for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Update {
    /// Number of segments whose arrival the ACK reports for the first time.
    pub(super) delivered: u32,
    /// Number of segments that the SACK blocks of the ACK report for the first time.
    pub(super) sacked: u32,
    /// Number of segments that were outstanding and not SACKed before the ACK.
    pub(super) outstanding: u32,
}

impl Scoreboard {
    /// Creates a scoreboard for a receive window of `window` packets, with or without proportional rate
    /// reduction.
    pub(super) fn new(window: u32, prr: bool) -> Scoreboard {
        Scoreboard {
            sacked: Ring::new(window),
            high_sacked: 0,
            high_rxt: 0,
            rescue: 0,
            first: false,
            limited: 0,
            lost_edge: 0,
            reduces: prr,
            prr: None,
        }
    }

    /// Update(): processes an ACK that moves `snd_una` from `before` to `now`.
    pub(super) fn update(
        &mut self,
        before: u32,
        now: u32,
        snd_max: u32,
        blocks: &Blocks,
    ) -> Update {
        let sacked_before = self.sacked.held;
        for &(from, to) in blocks {
            let (from, to) = (from.max(now + 1), to.min(snd_max));
            if from < to {
                self.sacked.insert_range(from, to);
                self.high_sacked = self.high_sacked.max(to);
            }
        }
        let sacked = self.sacked.held - sacked_before;
        if sacked_before > 0 {
            self.sacked.remove_range(before, now + 1);
        }
        Update {
            // minus the acknowledged segments that were SACKed before
            delivered: now - before + self.sacked.held - sacked_before,
            sacked,
            outstanding: snd_max - before - sacked_before,
        }
    }

    /// Returns whether nothing above `snd_una` is SACKed.
    pub(super) fn is_empty(&self) -> bool {
        self.sacked.held == 0
    }

    pub(super) fn is_sacked(&self, number: u32) -> bool {
        self.sacked.contains(number)
    }

    /// Returns the number of segments from `from` up to but excluding `to` that are not SACKed.
    pub(super) fn unsacked(&self, from: u32, to: u32) -> u32 {
        let length = to.saturating_sub(from);
        if self.sacked.held == 0 {
            length
        } else {
            length - self.sacked.count(from, to.max(from))
        }
    }

    /// IsLost(`snd_una`): returns whether the first unacknowledged segment is lost.
    pub(super) fn first_is_lost(&self) -> bool {
        self.sacked.held >= DUP_THRESH
    }

    /// Begins a recovery, because the ACK with `update` shows the loss of `snd_una`.
    pub(super) fn begin_recovery(&mut self, snd_una: u32, update: Update) {
        self.first = self.high_rxt <= snd_una;
        self.high_rxt = self.high_rxt.max(snd_una);
        self.rescue = snd_una + 1;
        self.lost_edge = self.lost_below(snd_una);
        self.prr = self.reduces.then(|| RateReduction::new(update.outstanding));
    }

    /// SetPipe(): returns the number of segments that are assumed to be in the network.
    pub(super) fn pipe(&self, snd_una: u32, snd_max: u32) -> u32 {
        let lost_below = self.lost_below(snd_una);
        self.unsacked(lost_below, snd_max) + self.unsacked(snd_una, self.high_rxt)
    }

    /// Processes an ACK in a recovery that reduces the window to `cwnd`. `advanced` says whether
    /// the ACK moved `snd_una`.
    pub(super) fn on_ack_in_recovery(
        &mut self,
        snd_una: u32,
        snd_max: u32,
        update: Update,
        advanced: bool,
        cwnd: u32,
    ) {
        if self.prr.is_none() {
            return;
        }
        let lost_below = self.lost_below(snd_una);
        let further_loss = self.unsacked(self.lost_edge.max(snd_una), lost_below) > 0;
        self.lost_edge = lost_below;
        let progress = Progress {
            delivered: update.delivered,
            in_flight: self.pipe(snd_una, snd_max),
            safe: advanced && !further_loss,
        };
        if let Some(prr) = &mut self.prr {
            prr.on_ack(progress, cwnd);
        }
    }

    /// Returns whether a segment may leave in recovery (step C).
    pub(super) fn has_room(&self, snd_una: u32, snd_max: u32, cwnd: u32) -> bool {
        self.first
            || match &self.prr {
                Some(prr) => prr.sndcnt() > 0,
                None => self.pipe(snd_una, snd_max) < cwnd,
            }
    }

    /// Processes the departure of the segment that NextSeg() chose in a recovery up to `recover`.
    pub(super) fn on_sent(&mut self, next: NextSeg, recover: u32) {
        self.first = false;
        match next {
            NextSeg::Again(number) => self.high_rxt = number + 1,
            NextSeg::Rescue(_) => self.rescue = recover, // HighRxt does not change
            NextSeg::New => {}
        }
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
    }

    /// Returns the segment that NextSeg() chooses. `fresh` permits a segment that was never sent.
    pub(super) fn next_seg(&self, snd_una: u32, snd_max: u32, fresh: bool) -> Option<NextSeg> {
        let from = self.high_rxt.max(snd_una);
        // the first retransmission is the segment that three duplicate ACKs request, even if fewer
        // than three segments above it are SACKed
        let lost_below = self
            .lost_below(snd_una)
            .max(snd_una + u32::from(self.first));
        // rule 1
        if let Some(number) = self.sacked.first_absent(from, lost_below) {
            return Some(NextSeg::Again(number));
        }
        // rule 2
        if fresh {
            return Some(NextSeg::New);
        }
        // rule 3
        if let Some(number) = self.sacked.first_absent(from, self.high_sacked.max(from)) {
            return Some(NextSeg::Again(number));
        }
        // rule 4: the remaining segments are above all segments that were SACKed or retransmitted
        if from < snd_max && self.high_sacked < snd_max && snd_una > self.rescue {
            return Some(NextSeg::Rescue(snd_max - 1));
        }
        None
    }

    /// Returns the third highest SACKed segment. Segments below it that are not SACKed are lost.
    fn lost_below(&self, snd_una: u32) -> u32 {
        if self.sacked.held < DUP_THRESH {
            return snd_una;
        }
        let sacked = (snd_una..self.high_sacked).rev();
        let mut highest = sacked.filter(|&n| self.sacked.contains(n));
        highest.nth(DUP_THRESH as usize - 1).unwrap_or(snd_una)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Scoreboard {
        /// Returns whether proportional rate reduction is used.
        pub(in crate::tcp) fn counts(&self) -> bool {
            self.prr.is_some()
        }
    }

    /// Sends the segment that NextSeg() chooses in a recovery up to `recover`, and returns the
    /// choice.
    fn send(board: &mut Scoreboard, snd_una: u32, recover: u32, fresh: bool) -> Option<NextSeg> {
        let next = board.next_seg(snd_una, recover, fresh)?;
        board.on_sent(next, recover);
        Some(next)
    }

    fn block(from: u32, to: u32) -> Blocks {
        [(from, to), (0, 0), (0, 0)]
    }

    /// Segments 0 to 13 are outstanding. Segments 2 and 5 are lost, and the others arrive one after
    /// another.
    #[test]
    fn pipe_and_next_seg_worked_by_hand() {
        let mut board = Scoreboard::new(42, false);
        assert_eq!(board.update(0, 2, 14, &Blocks::default()).delivered, 2);
        board.update(2, 2, 14, &block(3, 5));
        assert!(!board.first_is_lost());
        let update = board.update(2, 2, 14, &[(6, 7), (3, 5), (0, 0)]);
        assert_eq!((update.delivered, update.sacked), (1, 1));
        assert_eq!(update.outstanding, 10); // the segments 2, 5 and 6 to 13
        assert!(board.first_is_lost());
        board.begin_recovery(2, update);
        // 3, 4 and 6 are SACKed, so that 2 is lost; 5 and 7 to 13 are in the pipe
        assert_eq!(board.pipe(2, 14), 8);
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::Again(2)));
        assert_eq!(board.pipe(2, 14), 9);
        // 7 and 8 are SACKed as well: three segments above 5
        board.update(2, 2, 14, &block(6, 9));
        assert_eq!(board.pipe(2, 14), 6); // the retransmission of 2, and 9 to 13
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::Again(5)));
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::New));
        // without new data nothing below the highest SACKed segment remains; a rescue after 2 has arrived
        assert_eq!(send(&mut board, 2, 14, false), None);
        board.update(2, 5, 14, &block(6, 9));
        assert_eq!(send(&mut board, 5, 14, false), Some(NextSeg::Rescue(13)));
        assert_eq!(send(&mut board, 5, 14, false), None);
    }

    /// Two SACKed segments above segment 3 are too few to declare it lost. Without new data it is
    /// retransmitted nevertheless (rule 3), and is then counted twice in the pipe.
    #[test]
    fn a_hole_with_two_sacked_above_is_sent_again_only_without_new_data() {
        let mut board = Scoreboard::new(42, false);
        let update = board.update(0, 0, 8, &[(1, 3), (4, 6), (0, 0)]);
        board.begin_recovery(0, update);
        // 0 is lost; 3, 6 and 7 are in the pipe
        assert_eq!(board.pipe(0, 8), 3);
        assert_eq!(send(&mut board, 0, 8, true), Some(NextSeg::Again(0)));
        assert_eq!(send(&mut board, 0, 8, true), Some(NextSeg::New));
        assert_eq!(board.pipe(0, 8), 4);
        assert_eq!(send(&mut board, 0, 8, false), Some(NextSeg::Again(3)));
        assert_eq!(board.pipe(0, 8), 5);
    }

    /// A block that reaches below the ACK, or beyond the segments sent, adds only the segments between them.
    /// An ACK delivers only segments that were not SACKed before.
    #[test]
    fn deliveries_are_counted_once() {
        let mut board = Scoreboard::new(42, false);
        let delivered = |update: Update| (update.delivered, update.sacked, update.outstanding);
        assert_eq!(delivered(board.update(0, 0, 10, &block(2, 5))), (3, 3, 10));
        assert_eq!(delivered(board.update(0, 0, 10, &block(2, 5))), (0, 0, 7));
        // 0 and 1 arrive, 2 to 4 were reported before
        assert_eq!(delivered(board.update(0, 5, 10, &block(2, 5))), (2, 0, 7));
        assert_eq!(delivered(board.update(5, 5, 10, &block(7, 99))), (3, 3, 5));
        assert_eq!(delivered(board.update(5, 10, 10, &block(0, 0))), (2, 0, 2));
        assert_eq!(board.unsacked(10, 10), 0);
    }
}

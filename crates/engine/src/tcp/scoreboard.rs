//! The SACK scoreboard of a sender: determines which segments have arrived, which segments are
//! lost, and which segment to send next.
//!
//! Reference: RFC 6675, sections 3 and 4. The names of the RFC are in the docstrings.
//!
//! Since all segments have full size, a segment is lost (IsLost()) if three segments above it are
//! SACKed. This means that the segment is below the third highest SACKed segment. Sets of segments
//! are stored as bits in a ring buffer, whose bits are counted one word at a time. ACKs require
//! these counts only in a recovery or while segments are SACKed.
//!
//! Differs from the RFC in:
//! - SACKed segments remain SACKed after a timeout, because the simulated receiver never discards
//!   them (RFC 2018, section 8, requires the sender to ignore earlier SACK blocks).
//! - HighRxt is not reset after a recovery. A segment that was retransmitted in this recovery may
//!   start the next recovery, but is not sent a third time, which would be unnecessary.
//! - The rescue retransmission repeats the last segment only if it is above all segments that were
//!   SACKed or retransmitted. By the text of the RFC, a segment that was retransmitted just before
//!   could also be repeated.
//!
//! If a retransmission or the last segment of a flight is lost, a timeout repairs the loss, as in
//! the RFC. Linux detects these losses by time, see [`super::rack`].

use super::prr::{Progress, RateReduction};
use super::ring::Ring;
use super::sack::Blocks;

/// DupThresh: number of SACKed segments above a segment after which the segment is considered lost.
const DUP_THRESH: u32 = 3;

#[derive(Clone, Debug)]
pub(super) struct Scoreboard {
    /// SACKed segments with higher numbers than `snd_una`.
    sacked: Ring,
    /// One more than the highest number of a segment that was SACKed so far.
    high_sacked: u32,
    /// HighRxt + 1: one more than the highest number of a segment that was retransmitted in a
    /// recovery.
    high_rxt: u32,
    /// RescueRxt + 1: an ACK must exceed this number before another rescue retransmission is sent.
    rescue: u32,
    /// Whether the next retransmission is the first of a recovery, which is sent regardless of the
    /// pipe (step 4.3).
    pub(super) first: bool,
    /// Number of segments sent since the first duplicate ACK (limited transmit).
    pub(super) limited: u32,
    /// Upper bound of the numbers of lost segments at the last ACK. Segments below this number that
    /// are not SACKed were lost.
    lost_edge: u32,
    reduces: bool,
    prr: Option<RateReduction>,
}

/// The segment to send next, as determined by NextSeg().
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NextSeg {
    /// Retransmission of the segment with this number.
    Again(u32),
    /// Rescue retransmission of the segment with this number, if the recovery has no other segment
    /// to send (rule 4).
    Rescue(u32),
    /// Transmission of the next new segment.
    New,
}

/// The arrivals of segments that an ACK reports for the first time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Update {
    /// Number of segments whose arrival the ACK reports for the first time.
    pub(super) delivered: u32,
    /// Number of segments whose arrival the ACK reports for the first time by its SACK blocks.
    /// Segments that the ACK acknowledges cumulatively are not counted.
    pub(super) sacked: u32,
    /// Number of segments that were neither acknowledged nor SACKed before the ACK.
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

    /// Update(): processes an ACK that changes the first unacknowledged segment from `before` to
    /// `now`.
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
            // the acknowledged segments, plus the newly SACKed segments, minus those acknowledged
            // segments that were SACKed before
            delivered: now - before + self.sacked.held - sacked_before,
            sacked,
            outstanding: snd_max - before - sacked_before,
        }
    }

    /// Returns whether no segment above `snd_una` is SACKed.
    pub(super) fn is_empty(&self) -> bool {
        self.sacked.held == 0
    }

    pub(super) fn is_sacked(&self, number: u32) -> bool {
        self.sacked.contains(number)
    }

    /// Returns the number of segments in `from..to` that are not SACKed.
    pub(super) fn unsacked(&self, from: u32, to: u32) -> u32 {
        let length = to.saturating_sub(from);
        if self.sacked.held == 0 {
            length
        } else {
            length - self.sacked.count(from, to.max(from))
        }
    }

    /// IsLost(`snd_una`): returns whether the first unacknowledged segment is considered lost.
    pub(super) fn first_is_lost(&self) -> bool {
        self.sacked.held >= DUP_THRESH
    }

    /// Begins a recovery, because an ACK shows that segment `snd_una` is lost. `update` is the
    /// result of this ACK.
    pub(super) fn begin_recovery(&mut self, snd_una: u32, update: Update) {
        self.first = self.high_rxt <= snd_una;
        self.high_rxt = self.high_rxt.max(snd_una);
        self.rescue = snd_una + 1;
        self.lost_edge = self.lost_below(snd_una);
        self.prr = self.reduces.then(|| RateReduction::new(update.outstanding));
    }

    /// SetPipe(): returns the pipe, the number of segments that are assumed to be in the network.
    pub(super) fn pipe(&self, snd_una: u32, snd_max: u32) -> u32 {
        let lost_below = self.lost_below(snd_una);
        self.unsacked(lost_below, snd_max) + self.unsacked(snd_una, self.high_rxt)
    }

    /// Processes an ACK in a recovery. `cwnd` is the congestion window during this recovery.
    /// `advanced` says whether the ACK acknowledges new data.
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

    /// Returns whether a segment may be sent in a recovery (step C).
    pub(super) fn has_room(&self, snd_una: u32, snd_max: u32, cwnd: u32) -> bool {
        self.first
            || match &self.prr {
                Some(prr) => prr.sndcnt() > 0,
                None => self.pipe(snd_una, snd_max) < cwnd,
            }
    }

    /// Processes the transmission of the segment that NextSeg() returned. `recover` is one more
    /// than the highest number of a segment sent before the recovery.
    pub(super) fn on_sent(&mut self, next: NextSeg, recover: u32) {
        self.first = false;
        match next {
            NextSeg::Again(number) => self.high_rxt = number + 1,
            NextSeg::Rescue(_) => self.rescue = recover, // a rescue retransmission does not change HighRxt
            NextSeg::New => {}
        }
        if let Some(prr) = &mut self.prr {
            prr.on_sent();
        }
    }

    /// NextSeg(): returns the segment to send next; `None` if there is none. `fresh` permits new
    /// segments.
    pub(super) fn next_seg(&self, snd_una: u32, snd_max: u32, fresh: bool) -> Option<NextSeg> {
        let from = self.high_rxt.max(snd_una);
        // after three duplicate ACKs the first segment is retransmitted, even if fewer than three
        // segments above this segment are SACKed
        let lost_below = self
            .lost_below(snd_una)
            .max(snd_una + u32::from(self.first));
        // rule 1: a lost segment
        if let Some(number) = self.sacked.first_absent(from, lost_below) {
            return Some(NextSeg::Again(number));
        }
        // rule 2: a new segment
        if fresh {
            return Some(NextSeg::New);
        }
        // rule 3: a segment that is not SACKed, below the highest SACKed segment
        if let Some(number) = self.sacked.first_absent(from, self.high_sacked.max(from)) {
            return Some(NextSeg::Again(number));
        }
        // rule 4: a rescue retransmission; the remaining segments are above all segments that were
        // SACKed or retransmitted
        if from < snd_max && self.high_sacked < snd_max && snd_una > self.rescue {
            return Some(NextSeg::Rescue(snd_max - 1));
        }
        None
    }

    /// Returns the third highest SACKed segment; `snd_una` if fewer than three segments are SACKed.
    /// Segments below the returned segment that are not SACKed are considered lost.
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
        /// Returns whether the sender uses proportional rate reduction.
        pub(in crate::tcp) fn counts(&self) -> bool {
            self.prr.is_some()
        }
    }

    /// Sends the segment that NextSeg() returns in a recovery up to `recover`. Returns this
    /// segment.
    fn send(board: &mut Scoreboard, snd_una: u32, recover: u32, fresh: bool) -> Option<NextSeg> {
        let next = board.next_seg(snd_una, recover, fresh)?;
        board.on_sent(next, recover);
        Some(next)
    }

    fn block(from: u32, to: u32) -> Blocks {
        [(from, to), (0, 0), (0, 0)]
    }

    /// Segments 0 to 13 are outstanding. Segments 2 and 5 are lost, and the other segments arrive
    /// one after another.
    #[test]
    fn pipe_and_next_seg_worked_by_hand() {
        let mut board = Scoreboard::new(42, false);
        assert_eq!(board.update(0, 2, 14, &Blocks::default()).delivered, 2);
        board.update(2, 2, 14, &block(3, 5));
        assert!(!board.first_is_lost());
        let update = board.update(2, 2, 14, &[(6, 7), (3, 5), (0, 0)]);
        assert_eq!((update.delivered, update.sacked), (1, 1));
        assert_eq!(update.outstanding, 10); // segments 2, 5 and 6 to 13 are not SACKed
        assert!(board.first_is_lost());
        board.begin_recovery(2, update);
        // 3, 4 and 6 are SACKed, so 2 is lost; 5 and 7 to 13 are in the pipe
        assert_eq!(board.pipe(2, 14), 8);
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::Again(2)));
        assert_eq!(board.pipe(2, 14), 9);
        // 7 and 8 are SACKed as well, so three segments above 5 are SACKed
        board.update(2, 2, 14, &block(6, 9));
        assert_eq!(board.pipe(2, 14), 6); // the pipe contains the retransmission of 2, and 9 to 13
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::Again(5)));
        assert_eq!(send(&mut board, 2, 14, true), Some(NextSeg::New));
        // all segments below the highest SACKed segment have been retransmitted; a rescue
        // retransmission is possible only after segment 2 has arrived
        assert_eq!(send(&mut board, 2, 14, false), None);
        board.update(2, 5, 14, &block(6, 9));
        assert_eq!(send(&mut board, 5, 14, false), Some(NextSeg::Rescue(13)));
        assert_eq!(send(&mut board, 5, 14, false), None);
    }

    /// Two SACKed segments above segment 3 are too few to consider segment 3 lost. Without new data
    /// segment 3 is retransmitted (rule 3), and is then counted twice in the pipe.
    #[test]
    fn a_hole_with_two_sacked_above_is_sent_again_only_without_new_data() {
        let mut board = Scoreboard::new(42, false);
        let update = board.update(0, 0, 8, &[(1, 3), (4, 6), (0, 0)]);
        board.begin_recovery(0, update);
        // 0 is lost; 3, 6 and 7 are counted in the pipe
        assert_eq!(board.pipe(0, 8), 3);
        assert_eq!(send(&mut board, 0, 8, true), Some(NextSeg::Again(0)));
        assert_eq!(send(&mut board, 0, 8, true), Some(NextSeg::New));
        assert_eq!(board.pipe(0, 8), 4);
        assert_eq!(send(&mut board, 0, 8, false), Some(NextSeg::Again(3)));
        assert_eq!(board.pipe(0, 8), 5);
    }

    /// A SACK block that begins below the ACK or ends beyond the sent segments reports only the
    /// segments in between. Only segments that were not SACKed before count as delivered by an ACK.
    #[test]
    fn deliveries_are_counted_once() {
        let mut board = Scoreboard::new(42, false);
        let delivered = |update: Update| (update.delivered, update.sacked, update.outstanding);
        assert_eq!(delivered(board.update(0, 0, 10, &block(2, 5))), (3, 3, 10));
        assert_eq!(delivered(board.update(0, 0, 10, &block(2, 5))), (0, 0, 7));
        // 0 and 1 arrive with this ACK, and 2 to 4 were reported before
        assert_eq!(delivered(board.update(0, 5, 10, &block(2, 5))), (2, 0, 7));
        assert_eq!(delivered(board.update(5, 5, 10, &block(7, 99))), (3, 3, 5));
        assert_eq!(delivered(board.update(5, 10, 10, &block(0, 0))), (2, 0, 2));
        assert_eq!(board.unsacked(10, 10), 0);
    }
}

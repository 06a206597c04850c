//! The sender with RACK-TLP: loss detection by time, probes, and three timers.
//!
//! Reference: RFC 8985. Choices that the RFC leaves open are as in [`super::selective`].
//!
//! In recovery, lost segments are sent before new segments. A segment is sent if fewer than cwnd
//! segments are in the network, or if proportional rate reduction permits it. A timeout declares
//! `snd_una` lost, and also the segments that RACK would declare lost (section 6.3). Segments that
//! may still be in the network are not retransmitted, so that `snd_nxt` never decreases.
//!
//! As in Linux, ACKs without new data also give round-trip samples, from SACKed segments that were
//! sent once. Such an ACK restarts the retransmission timer if it SACKs a segment that was sent
//! before the retransmission of the first lost segment. The reason is that the retransmission is
//! behind this segment in the queue.
//!
//! Only one timer is armed at a time (section 8): for reordering, for a probe, or for
//! retransmission. The retransmission timer keeps its deadline while another timer is armed, and
//! another timer never delays it.
//!
//! The loss of a retransmission belongs to the same recovery and does not reduce the window further, as
//! in Linux; RFC 5681, section 4.3, would reduce it. Losses of segments above `recover` begin the
//! next recovery.

use super::board::Board;
use super::rack_tlp::{RackTlp, Reduction, Timer};
use super::tracking::Before;
use super::undo::Undo;
use super::{Recovery, Sender};
use crate::kernel::time::Time;
use crate::tcp::congestion::{CongestionSign, RecoveryAck};
use crate::tcp::prr::RateReduction;
use crate::tcp::rack::{SenderState, Step};
use crate::tcp::sack::dsack;
use crate::tcp::scoreboard::Update;
use crate::tcp::tlp::Outlook;
use crate::tcp::{Ack, Blocks};

/// The changes of the sender's state by an ACK, or by the expiry of the reordering timer.
#[derive(Clone, Copy, Debug)]
struct AckUpdate {
    /// Number of segments by which `snd_una` increased.
    acked: u32,
    /// FlightSize before the event. [packets]
    flight: u32,
    update: Update,
}

impl Sender {
    /// Processes an ACK whose ECN echo has already been processed.
    pub(super) fn on_timed_ack(
        &mut self,
        now: Time,
        ack: Ack,
        blocks: &Blocks,
        timed: &mut RackTlp,
    ) {
        let (before, flight) = (self.snd_una, self.flight_size(timed));
        if ack.next < before {
            return;
        }
        let twice = dsack(ack.next, blocks);
        let repaired = timed.probe.on_ack(&ack, ack.next == before, twice);
        if repaired {
            self.on_repair_by_probe();
        }
        if twice.is_some() {
            timed.rack.on_dsack(ack.next, self.snd_max);
        }
        if before == self.snd_max {
            return;
        }
        let acked = ack.next - before;
        let state = Before::of(timed);
        let update = timed.rack.on_ack(Step {
            now,
            before,
            next: ack.next,
            snd_max: self.snd_max,
            echo: ack.echo,
            blocks,
        });
        if acked > 0 {
            self.rtt.on_sample(now.since(ack.echo), self.flight());
            timed.probe.on_sample();
            timed.limited = 0;
            self.snd_una = ack.next;
            timed.rto = match self.snd_una == self.snd_max {
                true => Time::NEVER,
                false => now + self.rtt.rto(),
            };
        } else if let Some(sent) = timed.rack.sent_once() {
            self.rtt.on_sample(now.since(sent), self.flight());
            if sent < timed.rack.sent(self.snd_una) {
                timed.rto = now + self.rtt.rto();
            }
        }
        let recovers = self.recovery.is_fast() && !timed.counts_last;
        let undone = acked > 0 && self.undoes_by(&ack, timed);
        let update_by_ack = AckUpdate {
            acked,
            flight,
            update,
        };
        self.update_timed_recovery(now, update_by_ack, timed);
        let reduced = repaired || recovers || undone || self.recovery.is_fast();
        if acked > 0 && !reduced && !ack.ece.is_set() && self.congestion.may_grow() {
            self.grow(now, acked, update.delivered);
        }
        if update.delivered > 0 {
            self.plan_probe(now, timed);
        }
        if self.congestion.follows_arrivals() {
            self.report_ack(now, state, timed);
        }
        self.timer = timed.timer().1;
    }

    /// Updates the state of recovery by an ACK.
    fn update_timed_recovery(&mut self, now: Time, ack: AckUpdate, timed: &mut RackTlp) {
        let AckUpdate { acked, update, .. } = ack;
        let mut begins = false;
        match self.recovery {
            Recovery::Fast { recover, .. } | Recovery::Careful { recover }
                if self.snd_una >= recover =>
            {
                self.end_recovery(timed);
                // segments above `recover` were lost and retransmitted, which begins the next
                // recovery
                begins = timed.rack.has_repeated();
            }
            Recovery::Fast { .. } | Recovery::Careful { .. } => {}
            Recovery::Open { .. } if acked > 0 => self.recovery = Recovery::START,
            Recovery::Open { dupacks: 0 } if update.sacked > 0 => {
                self.recovery = Recovery::Open { dupacks: 1 };
                timed.limited = 0;
            }
            Recovery::Open { .. } => {}
        }
        let losses = timed.rack.detect_loss(now, self.state());
        match self.recovery {
            Recovery::Open { .. } if begins || timed.rack.has_lost() => {
                self.begin_timed_recovery(now, ack, timed);
            }
            Recovery::Fast { .. } => {
                timed.reduce(update, acked > 0 && losses == 0, self.congestion.usable());
            }
            Recovery::Open { .. } | Recovery::Careful { .. } => {}
        }
    }

    fn end_recovery(&mut self, timed: &mut RackTlp) {
        if self.recovery.is_fast() {
            self.congestion.on_recovery_ack(RecoveryAck::Full);
        }
        self.recovery = Recovery::START;
        timed.undo = None;
        timed.first = false;
        timed.reduction = None;
        timed.rack.on_recovered();
    }

    fn begin_timed_recovery(&mut self, now: Time, ack: AckUpdate, timed: &mut RackTlp) {
        let AckUpdate { flight, update, .. } = ack;
        self.recovery = Recovery::Fast {
            recover: self.snd_max,
            partial: false,
        };
        let undoes = timed.undoes && !timed.rack.has_repeated();
        timed.undo = undoes.then(|| Undo::new(self.congestion.prior()));
        if !self.reduced_in_this_window() {
            self.congestion.on_loss(flight, CongestionSign::Selective);
            self.reduced();
        }
        timed.probe.init();
        timed.first = true;
        timed.reduction = timed.reduces.then(|| Reduction {
            rate: RateReduction::new(update.outstanding),
            cwnd: 0,
        });
        timed.reduce(update, false, self.congestion.usable());
        timed.rto = now + self.rtt.rto();
        self.fast_retransmits += 1;
    }

    /// Undoes the recovery if an ACK of new data shows that it is unnecessary. Returns whether it
    /// was undone.
    fn undoes_by(&mut self, ack: &Ack, timed: &mut RackTlp) -> bool {
        let Some(decision) = timed.undo.and_then(|undo| undo.decided_by(ack)) else {
            return false;
        };
        timed.undo = None;
        let Some(prior) = decision else {
            return false;
        };
        self.end_recovery(timed);
        self.congestion.restore(prior);
        timed.rack.forgive(self.snd_una, self.snd_max);
        true
    }

    /// Reduces the window because a probe has repaired the loss of the last segment (section 7.4.2).
    #[cold]
    fn on_repair_by_probe(&mut self) {
        if matches!(self.recovery, Recovery::Open { .. }) && !self.reduced_in_this_window() {
            self.congestion.on_repair_by_probe(self.flight());
            self.reduced();
            self.fast_retransmits += 1;
        }
    }

    /// Returns FlightSize. In recovery FlightSize excludes SACKed and lost segments, which belong
    /// to the window before the recovery. Outside recovery FlightSize excludes the segments of
    /// limited transmit (RFC 5681, section 3.2).
    fn flight_size(&self, timed: &RackTlp) -> u32 {
        match self.recovery {
            Recovery::Open { .. } => self.flight() - timed.limited,
            Recovery::Fast { .. } | Recovery::Careful { .. } => timed.rack.in_flight(),
        }
    }

    fn state(&self) -> SenderState {
        SenderState {
            recovers: !matches!(self.recovery, Recovery::Open { .. }),
            srtt: self.rtt.srtt(),
        }
    }

    /// Plans a probe (section 7.2).
    #[inline]
    fn plan_probe(&self, now: Time, timed: &mut RackTlp) {
        if timed.rack.sacked() == 0 && matches!(self.recovery, Recovery::Open { .. }) {
            timed.probe.schedule(Outlook {
                now,
                flight: self.flight(),
                srtt: self.rtt.srtt(),
            });
        } else {
            timed.probe.cancel();
        }
    }

    /// Processes the deadline of a sender with RACK-TLP. Returns false, without a change, for other senders.
    pub(super) fn on_deadline_by_time(&mut self, now: Time) -> bool {
        let Some(mut board) = self.scoreboard.take() else {
            return false;
        };
        let is_timed = match &mut *board {
            Board::Timed(timed) => {
                self.on_timed_deadline(now, timed);
                true
            }
            Board::Counted(_) => false,
        };
        self.scoreboard = Some(board);
        is_timed
    }

    fn on_timed_deadline(&mut self, now: Time, timed: &mut RackTlp) {
        match timed.timer().0 {
            Timer::Reordering => {
                timed.rack.detect_loss(now, self.state());
                if timed.rack.has_lost() && matches!(self.recovery, Recovery::Open { .. }) {
                    let outstanding = self.flight() - timed.rack.sacked();
                    let no_ack = AckUpdate {
                        acked: 0,
                        flight: self.flight_size(timed),
                        update: Update {
                            delivered: 0,
                            sacked: 0,
                            outstanding,
                        },
                    };
                    self.begin_timed_recovery(now, no_ack, timed);
                }
                self.report_losses(now, timed);
            }
            Timer::Probe => {
                timed.probes = true;
                timed.probe.cancel();
                timed.rto = now + self.rtt.rto();
            }
            Timer::Retransmission => self.on_timed_rto(now, timed),
        }
        self.timer = timed.timer().1;
    }

    fn on_timed_rto(&mut self, now: Time, timed: &mut RackTlp) {
        let (before, state) = (Before::of(timed), self.state());
        if timed.undoes && timed.undo.is_none() {
            timed.undo = Some(Undo::new(self.congestion.prior()));
        }
        self.collapse(now, self.flight_size(timed));
        timed.rack.on_rto(now, self.snd_una, state);
        timed.probe.init();
        timed.first = true;
        timed.reduction = None;
        timed.rto = now + self.rtt.rto();
        if self.congestion.follows_arrivals() {
            self.report_timeout(now, before, timed);
        }
    }

    /// Chooses the next segment by RACK-TLP, and marks it as sent if it may be sent now.
    #[inline]
    pub(super) fn next_by_time(
        &mut self,
        now: Time,
        timed: &mut RackTlp,
        may_leave: impl FnOnce(&mut Sender) -> bool,
    ) -> Option<(u32, bool)> {
        let (number, is_retransmission) = match timed.probes {
            true => self.choose_probe(timed),
            false => self.choose_in_window(timed)?,
        };
        // A probe is not paced, as in Linux: it leaves when its timer expires.
        if !timed.probes && !may_leave(self) {
            return None;
        }
        if !timed.probes {
            timed.first = false;
            if let Some(reduction) = &mut timed.reduction {
                reduction.rate.on_sent();
            }
        }
        if is_retransmission {
            timed.rack.on_sent_again(now, number);
            if let Some(undo) = &mut timed.undo {
                undo.on_sent_again(now, number);
            }
        } else {
            timed.rack.on_sent(now, self.snd_una, number);
            self.snd_max += 1;
            self.snd_nxt = self.snd_max;
            timed.limited += u32::from(self.recovery == Recovery::Open { dupacks: 1 });
        }
        if timed.rto == Time::NEVER {
            timed.rto = now + self.rtt.rto(); // arm the timer (RFC 6298, rule 5.1)
        }
        if std::mem::take(&mut timed.probes) {
            timed.probe.on_sent(self.snd_max, is_retransmission);
        } else if !is_retransmission {
            self.plan_probe(now, timed);
        }
        self.timer = timed.timer().1;
        Some((number, is_retransmission))
    }

    /// Chooses the segment of a probe (section 7.3): a new segment if there is one, otherwise the
    /// last segment. The second value is true if the probe is a retransmission.
    #[cold]
    fn choose_probe(&self, timed: &RackTlp) -> (u32, bool) {
        debug_assert!(timed.rack.sacked() == 0, "a probe after a gap");
        if self.snd_max < self.right_edge() {
            (self.snd_max, false)
        } else {
            (self.snd_max - 1, true)
        }
    }

    #[inline]
    fn choose_in_window(&mut self, timed: &mut RackTlp) -> Option<(u32, bool)> {
        if !timed.has_room(self.congestion.usable()) {
            match timed.rack.has_lost() || self.snd_max < self.limit {
                true => self.meet_window(),
                false => self.meet_end(),
            }
            return None;
        }
        match timed.rack.first_lost(self.snd_una, self.snd_max) {
            Some(number) => Some((number, true)),
            None if self.snd_max < self.right_edge() => Some((self.snd_max, false)),
            None => {
                self.meet_right_edge(self.snd_max);
                None
            }
        }
    }
}

#[cfg(test)]
mod tests;

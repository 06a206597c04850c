//! Log of the frames on the air, for packet captures.

use super::backoffs::Backoffs;
use super::{Fate, FrameKind, FrameRecord, ppdu};
use crate::cell::Cell;
use crate::kernel::time::{Span, Time};
use crate::mac::airtime::{ACK_BYTES, RTS_BYTES};
use crate::mac::dcf::{CfEnd, Dcf, Outcome};
use crate::mac::{Bss, NodeId, Rates};

/// Frames on the air, up to a limit.
#[derive(Clone, Debug)]
pub struct FrameLog {
    /// Frames for which there is room, and those for which there was.
    room: usize,
    count: usize,
    /// Those that began before are left out.
    from: Time,
    /// Whether one was left out.
    is_cut: bool,
    records: Vec<FrameRecord>,
    /// Attempts made for the frame in service at each node.
    tries: Vec<u32>,
    backoffs: Backoffs,
}

impl FrameLog {
    /// A log of at most `limit` frames, from one instant on.
    pub fn new(limit: u64, from: Time) -> FrameLog {
        FrameLog {
            room: usize::try_from(limit).unwrap_or(usize::MAX),
            count: 0,
            from,
            is_cut: false,
            records: Vec::new(),
            tries: Vec::new(),
            backoffs: Backoffs::default(),
        }
    }

    /// The frames in order of their start.
    pub fn into_records(self) -> Vec<FrameRecord> {
        self.records
    }

    /// The same so far, of which none is told again.
    pub fn take(&mut self) -> Vec<FrameRecord> {
        self.room -= std::mem::take(&mut self.count);
        std::mem::take(&mut self.records)
    }

    /// Whether there is no room for more.
    pub fn is_full(&self) -> bool {
        self.is_cut || self.count >= self.room
    }

    /// Logs the exchange that `cell` has just ended; the frames are still heads of their queues.
    pub(crate) fn exchange(&mut self, bss: &Bss, cell: &Cell, outcome: Outcome) {
        let medium = cell.medium();
        if self.is_full() || outcome == Outcome::Begins {
            return;
        }
        let before = self.records.len();
        if let Some(closing) = medium.cf_end() {
            let from = medium.node(closing.from);
            self.records.push(cf_end(from, bss.ap, closing));
        }
        if cell.aggregates().is_some() {
            ppdu::log(&mut self.records, &self.backoffs, cell, &bss.cell, outcome);
        } else {
            self.frames(bss, cell, outcome);
        }
        self.backoffs.record(medium);
        if medium.exchange().start < self.from {
            self.records.truncate(before);
        }
        self.close(before);
    }

    /// Keeps of the records from `before` on those for which there is room.
    fn close(&mut self, before: usize) {
        for index in before..self.records.len() {
            let count = self.records[index].count();
            if self.count + count > self.room {
                self.is_cut = true;
                self.records.truncate(index);
                return;
            }
            self.count += count;
        }
    }

    /// Logs an exchange of single frames.
    fn frames(&mut self, bss: &Bss, cell: &Cell, outcome: Outcome) {
        let medium = cell.medium();
        self.tries.resize(cell.queues(), 0);
        for &contender in medium.transmitters() {
            let Some(packet) = cell.queue(contender as usize).head().copied() else {
                continue;
            };
            let from = medium.node(contender);
            let station = cell.station_of(&packet);
            let to = if from == bss.ap { station } else { bss.ap };
            let discarded = medium.discarded().contains(&contender);
            let fate = match (outcome, discarded) {
                (Outcome::Delivered { .. }, _) => Fate::Delivered,
                (Outcome::Collided | Outcome::Begins, false) => Fate::Collided,
                (Outcome::Collided | Outcome::Begins, true) => Fate::CollidedAndDiscarded,
                (Outcome::Corrupted, false) => Fate::Corrupted,
                (Outcome::Corrupted, true) => Fate::CorruptedAndDiscarded,
            };
            let rates = medium.rates(contender);
            let bytes = bss.cell.frame_bytes(u32::from(packet.bytes));
            let data = FrameRecord {
                at: medium.exchange().start,
                from,
                to,
                kind: FrameKind::Data,
                packet: Some(packet),
                bytes,
                rate_bps: rates.data_bps,
                attempt: self.tries[contender as usize] + 1,
                fate,
                backoff: self.backoffs.counted(medium, contender),
                reserves: None,
                ppdu: None,
            };
            let log = Exchange {
                cell: medium,
                contender,
                sifs: bss.cell.phy.sifs,
                rates,
            };
            log.write(&mut self.records, data);
            self.tries[contender as usize] = match fate {
                Fate::Delivered => 0,
                _ => self.tries[contender as usize] + 1,
            };
        }
        for &contender in medium.discarded() {
            self.tries[contender as usize] = 0;
        }
    }
}

/// The frame with which `from` ends its transmission opportunity.
fn cf_end(from: NodeId, ap: NodeId, closing: CfEnd) -> FrameRecord {
    FrameRecord {
        at: closing.start,
        from,
        to: ap,
        kind: FrameKind::CfEnd,
        packet: None,
        bytes: RTS_BYTES,
        rate_bps: closing.rate_bps,
        attempt: 1,
        fate: Fate::Delivered,
        backoff: None,
        reserves: None,
        ppdu: None,
    }
}

struct Exchange<'a> {
    cell: &'a Dcf,
    contender: u32,
    sifs: Span,
    rates: Rates,
}

impl Exchange<'_> {
    /// RTS, CTS, data and ACK, as far as the exchange got; `data` begins with the exchange if nothing
    /// protects it.
    fn write(&self, records: &mut Vec<FrameRecord>, mut data: FrameRecord) {
        if let Some((rts, cts)) = self.cell.protection(self.contender) {
            let collided = matches!(data.fate, Fate::Collided | Fate::CollidedAndDiscarded);
            records.push(FrameRecord {
                kind: FrameKind::Rts,
                bytes: RTS_BYTES,
                rate_bps: self.rates.rts_bps,
                fate: if collided { data.fate } else { Fate::Delivered },
                ..data.clone()
            });
            if collided {
                return;
            }
            let answered = data.at + rts + self.sifs;
            records.push(self.response(&data, FrameKind::Cts, answered));
            data.at = answered + cts + self.sifs;
            data.backoff = None;
        }
        let end = self.cell.exchange().end;
        let ack = self.response(&data, FrameKind::Ack, end + self.sifs);
        let delivered = data.fate == Fate::Delivered;
        records.push(data);
        records.extend(delivered.then_some(ack));
    }

    fn response(&self, data: &FrameRecord, kind: FrameKind, at: Time) -> FrameRecord {
        FrameRecord {
            at,
            from: data.to,
            to: data.from,
            kind,
            packet: None,
            bytes: ACK_BYTES,
            rate_bps: self.rates.response_bps,
            attempt: 1,
            fate: Fate::Delivered,
            backoff: None,
            reserves: None,
            ppdu: None,
        }
    }
}

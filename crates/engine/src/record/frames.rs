//! Log of the frames on the air, for packet captures.

use super::backoffs::Backoffs;
use super::exchange::Exchange;
use super::{Fate, FrameKind, FrameRecord, ppdu};
use crate::cell::{Cell, Hotspot};
use crate::kernel::time::Time;
use crate::mac::airtime::{ACK_BYTES, RTS_BYTES};
use crate::mac::dcf::{self, Outcome};
use crate::packet::Direction;

/// A log of the frames on the air, up to a maximum number of frames.
#[derive(Clone, Debug)]
pub struct FrameLog {
    /// Maximum number of frames in the log. The next field, `count`, is the current number.
    room: usize,
    count: usize,
    /// Start of the log. Exchanges that began before this time are not logged.
    from: Time,
    /// Whether a frame is missing because the log was full.
    is_cut: bool,
    records: Vec<FrameRecord>,
    /// Number of attempts so far to send the current frame, for each contender (a node, or an
    /// access category of a node).
    tries: Vec<u32>,
    backoffs: Backoffs,
}

impl FrameLog {
    /// Returns a log of at most `limit` frames. Only exchanges that begin at `from` or later are
    /// logged.
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

    /// Returns the logged frames in order of their start.
    pub fn into_records(self) -> Vec<FrameRecord> {
        self.records
    }

    /// Removes all frames from the log, and returns them in order of their start.
    pub fn take(&mut self) -> Vec<FrameRecord> {
        self.room -= std::mem::take(&mut self.count);
        std::mem::take(&mut self.records)
    }

    /// Returns whether the log is full.
    pub fn is_full(&self) -> bool {
        self.is_cut || self.count >= self.room
    }

    /// Logs the exchange that `cell` has just ended. The packets of the exchange must still be the
    /// first packets of their queues.
    pub(crate) fn exchange(&mut self, hotspot: Hotspot, cell: &Cell, outcome: Outcome) {
        let bss = hotspot.bss;
        let medium = cell.medium();
        if self.is_full() || outcome == Outcome::Begins {
            return;
        }
        let before = self.records.len();
        if let Some(closing) = medium.cf_end() {
            let ends = [medium.node(closing.from), bss.ap];
            let (at, rate_bps) = (closing.start, closing.rate_bps);
            let frame = FrameRecord::control(FrameKind::CfEnd, at, ends, RTS_BYTES, rate_bps);
            self.records.push(frame);
        }
        if cell.aggregates().is_some() {
            ppdu::log(&mut self.records, &self.backoffs, cell, &bss.cell, outcome);
        } else {
            self.frames(hotspot, cell, outcome);
        }
        self.backoffs.record(medium);
        if medium.exchange().start < self.from {
            self.records.truncate(before);
        }
        self.close(before);
    }

    /// Counts the new frames, which begin at index `before` of `records`. If the maximum number is
    /// exceeded, removes the last frames.
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

    /// Logs an exchange in a cell that does not aggregate.
    fn frames(&mut self, hotspot: Hotspot, cell: &Cell, outcome: Outcome) {
        let bss = hotspot.bss;
        let (medium, phy) = (cell.medium(), &bss.cell.phy);
        let dcf::Exchange { start, end, .. } = medium.exchange();
        self.tries.resize(cell.queues(), 0);
        for &contender in medium.transmitters() {
            let Some(packet) = cell.queue(contender as usize).head().copied() else {
                continue;
            };
            let from = medium.node(contender);
            let station = cell.station_of(&packet);
            let (to, direction) = match from == bss.ap {
                true => (station, Direction::Down),
                false => (bss.ap, Direction::Up),
            };
            let index = bss.roles.index_of(station);
            let nominal = bss.cell.rates(&hotspot.stations[index], direction);
            let response_air = phy.airtime(ACK_BYTES, nominal.response_bps);
            let discarded = medium.discarded().contains(&contender);
            let fate = Fate::of(outcome, discarded);
            let rates = medium.rates(contender);
            let bytes = bss.cell.frame_bytes(u32::from(packet.bytes));
            let tries = &mut self.tries[contender as usize];
            let data = FrameRecord {
                packet: Some(packet),
                attempt: *tries + 1,
                fate,
                backoff: self.backoffs.counted(medium, contender),
                ..FrameRecord::control(FrameKind::Data, start, [from, to], bytes, rates.data_bps)
            };
            let exchange = Exchange {
                end,
                sifs: phy.sifs,
                protection: medium.protection(contender),
                rts_bps: rates.rts_bps,
                reserved: [
                    response_air,
                    phy.airtime(bytes, nominal.data_bps),
                    response_air,
                ],
                response: (FrameKind::Ack, ACK_BYTES, rates.response_bps),
            };
            exchange.write(&mut self.records, data);
            *tries = match fate {
                Fate::Delivered => 0,
                Fate::Collided
                | Fate::Corrupted
                | Fate::CollidedAndDiscarded
                | Fate::CorruptedAndDiscarded => *tries + 1,
            };
        }
        for &contender in medium.discarded() {
            self.tries[contender as usize] = 0;
        }
    }
}

//! Records of the frames in a cell that aggregates.

use super::backoffs::Backoffs;
use super::exchange::Exchange;
use super::{Fate, FrameKind, FrameRecord};
use crate::cell::{Cell, Transmission};
use crate::kernel::time::Span;
use crate::mac::Category;
use crate::mac::aggregation::{BAR_BYTES, ampdu_bytes, amsdu_bytes, psdu_of_one};
use crate::mac::airtime::ACK_BYTES;
use crate::mac::dcf::{self, Outcome};
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;
use crate::scenario;

/// Fields of data frames and BlockAckReqs in a cell that aggregates, in addition to the fields of
/// other frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ppdu {
    /// Modulation; `None` for a frame of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Air time of the PPDU.
    pub air_time: Span,
    /// Access category of the sender.
    pub category: Category,
    /// Start of the BlockAck window: the lowest number of an MPDU that has been neither
    /// acknowledged by the receiver nor discarded by the sender.
    pub start: u32,
    /// MPDUs of the PPDU, in order; empty for a BlockAckReq.
    pub mpdus: Vec<Mpdu>,
    /// Packets of all MPDUs.
    pub packets: Vec<Packet>,
}

/// An MPDU of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// Number of the MPDU, counted from 0 for each pair of a contender (node or access category)
    /// and a receiver.
    pub number: u32,
    /// Number of the transmission attempt of the MPDU, counted from 1. Attempts that ended with a
    /// failed RTS are counted.
    pub attempt: u32,
    /// Number of packets in the MPDU.
    pub packets: u32,
    /// Length of the MPDU, including MAC header and FCS. [bytes]
    pub bytes: u32,
    /// Whether the MPDU was not received.
    pub is_lost: bool,
    /// Whether the MPDU was lost and then discarded at the attempt limit.
    pub is_discarded: bool,
}

impl Mpdu {
    /// Returns the sequence number in the header of the MPDU.
    pub fn sequence_number(&self) -> u16 {
        sequence_number(self.number)
    }

    /// Returns the result of the transmission of the MPDU. `of_ppdu` is the result of its PPDU.
    pub fn fate(&self, of_ppdu: Fate) -> Fate {
        match (self.is_lost, of_ppdu.is_collided(), self.is_discarded) {
            (false, ..) => Fate::Delivered,
            (true, true, false) => Fate::Collided,
            (true, true, true) => Fate::CollidedAndDiscarded,
            (true, false, false) => Fate::Corrupted,
            (true, false, true) => Fate::CorruptedAndDiscarded,
        }
    }
}

/// Returns the sequence number in the header of an MPDU: the MPDU number modulo 4096 (IEEE
/// 802.11-2020, 9.2.4.4.2).
pub fn sequence_number(number: u32) -> u16 {
    (number % 4096) as u16
}

impl Ppdu {
    /// Returns each MPDU with its packets.
    pub fn contents(&self) -> impl Iterator<Item = (&Mpdu, &[Packet])> {
        let mut rest = &self.packets[..];
        self.mpdus.iter().map(move |mpdu| {
            let (own, others) = rest.split_at(mpdu.packets as usize);
            rest = others;
            (mpdu, own)
        })
    }
}

/// Logs the exchange that `cell` has just ended. The packets of the exchange must not have been
/// removed from their queues yet.
pub(super) fn log(
    records: &mut Vec<FrameRecord>,
    backoffs: &Backoffs,
    cell: &Cell,
    settings: &scenario::Cell,
    outcome: Outcome,
) {
    let medium = cell.medium();
    let dcf::Exchange { start, end, .. } = medium.exchange();
    for sent in cell.transmissions() {
        let planned = &sent.planned;
        let ends = [medium.node(sent.contender), planned.to];
        let mpdus = mpdus(cell, settings, sent, outcome);
        let (attempt, is_discarded) = attempt(sent, &mpdus);
        let is_bar = mpdus.is_empty();
        let modulation = sent.modulation.filter(|_| !is_bar);
        let (kind, bytes) = match is_bar {
            true => (FrameKind::BlockAckReq, BAR_BYTES),
            false => (FrameKind::Data, psdu_bytes(modulation, &mpdus)),
        };
        let (response, response_bytes) = match is_bar || mpdus.len() > 1 {
            true => (FrameKind::BlockAck, sent.block_ack_bytes),
            false => (FrameKind::Ack, ACK_BYTES),
        };
        let data = FrameRecord {
            packet: sent.packets.first().copied(),
            attempt,
            fate: Fate::of(outcome, is_discarded),
            backoff: backoffs.counted(medium, sent.contender),
            ppdu: Some(Box::new(Ppdu {
                modulation,
                air_time: planned.data_air,
                category: medium.category(sent.contender),
                start: sent.start,
                mpdus,
                packets: sent.packets.clone(),
            })),
            ..FrameRecord::control(kind, start, ends, bytes, planned.rates.data_bps)
        };
        let exchange = Exchange {
            end,
            sifs: settings.phy.sifs,
            protection: (planned.protect).then_some((planned.rts_air, planned.cts_air)),
            rts_bps: planned.rates.rts_bps,
            reserved: [planned.cts_air, planned.data_air, planned.response_air],
            response: (response, response_bytes, planned.rates.response_bps),
        };
        exchange.write(records, data);
    }
}

/// Returns the MPDUs of a PPDU, and whether each was lost or discarded.
fn mpdus(
    cell: &Cell,
    settings: &scenario::Cell,
    sent: &Transmission,
    outcome: Outcome,
) -> Vec<Mpdu> {
    let judged = match outcome {
        Outcome::Collided | Outcome::Begins => &[],
        Outcome::Delivered { .. } | Outcome::Corrupted => cell.judged(),
    };
    // with a block acknowledgement agreement, each MPDU has its own attempt limit; without an
    // agreement, the attempt limit of the contender (node or access category) applies
    let used_up = cell.medium().discarded().contains(&sent.contender);
    let mut rest = &sent.packets[..];
    let numbered = sent.mpdus.iter().enumerate();
    let mpdus = numbered.map(|(index, mpdu)| {
        let (own, others) = rest.split_at(mpdu.packets as usize);
        rest = others;
        let is_lost = !judged.get(index).copied().unwrap_or(false);
        let attempt = mpdu.attempts + 1;
        let limit = match sent.parameters.agreed {
            true => sent.parameters.attempts.is_some_and(|most| attempt >= most),
            false => used_up,
        };
        Mpdu {
            number: mpdu.number,
            attempt,
            packets: mpdu.packets,
            bytes: mpdu_bytes(settings, own),
            is_lost,
            is_discarded: is_lost && limit,
        }
    });
    mpdus.collect()
}

/// Returns the length of an MPDU that contains these packets. [bytes]
fn mpdu_bytes(settings: &scenario::Cell, packets: &[Packet]) -> u32 {
    match packets {
        [packet] => settings.frame_bytes(u32::from(packet.bytes)),
        several => {
            several.iter().fold(0, |amsdu, packet| {
                amsdu_bytes(amsdu, u32::from(packet.bytes) + settings.llc_bytes)
            }) + settings.mac_header_bytes
        }
    }
}

/// Returns the length of a PSDU that contains these MPDUs. [bytes]
fn psdu_bytes(modulation: Option<Modulation>, mpdus: &[Mpdu]) -> u32 {
    match (mpdus, modulation) {
        ([mpdu], Some(modulation)) => psdu_of_one(modulation.generation, mpdu.bytes),
        ([mpdu], None) => mpdu.bytes,
        (several, _) => several
            .iter()
            .fold(0, |psdu, mpdu| ampdu_bytes(psdu, mpdu.bytes)),
    }
}

/// Returns the attempt number of a BlockAckReq or, for MPDUs, the largest attempt number. The
/// second value is true if the BlockAckReq, or at least one of the MPDUs, is discarded.
fn attempt(sent: &Transmission, mpdus: &[Mpdu]) -> (u32, bool) {
    let attempts = mpdus.iter().map(|mpdu| mpdu.attempt);
    match attempts.max() {
        Some(attempt) => (attempt, mpdus.iter().any(|mpdu| mpdu.is_discarded)),
        None => {
            let attempt = sent.bar_attempts + 1;
            let limit = sent.parameters.attempts;
            (attempt, limit.is_some_and(|most| attempt >= most))
        }
    }
}

//! PPDUs of a cell that aggregates, for the log of frames.

use super::backoffs::Backoffs;
use super::{Fate, FrameKind, FrameRecord};
use crate::cell::{Cell, Transmission};
use crate::kernel::time::{Span, Time};
use crate::mac::aggregation::{BAR_BYTES, ampdu_bytes, amsdu_bytes, psdu_of_one};
use crate::mac::airtime::{ACK_BYTES, RTS_BYTES};
use crate::mac::dcf::Outcome;
use crate::mac::ppdu::Modulation;
use crate::mac::{Category, NodeId};
use crate::packet::Packet;
use crate::scenario;

/// Fields of data and BlockAckReqs of a cell that aggregates, in addition to those of other frames.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ppdu {
    /// Modulation; `None`: that of a frame of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Air time.
    pub air_time: Span,
    /// Access category of its sender.
    pub category: Category,
    /// The lowest number that its sender has neither seen acknowledged nor given up.
    pub start: u32,
    /// MPDUs in order; empty for a BlockAckReq.
    pub mpdus: Vec<Mpdu>,
    /// The packets of all MPDUs.
    pub packets: Vec<Packet>,
}

/// An MPDU of a PPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mpdu {
    /// Its number; MPDUs from a contender to a receiver are counted from 0.
    pub number: u32,
    /// Number of the attempt, from 1 on. Attempts whose RTS failed count.
    pub attempt: u32,
    /// Number of packets in it.
    pub packets: u32,
    /// Length, MAC header and FCS included. [bytes]
    pub bytes: u32,
    /// Whether it was not received.
    pub is_lost: bool,
    /// Whether it was lost and given up at the attempt limit.
    pub is_discarded: bool,
}

impl Mpdu {
    /// Returns its sequence number on the air.
    pub fn sequence_number(&self) -> u16 {
        sequence_number(self.number)
    }

    /// Returns its fate, given the fate of its PPDU.
    pub fn fate(&self, of_ppdu: Fate) -> Fate {
        let collided = matches!(of_ppdu, Fate::Collided | Fate::CollidedAndDiscarded);
        match (self.is_lost, collided, self.is_discarded) {
            (false, ..) => Fate::Delivered,
            (true, true, false) => Fate::Collided,
            (true, true, true) => Fate::CollidedAndDiscarded,
            (true, false, false) => Fate::Corrupted,
            (true, false, true) => Fate::CorruptedAndDiscarded,
        }
    }
}

/// Returns a number on the air, which is modulo 4096 (IEEE 802.11-2020, 9.2.4.4.2).
pub fn sequence_number(number: u32) -> u16 {
    (number % 4096) as u16
}

impl Ppdu {
    /// Returns the MPDUs with their packets.
    pub fn contents(&self) -> impl Iterator<Item = (&Mpdu, &[Packet])> {
        let mut rest = &self.packets[..];
        self.mpdus.iter().map(move |mpdu| {
            let (own, others) = rest.split_at(mpdu.packets as usize);
            rest = others;
            (mpdu, own)
        })
    }
}

/// Logs the exchange that `cell` has just ended, before its packets are settled.
pub(super) fn log(
    records: &mut Vec<FrameRecord>,
    backoffs: &Backoffs,
    cell: &Cell,
    settings: &scenario::Cell,
    outcome: Outcome,
) {
    let medium = cell.medium();
    for sent in cell.transmissions() {
        let from = medium.node(sent.contender);
        let exchange = Exchange {
            sent,
            from,
            start: medium.exchange().start,
            sifs: settings.phy.sifs,
            backoff: backoffs.counted(medium, sent.contender),
        };
        let ppdu = Ppdu {
            modulation: sent.modulation.filter(|_| !sent.mpdus.is_empty()),
            air_time: sent.planned.data_air,
            category: medium.category(sent.contender),
            start: sent.start,
            mpdus: mpdus(cell, settings, sent, outcome),
            packets: sent.packets.clone(),
        };
        exchange.write(records, ppdu, outcome);
    }
}

/// Returns the MPDUs of a PPDU with their fates.
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
    // MPDUs are given up at their own limit, and without a block acknowledgement at that of the
    // contender
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

/// Returns the length of the MPDU with these packets. [bytes]
fn mpdu_bytes(settings: &scenario::Cell, packets: &[Packet]) -> u32 {
    match packets {
        [one] => settings.frame_bytes(u32::from(one.bytes)),
        several => {
            several.iter().fold(0, |amsdu, packet| {
                amsdu_bytes(amsdu, u32::from(packet.bytes) + settings.llc_bytes)
            }) + settings.mac_header_bytes
        }
    }
}

/// Returns the length of the PSDU with these MPDUs. [bytes]
fn psdu_bytes(modulation: Option<Modulation>, mpdus: &[Mpdu]) -> u32 {
    match (mpdus, modulation) {
        ([one], Some(modulation)) => psdu_of_one(modulation.generation, one.bytes),
        ([one], None) => one.bytes,
        (several, _) => several
            .iter()
            .fold(0, |psdu, mpdu| ampdu_bytes(psdu, mpdu.bytes)),
    }
}

/// The exchange of one contender.
struct Exchange<'a> {
    sent: &'a Transmission,
    from: NodeId,
    start: Time,
    sifs: Span,
    backoff: Option<u32>,
}

impl Exchange<'_> {
    /// Appends RTS, CTS, data or BlockAckReq, and response, as far as the exchange went.
    fn write(&self, records: &mut Vec<FrameRecord>, ppdu: Ppdu, outcome: Outcome) {
        let Transmission {
            planned,
            parameters,
            ..
        } = self.sent;
        let is_bar = ppdu.mpdus.is_empty();
        let (attempt, is_discarded) = match is_bar {
            true => {
                let attempt = self.sent.bar_attempts + 1;
                (
                    attempt,
                    parameters.attempts.is_some_and(|most| attempt >= most),
                )
            }
            false => {
                let attempts = ppdu.mpdus.iter().map(|mpdu| mpdu.attempt);
                let given_up = ppdu.mpdus.iter().any(|mpdu| mpdu.is_discarded);
                (attempts.max().unwrap_or(1), given_up)
            }
        };
        let collided = outcome == Outcome::Collided;
        let fate = match (outcome, is_discarded) {
            (Outcome::Delivered { .. }, _) => Fate::Delivered,
            (Outcome::Collided | Outcome::Begins, false) => Fate::Collided,
            (Outcome::Collided | Outcome::Begins, true) => Fate::CollidedAndDiscarded,
            (Outcome::Corrupted, false) => Fate::Corrupted,
            (Outcome::Corrupted, true) => Fate::CorruptedAndDiscarded,
        };
        let response = self.sifs + planned.response_air;
        let mut data = FrameRecord {
            at: self.start,
            from: self.from,
            to: planned.to,
            kind: match is_bar {
                true => FrameKind::BlockAckReq,
                false => FrameKind::Data,
            },
            packet: ppdu.packets.first().copied(),
            bytes: match is_bar {
                true => BAR_BYTES,
                false => psdu_bytes(ppdu.modulation, &ppdu.mpdus),
            },
            rate_bps: planned.rates.data_bps,
            attempt,
            fate,
            backoff: self.backoff,
            reserves: Some(response),
            ppdu: None,
        };
        if planned.protect {
            let after_cts = self.sifs + planned.data_air + response;
            records.push(FrameRecord {
                kind: FrameKind::Rts,
                bytes: RTS_BYTES,
                rate_bps: planned.rates.rts_bps,
                fate: if collided { fate } else { Fate::Delivered },
                reserves: Some(self.sifs + planned.cts_air + after_cts),
                ..data.clone()
            });
            if collided {
                return;
            }
            let answered = self.start + planned.rts_air + self.sifs;
            records.push(FrameRecord {
                reserves: Some(after_cts),
                ..self.response(FrameKind::Cts, ACK_BYTES, answered)
            });
            data.at = answered + planned.cts_air + self.sifs;
            data.backoff = None;
        }
        let response_at = data.at + planned.data_air + self.sifs;
        let several = is_bar || ppdu.mpdus.len() > 1;
        data.ppdu = Some(Box::new(ppdu));
        records.push(data);
        if fate == Fate::Delivered {
            records.push(match several {
                true => self.response(FrameKind::BlockAck, self.sent.block_ack_bytes, response_at),
                false => self.response(FrameKind::Ack, ACK_BYTES, response_at),
            });
        }
    }

    fn response(&self, kind: FrameKind, bytes: u32, at: Time) -> FrameRecord {
        FrameRecord {
            at,
            from: self.sent.planned.to,
            to: self.from,
            kind,
            packet: None,
            bytes,
            rate_bps: self.sent.planned.rates.response_bps,
            attempt: 1,
            fate: Fate::Delivered,
            backoff: None,
            reserves: Some(Span::ZERO),
            ppdu: None,
        }
    }
}

//! MPDUs of cells that aggregate, A-MSDUs, BlockAckReqs and BlockAcks (IEEE 802.11-2020, 9.2.4.5, 9.3.1.7,
//! 9.3.1.8, 9.3.2.2).

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Cell, FROM_DS, QOS_DATA, RETRY, SERVER, SNAP_IPV4, TO_DS, close, control, mac_address,
    microseconds,
};
use crate::mac::{Category, NodeId};
use crate::packet::Packet;
use crate::record::{FrameRecord, Mpdu, Ppdu, sequence_number};

const BLOCK_ACK_REQ: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
/// In BAR and BA control: a compressed bitmap.
const COMPRESSED: u16 = 2 << 1;
/// In QoS control: an A-MSDU is inside. Its ACK policy is normal ACK, or implicit BAR (bits 5 and 6 clear).
const AMSDU: u8 = 0x80;
/// A BlockAck without its bitmap. [bytes]
const BARE_BLOCK_ACK: u32 = 24;

/// What each receiver has of each sender, by access category.
#[derive(Default)]
pub(super) struct Agreements {
    ways: BTreeMap<Key, Way>,
    /// The one whose data, or BlockAckReq, were sent last.
    last: Key,
}

/// Sender, receiver, traffic identifier.
type Key = (NodeId, NodeId, u8);

#[derive(Default)]
struct Way {
    /// The lowest number that has not been on the air.
    unsent: u32,
    /// The sender's lowest number that is neither acknowledged nor given up.
    start: u32,
    /// Numbers from there on that have been received.
    received: BTreeSet<u32>,
}

impl Agreements {
    fn way(&mut self, record: &FrameRecord, ppdu: &Ppdu) -> &mut Way {
        let key = (record.from, record.to, traffic_identifier(ppdu.category));
        self.last = key;
        self.ways.entry(key).or_default()
    }

    pub(super) fn block_ack_req(&mut self, out: &mut Vec<u8>, record: &FrameRecord) {
        if let Some(ppdu) = &record.ppdu {
            self.way(record, ppdu).begin_at(ppdu.start);
        }
        let (_, _, tid) = self.last;
        let start = self.ways.get(&self.last).map_or(0, |way| way.start);
        let duration = record.reserves.unwrap_or_default().0;
        control(out, BLOCK_ACK_REQ, duration, &[record.to, record.from]);
        out.extend_from_slice(&(COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        out.extend_from_slice(&(sequence_number(start) << 4).to_le_bytes());
    }

    /// The bitmap begins where the sender's window did: all that is known to be received from there on.
    pub(super) fn block_ack(&mut self, out: &mut Vec<u8>, record: &FrameRecord) {
        let (_, _, tid) = self.last;
        let length = record.bytes.saturating_sub(BARE_BLOCK_ACK);
        let mut bitmap = vec![0u8; length as usize];
        let mut start = 0;
        if let Some(way) = self.ways.get(&self.last) {
            start = way.start;
            for number in way.received.range(start..start + 8 * length) {
                let bit = number - start;
                bitmap[bit as usize / 8] |= 1 << (bit % 8);
            }
        }
        // the fragment number says how long the bitmap is (802.11ax-2021, table 9-30b)
        let size = if length > 8 { 4 } else { 0 };
        control(out, BLOCK_ACK, 0, &[record.to, record.from]);
        out.extend_from_slice(&(COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        out.extend_from_slice(&(sequence_number(start) << 4 | size).to_le_bytes());
        out.extend_from_slice(&bitmap);
    }
}

impl Way {
    fn begin_at(&mut self, start: u32) {
        self.start = start;
        self.received = self.received.split_off(&start);
    }
}

impl Cell {
    /// Appends an MPDU of `ppdu`, FCS included; `write` appends an IP packet.
    pub(in super::super) fn mpdu(
        &mut self,
        out: &mut Vec<u8>,
        record: &FrameRecord,
        ppdu: &Ppdu,
        (mpdu, packets): (&Mpdu, &[Packet]),
        write: &impl Fn(&mut Vec<u8>, &Packet),
    ) {
        let start = out.len();
        let is_retry = mpdu.number < self.agreements.way(record, ppdu).unsent;
        let is_amsdu = packets.len() > 1;
        let ap = self.bss.ap;
        let ds = if record.to == ap { TO_DS } else { FROM_DS };
        let retry = if is_retry { RETRY } else { 0 };
        out.extend_from_slice(&[QOS_DATA, ds | retry]);
        out.extend_from_slice(&microseconds(record.reserves.unwrap_or_default().0));
        // the third address is the BSSID's where subframes have theirs (table 9-60)
        let third = if is_amsdu { ap } else { SERVER };
        for address in [record.to, record.from, third] {
            out.extend_from_slice(&mac_address(address));
        }
        out.extend_from_slice(&(mpdu.sequence_number() << 4).to_le_bytes());
        let amsdu = if is_amsdu { AMSDU } else { 0 };
        out.extend_from_slice(&[traffic_identifier(ppdu.category) | amsdu, 0]);
        if is_amsdu {
            amsdu_body(out, record, ap, packets, write);
        } else {
            for packet in packets {
                out.extend_from_slice(&SNAP_IPV4);
                write(out, packet);
            }
        }
        close(out, start);
    }

    /// All MPDUs of `ppdu` have been written: its receiver has what was not lost.
    pub(in super::super) fn end_ppdu(&mut self, record: &FrameRecord, ppdu: &Ppdu) {
        let way = self.agreements.way(record, ppdu);
        way.begin_at(ppdu.start);
        for mpdu in &ppdu.mpdus {
            way.unsent = way.unsent.max(mpdu.number + 1);
            if !mpdu.is_lost {
                way.received.insert(mpdu.number);
            }
        }
    }
}

/// Subframes with destination, source and length, each but the last padded to a multiple of four.
fn amsdu_body(
    out: &mut Vec<u8>,
    record: &FrameRecord,
    ap: NodeId,
    packets: &[Packet],
    write: &impl Fn(&mut Vec<u8>, &Packet),
) {
    let begin = out.len();
    let [destination, source] = match record.to == ap {
        true => [SERVER, record.from],
        false => [record.to, SERVER],
    };
    for packet in packets {
        out.resize(begin + (out.len() - begin).next_multiple_of(4), 0);
        out.extend_from_slice(&mac_address(destination));
        out.extend_from_slice(&mac_address(source));
        let length_at = out.len();
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&SNAP_IPV4);
        write(out, packet);
        let length = (out.len() - length_at - 2) as u16;
        out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
    }
}

/// A user priority of the category (IEEE 802.11-2020, table 10-1).
fn traffic_identifier(category: Category) -> u8 {
    match category {
        Category::BestEffort => 0,
        Category::Background => 1,
        Category::Video => 5,
        Category::Voice => 6,
    }
}

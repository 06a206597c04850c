//! Block acknowledgement agreements, BlockAckReqs and BlockAcks (IEEE 802.11-2020, 9.3.1.7,
//! 9.3.1.8).

use std::collections::{BTreeMap, BTreeSet};

use super::fields::{control, traffic_identifier};
use crate::mac::NodeId;
use crate::record::{FrameRecord, Ppdu, sequence_number};

const BLOCK_ACK_REQ: u8 = 0x84;
const BLOCK_ACK: u8 = 0x94;
/// Value of the BAR control and BA control fields for a compressed bitmap.
const COMPRESSED: u16 = 2 << 1;
/// Length of a BlockAck without its bitmap. [bytes]
const BARE_BLOCK_ACK: u32 = 24;

/// Block acknowledgement agreements by sender, receiver and access category.
#[derive(Default)]
pub(super) struct Agreements {
    agreements: BTreeMap<Key, Agreement>,
    /// Key of the agreement under which data or a BlockAckReq was last sent. The next BlockAck
    /// belongs to this agreement.
    last: Key,
}

/// Key of an agreement: sender, receiver, and traffic identifier.
type Key = (NodeId, NodeId, u8);

/// State of a block acknowledgement agreement.
#[derive(Default)]
pub(super) struct Agreement {
    /// Lowest MPDU number that has not been transmitted.
    pub(super) unsent: u32,
    /// Start of the sender's window: the lowest MPDU number that is neither acknowledged nor
    /// discarded at the sender.
    start: u32,
    /// Numbers of received MPDUs that are not below `start`.
    pub(super) received: BTreeSet<u32>,
}

impl Agreements {
    /// Returns the agreement under which `ppdu` is sent, and records it as the last agreement.
    pub(super) fn of(&mut self, record: &FrameRecord, ppdu: &Ppdu) -> &mut Agreement {
        let key = (record.from, record.to, traffic_identifier(ppdu.category));
        self.last = key;
        self.agreements.entry(key).or_default()
    }

    /// Appends a BlockAckReq frame.
    pub(super) fn block_ack_req(&mut self, out: &mut Vec<u8>, record: &FrameRecord) {
        if let Some(ppdu) = &record.ppdu {
            self.of(record, ppdu).begin_at(ppdu.start);
        }
        let (_, _, tid) = self.last;
        let last = self.agreements.get(&self.last);
        let start = last.map_or(0, |agreement| agreement.start);
        let ends = [record.to, record.from];
        control(out, BLOCK_ACK_REQ, record.reserves, &ends);
        out.extend_from_slice(&(COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        out.extend_from_slice(&(sequence_number(start) << 4).to_le_bytes());
    }

    /// Appends a BlockAck frame. The bitmap of the BlockAck begins at the start of the sender's
    /// window.
    pub(super) fn block_ack(&mut self, out: &mut Vec<u8>, record: &FrameRecord) {
        let (_, _, tid) = self.last;
        let length = record.bytes.saturating_sub(BARE_BLOCK_ACK);
        let mut bitmap = vec![0u8; length as usize];
        let mut start = 0;
        if let Some(agreement) = self.agreements.get(&self.last) {
            start = agreement.start;
            for number in agreement.received.range(start..start + 8 * length) {
                let bit = number - start;
                bitmap[bit as usize / 8] |= 1 << (bit % 8);
            }
        }
        // the fragment number field encodes the length of the bitmap (802.11ax-2021, table 9-30b)
        let size = if length > 8 { 4 } else { 0 };
        control(out, BLOCK_ACK, record.reserves, &[record.to, record.from]);
        out.extend_from_slice(&(COMPRESSED | u16::from(tid) << 12).to_le_bytes());
        out.extend_from_slice(&(sequence_number(start) << 4 | size).to_le_bytes());
        out.extend_from_slice(&bitmap);
    }
}

impl Agreement {
    /// Moves the start of the sender's window to the MPDU number `start`.
    pub(super) fn begin_at(&mut self, start: u32) {
        self.start = start;
        self.received = self.received.split_off(&start);
    }
}

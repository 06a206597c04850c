//! 802.11 data and control frames with duration, sequence number, retry bit and FCS. MPDUs of cells
//! with aggregation are in `wlan/ppdu.rs`.

mod agreements;
mod fields;
mod ppdu;

use self::agreements::Agreements;
#[cfg(test)]
pub(super) use self::fields::crc32;
use self::fields::{
    ACK, BROADCAST, CF_END, CTS, DATA, FROM_DS, QOS_DATA, RETRY, RTS, SERVER, SNAP_IPV4, TO_DS,
    close, control, mac_address, microseconds,
};
use crate::packet::Packet;
use crate::record::{FrameKind, FrameRecord};
use crate::scenario::{NodeId, Scenario};

const FCS_BYTES: u32 = 4;
/// Length of the header of a QoS data frame. [bytes]
const QOS_HEADER_BYTES: u32 = 26;

/// Converter of frame records to 802.11 frames. The converter stores the state on which fields of
/// later frames depend.
pub(super) struct Cell {
    ap: NodeId,
    qos: bool,
    nodes: Vec<NodeState>,
    agreements: Agreements,
}

/// The last data frame that a node has sent.
#[derive(Clone)]
struct NodeState {
    /// Sequence number of the frame, modulo 4096.
    sequence: u16,
    /// Packet in the frame, and receiver of the frame; `None` before the first frame.
    last: Option<(Packet, NodeId)>,
}

impl Cell {
    pub(super) fn new(scenario: &Scenario) -> Cell {
        let node = NodeState {
            sequence: 0xFFF,
            last: None,
        };
        let bss = scenario.only_bss();
        Cell {
            ap: bss.ap,
            qos: bss.cell.mac_header_bytes >= QOS_HEADER_BYTES + FCS_BYTES,
            nodes: vec![node; 1 + scenario.stations.len()],
            agreements: Agreements::default(),
        }
    }

    /// Appends the 802.11 frame of `record`, including the FCS. `write` appends the IP packet of a
    /// data frame.
    pub(super) fn frame(
        &mut self,
        out: &mut Vec<u8>,
        record: &FrameRecord,
        write: impl FnOnce(&mut Vec<u8>, &Packet),
    ) {
        let start = out.len();
        match (record.kind, &record.packet) {
            (FrameKind::Data, Some(packet)) => {
                self.data_header(out, record, packet);
                write(out, packet);
            }
            (FrameKind::Rts, _) => control(out, RTS, record.reserves, &[record.to, record.from]),
            (FrameKind::Cts, _) => control(out, CTS, record.reserves, &[record.to]),
            (FrameKind::Ack, _) => control(out, ACK, record.reserves, &[record.to]),
            // the transmitter address of a CF-End is the address of the access point (IEEE
            // 802.11-2016, 9.3.1.6)
            (FrameKind::CfEnd, _) => {
                control(out, CF_END, record.reserves, &[]);
                out.extend_from_slice(&BROADCAST);
                out.extend_from_slice(&mac_address(self.ap));
            }
            (FrameKind::BlockAckReq, _) => self.agreements.block_ack_req(out, record),
            (FrameKind::BlockAck, _) => self.agreements.block_ack(out, record),
            (FrameKind::Data, None) => unreachable!("a data frame carries a packet"),
        }
        close(out, start);
    }

    fn data_header(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: &Packet) {
        let (sequence, retry) = self.sequence(record, packet);
        let ds = if record.to == self.ap { TO_DS } else { FROM_DS };
        let kind = if self.qos { QOS_DATA } else { DATA };
        out.extend_from_slice(&[kind, ds | if retry { RETRY } else { 0 }]);
        out.extend_from_slice(&microseconds(record.reserves));
        for address in [record.to, record.from, SERVER] {
            out.extend_from_slice(&mac_address(address));
        }
        out.extend_from_slice(&(sequence << 4).to_le_bytes());
        if self.qos {
            out.extend_from_slice(&[0, 0]); // QoS control: best effort, normal ACK
        }
        out.extend_from_slice(&SNAP_IPV4);
    }

    /// Returns the sequence number of a data frame, and whether the frame repeats the previous data
    /// frame of its transmitter. If only the RTS was sent before, the record is a retry, but the
    /// data frame is not a repetition.
    fn sequence(&mut self, record: &FrameRecord, packet: &Packet) -> (u16, bool) {
        let node = &mut self.nodes[record.from.index()];
        let this = Some((*packet, record.to));
        let retry = record.attempt > 1 && node.last == this;
        if !retry {
            node.sequence = (node.sequence + 1) & 0xFFF;
            node.last = this;
        }
        (node.sequence, retry)
    }
}

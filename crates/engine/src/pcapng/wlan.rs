//! 802.11 data and control frames with duration, sequence number, retry bit and FCS. The frames of cells
//! that aggregate are in `wlan/ppdu.rs`.

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
use crate::mac::airtime::ACK_BYTES;
use crate::mac::dcf::AP;
use crate::packet::Packet;
use crate::record::{FrameKind, FrameRecord};
use crate::scenario::{self, Rates, Scenario};

const FCS_BYTES: u32 = 4;
/// Length of the header of a QoS data frame. [bytes]
const QOS_HEADER_BYTES: u32 = 26;

/// Turns records into frames; remembers what the fields of a frame take from earlier ones.
pub(super) struct Cell {
    settings: scenario::Cell,
    qos: bool,
    nodes: Vec<NodeState>,
    /// Time announced by the last RTS. [ns]
    announced: u64,
    agreements: Agreements,
}

struct NodeState {
    /// Rates from this node to the access point and back; the access point has none.
    up: Option<Rates>,
    down: Option<Rates>,
    /// Sequence number of the last data frame, modulo 4096.
    sequence: u16,
    last: Option<(Packet, u32)>,
}

impl Cell {
    pub(super) fn new(scenario: &Scenario) -> Cell {
        let node = |up, down| NodeState {
            up,
            down,
            sequence: 0xFFF,
            last: None,
        };
        let ap = node(None, None);
        let numbers = 1..=scenario.stations.len() as u32;
        let stations =
            numbers.map(|n| node(Some(scenario.rates(n, 0)), Some(scenario.rates(0, n))));
        Cell {
            settings: scenario.cell.clone(),
            qos: scenario.cell.mac_header_bytes >= QOS_HEADER_BYTES + FCS_BYTES,
            nodes: std::iter::once(ap).chain(stations).collect(),
            announced: 0,
            agreements: Agreements::default(),
        }
    }

    /// Appends the MAC frame of `record`, FCS included; `write` appends an IP packet.
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
            (FrameKind::Rts, packet) => self.rts(out, record, packet.as_ref()),
            (FrameKind::Cts, _) => self.cts(out, record),
            (FrameKind::Ack, _) => control(out, ACK, 0, &[record.to]),
            // the transmitter's address is that of the access point (IEEE 802.11-2016, 9.3.1.6)
            (FrameKind::CfEnd, _) => {
                control(out, CF_END, 0, &[]);
                out.extend_from_slice(&BROADCAST);
                out.extend_from_slice(&mac_address(AP));
            }
            (FrameKind::BlockAckReq, _) => self.agreements.block_ack_req(out, record),
            (FrameKind::BlockAck, _) => self.agreements.block_ack(out, record),
            (FrameKind::Data, None) => unreachable!("a data frame carries a packet"),
        }
        close(out, start);
    }

    fn data_header(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: &Packet) {
        let duration = self.settings.phy.sifs.0 + self.response_time(record.from, record.to);
        let (sequence, retry) = self.sequence(record, packet);
        let (ds, third) = if record.to == 0 {
            (TO_DS, SERVER)
        } else {
            (FROM_DS, SERVER)
        };
        let kind = if self.qos { QOS_DATA } else { DATA };
        out.extend_from_slice(&[kind, ds | if retry { RETRY } else { 0 }]);
        out.extend_from_slice(&microseconds(duration));
        for address in [record.to, record.from, third] {
            out.extend_from_slice(&mac_address(address));
        }
        out.extend_from_slice(&(sequence << 4).to_le_bytes());
        if self.qos {
            out.extend_from_slice(&[0, 0]); // best effort, normal ACK
        }
        out.extend_from_slice(&SNAP_IPV4);
    }

    fn rts(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: Option<&Packet>) {
        if let Some(reserves) = record.reserves {
            return control(out, RTS, reserves.0, &[record.to, record.from]);
        }
        // 3 SIFS + CTS + data + ACK (IEEE 802.11-2020, 9.3.1.2)
        let data = packet.map_or(0, |packet| {
            let bytes = self.settings.frame_bytes(u32::from(packet.bytes));
            let rates = self.rates(record.from, record.to);
            rates.map_or(0, |rates| {
                self.settings.phy.airtime(bytes, rates.data_bps).0
            })
        });
        let response = self.response_time(record.from, record.to);
        self.announced = 3 * self.settings.phy.sifs.0 + 2 * response + data;
        control(out, RTS, self.announced, &[record.to, record.from]);
    }

    fn cts(&self, out: &mut Vec<u8>, record: &FrameRecord) {
        if let Some(reserves) = record.reserves {
            return control(out, CTS, reserves.0, &[record.to]);
        }
        let spent = self.settings.phy.sifs.0 + self.response_time(record.to, record.from);
        let left = self.announced.saturating_sub(spent);
        control(out, CTS, left, &[record.to]);
    }

    fn rates(&self, from: u32, to: u32) -> Option<Rates> {
        match from {
            0 => self.nodes[to as usize].down,
            station => self.nodes[station as usize].up,
        }
    }

    /// Air time of the ACK or CTS that answers a frame from node `from` to node `to`. [ns]
    fn response_time(&self, from: u32, to: u32) -> u64 {
        let rates = self.rates(from, to);
        rates.map_or(0, |rates| {
            self.settings.phy.airtime(ACK_BYTES, rates.response_bps).0
        })
    }

    /// Sequence number, and whether this is a repetition of the transmitter's last data frame:
    /// after a failed RTS the engine's record is a retry, the data frame is not.
    fn sequence(&mut self, record: &FrameRecord, packet: &Packet) -> (u16, bool) {
        let node = &mut self.nodes[record.from as usize];
        let this = Some((*packet, record.to));
        let retry = record.attempt > 1 && node.last == this;
        if !retry {
            node.sequence = (node.sequence + 1) & 0xFFF;
            node.last = this;
        }
        (node.sequence, retry)
    }
}

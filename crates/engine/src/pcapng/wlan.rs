//! 802.11 data and control frames with duration, sequence number, retry bit and FCS; those of cells that
//! aggregate are in `wlan/ppdu.rs`.

mod ppdu;

use self::ppdu::Agreements;
use crate::mac::airtime::ACK_BYTES;
use crate::packet::{Direction, Packet};
use crate::record::{FrameKind, FrameRecord};
use crate::scenario::{Bss, NodeId, Rates, Scenario};

const FCS_BYTES: u32 = 4;
/// Header of a QoS data frame. [bytes]
const QOS_HEADER_BYTES: u32 = 26;
/// LLC/SNAP in front of IPv4 (RFC 1042).
const SNAP_IPV4: [u8; 8] = [0xAA, 0xAA, 0x03, 0, 0, 0, 0x08, 0x00];

// First byte of frame control: subtype, type, version.
const DATA: u8 = 0x08;
const QOS_DATA: u8 = 0x88;
const RTS: u8 = 0xB4;
const CTS: u8 = 0xC4;
const ACK: u8 = 0xD4;
const CF_END: u8 = 0xE4;
// Second byte: flags.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;

const BROADCAST: [u8; 6] = [0xFF; 6];
/// Largest duration that a frame can announce. [us]
const DURATION_MAX: u64 = 32_767;
/// The wired host that the access point bridges to.
const SERVER: NodeId = NodeId(0x0100_0000);

/// Turns records into frames; remembers what the fields of a frame take from earlier ones.
pub(super) struct Cell {
    bss: Bss,
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
    last: Option<(Packet, NodeId)>,
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
        let rates = |station, direction| Some(scenario.rates(station, direction));
        let stations = 0..scenario.stations.len();
        let stations = stations.map(|n| node(rates(n, Direction::Up), rates(n, Direction::Down)));
        let bss = scenario.only_bss().clone();
        Cell {
            qos: bss.cell.mac_header_bytes >= QOS_HEADER_BYTES + FCS_BYTES,
            bss,
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
                out.extend_from_slice(&mac_address(self.bss.ap));
            }
            (FrameKind::BlockAckReq, _) => self.agreements.block_ack_req(out, record),
            (FrameKind::BlockAck, _) => self.agreements.block_ack(out, record),
            (FrameKind::Data, None) => unreachable!("a data frame carries a packet"),
        }
        close(out, start);
    }

    fn data_header(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: &Packet) {
        let duration = self.bss.cell.phy.sifs.0 + self.response_time(record.from, record.to);
        let (sequence, retry) = self.sequence(record, packet);
        let (ds, third) = if record.to == self.bss.ap {
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
            let bytes = self.bss.cell.frame_bytes(u32::from(packet.bytes));
            let rates = self.rates(record.from, record.to);
            rates.map_or(0, |rates| {
                self.bss.cell.phy.airtime(bytes, rates.data_bps).0
            })
        });
        let response = self.response_time(record.from, record.to);
        self.announced = 3 * self.bss.cell.phy.sifs.0 + 2 * response + data;
        control(out, RTS, self.announced, &[record.to, record.from]);
    }

    fn cts(&self, out: &mut Vec<u8>, record: &FrameRecord) {
        if let Some(reserves) = record.reserves {
            return control(out, CTS, reserves.0, &[record.to]);
        }
        let spent = self.bss.cell.phy.sifs.0 + self.response_time(record.to, record.from);
        let left = self.announced.saturating_sub(spent);
        control(out, CTS, left, &[record.to]);
    }

    fn rates(&self, from: NodeId, to: NodeId) -> Option<Rates> {
        match from == self.bss.ap {
            true => self.nodes[to.index()].down,
            false => self.nodes[from.index()].up,
        }
    }

    /// Air time of the ACK or CTS that answers a frame from node `from` to node `to`. [ns]
    fn response_time(&self, from: NodeId, to: NodeId) -> u64 {
        let rates = self.rates(from, to);
        rates.map_or(0, |rates| {
            self.bss.cell.phy.airtime(ACK_BYTES, rates.response_bps).0
        })
    }

    /// Sequence number, and whether this is a repetition of the transmitter's last data frame:
    /// after a failed RTS the engine's record is a retry, the data frame is not.
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

/// Appends the FCS of the frame that begins at `start`.
fn close(out: &mut Vec<u8>, start: usize) {
    let fcs = crc32(&out[start..]);
    out.extend_from_slice(&fcs.to_le_bytes());
}

/// A control frame without its FCS.
fn control(out: &mut Vec<u8>, kind: u8, duration: u64, addresses: &[NodeId]) {
    out.extend_from_slice(&[kind, 0]);
    out.extend_from_slice(&microseconds(duration));
    for &address in addresses {
        out.extend_from_slice(&mac_address(address));
    }
}

/// Duration field: [ns] rounded up to microseconds.
fn microseconds(duration: u64) -> [u8; 2] {
    (duration.div_ceil(1000).min(DURATION_MAX) as u16).to_le_bytes()
}

/// Locally administered address of a node.
fn mac_address(node: NodeId) -> [u8; 6] {
    let [a, b, c, d] = node.0.to_be_bytes();
    [0x02, 0, a, b, c, d]
}

const CRC_TABLE: [u32; 256] = crc_table();

const fn crc_table() -> [u32; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xEDB8_8320;
            }
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

/// CRC-32 of IEEE 802 (reflected polynomial 0xEDB88320), the FCS of a frame.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, &byte| {
        CRC_TABLE[((crc ^ u32::from(byte)) & 0xFF) as usize] ^ (crc >> 8)
    })
}

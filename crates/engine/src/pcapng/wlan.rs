//! 802.11 data and control frames with duration, sequence number, retry bit and FCS.

use super::ip::Addresses;
use crate::mac::airtime::ACK_BYTES;
use crate::packet::Packet;
use crate::record::{FrameKind, FrameRecord};
use crate::scenario::{self, Scenario};

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
// Second byte: flags.
const TO_DS: u8 = 0x01;
const FROM_DS: u8 = 0x02;
const RETRY: u8 = 0x08;

/// Largest duration that a frame can announce. [us]
const DURATION_MAX: u64 = 32_767;
/// The wired host that the access point bridges to.
const SERVER: u32 = 0x0100_0000;

/// Turns records into frames; remembers what the fields of a frame take from earlier ones.
pub(super) struct Cell {
    settings: scenario::Cell,
    qos: bool,
    nodes: Vec<NodeState>,
    /// Time announced by the last RTS. [ns]
    announced: u64,
}

struct NodeState {
    control_rate_bps: u64,
    /// Data rates from this node to the access point and back. [bit/s]
    uplink_rate_bps: u64,
    downlink_rate_bps: u64,
    /// Sequence number of the last data frame, modulo 4096.
    sequence: u16,
    last: Option<(Packet, u32)>,
}

impl Cell {
    pub(super) fn new(scenario: &Scenario) -> Cell {
        let node = |node: &scenario::Node, uplink_rate_bps, downlink_rate_bps| NodeState {
            control_rate_bps: node.control_rate_bps,
            uplink_rate_bps,
            downlink_rate_bps,
            sequence: 0xFFF,
            last: None,
        };
        let ap = node(&scenario.cell.ap, 0, 0);
        let stations = scenario
            .stations
            .iter()
            .map(|s| node(&s.node, s.rate_bps, s.downlink_rate_bps));
        Cell {
            settings: scenario.cell.clone(),
            qos: scenario.cell.mac_header_bytes >= QOS_HEADER_BYTES + FCS_BYTES,
            nodes: std::iter::once(ap).chain(stations).collect(),
            announced: 0,
        }
    }

    /// Appends the MAC frame of `record`, FCS included.
    pub(super) fn frame(&mut self, out: &mut Vec<u8>, record: &FrameRecord, flows: &Addresses) {
        let start = out.len();
        match (record.kind, &record.packet) {
            (FrameKind::Data, Some(packet)) => self.data(out, record, packet, flows),
            (FrameKind::Rts, packet) => self.rts(out, record, packet.as_ref()),
            (FrameKind::Cts, _) => self.cts(out, record),
            (FrameKind::Ack, _) => control(out, ACK, 0, &[record.to]),
            (FrameKind::Data, None) => unreachable!("a data frame carries a packet"),
        }
        let fcs = crc32(&out[start..]);
        out.extend_from_slice(&fcs.to_le_bytes());
    }

    fn data(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: &Packet, ip: &Addresses) {
        let duration = self.settings.phy.sifs.0 + self.control_time(record.to);
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
        ip.packet(out, packet);
    }

    fn rts(&mut self, out: &mut Vec<u8>, record: &FrameRecord, packet: Option<&Packet>) {
        // 3 SIFS + CTS + data + ACK (IEEE 802.11-2020, 9.3.1.2)
        let data = packet.map_or(0, |packet| {
            let bytes = self.settings.frame_bytes(u32::from(packet.bytes));
            let rate_bps = if record.from == 0 {
                self.nodes[record.to as usize].downlink_rate_bps
            } else {
                self.nodes[record.from as usize].uplink_rate_bps
            };
            self.settings.phy.airtime(bytes, rate_bps).0
        });
        self.announced = 3 * self.settings.phy.sifs.0 + 2 * self.control_time(record.to) + data;
        control(out, RTS, self.announced, &[record.to, record.from]);
    }

    fn cts(&self, out: &mut Vec<u8>, record: &FrameRecord) {
        let spent = self.settings.phy.sifs.0 + self.control_time(record.from);
        let left = self.announced.saturating_sub(spent);
        control(out, CTS, left, &[record.to]);
    }

    /// Air time of the ACK or CTS that node `from` answers with. [ns]
    fn control_time(&self, from: u32) -> u64 {
        let rate_bps = self.nodes[from as usize].control_rate_bps;
        self.settings.phy.airtime(ACK_BYTES, rate_bps).0
    }

    /// Sequence number, and whether this is a repetition of the transmitter's last data frame:
    /// after a failed RTS the engine's record is a retry, the data frame is not.
    fn sequence(&mut self, record: &FrameRecord, packet: &Packet) -> (u16, bool) {
        let node = &mut self.nodes[record.from as usize];
        let this = Some((*packet, record.to));
        let retry = record.retry && node.last == this;
        if !retry {
            node.sequence = (node.sequence + 1) & 0xFFF;
            node.last = this;
        }
        (node.sequence, retry)
    }
}

/// A control frame without its FCS.
fn control(out: &mut Vec<u8>, kind: u8, duration: u64, addresses: &[u32]) {
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
fn mac_address(node: u32) -> [u8; 6] {
    let [a, b, c, d] = node.to_be_bytes();
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

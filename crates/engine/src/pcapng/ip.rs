//! IPv4, TCP, UDP and ICMP packets with checksums (RFC 1071). The payload consists of zeros.

use crate::mac::NodeId;
use crate::mac::bss::Roles;
use crate::packet::{Ecn, Packet, PacketKind};
use crate::scenario::{
    Direction, Ends, Scenario, TcpSettings, Transport, WebSettings, WriteSettings,
};

const PROTOCOL_ICMP: u8 = 1;
const PROTOCOL_TCP: u8 = 6;
const PROTOCOL_UDP: u8 = 17;
const IP_HEADER: usize = 20;
const TCP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
const ICMP_HEADER: usize = 8;
/// ICMP type of an echo request (RFC 792).
pub const ECHO_REQUEST: u8 = 8;
/// ICMP type of an echo reply (RFC 792).
pub const ECHO_REPLY: u8 = 0;
/// Largest length of the options in an IPv4 or TCP header. [bytes]
const OPTIONS_MAX: usize = 40;
/// Option that has no effect (NOP), in IPv4 and in TCP.
const OPTION_NOP: u8 = 1;
const TCP_SYN_FLAG: u8 = 0x02;
const TCP_ACK_FLAG: u8 = 0x10;
/// Flag ECE of the TCP header (RFC 3168, section 6.1).
const TCP_ECE_FLAG: u8 = 0x40;
const TCP_CWR_FLAG: u8 = 0x80;
/// Value of the ACE field at the start of a connection (RFC 9768, section 3.2.2).
const ACE_BEGINS: u8 = 5;
const DONT_FRAGMENT: u16 = 0x4000;
const TIME_TO_LIVE: u8 = 64;

/// Network address 10.0.0.0. The address of station number k is this address plus k, with k counted
/// from 1.
const STATIONS: u32 = 0x0A00_0000;
/// Address 198.18.0.1 of the server. The address is in the block for benchmarks (RFC 2544).
const SERVER: u32 = 0xC612_0001;
/// Address 198.19.255.254 of the virtual shared bottleneck, which sends pings. The address is in
/// the block for benchmarks (RFC 2544).
const BOTTLENECK: u32 = 0xC613_FFFE;
/// Port of the server: the discard service (RFC 863).
const SERVER_PORT: u16 = 9;
/// First port of the flows of a station. None of the 4096 ports from this number on is assigned to
/// a known protocol.
const STATION_PORT: u16 = 49_152;
const PORTS: u32 = 4096;

/// Addresses, ports and transport settings of each flow.
pub(super) struct Addresses {
    /// One entry per flow of the scenario, by flow number; `None` for a flow between wired nodes.
    flows: Vec<Option<Flow>>,
    /// Number of the first flow that opens during the run.
    first_connection: usize,
    roles: Roles,
}

#[derive(Clone)]
struct Flow {
    station_ip: u32,
    station_port: u16,
    server_ip: u32,
    direction: Direction,
    transport: Transport,
    /// Application that writes the data, whose chunks may end with a short segment.
    writes: Option<Box<WriteSettings>>,
    /// Whether connections open during the run for pages or for the requests of a stream.
    opens_connections: bool,
}

impl Addresses {
    pub(super) fn new(scenario: &Scenario) -> Addresses {
        let pinged = scenario.bottleneck.as_ref();
        let pinged = pinged.map_or(0, |_| scenario.stations.len());
        let mut flows_of = vec![0u32; scenario.stations.len()];
        let flows = scenario
            .flows
            .iter()
            .map(|flow| {
                let Ends::Station { station, direction } = flow.ends else {
                    return None;
                };
                let index = flows_of[station];
                flows_of[station] += 1;
                Some(Flow {
                    station_ip: STATIONS + station as u32 + 1,
                    station_port: STATION_PORT + (index % PORTS) as u16,
                    server_ip: SERVER + index / PORTS,
                    direction,
                    transport: flow.transport.clone(),
                    writes: flow.writes.clone(),
                    opens_connections: flow.stream.is_some()
                        || matches!(flow.transport, Transport::Web(_)),
                })
            })
            .collect();
        Addresses {
            flows,
            first_connection: scenario.flows.len() + pinged,
            roles: scenario.only_bss().roles,
        }
    }

    /// Appends the IP packet that represents `packet` of the simulation, which one of the nodes
    /// `from` and `to` sent to the other.
    pub(super) fn packet(&self, out: &mut Vec<u8>, packet: &Packet, [from, to]: [NodeId; 2]) {
        if packet.flow as usize >= self.first_connection {
            return self.connection(out, packet, [from, to]);
        }
        let Some(flow) = self.flows.get(packet.flow as usize) else {
            let station = packet.flow as usize - self.flows.len();
            return ping(out, STATIONS + station as u32 + 1, packet);
        };
        let Some(flow) = flow else {
            return; // packets between wired nodes are never on the air
        };
        match (&flow.transport, packet.kind) {
            (Transport::Tcp(_), PacketKind::Datagram | PacketKind::EchoReply) => {
                unreachable!("a TCP flow sends segments and ACKs only")
            }
            (
                Transport::Tcp(tcp),
                PacketKind::Segment | PacketKind::Ack | PacketKind::Syn | PacketKind::SynAck,
            ) => flow.tcp(out, tcp, packet),
            (Transport::Udp(udp), _) => {
                let header = udp.header_bytes as usize;
                let payload = usize::from(packet.bytes).saturating_sub(header);
                let ends = flow.ends(packet.is_data());
                flow.udp(out, ends, options(header, IP_HEADER + UDP_HEADER), payload);
            }
            (Transport::Ping(_), _) => {
                let kind = if packet.is_data() {
                    ECHO_REQUEST
                } else {
                    ECHO_REPLY
                };
                let ends = flow.ends(packet.is_data()).map(|(address, _)| address);
                let (identifier, number) = (flow.station_port, packet.number as u16);
                echo(out, kind, ends, identifier, number, packet.bytes);
            }
            (Transport::Web(_), _) => unreachable!("packets are of a web source's connections"),
        }
    }

    /// Appends a packet of a connection that opened during the run: of a web page, or of the
    /// requests of a stream. The connection has a port of its own.
    fn connection(&self, out: &mut Vec<u8>, packet: &Packet, [from, to]: [NodeId; 2]) {
        let [sender, receiver] = [from, to].map(|node| self.roles.station_of(node));
        let Some(station) = sender.or(receiver) else {
            return;
        };
        let station_ip = STATIONS + station as u32 + 1;
        let mut flows = self.flows.iter().flatten();
        let is_like = |flow: &&Flow| flow.station_ip == station_ip && flow.opens_connections;
        let Some(like) = flows.find(is_like) else {
            return;
        };
        let (Transport::Web(WebSettings { tcp, .. }) | Transport::Tcp(tcp)) = &like.transport
        else {
            return;
        };
        let flow = Flow {
            station_port: STATION_PORT + (packet.flow % PORTS) as u16,
            server_ip: SERVER + 1 + packet.flow / PORTS,
            direction: match sender.is_some() == packet.is_data() {
                true => Direction::Up,
                false => Direction::Down,
            },
            ..like.clone()
        };
        flow.tcp(out, tcp, packet);
    }
}

/// Returns the number of option bytes that extend a header of `least` bytes to at least `wanted`
/// bytes. The number is at most 40, the largest length of options.
fn options(wanted: usize, least: usize) -> usize {
    wanted
        .saturating_sub(least)
        .next_multiple_of(4)
        .min(OPTIONS_MAX)
}

/// Returns the ECN echo of a packet as flags of the TCP header: first the AE flag, then the ECE and
/// CWR flags. An echo that counts marks is written to the ACE field, whose initial value is 5 (RFC
/// 9768, section 3.2.2).
fn echo_flags(packet: &Packet) -> (u8, u8) {
    let flag = u8::from(packet.echo.is_set());
    match (packet.kind, packet.echo.counted()) {
        (PacketKind::Segment, _) => (0, flag * TCP_CWR_FLAG),
        (_, None) => (0, flag * TCP_ECE_FLAG),
        (_, Some(marked)) => {
            let ace = (marked as u8).wrapping_add(ACE_BEGINS) & 0b111;
            (ace >> 2, (ace & 0b11) * TCP_ECE_FLAG)
        }
    }
}

impl Flow {
    /// Returns source and destination (address, port) of a packet. `with_data` is true for packets
    /// in the direction of the data, and false for packets in the reverse direction.
    fn ends(&self, with_data: bool) -> [(u32, u16); 2] {
        let station = (self.station_ip, self.station_port);
        let server = (self.server_ip, SERVER_PORT);
        if (self.direction == Direction::Up) == with_data {
            [station, server]
        } else {
            [server, station]
        }
    }

    fn tcp(&self, out: &mut Vec<u8>, tcp: &TcpSettings, packet: &Packet) {
        let mss = u64::from(tcp.mss_bytes);
        let number = u64::from(packet.number);
        let missing = self.writes.as_ref();
        let missing = missing.map_or(0, |writes| writes.missing_of(number));
        let before = (1 + number * mss - missing) as u32;
        let (accurate_ecn, echo) = echo_flags(packet);
        let (seq, ack, flags) = match packet.kind {
            PacketKind::Segment => (before, 1, TCP_ACK_FLAG | echo),
            PacketKind::Syn => (0, 0, TCP_SYN_FLAG),
            PacketKind::SynAck => (0, 1, TCP_SYN_FLAG | TCP_ACK_FLAG),
            PacketKind::Ack | PacketKind::Datagram | PacketKind::EchoReply => {
                (1, before, TCP_ACK_FLAG | echo)
            }
        };
        let window = u64::from(tcp.window_packets) * mss;
        let window = u16::try_from(window).unwrap_or(u16::MAX);
        let header = tcp.header_bytes as usize;
        let options = options(header, IP_HEADER + TCP_HEADER);
        let payload = usize::from(packet.bytes).saturating_sub(header);
        let [from, to] = self.ends(packet.is_data());
        let length = TCP_HEADER + options + payload;
        ip_header(out, PROTOCOL_TCP, [from.0, to.0], [0, length], packet.ecn);
        let start = out.len();
        out.extend_from_slice(&from.1.to_be_bytes());
        out.extend_from_slice(&to.1.to_be_bytes());
        out.extend_from_slice(&u32::to_be_bytes(seq));
        out.extend_from_slice(&u32::to_be_bytes(ack));
        let words = (TCP_HEADER + options) / 4;
        out.extend_from_slice(&[(words as u8) << 4 | accurate_ecn, flags]);
        out.extend_from_slice(&window.to_be_bytes());
        out.extend_from_slice(&[0; 4]); // checksum (set later), urgent pointer
        out.resize(out.len() + options, OPTION_NOP);
        out.resize(out.len() + payload, 0);
        let sum = transport_checksum(PROTOCOL_TCP, from.0, to.0, &out[start..]);
        out[start + 16..start + 18].copy_from_slice(&sum.to_be_bytes());
    }

    fn udp(&self, out: &mut Vec<u8>, [from, to]: [(u32, u16); 2], options: usize, payload: usize) {
        let length = UDP_HEADER + payload;
        let ends = [from.0, to.0];
        ip_header(out, PROTOCOL_UDP, ends, [options, length], Ecn::NotCapable);
        let start = out.len();
        out.extend_from_slice(&from.1.to_be_bytes());
        out.extend_from_slice(&to.1.to_be_bytes());
        out.extend_from_slice(&(length as u16).to_be_bytes());
        out.extend_from_slice(&[0; 2]);
        out.resize(out.len() + payload, 0);
        let sum = match transport_checksum(PROTOCOL_UDP, from.0, to.0, &out[start..]) {
            0 => 0xFFFF, // in UDP, zero means no checksum (RFC 768)
            sum => sum,
        };
        out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    }
}

/// Appends an echo request to the station with the address `station`, or an echo reply from this
/// station.
fn ping(out: &mut Vec<u8>, station: u32, packet: &Packet) {
    let (kind, from, to) = match packet.is_data() {
        true => (ECHO_REQUEST, BOTTLENECK, station),
        false => (ECHO_REPLY, station, BOTTLENECK),
    };
    let (identifier, number) = (station as u16, packet.number as u16);
    echo(out, kind, [from, to], identifier, number, packet.bytes);
}

/// Appends an ICMP echo request or echo reply (RFC 792) of `bytes` bytes, including the IP header.
pub fn echo(
    out: &mut Vec<u8>,
    kind: u8,
    [from, to]: [u32; 2],
    identifier: u16,
    sequence: u16,
    bytes: u16,
) {
    let length = usize::from(bytes).saturating_sub(IP_HEADER);
    ip_header(out, PROTOCOL_ICMP, [from, to], [0, length], Ecn::NotCapable);
    let start = out.len();
    out.extend_from_slice(&[kind, 0, 0, 0]); // code, checksum (set later)
    out.extend_from_slice(&identifier.to_be_bytes());
    out.extend_from_slice(&sequence.to_be_bytes());
    out.resize(start + length.max(ICMP_HEADER), 0);
    let sum = !folded(sum_of(&out[start..]));
    out[start + 2..start + 4].copy_from_slice(&sum.to_be_bytes());
}

/// Appends an IPv4 header. The packet is never fragmented, so its identification may be 0 (RFC
/// 6864).
fn ip_header(
    out: &mut Vec<u8>,
    protocol: u8,
    [from, to]: [u32; 2],
    [options, payload]: [usize; 2],
    ecn: Ecn,
) {
    let start = out.len();
    let length = IP_HEADER + options;
    // ECN codepoint (RFC 3168, section 5)
    let traffic_class = match ecn {
        Ecn::NotCapable => 0b00,
        Ecn::Capable => 0b10,
        Ecn::Scalable => 0b01,
        Ecn::Experienced => 0b11,
    };
    out.extend_from_slice(&[0x40 | (length / 4) as u8, traffic_class]);
    out.extend_from_slice(&((length + payload) as u16).to_be_bytes());
    out.extend_from_slice(&[0; 2]);
    out.extend_from_slice(&DONT_FRAGMENT.to_be_bytes());
    out.extend_from_slice(&[TIME_TO_LIVE, protocol, 0, 0]);
    out.extend_from_slice(&from.to_be_bytes());
    out.extend_from_slice(&to.to_be_bytes());
    out.resize(start + length, OPTION_NOP);
    let sum = !folded(sum_of(&out[start..]));
    out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
}

/// Returns the checksum of a TCP segment or UDP datagram whose checksum field is zero.
fn transport_checksum(protocol: u8, from: u32, to: u32, segment: &[u8]) -> u16 {
    let pseudo_header = [from >> 16, from & 0xFFFF, to >> 16, to & 0xFFFF]
        .into_iter()
        .map(u64::from)
        .sum::<u64>()
        + u64::from(protocol)
        + segment.len() as u64;
    !folded(pseudo_header + sum_of(segment))
}

/// Returns the sum of the big-endian 16-bit words of `bytes`. The last word is padded with zero.
/// The result may differ from the sum by a multiple of 2^16 - 1, which does not change the
/// [`folded`] checksum.
pub fn sum_of(bytes: &[u8]) -> u64 {
    // adding words of 32 bits gives the same checksum, because 2^16 equals 1 in one's-complement
    // arithmetic (RFC 1071, section 2)
    let words = bytes.chunks_exact(4);
    let rest: u64 = (words.remainder().chunks(2))
        .map(|word| u64::from(word[0]) << 8 | word.get(1).map_or(0, |&low| u64::from(low)))
        .sum();
    let words =
        words.map(|word| u64::from(u32::from_be_bytes([word[0], word[1], word[2], word[3]])));
    rest + words.sum::<u64>()
}

/// Returns a sum of 16-bit words as a one's-complement sum in 16 bits: the carries are added to the
/// low 16 bits.
pub fn folded(mut sum: u64) -> u16 {
    while sum > 0xFFFF {
        sum = (sum >> 16) + (sum & 0xFFFF);
    }
    sum as u16
}

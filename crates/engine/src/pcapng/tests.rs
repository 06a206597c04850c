//! Tests of a capture with each kind of frame. The tests parse the blocks, headers and checksums of
//! the capture themselves.

use super::*;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::FileTable;
use crate::packet::{Ecn, EcnEcho, Packet, PacketKind};
use crate::record::FrameKind;
use crate::scenario::*;

/// Returns the bytes of a complete capture of `frames`.
fn to_bytes(scenario: &Scenario, frames: &[FrameRecord]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut add = |piece: &[u8]| {
        bytes.extend_from_slice(piece);
        Ok::<(), ()>(())
    };
    write(scenario, frames, &mut add).unwrap();
    bytes
}

fn node(queue_packets: u32) -> Node {
    Node {
        control_rate_bps: 2_000_000,
        best_effort: Access::contention(2, 31, 1023),
        background: Access::contention(2, 31, 1023),
        video: Access::contention(2, 31, 1023),
        voice: Access::contention(2, 31, 1023),
        attempts_short: 7,
        attempts_long: 4,
        queue: QueueSetting::drop_tail(queue_packets),
        aggregation: None,
    }
}

/// Returns a scenario in which one 802.11b station has a TCP upload, a TCP download and a UDP
/// download.
fn scenario() -> Scenario {
    let tcp = Transport::Tcp(TcpSettings {
        handshake: true,
        compound: CompoundSettings::usual().unwrap(),
        cubic_linux: CubicLinuxSettings::usual().unwrap(),
        dctcp: DctcpSettings::usual().unwrap(),
        prague: PragueSettings::usual().unwrap(),
        bbr: BbrSettings::usual().unwrap(),
        bbr3: Bbr3Settings::usual().unwrap(),
        hystart: false,
        byte_counting: false,
        pacing: false,
        tso: false,
        ecn: false,
        abe: false,
        sack: false,
        rack: false,
        prr: false,
        undo: false,
        congestion: CongestionAlgorithm::NewReno,
        external: None,
        window_packets: 42,
        initial_cwnd_packets: 2,
        delayed_ack: true,
        ack_delay: Span(100_000_000),
        ack_processing: Span::ZERO,
        mss_bytes: 1460,
        header_bytes: 40,
        min_rto: Span(200_000_000),
        initial_rto: Span(1_000_000_000),
        rto_halves_again: false,
        after_idle: crate::tcp::AfterIdle::Keep,
        segments: None,
    });
    let udp = Transport::Udp(UdpSettings {
        arrivals: Arrivals::Greedy,
        rate_bps: 0,
        payload_bytes: 1471,
        header_bytes: 28,
        burst: 1,
        control: None,
    });
    let flow = |name: &str, direction, transport| {
        Flow::of_station(format!("a/{name}"), 0, direction, transport)
    };
    Scenario {
        name: "a capture".to_owned(),
        duration: Span(1_000_000_000),
        warmup: Span::ZERO,
        replications: 1,
        seed: 1,
        bss: vec![Bss::only(
            Cell {
                phy: Phy {
                    kind: PhyKind::Dot11b,
                    slot: Span(20_000),
                    sifs: Span(10_000),
                    preamble: Span(192_000),
                    eifs_rate_bps: 1_000_000,
                    signal_extension: Span::ZERO,
                },
                mac_header_bytes: 28,
                llc_bytes: 8,
                rts_threshold_bytes: None,
                ack_timeout: None,
                collider_wait: ColliderWait::Aifs,
                countdown: CountdownRule::Dcf,
                cf_end: false,
                ap: node(75),
                ap_queue_order: QueueOrder::Fifo,
                ppdus: None,
                rate_control: RateControl::Fixed,
                sharing_classes: Vec::new(),
                power_save: PowerSave::usual().expect("defaults"),
            },
            1,
        )],
        wire: Wire {
            rate: LinkRate::Unlimited,
            back: LinkRate::Unlimited,
            delay: Span::ZERO,
            queue: QueueSetting::drop_tail(1000),
            back_queue: QueueSetting::drop_tail(1000),
            loss: Loss::NONE,
        },
        bottleneck: None,
        stations: vec![Station {
            name: "a".to_owned(),
            group: "a".to_owned(),
            rate_bps: 11_000_000,
            downlink_rate_bps: 5_500_000,
            phy: PhyKind::Dot11b,
            modulation: None,
            mcs_by_snr: false,
            node: node(1000),
            channel: Channel::default(),
            channel_changes: Vec::new(),
            power_save: None,
            echo: Echo::default(),
            echo_changes: Vec::new(),
        }],
        links: Vec::new(),
        flows: vec![
            flow("up/1", Direction::Up, tcp.clone()),
            flow("down/1", Direction::Down, tcp),
            flow("udp-down/1", Direction::Down, udp),
        ],
        csma: None,
        record: Record::default(),
        tcp: TcpSettings::usual().expect("defaults"),
        tcp_defaults: TcpDefaults::default(),
        udp: UdpSettings::usual().expect("defaults"),
        programs: Vec::new(),
    }
}

fn packet(flow: u32, kind: PacketKind, number: u32, bytes: u16) -> Option<Packet> {
    Some(Packet {
        flow,
        kind,
        number,
        stamp: Time::ZERO,
        queued: Time::ZERO,
        bytes,
        ..Packet::SAMPLE
    })
}

fn data(at: u64, from: u32, packet: Option<Packet>) -> FrameRecord {
    FrameRecord {
        at: Time(at),
        from: NodeId(from),
        to: NodeId(1 - from),
        kind: FrameKind::Data,
        bytes: packet.map_or(0, |packet| u32::from(packet.bytes)) + 36,
        packet,
        rate_bps: if from == 0 { 5_500_000 } else { 11_000_000 },
        attempt: 1,
        fate: Fate::Delivered,
        backoff: None,
        reserves: Span(258_000), // SIFS 10 us + preamble 192 us + 14 B at 2 Mb/s
        ppdu: None,
    }
}

fn control(at: u64, from: u32, kind: FrameKind, packet: Option<Packet>) -> FrameRecord {
    FrameRecord {
        kind,
        packet,
        bytes: match kind {
            FrameKind::Rts | FrameKind::CfEnd => 20,
            _ => 14,
        },
        rate_bps: 2_000_000,
        reserves: Span::ZERO,
        ..data(at, from, None)
    }
}

/// The content of an enhanced packet block.
struct Captured {
    at: u64,
    radiotap: Vec<u8>,
    mac: Vec<u8>,
    comment: Option<String>,
}

fn u16_le(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn u32_le(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_le(bytes, at)) | u32::from(u16_le(bytes, at + 2)) << 16
}

fn u16_be(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

fn u32_be(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_be(bytes, at)) << 16 | u32::from(u16_be(bytes, at + 2))
}

/// Returns the blocks as (type, body), after a check of both length fields of each block.
fn blocks(mut bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let mut blocks = Vec::new();
    while !bytes.is_empty() {
        let length = u32_le(bytes, 4) as usize;
        assert_eq!(length % 4, 0);
        assert_eq!(u32_le(bytes, length - 4) as usize, length);
        blocks.push((u32_le(bytes, 0), bytes[8..length - 4].to_vec()));
        bytes = &bytes[length..];
    }
    blocks
}

fn options(mut bytes: &[u8]) -> Vec<(u16, Vec<u8>)> {
    let mut options = Vec::new();
    while !bytes.is_empty() {
        let length = usize::from(u16_le(bytes, 2));
        options.push((u16_le(bytes, 0), bytes[4..4 + length].to_vec()));
        bytes = &bytes[4 + length.next_multiple_of(4)..];
    }
    options
}

fn capture(frames: &[FrameRecord]) -> Vec<Captured> {
    captured_in(&scenario(), frames)
}

fn captured_in(scenario: &Scenario, frames: &[FrameRecord]) -> Vec<Captured> {
    blocks(&to_bytes(scenario, frames))[2..]
        .iter()
        .map(|(kind, body)| {
            assert_eq!(*kind, 6);
            let length = u32_le(body, 12) as usize;
            assert_eq!(u32_le(body, 16) as usize, length);
            let frame = &body[20..20 + length];
            let (radiotap, mac) = frame.split_at(usize::from(u16_le(frame, 2)));
            let comment = options(&body[20 + length.next_multiple_of(4)..])
                .into_iter()
                .find(|(code, _)| *code == 1)
                .map(|(_, value)| String::from_utf8(value).unwrap());
            Captured {
                at: u64::from(u32_le(body, 4)) << 32 | u64::from(u32_le(body, 8)),
                radiotap: radiotap.to_vec(),
                mac: mac.to_vec(),
                comment,
            }
        })
        .collect()
}

/// Returns the IP packet inside a data frame that has no QoS header.
fn ip(frame: &Captured) -> &[u8] {
    assert_eq!(frame.mac[24..32], [0xAA, 0xAA, 3, 0, 0, 0, 8, 0]);
    &frame.mac[32..frame.mac.len() - 4]
}

/// Checks a checksum (RFC 1071). The one's-complement sum of data that includes its checksum has
/// all bits set.
fn assert_checksum(bytes: &[u8], pseudo_header: u64) {
    assert_eq!(ip::folded(ip::sum_of(bytes) + pseudo_header), 0xFFFF);
}

fn assert_ip_checksums(packet: &[u8], header: usize) {
    assert_checksum(&packet[..header], 0);
    let pseudo_header =
        ip::sum_of(&packet[12..20]) + u64::from(packet[9]) + (packet.len() - header) as u64;
    assert_checksum(&packet[header..], pseudo_header);
}

#[test]
fn a_capture_opens_with_a_section_and_a_nanosecond_radiotap_interface() {
    let blocks = blocks(&to_bytes(&scenario(), &[]));
    assert_eq!(blocks.len(), 2);
    let (kind, section) = &blocks[0];
    assert_eq!(*kind, 0x0A0D_0D0A);
    assert_eq!(u32_le(section, 0), 0x1A2B_3C4D);
    assert_eq!((u16_le(section, 4), u16_le(section, 6)), (1, 0));
    assert_eq!(options(&section[16..])[0], (1, b"a capture".to_vec()));
    let (kind, interface) = &blocks[1];
    assert_eq!(*kind, 1);
    assert_eq!(u16_le(interface, 0), 127);
    assert!(options(&interface[8..]).contains(&(9, vec![9])));
}

#[test]
fn time_stamps_are_nanoseconds_beyond_32_bits() {
    let at = 500_000_000_001;
    let frame = &capture(&[data(at, 1, packet(0, PacketKind::Segment, 0, 1500))])[0];
    assert_eq!(frame.at, at);
}

#[test]
fn radiotap_tells_rate_and_modulation() {
    let cck = data(0, 1, packet(0, PacketKind::Segment, 0, 1500));
    let ofdm = FrameRecord {
        rate_bps: 54_000_000,
        ..cck.clone()
    };
    let [cck, ofdm] = &capture(&[cck, ofdm])[..] else {
        panic!()
    };
    assert_eq!(cck.radiotap[8..], [0x10, 22, 0x6C, 0x09, 0xA0, 0]);
    assert_eq!(ofdm.radiotap[8..], [0x10, 108, 0x6C, 0x09, 0xC0, 0]);
}

#[test]
fn crc_of_the_check_string_is_the_published_one() {
    assert_eq!(wlan::crc32(b"123456789"), 0xCBF4_3926);
}

#[test]
fn every_frame_ends_with_the_crc_of_the_rest() {
    let segment = packet(0, PacketKind::Segment, 0, 1500);
    let frames = [
        control(0, 1, FrameKind::Rts, segment),
        control(1, 0, FrameKind::Cts, None),
        data(2, 1, segment),
        control(3, 0, FrameKind::Ack, None),
    ];
    let captured = capture(&frames);
    for (frame, record) in captured.iter().zip(&frames) {
        assert_eq!(frame.mac.len(), record.bytes as usize);
        let (body, fcs) = frame.mac.split_at(frame.mac.len() - 4);
        assert_eq!(u32_le(fcs, 0), wlan::crc32(body));
        assert_eq!(frame.comment, None);
    }
}

#[test]
fn data_frames_carry_direction_addresses_and_the_duration_of_the_ack() {
    let [up, down] = &capture(&[
        data(0, 1, packet(0, PacketKind::Segment, 0, 1500)),
        data(9, 0, packet(1, PacketKind::Segment, 0, 1500)),
    ])[..] else {
        panic!()
    };
    assert_eq!(up.mac[..2], [0x08, 0x01]);
    assert_eq!(down.mac[..2], [0x08, 0x02]);
    assert_eq!(up.mac[4..10], [2, 0, 0, 0, 0, 0]); // receiver address: access point
    assert_eq!(up.mac[10..16], [2, 0, 0, 0, 0, 1]); // transmitter address: station 1
    assert_eq!(
        down.mac[4..16],
        [up.mac[10..16].to_vec(), up.mac[4..10].to_vec()].concat()
    );
    assert_eq!(u16_le(&up.mac, 2), 10 + 192 + 56);
}

#[test]
fn rts_and_cts_reserve_the_whole_exchange() {
    let segment = packet(0, PacketKind::Segment, 0, 1500);
    // after the CTS: two SIFS of 10 us each, a data frame of 1309.091 us (a preamble of 192 us, and
    // 1536 B at 11 Mb/s), and an ACK of 248 us
    let after_cts = Span(20_000 + 1_309_091 + 248_000);
    let reserving = |reserves, frame| FrameRecord { reserves, ..frame };
    let [rts, cts] = &capture(&[
        reserving(
            Span(258_000) + after_cts,
            control(0, 1, FrameKind::Rts, segment),
        ),
        reserving(after_cts, control(1, 0, FrameKind::Cts, None)),
    ])[..] else {
        panic!()
    };
    assert_eq!(u16_le(&rts.mac, 2), 30 + 248 + 1310 + 248);
    assert_eq!(u16_le(&cts.mac, 2), 20 + 1310 + 248);
    assert_eq!((rts.mac[0], cts.mac[0]), (0xB4, 0xC4));
}

#[test]
fn a_cf_end_is_for_all_and_names_the_access_point() {
    let [cf_end] = &capture(&[control(0, 1, FrameKind::CfEnd, None)])[..] else {
        panic!()
    };
    assert_eq!((cf_end.mac[0], u16_le(&cf_end.mac, 2)), (0xE4, 0));
    assert_eq!(cf_end.mac[4..10], [0xFF; 6]);
    assert_eq!(cf_end.mac[10..16], [2, 0, 0, 0, 0, 0]);
}

#[test]
fn a_retry_repeats_its_sequence_number_and_a_new_packet_takes_the_next() {
    let first = data(0, 1, packet(0, PacketKind::Segment, 0, 1500));
    let again = FrameRecord {
        attempt: 2,
        ..first.clone()
    };
    // the first attempt was an RTS that failed, so the record is a retry although the data frame is
    // sent for the first time
    let next = FrameRecord {
        attempt: 2,
        ..data(2, 1, packet(0, PacketKind::Segment, 1, 1500))
    };
    let other = data(3, 0, packet(1, PacketKind::Segment, 0, 1500));
    let frames = capture(&[first, again, next, other]);
    let seen: Vec<_> = frames
        .iter()
        .map(|frame| (u16_le(&frame.mac, 22) >> 4, frame.mac[1] & 0x08 != 0))
        .collect();
    assert_eq!(seen, [(0, false), (0, true), (1, false), (0, false)]);
}

#[test]
fn segments_and_acks_speak_of_the_same_bytes() {
    let [segment, ack] = &capture(&[
        data(0, 1, packet(0, PacketKind::Segment, 2, 1500)),
        data(9, 0, packet(0, PacketKind::Ack, 3, 40)),
    ])[..] else {
        panic!()
    };
    let (segment, ack) = (ip(segment), ip(ack));
    assert_eq!((segment.len(), ack.len()), (1500, 40));
    assert_eq!(u16_be(segment, 2), 1500);
    assert_eq!(u32_be(segment, 24), 1 + 2 * 1460);
    assert_eq!(u32_be(ack, 28), 1 + 3 * 1460);
    assert_eq!(u32_be(ack, 24), u32_be(segment, 28));
    assert_eq!(u16_be(ack, 34), 42 * 1460);
    assert_eq!(segment[12..16], ack[16..20]);
    assert_eq!(segment[20..22], ack[22..24]);
    assert!(segment[40..].iter().all(|&byte| byte == 0));
    assert_ip_checksums(segment, 20);
    assert_ip_checksums(ack, 20);
}

/// Checks the ECN bits in the headers. The IP header has ECT or CE. With RFC 3168, a segment has
/// CWR (0x80) and an ACK has ECE (0x40). With RFC 9768, section 3.2.2, the ACE field (AE 0x100, CWR
/// and ECE) counts the marks, beginning with 5.
#[test]
fn marks_and_their_echoes_stand_in_the_headers() {
    let marked = |kind, ecn, echo| {
        packet(0, kind, 0, 1500).map(|packet| Packet {
            ecn,
            echo,
            ..packet
        })
    };
    let cases = [
        (
            PacketKind::Segment,
            Ecn::NotCapable,
            EcnEcho::NONE,
            0b00,
            0x10,
        ),
        (PacketKind::Segment, Ecn::Capable, EcnEcho::SET, 0b10, 0x90),
        (
            PacketKind::Segment,
            Ecn::Scalable,
            EcnEcho::of_each(true),
            0b01,
            0x90,
        ),
        (
            PacketKind::Segment,
            Ecn::Experienced,
            EcnEcho::NONE,
            0b11,
            0x10,
        ),
        (PacketKind::Ack, Ecn::NotCapable, EcnEcho::SET, 0b00, 0x50),
        (
            PacketKind::Ack,
            Ecn::NotCapable,
            EcnEcho::of_each(true),
            0b00,
            0x50,
        ),
        (
            PacketKind::Ack,
            Ecn::NotCapable,
            EcnEcho::count(0),
            0b00,
            0x150,
        ),
        (
            PacketKind::Ack,
            Ecn::NotCapable,
            EcnEcho::count(2),
            0b00,
            0x1D0,
        ),
        (
            PacketKind::Ack,
            Ecn::NotCapable,
            EcnEcho::count(3),
            0b00,
            0x10,
        ),
    ];
    for (kind, ecn, echo, traffic_class, flags) in cases {
        let frame = &capture(&[data(0, 0, marked(kind, ecn, echo))])[0];
        let packet = ip(frame);
        let fields = (packet[1], u16_be(packet, 32) & 0x1FF);
        assert_eq!(fields, (traffic_class, flags), "{kind:?}");
        assert_ip_checksums(packet, 20);
    }
}

#[test]
fn datagrams_of_odd_length_have_a_good_checksum() {
    let frame = &capture(&[data(0, 0, packet(2, PacketKind::Datagram, 5, 1499))])[0];
    let datagram = ip(frame);
    assert_eq!(datagram[9], 17);
    assert_eq!(u16_be(datagram, 24), 8 + 1471);
    assert_ip_checksums(datagram, 20);
}

#[test]
fn fates_are_comments_and_the_bytes_stay_good() {
    let sent = data(0, 1, packet(0, PacketKind::Segment, 0, 1500));
    let collided = FrameRecord {
        fate: Fate::Collided,
        ..sent.clone()
    };
    let corrupted = FrameRecord {
        fate: Fate::CorruptedAndDiscarded,
        ..sent
    };
    let frames = capture(&[collided, corrupted]);
    let comments: Vec<_> = frames.iter().filter_map(|f| f.comment.as_deref()).collect();
    assert_eq!(comments, ["collided", "corrupted, discarded"]);
    assert_ip_checksums(ip(&frames[0]), 20);
}

#[test]
fn larger_headers_become_options_and_a_qos_field() {
    let mut scenario = scenario();
    scenario.bss[0].cell.mac_header_bytes = 30;
    for flow in &mut scenario.flows {
        match &mut flow.transport {
            Transport::Tcp(tcp) => tcp.header_bytes = 52,
            Transport::Udp(udp) => udp.header_bytes = 40,
            Transport::Web(_) | Transport::Ping(_) => unreachable!("the scenario has none"),
        }
    }
    let record = |at, bytes, packet| FrameRecord {
        bytes,
        ..data(at, 0, packet)
    };
    let frames = captured_in(
        &scenario,
        &[
            record(0, 1550, packet(1, PacketKind::Segment, 0, 1512)),
            record(1, 1549, packet(2, PacketKind::Datagram, 0, 1511)),
        ],
    );
    for (frame, header) in frames.iter().zip([20, 32]) {
        assert_eq!(frame.comment, None);
        assert_eq!(frame.mac[0], 0x88);
        assert_ip_checksums(&frame.mac[34..frame.mac.len() - 4], header);
    }
}

#[test]
fn a_size_that_standard_headers_cannot_show_is_told() {
    let mut record = data(0, 1, packet(0, PacketKind::Segment, 0, 1500));
    record.bytes = 1500;
    assert_eq!(
        capture(&[record])[0].comment.as_deref(),
        Some("1500 bytes on the air")
    );
}

#[test]
fn an_error_of_the_sink_ends_the_capture() {
    let mut pieces = 0;
    let result = write(
        &scenario(),
        &vec![data(0, 1, packet(0, PacketKind::Segment, 0, 1500)); 3],
        &mut |_| {
            pieces += 1;
            if pieces == 2 { Err("full") } else { Ok(()) }
        },
    );
    assert_eq!((result, pieces), (Err("full"), 2));
}

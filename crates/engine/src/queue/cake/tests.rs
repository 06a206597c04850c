use super::cobalt::{Cobalt, Parameters};
use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::notation::setting::FileTable;
use crate::packet::Ecn;
use crate::packet::PacketKind;

const MS: u64 = 1_000_000;

/// Returns the settings of CAKE with a shaper of this rate on lengths of IP packets.
fn setting(bandwidth_bps: Option<u64>, isolation: Isolation) -> CakeSetting {
    let usual = CakeSetting::usual();
    let Ok(usual) = usual else {
        panic!("all keys have defaults");
    };
    CakeSetting {
        bandwidth_bps,
        isolation,
        overhead_bytes: 0,
        ..usual
    }
}

fn cake(setting: CakeSetting, classes: &[FlowClass]) -> Cake {
    let mut cake = Cake::new(setting, Streams::new(2, 0).stream("queue"));
    cake.set_flows(classes);
    cake
}

/// Returns a flow from host `from` to host `to`.
fn flow(from: u32, to: u32) -> FlowClass {
    FlowClass {
        hosts: [from, to],
        public: [from, to],
        ..FlowClass::OWN
    }
}

fn packet(flow: u32, bytes: u16, queued: Time) -> Packet {
    Packet {
        flow,
        bytes,
        queued,
        ..Packet::SAMPLE
    }
}

/// Adds a packet that does not wait for more than the target.
fn add(cake: &mut Cake, now: Time, flow: u32, bytes: u16) {
    let mut dropped = Vec::new();
    cake.enqueue(packet(flow, bytes, now), 10_000, &mut dropped);
    assert_eq!(dropped, []);
}

/// Serves flows that always have `waiting` packets of 1500 bytes, until `packets` packets have
/// left. Returns the number of packets of each flow.
fn serve(cake: &mut Cake, flows: u32, packets: usize) -> Vec<u32> {
    let (mut now, mut dropped) = (Time::ZERO, Vec::new());
    let mut sent = vec![0; flows as usize];
    (0..flows).for_each(|flow| (0..4).for_each(|_| add(cake, now, flow, 1500)));
    let mut left = 0;
    while left < packets {
        let Some(packet) = cake.dequeue(now, &mut dropped) else {
            assert!(cake.ready() > now);
            now = cake.ready();
            continue;
        };
        cake.departed(&packet, now);
        sent[packet.flow as usize] += 1;
        left += 1;
        add(cake, now, packet.flow, 1500);
    }
    sent
}

#[test]
fn packets_leave_one_sending_time_apart_without_a_burst() {
    // 10 Mb/s: 1500 bytes take 1.2 ms, and 100 bytes take 80 us
    let mut cake = cake(setting(Some(10_000_000), Isolation::Flows), &[]);
    let mut dropped = Vec::new();
    let mut times = Vec::new();
    let mut now = Time(500 * MS);
    for bytes in [1500, 1500, 100, 100] {
        add(&mut cake, now, 0, bytes);
    }
    while cake.packets > 0 {
        match cake.dequeue(now, &mut dropped) {
            Some(_) => times.push(now.0 - 500 * MS),
            None => now = cake.ready(),
        }
    }
    // half a second without packets gives no credit, and a packet waits for the time of the
    // packet before it
    assert_eq!(times, [0, 1_200_000, 2_400_000, 2_480_000]);
    assert_eq!(cake.ready(), Time::NEVER);
    // the last packet is charged too
    add(&mut cake, now, 0, 100);
    assert_eq!(cake.dequeue(now, &mut dropped), None);
    assert_eq!(cake.ready(), Time(500 * MS + 2_560_000));
}

#[test]
fn the_shaper_counts_cells() {
    // a packet of 1500 bytes with 40 bytes of overhead is 33 cells of 53 bytes: 1749 bytes
    let adsl = CakeSetting {
        overhead_bytes: 40,
        link_layer: line::LinkLayer::Atm,
        ..setting(Some(8_000_000), Isolation::Flows)
    };
    let mut cake = cake(adsl, &[]);
    add(&mut cake, Time::ZERO, 0, 1500);
    add(&mut cake, Time::ZERO, 0, 1500);
    assert!(cake.dequeue(Time::ZERO, &mut Vec::new()).is_some());
    assert_eq!(cake.ready(), Time(1_749_000));
}

#[test]
fn the_target_is_at_least_one_and_a_half_frames() {
    let rtt = Span(100 * MS);
    // 1 Mb/s is 125000 bytes/s: a frame of 1514 bytes takes 12.112 ms
    let slow = Parameters::new(rtt, 125_000);
    assert_eq!(slow.target, Span(18_168_000));
    assert_eq!(slow.interval, Span(113_168_000));
    assert_eq!(slow.mtu_time, Span(12_112_000));
    // 50 kb/s: the target of 363.36 ms needs an interval of twice the target
    let slowest = Parameters::new(rtt, 6_250);
    assert_eq!(slowest.target, Span(363_360_000));
    assert_eq!(slowest.interval, Span(726_720_000));
    let fast = Parameters::new(rtt, 12_500_000);
    assert_eq!([fast.target, fast.interval], [Span(5 * MS), rtt]);
    let unlimited = Parameters::new(Span(30 * MS), 0);
    assert_eq!(unlimited.target, Span(1_500_000));
}

#[test]
fn the_quantum_of_a_flow_is_a_4096th_of_a_second_between_two_bounds() {
    let quantum = |bps: u64| {
        let tins = tins(&setting(Some(bps), Isolation::Flows));
        tins.iter().map(|tin| tin.flow_quantum).collect::<Vec<_>>()
    };
    // 40 Mb/s is 5000000 bytes/s, and voice has a quarter: 1220 and 305 bytes; bulk has a sixteenth
    assert_eq!(quantum(40_000_000), [1220, 300, 305]);
    assert_eq!(quantum(200_000_000), [1514, 381, 1514]);
    assert_eq!(quantum(1_000_000), [300; 3]);
}

#[test]
fn thresholds_of_the_tins_are_those_of_the_manual() {
    let of = |diffserv: Diffserv| diffserv.thresholds(12_500_000);
    assert_eq!(of(Diffserv::Besteffort), [12_500_000]);
    assert_eq!(of(Diffserv::Diffserv3), [12_500_000, 781_250, 3_125_000]);
    assert_eq!(
        of(Diffserv::Diffserv4),
        [12_500_000, 781_250, 6_250_000, 3_125_000]
    );
    let eight = [
        12_500_000, 10_937_500, 9_570_312, 8_374_023, 7_327_270, 6_411_361, 5_609_940, 4_908_697,
    ];
    assert_eq!(of(Diffserv::Diffserv8), eight);
    assert_eq!(of(Diffserv::Precedence), eight);
    assert_eq!(Diffserv::Diffserv4.quanta(), [1024, 64, 512, 256]);
    assert_eq!(
        Diffserv::Diffserv8.quanta(),
        [256, 224, 196, 171, 149, 130, 113, 98]
    );
}

#[test]
fn dscps_have_the_tins_of_the_manual() {
    let names = |diffserv: Diffserv, tin: &str| -> Vec<&str> {
        let own = |dscp: &Dscp| diffserv.tins()[usize::from(diffserv.tin(*dscp))] == tin;
        Dscp::ALL.into_iter().filter(own).map(Dscp::name).collect()
    };
    let in_three = |tin| names(Diffserv::Diffserv3, tin);
    assert_eq!(in_three("bulk"), ["LE", "CS1"]);
    assert_eq!(in_three("voice"), ["VA", "EF", "CS6", "CS7"]);
    let in_four = |tin| names(Diffserv::Diffserv4, tin);
    assert_eq!(in_four("bulk"), ["LE", "CS1"]);
    let video = [
        "CS2", "AF21", "AF22", "AF23", "CS3", "AF31", "AF32", "AF33", "AF41", "AF42", "AF43",
    ];
    assert_eq!(in_four("video"), video);
    assert_eq!(in_four("voice"), ["CS4", "CS5", "VA", "EF", "CS6", "CS7"]);
    assert_eq!(in_four("best-effort"), ["CS0", "AF11", "AF12", "AF13"]);
    let in_eight = |tin| names(Diffserv::Diffserv8, tin);
    assert_eq!(in_eight("tin-0"), ["LE"]);
    assert_eq!(in_eight("tin-1"), ["CS1", "AF11", "AF12", "AF13"]);
    assert_eq!(in_eight("tin-2"), ["CS0"]);
    assert_eq!(in_eight("tin-3").len(), 7, "CS3, AF3x, AF4x");
    assert_eq!(in_eight("tin-4"), ["AF21", "AF22", "AF23"]);
    assert_eq!(in_eight("tin-5"), ["CS2"]);
    assert_eq!(in_eight("tin-6"), ["CS4", "CS5", "VA", "EF"]);
    assert_eq!(in_eight("tin-7"), ["CS6", "CS7"]);
    assert_eq!(names(Diffserv::Precedence, "tin-5"), ["CS5", "VA", "EF"]);
}

#[test]
fn flows_share_packets_with_flows_and_hosts_share_them_with_isolation() {
    // flows 0 to 7 are of host 1, and flow 8 is of host 2
    let classes: Vec<FlowClass> = (0..9)
        .map(|k| flow(if k < 8 { 1 } else { 2 }, OWN))
        .collect();
    let part = |isolation| {
        let mut cake = cake(setting(Some(100_000_000), isolation), &classes);
        let sent = serve(&mut cake, 9, 18_000);
        let total: u32 = sent.iter().sum();
        f64::from(sent[8]) / f64::from(total)
    };
    for (isolation, expected) in [
        (Isolation::Flows, 1.0 / 9.0),
        (Isolation::DualDsthost, 1.0 / 9.0),
        (Isolation::DualSrchost, 0.5),
        (Isolation::TripleIsolate, 0.5),
        (Isolation::Srchost, 0.5),
        (Isolation::Hosts, 1.0 / 9.0),
    ] {
        let part = part(isolation);
        assert!((part - expected).abs() < 0.004, "{isolation:?}: {part}");
    }
}

#[test]
fn a_flow_has_the_weight_of_its_busier_host() {
    // host 1 sends two flows to host 3 and one to host 4; host 2 sends one flow to host 3
    let classes = [flow(1, 3), flow(1, 3), flow(1, 4), flow(2, 3)];
    let mut cake = cake(
        setting(Some(100_000_000), Isolation::TripleIsolate),
        &classes,
    );
    let sent = serve(&mut cake, 4, 12_000);
    // source 1 and destination 3 have three flows each, so that all flows have a third
    for packets in &sent {
        assert!(packets.abs_diff(3_000) < 60, "{sent:?}");
    }
    let classes = [flow(1, 3), flow(1, 4), flow(2, 3), flow(2, 5), flow(2, 6)];
    let mut other = super::tests::cake(
        setting(Some(100_000_000), Isolation::TripleIsolate),
        &classes,
    );
    let sent = serve(&mut other, 5, 20_000);
    // weights 1/2, 1/2, 1/3, 1/3, 1/3 of 2 in total
    for (packets, expected) in sent.iter().zip([5_000, 5_000, 3_333, 3_333, 3_333]) {
        assert!(packets.abs_diff(expected) < 100, "{sent:?}");
    }
}

#[test]
fn hosts_behind_nat_are_one_host_unless_nat_is_set() {
    let behind = |host| FlowClass {
        hosts: [host, OWN],
        public: [9, OWN],
        ..FlowClass::OWN
    };
    // hosts 1 and 2 are behind router 9; host 3 is not
    let classes = [behind(1), behind(2), flow(3, OWN)];
    let part = |nat| {
        let setting = CakeSetting {
            nat,
            ..setting(Some(50_000_000), Isolation::DualSrchost)
        };
        let sent = serve(&mut cake(setting, &classes), 3, 12_000);
        f64::from(sent[2]) / 12_000.0
    };
    assert!((part(false) - 0.5).abs() < 0.005);
    assert!((part(true) - 1.0 / 3.0).abs() < 0.005);
}

#[test]
fn a_sparse_flow_overtakes_bulk_flows() {
    let mut cake = cake(setting(None, Isolation::Flows), &[]);
    let mut dropped = Vec::new();
    for _ in 0..10 {
        add(&mut cake, Time::ZERO, 0, 1500);
        add(&mut cake, Time::ZERO, 1, 1500);
    }
    for _ in 0..6 {
        cake.dequeue(Time::ZERO, &mut dropped);
    }
    add(&mut cake, Time::ZERO, 2, 200);
    let next = cake.dequeue(Time::ZERO, &mut dropped);
    assert_eq!(next.map(|packet| packet.flow), Some(2));
    let flows = cake.tins[0].counters.flows;
    assert_eq!(flows, [1, 2], "the emptied sparse flow is still counted");
}

#[test]
fn a_tin_has_priority_up_to_its_threshold() {
    let of = |dscp| FlowClass {
        dscp,
        ..FlowClass::OWN
    };
    let classes = [of(Dscp::Cs0), of(Dscp::Cs1), of(Dscp::Ef)];
    let mut cake = cake(setting(Some(80_000_000), Isolation::Flows), &classes);
    let sent = serve(&mut cake, 3, 16_000);
    // bulk and voice get their thresholds of 1/16 and 1/4, and best effort gets the rest
    let parts = [11.0, 1.0, 4.0].map(|part| part / 16.0);
    for (packets, part) in sent.iter().zip(parts) {
        let share = f64::from(*packets) / 16_000.0;
        assert!((share - part).abs() < 0.02, "{sent:?}");
    }
    // without a shaper, tins share by the weights 1, 1/16 and 1/4
    let mut other = super::tests::cake(setting(None, Isolation::Flows), &classes);
    let sent = serve(&mut other, 3, 21_000);
    for (packets, expected) in sent.iter().zip([16_000, 1_000, 4_000_u32]) {
        assert!(packets.abs_diff(expected) < 200, "{sent:?}");
    }
}

#[test]
fn voice_below_its_threshold_goes_first() {
    let of = |dscp| FlowClass {
        dscp,
        ..FlowClass::OWN
    };
    let mut cake = cake(
        setting(Some(10_000_000), Isolation::Flows),
        &[of(Dscp::Cs0), of(Dscp::Ef)],
    );
    let mut dropped = Vec::new();
    (0..5).for_each(|_| add(&mut cake, Time::ZERO, 0, 1500));
    assert!(cake.dequeue(Time::ZERO, &mut dropped).is_some());
    add(&mut cake, Time(MS), 1, 200);
    add(&mut cake, Time(MS), 1, 200);
    let due = cake.ready();
    let next = cake.dequeue(due, &mut dropped).map(|packet| packet.flow);
    assert_eq!(next, Some(1));
    // 200 bytes at a quarter of 10 Mb/s take 0.64 ms, and 0.16 ms at the rate of the shaper: the
    // clock of the tin is behind by the time since its arrival, and then ahead
    let due = cake.ready();
    assert_eq!(due, Time(1_360_000));
    let next = cake.dequeue(due, &mut dropped).map(|packet| packet.flow);
    assert_eq!(next, Some(0), "voice is above its threshold");
}

/// Counts BLUE's increments by hand: 1/256 per overflow, at most once per target.
#[test]
fn blue_grows_by_a_256th_and_falls_by_a_4096th() {
    let parameters = Parameters::new(Span(100 * MS), 12_500_000);
    let mut state = Cobalt::default();
    let at = |ms: u64| Time(1_000 * MS + ms * MS);
    assert!(state.overflow(at(0), &parameters), "it begins");
    assert!(!state.overflow(at(5), &parameters), "not after the target");
    assert_eq!(state.drop_probability(), 1.0 / 256.0);
    state.overflow(at(6), &parameters);
    assert_eq!(state.drop_probability(), 2.0 / 256.0);
    for k in 0..31 {
        let now = at(12 + 6 * k);
        assert!(!state.empty(now, &parameters), "{k}");
    }
    assert_eq!(state.drop_probability(), 1.0 / 4096.0);
    assert!(state.is_active(at(200)));
    assert!(state.empty(at(300), &parameters), "it ends");
    assert_eq!(state.drop_probability(), 0.0);
}

/// Returns the times at which packets are signalled that each have waited for `sojourn`, one
/// packet per millisecond.
fn signals(state: &mut Cobalt, sojourn: Span, ms: std::ops::Range<u64>) -> Vec<u64> {
    let parameters = Parameters::new(Span(100 * MS), 12_500_000);
    let mut stream = Streams::new(1, 0).stream("draws");
    let signalled = ms.filter(|&ms| {
        let now = Time(ms * MS);
        let mut packet = Packet {
            queued: Time(now.0 - sojourn.0),
            ecn: Ecn::Capable,
            ..Packet::SAMPLE
        };
        let (drops, marks) = state.judge(now, &parameters, 0, &mut packet, &mut stream);
        assert!(!drops && marks == (packet.ecn == Ecn::Experienced));
        marks
    });
    signalled.collect()
}

#[test]
fn signals_follow_after_the_interval_divided_by_a_square_root() {
    let mut state = Cobalt::default();
    let below = Span(4 * MS);
    assert!(signals(&mut state, below, 900..1_000).is_empty());
    // the first period signals at the second packet, then after 100 / sqrt(2), 100 / sqrt(3), ...:
    // 1000, 1070.7, 1128.4, 1178.4, 1223.2
    let times = signals(&mut state, Span(6 * MS), 1_000..1_250);
    assert_eq!(times, [1_001, 1_071, 1_129, 1_179, 1_224]);
    assert_eq!(state.signals(), 6);
    // below the target no packet is marked, and the count decays
    let after = signals(&mut state, below, 1_250..2_000);
    assert_eq!((after.len(), state.signals()), (0, 0));
    // later periods signal after an interval
    let times = signals(&mut state, Span(6 * MS), 2_000..2_200);
    assert_eq!(times, [2_100, 2_171]);
}

#[test]
fn the_last_packet_of_a_queue_is_not_dropped() {
    let mut cake = cake(setting(Some(100_000_000), Isolation::Flows), &[]);
    let mut dropped = Vec::new();
    // each packet waits 50 ms: above the target, so that the queue signals
    for ms in 0..600 {
        let now = Time(1_000 * MS + ms * MS);
        let packet = packet(0, 1500, Time(now.0 - 50 * MS));
        cake.enqueue(packet, 100, &mut dropped);
        assert!(cake.dequeue(now, &mut dropped).is_some());
    }
    assert_eq!(dropped, []);
}

#[test]
fn the_longest_queue_loses_its_first_packet() {
    // packets of 1500 bytes have 2304 bytes of memory, and packets of 600 bytes have 1280 bytes:
    // 9472 bytes at the last arrival
    let limited = CakeSetting {
        memory_limit_bytes: Some(9_471),
        ..setting(Some(10_000_000), Isolation::Flows)
    };
    let mut cake = cake(limited, &[]);
    let mut dropped = Vec::new();
    for (number, flow) in [(1, 0), (2, 0), (3, 1), (4, 1), (5, 0)] {
        let packet = Packet {
            number,
            ..packet(flow, if flow == 0 { 1500 } else { 600 }, Time(100 * MS))
        };
        cake.enqueue(packet, 100, &mut dropped);
    }
    assert_eq!(
        dropped
            .iter()
            .map(|packet| packet.number)
            .collect::<Vec<_>>(),
        [1]
    );
    assert_eq!((cake.packets, cake.memory), (4, 7_168));
    // the number of packets is limited too
    cake.enqueue(packet(1, 40, Time(100 * MS)), 4, &mut dropped);
    assert_eq!((dropped.len(), cake.packets), (2, 4));
    assert_eq!(cake.packets().count(), 4);
    let counters = cake.tins[0].counters;
    assert_eq!((counters.packets.dropped, counters.unresponsive), (2, 1));
}

#[test]
fn the_default_memory_is_four_times_the_rate_in_a_round_trip_within_limits() {
    let memory = |bps| setting(bps, Isolation::Flows).memory_limit();
    assert_eq!(memory(Some(100_000_000)), 5_000_000);
    assert_eq!(memory(Some(20_000_000)), 4_194_304);
    assert_eq!([Some(1_000_000_000), None].map(memory), [15_503_360; 2]);
}

#[test]
fn the_limit_counts_the_memory_of_small_packets() {
    // tc's `memlimit 65536` has room for 28 packets of 1500 bytes, and for 73 of 200 bytes
    for (bytes, room) in [(1500, 28), (200, 73)] {
        let limited = CakeSetting {
            memory_limit_bytes: Some(65_536),
            ..setting(Some(1_000_000), Isolation::Flows)
        };
        let (mut cake, mut dropped) = (cake(limited, &[]), Vec::new());
        (0..100).for_each(|_| cake.enqueue(packet(0, bytes, Time::ZERO), 1_000, &mut dropped));
        assert_eq!((cake.packets, dropped.len()), (room, 100 - room));
    }
}

#[test]
fn drops_are_charged_at_ingress_and_the_failsafe_keeps_the_link_alive() {
    let ingress = CakeSetting {
        ingress: true,
        memory_limit_bytes: Some(2_304),
        ..setting(Some(12_000_000), Isolation::Flows)
    };
    let mut cake = cake(ingress, &[]);
    let mut dropped = Vec::new();
    // 1500 bytes take 1 ms; nine of ten packets are dropped and charged
    (0..10).for_each(|_| cake.enqueue(packet(0, 1500, Time::ZERO), 100, &mut dropped));
    assert_eq!(dropped.len(), 9);
    assert!(
        cake.dequeue(Time::ZERO, &mut dropped).is_some(),
        "the failsafe is due"
    );
    add(&mut cake, Time::ZERO, 0, 1500);
    assert_eq!(cake.ready(), Time(1_500_000), "not 10 ms");
}

#[test]
fn the_ack_filter_counts_what_it_drops() {
    let filtering = CakeSetting {
        ack_filter: ack_filter::AckFilter::Aggressive,
        ..setting(Some(1_000_000), Isolation::TripleIsolate)
    };
    let mut cake = cake(filtering, &[]);
    let mut dropped = Vec::new();
    for number in 1..=6 {
        let ack = Packet {
            number,
            kind: PacketKind::Ack,
            ..packet(0, 40, Time::ZERO)
        };
        cake.enqueue(ack, 100, &mut dropped);
    }
    let tin = cake.tins[0].counters;
    assert_eq!((dropped.len(), cake.packets, cake.memory), (5, 1, 896));
    assert_eq!(
        (tin.filtered, tin.packets.offered, tin.packets.dropped),
        (5, 1, 0)
    );
}

#[test]
fn all_packets_leave_or_are_dropped() {
    for isolation in Isolation::ALL {
        let setting = CakeSetting {
            memory_limit_bytes: Some(60_000),
            ingress: isolation == Isolation::Hosts,
            ..setting(Some(8_000_000), isolation)
        };
        let mut draws = Streams::new(7, 0).stream("test");
        let of = |k: u32| FlowClass {
            dscp: Dscp::ALL[k as usize % Dscp::ALL.len()],
            ..flow(k % 5, k % 3)
        };
        let classes: Vec<FlowClass> = (0..40).map(of).collect();
        let mut cake = cake(setting, &classes);
        let (mut now, mut dropped, mut left) = (Time::ZERO, Vec::new(), 0);
        for _ in 0..5_000 {
            now += Span(u64::from(draws.up_to(1_500_000)));
            let bytes = 40 + draws.up_to(1460) as u16;
            cake.enqueue(packet(draws.up_to(45), bytes, now), 50, &mut dropped);
            if let Some(packet) = cake.dequeue(now, &mut dropped) {
                cake.departed(&packet, now);
                left += 1;
            }
        }
        while cake.packets > 0 {
            now = now.max(cake.ready());
            left += usize::from(cake.dequeue(now, &mut dropped).is_some());
        }
        assert_eq!(left + dropped.len(), 5_000, "{isolation:?}");
        assert_eq!(cake.memory, 0);
        assert!(cake.tins.iter().all(|tin| tin.longest().is_none()));
    }
}

#[test]
fn flows_that_open_later_belong_to_the_hosts_of_their_flow() {
    // flow 4 opens later with the hosts of flow 0, and flow 5 with the opposite direction
    let fair = setting(Some(10_000_000), Isolation::DualDsthost);
    let mut cake = cake(fair, &[flow(3, 7), flow(3, 8)]);
    cake.adopt(4, 0, false);
    cake.adopt(5, 0, true);
    let hosts: Vec<[u32; 2]> = cake.flows.iter().map(|entry| entry.hosts).collect();
    assert_eq!(hosts, [[3, 7], [3, 8], [OWN; 2], [OWN; 2], [3, 7], [7, 3]]);
    // host 7 has two flows, and host 8 has one flow
    let sent = serve(&mut cake, 5, 4_000);
    assert!(sent[1].abs_diff(sent[0] + sent[4]) < 40, "{sent:?}");
}

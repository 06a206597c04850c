//! Random small cells without aggregation, with random traffic.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::scenario::*;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use super::medium::Arrival;
use super::node::Packet;

const MBPS: u64 = 1_000_000;

/// Returns the PHY timing of one of three presets.
pub fn phy(kind: PhyKind) -> Phy {
    let (slot, preamble, eifs_mbps) = match kind {
        PhyKind::Dot11g => (9, 20, 6),
        PhyKind::Dot11gLong => (20, 192, 2),
        _ => (20, 192, 1),
    };
    Phy {
        kind,
        slot: Span(slot * 1_000),
        sifs: Span(10_000),
        preamble: Span(preamble * 1_000),
        eifs_rate_bps: eifs_mbps * MBPS,
        signal_extension: kind.signal_extension(),
    }
}

/// Returns the access parameters of a station of the presets, with an unlimited queue.
pub fn access(cwmin: u32) -> Node {
    Node {
        control_rate_bps: 2 * MBPS,
        best_effort: Access::contention(2, cwmin, 1023),
        background: Access::contention(2, cwmin, 1023),
        video: Access::contention(2, cwmin, 1023),
        voice: Access::contention(2, cwmin, 1023),
        attempts_short: 7,
        attempts_long: 4,
        queue: QueueSetting::drop_tail(1_000),
        aggregation: None,
    }
}

/// Returns a station at 11 Mb/s without channel errors.
pub fn station(number: usize, node: Node) -> Station {
    Station {
        name: format!("s{number}"),
        group: format!("s{number}"),
        rate_bps: 11 * MBPS,
        downlink_rate_bps: 11 * MBPS,
        phy: PhyKind::Dot11b,
        modulation: None,
        mcs_by_snr: false,
        node,
        channel: Channel::default(),
        channel_changes: Vec::new(),
        power_save: None,
        echo: Echo::default(),
        echo_changes: Vec::new(),
    }
}

/// Returns a scenario without flows. The test itself generates the packets, in category best effort.
pub fn scenario(phy: Phy, ap: Node, stations: Vec<Station>) -> Scenario {
    Scenario {
        name: String::from("oracle"),
        duration: Span(1_000_000_000),
        warmup: Span::ZERO,
        replications: 1,
        seed: 1,
        bss: vec![Bss::only(
            Cell {
                phy,
                mac_header_bytes: 28,
                llc_bytes: 8,
                rts_threshold_bytes: None,
                ack_timeout: None,
                collider_wait: ColliderWait::Aifs,
                countdown: CountdownRule::Dcf,
                cf_end: false,
                ap,
                ap_queue_order: QueueOrder::Fifo,
                ppdus: None,
                rate_control: RateControl::Fixed,
                sharing_classes: Vec::new(),
                power_save: PowerSave::usual().expect("defaults"),
            },
            stations.len(),
        )],
        wire: Wire {
            rate: LinkRate::Unlimited,
            back: LinkRate::Unlimited,
            delay: Span::ZERO,
            queue: QueueSetting::drop_tail(1),
            back_queue: QueueSetting::drop_tail(1),
            loss: Loss::NONE,
        },
        bottleneck: None,
        stations,
        links: Vec::new(),
        flows: Vec::new(),
        csma: None,
        record: Record::default(),
        tcp: TcpSettings::usual().expect("defaults"),
        tcp_defaults: TcpDefaults::default(),
        udp: UdpSettings::usual().expect("defaults"),
        programs: Vec::new(),
    }
}

/// Lets every node contend in `categories`. The added flows only declare the categories and send nothing.
pub fn use_categories(scenario: &mut Scenario, categories: &[Category]) {
    let silence = Transport::Udp(UdpSettings {
        arrivals: Arrivals::Constant,
        rate_bps: 1,
        payload_bytes: 1,
        header_bytes: 28,
        burst: 1,
        control: None,
    });
    for station in 0..scenario.stations.len() {
        scenario.flows.extend(categories.iter().map(|&category| {
            let name = format!("s{station}/{}", category.name());
            Flow {
                category,
                ..Flow::of_station(name, station, Direction::Up, silence.clone())
            }
        }));
    }
}

/// Draws the access categories in use: best effort only, or several categories.
pub fn any_categories() -> impl Strategy<Value = Vec<Category>> {
    prop_oneof![
        1 => Just(vec![Category::BestEffort]),
        2 => subsequence(Category::ALL.to_vec(), 1..=4),
    ]
}

/// Draws a cell of one to five stations and the packets to send in it.
pub fn cell() -> impl Strategy<Value = (Scenario, Vec<Arrival>)> {
    (
        select(vec![PhyKind::Dot11b, PhyKind::Dot11g, PhyKind::Dot11gLong]),
        option::of(100_u32..1_600),
        option::of(prop_oneof![Just(0), 1_u64..1_000_000]),
        any_access(),
        prop::collection::vec(any_station(), 1..6),
        (any_categories(), any_packets()),
        (
            select(vec![CountdownRule::Dcf, CountdownRule::Edca]),
            any::<bool>(),
            select(vec![ColliderWait::Aifs, ColliderWait::Eifs]),
        ),
    )
        .prop_map(
            |(kind, rts_threshold_bytes, ack_timeout, ap, stations, traffic, rules)| {
                let (categories, packets) = traffic;
                let stations = stations
                    .into_iter()
                    .enumerate()
                    .map(|(number, station)| Station {
                        name: format!("s{number}"),
                        ..station
                    });
                let mut scenario = scenario(phy(kind), ap, stations.collect());
                scenario.bss[0].cell.rts_threshold_bytes = rts_threshold_bytes;
                scenario.bss[0].cell.ack_timeout = ack_timeout.map(Span);
                let cell = &mut scenario.bss[0].cell;
                (cell.countdown, cell.cf_end, cell.collider_wait) = rules;
                use_categories(&mut scenario, &categories);
                let arrivals = arrivals(packets, scenario.stations.len() as u32, &categories);
                (scenario, arrivals)
            },
        )
}

/// Draws access parameters with small windows, so that draws of 0, collisions and discards are frequent. The control
/// rate may be lower than the ACK rate with which EIFS is computed. In this case the NAV may last longer than EIFS.
pub fn any_access() -> impl Strategy<Value = Node> {
    let control = select(vec![MBPS, 6 * MBPS, 24 * MBPS]);
    (
        [
            any_category(),
            any_category(),
            any_category(),
            any_category(),
        ],
        (control, 1_u32..6, 1_u32..5, 1_u32..8),
    )
        .prop_map(|([best_effort, background, video, voice], others)| {
            let (control_rate_bps, attempts_short, attempts_long, queue_packets) = others;
            Node {
                control_rate_bps,
                best_effort,
                background,
                video,
                voice,
                attempts_short,
                attempts_long,
                queue: QueueSetting::drop_tail(queue_packets),
                aggregation: None,
            }
        })
}

/// Draws the access parameters of a category. Half of the categories send one frame per TXOP.
fn any_category() -> impl Strategy<Value = Access> {
    let contention = (1_u32..5, 0_u32..20, 0_u32..80);
    let limit = || option::of((0_u64..8_000_000).prop_map(Span));
    let opportunity = prop_oneof![
        2 => Just((Some(1), None)),
        1 => ((1_u32..5).prop_map(Some), limit()),
        1 => (0_u64..8_000_000).prop_map(|ns| (None, Some(Span(ns)))),
    ];
    (contention, opportunity).prop_map(|((aifsn, cwmin, wider), (txop_packets, txop_limit))| {
        Access {
            txop_packets,
            txop_limit,
            ..Access::contention(aifsn, cwmin, cwmin + wider)
        }
    })
}

fn any_station() -> impl Strategy<Value = Station> {
    let rate = || select(vec![6 * MBPS, 12 * MBPS, 54 * MBPS]);
    let error = || prop_oneof![Just(0.0), 0.0..0.6];
    (any_access(), rate(), rate(), error(), error()).prop_map(
        |(node, rate_bps, downlink_rate_bps, error_up, error_down)| Station {
            rate_bps,
            downlink_rate_bps,
            channel: Channel {
                error_up,
                error_down,
                ..Channel::default()
            },
            ..station(0, node)
        },
    )
}

/// A packet arrival as random numbers: time [ns], two numbers that select the nodes and one that selects the category,
/// packet size, size of the reply.
type AnyPacket = (u64, [u32; 3], u32, Option<u32>);

/// Draws up to 120 packets within 40 ms. Most instants are whole microseconds, like most frame ends and slot boundaries
/// of 802.11g, so that events at the same instant occur.
fn any_packets() -> impl Strategy<Value = Vec<AnyPacket>> {
    let instant = prop_oneof![
        4 => (0_u64..40_000).prop_map(|us| us * 1_000),
        1 => 0_u64..40_000_000,
        1 => (0_u64..10).prop_map(|ms| ms * 4_000_000),
    ];
    let reply = option::of(select(vec![40_u32, 1_500]));
    prop::collection::vec(
        (
            instant,
            [0..60_u32, 0..60_u32, 0..60_u32],
            20_u32..1_500,
            reply,
        ),
        1..120,
    )
}

fn arrivals(mut packets: Vec<AnyPacket>, stations: u32, categories: &[Category]) -> Vec<Arrival> {
    packets.sort_by_key(|packet| packet.0);
    let arrival = |((at, [from, to, category], ip_bytes, reply_bytes), id): (AnyPacket, u32)| {
        let node = from % (stations + 1);
        let to = if node == 0 { 1 + to % stations } else { 0 };
        Arrival {
            at: Time(at),
            who: (node, categories[category as usize % categories.len()]),
            packet: Packet {
                id,
                to,
                ip_bytes,
                reply_bytes,
            },
        }
    };
    packets.into_iter().zip(0..).map(arrival).collect()
}

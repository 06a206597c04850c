//! Random small cells with aggregation and random traffic.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::mac::ppdu::{Generation, Modulation};
use lasthop_engine::mac::{Aggregation, Aggregations, EifsRule, Ppdus};

use lasthop_engine::scenario::*;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use super::super::cells;
use super::super::medium::Arrival;
use super::super::node::Packet;
use super::radios::{RADIOS, Radio, any_modulation, in_cell};

const MBPS: u64 = 1_000_000;
const US: u64 = 1_000;

/// Draws the aggregation settings. The strategy is boxed, because the value trees of a complete cell do not fit on a
/// thread's stack.
fn any_aggregation() -> BoxedStrategy<Aggregation> {
    let most = || Just(u32::MAX);
    (
        prop_oneof![6 => 1_u32..=8, 2 => 9_u32..=64, 1 => 65_u32..=256],
        prop_oneof![2 => most(), 1 => 100_u32..9_000],
        prop_oneof![2 => Just(5_484), 1 => 100_u64..3_000],
        option::weighted(0.4, prop_oneof![100_u32..4_000, Just(11_398)]),
        prop_oneof![3 => (1_u32..=4).prop_map(Some), 1 => Just(None)],
        any::<bool>(),
        option::weighted(0.7, prop_oneof![300_u64..2_000, 300_u64..20_000]),
    )
        .prop_map(
            |(mpdus, bytes, time_us, amsdu_bytes, attempts, bar_after_failure, timeout_us)| {
                Aggregation {
                    mpdus,
                    bytes,
                    time: Span(time_us * US),
                    amsdu_bytes,
                    attempts,
                    bar_after_failure,
                    reorder_timeout: timeout_us.map(|us| Span(us * US)),
                }
            },
        )
        .boxed()
}

/// Draws a node's access parameters and its queue size. A node without an attempt limit has a contention window so
/// large that two nodes do not collide indefinitely.
fn any_access() -> impl Strategy<Value = Node> {
    let limit = prop_oneof![2 => 1_u32..8, 3 => 8_u32..100];
    let aggregations = (any_aggregation(), option::of(any_aggregation()));
    (cells::any_access(), aggregations, limit).prop_map(|(mut node, (usual, voice), limit)| {
        let categories = [
            &mut node.best_effort,
            &mut node.background,
            &mut node.video,
            &mut node.voice,
        ];
        let voice = voice.unwrap_or(usual);
        if usual.attempts.is_none() || voice.attempts.is_none() {
            for access in categories {
                access.cwmin += 15;
                access.cwmax += 15;
            }
        }
        Node {
            queue: QueueSetting::drop_tail(limit),
            aggregation: Some(Box::new(
                Aggregations::alike(usual).with(Category::Voice, voice),
            )),
            ..node
        }
    })
}

/// A station before the settings of its cell are drawn: the station, and whether it is a legacy station. The random
/// numbers select its generation, MCS and number of streams.
type AnyStation = (Station, bool, [u32; 3]);

fn any_station(legacy: f64) -> impl Strategy<Value = AnyStation> {
    let rate = || {
        select(vec![
            6 * MBPS,
            9 * MBPS,
            12 * MBPS,
            24 * MBPS,
            36 * MBPS,
            54 * MBPS,
        ])
    };
    let error = || prop_oneof![Just(0.0), 0.0..0.6];
    let numbers = [0..60_u32, 0..60_u32, 0..60_u32];
    let channel = (error(), error());
    let rest = (proptest::bool::weighted(legacy), numbers);
    ((any_access(), rate(), rate()), channel, rest).prop_map(
        |((node, rate_bps, downlink_rate_bps), (error_up, error_down), (legacy, numbers))| {
            let channel = Channel {
                error_up,
                error_down,
                ..Channel::default()
            };
            let station = Station {
                rate_bps,
                downlink_rate_bps,
                channel,
                ..cells::station(0, node)
            };
            (station, legacy, numbers)
        },
    )
}

/// Draws a cell of one to five stations and the packets to send in it.
pub fn cell() -> impl Strategy<Value = (Scenario, Vec<Arrival>)> {
    select(RADIOS.to_vec()).prop_flat_map(|radio| cell_of(radio, 0.2))
}

/// Draws a cell in which some or all stations are legacy stations, and the packets to send in it.
pub fn cell_of(radio: Radio, legacy: f64) -> impl Strategy<Value = (Scenario, Vec<Arrival>)> {
    let threshold = option::weighted(0.4, prop_oneof![100_u32..1_600, 1_600_u32..12_000]);
    let longer = option::weighted(0.3, 50_u64..3_000);
    (
        (any_modulation(radio), threshold, longer),
        option::of(prop_oneof![Just(0), 1_u64..1_000_000]),
        any_access(),
        prop::collection::vec(any_station(legacy), 1..6),
        (cells::any_categories(), any_bursts()),
        (
            select(vec![CountdownRule::Dcf, CountdownRule::Edca]),
            any::<bool>(),
            select(vec![ColliderWait::Aifs, ColliderWait::Eifs]),
            select(vec![EifsRule::Ack, EifsRule::Expected]),
        ),
    )
        .prop_map(move |(ppdus, ack_timeout, ap, stations, traffic, rules)| {
            let (modulation, rts_threshold_bytes, longer_us) = ppdus;
            let (countdown, cf_end, collider_wait, eifs) = rules;
            let (categories, bursts) = traffic;
            let stations = stations.into_iter().zip(0..);
            let stations =
                stations.map(|(station, number)| settle(station, radio, modulation, number));
            let mut scenario = cells::scenario(radio.phy(), ap, stations.collect());
            let cell = &mut scenario.bss[0].cell;
            cell.mac_header_bytes = 30;
            cell.rts_threshold_bytes = rts_threshold_bytes;
            cell.ack_timeout = ack_timeout.map(Span);
            (cell.countdown, cell.cf_end, cell.collider_wait) = (countdown, cf_end, collider_wait);
            cell.ppdus = Some(Ppdus {
                rts_longer_than: longer_us.map(|us| Span(us * US)),
                ..radio.ppdus(modulation, eifs)
            });
            cells::use_categories(&mut scenario, &categories);
            let arrivals = arrivals(bursts, scenario.stations.len() as u32, &categories);
            (scenario, arrivals)
        })
}

/// Returns the station with a modulation that this cell allows.
fn settle(station: AnyStation, radio: Radio, own: Modulation, number: usize) -> Station {
    let (station, legacy, [generation, mcs, streams]) = station;
    let name = format!("s{number}");
    if legacy && let Some(phy) = radio.legacy() {
        return Station {
            name,
            phy,
            ..station
        };
    }
    let generations = radio.generations();
    let generation = generations[generation as usize % generations.len()];
    let modulation = in_cell(own, generation, mcs, streams);
    Station {
        name,
        phy: match generation {
            Generation::Ht => PhyKind::Dot11n,
            Generation::Vht => PhyKind::Dot11ac,
            Generation::He => PhyKind::Dot11ax,
        },
        modulation: Some(modulation),
        ..station
    }
}

/// Packets that arrive in one burst, as random numbers: first arrival and gap [ns], numbers that
/// select two nodes and a category, packet sizes, size of the reply.
type AnyBurst = ((u64, u64), [u32; 3], Vec<u32>, Option<u32>);

/// Largest number of packets that arrive from outside the cell.
const MAX_PACKETS: usize = 120;

/// Draws bursts within 40 ms. Most instants are whole microseconds, like most frame ends and slot boundaries, so that
/// events at the same instant occur.
fn any_bursts() -> impl Strategy<Value = Vec<AnyBurst>> {
    let instant = prop_oneof![
        4 => (0_u64..38_000).prop_map(|us| us * US),
        1 => 0_u64..38_000_000,
        1 => (0_u64..10).prop_map(|ms| ms * 4_000 * US),
    ];
    let gap =
        prop_oneof![2 => Just(0), 2 => (1_u64..100).prop_map(|us| us * US), 1 => 1_u64..100_000];
    let reply = option::weighted(0.4, select(vec![40_u32, 1_500]));
    let sizes = prop_oneof![
        1 => prop::collection::vec(20_u32..=1_500, 1..3),
        2 => prop::collection::vec(20_u32..=1_500, 3..20),
    ];
    let nodes = [0..60_u32, 0..60_u32, 0..60_u32];
    prop::collection::vec(((instant, gap), nodes, sizes, reply), 1..25)
}

fn arrivals(bursts: Vec<AnyBurst>, stations: u32, categories: &[Category]) -> Vec<Arrival> {
    let mut arrivals = Vec::new();
    for ((at, gap), [from, to, category], sizes, reply_bytes) in bursts {
        // every other burst comes from the access point
        let node = if from % 2 == 0 {
            0
        } else {
            1 + from % stations
        };
        let to = if node == 0 { 1 + to % stations } else { 0 };
        let who = (node, categories[category as usize % categories.len()]);
        for (ip_bytes, position) in sizes.into_iter().zip(0..) {
            let packet = Packet {
                id: 0,
                to,
                ip_bytes,
                reply_bytes,
            };
            let at = Time(at + gap * position);
            arrivals.push(Arrival { at, who, packet });
        }
    }
    arrivals.sort_by_key(|arrival| arrival.at);
    arrivals.truncate(MAX_PACKETS);
    for (arrival, id) in arrivals.iter_mut().zip(0..) {
        arrival.packet.id = id;
    }
    arrivals
}

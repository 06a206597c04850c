//! Random networks with a conflict graph: every access method, several hops, wires, hidden nodes, errors.

use std::collections::BTreeSet;

use lasthop_engine::control::utility::Marginals;
use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::graph::Pace;
use lasthop_engine::scenario::*;
use proptest::prelude::*;
use serde_json::Value;

use super::scenarios::{change, loss, queue, rate, tcp_settings};
use super::{cases, check_stepping, result};
use crate::support::{MS, dot11b};

/// Relation of two links: independent, in conflict, or one link destroys packets of the other.
#[derive(Clone, Copy, Debug)]
enum Pair {
    Apart,
    Conflict,
    Hidden,
    HiddenBack,
}

fn links() -> impl Strategy<Value = Vec<CsmaLink>> {
    (1..7_usize).prop_flat_map(|count| {
        let pair = prop::sample::select(vec![
            Pair::Apart,
            Pair::Conflict,
            Pair::Conflict,
            Pair::Hidden,
            Pair::HiddenBack,
        ]);
        let error = prop_oneof![3 => Just(0.0), 1 => 0.0..0.9_f64];
        let r = prop::option::weighted(0.2, 0.0..0.05_f64);
        let pairs = prop::collection::vec(pair, count * (count - 1) / 2);
        let own = prop::collection::vec((r, error), count);
        (own, pairs).prop_map(|(own, pairs)| {
            let link = |(index, (r, error)): (usize, (Option<f64>, f64))| CsmaLink {
                name: format!("l{index}"),
                conflicts: BTreeSet::new(),
                reads: BTreeSet::new(),
                disturbs: BTreeSet::new(),
                ends: None,
                r,
                error,
            };
            let mut links: Vec<CsmaLink> = own.into_iter().enumerate().map(link).collect();
            let mut pairs = pairs.into_iter();
            for one in 0..links.len() {
                for other in 0..one {
                    match pairs.next().unwrap_or(Pair::Apart) {
                        Pair::Apart => {}
                        Pair::Conflict => {
                            links[one].conflicts.insert(other);
                            links[other].conflicts.insert(one);
                        }
                        Pair::Hidden => drop(links[one].disturbs.insert(other)),
                        Pair::HiddenBack => drop(links[other].disturbs.insert(one)),
                    }
                }
            }
            links
        })
    })
}

/// Draws up to two wired links. Each link has an entry for each direction, and some links have no delay.
fn wires() -> impl Strategy<Value = Vec<LinkSettings>> {
    let wire = (rate(), 0..20_u64, queue(), loss());
    prop::collection::vec(wire, 0..3).prop_map(|wires| {
        let both = |(index, (rate, delay, queue, loss)): (usize, (LinkRate, _, _, _))| {
            ["", "/back"].map(|end| LinkSettings {
                rate: rate.clone(),
                delay: Span(delay * MS),
                queue: QueueSetting::clone(&queue),
                loss,
                ..LinkSettings::ideal(&format!("w{index}{end}"), "x", "y")
            })
        };
        wires.into_iter().enumerate().flat_map(both).collect()
    })
}

fn access() -> impl Strategy<Value = CsmaAccess> {
    let dcf = (0..30_u64, 0..60_u64, 0..64_u32, 0..1024_u32);
    prop_oneof![
        3 => pace().prop_map(CsmaAccess::Adaptive),
        1 => (0.01..50.0_f64, pace())
            .prop_map(|(access_intensity, pace)| CsmaAccess::Legacy { access_intensity, pace }),
        1 => dcf.prop_map(|(slot, difs, cwmin, more)| CsmaAccess::Dcf {
            pace: Pace {
                slot: Some(Span((1 + slot) * 1000)),
                difs: Span(difs * 1000),
                eifs: Span((difs + u64::from(more)) * 1000),
            },
            cwmin,
            cwmax: cwmin + more,
        }),
    ]
}

fn pace() -> impl Strategy<Value = Pace> {
    let waits = (prop::option::of(1..30_u64), 0..60_u64, 0..1024_u64);
    prop_oneof![
        Just(Pace::default()),
        waits.prop_map(|(slot, difs, more)| Pace {
            slot: slot.map(|slot| Span(slot * 1000)),
            difs: Span(difs * 1000),
            eifs: Span((difs + more) * 1000),
        }),
    ]
}

fn connections() -> impl Strategy<Value = Connections> {
    let k = || 1.0..500.0_f64;
    prop_oneof![
        2 => k().prop_map(|k| Connections::Rtt { k }),
        2 => (k(), 0.1..4.0_f64).prop_map(|(k, fairness)| Connections::Utility { k, fairness }),
        1 => Just(Connections::One),
    ]
}

fn spread() -> impl Strategy<Value = Spread> {
    prop::sample::select(Spread::ALL.to_vec())
}

fn udp() -> impl Strategy<Value = UdpSettings> {
    let arrivals = vec![Arrivals::Constant, Arrivals::Poisson, Arrivals::Greedy];
    let arrivals = prop::sample::select(arrivals);
    (arrivals, 1..12_u64, 1..1472_u32).prop_map(|(arrivals, mbps, payload_bytes)| UdpSettings {
        burst: 1,
        control: None,
        arrivals,
        rate_bps: mbps * 1_000_000 / 4,
        payload_bytes,
        header_bytes: 28,
    })
}

/// Draws a flow with a route over some of the links and wires, in any order.
fn flow(links: usize, wires: usize) -> impl Strategy<Value = CsmaFlow> {
    let hops = (0..links)
        .map(Hop::Wireless)
        .chain((0..wires).map(|wire| Hop::Wired(2 * wire)));
    let hops: Vec<Hop> = hops.collect();
    let most = hops.len().min(4);
    let route = prop::sample::subsequence(hops, 1..=most).prop_shuffle();
    let tcp = tcp_settings().prop_map(|tcp| {
        // the number of segments of a flow over a route cannot be limited
        let segments = None;
        Transport::Tcp(TcpSettings { segments, ..tcp })
    });
    let transport = prop_oneof![3 => tcp, 1 => udp().prop_map(Transport::Udp)];
    let points = prop::option::weighted(0.2, (1.0..100.0_f64, 1.1..9.0_f64, 1e-6..0.1_f64));
    let times = (0..100_u64, prop::option::of(1..400_u64));
    (route, transport, points, 0.1..10.0_f64, times).prop_map(
        |(route, transport, points, weight, (start, stop))| CsmaFlow {
            name: String::new(),
            class: String::new(),
            route,
            weight,
            marginal_utility: points.and_then(|(rate, more, worth)| {
                Marginals::new(vec![(rate, worth), (rate * more, worth / more)]).ok()
            }),
            transport,
            start: Span(start * MS / 4),
            start_spread: Span(5 * MS),
            stop: stop.map(|after| Span((start + after) * MS)),
        },
    )
}

fn air() -> impl Strategy<Value = CsmaAir> {
    let rate = prop_oneof![1 => 50.0..500.0_f64, 3 => 500.0..20_000.0_f64];
    (rate, 0.0..0.9_f64, spread(), spread(), 1..9_u32).prop_map(
        |(service_rate_pps, part, backoff, transmission, attempts)| CsmaAir {
            service_rate_pps,
            overhead: Span((part * 1e9 / service_rate_pps) as u64),
            backoff,
            transmission,
            attempts,
        },
    )
}

/// Removes the settings that the scenario checks would refuse.
fn mend(csma: &mut Csma, wires: &[LinkSettings]) {
    let is_adaptive = matches!(csma.access, CsmaAccess::Adaptive(_));
    csma.price.aqm &= is_adaptive;
    if !is_adaptive {
        csma.connections = Connections::One;
        csma.links.iter_mut().for_each(|link| link.r = None);
    }
    if !csma.price.aqm {
        csma.price.r_max = csma.price.r_max.or(Some(0.1));
    }
    for (index, flow) in csma.flows.iter_mut().enumerate() {
        flow.name = format!("f{index}");
        flow.class.clone_from(&flow.name);
        let takes_time = |hop: &Hop| match hop {
            Hop::Wireless(_) => true,
            Hop::Wired(wire) => {
                wires[*wire].rate != LinkRate::Unlimited || wires[*wire].delay > Span(0)
            }
        };
        if !flow.route.iter().any(takes_time) {
            flow.route.push(Hop::Wireless(0));
        }
        // A flow over wired links only pays no congestion price. Such a flow would open the largest permitted number of
        // connections, and the run of one such network took a minute.
        let pays = |hop: &Hop| matches!(hop, Hop::Wireless(_));
        if !matches!(csma.connections, Connections::One) && !flow.route.iter().any(pays) {
            flow.route.push(Hop::Wireless(0));
        }
        let on_air = matches!(flow.route[0], Hop::Wireless(_));
        if let Transport::Udp(udp) = &mut flow.transport
            && udp.arrivals == Arrivals::Greedy
            && (csma.price.aqm || !on_air)
        {
            udp.arrivals = Arrivals::Poisson;
        }
    }
}

fn network() -> impl Strategy<Value = Scenario> {
    let price = (
        1e-5..1e-2_f64,
        prop::option::of(1e-3..0.5_f64),
        any::<bool>(),
        any::<bool>(),
        1..100_u64,
    );
    let users = (5..200_u64, any::<bool>(), 0.0..0.95_f64);
    let limit = prop_oneof![1..4_u32, 5..200_u32];
    let rules = (
        (access(), air(), connections(), 1.0..1e4_f64),
        (price, users, limit),
        (any::<[bool; 3]>(), any::<u64>(), 50..500_u64),
    );
    (links(), wires(), rules)
        .prop_flat_map(|(links, wires, rules)| {
            let flows = prop::collection::vec(flow(links.len(), wires.len() / 2), 1..5);
            (Just((links, wires, rules)), flows)
        })
        .prop_map(|((links, wires, rules), flows)| {
            let ((access, air, connections, beta), (price, users, queue_packets), more) = rules;
            let (r_per_packet, r_max, in_bytes, aqm, interval) = price;
            let queue_unit = QueueUnit::ALL[usize::from(in_bytes)];
            let ([dummy, contend, series], seed, duration) = more;
            let mut csma = Csma {
                links,
                nodes: Vec::new(),
                transmission_range_m: 250.0,
                sensing_range_m: 800.0,
                interference_range_m: 0.0,
                connected: false,
                flows,
                access,
                air,
                beta,
                price: CsmaPrice {
                    r_per_packet,
                    r_max,
                    queue_unit,
                    aqm,
                    interval: Span(interval * MS),
                },
                queue_packets,
                dummy,
                acks: match contend {
                    true => CsmaAcks::Contend,
                    false => CsmaAcks::Priority,
                },
                connections,
                users: CsmaUsers {
                    interval: Span(users.0 * MS),
                    rounding: Rounding::ALL[usize::from(users.1)],
                    smoothing: users.2,
                },
            };
            mend(&mut csma, &wires);
            let mut scenario = dot11b(0, 1);
            scenario.duration = Span(duration * MS);
            scenario.warmup = Span(duration * MS / 10);
            scenario.seed = seed;
            scenario.links = wires;
            scenario.csma = Some(csma);
            scenario.record.series_interval = series.then_some(Span(10 * MS));
            scenario
        })
}

/// Returns the air times of all links, return links included.
fn airtimes(summary: &Value) -> Vec<f64> {
    let links = summary["links"].as_array().into_iter().flatten();
    links
        .filter_map(|link| link["airtime_fraction"]["mean"].as_f64())
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 100, ..ProptestConfig::default() })]

    #[test]
    fn random_conflict_graphs_are_stepped_and_changed(scenario in network(), change in change()) {
        check_stepping(&scenario, change);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 16, ..ProptestConfig::default() })]

    #[test]
    fn random_conflict_graphs_conserve_and_reproduce(scenario in network()) {
        let first = result(&scenario, 1);
        let again = result(&scenario, 1);
        prop_assert_eq!(first.summary_json(), again.summary_json());
        prop_assert_eq!(first.series_json(), again.series_json());
        let air = airtimes(first.summary());
        prop_assert!(air.iter().all(|part| (0.0..=1.0).contains(part)), "{:?}", air);
        let csma = scenario.csma.as_ref().unwrap();
        let collides = match csma.access {
            CsmaAccess::Adaptive(pace) | CsmaAccess::Legacy { pace, .. } => pace.slot.is_some(),
            CsmaAccess::Dcf { .. } => true,
        };
        if collides {
            // neighbours may begin to send in the same slot, so that the following check of their
            // air times does not apply
            return Ok(());
        }
        let is_double = csma.acks == CsmaAcks::Contend;
        for (one, link) in csma.links.iter().enumerate() {
            // a link and its return link never send simultaneously, and neither of them sends at
            // the same time as a link in conflict
            let own = |link: usize| air[link] + if is_double { air[csma.links.len() + link] } else { 0.0 };
            for &other in &link.conflicts {
                prop_assert!(own(one) + own(other) < 1.0 + 1e-9, "{one} {other}: {air:?}");
            }
        }
    }
}

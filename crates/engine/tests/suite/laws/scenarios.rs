//! Strategies that draw random scenarios and changes of their settings.

use crate::support::*;
use lasthop_engine::app::ping::PingSettings;
use lasthop_engine::control::buffer_sharing::SharingAlgorithm;
use lasthop_engine::control::{WceRule, WceSettings};
use lasthop_engine::kernel::time::Span;
use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::scenario::*;
use proptest::prelude::*;

fn access() -> impl Strategy<Value = Access> {
    let cwmin = prop_oneof![Just(0_u32), Just(1), 2..64_u32, Just(1023)];
    let limit = || (0..8_000_u64).prop_map(|us| Some(Span(us * 1000)));
    let opportunity = prop_oneof![
        2 => Just((Some(1), None)),
        1 => (1..9_u32).prop_map(|packets| (Some(packets), None)),
        1 => limit().prop_map(|limit| (None, limit)),
        1 => ((1..9_u32).prop_map(Some), limit()),
    ];
    (1..8_u32, cwmin, 0..1024_u32, opportunity).prop_map(
        |(aifsn, cwmin, more, (txop_packets, txop_limit))| Access {
            txop_packets,
            txop_limit,
            ..Access::contention(aifsn, cwmin, cwmin + more)
        },
    )
}

/// Draws a queue discipline: drop-tail in half of the cases. The other disciplines have thresholds and targets so low
/// that they drop or mark packets.
fn discipline() -> impl Strategy<Value = Discipline> {
    let codel = |ecn| CoDelSetting {
        target: Span(2 * MS),
        interval: Span(20 * MS),
        ecn,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    let red = |(form, min_th, weight, gentle, wait, bytes, ecn)| {
        Discipline::Red(RedSetting {
            form,
            min_th,
            max_th: min_th + 3.0,
            max_p: 0.2,
            weight,
            gentle,
            wait,
            bytes,
            ecn,
            mean_packet_bytes: 500,
        })
    };
    let flag = any::<bool>;
    let form = prop_oneof![Just(RedForm::Ns2), Just(RedForm::Published)];
    let weight = prop_oneof![
        Just(RedWeight::Auto),
        (0.01..=1.0).prop_map(RedWeight::Given)
    ];
    prop_oneof![
        6 => Just(Discipline::DropTail),
        1 => (1..20_u32).prop_map(|packets| Discipline::Threshold { packets }),
        1 => (form, 0.0..5.0, weight, flag(), flag(), flag(), flag()).prop_map(red),
        1 => (0.01..0.2, flag())
            .prop_map(|(slope, ecn)| Discipline::Proportional(ProportionalSetting { slope, ecn })),
        1 => flag().prop_map(move |ecn| Discipline::CoDel(codel(ecn))),
        1 => flag().prop_map(|ecn| Discipline::Pie(PieSetting {
            target: Span(2 * MS),
            update: Span(5 * MS),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span(10 * MS),
            ecn,
        })),
        1 => (1..20_u32, 1..20_u64, flag()).prop_map(|(target, update, ecn)| {
            Discipline::Pi(PiSetting {
                target,
                a: 0.003,
                b: 0.002,
                update: Span(update * MS),
                ecn,
            })
        }),
        1 => (flag(), 100..2_000_u32, 1..64_u32).prop_map(move |(ecn, quantum_bytes, queues)| {
            let CoDelSetting { target, interval, ecn, .. } = codel(ecn);
            let (ce_threshold, ce_threshold_l4s) = (Some(Span(MS)), quantum_bytes % 2 == 0);
            Discipline::FqCoDel(FqCoDelSetting {
                target, interval, quantum_bytes, queues, ecn, ce_threshold, ce_threshold_l4s,
            })
        }),
        1 => flag().prop_map(|is_wrr| Discipline::DualPi2(DualPi2Setting {
            target: Span(2 * MS),
            beta: 30.0,
            scheduler: if is_wrr { DualScheduler::Wrr } else { DualScheduler::TimeShiftedFifo },
            ..DualPi2Setting::usual().expect("all have defaults")
        })),
    ]
}

pub(super) fn queue() -> impl Strategy<Value = QueueSetting> {
    let limit = prop_oneof![1..4_u32, 5..120_u32];
    (limit, discipline()).prop_map(|(limit_packets, discipline)| QueueSetting {
        limit_packets,
        discipline,
    })
}

fn node() -> impl Strategy<Value = Node> {
    (
        [access(), access(), access(), access()],
        (1..9_u32, 1..9_u32, queue()),
    )
        .prop_map(|([best_effort, background, video, voice], others)| {
            let (attempts_short, attempts_long, queue) = others;
            Node {
                control_rate_bps: 2_000_000,
                best_effort,
                background,
                video,
                voice,
                attempts_short,
                attempts_long,
                queue,
                aggregation: None,
            }
        })
}

pub(super) fn tcp_settings() -> impl Strategy<Value = TcpSettings> {
    let congestion = prop_oneof![
        3 => Just(CongestionAlgorithm::NewReno),
        4 => prop::sample::select(CongestionAlgorithm::ALL.to_vec()),
    ];
    let compound = (
        0.0..2.0_f64,
        0.0..0.9_f64,
        0.0..1.0_f64,
        0.0..40.0_f64,
        0.0..2.0_f64,
    )
        .prop_map(|(alpha, beta, k, gamma, zeta)| CompoundSettings {
            alpha,
            beta,
            k,
            gamma,
            zeta,
        });
    (
        (congestion, compound, any::<[bool; 7]>()),
        1..80_u32,
        any::<bool>(),
        0..3_u32,
        prop::option::of(1..60_u64),
        prop_oneof![3 => Just(0), 1 => 1..20_000_u64],
    )
        .prop_map(
            |(
                (congestion, compound, [hystart, ecn, sack, rack, undo, prr, pacing]),
                window,
                delayed_ack,
                more,
                segments,
                processing,
            )| {
                TcpSettings {
                    congestion,
                    compound,
                    hystart,
                    pacing,
                    ecn,
                    sack: sack && congestion != CongestionAlgorithm::Tahoe,
                    rack: sack && rack && congestion != CongestionAlgorithm::Tahoe,
                    undo,
                    prr: sack && prr && congestion != CongestionAlgorithm::Tahoe,
                    delayed_ack,
                    ack_processing: Span(processing * 1000),
                    initial_cwnd_packets: 1 + more,
                    min_rto: Span(20 * MS + u64::from(more) * 200 * MS),
                    segments,
                    ..tcp(window)
                }
            },
        )
}

fn transport() -> impl Strategy<Value = Transport> {
    let arrivals = prop_oneof![
        Just(Arrivals::Constant),
        Just(Arrivals::Poisson),
        Just(Arrivals::Greedy)
    ];
    let udp = (arrivals, 1..12_u64, 1..1472_u32).prop_map(|(arrivals, mbps, payload_bytes)| {
        let rate_bps = mbps * 1_000_000 / 4;
        Transport::Udp(UdpSettings {
            arrivals,
            rate_bps,
            payload_bytes,
            header_bytes: 28,
            burst: 1,
            control: None,
        })
    });
    let ping = (1..50_u64, 16..2000_u32).prop_map(|(ms, payload_bytes)| {
        Transport::Ping(PingSettings {
            every: Span(ms * MS),
            payload_bytes,
            deadline: Span(50 * MS),
        })
    });
    prop_oneof![6 => tcp_settings().prop_map(Transport::Tcp), 2 => udp, 1 => ping]
}

fn flow(stations: usize) -> impl Strategy<Value = Flow> {
    let direction = prop_oneof![Just(Direction::Up), Just(Direction::Down)];
    let stop = prop::option::of(0..500_u64);
    let category = prop_oneof![
        2 => Just(Category::BestEffort),
        1 => prop::sample::select(Category::ALL.to_vec()),
    ];
    (
        0..stations,
        direction,
        category,
        0..300_u64,
        stop,
        transport(),
    )
        .prop_map(
            |(station, direction, category, start, stop, transport)| Flow {
                category,
                start: Span(start * MS),
                stop: stop.map(|after| Span((start + 1 + after) * MS)),
                ..Flow::of_station(String::new(), station, direction, transport)
            },
        )
}

fn station() -> impl Strategy<Value = Station> {
    let rate = prop::sample::select(vec![1_000_000_u64, 2_000_000, 5_500_000, 11_000_000]);
    let error = prop_oneof![3 => Just(0.0), 1 => 0.0..0.9_f64];
    let snr = prop::option::weighted(0.2, 0.0..20.0_f64);
    let errors = [error.clone(), error.clone(), error.clone(), error];
    let channel = (errors, snr).prop_map(|(errors, snr_db)| Channel {
        error_up: errors[0],
        error_down: errors[1],
        ack_error_up: errors[2],
        ack_error_down: errors[3],
        snr_db,
    });
    let change = (1..3_000 * MS, channel.clone());
    let changes = prop::collection::vec(change, 0..3);
    let echo = || {
        let loss = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
        (0..50 * MS, loss).prop_map(|(delay, loss)| Echo {
            delay: Span(delay),
            loss,
        })
    };
    let change = (1..3_000 * MS, echo());
    let echo_changes = prop::collection::vec(change, 0..3).prop_map(|mut changes| {
        changes.sort_by_key(|&(at, _)| at);
        changes
    });
    let echoes = (echo(), echo_changes);
    // power save: the station sleeps until the beacon, is awake for a limited time, or is always awake
    let awake = prop_oneof![1 => Just(Some(0)), 1 => (0..150 * MS).prop_map(Some), 4 => Just(None)];
    (
        node(),
        rate.clone(),
        rate,
        (channel, changes),
        awake,
        echoes,
    )
        .prop_map(
            |(node, rate_bps, downlink_rate_bps, (channel, changes), awake, echoes)| Station {
                name: String::new(),
                group: String::new(),
                rate_bps,
                downlink_rate_bps,
                phy: PhyKind::Dot11b,
                modulation: None,
                mcs_by_snr: false,
                node,
                channel,
                channel_changes: (changes.into_iter())
                    .map(|(at, channel)| ChannelChange {
                        at: Span(at),
                        channel,
                    })
                    .collect(),
                power_save: awake.map(Span),
                echo: echoes.0,
                echo_changes: (echoes.1.into_iter())
                    .map(|(at, echo)| EchoChange { at: Span(at), echo })
                    .collect(),
            },
        )
}

pub(super) fn loss() -> impl Strategy<Value = Loss> {
    prop_oneof![
        4 => Just(Loss::NONE),
        2 => (0.0..0.3_f64).prop_map(Loss::Random),
        1 => (2..200_u32).prop_map(Loss::Every),
    ]
}

/// Draws a link rate: unlimited, constant or from a trace, with sending opportunities at the start and with long gaps.
pub(super) fn rate() -> impl Strategy<Value = LinkRate> {
    let constant = prop::sample::select(vec![500_000_u64, 5_000_000, 100_000_000]);
    let gap = prop_oneof![2 => Just(0_u32), 3 => 1..9_u32, 1 => 9..200_u32];
    let trace = prop::collection::vec(gap, 0..20).prop_map(|gaps| {
        let each = gaps.iter().scan(0, |ms, gap| {
            *ms += gap;
            Some(*ms)
        });
        let mut times: Vec<u32> = each.collect();
        times.push(times.last().map_or(1, |ms| ms + 1));
        LinkRate::Trace(Trace::new(times))
    });
    prop_oneof![
        3 => Just(LinkRate::Unlimited),
        3 => constant.prop_map(LinkRate::Constant),
        2 => trace,
    ]
}

fn wire() -> impl Strategy<Value = Wire> {
    let rates = (rate(), rate());
    let queues = (queue(), prop::option::of(queue()));
    (rates, 0..40_u64, queues, loss()).prop_map(|((rate, back), delay, queues, loss)| {
        let (queue, back_queue) = queues;
        Wire {
            rate,
            back,
            delay: Span(delay * MS / 2),
            back_queue: back_queue.unwrap_or_else(|| queue.clone()),
            queue,
            loss,
        }
    })
}

/// Draws two groups of stations, or none. Groups whose stations do not exist in the scenario are removed later.
fn groups() -> impl Strategy<Value = Vec<BottleneckGroup>> {
    let group = || (0.05..20.0_f64, prop::option::of(50_000..4_000_000_u64));
    let named = |name: &str, (share, max_bps): (f64, Option<u64>), stations: &[usize]| {
        let (name, stations) = (name.to_owned(), stations.to_vec());
        BottleneckGroup {
            name,
            share,
            max_bps,
            stations,
        }
    };
    prop::option::of((group(), group())).prop_map(move |both| {
        both.map_or_else(Vec::new, |(one, other)| {
            vec![named("one", one, &[0]), named("other", other, &[1, 2])]
        })
    })
}

/// Draws a bottleneck that starts immediately or later, with a given or an estimated rate. Most draws have no
/// bottleneck.
fn bottleneck() -> impl Strategy<Value = Option<BottleneckSettings>> {
    let fairness = prop::sample::select(vec![
        BottleneckFairness::Station,
        BottleneckFairness::Airtime,
        BottleneckFairness::Rate,
        BottleneckFairness::Flow,
        BottleneckFairness::Direction,
    ]);
    let rate_bps = prop::option::of(200_000..8_000_000_u64);
    let settings = (
        fairness,
        1..60_u32,
        rate_bps,
        0..200_u64,
        1..100_u64,
        28..1500_u32,
        any::<bool>(),
        prop_oneof![Just(WceRule::Agreement), Just(WceRule::Paper)],
        (
            prop_oneof![Just(BottleneckUdp::Down), Just(BottleneckUdp::Both)],
            groups(),
        ),
    );
    let settings = settings.prop_map(|settings| {
        let (
            fairness,
            queue_packets,
            rate_bps,
            start,
            interval,
            ping_bytes,
            spares_udp,
            rule,
            (udp, mut groups),
        ) = settings;
        if fairness != BottleneckFairness::Station {
            groups.clear();
        }
        BottleneckSettings {
            fairness,
            udp,
            queue_packets,
            rate_bps,
            start: Span(start * MS),
            wce: WceSettings::new(rule, WceSettings::MAX_BPS, Span(interval * MS)),
            ping_bytes,
            spares_udp,
            groups,
        }
    });
    prop_oneof![2 => Just(None), 1 => settings.prop_map(Some)]
}

fn shares() -> impl Strategy<Value = SharingSetting> {
    let laws = vec![
        SharingAlgorithm::Corrected,
        SharingAlgorithm::Printed,
        SharingAlgorithm::Regulated,
    ];
    let law = prop::sample::select(laws);
    let share_of = prop::sample::select(vec![ShareOf::Queue, ShareOf::Service]);
    let update = prop::option::of(1..20_u64);
    (0.01..0.99_f64, 0.0..50.0_f64, share_of, law, update).prop_map(
        |(occupancy, tol, share_of, algorithm, update)| SharingSetting {
            occupancy,
            tol,
            share_of,
            algorithm,
            update: update.map(|ms| Span(ms * MS)),
        },
    )
}

/// Returns a class for each flow; every third flow has no class.
fn classes(flows: u32) -> Vec<SharingClass> {
    let class = |number: u32| SharingClass {
        name: format!("class-{number}"),
        share: 0.5,
        target: 0.5,
        flows: (0..flows).filter(|flow| flow % 3 == number).collect(),
    };
    vec![class(0), class(1)]
}

fn power_save() -> impl Strategy<Value = PowerSave> {
    (1..120_u64, 1..70_u32).prop_map(|(interval, power_save_queue_packets)| PowerSave {
        beacon_interval: Span(interval * MS),
        power_save_queue_packets,
    })
}

pub(super) fn scenario() -> impl Strategy<Value = Scenario> {
    let cell = (
        node(),
        prop::option::of(0..1600_u32),
        prop::option::of(0..400_u64),
        prop::bool::ANY,
        prop::bool::ANY,
        (
            prop::sample::select(vec![CountdownRule::Dcf, CountdownRule::Edca]),
            prop::sample::select(vec![ColliderWait::Aifs, ColliderWait::Eifs]),
        ),
        prop::bool::ANY,
        prop::bool::ANY,
        prop::option::weighted(0.3, shares()),
        power_save(),
    );
    let stations = prop::collection::vec(station(), 1..5);
    (
        cell,
        stations,
        (wire(), bottleneck()),
        any::<u64>(),
        50..700_u64,
    )
        .prop_flat_map(|(cell, stations, wire, seed, duration)| {
            let flows = prop::collection::vec(flow(stations.len()), 1..7);
            (Just((cell, stations, wire, seed, duration)), flows)
        })
        .prop_map(|((cell, stations, wire, seed, duration), flows)| {
            let (
                ap,
                rts_threshold_bytes,
                ack_timeout,
                series,
                mixed,
                countdown,
                cf_end,
                arf,
                sharing,
                power_save,
            ) = cell;
            let mut scenario = dot11b(0, 1);
            scenario.duration = Span(duration * MS);
            scenario.warmup = Span(duration * MS / 10);
            scenario.seed = seed;
            scenario.bss[0].cell.ap = ap;
            scenario.bss[0].cell.power_save = power_save;
            if arf {
                scenario.bss[0].cell.rate_control = RateControl::Arf;
            }
            if let Some(sharing) = sharing {
                scenario.bss[0].cell.ap.queue.discipline = Discipline::BufferSharing(sharing);
                scenario.bss[0].cell.sharing_classes = classes(flows.len() as u32);
            }
            if mixed {
                scenario.bss[0].cell.ap_queue_order = QueueOrder::Mixed;
            }
            scenario.bss[0].cell.rts_threshold_bytes = rts_threshold_bytes;
            (
                scenario.bss[0].cell.countdown,
                scenario.bss[0].cell.collider_wait,
            ) = countdown;
            scenario.bss[0].cell.cf_end = cf_end;
            scenario.bss[0].cell.ack_timeout = ack_timeout.map(|us| Span(us * 1000));
            (scenario.wire, scenario.bottleneck) = wire;
            scenario.stations = stations;
            scenario.bss[0] = Bss::only(scenario.bss[0].cell.clone(), scenario.stations.len());
            if let Some(bottleneck) = &mut scenario.bottleneck {
                let present = scenario.stations.len();
                for group in &mut bottleneck.groups {
                    group.stations.retain(|&station| station < present);
                }
                bottleneck.groups.retain(|group| !group.stations.is_empty());
            }
            scenario.flows = flows;
            scenario.record.series_interval = series.then_some(Span(10 * MS));
            scenario.record.frames = series.then_some(200);
            for (index, station) in scenario.stations.iter_mut().enumerate() {
                station.name = format!("sta-{index}");
                station.group.clone_from(&station.name);
            }
            for (index, flow) in scenario.flows.iter_mut().enumerate() {
                flow.name = format!("flow-{index}");
                if let (Transport::Udp(udp), Ends::Station { station, direction }) =
                    (&mut flow.transport, flow.ends)
                    && (udp.arrivals, direction) == (Arrivals::Greedy, Direction::Down)
                {
                    // the simulation of small datagrams over a fast wire is slow
                    udp.payload_bytes = udp.payload_bytes.max(1_000);
                    // the check of scenarios refuses power save at a station to which a greedy source sends
                    scenario.stations[station].power_save = None;
                }
            }
            scenario
        })
}

/// New values of the settings that may change during a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Change {
    pub(super) access: Access,
    pub(super) limit: u32,
    pub(super) rate_bps: u64,
    /// Simulated time between two calls that step the run. [ns]
    pub(super) stride: u64,
}

pub(super) fn change() -> impl Strategy<Value = Change> {
    let change = |(access, limit, rate_bps, stride)| Change {
        access,
        limit,
        rate_bps,
        stride,
    };
    (access(), 1..150_u32, 100_000..20_000_000_u64, MS..300 * MS).prop_map(change)
}

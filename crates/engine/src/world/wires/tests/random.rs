//! Generates random networks of links, and random cells connected to links.

use proptest::prelude::*;

use super::scenario;
use crate::kernel::time::Span;
use crate::notation::setting::FileTable;
use crate::scenario::{
    CakeSetting, CoDelSetting, Discipline, DualPi2Setting, FqCoDelSetting, LinkRate, PieSetting,
    QueueSetting, RedForm, RedSetting, RedWeight, Scenario, Trace,
};

/// Generates a queue with a random discipline that decides at arrivals.
fn queue() -> impl Strategy<Value = QueueSetting> {
    let red = (2..20_u32, 1..40_u32, any::<bool>(), any::<bool>());
    let red = red.prop_map(|(min_th, more, gentle, bytes)| {
        Discipline::Red(RedSetting {
            form: RedForm::Ns2,
            min_th: f64::from(min_th),
            max_th: f64::from(min_th + more),
            max_p: 0.1,
            weight: RedWeight::Given(0.2),
            gentle,
            wait: true,
            bytes,
            ecn: false,
            mean_packet_bytes: 500,
        })
    });
    let pie = (1..30_u64).prop_map(|ms| {
        Discipline::Pie(PieSetting {
            target: Span(ms * 1_000_000),
            update: Span(15_000_000),
            alpha: 0.125,
            beta: 1.25,
            max_burst: Span(150_000_000),
            ecn: false,
        })
    });
    let codel = CoDelSetting {
        target: Span(5_000_000),
        interval: Span(50_000_000),
        ecn: false,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    let fq_codel = FqCoDelSetting {
        target: codel.target,
        interval: codel.interval,
        quantum_bytes: 1500,
        queues: 8,
        ecn: codel.ecn,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    let discipline = prop_oneof![
        Just(Discipline::DropTail),
        red,
        pie,
        Just(Discipline::CoDel(codel)),
        Just(Discipline::FqCoDel(fq_codel)),
        Just(Discipline::DualPi2(DualPi2Setting::usual().unwrap())),
        Just(Discipline::Cake(CakeSetting::usual().unwrap())),
    ];
    (1..60_u32, discipline).prop_map(|(limit_packets, discipline)| QueueSetting {
        limit_packets,
        discipline,
    })
}

/// Generates a trace whose transmission opportunities are at the same time or up to 9 ms apart.
fn trace() -> impl Strategy<Value = Trace> {
    prop::collection::vec(0..10_u32, 1..9).prop_map(|gaps| {
        let each = gaps.iter().scan(1, |ms, gap| {
            *ms += gap;
            Some(*ms)
        });
        Trace::new(each.collect::<Vec<u32>>())
    })
}

/// Generates a random network: two or three routers in a row, and random classes of flows between
/// them.
pub(super) fn network() -> impl Strategy<Value = Scenario> {
    let rate = prop_oneof![Just(1_u32), Just(2), 3..20_u32];
    let shape = (rate, 0..5_u32, 1..4_usize).prop_map(|(rate, delay, hops)| {
        format!("parking_lot = {{ hops = {hops}, bottleneck = \"{rate} Mbps\", delay = \"{delay} ms\", flows = 1 }}")
    });
    let traces = prop::collection::vec(prop::option::of(trace()), 6);
    let access = prop_oneof![
        Just("unlimited".to_owned()),
        (1..9_u32).prop_map(|x| format!("{x} Mbps"))
    ];
    let rtt = prop_oneof![Just(40_u32), 50..200_u32];
    let kind = prop_oneof![
        3 => Just("congestion = \"cubic\"".to_owned()),
        1 => Just("congestion = \"compound\"\nsegments = 60".to_owned()),
        1 => (1..4_u32).prop_map(|x| format!("udp = {{ rate = \"{x} Mbps\", arrivals = \"poisson\" }}")),
        1 => (1..200_u32).prop_map(|x| format!("congestion = \"tahoe\"\nweb = {x}")),
        2 => Just("congestion = \"reno\"\ndelayed_ack = false".to_owned()),
        1 => Just("sack = true\ndelayed_ack = false\nsegments = 200\nmin_rto = \"30 ms\"".to_owned()),
    ];
    let jitter = prop_oneof![2 => Just("0 ms"), 1 => Just("packet"), 1 => Just("7 ms")];
    let class = (
        1..4_u32,
        access,
        prop::option::of(rtt),
        kind,
        0..300_u32,
        jitter,
    );
    let classes = prop::collection::vec(class, 1..4);
    let times = (300..1500_u32, any::<bool>());
    (queue(), (shape, traces), classes, any::<u32>(), times).prop_map(
        |(queue, (shape, traces), classes, seed, (duration, samples))| {
            let mut text = format!(
                "duration = \"{duration} ms\"\nwarmup = \"100 ms\"\nseed = {seed}\n{shape}\n\
                 record.utilisation_bin = \"11 ms\"\n{}",
                if samples {
                    "record.series_interval = \"7 ms\"\n"
                } else {
                    ""
                },
            );
            for (index, (count, access, rtt, kind, start, jitter)) in
                classes.into_iter().enumerate()
            {
                let count = if kind.contains("web") {
                    String::new() // a web source is a class of its own, without `count`
                } else {
                    format!("count = {count}\n")
                };
                text += &format!(
                    "[flow.c{index}]\n{count}access = \"{access}\"\nstart = \"{start} us\"\n\
                     jitter = \"{jitter}\"\n\
                     start_spread = \"10 ms\"\n"
                );
                if let Some(rtt) = rtt {
                    text += &format!("rtt = \"{rtt} ms\"\n");
                }
                text += &format!("{kind}\n");
            }
            let mut scenario = scenario(&text);
            let shared = scenario.links.iter_mut().filter(|link| !link.of_host);
            for (link, trace) in shared.zip(traces) {
                link.queue = queue.clone();
                link.rate = trace.map_or(link.rate.clone(), LinkRate::Trace);
            }
            scenario
        },
    )
}

/// Generates a random cell connected to wires, with stations that sleep.
pub(super) fn hotspot() -> impl Strategy<Value = Scenario> {
    let awake = prop_oneof![
        Just("\"off\"".to_owned()),
        (0..150_u32).prop_map(|ms| format!("\"{ms} ms\""))
    ];
    let traffic = prop::sample::select(vec![
        "download = 2",
        "upload = 1",
        "download = { delayed_ack = false }",
        "udp_down = \"300 kbps\"",
        "udp_up = \"200 kbps\"\ndownload = 1",
        "sensor_down = { every = \"50 ms\" }",
    ]);
    let stations = prop::collection::vec((awake, traffic, 0..3_u32, 0..80_u32), 1..5);
    let wires = prop::sample::select(vec![
        "wire = { rate = \"8 Mbps\", delay = \"5 ms\" }\n",
        "wire.delay = \"3 ms\"\nlink.path = { from = \"x\", to = \"y\", rate = \"2 Mbps\", delay = \"9 ms\" }\n\
         flow.bulk = { from = \"x\", to = \"y\", count = 2, delayed_ack = false }\n",
        "vsb = { wce.interval = \"20 ms\" }\n",
        "vsb = { wce.interval = \"20 ms\", udp = \"down\" }\n",
        "wire = { rate = \"3 Mbps\" }\nvsb.rate = \"2 Mbps\"\n",
    ]);
    let times = (300..1200_u32, 1..110_u32, any::<u32>());
    (wires, stations, times).prop_map(|(wires, stations, (duration, interval, seed))| {
        let mut text = format!(
            "duration = \"{duration} ms\"\nwarmup = \"100 ms\"\nseed = {seed}\n{wires}\
             [record]\nseries_interval = \"7 ms\"\n[cell]\nphy = \"802.11g\"\n"
        );
        if stations.iter().any(|(awake, ..)| awake != "\"off\"") {
            text += &format!("beacon_interval = \"{interval} ms\"\npower_save_queue = 9\n");
        }
        let pinged = wires.contains("wce");
        for (index, (awake, traffic, count, delay)) in stations.into_iter().enumerate() {
            text += &format!(
                "[station.s{index}]\ncount = {}\npower_save = {awake}\n{traffic}\n",
                count + 1
            );
            if pinged {
                text += &format!("ping_delay = \"{delay} ms\"\nping_loss = 0.2\n");
            }
        }
        scenario(&text)
    })
}

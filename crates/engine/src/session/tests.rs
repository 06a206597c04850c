//! Tests of sessions: readings do not change a run, and changed settings take effect exactly in time.
mod counts;
mod measured;
use super::*;
use crate::scenario::{Format, parse};

const CELL: &str = r#"
duration = "12 s"
warmup = "2 s"
record.series_interval = "0.7 s"
record.frames = 300
cell = { phy = "802.11b", ap_queue = 20 }
tcp.congestion = "reno"
station.a = { count = 3, download = 1 }
station.b.upload = 1
station.c.udp_up = { rate = "200 kbps", packet = "500 B" }
"#;

/// Scenario: a cell with EDCA categories and TXOPs.
const EDCA: &str = r#"
duration = "8 s"
warmup = "1 s"
[cell]
phy = "802.11g"
ap_queue.red = { min_th = 5, max_th = 15 }
ap.txop_packets = 3
[station.a]
download = 2
udp_down = { rate = "500 kbps", packet = "200 B", category = "voice" }
[station.b]
udp_up = { rate = "greedy", packet = "1500 B" }
"#;

const AGGREGATES: &str = r#"
duration = "3 s"
warmup = "0.5 s"
cell = { phy = "802.11ax", mcs = 7, ap_queue.pie = "5 ms" }
station.a = { count = 3, download = 2 }
station.b.upload = 1
"#;

/// Scenario: a network in which packets enter the bottleneck, and TCP endpoints process ACKs,
/// before the simulation time reaches their event (lookahead).
const ROUTER: &str = r#"
duration = "9 s"
warmup = "2 s"
record.series_interval = "0.31 s"
dumbbell = { flows = 8, access = "5 Mbps", access_spread = 0.01, bottleneck = "10 Mbps", rtt = "60 ms" }
queue = 40
tcp = { congestion = "compound", delayed_ack = false }
"#;

/// Scenario: a network whose hosts all add the same delay, so that packets enter the bottleneck
/// before the simulation time reaches their event (lookahead).
const FAR: &str = r#"
duration = "9 s"
warmup = "2 s"
dumbbell = { flows = 6, bottleneck = "10 Mbps", rtt = "80 ms" }
queue = 40
tcp = { congestion = "reno" }
"#;

/// Scenario: a network with links in series, all of which a packet passes.
const ROW: &str = r#"
duration = "9 s"
warmup = "2 s"
parking_lot = { hops = 3, flows = 6, cross = 0, bottleneck = "5 Mbps", delay = "7 ms" }
queue = { limit = 60, red = { min_th = 5, max_th = 20 } }
tcp = { congestion = "reno" }
"#;

const VSB: &str = r#"
duration = "10 s"
warmup = "2 s"
cell = { phy = "802.11b" }
wire = { rate = "20 Mbps", delay = "10 ms", queue = 50 }
vsb = { rate = "3 Mbps", start = "1 s" }
tcp.congestion = "reno"
station.a = { count = 2, download = 2 }
station.b.upload = 2
"#;

const ESTIMATED: &str = r#"
duration = "10 s"
warmup = "2 s"
cell = { phy = "802.11b" }
vsb = {}
station.a = { count = 2, download = 2 }
station.b.upload = 2
"#;

const CSMA: &str = r#"
duration = "20 s"
warmup = "2 s"
tcp = { congestion = "reno", delayed_ack = false, mss = "1000 B", initial_rto = "3 s" }
[csma]
k = 60
r_per_packet = 2e-4
connections_interval = "1 s"
[csma.link]
1 = { conflicts = ["2"], error = 0.05 }
2 = { conflicts = ["3"] }
3 = {}
[link.wire]
from = "x"
to = "y"
rate = "2 Mbps"
delay = "5 ms"
queue = 10
[flow]
far = { route = ["1", "wire", "3"] }
noise = { route = ["3"], udp = { rate = "300 kbps", arrivals = "poisson" } }
"#;

const ALL: [&str; 9] = [
    CELL, EDCA, AGGREGATES, ROUTER, FAR, ROW, VSB, ESTIMATED, CSMA,
];

fn with(text: &str, settings: &[(&str, &str)]) -> Scenario {
    let owned = |&(path, value): &(&str, &str)| (path.to_owned(), value.to_owned());
    let settings: Vec<(String, String)> = settings.iter().map(owned).collect();
    match parse(text, Format::Toml, "test.toml", &settings) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{} in {text}", problems[0]),
    }
}

fn go_on(_: Time) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn session(scenario: &Scenario) -> Session<'_> {
    match Session::new(scenario, 0, Detail::Tails) {
        Ok(session) => session,
        Err(error) => panic!("{error}"),
    }
}

fn at(ms: u64) -> Time {
    Time(ms * 1_000_000)
}

fn step(session: &mut Session<'_>, ms: u64) -> Value {
    let halted = session.run_until(at(ms), &mut go_on);
    assert_eq!((halted, session.now()), (Ok(()), at(ms)));
    session.read()
}

fn outcome(mut session: Session<'_>) -> String {
    let ended = session.run_to_end(&mut go_on);
    match ended.and_then(|()| session.finish()) {
        Ok(run) => format!("{run:?}"),
        Err(error) => panic!("{error}"),
    }
}

/// Returns the outcome of a run without intermediate steps.
fn unbroken(scenario: &Scenario) -> String {
    match crate::run_replication(scenario, 0, Detail::Tails, &mut go_on) {
        Ok(run) => format!("{run:?}"),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn who_steps_and_reads_moves_no_bit() {
    for text in ALL {
        let scenario = with(text, &[]);
        let end = scenario.duration.0 / 1_000_000;
        for stride in [37, 500] {
            let mut session = session(&scenario);
            (0..=end).step_by(stride).for_each(|ms| {
                step(&mut session, ms);
            });
            assert_eq!(
                outcome(session),
                unbroken(&scenario),
                "{stride} ms of {text}"
            );
        }
    }
}

#[test]
fn who_interrupts_and_goes_on_moves_no_bit() {
    let scenario = with(CELL, &[("duration", "500 s")]);
    let mut session = session(&scenario);
    let mut rests = 0;
    while session
        .run_until(at(400_000), &mut |_| ControlFlow::Break(()))
        .is_err()
    {
        assert_eq!(session.towards(), Some(at(400_000)));
        rests += 1;
    }
    assert!(rests > 3 && session.towards().is_none());
    session.read();
    assert_eq!(outcome(session), unbroken(&scenario));
}

#[test]
fn a_change_before_the_first_event_is_as_if_the_scenario_said_so() {
    let cases: &[(&str, &[(&str, &str)])] = &[
        (CELL, &[("cell.ap.cwmin", "0"), ("cell.ap.cwmax", "7")]),
        (CELL, &[("cell.cwmin", "3")]),
        (
            CELL,
            &[("station.a.cwmin", "2047"), ("station.a.cwmax", "4095")],
        ),
        (CELL, &[("cell.ap_queue", "3")]),
        (CELL, &[("station.b.queue.limit", "2")]),
        (
            EDCA,
            &[("cell.ap.voice.cwmin", "1"), ("cell.ap.txop_packets", "9")],
        ),
        (EDCA, &[("cell.ap.txop_limit", "0.8 ms")]),
        (
            EDCA,
            &[
                ("cell.ap_queue.red.min_th", "1"),
                ("cell.ap_queue.red.max_p", "0.7"),
            ],
        ),
        (EDCA, &[("cell.ap_queue.limit", "18")]),
        (
            AGGREGATES,
            &[
                ("cell.ap_queue.pie.target", "1 ms"),
                ("station.b.cwmin", "1"),
            ],
        ),
        (AGGREGATES, &[("cell.ap_queue.limit", "9")]),
        (ROUTER, &[("queue.limit", "7")]),
        (
            ROW,
            &[
                ("queue.red.min_th", "2"),
                ("queue.red.max_th", "9"),
                ("queue.limit", "12"),
            ],
        ),
        (VSB, &[("vsb.rate", "1.5 Mbps")]),
        (VSB, &[("vsb.queue", "5"), ("wire.queue", "4")]),
        (CSMA, &[("link.wire.queue", "3")]),
    ];
    for (text, settings) in cases {
        let scenario = with(text, &[]);
        let changed = with(text, settings);
        let mut session = session(&scenario);
        assert_eq!(session.change(changed.clone()), Ok(()), "{settings:?}");
        assert_eq!(session.scenario(), &changed);
        let (changed_outcome, expected) = (outcome(session), unbroken(&changed));
        assert_ne!(changed_outcome, unbroken(&scenario), "{settings:?}");
        assert_eq!(changed_outcome, expected, "{settings:?}");
    }
}

#[test]
fn every_discipline_takes_what_may_move_of_it() {
    let cases = [
        ("queue = { threshold = 30 }", "queue.threshold", "4"),
        (
            "queue.proportional.slope = 1e-4",
            "queue.proportional.slope",
            "0.01",
        ),
        ("queue.pi.target = 20", "queue.pi.a", "0.002"),
        ("queue.pie.target = \"20 ms\"", "queue.pie.target", "1 ms"),
        (
            "queue.codel.target = \"20 ms\"",
            "queue.codel.target",
            "1 ms",
        ),
        (
            "queue.fq_codel.target = \"20 ms\"",
            "queue.fq_codel.target",
            "1 ms",
        ),
        ("queue = { limit = 50, fq_codel = {} }", "queue.limit", "9"),
        (
            "queue = { limit = 50, red = { min_th = 5, max_th = 20, form = \"published\" } }",
            "queue.red.max_th",
            "9",
        ),
        (
            "queue = { limit = 50, red = { min_th = 5, max_th = 20, bytes = true } }",
            "queue.limit",
            "11",
        ),
    ];
    for (queue, path, value) in cases {
        let text = ROUTER.replace("queue = 40", queue);
        let (scenario, changed) = (with(&text, &[]), with(&text, &[(path, value)]));
        let mut session = session(&scenario);
        assert_eq!(session.change(changed.clone()), Ok(()), "{path}");
        let changed_outcome = outcome(session);
        assert_ne!(changed_outcome, unbroken(&scenario), "{path}");
        assert_eq!(changed_outcome, unbroken(&changed), "{path}");
    }
    let shared = CELL.replace(
        "ap_queue = 20",
        "ap_queue = { limit = 60, vbs = { by = \"station\", algorithm = \"regulated\" } }",
    );
    for (path, value) in [("occupancy", "0.2"), ("tol", "400")] {
        let path = format!("cell.ap_queue.vbs.{path}");
        let (scenario, changed) = (with(&shared, &[]), with(&shared, &[(&path, value)]));
        let mut session = session(&scenario);
        assert_eq!(session.change(changed.clone()), Ok(()), "{path}");
        // the results contain the deviation from the target; for the whole run, it is computed with
        // the new target, as in a run that has this target from the start
        assert_eq!(outcome(session), unbroken(&changed), "{path}");
    }
}

/// Returns the outcome of a run in which a value changes after each step. The outcome does not
/// contain the number of events.
fn changed_on_the_way(text: &str, path: &str, values: &[&str], hop_by_hop: bool) -> String {
    let scenario = with(text, &[]);
    let mut world = match World::new(&scenario, 0) {
        Ok(world) => world,
        Err(error) => panic!("{error}"),
    };
    if hop_by_hop {
        world.hop_by_hop();
    }
    let run = Running::of(world, true, Detail::Means).gated();
    let mut session = Session {
        since: Snapshot::take(run.world()),
        present: Present::new(run.world()),
        scenario: scenario.clone(),
        towards: None,
        run,
    };
    let mut readings = Vec::new();
    for (number, value) in (1..).zip(values) {
        let mut reading = step(&mut session, 1_003 * number);
        reading["totals"] = Value::Null;
        readings.push(reading);
        assert_eq!(session.change(with(text, &[(path, value)])), Ok(()));
    }
    assert_eq!(session.run_to_end(&mut go_on), Ok(()));
    let Ok(mut run) = session.finish() else {
        panic!("laws of conservation");
    };
    run.measures.lists.retain(|(list, _)| *list != "totals");
    format!("{readings:?} {run:?}")
}

#[test]
fn queues_that_are_entered_ahead_of_time_change_at_the_very_instant() {
    let cases: &[(&str, &str, &[&str])] = &[
        (
            ROUTER,
            "queue.limit",
            &["4", "60", "2", "30", "9", "1", "100"],
        ),
        (FAR, "queue.limit", &["4", "60", "2", "30", "9", "1", "100"]),
        (ROW, "queue.red.max_th", &["6", "40", "7", "30", "8", "20"]),
        (ROW, "queue.red.max_p", &["1", "0.01", "0.9", "0.02"]),
        (CSMA, "link.wire.queue", &["2", "30", "1", "5"]),
        (VSB, "wire.queue", &["3", "60", "2"]),
    ];
    for (text, path, values) in cases {
        let ahead = changed_on_the_way(text, path, values, false);
        assert_eq!(
            ahead,
            changed_on_the_way(text, path, values, true),
            "{path}"
        );
        assert_ne!(ahead, changed_on_the_way(text, path, &values[..1], false));
    }
}

#[test]
fn laws_hold_after_changes_on_the_way() {
    let cases: &[(&str, &str, &[&str])] = &[
        (CELL, "cell.ap.cwmin", &["0", "1023", "7", "1", "500"]),
        (CELL, "cell.cwmin", &["0", "1", "1023", "3"]),
        (CELL, "cell.ap_queue", &["1", "50", "2", "30"]),
        (EDCA, "station.b.cwmin", &["0", "1000", "2"]),
        (EDCA, "cell.ap.txop_packets", &["1", "30", "2"]),
        (AGGREGATES, "cell.ap.cwmin", &["0", "1000"]),
        (AGGREGATES, "cell.ap_queue.limit", &["3", "900"]),
        (
            VSB,
            "vsb.rate",
            &["500 kbps", "20 Mbps", "1 Mbps", "3 Mbps"],
        ),
        (VSB, "vsb.queue", &["1", "90", "3"]),
    ];
    for (text, path, values) in cases {
        let changed_outcome = changed_on_the_way(text, path, values, false);
        assert_eq!(
            changed_outcome,
            changed_on_the_way(text, path, values, false),
            "{path}"
        );
        assert_ne!(
            changed_outcome,
            changed_on_the_way(text, path, &values[..1], false)
        );
    }
}

fn value(reading: &Value, list: &str, name: &str, quantity: &str) -> Option<f64> {
    let items = reading[list].as_array()?;
    let item = items.iter().find(|item| item["name"] == name)?;
    item[quantity].as_f64()
}

#[test]
fn a_limit_below_what_waits_drops_nothing_that_waits() {
    let scenario = with(CELL, &[("station.a.count", "6")]);
    let mut session = session(&scenario);
    let length = |reading: &Value| value(&reading["now"], "queues", "ap", "occupancy_packets");
    let before = length(&step(&mut session, 6_000));
    assert!(before.is_some_and(|packets| packets > 8.0), "{before:?}");
    let lower = with(CELL, &[("station.a.count", "6"), ("cell.ap_queue", "3")]);
    assert_eq!(session.change(lower), Ok(()));
    assert_eq!(length(&session.read()), before);
    // the queue length exceeds the new limit, so the queue accepts no packets until enough packets
    // have left
    let soon = length(&step(&mut session, 6_003));
    assert!(soon <= before && soon >= before.map(|packets| packets - 2.0));
    assert!(length(&step(&mut session, 7_000)).is_some_and(|packets| packets <= 3.0));
}

#[test]
fn a_rate_holds_from_the_next_packet_on() {
    let scenario = with(VSB, &[]);
    let mut session = session(&scenario);
    let goodput = |reading: &Value| value(reading, "cells", "cell", "goodput_bps").unwrap_or(0.0);
    step(&mut session, 4_000);
    let before = goodput(&step(&mut session, 6_000));
    assert_eq!(
        session.change(with(VSB, &[("vsb.rate", "500 kbps")])),
        Ok(())
    );
    let reading = step(&mut session, 8_000);
    assert_eq!(
        value(&reading["now"], "links", "vsb", "capacity_bps"),
        Some(500e3)
    );
    let after = goodput(&reading);
    assert!(
        before > 1.5e6 && after < 0.5e6 && after > 0.2e6,
        "{before} {after}"
    );
}

#[test]
fn intervals_add_up_to_what_the_result_has() {
    for text in [CELL, ROUTER, CSMA] {
        let scenario = with(text, &[]);
        let mut session = session(&scenario);
        step(&mut session, 2_000);
        let end = scenario.duration.0 / 1_000_000;
        let mut bits: Vec<f64> = Vec::new();
        let mut names = Vec::new();
        for ms in (2_000 + 125..=end).step_by(125) {
            let reading = step(&mut session, ms);
            assert_eq!(reading["interval_s"], json!(0.125));
            let flows = reading["flows"].as_array().cloned().unwrap_or_default();
            bits.resize(flows.len(), 0.0);
            names.clear();
            for (sum, flow) in bits.iter_mut().zip(&flows) {
                *sum += flow["goodput_bps"].as_f64().unwrap_or(f64::NAN) * 0.125;
                names.push(flow["name"].as_str().unwrap_or_default().to_owned());
            }
        }
        assert!(session.run_to_end(&mut go_on).is_ok());
        let Ok(run) = session.finish() else {
            panic!("a run");
        };
        let measured = (scenario.duration - scenario.warmup).seconds();
        let (_, flows) = &run.measures.lists[0];
        assert_eq!(flows.len(), bits.len());
        for ((flow, sum), name) in flows.iter().zip(&bits).zip(&names) {
            let goodput = flow.values[0].1.unwrap_or(f64::NAN);
            assert_eq!((flow.values[0].0, &flow.name), ("goodput_bps", name));
            // a packet that arrives exactly at the end of the run may be missing in the last
            // reading; the limit is slightly more than one packet of 12,000 bits
            assert!(
                (goodput * measured - sum).abs() < 13_000.0,
                "{goodput} {sum}"
            );
        }
    }
}

/// A reading at the time of the previous reading contains only current values.
#[test]
fn two_readings_of_an_instant_have_no_interval_between_them() {
    let scenario = with(CELL, &[]);
    let mut session = session(&scenario);
    let first = step(&mut session, 3_000);
    assert!(value(&first, "stations", "b", "collision_rate").is_some());
    assert_eq!(value(&first, "flows", "a-1/down/1", "rtt_p95_s"), None);
    let again = session.read();
    assert_eq!(again["interval_s"], json!(0.0));
    assert_eq!(again["flows"], Value::Null);
    assert_eq!(again["now"], first["now"]);
    assert!(value(&again["now"], "flows", "a-1/down/1", "cwnd_packets").is_some());
}

#[test]
fn what_is_fixed_is_refused_and_nothing_changes() {
    let cases = [
        (CELL, "tcp.window", "9"),
        (CELL, "cell.ap.aifsn", "1"),
        (CELL, "cell.ap_queue", "{ codel = {} }"),
        (CELL, "station.a.count", "4"),
        (AGGREGATES, "cell.ap.txop_limit", "1 ms"),
        (ESTIMATED, "vsb.rate", "3 Mbps"),
        (VSB, "vsb.rate", "estimated"),
        (ROUTER, "dumbbell.bottleneck", "20 Mbps"),
        (CSMA, "csma.k", "9"),
    ];
    for (text, path, value) in cases {
        let scenario = with(text, &[]);
        let mut session = session(&scenario);
        let other = with(text, &[(path, value)]);
        assert_eq!(session.change(other), Err(Fixed), "{path}");
        assert_eq!(session.scenario(), &scenario);
    }
}

#[test]
fn what_may_change_is_listed_as_the_file_has_it() {
    let listed = |text: &str| -> Vec<String> {
        let scenario = with(text, &[]);
        let read =
            |settings: &[(String, String)]| parse(text, Format::Toml, "test.toml", settings).ok();
        let all = scenario.changeable(&read);
        all.iter()
            .map(|setting| format!("{}={}", setting.path, setting.now.text))
            .collect()
    };
    let stations = |names: &[&str]| -> Vec<String> {
        let keys = [
            "cwmin=31",
            "cwmax=1023",
            "txop_packets=1",
            "txop_limit=none",
            "queue.limit=1000",
        ];
        let each = names.iter();
        each.flat_map(|name| keys.map(|key| format!("station.{name}.{key}")))
            .collect()
    };
    let ap = [
        "cell.ap.cwmin=31",
        "cell.ap.cwmax=1023",
        "cell.ap.txop_packets=1",
        "cell.ap.txop_limit=none",
    ];
    let mut expected = ap.map(str::to_owned).to_vec();
    expected.push("cell.ap_queue.limit=20".to_owned());
    expected.extend(stations(&["a", "b", "c"]));
    assert_eq!(listed(CELL), expected);
    let scenario = with(ROUTER, &[]);
    let all =
        scenario.changeable(&|settings| parse(ROUTER, Format::Toml, "test.toml", settings).ok());
    let ranges = all
        .iter()
        .map(|setting| (setting.range, setting.now.number));
    assert_eq!(ranges.collect::<Vec<_>>(), [([1.0, 1e6], Some(40.0))]);
    assert_eq!(listed(ROUTER), ["queue.limit=40"]);
    let row = ["limit=60", "red.min_th=5", "red.max_th=20", "red.max_p=0.1"];
    assert_eq!(listed(ROW), row.map(|key| format!("queue.{key}")));
    assert_eq!(
        listed(CSMA),
        [
            "link.wire.queue.limit=10",
            "link.wire.back_queue.limit=1000"
        ]
    );
    let vsb = listed(VSB);
    for key in ["wire.queue.limit=50", "vsb.rate=3 Mbps", "vsb.queue=200"] {
        assert!(vsb.contains(&key.to_owned()), "{vsb:?}");
    }
    assert!(
        !listed(ESTIMATED)
            .iter()
            .any(|key| key.starts_with("vsb.rate"))
    );
    // stations inherit this queue from the cell, so the complete queue is set there; a table with
    // only a limit would define another queue
    let of_cell = CELL.replace("ap_queue = 20", "queue.codel.target = \"9 ms\"");
    let of_cell = listed(&of_cell);
    let target = "cell.queue.codel.target=9 ms".to_owned();
    assert_eq!(
        of_cell.iter().filter(|key| **key == target).count(),
        1,
        "{of_cell:?}"
    );
    assert!(of_cell.contains(&"cell.ap.queue.limit=100".to_owned()));
    assert!(!of_cell.iter().any(|key| key.contains("station.a.queue")));
    assert!(listed(EDCA).contains(&"station.a.voice.cwmin=3".to_owned()));
}

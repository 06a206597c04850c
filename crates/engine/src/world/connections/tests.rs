//! Tests of web traffic in a network: calculated transfer times, load, distributions, memory.

use std::ops::ControlFlow;

use super::super::World;
use super::*;
use crate::measure::Measures;
use crate::scenario::{Format, Scenario, parse};

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    }
}

fn run(scenario: &Scenario) -> Measures {
    let run = crate::replication::run_replication(scenario, 0, crate::Detail::Means, &mut |_| {
        ControlFlow::Continue(())
    });
    match run {
        Ok(replication) => replication.measures,
        Err(error) => panic!("{error}"),
    }
}

fn value(measures: &Measures, list: &str, item: &str, quantity: &str) -> Option<f64> {
    let list = measures.lists.iter().find(|(name, _)| *name == list)?;
    let item = list.1.iter().find(|entry| entry.name == item)?;
    item.values.iter().find(|(name, _)| *name == quantity)?.1
}

fn of_class(measures: &Measures, quantity: &str) -> f64 {
    match value(measures, "classes", "web", quantity) {
        Some(value) => value,
        None => panic!("no {quantity} in {measures:?}"),
    }
}

/// Returns the results of one connection over a link of 8 Mb/s (1 us per byte) with a delay of 10
/// ms in each direction. The server needs 3 ms.
fn lone(request: u32, response: u32) -> Measures {
    run(&scenario(&format!(
        "duration = \"5 s\"\nwarmup = \"0 s\"\n\
         dumbbell = {{ bottleneck = \"8 Mbps\", delay = \"10 ms\" }}\n\
         tcp = {{ handshake = true, initial_window = 2, delayed_ack = false, mss = \"1000 B\", header = \"40 B\" }}\n\
         [flow.web]\nstop = \"1.5 s\"\n\
         web = {{ connections = 0.1, arrivals = \"constant\", request = \"{request} B\", \
         response = \"{response} B\", server_delay = \"3 ms\" }}\n"
    )))
}

#[test]
fn a_lone_transaction_takes_what_it_takes_by_hand() {
    // SYN and SYN-ACK of 40 B need 2 x (0.04 + 10) ms. The request of 340 B, the server and the
    // response of 1040 B need 0.34 + 10 + 3 + 1.04 + 10 ms.
    let measures = lone(300, 1_000);
    assert!((of_class(&measures, "completion_s") - 44.46e-3).abs() < 1e-12);
    // The response has 4,500 B: four full segments 0 to 3 and segment 4 of 540 B. Segments 0 and 1
    // leave immediately. The ACK of segment 0 returns 1.04 + 10 + 0.04 + 10 ms later, and segments
    // 2 and 3 leave. The ACK of segment 1 arrives 1.04 ms later, and segment 4 leaves. Segment 4
    // waits in the queue of the link until segments 2 and 3 have been sent. The sum of all these
    // times is 20.08 + 0.34 + 10 + 3 + 21.08 + 2 x 1.04 + 0.54 + 10 ms.
    let measures = lone(300, 4_500);
    assert!((of_class(&measures, "completion_s") - 67.12e-3).abs() < 1e-12);
    let p95 = of_class(&measures, "completion_p95_s");
    assert!((p95 / 67.12e-3 - 1.0).abs() <= 1.0 / 512.0);
    assert_eq!(of_class(&measures, "connections_finished"), 1.0);
    assert_eq!(of_class(&measures, "unfinished"), 0.0);
    assert_eq!(of_class(&measures, "goodput_bps"), 4_500.0 * 8.0 / 5.0);
    // the request uses the link `bottleneck/back`; the response, the SYN-ACK and the ACK of the
    // request use the link `bottleneck`
    let sent_s = [("bottleneck", 4.78e-3), ("bottleneck/back", 0.58e-3)];
    for (link, busy_s) in sent_s {
        let utilisation = value(&measures, "links", link, "utilisation").unwrap();
        assert!(
            (utilisation - busy_s / 5.0).abs() < 1e-12,
            "{link}: {utilisation}"
        );
    }
    // connections are not listed as flows
    let flows = measures.lists.iter().find(|(name, _)| *name == "flows");
    assert!(flows.is_some_and(|(_, flows)| flows.is_empty()));
}

const WEB: &str = r#"
duration = "200 s"
warmup = "20 s"
queue = 40
dumbbell = { bottleneck = "20 Mbps", rtt = "40 ms" }
tcp.handshake = true
[flow.web]
congestion = "tahoe"
"#;

#[test]
fn the_load_is_what_is_offered() {
    // 50 connections per second with responses of 5 kB: the number of connections in 180 s is a
    // Poisson variable with mean 9,000 and standard deviation 95
    let web = "{ connections = 50, arrivals = \"poisson\", response = \"5 kB\" }";
    let measures = run(&scenario(&format!("{WEB}web = {web}")));
    let finished = of_class(&measures, "connections_finished");
    assert!((finished - 9_000.0).abs() < 3.0 * 95.0, "{finished}");
    // at the start and the end of the measured period, 2 to 4 of the 9,000 responses may be partly
    // outside the period
    let goodput = of_class(&measures, "goodput_bps");
    let offered = finished * 5_000.0 * 8.0 / 180.0;
    assert!(
        (goodput / offered - 1.0).abs() < 5.0 / 9_000.0,
        "{goodput} of {offered}"
    );
    assert_eq!(value(&measures, "classes", "web", "jain"), None);
    // bytes on the link per response: 5,000 plus six headers of 40 B (4 segments, the SYN-ACK, the
    // ACK of the request)
    let wire = (finished / 180.0) * 8.0 * (5_000.0 + 6.0 * 40.0);
    let utilisation = value(&measures, "links", "bottleneck", "utilisation").unwrap();
    assert!(
        (utilisation * 20e6 / wire - 1.0).abs() < 2e-3,
        "{utilisation}"
    );
}

/// With 50 connections per second the responses of PackMime have 8.0 kB on average, with a heavy
/// tail.
#[test]
fn packmime_offers_3_megabits_with_50_connections_a_second() {
    let measures = run(&scenario(&format!("{WEB}web = 50")));
    let finished = of_class(&measures, "connections_finished") / 180.0;
    assert!((finished - 50.0).abs() < 3.0, "{finished}");
    let goodput = of_class(&measures, "goodput_bps");
    assert!((2e6..6e6).contains(&goodput), "{goodput}");
    assert!(of_class(&measures, "completion_p95_s") > of_class(&measures, "completion_s"));
}

#[test]
fn memory_follows_the_connections_open_at_a_time() {
    let scenario = scenario(&format!("{WEB}web = 50"));
    let flows_after = |seconds: u64| {
        let mut world = World::new(&scenario, 0).unwrap();
        world.run_unwatched(Time(seconds * 1_000_000_000));
        (
            world.network.flows.states.len(),
            world.network.flows.webs.sources[0].begun,
        )
    };
    let (early, _) = flows_after(50);
    let (late, begun) = flows_after(200);
    assert!(begun > 9_000);
    assert!(
        late <= 2 * early && late < 200,
        "{early} flows, then {late}"
    );
}

#[test]
fn connections_beyond_the_limit_are_refused_and_counted() {
    // 1,000 connections per second to a server that does not respond before the end of the run
    let measures = run(&scenario(
        "duration = \"15 s\"\nwarmup = \"1 s\"\n\
         dumbbell = { bottleneck = \"100 Mbps\", delay = \"1 ms\" }\n[flow.web]\nstart_spread = \"0 s\"\n\
         web = { connections = 1000, arrivals = \"constant\", server_delay = \"100 s\" }\n",
    ));
    assert_eq!(of_class(&measures, "unfinished"), MAX_OPEN as f64);
    assert_eq!(of_class(&measures, "connections_refused"), 5_001.0);
    assert_eq!(of_class(&measures, "connections_finished"), 0.0);
    assert_eq!(value(&measures, "classes", "web", "completion_s"), None);
}

/// Checks that no data of an earlier connection is counted for a later connection on the same flow.
/// With losses of data, losses of ACKs and duplicate segments, each connection delivers exactly its
/// own data.
#[test]
fn connections_that_take_turns_do_not_mix() {
    for seed in 1..=8 {
        let scenario = scenario(&format!(
            "duration = \"60 s\"\nwarmup = \"0 s\"\nseed = {seed}\nqueue = 5\n\
             dumbbell = {{ bottleneck = \"2 Mbps\", rtt = \"30 ms\" }}\n\
             [flow.bulk]\ncongestion = \"cubic\"\nsack = true\n[flow.web]\nstop = \"30 s\"\n\
             min_rto = \"20 ms\"\nack_processing = \"1 ms\"\nweb = {{ connections = 20, \
             arrivals = \"poisson\", request = \"2500 B\", response = \"7 kB\" }}\n"
        ));
        let measures = run(&scenario);
        let finished = of_class(&measures, "connections_finished");
        assert_eq!(of_class(&measures, "unfinished"), 0.0);
        assert!(finished > 400.0 && of_class(&measures, "loss_probability") > 0.0);
        let delivered = of_class(&measures, "goodput_bps") * 60.0 / 8.0;
        assert!(
            (delivered - finished * 7_000.0).abs() < 1e-3,
            "{delivered} of {finished}"
        );
    }
}

#[test]
fn the_same_scenario_gives_the_same_bytes() {
    let scenario = scenario(&format!("{WEB}web = 50").replace("200 s", "40 s"));
    assert_eq!(
        format!("{:?}", run(&scenario)),
        format!("{:?}", run(&scenario))
    );
    let mut other = scenario.clone();
    other.seed += 1;
    assert_ne!(
        format!("{:?}", run(&scenario)),
        format!("{:?}", run(&other))
    );
}

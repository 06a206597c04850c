//! Queue disciplines in a cell and on a link: effect of a threshold, queueing delay of a sparse flow, resulting delay
//! and loss.

use std::ops::ControlFlow;

use lasthop_engine::RunResult;
use lasthop_engine::scenario::{Format, parse};

/// Two uploads and two downloads together with a low-rate flow of datagrams to another station.
const CELL: &str = r#"
duration = "20 s"
warmup = "5 s"
replications = 1
cell = { phy = "802.11b", ap_queue = 60 }
station.up.upload = 2
station.down.download = 2
station.phone.udp_down = { rate = "64 kbps", packet = "160 B" }
"#;

/// Twenty flows through a link of 10 Mb/s with a round-trip time of 40 ms.
const DUMBBELL: &str = r#"
duration = "40 s"
warmup = "10 s"
replications = 1
dumbbell = { flows = 20, bottleneck = "10 Mbps", rtt = "40 ms" }
tcp.window = 1000
"#;

pub(crate) fn simulate(text: &str, settings: &[(&str, &str)]) -> RunResult {
    let settings: Vec<(String, String)> = settings
        .iter()
        .map(|(path, value)| ((*path).to_owned(), (*value).to_owned()))
        .collect();
    let scenario = match parse(text, Format::Toml, "test.toml", &settings) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{}", problems[0]),
    };
    match lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

/// Returns the mean of `quantity` for item `name` in a list of the summary.
pub(crate) fn mean(result: &RunResult, list: &str, name: &str, quantity: &str) -> f64 {
    let items = result.summary()[list].as_array();
    let item = items.and_then(|items| items.iter().find(|item| item["name"] == name));
    let value = item.and_then(|item| item[quantity]["mean"].as_f64());
    value.unwrap_or_else(|| panic!("no {quantity} of {name} in {list}"))
}

#[test]
fn a_threshold_of_q_packets_is_a_drop_tail_queue_of_q_packets_to_the_byte() {
    for (text, path) in [(CELL, "cell.ap_queue"), (DUMBBELL, "queue")] {
        for q in ["1", "8", "39"] {
            let plain = simulate(text, &[(path, q)]);
            let threshold = format!("{{ threshold = {q} }}");
            let other = simulate(text, &[(path, &threshold)]);
            assert_eq!(plain.summary(), other.summary());
        }
    }
}

#[test]
fn a_trickle_does_not_wait_behind_bulk_transfers_under_fq_codel() {
    let delay = |settings: &[(&str, &str)]| {
        let result = simulate(CELL, settings);
        mean(&result, "flows", "phone/udp-down/1", "one_way_delay_s")
    };
    let behind_all = delay(&[]);
    let first = delay(&[("cell.ap_queue.fq_codel", "{}")]);
    // a datagram waits at most for the frame on the air, its contention and one packet of another flow
    assert!(first < 0.02 && behind_all > 0.1, "{first} {behind_all}");
}

#[test]
fn pie_holds_the_delay_of_a_link_at_its_target() {
    let sojourn = |target: &str| {
        let pie = format!("{{ target = \"{target}\" }}");
        let result = simulate(DUMBBELL, &[("queue", "500"), ("queue.pie", &pie)]);
        mean(&result, "queues", "bottleneck", "sojourn_s")
    };
    // Simulates twenty TCP flows with sawtooth windows. Because the controller of the discipline has an integral term,
    // the mean delay must equal the target.
    for (target, seconds) in [("15 ms", 0.015), ("40 ms", 0.040)] {
        let delay = sojourn(target);
        assert!(
            (delay / seconds - 1.0).abs() < 0.15,
            "{delay} for {seconds}"
        );
    }
}

/// Tests the example of Hollot et al. 2001: 60 flows over 15 Mb/s in packets of 500 B, 160 to 240 ms of propagation.
#[test]
fn pi_holds_the_queue_of_sixty_flows_at_its_target() {
    const ROUTER: &str = r#"
duration = "300 s"
warmup = "100 s"
replications = 1
queue = 800
tcp = { window = 1000, mss = "460 B", delayed_ack = false }
dumbbell = { flows = 60, bottleneck = "15 Mbps", rtt = "160 ms", rtt_spread = "80 ms" }
"#;
    for (target, packets) in [("200", 200.0), ("100", 100.0)] {
        let pi = format!("{{ limit = 800, pi = {target} }}");
        let result = simulate(ROUTER, &[("queue", &pi)]);
        let occupancy = mean(&result, "queues", "bottleneck", "occupancy_packets");
        // The PI controller has the gains a and b. Over many steps, its drop probability changes by (a - b) times the
        // sum of the differences between queue and target. If the probability had changed by 0.01 over the 34,000
        // measured steps, the mean queue would differ from the target by 5 packets. This is the tolerance.
        assert!(
            (occupancy - packets).abs() < 5.0,
            "{occupancy} for {packets}"
        );
        assert!(mean(&result, "links", "bottleneck", "utilisation") > 0.99);
    }
}

#[test]
fn codel_keeps_a_link_busy_with_a_short_queue() {
    let full = simulate(DUMBBELL, &[("queue", "500")]);
    let short = simulate(DUMBBELL, &[("queue", "500"), ("queue.codel", "{}")]);
    let sojourn = |result| mean(result, "queues", "bottleneck", "sojourn_s");
    assert!(sojourn(&short) < 0.025 && sojourn(&full) > 0.2);
    assert!(mean(&short, "links", "bottleneck", "utilisation") > 0.97);
}

#[test]
fn red_keeps_the_average_between_its_thresholds() {
    for form in ["ns-2", "published"] {
        let red = format!("{{ min_th = 10, max_th = 30, max_p = 0.1, form = \"{form}\" }}");
        let result = simulate(DUMBBELL, &[("queue", "500"), ("queue.red", &red)]);
        let packets = mean(&result, "queues", "bottleneck", "occupancy_packets");
        assert!((10.0..30.0).contains(&packets), "{form}: {packets}");
        assert!(mean(&result, "links", "bottleneck", "utilisation") > 0.97);
    }
}

#[test]
fn a_queue_that_may_mark_says_how_many_it_did() {
    let marks = |ecn: &str| {
        let codel = format!("{{ ecn = {ecn} }}");
        let result = simulate(DUMBBELL, &[("queue.codel", &codel)]);
        let queues = result.summary()["queues"].as_array().cloned();
        let mut queues = queues.unwrap_or_default().into_iter();
        let bottleneck = queues.find(|queue| queue["name"] == "bottleneck");
        bottleneck.map(|queue| queue["mark_probability"]["mean"].clone())
    };
    assert_eq!(marks("false"), Some(serde_json::Value::Null));
    // these flows are not ECN-capable: the queue drops their packets and marks none
    assert_eq!(marks("true"), Some(0.0.into()));
}

#[test]
fn ecn_capable_flows_are_marked_and_hardly_lose_anything() {
    for discipline in [
        "red = { min_th = 10, max_th = 30, ecn = true }",
        "codel = { ecn = true }",
        "pi = { target = 20, a = 0.0005, b = 0.00045, ecn = true }",
        "pie = { ecn = true }",
        "fq_codel = {}",
    ] {
        let queue = format!("{{ limit = 500, {discipline} }}");
        let result = simulate(DUMBBELL, &[("queue", &queue), ("tcp.ecn", "true")]);
        let measured = |quantity| mean(&result, "queues", "bottleneck", quantity);
        let (marks, drops) = (measured("mark_probability"), measured("drop_probability"));
        assert!(marks > 0.02, "{discipline}: {marks} marked");
        // PIE drops packets instead of marking them while its probability is 0.1 or more, so that some drops are
        // allowed
        let most = if discipline.starts_with("pie") {
            0.04
        } else {
            0.0
        };
        assert!(drops <= most, "{discipline}: {drops} dropped");
        assert!(mean(&result, "links", "bottleneck", "utilisation") > 0.97);
    }
}

#[test]
fn proportional_drops_lose_the_slope_times_the_queue() {
    let slope = 0.001;
    let table = [("queue", "500"), ("queue.proportional.slope", "0.001")];
    let result = simulate(DUMBBELL, &table);
    let measured = |quantity| mean(&result, "queues", "bottleneck", quantity);
    let expected = slope * measured("occupancy_packets");
    // packets arrive in bursts and find the queue longer than its time average, so that the ratio may exceed 1
    let ratio = measured("drop_probability") / expected;
    assert!((0.9..1.25).contains(&ratio), "{ratio}");
}

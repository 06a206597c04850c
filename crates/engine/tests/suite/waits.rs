//! Queueing delays of the datagrams of each flow, for each queue on their path.

use super::queues::{mean, simulate};

/// One flow with exponential gaps between packets, through two queues with service times of 12 ms and 6 ms per packet.
const WIRED: &str = r#"
duration = "200 s"
warmup = "20 s"
replications = 1
[link]
a-b = { from = "a", to = "b", rate = "1 Mbps", delay = "5 ms" }
b-c = { from = "b", to = "c", rate = "2 Mbps", delay = "10 ms", queue = 50 }
[flow.f]
from = "a"
to = "c"
udp = { rate = "800 kbps", packet = "1500 B", arrivals = "poisson" }
"#;

/// A call in both directions that competes with bulk flows.
const CELL: &str = r#"
duration = "12 s"
warmup = "2 s"
replications = 2
cell = { phy = "802.11g" }
wire = { rate = "20 Mbps", back_rate = "4 Mbps", delay = "10 ms" }
station.laptop = { upload = 2, download = 2 }
station.phone = { udp_up = "100 kbps", udp_down = { rate = "100 kbps", arrivals = "poisson" } }
"#;

fn wait(text: &str, settings: &[(&str, &str)], flow: &str, queue: &str) -> (f64, f64) {
    let result = simulate(text, settings);
    let wait = mean(&result, "waits", &format!("{flow} at {queue}"), "wait_s");
    (wait, mean(&result, "queues", queue, "sojourn_s"))
}

#[test]
fn with_a_single_flow_the_wait_is_that_of_the_queue() {
    for queue in [
        "20",
        "{ limit = 100, fq_codel = {} }",
        "{ limit = 100, codel = {} }",
        "{ dualpi2 = {} }",
    ] {
        let settings = [("link.a-b.queue", queue)];
        for link in ["a-b", "b-c"] {
            let (wait, sojourn) = wait(WIRED, &settings, "f", link);
            assert!(
                (wait - sojourn).abs() < 1e-12 && wait > 0.0,
                "{queue}: {wait} {sojourn}"
            );
        }
    }
    let cell = [("station.laptop", "{}")];
    for settings in [
        &cell[..],
        &[&cell[..], &[("cell.ap_queue", "{ fq_codel = {} }")]].concat(),
        &[
            &cell[..],
            &[
                ("cell.phy", "802.11n"),
                ("cell.ap_queue", "{ mac80211 = {} }"),
            ],
        ]
        .concat(),
    ] {
        for (flow, queue) in [("phone/udp-up/1", "phone"), ("phone/udp-down/1", "ap")] {
            let (wait, sojourn) = wait(CELL, settings, flow, queue);
            assert!(
                (wait - sojourn).abs() < 1e-9 && wait > 0.0,
                "{settings:?}: {wait} {sojourn}"
            );
        }
    }
}

#[test]
fn waits_and_propagation_add_up_to_the_one_way_delay() {
    let result = simulate(WIRED, &[]);
    let at = |link: &str| mean(&result, "waits", &format!("f at {link}"), "wait_s");
    let delay = mean(&result, "flows", "f", "one_way_delay_s");
    let parts = at("a-b") + at("b-c") + 0.015;
    // a few of the 12,000 packets are between the two queues at the beginning or the end of the measured time, so that
    // only one queue counts them
    assert!((parts / delay - 1.0).abs() < 2e-3, "{parts} {delay}");
}

#[test]
fn what_is_kept_for_a_sleeping_station_adds_to_the_delay_of_all_packets() {
    let settings = [
        ("station.laptop", "{}"),
        ("station.phone.power_save", "50 ms"),
    ];
    let result = simulate(CELL, &settings);
    let waits = ["wire/down", "power-save/phone", "ap"].map(|queue| {
        let name = format!("phone/udp-down/1 at {queue}");
        mean(&result, "waits", &name, "wait_s")
    });
    let delay = mean(&result, "flows", "phone/udp-down/1", "one_way_delay_s");
    let parts = waits.iter().sum::<f64>() + 0.010;
    assert!(
        (parts / delay - 1.0).abs() < 0.02 && waits[1] > 0.005,
        "{waits:?} {delay}"
    );
}

#[test]
fn each_flow_waits_in_the_queues_of_its_path_and_no_other() {
    for phy in ["802.11g", "802.11n"] {
        let result = simulate(CELL, &[("cell.phy", phy)]);
        let Some(items) = result.summary()["waits"].as_array() else {
            panic!("no waits");
        };
        let names: Vec<&str> = items
            .iter()
            .filter_map(|item| item["name"].as_str())
            .collect();
        let expected = [
            "phone/udp-up/1 at phone",
            "phone/udp-up/1 at wire/up",
            "phone/udp-down/1 at wire/down",
            "phone/udp-down/1 at ap",
        ];
        assert_eq!(names, expected);
        for (flow, queues) in [
            ("phone/udp-up/1", &items[..2]),
            ("phone/udp-down/1", &items[2..]),
        ] {
            let sum: f64 = queues
                .iter()
                .filter_map(|item| item["wait_s"]["mean"].as_f64())
                .sum();
            let delay = mean(&result, "flows", flow, "one_way_delay_s");
            // each wait is up to 0.2 ms longer than its part of the delay, because a frame leaves its queue only with
            // its MAC ACK
            let rest = sum + 0.010 - delay;
            assert!(
                rest.abs() < 4e-4 + 0.01 * delay,
                "{phy}, {flow}: {sum} of {delay}"
            );
        }
    }
}

#[test]
fn on_a_conflict_graph_a_flow_waits_at_each_link() {
    let text = r#"
duration = "20 s"
warmup = "2 s"
replications = 1
[csma.link]
1 = { conflicts = ["2"] }
2 = {}
[flow]
far = { route = ["1", "2"], udp = { rate = "300 kbps", arrivals = "poisson" } }
"#;
    for link in ["1", "2"] {
        let (wait, sojourn) = wait(text, &[], "far", link);
        assert!(
            (wait - sojourn).abs() < 1e-12 && wait > 0.0,
            "{wait} {sojourn}"
        );
    }
}

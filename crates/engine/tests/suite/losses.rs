//! Effect on the TCP window if a link loses every N-th segment.

use crate::queues::{mean, simulate};

/// One TCP connection with a round-trip time of 100 ms, without a queue.
const PATH: &str = r#"
duration = "400 s"
warmup = "100 s"
replications = 1
tcp = { congestion = "reno", window = 10_000, delayed_ack = false }
link.path = { from = "a", to = "b", delay = "50 ms" }
flow.one = { from = "a", to = "b" }
"#;

/// Compares Reno with Mathis et al. (1997): if every N-th segment is lost, the window W grows from W/2 to W =
/// sqrt(8N/3) in W/2 round trips. Its average is 3/4 W.
#[test]
fn every_nth_segment_lost_gives_reno_the_sawtooth_of_mathis() {
    for n in [300, 1_000, 4_000] {
        let every = format!("{{ every = {n} }}");
        let result = simulate(PATH, &[("link.path.loss", &every)]);
        let goodput = mean(&result, "flows", "one", "goodput_bps");
        let window = goodput * 0.1 / (8.0 * 1_460.0);
        let largest = (8.0 * f64::from(n) / 3.0).sqrt();
        let published = 0.75 * largest;
        // A sawtooth lasts one round trip of recovery and W/2 round trips of growth, where W is the largest window.
        // Three values are rounded to whole packets and lose half a packet each: the window in use, the flight that is
        // halved, and the growth.
        let least = published / (1.0 + 2.0 / largest) - 1.5;
        assert!(
            (least..1.01 * published).contains(&window),
            "{n}: {window} instead of {published}"
        );
    }
}

/// A window of 416 packets fills the path of 50 Mb/s and 100 ms. Independent losses keep the window of Reno far below
/// this number. The test checks only that Westwood has a higher goodput than Reno.
#[test]
fn westwood_gets_more_than_newreno_of_a_long_fat_path_that_loses_packets() {
    let goodput = |congestion| {
        let fat = [
            ("duration", "100 s"),
            ("warmup", "20 s"),
            ("link.path.rate", "50 Mbps"),
            ("link.path.loss", "0.001"),
            ("tcp.congestion", congestion),
        ];
        mean(&simulate(PATH, &fat), "flows", "one", "goodput_bps")
    };
    let (westwood, newreno) = (goodput("westwood"), goodput("newreno"));
    assert!(westwood > newreno, "{westwood} beside {newreno}");
}

#[test]
fn a_bare_probability_is_the_table_with_it() {
    let loss = |value| {
        let result = simulate(PATH, &[("duration", "120 s"), ("link.path.loss", value)]);
        result.summary().clone()
    };
    assert_eq!(loss("0.01"), loss("{ probability = 0.01 }"));
    assert_ne!(loss("0.01"), loss("{ every = 100 }"));
}

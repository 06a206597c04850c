//! BBR over a link of known rate and delay: one flow, two flows, and a short queue with CUBIC.

use crate::queues::{mean, simulate};

/// Flows over a link of 20 Mb/s, or 1,667 packets per second, with a round-trip time of 50 ms and a
/// queue of two bandwidth-delay products (BDP), which is 83 packets.
const LINK: &str = r#"
duration = "60 s"
warmup = "15 s"
replications = 2
link.line = { from = "a", to = "b", rate = "20 Mbps", queue = 166 }
tcp = { congestion = "bbr", initial_window = 10, window = 2000 }
flow.one = { from = "a", to = "b", rtt = "50 ms" }
"#;

/// Payload of a packet divided by its length.
const PAYLOAD: f64 = 1460.0 / 1500.0;

/// The flow fills the link except in ProbeRtt, which takes T = 0.2 s plus one to two round trips per
/// 10 s + T, with 4 packets per round trip. With T = 0.275 s the goodput is 1 - T/(10 + T) (1 - 4/83)
/// = 97.5 % of 19.47 Mb/s, or 18.98 Mb/s. The window is at most 2 BDP + 8 in the network, so that the
/// queue has at most 83 + 8 packets after Startup, and nothing is lost.
#[test]
fn a_single_flow_has_the_rate_of_the_link_except_in_probe_rtt() {
    let result = simulate(LINK, &[]);
    let goodput = mean(&result, "flows", "one", "goodput_bps");
    let expected = 20e6 * PAYLOAD * (1.0 - 0.275 / 10.275 * (1.0 - 4.0 / 83.0));
    println!("{goodput:.0} of {expected:.0}");
    assert!((goodput / expected - 1.0).abs() < 0.01, "{goodput}");
    assert_eq!(mean(&result, "queues", "line", "drop_probability"), 0.0);
    let queue = mean(&result, "queues", "line", "occupancy_max_packets");
    assert!(queue <= 91.0, "{queue}");
}

/// With TSO, bursts have two segments at this rate. The goodput stays the same, and the mean queue is
/// longer by less than a segment and a half.
#[test]
fn bursts_of_two_segments_hardly_lengthen_the_queue() {
    let queue = |settings: &[_]| {
        let result = simulate(LINK, settings);
        mean(&result, "queues", "line", "occupancy_packets")
    };
    let (single, bursts) = (queue(&[]), queue(&[("tcp.tso", "true")]));
    println!("{single} and {bursts}");
    assert!(bursts > single && bursts - single < 1.5);
}

/// Two flows together fill the link. Each flow measures the bandwidth while the other drains, so that
/// both together have up to 2 BDP in flight, and the queue has about one BDP (between a quarter and
/// 5/4). In the long term both get the same rate, within a third.
#[test]
fn two_flows_share_the_link() {
    let result = simulate(
        LINK,
        &[
            ("flow.one.count", "2"),
            ("duration", "120 s"),
            ("warmup", "40 s"),
        ],
    );
    let goodputs: Vec<f64> = ["one-1", "one-2"]
        .iter()
        .map(|name| mean(&result, "flows", name, "goodput_bps"))
        .collect();
    println!("{goodputs:?}");
    let sum: f64 = goodputs.iter().sum();
    assert!(sum > 0.96 * 20e6 * PAYLOAD, "{sum}");
    for goodput in goodputs {
        assert!(
            (goodput / sum - 0.5).abs() < 1.0 / 6.0,
            "{goodput} of {sum}"
        );
    }
    let queue = mean(&result, "queues", "line", "occupancy_packets");
    assert!((83.0 / 4.0..83.0 * 1.25).contains(&queue), "{queue}");
}

/// With 1 % of loss on the link, BBR keeps its goodput, apart from the lost packets. CUBIC has
/// the goodput of its response function: sqrt(3/2p) MSS/RTT for Reno is 12.2 packets per round trip,
/// 2.9 Mb/s, and CUBIC at most half more.
#[test]
fn random_losses_do_not_slow_bbr() {
    let goodput = |congestion| {
        let settings = [
            ("link.line.loss", "0.01"),
            ("tcp.congestion", congestion),
            ("tcp.rack", "true"),
        ];
        mean(&simulate(LINK, &settings), "flows", "one", "goodput_bps")
    };
    let (bbr, cubic) = (goodput("bbr"), goodput("cubic"));
    println!("{bbr:.0} and {cubic:.0}");
    assert!(bbr > 0.95 * 20e6 * PAYLOAD, "{bbr}");
    assert!(cubic < 4.4e6, "{cubic}");
}

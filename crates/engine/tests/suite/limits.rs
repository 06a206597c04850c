//! Time in which a TCP flow is limited by its congestion window, its receive window, or its application.

use super::queues::{mean, simulate};

/// One flow over 100 Mb/s with a round-trip time of 100 ms, without losses. 833 packets fill the path.
const PATH: &str = r#"
duration = "20 s"
warmup = "0 s"
replications = 1
dumbbell = { flows = 1, access = "1 Gbps", bottleneck = "100 Mbps", rtt = "100 ms", start_spread = "0 s" }
queue = 2000
tcp = { congestion = "newreno", delayed_ack = false, initial_window = 2, handshake = false }
"#;

/// Returns the fractions of time in which cwnd, rwnd and the application limit flow `name`, in this order.
fn limits(text: &str, settings: &[(&str, &str)], name: &str) -> [f64; 3] {
    let result = simulate(text, settings);
    ["cwnd", "rwnd", "app"].map(|limit| {
        let quantity = format!("{limit}_limited_fraction");
        mean(&result, "flows", name, &quantity)
    })
}

#[test]
fn a_window_below_the_path_is_the_limit_once_slow_start_has_reached_it() {
    // The congestion window is 2, 4, 8 and 16 packets. The ACK of the 14th segment increases the window to 16, after
    // three round trips.
    let [cwnd, rwnd, app] = limits(PATH, &[("tcp.window", "16")], "flow-1");
    assert!((cwnd - 3.0 * 0.1 / 20.0).abs() < 2e-4, "{cwnd}");
    assert!((cwnd + rwnd - 1.0).abs() < 1e-12 && app == 0.0);
    // the result does not depend on the method of loss detection
    for rack in ["false", "true"] {
        let settings = [
            ("tcp.window", "16"),
            ("tcp.sack", "true"),
            ("tcp.rack", rack),
        ];
        assert_eq!(limits(PATH, &settings, "flow-1"), [cwnd, rwnd, app]);
    }
}

#[test]
fn a_window_above_path_and_queue_is_never_the_limit() {
    let large = [("tcp.window", "5000"), ("queue", "100")];
    for more in [&[][..], &[("tcp.sack", "true"), ("tcp.rack", "true")][..]] {
        let settings = [&large[..], more].concat();
        assert_eq!(limits(PATH, &settings, "flow-1"), [1.0, 0.0, 0.0]);
    }
}

#[test]
fn a_finite_flow_has_nothing_to_send_in_its_last_round_trip_and_no_limit_afterwards() {
    // The congestion window is 2, 4, 8, 16 and 32 packets: 62 segments in five round trips. In the last round trip the
    // sender only waits for ACKs.
    let text = r#"
duration = "20 s"
warmup = "0 s"
replications = 1
tcp = { congestion = "newreno", delayed_ack = false, initial_window = 2, handshake = false, window = 5000 }
link.a-b = { from = "a", to = "b", rate = "1 Gbps", delay = "50 ms" }
flow.f = { from = "a", to = "b", segments = 62 }
"#;
    let [cwnd, rwnd, app] = limits(text, &[], "f");
    assert!((cwnd - 0.4 / 20.0).abs() < 4e-4, "{cwnd}");
    assert!((app - 0.1 / 20.0).abs() < 4e-4, "{app}");
    assert_eq!(rwnd, 0.0);
}

#[test]
fn a_sensor_over_tcp_is_limited_by_its_application() {
    let text = r#"
duration = "60 s"
warmup = "1 s"
replications = 1
cell = { phy = "802.11b" }
wire = { delay = "10 ms" }
tcp.handshake = true
station.meter.sensor_up = { every = "2 s", transport = "tcp" }
"#;
    let [cwnd, rwnd, app] = limits(text, &[], "meter/sensor-up/1");
    assert_eq!([cwnd, rwnd], [0.0, 0.0]);
    assert!((app - 1.0).abs() < 1e-12, "{app}");
}

#[test]
fn a_handshake_belongs_to_no_limit() {
    let [cwnd, rwnd, app] = limits(PATH, &[("tcp.handshake", "true")], "flow-1");
    let sum = cwnd + rwnd + app;
    // no limit applies during the handshake, which takes one round trip: 0.1 s of 20 s
    assert!((1.0 - sum - 0.1 / 20.0).abs() < 2e-4, "{sum}");
}

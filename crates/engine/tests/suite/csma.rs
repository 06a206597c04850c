//! Networks with a conflict graph: cases worked by hand, and invariants. (`tests/validation` compares long runs with
//! the models.)

use std::ops::ControlFlow;

use crate::support::{add_flow, dot11b, greedy};
use lasthop_engine::scenario::{Direction, Format, Scenario, parse};
use lasthop_engine::{RunResult, run};
use serde_json::Value;

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{}\nin\n{text}", problems[0]),
    }
}

fn result(scenario: &Scenario, jobs: usize) -> RunResult {
    match run(scenario, jobs, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error}"),
    }
}

fn simulated(text: &str) -> RunResult {
    result(&scenario(text), 1)
}

/// Returns the mean of `quantity` for each item of a list, in the order of the list.
fn means(result: &RunResult, list: &str, quantity: &str) -> Vec<f64> {
    let Some(items) = result.summary()[list].as_array() else {
        panic!("no list {list}");
    };
    let mean = |item: &Value| match item[quantity]["mean"].as_f64() {
        Some(mean) => mean,
        None => panic!("no {quantity} in {item}"),
    };
    items.iter().map(mean).collect()
}

/// Returns a scenario of saturated links with packets of 1 ms. The arguments are settings for `[csma]`, and name and
/// settings of each link.
fn saturated(csma: &str, links: &[(&str, &str)]) -> String {
    let mut text = format!(
        "duration = \"20 s\"\nwarmup = \"1 s\"\nreplications = 2\n\
         udp = {{ packet = \"1000 B\", header = \"0 B\" }}\n\
         [csma]\naqm = false\nservice_rate = 1000\n{csma}\n"
    );
    for (name, settings) in links {
        text += &format!("[csma.link.{name}]\n{settings}\n");
        text += &format!("[flow.f{name}]\nroute = [\"{name}\"]\nudp = \"greedy\"\n");
    }
    text
}

#[test]
fn one_link_is_on_the_air_for_the_part_that_its_backoff_leaves() {
    // the times are constant: a backoff of exp(-beta r) = exp(-1) ms precedes each packet of 1 ms
    let text = saturated("beta = 100\nbackoff = \"constant\"", &[("a", "r = 0.01")]);
    let fraction = means(&simulated(&text), "links", "airtime_fraction")[0];
    let expected = 1.0 / (1.0 + libm::exp(-1.0));
    assert!(
        (fraction - expected).abs() < 1e-4,
        "{fraction} for {expected}"
    );
}

#[test]
fn an_interrupted_backoff_goes_on_where_it_stood() {
    // All times are constant: link a has a backoff of 0.25 ms before a packet of 1 ms, and link b
    // has a backoff of 1 ms. Link a sends four packets and link b sends one packet in each round of
    // 6 ms.
    let legacy = "access = \"legacy\"\nbackoff = \"constant\"\naccess_intensity = 4";
    let mut text = saturated(legacy, &[("a", "conflicts = [\"b\"]"), ("b", "")]);
    let [a, b] = means(&simulated(&text), "links", "airtime_fraction")[..] else {
        panic!("two links");
    };
    // Both links have the same backoff and send one packet each in a round of 0.25 + 2 ms.
    assert!(
        (a - b).abs() < 1e-3 && (a + b - 2.0 / 2.25).abs() < 1e-3,
        "{a} {b}"
    );
    text = text.replace(legacy, "backoff = \"constant\"").replace(
        "conflicts = [\"b\"]",
        "conflicts = [\"b\"]\nr = 0.006931471805599453", // exp(-beta r) = exp(-200 r) = 1/4
    );
    let [a, b] = means(
        &simulated(&text.replace("[csma.link.b]", "[csma.link.b]\nr = 0")),
        "links",
        "airtime_fraction",
    )[..] else {
        panic!("two links");
    };
    assert!(
        (a - 4.0 / 6.0).abs() < 1e-3 && (b - 1.0 / 6.0).abs() < 1e-3,
        "{a} {b}"
    );
}

#[test]
fn shorter_packets_take_less_time_down_to_the_overhead() {
    let text = saturated(
        "beta = 1e6\noverhead = \"0.4 ms\"",
        &[("a", "r = 1"), ("b", "r = 1")],
    );
    let text = text.replace(
        "route = [\"b\"]\nudp = \"greedy\"",
        "route = [\"b\"]\nudp = { rate = \"greedy\", packet = \"500 B\" }",
    );
    let goodput = means(&simulated(&text), "flows", "goodput_bps");
    // a packet of 1000 bytes takes 1 ms, and a packet of 500 bytes takes 0.7 ms; the backoff times are negligible
    assert!((goodput[0] / 8e6 - 1.0).abs() < 1e-3, "{goodput:?}");
    assert!(
        (goodput[1] / (4e3 / 0.7e-3) - 1.0).abs() < 1e-3,
        "{goodput:?}"
    );
}

#[test]
fn a_link_that_cannot_be_heard_destroys_what_it_disturbs() {
    let links = |disturbs| [("a", disturbs), ("b", "r = 0.05")];
    let csma = "beta = 100\nattempts = 1";
    let quiet = simulated(&saturated(csma, &links("r = 0.05")));
    let hidden = simulated(&saturated(csma, &links("r = 0.05\ndisturbs = [\"b\"]")));
    assert_eq!(means(&quiet, "links", "collision_rate"), [0.0, 0.0]);
    let [a, b] = means(&hidden, "links", "discard_probability")[..] else {
        panic!("two links");
    };
    assert!(
        a == 0.0 && b > 0.99,
        "{a} {b}: a is on the air nearly always"
    );
}

#[test]
fn channel_errors_cost_attempts() {
    let text = saturated("attempts = 3", &[("a", "error = 0.2")]);
    let result = simulated(&text);
    // with about 19,000 attempts, the standard deviation of the failure rate is 0.003
    let failed = means(&result, "links", "frame_failure_rate")[0];
    assert!((failed - 0.2).abs() < 0.012, "{failed}");
    let lost = means(&result, "flows", "loss_probability")[0];
    assert!((lost - 0.008).abs() < 0.003, "{lost}");
}

#[test]
fn dummy_packets_keep_an_idle_link_on_the_air() {
    let text = saturated("dummy = true\nbeta = 100", &[("a", "r = 0.05")]);
    let text = text.replace("udp = \"greedy\"", "udp = \"80 kbps\"");
    let result = simulated(&text);
    let [air, dummy] =
        ["airtime_fraction", "dummy_fraction"].map(|q| means(&result, "links", q)[0]);
    assert!(
        air > 0.99 && (dummy - (air - 0.01)).abs() < 0.001,
        "{air} {dummy}"
    );
}

/// A complete conflict graph is equivalent to one cell. The test compares five saturated stations with five links that
/// hear each other and have the frame times of the cell.
#[test]
fn the_dcf_on_a_complete_graph_is_that_of_a_cell() {
    let mut cell = dot11b(5, 40);
    cell.bss[0].cell.phy.eifs_rate_bps = 2_000_000; // EIFS contains a MAC ACK at 2 Mb/s, as in a conflict graph
    for node in cell.stations.iter_mut().map(|station| &mut station.node) {
        node.attempts_long = 7;
    }
    for station in 0..5 {
        add_flow(&mut cell, station, Direction::Up, greedy());
    }
    let cell = result(&cell, 1);
    // an exchange of 1472 + 28 bytes takes 1310.545 us for the data, SIFS, and 248 us for the MAC ACK
    let rate = 1.0 / (1_310.545e-6 + 10e-6 + 248e-6);
    let links: Vec<String> = ["a", "b", "c", "d", "e"].map(String::from).into();
    let mut text = format!(
        "duration = \"40 s\"\nwarmup = \"4 s\"\n[csma]\naccess = \"dcf\"\nservice_rate = {rate}\n"
    );
    for (k, name) in links.iter().enumerate() {
        let others: Vec<String> = links[k + 1..]
            .iter()
            .map(|link| format!("\"{link}\""))
            .collect();
        text += &format!("[csma.link.{name}]\n");
        if !others.is_empty() {
            text += &format!("conflicts = [{}]\n", others.join(", "));
        }
        text += &format!("[flow.f{name}]\nroute = [\"{name}\"]\nudp = \"greedy\"\n");
    }
    let graph = simulated(&text);
    let goodput = |result| means(result, "flows", "goodput_bps").iter().sum::<f64>();
    let rate = |result, list| means(result, list, "collision_rate").iter().sum::<f64>() / 5.0;
    let (there, here) = (goodput(&cell), goodput(&graph));
    // with about 20,000 exchanges per link, the accuracy is 0.5 %
    assert!(
        (here / there - 1.0).abs() < 0.01,
        "goodput {here} for {there}"
    );
    let (there, here) = (rate(&cell, "stations"), rate(&graph, "links"));
    // with about 23,000 attempts per link, of which a quarter collide, the standard deviation is 0.003
    assert!(
        (here - there).abs() < 0.015,
        "collisions {here} for {there}"
    );
}

#[test]
fn who_cannot_read_a_frame_waits_for_eifs_after_it() {
    // Without backoff, two links in conflict always begin simultaneously. With EIFS, the link that heard the other
    // link's frame waits longer and never sends.
    let windows = "access = \"dcf\"\ncwmin = 0\ncwmax = 0\nattempts = 1\n";
    let links = [("a", "conflicts = [\"b\"]"), ("b", "")];
    let late = |text: String| text.replace("[flow.fb]", "[flow.fb]\nstart = \"2 s\"");
    let without = late(saturated(windows, &links));
    let with = late(saturated(&format!("{windows}eifs = \"60 us\""), &links));
    let air = |text: &str| means(&simulated(text), "links", "airtime_fraction");
    let [a, b] = air(&without)[..] else {
        panic!("two links");
    };
    assert!(a > 0.9 && b > 0.8, "{a} {b}: they collide for ever");
    let [a, b] = air(&with)[..] else {
        panic!("two links");
    };
    assert!(
        a > 0.9 && b == 0.0,
        "{a} {b}: b finds the air taken after 50 us"
    );
}

#[test]
fn links_between_near_nodes_read_each_other() {
    let placed = |gap: u32| {
        format!(
            "duration = \"20 s\"\nreplications = 2\n\
             udp = {{ packet = \"1000 B\", header = \"0 B\" }}\n\
             [csma]\naccess = \"dcf\"\nservice_rate = 1000\neifs = \"364 us\"\n\
             [csma.node]\na = {{}}\nb = {{ x = \"9 m\" }}\nc = {{ x = \"{gap} m\" }}\n\
             d = {{ x = \"{} m\" }}\n\
             [csma.link]\none = {{ from = \"a\", to = \"b\" }}\n\
             two = {{ from = \"c\", to = \"d\" }}\n\
             [flow]\nf = {{ route = [\"one\"], udp = \"greedy\" }}\n\
             g = {{ route = [\"two\"], udp = \"greedy\" }}\n",
            gap + 9
        )
    };
    let used = |gap| -> f64 {
        means(&simulated(&placed(gap)), "links", "airtime_fraction")
            .iter()
            .sum()
    };
    let (near, far) = (used(200), used(700));
    // at 700 m a link senses the frames of the other link but cannot decode them; after such a
    // frame it waits EIFS, which is 314 us longer; half of the exchanges follow an exchange of the
    // other link
    assert!(near > 1.1 * far, "{near} {far}");
    assert_eq!(near, {
        let same = placed(700).replace("eifs = \"364 us\"", "eifs = \"50 us\"");
        means(&simulated(&same), "links", "airtime_fraction")
            .iter()
            .sum::<f64>()
    });
}

/// A network that combines all features of `[csma]`. Each run checks the conservation of packets.
const MIXED: &str = r#"
duration = "30 s"
warmup = "2 s"
replications = 2
tcp = { congestion = "reno", delayed_ack = false, mss = "1000 B", initial_rto = "3 s" }
[csma]
r_per_packet = 2e-4
connections_interval = "1 s"
[csma.link]
1 = { conflicts = ["2"], error = 0.05 }
2 = { conflicts = ["3", "4"] }
3 = { conflicts = ["4"], disturbs = ["1"] }
4 = {}
[link.wire]
from = "x"
to = "y"
rate = "2 Mbps"
delay = "5 ms"
queue = 10
loss = 0.01
[flow]
far = { route = ["1", "wire", "4"] }
near = { route = ["2"], start = "3 s", stop = "20 s" }
down = { route = ["wire", "3"] }
noise = { route = ["3"], udp = { rate = "300 kbps", arrivals = "poisson" } }
"#;

/// Settings that are accepted only with adaptive access.
const PRICES: &str = "r_per_packet = 2e-4\nconnections_interval = \"1 s\"\n";

#[test]
fn a_network_of_everything_keeps_its_laws_and_its_bytes() {
    let settings = [
        "",
        "acks = \"contend\"",
        "acks = \"contend\"\nqueue_unit = \"bytes\"\ndummy = true\nr_max = 0.01",
        "connections = \"utility\"\nfairness = 1\nrounding = \"nearest\"\nsmoothing = 0.5",
        "access = \"dcf\"\nqueue = 20",
        "access = \"legacy\"\ntransmission = \"exponential\"\nbackoff = \"uniform\"\nattempts = 2",
        "queue = 1\nbeta = 1e5",
    ];
    for setting in settings {
        let mut text = MIXED.replace("[csma]", &format!("[csma]\n{setting}"));
        if setting.contains("access") {
            text = text.replace(PRICES, "");
        }
        let scenario = scenario(&text);
        let (single, double) = (result(&scenario, 1), result(&scenario, 2));
        assert_eq!(single.samples_json(), double.samples_json(), "{setting}");
        let goodput = means(&single, "flows", "goodput_bps");
        // with dummy packets, the hidden node always sends, and the first flow loses seven of ten packets, so this flow
        // may have no goodput
        let starves = usize::from(setting.contains("dummy"));
        assert!(
            goodput.iter().skip(starves).all(|&bps| bps > 0.0),
            "{setting}: {goodput:?}"
        );
    }
}

#[test]
fn a_series_of_one_interval_has_the_round_trip_times_of_the_table() {
    let text = MIXED.replace("warmup = \"2 s\"", "warmup = \"0 s\"")
        + "[record]\nseries_interval = \"30 s\"";
    let mut scenario = scenario(&text);
    scenario.replications = 1;
    let run = result(&scenario, 1);
    let tracks = run.series.as_ref().map_or(&[][..], |series| &series.tracks);
    let in_series = |name: &str| {
        let mut own = tracks.iter().filter(|track| track.name == name);
        own.find(|track| track.quantity == "rtt_s")
            .map(|track| track.values.clone())
    };
    for item in run.summary()["flows"].as_array().into_iter().flatten() {
        let of_table = item["rtt_s"]["mean"].as_f64();
        let in_series = in_series(item["name"].as_str().unwrap_or_default());
        // both values are the same sum of round-trip times, divided by different operations: the last bits may differ
        let same = match (in_series.as_deref(), of_table) {
            (Some([sample]), Some(mean)) => (sample / mean - 1.0).abs() < 1e-15,
            (None, None) => true,
            _ => false,
        };
        assert!(same, "{in_series:?} {of_table:?}");
    }
    assert!(in_series("far").is_some() && in_series("noise").is_none());
}

#[test]
fn connections_are_opened_and_closed_and_counted() {
    let text = MIXED.replace("[csma]\nr_", "[csma]\nk = 60\nr_");
    let run =
        simulated(&text.replace("start = \"3 s\"", "start = \"3 s\", start_spread = \"0 s\""));
    let of = |quantity: &str| {
        let items = run.summary()["flows"].as_array();
        let near = items.and_then(|items| items.iter().find(|item| item["name"] == "near"));
        near.and_then(|near| near[quantity]["mean"].as_f64())
    };
    let opened = of("connections_opened").unwrap_or(0.0);
    assert!(opened > 2.0, "{opened}");
    assert_eq!(
        of("connections_closed"),
        Some(opened),
        "all are closed at its stop"
    );
    // The flow has at least one connection from 3 s to 20 s. The mean over a link also includes the time before 3 s and
    // after 20 s.
    let mean = of("connections").unwrap_or(0.0);
    assert!((1.0..opened).contains(&mean), "{mean}");
    let links = run.summary()["links"].as_array();
    let link = links.and_then(|links| links.iter().find(|link| link["name"] == "2"));
    let of_link = link.and_then(|link| link["connections"]["mean"].as_f64());
    let of_link = of_link.unwrap_or(0.0);
    assert!(
        (of_link / (mean * 17.0 / 28.0) - 1.0).abs() < 1e-12,
        "{of_link}"
    );
}

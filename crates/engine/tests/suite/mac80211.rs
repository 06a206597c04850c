//! The queue of a Linux access point (mac80211) in complete cells.

use std::ops::ControlFlow;

use lasthop_engine::RunResult;
use lasthop_engine::scenario::{Format, Scenario, parse};
use proptest::prelude::*;

fn scenario(text: &str) -> Scenario {
    parse(text, Format::Toml, "cell.toml", &[]).unwrap_or_else(|problem| panic!("{problem:?}"))
}

fn result(scenario: &Scenario) -> RunResult {
    lasthop_engine::run(scenario, 1, &|_| ControlFlow::Continue(())).expect("it runs")
}

/// Returns the mean of `quantity` for item `name` in a list of the summary.
fn value(result: &RunResult, table: &str, name: &str, quantity: &str) -> f64 {
    let items = result.summary()[table].as_array().expect("a table");
    let item = items.iter().find(|item| item["name"] == name);
    item.expect("an item")[quantity]["mean"]
        .as_f64()
        .expect("a value")
}

/// Simulates three saturated stations at HT20: two with two spatial streams, and one at the lowest rate.
fn three(queue: &str) -> RunResult {
    result(&scenario(&format!(
        r#"
duration = "3.5 s"
warmup = "0.5 s"
replications = 1
cell = {{ phy = "802.11n", streams = 2, ap_queue = {queue} }}
[station.fast]
count = 2
mcs = 7
udp_down = {{ rate = "120 Mbps", arrivals = "poisson" }}
[station.slow]
mcs = 0
streams = 1
udp_down = {{ rate = "120 Mbps", arrivals = "poisson" }}
[station.idle]
mcs = 7
udp_down = {{ rate = "16 kbps", packet = "100 B", arrivals = "poisson" }}
"#
    )))
}

fn shares(result: &RunResult) -> [f64; 3] {
    let of = |name| value(result, "stations", name, "airtime_fraction");
    let air = ["fast-1", "fast-2", "slow"].map(of);
    let sum: f64 = air.iter().sum();
    air.map(|airtime| airtime / sum)
}

#[test]
fn three_stations_have_a_third_of_the_air_each_and_behind_a_fifo_the_slow_one_has_most() {
    for queue in ["{ mac80211 = {} }", "{ mac80211 = { aql = false } }"] {
        let shares = shares(&three(queue));
        let far = shares.iter().any(|share| (share - 1.0 / 3.0).abs() > 0.02);
        assert!(!far, "{queue}: {shares:?}");
    }
    let [first, second, slow] = shares(&three("1000"));
    assert!(
        first < 0.1 && second < 0.1 && slow > 0.8,
        "{first} {second} {slow}"
    );
}

#[test]
fn a_device_that_holds_two_aggregates_sends_whole_ones() {
    let queue = "{ mac80211 = { aql = false, airtime_fairness = false } }, txop_limit = \"none\"";
    let result = three(queue);
    let of = |name| value(&result, "stations", name, "downlink_mpdus_per_ppdu");
    // an aggregate of at most 65,535 bytes contains 42 packets, and an aggregate of at most 5.484 ms at 6.5 Mb/s
    // contains 2 packets. Only the few aggregates that begin after the station was idle have fewer packets.
    assert!(
        of("fast-1") > 41.0 && of("slow") > 1.95,
        "{} {}",
        of("fast-1"),
        of("slow")
    );
}

#[test]
fn who_asks_for_little_hardly_waits() {
    let delay = |queue| {
        let quantity = "one_way_delay_p99_s";
        value(&three(queue), "flows", "idle/udp-down/1", quantity)
    };
    let [fair, exact, fifo] = [
        "{ mac80211 = {} }",
        "{ mac80211 = { aql = false } }",
        "1000",
    ]
    .map(delay);
    // a packet waits for the frames in the driver: with `exact` two aggregates, with `fair` up to 24 ms of air time
    assert!(
        exact < fair && exact < 0.02 && fair < 0.05,
        "{exact} {fair}"
    );
    assert!(fair < fifo / 10.0, "{fair} {fifo}");
}

/// Simulates a cell with one attempt per frame. Two categories of the access point have internal collisions.
fn given_up(queue: &str) -> RunResult {
    result(&scenario(&format!(
        r#"
duration = "4 s"
warmup = "0 s"
replications = 1
[cell]
phy = "802.11ac"
attempts_short = 1
attempts_long = 1
ap_queue = {queue}
[station.old]
phy = "802.11a"
rate = "6 Mbps"
udp_down = {{ rate = "3 Mbps", packet = "1472 B" }}
[station.other]
mcs = 7
udp_down = {{ rate = "200 Mbps", packet = "1472 B", category = "video" }}
"#
    )))
}

#[test]
fn packets_given_up_inside_the_node_leave_the_device_and_nobody_waits_for_them() {
    // the category contends once per packet, and the air time charged for a discarded packet is returned to the station
    let goodput = |queue| value(&given_up(queue), "stations", "old", "goodput_bps");
    let fifo = goodput("8192");
    for queue in [
        "{ mac80211 = {} }",
        "{ mac80211 = { aql_low = \"1 ms\", aql_high = \"1 ms\" } }",
        "{ mac80211 = { aql = false } }",
        "{ fq_codel = {} }",
    ] {
        let own = goodput(queue);
        assert!(own > 0.7 * fifo, "{queue}: {own} of {fifo}");
    }
}

/// Draws cells in which all packets arrive within 0.2 s.
fn cell() -> impl Strategy<Value = String> {
    let queue = (1..40_u32, 1..60_u32, any::<[bool; 4]>(), 10_000..60_000_u32);
    let stations = prop::collection::vec((0..6_u32, 0..3_u32, any::<[bool; 3]>()), 1..6);
    (queue, stations, 0..3_u32).prop_map(|(queue, stations, phy)| {
        let (flows, limit, [fair, aql, slow, ecn], memory) = queue;
        let phy = ["802.11n", "802.11ac", "802.11ax"][phy as usize];
        let mut text = format!(
            "duration = \"0.25 s\"\nwarmup = \"0.05 s\"\nreplications = 1\ntcp = {{ window = 60, ecn = {ecn} }}\n\
             [cell]\nphy = \"{phy}\"\naggregation = {{ mpdus = 16, attempts = 2, reorder_timeout = \"5 ms\" }}\n\
             ap_queue = {{ limit = {limit}, mac80211 = {{ flows = {flows}, memory = \"{memory} B\", target = \"1 ms\", \
             interval = \"5 ms\", airtime_fairness = {fair}, aql = {aql}, slow_stations = {slow}, ecn = {ecn} }} }}\n"
        );
        for (index, (mcs, errors, [sleeps, old, voice])) in stations.into_iter().enumerate() {
            let station = match old {
                true => "phy = \"802.11a\"\n".to_owned(),
                false => format!("mcs = {mcs}\n"),
            };
            let sleeps = if sleeps { "power_save = \"5 ms\"\n" } else { "" };
            let datagrams = match voice {
                true => "{ rate = \"2 Mbps\", category = \"voice\", packet = \"200 B\" }",
                false => "\"30 Mbps\"",
            };
            text += &format!(
                "[station.s{index}]\n{station}{sleeps}error_down = {}\ndownload = 2\nupload = 1\nudp_down = {datagrams}\n",
                f64::from(errors) * 0.3
            );
        }
        text
    })
}

/// Draws cells with one queue per contender, and with queue disciplines that drop packets at
/// dequeue.
fn other_disciplines() -> impl Strategy<Value = String> {
    let queues = [
        "codel = \"1 ms\"",
        "fq_codel = \"1 ms\"",
        "dualpi2 = \"1 ms\"",
    ];
    (cell(), 0..3_usize, 0..3_usize).prop_map(move |(text, ap, stations)| {
        let line =
            |key: &str, which: usize| format!("{key} = {{ limit = 40, {} }}\n", queues[which]);
        let lines = text.split_inclusive('\n');
        let lines = lines.map(|own| match own.starts_with("ap_queue") {
            true => line("ap_queue", ap) + &line("queue", stations),
            false => own.to_owned(),
        });
        lines.collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn nor_under_another_discipline_above_a_device(text in other_disciplines()) {
        result(&scenario(&text));
    }

    #[test]
    fn nothing_is_lost_or_made_in_random_cells(text in cell()) {
        // every run checks the conservation of packets
        let scenario = scenario(&text);
        let mut recorded = scenario.clone();
        recorded.record.frames = Some(10_000);
        let (first, second) = (result(&scenario), result(&recorded));
        prop_assert_eq!(first.summary_json(), second.summary_json());
    }
}

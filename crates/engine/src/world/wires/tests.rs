//! Compares simulations of networks with and without lookahead, and checks basic properties of
//! their results.

mod random;

use std::ops::ControlFlow;

use proptest::prelude::*;

use self::random::{hotspot, network};
use super::super::World;
use super::super::flow::FlowState;
use crate::kernel::time::{Span, Time};
use crate::measure::Measures;
use crate::record::Series;
use crate::replication::Running;
use crate::scenario::{
    Discipline, Format, QueueSetting, RedForm, RedSetting, RedWeight, Scenario, Transport, parse,
};
use crate::tcp::Sender;

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?} in {text}"),
    }
}

/// Whether lookahead is used, and where.
#[derive(Clone, Copy, PartialEq)]
enum Shortcut {
    None,
    /// Packets pass links with lookahead.
    Links,
    /// Packets pass links and endpoints with lookahead.
    Endpoints,
}

/// Returns the results and the number of events of a run.
fn measured(scenario: &Scenario, shortcut: Shortcut) -> (String, u64) {
    outcome(Running::of(
        world(scenario, shortcut),
        true,
        crate::Detail::Means,
    ))
}

/// Returns the results and the number of events of a run that halts after every `stride`. At each
/// halt, the next of the `limits` becomes the limit of all link queues.
fn stepped(scenario: &Scenario, shortcut: Shortcut, stride: Span, limits: &[u32]) -> (String, u64) {
    let world = world(scenario, shortcut);
    let mut run = Running::of(world, true, crate::Detail::Means).gated();
    let mut limits = limits.iter().cycle();
    let mut now = scenario.clone();
    for step in 1..=scenario.duration.0 / stride.0 {
        let halted = run.advance_until(Time::ZERO + stride * step, &mut |_| {
            ControlFlow::Continue(())
        });
        assert_eq!(halted, Ok(()));
        if let Some(&limit) = limits.next() {
            let mut other = now.clone();
            other.wire.queue.limit_packets = limit;
            other.wire.back_queue.limit_packets = limit;
            let links = other.links.iter_mut();
            links.for_each(|link| link.queue.limit_packets = limit);
            run.world_mut().change([&now, &other]);
            now = other;
        }
    }
    outcome(run)
}

/// Returns the results and the number of events of a run that halts at `at`. At the halt nothing is
/// changed.
fn halted(scenario: &Scenario, at: Time) -> (String, u64) {
    let world = world(scenario, Shortcut::Endpoints);
    let mut run = Running::of(world, true, crate::Detail::Means).gated();
    let halted = run.advance_until(at, &mut |_| ControlFlow::Continue(()));
    assert_eq!(halted, Ok(()));
    outcome(run)
}

fn world(scenario: &Scenario, shortcut: Shortcut) -> World<'_> {
    let mut world = match World::new(scenario, 0) {
        Ok(world) => world,
        Err(error) => panic!("{error}"),
    };
    match shortcut {
        Shortcut::None => world.hop_by_hop(),
        Shortcut::Links => world.network.wires.end_in_own_time(),
        Shortcut::Endpoints => {}
    }
    world
}

fn outcome(mut run: Running<'_>) -> (String, u64) {
    let ended = run.advance(&mut |_| ControlFlow::Continue(()));
    let replication = match ended.and_then(|()| run.finish()) {
        Ok(replication) => replication,
        Err(error) => panic!("{error}"),
    };
    let mut measures = replication.measures;
    let events = value(&measures, "totals", "run", "events") as u64;
    measures.lists.retain(|(list, _)| *list != "totals");
    let series = replication.series.map(|series| series.tracks);
    (format!("{measures:?} {series:?}"), events)
}

fn value(measures: &Measures, list: &str, item: &str, quantity: &str) -> f64 {
    let list = measures.lists.iter().find(|(name, _)| *name == list);
    let item = list.and_then(|(_, items)| items.iter().find(|entry| entry.name == item));
    let value = item.and_then(|item| item.values.iter().find(|(name, _)| *name == quantity));
    match value.and_then(|(_, value)| *value) {
        Some(value) => value,
        None => panic!("no {quantity} of {item:?}"),
    }
}

fn run(text: &str) -> Measures {
    measures(&scenario(text))
}

fn measures(scenario: &Scenario) -> Measures {
    let run = crate::replication::run_replication(scenario, 0, crate::Detail::Means, &mut |_| {
        ControlFlow::Continue(())
    });
    match run {
        Ok(replication) => replication.measures,
        Err(error) => panic!("{error}"),
    }
}

const DUMBBELL: &str = r#"
duration = "20 s"
warmup = "5 s"
queue = 40
dumbbell = { flows = 12, access = "2 Mbps", access_spread = 0.01, bottleneck = "20 Mbps", rtt = "40 ms" }
tcp = { congestion = "compound", window = 1000 }
record.series_interval = "10 ms"
"#;

#[test]
fn entering_ahead_of_time_saves_events_and_changes_nothing() {
    let scenario = scenario(DUMBBELL);
    let (with_lookahead, fewer) = measured(&scenario, Shortcut::Links);
    let (plain, more) = measured(&scenario, Shortcut::None);
    assert_eq!(with_lookahead, plain);
    assert!(fewer * 10 < more * 7, "{fewer} events against {more}");
}

/// Compares runs with and without lookahead of endpoints, in three networks. In these networks,
/// timers expire and windows are sampled more often than once per round trip. Time series are
/// recorded in one of the networks.
#[test]
fn endpoints_ahead_of_time_change_nothing_and_count_as_the_events_they_would_be() {
    for (queue, rtt, samples) in [(3, 10, false), (40, 40, true), (40, 300, false)] {
        let mut scenario = scenario(&DUMBBELL.replace("40 ms", &format!("{rtt} ms")));
        for flow in &mut scenario.flows {
            if let Transport::Tcp(tcp) = &mut flow.transport {
                tcp.delayed_ack = false;
                tcp.min_rto = Span(20_000_000);
            }
        }
        scenario.links[0].queue = QueueSetting::drop_tail(queue);
        scenario.record.utilisation_bin = Some(Span(30_000_000));
        if !samples {
            scenario.record.series_interval = None;
        }
        let mut world = World::new(&scenario, 0).expect("a dumbbell");
        let flow = world.network.wires.routes.lookahead(0);
        assert_eq!(flow, [true, true], "receivers and senders have lookahead");
        world.run_unwatched(Time::ZERO + scenario.duration);
        let timeouts = |flow: &FlowState| flow.sender().map_or(0, Sender::timeouts);
        assert!(
            world
                .network
                .flows
                .states()
                .iter()
                .map(timeouts)
                .sum::<u64>()
                > 10
        );
        let own_time = measured(&scenario, Shortcut::Links);
        assert_eq!(measured(&scenario, Shortcut::Endpoints), own_time);
    }
}

/// ACKs wait for the departures of a paced sender, and a SYN-ACK waits for the timer of the SYN, which
/// expires after 1 s. In the second network, the flow `cut` is stopped while its SYN-ACK waits.
#[test]
fn acks_that_wait_for_a_deadline_of_their_sender_change_nothing() {
    for (rtt, stop) in [("40 ms", "3.3 s"), ("1600 ms", "0.9 s")] {
        let flow = "access = \"2 Mbps\"\ndelayed_ack = false\ncongestion = \"bbr\"";
        let scenario = scenario(&format!(
            "duration = \"9 s\"\nwarmup = \"0.5 s\"\nqueue = 60\n\
             dumbbell = {{ bottleneck = \"5 Mbps\", rtt = \"{rtt}\", start_spread = \"0 s\", flows = 0 }}\n\
             [flow.bulk]\ncount = 2\n{flow}\n[flow.cut]\nstop = \"{stop}\"\n{flow}\n"
        ));
        let world = World::new(&scenario, 0).expect("a dumbbell");
        assert_eq!(world.network.wires.routes.lookahead(0), [true, true]);
        let own_time = measured(&scenario, Shortcut::Links);
        assert_eq!(measured(&scenario, Shortcut::Endpoints), own_time);
    }
}

#[test]
fn endpoints_have_lookahead_only_if_the_order_of_their_packets_is_known() {
    let cases = [
        // Each case: settings of the flows, and whether the receiver and the sender of the first flow
        // have lookahead.
        ("access = \"2 Mbps\"\ndelayed_ack = false", [true, true]),
        // a receiver with delayed ACKs has a timer, and therefore no lookahead
        ("access = \"2 Mbps\"", [false, true]),
        // hosts with the same delay: packets enter the bottleneck with lookahead, so that segments
        // do not wait for an event and senders have no lookahead
        ("delayed_ack = false", [true, false]),
        // the ACKs of this flow share a link with the ACKs of flow `other`, whose receiver has no
        // lookahead: the order of the ACKs on this link is not known in advance
        (
            "access = \"2 Mbps\"\ndelayed_ack = false\n[flow.other]",
            [false, true],
        ),
        ("udp = \"64 kbps\"", [false, false]),
        ("web = 3", [false, false]),
    ];
    for (settings, expected) in cases {
        let scenario = scenario(&format!(
            "duration = \"2 s\"\nwarmup = \"1 s\"\n\
             dumbbell = {{ bottleneck = \"20 Mbps\", rtt = \"40 ms\", flows = 0 }}\n\
             [flow.one]\n{settings}\n[flow.further]\n{}",
            settings.split("\n[").next().unwrap_or_default()
        ));
        let world = World::new(&scenario, 0).expect("a dumbbell");
        assert_eq!(
            world.network.wires.routes.lookahead(0),
            expected,
            "{settings}"
        );
    }
}

/// Without jitter, round-trip times that differ by less than a packet's transmission time decide
/// which flows find a drop-tail queue full. The difference in this test is 0.4 ms, two thirds of a
/// packet's transmission time at 20 Mb/s. With jitter, the difference has no effect: over 20
/// replications the flows of class `near` get 14.4 to 14.6 Mb/s with a standard deviation of 0.3
/// Mb/s. Without jitter these flows get 12.1 Mb/s with one of two round-trip times of the far
/// flows, and 16.8 Mb/s with the other round-trip time.
#[test]
fn jitter_undoes_phase_effects() {
    let gained = |jitter: &str| {
        let near = |far: &str| {
            let measures = run(&format!(
                r#"
duration = "60 s"
warmup = "10 s"
queue = 100
dumbbell = {{ bottleneck = "20 Mbps", jitter = "{jitter}" }}
tcp = {{ congestion = "cubic", window = 1000 }}
flow.near = {{ count = 5, rtt = "40 ms" }}
flow.far = {{ count = 5, rtt = "{far}" }}
"#
            ));
            value(&measures, "classes", "near", "goodput_bps")
        };
        near("120.4 ms") / near("120 ms") - 1.0
    };
    let (with, without) = (gained("packet"), gained("0 ms"));
    // 4 standard deviations of the ratio of two goodputs of 14.5 Mb/s, each with a standard
    // deviation of 0.3 Mb/s: 4 x 0.3 x sqrt(2) / 14.5
    assert!(
        with.abs() < 0.12 && without > 0.25,
        "{with} with, {without} without jitter"
    );
}

/// Calls over a link of 3 ms. The access links of hosts have a jitter, and in two cases also a rate
/// or a delay. The datagrams of a call are 20 ms apart, so that no datagram waits for an earlier
/// one.
#[test]
fn jitter_adds_its_setting_on_average() {
    let delay_s = |hosts: &str| {
        let measures = run(&format!(
            r#"
duration = "202 s"
warmup = "2 s"
link.way = {{ from = "a", to = "b", delay = "3 ms" }}
flow.call = {{ {hosts}count = 20, from = "a", to = "b", udp = {{ rate = "64 kbps", packet = "160 B" }} }}
"#
        ));
        value(&measures, "classes", "call", "one_way_delay_s")
    };
    for hosts in ["access = \"10 Mbps\", ", "rtt = \"40 ms\", ", ""] {
        let plain = delay_s(hosts);
        let late = delay_s(&format!("{hosts}jitter = \"4 ms\", "));
        // Each packet passes two jitters, each uniform between 0 and 4 ms. One jitter is drawn 200
        // x 20 times, so that the standard deviation of its mean is 4 ms / sqrt(12 x 4000) = 0.02
        // ms. The other jitter is drawn more often, so that its standard deviation is smaller. The
        // limit is five standard deviations.
        let added = late - plain;
        assert!((added - 4e-3).abs() < 1e-4, "{hosts}{added}");
    }
}

#[test]
fn a_flow_that_would_start_after_its_stop_never_does() {
    let measures = run(r#"
duration = "20 s"
warmup = "4 s"
dumbbell = { bottleneck = "10 Mbps", rtt = "10 ms", start_spread = "10 s" }
flow.call = { count = 8, udp = "64 kbps", stop = "3 s" }
flow.site = { web = 20, stop = "0.001 s" }
flow.bulk = { count = 4, stop = "3 s" }
"#);
    for class in ["call", "site", "bulk"] {
        assert_eq!(value(&measures, "classes", class, "goodput_bps"), 0.0);
    }
}

#[test]
fn a_finite_flow_that_was_stopped_is_unfinished() {
    let text = |stop: &str| {
        format!(
            "duration = \"20 s\"\nwarmup = \"2 s\"\n\
             dumbbell = {{ bottleneck = \"10 Mbps\", rtt = \"10 ms\" }}\n\
             flow.cut = {{ segments = 1000000, stop = \"5 s\" }}\n\
             flow.whole = {{ segments = 100, stop = \"{stop}\" }}\n"
        )
    };
    let measures = run(&text("15 s"));
    let of = |item, quantity| value(&measures, "classes", item, quantity);
    assert_eq!(of("cut", "unfinished"), 1.0);
    assert_eq!(of("whole", "unfinished"), 0.0);
    assert!(of("whole", "completion_s") < 2.0);
}

/// The class `done` has finished before the end of the warm-up, so that its fairness is not
/// defined.
#[test]
fn fairness_is_that_of_flows_that_last() {
    let measures = run(r#"
duration = "20 s"
warmup = "10 s"
queue = 100
dumbbell = { bottleneck = "10 Mbps", rtt = "10 ms" }
flow.done = { count = 4, segments = 100 }
flow.bulk = { count = 2, congestion = "cubic" }
"#);
    let of = |item: &str| {
        let list = measures.lists.iter().find(|(name, _)| *name == "classes");
        let item = list.and_then(|(_, items)| items.iter().find(|entry| entry.name == item));
        let values = item.map(|item| item.values.clone()).unwrap_or_default();
        let pick = move |quantity| {
            let value = values.iter().find(|(name, _)| *name == quantity);
            value.map(|(_, value)| *value)
        };
        ["jain", "starved_flows", "cwnd_packets"].map(pick)
    };
    assert_eq!(of("done"), [Some(None); 3]);
    assert!(
        of("bulk")
            .iter()
            .all(|value| matches!(value, Some(Some(_))))
    );
}

#[test]
fn series_of_a_network_have_no_cell() {
    let scenario = scenario(DUMBBELL);
    let world = World::new(&scenario, 0).expect("a dumbbell");
    let series = Series::new(&world, Span(10_000_000));
    let queues = series.tracks.iter().filter(|track| track.list == "queues");
    let names: Vec<&str> = queues.map(|track| track.name.as_str()).collect();
    assert_eq!(names, ["bottleneck", "bottleneck/back"]);
}

#[test]
fn a_class_has_the_delay_of_all_its_packets() {
    let measures = run(r#"
duration = "20 s"
warmup = "5 s"
queue = 40
dumbbell = { flows = 2, bottleneck = "20 Mbps", rtt = "40 ms", jitter = "packet" }
flow.call = { count = 3, udp = { rate = "64 kbps", packet = "160 B" } }
flow.file = { count = 2, segments = 100, start = "6 s" }
"#);
    let of = |item: &str, quantity| value(&measures, "classes", item, quantity);
    let each = |quantity| {
        let of_one = |k| value(&measures, "flows", &format!("call-{k}"), quantity);
        [1, 2, 3].map(of_one).iter().sum::<f64>() / 3.0
    };
    // the calls send at equal rates: their numbers of packets differ by at most one in 750, so that
    // the mean over all packets nearly equals the mean over the calls
    let (delay, mean) = (of("call", "one_way_delay_s"), each("one_way_delay_s"));
    assert!((delay / mean - 1.0).abs() < 1e-3, "{delay} and {mean}");
    assert!(delay > 0.02 && of("flow", "rtt_s") > 0.04);
    let (rate, longest) = (
        of("file", "transfer_rate_bps"),
        of("file", "completion_p95_s"),
    );
    assert!(rate > 100.0 * 1460.0 * 8.0 / longest, "{rate}");
    assert_eq!(of("file", "unfinished"), 0.0);
}

#[test]
fn a_full_bottleneck_delivers_its_rate() {
    let measures = run(DUMBBELL);
    let goodput = value(&measures, "classes", "flow", "goodput_bps");
    let payload_rate = 20e6 * 1460.0 / 1500.0;
    assert!(goodput > 0.97 * payload_rate, "{goodput}");
    let utilisation = value(&measures, "links", "bottleneck", "utilisation");
    // data delivered in the measured period may have left the bottleneck before this period: up to
    // 20 ms earlier, or longer if an earlier segment was missing
    let difference = goodput / payload_rate - utilisation;
    assert!(difference.abs() < 5e-3, "{difference}");
    assert!(value(&measures, "queues", "bottleneck", "occupancy_max_packets") <= 40.0);
}

#[test]
fn a_lone_segment_takes_the_round_trip_of_the_links() {
    // a segment of 1500 B passes the access link at 2 Mbps and the bottleneck at 20 Mbps, and an
    // ACK of 40 B returns over both links; the propagation delays sum to 40 ms
    let measures = run(r#"
duration = "10 s"
warmup = "0 s"
dumbbell = { flows = 1, access = "2 Mbps", bottleneck = "20 Mbps", rtt = "40 ms" }
tcp = { window = 1, delayed_ack = false }
"#);
    let rtt = value(&measures, "flows", "flow-1", "rtt_s");
    let bits = 8.0 * 1500.0;
    let back = 8.0 * 40.0;
    let expected = 0.04 + (bits + back) / 2e6 + (bits + back) / 20e6;
    assert!((rtt - expected).abs() < 1e-9, "{rtt} against {expected}");
}

#[test]
fn the_threshold_policy_is_a_small_drop_tail_queue() {
    let with = |setting: QueueSetting| {
        let mut scenario = scenario(DUMBBELL);
        scenario.links[0].queue = setting;
        measured(&scenario, Shortcut::Endpoints)
    };
    let threshold = QueueSetting {
        limit_packets: 1_000,
        discipline: Discipline::Threshold { packets: 15 },
    };
    assert_eq!(with(QueueSetting::drop_tail(15)), with(threshold));
}

/// Number of random networks. The number is smaller in debug builds; `make test-long PART=rust`
/// runs all networks.
const CASES: u32 = if cfg!(debug_assertions) { 50 } else { 200 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn entering_ahead_of_time_is_exact_in_any_network(scenario in network()) {
        let own_time = measured(&scenario, Shortcut::Links);
        prop_assert_eq!(&own_time.0, &measured(&scenario, Shortcut::None).0);
        prop_assert_eq!(own_time, measured(&scenario, Shortcut::Endpoints));
    }

    #[test]
    fn whoever_halts_and_changes_queues_finds_any_network_at_that_instant(scenario in network(), ms in 1..90_u64, limits in prop::collection::vec(1..60_u32, 1..5)) {
        let stride = Span(ms * 1_000_000);
        let with_lookahead = stepped(&scenario, Shortcut::Endpoints, stride, &[]);
        prop_assert_eq!(with_lookahead, measured(&scenario, Shortcut::Endpoints));
        let with_lookahead = stepped(&scenario, Shortcut::Endpoints, stride, &limits);
        prop_assert_eq!(with_lookahead.0, stepped(&scenario, Shortcut::None, stride, &limits).0);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn entering_ahead_of_time_is_exact_before_stations_that_sleep(scenario in hotspot()) {
        let own_time = measured(&scenario, Shortcut::Links);
        prop_assert_eq!(&own_time.0, &measured(&scenario, Shortcut::None).0);
        prop_assert_eq!(own_time, measured(&scenario, Shortcut::Endpoints));
    }

    #[test]
    fn whoever_halts_and_changes_queues_finds_any_hot_spot_at_that_instant(scenario in hotspot(), ms in 1..90_u64, limits in prop::collection::vec(1..60_u32, 1..5)) {
        let stride = Span(ms * 1_000_000);
        let with_lookahead = stepped(&scenario, Shortcut::Endpoints, stride, &[]);
        prop_assert_eq!(with_lookahead, measured(&scenario, Shortcut::Endpoints));
        let with_lookahead = stepped(&scenario, Shortcut::Endpoints, stride, &limits);
        prop_assert_eq!(with_lookahead.0, stepped(&scenario, Shortcut::None, stride, &limits).0);
    }
}

/// A single flow fills the access link of its host, so that the arrivals of its segments are known
/// seconds in advance. Therefore segments and ACKs wait in front of gates simultaneously.
#[test]
fn what_stands_in_front_of_several_gates_goes_on_in_its_order() {
    let scenario = scenario(
        r#"
duration = "3 s"
warmup = "400 ms"
tcp = { window = 1000, delayed_ack = false }
dumbbell = { flows = 1, access = "2 Mbps", bottleneck = "30 Mbps", rtt = "10 ms" }
"#,
    );
    let unbroken = measured(&scenario, Shortcut::Endpoints);
    for step in 0..120 {
        let at = Time::ZERO + Span(500_000_000 + 17_100_000 * step);
        assert_eq!(halted(&scenario, at), unbroken, "{at:?}");
    }
}

/// RED marks the segments of flows with ECN as often as it drops the segments of flows without ECN.
/// With ECN no segment is lost or retransmitted. The mean queue length is the same, and the link is
/// fully used in both cases.
#[test]
fn flows_with_ecn_are_slowed_by_marks_alone() {
    let text = r#"
duration = "60 s"
warmup = "10 s"
dumbbell = { flows = 10, access = "20 Mbps", access_spread = 0.01, bottleneck = "20 Mbps", rtt = "50 ms" }
tcp = { window = 1000, ecn = ECN }
"#;
    let red = Discipline::Red(RedSetting {
        form: RedForm::Ns2,
        min_th: 20.0,
        max_th: 60.0,
        max_p: 0.1,
        weight: RedWeight::Auto,
        gentle: true,
        wait: true,
        bytes: false,
        ecn: true,
        mean_packet_bytes: 1500,
    });
    let with = |ecn: &str| {
        let mut scenario = scenario(&text.replace("ECN", ecn));
        for link in scenario
            .links
            .iter_mut()
            .filter(|link| link.name == "bottleneck")
        {
            link.queue = QueueSetting {
                limit_packets: 1000,
                discipline: red.clone(),
            };
        }
        let measures = measures(&scenario);
        let of = |list, item, quantity| value(&measures, list, item, quantity);
        let again: f64 = (1..=10)
            .map(|k| value(&measures, "flows", &format!("flow-{k}"), "retransmissions"))
            .sum();
        let lost = of("classes", "flow", "loss_probability");
        let queue = of("queues", "bottleneck", "occupancy_packets");
        let busy = of("links", "bottleneck", "utilisation");
        (lost, again, queue, busy)
    };
    let (lost, again, queue, busy) = with("true");
    assert_eq!((lost, again), (0.0, 0.0));
    assert!(
        (15.0..60.0).contains(&queue) && busy > 0.97,
        "{queue}, {busy}"
    );
    let (lost, again, plain_queue, plain_busy) = with("false");
    assert!(lost > 1e-3 && again > 50.0, "{lost}, {again}");
    assert!(busy >= plain_busy - 0.01, "{busy}, {plain_busy}");
    assert!(
        (queue / plain_queue - 1.0).abs() < 0.3,
        "{queue}, {plain_queue}"
    );
}

/// Checks the size of a link, because every packet uses several links: a link must fit into one
/// cache line.
#[test]
fn a_link_takes_64_bytes() {
    assert_eq!(size_of::<super::WiredLink>(), 64);
}

use lasthop_engine::kernel::time::Span;
use lasthop_engine::live::{At, open};
use lasthop_engine::scenario::{Format, parse};

use super::*;
use crate::packets;
use crate::places::{FIRST_PORT, SERVER, SINKS, SOURCES, STATIONS};

mod ack_filter;

fn parsed(text: &str) -> Scenario {
    match parse(text, Format::Toml, "x.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?}"),
    }
}

fn scenario(rest: &str) -> Scenario {
    parsed(&format!(
        "duration = \"10 s\"\nwarmup = \"0 s\"\ncell = {{ phy = \"802.11b\" }}\n{rest}"
    ))
}

fn network(scenario: &Scenario) -> Network<'_> {
    match Network::new(scenario, scenario, &[]) {
        Ok(network) => network,
        Err(error) => panic!("{error}"),
    }
}

/// Returns a TCP packet of `bytes` between the server and station `node`, with the port of flow
/// `flow`.
fn tcp(from_server: bool, node: u32, flow: u16, bytes: u16) -> Vec<u8> {
    let (server, station) = ((SERVER, FIRST_PORT + flow), (STATIONS + node, 40_000));
    match from_server {
        true => packets::tcp(server, station, bytes),
        false => packets::tcp(station, server, bytes),
    }
}

/// Sends a packet from node `from` at time `at`.
fn send(network: &mut Network<'_>, at: u64, from: u32, bytes: &[u8]) {
    assert!(network.run_until(Time(at)).is_ok());
    network.send(from, bytes);
}

fn run(network: &mut Network<'_>, until: Time) -> Vec<Delivery> {
    let mut delivered = Vec::new();
    while network.due() <= until {
        let next = network.due() + Span(1);
        assert!(network.run_until(next).is_ok());
        delivered.extend(std::iter::from_fn(|| network.next_delivery(next)));
    }
    delivered
}

#[test]
fn packets_cross_the_air_to_the_station_they_are_for() {
    let scenario = scenario("[station.a]\ndownload = 1\n[station.b]\nupload = 1\n");
    let mut network = network(&scenario);
    let (down, up) = (tcp(true, 1, 0, 1500), tcp(false, 2, 1, 1500));
    send(&mut network, 0, 0, &down);
    send(&mut network, 0, 2, &up);
    let delivered = run(&mut network, Time(100_000_000));
    let mut seen: Vec<_> = delivered
        .iter()
        .map(|delivery| (delivery.node, &delivery.bytes))
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [(0, &up), (1, &down)]);
    // each packet needs DIFS, at most 31 slots of backoff, a preamble, and 1536 bytes at 11 Mb/s;
    // the two packets are sent one after the other
    let [first, second] = &delivered[..] else {
        panic!("two packets");
    };
    assert!((1_300_000..2_100_000).contains(&first.due.0), "{first:?}");
    assert!(second.due.0 > first.due.0 + 1_300_000);
    assert_eq!((network.lost, network.foreign), (0, 0));
}

#[test]
fn a_full_queue_loses_packets_and_forgets_their_bytes() {
    let scenario = scenario("[station.a]\ndownload = 1\n");
    let mut network = network(&scenario);
    for _ in 0..120 {
        send(&mut network, 0, 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut network, Time(1_000_000_000));
    assert_eq!((delivered.len(), network.lost), (100, 20));
    assert_eq!(network.free.len(), network.inside.len());
}

#[test]
fn packets_of_no_flow_are_counted_and_go_nowhere() {
    let scenario = scenario("[station.a]\ndownload = 1\n[station.b]\ndownload = 1\n");
    let mut network = network(&scenario);
    send(&mut network, 0, 0, &tcp(true, 1, 7, 1500)); // no flow has this port
    send(&mut network, 0, 0, &tcp(true, 2, 0, 1500)); // the flow belongs to another station
    send(&mut network, 0, 1, &tcp(false, 1, 1, 1500)); // the flow belongs to another sender
    send(&mut network, 0, 1, &[0x60; 40]);
    assert_eq!(network.foreign, 4);
    assert!(run(&mut network, Time(1_000_000_000)).is_empty());
}

#[test]
fn the_bottleneck_holds_packets_back_at_its_rate() {
    let scenario = scenario("[station.a]\ndownload = 1\n[vsb]\nrate = \"1 Mbps\"\n");
    let mut network = network(&scenario);
    run(&mut network, Time(1_000));
    for _ in 0..10 {
        send(&mut network, 1_000, 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut network, Time(1_000_000_000));
    let times: Vec<u64> = delivered.iter().map(|delivery| delivery.due.0).collect();
    assert_eq!(times.len(), 10);
    // each of the nine later packets follows 12 ms after the previous packet (1500 bytes at 1 Mb/s), 108 ms in total;
    // different backoffs change the sum slightly
    let spread = times[9] - times[0];
    assert!((107_000_000..109_000_000).contains(&spread), "{spread}");
}

#[test]
fn a_wire_takes_its_time_each_way() {
    let scenario = scenario("wire = { delay = \"20 ms\" }\n[station.a]\nupload = 1\n");
    let mut network = network(&scenario);
    send(&mut network, 0, 1, &tcp(false, 1, 0, 1500));
    send(&mut network, 0, 0, &tcp(true, 1, 0, 40));
    let delivered = run(&mut network, Time(1_000_000_000));
    let due: Vec<(u32, bool)> = delivered
        .iter()
        .map(|delivery| {
            (
                delivery.node,
                (20_000_000..25_000_000).contains(&delivery.due.0),
            )
        })
        .collect();
    assert_eq!(due.len(), 2);
    assert!(
        due.contains(&(0, true)) && due.contains(&(1, true)),
        "{delivered:?}"
    );
}

#[test]
fn a_wire_that_only_loses_takes_no_time_and_loses() {
    let scenario = scenario("wire = { loss = { every = 2 } }\n[station.a]\ndownload = 1\n");
    let mut network = network(&scenario);
    for _ in 0..10 {
        send(&mut network, 0, 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut network, Time(1_000_000_000));
    assert_eq!((delivered.len(), network.lost), (5, 5));
}

/// Tests the two settings of `vsb.udp`. Uplink datagrams take 12 ms each in a bottleneck of 1
/// Mbit/s. If they bypass the bottleneck, only the medium limits them.
#[test]
fn uplink_datagrams_pass_the_bottleneck_or_beside_it() {
    let spread_ms = |udp: &str| {
        let stations = "[station.a]\nudp_up = \"1 Mbps\"\n";
        let vsb = format!("[vsb]\nrate = \"1 Mbps\"\nudp = \"{udp}\"\n");
        let scenario = scenario(&format!("{stations}{vsb}"));
        let mut network = network(&scenario);
        run(&mut network, Time(1_000));
        let mut datagram = tcp(false, 1, 0, 1500);
        datagram[9] = 17;
        for _ in 0..10 {
            send(&mut network, 1_000, 1, &datagram);
        }
        let due: Vec<u64> = run(&mut network, Time(1_000_000_000))
            .iter()
            .map(|delivery| delivery.due.0)
            .collect();
        assert_eq!((due.len(), network.lost), (10, 0));
        (due[9] - due[0]) / 1_000_000
    };
    assert_eq!(spread_ms("both"), 9 * 12);
    // without the bottleneck, a frame of 1500 bytes at 11 Mbit/s takes about 2 ms with its backoff
    let spread = spread_ms("down");
    assert!((12..30).contains(&spread), "{spread}");
}

#[test]
fn a_packet_for_a_station_that_sleeps_leaves_at_the_beacon() {
    let scenario = scenario("[station.a]\ndownload = 1\npower_save = \"0 s\"\n");
    let mut network = network(&scenario);
    let mut delivered = Vec::new();
    for at in [10_000_000, 150_000_000] {
        delivered.extend(run(&mut network, Time(at)));
        send(&mut network, at, 0, &tcp(true, 1, 0, 1500));
    }
    delivered.extend(run(&mut network, Time(1_000_000_000)));
    let due: Vec<u64> = delivered.iter().map(|delivery| delivery.due.0).collect();
    let [first, second] = due[..] else {
        panic!("two packets");
    };
    let soon = |beacon: u64, at| (beacon + 1_000_000..beacon + 3_000_000).contains(&at);
    assert!(soon(102_400_000, first), "{first}");
    assert!(soon(204_800_000, second), "{second}");
}

#[test]
fn what_is_lost_of_what_is_kept_is_counted_and_its_bytes_are_forgotten() {
    let text = "[station.a]\ndownload = 1\npower_save = \"0 s\"\n";
    let scenario = scenario(text);
    let mut network = network(&scenario);
    for _ in 0..70 {
        send(&mut network, 5, 0, &tcp(true, 1, 0, 1500));
    }
    assert_eq!(network.lost, 6);
    let delivered = run(&mut network, Time(1_000_000_000));
    assert_eq!(delivered.len(), 64);
    assert_eq!(network.free.len(), network.inside.len());
}

#[test]
fn flows_between_wired_nodes_have_hosts_of_their_own() {
    let scenario = parsed(
        "duration = \"10 s\"\nwarmup = \"0 s\"\nqueue = 3\n\
         dumbbell = { flows = 2, bottleneck = \"12 Mbps\", delay = \"10 ms\" }\n",
    );
    let mut network = network(&scenario);
    assert_eq!(network.nodes(), 3);
    let hosts = |flow: u16| {
        let place = u32::from(flow) + 1;
        (
            (SOURCES + place, 40_000),
            (SINKS + place, FIRST_PORT + flow),
        )
    };
    let (source, sink) = hosts(1);
    let (data, ack) = (
        packets::tcp(source, sink, 1500),
        packets::tcp(sink, source, 40),
    );
    for _ in 0..5 {
        send(&mut network, 1_000_000, 1, &data);
    }
    send(&mut network, 1_000_000, 2, &ack);
    // three packets without a flow: a wrong source node, a wrong destination, a wrong port
    send(&mut network, 1_000_000, 2, &data);
    send(
        &mut network,
        1_000_000,
        1,
        &packets::tcp(source, hosts(0).1, 1500),
    );
    send(
        &mut network,
        1_000_000,
        1,
        &packets::tcp(source, (sink.0, 9), 1500),
    );
    let seen: Vec<(u64, u32)> = run(&mut network, Time(1_000_000_000))
        .iter()
        .map(|delivery| (delivery.due.0 / 1_000_000, delivery.node))
        .collect();
    // 10 ms of propagation and 1 ms of service per packet. One packet is in service and two are in
    // the queue; two packets are lost. The ACK takes the opposite path.
    assert_eq!(seen, [(11, 1), (12, 2), (13, 2), (14, 2)]);
    assert_eq!((network.lost, network.foreign), (2, 3));
}

#[test]
fn a_queue_that_marks_marks_the_packet_itself() {
    let scenario = parsed(
        "duration = \"10 s\"\nwarmup = \"0 s\"\n\
         queue = { limit = 50, red = { min_th = 1, max_th = 20, max_p = 1, weight = 1, ecn = true } }\n\
         dumbbell = { flows = 1, bottleneck = \"12 Mbps\", delay = \"10 ms\" }\n",
    );
    let mut network = network(&scenario);
    let mut data = packets::tcp((SOURCES + 1, 40_000), (SINKS + 1, FIRST_PORT), 1500);
    data[1] = 0b10;
    for _ in 0..15 {
        send(&mut network, 1_000_000, 1, &data);
    }
    let seen = run(&mut network, Time(1_000_000_000));
    let marked = seen
        .iter()
        .filter(|delivery| delivery.bytes[1] == 0b11)
        .count();
    assert!(
        marked > 0 && marked < seen.len(),
        "{marked} of {}",
        seen.len()
    );
}

#[test]
fn users_of_a_conflict_graph_are_flows_between_wired_nodes() {
    let own = parsed(
        "duration = \"4 s\"\nwarmup = \"0 s\"\n\
         csma.link.1 = { conflicts = [\"2\"] }\ncsma.link.2 = {}\n\
         flow.a.route = [\"1\"]\nflow.b.route = [\"2\"]\n",
    );
    let mut network = network(&own);
    let (source, sink) = ((SOURCES + 2, 40_000), (SINKS + 2, FIRST_PORT + 1));
    let (segment, ack) = (
        packets::tcp(source, sink, 1500),
        packets::tcp(sink, source, 40),
    );
    send(&mut network, 0, 1, &segment);
    send(&mut network, 0, 2, &ack);
    let delivered = run(&mut network, Time(100_000_000));
    let nodes: Vec<_> = delivered
        .iter()
        .map(|delivery| (delivery.node, delivery.bytes.len()))
        .collect();
    // with ACK priority, ACKs use no air time, so the ACK arrives before the segment
    assert_eq!(nodes, [(1, 40), (2, 1500)]);
    assert_eq!(
        (network.lost, network.foreign, network.carried()),
        (0, 0, 2)
    );
    assert_eq!(network.flows_told(), 2);
}

#[test]
fn pings_belong_to_their_flow_and_programs_pings_do_not() {
    let scenario = scenario("[station.a]\nping = \"1 s\"\nupload = 1\n");
    let mut network = network(&scenario);
    // flow 0 is the upload, and flow 1 the pings
    let request = packets::echo(STATIONS + 1, SERVER, true, FIRST_PORT + 1);
    let reply = packets::echo(SERVER, STATIONS + 1, false, FIRST_PORT + 1);
    send(&mut network, 0, 1, &request);
    send(&mut network, 0, 0, &reply);
    for identifier in [FIRST_PORT, FIRST_PORT + 2, 1] {
        let other = packets::echo(STATIONS + 1, SERVER, true, identifier);
        send(&mut network, 0, 1, &other);
    }
    let delivered = run(&mut network, Time(100_000_000));
    let mut seen: Vec<_> = delivered
        .iter()
        .map(|delivery| (delivery.node, &delivery.bytes))
        .collect();
    seen.sort_unstable();
    assert_eq!(seen, [(0, &request), (1, &reply)]);
    assert_eq!((network.lost, network.foreign), (0, 3));
}

mod programs;

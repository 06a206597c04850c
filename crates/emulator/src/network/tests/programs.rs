//! Tests of packets of programs: their flows, their nodes, and packets that leave the scenario.

use super::*;

#[test]
fn packets_of_programs_are_told_by_connection() {
    let scenario = scenario("wire = { delay = \"10 ms\" }\n[station.a]\n[station.b]\nupload = 1\n");
    let places = [Place {
        name: "a".into(),
        at: At::Station(0),
    }];
    let opened = open(&scenario, &places);
    let Ok(mut network) = Network::new(&scenario, &opened, &places) else {
        panic!("ten seconds")
    };
    network.begin_to_measure();
    let (station, server) = ((STATIONS + 1, 999), (SERVER, 80));
    let mut ping = packets::tcp(station, server, 84);
    ping[9] = 1;
    for packet in [
        packets::tcp(station, server, 1500),
        packets::tcp(station, server, 1040),
        packets::tcp(station, (SERVER, 81), 140),
        ping,
    ] {
        send(&mut network, 1_000_000, 1, &packet);
    }
    // a pure ACK belongs to the connection that it acknowledges
    let mut ack = packets::tcp(server, station, 40);
    ack[33] = 0x10;
    send(&mut network, 1_000_000, 0, &ack);
    // two packets without a flow: from one station to another, and from a station without a program
    let (to_b, of_b) = ((STATIONS + 2, 5), (STATIONS + 2, 6));
    send(&mut network, 1_000_000, 1, &packets::tcp(station, to_b, 40));
    send(&mut network, 1_000_000, 2, &packets::tcp(of_b, server, 40));
    let delivered = run(&mut network, Time(1_000_000_000));
    assert_eq!((delivered.len(), network.lost, network.foreign), (5, 0, 2));
    assert!(delivered.iter().all(|delivery| delivery.due.0 > 11_000_000));
    let rows: Vec<(String, String, bool, u64, u64)> = network
        .of_programs()
        .iter()
        .map(|row| {
            let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
            let count = |key: &str| row[key].as_u64().unwrap_or_default();
            let leaves = row["leaves"] == true;
            (
                text("own"),
                text("other"),
                leaves,
                count("sent"),
                count("payload_bytes"),
            )
        })
        .collect();
    let of = |own: &str, other: &str, leaves, sent, bytes| {
        (own.to_owned(), other.to_owned(), leaves, sent, bytes)
    };
    assert_eq!(
        rows,
        [
            of("10.0.0.1:999", "10.255.0.1:80", true, 2, 2460),
            of("10.0.0.1:999", "10.255.0.1:80", false, 1, 0),
            of("10.0.0.1:999", "10.255.0.1:81", true, 1, 100),
            of("10.0.0.1", "10.255.0.1", true, 1, 64),
        ]
    );
    let lists = network.measures().map(|measures| measures.lists);
    let Ok(lists) = lists else {
        panic!("every packet is accounted for")
    };
    assert_eq!(lists[0].0, "flows");
}

#[test]
fn programs_at_hosts_of_a_flow_have_nodes_of_their_own() {
    let scenario = parsed(
        "duration = \"10 s\"\nwarmup = \"0 s\"\n\
         dumbbell = { flows = 2, bottleneck = \"12 Mbps\", delay = \"10 ms\" }\n",
    );
    let places = [Place {
        name: "flow-2".into(),
        at: At::Source(1),
    }];
    let opened = open(&scenario, &places);
    let Ok(mut network) = Network::new(&scenario, &opened, &places) else {
        panic!("ten seconds")
    };
    assert_eq!(network.nodes(), 5);
    let (source, sink) = ((SOURCES + 2, 7), (SINKS + 2, 80));
    send(
        &mut network,
        1_000_000,
        3,
        &packets::tcp(source, sink, 1500),
    );
    send(
        &mut network,
        1_000_000,
        4,
        &packets::tcp(sink, source, 1500),
    );
    send(
        &mut network,
        1_000_000,
        1,
        &packets::tcp(source, sink, 1500),
    ); // wrong source node
    let nodes: Vec<(u32, u64)> = run(&mut network, Time(1_000_000_000))
        .iter()
        .map(|delivery| (delivery.node, delivery.due.0 / 1_000_000))
        .collect();
    assert_eq!((nodes, network.foreign), (vec![(4, 12), (3, 12)], 1));
}

const OUTSIDE: (u32, u16) = (0xC000_0209, 443);

#[test]
fn what_leaves_the_scenario_crosses_the_air_to_the_outside_and_its_answers_come_back() {
    let scenario = scenario("[station.a]\n[station.b]\nupload = 1\n");
    let place = |name: &str, station| Place {
        name: name.into(),
        at: At::Station(station),
    };
    let places = [place("a", 0)];
    let opened = open(&scenario, &places);
    let Ok(mut network) = Network::new(&scenario, &opened, &places) else {
        panic!("ten seconds")
    };
    let (here, server) = ((STATIONS + 1, 999), (SERVER, 80));
    let out = packets::tcp(here, OUTSIDE, 1500);
    send(&mut network, 1_000_000, 1, &out);
    assert_eq!(network.foreign, 1); // the network has no outside yet
    network.open_outside(&[0]);
    assert_eq!(network.nodes(), 4);
    let answer = packets::tcp(OUTSIDE, here, 140);
    send(&mut network, 1_000_000, 1, &out);
    send(&mut network, 1_000_000, 3, &answer);
    // packets between the servers and the outside bypass the network, because the servers are
    // neighbours of the outside
    send(
        &mut network,
        1_000_000,
        0,
        &packets::tcp(server, OUTSIDE, 40),
    );
    send(
        &mut network,
        1_000_000,
        3,
        &packets::tcp(OUTSIDE, server, 40),
    );
    // four packets without a flow: from a station without a program, from two wrong nodes, and to a
    // multicast address
    let of_b = packets::tcp((STATIONS + 2, 6), OUTSIDE, 40);
    send(&mut network, 1_000_000, 2, &of_b);
    send(&mut network, 1_000_000, 3, &packets::tcp(here, server, 40));
    send(
        &mut network,
        1_000_000,
        1,
        &packets::tcp(OUTSIDE, server, 40),
    );
    let group = packets::tcp(here, (0xE000_00FB, 5353), 40);
    send(&mut network, 1_000_000, 1, &group);
    assert_eq!(network.foreign, 5);
    let mut seen: Vec<(u32, usize, bool)> = run(&mut network, Time(1_000_000_000))
        .iter()
        .map(|delivery| {
            (
                delivery.node,
                delivery.bytes.len(),
                delivery.due.0 > 1_000_000,
            )
        })
        .collect();
    seen.sort_unstable();
    let expected = [
        (0, 40, false),
        (1, 140, true),
        (3, 40, false),
        (3, 1500, true),
    ];
    assert_eq!(seen, expected);
    let rows = network.of_programs();
    let ends = |row: &Value| format!("{} {} {}", row["own"], row["other"], row["leaves"]);
    assert_eq!(
        rows.iter().map(ends).collect::<Vec<_>>(),
        [
            r#""10.0.0.1:999" "192.0.2.9:443" true"#,
            r#""10.0.0.1:999" "192.0.2.9:443" false"#
        ]
    );
}

#[test]
fn from_an_end_of_a_wired_flow_the_outside_is_behind_the_other_end() {
    let scenario = parsed(
        "duration = \"10 s\"\nwarmup = \"0 s\"\n\
         dumbbell = { flows = 1, bottleneck = \"12 Mbps\", delay = \"10 ms\" }\n",
    );
    let places = [Place {
        name: "flow-1".into(),
        at: At::Source(0),
    }];
    let opened = open(&scenario, &places);
    let (source, sink) = ((SOURCES + 1, 7), (SINKS + 1, 8));
    let delays = |neighbours: &[u32]| {
        let Ok(mut network) = Network::new(&scenario, &opened, &places) else {
            panic!("ten seconds")
        };
        network.open_outside(neighbours);
        send(&mut network, 0, 3, &packets::tcp(source, OUTSIDE, 1500));
        send(&mut network, 0, 4, &packets::tcp(sink, OUTSIDE, 1500));
        send(&mut network, 0, 5, &packets::tcp(OUTSIDE, sink, 1500));
        let delivered = run(&mut network, Time(1_000_000_000));
        let mut seen: Vec<(u32, u64)> = delivered
            .iter()
            .map(|delivery| (delivery.node, delivery.due.0 / 1_000_000))
            .collect();
        seen.sort_unstable();
        (seen, network.foreign)
    };
    // a delay is 10 ms of propagation and 1 ms of service on the link (2 ms for the second packet in
    // the same direction)
    assert_eq!(delays(&[0]), (vec![(4, 12), (5, 11), (5, 11)], 0));
    assert_eq!(delays(&[0, 4]), (vec![(4, 0), (5, 0), (5, 11)], 0));
}

#[test]
fn connections_of_the_web_go_by_flows_of_their_own_both_ways() {
    let own = parsed(
        "duration = \"4 s\"\nwarmup = \"0 s\"\n\
         dumbbell = { bottleneck = \"20 Mbps\", delay = \"10 ms\" }\n\
         flow = { bulk = {}, users = { web = 10 } }\n",
    );
    let opened = open(&own, &[]);
    let Ok(mut network) = Network::new(&own, &opened, &[]) else {
        panic!("four seconds");
    };
    let server = (SOURCES + 2, FIRST_PORT + 1);
    let client = (SINKS + 2, 40_001);
    let (sources, sinks) = (1, 2);
    // a request, whose first byte follows the addresses, and the ACK of the request
    let request = packets::tcp(client, server, 400);
    let mut ack = packets::tcp(server, client, 40);
    ack[33] = 0x10;
    let number = usize::from(client.1);
    for (from, bytes, leaves, kind) in [
        (sinks, &request, false, PacketKind::Segment),
        (sources, &ack, false, PacketKind::Ack),
        (
            sources,
            &packets::tcp(server, client, 1500),
            true,
            PacketKind::Segment,
        ),
    ] {
        let read = network
            .read(from, bytes)
            .map(|(sent, to, _)| (sent.flow, sent.kind, to));
        let flow = flow_of(&own, 0, Carrier::Tcp, number, leaves);
        assert_eq!(read, Some((flow, kind, sources + sinks - from)));
    }
    // packets without a flow: from the node of the other host, and to another port
    assert!(network.read(sources, &request).is_none());
    let other = packets::tcp(client, (SOURCES + 2, FIRST_PORT), 400);
    assert!(network.read(sinks, &other).is_none());
    send(&mut network, 0, sinks, &request);
    let delivered = run(&mut network, Time(100_000_000));
    assert_eq!(delivered.len(), 1);
    assert_eq!(
        (delivered[0].node, &delivered[0].bytes),
        (sources, &request)
    );
    assert_eq!(network.flows_told(), 1);
    assert!(network.measures().is_ok());
}

use lasthop_engine::packet::Ecn;
use lasthop_engine::scenario::{Format, parse};

use super::*;
use crate::ip::{FIRST_PORT, SERVER};

fn scenario(rest: &str) -> Scenario {
    let text = format!("duration = \"10 s\"\ncell = {{ phy = \"802.11b\" }}\n{rest}");
    match parse(&text, Format::Toml, "x.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?}"),
    }
}

/// A TCP packet of `bytes` between the server and station number `node`, of flow number `flow`.
fn tcp(from_server: bool, node: u32, flow: u16, bytes: u16) -> Vec<u8> {
    let mut packet = ip::ping(node, 0, bytes);
    let (server, station) = (SERVER.to_be_bytes(), (STATIONS + node).to_be_bytes());
    let (from, to) = if from_server {
        (server, station)
    } else {
        (station, server)
    };
    packet[9] = 6;
    packet[12..16].copy_from_slice(&from);
    packet[16..20].copy_from_slice(&to);
    let port = if from_server { 20 } else { 22 };
    packet[port..port + 2].copy_from_slice(&(FIRST_PORT + flow).to_be_bytes());
    packet
}

fn run(hotspot: &mut Hotspot<'_>, until: Time) -> Vec<Delivery> {
    let mut delivered = Vec::new();
    while hotspot.deadline() <= until {
        hotspot.advance();
        delivered.extend(hotspot.deliveries());
    }
    delivered
}

#[test]
fn packets_cross_the_air_to_the_station_they_are_for() {
    let scenario = scenario("[station.a]\ndownload = 1\n[station.b]\nupload = 1\n");
    let mut hotspot = Hotspot::new(&scenario);
    let (down, up) = (tcp(true, 1, 0, 1500), tcp(false, 2, 1, 1500));
    hotspot.send(Time(0), 0, &down);
    hotspot.send(Time(0), 2, &up);
    let delivered = run(&mut hotspot, Time(100_000_000));
    let mut seen: Vec<_> = delivered.iter().map(|one| (one.node, &one.bytes)).collect();
    seen.sort_unstable();
    assert_eq!(seen, [(0, &up), (1, &down)]);
    // DIFS, at most 31 slots of backoff, 1536 bytes at 11 Mb/s behind the preamble: one after the other
    let [first, second] = &delivered[..] else {
        panic!("two packets");
    };
    assert!((1_300_000..2_100_000).contains(&first.due.0), "{first:?}");
    assert!(second.due.0 > first.due.0 + 1_300_000);
    assert_eq!((hotspot.lost, hotspot.foreign), (0, 0));
}

#[test]
fn a_full_queue_loses_packets_and_forgets_their_bytes() {
    let scenario = scenario("[station.a]\ndownload = 1\n");
    let mut hotspot = Hotspot::new(&scenario);
    for _ in 0..120 {
        hotspot.send(Time(0), 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut hotspot, Time(1_000_000_000));
    assert_eq!((delivered.len(), hotspot.lost), (100, 20));
    assert_eq!(hotspot.free.len(), hotspot.bytes.len());
}

#[test]
fn packets_of_no_flow_are_counted_and_go_nowhere() {
    let scenario = scenario("[station.a]\ndownload = 1\n[station.b]\ndownload = 1\n");
    let mut hotspot = Hotspot::new(&scenario);
    hotspot.send(Time(0), 0, &tcp(true, 1, 7, 1500)); // no such flow
    hotspot.send(Time(0), 0, &tcp(true, 2, 0, 1500)); // not its station
    hotspot.send(Time(0), 1, &tcp(false, 1, 1, 1500)); // not its sender
    hotspot.send(Time(0), 1, &[0x60; 40]);
    assert_eq!(hotspot.foreign, 4);
    assert!(run(&mut hotspot, Time(1_000_000_000)).is_empty());
}

#[test]
fn the_bottleneck_holds_packets_back_at_its_rate() {
    let scenario = scenario("[station.a]\ndownload = 1\n[vsb]\nrate = \"1 Mbps\"\n");
    let mut hotspot = Hotspot::new(&scenario);
    run(&mut hotspot, Time(1_000));
    for _ in 0..10 {
        hotspot.send(Time(1_000), 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut hotspot, Time(1_000_000_000));
    let times: Vec<u64> = delivered.iter().map(|one| one.due.0).collect();
    assert_eq!(times.len(), 10);
    // 12 ms each, but for backoffs
    let spread = times[9] - times[0];
    assert!((107_000_000..109_000_000).contains(&spread), "{spread}");
}

#[test]
fn the_bottleneck_hears_the_answers_of_stations_and_holds_without() {
    let scenario =
        scenario("[station.a]\ndownload = 1\n[vsb.wce]\nrule = \"paper\"\nmax = \"4 Mbps\"\n");
    let mut hotspot = Hotspot::new(&scenario);
    let mut pings = 0;
    while hotspot.deadline() <= Time(3_000_000_000) {
        let now = hotspot.deadline();
        hotspot.advance();
        let delivered: Vec<Delivery> = hotspot.deliveries().collect();
        for Delivery {
            due,
            node,
            mut bytes,
        } in delivered
        {
            assert_eq!((node, due), (1, now));
            pings += 1;
            if pings <= 10 {
                let (from, to) = (bytes[12..16].to_vec(), bytes[16..20].to_vec());
                bytes[12..16].copy_from_slice(&to);
                bytes[16..20].copy_from_slice(&from);
                bytes[20] = 0; // echo reply
                hotspot.send(now, node, &bytes);
            }
        }
    }
    let seen = hotspot.bottleneck.as_ref().expect("a bottleneck");
    assert_eq!((pings, seen.rtts().count()), (30, 10));
    let longest = seen.rtts().quantile_s(1.0);
    assert!(longest.is_some_and(|rtt| rtt < 4e-3), "{longest:?}");
    assert_eq!(seen.rate_bps(), Some(4_000_000));
}

#[test]
fn a_wire_takes_its_time_each_way() {
    let scenario = scenario("wire = { delay = \"20 ms\" }\n[station.a]\nupload = 1\n");
    let mut hotspot = Hotspot::new(&scenario);
    hotspot.send(Time(0), 1, &tcp(false, 1, 0, 1500));
    hotspot.send(Time(0), 0, &tcp(true, 1, 0, 40));
    let delivered = run(&mut hotspot, Time(1_000_000_000));
    let due: Vec<(u32, bool)> = delivered
        .iter()
        .map(|one| (one.node, (20_000_000..25_000_000).contains(&one.due.0)))
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
    let mut hotspot = Hotspot::new(&scenario);
    for _ in 0..10 {
        hotspot.send(Time(0), 0, &tcp(true, 1, 0, 1500));
    }
    let delivered = run(&mut hotspot, Time(1_000_000_000));
    assert_eq!((delivered.len(), hotspot.lost), (5, 5));
}

/// Datagrams from a station through 1 Mbit/s, 12 ms each, or beside it as fast as the air has them.
#[test]
fn uplink_datagrams_pass_the_bottleneck_or_beside_it() {
    let spread_ms = |udp: &str| {
        let stations = "[station.a]\nudp_up = \"1 Mbps\"\n";
        let vsb = format!("[vsb]\nrate = \"1 Mbps\"\nudp = \"{udp}\"\n");
        let scenario = scenario(&format!("{stations}{vsb}"));
        let mut hotspot = Hotspot::new(&scenario);
        run(&mut hotspot, Time(1_000));
        let mut datagram = tcp(false, 1, 0, 1500);
        datagram[9] = 17;
        for _ in 0..10 {
            hotspot.send(Time(1_000), 1, &datagram);
        }
        let due: Vec<u64> = run(&mut hotspot, Time(1_000_000_000))
            .iter()
            .map(|one| one.due.0)
            .collect();
        assert_eq!((due.len(), hotspot.lost), (10, 0));
        let past = hotspot.datagrams[0];
        assert_eq!(past, if udp == "both" { 0 } else { 10 });
        (due[9] - due[0]) / 1_000_000
    };
    assert_eq!(spread_ms("both"), 9 * 12);
    // at 11 Mbit/s a frame of 1500 bytes takes 2 ms or so with its backoff
    let beside = spread_ms("down");
    assert!((12..30).contains(&beside), "{beside}");
}

#[test]
fn stations_that_send_udp_beside_it_are_not_pinged_for_five_seconds() {
    let stations = "[station.a]\nudp_up = \"1 Mbps\"\n[station.b]\ndownload = 1\n";
    let asked = |more: &str| {
        let scenario = scenario(&format!("{stations}[vsb]\nwce.rule = \"paper\"\n{more}"));
        let mut hotspot = Hotspot::new(&scenario);
        run(&mut hotspot, Time(1));
        let mut datagram = tcp(false, 1, 0, 1500);
        datagram[9] = 17;
        hotspot.send(Time(1), 1, &datagram);
        let pinged: Vec<(u64, u32)> = run(&mut hotspot, Time(9_000_000_000))
            .iter()
            .filter(|one| one.node != 0)
            .map(|one| (one.due.0, one.node))
            .collect();
        let first = pinged
            .iter()
            .filter(|&&(at, node)| node == 1 && at > 90_000_000);
        (pinged.len(), first.map(|&(at, _)| at).next())
    };
    let (pings, first) = asked("udp = \"down\"\n");
    assert_eq!(pings, 90);
    assert!(
        first.is_some_and(|at| (5_000_000_000..6_000_000_000).contains(&at)),
        "{first:?}"
    );
    for more in ["udp = \"down\"\nudp_aware = false\n", "udp = \"both\"\n"] {
        let (_, first) = asked(more);
        assert!(
            first.is_some_and(|at| at < 1_000_000_000),
            "{more}{first:?}"
        );
    }
}

#[test]
fn random_draws_are_those_of_a_simulation() {
    let text = "duration = \"10 s\"\n[cell]\nphy = \"802.11b\"\n\
        [cell.ap_queue]\nlimit = 50\nred = { min_th = 1, max_th = 30, max_p = 0.5, weight = 0.2 }\n\
        [station.a]\ndownload = 1\n";
    let scenario = match parse(text, Format::Toml, "x.toml", &[]) {
        Ok(scenario) => scenario,
        Err(problems) => panic!("{problems:?}"),
    };
    let mut hotspot = Hotspot::new(&scenario);
    for _ in 0..40 {
        hotspot.send(Time(0), 0, &tcp(true, 1, 0, 1500));
    }
    let streams = Streams::new(scenario.seed, 0);
    let mut cell = Cell::new(scenario.hotspot(), scenario.bottleneck.is_some(), &streams);
    let packet = Packet {
        flow: 0,
        number: 0,
        stamp: Time(0),
        queued: Time(0),
        bytes: 1500,
        hop: 0,
        kind: PacketKind::Segment,
        ecn: Ecn::NotCapable,
        echo: false,
        sack: 0,
    };
    let refused = (0..40).filter(|_| !cell.offer(Time(0), 0, &packet)).count();
    assert!(refused > 0);
    assert_eq!(hotspot.lost, refused as u64);
}

#[test]
fn a_packet_for_a_station_that_sleeps_leaves_at_the_beacon() {
    let scenario = scenario("[station.a]\ndownload = 1\npower_save = \"0 s\"\n");
    let mut hotspot = Hotspot::new(&scenario);
    let mut delivered = Vec::new();
    for at in [10_000_000, 150_000_000] {
        delivered.extend(run(&mut hotspot, Time(at)));
        hotspot.send(Time(at), 0, &tcp(true, 1, 0, 1500));
    }
    delivered.extend(run(&mut hotspot, Time(1_000_000_000)));
    let due: Vec<u64> = delivered.iter().map(|one| one.due.0).collect();
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
    let mut hotspot = Hotspot::new(&scenario);
    for _ in 0..70 {
        hotspot.send(Time(5), 0, &tcp(true, 1, 0, 1500));
    }
    assert_eq!(hotspot.lost, 6);
    let delivered = run(&mut hotspot, Time(1_000_000_000));
    assert_eq!(delivered.len(), 64);
    assert_eq!(hotspot.free.len(), hotspot.bytes.len());
}

/// Stations answer at once here; the hot-spot holds their answers back, or loses them.
fn answered(settings: &str) -> (u64, Option<f64>) {
    let scenario = scenario(&format!(
        "[station.a]\ndownload = 1\n{settings}\n[vsb]\nwce.rule = \"paper\"\n"
    ));
    let mut hotspot = Hotspot::new(&scenario);
    while hotspot.deadline() <= Time(9_000_000_000) {
        let now = hotspot.deadline();
        hotspot.advance();
        let delivered: Vec<Delivery> = hotspot.deliveries().collect();
        for mut ping in delivered {
            let (from, to) = (ping.bytes[12..16].to_vec(), ping.bytes[16..20].to_vec());
            ping.bytes[12..16].copy_from_slice(&to);
            ping.bytes[16..20].copy_from_slice(&from);
            ping.bytes[20] = 0; // echo reply
            hotspot.send(now, ping.node, &ping.bytes);
        }
    }
    assert_eq!((hotspot.lost, hotspot.foreign), (0, 0));
    let seen = hotspot.bottleneck.as_ref().expect("a bottleneck").rtts();
    (seen.count(), seen.mean_s())
}

#[test]
fn a_station_answers_pings_as_late_and_as_seldom_as_is_said() {
    let (all, at_once) = answered("");
    let at_once = at_once.expect("answers");
    assert!(all >= 90 && at_once < 4e-3, "{all} {at_once}");
    let (all_but_three, late) = answered("ping_delay = \"250 ms\"");
    assert!(all_but_three >= all - 3);
    let extra = late.expect("answers") - at_once;
    assert!((0.2490..0.2505).contains(&extra), "{extra}");
    assert_eq!(answered("ping_loss = 1"), (0, None));
    // 45 of 90 and four standard deviations
    let (some, _) = answered("ping_loss = 0.5");
    assert!((26..65).contains(&some), "{some}");
    let (half, rtt) = answered("pings.mute = { at = \"4.5 s\", ping_loss = 1 }");
    assert!(
        (44..47).contains(&half) && rtt.is_some_and(|rtt| rtt < 4e-3),
        "{half}"
    );
}

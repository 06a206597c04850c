use super::*;
use crate::kernel::time::Span;
use crate::packet::{Ecn, PacketKind};
use crate::scenario::{Format, parse};

fn scenario(text: &str) -> Scenario {
    match parse(text, Format::Toml, "test.toml", &[]) {
        Ok(scenario) => scenario,
        Err(errors) => panic!("{errors:?}"),
    }
}

fn segment(number: u32) -> Sent {
    Sent {
        flow: 0,
        number,
        bytes: 1500,
        kind: PacketKind::Segment,
        ecn: Ecn::NotCapable,
        sequence: number,
    }
}

fn ms(count: u64) -> Time {
    Time::ZERO + Span(1_000_000 * count)
}

const WEB: &str = "seed = 3\nduration = \"4 s\"\nwarmup = \"0 s\"\nqueue = 100\n\
    dumbbell = { bottleneck = \"20 Mbps\", delay = \"10 ms\" }\n\
    flow.users = { start = \"500 ms\", stop = \"3 s\", \
    web = { connections = 40, response = \"2 kB\" } }\n";

#[test]
fn hosts_ask_for_what_a_simulation_asks_for() {
    let scenario = scenario(WEB);
    let planned: Vec<_> = Transactions::new(&scenario, 0)
        .into_iter()
        .flatten()
        .collect();
    let Ok(mut world) = World::new(&scenario, 0) else {
        panic!("four seconds")
    };
    let mut watch = Watch {
        look: &mut |_| ControlFlow::Continue(()),
        exchange: None,
    };
    assert!(world.run_to_end(&mut watch).is_ok());
    let (begun, finished) = world.flows().webs().sources()[0].totals();
    assert_eq!((begun, finished), (planned.len() as u64, begun));
    assert!(begun > 50, "{begun}");
    // the first connection is 0.5 s to 1.5 s after the start of the run: the flow starts at 0.5 s,
    // with a random stagger of up to 1 s
    assert!((ms(500)..ms(1500)).contains(&planned[0].0));
    assert!(
        planned
            .iter()
            .all(|(at, asked)| *at < ms(3000) && asked.response_bytes == 2000)
    );
    assert!(Transactions::new(&scenario, 1).is_none());
}

#[test]
fn connections_of_hosts_cross_both_ways_and_are_the_classes() {
    let scenario = scenario(WEB);
    let opened = open(&scenario, &[]);
    assert_eq!(opened.flows.len(), 1 + 4 * CONNECTIONS);
    let Ok(mut live) = Live::new(&opened) else {
        panic!("four seconds")
    };
    let own = |leaves| flow_of(&scenario, 0, Carrier::Tcp, 7 + CONNECTIONS, leaves);
    live.answer_by(0, [own(true)].into_iter());
    live.begin_to_measure();
    let segment = |number, flow| Sent {
        flow,
        ..segment(number)
    };
    let Ok(()) = live.run_until(ms(600)) else {
        panic!("nobody interrupts")
    };
    live.send(&segment(0, own(false)));
    // the queue and the link have room for 100 packets, so that two of the 102 packets are lost
    (1..=102).for_each(|number| live.send(&segment(number, own(true))));
    let _ = live.run_until(ms(1000));
    assert_eq!(live.losses().count(), 2);
    let first = live.arrivals().find(|arrival| arrival.number == 0);
    assert_eq!(
        first.map(|arrival| (arrival.flow, arrival.is_data)),
        Some((own(false), true))
    );
    let Ok(measures) = live.measures() else {
        panic!("conserved")
    };
    let classes = measures.lists.iter().find(|(list, _)| *list == "classes");
    let users = classes.and_then(|(_, items)| items.iter().find(|item| item.name == "users"));
    let known = users.map(|item| item.values.clone());
    // the web source itself sends nothing, so that no other quantity of the flow is measured
    assert_eq!(known, Some(vec![LOSS_PROBABILITY.of(2.0 / 102.0)]));
}

#[test]
fn links_of_a_conflict_graph_carry_packets_of_hosts_at_their_prices() {
    let scenario = scenario(
        "duration = \"10 s\"\nwarmup = \"0 s\"\ntcp.mss = \"1460 B\"\n\
         csma.service_rate = 500\ncsma.r_interval = \"100 ms\"\ncsma.queue = 200\n\
         csma.link.1 = { conflicts = [\"2\"] }\ncsma.link.2 = {}\n\
         flow.a.route = [\"1\"]\nflow.b.route = [\"2\"]\n",
    );
    assert_eq!(flows(&scenario).len(), 2);
    let Ok(mut live) = Live::new(&scenario) else {
        panic!("ten seconds")
    };
    live.begin_to_measure();
    for number in 0..100 {
        live.send(&Sent {
            flow: number % 2,
            ..segment(number)
        });
    }
    let _ = live.run_until(ms(190));
    let sent = live.arrivals().count();
    // a packet takes 2 ms, and only one link can send at a time, so that at most 95 packets are
    // sent in 190 ms; backoffs reduce this number, but they are short while the queues are long
    assert!((60..=95).contains(&sent), "{sent}");
    live.send(&Sent {
        kind: PacketKind::Ack,
        bytes: 40,
        ..segment(100)
    });
    let _ = live.run_until(ms(191));
    let acks: Vec<_> = live.arrivals().filter(|arrival| !arrival.is_data).collect();
    assert_eq!(acks.len(), 1, "ACKs with priority take no time");
    let Ok(measures) = live.measures() else {
        panic!("conserved")
    };
    let links = measures.lists.iter().find(|(list, _)| *list == "links");
    let names: Vec<_> = links
        .into_iter()
        .flat_map(|(_, items)| items)
        .map(|item| {
            item.values
                .iter()
                .any(|(name, value)| *name == AGGRESSIVENESS.name && *value > Some(0.0))
        })
        .collect();
    assert_eq!(names, [true, true]);
}

#[test]
fn packets_of_hosts_wait_on_a_link_as_in_a_simulation() {
    let scenario = scenario(
        "duration = \"10 s\"\nwarmup = \"0 s\"\nqueue = 4\n\
         dumbbell = { flows = 1, bottleneck = \"12 Mbps\", delay = \"10 ms\" }\n",
    );
    let Ok(mut live) = Live::new(&scenario) else {
        panic!("ten seconds")
    };
    live.begin_to_measure();
    let Ok(()) = live.run_until(ms(100)) else {
        panic!("nobody interrupts")
    };
    for number in 0..8 {
        live.send(&segment(number));
    }
    let _ = live.run_until(ms(200));
    let came: Vec<(u64, u32)> = live
        .arrivals()
        .map(|frame| (frame.due.since(ms(100)).0 / 1000, frame.number))
        .collect();
    println!("{came:?} {:?}", live.losses().collect::<Vec<_>>());
    assert_eq!(came.len(), 4);
    assert!(live.measures().is_ok());
}

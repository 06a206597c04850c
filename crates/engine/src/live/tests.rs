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
        .map(|one| (one.due.since(ms(100)).0 / 1000, one.number))
        .collect();
    println!("{came:?} {:?}", live.losses().collect::<Vec<_>>());
    assert_eq!(came.len(), 4);
    assert!(live.measures().is_ok());
}

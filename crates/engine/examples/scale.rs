//! Simulates a cell with a thousand stations and ten thousand flows: `cargo run --release --example
//! scale`.

#[path = "../tests/suite/support.rs"]
mod support;

use std::ops::ControlFlow;
use std::time::Instant;

use lasthop_engine::scenario::{Direction, Scenario, Transport};

fn time(what: &str, scenario: &Scenario) {
    let begun = Instant::now();
    let Ok(result) = lasthop_engine::run(scenario, 1, &|_| ControlFlow::Continue(())) else {
        println!("{what}: failed");
        return;
    };
    let taken = begun.elapsed().as_secs_f64();
    let total = &result.summary()["totals"][0];
    let packets = total["packets_delivered"]["mean"]
        .as_f64()
        .unwrap_or(f64::NAN)
        / 0.9;
    let goodput = result.summary()["cells"][0]["goodput_bps"]["mean"]
        .as_f64()
        .unwrap_or(f64::NAN);
    println!(
        "{what}: {taken:.3} s, {:.4} us per segment, {:.3} Mb/s",
        taken * 1e6 / packets,
        goodput / 1e6
    );
}

fn main() {
    time(
        "1,000 stations, one download each",
        &support::downloads(1000, 4, 100),
    );
    let mut uploads = support::dot11b(1000, 100);
    for station in 0..1000 {
        support::add_flow(
            &mut uploads,
            station,
            Direction::Up,
            Transport::Tcp(support::tcp(4)),
        );
    }
    time("1,000 stations, one upload each", &uploads);
    let mut flows = support::dot11b(100, 100);
    for flow in 0..10_000 {
        support::add_flow(
            &mut flows,
            flow % 100,
            Direction::Down,
            Transport::Tcp(support::tcp(4)),
        );
    }
    time("100 stations, 10,000 downloads", &flows);
    let mut saturated = support::dot11b(1000, 100);
    for station in 0..1000 {
        support::add_flow(&mut saturated, station, Direction::Up, support::greedy());
    }
    time("1,000 saturated stations", &saturated);
}

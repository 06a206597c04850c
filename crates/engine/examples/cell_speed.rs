//! Prints the CPU time and the number of events per delivered segment, for a cell with seven
//! stations: `cargo run --release --example cell_speed`.

#[path = "../tests/suite/support.rs"]
mod support;

use std::ops::ControlFlow;
use std::time::Instant;

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok());
    for seconds in seconds.map_or(vec![200, 2000, 20_000], |one| vec![one]) {
        let scenario = support::downloads(7, 4, seconds);
        let begun = Instant::now();
        let Ok(result) = lasthop_engine::run(&scenario, 1, &|_| ControlFlow::Continue(())) else {
            return;
        };
        let taken = begun.elapsed().as_secs_f64();
        let total = &result.summary()["totals"][0];
        let packets = total["packets_delivered"]["mean"]
            .as_f64()
            .unwrap_or(f64::NAN)
            / 0.9;
        let events = total["events"]["mean"].as_f64().unwrap_or(f64::NAN);
        println!(
            "{seconds} s: {taken:.3} s, {:.4} us per segment, {:.1} events per segment",
            taken * 1e6 / packets,
            events / packets
        );
    }
}

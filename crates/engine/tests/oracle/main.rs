//! The fast DCF cell against a slow oracle: plain per-node state machines that hear every frame
//! (`node`, `medium`), fed with the same arrivals and the same random streams.

mod air;
mod cells;
mod fast;
mod medium;
mod node;
mod worked;

use lasthop_engine::kernel::streams::{Stream, Streams};
use lasthop_engine::scenario::Scenario;
use medium::{Arrival, Trace};
use node::Draws;
use proptest::prelude::*;

/// Draws from the streams that the engine uses: `NAME/backoff` and `NAME/channel` of the sender.
struct EngineDraws<'a> {
    scenario: &'a Scenario,
    backoff: Vec<Stream>,
    channel: Vec<Stream>,
}

impl<'a> EngineDraws<'a> {
    fn new(scenario: &'a Scenario, streams: &Streams) -> EngineDraws<'a> {
        let named = |suffix: &str| {
            std::iter::once("ap")
                .chain(
                    scenario
                        .stations
                        .iter()
                        .map(|station| station.name.as_str()),
                )
                .map(|name| streams.stream(&format!("{name}/{suffix}")))
                .collect()
        };
        EngineDraws {
            scenario,
            backoff: named("backoff"),
            channel: named("channel"),
        }
    }
}

impl Draws for EngineDraws<'_> {
    fn backoff(&mut self, node: u32, cw: u32) -> u32 {
        self.backoff[node as usize].up_to(cw)
    }

    fn corrupted(&mut self, from: u32, to: u32) -> bool {
        let stations = &self.scenario.stations;
        let probability = match from {
            0 => stations[to as usize - 1].error_down,
            _ => stations[from as usize - 1].error_up,
        };
        self.channel[from as usize].chance(probability)
    }
}

/// What the two cells make of the same arrivals and streams: the fast one, then the oracle.
fn both(scenario: &Scenario, arrivals: &[Arrival], seed: u64) -> (Trace, Trace) {
    let streams = Streams::new(seed, 0);
    let slow = medium::play(
        scenario,
        arrivals,
        &mut EngineDraws::new(scenario, &streams),
    );
    (
        fast::play(scenario, arrivals, &streams).in_order(),
        slow.in_order(),
    )
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn the_fast_cell_does_what_the_oracle_does((scenario, arrivals) in cells::cell(), seed: u64) {
        let (fast, slow) = both(&scenario, &arrivals, seed);
        prop_assert_eq!(fast, slow, "fast cell on the left, oracle on the right");
    }
}

proptest! {
    #![proptest_config(config(100_000))]

    #[test]
    #[ignore = "100,000 cells: 13 s in release; make test-long runs it"]
    fn the_fast_cell_does_what_the_oracle_does_at_length(
        (scenario, arrivals) in cells::cell(),
        seed: u64,
    ) {
        let (fast, slow) = both(&scenario, &arrivals, seed);
        prop_assert_eq!(fast, slow, "fast cell on the left, oracle on the right");
    }
}

//! The fast DCF cell of the engine compared with a slow oracle. The oracle is one simple state machine per node
//! (`node`), and every node hears every frame (`medium`). The engine and the oracle have the same arrivals and the same
//! random streams. Cells with aggregation have a separate oracle (`aggregates`).

mod aggregates;
mod air;
mod cells;
mod contention;
mod fast;
mod medium;
mod node;
mod script;
mod worked;

use std::collections::HashMap;

use contention::{Draws, Who};
use lasthop_engine::kernel::streams::{Stream, Streams};
use lasthop_engine::scenario::{Category, Scenario};
use medium::{Arrival, Trace};

use proptest::prelude::*;

/// Random numbers from the streams that the engine uses: `NAME/backoff` and `NAME/channel` of the sender. Categories
/// other than best effort have the streams `NAME/CATEGORY/...`.
struct EngineDraws<'a> {
    scenario: &'a Scenario,
    backoff: HashMap<Who, Stream>,
    channel: HashMap<Who, Stream>,
}

impl<'a> EngineDraws<'a> {
    fn new(scenario: &'a Scenario, streams: &Streams) -> EngineDraws<'a> {
        let named = |suffix: &str| {
            let stations = scenario.stations.iter().map(|s| s.name.as_str());
            let of_node = |(name, node): (&str, u32)| {
                Category::ALL.map(|category| {
                    let stream = match category {
                        Category::BestEffort => format!("{name}/{suffix}"),
                        other => format!("{name}/{}/{suffix}", other.name()),
                    };
                    ((node, category), streams.stream(&stream))
                })
            };
            let names = std::iter::once("ap").chain(stations);
            names.zip(0..).flat_map(of_node).collect()
        };
        EngineDraws {
            scenario,
            backoff: named("backoff"),
            channel: named("channel"),
        }
    }
}

impl Draws for EngineDraws<'_> {
    fn backoff(&mut self, who: Who, cw: u32) -> u32 {
        stream(&mut self.backoff, who).up_to(cw)
    }

    fn corrupted(&mut self, who: Who, to: u32) -> bool {
        let stations = &self.scenario.stations;
        let probability = match who.0 {
            0 => stations[to as usize - 1].channel.error_down,
            from => stations[from as usize - 1].channel.error_up,
        };
        stream(&mut self.channel, who).chance(probability)
    }
}

fn stream(streams: &mut HashMap<Who, Stream>, who: Who) -> &mut Stream {
    streams.get_mut(&who).expect("every node and category")
}

/// Returns the traces of the engine's cell and of the oracle for the same arrivals and streams, in this order.
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

//! The slow oracle of a cell with aggregation (802.11n, ac, ax). The oracle models the queue and MPDUs of each
//! contender (`sender`), the reordering at each receiver (`receiver`), and the medium that all
//! nodes hear. The contention is modelled as in the oracle without aggregation (`contention`).

pub mod cells;
mod fast;
mod hop;
mod laws;
mod lengths;
mod medium;
mod radios;
mod receiver;
mod sender;
mod trace;
mod worked;

pub use medium::play;
pub use sender::Sent;
pub use trace::{AggregateTrace, Attempt, Outcome};

use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::scenario::Scenario;
use proptest::prelude::*;

use super::medium::Arrival;
use super::{EngineDraws, config};

/// Returns the first difference between two traces as text, or `None` if they are equal.
fn difference(fast: &AggregateTrace, slow: &AggregateTrace) -> Option<String> {
    fn first<T: PartialEq + std::fmt::Debug>(what: &str, fast: &[T], slow: &[T]) -> Option<String> {
        let same = fast.iter().zip(slow).take_while(|(a, b)| a == b).count();
        let (one, other) = (fast.get(same), slow.get(same));
        (one.is_some() || other.is_some())
            .then(|| format!("{what} {same}: fast {one:?}, oracle {other:?}"))
    }
    let AggregateTrace {
        attempts,
        handed_up,
        acknowledged,
        given_up,
        too_late,
        refused,
        held,
    } = fast;
    first("attempt", attempts, &slow.attempts)
        .or_else(|| first("handed up", handed_up, &slow.handed_up))
        .or_else(|| first("acknowledged", acknowledged, &slow.acknowledged))
        .or_else(|| first("given up", given_up, &slow.given_up))
        .or_else(|| first("too late", too_late, &slow.too_late))
        .or_else(|| first("refused", refused, &slow.refused))
        .or_else(|| first("held", held, &slow.held))
}

/// Returns the traces of the engine's cell and of the oracle for the same arrivals and streams, in this order.
fn both(scenario: &Scenario, arrivals: &[Arrival], seed: u64) -> (AggregateTrace, AggregateTrace) {
    let streams = Streams::new(seed, 0);
    let mut draws = EngineDraws::new(scenario, &streams);
    let slow = play(scenario, arrivals, &mut draws);
    let fast = fast::play(scenario, arrivals, &streams);
    (fast.in_order(), slow.in_order())
}

proptest! {
    #![proptest_config(config(500))]

    #[test]
    fn the_fast_cell_does_what_the_oracle_does((scenario, arrivals) in cells::cell(), seed: u64) {
        let (fast, slow) = both(&scenario, &arrivals, seed);
        prop_assert_eq!(difference(&fast, &slow), None);
    }
}

proptest! {
    #![proptest_config(config(100_000))]

    #[test]
    #[ignore = "100,000 cells; make test-long runs it"]
    fn the_fast_cell_does_what_the_oracle_does_at_length(
        (scenario, arrivals) in cells::cell(),
        seed: u64,
    ) {
        let (fast, slow) = both(&scenario, &arrivals, seed);
        prop_assert_eq!(difference(&fast, &slow), None);
    }
}

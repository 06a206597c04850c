//! Tests of the sizes of the state that each packet needs.

use super::*;
use std::mem::offset_of;

#[test]
fn what_every_packet_asks_for_lies_in_two_cache_lines() {
    assert_eq!(offset_of!(FlowState, counters), 64);
    assert_eq!(offset_of!(FlowCounters, retransmitted), 64);
    assert_eq!(size_of::<FlowState>(), 256);
}

/// Checks upper bounds of the sizes of structures. `bench/large_bound.py` computes the memory
/// of a simulation from these bounds.
#[test]
fn what_a_network_is_made_of_is_no_larger_than_its_bound_says() {
    use crate::link::{LinkSettings, Pipe};
    use crate::measure::{Item, Value};
    use crate::scenario::Station;
    let sizes = [
        (size_of::<Flow>(), 424),
        (size_of::<(Sender, Receiver)>(), 320),
        (size_of::<FlowCounters>(), 120),
        (size_of::<LinkSettings>(), 232),
        (size_of::<Pipe>(), 336),
        (size_of::<Station>(), 576),
        (size_of::<Item>(), 72),
        (size_of::<Value>(), 32),
        (size_of::<serde_json::Value>(), 72),
    ];
    for (size, bound) in sizes {
        assert!(size <= bound, "{size} above {bound}: {sizes:?}");
    }
}

//! Invariants of every cell with aggregation. Cells that never aggregate are also compared with the
//! oracle of cells without aggregation.

use std::collections::{BTreeMap, BTreeSet};

use lasthop_engine::kernel::streams::Streams;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::mac::EifsRule;
use lasthop_engine::scenario::Scenario;
use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use super::super::contention::Who;
use super::super::medium::{self, Arrival, FIRST_REPLY};
use super::super::{EngineDraws, config};
use super::cells;
use super::hop::Hop;
use super::radios::{RADIOS, Radio};
use super::{AggregateTrace, Attempt, Outcome, Sent, play};

fn trace(scenario: &Scenario, arrivals: &[Arrival], seed: u64) -> AggregateTrace {
    let streams = Streams::new(seed, 0);
    play(
        scenario,
        arrivals,
        &mut EngineDraws::new(scenario, &streams),
    )
}

fn ids<'a, A: 'a, B: 'a>(list: &'a [(A, B, u32)]) -> impl Iterator<Item = u32> + 'a {
    list.iter().map(|(_, _, id)| *id)
}

/// Returns sender and receiver of every packet, including replies.
fn flows(arrivals: &[Arrival], trace: &AggregateTrace) -> BTreeMap<u32, (Who, u32)> {
    let outside = arrivals
        .iter()
        .map(|arrival| (arrival.packet.id, (arrival.who, arrival.packet.to)));
    let mut flows: BTreeMap<u32, (Who, u32)> = outside.collect();
    let answered = ids(&trace.handed_up).filter(|&id| {
        let asked = arrivals.get(id as usize);
        asked.is_some_and(|arrival| arrival.packet.reply_bytes.is_some())
    });
    for (id, reply) in answered.zip(FIRST_REPLY..) {
        let ((from, category), to) = flows[&id];
        flows.insert(reply, ((to, category), from));
    }
    flows
}

fn each_packet_ends_in_one_place(
    arrivals: &[Arrival],
    trace: &AggregateTrace,
) -> Result<(), TestCaseError> {
    let held = || trace.held.iter().map(|(_, id)| *id);
    let received: Vec<u32> = ids(&trace.handed_up)
        .chain(ids(&trace.too_late))
        .chain(held())
        .collect();
    let mut ends: Vec<u32> = received.clone();
    ends.extend(ids(&trace.given_up).chain(ids(&trace.refused)));
    ends.sort_unstable();
    let made: Vec<u32> = flows(arrivals, trace).into_keys().collect();
    prop_assert_eq!(ends, made, "ends on the left, packets on the right");
    let received: BTreeSet<u32> = received.into_iter().collect();
    let mut acknowledged: Vec<u32> = ids(&trace.acknowledged).collect();
    acknowledged.sort_unstable();
    let received: Vec<u32> = received.into_iter().collect();
    prop_assert_eq!(acknowledged, received, "what is received is acknowledged");
    Ok(())
}

/// Checks that each flow delivers its packets in the order in which they arrived. Replies count as separate flows.
fn packets_stay_in_order(
    arrivals: &[Arrival],
    trace: &AggregateTrace,
) -> Result<(), TestCaseError> {
    let flows = flows(arrivals, trace);
    let mut last: BTreeMap<(Who, u32, bool), u32> = BTreeMap::new();
    for id in ids(&trace.handed_up) {
        let (who, to) = flows[&id];
        let before = last.insert((who, to, id >= FIRST_REPLY), id);
        prop_assert!(before < Some(id), "{id} after {before:?}");
    }
    Ok(())
}

/// Checks that each PPDU stays within the BlockAck window, and that an MPDU does not change after it is formed. No MPDU
/// is sent again after it was received, or more often than the attempt limit.
fn mpdus_keep_to_the_rules(
    scenario: &Scenario,
    trace: &AggregateTrace,
) -> Result<(), TestCaseError> {
    let mut formed: BTreeMap<(Who, u32, u32), Vec<u32>> = BTreeMap::new();
    let mut attempts: BTreeMap<(Who, u32, u32), u32> = BTreeMap::new();
    let mut received_before = BTreeSet::new();
    for attempt in &trace.attempts {
        let hop = Hop::new(scenario, attempt.who, attempt.to);
        let Sent::Mpdus(mpdus) = &attempt.sent else {
            prop_assert!(hop.has_agreement() && !attempt.rts);
            continue;
        };
        let numbers: Vec<u32> = mpdus.iter().map(|(number, _)| *number).collect();
        prop_assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
        let (Some(first), Some(last)) = (numbers.first(), numbers.last()) else {
            return Err(TestCaseError::fail("a PPDU without MPDUs"));
        };
        prop_assert!(last - first < hop.window(), "{numbers:?}");
        for (number, packets) in mpdus {
            let name = (attempt.who, attempt.to, *number);
            prop_assert!(!received_before.contains(&name), "{name:?} again");
            let before = formed.insert(name, packets.clone());
            prop_assert!(before.is_none_or(|before| before == *packets));
            let count = attempts.entry(name).or_default();
            *count += 1;
            if hop.has_agreement() {
                prop_assert!(hop.attempts().is_none_or(|most| *count <= most));
            }
            let is_in = |outcome: &Outcome| match outcome {
                Outcome::Collided => false,
                Outcome::Received(received) => received.contains(number),
            };
            if is_in(&attempt.outcome) {
                received_before.insert(name);
            }
        }
    }
    Ok(())
}

fn all_laws(scenario: &Scenario, arrivals: &[Arrival], seed: u64) -> Result<(), TestCaseError> {
    let trace = trace(scenario, arrivals, seed);
    each_packet_ends_in_one_place(arrivals, &trace)?;
    packets_stay_in_order(arrivals, &trace)?;
    mpdus_keep_to_the_rules(scenario, &trace)
}

/// Runs both oracles on the same cell of legacy stations and returns both traces. The oracle without aggregation has no
/// PPDU rules, so these rules are removed from the scenario that it runs.
fn beside_the_older_oracle(
    mut scenario: Scenario,
    arrivals: &[Arrival],
    seed: u64,
) -> (medium::Trace, medium::Trace) {
    let ppdus = scenario.bss[0]
        .cell
        .ppdus
        .as_mut()
        .expect("a cell that aggregates");
    (ppdus.eifs, ppdus.rts_longer_than) = (EifsRule::Ack, None);
    let here = trace(&scenario, arrivals, seed);
    scenario.bss[0].cell.ppdus = None;
    scenario.bss[0].cell.phy.kind = scenario.stations[0].phy;
    let streams = Streams::new(seed, 0);
    let there = medium::play(
        &scenario,
        arrivals,
        &mut EngineDraws::new(&scenario, &streams),
    );
    (frame_by_frame(here).in_order(), there.in_order())
}

/// Converts a trace in which each PPDU contains one packet into the format of the oracle without aggregation.
fn frame_by_frame(trace: AggregateTrace) -> medium::Trace {
    let mut sent_before = BTreeSet::new();
    let attempt = |attempt: Attempt| {
        let Sent::Mpdus(mpdus) = attempt.sent else {
            panic!("a BlockAckReq to a legacy station");
        };
        let [(number, packets)] = mpdus.as_slice() else {
            panic!("an aggregate to a legacy station: {mpdus:?}");
        };
        let [packet] = packets.as_slice() else {
            panic!("an A-MSDU to a legacy station: {packets:?}");
        };
        medium::Attempt {
            start: attempt.start,
            who: attempt.who,
            packet: *packet,
            rts: attempt.rts,
            retry: !sent_before.insert((attempt.who, attempt.to, *number)),
            outcome: match attempt.outcome {
                Outcome::Collided => medium::Outcome::Collided,
                Outcome::Received(received) if received.is_empty() => medium::Outcome::Corrupted,
                Outcome::Received(_) => medium::Outcome::Delivered,
            },
        }
    };
    medium::Trace {
        attempts: trace.attempts.into_iter().map(attempt).collect(),
        deliveries: trace.handed_up,
        dropped: trace.refused,
        discarded: trace.given_up,
    }
}

/// Draws cells that have only legacy stations.
fn legacy_cell() -> impl Strategy<Value = (Scenario, Vec<Arrival>)> {
    let has_legacy = |radio: &Radio| radio.legacy().is_some();
    let radios: Vec<Radio> = RADIOS.into_iter().filter(has_legacy).collect();
    select(radios).prop_flat_map(|radio| cells::cell_of(radio, 1.0))
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn packets_are_conserved_and_stay_in_order((scenario, arrivals) in cells::cell(), seed: u64) {
        all_laws(&scenario, &arrivals, seed)?;
    }

    #[test]
    fn legacy_stations_are_served_as_in_a_cell_of_their_own(
        (scenario, arrivals) in legacy_cell(),
        seed: u64,
    ) {
        let (here, there) = beside_the_older_oracle(scenario, &arrivals, seed);
        prop_assert_eq!(here, there, "cell that aggregates on the left");
    }
}

proptest! {
    #![proptest_config(config(30_000))]

    #[test]
    #[ignore = "30,000 cells; make test-long runs it"]
    fn packets_are_conserved_and_stay_in_order_at_length(
        (scenario, arrivals) in cells::cell(),
        seed: u64,
    ) {
        all_laws(&scenario, &arrivals, seed)?;
    }

    #[test]
    #[ignore = "30,000 cells; make test-long runs it"]
    fn legacy_stations_are_served_as_in_a_cell_of_their_own_at_length(
        (scenario, arrivals) in legacy_cell(),
        seed: u64,
    ) {
        let (here, there) = beside_the_older_oracle(scenario, &arrivals, seed);
        prop_assert_eq!(here, there, "cell that aggregates on the left");
    }
}

/// Returns the number of random cells in which each type of event occurs. The cells are the same in each run.
fn census(cells: u32) -> BTreeMap<&'static str, u32> {
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(Config::default(), rng);
    let mut census = BTreeMap::new();
    for seed in 0..cells {
        let drawn = cells::cell().new_tree(&mut runner).expect("no filter");
        let (scenario, arrivals) = drawn.current();
        let trace = trace(&scenario, &arrivals, u64::from(seed));
        for (what, happened) in happenings(&scenario, &trace) {
            *census.entry(what).or_default() += u32::from(happened);
        }
    }
    census
}

fn happenings(scenario: &Scenario, trace: &AggregateTrace) -> Vec<(&'static str, bool)> {
    let attempts = &trace.attempts;
    let mpdus = |attempt: &Attempt| match &attempt.sent {
        Sent::BlockAckReq => Vec::new(),
        Sent::Mpdus(mpdus) => mpdus.clone(),
    };
    let some_lost = |attempt: &Attempt| match &attempt.outcome {
        Outcome::Collided => false,
        Outcome::Received(received) => {
            !received.is_empty() && received.len() < mpdus(attempt).len()
        }
    };
    let all_lost = |attempt: &Attempt| {
        attempt.outcome == Outcome::Received(Vec::new()) && attempt.sent != Sent::BlockAckReq
    };
    let of_legacy = |attempt: &Attempt| {
        let station = attempt.who.0.max(attempt.to) as usize - 1;
        scenario.stations[station].modulation.is_none()
    };
    let bar_end = |attempt: &Attempt| {
        let hop = Hop::new(scenario, attempt.who, attempt.to);
        (attempt.sent == Sent::BlockAckReq).then(|| attempt.start + hop.block_ack_req())
    };
    let bar_ends: BTreeSet<Time> = attempts.iter().filter_map(bar_end).collect();
    let mut handed_up = trace.handed_up.iter();
    let released = handed_up.any(|(at, _, _)| bar_ends.contains(at));
    let bar = |attempt: &&Attempt| attempt.sent == Sent::BlockAckReq;
    let retry_with_new = attempts.windows(2).any(|pair| {
        let [before, after] = [mpdus(&pair[0]), mpdus(&pair[1])];
        let same = (pair[0].who, pair[0].to) == (pair[1].who, pair[1].to);
        let last = before.last().map_or(u32::MAX, |(number, _)| *number);
        let first = after.first().map_or(u32::MAX, |(number, _)| *number);
        same && first <= last && after.last().is_some_and(|(number, _)| *number > last)
    });
    let an_amsdu = |(_, packets): &(u32, Vec<u32>)| packets.len() > 1;
    vec![
        (
            "aggregates",
            attempts.iter().any(|one| mpdus(one).len() > 1),
        ),
        (
            "long aggregates",
            attempts.iter().any(|one| mpdus(one).len() > 12),
        ),
        (
            "A-MSDUs",
            attempts.iter().any(|one| mpdus(one).iter().any(an_amsdu)),
        ),
        ("partial losses", attempts.iter().any(some_lost)),
        ("total losses", attempts.iter().any(all_lost)),
        ("retries with new ones", retry_with_new),
        ("BlockAckReqs", attempts.iter().any(|one| bar(&one))),
        (
            "BlockAckReqs that collide",
            attempts
                .iter()
                .filter(bar)
                .any(|one| one.outcome == Outcome::Collided),
        ),
        ("BlockAckReqs that release", released),
        ("RTS", attempts.iter().any(|one| one.rts)),
        (
            "collisions",
            attempts.iter().any(|one| one.outcome == Outcome::Collided),
        ),
        ("legacy frames", attempts.iter().any(of_legacy)),
        ("packets given up", !trace.given_up.is_empty()),
        ("packets too late", !trace.too_late.is_empty()),
        ("packets refused", !trace.refused.is_empty()),
        ("packets held for ever", !trace.held.is_empty()),
        ("replies", ids(&trace.handed_up).any(|id| id >= FIRST_REPLY)),
    ]
}

#[test]
fn random_cells_come_to_everything_that_the_rules_speak_of() {
    let census = census(400);
    let never: Vec<_> = census.iter().filter(|(_, count)| **count == 0).collect();
    assert!(
        never.is_empty(),
        "not in 400 cells: {never:?}; all: {census:?}"
    );
}

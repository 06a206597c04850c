//! Invariants of every scenario. No run panics, and each run conserves packets. Each repetition
//! gives the same results, byte by byte, with any number of threads.
//!
//! `LASTHOP_RANDOM_SCENARIOS` sets the number of random scenarios (1,000 in `make check` and `make test`, two million
//! in `make test-long`). `PROPTEST_RNG_SEED` sets the seed from which they are drawn.

mod graphs;
mod scenarios;

use std::ops::ControlFlow;

use crate::support::*;
use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::*;
use lasthop_engine::{Detail, RunResult, Session, run, run_replication};
use proptest::prelude::*;
use scenarios::{Change, change, scenario};

fn result(scenario: &Scenario, jobs: usize) -> RunResult {
    match run(scenario, jobs, &|_| ControlFlow::Continue(())) {
        Ok(result) => result,
        Err(error) => panic!("{error} in {scenario:?}"),
    }
}

fn cases() -> u32 {
    let asked = std::env::var("LASTHOP_RANDOM_SCENARIOS").ok();
    asked.and_then(|text| text.parse().ok()).unwrap_or(2_000)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), ..ProptestConfig::default() })]

    #[test]
    fn random_scenarios_conserve_and_reproduce(scenario in scenario()) {
        let first = result(&scenario, 1);
        let again = result(&scenario, 1);
        prop_assert_eq!(first.summary_json(), again.summary_json());
        prop_assert_eq!(first.series_json(), again.series_json());
        prop_assert_eq!(first.frames, again.frames);
    }
}

/// Returns the scenario with the changed settings.
fn changed(scenario: &Scenario, change: Change) -> Scenario {
    let mut other = scenario.clone();
    let nodes = other.stations.iter_mut().map(|station| &mut station.node);
    for node in nodes.chain([&mut other.bss[0].cell.ap]) {
        node.best_effort = change.access;
        node.voice = change.access;
        node.queue.limit_packets = change.limit;
    }
    other.wire.queue.limit_packets = change.limit;
    other.wire.back_queue.limit_packets = change.limit;
    for link in &mut other.links {
        link.queue.limit_packets = change.limit;
    }
    if let Some(bottleneck) = &mut other.bottleneck {
        bottleneck.rate_bps = Some(change.rate_bps);
        bottleneck.queue_packets = change.limit;
    }
    scenario.moved_to(&other)
}

fn result_of(mut session: Session<'_>) -> String {
    let go_on = &mut |_| ControlFlow::Continue(());
    match session.run_to_end(go_on).and_then(|()| session.finish()) {
        Ok(run) => format!("{run:?}"),
        Err(error) => panic!("{error}"),
    }
}

fn unbroken(scenario: &Scenario) -> String {
    match run_replication(scenario, 0, Detail::Tails, &mut |_| {
        ControlFlow::Continue(())
    }) {
        Ok(run) => format!("{run:?}"),
        Err(error) => panic!("{error} in {scenario:?}"),
    }
}

/// Checks runs that are executed in steps. Neither the steps nor queries of the state between two steps change a bit of
/// the result. A change of settings at the start has the same result as the scenario with these settings. The
/// invariants also hold after changes during the run.
fn check_stepping(scenario: &Scenario, change: Change) {
    let session = |scenario| match Session::new(scenario, 0, Detail::Tails) {
        Ok(session) => session,
        Err(error) => panic!("{error}"),
    };
    let other = changed(scenario, change);
    let stepped = |early: Option<&Scenario>, on_the_way: &[&Scenario]| {
        let mut session = session(scenario);
        if let Some(other) = early {
            assert_eq!(session.change(other.clone()), Ok(()));
        }
        let steps = scenario.duration.0 / change.stride;
        let mut turns = on_the_way.iter().cycle();
        for step in 1..=steps {
            let halted = session.run_until(Time(step * change.stride), &mut |_| {
                ControlFlow::Continue(())
            });
            assert_eq!(halted, Ok(()));
            session.read();
            if let Some(&next) = turns.next() {
                assert_eq!(session.change(next.clone()), Ok(()));
            }
        }
        result_of(session)
    };
    assert_eq!(stepped(None, &[]), unbroken(scenario));
    assert_eq!(stepped(Some(&other), &[]), unbroken(&other));
    let to_and_fro = stepped(None, &[&other, scenario]);
    assert_eq!(to_and_fro, stepped(None, &[&other, scenario]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases() / 10, ..ProptestConfig::default() })]

    #[test]
    fn random_scenarios_are_stepped_and_changed(scenario in scenario(), change in change()) {
        check_stepping(&scenario, change);
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let mut scenario = downloads(5, 42, 4);
    scenario.bss[0].cell.ap.queue = QueueSetting::drop_tail(30);
    scenario.replications = 7;
    let alone = result(&scenario, 1);
    for jobs in [2, 3, 8] {
        let together = result(&scenario, jobs);
        assert_eq!(alone.summary_json(), together.summary_json());
        assert_eq!(alone.samples_json(), together.samples_json());
    }
}

#[test]
fn replications_differ() {
    let mut scenario = downloads(3, 10, 2);
    scenario.replications = 3;
    let result = result(&scenario, 1);
    let samples = result.samples();
    let goodputs = &samples["cells"]["cell"]["goodput_bps"];
    assert_ne!(goodputs[0], goodputs[1]);
    assert_ne!(goodputs[1], goodputs[2]);
}

#[test]
fn an_interrupted_run_keeps_finished_replications() {
    let mut scenario = downloads(2, 10, 2);
    scenario.replications = 5;
    let whole = result(&scenario, 1);
    let stop_after_two = |progress: lasthop_engine::Progress| {
        if progress.replications_done >= 2 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let Ok(part) = run(&scenario, 1, &stop_after_two) else {
        panic!("two replications were finished");
    };
    assert!(part.interrupted);
    assert_eq!(part.summary()["replications"], 2);
    let values = |samples: &serde_json::Value| samples["cells"]["cell"]["goodput_bps"].clone();
    for replication in 0..2 {
        assert_eq!(
            values(part.samples())[replication],
            values(whole.samples())[replication]
        );
    }
}

#[test]
fn recording_changes_no_measured_number() {
    let plain = downloads(3, 10, 2);
    let mut recorded = plain.clone();
    recorded.record = Record {
        utilisation_bin: None,
        series_interval: Some(Span(MS)),
        frames: Some(999),
        from: Span::ZERO,
    };
    let with = result(&recorded, 1);
    assert_eq!(result(&plain, 1).summary_json(), with.summary_json());
    assert!(
        with.series
            .is_some_and(|series| series.time_s.len() == 2000)
    );
    assert_eq!(with.frames.len(), 999);
}

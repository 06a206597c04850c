//! Sessions that share a scenario, and values that are measured without a reading.

use super::*;

#[test]
fn a_session_with_a_seed_is_that_of_a_scenario_with_this_seed() {
    let seeded = |seed: u64| {
        let seed = [("seed".to_owned(), seed.to_string())];
        parse(CELL, Format::Toml, "test.toml", &seed).expect("a cell")
    };
    let (base, other) = (seeded(1), seeded(7));
    let read = |scenario: &Scenario, seed: u64| {
        let session = Session::with_seed(scenario, seed, 2, Detail::Means);
        let mut session = session.expect("a short run");
        let ran = session.run_until(Time(3_000_000_000), &mut |_| ControlFlow::Continue(()));
        ran.expect("not interrupted");
        session.read().to_string()
    };
    assert_eq!(read(&base, 7), read(&other, other.seed));
    assert_ne!(read(&base, 7), read(&base, base.seed));
}

#[test]
fn measured_and_present_values_are_those_of_a_reading() {
    let scenario = parse(CELL, Format::Toml, "test.toml", &[]).expect("a cell");
    let begin = || Session::new(&scenario, 0, Detail::Means).expect("a short run");
    let (mut read, mut measured) = (begin(), begin());
    assert_eq!(measured.measure().0, Span::ZERO);
    assert!(measured.measure().1.is_none(), "no time has passed");
    for session in [&mut read, &mut measured] {
        let ran = session.run_until(Time(5_000_000_000), &mut |_| ControlFlow::Continue(()));
        ran.expect("not interrupted");
    }
    let queue = measured.present().find(|value| value.0 == "queues");
    let (_, name, quantity, value) = queue.expect("the queue of the access point");
    let reading = read.read();
    assert_eq!(reading["now"]["queues"][0]["name"], name);
    assert_eq!(reading["now"]["queues"][0][quantity], value);
    let (length, measures) = measured.measure();
    assert_eq!(length, Span(5_000_000_000));
    let mut seen = 0;
    for (list, items) in measures.expect("time has passed").lists {
        for (index, item) in items.iter().enumerate() {
            for (quantity, value) in &item.values {
                let own = reading[list][index].get(*quantity).and_then(Value::as_f64);
                assert_eq!(
                    own,
                    value.filter(|_| has_interval(quantity)),
                    "{list} {quantity}"
                );
                seen += usize::from(own.is_some());
            }
        }
    }
    assert!(seen > 40, "{seen}");
}

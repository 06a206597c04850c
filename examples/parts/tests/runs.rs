//! Tests that scenario files with the plugins are parsed and run, and that invalid settings are
//! refused.

use std::ops::ControlFlow;

use lasthop_engine::run;
use lasthop_engine::scenario::{Format, Problem, Scenario};
use parts_from_outside::parts;

const FILE: &str = r#"
duration = "200 s"
replications = 2
dumbbell = { bottleneck = "50 Mbps", rtt = "50 ms", flows = 1 }
queue = { limit = 1000, lottery = { p = 0.001 } }
tcp = { congestion = "scalable", window = 2000, delayed_ack = false }
"#;

fn parse(text: &str, settings: &[(&str, &str)]) -> Result<Scenario, Vec<Problem>> {
    let settings = settings.iter();
    let settings: Vec<_> = settings.map(|(k, v)| ((*k).into(), (*v).into())).collect();
    parts().parse(text, Format::Toml, "x.toml", &settings)
}

/// Returns the mean of `quantity` for the first item of a list.
fn mean(scenario: &Scenario, list: &str, quantity: &str) -> f64 {
    let result = run(scenario, 1, &|_| ControlFlow::Continue(())).expect("it runs");
    result.summary()[list][0][quantity]["mean"]
        .as_f64()
        .expect("it is measured")
}

/// In equilibrium, each ACK adds `gain` to the window w, and each loss (probability p = 0.001) removes the fraction
/// `loss` of w. Therefore p w loss = gain, and w = 80. There are w p = 0.08 losses per round trip, and each loss stops
/// growth for one round trip. The mean window is therefore up to 10 % smaller.
#[test]
fn a_window_is_where_gains_and_losses_meet() {
    let fine = parse(FILE, &[]).expect("no problem");
    let window = mean(&fine, "flows", "cwnd_packets");
    assert!((68.0..=84.0).contains(&window), "{window}");
    let drops = mean(&fine, "queues", "drop_probability");
    assert!((drops / 0.001 - 1.0).abs() < 0.2, "{drops}");
}

#[test]
fn settings_are_read_where_their_tables_stand() {
    let eager = parse(FILE, &[("tcp.scalable.gain", "0.02")]).expect("no problem");
    let usual = parse(FILE, &[]).expect("no problem");
    let window = |scenario| mean(scenario, "flows", "cwnd_packets");
    let ratio = window(&eager) / window(&usual);
    assert!(
        (1.6..=2.4).contains(&ratio),
        "twice the gain, twice the window: {ratio}"
    );
}

#[test]
fn what_is_wrong_is_told_as_of_any_other_part() {
    let told = |settings: &[(&str, &str)]| {
        let problems = parse(FILE, settings).expect_err("something is wrong");
        problems[0].to_string()
    };
    assert_eq!(
        told(&[("queue.lottery.p", "1.5")]),
        "--set queue.lottery.p=1.5: `queue.lottery.p`: 1.5 is not below 1; expected a number from \
         0 to below 1"
    );
    let word = told(&[("tcp.congestion", "scaleable")]);
    assert!(word.ends_with(", \"scalable\""), "{word}");
    let twice = told(&[("queue.codel", "{}")]);
    assert!(twice.contains("a second discipline"), "{twice}");
}

//! Tests of events that are longer than a step of a session: chunks, reports and pings.

use super::*;

const APPLICATIONS: &str = r#"
duration = "12 s"
warmup = "2 s"
cell = { phy = "802.11n", mcs = 3, ap_queue = 60 }
wire = { rate = "6 Mbps", delay = "20 ms", queue = 60 }
[station.laptop]
ping = { every = "300 ms", deadline = "100 ms" }
download.video = { size = "700 kB", every = "1 s" }
download.files = {}
[station.meter]
sensor_up = { every = "500 ms", deadline = "2 s" }
sensor_down = { every = "400 ms", deadline = "60 ms" }
"#;

/// Quantities that count events. Each is a number, or the product of two values.
const COUNTS: [[&str; 2]; 3] = [
    ["chunks", ""],
    ["late_chunks", ""],
    ["reports", "report_delivery"],
];

/// Returns the sums of the counts over the flows of a reading.
fn counts(flows: &Value) -> [f64; 3] {
    COUNTS.map(|[count, factor]| {
        let flows = flows.as_array().into_iter().flatten();
        let of = |flow: &Value| {
            flow[count].as_f64().unwrap_or(0.0) * flow[factor].as_f64().unwrap_or(1.0)
        };
        flows.map(of).sum()
    })
}

#[test]
fn chunks_and_reports_of_short_steps_add_up_to_those_of_one_run() {
    let scenario = with(APPLICATIONS, &[]);
    let measured = |step_ms: u64| {
        let mut session = session(&scenario);
        step(&mut session, 2_000);
        let mut sums = [0.0; 3];
        for ms in (2_000..12_000).step_by(step_ms as usize) {
            let reading = step(&mut session, 12_000.min(ms + step_ms));
            for (sum, count) in sums.iter_mut().zip(counts(&reading["flows"])) {
                *sum += count;
            }
        }
        sums
    };
    let of_one_run = measured(10_000);
    assert!(
        of_one_run.iter().all(|&count| count >= 2.0),
        "{of_one_run:?}"
    );
    for step_ms in [7, 130, 999, 1_000, 3_300] {
        let sums = measured(step_ms);
        for (sum, count) in sums.iter().zip(of_one_run) {
            assert!(
                (sum - count).abs() < 1e-9,
                "{step_ms} ms: {sums:?} {of_one_run:?}"
            );
        }
    }
}

/// A chunk that arrives, and after which no other begins, counts: a completion time without a chunk
/// would be a contradiction.
#[test]
fn a_chunk_counts_if_its_period_is_longer_than_the_run() {
    let scenario = with(
        APPLICATIONS,
        &[
            ("station.laptop.download.video.every", "100 s"),
            ("warmup", "0 s"),
        ],
    );
    let mut session = session(&scenario);
    let reading = step(&mut session, 12_000);
    let of = |quantity| value(&reading, "flows", "laptop/down/video/1", quantity);
    assert_eq!((of("chunks"), of("late_chunks")), (Some(1.0), Some(0.0)));
    assert!(of("chunk_completion_s").is_some_and(|time| time > 0.9));
}

/// The round-trip time of a ping belongs to the step in which the reply arrives. A step that is
/// shorter than the deadline has it too.
#[test]
fn pings_count_in_steps_that_are_shorter_than_their_deadline() {
    let scenario = with(APPLICATIONS, &[("station.laptop.ping.deadline", "1 s")]);
    let mut session = session(&scenario);
    step(&mut session, 2_000);
    let mut replies = 0;
    for ms in (2_050..=12_000).step_by(50) {
        let reading = step(&mut session, ms);
        let rtt = value(&reading, "flows", "laptop/ping/1", "rtt_s");
        replies += u32::from(rtt.is_some());
    }
    // pings are sent for 9 s: those of the last second have their deadline after the end
    assert!((28..=30).contains(&replies), "{replies}");
}

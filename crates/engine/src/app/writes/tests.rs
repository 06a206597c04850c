//! Tests of the times at which applications write.

use super::*;
use crate::kernel::streams::Streams;

const MS: u64 = 1_000_000;

/// Segments of 1000 B. At 8 Mb/s a segment takes 1 ms.
const PLAIN: WriteSettings = WriteSettings {
    mss_bytes: 1_000,
    rate_bps: Some(8_000_000),
    size_bytes: None,
    periods: Periods::Always,
    arrivals: Gaps::Constant,
};

fn opened(settings: &WriteSettings, at: u64) -> Writes {
    let mut writes = Writes::new(settings, Streams::new(1, 0).stream("writes"));
    assert_eq!(writes.deadline(), Time::NEVER);
    writes.open(Time(at));
    writes
}

/// Returns the times and numbers of the segments that are written before `end`.
fn written(writes: &mut Writes, end: u64) -> Vec<(u64, u32)> {
    let mut all = Vec::new();
    while writes.deadline() < Time(end) {
        let now = writes.deadline();
        if let Write::Segments(count) = writes.act(now) {
            all.push((now.0, count));
        }
    }
    all
}

#[test]
fn a_rate_writes_a_segment_when_its_last_byte_is_produced() {
    let mut writes = opened(&PLAIN, 5);
    let times = written(&mut writes, 4 * MS);
    assert_eq!(times, [(MS + 5, 1), (2 * MS + 5, 1), (3 * MS + 5, 1)]);
    writes.close();
    assert_eq!(writes.deadline(), Time::NEVER);
}

/// At 3 Mb/s a segment takes 8/3 ms, which is not a whole number of nanoseconds. After 3,000
/// segments the time is exactly 8 s.
#[test]
fn intervals_do_not_drift() {
    let thirds = WriteSettings {
        rate_bps: Some(3_000_000),
        ..PLAIN
    };
    let mut writes = opened(&thirds, 0);
    let times = written(&mut writes, 8_000 * MS + 1);
    assert_eq!(times[0], (2_666_667, 1));
    assert_eq!((times.len(), times[2_999].0), (3_000, 8_000 * MS));
}

/// 2500 B are three segments, of which the last has 500 B and takes half of the time.
#[test]
fn the_last_interval_is_as_short_as_the_last_segment() {
    let finite = WriteSettings {
        size_bytes: Some(2_500),
        ..PLAIN
    };
    let mut writes = opened(&finite, 0);
    let times = written(&mut writes, 1_000 * MS);
    assert_eq!(times, [(MS, 1), (2 * MS, 1), (5 * MS / 2, 1)]);
    assert_eq!((finite.segments(), finite.missing_bytes()), (Some(3), 500));
    assert_eq!([1, 2, 3].map(|n| finite.missing_of(n)), [0, 0, 500]);
    assert!(writes.is_last(2) && !writes.is_last(1));
}

#[test]
fn chunks_begin_with_the_flow_and_then_once_per_period() {
    let chunks = WriteSettings {
        rate_bps: None,
        size_bytes: Some(2_500),
        periods: Periods::Chunks(Span(10 * MS)),
        ..PLAIN
    };
    let mut writes = opened(&chunks, 3);
    let times = written(&mut writes, 25 * MS);
    assert_eq!(times, [(3, 3), (10 * MS + 3, 3), (20 * MS + 3, 3)]);
    assert_eq!(chunks.total_segments(), None);
}

#[test]
fn chunks_at_a_rate_are_written_one_after_the_other() {
    let chunks = WriteSettings {
        size_bytes: Some(2_000),
        periods: Periods::Chunks(Span(10 * MS)),
        ..PLAIN
    };
    let times = written(&mut opened(&chunks, 0), 13 * MS);
    assert_eq!(times, [(MS, 1), (2 * MS, 1), (11 * MS, 1), (12 * MS, 1)]);
    // a chunk that takes longer than its period delays the next one
    let late = WriteSettings {
        size_bytes: Some(12_000),
        ..chunks
    };
    let times = written(&mut opened(&late, 0), 25 * MS);
    let expected: Vec<(u64, u32)> = (1..25).map(|ms| (ms * MS, 1)).collect();
    assert_eq!(times, expected);
}

/// On for 2.5 ms, off for 10 ms. Half a segment is produced at the end of each first time on, and is
/// completed in the second.
#[test]
fn production_stops_while_the_application_is_off() {
    let on_off = WriteSettings {
        periods: Periods::OnOff(Span(5 * MS / 2), Span(10 * MS)),
        ..PLAIN
    };
    let times = written(&mut opened(&on_off, 0), 26 * MS);
    let ms = |tenths: u64| (tenths * MS / 10, 1);
    assert_eq!(times, [ms(10), ms(20), ms(130), ms(140), ms(150)]);
}

#[test]
fn without_a_rate_the_connection_is_open_while_the_application_is_on() {
    let greedy = WriteSettings {
        rate_bps: None,
        periods: Periods::OnOff(Span(2 * MS), Span(8 * MS)),
        ..PLAIN
    };
    let mut writes = opened(&greedy, 0);
    let mut step = || {
        let now = writes.deadline();
        (now.0 / MS, writes.act(now))
    };
    let steps = [step(), step(), step()];
    let expected = [(0, Write::Resume), (2, Write::Pause), (10, Write::Resume)];
    assert_eq!(steps, expected);
}

/// The standard error of the mean of 100,000 exponential times is 0.32 %.
#[test]
fn exponential_periods_keep_their_means() {
    let mut total = [0; 2];
    let settings = WriteSettings {
        rate_bps: None,
        periods: Periods::OnOff(Span(2 * MS), Span(8 * MS)),
        arrivals: Gaps::Poisson,
        ..PLAIN
    };
    let mut writes = opened(&settings, 0);
    for _ in 0..100_000 {
        for sum in &mut total {
            let now = writes.deadline();
            writes.act(now);
            *sum += writes.deadline().since(now).0;
        }
    }
    for (sum, mean) in total.into_iter().zip([2.0, 8.0]) {
        let measured = sum as f64 / 1e5 / MS as f64;
        assert!((measured / mean - 1.0).abs() < 0.013, "{measured}");
    }
}

#[test]
fn chunks_are_late_if_the_next_one_begins_before_their_arrival() {
    let chunks = WriteSettings {
        rate_bps: None,
        size_bytes: Some(2_000),
        periods: Periods::Chunks(Span(10 * MS)),
        ..PLAIN
    };
    let mut writes = opened(&chunks, 0);
    written(&mut writes, 35 * MS); // chunks at 0, 10, 20 and 30 ms
    for (ms, segments) in [(4, 2), (15, 1), (22, 1), (27, 2)] {
        writes.arrive_in_order(Time(ms * MS), segments);
    }
    let between = |from: u64, to: u64, end: u64| {
        let [from, to, end] = [from, to, end].map(|ms| Time(ms * MS));
        Interval::new(from, to, Time::ZERO, end)
    };
    let of = |interval| writes.tally(&interval).unwrap();
    let tally = of(between(0, 35, 35));
    // the outcome of the chunk of 30 ms is not known
    assert_eq!((tally.made, tally.late), (3, 1));
    assert_eq!(tally.times, [Span(4 * MS), Span(7 * MS), Span(12 * MS)]);
    // a chunk without a successor counts from its arrival
    let first = of(between(0, 9, 9));
    assert_eq!((first.made, first.late), (1, 0));
    // every chunk belongs to one of the intervals, however short they are
    for length in 1..9 {
        let parts = (0..35).step_by(length);
        let parts = parts.map(|from| of(between(from, 35.min(from + length as u64), 35)));
        let sum = parts.fold([0; 3], |[made, late, times], part| {
            [
                made + part.made,
                late + part.late,
                times + part.times.len() as u64,
            ]
        });
        assert_eq!(sum, [3, 1, 3], "steps of {length} ms");
    }
    let plain = Writes::new(&PLAIN, Streams::new(1, 0).stream("writes"));
    assert!(plain.tally(&between(0, 1, 1)).is_none());
}

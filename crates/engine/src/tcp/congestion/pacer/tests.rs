use super::*;

const MS: u64 = 1_000_000;
const US: u64 = 1_000;

/// A segment is due every ms. The segment of 2.0 ms leaves at 2.3 ms, so that the next gap is 0.7
/// ms. The segment of 3.0 ms leaves at 4.8 ms, 1.8 ms late: the next gap is halved, and the rest of
/// the credit is lost.
#[test]
fn a_late_segment_shortens_the_next_gap_by_up_to_a_half() {
    let mut pacer = Pacer::new();
    pacer.on_sent(Time(MS), Span(MS), 1);
    // the first departure time is 0, so that the first segment counts as late, too
    assert_eq!(pacer.earliest_departure(Time(MS)), Time(1_500 * US));
    pacer.on_sent(Time(1_500 * US), Span(500 * US), 1);
    assert_eq!(pacer.next_burst(), Time(2 * MS));
    pacer.on_sent(Time(2_300 * US), Span(MS), 1);
    assert_eq!(pacer.next_burst(), Time(3 * MS));
    pacer.on_sent(Time(4_800 * US), Span(MS), 1);
    assert_eq!(pacer.next_burst(), Time(5_300 * US));
    pacer.on_sent(Time(5_300 * US), Span(MS), 1);
    assert_eq!(pacer.next_burst(), Time(6_300 * US));
}

/// A burst of three segments leaves at once. The next burst follows after three gaps. A burst that
/// the window cuts to one segment is followed after one gap.
#[test]
fn segments_of_a_burst_leave_simultaneously() {
    let mut pacer = Pacer::new();
    pacer.on_sent(Time(10 * MS), Span::ZERO, 1);
    let now = Time(10 * MS);
    for segment in 1..=3 {
        assert_eq!(pacer.earliest_departure(now), now);
        pacer.on_sent(now, Span(MS), 3);
        assert_eq!(pacer.next_burst(), Time((10 + segment) * MS));
    }
    assert_eq!(pacer.earliest_departure(now), Time(13 * MS));
    let now = Time(13 * MS);
    pacer.on_sent(now, Span(MS), 3);
    assert_eq!(pacer.earliest_departure(now), now);
    assert_eq!(pacer.earliest_departure(Time(13_500 * US)), Time(14 * MS));
}

#[test]
fn without_bursts_and_credit_no_gap_is_shortened() {
    let mut pacer = Pacer::new();
    for ms in [5, 9, 30] {
        pacer.on_sent_singly(Time(ms * MS), Span(MS));
        assert_eq!(pacer.earliest_departure(Time(ms * MS)), Time((ms + 1) * MS));
    }
}

/// 20 Mb/s are 2.5 MB/s: 1/1024 s are 2441 bytes, or one segment of 1460 bytes, and the minimum is
/// two. 1 Gb/s are 122,070 bytes, more than the maximum of 44 segments. At 100 Mb/s 12,207 bytes are
/// 8 segments. With a minimum round-trip time of 2 ms, 65,215 / 2^3 = 8151 bytes are added: 20,358
/// bytes are 13 segments.
#[test]
fn a_burst_is_a_millisecond_of_the_rate() {
    let of = |rate_bps: u64, rtt_ms: u64| burst_segments(rate_bps / 8, Span(rtt_ms * MS), 1460, 2);
    assert_eq!(of(20_000_000, 50), 2);
    assert_eq!(of(1_000_000_000, 50), 44);
    assert_eq!(of(100_000_000, 50), 8);
    assert_eq!(of(100_000_000, 2), 13);
    assert_eq!(burst_goal(100_000_000 / 8, 1460, 2), 8);
    assert_eq!(burst_goal(u64::MAX, 100, 2), 127);
    assert_eq!(burst_goal(1, 1460, 1), 1);
}

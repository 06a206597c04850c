use super::*;

const MS: u64 = 1_000_000;

fn at(ms: u64) -> Time {
    Time(ms * MS)
}

/// Four segments are sent at 0, 1, 2 and 3 ms. Their ACKs arrive at 100, 110, 120 and 130 ms: the
/// path delivers one segment per 10 ms.
///
/// The first segment was sent while nothing was outstanding, so that its sample begins with its
/// transmission: one segment in 100 ms. A fifth segment is sent on the first ACK (at 100 ms), and its
/// ACK arrives at 140 ms. Four segments were acknowledged from 100 to 140 ms, but sent from 0 to 100
/// ms, so that the interval is 100 ms. A sixth segment is sent on the second ACK (at 110 ms), and its
/// ACK arrives at 150 ms: four segments were acknowledged from 110 to 150 ms, and sent from 1 to 110
/// ms.
#[test]
fn a_sample_worked_by_hand() {
    let mut rate = DeliveryRate::new();
    let sent: Vec<Snapshot> = (0..4).map(|ms| rate.on_sent(at(ms), ms == 0)).collect();
    let first = rate.on_delivered(at(100), 1, sent[0]);
    assert_eq!((first.delivered, first.interval), (1, Span(100 * MS)));
    let fifth = rate.on_sent(at(100), false);
    let second = rate.on_delivered(at(110), 1, sent[1]);
    // P.delivered_time is 0 for all four, because no ACK had arrived when they were sent
    assert_eq!((second.delivered, second.interval), (2, Span(110 * MS)));
    let sixth = rate.on_sent(at(110), false);
    for (segment, ms) in [(2, 120), (3, 130)] {
        let sample = rate.on_delivered(at(ms), 1, sent[segment]);
        assert_eq!(sample.delivered, segment as u32 + 1);
        assert_eq!(sample.interval, Span(ms * MS));
    }
    let sample = rate.on_delivered(at(140), 1, fifth);
    assert_eq!((sample.delivered, sample.prior_delivered), (4, 2));
    assert_eq!(sample.interval, Span(100 * MS));
    let sample = rate.on_delivered(at(150), 1, sixth);
    assert_eq!((sample.delivered, sample.interval), (4, Span(109 * MS)));
}

/// Two ACKs were delayed and arrive together at 200 ms. The second segment was sent 80 ms after the
/// first segment, so that the rate is at most one segment per 80 ms, although the time between the
/// ACKs is 0.
#[test]
fn acks_that_arrive_together_do_not_raise_the_rate() {
    let mut rate = DeliveryRate::new();
    let first = rate.on_sent(at(0), true);
    rate.on_delivered(at(100), 1, first);
    let second = rate.on_sent(at(100), false);
    let third = rate.on_sent(at(180), false);
    rate.on_delivered(at(200), 1, second);
    // P.delivered_time of the third segment is 100 ms, when the first ACK arrived
    let sample = rate.on_delivered(at(200), 1, third);
    assert_eq!((sample.delivered, sample.interval), (2, Span(180 * MS)));
}

/// The application pauses while two segments are in flight. Segments sent from then on give
/// application-limited samples, until the two segments and one more have arrived.
#[test]
fn samples_are_application_limited_until_the_segments_in_flight_have_arrived() {
    let mut rate = DeliveryRate::new();
    let sent: Vec<Snapshot> = (0..2).map(|ms| rate.on_sent(at(ms), ms == 0)).collect();
    rate.on_app_limited(2);
    assert!(rate.is_app_limited());
    let later = rate.on_sent(at(5), false);
    assert!(!rate.on_delivered(at(50), 1, sent[0]).is_app_limited);
    assert!(!rate.on_delivered(at(51), 1, sent[1]).is_app_limited);
    assert!(rate.is_app_limited());
    assert!(rate.on_delivered(at(55), 1, later).is_app_limited);
    assert!(!rate.is_app_limited());
    let last = rate.on_sent(at(56), false);
    assert!(!rate.on_delivered(at(106), 1, last).is_app_limited);
}

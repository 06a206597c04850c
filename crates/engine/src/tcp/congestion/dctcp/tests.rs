use super::*;
use crate::kernel::time::Time;
use crate::tcp::congestion::tests::Driver;

/// Returns the mark report of an ACK of `acked` segments up to `snd_una`. `marked` of these
/// segments are marked, and ten segments are outstanding.
pub(in crate::tcp::congestion) fn report(snd_una: u32, acked: u32, marked: u32) -> MarkReport {
    MarkReport {
        now: Time::ZERO,
        acked,
        marked,
        snd_una,
        snd_nxt: snd_una + 10,
        srtt: None,
    }
}

/// Computes alpha by RFC 8257, section 3.3, with the gain g = 1/16. In successive windows of data
/// none, half, all and none of the segments are marked. The first ACK ends a window of data that
/// consists of one segment.
#[test]
fn alpha_worked_by_hand() {
    let mut dctcp = Dctcp::new();
    let mut alphas = vec![dctcp.fraction.alpha()];
    let mut una = 0;
    let mut ack = |acked, marked| {
        una += acked;
        dctcp.on_marks(&report(una, acked, marked));
        alphas.push(dctcp.fraction.alpha());
    };
    ack(1, 0); // alpha is 1 - 1/16; the next window of data ends with segment 11
    ack(5, 0);
    ack(5, 5); // these segments end with 11, and only an ACK beyond 11 ends the window of data
    ack(2, 2); // acknowledged up to segment 13: 7 of 12 segments are marked, and the next window of data ends with 23
    ack(12, 12); // all segments are marked
    ack(12, 0); // no segment is marked
    let second = 15.0 / 16.0 * 0.9375 + 7.0 / 12.0 / 16.0;
    let third = 15.0 / 16.0 * second + 1.0 / 16.0;
    let expected = [
        1.0,
        0.9375,
        0.9375,
        0.9375,
        second,
        third,
        15.0 / 16.0 * third,
    ];
    assert_eq!(alphas.len(), expected.len());
    for (actual, expected) in alphas.iter().zip(expected) {
        assert!((actual - expected).abs() < 1e-15, "{actual} for {expected}");
    }
}

#[test]
fn what_marks_leave() {
    let mut driver = Driver::new(Dctcp::new(), 40.0);
    let left = |driver: &mut Driver<Dctcp>| {
        let report = report(1, 1, 1);
        driver
            .algorithm
            .decrease_by_marks(&driver.window, &report, 39)
    };
    assert_eq!(left(&mut driver), Some(20.0)); // alpha is 1, so marks halve the window
    driver.algorithm.on_marks(&report(1, 1, 0));
    assert_eq!(left(&mut driver), Some(40.0 * (1.0 - 0.9375 / 2.0)));
    driver.window.cwnd = 2.5;
    assert_eq!(left(&mut driver), Some(2.0));
    // a loss halves the window for any alpha
    assert_eq!(driver.algorithm.decrease(&driver.window, 40), 20.0);
}

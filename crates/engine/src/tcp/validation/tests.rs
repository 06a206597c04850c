//! Tests of the window after idle time, computed by hand.
//!
//! The path has a round-trip time of 100 ms, and every segment is acknowledged by itself.

use std::collections::VecDeque;

use super::*;
use crate::kernel::time::{Span, Time};
use crate::tcp::pipe::{MS, plain, settings};
use crate::tcp::{Blocks, CongestionAlgorithm, Sender, TcpSettings};

/// A sender, and the ACKs on their way to it, each with its arrival time, its number and its echo.
pub(super) struct Driver {
    pub(super) sender: Sender,
    acks: VecDeque<(Time, u32, Time)>,
    /// Time of the last transmission.
    sent: Time,
}

impl Driver {
    fn new(after_idle: AfterIdle) -> Driver {
        Driver::with(&TcpSettings {
            after_idle,
            window_packets: 100,
            initial_cwnd_packets: 10,
            ..settings(CongestionAlgorithm::NewReno)
        })
    }

    pub(super) fn with(settings: &TcpSettings) -> Driver {
        Driver {
            sender: Sender::new(settings),
            acks: VecDeque::new(),
            sent: Time::ZERO,
        }
    }

    fn poll(&mut self, now: Time) {
        while let Some(segment) = self.sender.next_segment(now) {
            self.sent = now;
            let arrives = now + Span(100 * MS);
            self.acks.push_back((arrives, segment.number + 1, now));
        }
    }

    /// Returns the time of the last transmission.
    pub(super) fn sent(&self) -> Time {
        self.sent
    }

    /// Returns the arrival time of the next ACK.
    pub(super) fn next_ack(&self) -> Time {
        self.acks.front().expect("segments are outstanding").0
    }

    /// Processes the ACKs that arrive by `now`.
    pub(super) fn run(&mut self, now: Time) {
        while let Some(&(at, next, echo)) = self.acks.front()
            && at <= now
        {
            self.acks.pop_front();
            let ack = plain(next, echo);
            match self.sender.needs_blocks(&ack) {
                true => self.sender.on_sack(at, ack, &Blocks::default()),
                false => self.sender.on_ack(at, ack),
            }
            self.poll(at);
        }
    }

    /// Writes `segments` segments at `now`. Returns the window before they are sent.
    pub(super) fn write(&mut self, now: Time, segments: u32) -> f64 {
        self.run(now);
        self.sender.supply(now, segments);
        let cwnd = self.sender.cwnd();
        self.poll(now);
        cwnd
    }

    /// Writes 30 segments at the start. They are sent as 10 at 0 ms and 20 at 100 ms, so that the
    /// window is 40 after 200 ms.
    fn begin(after_idle: AfterIdle) -> Driver {
        let mut driver = Driver::new(after_idle);
        driver.write(Time::ZERO, 30);
        driver.run(Time(200 * MS));
        assert_eq!((driver.sent, driver.sender.cwnd()), (Time(100 * MS), 40.0));
        assert_eq!(
            (driver.sender.flight(), driver.sender.ssthresh()),
            (0, 100.0)
        );
        driver
    }

    fn rto(&self) -> Span {
        self.sender.view(Time::ZERO).rto
    }
}

/// Returns the window and ssthresh after a write that follows the last transmission by `rtos`
/// retransmission timeouts and `more` nanoseconds.
fn after(rule: AfterIdle, rtos: u64, more: u64) -> (f64, f64) {
    let mut driver = Driver::begin(rule);
    let rto = driver.rto();
    assert!((200 * MS..300 * MS).contains(&rto.0), "{rto:?}");
    let now = driver.sent + rto * rtos + Span(more);
    (driver.write(now, 1), driver.sender.ssthresh())
}

#[test]
fn the_window_is_kept_without_a_rule() {
    assert_eq!(after(AfterIdle::Keep, 50, 0), (40.0, 100.0));
}

#[test]
fn the_initial_window_follows_idle_time_of_more_than_an_rto() {
    assert_eq!(after(AfterIdle::Rfc5681, 1, 0), (40.0, 100.0));
    assert_eq!(after(AfterIdle::Rfc5681, 1, 1), (10.0, 100.0));
    assert_eq!(after(AfterIdle::Rfc5681, 50, 0), (10.0, 100.0));
}

#[test]
fn a_window_below_the_initial_window_is_not_increased_by_a_restart() {
    let mut driver = Driver::begin(AfterIdle::Rfc5681);
    driver.sender.congestion.window.cwnd = 4.0;
    assert_eq!(driver.write(Time(1_000 * MS), 1), 4.0);
}

#[test]
fn linux_halves_the_window_for_each_further_rto() {
    assert_eq!(after(AfterIdle::Linux, 1, 0), (40.0, 100.0));
    assert_eq!(after(AfterIdle::Linux, 1, 1), (20.0, 100.0));
    assert_eq!(after(AfterIdle::Linux, 2, 0), (20.0, 100.0));
    assert_eq!(after(AfterIdle::Linux, 2, 1), (10.0, 100.0));
    assert_eq!(after(AfterIdle::Linux, 50, 0), (10.0, 100.0));
}

/// Three quarters of 40 are 30, which exceed a threshold of 16.
#[test]
fn linux_raises_ssthresh_to_three_quarters_of_the_window() {
    let mut driver = Driver::begin(AfterIdle::Linux);
    driver.sender.congestion.window.ssthresh = 16.0;
    driver.write(Time(10_000 * MS), 1);
    assert_eq!(driver.sender.ssthresh(), 30.0);
}

/// Four segments per round trip use 4 of 40 packets. The window moves half of the way to the initial
/// window of 10 packets once per RTO: 25, 17, 13. Without a rule it grows by 4 per round trip.
#[test]
fn linux_reduces_a_window_that_is_not_used() {
    let windows = |rule: AfterIdle| {
        let mut driver = Driver::begin(rule);
        let mut windows = Vec::new();
        for round in 2..16 {
            driver.write(Time(100 * round * MS), 4);
            windows.push(driver.sender.cwnd());
        }
        windows.dedup();
        windows
    };
    assert_eq!(windows(AfterIdle::Linux)[..4], [40.0, 25.0, 17.0, 13.0]);
    assert_eq!(windows(AfterIdle::Keep)[..3], [40.0, 44.0, 48.0]);
    assert_eq!(windows(AfterIdle::Rfc5681)[..3], [40.0, 44.0, 48.0]);
}

/// 20 segments were acknowledged in the second round trip, half of 40 packets. The window grows by
/// one packet, is then not validated, and is kept.
#[test]
fn rfc_7661_keeps_a_window_that_is_not_used() {
    let mut driver = Driver::begin(AfterIdle::Rfc7661);
    for round in 2..3_000 {
        driver.write(Time(100 * round * MS), 4);
    }
    assert_eq!(
        (driver.sender.cwnd(), driver.sender.ssthresh()),
        (41.0, 100.0)
    );
    // five minutes after the window was validated last, at 0.3 s, it is halved
    driver.write(Time(300_300 * MS), 4);
    assert_eq!(driver.sender.cwnd(), 41.0);
    driver.write(Time(300_400 * MS), 4);
    assert_eq!(
        (driver.sender.cwnd(), driver.sender.ssthresh()),
        (20.5, 100.0)
    );
    // after another five minutes the window is not reduced below the initial window
    driver.write(Time(601_000 * MS), 4);
    assert_eq!(driver.sender.cwnd(), 10.25);
    driver.write(Time(901_000 * MS), 4);
    assert_eq!(driver.sender.cwnd(), 10.0);
}

#[test]
fn rfc_7661_does_not_restart_after_idle_time() {
    assert_eq!(after(AfterIdle::Rfc7661, 50, 0), (40.0, 100.0));
}

/// In the non-validated phase a loss leaves half of what was used: 8 of 41 packets.
#[test]
fn a_loss_of_a_window_that_is_not_used_leaves_half_of_its_use() {
    let view = SenderView {
        now: Time(5_000 * MS),
        snd_una: 100,
        snd_nxt: 108,
        rto: Span(200 * MS),
        srtt: Some(Span(100 * MS)),
    };
    let mut validation = Validation::new(AfterIdle::Rfc7661, 10).unwrap();
    let mut window = Window::new(41.0, 100.0, 100.0);
    validation.on_ack(92, &view, &mut window);
    let used = SenderView {
        snd_una: 108,
        ..view
    };
    validation.on_ack(100, &used, &mut window);
    assert!(!validation.may_grow(&window));
    // the congestion control has reduced the window by a tenth, and has inflated it by 3
    (window.ssthresh, window.cwnd) = (36.0, 39.0);
    validation.on_loss(&view, 8, &mut window);
    assert_eq!((window.ssthresh, window.cwnd), (8.0, 11.0));
    assert!(validation.may_grow(&window));
}

/// A greedy sender has the same window with and without each rule, because it is never idle and
/// uses its window.
#[test]
fn a_sender_with_data_is_not_affected() {
    for sack in [false, true] {
        let windows = |after_idle| {
            let mut driver = Driver::with(&TcpSettings {
                after_idle,
                sack,
                window_packets: 100,
                ..settings(CongestionAlgorithm::NewReno)
            });
            driver.write(Time::ZERO, 100_000);
            let mut windows = Vec::new();
            for round in 1..40 {
                driver.run(Time(100 * round * MS));
                windows.push(driver.sender.cwnd());
            }
            windows
        };
        let kept = windows(AfterIdle::Keep);
        for rule in AfterIdle::ALL {
            assert_eq!(windows(rule), kept, "{rule:?}");
        }
    }
}

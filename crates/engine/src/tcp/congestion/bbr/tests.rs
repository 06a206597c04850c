//! Tests of BBR with events by hand.

use super::*;
use crate::notation::setting::FileTable;
use crate::tcp::congestion::CongestionAlgorithm;
use crate::tcp::pipe::{MS, settings};

/// Returns settings with BBR, a handshake, immediate ACKs, and a receive window of `window` packets.
pub(super) fn with_bbr(window: u32) -> TcpSettings {
    TcpSettings {
        sack: true,
        rack: true,
        pacing: true,
        handshake: true,
        initial_cwnd_packets: 10,
        window_packets: window,
        ..settings(CongestionAlgorithm::Bbr)
    }
}

/// A sender on a path with a minimum round-trip time of 40 ms.
struct Bench {
    bbr: Bbr,
    window: Window,
    now: Time,
}

/// The properties of an ACK. By default, the ACK begins a round, 30 segments are in flight, and no
/// segment is lost.
#[derive(Clone, Copy)]
struct TestAck {
    /// Delivery rate. [packets per 40 ms]
    rate: u32,
    rtt_ms: u64,
    in_flight: u32,
    newly_lost: u32,
    phase: RecoveryPhase,
    is_app_limited: bool,
    begins_round: bool,
}

const ACK: TestAck = TestAck {
    rate: 40,
    rtt_ms: 40,
    in_flight: 30,
    newly_lost: 0,
    phase: RecoveryPhase::Open,
    is_app_limited: false,
    begins_round: true,
};

impl TestAck {
    fn at(self, rate: u32) -> TestAck {
        TestAck { rate, ..self }
    }

    fn rtt(self, rtt_ms: u64) -> TestAck {
        TestAck { rtt_ms, ..self }
    }

    fn flying(self, in_flight: u32) -> TestAck {
        TestAck { in_flight, ..self }
    }

    fn losing(self, newly_lost: u32) -> TestAck {
        TestAck { newly_lost, ..self }
    }

    fn recovering(self) -> TestAck {
        TestAck {
            phase: RecoveryPhase::Fast,
            ..self
        }
    }

    fn limited(self) -> TestAck {
        TestAck {
            is_app_limited: true,
            ..self
        }
    }

    fn within(self) -> TestAck {
        TestAck {
            begins_round: false,
            ..self
        }
    }

    fn beginning(self) -> TestAck {
        TestAck {
            begins_round: true,
            ..self
        }
    }
}

impl Bench {
    fn new() -> Bench {
        let mut bench = Bench {
            bbr: Bbr::new(BbrSettings::usual().unwrap(), &with_bbr(1_000)),
            window: Window::new(10.0, 1_000.0, 1_000.0),
            now: Time(40 * MS),
        };
        bench.sent(5);
        bench
    }

    /// Processes the transmission of a segment, after which `flight` segments are outstanding.
    fn sent(&mut self, flight: u32) {
        let sent = Sent {
            now: self.now,
            number: 0,
            is_retransmission: false,
            is_probe: false,
            flight,
            srtt: Some(Span(40 * MS)),
        };
        self.bbr.on_sent(&mut self.window, &sent);
    }

    /// Processes an ACK of one segment, `ms` milliseconds after the last event.
    fn ack(&mut self, ms: u64, ack: TestAck) {
        self.now = Time(self.now.0 + ms * MS);
        let bbr = &mut self.bbr;
        let newest = bbr.rate.on_sent(self.now, false);
        bbr.rate.on_delivered(self.now, 1, newest);
        bbr.sample = RateSample {
            now: self.now,
            newly_delivered: 1,
            prior_delivered: match ack.begins_round {
                true => bbr.round_end,
                false => 0,
            },
            delivered: ack.rate,
            interval: Span(40 * MS),
            is_app_limited: ack.is_app_limited,
        };
        let state = Processed {
            now: self.now,
            in_flight_before: ack.in_flight,
            in_flight: ack.in_flight,
            newly_lost: ack.newly_lost,
            lost: 0,
            phase: ack.phase,
            rtt: Some(Span(ack.rtt_ms * MS)),
            min_rtt: Span(40 * MS),
            srtt: Some(Span(40 * MS)),
        };
        bbr.on_ack_processed(&mut self.window, &state);
    }

    /// Returns a sender in ProbeBw with a bandwidth of 40 packets per 40 ms, in phase 0.
    fn in_probe_bw() -> Bench {
        let mut bench = Bench::new();
        (0..4).for_each(|_| bench.ack(40, ACK));
        assert_eq!(bench.bbr.mode, Mode::ProbeBw);
        while bench.bbr.phase != 0 {
            bench.ack(41, ACK);
        }
        bench
    }
}

/// The rate of the first transmissions is 2.89 times 10 packets per 40 ms.
#[test]
fn the_first_rate_is_the_window_per_round_trip() {
    let bench = Bench::new();
    let expected = 0.99 * (739.0 / 256.0) * 10.0 * 1460.0 / 0.04;
    let rate = bench.bbr.pacing_rate as f64;
    assert!((rate / expected - 1.0).abs() < 1e-4, "{rate}, {expected}");
    assert_eq!(bench.bbr.min_rtt_us, Some(40_000));
}

/// The rate doubles for two rounds, and then grows by 10 % once. The pipe is full after three rounds
/// without a growth of 25 %. 60 segments are in flight. At the rate of Startup, 0.99 * 2.89 * 1.606
/// MB/s, a burst has 4484 / 1460 = 3 segments, so that the target of Drain is 44 + 3 * 3 = 53, rounded
/// up to an even number.
#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let mut bench = Bench::new();
    let mut modes = Vec::new();
    for rate in [10, 20, 40, 44, 44, 44] {
        bench.ack(40, ACK.at(rate).flying(60));
        modes.push((bench.bbr.mode, bench.bbr.pacing_gain));
    }
    let startup = (Mode::Startup, 739);
    assert_eq!(modes[..5], [startup; 5]);
    assert_eq!(modes[5], (Mode::Drain, 88));
    assert_eq!(bench.window.ssthresh, 54.0);
    // ACKs within a round do not count
    let mut bench = Bench::new();
    bench.ack(40, ACK);
    let within = ACK.within();
    (0..20).for_each(|_| bench.ack(1, within));
    assert_eq!(bench.bbr.mode, Mode::Startup);
    // application-limited rounds do not count
    let limited = ACK.limited();
    (0..20).for_each(|_| bench.ack(40, limited));
    assert_eq!(bench.bbr.mode, Mode::Startup);
}

/// Drain ends when at most BDP + 3 bursts (46 of a BDP of 40) are in flight.
#[test]
fn drain_ends_when_the_queue_is_empty() {
    let mut bench = Bench::new();
    (0..4).for_each(|_| bench.ack(40, ACK.flying(80)));
    assert_eq!(bench.bbr.mode, Mode::Drain);
    bench.ack(5, ACK.flying(47));
    assert_eq!(bench.bbr.mode, Mode::Drain);
    bench.ack(5, ACK.flying(46));
    assert_eq!(bench.bbr.mode, Mode::ProbeBw);
}

/// Each phase lasts longer than the minimum round-trip time of 40 ms. The phase with gain 5/4 also
/// lasts until 5/4 BDP + 3 bursts + 2 = 58 segments are in the network at the next departure, which
/// includes a burst of two segments. The phase with gain 3/4 ends earlier if BDP + 3 bursts = 46 are
/// left.
#[test]
fn the_gain_cycle_has_eight_phases() {
    let mut bench = Bench::in_probe_bw();
    let probing = ACK.flying(55);
    (0..3).for_each(|_| bench.ack(41, probing));
    assert_eq!((bench.bbr.phase, bench.bbr.pacing_gain), (0, 320));
    bench.ack(1, ACK.flying(56));
    assert_eq!((bench.bbr.phase, bench.bbr.pacing_gain), (1, 192));
    bench.ack(1, ACK.flying(47));
    assert_eq!(bench.bbr.phase, 1);
    bench.ack(1, ACK.flying(46));
    assert_eq!((bench.bbr.phase, bench.bbr.pacing_gain), (2, 256));
    for phase in 3..=7 {
        bench.ack(40, ACK); // not longer than the minimum round-trip time
        assert_eq!(bench.bbr.phase, phase - 1);
        bench.ack(1, ACK);
        assert_eq!((bench.bbr.phase, bench.bbr.pacing_gain), (phase, 256));
    }
    bench.ack(41, ACK);
    assert_eq!((bench.bbr.phase, bench.bbr.pacing_gain), (0, 320));
    // a loss ends the phase with gain 5/4
    bench.ack(41, ACK.losing(1));
    assert_eq!(bench.bbr.phase, 1);
}

/// The first phase is random, but never the phase with gain 3/4.
#[test]
fn the_first_phase_depends_on_the_seed() {
    let mut seen = [0; 8];
    for seed in 0..700 {
        let mut bench = Bench::new();
        bench.bbr.set_seed(seed);
        (0..4).for_each(|_| bench.ack(40, ACK));
        seen[bench.bbr.phase] += 1;
    }
    assert_eq!(seen[1], 0);
    // 100 are expected in each other phase, with a standard deviation of 9.3
    assert!(
        seen.iter()
            .enumerate()
            .all(|(k, &n)| k == 1 || (60..140).contains(&n)),
        "{seen:?}"
    );
}

/// The pacing rate is 99 % of gain times bandwidth: 40 packets of 1460 bytes per 40 ms are 1.46 MB/s.
/// cwnd is 2 BDP + 6, and 2 more in the phase with gain 5/4.
#[test]
fn rate_and_window_worked_by_hand() {
    let mut bench = Bench::in_probe_bw();
    (0..200).for_each(|_| bench.ack(1, ACK.within()));
    let rate = bench.bbr.pacing_rate as f64;
    assert!((rate / (0.99 * 1.25 * 1.46e6) - 1.0).abs() < 1e-3, "{rate}");
    let extra = bench.bbr.aggregation.extra(bench.bbr.bw());
    assert_eq!(
        bench.window.cwnd,
        f64::from((80 + extra + 6).next_multiple_of(2) + 2)
    );
}

/// Without a new minimum for more than 10 s, BBR keeps four segments in flight for 200 ms and one
/// round. The window before is then restored; it is 2 packets smaller outside phase 0.
#[test]
fn probe_rtt_follows_ten_seconds_without_a_new_minimum() {
    let mut bench = Bench::in_probe_bw();
    let queued = ACK.rtt(45);
    let begun = 40; // the minimum is the round-trip time of the handshake, at 40 ms
    while bench.now.0 / MS + 5 <= begun + 10_000 {
        bench.ack(5, queued);
        assert_eq!(bench.bbr.mode, Mode::ProbeBw);
    }
    let before = bench.window.cwnd;
    bench.ack(5, queued);
    assert_eq!((bench.bbr.mode, bench.window.cwnd), (Mode::ProbeRtt, 4.0));
    bench.ack(40, ACK.flying(4).rtt(40));
    for _ in 0..20 {
        bench.ack(10, ACK.flying(4).rtt(40));
        assert_eq!(bench.bbr.mode, Mode::ProbeRtt);
    }
    bench.ack(1, ACK.flying(4).rtt(40));
    assert_eq!(bench.bbr.mode, Mode::ProbeBw);
    assert!(
        bench.window.cwnd >= before - 2.0,
        "{} after {before}",
        bench.window.cwnd
    );
    assert_eq!(bench.bbr.min_rtt_us, Some(40_000));
}

/// In ProbeRtt, samples are application-limited, so that its low rates do not reduce the bandwidth.
/// An application-limited sample counts only if it exceeds the maximum.
#[test]
fn application_limited_samples_only_raise_the_bandwidth() {
    let mut bench = Bench::in_probe_bw();
    let max = bench.bbr.max_bw.max();
    let limited = ACK.limited().at(5);
    (0..30).for_each(|_| bench.ack(40, limited));
    assert_eq!(bench.bbr.max_bw.max(), max);
    bench.ack(40, limited.at(60));
    assert_eq!(bench.bbr.max_bw.max(), Bandwidth::of(60, 40_000));
    // twelve rounds with a lower rate that is not application-limited reduce the bandwidth
    (0..12).for_each(|_| bench.ack(40, ACK.at(5)));
    assert_eq!(bench.bbr.max_bw.max(), Bandwidth::of(5, 40_000));
}

/// After an idle time, BBR sends at the bandwidth, also in the phase with gain 5/4, and does not
/// enter ProbeRtt before a segment has arrived.
#[test]
fn a_restart_after_an_idle_time_sends_at_the_bandwidth() {
    let mut bench = Bench::in_probe_bw();
    let probing = bench.bbr.pacing_rate;
    bench.bbr.on_app_limited(0);
    bench.now = Time(bench.now.0 + 20_000 * MS);
    bench.sent(1);
    let restarted = bench.bbr.pacing_rate;
    assert!((probing as f64 / restarted as f64 - 1.25).abs() < 1e-3);
    assert!(bench.bbr.idle_restart);
    bench.ack(40, ACK.limited());
    assert_eq!(bench.bbr.mode, Mode::ProbeBw);
    assert!(!bench.bbr.idle_restart);
}

/// In the first round of a recovery, cwnd is the number of segments in flight plus the number of
/// segments that arrived. The window before the recovery is restored at its end.
#[test]
fn recovery_conserves_packets_for_a_round() {
    let mut bench = Bench::in_probe_bw();
    let within = ACK.within();
    (0..200).for_each(|_| bench.ack(1, within));
    let before = bench.window.cwnd;
    bench
        .bbr
        .on_loss(&mut bench.window, 40, CongestionSign::Selective);
    let in_recovery = within.recovering().flying(33);
    bench.ack(0, in_recovery.losing(2));
    assert_eq!(bench.window.cwnd, 34.0);
    bench.ack(1, in_recovery.flying(34));
    assert_eq!(bench.window.cwnd, 35.0);
    // after a round, the window grows by the segments that arrive
    bench.ack(1, in_recovery.beginning().flying(20));
    assert_eq!(bench.window.cwnd, 36.0);
    bench.ack(1, within);
    assert_eq!(bench.window.cwnd, before);
}

/// After a timeout, the window is one segment more than is in flight.
#[test]
fn a_timeout_leaves_one_segment_more_than_is_in_flight() {
    let mut bench = Bench::in_probe_bw();
    let before = bench.window.cwnd;
    bench.bbr.on_timeout(&mut bench.window, 40, true);
    let state = Processed {
        now: bench.now,
        in_flight_before: 40,
        in_flight: 0,
        newly_lost: 40,
        lost: 40,
        phase: RecoveryPhase::Timeout,
        rtt: None,
        min_rtt: Span(40 * MS),
        srtt: Some(Span(40 * MS)),
    };
    bench.bbr.on_timeout_processed(&mut bench.window, &state);
    assert_eq!(bench.window.cwnd, 1.0);
    bench.ack(40, ACK.flying(1));
    assert!(bench.window.cwnd >= before, "restored to {before}");
}

//! The client's probes: requests in flight, and whether the server answers. (T is the round-trip
//! time.)
//!
//! ```text
//! Waiting --answer--> Answered --no answer for 20 s, or 3 T--> Silent --answer--> Answered
//!    |                                                           ^
//!    +---------------------no answer for 5 s---------------------+
//! ```

use std::collections::VecDeque;
use std::time::Duration;

use super::packet::{Datagram, Kind, Probe, ProbeKey, datagram};

/// Number of probes per interval of the rule for the number of connections.
const PER_INTERVAL: u32 = 10;
/// Shortest and longest mean time between two probes.
const PROBE_INTERVAL: (Duration, Duration) =
    (Duration::from_millis(100), Duration::from_millis(500));
/// Mean time between two probes while the server does not answer.
const SILENT_INTERVAL: Duration = Duration::from_secs(10);
/// Time without an answer after which the server of a new session is considered silent.
const FIRST_SILENCE: Duration = Duration::from_secs(5);
/// Age at which a probe is considered lost.
const MAX_AGE: Duration = Duration::from_secs(60);

/// State of the probes: whether the server answers them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum State {
    /// No probe was answered yet.
    Waiting {
        /// Time at which the first unanswered probe was sent, or `None` if no probe was sent.
        since: Option<Duration>,
    },
    /// Probes are answered, and the rule for the number of connections uses their round-trip time.
    Answered,
    /// Probes are not answered, and the rule for the number of connections uses the round-trip time of the TCP
    /// connections.
    Silent,
}

/// The probes of one session at the client.
pub(crate) struct Prober {
    key: ProbeKey,
    probe_interval: Duration,
    state: State,
    /// Sequence number of the next request.
    next: u32,
    /// Send times of the last requests, `None` for answered requests. The last element is the
    /// request before `next`.
    sent: VecDeque<Option<Duration>>,
}

impl Prober {
    /// Returns the state of a new session without probes. `was_silent` is true if the server did
    /// not answer the probes of the previous session.
    pub(crate) fn new(key: ProbeKey, interval: Duration, was_silent: bool) -> Prober {
        let state = match was_silent {
            true => State::Silent,
            false => State::Waiting { since: None },
        };
        Prober {
            key,
            probe_interval: (interval / PER_INTERVAL).clamp(PROBE_INTERVAL.0, PROBE_INTERVAL.1),
            state,
            next: 0,
            sent: VecDeque::new(),
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state
    }

    /// Returns the next request, which contains the last measured round-trip time.
    pub(crate) fn request(&mut self, rtt: Option<Duration>, now: Duration) -> Datagram {
        let is_over =
            |sent: &Option<Duration>| sent.is_none_or(|at| now.saturating_sub(at) > MAX_AGE);
        while self.sent.front().is_some_and(is_over) {
            self.sent.pop_front();
        }
        let probe = Probe {
            kind: Kind::Request,
            sequence: self.next,
            rtt_us: rtt.map_or(0, |rtt| u32::try_from(rtt.as_micros()).unwrap_or(u32::MAX)),
        };
        self.sent.push_back(Some(now));
        self.next = self.next.wrapping_add(1);
        if let State::Waiting { since } = &mut self.state {
            since.get_or_insert(now);
        }
        self.key.write(probe)
    }

    /// Returns the round-trip time of the request that the datagram `received` answers. Returns `None`
    /// if the datagram is not the first valid answer to a request.
    pub(crate) fn answer(&mut self, received: &[u8], now: Duration) -> Option<Duration> {
        let probe = self.key.read(datagram(received)?)?;
        if probe.kind != Kind::Answer {
            return None;
        }
        let back = usize::try_from(self.next.wrapping_sub(probe.sequence)).ok()?;
        let index = self.sent.len().checked_sub(back)?;
        let sent = self.sent.get_mut(index)?.take()?;
        self.state = State::Answered;
        Some(now.saturating_sub(sent))
    }

    /// Records that the client stops sending probes for some time, so that missing answers do not
    /// count as silence of the server.
    pub(crate) fn pause(&mut self) {
        if self.state != State::Silent {
            self.state = State::Waiting { since: None };
        }
    }

    /// Updates the state. `is_valid` is true if the last answer is recent enough.
    pub(crate) fn update_state(&mut self, is_valid: bool, now: Duration) {
        let is_silent = match self.state {
            State::Waiting { since } => {
                since.is_some_and(|since| now.saturating_sub(since) >= FIRST_SILENCE)
            }
            State::Answered => !is_valid,
            State::Silent => true,
        };
        if is_silent {
            self.state = State::Silent;
        }
    }

    /// Returns the time until the next request. Depending on `random`, it is 0.5 to 1.5 times the
    /// mean.
    pub(crate) fn pause_before_next(&self, random: u32) -> Duration {
        let mean = match self.state {
            State::Silent => SILENT_INTERVAL,
            _ => self.probe_interval,
        };
        mean.mul_f64(0.5 + f64::from(random) / f64::from(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::noise::{Key, new_key};

    const MS: fn(u64) -> Duration = Duration::from_millis;

    fn both() -> (Prober, ProbeKey) {
        let key = Key::read(&new_key().unwrap()).unwrap();
        let of_server = ProbeKey::new(&key, "name").unwrap();
        let of_client = ProbeKey::new(&key, "name").unwrap();
        (Prober::new(of_client, MS(1_000), false), of_server)
    }

    fn answered(key: &mut ProbeKey, request: &Datagram) -> Datagram {
        let probe = key.read(request).unwrap();
        key.write(Probe {
            kind: Kind::Answer,
            ..probe
        })
    }

    #[test]
    fn the_first_answer_to_each_request_counts_in_any_order() {
        let (mut prober, mut server) = both();
        let requests: Vec<Datagram> = (0..4)
            .map(|index| prober.request(None, MS(100 * index)))
            .collect();
        let answers: Vec<Datagram> = requests
            .iter()
            .map(|request| answered(&mut server, request))
            .collect();
        assert_eq!(prober.answer(&answers[2], MS(250)), Some(MS(50)));
        assert_eq!(prober.answer(&answers[0], MS(260)), Some(MS(260)));
        assert_eq!(prober.answer(&answers[0], MS(900)), None, "once");
        assert_eq!(prober.answer(&requests[1], MS(900)), None, "no answer");
        assert_eq!(prober.answer(&answers[1][..33], MS(900)), None);
        assert_eq!(prober.answer(&answers[1], MS(900)), Some(MS(800)));
        assert_eq!(prober.answer(&answers[3], MS(900)), Some(MS(600)));
        let future = server.write(Probe {
            kind: Kind::Answer,
            sequence: 4,
            rtt_us: 0,
        });
        assert_eq!(prober.answer(&future, MS(900)), None, "was not sent");
    }

    #[test]
    fn a_lost_request_is_forgotten_after_a_minute() {
        let (mut prober, mut server) = both();
        let first = prober.request(None, MS(0));
        for at in 1..2_000 {
            prober.request(None, MS(100 * at));
            assert!(prober.sent.len() <= 602, "{at}");
        }
        let late = answered(&mut server, &first);
        assert_eq!(prober.answer(&late, MS(200_000)), None);
    }

    #[test]
    fn a_request_reports_the_round_trip_time() {
        let (mut prober, mut server) = both();
        let reported = |prober: &mut Prober, server: &mut ProbeKey, rtt| {
            server.read(&prober.request(rtt, MS(0))).unwrap().rtt_us
        };
        assert_eq!(reported(&mut prober, &mut server, None), 0);
        assert_eq!(reported(&mut prober, &mut server, Some(MS(150))), 150_000);
        let long = Some(Duration::from_secs(10_000));
        assert_eq!(reported(&mut prober, &mut server, long), u32::MAX);
    }

    #[test]
    fn a_server_is_silent_after_five_seconds_and_asked_more_rarely() {
        let (mut prober, mut server) = both();
        prober.update_state(false, MS(9_000));
        assert_eq!(prober.state(), State::Waiting { since: None });
        let request = prober.request(None, MS(10_000));
        assert_eq!(prober.pause_before_next(0), MS(50));
        assert_eq!(prober.pause_before_next(u32::MAX), MS(150));
        prober.update_state(false, MS(14_999));
        assert_ne!(prober.state(), State::Silent);
        prober.update_state(false, MS(15_000));
        assert_eq!(prober.state(), State::Silent);
        assert_eq!(prober.pause_before_next(0), MS(5_000));
        prober.pause();
        assert_eq!(prober.state(), State::Silent, "it stays so over a pause");
        let answer = answered(&mut server, &request);
        assert_eq!(prober.answer(&answer, MS(16_000)), Some(MS(6_000)));
        prober.update_state(true, MS(16_000));
        assert_eq!(prober.state(), State::Answered);
        prober.update_state(false, MS(40_000));
        assert_eq!(prober.state(), State::Silent);
    }

    #[test]
    fn a_pause_is_no_silence() {
        let (mut prober, mut server) = both();
        let request = prober.request(None, MS(0));
        prober.answer(&answered(&mut server, &request), MS(100));
        prober.pause();
        prober.update_state(false, MS(60_000));
        assert_eq!(prober.state(), State::Waiting { since: None });
    }

    #[test]
    fn probes_are_a_tenth_of_the_interval_apart_within_bounds() {
        for (interval, gap) in [(100, 100), (1_000, 100), (2_000, 200), (1_000_000, 500)] {
            let key = Key::read(&new_key().unwrap()).unwrap();
            let key = ProbeKey::new(&key, "name").unwrap();
            assert_eq!(
                Prober::new(key, MS(interval), false).probe_interval,
                MS(gap)
            );
        }
    }
}

//! Control of the number of connections in a pool. Once per interval, the relay computes the same
//! control step as the simulator.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use lasthop_engine::control::multi_connection::{Aim, Falls, MultiConnection, Seen};
use lasthop_engine::control::utility::Utility;
use serde::{Deserialize, Serialize};

use crate::kernel::Info;
use crate::probe::estimate::Estimate;
use crate::session::LinkId;

/// Condition under which a connection is stuck: a minimum time without a delivery, and two minimum numbers of
/// round-trip times without a delivery. The first number applies to the time up to the last delivery of another
/// connection. The second number applies if all other connections may be waiting for this connection. The values were
/// chosen in emulations of paper 001, from the frequency of stalled transfers and the amount of data sent twice.
const STUCK: (Duration, u32, u32) = (Duration::from_secs(2), 3, 1);
/// Maximum value of the setting `hold` of a rule. [intervals]
const MAX_HOLD: usize = 100;

/// Rule for the number of connections, and the interval at which it is applied.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) aim: Asked,
    /// Time between two applications of the rule. [s]
    pub(crate) interval_s: f64,
    /// Weight of the previous number of connections in the smoothed number. [-]
    pub(crate) smoothing: f64,
    pub(crate) rounding: Rounding,
    /// Number of intervals in which the rule must request a smaller number before connections are
    /// closed. [intervals]
    pub(crate) hold: usize,
}

/// Rounding of the number of connections to an integer.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Rounding {
    Nearest,
    Down,
}

/// Rule for the number of connections as the settings specify it (see [`Aim`]).
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase", tag = "by")]
pub(crate) enum Asked {
    /// Number of connections k T, where T is the round-trip time and k a constant (paper 001, 5.1).
    Rtt { k: f64 },
    /// Number of connections that maximises an alpha-fair utility (paper 001, 5.29).
    Utility { k: f64, fairness: f64, weight: f64 },
    /// Number of connections k T sqrt(1 + losses / marks), for a channel that also loses packets.
    /// ECN marks count as signs of congestion, and losses as channel errors.
    Marks { k: f64 },
    /// The minimum number of connections in the settings.
    Fixed,
}

impl Rule {
    pub(crate) fn complaint(&self) -> Option<String> {
        let positive = |name: &str, value: f64| {
            let is_good = value.is_finite() && value > 0.0;
            (!is_good).then(|| format!("{name}: {value}: must be above 0"))
        };
        let of_aim = match self.aim {
            Asked::Rtt { k } | Asked::Marks { k } => positive("k", k),
            Asked::Utility {
                k,
                fairness,
                weight,
            } => positive("k", k)
                .or_else(|| positive("fairness", fairness))
                .or_else(|| positive("weight", weight)),
            Asked::Fixed => None,
        };
        let is_interval = (0.1..=1_000.0).contains(&self.interval_s);
        let is_smoothing = (0.0..1.0).contains(&self.smoothing);
        of_aim
            .or_else(|| (!is_interval).then(|| "interval: must be from 0.1 s to 1000 s".into()))
            .or_else(|| (!is_smoothing).then(|| "smoothing: must be from 0 to below 1".into()))
            .or_else(|| {
                let is_hold = (1..=MAX_HOLD).contains(&self.hold);
                (!is_hold).then(|| format!("hold: must be from 1 to {MAX_HOLD} intervals"))
            })
    }

    fn steps(&self) -> MultiConnection {
        let aim = match self.aim {
            Asked::Rtt { k } => Aim::Rtt { k },
            Asked::Marks { k } => Aim::Marks { k },
            Asked::Fixed => Aim::One,
            Asked::Utility {
                k,
                fairness,
                weight,
            } => Aim::Utility {
                k,
                utility: Utility::AlphaFair { fairness },
                weight,
            },
        };
        MultiConnection::new(aim, self.smoothing, self.rounding == Rounding::Nearest)
    }
}

/// Last observation of a connection's kernel statistics.
#[derive(Clone, Copy, Debug)]
struct Last {
    info: Info,
    fell: Option<Duration>,
    /// Time of the last observation with a delivery.
    delivered_at: Duration,
    /// Start of the present period in which the connection has data but delivers none.
    waits_since: Duration,
}

/// Controller of the number of connections in a pool.
#[derive(Debug)]
pub(crate) struct Number {
    steps: MultiConnection,
    bounds: (u32, u32),
    last: BTreeMap<LinkId, Last>,
    /// Time of the last delivery over any connection.
    newest: Duration,
    rtts: (Duration, u32),
    /// Estimate of the round-trip time T from UDP probes.
    probed: Estimate,
    delivered: u64,
    falls: Falls,
    stepped: Duration,
    /// Numbers of connections that the rule requested, one for each of the last `hold` intervals.
    recent: VecDeque<u32>,
}

impl Number {
    pub(crate) fn new(rule: &Rule, bounds: (u32, u32), now: Duration) -> Number {
        Number {
            steps: rule.steps(),
            bounds,
            last: BTreeMap::new(),
            newest: now,
            rtts: (Duration::ZERO, 0),
            probed: Estimate::default(),
            delivered: 0,
            falls: Falls::default(),
            stepped: now,
            recent: VecDeque::from(vec![bounds.0; rule.hold]),
        }
    }

    /// Records the kernel statistics of a connection. Must be called several times per interval.
    pub(crate) fn look(&mut self, id: LinkId, info: Info, now: Duration) {
        let before = self.last.get(&id).copied();
        let known = before.map_or((0, 0, 0), |last| {
            (
                last.info.delivered,
                last.info.marked,
                last.info.retransmissions,
            )
        });
        let delivered = info.delivered.saturating_sub(known.0);
        self.delivered += u64::from(delivered);
        if delivered > 0 {
            self.newest = now;
        }
        if delivered > 0 && !info.rtt.is_zero() {
            self.rtts = (self.rtts.0 + info.rtt, self.rtts.1 + 1);
        }
        // further losses and marks within one round-trip time do not decrease the congestion window again, so they are
        // not counted
        let mut fell = before.and_then(|last| last.fell);
        if fell.is_none_or(|at| now.saturating_sub(at) >= info.rtt) {
            if info.retransmissions > known.2 {
                self.falls.by_losses += 1;
                fell = Some(now);
            } else if info.marked > known.1 {
                self.falls.by_marks += 1;
                fell = Some(now);
            }
        }
        let unchanged = before.filter(|_| delivered == 0);
        let delivered_at = unchanged.map_or(now, |last| last.delivered_at);
        let waits_since = unchanged.filter(|_| info.waits);
        let last = Last {
            info,
            fell,
            delivered_at,
            waits_since: waits_since.map_or(now, |last| last.waits_since),
        };
        self.last.insert(id, last);
    }

    /// Removes a connection that was closed.
    pub(crate) fn forget(&mut self, id: LinkId) {
        self.last.remove(&id);
    }

    /// Records a round-trip time measured by a UDP probe. While probes are answered, the rule uses
    /// their round-trip time as T.
    pub(crate) fn probe(&mut self, rtt: Duration, now: Duration) {
        self.probed.add(rtt, now);
    }

    /// Returns the round-trip time of the probes, or `None` if they are not answered.
    pub(crate) fn probed_rtt(&self, now: Duration) -> Option<Duration> {
        self.probed.rtt(now)
    }

    /// Returns the round-trip time T of the interval that ends now, if there was a measurement. [s]
    fn rtt_s(&mut self, now: Duration) -> Option<f64> {
        let (sum, count) = self.rtts;
        let probed = self.probed.step();
        let of_connections = (count > 0).then(|| sum / count);
        let rtt = match self.probed.is_valid(now) {
            true => probed,
            false => probed.or(of_connections),
        };
        rtt.map(|rtt| rtt.as_secs_f64())
    }

    /// Ends an interval. Returns the number of connections that the rule requests, within the
    /// bounds.
    pub(crate) fn step(&mut self, now: Duration) -> u32 {
        let elapsed = now.saturating_sub(self.stepped).as_secs_f64();
        let rtt_s = self.rtt_s(now);
        let asked = self.steps.step(Seen {
            rtt_s,
            rate_pps: self.delivered as f64 / elapsed,
            falls: self.falls,
        });
        (self.rtts, self.delivered) = ((Duration::ZERO, 0), 0);
        (self.falls, self.stepped) = (Falls::default(), now);
        self.note(asked.clamp(self.bounds.0, self.bounds.1))
    }

    /// Ends an interval in which the pool had no streams. Returns the minimum number of
    /// connections.
    pub(crate) fn rest(&mut self) -> u32 {
        // measurements from before a pause without streams are not used after the pause
        self.probed.step();
        self.note(self.bounds.0)
    }

    fn note(&mut self, asked: u32) -> u32 {
        self.recent.pop_front();
        self.recent.push_back(asked);
        asked
    }

    /// Returns the number of connections that the pool should have. It increases immediately, and
    /// decreases after some intervals.
    pub(crate) fn held(&self) -> u32 {
        self.recent.iter().copied().max().unwrap_or(self.bounds.0)
    }

    /// Returns the connection whose last delivery was the longest ago. If several connections have the same last
    /// delivery, returns the newest of them.
    pub(crate) fn idlest(&self, ids: &[LinkId]) -> Option<LinkId> {
        let since = |id: &LinkId| self.last.get(id).map(|last| last.delivered_at);
        let key = |id: &&LinkId| (std::cmp::Reverse(since(id)), **id);
        ids.iter().max_by_key(key).copied()
    }

    /// Returns whether a connection is stuck: it has data but has delivered none for a long time, although another
    /// connection has delivered data in the meantime. `all_wait` is the current time if all other connections may be
    /// waiting for this connection; in this case, no delivery of another connection is required.
    pub(crate) fn is_stuck(&self, id: LinkId, all_wait: Option<Duration>) -> bool {
        let Some(last) = self.last.get(&id) else {
            return false;
        };
        let silent = |until: Duration, rtts: u32| {
            until.saturating_sub(last.waits_since) > STUCK.0.max(last.info.rtt * rtts)
        };
        silent(self.newest, STUCK.1) || all_wait.is_some_and(|now| silent(now, STUCK.2))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn info(rtt_ms: u64, delivered: u32) -> Info {
        Info {
            rtt: Duration::from_millis(rtt_ms),
            mss: 1448,
            cwnd: 10,
            in_flight: 0,
            unsent: 0,
            retransmissions: 0,
            waits: true,
            delivered,
            marked: 0,
        }
    }

    fn number(aim: Asked, bounds: (u32, u32)) -> Number {
        let rule = Rule {
            aim,
            interval_s: 1.0,
            smoothing: 0.0,
            rounding: Rounding::Nearest,
            hold: 3,
        };
        assert_eq!(rule.complaint(), None);
        Number::new(&rule, bounds, Duration::ZERO)
    }

    #[test]
    fn it_is_k_times_the_mean_round_trip_time_within_bounds() {
        let mut number = number(Asked::Rtt { k: 10.0 }, (1, 16));
        let second = Duration::from_secs;
        number.look(0, info(400, 10), second(1));
        number.look(1, info(800, 10), second(1));
        assert_eq!(number.step(second(1)), 6);
        // the round-trip time of a connection without a delivery since the last step is not used
        number.look(0, info(400, 10), second(2));
        number.look(1, info(800, 12), second(2));
        assert_eq!(number.step(second(2)), 8);
        assert_eq!(number.step(second(3)), 8, "it stays without a sample");
        number.look(1, info(60_000, 20), second(4));
        assert_eq!(number.step(second(4)), 16);
    }

    #[test]
    fn it_follows_the_probes_while_they_are_answered() {
        let mut number = number(Asked::Rtt { k: 10.0 }, (1, 16));
        let (second, ms) = (Duration::from_secs, Duration::from_millis);
        let mut asked = |at: u64, probes: &[u64]| {
            number.look(0, info(400, at as u32), second(at));
            for &rtt_ms in probes {
                number.probe(ms(rtt_ms), second(at));
            }
            number.step(second(at))
        };
        assert_eq!(asked(1, &[]), 4, "of the connections");
        assert_eq!(asked(2, &[700, 900]), 8, "of the probes");
        assert_eq!(asked(3, &[]), 8, "it stays without an answer");
        assert_eq!(asked(21, &[]), 8);
        assert_eq!(asked(22, &[]), 4, "no answer for 20 s");
        assert_eq!(asked(23, &[1_000]), 10);
    }

    #[test]
    fn it_grows_at_once_and_shrinks_after_a_while() {
        let mut number = number(Asked::Rtt { k: 10.0 }, (2, 16));
        assert_eq!(number.held(), 2);
        let held: Vec<u32> = [800, 1_600, 400, 400, 400, 400]
            .into_iter()
            .enumerate()
            .map(|(index, rtt_ms)| {
                let now = Duration::from_secs(index as u64 + 1);
                number.look(0, info(rtt_ms, index as u32 + 1), now);
                number.step(now);
                number.held()
            })
            .collect();
        assert_eq!(held, [8, 16, 16, 16, 4, 4]);
        for _ in 0..3 {
            number.rest();
        }
        assert_eq!(number.held(), 2);
    }

    #[test]
    fn a_connection_is_stuck_that_is_silent_while_another_delivers() {
        let mut number = number(Asked::Fixed, (1, 16));
        let second = Duration::from_secs;
        let idle = Info {
            waits: false,
            ..info(4_000, 10)
        };
        for at in 0..30 {
            number.look(0, info(4_000, 10), second(at));
            number.look(1, info(4_000, if at < 13 { 10 } else { 11 }), second(at));
            number.look(2, idle, second(at));
            // connection 1 delivers at 13 s; from then on connection 0, which has delivered nothing, is stuck
            let is_stuck = at >= 13;
            let stuck = [0, 1, 2].map(|id| number.is_stuck(id, None));
            assert_eq!(stuck, [is_stuck, false, false], "{at}");
            let stuck = [0, 1, 2].map(|id| number.is_stuck(id, Some(second(at))));
            assert_eq!(stuck, [at > 4, at > 4 && at < 13 || at > 17, false], "{at}");
        }
    }

    #[test]
    fn windows_fall_once_in_a_round_trip_time() {
        let mut number = number(Asked::Marks { k: 10.0 }, (1, 100));
        for (at_ms, retransmissions, marked) in [(100, 3, 0), (200, 9, 1), (700, 9, 2), (800, 9, 4)]
        {
            let seen = Info {
                retransmissions,
                marked,
                ..info(500, at_ms)
            };
            number.look(0, seen, Duration::from_millis(u64::from(at_ms)));
        }
        let falls = Falls {
            by_losses: 1,
            by_marks: 1,
        };
        assert_eq!(number.falls, falls);
        // k T sqrt(1 + losses / marks) = 10 x 0.5 s x sqrt(1 + 1 / 1) = 7.07
        assert_eq!(number.step(Duration::from_secs(1)), 7);
    }
}

//! Pings: echo requests at equal intervals, and the round-trip times of their replies (RFC 792).
//!
//! The first end of the flow is the station, or the wired node `from`. It sends the requests, and
//! the other end replies immediately. Requests are the data of the flow, and replies travel
//! like ACKs, except that a link with losses may lose them. These pings measure the round-trip time
//! that a user notices. A virtual shared bottleneck has separate pings ([`crate::bottleneck`],
//! [`crate::echo`]), which the access point sends to its stations.
//!
//! Differs from ping(8) of iputils in two points. The first request is sent at a random time within
//! the first interval, so that the pings of several stations do not always meet. Requests are sent
//! at fixed times, whatever the delay of replies.

use serde_json::json;

use super::tally::{Interval, Tally};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{Json, MS, S, duration, size};
use crate::table;

/// Length of an IPv4 header without options (RFC 791) and of an ICMP echo header (RFC 792). [bytes]
pub const HEADER_BYTES: u32 = 28;

/// Smallest payload: ping(8) puts a timestamp of 16 bytes into it. [bytes]
const MIN_PAYLOAD: u64 = 16;

/// Longest default of the deadline, which is the time for which ping(8) waits for a reply.
const LONGEST_DEFAULT_DEADLINE: Span = Span(10 * S);

table! {
    /// Echo requests at equal intervals. A bare time is the interval.
    pub struct PingKeys: Copy in "ping" {
        /// Time between two requests, as `ping -i`. The first request is sent at a random time within the first interval.
        every: Span = duration(MS..=1_000_000 * S).default("1 s");
        /// Payload of a request and of its reply, as `ping -s`. The IP packet is 28 B longer: 56 B makes packets of 84 B.
        payload_bytes as "size": u32 = size(MIN_PAYLOAD..=2_304).default("56 B");
        /// Round-trip time above which a ping counts as lost. Pings sent less than this time before the end of the run do not count.
        deadline: Option<Span> =
            duration(MS..=1_000_000 * S).depends("a tenth of the duration, at most 10 s");
    }
}

/// Settings of a flow of pings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PingSettings {
    /// Time between two requests, above zero.
    pub every: Span,
    /// Payload of a request and of its reply. [bytes]
    pub payload_bytes: u32,
    /// Round-trip time above which a ping counts as lost.
    pub deadline: Span,
}

impl PingSettings {
    /// Returns the settings that a table defines. `duration` is the duration of the run.
    pub fn of(keys: PingKeys, duration: Span) -> PingSettings {
        let default_deadline = Span(duration.0 / 10).min(LONGEST_DEFAULT_DEADLINE);
        PingSettings {
            every: keys.every,
            payload_bytes: keys.payload_bytes,
            deadline: keys.deadline.unwrap_or(default_deadline),
        }
    }

    /// Returns the length of the IP packet of a request or reply. [bytes]
    pub fn packet_bytes(&self) -> u32 {
        self.payload_bytes + HEADER_BYTES
    }

    /// Returns the settings as JSON for the normalised scenario.
    pub fn json(&self) -> Json {
        json!({
            "every_s": self.every.seconds(),
            "payload_bytes": self.payload_bytes,
            "header_bytes": HEADER_BYTES,
            "deadline_s": self.deadline.seconds(),
        })
    }
}

/// The host that sends the requests, and the times of all its pings.
#[derive(Clone, Debug)]
pub struct Pinger {
    settings: PingSettings,
    stream: Stream,
    due: Time,
    /// Time at which each request was sent, and its round-trip time (`None` before the reply).
    sent: Vec<(Time, Option<Span>)>,
}

impl Pinger {
    /// Returns a host that has not started to ping.
    pub fn new(settings: &PingSettings, stream: Stream) -> Pinger {
        Pinger {
            settings: *settings,
            stream,
            due: Time::NEVER,
            sent: Vec::new(),
        }
    }

    /// Starts the pings. The first request is sent at a random time within the first interval.
    pub fn open(&mut self, now: Time) {
        let part = self.stream.unit();
        self.due = now + Span((part * self.settings.every.0 as f64) as u64);
    }

    /// Stops the pings.
    pub fn close(&mut self) {
        self.due = Time::NEVER;
    }

    /// Returns the time of the next request.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Records that the request that is due has been sent at `now`, and returns its number.
    pub fn send(&mut self, now: Time) -> u32 {
        self.due += self.settings.every;
        self.sent.push((now, None));
        self.sent.len() as u32 - 1
    }

    /// Records the reply to request `number`. Returns its round-trip time; `None` if there is no
    /// such request.
    pub fn reply(&mut self, now: Time, number: u32) -> Option<Span> {
        let (sent, rtt) = self.sent.get_mut(number as usize)?;
        Some(*rtt.insert(now.since(*sent)))
    }

    /// Adds the pings of an interval to `tally`. The delays are not sorted.
    pub fn add_to(&self, tally: &mut Tally, interval: &Interval) {
        for &(sent, rtt) in &self.sent {
            tally.add(interval, sent, rtt, self.settings.deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    fn pinger() -> Pinger {
        let keys = PingKeys {
            every: Span(1_000),
            payload_bytes: 56,
            deadline: Some(Span(500)),
        };
        let settings = PingSettings::of(keys, Span(100_000));
        Pinger::new(&settings, Streams::new(1, 0).stream("pings"))
    }

    #[test]
    fn requests_are_sent_at_equal_intervals_from_a_random_time_on() {
        let mut pinger = pinger();
        pinger.open(Time(7));
        let first = pinger.deadline();
        assert!(Time(7) <= first && first < Time(1_007));
        assert_eq!(pinger.send(first), 0);
        assert_eq!(pinger.deadline(), first + Span(1_000));
        assert_eq!(pinger.send(first + Span(1_000)), 1);
        pinger.close();
        assert_eq!(pinger.deadline(), Time::NEVER);
    }

    #[test]
    fn a_reply_after_the_deadline_is_lost_and_the_last_pings_do_not_count() {
        let mut pinger = pinger();
        pinger.open(Time(0));
        for sent in [0, 1_000, 2_000, 3_000] {
            pinger.send(Time(sent));
        }
        assert_eq!(pinger.reply(Time(300), 0), Some(Span(300)));
        assert_eq!(pinger.reply(Time(1_501), 1), Some(Span(501)));
        assert_eq!(pinger.reply(Time(3_100), 3), Some(Span(100)));
        assert_eq!(pinger.reply(Time(3_100), 4), None);
        let tally = |from, to| {
            let mut tally = Tally::default();
            let [from, to] = [from, to].map(Time);
            pinger.add_to(&mut tally, &Interval::new(from, to, from, to));
            (tally.made, tally.delays)
        };
        assert_eq!(tally(0, 3_499), (3, vec![Span(300)]));
        assert_eq!(tally(1, 3_500), (3, vec![Span(100)]));
    }

    #[test]
    fn a_packet_is_28_bytes_longer_and_the_deadline_is_a_tenth_of_the_run() {
        let keys = PingKeys {
            every: Span(S),
            payload_bytes: 56,
            deadline: None,
        };
        let of = |duration| PingSettings::of(keys, Span(duration));
        assert_eq!(of(30 * S).packet_bytes(), 84);
        assert_eq!(of(30 * S).deadline, Span(3 * S));
        assert_eq!(of(600 * S).deadline, Span(10 * S));
    }
}

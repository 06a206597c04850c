//! The replies of a station to echo requests: their delay, their loss, and changes of both during a
//! run.
//!
//! ```text
//!  request at the station --loss--> no answer
//!                         --delay--> answer, into the station's queue
//! ```
//!
//! These are the replies to pings of the virtual shared bottleneck ([`crate::bottleneck`]). The pings
//! that a station sends itself are flows ([`crate::app::ping`]).
//!
//! Real hosts reply late when they are busy. A host that limits the rate of replies ignores some requests, and a host
//! behind a firewall ignores all requests.

use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::notation::changes::Instants;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, S, duration, keys, number, tables};
use crate::table;

/// Maximum delay of a reply. [ns]
const LONGEST_DELAY: u64 = 100 * S;

table! {
    /// Replies of a station to pings of the virtual shared bottleneck.
    pub struct EchoKeys in "echo" {
        /// Extra time before the station replies to a ping of the virtual shared bottleneck.
        ping_delay: Span = duration(0..=LONGEST_DELAY).default("0 s");
        /// Probability that the station does not reply to a ping of the virtual shared bottleneck. With 1 it never replies.
        ping_loss: f64 = number(0.0..=1.0).default(0.0);
        /// Changes of ping_delay and ping_loss during the run, by name. From the time `at` on, the values of the table apply. The pings that the station itself sends are set by ping.
        key pings: EchoChangeTable = tables().hinting(own_pings).absent("none");
    }
}

table! {
    /// Replies of a station to pings from a given time until its next change. Absent keys have the values of the station's table.
    pub struct EchoChangeTable in "pings" {
        /// Time of the change, after the start of the run.
        at: Span = duration(1..=1_000_000 * S).required();
        /// Extra time before the station replies to a ping.
        ping_delay: Option<Span> = duration(0..=LONGEST_DELAY).absent("the value in the station's table");
        /// Probability that the station does not reply to a ping.
        ping_loss: Option<f64> = number(0.0..=1.0).absent("the value in the station's table");
    }
}

/// Returns the hint for a user who writes a time in place of the tables of `pings`.
fn own_pings(_word: &str) -> Option<String> {
    Some(
        "pings that the station sends are `ping = \"200 ms\"`; `pings` changes its replies to a vsb"
            .to_owned(),
    )
}

/// The replies of a station to echo requests.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Echo {
    /// Time from a request to its reply, in addition to times in queues and on the air.
    pub delay: Span,
    /// Probability that the station does not reply to a request.
    pub loss: f64,
}

/// A change of the replies of a station.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EchoChange {
    /// Time of the change, from the start of the run.
    pub at: Span,
    /// Delay and loss of replies from this change until the next change.
    pub echo: Echo,
}

impl Echo {
    /// Checks the keys for ping replies in a table of stations. `duration` is the duration of the
    /// run.
    pub(crate) fn check(station: &Section, duration: Option<Span>, problems: &mut Problems) {
        let mut instants = Instants::within(duration);
        for (name, change) in station.tables(EchoKeys::pings) {
            change.check_name(name, problems);
            let says = keys!(EchoChangeTable: ping_delay, ping_loss);
            let says = says.into_iter().any(|key| change.entry(key).is_some());
            let lacks = change.lacks(EchoChangeTable::ping_delay)
                || change.lacks(EchoChangeTable::ping_loss);
            if !says && !lacks {
                let message = "this table changes nothing; expected `ping_delay` or `ping_loss`";
                problems.add(change.origin, &change.path, message.to_owned());
            }
            instants.check(change, EchoChangeTable::at, problems);
        }
    }

    /// Returns the delay and loss of replies that a table of stations sets.
    ///
    /// # Errors
    /// `Refused` if a value in the table is invalid.
    pub(crate) fn read(station: &Section) -> Result<Echo, Refused> {
        let own = EchoKeys::read(&Layers(&[station]))?;
        Ok(Echo {
            delay: own.ping_delay,
            loss: own.ping_loss,
        })
    }

    /// Returns the changes of a station's replies, in order of time.
    ///
    /// # Errors
    /// `Refused` if a value in the table is invalid.
    pub(crate) fn changes(station: &Section) -> Result<Vec<EchoChange>, Refused> {
        let usual = Echo::read(station)?;
        let mut changes: Vec<EchoChange> = Vec::new();
        for (_, change) in station.tables(EchoKeys::pings) {
            let own = EchoChangeTable::read(&Layers(&[change]))?;
            let echo = Echo {
                delay: own.ping_delay.unwrap_or(usual.delay),
                loss: own.ping_loss.unwrap_or(usual.loss),
            };
            let place = changes.partition_point(|earlier| earlier.at <= own.at);
            changes.insert(place, EchoChange { at: own.at, echo });
        }
        Ok(changes)
    }
}

/// A station's responder to echo requests: decides whether and when the station replies.
#[derive(Clone, Debug)]
pub struct Responder {
    /// Delay and loss of replies at the start of the run, followed by their changes.
    schedule: Vec<EchoChange>,
    /// Random stream that decides which requests have no reply.
    draws: Stream,
}

impl Responder {
    /// Returns the responder of the station `name`. Its replies follow `echo` until the first of
    /// the `changes`.
    pub fn new(name: &str, echo: Echo, changes: &[EchoChange], streams: &Streams) -> Responder {
        let at = Span::ZERO;
        let first = std::iter::once(EchoChange { at, echo });
        Responder {
            schedule: first.chain(changes.iter().copied()).collect(),
            draws: streams.stream(&format!("{name}/echo")),
        }
    }

    /// Returns the delay of the reply to a request that arrived at `now`, or `None` if the station
    /// does not reply.
    pub fn answers_after(&mut self, now: Time) -> Option<Span> {
        let since = |change: &EchoChange| Time::ZERO + change.at <= now;
        let place = self.schedule.partition_point(since);
        // the first change in the schedule is at the start of the run, so that `place` is at least
        // 1
        let Echo { delay, loss } = self.schedule[place - 1].echo;
        (!self.draws.chance(loss)).then_some(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    fn responder(echo: Echo, changes: &[EchoChange]) -> Responder {
        Responder::new("a", echo, changes, &Streams::new(1, 0))
    }

    #[test]
    fn answers_follow_the_schedule() {
        let late = |ms| Echo {
            delay: Span(ms * MS),
            loss: 0.0,
        };
        let change = |at, echo| EchoChange {
            at: Span(at * MS),
            echo,
        };
        let silent = Echo {
            delay: Span::ZERO,
            loss: 1.0,
        };
        let changes = [
            change(10, late(300)),
            change(20, silent),
            change(30, late(1)),
        ];
        let mut station = responder(late(0), &changes);
        let answers = [0, 9, 10, 19, 20, 29, 30, 99].map(|at| {
            let delay = station.answers_after(Time(at * MS));
            delay.map(|Span(ns)| ns / MS)
        });
        let expected = [
            Some(0),
            Some(0),
            Some(300),
            Some(300),
            None,
            None,
            Some(1),
            Some(1),
        ];
        assert_eq!(answers, expected);
    }

    #[test]
    fn the_given_part_of_requests_is_not_answered() {
        let echo = Echo {
            delay: Span::ZERO,
            loss: 0.3,
        };
        let mut station = responder(echo, &[]);
        let lost = (0..10_000).filter(|_| station.answers_after(Time(1)).is_none());
        // the standard deviation of the number of lost requests is 46, so that the tolerance is
        // three standard deviations
        assert!((2_860..3_140).contains(&lost.count()));
    }
}

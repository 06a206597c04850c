//! The users of a CSMA network. Each user has several TCP connections, and a rule that computes how
//! many connections are open.
//!
//! ```text
//! open --> Open --closed--> Closing --all acknowledged, no packet in flight--> free for a new connection
//! ```
//!
//! The rule uses only values that an application can measure: round-trip times, and the data
//! delivered since its last update. The most recently opened connection is closed first. Data sent
//! on a closed connection is still delivered.

use super::flow::FlowState;
use super::flow_counters::FlowCounters;
use crate::control::multi_connection::{Falls, MultiConnection, Seen};
use crate::kernel::time::{Span, Time};
use crate::scenario::{Csma, CsmaFlow, TcpSettings, Transport};

/// A user: a flow of the scenario, and its TCP connections.
pub(crate) struct User {
    pub(super) rule: MultiConnection,
    /// TCP settings of the user's connections; `None` for a user without TCP.
    pub(super) tcp: Option<TcpSettings>,
    /// Payload of a full packet. [bytes]
    pub(super) payload_bytes: u32,
    /// Whether the user has started and has not stopped.
    pub(super) active: bool,
    /// Start time of the user; [`Time::NEVER`] until the user starts. The next field is the stop
    /// time.
    pub(super) started_at: Time,
    pub(super) stopped_at: Time,
    /// Flows of all connections of the user, open and closed. The number of the first flow is also
    /// the number of the user.
    pub(super) flows: Vec<u32>,
    /// Flows of the open connections, in the order in which the connections were opened.
    pub(super) open: Vec<u32>,
    /// Flows of connections that are not open.
    pub(super) closed: Vec<u32>,
    /// Number of connections opened so far; the next field is the number closed so far.
    pub(super) opened_total: u64,
    pub(super) closed_total: u64,
    /// Time of the last update of the user. The next field contains counters at that time: sum of
    /// the round-trip times, number of round-trip times, and delivered segments.
    pub(super) looked: Time,
    pub(super) seen: [u64; 3],
    pub(super) seen_falls: Falls,
    pub(super) changed: Time,
    /// Time integral of the number of open connections up to the time `changed`. [ns]
    pub(super) integral_ns: u64,
}

impl User {
    fn new(index: u32, flow: &CsmaFlow, csma: &Csma) -> User {
        User {
            rule: flow.rule(csma),
            tcp: match &flow.transport {
                Transport::Tcp(tcp) => Some(tcp.clone()),
                Transport::Udp(_) | Transport::Web(_) | Transport::Ping(_) => None,
            },
            payload_bytes: flow.payload_bytes(),
            active: false,
            started_at: Time::NEVER,
            stopped_at: Time::NEVER,
            flows: vec![index],
            open: Vec::new(),
            closed: Vec::new(),
            opened_total: 0,
            closed_total: 0,
            looked: Time::ZERO,
            seen: [0; 3],
            seen_falls: Falls::default(),
            changed: Time::ZERO,
            integral_ns: 0,
        }
    }

    /// Returns the payload of a full packet. [bytes]
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.payload_bytes
    }

    /// Returns whether the user has TCP connections.
    pub(crate) fn is_tcp(&self) -> bool {
        self.tcp.is_some()
    }

    /// Returns the flows of all connections of the user, open and closed.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }

    /// Returns the numbers of connections opened and closed so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.opened_total, self.closed_total)
    }

    /// Returns the number of open connections.
    pub(crate) fn connections(&self) -> usize {
        self.open.len()
    }

    /// Returns the time integral of the number of open connections up to `now`. [ns]
    pub(crate) fn integral_ns(&self, now: Time) -> u64 {
        self.integral_ns + self.open.len() as u64 * now.since(self.changed).0
    }

    /// Returns the time between `from` and `to` for which the user existed.
    pub(crate) fn life(&self, from: Time, to: Time) -> Span {
        to.min(self.stopped_at).since(from.max(self.started_at))
    }

    pub(super) fn change(&mut self, now: Time) {
        self.integral_ns = self.integral_ns(now);
        self.changed = now;
    }

    pub(super) fn count_opened(&mut self, now: Time, flow: u32) {
        self.change(now);
        self.opened_total += 1;
        self.open.push(flow);
    }

    /// Returns the sum of a counter over all connections of the user. `count` reads the counter of
    /// a connection.
    pub(crate) fn sum(&self, flows: &[FlowState], count: fn(&FlowCounters) -> u64) -> u64 {
        let own = self.flows.iter().map(|&flow| &flows[flow as usize]);
        own.map(|flow| count(&flow.counters)).sum()
    }

    /// Returns round-trip time, delivery rate and window reductions of the connections between the
    /// last update and `now`.
    pub(super) fn look(&mut self, now: Time, flows: &[FlowState]) -> Seen {
        let sums = [
            self.sum(flows, |c| c.delay_ns),
            self.sum(flows, |c| c.delay_samples),
            self.sum(flows, |c| c.delivered),
        ];
        let [delay_ns, samples, delivered] = [0, 1, 2].map(|k| sums[k] - self.seen[k]);
        let length_s = now.since(self.looked).seconds();
        let own = self.flows.iter().map(|&flow| flows[flow as usize].falls());
        let falls = own.fold(Falls::default(), |sum, own| Falls {
            by_losses: sum.by_losses + own.by_losses,
            by_marks: sum.by_marks + own.by_marks,
        });
        let before = std::mem::replace(&mut self.seen_falls, falls);
        self.seen = sums;
        self.looked = now;
        Seen {
            rtt_s: (samples > 0).then(|| delay_ns as f64 / 1e9 / samples as f64),
            rate_pps: delivered as f64 / length_s,
            falls: Falls {
                by_losses: falls.by_losses - before.by_losses,
                by_marks: falls.by_marks - before.by_marks,
            },
        }
    }
}

/// All users of a CSMA network.
pub(crate) struct Users {
    pub(super) each: Vec<User>,
    /// Time of the next update of all users.
    pub(super) next: Time,
}

impl Users {
    pub(super) fn new(csma: &Csma) -> Users {
        let flows = (0..).zip(&csma.flows);
        Users {
            each: flows
                .map(|(index, flow)| User::new(index, flow, csma))
                .collect(),
            next: Time::ZERO + csma.users.interval,
        }
    }

    /// Returns the users, ordered by the numbers of their flows.
    pub(crate) fn each(&self) -> &[User] {
        &self.each
    }
}

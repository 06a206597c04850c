//! Users over a CSMA network: each keeps as many TCP connections open as its rule asks for.
//!
//! ```text
//! open --> Open --closed--> Closing --all acknowledged, nothing under way--> free for another one
//! ```
//!
//! A user looks at its connections as an application can: their round-trip times and what they have
//! delivered since it looked last. The connection that was opened last is the first to be closed;
//! what it has sent is still delivered.

use super::flow::{FlowCounters, FlowState};
use crate::control::multi_connection::{Falls, MultiConnection, Seen};
use crate::kernel::time::{Span, Time};
use crate::scenario::{Csma, CsmaFlow, TcpSettings, Transport};

/// One user: a flow of the scenario, with its connections.
pub(crate) struct User {
    pub(super) rule: MultiConnection,
    /// Settings of a TCP user's connections.
    pub(super) tcp: Option<TcpSettings>,
    /// Payload of a full packet. [bytes]
    pub(super) payload_bytes: u32,
    /// Whether it has begun, and not stopped.
    pub(super) active: bool,
    /// Instants at which it began and stopped; [`Time::NEVER`] before.
    pub(super) started_at: Time,
    pub(super) stopped_at: Time,
    /// The flows of all its connections, open or not; the first is the user's number.
    pub(super) flows: Vec<u32>,
    /// Flows whose connections are open, in the order in which they were opened.
    pub(super) open: Vec<u32>,
    /// Flows whose connections are not open.
    pub(super) closed: Vec<u32>,
    /// Connections opened and closed so far.
    pub(super) opened_total: u64,
    pub(super) closed_total: u64,
    /// When it looked last, and what it saw: sum of round-trip times, their number, segments delivered.
    pub(super) looked: Time,
    pub(super) seen: [u64; 3],
    pub(super) seen_falls: Falls,
    pub(super) changed: Time,
    /// Time integral of the number of open connections up to `changed`. [ns]
    pub(super) integral_ns: u64,
}

impl User {
    fn new(index: u32, flow: &CsmaFlow, csma: &Csma) -> User {
        User {
            rule: flow.rule(csma),
            tcp: match &flow.transport {
                Transport::Tcp(tcp) => Some(tcp.clone()),
                _ => None,
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

    /// Payload of a full packet. [bytes]
    pub(crate) fn payload_bytes(&self) -> u32 {
        self.payload_bytes
    }

    /// Whether it has TCP connections.
    pub(crate) fn is_tcp(&self) -> bool {
        self.tcp.is_some()
    }

    /// Flows of all its connections, open or not.
    pub(crate) fn flows(&self) -> &[u32] {
        &self.flows
    }

    /// Connections opened and closed so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.opened_total, self.closed_total)
    }

    /// Open connections.
    pub(crate) fn connections(&self) -> usize {
        self.open.len()
    }

    /// Time integral of their number up to `now`. [ns]
    pub(crate) fn integral_ns(&self, now: Time) -> u64 {
        self.integral_ns + self.open.len() as u64 * now.since(self.changed).0
    }

    /// Returns how much of the time between two instants is between its start and its stop.
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

    /// What all its connections have counted.
    pub(crate) fn sum(&self, flows: &[FlowState], count: fn(&FlowCounters) -> u64) -> u64 {
        let own = self.flows.iter().map(|&flow| &flows[flow as usize]);
        own.map(|flow| count(&flow.counters)).sum()
    }

    /// What it sees at `now` of its connections since it looked last.
    pub(super) fn look(&mut self, now: Time, flows: &[FlowState]) -> Seen {
        let sums = [
            self.sum(flows, |c| c.delay_ns),
            self.sum(flows, |c| c.delay_samples),
            self.sum(flows, |c| c.delivered),
        ];
        let [delay_ns, samples, delivered] = [0, 1, 2].map(|k| sums[k] - self.seen[k]);
        let length_s = now.since(self.looked).seconds();
        let own = self.flows.iter().map(|&flow| flows[flow as usize].falls());
        let falls = own.fold(Falls::default(), |sum, one| Falls {
            by_losses: sum.by_losses + one.by_losses,
            by_marks: sum.by_marks + one.by_marks,
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

/// All users of a network.
pub(crate) struct Users {
    pub(super) each: Vec<User>,
    /// When they look at their connections next.
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

    /// The users, by the number of their flows.
    pub(crate) fn each(&self) -> &[User] {
        &self.each
    }
}

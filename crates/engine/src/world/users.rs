//! Users over a CSMA network: each keeps as many TCP connections open as its rule asks for.
//!
//! ```text
//! open --> Open --closed--> Closing --all acknowledged, nothing under way--> free for another one
//! ```
//!
//! A user looks at its connections as an application can: their round-trip times and what they have
//! delivered since it looked last. The connection that was opened last is the first to be closed;
//! what it has sent is still delivered.

use super::World;
use super::flow::{Endpoints, FlowCounters, FlowState};
use super::numbers::Owner;
use super::wires::settle_all;
use crate::control::multi_connection::{Aim, MultiConnection, Seen};
use crate::control::utility::Utility;
use crate::kernel::time::Time;
use crate::scenario::{Connections, Csma, CsmaFlow, TcpSettings, Transport};

/// One user: a flow of the scenario, with its connections.
pub(crate) struct User {
    rule: MultiConnection,
    /// Settings of a TCP user's connections.
    tcp: Option<TcpSettings>,
    /// Payload of a full packet. [bytes]
    payload_bytes: u32,
    /// It has begun, and not stopped.
    active: bool,
    /// The flows of all its connections, open or not; the first is the user's number.
    flows: Vec<u32>,
    /// Those that are open, in the order in which they were opened.
    open: Vec<u32>,
    /// Those that are not.
    closed: Vec<u32>,
    /// Connections opened and closed so far.
    opened_total: u64,
    closed_total: u64,
    /// When and what it saw last: sum of round-trip times, their number, segments delivered.
    looked: Time,
    seen: [u64; 3],
    changed: Time,
    /// Time integral of the number of open connections up to then. [ns]
    integral_ns: u64,
}

impl User {
    fn new(index: u32, flow: &CsmaFlow, csma: &Csma) -> User {
        let aim = match csma.connections {
            Connections::Rtt { k } => Aim::Rtt { k },
            Connections::Utility { k, fairness } => Aim::Utility {
                k,
                utility: match &flow.marginal_utility {
                    Some(points) => Utility::Points(points.clone()),
                    None => Utility::AlphaFair { fairness },
                },
                weight: flow.weight,
            },
            Connections::One => Aim::One,
        };
        User {
            rule: MultiConnection::new(aim, csma.users.smoothing, csma.users.nearest),
            tcp: match &flow.transport {
                Transport::Tcp(tcp) => Some(*tcp),
                _ => None,
            },
            payload_bytes: flow.payload_bytes(),
            active: false,
            flows: vec![index],
            open: Vec::new(),
            closed: Vec::new(),
            opened_total: 0,
            closed_total: 0,
            looked: Time::ZERO,
            seen: [0; 3],
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

    fn change(&mut self, now: Time) {
        self.integral_ns = self.integral_ns(now);
        self.changed = now;
    }

    fn count_opened(&mut self, now: Time, flow: u32) {
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
    fn look(&mut self, now: Time, flows: &[FlowState]) -> Seen {
        let sums = [
            self.sum(flows, |c| c.delay_ns),
            self.sum(flows, |c| c.delay_samples),
            self.sum(flows, |c| c.delivered),
        ];
        let [delay_ns, samples, delivered] = [0, 1, 2].map(|k| sums[k] - self.seen[k]);
        let length_s = now.since(self.looked).seconds();
        self.seen = sums;
        self.looked = now;
        Seen {
            rtt_s: (samples > 0).then(|| delay_ns as f64 / 1e9 / samples as f64),
            rate_pps: delivered as f64 / length_s,
        }
    }
}

/// All users of a network.
pub(crate) struct Users {
    each: Vec<User>,
    /// When they look at their connections next.
    next: Time,
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
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, User> {
        self.each.iter()
    }
}

impl std::ops::Index<usize> for Users {
    type Output = User;

    fn index(&self, index: usize) -> &User {
        &self.each[index]
    }
}

impl std::ops::IndexMut<usize> for Users {
    fn index_mut(&mut self, index: usize) -> &mut User {
        &mut self.each[index]
    }
}

impl World<'_> {
    /// Prices of links or numbers of connections change.
    pub(super) fn control_event(&mut self, now: Time) {
        match self.radio.conflict_mut() {
            Some(conflict) if conflict.prices_due() <= now => conflict.set_prices(now),
            _ => self.set_connections(now),
        }
        self.arm_control();
    }

    /// Lets the agenda know when prices or numbers of connections change next.
    pub(super) fn arm_control(&mut self) {
        if let (Some(conflict), Some(users)) = (self.radio.conflict(), &self.users) {
            let next = conflict.prices_due().min(users.next);
            self.clock.set(Owner::Control, next);
        }
    }

    /// User `index` begins with one connection.
    pub(super) fn start_user(&mut self, now: Time, index: u32) {
        if let Some(users) = &mut self.users {
            let user = &mut users[index as usize];
            user.active = true;
            user.looked = now;
            if user.is_tcp() {
                user.count_opened(now, index);
            }
        }
        self.start_flow(now, index as usize);
    }

    /// Whether flow `index` of the scenario is a user's, over TCP.
    pub(super) fn is_user_of_tcp(&self, index: u32) -> bool {
        let users = self.users.as_ref();
        users.is_some_and(|users| users[index as usize].is_tcp())
    }

    /// User `index` has no new data.
    pub(super) fn stop_user(&mut self, now: Time, index: u32) {
        let Some(users) = &mut self.users else {
            return;
        };
        users[index as usize].active = false;
        while self.close_connection(now, index as usize) {}
    }

    /// Each user looks at its connections, and opens or closes some.
    pub(super) fn set_connections(&mut self, now: Time) {
        settle_all(&mut self.wires, &mut self.flows, now); // what a user's connections have lost is known
        let (Some(users), Some(csma)) = (&mut self.users, &self.scenario.csma) else {
            return;
        };
        users.next = now + csma.users.interval;
        for index in 0..csma.flows.len() {
            let Some(users) = &mut self.users else {
                return;
            };
            let user = &mut users[index];
            if !user.active || !user.is_tcp() {
                continue;
            }
            let seen = user.look(now, self.flows.states());
            let asked = user.rule.step(seen) as usize;
            for _ in asked..user.open.len() {
                self.close_connection(now, index);
            }
            while self.connections(index) < asked && self.open_connection(now, index) {}
        }
    }

    fn connections(&self, user: usize) -> usize {
        let users = self.users.as_ref();
        users.map_or(0, |users| users[user].open.len())
    }

    /// Opens a connection on a flow that is free, or on a new one if the agenda has room.
    fn open_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(users) = &self.users else {
            return false;
        };
        let user = &users[index];
        let Some(tcp) = user.tcp else {
            return false;
        };
        let free = user
            .closed
            .iter()
            .position(|&flow| self.flows.is_free(flow));
        let states = &mut self.flows.states;
        let new = states.len() as u32;
        if free.is_none() {
            if !self.clock.grow(states.len() + 1) {
                return false;
            }
            states.push(FlowState::connection(&tcp));
            self.wires.routes.add(index, false);
        }
        let Some(users) = &mut self.users else {
            return false;
        };
        let user = &mut users[index];
        let flow = match free {
            Some(place) => user.closed.swap_remove(place),
            None => {
                user.flows.push(new);
                new
            }
        };
        user.count_opened(now, flow);
        if flow != new {
            self.flows.states[flow as usize].renew(&tcp);
        }
        self.start_flow(now, flow as usize);
        true
    }

    /// Closes the connection of user `index` that was opened last; false if none is open.
    fn close_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(users) = &mut self.users else {
            return false;
        };
        let user = &mut users[index];
        user.change(now);
        let Some(flow) = user.open.pop() else {
            return false;
        };
        user.closed_total += 1;
        user.closed.push(flow);
        if let Endpoints::Tcp(tcp) = &mut self.flows.states[flow as usize].endpoints {
            tcp.0.close();
        }
        true
    }
}

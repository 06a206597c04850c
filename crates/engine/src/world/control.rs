//! Control of a CSMA network during a run: the prices of links, and users that open and close
//! connections.

use super::World;
use super::flow::Endpoints;
use super::numbers::Owner;
use super::users::{User, Users};
use crate::kernel::time::Time;

impl World<'_> {
    /// Updates the prices of links or the users' numbers of connections.
    pub(super) fn control_event(&mut self, now: Time) {
        match self.radio.conflict_mut() {
            Some(conflict) if conflict.prices_due() <= now => conflict.set_prices(now),
            _ => self.set_connections(now),
        }
        self.arm_control();
    }

    /// Sets the time of the next update of prices or of the users' numbers of connections.
    pub(super) fn arm_control(&mut self) {
        if let (Some(conflict), Some(users)) = (self.radio.conflict(), &self.users) {
            let next = conflict.prices_due().min(users.next);
            self.network.clock.set(Owner::Control, next);
        }
    }

    /// Starts user `index`. A TCP user starts with one connection.
    pub(super) fn start_user(&mut self, now: Time, index: u32) {
        if let Some(user) = user(&mut self.users, index as usize) {
            user.active = true;
            user.started_at = now;
            user.looked = now;
            if user.is_tcp() {
                user.count_opened(now, index);
            }
        }
        self.start_flow(now, index as usize);
    }

    /// Returns whether flow `index` of the scenario belongs to a user with TCP.
    pub(super) fn is_user_of_tcp(&self, index: u32) -> bool {
        let users = self.users.as_ref();
        users.is_some_and(|users| users.each[index as usize].is_tcp())
    }

    /// Stops user `index`: it sends no new data from now on.
    pub(super) fn stop_user(&mut self, now: Time, index: u32) {
        if let Some(user) = user(&mut self.users, index as usize) {
            user.active = false;
            user.stopped_at = now;
        }
        while self.close_connection(now, index as usize) {}
    }

    /// Computes the number of connections of each user, and opens or closes connections.
    pub(super) fn set_connections(&mut self, now: Time) {
        self.network.settle(now); // all losses on links are counted first, because users react to losses
        let (Some(users), Some(csma)) = (&mut self.users, &self.scenario.csma) else {
            return;
        };
        users.next = now + csma.users.interval;
        for index in 0..csma.flows.len() {
            let user = user(&mut self.users, index);
            let Some(user) = user.filter(|user| user.active && user.is_tcp()) else {
                continue;
            };
            let seen = user.look(now, self.network.flows.states());
            let needed = user.rule.step(seen) as usize;
            let open = user.open.len();
            for _ in needed..open {
                self.close_connection(now, index);
            }
            for _ in open..needed {
                if !self.open_connection(now, index) {
                    break;
                }
            }
        }
    }

    /// Opens a connection on a flow that is no longer used, or on a new flow. Returns false if the
    /// agenda has no free slot for a new flow.
    fn open_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(user) = user(&mut self.users, index) else {
            return false;
        };
        let Some(tcp) = user.tcp.clone() else {
            return false;
        };
        let network = &mut self.network;
        let mut closed = user.closed.iter();
        let flow = match closed.position(|&flow| network.flows.is_free(flow)) {
            Some(place) => {
                let flow = user.closed.swap_remove(place);
                network.flows.states[flow as usize].renew(&tcp);
                network.flows.seed(flow as usize);
                flow
            }
            None => {
                if !network.clock.grow(network.flows.states.len() + 1) {
                    return false;
                }
                let new = network.flows.add_connection(&tcp);
                network.wires.add_flow(index, false);
                user.flows.push(new);
                new
            }
        };
        user.count_opened(now, flow);
        self.start_flow(now, flow as usize);
        true
    }

    /// Closes the connection of user `index` that was opened last. Returns false if no connection
    /// is open.
    fn close_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(user) = user(&mut self.users, index) else {
            return false;
        };
        user.change(now);
        let Some(flow) = user.open.pop() else {
            return false;
        };
        user.closed_total += 1;
        user.closed.push(flow);
        let flow = &mut self.network.flows.states[flow as usize];
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            tcp.0.close();
            flow.note_limit(now);
        }
        true
    }
}

/// Returns user `index` of a CSMA network.
fn user(users: &mut Option<Users>, index: usize) -> Option<&mut User> {
    users.as_mut().map(|users| &mut users.each[index])
}

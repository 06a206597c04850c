//! Control of a CSMA network at work: prices of links, users that open and close connections.

use super::World;
use super::flow::Endpoints;
use super::numbers::Owner;
use crate::kernel::time::Time;

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
            let user = &mut users.each[index as usize];
            user.active = true;
            user.started_at = now;
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
        users.is_some_and(|users| users.each[index as usize].is_tcp())
    }

    /// User `index` has no new data from now on.
    pub(super) fn stop_user(&mut self, now: Time, index: u32) {
        let Some(users) = &mut self.users else {
            return;
        };
        let user = &mut users.each[index as usize];
        user.active = false;
        user.stopped_at = now;
        while self.close_connection(now, index as usize) {}
    }

    /// Each user looks at its connections, and opens or closes some.
    pub(super) fn set_connections(&mut self, now: Time) {
        self.settle(now); // what a user's connections have lost is known
        let (Some(users), Some(csma)) = (&mut self.users, &self.scenario.csma) else {
            return;
        };
        users.next = now + csma.users.interval;
        for index in 0..csma.flows.len() {
            let Some(users) = &mut self.users else {
                return;
            };
            let user = &mut users.each[index];
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
        users.map_or(0, |users| users.each[user].open.len())
    }

    /// Opens a connection on a flow that is free, or on a new one; false if the agenda has no room.
    fn open_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(users) = &mut self.users else {
            return false;
        };
        let user = &mut users.each[index];
        let Some(tcp) = user.tcp.clone() else {
            return false;
        };
        let mut closed = user.closed.iter();
        let flow = match closed.position(|&flow| self.flows.is_free(flow)) {
            Some(place) => {
                let flow = user.closed.swap_remove(place);
                self.flows.states[flow as usize].renew(&tcp);
                flow
            }
            None => {
                if !self.clock.grow(self.flows.states.len() + 1) {
                    return false;
                }
                let new = self.flows.add_connection(&tcp);
                self.wires.routes.add(index, false);
                user.flows.push(new);
                new
            }
        };
        user.count_opened(now, flow);
        self.start_flow(now, flow as usize);
        true
    }

    /// Closes the connection of user `index` that was opened last; false if none is open.
    fn close_connection(&mut self, now: Time, index: usize) -> bool {
        let Some(users) = &mut self.users else {
            return false;
        };
        let user = &mut users.each[index];
        user.change(now);
        let Some(flow) = user.open.pop() else {
            return false;
        };
        user.closed_total += 1;
        user.closed.push(flow);
        let flow = &mut self.flows.states[flow as usize];
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            tcp.0.close();
            flow.note_limit(now);
        }
        true
    }
}

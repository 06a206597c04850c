//! Measures of a CSMA network: of each user with all its connections, and of each link.

use super::item::{Item, Value, mean_s, ratio, share};
use super::period::Period;
use crate::conflict::Conflict;
use crate::quantities::*;
use crate::scenario::{Connections, Csma, CsmaAccess, CsmaFlow};
use crate::world::{FlowCounters, User};

impl Period<'_> {
    /// Returns the links of the CSMA network, its users and its settings; `None` if the scenario
    /// has no CSMA network.
    fn network(&self) -> Option<(&Conflict, &[User], &Csma)> {
        let world = self.world;
        let csma = world.scenario().csma.as_ref()?;
        Some((world.radio().conflict()?, world.users()?.each(), csma))
    }

    /// Returns the increase of a counter in the measured period, summed over all flows of a user.
    /// `count` reads the counter of a flow.
    fn over_user(&self, user: usize, count: fn(&FlowCounters) -> u64) -> u64 {
        let Some((_, users, _)) = self.network() else {
            return 0;
        };
        let flows = users[user].flows().iter().map(|&flow| flow as usize);
        self.over(flows, count)
    }

    /// Returns the time integral of a user's number of open connections over the measured period.
    /// [ns]
    fn connections_ns(&self, user: usize) -> u64 {
        let [from, to] = [&self.start.on_air, &self.end.on_air].map(|air| air.users[user]);
        to.connections_ns - from.connections_ns
    }

    pub(super) fn users(&self) -> Vec<Item> {
        let Some((_, users, csma)) = self.network() else {
            return Vec::new();
        };
        let goodput = |(user, flow): (usize, &CsmaFlow)| {
            let packets = self.over_user(user, |c| c.delivered);
            packets as f64 * 8.0 * f64::from(flow.payload_bytes()) / self.length_s()
        };
        let goodputs: Vec<f64> = csma.flows.iter().enumerate().map(goodput).collect();
        let total: f64 = goodputs.iter().sum();
        let item = |(user, flow): (usize, &CsmaFlow)| {
            let over = |count| self.over_user(user, count);
            let delay = mean_s(over(|c| c.delay_ns), over(|c| c.delay_samples));
            let flows = users[user].flows().iter().map(|&flow| flow as usize);
            let mut values = vec![
                GOODPUT.of(goodputs[user]),
                GOODPUT_SHARE.of(share(goodputs[user], total)),
            ];
            if users[user].is_tcp() {
                values.push(RTT.of(delay));
                values.extend(self.rtt_percentiles(flows.clone()));
                if csma.connections == Connections::One {
                    let life = users[user].life(self.start.marks.at, self.end.marks.at);
                    values.extend(self.limits(flows.clone(), life));
                }
                values.push(self.loss(flows));
                values.push(RETRANSMISSIONS.of(over(|c| c.retransmitted) as f64));
                values.extend(self.management(user, users, csma));
            } else {
                values.push(ONE_WAY_DELAY.of(delay));
                values.push(self.delay_p99(flows.clone()));
                values.push(self.loss(flows));
            }
            Item {
                labels: vec![("class", flow.class.clone())],
                ..Item::new(&flow.name, values)
            }
        };
        csma.flows.iter().enumerate().map(item).collect()
    }

    /// Returns measures of a user's connections; an empty list if each user has a single
    /// connection.
    fn management(&self, user: usize, users: &[User], csma: &Csma) -> Vec<Value> {
        if csma.connections == Connections::One {
            return Vec::new();
        }
        let [from, to] = [&self.start.on_air, &self.end.on_air].map(|air| air.users[user]);
        let life = users[user].life(self.start.marks.at, self.end.marks.at);
        vec![
            CONNECTIONS.of(ratio(self.connections_ns(user), life.0)),
            CONNECTIONS_OPENED.of((to.opened - from.opened) as f64),
            CONNECTIONS_CLOSED.of((to.closed - from.closed) as f64),
        ]
    }

    /// Returns an item for each link of the CSMA network, in the order of the scenario.
    pub(super) fn links_on_air(&self) -> Vec<Item> {
        let Some((conflict, _, csma)) = self.network() else {
            return Vec::new();
        };
        let length = self.length_ns();
        let item = |index: usize| {
            let [from, to] = [&self.start.on_air, &self.end.on_air].map(|air| air.links[index]);
            let mut values = vec![AIRTIME_FRACTION.of(ratio(to.air_ns - from.air_ns, length))];
            if matches!(csma.access, CsmaAccess::Adaptive(_)) {
                let r = (to.r_ns - from.r_ns) / length as f64;
                values.push(AGGRESSIVENESS.of(r));
            }
            if csma.dummy {
                values.push(DUMMY_FRACTION.of(ratio(to.dummy_ns - from.dummy_ns, length)));
            }
            if csma.connections != Connections::One {
                let through = conflict.drives()[index].passes().iter();
                let each = through.map(|&user| self.connections_ns(user as usize));
                let sum: f64 = each.map(|ns| ns as f64 / length as f64).sum();
                values.push(CONNECTIONS.of(sum));
            }
            values.extend(self.marks().access([index as u32].into_iter()));
            Item::new(conflict.queue_name(index), values)
        };
        (0..conflict.queues()).map(item).collect()
    }
}

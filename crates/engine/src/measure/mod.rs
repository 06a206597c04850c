//! Computes the measured quantities from the counters at the end of the warm-up and at the end of
//! the run. Checks the conservation laws that every run must obey.
//!
//! This module never changes the state of a simulation. [`snapshot`] contains all counters at one
//! time. [`period`] is the time between two snapshots. The result lists are computed from a period.
//! Each list is computed in a separate file.

mod chunks;
mod combined;
mod conservation;
mod csma;
pub(crate) mod distributions;
mod fairness;
mod fates;
mod flows;
mod goodputs;
mod item;
mod marks;
mod network;
mod period;
mod pings;
mod sharing;
mod snapshot;
pub(crate) mod streams;
pub(crate) mod tails;
mod tin_marks;
mod tins;
mod videos;
mod waits;
mod web;
mod wlan;

pub use self::combined::{CombinedItem, ReplicationTable};
pub(crate) use self::conservation::{check as check_conservation, check_fractions};
pub use self::distributions::{Distribution, distributions_json};
pub use self::goodputs::Goodputs;
pub use self::item::{Item, Measures, Value, quantile};
use self::marks::QueueMark;
use self::period::Period;
pub(crate) use self::snapshot::Snapshot;
use crate::quantities::*;
use crate::scenario::Ends;
use crate::world::{WiredLink, World};

/// Returns the measured quantities of the period from `start` to now.
pub(crate) fn between(start: &Snapshot, world: &World<'_>) -> Measures {
    let period = Period {
        start,
        end: Snapshot::take(world),
        world,
    };
    let measures = period.measures();
    debug_assert_eq!(conservation::check_fractions(&measures), Ok(()));
    measures
}

impl Period<'_> {
    fn measures(&self) -> Measures {
        let goodputs: Vec<f64> = (0..self.world.scenario().flows.len())
            .map(|i| self.goodput_bps(i))
            .collect();
        let scenario = self.world.scenario();
        let competing = self.competing();
        let has_cell = !scenario.stations.is_empty();
        let is_on_air = self.world.radio().conflict().is_some();
        let mut flows = self.flows(&goodputs);
        flows.extend(self.users());
        let mut lists = vec![("flows", flows)];
        if has_cell {
            lists.push(("stations", self.stations(&goodputs, &competing)));
            lists.push((
                "aps",
                vec![Item::new("ap", self.node(scenario.only_bss().ap))],
            ));
        }
        lists.push(("queues", self.queues()));
        let tins = self.tins();
        if !tins.is_empty() {
            lists.push(("tins", tins));
        }
        let waits = self.waits();
        if !waits.is_empty() {
            lists.push(("waits", waits));
        }
        if is_on_air || self.world.wires().links().iter().any(WiredLink::is_shown) {
            let mut links = self.links_on_air();
            links.extend(self.links());
            lists.push(("links", links));
        }
        if has_cell {
            lists.push(("cells", self.cells(&goodputs, &competing)));
        }
        let mut classes = self.sharing(&goodputs, &competing);
        if scenario.flows.iter().any(|flow| flow.ends == Ends::Wired) {
            classes.extend(self.classes(&goodputs, &competing));
        }
        if !classes.is_empty() {
            lists.push(("classes", classes));
        }
        lists.push(("totals", self.totals()));
        Measures { lists }
    }

    fn queues(&self) -> Vec<Item> {
        let (world, radio) = (self.world, self.world.radio());
        let shown = radio.conflict().is_some() || !world.scenario().stations.is_empty();
        let pairs = self.start.marks.queues.iter().zip(&self.end.marks.queues);
        let mut items: Vec<Item> = pairs
            .enumerate()
            .filter(|_| shown)
            .map(|(index, (&from, &to))| {
                let (name, marks) = (radio.queue_name(index), radio.marks(index));
                let mut item = self.queue_item(name, marks, from, to);
                item.values.extend(self.keeping(index));
                item
            })
            .collect();
        let marks = self.marks();
        let cell = radio.cell().into_iter();
        items.extend(cell.flat_map(|cell| marks.power_save(cell)));
        items.extend(self.link_queues());
        let leaves = world.scenario().bottleneck_leaves();
        items.extend(leaves.map(|(leaf, name)| marks.leaf(&name, leaf)));
        items
    }

    /// Returns the item of a queue. The item contains the mark probability only if `marks` is true,
    /// that is, if the queue may mark packets.
    fn queue_item(&self, name: &str, marks: bool, start: QueueMark, end: QueueMark) -> Item {
        let mut item = self.marks().queue_item(name, start, end);
        if marks {
            let marked = end.mark_probability(&start);
            item.values.push(MARK_PROBABILITY.of(marked));
        }
        item
    }

    fn totals(&self) -> Vec<Item> {
        let delivered =
            |snapshot: &Snapshot| snapshot.flows.iter().map(|f| f.delivered).sum::<u64>();
        let packets = delivered(&self.end) - delivered(self.start);
        let values = [
            PACKETS_DELIVERED.of(packets as f64),
            EVENTS.of(self.world.events() as f64),
        ];
        vec![Item::new("run", values)]
    }
}

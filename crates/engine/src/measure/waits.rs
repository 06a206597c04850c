//! Waiting times of the datagrams of each flow in each queue on their path.

use super::item::{Item, mean_s};
use super::period::Period;
use crate::packet::Direction;
use crate::quantities::WAIT;
use crate::queue::Waits;
use crate::scenario::{Ends, Transport};
use crate::world::Stop;

impl Period<'_> {
    /// Returns an item for each UDP flow and each queue on its path, in the order of the path.
    pub(super) fn waits(&self) -> Vec<Item> {
        let scenario = self.world.scenario();
        let flows = (0..).zip(&scenario.flows);
        let datagrams = flows.filter(|(_, flow)| matches!(flow.transport, Transport::Udp(_)));
        let own = datagrams.map(|(index, flow)| (index, &*flow.name));
        let users = self.world.users().map_or(&[][..], |users| users.each());
        let names = scenario.csma.iter().flat_map(|csma| &csma.flows);
        let users = users.iter().zip(names).filter(|(user, _)| !user.is_tcp());
        let users = users.flat_map(|(user, flow)| {
            let numbers = user.flows().iter();
            numbers.map(|&number| (number, &*flow.name))
        });
        own.chain(users)
            .flat_map(|(flow, name)| self.waits_of(flow, name))
            .collect()
    }

    fn waits_of(&self, flow: u32, name: &str) -> Vec<Item> {
        let (world, before) = (self.world, &self.start.waits);
        let mut items = Vec::new();
        let mut add = |queue: &str, ns: u64, packets: u64| {
            items.push(Item {
                labels: vec![("flow", name.to_owned()), ("queue", queue.to_owned())],
                ..Item::new(
                    &format!("{name} at {queue}"),
                    [WAIT.of(mean_s(ns, packets))],
                )
            });
        };
        for stop in world.wires().data_stops(flow) {
            match stop {
                Stop::Link(link) => {
                    let wired = &world.wires().links()[link];
                    let has_queue = wired.is_shown() && wired.link().unrated_delay().is_none();
                    if let Some(waits) = wired.link().waits().filter(|_| has_queue) {
                        let own = waits.of(flow).since(before.links[link].of(flow));
                        add(wired.name(), own.ns, own.packets);
                    }
                }
                Stop::Air(queue) => {
                    let waits = world.radio().queue(queue).waits();
                    let own = waits.of(flow).since(before.radio[queue].of(flow));
                    if let Some((station, name, waits)) = self.kept_before(flow) {
                        let from = before.power_save[station]
                            .as_ref()
                            .map(|waits| waits.of(flow));
                        let asleep = waits.of(flow).since(from.unwrap_or_default());
                        // the sum of the buffering times is divided by the number of all packets,
                        // including packets that were not buffered because the station was awake
                        add(name, asleep.ns, own.packets);
                    }
                    add(world.radio().queue_name(queue), own.ns, own.packets);
                }
            }
        }
        items
    }

    /// Returns three properties of the station that receives the data of `flow`: its index, the
    /// name of its buffered packets in results, and the buffering times. Returns `None` if the
    /// receiver is not a station with power save.
    fn kept_before(&self, flow: u32) -> Option<(usize, &str, &Waits)> {
        let Ends::Station { station, direction } =
            self.world.scenario().flows.get(flow as usize)?.ends
        else {
            return None;
        };
        let cell = (self.world.radio().cell()).filter(|_| direction == Direction::Down)?;
        let (name, waits) = cell.power_save_of(station)?;
        Some((station, name, waits))
    }
}

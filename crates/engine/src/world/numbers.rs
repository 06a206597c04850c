//! The numbers of links, of flows, and of slots in the agenda (the list of pending events).
//!
//! ```text
//! links   0 wire down | 1 wire up | 2 ... links of the scenario | the bottleneck || on air | on air, back
//! flows   0 ... flows of the scenario | users | pings, one for each station | connections
//! slots   links except those on air | schedule | readings | ACKs with delay | reports
//!         | control, with users | sender and receiver of flow 0, of flow 1, ...
//! ```
//!
//! Events at the same time are processed in the order of their slots.

use crate::scenario::Scenario;

/// The number of the wire from the servers to the cell; the next constant is the opposite
/// direction.
pub(super) const WIRE_DOWN: u32 = 0;
pub(super) const WIRE_UP: u32 = 1;
/// The number of the first link that the scenario defines.
const NETWORK: u32 = 2;

/// Returns the link number of the link with index `index` in the scenario.
pub(super) fn of_network(index: usize) -> u32 {
    NETWORK + index as u32
}

/// Returns the index in the scenario of link `number`; `None` if the scenario does not define this
/// link.
pub(super) fn in_network(number: u32, scenario: &Scenario) -> Option<usize> {
    let index = number.checked_sub(NETWORK)? as usize;
    (index < scenario.links.len()).then_some(index)
}

/// Returns the number of the bottleneck, if there is a bottleneck.
pub(super) fn of_bottleneck(scenario: &Scenario) -> Option<u32> {
    let next = of_network(scenario.links.len());
    scenario.bottleneck.as_ref().map(|_| next)
}

/// Returns the number of wired links, including the bottleneck.
pub(super) fn wired(scenario: &Scenario) -> usize {
    of_network(scenario.links.len()) as usize + usize::from(scenario.bottleneck.is_some())
}

/// Returns the number of the wireless link that transmits the packets of queue `queue`, in a CSMA
/// network. Links of the opposite direction have the highest numbers.
pub(super) fn on_air(queue: usize, scenario: &Scenario) -> u32 {
    (wired(scenario) + queue) as u32
}

/// Returns the number of the flow for pings of the first station. The sender timer of this flow is
/// the timer of the bottleneck.
pub(super) fn first_ping(scenario: &Scenario) -> usize {
    let users = scenario.csma.as_ref().map_or(0, |csma| csma.flows.len());
    scenario.flows.len() + users
}

/// Returns the number of the first flow for connections.
pub(super) fn first_connection(scenario: &Scenario) -> usize {
    let pinged = scenario
        .bottleneck
        .as_ref()
        .map_or(0, |_| scenario.stations.len());
    first_ping(scenario) + pinged
}

/// The owner of a slot in the agenda. Each owner has one type of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    /// A link: departures from its queue.
    Link(usize),
    /// Planned events: starts, stops, changes of channels.
    Schedule,
    /// Samples of windows and queue lengths.
    Gauge,
    /// Delayed transmissions: ACKs with a processing time, and delayed replies to pings.
    Acks,
    /// Reports of sensors, and writes of applications.
    Reports,
    /// Updates of the prices and of the numbers of connections in a CSMA network.
    Control,
    /// The timer of a flow's sender.
    Sender(usize),
    /// The timer of a flow's receiver.
    Receiver(usize),
}

/// The assignment of agenda slots to their owners.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    links: usize,
    has_control: bool,
}

impl Slots {
    pub(super) fn new(scenario: &Scenario) -> Slots {
        Slots {
            links: wired(scenario),
            has_control: scenario.csma.is_some(),
        }
    }

    /// Returns the number of agenda slots for a simulation with `flows` flows.
    pub(super) fn count(self, flows: usize) -> usize {
        self.of(Owner::Sender(flows))
    }

    /// Returns the agenda slot of `owner`.
    #[inline(always)]
    pub(super) fn of(self, owner: Owner) -> usize {
        let first_flow = self.links + 4 + usize::from(self.has_control);
        match owner {
            Owner::Link(number) => number,
            Owner::Schedule => self.links,
            Owner::Gauge => self.links + 1,
            Owner::Acks => self.links + 2,
            Owner::Reports => self.links + 3,
            Owner::Control => self.links + 4,
            Owner::Sender(flow) => first_flow + 2 * flow,
            Owner::Receiver(flow) => first_flow + 2 * flow + 1,
        }
    }

    /// Returns the component of the simulation (such as a link or a timer) whose next event is in the
    /// agenda slot `slot`.
    #[inline]
    pub(super) fn owner(self, slot: usize) -> Owner {
        let Some(rest) = slot.checked_sub(self.links) else {
            return Owner::Link(slot);
        };
        let first_flow = 4 + usize::from(self.has_control);
        match (rest.checked_sub(first_flow), rest) {
            (Some(timer), _) if timer % 2 == 0 => Owner::Sender(timer / 2),
            (Some(timer), _) => Owner::Receiver(timer / 2),
            (None, 0) => Owner::Schedule,
            (None, 1) => Owner::Gauge,
            (None, 2) => Owner::Acks,
            (None, 3) => Owner::Reports,
            (None, _) => Owner::Control,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_slot_has_one_owner() {
        for has_control in [false, true] {
            let slots = Slots {
                links: 3,
                has_control,
            };
            for slot in 0..slots.count(5) {
                assert_eq!(slots.of(slots.owner(slot)), slot);
            }
            let receiver = slots.of(Owner::Receiver(4));
            assert_eq!(
                (slots.count(5), slots.owner(receiver)),
                (receiver + 1, Owner::Receiver(4))
            );
        }
    }
}

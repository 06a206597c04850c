//! The way of every packet from end to end, in small arrays: each hop of each packet looks here.
//!
//! A way is a list of links between two ends, each an endpoint or a queue of the radio; packets go
//! through it leg by leg ([`super::legs`]).

use super::legs::{self, Leg, Place};
use super::numbers::{self, WIRE_DOWN, WIRE_UP, of_network};
use super::wired::WiredLink;
use crate::kernel::time::Span;

use crate::cell::Cell;
use crate::mac::dcf::AP;
use crate::mac::numbering::node_of;
use crate::packet::Packet;
use crate::scenario::{
    Category, Csma, CsmaAcks, CsmaFlow, Direction, Ends, Flow, Hop, LinkRate, Scenario,
};

/// No queue of the radio: a packet does not come off the air, or does not go on air.
pub(super) const WIRED: u32 = u32::MAX;

/// The way of a flow's packets in one direction.
#[derive(Clone, Copy, Debug)]
struct Way {
    /// Queue of the radio in which they begin, or [`WIRED`].
    first: u32,
    /// Queue of the radio in which they end, or [`WIRED`].
    last: u32,
    /// Links between the two: a range of [`Routes::links`].
    start: u32,
    end: u32,
    /// Whether the endpoint has lookahead ([`super::lookahead`]).
    ahead: bool,
}

/// A place in which packets may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// A queue of the radio.
    Air(usize),
    /// A link.
    Link(usize),
}

/// Ways of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// Ways of each flow: `[ACKs, data]`.
    ways: Vec<[Way; 2]>,
    /// Numbers of links, way after way.
    links: Vec<u32>,
    /// Legs, way after way.
    legs: Vec<Leg>,
    /// First leg of each way: `[ACKs, data]`.
    first_legs: Vec<[u32; 2]>,
}

impl Routes {
    /// The ways of the scenario's flows. Links that take no time and lose nothing are left out.
    pub(super) fn new(scenario: &Scenario, cell: Option<&Cell>) -> Routes {
        let mut routes = Routes::default();
        for flow in &scenario.flows {
            let ways = [false, true].map(|data| routes.lay(flow, data, scenario, cell));
            routes.ways.push(ways);
        }
        if scenario.bottleneck.is_some() {
            routes.lay_pings(scenario, cell);
        }
        if let Some(csma) = &scenario.csma {
            for flow in &csma.flows {
                let ways =
                    [false, true].map(|data| routes.lay_over_air(flow, data, csma, scenario));
                routes.ways.push(ways);
            }
        }
        routes
    }

    /// The ways of the pings of each station: through the air at once, and back.
    fn lay_pings(&mut self, scenario: &Scenario, cell: Option<&Cell>) {
        let here = self.links.len() as u32;
        let way = |first, last| Way {
            first,
            last,
            start: here,
            end: here,
            ahead: false,
        };
        let ap = queue_of(cell, AP, Category::BestEffort);
        for node in 1..=scenario.stations.len() as u32 {
            let station = queue_of(cell, node, Category::BestEffort);
            self.ways.push([way(station, WIRED), way(WIRED, ap)]);
        }
    }

    /// The way of a flow over wireless links, which are numbered behind the wired ones; ACKs with
    /// priority pass those in no time.
    fn lay_over_air(
        &mut self,
        flow: &CsmaFlow,
        data: bool,
        csma: &Csma,
        scenario: &Scenario,
    ) -> Way {
        let back = csma.links.len();
        let on_air = |link| Some(numbers::on_air(link, scenario));
        let number = |hop: &Hop| match (*hop, data, csma.acks) {
            (Hop::Wired(link), true, _) => Some(of_network(link)),
            (Hop::Wired(link), false, _) => Some(of_network(link + 1)),
            (Hop::Wireless(link), true, _) => on_air(link),
            (Hop::Wireless(link), false, CsmaAcks::Contend) => on_air(back + link),
            (Hop::Wireless(_), false, CsmaAcks::Priority) => None,
        };
        let mut links: Vec<u32> = flow.route.iter().filter_map(number).collect();
        if !data {
            links.reverse();
        }
        self.store(WIRED, WIRED, links, scenario)
    }

    /// A further flow on the ways of flow `like`, `reversed` from its end to its beginning.
    pub(super) fn add(&mut self, like: usize, reversed: bool) {
        let mut ways = self.ways[like];
        if reversed {
            ways.reverse();
        }
        self.ways.push(ways);
        let [acks, data] = self.first_legs[like];
        let legs = if reversed { [data, acks] } else { [acks, data] };
        self.first_legs.push(legs);
    }

    /// The queue of the radio in which `packet` begins, or [`WIRED`].
    #[inline]
    pub(super) fn first(&self, packet: &Packet) -> u32 {
        self.ways[packet.flow as usize][usize::from(packet.is_data())].first
    }

    /// The next leg of `packet`, and those behind it.
    #[inline]
    pub(super) fn legs(&self, packet: &Packet) -> &[Leg] {
        let first = self.first_legs[packet.flow as usize][usize::from(packet.is_data())];
        &self.legs[first as usize + usize::from(packet.hop)..]
    }

    /// Whether `packet`, off the air, is where it is for, an endpoint that acts in its own time.
    #[inline(always)]
    pub(super) fn has_arrived(&self, packet: &Packet) -> bool {
        self.legs(packet)[0].place == Place::End
    }

    /// The first two legs of a flow's ACKs and of its data, as far as there are so many.
    pub(super) fn first_two(&self, flow: usize) -> impl Iterator<Item = &Leg> {
        let first = self.first_legs[flow].into_iter();
        let two = first.flat_map(|first| [first as usize, first as usize + 1]);
        two.filter_map(|place| self.legs.get(place))
    }

    /// Cuts all ways into legs.
    pub(super) fn lay_legs(&mut self, links: &[WiredLink]) {
        let mut all = Vec::new();
        let mut lay = |way: &Way| {
            let first = all.len() as u32;
            let end = match way.last {
                WIRED if way.ahead => Place::EndAhead,
                WIRED => Place::End,
                queue => Place::Air(queue),
            };
            legs::cut(&mut all, self.links_of(way), end, links);
            first
        };
        let first_legs = self.ways.iter().map(|ways| ways.each_ref().map(&mut lay));
        self.first_legs = first_legs.collect();
        self.legs = all;
    }

    /// Nothing enters a link that comes later than a world halts.
    pub(super) fn gate(&mut self) {
        self.legs.iter_mut().for_each(Leg::gate);
    }

    fn links_of(&self, way: &Way) -> &[u32] {
        &self.links[way.start as usize..way.end as usize]
    }

    /// Queue of the radio for the data of a station's flow, or of one whose route begins on air behind
    /// `wired` links.
    pub(super) fn queue_of(&self, flow: u32, wired: usize) -> u32 {
        let [_, data] = self.ways[flow as usize];
        match data.first.min(data.last) {
            WIRED => self.links[data.start as usize] - wired as u32,
            contender => contender, // the other one is WIRED
        }
    }

    /// Whether a flow's data begins on links rather than in a queue of the radio.
    pub(super) fn begins_on_wires(&self, flow: u32) -> bool {
        let [_, data] = self.ways[flow as usize];
        data.first == WIRED
    }

    /// The links of a flow's data, in order.
    pub(super) fn data_links(&self, flow: u32) -> &[u32] {
        let [_, data] = &self.ways[flow as usize];
        self.links_of(data)
    }

    /// Queues of the radio and links that a flow's data comes to, in order, of a network with this number of `wired`
    /// links.
    pub(super) fn data_stops(&self, flow: u32, wired: usize) -> Vec<Stop> {
        let [_, data] = &self.ways[flow as usize];
        let on_air = |queue: u32| (queue != WIRED).then_some(Stop::Air(queue as usize));
        let links = self.links_of(data).iter().map(|&link| {
            let link = link as usize;
            link.checked_sub(wired).map_or(Stop::Link(link), Stop::Air)
        });
        let first = on_air(data.first).into_iter();
        first.chain(links).chain(on_air(data.last)).collect()
    }

    /// Legs of a flow's data before the one that leads into link number `link`.
    pub(super) fn legs_before(&self, flow: u32, link: u32) -> u8 {
        let [_, first] = self.first_legs[flow as usize];
        let mut legs = self.legs[first as usize..].iter();
        let leads =
            |leg: &Leg| matches!(leg.place, Place::Link(to) | Place::Gate(to) if to == link);
        legs.position(leads).map_or(0, |place| place as u8) // at most LONGEST_ROUTE
    }

    /// The links of each flow's ACKs and of its data, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [&[u32]; 2]> {
        let links = |way| self.links_of(way);
        self.ways.iter().map(move |ways| ways.each_ref().map(links))
    }

    /// Sets which receivers and senders of flows have lookahead. Flows beyond the lists have none.
    pub(super) fn act_ahead(&mut self, receivers: &[bool], senders: &[bool]) {
        for (index, [acks, data]) in self.ways.iter_mut().enumerate() {
            data.ahead = receivers.get(index).is_some_and(|&ahead| ahead);
            acks.ahead = senders.get(index).is_some_and(|&ahead| ahead);
        }
    }

    fn lay(&mut self, flow: &Flow, data: bool, scenario: &Scenario, cell: Option<&Cell>) -> Way {
        let network = if data { &flow.forward } else { &flow.back };
        let network = network.iter().map(|&link| of_network(link as usize));
        let passes = scenario
            .bottleneck
            .as_ref()
            .is_some_and(|own| own.redirects(flow));
        let shared = numbers::of_bottleneck(scenario).filter(|_| passes);
        let (first, last, links) = match flow.ends {
            Ends::Wired => (WIRED, WIRED, network.collect()),
            Ends::Station { station, direction } if (direction == Direction::Up) == data => {
                let contender = queue_of(cell, node_of(station), flow.category);
                let links = shared.into_iter().chain([WIRE_UP]).chain(network);
                (contender, WIRED, links.collect::<Vec<u32>>())
            }
            Ends::Station { .. } => {
                let links = network.chain([WIRE_DOWN]).chain(shared);
                (WIRED, queue_of(cell, AP, flow.category), links.collect())
            }
        };
        let way = self.store(first, last, links, scenario);
        match way.start == way.end && first == WIRED {
            true => Way {
                first: last, // the sender is on the access point
                last: WIRED,
                ..way
            },
            false => way,
        }
    }

    /// Puts down a way over `links`, of which those that matter are kept.
    fn store(&mut self, first: u32, last: u32, links: Vec<u32>, scenario: &Scenario) -> Way {
        let start = self.links.len() as u32;
        let matter = links.into_iter().filter(|&link| matters(link, scenario));
        self.links.extend(matter);
        let end = self.links.len() as u32;
        Way {
            first,
            last,
            start,
            end,
            ahead: false,
        }
    }
}

/// Whether a link takes time, be it a random one, or loses packets.
fn matters(link: u32, scenario: &Scenario) -> bool {
    let wire = &scenario.wire;
    let (rate, longest, loss) = match link {
        WIRE_DOWN => (&wire.rate, wire.delay, wire.loss),
        WIRE_UP => (&wire.back, wire.delay, wire.loss),
        other => match numbers::in_network(other, scenario) {
            Some(index) => {
                let link = &scenario.links[index];
                (&link.rate, link.delay.max(link.jitter), link.loss)
            }
            None => return true, // the bottleneck, or on air
        },
    };
    *rate != LinkRate::Unlimited || longest > Span::ZERO || loss.share() > 0.0
}

/// The queue of a node for a category; stations are in a cell.
fn queue_of(cell: Option<&Cell>, node: u32, category: Category) -> u32 {
    cell.map_or(WIRED, |cell| cell.medium().contender(node, category))
}

#[cfg(test)]
mod tests;

//! The way of every packet from end to end, in small arrays: each hop of each packet looks here.

use super::network::{NETWORK, WIRE_DOWN, WIRE_UP, WiredLink};
use super::pings;
use crate::kernel::time::Span;
use crate::link::Link;

use crate::bottleneck::is_redirected;
use crate::cell::Cell;
use crate::mac::dcf::AP;
use crate::packet::Packet;
use crate::scenario::{Category, Csma, CsmaAcks, CsmaFlow, Direction, Ends, Flow, Hop, Scenario};

/// No contender: a packet does not come off the air, or does not go on air.
pub(super) const WIRED: u32 = u32::MAX;

/// The way of a flow's packets in one direction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Way {
    /// The contender that sends them on air first, or [`WIRED`].
    pub(super) first: u32,
    /// The contender that sends them on air at last, or [`WIRED`].
    pub(super) last: u32,
    /// Between them they take these links, a range of [`Routes::links`].
    start: u32,
    end: u32,
    /// The endpoint acts ahead of time ([`super::ahead`]).
    ahead: bool,
}

/// A stretch of a way: a place, and the time to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Links before it that only delay, taken together.
    pub(super) lead: Span,
    pub(super) place: Place,
    /// A packet enters it ahead of time; that an endpoint sends is there at once.
    pub(super) ahead: bool,
    /// The last link of the leg, whose packets they are in the order of events.
    pub(super) carrier: u32,
    /// Behind it is the endpoint, which acts ahead of time.
    pub(super) ends: bool,
    /// Links behind it that only delay, taken together.
    pub(super) delay: Span,
}

/// What a packet enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A link of a host.
    Host(u32),
    /// Another link.
    Link(u32),
    /// The first link only delays.
    Delay,
    /// The queue of a contender.
    Air(u32),
    /// The endpoint.
    End,
    /// The endpoint, which acts ahead of time.
    EndAhead,
}

/// Ways of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// Of each flow that of its ACKs and that of its data.
    ways: Vec<[Way; 2]>,
    /// Numbers of links, way after way.
    links: Vec<u32>,
    /// The same as packets go through them.
    legs: Vec<Leg>,
    /// Of each way the first of its legs.
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
        if scenario.vsb.is_some() {
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
        let air = NETWORK + scenario.links.len() as u32;
        let back = csma.links.len() as u32;
        let number = |hop: &Hop| match (*hop, data, csma.acks) {
            (Hop::Wired(link), true, _) => Some(NETWORK + link as u32),
            (Hop::Wired(link), false, _) => Some(NETWORK + link as u32 + 1),
            (Hop::Wireless(link), true, _) => Some(air + link as u32),
            (Hop::Wireless(link), false, CsmaAcks::Contend) => Some(air + back + link as u32),
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

    /// Where `packet` begins: the contender that sends it on air first, or [`WIRED`].
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

    /// Cuts all ways into legs.
    pub(super) fn lay_legs(&mut self, links: &[WiredLink]) {
        self.legs.clear();
        self.first_legs.clear();
        for ways in self.ways.clone() {
            let first_legs = ways.map(|way| self.lay_legs_of(&way, links));
            self.first_legs.push(first_legs);
        }
    }

    /// The legs of one way; the first of them.
    fn lay_legs_of(&mut self, way: &Way, links: &[WiredLink]) -> u32 {
        let first = self.legs.len();
        for &number in &self.links[way.start as usize..way.end as usize] {
            let is_first = self.legs.len() == first;
            let Some(wired) = links.get(number as usize) else {
                let place = Place::Air(number - links.len() as u32);
                self.legs.push(Leg::to(place, is_first));
                continue;
            };
            let mere_delay = wired.link.mere_delay();
            if let Some(delay) = mere_delay
                && wired.label.ahead
                && !is_first
                && let Some(leg) = self.legs.last_mut()
                && !leg.is_served(links)
            {
                leg.delay = leg.delay + delay;
                leg.carrier = number;
                continue;
            }
            let place = match (&wired.link, mere_delay) {
                (_, Some(_)) => Place::Delay,
                (Link::Host(_), None) => Place::Host(number),
                (_, None) => Place::Link(number),
            };
            if wired.label.ahead
                && let Some(leg) = self.legs.get_mut(first..).and_then(<[Leg]>::last_mut)
                && leg.place == Place::Delay
            {
                leg.lead = std::mem::replace(&mut leg.delay, Span::ZERO);
                leg.place = place;
                leg.carrier = number;
                continue;
            }
            self.legs.push(Leg {
                carrier: number,
                delay: mere_delay.unwrap_or(Span::ZERO),
                ..Leg::to(place, is_first || wired.label.ahead)
            });
        }
        let end = match way.last {
            WIRED if way.ahead => Place::EndAhead,
            WIRED => Place::End,
            contender => Place::Air(contender),
        };
        if end == Place::EndAhead
            && let Some(leg) = self.legs.get_mut(first..).and_then(<[Leg]>::last_mut)
            && !leg.is_served(links)
        {
            leg.ends = true;
        } else {
            self.legs.push(Leg::to(end, end == Place::EndAhead));
        }
        first as u32
    }

    /// The contender that sends the data of a station's flow, or of one whose route begins on air
    /// behind `wired` links.
    pub(super) fn on_air(&self, flow: u32, wired: usize) -> u32 {
        let [_, data] = self.ways[flow as usize];
        match data.first.min(data.last) {
            WIRED => self.links[data.start as usize] - wired as u32,
            contender => contender, // the other one is WIRED
        }
    }

    /// The links of each flow's ACKs and of its data, in order.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [&[u32]; 2]> {
        let links = |way: &Way| &self.links[way.start as usize..way.end as usize];
        self.ways.iter().map(move |ways| ways.each_ref().map(links))
    }

    /// Which flows' receivers and senders act ahead of time; those beyond the lists do not.
    pub(super) fn act_ahead(&mut self, receivers: &[bool], senders: &[bool]) {
        for (index, [acks, data]) in self.ways.iter_mut().enumerate() {
            data.ahead = receivers.get(index).is_some_and(|&ahead| ahead);
            acks.ahead = senders.get(index).is_some_and(|&ahead| ahead);
        }
    }

    /// Whether receiver and sender of a flow act ahead of time.
    #[cfg(test)]
    pub(super) fn ahead(&self, flow: usize) -> [bool; 2] {
        let [acks, data] = self.ways[flow];
        [data.ahead, acks.ahead]
    }

    fn lay(&mut self, flow: &Flow, data: bool, scenario: &Scenario, cell: Option<&Cell>) -> Way {
        let network = if data { &flow.forward } else { &flow.back };
        let network = network.iter().map(|link| link + NETWORK);
        let shared = scenario.vsb.filter(|_| is_redirected(flow));
        let shared = shared.map(|_| pings::number(scenario));
        let (first, last, links) = match flow.ends {
            Ends::Wired => (WIRED, WIRED, network.collect()),
            Ends::Station { station, direction } if (direction == Direction::Up) == data => {
                let contender = queue_of(cell, station as u32 + 1, flow.category);
                let links = shared.into_iter().chain([WIRE_UP]).chain(network);
                (contender, WIRED, links.collect::<Vec<u32>>())
            }
            Ends::Station { .. } => {
                let links = network.chain([WIRE_DOWN]).chain(shared);
                (WIRED, queue_of(cell, AP, flow.category), links.collect())
            }
        };
        self.store(first, last, links, scenario)
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

impl Leg {
    /// Packets leave it in an event of their own.
    fn is_served(&self, links: &[WiredLink]) -> bool {
        match self.place {
            Place::Link(number) => links[number as usize].link.is_served(),
            _ => false,
        }
    }

    fn to(place: Place, ahead: bool) -> Leg {
        Leg {
            lead: Span::ZERO,
            place,
            ahead,
            carrier: 0,
            ends: false,
            delay: Span::ZERO,
        }
    }
}

/// Whether a link takes time or loses packets.
fn matters(link: u32, scenario: &Scenario) -> bool {
    let (rate_bps, delay, loss) = match link {
        WIRE_DOWN | WIRE_UP => {
            let wire = &scenario.wire;
            (wire.rate_bps, wire.delay, wire.loss)
        }
        other => match scenario.links.get((other - NETWORK) as usize) {
            Some(link) => (link.rate_bps, link.delay, link.loss),
            None => return true, // the bottleneck, or on air
        },
    };
    rate_bps.is_some() || delay > Span::ZERO || loss > 0.0
}

/// The queue of a node for a category; stations are in a cell.
fn queue_of(cell: Option<&Cell>, node: u32, category: Category) -> u32 {
    cell.map_or(WIRED, |cell| cell.medium().contender(node, category))
}

//! The routes of all flows, in small arrays that are read at each hop of each packet.
//!
//! A route is a list of links between two ends. Each end is an endpoint, or a queue in front of the
//! radio channel. A route is divided into legs ([`super::legs`]).

use super::legs::{self, Leg, Place};
use super::numbers::{self, WIRE_DOWN, WIRE_UP, of_network};
use super::wired::WiredLink;
use crate::kernel::time::Span;

use crate::cell::Cell;
use crate::mac::NodeId;
use crate::packet::Packet;
use crate::scenario::{
    Category, Csma, CsmaAcks, CsmaFlow, Direction, Ends, Flow, Hop, LinkRate, Scenario,
};

/// Value of `Route::first` or `Route::last` if the route does not begin or end at a queue in front
/// of the radio channel.
pub(super) const WIRED: u32 = u32::MAX;

/// The route of a flow's packets in one direction.
#[derive(Clone, Copy, Debug)]
struct Route {
    /// Number of the queue in front of the radio channel at the beginning of the route, or
    /// [`WIRED`].
    first: u32,
    /// Number of the queue in front of the radio channel at the end of the route, or [`WIRED`].
    last: u32,
    /// Links of the route: the range from `start` to `end` of [`Routes::links`].
    start: u32,
    end: u32,
    /// Whether arrivals of packets at the endpoint of the route are processed before the simulation
    /// reaches their time ([`super::lookahead`]).
    lookahead: bool,
}

/// A link or queue at which packets may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Number of a queue in front of the radio channel.
    Air(usize),
    /// Number of a link.
    Link(usize),
}

/// Routes of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Routes {
    /// Routes of each flow: first the route of its ACKs, then the route of its data.
    routes: Vec<[Route; 2]>,
    /// Numbers of the links of all routes, one route after another.
    links: Vec<u32>,
    /// Legs of all routes, one route after another.
    legs: Vec<Leg>,
    /// Field `first` of each route, in a list that fits into the cache.
    first_queues: Vec<[u32; 2]>,
    /// Index in `legs` of the first leg of each route. Each flow has two routes: first that of its
    /// ACKs, then that of its data.
    first_legs: Vec<[u32; 2]>,
}

impl Routes {
    /// Returns the routes of the scenario's flows. Links without delay and without packet loss are
    /// omitted.
    pub(super) fn new(scenario: &Scenario, cell: Option<&Cell>) -> Routes {
        let mut routes = Routes::default();
        for flow in &scenario.flows {
            let pair = [false, true].map(|data| routes.lay(flow, data, scenario, cell));
            routes.routes.push(pair);
        }
        if scenario.bottleneck.is_some() {
            routes.lay_pings(scenario, cell);
        }
        if let Some(csma) = &scenario.csma {
            for flow in &csma.flows {
                let pair =
                    [false, true].map(|data| routes.lay_over_air(flow, data, csma, scenario));
                routes.routes.push(pair);
            }
        }
        routes
    }

    /// Adds the routes of the pings to each station: the echo request goes over the air, and the
    /// reply returns.
    fn lay_pings(&mut self, scenario: &Scenario, cell: Option<&Cell>) {
        let here = self.links.len() as u32;
        let route = |first, last| Route {
            first,
            last,
            start: here,
            end: here,
            lookahead: false,
        };
        let bss = scenario.only_bss();
        let ap = queue_of(cell, bss.ap, Category::BestEffort);
        for &node in &bss.stations {
            let station = queue_of(cell, node, Category::BestEffort);
            self.routes.push([route(station, WIRED), route(WIRED, ap)]);
        }
    }

    /// Returns the route of a flow over the links of a CSMA network. The numbers of these links
    /// follow the numbers of wired links. ACKs with priority pass wireless links in zero time.
    fn lay_over_air(
        &mut self,
        flow: &CsmaFlow,
        data: bool,
        csma: &Csma,
        scenario: &Scenario,
    ) -> Route {
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

    /// Adds routes for a new flow, as copies of the routes of flow `like`. If `reversed` is true,
    /// the two directions are exchanged.
    pub(super) fn add(&mut self, like: usize, reversed: bool) {
        let mut routes = self.routes[like];
        if reversed {
            routes.reverse();
        }
        self.routes.push(routes);
        self.first_queues.push(routes.map(|route| route.first));
        let [acks, data] = self.first_legs[like];
        let legs = if reversed { [data, acks] } else { [acks, data] };
        self.first_legs.push(legs);
    }

    /// Returns the queue in front of the radio channel in which the route of `packet` begins, or
    /// [`WIRED`].
    #[inline]
    pub(super) fn first(&self, packet: &Packet) -> u32 {
        self.first_queues[packet.flow as usize][usize::from(packet.is_data())]
    }

    /// Returns the next leg of `packet` and all later legs of its route.
    #[inline]
    pub(super) fn legs(&self, packet: &Packet) -> &[Leg] {
        let first = self.first_legs[packet.flow as usize][usize::from(packet.is_data())];
        &self.legs[first as usize + usize::from(packet.hop)..]
    }

    /// Returns whether `packet`, which was received from the air, has reached its endpoint, and
    /// this endpoint has no lookahead.
    #[inline(always)]
    pub(super) fn has_arrived(&self, packet: &Packet) -> bool {
        let first = self.first_legs[packet.flow as usize][usize::from(packet.is_data())];
        self.legs[first as usize + usize::from(packet.hop)].place == Place::End
    }

    /// Returns the first two legs (or fewer) of both routes of a flow: first the route of its ACKs,
    /// then the route of its data.
    pub(super) fn first_two(&self, flow: usize) -> impl Iterator<Item = &Leg> {
        let first = self.first_legs[flow].into_iter();
        let two = first.flat_map(|first| [first as usize, first as usize + 1]);
        two.filter_map(|place| self.legs.get(place))
    }

    /// Divides all routes into legs.
    pub(super) fn lay_legs(&mut self, links: &[WiredLink]) {
        let mut all = Vec::new();
        let mut lay = |route: &Route| {
            let first = all.len() as u32;
            let end = match route.last {
                WIRED if route.lookahead => Place::EndAhead,
                WIRED => Place::End,
                queue => Place::Air(queue),
            };
            legs::cut(&mut all, self.links_of(route), end, links);
            first
        };
        let first_legs = self
            .routes
            .iter()
            .map(|routes| routes.each_ref().map(&mut lay));
        self.first_legs = first_legs.collect();
        let routes = self.routes.iter();
        self.first_queues = routes.map(|pair| pair.map(|route| route.first)).collect();
        self.legs = all;
    }

    /// Adds gates to all links.
    pub(super) fn gate(&mut self) {
        self.legs.iter_mut().for_each(Leg::gate);
    }

    fn links_of(&self, route: &Route) -> &[u32] {
        &self.links[route.start as usize..route.end as usize]
    }

    /// Returns the queue in front of the radio channel that the data of a flow enters. The flow
    /// must be that of a station or of a CSMA network. `wired` is the number of wired links.
    pub(super) fn queue_of(&self, flow: u32, wired: usize) -> u32 {
        let [_, data] = self.routes[flow as usize];
        match data.first.min(data.last) {
            WIRED => self.links[data.start as usize] - wired as u32,
            // a station's flow: exactly one end of the route is a queue in front of the radio
            // channel; the other end has the value `WIRED`, the largest number, so the minimum of
            // both ends is the queue
            contender => contender,
        }
    }

    /// Returns whether the route of a flow's data begins with a link, and not with a queue in front
    /// of the radio channel.
    pub(super) fn begins_on_wires(&self, flow: u32) -> bool {
        let [_, data] = self.routes[flow as usize];
        data.first == WIRED
    }

    /// Returns the numbers of the links that a flow's data passes, in order.
    pub(super) fn data_links(&self, flow: u32) -> &[u32] {
        let [_, data] = &self.routes[flow as usize];
        self.links_of(data)
    }

    /// Returns the queues in front of the radio channel and the links that a flow's data passes, in
    /// order. `wired` is the number of wired links.
    pub(super) fn data_stops(&self, flow: u32, wired: usize) -> Vec<Stop> {
        let [_, data] = &self.routes[flow as usize];
        let on_air = |queue: u32| (queue != WIRED).then_some(Stop::Air(queue as usize));
        let links = self.links_of(data).iter().map(|&link| {
            let link = link as usize;
            link.checked_sub(wired).map_or(Stop::Link(link), Stop::Air)
        });
        let first = on_air(data.first).into_iter();
        first.chain(links).chain(on_air(data.last)).collect()
    }

    /// Returns the number of legs that a flow's data passes before it enters link number `link`.
    pub(super) fn legs_before(&self, flow: u32, link: u32) -> u8 {
        let [_, first] = self.first_legs[flow as usize];
        let mut legs = self.legs[first as usize..].iter();
        let leads =
            |leg: &Leg| matches!(leg.place, Place::Link(to) | Place::Gate(to) if to == link);
        // no overflow: a route has at most LONGEST_ROUTE links
        legs.position(leads).map_or(0, |place| place as u8)
    }

    /// Returns for each flow the links of its two routes, in the order in which packets pass them:
    /// first the route of the ACKs, then the route of the data.
    pub(super) fn pairs(&self) -> impl Iterator<Item = [&[u32]; 2]> {
        let links = |route| self.links_of(route);
        self.routes
            .iter()
            .map(move |routes| routes.each_ref().map(links))
    }

    /// Sets which receivers and senders have lookahead. Flows with numbers beyond the end of the
    /// lists have no lookahead.
    pub(super) fn act_ahead(&mut self, receivers: &[bool], senders: &[bool]) {
        for (index, [acks, data]) in self.routes.iter_mut().enumerate() {
            data.lookahead = receivers.get(index).is_some_and(|&lookahead| lookahead);
            acks.lookahead = senders.get(index).is_some_and(|&lookahead| lookahead);
        }
    }

    fn lay(&mut self, flow: &Flow, data: bool, scenario: &Scenario, cell: Option<&Cell>) -> Route {
        let network = if data { &flow.forward } else { &flow.back };
        let network = network.iter().map(|&link| of_network(link as usize));
        let passes = scenario
            .bottleneck
            .as_ref()
            .is_some_and(|own| own.redirects(flow));
        let shared = numbers::of_bottleneck(scenario).filter(|_| passes);
        let bss = scenario.only_bss();
        let (first, last, links) = match flow.ends {
            Ends::Wired => (WIRED, WIRED, network.collect()),
            Ends::Station { station, direction } if (direction == Direction::Up) == data => {
                let contender = queue_of(cell, bss.roles.node_of(station), flow.category);
                let links = shared.into_iter().chain([WIRE_UP]).chain(network);
                (contender, WIRED, links.collect::<Vec<u32>>())
            }
            Ends::Station { .. } => {
                let links = network.chain([WIRE_DOWN]).chain(shared);
                let contender = queue_of(cell, bss.ap, flow.category);
                (WIRED, contender, links.collect())
            }
        };
        let route = self.store(first, last, links, scenario);
        match route.start == route.end && first == WIRED {
            true => Route {
                first: last, // the sender is the access point itself
                last: WIRED,
                ..route
            },
            false => route,
        }
    }

    /// Stores and returns a route over `links`. Links that have no effect are omitted.
    fn store(&mut self, first: u32, last: u32, links: Vec<u32>, scenario: &Scenario) -> Route {
        let start = self.links.len() as u32;
        let matter = links.into_iter().filter(|&link| matters(link, scenario));
        self.links.extend(matter);
        let end = self.links.len() as u32;
        Route {
            first,
            last,
            start,
            end,
            lookahead: false,
        }
    }
}

/// Returns whether a link can delay or lose packets.
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
            None => return true, // the bottleneck, or a wireless link
        },
    };
    *rate != LinkRate::Unlimited || longest > Span::ZERO || loss.share() > 0.0
}

/// Returns the queue of a node for an access category; `WIRED` if there is no cell.
fn queue_of(cell: Option<&Cell>, node: NodeId, category: Category) -> u32 {
    cell.map_or(WIRED, |cell| cell.medium().contender(node, category))
}

#[cfg(test)]
mod tests;

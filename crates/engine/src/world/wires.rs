//! The wires of a simulation: links, routes over links, and packets in flight on links.
//!
//! A packet needs an event only where the order of arrivals is not known in advance: where several
//! links meet, and at an endpoint without lookahead. All links between two such points are passed
//! in one event ([`super::lookahead`]).

use std::collections::VecDeque;

use super::approach::{Approach, Filled};
use super::lookahead::Eligibility;
use super::numbers;
use super::routes::{Routes, Stop, WIRED};
use super::wired::{Label, WiredLink};
use crate::app::flow_classes;
use crate::bottleneck::{self, Passed};
use crate::cell::Cell;
use crate::kernel::arrivals::ArrivalQueue;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::link::{self, Link};
use crate::packet::Packet;
use crate::queue::{Discipline, FlowClass, Scheduler};
use crate::scenario::{LinkSettings, QueueSetting, Scenario};

/// Length of a full packet. [bytes]
const FULL_BYTES: u64 = 1500;

/// Default length of the intervals for which the utilisation of a link is measured. A result of a
/// link is the smallest of these utilisations.
const UTILISATION_BIN: Span = Span(100_000_000);

/// The links, the routes over links, and the packets on links.
pub(crate) struct Wires {
    /// Links by number. The virtual shared bottleneck is last.
    pub(super) links: Vec<WiredLink>,
    pub(super) routes: Routes,
    /// Packets on links, ordered by their arrival times at the end of the link. If the times are
    /// equal, the order is that of the link numbers.
    pub(super) carried: ArrivalQueue<Packet>,
    pub(super) gate: Gate,
    /// Link number of the virtual shared bottleneck.
    pub(super) bottleneck: Option<usize>,
    /// Numbers of the links with CAKE, which distinguishes hosts.
    cakes: Vec<usize>,
}

/// The state of all gates: a gate is in front of each link whose settings may change when the
/// simulation halts.
pub(super) struct Gate {
    /// Packets that arrive after this time wait in front of the gate.
    pub(super) until: Time,
    /// Packets that wait in front of gates, ordered by arrival time.
    pub(super) held: VecDeque<Held>,
}

/// A packet that waits in front of a gate.
pub(super) struct Held {
    /// Arrival time of the packet at the gate.
    pub(super) arrives: Time,
    /// Time at which the packet began the leg (section) of its route that contains the gate.
    pub(super) before: Time,
    pub(super) packet: Packet,
}

impl Gate {
    /// Returns the next held packet that arrives by `until`; `None` if there is no such packet.
    /// After this call, a packet may pass a gate if it arrives before all packets that are still
    /// held, and not after `until`.
    pub(super) fn next(&mut self, until: Time) -> Option<Held> {
        if self.held.front()?.arrives > until {
            return None;
        }
        let first = self.held.pop_front()?;
        let next = self.held.front();
        let before_next = next.map_or(until, |next| Time(next.arrives.0 - 1).min(until));
        self.until = before_next.max(first.arrives);
        Some(first)
    }
}

impl Wires {
    /// Returns the wires of `scenario` without packets, connected to `cell` if there is a cell.
    pub(super) fn new(scenario: &Scenario, cell: Option<&Cell>, streams: &Streams) -> Wires {
        let mut routes = Routes::new(scenario, cell);
        let mut links = links_of(scenario, &mut routes, streams);
        routes.lay_legs(&links);
        let cakes = set_flows(scenario, &mut links);
        Wires {
            carried: ArrivalQueue::new(longest_delay_of(scenario), links.len()),
            links,
            routes,
            gate: Gate {
                until: Time::NEVER,
                held: VecDeque::new(),
            },
            bottleneck: numbers::of_bottleneck(scenario).map(|number| number as usize),
            cakes,
        }
    }

    /// Returns the queue in front of the radio channel in which the route of `packet` begins;
    /// `None` if the route begins on wires.
    #[inline(always)]
    pub(super) fn first_queue(&self, packet: &Packet) -> Option<u32> {
        let first = self.routes.first(packet);
        (first != WIRED).then_some(first)
    }

    /// Adds a flow with the routes and hosts of flow `like`. If `reversed` is true, the two directions
    /// are exchanged.
    pub(super) fn add_flow(&mut self, like: usize, reversed: bool) {
        self.routes.add(like, reversed);
        for &number in &self.cakes {
            if let Some(scheduler) = self.links[number].link.scheduler_mut() {
                scheduler.add_flow(like, reversed);
            }
        }
    }

    /// Returns the path from a greedy source to the queue that it keeps full. This queue is the
    /// first queue on the route whose link has a rate. `begun` says whether the virtual shared
    /// bottleneck has started, so that it has a rate.
    pub(super) fn approach(&self, flow: u32, begun: bool) -> Approach {
        let mut approach = Approach {
            filled: Filled::Air(self.routes.queue_of(flow, self.links.len())),
            delay: Span::ZERO,
            losing: Vec::new(),
        };
        if !self.routes.begins_on_wires(flow) {
            return approach;
        }
        for &number in self.routes.data_links(flow) {
            let Some(wired) = self.links.get(number as usize) else {
                break; // the remaining links of the route are wireless
            };
            let is_free = self.is_bottleneck(number as usize) && !begun;
            match wired.link.unrated_delay() {
                Some(delay) => approach.delay = approach.delay + delay,
                None if is_free => {}
                None => {
                    approach.filled = Filled::Link(number);
                    break;
                }
            }
            if wired.link.loses_some() && wired.link.unrated_delay().is_some() {
                approach.losing.push(number);
            }
        }
        approach
    }

    /// Moves the packet in service at link number `link` from the queue onto the link.
    pub(super) fn depart(&mut self, now: Time, link: usize) {
        if let Some((at, packet)) = self.links[link].link.depart(now) {
            self.carried.push(at, link, packet);
        }
    }

    /// Applies the differences between the link queues of two scenarios from `now` on. Only
    /// settings that may change at run time are considered.
    #[cold]
    #[inline(never)]
    pub(super) fn change(&mut self, now: Time, [from, to]: [&Scenario; 2]) {
        let wires = [
            [&from.wire.queue, &to.wire.queue],
            [&from.wire.back_queue, &to.wire.back_queue],
        ];
        let links = from.links.iter().zip(&to.links);
        let links = links.map(|(from, to)| [&from.queue, &to.queue]);
        let queues = wires.into_iter().chain(links);
        for (wired, [before, after]) in self.links.iter_mut().zip(queues) {
            if before != after {
                wired.link.change_queue(now, after);
            }
        }
        let limit = |scenario: &Scenario| Some(scenario.bottleneck.as_ref()?.queue_packets);
        if let (Some(number), Some(limit_packets)) = (self.bottleneck, limit(to))
            && limit(from) != Some(limit_packets)
        {
            let queue = QueueSetting::drop_tail(limit_packets);
            self.links[number].link.change_queue(now, &queue);
        }
    }

    /// Sets the rate of the virtual shared bottleneck. [bit/s]
    pub(super) fn set_bottleneck(&mut self, rate_bps: u64) {
        if let Some(number) = self.bottleneck {
            self.links[number].link.set_rate(rate_bps);
        }
    }

    /// Returns the number of bytes that have passed the virtual shared bottleneck. [bytes]
    pub(super) fn passed_bytes(&self) -> u64 {
        self.bottleneck().map_or(0, |wired| wired.link.sent_bytes())
    }

    /// Returns the counters of each leaf of the virtual shared bottleneck, and the total number of
    /// bytes that have passed it.
    pub(super) fn passed(&self) -> Passed {
        let link = self.bottleneck().map(WiredLink::link);
        Passed {
            leaves: link.map(|link| link.leaves()).unwrap_or_default(),
            bytes: self.passed_bytes(),
        }
    }

    /// Returns the links by number. The virtual shared bottleneck is last.
    pub(crate) fn links(&self) -> &[WiredLink] {
        &self.links
    }

    /// Returns the links up to the last link that results contain. Most access links of hosts are
    /// after this link.
    pub(crate) fn shown_links(&self) -> &[WiredLink] {
        let last = self.links.iter().rposition(WiredLink::is_shown);
        &self.links[..last.map_or(0, |last| last + 1)]
    }

    /// Returns the queues in front of the radio channel and the links that a flow's data passes, in
    /// order.
    pub(crate) fn data_stops(&self, flow: u32) -> Vec<Stop> {
        self.routes.data_stops(flow, self.links.len())
    }

    /// Returns the link of the virtual shared bottleneck.
    pub(crate) fn bottleneck(&self) -> Option<&WiredLink> {
        self.bottleneck.map(|number| &self.links[number])
    }

    /// Returns whether link number `number` is the virtual shared bottleneck.
    pub(crate) fn is_bottleneck(&self, number: usize) -> bool {
        self.bottleneck == Some(number)
    }

    /// Calls `visit` for each packet that is on a link or in the queue of a link.
    pub(crate) fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.carried.items().for_each(&mut *visit);
        let held = self.gate.held.iter();
        held.for_each(|held| visit(&held.packet));
        for wired in &self.links {
            wired.link.each_packet(visit);
        }
    }

    /// Calls `visit` with the queues of the links whose discipline decides at departures.
    pub(super) fn each_scheduler(&mut self, visit: &mut dyn FnMut(&mut Scheduler)) {
        let schedulers = self.links.iter_mut();
        schedulers
            .filter_map(|wired| wired.link.scheduler_mut())
            .for_each(visit);
    }

    /// Disables the lookahead of endpoints.
    pub(super) fn end_in_own_time(&mut self) {
        self.routes.act_ahead(&[], &[]);
        self.routes.lay_legs(&self.links);
    }
}

/// Returns the length of the intervals for which the utilisation of a link is measured, to find the
/// smallest value.
pub(super) fn bin_of(scenario: &Scenario) -> Span {
    scenario.record.utilisation_bin.unwrap_or(UTILISATION_BIN)
}

/// Returns the longest time that a packet spends on any link without queueing: delay, jitter, and
/// the transmission time of a full packet.
pub(super) fn longest_delay_of(scenario: &Scenario) -> Span {
    let wire = &scenario.wire;
    let wires = [&wire.rate, &wire.back].map(|rate| (wire.delay, rate.bps()));
    let links = scenario
        .links
        .iter()
        .map(|link| (link.delay + link.jitter + link.jitter, link.rate.bps()));
    let times = links.chain(wires).map(|(delay, rate_bps)| {
        let service = rate_bps.map_or(Span::ZERO, |rate| Span::to_send(FULL_BYTES, rate));
        delay + service
    });
    times.max().unwrap_or(Span::ZERO)
}

/// Returns the links of a scenario without packets: first the wire of its cell, last the
/// bottleneck. In `routes`, sets which endpoints have lookahead.
fn links_of(scenario: &Scenario, routes: &mut Routes, streams: &Streams) -> Vec<WiredLink> {
    let measured = scenario.measured();
    let bin = bin_of(scenario);
    let wires = link::of_wire(&scenario.wire);
    let settings: Vec<&LinkSettings> = wires.iter().chain(&scenario.links).collect();
    let eligible = Eligibility::new(&settings, routes, scenario);
    routes.act_ahead(&eligible.receivers, &eligible.senders);
    let links = settings.iter().enumerate().map(|(number, settings)| {
        let shown = !settings.of_host && settings.rate.bps().is_some();
        let bin = shown.then_some(bin);
        let link = Link::new(settings, streams, measured.clone(), bin);
        let label = Label {
            lookahead: eligible.enter(number, &link),
            shown,
            marks: settings.queue.marks(),
            name: settings.name.as_str().into(),
        };
        WiredLink {
            link,
            label: label.into(),
        }
    });
    let shared = scenario.bottleneck.as_ref().map(|settings| WiredLink {
        link: bottleneck::link_of(settings, scenario.hotspot(), streams, measured.clone(), bin),
        label: Box::new(Label {
            lookahead: false,
            shown: true,
            marks: false,
            name: "vsb".into(),
        }),
    });
    links.chain(shared).collect()
}

/// Sets the hosts and DSCPs of the flows at the links with CAKE. Returns the numbers of these links.
fn set_flows(scenario: &Scenario, links: &mut [WiredLink]) -> Vec<usize> {
    let wire = [&scenario.wire.queue, &scenario.wire.back_queue];
    let queues = wire
        .into_iter()
        .chain(scenario.links.iter().map(|link| &link.queue));
    let has_cake = |queue: &QueueSetting| matches!(queue.discipline, Discipline::Cake(_));
    let cakes = queues.enumerate().filter(|(_, queue)| has_cake(queue));
    let cakes: Vec<usize> = cakes.map(|(number, _)| number).collect();
    if cakes.is_empty() {
        return cakes;
    }
    let mut classes = flow_classes(&scenario.flows, scenario.stations.len());
    classes.resize(numbers::first_connection(scenario), FlowClass::OWN);
    for &number in &cakes {
        if let Some(scheduler) = links[number].link.scheduler_mut() {
            scheduler.set_flows(&classes);
        }
    }
    cakes
}

#[cfg(test)]
mod tests;

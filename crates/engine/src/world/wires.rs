//! The wires of a world: links, routes over them, packets in flight.
//!
//! A packet costs one event at each place where the order of arrivals is unknown: where several
//! links meet, and at its endpoint, unless the endpoint has lookahead. Between these places the
//! packet enters all links in one event ([`super::lookahead`]).

use std::collections::VecDeque;

use super::approach::{Approach, Filled};
use super::lookahead::Eligibility;
use super::numbers;
use super::routes::{Routes, Stop, WIRED};
use super::wired::{Label, WiredLink};
use crate::bottleneck::{self, Passed};
use crate::cell::Cell;
use crate::kernel::calendar::Calendar;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::link::{self, Link};
use crate::packet::Packet;
use crate::scenario::{LinkSettings, QueueSetting, Scenario};

/// Length of a full packet. [bytes]
const FULL_BYTES: u64 = 1500;

/// Default bin width of the smallest utilisation.
const UTILISATION_BIN: Span = Span(100_000_000);

/// Links, routes, and packets on links.
pub(crate) struct Wires {
    /// Links by number. The bottleneck is last.
    pub(super) links: Vec<WiredLink>,
    pub(super) routes: Routes,
    /// Packets on links, ordered by their arrival times at the far ends and by the numbers of the
    /// links.
    pub(super) carried: Calendar<Packet>,
    pub(super) gate: Gate,
    /// Number of the bottleneck.
    bottleneck: Option<usize>,
}

/// The gates in front of links that may change when a world halts.
pub(super) struct Gate {
    /// Packets that arrive after this time do not enter a link.
    pub(super) until: Time,
    /// Packets held in front of their gates, ordered by arrival time.
    pub(super) held: VecDeque<Held>,
}

/// A packet in front of a gate.
pub(super) struct Held {
    /// Arrival time of the packet at the gate.
    pub(super) arrives: Time,
    /// Time at which the packet began the leg that contains the link.
    pub(super) before: Time,
    pub(super) packet: Packet,
}

impl Gate {
    /// Returns the next held packet that arrives by `until`. The gate then admits packets up to the
    /// arrival of the following held packet.
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
        let links = links_of(scenario, &mut routes, streams);
        routes.lay_legs(&links);
        Wires {
            links,
            routes,
            carried: Calendar::new(reach_of(scenario)),
            gate: Gate {
                until: Time::NEVER,
                held: VecDeque::new(),
            },
            bottleneck: numbers::of_bottleneck(scenario).map(|number| number as usize),
        }
    }

    /// Returns the queue of the radio in which the route of `packet` begins; `None` if it begins on wires.
    #[inline(always)]
    pub(super) fn first_queue(&self, packet: &Packet) -> Option<u32> {
        let first = self.routes.first(packet);
        (first != WIRED).then_some(first)
    }

    /// Returns the queue that a greedy source fills, and the path to this queue. It is the first
    /// queue on the route of the data of the source whose link has a rate. The bottleneck has a
    /// rate if `begun`.
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
                break; // the rest of the route is on air
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

    /// Moves the packet in service of link number `link` onto the link.
    pub(super) fn depart(&mut self, now: Time, link: usize) {
        if let Some((at, packet)) = self.links[link].link.depart(now) {
            self.carried.push(at, link, packet);
        }
    }

    /// Applies the differences between the link queues of two scenarios from `now` on, for the
    /// settings that may change.
    #[cold]
    #[inline(never)]
    pub(super) fn change(&mut self, now: Time, [from, to]: [&Scenario; 2]) {
        let wires = [[&from.wire.queue, &to.wire.queue]; 2];
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

    /// Sets the rate of the bottleneck. [bit/s]
    pub(super) fn set_bottleneck(&mut self, rate_bps: u64) {
        if let Some(number) = self.bottleneck {
            self.links[number].link.set_rate(rate_bps);
        }
    }

    /// Returns the number of bytes that have passed the bottleneck. [bytes]
    pub(super) fn passed_bytes(&self) -> u64 {
        self.bottleneck().map_or(0, |wired| wired.link.sent_bytes())
    }

    /// Returns the counters of each leaf of the bottleneck, and the number of bytes that have
    /// passed it.
    pub(super) fn passed(&self) -> Passed {
        let link = self.bottleneck().map(WiredLink::link);
        Passed {
            leaves: link.map(|link| link.leaves()).unwrap_or_default(),
            bytes: self.passed_bytes(),
        }
    }

    /// Returns the links by number. The bottleneck is last.
    pub(crate) fn links(&self) -> &[WiredLink] {
        &self.links
    }

    /// Returns the queues of the radio and the links on the route of a flow's data, in order.
    pub(crate) fn data_stops(&self, flow: u32) -> Vec<Stop> {
        self.routes.data_stops(flow, self.links.len())
    }

    /// Returns the bottleneck.
    pub(crate) fn bottleneck(&self) -> Option<&WiredLink> {
        self.bottleneck.map(|number| &self.links[number])
    }

    /// Returns whether link number `number` is the bottleneck.
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

    /// Disables the lookahead of endpoints.
    pub(super) fn end_in_own_time(&mut self) {
        self.routes.act_ahead(&[], &[]);
        self.routes.lay_legs(&self.links);
    }
}

/// Returns the bin width that the scenario sets.
pub(super) fn bin_of(scenario: &Scenario) -> Span {
    scenario.record.utilisation_bin.unwrap_or(UTILISATION_BIN)
}

/// Returns the longest time of a packet on a link without queueing: delay and jitter of the link,
/// plus the transmission time of a full packet.
pub(super) fn reach_of(scenario: &Scenario) -> Span {
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

/// Returns the empty links of a scenario: first the wire of its cell, last the bottleneck. Also
/// sets in the routes which endpoints have lookahead.
fn links_of(scenario: &Scenario, routes: &mut Routes, streams: &Streams) -> Vec<WiredLink> {
    let measured = scenario.measured();
    let bin = bin_of(scenario);
    let wire = &scenario.wire;
    let wires = [
        link::of_wire(wire, &wire.rate, "wire/down", ["servers", "ap"]),
        link::of_wire(wire, &wire.back, "wire/up", ["ap", "servers"]),
    ];
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

#[cfg(test)]
mod tests;

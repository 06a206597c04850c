//! Greedy sources. A greedy source always has a packet to send, and keeps one queue full: the first
//! queue on its path whose link has a rate.
//!
//! ```text
//!   server --delay, loss--> QUEUE with a rate --> ... --> station
//!          |<- approach ->|  filled
//! ```
//!
//! The approach is the part of the path upstream of this queue. A source sends each datagram one
//! approach delay before the queue has room for it. Therefore the datagram reaches the queue
//! exactly when the queue has room. The timestamp of the datagram is the time at which it was sent.
//! The loss on the links before the queue is drawn when the datagram reaches the queue; if the
//! datagram is lost, the source sends another one. Therefore the queue becomes full one approach
//! delay after the start of the flow, and stays full until one approach delay after the stop of the
//! flow. When a packet departs from a link's queue, the queue has room. Therefore each departure
//! from this link is an event. A link without a greedy source does not need these events. The
//! virtual shared bottleneck has a rate only after its start. Before the start, the queue of the
//! access point is kept full.
//!
//! Only drop-tail queues are supported, because the source must know whether the queue is full
//! (`scenario::greedy`).

use std::collections::VecDeque;

use super::approach::{Approach, Filled};
use super::numbers;
use super::wires::Wires;
use crate::kernel::time::{Span, Time};
use crate::scenario::Scenario;

/// All greedy flows, grouped by the queues that they keep full.
pub(super) struct GreedyFlows {
    /// Greedy flows of each queue in front of the radio channel.
    pub(super) air: Vec<VecDeque<Member>>,
    /// Greedy flows of each link queue, with the number of the link. Links without greedy flows are
    /// not in the list.
    links: Vec<(u32, VecDeque<Member>)>,
    /// Numbers of the links with packet loss upstream of the queues. The list contains the links of
    /// the first greedy flow, then those of the second, and so on.
    pub(super) losing: Vec<u32>,
    /// Flows that have stopped, and the times at which their last datagrams reach the queue.
    pub(super) ends: Vec<(u32, Time)>,
    /// Value of `Packet::hop` for a packet in a queue in front of the radio channel: the number of
    /// legs (sections) of its route that the packet has begun. The value is 1 in a CSMA network,
    /// because the packet is on the first link of its route, and 0 in a cell.
    air_hop: u8,
    /// Link number of the virtual shared bottleneck, and the time at which it starts.
    pub(super) bottleneck: Option<(u32, Time)>,
    /// Whether the virtual shared bottleneck has not started yet, so that it has no rate.
    pub(super) is_free: bool,
}

/// A greedy flow, and its path to the queue that it keeps full.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) flow: u32,
    /// Value of `Packet::hop` for a packet that enters the queue: the number of legs (sections) of
    /// its route that the packet has begun.
    pub(super) hop: u8,
    /// Time from the departure of a datagram to its arrival at the queue.
    pub(super) delay: Span,
    /// Links that may lose the datagram before it reaches the queue, as a range of indices in
    /// [`GreedyFlows::losing`].
    pub(super) losing: (u32, u32),
}

impl GreedyFlows {
    /// Returns empty lists of greedy flows. `queues` is the number of queues in front of the radio
    /// channel.
    pub(super) fn new(scenario: &Scenario, queues: usize) -> GreedyFlows {
        let number = numbers::of_bottleneck(scenario);
        let starts = scenario
            .bottleneck
            .as_ref()
            .map(|own| Time::ZERO + own.start);
        GreedyFlows {
            air: vec![VecDeque::new(); queues],
            links: Vec::new(),
            losing: Vec::new(),
            ends: Vec::new(),
            air_hop: u8::from(scenario.csma.is_some()),
            bottleneck: number.zip(starts),
            is_free: true,
        }
    }

    /// Returns whether greedy sources keep the queue of link number `link` full.
    #[inline(always)]
    pub(super) fn fills(&self, link: usize) -> bool {
        !self.links.is_empty()
            && (self.at_link(link)).is_some_and(|place| !self.links[place].1.is_empty())
    }

    fn at_link(&self, link: usize) -> Option<usize> {
        let mut links = self.links.iter();
        links.position(|&(number, _)| number as usize == link)
    }

    /// Returns whether the virtual shared bottleneck has started at `now`.
    pub(super) fn has_begun(&self, now: Time) -> bool {
        self.bottleneck.is_some_and(|(_, start)| start <= now)
    }

    /// Adds a flow to the greedy flows of a queue. `approach` is the path to this queue.
    pub(super) fn add(&mut self, flow: u32, approach: &Approach, wires: &Wires) {
        let first = self.losing.len() as u32;
        self.losing.extend(&approach.losing);
        let member = Member {
            flow,
            hop: match approach.filled {
                Filled::Air(_) => self.air_hop,
                Filled::Link(link) => wires.routes.legs_before(flow, link),
            },
            delay: approach.delay,
            losing: (first, self.losing.len() as u32),
        };
        match approach.filled {
            Filled::Air(queue) => self.air[queue as usize].push_back(member),
            Filled::Link(link) => match self.at_link(link as usize) {
                Some(place) => self.links[place].1.push_back(member),
                None => self.links.push((link, VecDeque::from([member]))),
            },
        }
    }

    /// Returns the lists of greedy flows of all queues.
    fn lists(&mut self) -> impl Iterator<Item = &mut VecDeque<Member>> {
        let links = self.links.iter_mut().map(|(_, members)| members);
        self.air.iter_mut().chain(links)
    }

    pub(super) fn contains(&mut self, flow: u32) -> bool {
        let mut lists = self.lists();
        lists.any(|members| members.iter().any(|member| member.flow == flow))
    }

    pub(super) fn remove(&mut self, flow: u32) {
        let lists = self.lists();
        lists.for_each(|members| members.retain(|member| member.flow != flow));
    }

    /// Returns the greedy flow that adds the next datagram to queue `number` in front of the radio
    /// channel.
    pub(super) fn next_on_air(&mut self, number: u32) -> Option<Member> {
        let members = &mut self.air[number as usize];
        let next = members.front().copied()?;
        members.rotate_left(1);
        Some(next)
    }

    /// Returns the greedy flow that adds the next datagram to the queue of link number `link`;
    /// `None` if the queue has no room at `now`.
    pub(super) fn next_at_link(
        &mut self,
        now: Time,
        link: usize,
        wires: &mut Wires,
    ) -> Option<Member> {
        let place = self.at_link(link)?;
        let members = &mut self.links[place].1;
        let link = &mut wires.links[link].link;
        let place = (members.iter()).position(|member| link.has_room(now, member.flow))?;
        let next = members[place];
        members.rotate_left(place + 1);
        Some(next)
    }
}

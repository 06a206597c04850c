//! Greedy sources: they always keep a queue full, namely the first queue on their path whose link
//! has a rate.
//!
//! ```text
//!   server --delay, loss--> QUEUE with a rate --> ... --> station
//!          |<- approach ->|  filled
//! ```
//!
//! A source sends each datagram early by the delay of the approach, so that the datagram reaches
//! the queue when there is room. The timestamp of the datagram is the time at which it was sent.
//! The loss on the links before the queue is drawn when the datagram reaches the queue; if the
//! datagram is lost, the source sends another one. Therefore the queue is full from the start to
//! the stop of the flow, both later by the delay of the approach. A queue in front of a link has
//! room when a packet departs. This requires an event of the link in the agenda, which a link
//! without a greedy source does not need. The virtual shared bottleneck has a rate from its start
//! on; before that the queue of the access point is filled.
//!
//! Only plain queues are filled, because their limit is known to the source (`scenario::greedy`).

use std::collections::VecDeque;

use super::approach::{Approach, Filled};
use super::numbers;
use super::wires::Wires;
use crate::kernel::time::{Span, Time};
use crate::scenario::Scenario;

/// Greedy flows, grouped by the queues that they fill.
pub(super) struct GreedyFlows {
    /// Members of each queue of the radio.
    pub(super) air: Vec<VecDeque<Member>>,
    /// Members of each link that has members.
    links: Vec<(u32, VecDeque<Member>)>,
    /// Links that lose packets before the packets reach a queue, grouped by member.
    pub(super) losing: Vec<u32>,
    /// Flows that have stopped, and the times at which their last datagrams reach the queue.
    pub(super) ends: Vec<(u32, Time)>,
    /// Number of legs of the route that a packet in a queue of the radio has begun. On a conflict
    /// graph the number is 1, because the packet is on the first link of its route; in a cell it is
    /// 0.
    air_hop: u8,
    /// Number of the bottleneck and the time at which the bottleneck begins.
    pub(super) bottleneck: Option<(u32, Time)>,
    /// Whether the bottleneck has not had a rate so far.
    pub(super) is_free: bool,
}

/// A greedy flow at the queue that it fills.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) flow: u32,
    /// Number of legs of the route that a packet has begun before it enters the queue.
    pub(super) hop: u8,
    /// Time from the departure of a datagram to its arrival at the queue.
    pub(super) delay: Span,
    /// Links that may lose the datagram before the queue, as a range of [`GreedyFlows::losing`].
    pub(super) losing: (u32, u32),
}

impl GreedyFlows {
    /// Returns empty lists of members for the number `queues` of queues of the radio.
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

    /// Returns whether sources fill the queue of link number `link`.
    #[inline(always)]
    pub(super) fn fills(&self, link: usize) -> bool {
        !self.links.is_empty()
            && (self.at_link(link)).is_some_and(|place| !self.links[place].1.is_empty())
    }

    fn at_link(&self, link: usize) -> Option<usize> {
        let mut links = self.links.iter();
        links.position(|&(number, _)| number as usize == link)
    }

    /// Returns whether the bottleneck has begun at `now`.
    pub(super) fn has_begun(&self, now: Time) -> bool {
        self.bottleneck.is_some_and(|(_, start)| start <= now)
    }

    /// Adds a flow whose datagrams reach its queue over `approach`.
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

    /// Returns all lists of members.
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

    /// Returns the next member in turn at queue `number` of the radio.
    pub(super) fn next_on_air(&mut self, number: u32) -> Option<Member> {
        let members = &mut self.air[number as usize];
        let next = members.front().copied()?;
        members.rotate_left(1);
        Some(next)
    }

    /// Returns the next member in turn at link number `link`, if the queue has room at `now`.
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

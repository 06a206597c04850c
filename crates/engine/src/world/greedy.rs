//! Greedy sources: they keep the first queue on their path that has a rate full, whatever is before it.
//!
//! ```text
//!   server --delay, loss--> QUEUE with a rate --> ... --> station
//!          |<- approach ->|  filled
//! ```
//!
//! A source sends each datagram as early as its path to the queue takes, so that the datagram comes there when
//! there is room. Its stamp is the instant at which it was sent; the loss of the links before the queue is
//! drawn when it comes, and the source then sends another. So the queue is full from the start to the
//! stop of the flow, both later by the delay of its approach. A queue in front of a link
//! has room when a packet departs: an event of the link in the agenda, which a pipe otherwise does without.
//! The virtual shared bottleneck has a rate once it has begun; until then the access point's queue is filled.
//!
//! Only plain queues are filled, whose limit a source can count on (`scenario::greedy`).

use std::collections::VecDeque;

use super::World;
use super::clock::Clock;
use super::flow::Endpoints;
use super::flows::Flows;
use super::numbers::{self, Owner};
use super::step::Wants;
use super::wires::Wires;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue};
use crate::scenario::Scenario;

/// The queue that a greedy source fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filled {
    /// A queue of the radio.
    Air(u32),
    /// The queue in front of a link.
    Link(u32),
}

/// The path of a greedy source's datagrams up to the queue that it fills.
#[derive(Clone, Debug)]
pub(super) struct Approach {
    pub(super) filled: Filled,
    /// Propagation time of the links before the queue.
    pub(super) delay: Span,
    /// Links before the queue that lose packets, in order.
    pub(super) losing: Vec<u32>,
}

/// Greedy flows at the queues that they fill.
pub(super) struct GreedyFlows {
    /// Members by queue of the radio.
    air: Vec<VecDeque<Member>>,
    /// Members by link, for links that have some.
    links: Vec<(u32, VecDeque<Member>)>,
    /// Links that lose packets before they come to a queue, member after member.
    losing: Vec<u32>,
    /// Flows that have stopped, with the instants at which their last datagrams reach the queue.
    ends: Vec<(u32, Time)>,
    /// Legs of its route that a packet in a queue of the radio has begun: 1 on a conflict graph, the first
    /// link of its route; 0 in a cell.
    air_hop: u8,
    /// The bottleneck with the instant at which it begins.
    bottleneck: Option<(u32, Time)>,
    /// Whether the bottleneck has had no rate so far.
    is_free: bool,
}

/// A flow at the queue that it fills.
#[derive(Clone, Copy, Debug)]
struct Member {
    flow: u32,
    /// Legs of its route that a packet has begun before it enters the queue.
    hop: u8,
    /// How long a datagram has been under way when it comes to the queue.
    delay: Span,
    /// Links that may have lost it before: a range of [`GreedyFlows::losing`].
    losing: (u32, u32),
}

impl GreedyFlows {
    /// Returns empty lists of members for the `queues` of the radio.
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

    /// Whether sources fill the queue of link number `link`.
    #[inline(always)]
    pub(super) fn fills(&self, link: usize) -> bool {
        !self.links.is_empty()
            && (self.at_link(link)).is_some_and(|place| !self.links[place].1.is_empty())
    }

    fn at_link(&self, link: usize) -> Option<usize> {
        let mut links = self.links.iter();
        links.position(|&(number, _)| number as usize == link)
    }

    /// Whether the bottleneck has begun at `now`.
    fn has_begun(&self, now: Time) -> bool {
        self.bottleneck.is_some_and(|(_, start)| start <= now)
    }

    /// Adds a flow that comes to its queue over `approach`.
    fn add(&mut self, flow: u32, approach: &Approach, wires: &Wires) {
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

    /// All lists of members.
    fn lists(&mut self) -> impl Iterator<Item = &mut VecDeque<Member>> {
        let links = self.links.iter_mut().map(|(_, members)| members);
        self.air.iter_mut().chain(links)
    }

    fn contains(&mut self, flow: u32) -> bool {
        let mut lists = self.lists();
        lists.any(|members| members.iter().any(|member| member.flow == flow))
    }

    fn remove(&mut self, flow: u32) {
        let lists = self.lists();
        lists.for_each(|members| members.retain(|member| member.flow != flow));
    }

    /// The member whose turn it is in queue `number` of the radio.
    fn next_on_air(&mut self, number: u32) -> Option<Member> {
        let members = &mut self.air[number as usize];
        let next = members.front().copied()?;
        members.rotate_left(1);
        Some(next)
    }

    /// The member whose turn it is at link number `link`, of those that find room at `now`.
    fn next_at_link(&mut self, now: Time, link: usize, wires: &mut Wires) -> Option<Member> {
        let place = self.at_link(link)?;
        let members = &mut self.links[place].1;
        let link = &mut wires.links[link].link;
        let place = (members.iter()).position(|member| link.has_room(now, member.flow))?;
        let next = members[place];
        members.rotate_left(place + 1);
        Some(next)
    }
}

impl Flows {
    /// Greedy flow `index` starts: the first datagram comes to its queue after the delay of its approach.
    pub(super) fn start_greedy(
        &mut self,
        now: Time,
        index: usize,
        wires: &Wires,
        clock: &mut Clock,
    ) -> Wants {
        let approach = wires.approach(index as u32, self.greedy.has_begun(now));
        if approach.delay > Span::ZERO {
            self.set_timer(index, now + approach.delay, clock);
            return Wants::Nothing;
        }
        self.greedy.add(index as u32, &approach, wires);
        Wants::Fill(approach.filled)
    }

    /// The first datagram of greedy flow `index` comes to its queue, or the last has come.
    pub(super) fn greedy_timer(
        &mut self,
        now: Time,
        index: usize,
        wires: &Wires,
        clock: &mut Clock,
    ) -> Wants {
        let flow = index as u32;
        let mut ends = self.greedy.ends.iter();
        let end = ends.find(|&&(stopped, _)| stopped == flow);
        let end = end.map_or(Time::NEVER, |&(_, end)| end);
        if end <= now {
            self.end_greedy(index);
            self.set_timer(index, Time::NEVER, clock);
            return Wants::Nothing;
        }
        self.set_timer(index, end, clock);
        if self.greedy.contains(flow) {
            return Wants::Nothing;
        }
        let approach = wires.approach(flow, self.greedy.has_begun(now));
        self.greedy.add(flow, &approach, wires);
        Wants::Fill(approach.filled)
    }

    /// Greedy flow `index` stops: what is on its approach still comes to its queue.
    pub(super) fn stop_greedy(
        &mut self,
        now: Time,
        index: usize,
        wires: &Wires,
        clock: &mut Clock,
    ) {
        let approach = wires.approach(index as u32, true);
        if approach.delay == Span::ZERO {
            return self.end_greedy(index);
        }
        let end = now + approach.delay;
        self.greedy.ends.push((index as u32, end));
        let timer = self.states[index].timer;
        self.set_timer(index, timer.min(end), clock);
    }

    fn end_greedy(&mut self, index: usize) {
        self.greedy.remove(index as u32);
        if let Endpoints::Udp(udp) = &mut self.states[index].endpoints {
            udp.0.close();
        }
    }

    /// The next datagram of `member`, which comes to its queue at `now`; `None` if it has been lost before.
    fn approaching(&mut self, now: Time, member: Member, wires: &mut Wires) -> Option<Packet> {
        let flow = &mut self.states[member.flow as usize];
        let Endpoints::Udp(udp) = &mut flow.endpoints else {
            unreachable!("only datagram sources are greedy")
        };
        let datagram = udp.0.send();
        let mut packet = flow.datagram(now, member.flow, datagram);
        packet.stamp = Time(now.0 - member.delay.0); // not before the start of the flow
        packet.hop = member.hop;
        let (first, end) = member.losing;
        for place in first..end {
            let link = self.greedy.losing[place as usize] as usize;
            if wires.links[link].link.loses(&packet) {
                self.lose(&packet);
                return None;
            }
        }
        Some(packet)
    }
}

/// Sources that fill queues of the radio, with the wires before those.
pub(super) struct Sources<'a> {
    pub(super) flows: &'a mut Flows,
    pub(super) wires: &'a mut Wires,
}

impl Greedy for Sources<'_> {
    /// Greedy flows fill the queue in turn, up to its limit.
    #[inline(always)]
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue) {
        if !self.flows.greedy.air[number as usize].is_empty() {
            self.feed(now, number, queue);
        }
    }
}

impl Sources<'_> {
    #[inline(never)]
    fn feed(&mut self, now: Time, number: u32, queue: &mut HeadQueue) {
        while !queue.is_full(now)
            && let Some(member) = self.flows.greedy.next_on_air(number)
        {
            if let Some(packet) = self.flows.approaching(now, member, self.wires) {
                queue.offer(now, &packet);
            }
        }
    }
}

impl World<'_> {
    /// Greedy sources begin to fill a queue.
    pub(super) fn fill(&mut self, now: Time, filled: Filled) {
        match filled {
            Filled::Link(link) => self.fill_link(now, link as usize),
            Filled::Air(queue) => {
                let mut sources = Sources {
                    flows: &mut self.flows,
                    wires: &mut self.wires,
                };
                self.radio.fill(now, queue, &mut sources);
            }
        }
    }

    /// Greedy sources fill the queue of link number `link`, and again when it has room.
    #[inline(never)]
    pub(super) fn fill_link(&mut self, now: Time, link: usize) {
        while let Some(member) = (self.flows.greedy).next_at_link(now, link, &mut self.wires) {
            if let Some(mut packet) = self.flows.approaching(now, member, &mut self.wires) {
                self.travel(now, &mut packet);
            }
        }
        let again = match self.flows.greedy.fills(link) {
            true => self.wires.links[link].link.room_again(),
            false => return,
        };
        self.clock.set(Owner::Link(link), again);
    }

    /// The bottleneck has a rate: sources whose datagrams pass it no longer fill the access point's queue.
    pub(super) fn fill_bottleneck(&mut self) {
        let greedy = &mut self.flows.greedy;
        let Some((link, _)) = greedy.bottleneck.filter(|_| greedy.is_free) else {
            return;
        };
        greedy.is_free = false;
        let on_air = greedy.air.iter().flatten().map(|member| member.flow);
        let moves = |flow: &u32| self.wires.approach(*flow, true).filled == Filled::Link(link);
        for flow in on_air.filter(moves).collect::<Vec<u32>>() {
            greedy.remove(flow);
            greedy.add(flow, &self.wires.approach(flow, true), &self.wires);
        }
        if self.flows.greedy.fills(link as usize) {
            self.fill_link(self.clock.now, link as usize);
        }
    }
}

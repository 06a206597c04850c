//! Greedy sources during a run: their start, the filling of their queues, and their stop.

use super::World;
use super::approach::Filled;
use super::flow::Endpoints;
use super::greedy::Member;
use super::network::Network;
use super::numbers::Owner;
use super::step::Wants;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue};

impl Network {
    /// Starts greedy flow `index`. Its first datagram reaches the queue after the delay of the path
    /// to the queue.
    pub(super) fn start_greedy(&mut self, now: Time, index: usize) -> Wants {
        let has_begun = self.flows.greedy.has_begun(now);
        let delay = self.wires.approach(index as u32, has_begun).delay;
        if delay > Span::ZERO {
            self.set_timer(index, now + delay);
            return Wants::Nothing;
        }
        self.add_greedy(now, index as u32)
    }

    /// Adds a greedy flow to the flows that keep the same queue full.
    fn add_greedy(&mut self, now: Time, flow: u32) -> Wants {
        let greedy = &mut self.flows.greedy;
        let approach = self.wires.approach(flow, greedy.has_begun(now));
        greedy.add(flow, &approach, &self.wires);
        Wants::Fill(approach.filled)
    }

    /// Processes the timer of greedy flow `index`. The timer has one of two deadlines: the first
    /// datagram reaches the queue, or the last datagram has reached the queue.
    pub(super) fn greedy_timer(&mut self, now: Time, index: usize) -> Wants {
        let flow = index as u32;
        let mut ends = self.flows.greedy.ends.iter();
        let end = ends.find(|&&(stopped, _)| stopped == flow);
        let end = end.map_or(Time::NEVER, |&(_, end)| end);
        if end <= now {
            self.end_greedy(index);
            self.set_timer(index, Time::NEVER);
            return Wants::Nothing;
        }
        self.set_timer(index, end);
        match self.flows.greedy.contains(flow) {
            true => Wants::Nothing,
            false => self.add_greedy(now, flow),
        }
    }

    /// Stops greedy flow `index`. Datagrams on the path to the queue still arrive.
    pub(super) fn stop_greedy(&mut self, now: Time, index: usize) {
        let approach = self.wires.approach(index as u32, true);
        if approach.delay == Span::ZERO {
            return self.end_greedy(index);
        }
        let end = now + approach.delay;
        self.flows.greedy.ends.push((index as u32, end));
        let timer = self.flows.states[index].timer;
        self.set_timer(index, timer.min(end));
    }

    fn end_greedy(&mut self, index: usize) {
        self.flows.greedy.remove(index as u32);
        if let Endpoints::Udp(udp) = &mut self.flows.states[index].endpoints {
            udp.0.close();
        }
    }

    /// Returns the next datagram of a greedy flow. The datagram reaches its queue at `now`; the
    /// value is `None` if the datagram is lost on the path to the queue.
    fn approaching(&mut self, now: Time, member: Member) -> Option<Packet> {
        let flow = &mut self.flows.states[member.flow as usize];
        let Endpoints::Udp(udp) = &mut flow.endpoints else {
            unreachable!("only datagram sources are greedy")
        };
        let datagram = udp.0.send();
        let mut packet = flow.datagram(now, member.flow, datagram);
        // the time is not negative, because the first datagram arrives at the queue after
        // `member.delay`
        packet.stamp = Time(now.0 - member.delay.0);
        packet.hop = member.hop;
        let (first, end) = member.losing;
        for place in first..end {
            let link = self.flows.greedy.losing[place as usize] as usize;
            if self.wires.links[link].link.loses(&packet) {
                self.flows.lose(&packet);
                return None;
            }
        }
        Some(packet)
    }

    /// Returns the greedy flow that adds the next datagram to the queue of link number `link`. Only
    /// flows whose datagrams fit into the queue at `now` are considered.
    fn next_at_link(&mut self, now: Time, link: usize) -> Option<Member> {
        self.flows.greedy.next_at_link(now, link, &mut self.wires)
    }

    #[inline(never)]
    fn feed(&mut self, now: Time, number: u32, queue: &mut HeadQueue) {
        while !queue.is_full(now)
            && let Some(member) = self.flows.greedy.next_on_air(number)
        {
            if let Some(packet) = self.approaching(now, member) {
                queue.offer(now, &packet);
            }
        }
    }
}

impl Greedy for Network {
    /// Fills the queue with datagrams of its greedy flows, one datagram per flow in turn, until the
    /// queue is full.
    #[inline(always)]
    fn refill(&mut self, now: Time, number: u32, queue: &mut HeadQueue) {
        if !self.flows.greedy.air[number as usize].is_empty() {
            self.feed(now, number, queue);
        }
    }
}

impl World<'_> {
    /// Fills a queue after a greedy flow has been added to it.
    pub(super) fn fill(&mut self, now: Time, filled: Filled) {
        match filled {
            Filled::Link(link) => self.fill_link(now, link as usize),
            Filled::Air(queue) => self.radio.fill(now, queue, &mut self.network),
        }
    }

    /// Fills the queue of link number `link` with datagrams of greedy flows, and sets the time at
    /// which the queue has room again.
    #[inline(never)]
    pub(super) fn fill_link(&mut self, now: Time, link: usize) {
        while let Some(member) = self.network.next_at_link(now, link) {
            if let Some(mut packet) = self.network.approaching(now, member) {
                self.travel(now, &mut packet);
            }
        }
        let Network { wires, flows, .. } = &self.network;
        if flows.greedy.fills(link) {
            let room_again = wires.links[link].link.room_again();
            self.network.clock.set(Owner::Link(link), room_again);
        }
    }

    /// Moves the greedy sources whose datagrams pass the bottleneck. Before the start of the
    /// bottleneck, these sources kept the queue of the access point full. From now on they keep the
    /// queue of the bottleneck full.
    pub(super) fn fill_bottleneck(&mut self) {
        let Network { wires, flows, .. } = &mut self.network;
        let greedy = &mut flows.greedy;
        let Some((link, _)) = greedy.bottleneck.filter(|_| greedy.is_free) else {
            return;
        };
        greedy.is_free = false;
        let on_air = greedy.air.iter().flatten().map(|member| member.flow);
        let moves = |flow: &u32| wires.approach(*flow, true).filled == Filled::Link(link);
        for flow in on_air.filter(moves).collect::<Vec<u32>>() {
            greedy.remove(flow);
            greedy.add(flow, &wires.approach(flow, true), wires);
        }
        if greedy.fills(link as usize) {
            self.fill_link(self.network.clock.now, link as usize);
        }
    }
}

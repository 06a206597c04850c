//! The journey of a packet, from its source to its destination.
//!
//! ```text
//!           +---------- a reply in its place; segments of the opened window --------------+
//!           v                                                                             |
//!   endpoint: send --> travel --(legs over links)--> UnderWay .. travel --> Arrived: arrive
//!           |            |                                         ^                ^
//!           +------------+--> OnAir --> UnderWay --(queue, medium)-+----------------+
//! ```
//!
//! A packet is under way while it is in a queue, on the air or on a link. An event at the end of
//! this time moves the packet on.

use super::World;
use super::flows::Flows;
use super::medium::Medium;
use super::step::{Delivery, Step};
use crate::kernel::time::Time;
use crate::packet::Packet;

impl World<'_> {
    /// Sends a packet of an endpoint at time `at`.
    #[inline(never)]
    pub(super) fn send(&mut self, at: Time, packet: &mut Packet) {
        match self.network.wires.first_queue(packet) {
            Some(queue) => offer(&mut self.radio, &mut self.network.flows, at, queue, packet),
            None => self.travel(at, packet),
        }
    }

    /// Moves a packet over wires from time `at`, until the packet waits for an event, is lost or
    /// arrives.
    #[inline(never)]
    pub(super) fn travel(&mut self, at: Time, packet: &mut Packet) {
        self.move_on(at, packet);
    }

    /// Performs [`World::travel`]. The event loop contains the code of this function, because its
    /// most frequent events are arrivals over wires.
    #[inline(always)]
    pub(super) fn move_on(&mut self, at: Time, packet: &mut Packet) {
        match self.network.travel(at, packet) {
            Step::UnderWay => {}
            Step::OnAir(queue) => {
                offer(&mut self.radio, &mut self.network.flows, at, queue, packet);
                if self.listens() {
                    self.time(at, packet);
                }
            }
            Step::Arrived => self.arrive(at, packet),
            Step::Lost => self.network.flows.lose(packet),
        }
    }

    /// Delivers a packet to its endpoint, and sends the packets with which the endpoint responds.
    #[inline(never)]
    pub(super) fn arrive(&mut self, at: Time, packet: &mut Packet) {
        let opens = match self.network.take(at, packet) {
            Delivery::Consumed => return,
            Delivery::PingReply => return self.take_reply(at, packet),
            Delivery::Acked => false,
            Delivery::WindowOpened => true,
        };
        // most packets that a cell carries are sent here, so that this function contains the code
        // of the queue and does not call `send`
        match self.network.wires.first_queue(packet) {
            Some(queue) => enqueue(&mut self.radio, &mut self.network.flows, at, queue, packet),
            None => self.travel(at, packet),
        }
        if opens {
            self.pump(at, packet.flow as usize);
        }
    }

    /// Counts the packets that the radio channel or its queues have lost.
    #[inline(always)]
    pub(super) fn lose_dropped(&mut self) {
        if self.radio.has_lost() {
            lose_all(&mut self.radio, &mut self.network.flows);
        }
    }

    /// Sends all packets that the TCP sender of flow `index` may send.
    #[inline(always)]
    pub(super) fn pump(&mut self, at: Time, index: usize) {
        while let Some(mut packet) = self.network.flows.states[index].next_packet(at, index as u32)
        {
            self.send(at, &mut packet);
        }
        self.network.has_sent(at, index);
    }
}

/// Performs [`enqueue`]. The code of this function is not part of its callers.
#[inline(never)]
fn offer(radio: &mut Medium, flows: &mut Flows, now: Time, queue: u32, packet: &Packet) {
    enqueue(radio, flows, now, queue, packet);
}

/// Adds a packet to a queue in front of the radio channel. The queue may drop the packet.
#[inline(always)]
fn enqueue(radio: &mut Medium, flows: &mut Flows, now: Time, queue: u32, packet: &Packet) {
    let (enters, has_lost) = radio.offer(now, queue, packet);
    if !enters {
        flows.lose(packet);
    }
    if has_lost {
        lose_all(radio, flows);
    }
}

/// Counts the packets that the radio channel or its queues have lost.
#[cold]
#[inline(never)]
fn lose_all(radio: &mut Medium, flows: &mut Flows) {
    while let Some(packet) = radio.take_lost() {
        flows.lose(&packet);
    }
}

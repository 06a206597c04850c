//! State of a contender as a sender: its packets in order of arrival, the MPDUs formed from them, and the sequence
//! numbers in flight to each receiver.

mod forming;

use std::collections::BTreeMap;

use lasthop_engine::kernel::time::Span;

use super::super::contention::{Contender, Failed, Who};
use super::super::node::Packet;
use super::hop::Hop;

/// A packet in the queue, and the number of its MPDU if the MPDU has been formed.
#[derive(Clone, Copy, Debug)]
struct Queued {
    packet: Packet,
    number: Option<u32>,
}

/// An MPDU that has been formed, and is neither discarded nor acknowledged.
#[derive(Debug)]
struct Mpdu {
    packets: Vec<Packet>,
    /// Number of failed attempts.
    attempts: u32,
    /// Whether the receiver has received the MPDU. If it has, the response of the present exchange
    /// acknowledges the MPDU.
    received: bool,
}

/// Sequence numbers of the MPDUs to one receiver.
#[derive(Debug, Default)]
struct Window {
    /// Sequence number of the next MPDU to form.
    next: u32,
    under_way: BTreeMap<u32, Mpdu>,
}

impl Window {
    /// Returns the lowest sequence number that is neither acknowledged nor discarded: the start of the window.
    fn start(&self) -> u32 {
        let mut missing = self.under_way.iter().filter(|(_, mpdu)| !mpdu.received);
        missing.next().map_or(self.next, |(&number, _)| number)
    }
}

/// A BlockAckReq that the sender must send.
#[derive(Clone, Copy, Debug)]
struct BlockAckReq {
    to: u32,
    /// Number of failed attempts.
    attempts: u32,
}

/// Content of a frame on the air.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sent {
    BlockAckReq,
    /// Sequence numbers of the MPDUs, and ids of their packets.
    Mpdus(Vec<(u32, Vec<u32>)>),
}

/// The current or next exchange of a contender.
#[derive(Clone, Debug)]
pub struct Exchange {
    pub to: u32,
    pub sent: Sent,
    /// Duration of the PPDU, or of the BlockAckReq.
    pub data: Span,
    /// Duration of the response.
    pub response: Span,
    /// Whether RTS and CTS precede the PPDU.
    pub rts: bool,
}

impl Exchange {
    /// Returns the sequence numbers of the MPDUs of the exchange.
    pub fn numbers(&self) -> Vec<u32> {
        match &self.sent {
            Sent::BlockAckReq => Vec::new(),
            Sent::Mpdus(mpdus) => mpdus.iter().map(|(number, _)| *number).collect(),
        }
    }
}

/// The sender of one node and one access category.
#[derive(Debug)]
pub struct Sender {
    pub who: Who,
    pub contender: Contender,
    pub exchange: Option<Exchange>,
    queue_packets: usize,
    queue: Vec<Queued>,
    windows: BTreeMap<u32, Window>,
    due: Option<BlockAckReq>,
    /// Packets discarded in an internal collision. These packets leave the queue when the frame of
    /// the category that won the collision ends.
    doomed: Vec<u32>,
}

impl Sender {
    pub fn new(contender: Contender, queue_packets: u32) -> Sender {
        Sender {
            who: contender.who,
            contender,
            exchange: None,
            queue_packets: queue_packets as usize,
            queue: Vec::new(),
            windows: BTreeMap::new(),
            due: None,
            doomed: Vec::new(),
        }
    }

    /// Returns whether a packet or a BlockAckReq waits.
    pub fn has_something(&self) -> bool {
        self.due.is_some() || !self.queue.is_empty()
    }

    /// Adds an arriving packet to the queue. Returns whether the queue had room.
    pub fn arrival(&mut self, packet: Packet) -> bool {
        let room = self.queue.len() < self.queue_packets;
        if room {
            let number = None;
            self.queue.push(Queued { packet, number });
        }
        room
    }

    /// Returns the receiver that is served next, if there is one.
    pub fn receiver(&self) -> Option<u32> {
        let of_oldest = || self.queue.first().map(|oldest| oldest.packet.to);
        self.due.map(|due| due.to).or_else(of_oldest)
    }

    /// Returns the lowest sequence number to node `to` that is neither acknowledged nor discarded.
    pub fn start(&self, to: u32) -> u32 {
        self.windows.get(&to).map_or(0, Window::start)
    }

    /// Returns the packets of the MPDU with this sequence number.
    pub fn packets(&self, to: u32, number: u32) -> Vec<Packet> {
        self.windows[&to].under_way[&number].packets.clone()
    }

    /// Returns the packets to node `to` that are in no MPDU yet.
    fn waiting(&self, to: u32) -> impl Iterator<Item = Packet> + '_ {
        let fresh = move |queued: &&Queued| queued.packet.to == to && queued.number.is_none();
        self.queue.iter().filter(fresh).map(|queued| queued.packet)
    }

    /// Handles the end of a PPDU. The MPDUs with the numbers `received` arrived, and the attempts of the other MPDUs
    /// failed. Returns the packets that are discarded. `expected` is the number that the receiver expects next.
    pub fn answered(&mut self, hop: &Hop, received: &[u32], expected: u32) -> Vec<Packet> {
        let exchange = self.exchange.as_ref().expect("a PPDU");
        let (to, numbers) = (exchange.to, exchange.numbers());
        let window = self.windows.get_mut(&to).expect("MPDUs to this node");
        for number in received {
            let mpdu = window.under_way.get_mut(number);
            mpdu.expect("an MPDU that was sent").received = true;
        }
        let lost = numbers
            .into_iter()
            .filter(|number| !received.contains(number));
        self.count_attempts(hop, to, lost.collect(), expected)
    }

    /// Handles the end of the response. Removes the acknowledged packets from the queue and returns them.
    pub fn acknowledged(&mut self) -> Vec<Packet> {
        let exchange = self.exchange.take().expect("an exchange");
        if exchange.sent == Sent::BlockAckReq {
            self.due = None;
            return Vec::new();
        }
        let window = self.windows.get_mut(&exchange.to);
        let window = window.expect("MPDUs to this node");
        let mut left = Vec::new();
        window.under_way.retain(|_, mpdu| {
            if mpdu.received {
                left.extend(mpdu.packets.clone());
            }
            !mpdu.received
        });
        self.leave(left)
    }

    /// Handles an attempt without a response, after an RTS only or after the PPDU (`had_data`). Returns the packets
    /// that are discarded.
    pub fn failed(
        &mut self,
        hop: &Hop,
        failed: Failed,
        had_data: bool,
        expected: u32,
    ) -> Vec<Packet> {
        let Exchange { to, sent, .. } = self.exchange.take().expect("an exchange");
        let mpdus = match sent {
            Sent::BlockAckReq => {
                let due = self.due.as_mut().expect("a BlockAckReq");
                due.attempts += 1;
                if hop.attempts().is_some_and(|most| due.attempts >= most) {
                    self.due = None;
                }
                return Vec::new();
            }
            Sent::Mpdus(mpdus) => mpdus,
        };
        let numbers: Vec<u32> = mpdus.iter().map(|(number, _)| *number).collect();
        if !hop.has_agreement() {
            return match failed.at_limit {
                true => self.give_up(to, &numbers),
                false => Vec::new(),
            };
        }
        let several = numbers.len() > 1;
        let given_up = self.count_attempts(hop, to, numbers, expected);
        if had_data && several && hop.bar_after_failure() {
            self.block_ack_req_is_due(to);
        }
        given_up
    }

    /// Adds a failed attempt to these MPDUs. Returns the packets that are discarded.
    fn count_attempts(
        &mut self,
        hop: &Hop,
        to: u32,
        numbers: Vec<u32>,
        expected: u32,
    ) -> Vec<Packet> {
        let window = self.windows.get_mut(&to).expect("MPDUs to this node");
        let mut exhausted = Vec::new();
        for number in numbers {
            let mpdu = window.under_way.get_mut(&number);
            let mpdu = mpdu.expect("an MPDU that was sent");
            mpdu.attempts += 1;
            if hop.attempts().is_some_and(|most| mpdu.attempts >= most) {
                exhausted.push(number);
            }
        }
        let given_up = self.give_up(to, &exhausted);
        if !given_up.is_empty() && self.start(to) > expected {
            self.block_ack_req_is_due(to);
        }
        given_up
    }

    fn block_ack_req_is_due(&mut self, to: u32) {
        self.due = Some(BlockAckReq { to, attempts: 0 });
    }

    /// Discards MPDUs at the attempt limit and returns their packets.
    fn give_up(&mut self, to: u32, numbers: &[u32]) -> Vec<Packet> {
        let window = self.windows.get_mut(&to).expect("MPDUs to this node");
        let mpdus = numbers.iter().map(|number| {
            let mpdu = window.under_way.remove(number);
            mpdu.expect("an MPDU that was sent").packets
        });
        let left = mpdus.collect::<Vec<_>>().concat();
        self.leave(left)
    }

    fn leave(&mut self, left: Vec<Packet>) -> Vec<Packet> {
        let stays = |queued: &Queued| left.iter().all(|packet| packet.id != queued.packet.id);
        self.queue.retain(stays);
        left
    }

    /// Handles an internal collision, in which a higher category of the node sends. Without an agreement, the MPDU (or
    /// the packet, if no MPDU is formed) is discarded at the attempt limit. Under an agreement, nothing is discarded.
    pub fn yields(&mut self, hop: &Hop, failed: Failed) {
        if !failed.at_limit || hop.has_agreement() {
            return;
        }
        let oldest = self.queue.first().expect("something to send");
        let number = oldest.number;
        let same = |queued: &&Queued| match number {
            None => queued.packet.id == oldest.packet.id,
            Some(_) => queued.packet.to == oldest.packet.to && queued.number == number,
        };
        let doomed = self
            .queue
            .iter()
            .filter(same)
            .map(|queued| queued.packet.id);
        self.doomed = doomed.collect();
    }

    /// Handles the end of the higher category's frame. Returns the packets that were discarded in the internal
    /// collision.
    pub fn settle(&mut self) -> Vec<Packet> {
        let doomed = std::mem::take(&mut self.doomed);
        let gone = |packet: &Packet| doomed.contains(&packet.id);
        for window in self.windows.values_mut() {
            let stays = |mpdu: &Mpdu| !mpdu.packets.iter().any(gone);
            window.under_way.retain(|_, mpdu| stays(mpdu));
        }
        let packets = self.queue.iter().map(|queued| queued.packet);
        let left = packets.filter(gone).collect();
        self.leave(left)
    }
}

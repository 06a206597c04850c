//! Send state of a contender: packets in order of arrival, the MPDUs made of them, and the sequence numbers in flight
//! to each receiver.

mod forming;

use std::collections::BTreeMap;

use lasthop_engine::kernel::time::Span;

use super::super::contention::{Contender, Failed, Who};
use super::super::node::Packet;
use super::hop::Hop;

/// A packet in the queue, and the number of the MPDU that contains it.
#[derive(Clone, Copy, Debug)]
struct Queued {
    packet: Packet,
    number: Option<u32>,
}

/// An MPDU that has been formed, and is neither discarded nor known to be received.
#[derive(Debug)]
struct Mpdu {
    packets: Vec<Packet>,
    /// Number of failed attempts.
    attempts: u32,
    /// Whether the receiver has the MPDU and the response acknowledges it.
    received: bool,
}

/// Sequence numbers of MPDUs to one receiver.
#[derive(Debug, Default)]
struct Window {
    /// Number of the next MPDU that is formed.
    next: u32,
    under_way: BTreeMap<u32, Mpdu>,
}

impl Window {
    /// Returns the lowest number that is neither acknowledged nor discarded.
    fn start(&self) -> u32 {
        let mut missing = self.under_way.iter().filter(|(_, mpdu)| !mpdu.received);
        missing.next().map_or(self.next, |(&number, _)| number)
    }
}

/// A BlockAckReq that must be sent.
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
    /// Numbers of the MPDUs, and the ids of their packets.
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
    /// Returns the numbers of the MPDUs of the exchange.
    pub fn numbers(&self) -> Vec<u32> {
        match &self.sent {
            Sent::BlockAckReq => Vec::new(),
            Sent::Mpdus(mpdus) => mpdus.iter().map(|(number, _)| *number).collect(),
        }
    }
}

/// A node in one category.
#[derive(Debug)]
pub struct Sender {
    pub who: Who,
    pub contender: Contender,
    pub exchange: Option<Exchange>,
    queue_packets: usize,
    queue: Vec<Queued>,
    windows: BTreeMap<u32, Window>,
    due: Option<BlockAckReq>,
    /// Packets that were discarded in an internal collision; they leave when the frame of the other category ends.
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

    /// Returns whether there is something to send.
    pub fn has_something(&self) -> bool {
        self.due.is_some() || !self.queue.is_empty()
    }

    /// Adds a packet that arrives; returns whether the queue had room.
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

    /// Returns the lowest number to node `to` that is neither acknowledged nor discarded.
    pub fn start(&self, to: u32) -> u32 {
        self.windows.get(&to).map_or(0, Window::start)
    }

    /// Returns the packets of the MPDU with this number.
    pub fn packets(&self, to: u32, number: u32) -> Vec<Packet> {
        self.windows[&to].under_way[&number].packets.clone()
    }

    /// Returns the packets to node `to` that are not yet in an MPDU.
    fn waiting(&self, to: u32) -> impl Iterator<Item = Packet> + '_ {
        let fresh = move |queued: &&Queued| queued.packet.to == to && queued.number.is_none();
        self.queue.iter().filter(fresh).map(|queued| queued.packet)
    }

    /// Ends the PPDU, of which the MPDUs with the numbers `received` arrived and the remaining MPDUs failed once more.
    /// Returns the packets that are discarded. `expected` is the number that the receiver expects next.
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

    /// Ends the response: removes and returns the packets that it acknowledges.
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

    /// Ends an attempt that failed completely: only its RTS, or also the PPDU (`had_data`). Returns the packets that
    /// are discarded.
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

    /// Counts one more failed attempt for these MPDUs. Returns the packets that are discarded.
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

    /// Discards MPDUs and returns their packets.
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

    /// Handles an internal collision: a higher category of the node sends. Without an agreement, the MPDU to be sent
    /// (or its packet, if no MPDU is formed yet) is discarded at the attempt limit. A BlockAckReq is sent under an
    /// agreement.
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

    /// Ends the frame of the higher category: returns the packets that were discarded in the internal collision.
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

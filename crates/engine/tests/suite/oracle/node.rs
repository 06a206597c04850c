//! One node in one access category: its queue, and its contention for the medium.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{CountdownRule, Node as Settings};

use super::contention::{Contender, Draws, Who};

/// A packet for the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Number that names it in the trace.
    pub id: u32,
    /// Receiving node.
    pub to: u32,
    /// IP packet. [bytes]
    pub ip_bytes: u32,
    /// Size of the packet with which the receiver answers at once, if it does. [bytes]
    pub reply_bytes: Option<u32>,
}

/// A node in one category.
#[derive(Debug)]
pub struct Node {
    pub who: Who,
    pub contender: Contender,
    queue_packets: usize,
    /// Whether the packet at the head has been on the air.
    sent: bool,
    /// Whether the packet at the head was given up in an internal collision.
    doomed: bool,
    pub queue: VecDeque<Packet>,
}

impl Node {
    pub fn new(who: Who, settings: &Settings, aifs: Span, slot: Span, rule: CountdownRule) -> Node {
        Node {
            who,
            contender: Contender::new(who, settings, aifs, slot, rule),
            queue_packets: settings.queue.limit_packets as usize,
            sent: false,
            doomed: false,
            queue: VecDeque::new(),
        }
    }

    /// The head of the queue goes on the air; returns whether for another time.
    pub fn sends(&mut self) -> bool {
        std::mem::replace(&mut self.sent, true)
    }

    /// A packet arrives; returns whether it found room and whether it is sent at once.
    pub fn arrival(&mut self, packet: Packet, draws: &mut dyn Draws) -> (bool, bool) {
        if self.queue.len() >= self.queue_packets {
            return (false, false);
        }
        self.queue.push_back(packet);
        let at_once = self.queue.len() == 1 && self.contender.has_something(draws);
        (true, at_once)
    }

    /// The contender's deadline has come; returns whether the node transmits now.
    pub fn count_down(&mut self) -> bool {
        self.contender.count_down(!self.queue.is_empty())
    }

    /// Another node begins to send.
    pub fn medium_busy(&mut self) {
        self.contender.medium_busy(!self.queue.is_empty());
    }

    /// The medium falls idle at `now`, after a good frame or after one that only its senders
    /// could read (`eifs_lead`). Returns the node's packet if it is discarded now.
    pub fn medium_idle(
        &mut self,
        now: Time,
        eifs_lead: Option<Span>,
        draws: &mut dyn Draws,
    ) -> Option<Packet> {
        let failed = self.contender.medium_idle(now, eifs_lead, draws)?;
        failed.at_limit.then(|| self.leave())
    }

    /// A higher category of the node sends instead.
    pub fn yields(&mut self, draws: &mut dyn Draws) {
        self.doomed = self.contender.yields(draws).at_limit;
    }

    /// The exchange of the higher category is over: the packet that was given up for it leaves.
    pub fn settle(&mut self) -> Option<Packet> {
        std::mem::take(&mut self.doomed).then(|| self.leave())
    }

    /// Own exchange succeeded: the packet leaves.
    pub fn acknowledged(&mut self, draws: &mut dyn Draws) {
        self.leave();
        self.contender.succeeded(draws);
    }

    /// The head of the queue is done with, for better or worse.
    fn leave(&mut self) -> Packet {
        self.sent = false;
        self.queue
            .pop_front()
            .expect("a node that transmits has a packet")
    }
}

//! One node in one access category: its queue, and its contention for the medium.

use std::collections::VecDeque;

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::scenario::{CountdownRule, Node as Settings};

use super::contention::{Contender, Draws, Who};

/// A packet that a node sends over the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Number of the packet in the trace.
    pub id: u32,
    /// Number of the receiving node.
    pub to: u32,
    /// Length of the IP packet. [bytes]
    pub ip_bytes: u32,
    /// Size of the receiver's immediate reply, if it replies. [bytes]
    pub reply_bytes: Option<u32>,
}

/// A node in one access category.
#[derive(Debug)]
pub struct Node {
    pub who: Who,
    pub contender: Contender,
    queue_packets: usize,
    /// Whether the first packet of the queue has been sent at least once.
    sent: bool,
    /// Whether the first packet of the queue was discarded in an internal collision.
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

    /// Records that the first packet of the queue is sent now. Returns whether an earlier attempt sent the same packet.
    pub fn sends(&mut self) -> bool {
        std::mem::replace(&mut self.sent, true)
    }

    /// Adds an arriving packet to the queue. Returns whether the queue had room, and whether the packet is sent
    /// immediately.
    pub fn arrival(&mut self, packet: Packet, draws: &mut dyn Draws) -> (bool, bool) {
        if self.queue.len() >= self.queue_packets {
            return (false, false);
        }
        self.queue.push_back(packet);
        let at_once = self.queue.len() == 1 && self.contender.has_something(draws);
        (true, at_once)
    }

    /// Handles the end of the AIFS or slot for which the contender waits. Returns whether the node transmits now.
    pub fn count_down(&mut self) -> bool {
        self.contender.count_down(!self.queue.is_empty())
    }

    /// Notes that another node begins to send.
    pub fn medium_busy(&mut self) {
        self.contender.medium_busy(!self.queue.is_empty());
    }

    /// Notes that the medium becomes idle at `now`. After frames that the other nodes could not read, `eifs_lead` is
    /// the time that EIFS adds to AIFS. Returns the node's packet if it is discarded now.
    pub fn medium_idle(
        &mut self,
        now: Time,
        eifs_lead: Option<Span>,
        draws: &mut dyn Draws,
    ) -> Option<Packet> {
        let failed = self.contender.medium_idle(now, eifs_lead, draws)?;
        failed.at_limit.then(|| self.leave())
    }

    /// Handles an internal collision, in which a higher category of the node sends.
    pub fn yields(&mut self, draws: &mut dyn Draws) {
        self.doomed = self.contender.yields(draws).at_limit;
    }

    /// Handles the end of the higher category's exchange. Returns this node's packet if the internal collision was the
    /// packet's last attempt, so that the packet is discarded.
    pub fn settle(&mut self) -> Option<Packet> {
        std::mem::take(&mut self.doomed).then(|| self.leave())
    }

    /// Handles the end of a successful exchange: removes the packet from the queue and begins post-backoff.
    pub fn acknowledged(&mut self, draws: &mut dyn Draws) {
        self.leave();
        self.contender.succeeded(draws);
    }

    /// Removes the first packet of the queue, which was delivered or discarded.
    fn leave(&mut self) -> Packet {
        self.sent = false;
        self.queue
            .pop_front()
            .expect("a node that transmits has a packet")
    }
}

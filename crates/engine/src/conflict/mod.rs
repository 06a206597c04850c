//! The medium of a conflict graph: links that sense only some of the other links, with a queue in
//! front of each link. The length of the queue determines the aggressiveness of the link (paper
//! 001).
//!
//! The medium is used like a [`Cell`](crate::cell::Cell). Its inputs are packets and the time. It
//! returns the time of its next event (its deadline) and the packets that were delivered or lost.
//! The first link numbers are those of the links of the scenario. If ACKs contend for the channel,
//! each link also has a return link, with a higher number. A return link conflicts with the same
//! links as its forward link, and with the forward link itself.
//!
//! | subject | code |
//! |---|---|
//! | transmission times | [`crate::mac::graph`] |
//! | aggressiveness of a link | [`Conflict::set_prices`] |
//! | vertices of the graph, from the scenario | `conflict/vertices.rs` |

mod settings;
mod vertices;

pub(crate) use self::settings::{
    AccessWord, ConnectionsWord, CsmaLinkTable, CsmaTable, MARGINAL_UTILITY,
};
pub use self::settings::{
    Connections, Csma, CsmaAccess, CsmaAcks, CsmaAir, CsmaFlow, CsmaLink, CsmaNode, CsmaPrice,
    CsmaUsers, Hop, QueueUnit, Rounding,
};

use self::vertices::{
    dummies_of, longest_bytes, passing, patience, rules_of, vertex_count, vertices_of,
};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::NodeCounters;
use crate::mac::graph::{Ended, Graph, Vertex};
use crate::packet::Packet;
use crate::queue::{Egress, Greedy, HeadQueue, QueueSetting};

/// The links of a CSMA network, with their queues.
#[derive(Clone, Debug)]
pub struct Conflict {
    medium: Graph,
    /// Queue in front of each link.
    queues: Vec<HeadQueue>,
    /// Name of each link in results.
    names: Vec<String>,
    /// Aggressiveness of each link.
    drives: Vec<Drive>,
    price: CsmaPrice,
    /// Whether the aggressiveness of a link depends on the length of its queue.
    adapts: bool,
    beta: f64,
    /// Length of the longest packets. [bytes]
    packet_bytes: f64,
    /// Time of the next update of the aggressiveness (the price) of all links.
    next_prices: Time,
    /// Packets that were given up since the last call of [`Conflict::take_lost`].
    lost: Vec<Packet>,
}

/// Aggressiveness of a link over time.
#[derive(Clone, Debug)]
pub struct Drive {
    r: f64,
    /// Whether the scenario sets `r`. If false, `r` depends on the length of the queue.
    fixed: bool,
    since: Time,
    /// Time integral of `r` up to `since`. [ns]
    integral_ns: f64,
    /// Numbers of the flows whose packets cross the link.
    passes: Vec<u32>,
}

impl Drive {
    /// Returns the present aggressiveness r.
    pub fn r(&self) -> f64 {
        self.r
    }

    /// Returns the time integral of the aggressiveness r up to `now`. [ns]
    pub fn integral_ns(&self, now: Time) -> f64 {
        self.integral_ns + self.r * now.since(self.since).0 as f64
    }

    /// Returns the numbers of the flows whose packets cross the link.
    pub fn passes(&self) -> &[u32] {
        &self.passes
    }

    fn set(&mut self, now: Time, r: f64) {
        self.integral_ns = self.integral_ns(now);
        self.since = now;
        self.r = r;
    }
}

/// Returns the latest instant that the medium of the links in `csma` can represent.
pub(crate) fn horizon(csma: &Csma) -> Time {
    Graph::horizon_of(vertex_count(csma))
}

impl Conflict {
    /// Returns a network in which no link transmits and all queues are empty.
    pub fn new(csma: &Csma, streams: &Streams) -> Conflict {
        let longest = longest_bytes(csma);
        let vertices = vertices_of(csma);
        let drive = |(index, _): (usize, &Vertex)| Drive {
            r: csma.links.get(index).and_then(|link| link.r).unwrap_or(0.0),
            fixed: csma.links.get(index).is_some_and(|link| link.r.is_some()),
            since: Time::ZERO,
            integral_ns: 0.0,
            passes: passing(csma, index),
        };
        let rules = rules_of(csma, longest);
        let dummies = dummies_of(csma, vertices.len(), longest);
        let queue = |vertex: &Vertex| queue_of(csma, &vertex.name, streams);
        Conflict {
            medium: Graph::new(rules, &vertices, &dummies, streams),
            queues: vertices.iter().map(queue).collect(),
            names: vertices.iter().map(|vertex| vertex.name.clone()).collect(),
            drives: vertices.iter().enumerate().map(drive).collect(),
            price: csma.price,
            adapts: matches!(csma.access, CsmaAccess::Adaptive(_)),
            beta: csma.beta,
            packet_bytes: f64::from(longest),
            next_prices: Time::ZERO + csma.price.interval,
            lost: Vec::new(),
        }
    }

    /// Returns when [`Conflict::advance`] must be called next.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.medium.deadline()
    }

    /// Offers `packet` to the queue of link `number`. Returns false if the queue refuses the
    /// packet.
    #[inline]
    pub fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let queue = &mut self.queues[number as usize];
        let was_empty = queue.head().is_none();
        let enters = queue.offer(now, packet);
        if enters && was_empty && queue.head().is_some() {
            self.medium.backlog(now, number, packet.bytes);
        }
        enters
    }

    /// Makes greedy sources fill the queue of link `number` from `now` on.
    pub fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        let queue = &mut self.queues[number as usize];
        let was_empty = queue.head().is_none();
        sources.refill(now, number, queue);
        if was_empty && let Some(packet) = queue.head() {
            self.medium.backlog(now, number, packet.bytes);
        }
    }

    /// Handles the event at the deadline, `now`: a backoff or a transmission ends. If a packet has
    /// been received, returns the packet. [`Conflict::take_lost`] returns the packets that were
    /// given up.
    #[inline]
    pub fn advance(&mut self, now: Time, sources: &mut impl Greedy) -> Option<Packet> {
        let (number, fate) = self.medium.advance()?;
        let queue = &mut self.queues[number as usize];
        let packet = queue.pop(now);
        sources.refill(now, number, queue);
        let next = queue.head().map(|next| next.bytes);
        self.medium.proceed(now, number, next);
        match fate {
            Ended::Delivered => packet,
            Ended::Discarded => {
                self.lost.extend(packet);
                None
            }
        }
    }

    /// Returns whether [`Conflict::take_lost`] would return a packet.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Removes and returns a packet that was given up; `None` if no packet was given up.
    #[inline]
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop()
    }

    /// Returns the time at which [`Conflict::set_prices`] must be called next.
    pub fn prices_due(&self) -> Time {
        self.next_prices
    }

    /// Updates the aggressiveness (the price) of each link from the length of its queue (paper 001,
    /// algorithm 1, line 3).
    pub fn set_prices(&mut self, now: Time) {
        self.next_prices = now + self.price.interval;
        if !self.adapts {
            return;
        }
        for (link, (drive, queue)) in self.drives.iter_mut().zip(&mut self.queues).enumerate() {
            if !drive.fixed {
                let length = match self.price.queue_unit {
                    QueueUnit::Bytes => queue.bytes() as f64 / self.packet_bytes,
                    QueueUnit::Packets => queue.length(now) as f64,
                };
                let r = self.price.r_per_packet * length;
                drive.set(now, r.min(self.price.r_max.unwrap_or(f64::INFINITY)));
                let patience = patience(self.beta, drive.r);
                self.medium.set_patience(link as u32, patience);
            }
            queue.set_price(drive.r);
        }
    }

    /// Returns the medium, which contains the counters of the links.
    pub fn medium(&self) -> &Graph {
        &self.medium
    }

    /// Returns the number of queues, which is one per link.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Returns the queue in front of link `number`.
    pub fn queue(&self, number: usize) -> &HeadQueue {
        &self.queues[number]
    }

    /// Returns whether queue `number` may mark packets. All queues have the same setting.
    pub fn marks(&self, _number: usize) -> bool {
        self.price.aqm
    }

    /// Returns the name of link `number`, which is also the name of its queue.
    pub fn queue_name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// Returns the aggressiveness of each link over time.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
    }

    /// Returns the transmission counters of link `number`.
    pub fn frames(&self, number: usize) -> NodeCounters {
        self.medium.counters(number as u32)
    }
}

/// Returns an empty queue for the link with this `name`.
fn queue_of(csma: &Csma, name: &str, streams: &Streams) -> HeadQueue {
    let draws = streams.stream(&format!("{name}/queue"));
    if csma.price.aqm {
        return HeadQueue::priced(csma.queue_packets, draws);
    }
    let plain = QueueSetting::drop_tail(csma.queue_packets);
    HeadQueue::new(&plain, Egress::default(), draws) // a drop-tail queue does not use its egress
}

//! Links that hear only some of each other: the medium of a conflict graph, with the queues in
//! front of it, whose lengths make links aggressive (paper 001).
//!
//! It is used like a [`Cell`](crate::cell::Cell): it is given packets and the time, and returns its
//! next deadline and the packets that have left. The links of the scenario come first. If ACKs
//! contend, the return links follow, one for each link: a return link has the same conflicts as its
//! link, and is in conflict with it.
//!
//! | question | place |
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
    /// Whether aggressiveness follows the queues.
    adapts: bool,
    beta: f64,
    /// Length of the longest packets. [bytes]
    packet_bytes: f64,
    /// Time at which prices are set next.
    next_prices: Time,
    /// Packets given up since [`Conflict::take_lost`] was last called.
    lost: Vec<Packet>,
}

/// Aggressiveness of a link over time.
#[derive(Clone, Debug)]
pub struct Drive {
    r: f64,
    /// Whether the scenario gives r, so that it does not follow the queue.
    fixed: bool,
    since: Time,
    /// Time integral of r up to `since`. [ns]
    integral_ns: f64,
    /// Users whose packets pass the link.
    passes: Vec<u32>,
}

impl Drive {
    /// Returns the aggressiveness now.
    pub fn r(&self) -> f64 {
        self.r
    }

    /// Returns the time integral of r up to `now`. [ns]
    pub fn integral_ns(&self, now: Time) -> f64 {
        self.integral_ns + self.r * now.since(self.since).0 as f64
    }

    /// Returns the users whose packets pass the link.
    pub fn passes(&self) -> &[u32] {
        &self.passes
    }

    fn set(&mut self, now: Time, r: f64) {
        self.integral_ns = self.integral_ns(now);
        self.since = now;
        self.r = r;
    }
}

/// Returns the latest instant that the medium of these links can represent.
pub(crate) fn horizon(csma: &Csma) -> Time {
    Graph::horizon_of(vertex_count(csma))
}

impl Conflict {
    /// Returns a silent network with empty queues.
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

    /// Offers `packet` to the queue of link `number`; returns false if it is refused.
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

    /// Lets greedy sources begin to fill the queue of link `number`.
    pub fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        let queue = &mut self.queues[number as usize];
        let was_empty = queue.head().is_none();
        sources.refill(now, number, queue);
        if was_empty && let Some(packet) = queue.head() {
            self.medium.backlog(now, number, packet.bytes);
        }
    }

    /// Does what is due at the deadline, `now`: a backoff or a transmission ends. Returns the
    /// packet that has been received, if one was; those given up are fetched with
    /// [`Conflict::take_lost`].
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

    /// Returns whether [`Conflict::take_lost`] has a packet.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns a packet that was given up.
    #[inline]
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop()
    }

    /// Returns when [`Conflict::set_prices`] is due.
    pub fn prices_due(&self) -> Time {
        self.next_prices
    }

    /// Sets each link's aggressiveness by its queue (paper 001, algorithm 1, line 3).
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

    /// Returns the medium: its counters.
    pub fn medium(&self) -> &Graph {
        &self.medium
    }

    /// Returns the number of queues, one in front of each link.
    pub fn queues(&self) -> usize {
        self.queues.len()
    }

    /// Returns the queue in front of link `number`.
    pub fn queue(&self, number: usize) -> &HeadQueue {
        &self.queues[number]
    }

    /// Returns whether queue `number` may mark packets: the setting is the same for all.
    pub fn marks(&self, _number: usize) -> bool {
        self.price.aqm
    }

    /// Returns the name of link `number`, and of its queue.
    pub fn queue_name(&self, number: usize) -> &str {
        &self.names[number]
    }

    /// Returns the aggressiveness of each link.
    pub fn drives(&self) -> &[Drive] {
        &self.drives
    }

    /// Returns the counters of link `number` at the medium.
    pub fn frames(&self, number: usize) -> NodeCounters {
        self.medium.counters(number as u32)
    }
}

/// Returns the empty queue in front of the link with this `name`.
fn queue_of(csma: &Csma, name: &str, streams: &Streams) -> HeadQueue {
    let draws = streams.stream(&format!("{name}/queue"));
    if csma.price.aqm {
        return HeadQueue::priced(csma.queue_packets, draws);
    }
    let plain = QueueSetting::drop_tail(csma.queue_packets);
    HeadQueue::new(&plain, Egress::default(), draws) // no plain queue uses its egress
}

//! What a file says of a network by its conflict graph.

use std::collections::BTreeSet;

use crate::app::{Arrivals, Transport};
use crate::control::utility::{MOST_POINTS, Marginals};
use crate::kernel::time::Span;
use crate::mac::graph::{Pace, Slotted, Spread};
use crate::notation::setting::{
    Millimetres, S, US, count, duration, flag, length, name, names, number, points, probability,
    tables, word,
};
use crate::notation::table::Curve;
use crate::{table, words};

/// Largest coordinate and range. [mm]
const FARTHEST: u64 = 100_000_000;

/// A falling curve of marginal utilities.
pub(crate) static MARGINAL_UTILITY: Curve = Curve {
    most: MOST_POINTS,
    allowed: "are 2 to 1000 points [rate in packets/s, marginal utility] above 0, rates rising and \
              marginal utilities falling, such as [[10, 1], [100, 0.01]]",
    fault: |points| Marginals::new(points.to_vec()).err(),
};

words! {
    /// How links count down, as a file says it.
    pub enum AccessWord {
        /// By their queues.
        Adaptive = "adaptive",
        /// Alike, in continuous time.
        Legacy = "legacy",
        /// In slots.
        Dcf = "dcf",
    }
}

words! {
    /// How TCP ACKs go back over wireless links.
    pub enum CsmaAcks {
        /// At once, without time of their own on the channel (h-ACK).
        Priority = "priority",
        /// As packets of a link of their own, which contends like the others (n-ACK).
        Contend = "contend",
    }
}

words! {
    /// What a queue is counted in.
    pub enum QueueUnit {
        /// Packets.
        Packets = "packets",
        /// Bytes.
        Bytes = "bytes",
    }
}

impl AccessWord {
    /// Silence before a backoff runs, where a file says nothing else.
    pub(crate) fn difs(self) -> Span {
        match self {
            AccessWord::Dcf => Span(50 * US),
            AccessWord::Adaptive | AccessWord::Legacy => Span::ZERO,
        }
    }
}

words! {
    /// How many connections a flow has, as a file says it.
    pub enum ConnectionsWord {
        /// In proportion to the round-trip time.
        Rtt = "rtt",
        /// As many as realise a utility.
        Utility = "utility",
        /// In proportion to the round-trip time, and more where the channel loses packets.
        Marks = "marks",
        /// One.
        One = "one",
    }
}

words! {
    /// How a number becomes whole.
    pub enum Rounding {
        /// Down.
        Down = "down",
        /// To the nearest.
        Nearest = "nearest",
    }
}

table! {
    /// Wireless links that sense only some of each other, by their conflict graph: two links in conflict are never active at a time, any two others may be. The flows are tables [flow.NAME] with a route.
    pub struct CsmaTable in "csma" {
        /// Wireless links by name; names as for stations.
        key link: CsmaLinkTable = tables().required();
        /// Nodes by name with their positions, from which the conflicts follow.
        key node: CsmaNode = tables().absent("no nodes; conflicts are listed");
        /// How far a frame can be received; links from node to node are not longer.
        transmission_range: Millimetres = length(1..=FARTHEST).default("250 m");
        /// Carrier-sensing range, no less than transmission_range: links from node to node conflict if their transmitters are no farther apart, or share a node.
        sensing_range: Millimetres = length(1..=FARTHEST).default("800 m");
        /// How far from its transmitter a frame destroys those of links that do not conflict with it, at their receivers: hidden nodes. 0 m: there are none.
        interference_range: Millimetres = length(0..=FARTHEST).default("0 mm");
        /// Whether the conflict graph is meant to be in one piece; one that is not is refused.
        connected: bool = flag().default(false);
        /// Adaptive: a link's mean backoff is exp(-beta r) of a transmission, r following its queue. Legacy: all links count down alike, in continuous time. Dcf: they count slots, with windows that double after a collision (IEEE 802.11). With legacy and dcf there are no prices: one connection a flow, no aqm. Settings that an access or connections have no use for are refused, but those of the file where --set chose the access or connections.
        access: AccessWord = word().default(AccessWord::Adaptive);
        /// How long packets take on the air, and how often they are tried.
        flat air: CsmaAir;
        /// Whether backoffs of adaptive and legacy access are whole slots, to the nearest, so that neighbours whose backoffs end together collide, and try again. In continuous time they do not.
        slotted: bool = flag().default(false);
        /// Slot time.
        slot: Span = duration(US..=S).default("20 us");
        /// Silence before a backoff runs.
        difs: Span = duration(0..=S).depends("50 us with access = \"dcf\", else 0 s") => access.difs();
        /// The same after frames that a link senses but cannot read: 364 us in 802.11b. It reads its own way back and, where nodes have positions, what is sent to or from a node in transmission_range of its transmitter.
        eifs: Span = duration(0..=S).depends("difs") => difs;
        /// Smallest contention window of the dcf.
        cwmin: u32 = count(0..=32_767).default(31);
        /// Largest contention window of the dcf.
        cwmax: u32 = count(0..=32_767).default(1023);
        /// Most packets in the queue of a link, the one in service included.
        queue: u32 = count(1..=1_000_000).default(1_000);
        /// Whether a link without packets sends dummy packets, each as long as the longest of any flow.
        dummy: bool = flag().default(false);
        /// TCP ACKs over wireless links. Priority: they go back at once and take no time of their own on the air (h-ACK). Contend: each link has one back that conflicts with it and with what it conflicts with, and ACKs are packets there like others (n-ACK).
        acks: CsmaAcks = word().default(CsmaAcks::Priority);
        /// Mean transmission over mean backoff time of every link with legacy access.
        access_intensity: f64 = number(1e-6..=1e6).default(2.24);
        /// Factor of the aggressiveness r in the exponent of the backoff, inverse weight of the entropy.
        beta: f64 = number(1e-6..=1e9).default(200.0);
        /// How r follows the queue.
        flat price: CsmaPrice;
        /// TCP connections of each flow: k times the round-trip time; or as many as realise the utility; or, with marks, k times the round-trip time times sqrt(1 + losses / marks), which makes up for what the channel loses and needs flows with ecn; or one.
        connections: ConnectionsWord = word().default(ConnectionsWord::Rtt);
        /// Connections for each second of round-trip time.
        k: f64 = number(1e-6..=1e6).default(10.0);
        /// How a flow follows the number of connections that is asked for.
        flat users: CsmaUsers;
        /// Utility x^(1 - fairness) / (1 - fairness) of a rate x in packets/s, only with connections = "utility"; above 0, so that it is concave. 1: proportional fairness.
        fairness: f64 = number(-1000.0..=1000.0).fallback(2.0);
        /// Any concave utility, in the place of fairness and only with connections = "utility", by its derivative: points [rate in packets/s, marginal utility]. Between two points, and beyond the first and the last, it is a power of the rate.
        key marginal_utility: Vec<(f64, f64)> =
            points(&MARGINAL_UTILITY).absent("a power of the rate, by fairness");
    }
}

table! {
    /// How long packets take on the air, and how often they are tried.
    pub struct CsmaAir: Copy in "csma" {
        /// Packets that a link sends in a second while it is active, the same for all links; shorter ones than the longest of any flow take less time.
        service_rate_pps as "service_rate": f64 = number(1e-3..=1e7).default(600.0);
        /// Part of a transmission that does not depend on the packet's length: preambles, headers, MAC ACK.
        overhead: Span = duration(0..=10 * S).default("0 s");
        /// Distribution of the time a packet takes on the air, with the mean that its length gives; uniform: from 0 to twice the mean.
        transmission: Spread = word().default(Spread::Constant);
        /// Distribution of the backoff time with adaptive and legacy access.
        backoff: Spread = word().default(Spread::Exponential);
        /// Attempts for each packet, the first one included.
        attempts: u32 = count(1..=255).default(7);
    }
}

table! {
    /// How the aggressiveness of a link follows its queue.
    pub struct CsmaPrice: Copy in "csma" {
        /// Aggressiveness r of a link for each packet in its queue.
        r_per_packet: f64 = number(1e-12..=1.0).default(3e-5);
        /// What the queue is counted in for r; a packet of the longest of any flow counts as one.
        queue_unit: QueueUnit = word().default(QueueUnit::Packets);
        /// Time between two looks at the queue, at which r is set.
        interval as "r_interval": Span = duration(US..=1_000 * S).default("1 s");
        /// Largest aggressiveness r; needed without aqm, where r grows up to it.
        r_max: Option<f64> = number(1e-12..=1e6).or("unlimited").default("unlimited");
        /// Whether a link drops arriving packets with probability r; it marks them where they are ECN-capable.
        aqm: bool = flag().default(true);
    }
}

table! {
    /// How a flow follows the number of connections that is asked for.
    pub struct CsmaUsers: Copy in "csma" {
        /// Time between two changes of a flow's number of connections; the round-trip time is its mean since the last one.
        interval as "connections_interval": Span = duration(US..=1_000 * S).default("5 s");
        /// How the number of connections becomes whole; there is always one.
        rounding: Rounding = word().default(Rounding::Down);
        /// Weight of the number before in the next one, before rounding: 0.5 takes the mean of the two.
        smoothing: f64 = probability().default(0.0);
    }
}

table! {
    /// A wireless link: its conflicts, or the nodes at its ends.
    pub struct CsmaLinkTable in "csma.link" {
        /// Links that this one senses, and that sense it.
        conflicts: Option<Vec<String>> =
            names().absent("none of its own; that of another link holds for both");
        /// Links whose frames are destroyed by this one's though their transmitters do not sense it: hidden nodes.
        disturbs: Option<Vec<String>> = names().absent("none");
        /// Aggressiveness of this link, whatever its queue.
        r: Option<f64> = number(0.0..=1e6).absent("it follows the queue");
        /// Probability that a frame is lost to channel errors, per attempt.
        error: f64 = probability().default(0.0);
        /// Transmitter.
        from: Option<String> = name().absent("no node; conflicts are listed");
        /// Receiver.
        to: Option<String> = name().absent("no node; conflicts are listed");
    }
}

table! {
    /// Where a node stands.
    pub struct CsmaNode: Copy in "csma.node" {
        /// Position to the east.
        x: Millimetres = length(0..=FARTHEST).default("0 mm");
        /// Position to the north.
        y: Millimetres = length(0..=FARTHEST).default("0 mm");
    }
}

/// Wireless links that hear only some of each other, with the flows over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Csma {
    /// The links.
    pub links: Vec<CsmaLink>,
    /// Name and place of each node, if the conflicts follow from that.
    pub nodes: Vec<(String, CsmaNode)>,
    /// How far a frame can be received. [m]
    pub transmission_range_m: f64,
    /// How far a frame can be sensed. [m]
    pub sensing_range_m: f64,
    /// How far from its transmitter a frame destroys others. [m]
    pub interference_range_m: f64,
    /// Whether the file states that the conflict graph is in one piece; the checks have made sure that it
    /// is.
    pub connected: bool,
    /// The flows.
    pub flows: Vec<CsmaFlow>,
    /// How links count down.
    pub access: CsmaAccess,
    /// How long packets take on the air, and how often they are tried.
    pub air: CsmaAir,
    /// Factor of the aggressiveness in the exponent of the backoff.
    pub beta: f64,
    /// How r follows the queue.
    pub price: CsmaPrice,
    /// Most packets in the queue of a link, the one in service included.
    pub queue_packets: u32,
    /// Whether a link without packets sends dummy packets.
    pub dummy: bool,
    /// How TCP ACKs go back over wireless links.
    pub acks: CsmaAcks,
    /// How many connections a flow has.
    pub connections: Connections,
    /// How a flow follows that number.
    pub users: CsmaUsers,
}

/// A wireless link.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaLink {
    /// Unique among wireless and wired links.
    pub name: String,
    /// Indices of the links that it conflicts with, in order.
    pub conflicts: BTreeSet<usize>,
    /// Indices of those whose frames it can read, known from where the nodes stand.
    pub reads: BTreeSet<usize>,
    /// Indices of the links whose frames it destroys without being heard by their transmitters.
    pub disturbs: BTreeSet<usize>,
    /// Transmitter and receiver, if the conflicts follow from where they stand.
    pub ends: Option<[String; 2]>,
    /// Its aggressiveness, if it does not follow the queue.
    pub r: Option<f64>,
    /// Probability that a frame is lost to channel errors, per attempt.
    pub error: f64,
}

/// A flow over wireless links, and wired ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaFlow {
    /// Unique name.
    pub name: String,
    /// The table it comes from.
    pub class: String,
    /// What it passes.
    pub route: Vec<Hop>,
    /// Weight of its utility.
    pub weight: f64,
    /// Its marginal utility; `None`: a power of the rate, by [`Connections::Utility`].
    pub marginal_utility: Option<Marginals>,
    /// What sends: TCP or datagrams.
    pub transport: Transport,
    /// When the first packet is sent, at the earliest.
    pub start: Span,
    /// By how much the first packet may be later, uniformly at random in each replication.
    pub start_spread: Span,
    /// No new data from then on; `None`: runs to the end.
    pub stop: Option<Span>,
}

impl CsmaFlow {
    /// Payload of a full packet. [bytes]
    pub fn payload_bytes(&self) -> u32 {
        match &self.transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
            Transport::Web(_) => 0, // the checks have seen to it that there is none
        }
    }

    /// Length of a full packet. [bytes]
    pub fn packet_bytes(&self) -> u32 {
        self.payload_bytes() + self.header_bytes()
    }

    /// Headers of a packet. [bytes]
    pub fn header_bytes(&self) -> u32 {
        match &self.transport {
            Transport::Tcp(tcp) => tcp.header_bytes,
            Transport::Udp(udp) => udp.header_bytes,
            Transport::Web(_) => 0,
        }
    }

    /// Whether it always has a packet.
    pub fn is_greedy(&self) -> bool {
        matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy)
    }

    /// Whether it is TCP, so that ACKs go back.
    pub fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp(_))
    }
}

/// A link of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Index into [`Csma::links`].
    Wireless(usize),
    /// Number of the wired link.
    Wired(usize),
}

/// How links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CsmaAccess {
    /// By their queues.
    Adaptive(Pace),
    /// Alike: mean transmission over mean backoff time.
    Legacy {
        /// That ratio.
        access_intensity: f64,
        /// In continuous time or in slots.
        pace: Pace,
    },
    /// In slots, with windows that double (IEEE 802.11-2016, 10.3).
    Dcf(Slotted),
}

/// How many connections a flow has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connections {
    /// `k` times the round-trip time.
    Rtt {
        /// [1/s]
        k: f64,
    },
    /// As many as realise a utility.
    Utility {
        /// [1/s]
        k: f64,
        /// Exponent of the derivative of utilities that are not given by points, above 0.
        fairness: f64,
    },
    /// `k` times the round-trip time, and more where the channel loses packets.
    Marks {
        /// [1/s]
        k: f64,
    },
    /// One.
    One,
}

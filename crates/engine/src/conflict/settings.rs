//! Settings of a network of links that sense only some of the other links.

use std::collections::BTreeSet;

use crate::app::{Arrivals, Transport};
use crate::control::utility::{MAX_POINTS, Marginals};
use crate::kernel::time::Span;
use crate::mac::graph::{Pace, Spread};
use crate::notation::setting::{
    Millimetres, S, US, count, duration, flag, length, name, names, number, points, probability,
    tables, word,
};
use crate::notation::table::Curve;
use crate::{table, words};

/// Largest coordinate of a node, and largest range. [mm]
const FARTHEST: u64 = 100_000_000;

/// Syntax of the points of a marginal utility, which must decrease.
pub(crate) static MARGINAL_UTILITY: Curve = Curve {
    most: MAX_POINTS,
    expected: "2 to 1000 points [rate in packets/s, marginal utility] above 0, with rising rates \
               and falling marginal utilities, such as [[10, 1], [100, 0.01]]",
    fault: |points| Marginals::new(points.to_vec()).err(),
};

words! {
    /// Channel access of links, as a word of the file.
    pub enum AccessWord {
        /// The backoff of a link depends on the length of its queue.
        Adaptive = "adaptive",
        /// All links have the same mean backoff, in continuous time.
        Legacy = "legacy",
        /// Backoffs are in slots, as in IEEE 802.11.
        Dcf = "dcf",
    }
}

words! {
    /// Way in which TCP ACKs return over wireless links.
    pub enum CsmaAcks {
        /// ACKs return immediately and use no air time of their own (h-ACK).
        Priority = "priority",
        /// ACKs are packets of a return link, which contends like the other links (n-ACK).
        Contend = "contend",
    }
}

words! {
    /// Unit in which the length of a queue is measured.
    pub enum QueueUnit {
        /// Packets.
        Packets = "packets",
        /// Bytes.
        Bytes = "bytes",
    }
}

impl AccessWord {
    /// Returns the default of the idle time before a backoff counts down.
    pub(crate) fn difs(self) -> Span {
        match self {
            AccessWord::Dcf => Span(50 * US),
            AccessWord::Adaptive | AccessWord::Legacy => Span::ZERO,
        }
    }
}

words! {
    /// Rule for the number of TCP connections of a flow, as a word of the file.
    pub enum ConnectionsWord {
        /// The number is proportional to the round-trip time.
        Rtt = "rtt",
        /// With this number, the rate of the flow is optimal for its utility.
        Utility = "utility",
        /// The number is proportional to the round-trip time, and larger if the channel loses packets.
        Marks = "marks",
        /// One connection.
        One = "one",
    }
}

words! {
    /// Rounding to a whole number.
    pub enum Rounding {
        /// Down.
        Down = "down",
        /// To the nearest.
        Nearest = "nearest",
    }
}

table! {
    /// Wireless links that sense only some of each other, described by their conflict graph. Two links in conflict wait for each other. Any two other links may transmit simultaneously. The flows are tables [flow.NAME] with a route.
    pub struct CsmaTable in "csma" {
        /// Wireless links by name. Names follow the rules for names of stations.
        key link: CsmaLinkTable = tables().required();
        /// Nodes by name, with the positions from which the conflicts follow.
        key node: CsmaNode = tables().absent("no nodes, and the conflicts are listed");
        /// Distance up to which a frame can be received. Links between nodes must not be longer.
        transmission_range: Millimetres = length(1..=FARTHEST).default("250 m");
        /// Carrier-sensing range, at least transmission_range. Links between nodes conflict if the distance of their transmitters is at most this range, or if they share a node.
        sensing_range: Millimetres = length(1..=FARTHEST).default("800 m");
        /// Distance from its transmitter up to which a frame destroys, at their receivers, frames of links that do not conflict with it (hidden nodes). With 0 m there are no hidden nodes.
        interference_range: Millimetres = length(0..=FARTHEST).default("0 mm");
        /// If true, a conflict graph that is not connected is refused.
        connected: bool = flag().default(false);
        /// Channel access of all links. "adaptive": the mean backoff of a link is exp(-beta r) times the mean transmission time, where r follows the link's queue. "legacy": all links have the same mean backoff, in continuous time. "dcf": links count slots, and windows double after a collision (IEEE 802.11). With "legacy" and "dcf" every flow has one connection, and there is no aqm. Settings without effect for the chosen access or connections are refused. Such settings of the file are accepted if --set chose the access or connections.
        access: AccessWord = word().default(AccessWord::Adaptive);
        /// Air time of packets, and their number of attempts.
        flat air: CsmaAir;
        /// If true, backoffs of adaptive and legacy access are rounded to the nearest whole slot. Neighbours whose backoffs end simultaneously then collide and try again. In continuous time they do not collide.
        slotted: bool = flag().default(false);
        /// Slot time.
        slot: Span = duration(US..=S).default("20 us");
        /// Idle time before a backoff counts down.
        difs: Span = duration(0..=S).depends("50 us with access = \"dcf\", else 0 s") => access.difs();
        /// Idle time before a backoff counts down after a frame that the link senses but cannot read; 364 us in 802.11b. A link can read the frames of its own return link. If nodes have positions, it can also read frames to or from nodes within transmission_range of its transmitter.
        eifs: Span = duration(0..=S).depends("difs") => difs;
        /// Smallest contention window, with access = "dcf".
        cwmin: u32 = count(0..=32_767).default(31);
        /// Largest contention window, with access = "dcf".
        cwmax: u32 = count(0..=32_767).default(1023);
        /// Largest number of packets in the queue of a link, including the packet in service.
        queue: u32 = count(1..=1_000_000).default(1_000);
        /// If true, a link without packets sends dummy packets, each as long as the longest packet of any flow.
        dummy: bool = flag().default(false);
        /// Return of TCP ACKs over wireless links. "priority": ACKs return immediately and use no air time of their own (h-ACK). "contend": every link has a return link, on which ACKs are packets like others (n-ACK). The return link conflicts with its link and has the same conflicts as its link.
        acks: CsmaAcks = word().default(CsmaAcks::Priority);
        /// Mean transmission time of every link divided by its mean backoff time, with access = "legacy".
        access_intensity: f64 = number(1e-6..=1e6).default(2.24);
        /// Factor of the aggressiveness r in the exponent of the backoff, exp(-beta r). In the optimisation problem of paper 001, beta is the inverse weight of the entropy.
        beta: f64 = number(1e-6..=1e9).default(200.0);
        /// Dependence of r on the queue.
        flat price: CsmaPrice;
        /// Number of TCP connections of each flow. "rtt": k times the round-trip time. "utility": the number that realises the utility. "marks": k times the round-trip time times sqrt(1 + losses / marks), which compensates for losses of the channel and requires flows with ecn. "one": one connection.
        connections: ConnectionsWord = word().default(ConnectionsWord::Rtt);
        /// Number of connections per second of round-trip time.
        k: f64 = number(1e-6..=1e6).default(10.0);
        /// Adjustment of a flow's connections to the required number.
        flat users: CsmaUsers;
        /// Parameter of the utility x^(1 - fairness) / (1 - fairness) of a rate x in packets/s, only with connections = "utility". It must be above 0, so that the utility is concave. 1 means proportional fairness.
        fairness: f64 = number(-1000.0..=1000.0), fallback 2.0;
        /// Derivative of any concave utility, as points [rate in packets/s, marginal utility]. The points replace fairness, and are accepted only with connections = "utility". Between two points, and beyond the first and last point, the marginal utility is a power of the rate.
        key marginal_utility: Vec<(f64, f64)> =
            points(&MARGINAL_UTILITY).absent("a power of the rate, which follows from fairness");
    }
}

table! {
    /// Air time of packets, and their number of attempts.
    pub struct CsmaAir: Copy in "csma" {
        /// Number of packets per second that a link sends while it is active. It is the same for all links. Packets shorter than the longest packet of any flow take less time.
        service_rate_pps as "service_rate": f64 = number(1e-3..=1e7).default(600.0);
        /// Part of a transmission that does not depend on the length of the packet: preambles, headers, MAC ACK.
        overhead: Span = duration(0..=10 * S).default("0 s");
        /// Distribution of the air time of a packet. Its mean follows from the length of the packet. "uniform" is from 0 to twice the mean.
        transmission: Spread = word().default(Spread::Constant);
        /// Distribution of the backoff time with adaptive and legacy access.
        backoff: Spread = word().default(Spread::Exponential);
        /// Largest number of attempts for each packet, including the first attempt.
        attempts: u32 = count(1..=255).default(7);
    }
}

table! {
    /// Dependence of the aggressiveness of a link on its queue.
    pub struct CsmaPrice: Copy in "csma" {
        /// Aggressiveness r of a link for each packet in its queue.
        r_per_packet: f64 = number(1e-12..=1.0).default(3e-5);
        /// Unit in which the queue is counted for r. A packet as long as the longest packet of any flow counts as one.
        queue_unit: QueueUnit = word().default(QueueUnit::Packets);
        /// Time between two updates of r from the queue.
        interval as "r_interval": Span = duration(US..=1_000 * S).default("1 s");
        /// Largest aggressiveness r. This key is required without aqm, because r then grows up to the largest value.
        r_max: Option<f64> = number(1e-12..=1e6).or("unlimited").default("unlimited");
        /// If true, a link drops arriving packets with probability r. ECN-capable packets are marked, not dropped.
        aqm: bool = flag().default(true);
    }
}

table! {
    /// Adjustment of a flow's connections to the required number.
    pub struct CsmaUsers: Copy in "csma" {
        /// Time between two changes of a flow's number of connections. The round-trip time is averaged since the previous change.
        interval as "connections_interval": Span = duration(US..=1_000 * S).default("5 s");
        /// Rounding of the number of connections to a whole number. A flow always has at least one connection.
        rounding: Rounding = word().default(Rounding::Down);
        /// Weight of the previous number of connections in the next number, before rounding. With 0.5 the next number is the mean of the two.
        smoothing: f64 = probability().default(0.0);
    }
}

table! {
    /// A wireless link: its conflicts, or the nodes at its ends.
    pub struct CsmaLinkTable in "csma.link" {
        /// Links that this link senses, and that sense this link.
        conflicts: Option<Vec<String>> =
            names().absent("none; a conflict that another link lists holds for both links");
        /// Links whose frames are destroyed by frames of this link, although the transmitters of the other links do not sense this link (hidden nodes).
        disturbs: Option<Vec<String>> = names().absent("none");
        /// Aggressiveness r of this link, independent of its queue.
        r: Option<f64> = number(0.0..=1e6).absent("r follows the queue");
        /// Probability per attempt that a frame is lost to channel errors.
        error: f64 = probability().default(0.0);
        /// Node that transmits.
        from: Option<String> = name().absent("no node, and the conflicts are listed");
        /// Node that receives.
        to: Option<String> = name().absent("no node, and the conflicts are listed");
    }
}

table! {
    /// Position of a node.
    pub struct CsmaNode: Copy in "csma.node" {
        /// Distance of the node to the east of the origin.
        x: Millimetres = length(0..=FARTHEST).default("0 mm");
        /// Distance of the node to the north of the origin.
        y: Millimetres = length(0..=FARTHEST).default("0 mm");
    }
}

/// Wireless links that sense only some of the other links, and the flows that cross the links.
#[derive(Clone, Debug, PartialEq)]
pub struct Csma {
    /// The links.
    pub links: Vec<CsmaLink>,
    /// Name and position of each node, if the positions determine the conflicts.
    pub nodes: Vec<(String, CsmaNode)>,
    /// Distance up to which a frame can be received. [m]
    pub transmission_range_m: f64,
    /// Distance up to which a frame can be sensed. [m]
    pub sensing_range_m: f64,
    /// Distance from its transmitter within which a frame destroys other frames. [m]
    pub interference_range_m: f64,
    /// Whether the file requires a connected conflict graph. If so, the checks have ensured that
    /// the graph is connected.
    pub connected: bool,
    /// The flows.
    pub flows: Vec<CsmaFlow>,
    /// Channel access algorithm, which all links share.
    pub access: CsmaAccess,
    /// Air time of packets, and the number of attempts per packet.
    pub air: CsmaAir,
    /// Factor beta of the aggressiveness r in the mean backoff, exp(-beta r).
    pub beta: f64,
    /// Dependence of the aggressiveness r on the queue.
    pub price: CsmaPrice,
    /// Largest number of packets in the queue of a link, including the packet in service.
    pub queue_packets: u32,
    /// Whether a link without packets sends dummy packets.
    pub dummy: bool,
    /// How TCP ACKs return over wireless links.
    pub acks: CsmaAcks,
    /// Rule for the number of connections of each flow.
    pub connections: Connections,
    /// Adjustment of the number of connections of each flow to the required number.
    pub users: CsmaUsers,
}

/// A wireless link.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaLink {
    /// Name of the link, unique among wireless and wired links.
    pub name: String,
    /// Indices of the links that conflict with this link, in increasing order.
    pub conflicts: BTreeSet<usize>,
    /// Indices of the links whose frames this link can read, given the positions of the nodes.
    pub reads: BTreeSet<usize>,
    /// Indices of the links whose frames this link destroys (hidden nodes). The transmitters of
    /// those links do not sense this link.
    pub disturbs: BTreeSet<usize>,
    /// Names of the transmitter and the receiver; `None` if the scenario lists the conflicts
    /// instead of the nodes.
    pub ends: Option<[String; 2]>,
    /// Aggressiveness r, if the scenario sets it; `None`: r depends on the length of the queue.
    pub r: Option<f64>,
    /// Probability that a frame is lost to channel errors, per attempt. [-]
    pub error: f64,
}

/// A flow over wireless and wired links.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaFlow {
    /// Unique name.
    pub name: String,
    /// Name of the table of the flow in the file.
    pub class: String,
    /// Links that the flow crosses, in order.
    pub route: Vec<Hop>,
    /// Weight of the utility of the flow.
    pub weight: f64,
    /// Marginal utility of the flow, as points; `None`: a power of the rate
    /// ([`Connections::Utility`]).
    pub marginal_utility: Option<Marginals>,
    /// Transport of the flow: TCP or datagrams.
    pub transport: Transport,
    /// Earliest time at which the flow sends its first packet.
    pub start: Span,
    /// Largest additional delay of the first packet. The delay is uniform, and is drawn in each
    /// replication.
    pub start_spread: Span,
    /// Time from which the flow has no new data; `None`: the end of the run.
    pub stop: Option<Span>,
}

impl CsmaFlow {
    /// Returns the payload of a full packet. [bytes]
    pub fn payload_bytes(&self) -> u32 {
        match &self.transport {
            Transport::Tcp(tcp) => tcp.mss_bytes,
            Transport::Udp(udp) => udp.payload_bytes,
            Transport::Web(_) | Transport::Ping(_) => 0, // the checks refuse both
        }
    }

    /// Returns the length of a full packet. [bytes]
    pub fn packet_bytes(&self) -> u32 {
        self.payload_bytes() + self.header_bytes()
    }

    /// Returns the length of the headers of a packet. [bytes]
    pub fn header_bytes(&self) -> u32 {
        match &self.transport {
            Transport::Tcp(tcp) => tcp.header_bytes,
            Transport::Udp(udp) => udp.header_bytes,
            Transport::Web(_) | Transport::Ping(_) => 0,
        }
    }

    /// Returns whether the flow always has a packet to send.
    pub fn is_greedy(&self) -> bool {
        matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy)
    }

    /// Returns whether the flow is TCP. The receiver of a TCP flow returns ACKs.
    pub fn is_tcp(&self) -> bool {
        matches!(self.transport, Transport::Tcp(_))
    }
}

/// A link of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// A wireless link, by its index in [`Csma::links`].
    Wireless(usize),
    /// A wired link, by its number.
    Wired(usize),
}

/// Channel access algorithm, which all links share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CsmaAccess {
    /// The mean backoff of each link depends on the length of its queue.
    Adaptive(Pace),
    /// All links have the same mean backoff.
    Legacy {
        /// Mean air time divided by mean backoff. [-]
        access_intensity: f64,
        /// Slots and idle times.
        pace: Pace,
    },
    /// Backoffs are in slots, with a contention window that doubles after a failure (IEEE
    /// 802.11-2016, 10.3).
    Dcf {
        /// Slots and idle times.
        pace: Pace,
        /// Smallest contention window.
        cwmin: u32,
        /// Largest contention window.
        cwmax: u32,
    },
}

/// Rule for the number of connections of each flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connections {
    /// The number of connections is `k` times the round-trip time.
    Rtt {
        /// Number of connections divided by the round-trip time. [1/s]
        k: f64,
    },
    /// The number of connections is chosen so that the rate of the flow is optimal for its utility.
    Utility {
        /// Number of connections divided by the round-trip time, before the adjustment to the
        /// utility. [1/s]
        k: f64,
        /// Exponent of the marginal utility, above 0, for flows whose utility is not given by
        /// points. [-]
        fairness: f64,
    },
    /// The number of connections is `k` times the round-trip time, and larger if the channel loses
    /// packets.
    Marks {
        /// Number of connections divided by the round-trip time, without losses. [1/s]
        k: f64,
    },
    /// Each flow has one connection.
    One,
}

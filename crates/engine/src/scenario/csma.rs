//! Networks by conflict graph: what `[csma]` and flows with a route mean.

mod assemble;
mod checks;
mod effect;
mod normalised;
mod routes;

use std::collections::BTreeSet;

use super::model::{Arrivals, Category, Ends, Flow, Transport};
use crate::control::utility::Marginals;
use crate::kernel::time::Span;

pub(super) use assemble::assemble;
pub(super) use checks::{check, leave_alone};

/// Wireless links that hear only some of each other, with the flows over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Csma {
    /// The links.
    pub links: Vec<CsmaLink>,
    /// Where nodes stand, if the conflicts follow from that.
    pub nodes: Vec<CsmaNode>,
    /// How far a frame can be received. [m]
    pub transmission_range_m: f64,
    /// How far a frame can be sensed. [m]
    pub sensing_range_m: f64,
    /// How far from its transmitter a frame destroys others. [m]
    pub interference_range_m: f64,
    /// The file states that the conflict graph is in one piece, and it is.
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
    /// A link without packets sends dummy packets.
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

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaNode {
    /// Unique among nodes.
    pub name: String,
    /// To the east. [m]
    pub x_m: f64,
    /// To the north. [m]
    pub y_m: f64,
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
    /// First packet, at the earliest.
    pub start: Span,
    /// The first packet is this much later at most, uniformly at random in each replication.
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

    /// The first of its connections, or its datagrams, as a flow between wired nodes; without route.
    pub(crate) fn to_flow(&self) -> Flow {
        Flow {
            name: self.name.clone(),
            class: self.class.clone(),
            ends: Ends::Wired,
            forward: Vec::new(),
            back: Vec::new(),
            category: Category::BestEffort,
            start: self.start,
            start_spread: self.start_spread,
            stop: self.stop,
            transport: self.transport,
            reports: None,
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
    /// Index into [`super::Scenario::links`].
    Wired(usize),
}

/// How links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CsmaAccess {
    /// By their queues.
    Adaptive,
    /// Alike: mean transmission over mean backoff time.
    Legacy {
        /// That ratio.
        access_intensity: f64,
    },
    /// In slots, with windows that double (IEEE 802.11-2016, 10.3).
    Dcf(DcfSettings),
}

/// Timing and windows of the DCF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DcfSettings {
    /// Slot time.
    pub slot: Span,
    /// Silence before slots are counted.
    pub difs: Span,
    /// The same after frames that a link senses and cannot read; at least `difs`.
    pub eifs: Span,
    /// Smallest contention window; backoff is uniform on [0, CW].
    pub cwmin: u32,
    /// Largest contention window.
    pub cwmax: u32,
}

/// How long packets take on the air, and how often they are tried.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CsmaAir {
    /// Packets that an active link sends in a second, of the longest there are. [packets/s]
    pub service_rate_pps: f64,
    /// Part of a transmission that does not depend on the packet's length.
    pub overhead: Span,
    /// Distribution of backoff times, but with the DCF.
    pub backoff: Spread,
    /// Distribution of a packet's time on the air, around that of its length.
    pub transmission: Spread,
    /// Attempts, the first one included.
    pub attempts: u32,
}

/// A distribution on the positive numbers, by its mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spread {
    /// Always the mean.
    Constant,
    /// Uniform between zero and twice the mean.
    Uniform,
    /// Exponential.
    Exponential,
}

impl Spread {
    /// All of them.
    pub const ALL: [Spread; 3] = [Spread::Constant, Spread::Uniform, Spread::Exponential];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Spread::Constant => "constant",
            Spread::Uniform => "uniform",
            Spread::Exponential => "exponential",
        }
    }
}

/// How the aggressiveness of a link follows its queue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CsmaPrice {
    /// Aggressiveness for each queued packet.
    pub r_per_packet: f64,
    /// Largest aggressiveness, if it has one.
    pub r_max: Option<f64>,
    /// The queue counts by its bytes, a packet being as long as the longest there are.
    pub in_bytes: bool,
    /// A link drops arriving packets with the probability of its aggressiveness.
    pub aqm: bool,
    /// Time between two looks at the queue.
    pub interval: Span,
}

/// How TCP ACKs go back over wireless links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CsmaAcks {
    /// At once, without time of their own on the channel (h-ACK).
    Priority,
    /// As packets of a link of their own, which contends like the others (n-ACK).
    Contend,
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
    /// One.
    One,
}

/// How a flow follows the number of connections that is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CsmaUsers {
    /// Time between two changes.
    pub interval: Span,
    /// Rounded to the nearest whole number; otherwise down.
    pub nearest: bool,
    /// Weight of the number before, from 0 to below 1.
    pub smoothing: f64,
}

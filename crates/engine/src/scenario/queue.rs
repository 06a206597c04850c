//! Queue settings: what a queue holds and what manages it.

mod json;
mod read;

pub(super) use read::{at, check, check_sources};

use crate::control::vbs::Law;
use crate::kernel::time::Span;

/// A queue: its limit and its discipline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueSetting {
    /// Most packets, waiting plus the one in service; at least 1.
    pub limit_packets: u32,
    /// What decides which packets are lost or marked, and which is next.
    pub discipline: Discipline,
}

impl QueueSetting {
    /// A drop-tail queue of `limit_packets`.
    pub const fn drop_tail(limit_packets: u32) -> QueueSetting {
        QueueSetting {
            limit_packets,
            discipline: Discipline::DropTail,
        }
    }

    /// Most packets that the queue ever holds.
    pub fn most_packets(&self) -> u32 {
        match self.discipline {
            Discipline::Threshold { packets } => packets.min(self.limit_packets),
            _ => self.limit_packets,
        }
    }

    /// Packets may be marked.
    pub fn marks(&self) -> bool {
        match self.discipline {
            Discipline::DropTail | Discipline::Threshold { .. } | Discipline::Vbs(_) => false,
            Discipline::Red(red) => red.ecn,
            Discipline::Proportional(proportional) => proportional.ecn,
            Discipline::CoDel(codel) => codel.ecn,
            Discipline::Pie(pie) => pie.ecn,
            Discipline::FqCoDel(fq) => fq.codel.ecn,
        }
    }

    /// Nothing but the number of packets decides what is lost.
    pub fn is_plain(&self) -> bool {
        matches!(
            self.discipline,
            Discipline::DropTail | Discipline::Threshold { .. }
        )
    }
}

/// How a queue is managed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Discipline {
    /// First in, first out; what finds the queue full is lost.
    DropTail,
    /// What finds this many packets is lost: drop-tail by another name.
    Threshold {
        /// Packets, the one in service included; at least 1.
        packets: u32,
    },
    /// Random early detection.
    Red(RedSetting),
    /// Drops with a probability proportional to the backlog.
    Proportional(ProportionalSetting),
    /// Controlled delay.
    CoDel(CoDelSetting),
    /// Proportional-integral controller, enhanced.
    Pie(PieSetting),
    /// A CoDel queue for each flow, served in turn.
    FqCoDel(FqCoDelSetting),
    /// Classes of flows share it; the access point's alone.
    Vbs(VbsSetting),
}

/// Parameters of virtual buffer sharing (paper 000, section V); the classes are the cell's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VbsSetting {
    /// Part of the limit that the queue is to hold, c, between 0 and 1. [-]
    pub occupancy: f64,
    /// Squared distance from that within which Algorithm 1 rests. [packets^2]
    pub tol: f64,
    /// What the shares are parts of.
    pub share_of: ShareOf,
    /// The rule for blocking probabilities.
    pub law: Law,
    /// Time between the controller's steps, above zero; `None`: at every arrival.
    pub update: Option<Span>,
}

/// What the share of a class is a part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShareOf {
    /// The packets in the queue.
    Queue,
    /// The data segments that the air carries, both ways.
    Service,
}

/// Parameters of RED (Floyd & Jacobson 1993).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RedSetting {
    /// Which reading of the algorithm.
    pub form: RedForm,
    /// Average from which packets are dropped. [packets of the mean length]
    pub min_th: f64,
    /// Average from which the probability exceeds `max_p`, above `min_th`. [packets of the mean
    /// length]
    pub max_th: f64,
    /// Probability p_b just below `max_th`, on (0, 1]. [-]
    pub max_p: f64,
    /// Weight of the queue now in the average.
    pub weight: RedWeight,
    /// Above `max_th` p_b rises to 1 at twice that; otherwise all are dropped from there on.
    pub gentle: bool,
    /// Early drops are 1/p_b to 2/p_b packets apart; otherwise 1 to 1/p_b.
    pub wait: bool,
    /// Average and probability are of bytes, not of packets.
    pub bytes: bool,
    /// Marks packets that are ECN-capable.
    pub ecn: bool,
    /// Mean length of a packet: what idle time, automatic weight and byte mode reckon with. [bytes]
    pub mean_packet_bytes: u32,
}

/// A reading of RED.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RedForm {
    /// As ns-2.35 runs it.
    Ns2,
    /// As published.
    Published,
}

/// How RED weighs the queue now against the average.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedWeight {
    /// The average lasts ten round trips of three link delays, at least 1 s (ns-2's q_weight -1).
    Auto,
    /// The average lasts 1 s (ns-2's q_weight 0).
    PerSecond,
    /// This, on (0, 1]; 1: no averaging. [-]
    Given(f64),
}

/// Parameters of drops in proportion to the backlog (paper 001, appendix B).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProportionalSetting {
    /// Drop probability for each packet found, waiting or in service. [-]
    pub slope: f64,
    /// Marks packets that are ECN-capable.
    pub ecn: bool,
}

/// Parameters of CoDel (RFC 8289).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelSetting {
    /// Time in the queue that is acceptable.
    pub target: Span,
    /// For how long packets must be above target; of the order of a round trip, above zero.
    pub interval: Span,
    /// Marks packets that are ECN-capable.
    pub ecn: bool,
}

/// Parameters of PIE (RFC 8033).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieSetting {
    /// Queueing delay aimed at (QDELAY_REF).
    pub target: Span,
    /// Time between updates of the drop probability, above zero (T_UPDATE).
    pub update: Span,
    /// Weight of the distance from the target. [1/s]
    pub alpha: f64,
    /// Weight of the change of the delay. [1/s]
    pub beta: f64,
    /// Time for which a burst passes that follows a quiet time (MAX_BURST).
    pub max_burst: Span,
    /// Marks packets that are ECN-capable.
    pub ecn: bool,
}

/// Parameters of FQ-CoDel (RFC 8290).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCoDelSetting {
    /// CoDel in each queue.
    pub codel: CoDelSetting,
    /// What a queue may send in its turn, above zero. [bytes]
    pub quantum_bytes: u32,
    /// Number of queues that flows are hashed to, at least 1.
    pub queues: u32,
}

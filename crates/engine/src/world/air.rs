//! A network of CSMA links at work: packets wait in front of each link, whose aggressiveness follows
//! its queue; users open and close connections.
//!
//! Links of the scenario come first; if ACKs contend, each has one back behind them, with the same
//! conflicts, and the two conflict.

use super::World;
use super::users::User;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::mac::graph::{Counting, Fate, Graph, Rules, Vertex};
use crate::queue::{HeadQueue, Outlet};
use crate::scenario::{Csma, CsmaAccess, CsmaAcks, Hop, QueueSetting};

/// What serves the queues, which no plain queue asks for.
const NO_OUTLET: Outlet = Outlet {
    rate_bps: 0,
    is_fixed: false,
    delay: Span::ZERO,
};

/// The links and users of a CSMA network.
pub(crate) struct Air {
    pub(super) graph: Graph,
    /// Of each link its name in results.
    pub(crate) names: Vec<String>,
    /// Of each link how aggressive it is.
    pub(crate) drives: Vec<Drive>,
    pub(crate) users: Vec<User>,
    /// Length of the longest packets. [bytes]
    packet_bytes: f64,
    next_prices: Time,
    pub(super) next_users: Time,
}

/// A link's aggressiveness over time.
#[derive(Clone, Debug)]
pub(crate) struct Drive {
    pub(crate) r: f64,
    /// It does not follow the queue.
    fixed: bool,
    since: Time,
    /// Time integral up to then. [ns]
    integral_ns: f64,
    /// Users whose packets pass the link.
    pub(crate) passes: Vec<u32>,
}

impl Drive {
    /// Time integral of r up to `now`. [ns]
    pub(crate) fn integral_ns(&self, now: Time) -> f64 {
        self.integral_ns + self.r * now.since(self.since).0 as f64
    }

    fn set(&mut self, now: Time, r: f64) {
        self.integral_ns = self.integral_ns(now);
        self.since = now;
        self.r = r;
    }
}

impl Air {
    pub(super) fn new(csma: &Csma, streams: &Streams) -> Air {
        let longest = csma.flows.iter().map(|flow| flow.packet_bytes());
        let longest = longest.max().unwrap_or(1);
        let vertices = vertices_of(csma);
        let drive = |(index, _): (usize, &Vertex)| Drive {
            r: csma.links.get(index).and_then(|link| link.r).unwrap_or(0.0),
            fixed: csma.links.get(index).is_some_and(|link| link.r.is_some()),
            since: Time::ZERO,
            integral_ns: 0.0,
            passes: passing(csma, index),
        };
        let sends = longest as u16; // at most 65535, by the checks
        let rules = rules_of(csma, longest);
        let dummies: Vec<Option<u16>> = (0..vertices.len())
            .map(|index| match passing(csma, index).is_empty() {
                false if csma.dummy && index < csma.links.len() => Some(sends),
                false if csma.dummy => Some(ack_bytes(csma)),
                _ => None,
            })
            .collect();
        Air {
            graph: Graph::new(rules, &vertices, &dummies, streams),
            names: vertices.iter().map(|vertex| vertex.name.clone()).collect(),
            drives: vertices.iter().enumerate().map(drive).collect(),
            users: (csma.flows.iter().enumerate())
                .map(|(index, flow)| User::new(index as u32, flow, csma))
                .collect(),
            packet_bytes: f64::from(longest),
            next_prices: Time::ZERO + csma.price.interval,
            next_users: Time::ZERO + csma.users.interval,
        }
    }

    /// The empty queue in front of link `index`.
    pub(super) fn queue(&self, csma: &Csma, index: usize, streams: &Streams) -> HeadQueue {
        let draws = streams.stream(&format!("{}/queue", self.names[index]));
        if csma.price.aqm {
            return HeadQueue::priced(csma.queue_packets, draws);
        }
        let plain = QueueSetting::drop_tail(csma.queue_packets);
        HeadQueue::new(&plain, NO_OUTLET, draws)
    }

    /// When prices or numbers of connections are to change.
    pub(super) fn deadline(&self) -> Time {
        self.next_prices.min(self.next_users)
    }

    /// The medium, for what it counts.
    pub(crate) fn medium(&self) -> &Graph {
        &self.graph
    }
}

/// The users whose packets pass link `index`, which may be one back.
fn passing(csma: &Csma, index: usize) -> Vec<u32> {
    let back = index >= csma.links.len();
    let link = Hop::Wireless(if back {
        index - csma.links.len()
    } else {
        index
    });
    let users = csma.flows.iter().enumerate();
    users
        .filter(|(_, flow)| flow.route.contains(&link) && (flow.is_tcp() || !back))
        .map(|(user, _)| user as u32)
        .collect()
}

fn ack_bytes(csma: &Csma) -> u16 {
    let headers = csma.flows.iter().map(|flow| flow.header_bytes());
    headers.max().unwrap_or(1) as u16 // at most 256, by the checks
}

fn rules_of(csma: &Csma, longest: u32) -> Rules {
    let whole_ns = 1e9 / csma.air.service_rate_pps;
    let overhead_ns = csma.air.overhead.0 as f64;
    Rules {
        counting: match csma.access {
            CsmaAccess::Adaptive | CsmaAccess::Legacy { .. } => {
                Counting::Continuous(csma.air.backoff)
            }
            CsmaAccess::Dcf(dcf) => Counting::Slotted {
                slot: dcf.slot,
                difs: dcf.difs,
                eifs: dcf.eifs,
                cwmin: dcf.cwmin,
                cwmax: dcf.cwmax,
            },
        },
        overhead_ns,
        byte_ns: (whole_ns - overhead_ns) / f64::from(longest),
        transmission: csma.air.transmission,
        attempts: csma.air.attempts,
    }
}

fn vertices_of(csma: &Csma) -> Vec<Vertex> {
    let count = csma.links.len() as u32;
    let is_double = csma.acks == CsmaAcks::Contend;
    let both = |links: &std::collections::BTreeSet<usize>| -> Vec<u32> {
        let there = links.iter().map(|&link| link as u32);
        match is_double {
            false => there.collect(),
            true => there
                .clone()
                .chain(there.map(|link| link + count))
                .collect(),
        }
    };
    let vertex = |index: usize, back: bool| {
        let link = &csma.links[index];
        let mut neighbours = both(&link.conflicts);
        let mut reads = both(&link.reads);
        if is_double {
            let partner = index as u32 + if back { 0 } else { count };
            neighbours.push(partner);
            reads.push(partner);
        }
        Vertex {
            name: if back {
                format!("{}/back", link.name)
            } else {
                link.name.clone()
            },
            neighbours,
            reads,
            disturbs: both(&link.disturbs),
            error: link.error,
            patience: match csma.access {
                CsmaAccess::Legacy { access_intensity } => 1.0 / access_intensity,
                _ => patience(csma.beta, if back { 0.0 } else { link.r.unwrap_or(0.0) }),
            },
        }
    };
    let there = (0..csma.links.len()).map(|index| vertex(index, false));
    let back = (0..csma.links.len()).map(|index| vertex(index, true));
    match is_double {
        false => there.collect(),
        true => there.chain(back).collect(),
    }
}

/// Mean backoff over mean transmission (paper 001, algorithm 1, line 7).
fn patience(beta: f64, r: f64) -> f64 {
    libm::exp(-beta * r)
}

impl World<'_> {
    /// A backoff or a transmission has ended.
    pub(super) fn air_event(&mut self, now: Time) {
        let Some((link, fate)) = self.air.as_mut().and_then(|air| air.graph.advance()) else {
            return;
        };
        if let Some(packet) = self.take_head(link, now) {
            match fate {
                Fate::Delivered => self.forward(now, packet),
                Fate::Discarded => self.lose(&packet),
            }
        }
    }

    /// Prices or numbers of connections change.
    pub(super) fn control_event(&mut self, now: Time) {
        let Some(air) = &self.air else {
            return;
        };
        if air.next_prices <= now {
            self.set_prices(now);
        } else {
            self.set_connections(now);
        }
        let next = self.air.as_ref().map_or(Time::NEVER, |air| air.deadline());
        self.agenda.set(self.slots.control(), next);
    }

    /// Each link's aggressiveness follows its queue (paper 001, algorithm 1, line 3).
    fn set_prices(&mut self, now: Time) {
        let (Some(air), Some(csma)) = (&mut self.air, &self.scenario.csma) else {
            return;
        };
        air.next_prices = now + csma.price.interval;
        if csma.access != CsmaAccess::Adaptive {
            return;
        }
        for (link, (drive, port)) in air.drives.iter_mut().zip(&mut self.ports).enumerate() {
            if !drive.fixed {
                let queue = match csma.price.in_bytes {
                    true => port.queue.bytes() as f64 / air.packet_bytes,
                    false => port.queue.length(now) as f64,
                };
                let r = csma.price.r_per_packet * queue;
                drive.set(now, r.min(csma.price.r_max.unwrap_or(f64::INFINITY)));
                let patience = patience(csma.beta, drive.r);
                air.graph.set_patience(link as u32, patience);
            }
            port.queue.set_price(drive.r);
        }
    }
}

//! From the scenario to the vertices of the graph and the rules that they share.

use std::collections::BTreeSet;

use super::{Csma, CsmaAccess, CsmaAcks, Hop};
use crate::mac::graph::{Counting, Rules, Vertex};

/// Length of the longest packets. [bytes]
pub(super) fn longest_bytes(csma: &Csma) -> u32 {
    let longest = csma.flows.iter().map(|flow| flow.packet_bytes());
    longest.max().unwrap_or(1)
}

/// Length of the dummy packets of each link, return links included; `None` for one that sends none. [bytes]
pub(super) fn dummies_of(csma: &Csma, links: usize, longest: u32) -> Vec<Option<u16>> {
    let sends = longest as u16; // at most 65535, by the checks
    (0..links)
        .map(|index| match passing(csma, index).is_empty() {
            false if csma.dummy && index < csma.links.len() => Some(sends),
            false if csma.dummy => Some(ack_bytes(csma)),
            _ => None,
        })
        .collect()
}

/// The users whose packets pass link `index`, which may be a return link.
pub(super) fn passing(csma: &Csma, index: usize) -> Vec<u32> {
    let back = index >= csma.links.len();
    let link = Hop::Wireless(index % csma.links.len());
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

/// What all links have in common, the `longest` packets going out at the service rate.
pub(super) fn rules_of(csma: &Csma, longest: u32) -> Rules {
    let whole_ns = 1e9 / csma.air.service_rate_pps;
    let overhead_ns = csma.air.overhead.0 as f64;
    Rules {
        counting: match csma.access {
            CsmaAccess::Adaptive(pace) | CsmaAccess::Legacy { pace, .. } => Counting::ByMean {
                spread: csma.air.backoff,
                pace,
            },
            CsmaAccess::Dcf(dcf) => Counting::Slotted(dcf),
        },
        overhead_ns,
        byte_ns: (whole_ns - overhead_ns) / f64::from(longest),
        transmission: csma.air.transmission,
        attempts: csma.air.attempts,
    }
}

/// How many links the medium knows.
pub(super) fn vertex_count(csma: &Csma) -> usize {
    csma.links.len() * ways(csma).count()
}

/// Links and, if ACKs contend, return links.
fn ways(csma: &Csma) -> impl Iterator<Item = bool> + use<> {
    let is_double = csma.acks == CsmaAcks::Contend;
    [false, true].into_iter().take(1 + usize::from(is_double))
}

/// The links as the medium knows them, return links behind the others.
pub(super) fn vertices_of(csma: &Csma) -> Vec<Vertex> {
    let count = csma.links.len() as u32;
    let is_double = csma.acks == CsmaAcks::Contend;
    let both = |links: &BTreeSet<usize>| -> Vec<u32> {
        let there = links.iter().map(|&link| link as u32);
        let back = there.clone().map(|link| link + count);
        there.chain(back.filter(|_| is_double)).collect()
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
                CsmaAccess::Legacy {
                    access_intensity, ..
                } => 1.0 / access_intensity,
                _ => patience(csma.beta, if back { 0.0 } else { link.r.unwrap_or(0.0) }),
            },
        }
    };
    let both_ways = ways(csma).flat_map(|back| (0..csma.links.len()).map(move |link| (link, back)));
    both_ways.map(|(link, back)| vertex(link, back)).collect()
}

/// Mean backoff over mean transmission (paper 001, algorithm 1, line 7).
pub(super) fn patience(beta: f64, r: f64) -> f64 {
    libm::exp(-beta * r)
}

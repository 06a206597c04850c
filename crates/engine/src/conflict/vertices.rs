//! Vertices of the conflict graph, and the rules that all vertices share, computed from the
//! scenario.

use std::collections::BTreeSet;

use super::{Csma, CsmaAccess, CsmaAcks, Hop};
use crate::mac::graph::{BackoffRule, Counting, Rules, Vertex};

/// Returns the length of the longest packet of all flows. [bytes]
pub(super) fn longest_bytes(csma: &Csma) -> u32 {
    let longest = csma.flows.iter().map(|flow| flow.packet_bytes());
    longest.max().unwrap_or(1)
}

/// Returns the length of the dummy packets of each link, return links included; `None` for a link
/// that sends no dummy packets. [bytes]
pub(super) fn dummies_of(csma: &Csma, links: usize, longest: u32) -> Vec<Option<u16>> {
    let dummy = |index| match index < csma.links.len() {
        true => longest as u16, // the checks ensure that the length is at most 65535
        false => ack_bytes(csma),
    };
    let sends = |index| csma.dummy && !passing(csma, index).is_empty();
    (0..links)
        .map(|index| sends(index).then(|| dummy(index)))
        .collect()
}

/// Returns the numbers of the flows whose packets cross link `index`, which may be a return link.
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
    headers.max().unwrap_or(1) as u16 // the checks ensure that the length is at most 256
}

/// Returns the settings that all links share. Packets of length `longest` [bytes] are sent at the
/// service rate.
pub(super) fn rules_of(csma: &Csma, longest: u32) -> Rules {
    let longest_ns = 1e9 / csma.air.service_rate_pps;
    let overhead_ns = csma.air.overhead.0 as f64;
    Rules {
        counting: match csma.access {
            CsmaAccess::Adaptive(pace) | CsmaAccess::Legacy { pace, .. } => Counting {
                pace,
                backoff: BackoffRule::Mean(csma.air.backoff),
            },
            CsmaAccess::Dcf { pace, cwmin, cwmax } => Counting {
                pace,
                backoff: BackoffRule::Slotted { cwmin, cwmax },
            },
        },
        overhead_ns,
        byte_ns: (longest_ns - overhead_ns) / f64::from(longest),
        transmission: csma.air.transmission,
        attempts: csma.air.attempts,
    }
}

/// Returns the number of links of the medium, return links included.
pub(super) fn vertex_count(csma: &Csma) -> usize {
    csma.links.len() * directions(csma).count()
}

/// Returns the directions of links: `false` for the forward links and, if ACKs contend, `true` for
/// the return links.
fn directions(csma: &Csma) -> impl Iterator<Item = bool> + use<> {
    let is_double = csma.acks == CsmaAcks::Contend;
    [false, true].into_iter().take(1 + usize::from(is_double))
}

/// Returns the links of the medium, as vertices. The return links follow the forward links.
pub(super) fn vertices_of(csma: &Csma) -> Vec<Vertex> {
    let count = csma.links.len() as u32;
    let is_double = csma.acks == CsmaAcks::Contend;
    let both = |links: &BTreeSet<usize>| -> Vec<u32> {
        let forward = links.iter().map(|&link| link as u32);
        let back = forward.clone().map(|link| link + count);
        forward.chain(back.filter(|_| is_double)).collect()
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
                CsmaAccess::Adaptive(_) | CsmaAccess::Dcf { .. } => {
                    patience(csma.beta, if back { 0.0 } else { link.r.unwrap_or(0.0) })
                }
            },
        }
    };
    let links = 0..csma.links.len();
    let both = directions(csma).flat_map(|back| links.clone().map(move |link| (link, back)));
    both.map(|(link, back)| vertex(link, back)).collect()
}

/// Returns the mean backoff divided by the mean air time, exp(-beta r), for the aggressiveness `r`
/// (paper 001, algorithm 1, line 7).
pub(super) fn patience(beta: f64, r: f64) -> f64 {
    libm::exp(-beta * r)
}

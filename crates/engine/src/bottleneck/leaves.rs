//! The virtual shared bottleneck as a link with one server and several leaves (queues). The key
//! `fairness` determines which packets share a leaf. Packets of both directions pass the same link.

use std::ops::Range;

use super::{BottleneckFairness, BottleneckGroup, BottleneckSettings, BottleneckUdp};
use crate::app::{Ends, Flow, Transport};
use crate::cell::Hotspot;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::link::{FREE, Link, LinkRate, LinkSettings};
use crate::mac::{Cell, Station};
use crate::packet::Direction;
use crate::queue::{Fair, Party, QueueSetting, Scheduler};

/// Lengths of a full packet and of an ACK. [bytes]
const FULL_BYTES: u32 = 1500;
const ACK_BYTES: u32 = 40;

impl BottleneckSettings {
    /// Returns whether the packets of `flow` pass the bottleneck.
    pub fn redirects(&self, flow: &Flow) -> bool {
        match (flow.ends, &flow.transport) {
            (Ends::Wired, _) => false,
            (Ends::Station { direction, .. }, Transport::Udp(_)) => match self.udp {
                BottleneckUdp::Down => direction == Direction::Down,
                BottleneckUdp::Both => true,
            },
            (Ends::Station { .. }, Transport::Tcp(_) | Transport::Web(_) | Transport::Ping(_)) => {
                true
            }
        }
    }
}

/// Returns the air time per packet of a download with delayed ACKs: a full packet to `station`, and
/// half a TCP ACK in the opposite direction.
fn airtime(station: &Station, cell: &Cell) -> Span {
    let data = cell.exchange(FULL_BYTES, cell.rates(station, Direction::Down));
    let ack = cell.exchange(ACK_BYTES, cell.rates(station, Direction::Up));
    data + Span(ack.0 / 2)
}

/// Returns the parties that share the rate. A party is a group of `settings`, or a leaf (queue)
/// that belongs to no group.
fn parties(settings: &BottleneckSettings, weights: &[f64]) -> Vec<Party> {
    let group_of = |leaf: usize| {
        let mut groups = settings.groups.iter();
        groups.find(|group| group.stations.contains(&leaf))
    };
    let mut parties = Vec::new();
    for (leaf, &weight) in weights.iter().enumerate() {
        let group = group_of(leaf);
        let is_first = group.is_none_or(|group| group.stations.first() == Some(&leaf));
        if is_first {
            let own = |group: &BottleneckGroup| group.stations.iter().map(|&k| k as u32).collect();
            parties.push(Party {
                share: group.map_or(weight, |group| group.share),
                max_bps: group.and_then(|group| group.max_bps),
                leaves: group.map_or(vec![leaf as u32], own),
            });
        }
    }
    parties
}

/// The leaves (queues) of a bottleneck, and the leaves that each flow uses.
pub(super) struct Leaves {
    names: Vec<String>,
    parties: Vec<Party>,
    /// Leaves of each flow: first the leaf of its ACKs, then the leaf of its data.
    of_flow: Vec<[u32; 2]>,
    /// Settings of the bottleneck.
    settings: BottleneckSettings,
}

impl Leaves {
    /// Returns the leaves of a bottleneck.
    pub(super) fn new(settings: &BottleneckSettings, hotspot: Hotspot) -> Leaves {
        let fairness = settings.fairness;
        let stations = hotspot.stations.iter();
        let names: Vec<String> = match fairness {
            BottleneckFairness::Station
            | BottleneckFairness::Airtime
            | BottleneckFairness::Rate => stations.clone().map(|own| own.name.clone()).collect(),
            BottleneckFairness::Flow => hotspot.flows.iter().map(|f| f.name.clone()).collect(),
            BottleneckFairness::Direction => vec!["up".to_owned(), "down".to_owned()],
        };
        let weights: Vec<f64> = match fairness {
            BottleneckFairness::Airtime => stations
                .map(|own| 1.0 / airtime(own, &hotspot.bss.cell).seconds())
                .collect(),
            BottleneckFairness::Rate => stations.map(|own| own.rate_bps as f64).collect(),
            BottleneckFairness::Station
            | BottleneckFairness::Flow
            | BottleneckFairness::Direction => vec![1.0; names.len()],
        };
        let of_flow = (0..).zip(hotspot.flows).map(|(index, flow)| {
            let Ends::Station { station, direction } = flow.ends else {
                return [0, 0]; // not used: the flow does not pass the bottleneck
            };
            match fairness {
                BottleneckFairness::Station
                | BottleneckFairness::Airtime
                | BottleneckFairness::Rate => [station as u32; 2],
                BottleneckFairness::Flow => [index; 2],
                BottleneckFairness::Direction => [u32::from(direction == Direction::Down); 2],
            }
        });
        Leaves {
            of_flow: of_flow.collect(),
            parties: parties(settings, &weights),
            settings: settings.clone(),
            names,
        }
    }

    /// Returns the leaves (queues) through which the traffic of a station passes. With fairness
    /// "direction" all stations share these leaves.
    pub(super) fn of_station(&self, station: usize, flows: &[Flow]) -> Vec<u32> {
        let pairs = flows.iter().zip(&self.of_flow);
        let own = |flow: &Flow| flow.station() == Some(station) && self.settings.redirects(flow);
        let mut leaves: Vec<u32> = pairs
            .filter(|(flow, _)| own(flow))
            .flat_map(|(_, leaves)| *leaves)
            .collect();
        leaves.sort_unstable();
        leaves.dedup();
        leaves
    }

    /// Returns the leaves that at least one flow uses: the index of each leaf, and its name in
    /// results.
    pub(super) fn shown(&self, flows: &[Flow]) -> Vec<(usize, String)> {
        let pairs = flows.iter().zip(&self.of_flow);
        let redirected = pairs.filter(|(flow, _)| self.settings.redirects(flow));
        let used: Vec<u32> = redirected.flat_map(|(_, leaves)| *leaves).collect();
        let all = self.names.iter().enumerate();
        let shown = all.filter(|(leaf, _)| used.contains(&(*leaf as u32)));
        let named = shown.map(|(leaf, name)| (leaf, format!("vsb/{name}")));
        named.collect()
    }
}

/// Returns the bottleneck of `settings` as a link that is empty and has no rate yet. The
/// utilisation is measured in intervals of length `bin`, and the smallest value is recorded.
/// `measured` is the time from the end of the warm-up to the end of the run.
pub fn link_of(
    settings: &BottleneckSettings,
    hotspot: Hotspot,
    streams: &Streams,
    measured: Range<Time>,
    bin: Span,
) -> Link {
    let leaves = Leaves::new(settings, hotspot);
    let fair = Fair::of(leaves.of_flow, &leaves.parties, settings.queue_packets);
    let link = LinkSettings {
        rate: LinkRate::Constant(FREE),
        queue: QueueSetting::drop_tail(settings.queue_packets),
        ..LinkSettings::ideal("vsb", "wire", "ap")
    };
    let scheduler = Scheduler::fair(fair);
    Link::served(&link, FREE, scheduler, streams, measured, Some(bin))
}

//! From counters at the end of the warm-up and at the end of the run to measured quantities.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::mac::dcf::NodeCounters;
use lasthop_engine::queue::QueueCounters;
use serde_json::{Map, Value, json};

use crate::Hotspot;

/// How late packets were handed over.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lateness(Vec<Span>);

impl Lateness {
    pub(crate) fn add(&mut self, late: Span) {
        self.0.push(late);
    }

    fn p99_s(&self) -> Option<f64> {
        quantile(self.0.clone(), 0.99)
    }
}

/// The smallest of the spans that at least the given part does not exceed. [s]
fn quantile(mut spans: Vec<Span>, part: f64) -> Option<f64> {
    spans.sort_unstable();
    let rank = (part * spans.len() as f64).ceil() as usize;
    spans.get(rank.saturating_sub(1)).map(|span| span.seconds())
}

/// Counters at one instant.
pub(crate) struct Marks {
    at: Time,
    nodes: Vec<NodeCounters>,
    queues: Vec<(QueueCounters, u64)>,
    leaves: Vec<QueueCounters>,
    busy_ns: u64,
    pings: u64,
}

impl Marks {
    pub(crate) fn take(hotspot: &Hotspot<'_>, at: Time) -> Marks {
        let ports = hotspot.ports.iter();
        let contenders = 0..hotspot.ports.len() as u32;
        let shared = hotspot.shared.map(|index| hotspot.links[index].leaves());
        Marks {
            at,
            nodes: contenders.map(|one| hotspot.cell.counters(one)).collect(),
            queues: ports
                .map(|port| (port.queue.counters(), port.queue.occupancy_ns(at)))
                .collect(),
            leaves: shared.unwrap_or_default(),
            busy_ns: hotspot.cell.busy_ns(),
            pings: hotspot.pings.as_ref().map_or(0, |pings| pings.sent),
        }
    }

    /// Lists of items, as in a result, over the time from these marks to `end`.
    pub(crate) fn report(&self, hotspot: &Hotspot<'_>, end: Time, lateness: &Lateness) -> Value {
        let later = Marks::take(hotspot, end);
        let length_ns = end.since(self.at).0;
        let node = |number: u32, name: &str| self.node(&later, hotspot, number, name, length_ns);
        let stations = (1..).zip(&hotspot.scenario.stations);
        let stations: Vec<Value> = stations.map(|(n, one)| node(n, &one.name)).collect();
        let mut queues: Vec<Value> = (0..hotspot.ports.len())
            .map(|contender| self.queue(&later, hotspot, contender, length_ns))
            .collect();
        queues.extend(hotspot.leaves().iter().map(|(leaf, name)| {
            let leaf = *leaf as usize;
            let (from, to) = (self.leaves[leaf], later.leaves[leaf]);
            let area = to
                .occupancy_ns(end)
                .wrapping_sub(from.occupancy_ns(self.at));
            queue_item(name, from, to, area, length_ns)
        }));
        let mut lists = json!({
            "stations": stations,
            "aps": [node(0, "ap")],
            "queues": queues,
            "cells": [item("cell", &[
                ("busy_fraction", ratio(later.busy_ns - self.busy_ns, length_ns)),
            ])],
            "totals": [item("run", &[
                ("lateness_p99_s", lateness.p99_s()),
                ("foreign_packets", Some(hotspot.foreign as f64)),
            ])],
        });
        if let Some(link) = self.bottleneck(hotspot, end) {
            lists["links"] = json!([link]);
        }
        lists
    }

    fn node(
        &self,
        later: &Marks,
        hotspot: &Hotspot<'_>,
        number: u32,
        name: &str,
        length_ns: u64,
    ) -> Value {
        let (mut attempts, mut collided, mut corrupted) = (0, 0, 0);
        let (mut delivered, mut discarded, mut area) = (0, 0, 0_u64);
        for contender in hotspot.cell.categories_of(number) {
            let contender = contender as usize;
            let (from, to) = (&self.nodes[contender], &later.nodes[contender]);
            attempts += to.attempts - from.attempts;
            collided += to.collided - from.collided;
            corrupted += to.corrupted - from.corrupted;
            delivered += to.delivered - from.delivered;
            discarded += to.discarded - from.discarded;
            area += later.queues[contender]
                .1
                .wrapping_sub(self.queues[contender].1);
        }
        item(
            name,
            &[
                ("collision_rate", ratio(collided, attempts)),
                ("frame_failure_rate", ratio(collided + corrupted, attempts)),
                (
                    "discard_probability",
                    ratio(discarded, delivered + discarded),
                ),
                ("queue_packets", ratio(area, length_ns)),
            ],
        )
    }

    fn queue(&self, later: &Marks, hotspot: &Hotspot<'_>, contender: usize, ns: u64) -> Value {
        let node = hotspot.ports[contender].node;
        let own = match node {
            0 => "ap",
            station => &hotspot.scenario.stations[station as usize - 1].name,
        };
        let name = if contender < hotspot.scenario.stations.len() + 1 {
            own.to_owned()
        } else {
            format!("{own}/{}", hotspot.cell.category(contender as u32).name())
        };
        let (from, to) = (self.queues[contender], later.queues[contender]);
        queue_item(&name, from.0, to.0, to.1.wrapping_sub(from.1), ns)
    }

    /// Rate and pings of the bottleneck, if there is one.
    fn bottleneck(&self, hotspot: &Hotspot<'_>, end: Time) -> Option<Value> {
        let pings = hotspot.pings.as_ref()?;
        let begun = self.at.max(pings.rates.first().map_or(end, |&(at, _)| at));
        let ends = pings.rates.iter().skip(1).map(|&(at, _)| at).chain([end]);
        let pieces = pings.rates.iter().zip(ends);
        let area: f64 = pieces
            .map(|(&(at, bps), until)| bps as f64 * until.since(at.max(begun)).0 as f64)
            .sum();
        let length = end.since(begun).0;
        let measured = pings.rtts.iter().filter(|(at, _)| *at >= self.at);
        let rtts: Vec<Span> = measured.map(|&(_, rtt)| rtt).collect();
        let sent = pings.sent - self.pings;
        let lost = sent.saturating_sub(rtts.len() as u64);
        let sum: f64 = rtts.iter().map(|rtt| rtt.seconds()).sum();
        let mean = (!rtts.is_empty()).then(|| sum / rtts.len() as f64);
        Some(item(
            "vsb",
            &[
                ("capacity_bps", (length > 0).then(|| area / length as f64)),
                ("ping_rtt_s", mean),
                ("ping_rtt_p95_s", quantile(rtts, 0.95)),
                ("ping_loss_probability", ratio(lost, sent)),
            ],
        ))
    }
}

fn queue_item(name: &str, from: QueueCounters, to: QueueCounters, area: u64, ns: u64) -> Value {
    let sojourn = ratio(to.sojourn_ns - from.sojourn_ns, to.left - from.left);
    item(
        name,
        &[
            ("occupancy_packets", ratio(area, ns)),
            (
                "drop_probability",
                ratio(to.dropped - from.dropped, to.offered - from.offered),
            ),
            ("sojourn_s", sojourn.map(|ns| ns / 1e9)),
        ],
    )
}

/// `part / whole`, absent when there is no whole.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// An item of a result list; what was not measured is absent, and there is no interval.
fn item(name: &str, values: &[(&str, Option<f64>)]) -> Value {
    let mut item = Map::new();
    item.insert("name".to_owned(), json!(name));
    for (quantity, value) in values {
        if let Some(mean) = value {
            let estimate = json!({"mean": mean, "ci95": null});
            item.insert((*quantity).to_owned(), estimate);
        }
    }
    Value::Object(item)
}

//! From counters at the end of the warm-up and at the end of the run to measured quantities.

use lasthop_engine::kernel::time::{Span, Time};
use lasthop_engine::mac::dcf::NodeCounters;
use lasthop_engine::quantities::*;
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
}

impl Marks {
    pub(crate) fn take(hotspot: &Hotspot<'_>, at: Time) -> Marks {
        let cell = &hotspot.cell;
        let queues = 0..cell.queues();
        let counted = |number| {
            let queue = cell.queue(number);
            (queue.counters(), queue.occupancy_ns(at))
        };
        Marks {
            at,
            nodes: queues.clone().map(|number| cell.frames(number)).collect(),
            queues: queues.map(counted).collect(),
            leaves: hotspot.leaves(),
            busy_ns: cell.medium().busy_ns(),
        }
    }

    /// Lists of items, as in a result, over the time from these marks to `end`.
    pub(crate) fn report(&self, hotspot: &Hotspot<'_>, end: Time, lateness: &Lateness) -> Value {
        let later = Marks::take(hotspot, end);
        let length_ns = end.since(self.at).0;
        let node = |number: u32, name: &str| self.node(&later, hotspot, number, name, length_ns);
        let stations = (1..).zip(&hotspot.scenario.stations);
        let stations: Vec<Value> = stations.map(|(n, one)| node(n, &one.name)).collect();
        let mut queues: Vec<Value> = (0..hotspot.cell.queues())
            .map(|number| self.queue(&later, hotspot, number, length_ns))
            .collect();
        let leaves = hotspot.scenario.bottleneck_leaves();
        queues.extend(leaves.map(|(leaf, name)| {
            let (from, to) = (self.leaves[leaf], later.leaves[leaf]);
            let area = to
                .occupancy_ns(end)
                .wrapping_sub(from.occupancy_ns(self.at));
            queue_item(&name, from, to, area, length_ns)
        }));
        let mut lists = json!({
            "stations": stations,
            "aps": [node(0, "ap")],
            "queues": queues,
            "cells": [item("cell", &[
                BUSY_FRACTION.of(ratio(later.busy_ns - self.busy_ns, length_ns)),
            ])],
            "totals": [item("run", &[
                LATENESS_P99.of(lateness.p99_s()),
                FOREIGN.of(hotspot.foreign as f64),
            ])],
        });
        if let Some(link) = Marks::bottleneck(hotspot, end) {
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
        for contender in hotspot.cell.medium().categories_of(number) {
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
                COLLISION_RATE.of(ratio(collided, attempts)),
                FRAME_FAILURE_RATE.of(ratio(collided + corrupted, attempts)),
                DISCARD_PROBABILITY.of(ratio(discarded, delivered + discarded)),
                QUEUE.of(ratio(area, length_ns)),
            ],
        )
    }

    fn queue(&self, later: &Marks, hotspot: &Hotspot<'_>, number: usize, ns: u64) -> Value {
        let name = hotspot.cell.queue_name(number);
        let (from, to) = (self.queues[number], later.queues[number]);
        queue_item(name, from.0, to.0, to.1.wrapping_sub(from.1), ns)
    }

    /// Rate and pings of the bottleneck, if there is one.
    fn bottleneck(hotspot: &Hotspot<'_>, end: Time) -> Option<Value> {
        let bottleneck = hotspot.bottleneck.as_ref()?;
        let rtts = bottleneck.rtts();
        Some(item(
            "vsb",
            &[
                CAPACITY.of(bottleneck.mean_rate_bps(end)),
                PING_RTT.of(rtts.mean_s()),
                PING_RTT_P95.of(rtts.quantile_s(0.95)),
                PING_LOSS_PROBABILITY.of(bottleneck.ping_loss()),
            ],
        ))
    }
}

fn queue_item(name: &str, from: QueueCounters, to: QueueCounters, area: u64, ns: u64) -> Value {
    let sojourn = ratio(to.sojourn_ns - from.sojourn_ns, to.left - from.left);
    item(
        name,
        &[
            OCCUPANCY.of(ratio(area, ns)),
            DROP_PROBABILITY.of(ratio(to.dropped - from.dropped, to.offered - from.offered)),
            SOJOURN.of(sojourn.map(|ns| ns / 1e9)),
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

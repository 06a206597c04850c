//! Measures of the cell, its access point and its stations.

use super::fairness::jain;
use super::item::{Item, Value, probability, ratio, share};
use super::marks::aggregated;
use super::period::Period;
use super::snapshot::Snapshot;
use crate::bottleneck;
use crate::mac::NodeId;
use crate::quantities::*;
use crate::scenario::{Direction, Station};

impl Period<'_> {
    fn station_goodputs(&self, goodputs: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.world.scenario().stations.len()];
        for (flow, goodput) in self.world.scenario().flows.iter().zip(goodputs) {
            if let Some(station) = flow.station() {
                sums[station] += goodput;
            }
        }
        sums
    }

    pub(super) fn stations(&self, goodputs: &[f64], competing: &[bool]) -> Vec<Item> {
        let competing = self.competing_stations(competing);
        let first = competing.iter().position(|&competes| competes);
        let sums = self.station_goodputs(goodputs);
        let total: f64 = sums.iter().sum();
        let scenario = self.world.scenario();
        let (stations, bss) = (&scenario.stations, scenario.only_bss());
        let noisy = stations.iter().any(Station::has_errors);
        let level = |index: usize| {
            let first = first.filter(|_| competing[index])?;
            share(sums[first], sums[index])
        };
        (0..sums.len())
            .map(|index| {
                let own = sums[index];
                let mut values = vec![
                    GOODPUT.of(own),
                    GOODPUT_SHARE.of(share(own, total)),
                    FAIRNESS_LEVEL.of(level(index)),
                ];
                values.extend(self.bypass(index));
                values.extend(self.node(bss.roles.node_of(index)));
                if noisy {
                    values.extend(self.frames_to(index));
                }
                values.extend(self.aggregates_to(index).into_iter().flatten());
                Item::new(&stations[index].name, values)
            })
            .collect()
    }

    /// Returns the number of uplink datagrams of a station that bypassed the virtual shared
    /// bottleneck; `None` if the scenario has no virtual shared bottleneck.
    fn bypass(&self, station: usize) -> Option<Value> {
        let scenario = self.world.scenario();
        let settings = scenario.bottleneck.as_ref();
        settings?;
        let bypassing = bottleneck::bypassing(settings, &scenario.flows);
        let own = bypassing.filter(|&(_, of)| of == station);
        let passed = self.over(own.map(|(flow, _)| flow), |c| c.arrived);
        Some(BYPASS.of(passed as f64))
    }

    /// Returns measures of the frames from the access point to a station.
    fn frames_to(&self, station: usize) -> [Value; 2] {
        let (from, to) = (self.start.down[station], self.end.down[station]);
        let failed = to.failed - from.failed;
        let discarded = to.discarded - from.discarded;
        let delivered = to.delivered - from.delivered;
        [
            DOWNLINK_FAILURE_RATE.of(ratio(failed, to.attempts - from.attempts)),
            DOWNLINK_DISCARD_PROBABILITY.of(probability(discarded, delivered)),
        ]
    }

    /// Returns measures of the aggregates from the access point to a station, and the air time of
    /// data to and from the station; `None` if the cell does not aggregate.
    fn aggregates_to(&self, station: usize) -> Option<[Value; 3]> {
        let of = |snapshot: &Snapshot| snapshot.sent_to.get(station).copied();
        let sent = of(&self.end)?.since(of(self.start)?);
        let air_ns = self.end.air_ns[station] - self.start.air_ns[station];
        let [mpdus, reordering] = aggregated([DOWNLINK_MPDUS_PER_PPDU, DOWNLINK_REORDERING], sent);
        let airtime = AIRTIME_FRACTION.of(ratio(air_ns, self.length_ns()));
        Some([mpdus, reordering, airtime])
    }

    fn contenders_of(&self, node: NodeId) -> impl Iterator<Item = u32> {
        let cell = self.world.radio().cell().into_iter();
        cell.flat_map(move |cell| cell.medium().categories_of(node))
    }

    /// Returns measures of a node's medium access, computed over all access categories of the node.
    pub(super) fn node(&self, node: NodeId) -> Vec<Value> {
        self.marks().node(self.contenders_of(node))
    }

    pub(super) fn cells(&self, goodputs: &[f64], competing: &[bool]) -> Vec<Item> {
        let flows = &self.world.scenario().flows;
        let towards = |direction| -> f64 {
            let pairs = flows.iter().zip(goodputs);
            pairs
                .filter(|(flow, _)| flow.direction() == Some(direction))
                .map(|(_, goodput)| goodput)
                .sum()
        };
        let (up, down) = (towards(Direction::Up), towards(Direction::Down));
        let both = up > 0.0 && down > 0.0;
        let active = self.end.activity_ns.wrapping_sub(self.start.activity_ns);
        let values = [
            GOODPUT.of(up + down),
            ACTIVE_STATIONS.of(ratio(active, self.length_ns())),
            JAIN.of(self.jain(goodputs, competing)),
            UPDOWN_RATIO.of(both.then(|| up / down)),
            self.marks().busy(),
        ];
        vec![Item::new("cell", values)]
    }

    /// Returns Jain's index of the goodputs of the stations that compete for their share.
    fn jain(&self, goodputs: &[f64], competing: &[bool]) -> Option<f64> {
        let sums = self.station_goodputs(goodputs).into_iter();
        let pairs = sums.zip(self.competing_stations(competing));
        let own: Vec<f64> = pairs
            .filter(|&(_, competes)| competes)
            .map(|(sum, _)| sum)
            .collect();
        jain(&own)
    }
}

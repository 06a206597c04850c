//! What is measured of a queue that classes share.

use super::item::{Item, Value, jain, ratio};
use super::period::Period;
use crate::kernel::time::Time;
use crate::quantities::*;
use crate::queue::{HeadQueue, QueueCounters};

impl Period<'_> {
    /// How contender number `port` kept the target occupancy of its queue, if that has one.
    pub(super) fn keeping(&self, port: usize) -> Vec<Value> {
        let mut queues = self.world.radio().queues();
        let before = queues.by_ref().take(port);
        let place = before.filter(|queue| queue.sharing().is_some()).count();
        let Some(sharing) = queues.next().and_then(HeadQueue::sharing) else {
            return Vec::new();
        };
        let from = self.start.shared.deviations[place];
        let to = self.end.shared.deviations[place];
        let mean_square = (to.squared_ns - from.squared_ns) / self.length_ns() as f64;
        vec![
            OCCUPANCY_ERROR.of(libm::sqrt(mean_square)),
            EMPTY_FRACTION.of(ratio(to.empty_ns - from.empty_ns, self.length_ns())),
            SETTLING.of(sharing.settling().map(|span| span.seconds())),
        ]
    }

    /// The classes that share the access point's queue.
    pub(super) fn sharing(&self, goodputs: &[f64]) -> Vec<Item> {
        let classes = &self.world.scenario().cell.sharing_classes;
        let total: f64 = goodputs.iter().sum();
        let area = |class: usize| -> u64 {
            let pairs = self.start.shared.classes[class].iter();
            let pairs = pairs.zip(&self.end.shared.classes[class]);
            let at = |counters: &QueueCounters, at_ns| counters.occupancy_ns(Time(at_ns));
            pairs
                .map(|(from, to)| at(to, self.end.at_ns).wrapping_sub(at(from, self.start.at_ns)))
                .fold(0, u64::wrapping_add)
        };
        let areas: Vec<u64> = (0..classes.len()).map(area).collect();
        let whole: u64 = areas.iter().sum();
        let item = |(index, class): (usize, &crate::scenario::SharingClass)| {
            let own: Vec<f64> = class.flows.iter().map(|&k| goodputs[k as usize]).collect();
            let sum: f64 = own.iter().sum();
            let over = |count: fn(&QueueCounters) -> u64| -> u64 {
                let pairs = self.start.shared.classes[index].iter();
                let pairs = pairs.zip(&self.end.shared.classes[index]);
                pairs.map(|(from, to)| count(to) - count(from)).sum()
            };
            let drops = ratio(over(|c| c.dropped), over(|c| c.offered));
            Item {
                name: class.name.clone(),
                labels: Vec::new(),
                values: vec![
                    GOODPUT.of(sum),
                    GOODPUT_SHARE.of((total > 0.0).then(|| sum / total)),
                    TARGET_SHARE.of(class.target),
                    QUEUE_SHARE.of(ratio(areas[index], whole)),
                    OCCUPANCY.of(ratio(areas[index], self.length_ns())),
                    DROP_PROBABILITY.of(drops),
                    JAIN.of(jain(&own)),
                ],
            }
        };
        classes.iter().enumerate().map(item).collect()
    }
}

//! Measures of a queue with virtual buffer sharing.

use super::fairness::jain;
use super::item::{Item, Value, ratio, share};
use super::marks::QueueMark;
use super::period::Period;
use crate::quantities::*;
use crate::queue::HeadQueue;
use crate::scenario::SharingClass;

impl Period<'_> {
    /// Returns measures of the deviation of a queue from its target occupancy; an empty list if the
    /// queue has no target. `port` is the index of the queue. The contender (node or access
    /// category) that sends from the queue has the same index.
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

    /// Returns an item for each class of virtual buffer sharing.
    pub(super) fn sharing(&self, goodputs: &[f64], competing: &[bool]) -> Vec<Item> {
        let classes = &self.world.scenario().only_bss().cell.sharing_classes;
        let total: f64 = goodputs.iter().sum();
        let over = |class: usize, count: fn(&QueueMark) -> u64| -> u64 {
            let pairs = self.start.shared.classes[class].iter();
            let pairs = pairs.zip(&self.end.shared.classes[class]);
            let grown = pairs.map(|(from, to)| count(to).wrapping_sub(count(from)));
            grown.fold(0, u64::wrapping_add)
        };
        let area = |class: usize| over(class, |mark| mark.area);
        let total_area: u64 = (0..classes.len()).map(area).sum();
        let item = |(index, class): (usize, &SharingClass)| {
            let flows = || class.flows.iter().map(|&k| k as usize);
            let sum: f64 = flows().map(|k| goodputs[k]).sum();
            let own = flows().filter(|&k| competing[k]);
            let own: Vec<f64> = own.map(|k| goodputs[k]).collect();
            let dropped = over(index, |mark| mark.counters.dropped);
            let drops = ratio(dropped, over(index, QueueMark::judged));
            let values = [
                GOODPUT.of(sum),
                GOODPUT_SHARE.of(share(sum, total)),
                TARGET_SHARE.of(class.target),
                QUEUE_SHARE.of(ratio(area(index), total_area)),
                OCCUPANCY.of(ratio(area(index), self.length_ns())),
                DROP_PROBABILITY.of(drops),
                JAIN.of(jain(&own)),
            ];
            Item::new(&class.name, values)
        };
        classes.iter().enumerate().map(item).collect()
    }
}

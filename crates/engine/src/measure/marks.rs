//! Counters of the queues and of the medium at one time, and the increase of counters between two
//! times.

use super::item::{Item, Value, mean_s, probability, ratio};
use crate::bottleneck::Bottleneck;
use crate::cell::Cell;
use crate::kernel::time::Time;
use crate::mac::dcf::{AggregateCounters, NodeCounters};
use crate::quantities::*;
use crate::queue::{HeadQueue, QueueCounters};

/// Counters of a queue at one time.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueueMark {
    pub(super) counters: QueueCounters,
    /// Time integral of the queue length since the start of the run. [packets ns]
    pub(super) area: u64,
    /// Number of packets in the queue that the discipline may still drop or mark at their
    /// departure.
    pub(super) unjudged: u64,
}

impl QueueMark {
    /// Returns the counters at `now` of a queue whose discipline decides at arrivals.
    pub(super) fn on_arrival(counters: QueueCounters, now: Time) -> QueueMark {
        QueueMark {
            counters,
            area: counters.occupancy_ns(now),
            unjudged: 0,
        }
    }
}

/// Counters of the queues and of the medium at one time.
#[derive(Clone, Debug)]
pub struct Marks {
    pub(super) at: Time,
    pub(super) queues: Vec<QueueMark>,
    /// Transmission counters of the contender (node or access category) that sends the packets of
    /// each queue.
    pub(super) frames: Vec<NodeCounters>,
    /// Counters of the leaves of the virtual shared bottleneck.
    pub(super) leaves: Vec<QueueMark>,
    /// Counters of the packets that the access point buffers for each station with power save.
    pub(super) power_save: Vec<QueueMark>,
    /// Counters of the aggregates sent from each queue; an empty list if the cell does not
    /// aggregate.
    pub(super) sent: Vec<AggregateCounters>,
    /// Time for which the medium of the cell was busy. [ns]
    pub(super) busy_ns: u64,
    /// Number of replies to pings of the virtual shared bottleneck, and number of pings that were
    /// lost or whose replies were ignored.
    pub(super) pings: [u64; 2],
}

impl Marks {
    /// Adds the counters of buffered packets for stations with power save, and of the cell's
    /// aggregates.
    pub(super) fn with_cell(self, cell: &Cell) -> Marks {
        let counted = |(_, own): (&str, QueueCounters)| QueueMark::on_arrival(own, self.at);
        let sent = (0..self.queues.len()).filter_map(|number| cell.sent(number));
        Marks {
            power_save: cell.sleepers().map(counted).collect(),
            sent: sent.collect(),
            ..self
        }
    }

    pub(super) fn new<'a>(
        queues: impl Iterator<Item = (&'a HeadQueue, u64, NodeCounters)>,
        leaves: Vec<QueueCounters>,
        busy_ns: u64,
        at: Time,
    ) -> Marks {
        let counted = |(queue, unjudged, frames): (&HeadQueue, _, _)| {
            let mark = QueueMark {
                counters: queue.counters(),
                area: queue.occupancy_ns(at),
                unjudged,
            };
            (mark, frames)
        };
        let (queues, frames) = queues.map(counted).unzip();
        let leaves = leaves.into_iter();
        Marks {
            at,
            queues,
            frames,
            leaves: leaves.map(|leaf| QueueMark::on_arrival(leaf, at)).collect(),
            power_save: Vec::new(),
            sent: Vec::new(),
            pings: [0; 2],
            busy_ns,
        }
    }
}

/// Returns the mean number of MPDUs per PPDU, and the mean time for which the receiver's reordering
/// delayed packets.
pub(super) fn aggregated(
    [mpdus, reordering]: [Quantity; 2],
    sent: AggregateCounters,
) -> [Value; 2] {
    [
        mpdus.of(ratio(sent.mpdus, sent.ppdus)),
        reordering.of(mean_s(sent.waited_ns, sent.handed_up)),
    ]
}

/// The period between two times, with the counters at both times.
pub struct Between<'a> {
    /// Counters at the start of the period.
    pub start: &'a Marks,
    /// Counters at the end of the period.
    pub end: &'a Marks,
}

impl Between<'_> {
    /// Returns the length of the period. [ns]
    pub(super) fn length_ns(&self) -> u64 {
        self.end.at.since(self.start.at).0
    }

    /// Returns the item for leaf number `leaf` of the virtual shared bottleneck. `name` is the name
    /// of the item.
    pub fn leaf(&self, name: &str, leaf: usize) -> Item {
        self.queue_item(name, self.start.leaves[leaf], self.end.leaves[leaf])
    }

    /// Returns an item for each station with power save: measures of the packets that the access
    /// point has buffered for this station.
    pub fn power_save(&self, cell: &Cell) -> impl Iterator<Item = Item> {
        let pairs = self.start.power_save.iter().zip(&self.end.power_save);
        let items = cell.sleepers().zip(pairs);
        items.map(|((name, _), (&from, &to))| self.queue_item(name, from, to))
    }

    pub(super) fn queue_item(&self, name: &str, start: QueueMark, end: QueueMark) -> Item {
        let (from, to) = (start.counters, end.counters);
        let area = end.area.wrapping_sub(start.area);
        let values = [
            OCCUPANCY.of(ratio(area, self.length_ns())),
            DROP_PROBABILITY.of(end.drop_probability(&start)),
            SOJOURN.of(mean_s(to.sojourn_ns - from.sojourn_ns, to.left - from.left)),
        ];
        Item::new(name, values)
    }

    /// Returns measures of the aggregates that these contenders (nodes or access categories) have
    /// sent; an empty list if the cell does not aggregate.
    pub(super) fn sent_by(
        &self,
        contenders: impl Iterator<Item = u32>,
    ) -> Option<AggregateCounters> {
        let aggregates = contenders.filter_map(|contender| {
            let of = |marks: &Marks| marks.sent.get(contender as usize).copied();
            Some(of(self.end)?.since(of(self.start)?))
        });
        aggregates.reduce(AggregateCounters::with)
    }

    /// Returns measures of a node: of its medium access, and of the packets in its queues.
    /// `contenders` are the access categories of the node.
    pub fn node(&self, contenders: impl Iterator<Item = u32>) -> Vec<Value> {
        let contenders: Vec<u32> = contenders.collect();
        let aggregates = self.sent_by(contenders.iter().copied());
        let aggregates = aggregates.map(|sent| aggregated([MPDUS_PER_PPDU, REORDERING], sent));
        let queues = contenders.iter().map(|&contender| {
            let area = |marks: &Marks| marks.queues[contender as usize].area;
            area(self.end).wrapping_sub(area(self.start))
        });
        let queue = QUEUE.of(ratio(queues.sum(), self.length_ns()));
        let access = self.access(contenders.into_iter());
        let aggregates = aggregates.into_iter().flatten();
        access
            .into_iter()
            .chain(aggregates)
            .chain([queue])
            .collect()
    }

    /// Returns measures of the frames that these contenders (nodes or access categories) have sent.
    pub(super) fn access(&self, contenders: impl Iterator<Item = u32>) -> [Value; 3] {
        let mut sum = NodeCounters::default();
        for contender in contenders {
            let [from, to] = [self.start, self.end].map(|marks| marks.frames[contender as usize]);
            sum.attempts += to.attempts - from.attempts;
            sum.collided += to.collided - from.collided;
            sum.corrupted += to.corrupted - from.corrupted;
            sum.delivered += to.delivered - from.delivered;
            sum.discarded += to.discarded - from.discarded;
        }
        let failed = sum.collided + sum.corrupted;
        [
            COLLISION_RATE.of(ratio(sum.collided, sum.attempts)),
            FRAME_FAILURE_RATE.of(ratio(failed, sum.attempts)),
            DISCARD_PROBABILITY.of(probability(sum.discarded, sum.delivered)),
        ]
    }

    /// Returns the fraction of the period for which the medium of the cell was busy.
    pub fn busy(&self) -> Value {
        let busy_ns = self.end.busy_ns - self.start.busy_ns;
        BUSY_FRACTION.of(ratio(busy_ns, self.length_ns()))
    }

    /// Returns measures of the virtual shared bottleneck: of its rate and its pings.
    pub fn bottleneck(&self, bottleneck: &Bottleneck) -> [Value; 4] {
        let rtts = bottleneck.rtts();
        let [answered, lost] = [0, 1].map(|kind| self.end.pings[kind] - self.start.pings[kind]);
        [
            CAPACITY.of(bottleneck.mean_rate_bps(self.end.at)),
            PING_RTT.of(rtts.mean_s()),
            PING_RTT_P95.of(rtts.quantile_s(0.95)),
            PING_LOSS_PROBABILITY.of(probability(lost, answered)),
        ]
    }
}

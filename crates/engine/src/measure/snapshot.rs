//! All counters of a simulation at one time.

use super::marks::{Marks, QueueMark};
use super::tin_marks::LinkTins;
use crate::conflict::Drive;
use crate::kernel::time::Span;
use crate::link::Link;
use crate::mac::dcf::{AggregateCounters, DownCounters};
use crate::queue::{Deviation, HeadQueue, Waits};
use crate::world::{FlowCounters, User, WiredLink, World};

/// All counters of a simulation at one time.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    /// Counters of the queues in front of the radio channel, and of the leaves of the virtual
    /// shared bottleneck.
    pub(super) marks: Marks,
    pub(super) flows: Vec<FlowCounters>,
    /// Counters of the frames from the access point to each station.
    pub(super) down: Vec<DownCounters>,
    /// Counters of the aggregates from the access point to each station; an empty list if the cell
    /// does not aggregate.
    pub(super) sent_to: Vec<AggregateCounters>,
    /// Air time of PPDUs with data to or from each station; an empty list if the cell does not
    /// aggregate. [ns]
    pub(super) air_ns: Vec<u64>,
    /// For each link up to the last link that results contain, the counters of its queue, its used capacity and its total capacity
    /// (`LinkModel::used`). Capacities are in ns, or in bytes for a link with a trace.
    pub(super) links: Vec<(QueueMark, [u64; 2])>,
    /// For each of these links with CAKE, the counters of its tins.
    pub(super) tins: Vec<LinkTins>,
    /// Counters of the access point's queues with virtual buffer sharing.
    pub(super) shared: Shared,
    /// Sojourn times of datagrams in all queues.
    pub(super) waits: AllWaits,
    pub(super) on_air: OnAir,
    pub(super) activity_ns: u64,
}

impl Snapshot {
    /// Returns the time between the earlier snapshot `before` and this snapshot.
    pub(crate) fn since(&self, before: &Snapshot) -> Span {
        self.marks.at.since(before.marks.at)
    }

    pub(crate) fn take(world: &World<'_>) -> Snapshot {
        let now = world.now();
        let radio = world.radio();
        let queues = radio.queues().enumerate();
        let queues =
            queues.map(|(number, queue)| (queue, radio.unjudged(number), radio.frames(number)));
        let leaves = world.wires().bottleneck();
        let leaves = leaves.map_or_else(Vec::new, |wired| wired.link().leaves());
        let busy_ns = radio.cell().map_or(0, |cell| cell.medium().busy_ns_by(now));
        let stations = 0..world.scenario().stations.len();
        let cells = || radio.cell().into_iter();
        let of_stations = || cells().flat_map(|cell| stations.clone().map(move |s| (cell, s)));
        let flows = world.flows().states().iter();
        let links = world.wires().shown_links().iter().map(WiredLink::link);
        let counted = |link: &Link| {
            let mark = QueueMark {
                unjudged: link.unjudged(),
                ..QueueMark::on_arrival(link.counters(now), now)
            };
            (mark, link.used(now))
        };
        let marks = Marks {
            pings: world.flows().pings(),
            ..Marks::new(queues, leaves, busy_ns, now)
        };
        Snapshot {
            marks: match radio.cell() {
                Some(cell) => marks.with_cell(cell),
                None => marks,
            },
            flows: flows.map(|flow| flow.counters(now)).collect(),
            down: of_stations()
                .map(|(cell, s)| cell.down_counters(s))
                .collect(),
            sent_to: of_stations()
                .filter_map(|(cell, s)| cell.sent_to(s))
                .collect(),
            air_ns: of_stations()
                .filter_map(|(cell, s)| cell.air_ns(s, now))
                .collect(),
            links: links.map(counted).collect(),
            tins: LinkTins::take(world),
            shared: Shared::take(world),
            waits: AllWaits::take(world),
            on_air: OnAir::take(world),
            activity_ns: radio.cell().map_or(0, |cell| cell.activity_ns(now)),
        }
    }
}

/// Counters of the links and users of a CSMA network.
#[derive(Clone, Debug, Default)]
pub(super) struct OnAir {
    pub(super) links: Vec<LinkCounters>,
    pub(super) users: Vec<UserCounters>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LinkCounters {
    pub(super) air_ns: u64,
    pub(super) dummy_ns: u64,
    /// Time integral of the aggressiveness r of the link (its transmission rate in the model of
    /// paper 001). [ns]
    pub(super) r_ns: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct UserCounters {
    /// Time integral of the user's number of open connections. [ns]
    pub(super) connections_ns: u64,
    pub(super) opened: u64,
    pub(super) closed: u64,
}

impl OnAir {
    fn take(world: &World<'_>) -> OnAir {
        let (Some(conflict), Some(users)) = (world.radio().conflict(), world.users()) else {
            return OnAir::default();
        };
        let now = world.now();
        let link = |(index, drive): (u32, &Drive)| {
            let (air_ns, dummy_ns) = conflict.medium().air_ns(index, now);
            LinkCounters {
                air_ns,
                dummy_ns,
                r_ns: drive.integral_ns(now),
            }
        };
        let user = |user: &User| UserCounters {
            connections_ns: user.integral_ns(now),
            opened: user.totals().0,
            closed: user.totals().1,
        };
        OnAir {
            links: (0..).zip(conflict.drives()).map(link).collect(),
            users: users.each().iter().map(user).collect(),
        }
    }
}

/// Counters of the access point's queues with virtual buffer sharing, at one time.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// For each class, the counters of its packets in each queue.
    pub(super) classes: Vec<Vec<QueueMark>>,
    /// Deviation of the queue length from the target occupancy, for each queue.
    pub(super) deviations: Vec<Deviation>,
}

impl Shared {
    fn take(world: &World<'_>) -> Shared {
        let shared = world.radio().queues().filter_map(HeadQueue::sharing);
        let mut classes = vec![Vec::new(); world.scenario().only_bss().cell.sharing_classes.len()];
        for sharing in shared.clone() {
            for (own, &counters) in classes.iter_mut().zip(sharing.counters()) {
                own.push(QueueMark::on_arrival(counters, world.now()));
            }
        }
        Shared {
            classes,
            deviations: shared
                .map(|sharing| sharing.deviation(world.now()))
                .collect(),
        }
    }
}

/// Sojourn times of datagrams in all queues up to one time. For links of type `Pipe`, the values
/// are empty, because these links record sojourn times in the measured period only.
#[derive(Clone, Debug)]
pub(super) struct AllWaits {
    pub(super) radio: Vec<Waits>,
    /// Times in the links up to the last link that results contain.
    pub(super) links: Vec<Waits>,
    /// Times for which the access point has buffered packets for each station; `None` if the
    /// station has no power save.
    pub(super) power_save: Vec<Option<Waits>>,
}

impl AllWaits {
    fn take(world: &World<'_>) -> AllWaits {
        let links = world.wires().shown_links().iter().map(WiredLink::link);
        let counted = |link: &Link| match link {
            Link::Host(_) | Link::Pipe(_) => Waits::default(),
            Link::Served(_) | Link::Traced(_) => link.waits().cloned().unwrap_or_default(),
        };
        let cell = world.radio().cell();
        let stations = 0..world.scenario().stations.len();
        let asleep = |station| Some(cell?.power_save_of(station)?.1.clone());
        let radio = world.radio().queues();
        AllWaits {
            radio: radio.map(|queue| queue.waits().clone()).collect(),
            links: links.map(counted).collect(),
            power_save: stations.map(asleep).collect(),
        }
    }
}

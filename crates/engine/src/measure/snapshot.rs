//! All counters at one instant, read from a world by its methods.

use crate::conflict::Drive;
use crate::mac::dcf::{DownCounters, NodeCounters};
use crate::queue::{Deviation, HeadQueue, QueueCounters};
use crate::world::{FlowCounters, User, WiredLink, World};

/// Counters at one instant.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    pub(super) at_ns: u64,
    pub(super) flows: Vec<FlowCounters>,
    pub(super) queues: Vec<(QueueCounters, u64)>,
    pub(super) contenders: Vec<NodeCounters>,
    /// The access point's frames to each station.
    pub(super) down: Vec<DownCounters>,
    /// What the queue of each link counts, and the time the link was busy. [ns]
    pub(super) links: Vec<(QueueCounters, u64)>,
    /// Leaves of the virtual shared bottleneck.
    pub(super) leaves: Vec<QueueCounters>,
    /// The access point's queues that classes share.
    pub(super) shared: Shared,
    pub(super) on_air: OnAir,
    pub(super) busy_ns: u64,
    pub(super) activity_ns: u64,
}

impl Snapshot {
    pub(crate) fn take(world: &World<'_>) -> Snapshot {
        let now = world.now();
        let links = world.wires().links().iter().map(WiredLink::link);
        Snapshot {
            at_ns: now.0,
            flows: world
                .flows()
                .states()
                .iter()
                .map(|flow| flow.counters(now))
                .collect(),
            queues: (world.radio().queues())
                .map(|queue| (queue.counters(), queue.occupancy_ns(now)))
                .collect(),
            contenders: (0..world.radio().queues().count())
                .map(|number| world.radio().frames(number))
                .collect(),
            down: (world.radio().cell().into_iter())
                .flat_map(|cell| {
                    let stations = 0..world.scenario().stations.len();
                    stations.map(|station| cell.medium().down_counters(station))
                })
                .collect(),
            links: links
                .map(|link| (link.counters(now), link.busy_ns(now)))
                .collect(),
            leaves: (world.wires().bottleneck())
                .map_or_else(Vec::new, |wired| wired.link().leaves()),
            shared: Shared::take(world),
            on_air: OnAir::take(world),
            busy_ns: world
                .radio()
                .cell()
                .map_or(0, |cell| cell.medium().busy_ns()),
            activity_ns: world.radio().cell().map_or(0, |cell| cell.activity_ns(now)),
        }
    }
}

/// Counters beside those of flows, queues and frames.
#[derive(Clone, Debug, Default)]
pub(super) struct OnAir {
    pub(super) links: Vec<LinkCounters>,
    pub(super) users: Vec<UserCounters>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct LinkCounters {
    pub(super) air_ns: u64,
    pub(super) dummy_ns: u64,
    /// Time integral of r. [ns]
    pub(super) r_ns: f64,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct UserCounters {
    /// Time integral of the number of open connections. [ns]
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
            users: users.iter().map(user).collect(),
        }
    }
}

/// Totals at one instant of the access point's queues that classes share.
#[derive(Clone, Debug)]
pub(super) struct Shared {
    /// Counters of each class, over the queues.
    pub(super) classes: Vec<Vec<QueueCounters>>,
    /// How far each queue was off its target.
    pub(super) deviations: Vec<Deviation>,
}

impl Shared {
    fn take(world: &World<'_>) -> Shared {
        let shared = world.radio().queues().filter_map(HeadQueue::sharing);
        let mut classes = vec![Vec::new(); world.scenario().cell.sharing_classes.len()];
        for sharing in shared.clone() {
            for (own, &counters) in classes.iter_mut().zip(sharing.counters()) {
                own.push(counters);
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

//! Counters of the tins of links with CAKE at one time.

use super::marks::QueueMark;
use crate::world::{WiredLink, World};

/// Counters of the tins of one link at one time, by the number of the tin.
#[derive(Clone, Debug)]
pub(super) struct LinkTins {
    /// Number of the link.
    pub(super) link: usize,
    pub(super) tins: Vec<TinMark>,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct TinMark {
    pub(super) name: &'static str,
    pub(super) packets: QueueMark,
    pub(super) filtered: u64,
    /// Time integrals of the numbers of sparse flows and bulk flows. [flows ns]
    pub(super) areas: [u64; 2],
}

impl LinkTins {
    pub(super) fn take(world: &World<'_>) -> Vec<LinkTins> {
        let now = world.now();
        let links = world.wires().shown_links().iter().map(WiredLink::link);
        let tins = links.enumerate().filter_map(|(link, own)| {
            let tins = own.tins();
            let tins = tins.iter().map(|tin| TinMark {
                name: tin.name,
                packets: QueueMark {
                    unjudged: tin.waiting,
                    ..QueueMark::on_arrival(tin.packets, now)
                },
                filtered: tin.filtered,
                areas: tin.areas(now),
            });
            let tins: Vec<TinMark> = tins.collect();
            (!tins.is_empty()).then_some(LinkTins { link, tins })
        });
        tins.collect()
    }
}

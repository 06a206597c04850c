//! Measures of the tins of links with CAKE.

use super::item::{Item, ratio};
use super::marks::QueueMark;
use super::period::Period;
use crate::quantities::*;
use crate::world::{WiredLink, World};

/// Counters of the tins of one link at one time, by the number of the tin.
#[derive(Clone, Debug)]
pub(super) struct LinkTins {
    /// Number of the link.
    link: usize,
    tins: Vec<TinMark>,
}

#[derive(Clone, Copy, Debug)]
struct TinMark {
    name: &'static str,
    packets: QueueMark,
    filtered: u64,
    /// Time integrals of the numbers of sparse flows and bulk flows. [flows ns]
    areas: [u64; 2],
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

impl Period<'_> {
    /// Returns an item for each tin of the links with CAKE, whose name is that of the link and of
    /// the tin.
    pub(super) fn tins(&self) -> Vec<Item> {
        let pairs = self.start.tins.iter().zip(&self.end.tins);
        let items = pairs.flat_map(|(start, end)| {
            let link = self.world.wires().links()[end.link].name();
            let marks = start.tins.iter().zip(&end.tins);
            marks.map(move |(from, to)| {
                let name = format!("{link}/{}", to.name);
                let mut item = self.queue_item(&name, true, from.packets, to.packets);
                let filtered = to.filtered - from.filtered;
                item.values.push(ACKS_FILTERED.of(filtered as f64));
                for (k, quantity) in [SPARSE_FLOWS, BULK_FLOWS].into_iter().enumerate() {
                    let area = to.areas[k] - from.areas[k];
                    item.values.push(quantity.of(ratio(area, self.length_ns())));
                }
                item
            })
        });
        items.collect()
    }
}

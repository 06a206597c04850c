//! Measures of the tins of links with CAKE.

use super::item::{Item, ratio};
use super::period::Period;
use crate::quantities::*;

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

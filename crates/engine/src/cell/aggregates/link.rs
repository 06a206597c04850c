//! The way from a contender to a receiver, with its window.

use crate::mac::block_ack::{Terms, Window};
use crate::mac::dcf::{AP, AggregateCounters, Dcf};
use crate::mac::way::Way;
use crate::mac::{self, Aggregation, Station};

/// The way from a contender to a receiver.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) way: Way,
    pub(super) window: Window,
    pub(super) terms: Aggregation,
    pub(super) counters: AggregateCounters,
}

impl Link {
    pub(super) fn new(
        cell: &mac::Cell,
        stations: &[Station],
        medium: &Dcf,
        contender: u32,
        to: u32,
    ) -> Link {
        let from = medium.node(contender);
        let station = &stations[from.max(to) as usize - 1];
        let category = medium.category(contender);
        let of = |node: u32| match node {
            AP => cell.ap.aggregation(category),
            _ => station.node.aggregation(category),
        };
        let generation = station.modulation.map(|one| one.generation);
        let terms = of(from).with(generation);
        let limit = access_of(cell, stations, medium, contender).txop_limit;
        let way = Way::new(cell, stations, (from, to), &terms, limit, &station.channel);
        Link {
            way,
            window: Window::new(Terms {
                window: terms.mpdus,
                attempts: terms.attempts,
                reorder_timeout: of(to).reorder_timeout,
                agreed: terms.mpdus > 1,
            }),
            terms,
            counters: AggregateCounters::default(),
        }
    }
}

/// Access parameters of a contender.
pub(super) fn access_of<'a>(
    cell: &'a mac::Cell,
    stations: &'a [Station],
    medium: &Dcf,
    contender: u32,
) -> &'a mac::Access {
    let node = match medium.node(contender) {
        AP => &cell.ap,
        station => &stations[station as usize - 1].node,
    };
    node.access(medium.category(contender))
}

/// The receiver of a lane of a contender of `node`.
pub(super) fn receiver(node: u32, lane: u32) -> u32 {
    match node {
        AP => lane + 1,
        _ => AP,
    }
}

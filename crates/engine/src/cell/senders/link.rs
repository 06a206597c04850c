//! The link from a contender to a receiver, with its block acknowledgement.

use crate::kernel::streams::Stream;
use crate::mac::block_ack::{BlockAckParameters, BlockAckWindow};
use crate::mac::dcf::{AP, AggregateCounters, Dcf};
use crate::mac::link_rates::LinkRates;
use crate::mac::numbering::{node_of, station_of, station_of_link};
use crate::mac::tx_timing::TxTiming;
use crate::mac::{self, Aggregation, Station};

/// The link from a contender to a receiver.
#[derive(Clone, Debug)]
pub(in crate::cell) struct Link {
    pub(in crate::cell) rates: LinkRates<TxTiming>,
    pub(super) window: BlockAckWindow,
    pub(super) aggregation: Aggregation,
    pub(super) counters: AggregateCounters,
}

impl Link {
    pub(super) fn new(
        cell: &mac::Cell,
        stations: &[Station],
        medium: &Dcf,
        contender: u32,
        to: u32,
        stream: &mut Stream,
    ) -> Link {
        let from = medium.node(contender);
        let station = &stations[station_of_link(from, to)];
        let category = medium.category(contender);
        let of = |node: u32| match node {
            AP => cell.ap.aggregation(category),
            _ => station.node.aggregation(category),
        };
        let generation = station.modulation.map(|modulation| modulation.generation);
        let aggregation = of(from).with(generation);
        let limit = access_of(cell, stations, medium, contender).txop_limit;
        let ends = (from, to);
        let rates = LinkRates::of_ppdus(cell, stations, ends, &aggregation, limit, stream);
        Link {
            rates,
            window: BlockAckWindow::new(BlockAckParameters {
                window: aggregation.mpdus,
                attempts: aggregation.attempts,
                reorder_timeout: of(to).reorder_timeout,
                agreed: aggregation.mpdus > 1,
            }),
            aggregation,
            counters: AggregateCounters::default(),
        }
    }
}

/// Returns the access parameters of a contender.
pub(super) fn access_of<'a>(
    cell: &'a mac::Cell,
    stations: &'a [Station],
    medium: &Dcf,
    contender: u32,
) -> &'a mac::Access {
    let node = match station_of(medium.node(contender)) {
        None => &cell.ap,
        Some(station) => &stations[station].node,
    };
    node.access(medium.category(contender))
}

/// Returns the receiver of a txq of a contender of `node`.
pub(super) fn receiver(node: u32, txq: u32) -> u32 {
    match node {
        AP => node_of(txq as usize),
        _ => AP,
    }
}

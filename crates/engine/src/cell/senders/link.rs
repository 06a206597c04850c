//! The link from a contender to a receiver, with its block acknowledgement.

use crate::cell::Hotspot;
use crate::kernel::streams::Stream;
use crate::mac::Aggregation;
use crate::mac::block_ack::{BlockAckParameters, BlockAckWindow};
use crate::mac::bss::NodeId;
use crate::mac::dcf::{AggregateCounters, Dcf};
use crate::mac::link_rates::LinkRates;
use crate::mac::tx_timing::TxTiming;
use crate::packet::Direction;

/// The link from a contender to a receiver.
#[derive(Clone, Debug)]
pub(in crate::cell) struct Link {
    /// Node that receives the packets of the link.
    pub(super) to: NodeId,
    pub(in crate::cell) rates: LinkRates<TxTiming>,
    pub(super) window: BlockAckWindow,
    pub(super) aggregation: Aggregation,
    pub(super) counters: AggregateCounters,
}

impl Link {
    pub(super) fn new(
        hotspot: Hotspot,
        medium: &Dcf,
        contender: u32,
        to: NodeId,
        stream: &mut Stream,
    ) -> Link {
        let Hotspot { bss, stations, .. } = hotspot;
        let from = medium.node(contender);
        let (station, direction) = match bss.roles.station_of(from) {
            None => (&stations[bss.roles.index_of(to)], Direction::Down),
            Some(station) => (&stations[station], Direction::Up),
        };
        let category = medium.category(contender);
        let of = |node| hotspot.node(node).aggregation(category);
        let generation = station.modulation.map(|modulation| modulation.generation);
        let aggregation = of(from).with(generation);
        let limit = hotspot.node(from).access(category).txop_limit;
        let link = (station, direction);
        let rates = LinkRates::of_ppdus(&bss.cell, link, &aggregation, limit, stream);
        Link {
            to,
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

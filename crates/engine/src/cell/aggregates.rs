//! Exchanges with aggregates, and the counters of a cell that depend on the contents of exchanges.
//! The contents are chosen when an exchange begins.

use super::Transmission;
use super::pull_qdisc::PullQdisc;
use super::senders::Senders;
use crate::kernel::time::Time;
use crate::mac::Phy;
use crate::mac::dcf::{
    Contender, DownCounters, FrameExchange, MinimumExchange, NodeCounters, SingleFrame, TxStatus,
};
use crate::queue::{HeadQueue, TxQueues};

/// State of a cell whose exchanges carry aggregates.
#[derive(Clone, Debug)]
pub struct Aggregating {
    pub(super) senders: Senders,
    /// Packets that wait in front of the devices, in the pull qdisc; `None` if the cell has no pull
    /// qdisc, so that packets wait only in the devices.
    pub(super) pull_qdisc: Option<Box<PullQdisc>>,
    /// Contents of the exchange that began last; `None` if contents are not recorded.
    pub(super) transmissions: Option<Vec<Transmission>>,
    /// Whether the receiver has received any data of the exchange that ends.
    pub(super) received: bool,
}

impl FrameExchange for Aggregating {
    type Next = MinimumExchange;

    const FORMED_AT_START: bool = true;

    #[inline]
    fn load(&mut self, _now: Time, contender: &mut Contender, next: MinimumExchange, _phy: &Phy) {
        contender.declare(next);
    }

    #[inline]
    fn is_received(&mut self, _: &mut Contender) -> bool {
        self.received
    }

    fn on_tx_status(&mut self, _: Time, _: &mut Contender, _: TxStatus, _: &Phy) {}

    fn on_discard(&mut self, _: &Contender) {}
}

/// Returns the transmit queues (txqs, as in mac80211) of a contender. Every contender of a cell
/// that aggregates has transmit queues.
#[inline(always)]
pub(super) fn txqs(queue: &mut HeadQueue) -> Option<&mut TxQueues> {
    match queue {
        HeadQueue::TxQueues(txqs) => Some(txqs),
        HeadQueue::Scheduled(_) | HeadQueue::Fifo(_) => None,
    }
}

/// Counters of a cell that depend on the contents of exchanges.
pub trait ExchangeCounters {
    /// Returns the frame counters of the contender with queue `number`. `of_medium` contains the
    /// counters of this contender that the medium has counted.
    fn frames(&self, _number: u32, of_medium: NodeCounters) -> NodeCounters {
        of_medium
    }

    /// Returns the counters of the frames, or MPDUs, from the access point to the station with
    /// index `station`, counted from 0.
    fn down_counters(&self, station: usize) -> DownCounters;

    /// Returns the state of the exchanges with aggregates; `None` in a cell of single frames.
    fn aggregates(&self) -> Option<&Aggregating> {
        None
    }
}

impl ExchangeCounters for SingleFrame {
    fn down_counters(&self, station: usize) -> DownCounters {
        self.down(station)
    }
}

impl ExchangeCounters for Aggregating {
    fn frames(&self, number: u32, of_medium: NodeCounters) -> NodeCounters {
        self.senders.counters(number, of_medium)
    }

    fn down_counters(&self, station: usize) -> DownCounters {
        self.senders.down[station]
    }

    fn aggregates(&self) -> Option<&Aggregating> {
        Some(self)
    }
}

//! The two kinds of a cell: its exchanges carry single frames, or aggregates.

use super::aggregating::Aggregating;
use super::{Cell, OffAir};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::mac::dcf::{DownCounters, FrameExchange, NodeCounters, Outcome};
use crate::packet::Packet;
use crate::queue::{Greedy, QueueSetting};

/// An observer of exchanges that have ended, their frames still in their queues.
pub type OnExchange<'a> = dyn FnMut(&Cell, Outcome) + 'a;

/// The steps of a cell that depend on the contents of its exchanges.
pub trait CellExchange: FrameExchange + ExchangeCounters {
    /// Puts `packet` into queue `number`; returns false if it is refused.
    fn enqueue(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool;

    /// Puts `packet` into queue `number` of a cell with stations that sleep or with a pull qdisc;
    /// returns false if it is refused.
    fn enqueue_guarded(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool;

    /// Lets greedy sources begin to fill queue `number`.
    fn fill(cell: &mut Cell<Self>, now: Time, number: u32, sources: &mut impl Greedy);

    /// Does what is due at the deadline, `now`. Writes the packet that has been received, if there
    /// is only one, to `packet`.
    fn advance(
        cell: &mut Cell<Self>,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir;

    /// Returns whether the access point has a packet in its queues or in service for a station that
    /// sleeps, the number of which is `sleeper`.
    fn has_for(cell: &Cell<Self>, sleeper: usize) -> bool;

    /// Lets receivers stop waiting for missing MPDUs if they have waited long enough at `now`.
    fn time_out(cell: &mut Cell<Self>, now: Time);

    /// Sets the channel of station number `station`, counted from 0, at `now`.
    fn set_channel(cell: &mut Cell<Self>, now: Time, station: usize, channel: &Channel);

    /// Changes the discipline of `contender` of `node` to `to`, if packets wait under it in front
    /// of the device. Returns whether they do.
    fn change_qdisc(&mut self, contender: u32, node: NodeId, to: &QueueSetting) -> bool;
}

/// Counters that depend on the contents of exchanges.
pub trait ExchangeCounters {
    /// Returns the counters of queue `number`, given those of the medium.
    fn frames(&self, number: u32, of_medium: NodeCounters) -> NodeCounters;

    /// Returns the counters of the access point's frames, or MPDUs, to station number `station`,
    /// counted from 0.
    fn down_counters(&self, station: usize) -> DownCounters;

    /// Returns the aggregates, if exchanges carry them.
    fn aggregates(&self) -> Option<&Aggregating>;
}

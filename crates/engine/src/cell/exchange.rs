//! The steps of a cell, and the part of them that depends on the contents of its exchanges.

use super::{Cell, ExchangeCounters, Hotspot, OffAir};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::mac::dcf::{FrameExchange, Outcome};
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
    fn time_out(_cell: &mut Cell<Self>, _now: Time) {}

    /// Sets the channel of station number `station`, counted from 0, at `now`.
    fn set_channel(cell: &mut Cell<Self>, now: Time, station: usize, channel: &Channel);

    /// Changes the discipline of `contender` of `node` to `to`, if packets wait under it in front
    /// of the device. Returns whether they do.
    fn change_qdisc(&mut self, _contender: u32, _node: NodeId, _to: &QueueSetting) -> bool {
        false
    }
}

impl<X: CellExchange> Cell<X> {
    /// Returns when [`Cell::advance`] must be called next.
    #[inline]
    pub fn deadline(&mut self) -> Time {
        self.medium.deadline(&self.exchange).min(self.timer)
    }

    /// Offers `packet` to queue `number`; returns false if it is refused. Other packets that are
    /// lost are fetched with [`Cell::take_lost`].
    #[inline]
    pub fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        if self.guarded {
            return self.offer_or_keep(now, number, packet);
        }
        X::enqueue(self, now, number, packet)
    }

    /// Lets greedy sources begin to fill queue `number`.
    pub fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        self.ports[number as usize].greedy = true;
        X::fill(self, now, number, sources);
    }

    /// Does what is due at the deadline, `now`. Writes the packet that has been received, if there
    /// is only one, to `packet`. An exchange ends before a beacon of the same instant. `watch` sees
    /// each exchange when it has ended.
    #[inline(always)]
    pub fn advance(
        &mut self,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        X::advance(self, now, sources, watch, packet)
    }

    /// Sets the channel of station number `station`, counted from 0, at `now`.
    pub fn set_channel(&mut self, now: Time, station: usize, channel: &Channel) {
        X::set_channel(self, now, station, channel);
    }

    /// Applies the differences between two hot-spots in windows, opportunities and queues from
    /// `now` on, as far as they may change.
    #[cold]
    #[inline(never)]
    pub fn change(&mut self, now: Time, [from, to]: [Hotspot; 2]) {
        for (contender, port) in (0..).zip(&mut self.ports) {
            let [before, after] = [from, to].map(|hotspot| hotspot.node(port.node));
            let category = self.medium.category(contender);
            if before.access(category) != after.access(category) {
                let access = after.access(category);
                self.medium
                    .set_access(now, contender, access, &self.exchange);
            }
            if before.queue != after.queue
                && !self
                    .exchange
                    .change_qdisc(contender, port.node, &after.queue)
            {
                port.queue.change(now, &after.queue);
            }
        }
    }
}

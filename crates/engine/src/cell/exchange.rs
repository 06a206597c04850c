//! Operations of a cell, such as to enqueue a packet and to handle the next event. The trait
//! [`CellExchange`] has the operations that depend on the contents of exchanges.

use super::{Cell, ExchangeCounters, Hotspot, OffAir};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::mac::dcf::{FrameExchange, Outcome};
use crate::packet::Packet;
use crate::queue::{Greedy, QueueSetting};

/// Function that is called with the cell and the outcome whenever an exchange has ended. The frames
/// of the exchange are still in their queues.
pub type OnExchange<'a> = dyn FnMut(&Cell, Outcome) + 'a;

/// Operations of a cell that depend on the contents of exchanges.
pub trait CellExchange: FrameExchange + ExchangeCounters {
    /// Enqueues `packet` in queue `number`. Returns false if the queue refuses the packet.
    fn enqueue(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool;

    /// Enqueues `packet` in queue `number` of a cell with stations that sleep, or with a pull
    /// qdisc. Returns false if the queue refuses the packet.
    fn enqueue_guarded(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool;

    /// Makes greedy sources fill queue `number` from `now` on.
    fn fill(cell: &mut Cell<Self>, now: Time, number: u32, sources: &mut impl Greedy);

    /// Handles the event at the deadline, `now`. If exactly one packet has been received, writes
    /// the packet to `packet`.
    fn advance(
        cell: &mut Cell<Self>,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir;

    /// Returns whether the access point has a packet for a station that sleeps, in a queue or on
    /// the air. `sleeper` is the index of the station among the stations that sleep.
    fn has_for(cell: &Cell<Self>, sleeper: usize) -> bool;

    /// Makes receivers stop waiting for missing MPDUs whose timeout has passed at `now`.
    fn time_out(_cell: &mut Cell<Self>, _now: Time) {}

    /// Sets the channel of the station with index `station`, counted from 0, at `now`.
    fn set_channel(cell: &mut Cell<Self>, now: Time, station: usize, channel: &Channel);

    /// Changes the queue discipline of `contender` of `node` to `to`, if the packets of the
    /// contender wait in a pull qdisc. Returns whether the packets wait there.
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

    /// Offers `packet` to queue `number`. Returns false if the packet is refused. The offer may
    /// cause losses of other packets, which [`Cell::take_lost`] returns.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        if self.guarded {
            return self.offer_or_keep(now, number, packet);
        }
        X::enqueue(self, now, number, packet)
    }

    /// Makes greedy sources fill queue `number` from `now` on.
    pub fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        self.ports[number as usize].greedy = true;
        X::fill(self, now, number, sources);
    }

    /// Handles the event at the deadline, `now`. If exactly one packet has been received, writes
    /// the packet to `packet`. If an exchange ends at the time of a beacon, the end of the exchange
    /// is handled before the beacon. `watch` is called for each exchange when it has ended.
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

    /// Sets the channel of the station with index `station`, counted from 0, at `now`.
    pub fn set_channel(&mut self, now: Time, station: usize, channel: &Channel) {
        X::set_channel(self, now, station, channel);
    }

    /// Changes the settings of the cell from the hot-spot `from` to the hot-spot `to` at `now`.
    /// Only contention windows, TXOP limits and queues can change, and only in the ways that are
    /// possible during a run.
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

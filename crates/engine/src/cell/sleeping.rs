//! Operations of a cell with stations that sleep.

use super::power_save::Kept;
use super::{Cell, CellExchange, OffAir};
use crate::kernel::time::{Span, Time};
use crate::mac::NodeId;
use crate::packet::Packet;
use crate::queue::{QueueCounters, Waits};

impl<X: CellExchange> Cell<X> {
    /// Offers `packet` to queue `number` of a cell that has stations that sleep, or a pull qdisc.
    /// Returns false if the packet is refused.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_or_keep(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let is_down = self.ports[number as usize].node == self.ap;
        let sleeper = self.sleeper(self.station_of(packet));
        let sleeper = sleeper.filter(|&sleeper| is_down && !self.is_awake(now, sleeper));
        let (Some(sleeper), Some(own)) = (sleeper, &mut self.power_save) else {
            return X::enqueue_guarded(self, now, number, packet);
        };
        self.beacon = self.beacon.min(own.beacon_after(now));
        self.timer = self.timer.min(self.beacon);
        self.lost.extend(own.keep(now, sleeper, number, *packet));
        true
    }

    /// Handles the timers that are due at the deadline, `now`. At a beacon, the access point
    /// releases the packets that it keeps. At the timeout of a missing MPDU, a receiver hands up
    /// the packets that it stores. Returns whether a timer was due. If no timer was due, an
    /// exchange begins or ends at `now`.
    #[inline(always)]
    pub fn timer(&mut self, now: Time) -> bool {
        self.timer <= now && self.expire(now)
    }

    #[cold]
    #[inline(never)]
    fn expire(&mut self, now: Time) -> bool {
        if self.medium.is_due(now) {
            return false;
        }
        if self.beacon <= now {
            self.send_beacon(now);
        }
        X::time_out(self, now);
        true
    }

    fn send_beacon(&mut self, now: Time) {
        self.beacon = Time::NEVER;
        self.timer = Time::NEVER;
        let packets = (self.power_save.as_mut()).map(|own| own.take_all(now));
        self.release(now, packets.into_iter().flatten());
    }

    fn release(&mut self, now: Time, packets: impl IntoIterator<Item = Kept>) {
        for Kept { queue, packet, .. } in packets {
            if !X::enqueue_guarded(self, now, queue, &packet) {
                self.lost.push(packet);
            }
        }
    }

    /// Wakes the station of `packet` and releases the packets that are kept for this station.
    /// `packet` has been received by the node `off`, in a frame whose MAC ACK ends at `done`.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&mut self, now: Time, done: Time, off: OffAir, packet: &Packet) {
        let sleeper = self.sleeper(self.station_of(packet));
        let (Some(sleeper), Some(own)) = (sleeper, &mut self.power_save) else {
            return;
        };
        let station = &mut own.sleepers[sleeper];
        if off == OffAir::AtAccessPoint && station.awake == Span::ZERO {
            return; // the station continues to sleep
        }
        station.until = done + station.awake;
        let packets = station.take(now);
        self.release(now, packets);
    }

    fn is_awake(&self, now: Time, sleeper: usize) -> bool {
        let Some(own) = &self.power_save else {
            return true;
        };
        let station = &own.sleepers[sleeper];
        let has_packet = X::has_for(self, sleeper);
        debug_assert_eq!(
            has_packet,
            self.is_found(station.node),
            "for {:?}",
            station.node
        );
        station.packets.is_empty() && (now < station.until || has_packet)
    }

    /// Returns whether the access point has a packet for `node`, by a search of all packets of the
    /// access point. Only a debug assertion uses this slow method.
    fn is_found(&self, node: NodeId) -> bool {
        self.queues_of_access_point().any(|queue| {
            let waiting = self.ports[queue as usize].queue.packets();
            let mut packets = waiting.chain(self.in_service(queue as usize));
            packets.any(|packet| self.stations[packet.flow as usize] == node)
        })
    }
}

impl<X: ?Sized> Cell<X> {
    /// Decreases the number of packets for a sleeper after `packet` has left queue `number`, in a
    /// cell of single frames.
    #[cold]
    #[inline(never)]
    pub(super) fn uncount(&mut self, number: u32, packet: &Packet) {
        if let Some(waiting) = self.waiting_like(number, packet) {
            *waiting -= 1;
        }
    }

    /// Returns the counter of the packets that wait in the queues of the access point for the same
    /// station as `packet`. `None`: this station never sleeps, or queue `number` does not belong to
    /// the access point.
    pub(super) fn waiting_like(&mut self, number: u32, packet: &Packet) -> Option<&mut u32> {
        let sleeper = self.sleeper(self.station_of(packet))?;
        let own = self
            .power_save
            .as_mut()
            .filter(|_| self.ports[number as usize].node == self.ap)?;
        Some(&mut own.sleepers[sleeper].waiting)
    }

    fn sleeper(&self, node: NodeId) -> Option<usize> {
        let own = self.power_save.as_ref()?;
        own.of_station[self.roles.station_of(node)?]
    }

    /// Returns the index of a station, counted from 0. `sleeper` is the index of the station among
    /// the stations that sleep.
    pub(super) fn station_of_sleeper(&self, sleeper: usize) -> Option<u32> {
        let own = self.power_save.as_ref()?;
        Some(self.roles.index_of(own.sleepers[sleeper].node) as u32)
    }

    pub(super) fn queues_of_access_point(&self) -> impl Iterator<Item = u32> {
        self.medium.categories_of(self.ap)
    }

    /// Returns all packets that are kept for stations that sleep.
    pub fn power_save_packets(&self) -> impl Iterator<Item = &Packet> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.flat_map(|sleeper| sleeper.packets.iter().map(|own| &own.packet))
    }

    /// Returns the name in results, and the counters, of each station that sleeps.
    pub fn sleepers(&self) -> impl Iterator<Item = (&str, QueueCounters)> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.map(|sleeper| (&*sleeper.name, sleeper.counters))
    }

    /// Returns the name of a station in results and the times for which its datagrams were kept;
    /// `None` if the station never sleeps. `station` is the index of the station, counted from 0.
    pub fn power_save_of(&self, station: usize) -> Option<(&str, &Waits)> {
        let own = self.power_save.as_ref()?;
        let sleeper = &own.sleepers[own.of_station[station]?];
        Some((&*sleeper.name, &sleeper.waits))
    }
}

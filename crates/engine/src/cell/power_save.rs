//! Packets that the access point keeps for stations that sleep (IEEE 802.11-2016, 11.2.3).
//!
//! ```text
//!                 station sleeps                    beacon, or a frame of the station
//!   packet for it --------------> kept, in order of ---------------------------------> AP's queue
//!         |                       arrival; the oldest                                      ^
//!         |                       is lost if it is full                                    |
//!         +------------------------- station is awake -------------------------------------+
//! ```
//!
//! A station is awake
//!
//! - while the access point's queues have a packet for it: each frame announces more (More Data);
//! - for a time after its last frame in either direction, if [`Station::power_save`] sets this
//!   time, as Linux stays in active mode for its `dynamic_ps_timeout` of 100 ms. The access point
//!   learns from the station's first frame that it is awake, and immediately releases the packets
//!   that it has kept. If this time is zero, a frame of the station wakes it only for its MAC ACK.
//!
//! Beacons come at multiples of their interval. Released packets join the queue after those in it,
//! in order of arrival for all stations together. The queue's discipline judges them as if they
//! came from the wire. Linux's access point (mac80211) keeps and loses packets in the same way, up
//! to 64 per station and category. It passes released packets to its driver after those that the
//! driver has, and before later ones.
//!
//! Differs from the standard in: beacons take no air time, are never lost, and are never late
//! because the medium is busy; every station wakes for each of them (listen interval 1); no PS-Poll
//! and no null frame is sent, so that released packets need no further frame; kept packets do not
//! age; the limit is per station, not per category of a station; nothing is group-addressed.

use std::collections::VecDeque;

use super::{Cell, CellExchange, OffAir};
use crate::kernel::time::{Span, Time};
use crate::mac::Station;
use crate::mac::bss::{Bss, NodeId};
use crate::packet::Packet;
use crate::queue::{QueueCounters, Waits};

/// Stations that sleep, and the packets kept for them.
#[derive(Clone, Debug)]
pub(super) struct PowerSave {
    interval: Span,
    limit_packets: usize,
    /// Packets that have been kept so far.
    taken: u64,
    sleepers: Vec<Sleeper>,
    /// Index of each station in `sleepers`.
    of_station: Vec<Option<usize>>,
}

/// A station that sleeps.
#[derive(Clone, Debug)]
struct Sleeper {
    node: NodeId,
    name: Box<str>,
    /// Time for which it stays awake after its last frame.
    awake: Span,
    /// End of that time.
    until: Time,
    kept: VecDeque<Kept>,
    /// Packets for it in the access point's queues, in a cell without aggregates.
    waiting: u32,
    counters: QueueCounters,
    waits: Waits,
}

/// A packet that is kept.
#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Its number among all that have been kept.
    order: u64,
    /// The queue that it is for.
    queue: u32,
    packet: Packet,
}

impl PowerSave {
    /// Returns the number of packets in the access point's queues for a sleeper, in a cell of
    /// single frames.
    pub(super) fn waiting(&self, sleeper: usize) -> u32 {
        self.sleepers[sleeper].waiting
    }

    /// Returns the stations that sleep, with no packets yet; `None` if no station sleeps.
    pub(super) fn new(bss: &Bss, stations: &[Station]) -> Option<Box<PowerSave>> {
        let sleeper = |(&node, station): (&NodeId, &Station)| {
            Some(Sleeper {
                node,
                name: format!("power-save/{}", station.name).into(),
                awake: station.power_save?,
                until: Time::ZERO,
                kept: VecDeque::new(),
                waiting: 0,
                counters: QueueCounters::default(),
                waits: Waits::default(),
            })
        };
        let numbered = bss.stations.iter().zip(stations);
        let sleepers: Vec<Sleeper> = numbered.filter_map(sleeper).collect();
        let mut of_station = vec![None; stations.len()];
        for (index, sleeper) in sleepers.iter().enumerate() {
            of_station[bss.roles.index_of(sleeper.node)] = Some(index);
        }
        let settings = &bss.cell.power_save;
        let own = PowerSave {
            interval: settings.beacon_interval,
            limit_packets: settings.power_save_queue_packets as usize,
            taken: 0,
            sleepers,
            of_station,
        };
        (!own.sleepers.is_empty()).then(|| Box::new(own))
    }

    /// Returns the first beacon after `now`.
    fn beacon_after(&self, now: Time) -> Time {
        let passed = now.0 / self.interval.0;
        Time::ZERO + self.interval * (passed + 1)
    }

    /// Keeps `packet`, which is for `queue`; returns the packet that is lost in its place, if any.
    fn keep(
        &mut self,
        now: Time,
        sleeper: usize,
        queue: u32,
        mut packet: Packet,
    ) -> Option<Packet> {
        let order = self.taken;
        self.taken += 1;
        packet.queued = now;
        let Sleeper { kept, counters, .. } = &mut self.sleepers[sleeper];
        counters.enter(now);
        kept.push_back(Kept {
            order,
            queue,
            packet,
        });
        if kept.len() <= self.limit_packets {
            return None;
        }
        counters.withdraw(now);
        kept.pop_front().map(|oldest| oldest.packet)
    }

    /// Takes all packets that have been kept, in order of arrival.
    fn take_all(&mut self, now: Time) -> Vec<Kept> {
        let each = self.sleepers.iter_mut();
        let mut all: Vec<Kept> = each.flat_map(|sleeper| sleeper.take(now)).collect();
        all.sort_unstable_by_key(|kept| kept.order);
        all
    }
}

impl Sleeper {
    /// Takes all packets that have been kept for it.
    fn take(&mut self, now: Time) -> VecDeque<Kept> {
        let kept = std::mem::take(&mut self.kept);
        for Kept { packet, .. } in &kept {
            self.counters.leave(packet.queued, now);
            let Packet {
                flow, kind, queued, ..
            } = *packet;
            self.waits.leave(flow, kind, queued, now);
        }
        kept
    }
}

impl<X: CellExchange> Cell<X> {
    /// Offers `packet` to queue `number` of a cell with stations that sleep, or with a pull qdisc;
    /// returns false if it is refused.
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

    /// Handles the timers that are due at `now`, which is the deadline: a beacon releases the
    /// packets that are kept, and receivers release the packets that they hold. Returns whether a
    /// timer was due; if not, an exchange ends, or begins.
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
        let kept = (self.power_save.as_mut()).map(|own| own.take_all(now));
        self.release(now, kept.into_iter().flatten());
    }

    fn release(&mut self, now: Time, kept: impl IntoIterator<Item = Kept>) {
        for Kept { queue, packet, .. } in kept {
            if !X::enqueue_guarded(self, now, queue, &packet) {
                self.lost.push(packet);
            }
        }
    }

    /// Wakes the station of `packet`, which has come `off` the air in a frame whose MAC ACK ends at
    /// `done`, and releases the packets kept for it.
    #[cold]
    #[inline(never)]
    pub(super) fn wake(&mut self, now: Time, done: Time, off: OffAir, packet: &Packet) {
        let sleeper = self.sleeper(self.station_of(packet));
        let (Some(sleeper), Some(own)) = (sleeper, &mut self.power_save) else {
            return;
        };
        let station = &mut own.sleepers[sleeper];
        if off == OffAir::AtAccessPoint && station.awake == Span::ZERO {
            return; // it continues to sleep
        }
        station.until = done + station.awake;
        let kept = station.take(now);
        self.release(now, kept);
    }

    fn is_awake(&self, now: Time, sleeper: usize) -> bool {
        let Some(own) = &self.power_save else {
            return true;
        };
        let Sleeper {
            node, until, kept, ..
        } = &own.sleepers[sleeper];
        let has_packet = X::has_for(self, sleeper);
        debug_assert_eq!(has_packet, self.is_found(*node), "for {node:?}");
        kept.is_empty() && (now < *until || has_packet)
    }

    /// Returns whether the access point has a packet for `node`, by a search of all its packets.
    fn is_found(&self, node: NodeId) -> bool {
        self.queues_of_access_point().any(|queue| {
            let waiting = self.ports[queue as usize].queue.packets();
            let mut packets = waiting.chain(self.in_service(queue as usize));
            packets.any(|packet| self.stations[packet.flow as usize] == node)
        })
    }
}

impl<X: ?Sized> Cell<X> {
    /// Subtracts `packet`, which has left queue `number`, in a cell of single frames.
    #[cold]
    #[inline(never)]
    pub(super) fn uncount(&mut self, number: u32, packet: &Packet) {
        if let Some(waiting) = self.waiting_like(number, packet) {
            *waiting -= 1;
        }
    }

    /// Returns the number of packets in the access point's queues for the station of `packet`, if
    /// that station sleeps and queue `number` is of the access point.
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

    /// Returns the station, counted from 0, that a sleeper is.
    pub(super) fn station_of_sleeper(&self, sleeper: usize) -> Option<u32> {
        let own = self.power_save.as_ref()?;
        Some(self.roles.index_of(own.sleepers[sleeper].node) as u32)
    }

    pub(super) fn queues_of_access_point(&self) -> impl Iterator<Item = u32> {
        self.medium.categories_of(self.ap)
    }

    /// Returns the packets that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &Packet> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.flat_map(|sleeper| sleeper.kept.iter().map(|kept| &kept.packet))
    }

    /// Returns the name in results and the counters of each station that sleeps.
    pub fn sleepers(&self) -> impl Iterator<Item = (&str, QueueCounters)> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.map(|sleeper| (&*sleeper.name, sleeper.counters))
    }

    /// Returns the name in results of station number `station`, counted from 0, if it sleeps, and
    /// the times for which its datagrams were kept.
    pub fn kept_for(&self, station: usize) -> Option<(&str, &Waits)> {
        let own = self.power_save.as_ref()?;
        let sleeper = &own.sleepers[own.of_station[station]?];
        Some((&*sleeper.name, &sleeper.waits))
    }
}

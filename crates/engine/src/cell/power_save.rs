//! What the access point keeps for stations that sleep (IEEE 802.11-2016, 11.2.3).
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
//! - as long as the access point's queues have a packet for it: each frame tells it of more (More Data);
//! - for some time after its last frame either way, if it is given some ([`Station::power_save`]), as Linux
//!   stays in active mode for its `dynamic_ps_timeout` of 100 ms. The access point learns of it from the
//!   station's first frame, and releases at once what it has kept. With no such time a frame of the station
//!   wakes it for its MAC ACK alone.
//!
//! Beacons come at multiples of their interval. What is released joins the queue behind what is in it, in
//! order of arrival whomever it is for, and is judged by the queue's discipline as if it came from the wire.
//! Linux's access point (mac80211) keeps and loses in the same way, up to 64 packets a station and category,
//! and hands what it releases to its driver behind what that has, ahead of what comes later.
//!
//! Differs from the standard in: beacons take no air time, are never lost, and are never late because the
//! medium is busy; every station wakes for each of them (listen interval 1); no PS-Poll and no null frame is
//! sent, so that what is released needs no further frame; kept packets do not age; the limit is of a
//! station, not of each of its categories; nothing is group-addressed.

use std::collections::VecDeque;

use super::{Cell, OffAir};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::AP;
use crate::mac::{self, Station};
use crate::packet::Packet;
use crate::queue::{QueueCounters, Waits};

/// Stations that sleep, and what is kept for them.
#[derive(Clone, Debug)]
pub(super) struct PowerSave {
    interval: Span,
    limit_packets: usize,
    /// Packets that have been kept so far.
    taken: u64,
    sleepers: Vec<Sleeper>,
    /// The sleeper that each node is.
    of_node: Vec<Option<usize>>,
}

/// A station that sleeps.
#[derive(Clone, Debug)]
struct Sleeper {
    node: u32,
    name: Box<str>,
    /// How long it stays awake after its last frame.
    awake: Span,
    /// Until when it does.
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
    /// Nothing is kept yet; `None` if no station sleeps.
    pub(super) fn new(cell: &mac::Cell, stations: &[Station]) -> Option<Box<PowerSave>> {
        let sleeper = |(node, station): (u32, &Station)| {
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
        let sleepers: Vec<Sleeper> = (1..).zip(stations).filter_map(sleeper).collect();
        let mut of_node = vec![None; stations.len() + 1];
        for (index, sleeper) in sleepers.iter().enumerate() {
            of_node[sleeper.node as usize] = Some(index);
        }
        let settings = &cell.power_save;
        let one = PowerSave {
            interval: settings.beacon_interval,
            limit_packets: settings.power_save_queue_packets as usize,
            taken: 0,
            sleepers,
            of_node,
        };
        (!one.sleepers.is_empty()).then(|| Box::new(one))
    }

    /// The first beacon after `now`.
    fn beacon_after(&self, now: Time) -> Time {
        let passed = now.0 / self.interval.0;
        Time::ZERO + self.interval * (passed + 1)
    }

    /// Keeps `packet`, which is for `queue`; returns the one that is lost in its place.
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

    /// Everything that has been kept, in order of arrival.
    fn take_all(&mut self, now: Time) -> Vec<Kept> {
        let each = self.sleepers.iter_mut();
        let mut all: Vec<Kept> = each.flat_map(|one| one.take(now)).collect();
        all.sort_unstable_by_key(|kept| kept.order);
        all
    }
}

impl Sleeper {
    /// All that has been kept for it.
    fn take(&mut self, now: Time) -> VecDeque<Kept> {
        let kept = std::mem::take(&mut self.kept);
        for one in &kept {
            self.counters.leave(one.packet.queued, now);
            let Packet {
                flow, kind, queued, ..
            } = one.packet;
            self.waits.leave(flow, kind, queued, now);
        }
        kept
    }
}

impl Cell {
    /// [`Cell::offer`] in a cell with stations that sleep, or with packets above the device.
    #[cold]
    #[inline(never)]
    pub(super) fn offer_or_keep(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let is_down = self.ports[number as usize].node == AP;
        let sleeper = self.sleeper(self.station_of(packet));
        let sleeper = sleeper.filter(|&one| is_down && !self.is_awake(now, one));
        let (Some(sleeper), Some(own)) = (sleeper, &mut self.power_save) else {
            return self.enter(now, number, packet);
        };
        self.beacon = self.beacon.min(own.beacon_after(now));
        self.timer = self.timer.min(self.beacon);
        self.lost.extend(own.keep(now, sleeper, number, *packet));
        true
    }

    /// Does what a timer is for, if one is due at `now`, which is the deadline: hands over what has been kept
    /// at a beacon, or what a receiver holds. If not, an exchange ends, or begins.
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
        self.stop_waiting(now);
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
            if !self.enter(now, queue, &packet) {
                self.lost.push(packet);
            }
        }
    }

    /// A packet enters queue `number`, awake or not; false if it is refused.
    #[cold]
    #[inline(never)]
    fn enter(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        if self.aggregates.is_some() {
            return self.enter_above(now, number, packet);
        }
        if let Some(waiting) = self.waiting_like(number, packet) {
            *waiting += 1;
        }
        let enters = self.enter_queue(now, number, packet);
        if !enters {
            self.uncount(number, packet);
        }
        enters
    }

    /// `packet` is in queue `number` no more, in a cell without aggregates.
    #[cold]
    #[inline(never)]
    pub(super) fn uncount(&mut self, number: u32, packet: &Packet) {
        if let Some(waiting) = self.waiting_like(number, packet) {
            *waiting -= 1;
        }
    }

    /// How many packets wait in queue `number`, of the access point, and in its others for the station that
    /// `packet` is for, if that sleeps.
    fn waiting_like(&mut self, number: u32, packet: &Packet) -> Option<&mut u32> {
        let sleeper = self.sleeper(self.station_of(packet))?;
        let own = self
            .power_save
            .as_mut()
            .filter(|_| self.ports[number as usize].node == AP)?;
        Some(&mut own.sleepers[sleeper].waiting)
    }

    /// A frame with `packet` has come `off` the air, its MAC ACK ending at `done`: its station is awake for
    /// some time.
    #[cold]
    #[inline(never)]
    pub(super) fn attend(&mut self, now: Time, done: Time, off: OffAir, packet: &Packet) -> OffAir {
        let sleeper = self.sleeper(self.station_of(packet));
        let (Some(sleeper), Some(own)) = (sleeper, &mut self.power_save) else {
            return off;
        };
        let station = &mut own.sleepers[sleeper];
        if off == OffAir::AtStation && self.aggregates.is_none() {
            station.waiting -= 1;
        }
        if off == OffAir::AtAccessPoint && station.awake == Span::ZERO {
            return off; // it goes on sleeping
        }
        station.until = done + station.awake;
        let kept = station.take(now);
        self.release(now, kept);
        off
    }

    fn sleeper(&self, node: u32) -> Option<usize> {
        self.power_save.as_ref()?.of_node[node as usize]
    }

    fn is_awake(&self, now: Time, sleeper: usize) -> bool {
        let Some(own) = &self.power_save else {
            return true;
        };
        let Sleeper {
            node,
            until,
            kept,
            waiting,
            ..
        } = &own.sleepers[sleeper];
        let mut queues = self.medium.categories_of(AP);
        let has_one = match self.aggregates {
            None => *waiting > 0,
            Some(_) => queues.any(|queue| self.has_for(queue, *node)),
        };
        debug_assert_eq!(has_one, self.is_found(*node), "for node {node}");
        kept.is_empty() && (now < *until || has_one)
    }

    /// Whether queue `number`, of an access point that aggregates, has a packet for the station `node`.
    fn has_for(&self, number: u32, node: u32) -> bool {
        let lane = node - 1;
        let waits = self.ports[number as usize].queue.has_of_lane(lane);
        let own = self.aggregates.as_ref();
        let above = self.above.as_ref();
        waits
            || own.is_some_and(|own| own.is_serving(number, lane))
            || above.is_some_and(|above| above.has_for(number, lane))
    }

    /// The same of all its queues, by looking at each packet.
    fn is_found(&self, node: u32) -> bool {
        let mut queues = self.medium.categories_of(AP);
        queues.any(|queue| {
            let waiting = self.ports[queue as usize].queue.packets();
            let mut packets = waiting.chain(self.in_service(queue as usize));
            packets.any(|packet| self.stations[packet.flow as usize] == node)
        })
    }

    /// Packets that are kept.
    pub fn kept(&self) -> impl Iterator<Item = &Packet> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.flat_map(|one| one.kept.iter().map(|kept| &kept.packet))
    }

    /// What is kept for each station that sleeps: its name in results, and what has been counted.
    pub fn sleepers(&self) -> impl Iterator<Item = (&str, QueueCounters)> {
        let sleepers = self.power_save.iter().flat_map(|own| &own.sleepers);
        sleepers.map(|one| (&*one.name, one.counters))
    }

    /// Name of what is kept for node number `node` if it sleeps, and the times of the datagrams that were kept.
    pub fn kept_for(&self, node: usize) -> Option<(&str, &Waits)> {
        let own = self.power_save.as_ref()?;
        let sleeper = &own.sleepers[own.of_node[node]?];
        Some((&*sleeper.name, &sleeper.waits))
    }
}

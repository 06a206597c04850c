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
    pub(super) sleepers: Vec<Sleeper>,
    /// Index of each station in `sleepers`.
    pub(super) of_station: Vec<Option<usize>>,
}

/// A station that sleeps.
#[derive(Clone, Debug)]
pub(super) struct Sleeper {
    pub(super) node: NodeId,
    pub(super) name: Box<str>,
    /// Time for which it stays awake after its last frame.
    pub(super) awake: Span,
    /// End of that time.
    pub(super) until: Time,
    pub(super) packets: VecDeque<Kept>,
    /// Packets for it in the access point's queues, in a cell without aggregates.
    pub(super) waiting: u32,
    pub(super) counters: QueueCounters,
    pub(super) waits: Waits,
}

/// A packet that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// Number of the packet among all that have been kept.
    order: u64,
    /// The queue that it is for.
    pub(super) queue: u32,
    pub(super) packet: Packet,
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
                packets: VecDeque::new(),
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
    pub(super) fn beacon_after(&self, now: Time) -> Time {
        let passed = now.0 / self.interval.0;
        Time::ZERO + self.interval * (passed + 1)
    }

    /// Keeps `packet`, which is for `queue`; returns the packet that is lost in its place, if any.
    pub(super) fn keep(
        &mut self,
        now: Time,
        sleeper: usize,
        queue: u32,
        mut packet: Packet,
    ) -> Option<Packet> {
        let order = self.taken;
        self.taken += 1;
        packet.queued = now;
        let Sleeper {
            packets, counters, ..
        } = &mut self.sleepers[sleeper];
        counters.enter(now);
        packets.push_back(Kept {
            order,
            queue,
            packet,
        });
        if packets.len() <= self.limit_packets {
            return None;
        }
        counters.withdraw(now);
        packets.pop_front().map(|oldest| oldest.packet)
    }

    /// Takes all packets that have been kept, in order of arrival.
    pub(super) fn take_all(&mut self, now: Time) -> Vec<Kept> {
        let each = self.sleepers.iter_mut();
        let mut all: Vec<Kept> = each.flat_map(|sleeper| sleeper.take(now)).collect();
        all.sort_unstable_by_key(|packet| packet.order);
        all
    }
}

impl Sleeper {
    /// Takes all packets that have been kept for it.
    pub(super) fn take(&mut self, now: Time) -> VecDeque<Kept> {
        let packets = std::mem::take(&mut self.packets);
        for Kept { packet, .. } in &packets {
            self.counters.leave(packet.queued, now);
            let Packet {
                flow, kind, queued, ..
            } = *packet;
            self.waits.leave(flow, kind, queued, now);
        }
        packets
    }
}

//! Packets that the access point keeps for stations that sleep (IEEE 802.11-2016, 11.2.3).
//!
//! ```text
//!                 station sleeps                    beacon, or a frame of the station
//!   packet for it --------------> kept, in order of ---------------------------------> AP's queue
//!         |                       arrival; if full,                                        ^
//!         |                       the oldest is lost                                       |
//!         +------------------------- station is awake -------------------------------------+
//! ```
//!
//! A station is awake
//!
//! - while the access point has a packet for the station in its queues: each frame announces
//!   whether another frame follows (More Data);
//! - for a time after the last frame to or from the station, if [`Station::power_save`] sets this
//!   time. In Linux, this time is the `dynamic_ps_timeout` of 100 ms. The first frame of the
//!   station informs the access point that the station is awake. The access point then immediately
//!   releases the kept packets. If the time is zero, a frame of the station wakes the station only
//!   for its MAC ACK.
//!
//! Beacons are sent at multiples of their interval. Packets are released in the order of
//! their arrival, not station by station. Released packets join the queue after the packets that are already in the
//! queue. The discipline of the queue treats released packets as if they came from the wire. A
//! Linux access point (mac80211) also keeps packets and drops the oldest packet, with a limit of 64
//! packets per station and category. It passes released packets to its driver after the packets
//! that the driver already has, and before later packets.
//!
//! Differs from the standard in six points. Beacons take no air time, are never lost, and are never
//! delayed by a busy medium. Every station wakes for each beacon (listen interval 1). No PS-Poll
//! and no null frame is sent, so that the release of packets needs no further frame. Kept packets
//! do not expire. The limit is per station, not per category of a station. There are no
//! group-addressed frames.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};
use crate::mac::Station;
use crate::mac::bss::{Bss, NodeId};
use crate::packet::Packet;
use crate::queue::{QueueCounters, Waits};

/// Stations that sleep, and the packets that are kept for these stations.
#[derive(Clone, Debug)]
pub(super) struct PowerSave {
    interval: Span,
    limit_packets: usize,
    /// Number of packets that have been kept since the start of the run.
    taken: u64,
    pub(super) sleepers: Vec<Sleeper>,
    /// For each station, its index in `sleepers`; `None` if the station never sleeps.
    pub(super) of_station: Vec<Option<usize>>,
}

/// State of a station that may sleep (a sleeper).
#[derive(Clone, Debug)]
pub(super) struct Sleeper {
    pub(super) node: NodeId,
    pub(super) name: Box<str>,
    /// Time for which the station stays awake after its last frame.
    pub(super) awake: Span,
    /// Time until which the station stays awake, unless another frame to or from the station
    /// follows.
    pub(super) until: Time,
    pub(super) packets: VecDeque<Kept>,
    /// Number of packets for the station in the queues of the access point. The number is used only
    /// in a cell of single frames.
    pub(super) waiting: u32,
    pub(super) counters: QueueCounters,
    pub(super) waits: Waits,
}

/// A packet that is kept for a station that sleeps.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    /// Number of the packet in the sequence of all packets that have been kept.
    order: u64,
    /// Number of the queue in which the released packet is enqueued.
    pub(super) queue: u32,
    pub(super) packet: Packet,
}

impl PowerSave {
    /// Returns the number of packets for a sleeper in the queues of the access point, in a cell of
    /// single frames.
    pub(super) fn waiting(&self, sleeper: usize) -> u32 {
        self.sleepers[sleeper].waiting
    }

    /// Returns the state of the stations that may sleep, without kept packets; `None` if no station
    /// sleeps.
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

    /// Returns the time of the first beacon after `now`.
    pub(super) fn beacon_after(&self, now: Time) -> Time {
        let passed = now.0 / self.interval.0;
        Time::ZERO + self.interval * (passed + 1)
    }

    /// Keeps `packet` for a sleeper. After its release, the packet will be enqueued in queue number
    /// `queue`. If the limit is exceeded, removes and returns the oldest packet of the sleeper,
    /// which is lost.
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

    /// Removes and returns all packets that are kept, in order of arrival.
    pub(super) fn take_all(&mut self, now: Time) -> Vec<Kept> {
        let each = self.sleepers.iter_mut();
        let mut all: Vec<Kept> = each.flat_map(|sleeper| sleeper.take(now)).collect();
        all.sort_unstable_by_key(|packet| packet.order);
        all
    }
}

impl Sleeper {
    /// Removes and returns all packets that are kept for this sleeper.
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

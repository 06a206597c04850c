//! The queue of a Linux access point: the layer of mac80211 between the network stack and the
//! device, as in Linux 6.18 (`include/net/fq_impl.h`, `net/mac80211/tx.c`, `sta_info.c`,
//! `airtime.c`).
//!
//! ```text
//!   packets --hash--> flows of a tin (station, category), each under CoDel, in turns by bytes   mac80211/fq.rs
//!                        |
//!                        +-- tins of a category in turns by air time --> the device, up to     mac80211/airtime.rs
//!                            a limit of air time for each station (AQL)
//! ```
//!
//! A tin is the queue of one station and access category, and the device is the Wi-Fi hardware with
//! its own queue. All stations and access categories of a cell share one [`Mac80211`], with its
//! limits, its hash table and its CoDel states. Packets in the device are in [`super::TxQueues`],
//! one object per access category. The [`super::TxQueues`] also contain the counters.
//!
//! Differs from Linux in the following points. The hash is computed from the index of the flow, so
//! that the two directions of a flow never share a queue. CoDel uses exact square roots. Times are
//! in ns, not in us and jiffies. The air time of packets in the device is estimated without
//! rounding. The estimate uses the current rate of the station, whereas Linux uses the rate when
//! each packet entered the device. If several overflow flows have the same number of bytes, the
//! flow of the first station loses a packet, whereas Linux selects the flow that became busy last.
//! Rounds are numbered modulo 2^32, not 2^16.

mod airtime;
mod fq;
mod settings;

use std::ops::Range;

pub use airtime::Estimate;
use airtime::{Airtime, Party};
use fq::Fq;
pub use settings::Mac80211Setting;

use super::{CoDelSetting, QueueSetting};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// The packets that wait upstream of the device for the stations of a cell.
#[derive(Clone, Debug)]
pub struct Mac80211 {
    setting: Mac80211Setting,
    fq: Fq,
    airtime: Airtime,
    /// Whether each station is slow; false without `slow_stations`.
    slow: Vec<bool>,
    stations: u32,
}

/// A lost packet, and the access category of its queue.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Index of the access category of the queue.
    pub category: u32,
    /// Lost packet.
    pub packet: Packet,
}

/// Limit below which a station is slow. The station's expected rate, divided by the number of
/// stations of the cell, is compared with this limit. Linux removed this rule in 6.15
/// (STA_SLOW_THRESHOLD). [bit/s]
const SLOW_BPS: f64 = 6e6;

impl Mac80211 {
    /// Returns an empty queue for this number of stations and access categories. `memory_bytes` is
    /// the default limit of the memory that packets may use.
    pub fn new(
        setting: Mac80211Setting,
        limit_packets: u32,
        memory_bytes: u32,
        (stations, categories): (u32, u32),
        stream: Stream,
    ) -> Mac80211 {
        let memory_bytes = setting.memory_bytes.unwrap_or(memory_bytes);
        let limits = (limit_packets, memory_bytes);
        Mac80211 {
            fq: Fq::new(&setting, limits, stations * categories, stream),
            airtime: Airtime::new(&setting, stations, categories),
            slow: vec![false; stations as usize],
            stations,
            setting,
        }
    }

    /// Applies the settings `to` that may change at run time. Waiting packets are not dropped.
    pub fn change(&mut self, to: &QueueSetting, own: Mac80211Setting) {
        self.setting = self.setting.moved_to(own);
        self.fq.limit_packets = to.limit_packets;
    }

    /// Returns the settings of CoDel for a station.
    fn codel(&self, station: u32) -> CoDelSetting {
        match self.slow[station as usize] {
            true => settings::SLOW,
            false => self.setting.codel(),
        }
    }

    /// Sets two values for a station: the parameters for estimating the air time of its packets in
    /// the device, and the expected rate of the station.
    pub fn rate(&mut self, station: u32, categories: Range<u32>, of: Estimate, expected_bps: f64) {
        let is_slow = expected_bps < SLOW_BPS * f64::from(self.stations);
        self.slow[station as usize] = self.setting.slow_stations && is_slow;
        for category in categories {
            self.airtime.estimate(Party { category, station }, of);
        }
    }

    /// Adds `packet` for a station. Packets that are dropped because a limit is exceeded, possibly
    /// `packet` itself, are appended to `lost`.
    pub fn enqueue(
        &mut self,
        now: Time,
        category: u32,
        station: u32,
        packet: &Packet,
        lost: &mut Vec<Lost>,
    ) {
        let packet = Packet {
            queued: now,
            ..*packet
        };
        let stations = self.stations;
        let tin = category * stations + station;
        self.fq.enqueue(tin, packet, |tin, packet| {
            let category = tin / stations;
            lost.push(Lost { category, packet });
        });
        let waits = self.waits(category, station);
        self.airtime.list(now, Party { category, station }, waits);
    }

    /// Returns whether packets of this access category wait for a station.
    pub fn waits(&self, category: u32, station: u32) -> bool {
        self.fq.waits(category * self.stations + station)
    }

    /// Begins a round in which the stations of an access category are served. Returns false if the
    /// device holds enough packets.
    pub fn begin_round(&mut self, category: u32) -> bool {
        self.airtime.begin_round(category)
    }

    /// Returns the next station to be served. The caller must then call `end_visit`.
    pub fn next(&mut self, category: u32) -> Option<u32> {
        self.airtime.next(category)
    }

    /// Returns whether the device may accept another packet of this access category for a station.
    pub fn may_take(&self, category: u32, station: u32) -> bool {
        self.airtime.may_take(Party { category, station })
    }

    /// Returns the next packet for a station, possibly marked. Adds the number of marks to
    /// `marked`, and appends packets that CoDel drops to `lost`.
    pub fn take(
        &mut self,
        now: Time,
        category: u32,
        station: u32,
        marked: &mut u64,
        lost: &mut Vec<Packet>,
    ) -> Option<Packet> {
        let tin = category * self.stations + station;
        let setting = self.codel(station);
        let packet = self.fq.dequeue(now, tin, &setting, marked, lost)?;
        self.airtime
            .took(Party { category, station }, u32::from(packet.bytes));
        Some(packet)
    }

    /// Ends the service of a station that `next` has returned.
    pub fn end_visit(&mut self, now: Time, category: u32, station: u32) {
        let waits = self.waits(category, station);
        self.airtime.list(now, Party { category, station }, waits);
    }

    /// Sets the number and total length of a station's packets in the device.
    pub fn holds(&mut self, category: u32, station: u32, packets: u32, bytes: u64) {
        let party = Party { category, station };
        self.airtime.holds(party, packets, bytes);
    }

    /// Charges a station for the air time of PPDUs that it has sent or received.
    pub fn charge(&mut self, now: Time, category: u32, station: u32, air: Span) {
        self.airtime.charge(now, Party { category, station }, air);
    }

    /// Returns whether the device accepts packets until limits of their air time are reached (AQL).
    pub fn takes_ahead(&self) -> bool {
        self.setting.aql
    }

    /// Returns the waiting packets of an access category, or of all access categories.
    pub fn packets(&self, category: Option<u32>) -> impl Iterator<Item = &Packet> {
        let tins = match category {
            Some(category) => category * self.stations..(category + 1) * self.stations,
            None => 0..u32::MAX,
        };
        self.fq.packets(tins)
    }
}

#[cfg(test)]
mod tests;

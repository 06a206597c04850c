//! The queue of a Linux access point: what mac80211 does between the stack and the device, as of Linux 6.18
//! (`include/net/fq_impl.h`, `net/mac80211/tx.c`, `sta_info.c`, `airtime.c`).
//!
//! ```text
//!   packets --hash--> flows of a tin (station, category), each under CoDel, in turns by bytes   mac80211/fq.rs
//!                        |
//!                        +-- tins of a category in turns by air time --> the device, up to     mac80211/airtime.rs
//!                            so much air time for each station (AQL)
//! ```
//!
//! One object serves a radio: its limits, its hash table and its CoDel states are shared by all stations and
//! categories. Packets in the device wait in [`super::TxQueues`], one object for each category, which also count.
//!
//! Differs from Linux in: the hash is of the flow's index, so that both directions of a flow never meet; CoDel
//! takes exact square roots; times are in ns, not in us and jiffies; what the device holds is estimated at the
//! present rate of the station, not at that when each packet went there, and without rounding; of overflow
//! flows with equally many bytes that of the first station loses, in Linux that of the one which began to wait
//! last; rounds are counted to 2^32, not to 2^16.

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

/// What waits above the device for the stations of a cell.
#[derive(Clone, Debug)]
pub struct Mac80211 {
    setting: Mac80211Setting,
    fq: Fq,
    airtime: Airtime,
    /// Which stations are slow, where there is a rule for them.
    slow: Vec<bool>,
    stations: u32,
}

/// A packet that is lost, and the category in whose queue it was.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Number of the category.
    pub category: u32,
    /// The packet.
    pub packet: Packet,
}

/// A station that expects less than this many bit/s for each station of the cell was slow by the rule that
/// Linux dropped in 6.15 (STA_SLOW_THRESHOLD).
const SLOW_BPS: f64 = 6e6;

impl Mac80211 {
    /// Nothing waits for so many stations in so many categories; `memory_bytes` is what packets may take if
    /// the setting does not say it.
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

    /// The setting is `to` from now on, as far as it may move; packets that wait stay.
    pub fn change(&mut self, to: &QueueSetting, own: Mac80211Setting) {
        self.setting = self.setting.moved_to(own);
        self.fq.limit_packets = to.limit_packets;
    }

    /// CoDel for a station.
    fn codel(&self, station: u32) -> CoDelSetting {
        match self.slow[station as usize] {
            true => settings::SLOW,
            false => self.setting.codel(),
        }
    }

    /// The device estimates what it holds for a station like this from now on, which expects so many bit/s.
    pub fn rate(&mut self, station: u32, categories: Range<u32>, of: Estimate, expected_bps: f64) {
        let is_slow = expected_bps < SLOW_BPS * f64::from(self.stations);
        self.slow[station as usize] = self.setting.slow_stations && is_slow;
        for category in categories {
            self.airtime.estimate(Party { category, station }, of);
        }
    }

    /// `packet` arrives for a station; what is lost for it, itself or others, is appended to `lost`.
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

    /// Whether packets for a station wait.
    pub fn waits(&self, category: u32, station: u32) -> bool {
        self.fq.waits(category * self.stations + station)
    }

    /// A round of visits in a category begins, if the device has not enough.
    pub fn begin_round(&mut self, category: u32) -> bool {
        self.airtime.begin_round(category)
    }

    /// The station to be visited next, which is to be told of the visit's end.
    pub fn next(&mut self, category: u32) -> Option<u32> {
        self.airtime.next(category)
    }

    /// Whether the device may take one more packet for a station.
    pub fn may_take(&self, category: u32, station: u32) -> bool {
        self.airtime.may_take(Party { category, station })
    }

    /// The next packet for a station, marked or not; how many were marked is added to `marked`, and what is
    /// lost before it is appended to `lost`.
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

    /// The visit of a station ends.
    pub fn end_visit(&mut self, now: Time, category: u32, station: u32) {
        let waits = self.waits(category, station);
        self.airtime.list(now, Party { category, station }, waits);
    }

    /// The device holds these packets for a station, of so many bytes together.
    pub fn holds(&mut self, category: u32, station: u32, packets: u32, bytes: u64) {
        let party = Party { category, station };
        self.airtime.holds(party, packets, bytes);
    }

    /// PPDUs to or from a station were on the air.
    pub fn charge(&mut self, now: Time, category: u32, station: u32, air: Span) {
        self.airtime.charge(now, Party { category, station }, air);
    }

    /// Whether the device takes packets ahead up to limits of air time.
    pub fn takes_ahead(&self) -> bool {
        self.setting.aql
    }

    /// Packets inside for a category, or for all.
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

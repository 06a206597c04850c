//! The queue of a Linux access point in front of its device.

use std::ops::Range;

use crate::cell::Hotspot;
use crate::cell::senders::Senders;
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::Category;
use crate::mac::bss::{NodeId, Roles};
use crate::mac::dcf::Dcf;
use crate::mac::ppdu::Generation;
use crate::packet::Packet;
use crate::queue::{Discipline, Lost, Mac80211, QueueSetting, TxQueues};

/// Queue in front of the device of a Linux access point, with the packets of all contenders of the
/// access point.
#[derive(Clone, Debug)]
pub(in crate::cell) struct Linux {
    roles: Roles,
    queue: Mac80211,
    /// Contenders (EDCAFs) of the access point, one for each of its access categories.
    pub(in crate::cell) contenders: Vec<u32>,
    /// For each contender of the cell (of the access point or of a station), the index in
    /// `contenders` of the access point's contender with the same access category. `None`: the
    /// access point has no contender with this category.
    category: Vec<Option<u32>>,
    /// Lost packets that the caller has not counted yet.
    lost: Vec<Lost>,
}

/// Largest number of aggregates in a device, including the aggregate on the air. The limit applies
/// if the air time of the packets in the device is not limited (without AQL).
const DEPTH: u32 = 2;

impl Linux {
    /// Returns the empty queue of a Linux access point; `None` if the access point has another
    /// queue.
    pub(in crate::cell) fn new(hotspot: Hotspot, medium: &Dcf, streams: &Streams) -> Option<Linux> {
        let setting = &hotspot.bss.cell.ap.queue;
        let Discipline::Mac80211(own) = setting.discipline else {
            return None;
        };
        let contenders: Vec<u32> = medium.categories_of(hotspot.bss.ap).collect();
        let all = 0..medium.contenders() as u32;
        let same = |contender: u32| {
            let category = medium.category(contender);
            let mut own = contenders.iter();
            own.position(|&of_ap| medium.category(of_ap) == category)
        };
        let counts = (hotspot.stations.len() as u32, contenders.len() as u32);
        let mut generations = hotspot
            .stations
            .iter()
            .filter_map(|station| station.modulation);
        let newer = generations.any(|modulation| modulation.generation != Generation::Ht);
        let memory_bytes = if newer { 16 << 20 } else { 4 << 20 };
        let stream = streams.stream("ap/flows");
        let limit = setting.limit_packets;
        Some(Linux {
            roles: hotspot.bss.roles,
            queue: Mac80211::new(own, limit, memory_bytes, counts, stream),
            category: all.map(|contender| Some(same(contender)? as u32)).collect(),
            contenders,
            lost: Vec::new(),
        })
    }

    /// Changes the queue setting to `to`, as far as the setting can change during a run.
    pub(in crate::cell) fn change(&mut self, to: &QueueSetting) {
        if let Discipline::Mac80211(own) = to.discipline {
            self.queue.change(to, own);
        }
    }

    /// Updates the estimates of the air time and the rate of the links to these `stations`.
    pub(in crate::cell) fn update_rates(
        &mut self,
        stations: Range<usize>,
        senders: &Senders,
        medium: &Dcf,
    ) {
        for (category, &contender) in (0..).zip(&self.contenders) {
            let voice = medium.category(contender) == Category::Voice;
            for station in stations.clone() {
                let link = senders.link(contender, station);
                let of = link.rates.timing().estimate(!voice);
                let own = category..category + 1;
                self.queue
                    .rate(station as u32, own, of, link.rates.expected_bps());
            }
        }
    }

    /// Enqueues a packet from `contender` for a station. [`Linux::take_lost`] returns the packets
    /// that are lost.
    pub(in crate::cell) fn enqueue(
        &mut self,
        now: Time,
        contender: u32,
        station: u32,
        packet: &Packet,
    ) {
        if let Some(category) = self.category[contender as usize] {
            self.queue
                .enqueue(now, category, station, packet, &mut self.lost);
        }
    }

    /// Returns a lost packet and its contender; `None` if no packet was lost.
    pub(in crate::cell) fn take_lost(&mut self) -> Option<(u32, Packet)> {
        let Lost { category, packet } = self.lost.pop()?;
        Some((self.contenders[category as usize], packet))
    }

    /// Makes the device of `contender` pull as many packets as its limits permit. The pulled
    /// packets are enqueued in `txqs`.
    pub(in crate::cell) fn pull(
        &mut self,
        now: Time,
        contender: u32,
        senders: &Senders,
        txqs: &mut TxQueues,
        dropped: &mut Vec<Packet>,
    ) {
        let Some(category) = self.category[contender as usize] else {
            return;
        };
        let queue = &mut self.queue;
        let ahead = queue.takes_ahead();
        let most = DEPTH - u32::from(senders.sends(contender));
        let (mut marked, mut took) = (0, true);
        while std::mem::take(&mut took) && queue.begin_round(category) {
            while (ahead || senders.held(contender, txqs) < most)
                && let Some(station) = queue.next(category)
            {
                let mut room = (!ahead).then(|| senders.room_for_aggregate(contender, station));
                while queue.may_take(category, station)
                    && room.as_ref().is_none_or(|room| !room.is_full())
                    && let Some(packet) = queue.take(now, category, station, &mut marked, dropped)
                {
                    if let Some(room) = &mut room {
                        room.add(&packet);
                    }
                    txqs.take_over(station, packet);
                    took = true;
                }
                queue.end_visit(now, category, station);
            }
        }
        txqs.mark_in_qdisc(marked);
    }

    /// Charges the air time of an exchange that has ended to the station of the exchange. The
    /// exchange was sent by `contender`, which belongs to `node`. If `node` is the access point,
    /// the number of packets in the device of `contender` is updated.
    pub(in crate::cell) fn account(
        &mut self,
        now: Time,
        contender: u32,
        node: NodeId,
        senders: &Senders,
        txqs: &TxQueues,
    ) {
        let Some(category) = self.category[contender as usize] else {
            return;
        };
        let (txq, air) = senders.last(contender);
        if let Some(station) = self.roles.station_of(node) {
            if senders.judged.contains(&true) {
                self.queue.charge(now, category, station as u32, air);
            }
            return;
        }
        self.queue.charge(now, category, txq, air);
        self.hold(contender, txq, senders, txqs);
    }

    /// Updates the number of packets and bytes in the device of `contender` that belong to a
    /// transmit queue.
    pub(in crate::cell) fn hold(
        &mut self,
        contender: u32,
        txq: u32,
        senders: &Senders,
        txqs: &TxQueues,
    ) {
        if let Some(category) = self.category[contender as usize] {
            let (packets, bytes) = senders.inside_of(contender, txq, txqs);
            self.queue.holds(category, txq, packets, bytes);
        }
    }

    /// Returns whether packets of `contender` wait for a station.
    pub(in crate::cell) fn has_for(&self, contender: u32, station: u32) -> bool {
        let category = self.category[contender as usize];
        category.is_some_and(|category| self.queue.waits(category, station))
    }

    /// Returns the waiting packets of `contender`; `None`: the waiting packets of all contenders.
    pub(in crate::cell) fn packets(&self, contender: Option<u32>) -> impl Iterator<Item = &Packet> {
        let category = contender.and_then(|contender| self.category[contender as usize]);
        self.queue.packets(category)
    }
}

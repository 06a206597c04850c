//! The queue of a Linux access point above its device.

use std::ops::Range;

use crate::cell::Hotspot;
use crate::cell::aggregates::Aggregates;
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::Category;
use crate::mac::dcf::{AP, Dcf};
use crate::mac::ppdu::Generation;
use crate::packet::Packet;
use crate::queue::{Discipline, Lanes, Lost, Mac80211, QueueSetting};

/// What waits above the device, and for whose contenders.
#[derive(Clone, Debug)]
pub(super) struct Linux {
    queue: Mac80211,
    /// Contender of each category of the access point.
    pub(super) contenders: Vec<u32>,
    /// The number of its category there, for each contender; `None`: the access point sends nothing in it.
    category: Vec<Option<u32>>,
    /// Packets lost that are not counted yet.
    lost: Vec<Lost>,
}

/// Aggregates that a device holds at most, the one on the air included, if no air time limits it.
const DEPTH: u32 = 2;

impl Linux {
    /// Nothing waits; `None`: the access point has another queue.
    pub(super) fn new(hotspot: Hotspot, medium: &Dcf, streams: &Streams) -> Option<Linux> {
        let setting = &hotspot.cell.ap.queue;
        let Discipline::Mac80211(own) = setting.discipline else {
            return None;
        };
        let contenders: Vec<u32> = medium.categories_of(AP).collect();
        let all = 0..medium.contenders() as u32;
        let same = |contender: u32| {
            let category = medium.category(contender);
            let mut own = contenders.iter();
            own.position(|&one| medium.category(one) == category)
        };
        let counts = (hotspot.stations.len() as u32, contenders.len() as u32);
        let mut generations = hotspot.stations.iter().filter_map(|one| one.modulation);
        let newer = generations.any(|one| one.generation != Generation::Ht);
        let memory_bytes = if newer { 16 << 20 } else { 4 << 20 };
        let stream = streams.stream("ap/flows");
        let limit = setting.limit_packets;
        Some(Linux {
            queue: Mac80211::new(own, limit, memory_bytes, counts, stream),
            category: all.map(|one| Some(same(one)? as u32)).collect(),
            contenders,
            lost: Vec::new(),
        })
    }

    /// The setting is `to` from now on, as far as it may move.
    pub(super) fn change(&mut self, to: &QueueSetting) {
        if let Discipline::Mac80211(own) = to.discipline {
            self.queue.change(to, own);
        }
    }

    /// Rates of stations are as their ways have them now.
    pub(super) fn tell_rates(
        &mut self,
        stations: Range<usize>,
        aggregates: &Aggregates,
        medium: &Dcf,
    ) {
        for (category, &contender) in (0..).zip(&self.contenders) {
            let voice = medium.category(contender) == Category::Voice;
            for station in stations.clone() {
                let way = aggregates.way(contender, station);
                let of = way.estimate(!voice);
                let own = category..category + 1;
                self.queue.rate(station as u32, own, of, way.expected_bps());
            }
        }
    }

    /// A packet for a station arrives for `contender`; what is lost is fetched with [`Linux::take_lost`].
    pub(super) fn enqueue(&mut self, now: Time, contender: u32, station: u32, packet: &Packet) {
        if let Some(category) = self.category[contender as usize] {
            self.queue
                .enqueue(now, category, station, packet, &mut self.lost);
        }
    }

    /// A packet that was lost, and the contender that it was for.
    pub(super) fn take_lost(&mut self) -> Option<(u32, Packet)> {
        let Lost { category, packet } = self.lost.pop()?;
        Some((self.contenders[category as usize], packet))
    }

    /// The device of `contender` takes what it may into `lanes`.
    pub(super) fn pull(
        &mut self,
        now: Time,
        contender: u32,
        aggregates: &Aggregates,
        lanes: &mut Lanes,
        dropped: &mut Vec<Packet>,
    ) {
        let Some(category) = self.category[contender as usize] else {
            return;
        };
        let queue = &mut self.queue;
        let ahead = queue.takes_ahead();
        let most = DEPTH - u32::from(aggregates.sends(contender));
        let (mut marked, mut took) = (0, true);
        while std::mem::take(&mut took) && queue.begin_round(category) {
            while (ahead || aggregates.held(contender, lanes) < most)
                && let Some(station) = queue.next(category)
            {
                let mut room = (!ahead).then(|| aggregates.one(contender, station));
                while queue.may_take(category, station)
                    && room.as_ref().is_none_or(|room| !room.is_full())
                    && let Some(packet) = queue.take(now, category, station, &mut marked, dropped)
                {
                    if let Some(room) = &mut room {
                        room.add(&packet);
                    }
                    lanes.take_over(station, packet);
                    took = true;
                }
                queue.end_visit(now, category, station);
            }
        }
        lanes.mark_above(marked);
    }

    /// An exchange of `contender` of `node` has ended: the station pays for it, and the device of the access
    /// point holds less.
    pub(super) fn account(
        &mut self,
        now: Time,
        contender: u32,
        node: u32,
        aggregates: &Aggregates,
        lanes: &Lanes,
    ) {
        let Some(category) = self.category[contender as usize] else {
            return;
        };
        let (lane, air) = aggregates.last(contender);
        if node != AP {
            if aggregates.judged().contains(&true) {
                self.queue.charge(now, category, node - 1, air);
            }
            return;
        }
        self.queue.charge(now, category, lane, air);
        self.hold(contender, lane, aggregates, lanes);
    }

    /// What the device of `contender` holds for a lane may have become less.
    pub(super) fn hold(
        &mut self,
        contender: u32,
        lane: u32,
        aggregates: &Aggregates,
        lanes: &Lanes,
    ) {
        if let Some(category) = self.category[contender as usize] {
            let (packets, bytes) = aggregates.inside_of(contender, lane, lanes);
            self.queue.holds(category, lane, packets, bytes);
        }
    }

    /// Whether packets wait for a station.
    pub(super) fn has_for(&self, contender: u32, station: u32) -> bool {
        let category = self.category[contender as usize];
        category.is_some_and(|category| self.queue.waits(category, station))
    }

    /// Packets inside for `contender`, or for all.
    pub(super) fn packets(&self, contender: Option<u32>) -> impl Iterator<Item = &Packet> {
        let category = contender.and_then(|one| self.category[one as usize]);
        self.queue.packets(category)
    }
}

//! Packets of a Linux access point that wait above its device: [`Mac80211`] between the cell's door and the
//! lanes of its contenders.
//!
//! ```text
//!   offer --> Mac80211 --pull: rounds of visits--> lanes --an exchange begins--> PPDU
//!                ^                                                               |
//!                +---------- air time charged, what the device still holds ------+
//! ```
//!
//! The device takes packets whenever one comes and whenever an exchange of the access point has ended, for
//! every category; what it has taken it sends in the order of arrival there.

use super::bursts::lanes;
use super::{Cell, Hotspot};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::{AP, Dcf};
use crate::mac::ppdu::Generation;
use crate::packet::Packet;
use crate::queue::{Discipline, Lost, Mac80211};

/// What waits above the device, and for whose contenders.
#[derive(Clone, Debug)]
pub(super) struct Above {
    pub(super) queue: Mac80211,
    /// Contender of each category of the access point; they are the first ones of the medium.
    contenders: Vec<u32>,
    /// The number of its category there, for each contender; `None`: the access point sends nothing in it.
    category: Vec<Option<u32>>,
    /// Packets lost that are not counted yet.
    lost: Vec<Lost>,
    dropped: Vec<Packet>,
}

/// Aggregates that a device holds at most, the one on the air included, if no air time limits it.
const DEPTH: u32 = 2;

impl Above {
    /// Nothing waits; `None`: the access point has another queue.
    pub(super) fn new(hotspot: Hotspot, medium: &Dcf, streams: &Streams) -> Option<Box<Above>> {
        let setting = hotspot.cell.ap.queue;
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
        let generations = hotspot.stations.iter().filter_map(|one| one.modulation);
        let newer = generations
            .into_iter()
            .any(|one| one.generation != Generation::Ht);
        let memory_bytes = if newer { 16 << 20 } else { 4 << 20 };
        let stream = streams.stream("ap/flows");
        let limit = setting.limit_packets;
        Some(Box::new(Above {
            queue: Mac80211::new(own, limit, memory_bytes, counts, stream),
            category: all.map(|one| Some(same(one)? as u32)).collect(),
            contenders,
            lost: Vec::new(),
            dropped: Vec::new(),
        }))
    }
}

impl Cell {
    /// Rates of stations are as their ways have them now.
    #[cold]
    pub(super) fn tell_rates(&mut self, stations: std::ops::Range<usize>) {
        let (Some(above), Some(aggregates)) = (&mut self.above, &self.aggregates) else {
            return;
        };
        for (category, &contender) in (0..).zip(&above.contenders) {
            let voice = self.medium.category(contender) == crate::mac::Category::Voice;
            for station in stations.clone() {
                let way = aggregates.way(contender, station);
                let of = way.estimate(!voice);
                let expected_bps = way.expected_bps();
                let own = category..category + 1;
                above.queue.rate(station as u32, own, of, expected_bps);
            }
        }
    }

    /// A packet for a station enters queue `number` of the access point.
    #[inline(never)]
    pub(super) fn enter_above(&mut self, now: Time, number: u32, packet: &Packet) {
        let (Some(above), Some(queue)) = (
            &mut self.above,
            lanes(&mut self.ports[number as usize].queue),
        ) else {
            return;
        };
        let lane = queue.lane_of(packet);
        queue.count_above(now, packet.bytes);
        let Some(category) = above.category[number as usize] else {
            return;
        };
        above
            .queue
            .enqueue(now, category, lane, packet, &mut above.lost);
        while let Some(Lost { category, packet }) = above.lost.pop() {
            let contender = above.contenders[category as usize];
            if let Some(queue) = lanes(&mut self.ports[contender as usize].queue) {
                queue.lose_above(now, packet.bytes);
            }
            self.lost.push(packet);
        }
        self.pull(now, number);
    }

    /// The device takes what it may for queue `number`, if that is one of the access point.
    pub(super) fn pull(&mut self, now: Time, number: u32) {
        let port = &mut self.ports[number as usize];
        let (Some(above), Some(aggregates), Some(queue)) =
            (&mut self.above, &self.aggregates, lanes(&mut port.queue))
        else {
            return;
        };
        if port.node != AP {
            return;
        }
        let Some(category) = above.category[number as usize] else {
            return;
        };
        let ahead = above.queue.takes_ahead();
        let most = DEPTH - u32::from(aggregates.sends(number));
        let mut took = true;
        while std::mem::take(&mut took) && above.queue.begin_round(category) {
            while !ahead && aggregates.held(number, queue) < most || ahead {
                let Some(station) = above.queue.next(category) else {
                    break;
                };
                let mut room = match ahead {
                    true => None,
                    false => Some(aggregates.one(number, station)),
                };
                let mut marked = 0;
                while above.queue.may_take(category, station)
                    && room.as_ref().is_none_or(|room| !room.is_full())
                    && let Some(packet) =
                        above
                            .queue
                            .take(now, category, station, &mut marked, &mut above.dropped)
                {
                    if let Some(room) = &mut room {
                        room.add(&packet);
                    }
                    queue.take_over(station, packet);
                    took = true;
                }
                above.queue.end_visit(now, category, station);
                queue.mark_above(marked);
                for packet in above.dropped.drain(..) {
                    queue.lose_above(now, packet.bytes);
                    self.lost.push(packet);
                }
            }
        }
    }

    /// An exchange of `contender` has ended: the station pays for it, and the device holds less.
    pub(super) fn account(&mut self, now: Time, contender: u32) {
        let (Some(above), Some(aggregates)) = (&mut self.above, &self.aggregates) else {
            return;
        };
        let Some(category) = above.category[contender as usize] else {
            return;
        };
        let (lane, air) = aggregates.last(contender);
        let node = self.ports[contender as usize].node;
        if node != AP {
            if aggregates.judged().contains(&true) {
                above.queue.charge(now, category, node - 1, air);
            }
            return;
        }
        above.queue.charge(now, category, lane, air);
        if let Some(queue) = lanes(&mut self.ports[contender as usize].queue) {
            let (packets, bytes) = aggregates.inside_of(contender, lane, queue);
            above.queue.holds(category, lane, packets, bytes);
        }
    }

    /// After an exchange: the device may take more for categories that had no part in it.
    pub(super) fn pull_others(&mut self, now: Time) {
        let count = self
            .above
            .as_ref()
            .map_or(0, |above| above.contenders.len());
        for index in 0..if count > 1 { count } else { 0 } {
            let Some(above) = &self.above else {
                return;
            };
            let contender = above.contenders[index];
            self.pull(now, contender);
            self.contend_with(now, contender);
        }
    }

    /// Packets that wait above the device, for queue `number` or for all.
    pub(super) fn above(&self, number: Option<u32>) -> impl Iterator<Item = &Packet> {
        let own = self
            .above
            .iter()
            .filter(move |_| number.is_none_or(|number| self.ports[number as usize].node == AP));
        own.flat_map(move |above| {
            let category = number.and_then(|number| above.category[number as usize]);
            above.queue.packets(category)
        })
    }
}

//! Packets that wait above a device that forms aggregates, under a discipline that decides when they leave.
//!
//! ```text
//!   offer --> above: Mac80211, or a scheduler --pull--> lanes --an exchange begins--> PPDU
//!                ^                                                                    |
//!                +-------------- what the device still holds, air time ---------------+
//! ```
//!
//! The device takes packets whenever one comes and whenever an exchange of its own has ended, and sends them
//! in the order in which it has taken them, those for one receiver together. The queue of a Linux access
//! point is one for the radio (`above/linux.rs`); any other discipline has a queue of its own for each
//! contender (`above/scheduled.rs`), from which the device takes as much as two aggregates.

mod linux;
mod scheduled;

use linux::Linux;
use scheduled::Scheduled;

use super::bursts::lanes;
use super::{Cell, Hotspot};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::{AP, Dcf};
use crate::packet::Packet;
use crate::queue::{QueueSetting, Scheduler};

/// What waits above the devices of a cell.
#[derive(Clone, Debug)]
pub(super) struct Above {
    linux: Option<Linux>,
    /// What waits for each contender under a discipline of its own, if that decides when packets leave.
    scheduled: Vec<Option<Scheduled>>,
    dropped: Vec<Packet>,
}

impl Above {
    /// Nothing waits; `None`: no queue of the cell decides when packets leave.
    pub(super) fn new(
        hotspot: Hotspot,
        medium: &Dcf,
        schedulers: Vec<Option<Scheduler>>,
        streams: &Streams,
    ) -> Option<Box<Above>> {
        let linux = Linux::new(hotspot, medium, streams);
        let some = linux.is_some() || schedulers.iter().any(Option::is_some);
        let scheduled = (0..).zip(schedulers).map(|(contender, own)| {
            let lanes = match medium.node(contender) {
                AP => hotspot.stations.len(),
                _ => 1,
            };
            own.map(|own| Scheduled::new(own, lanes))
        });
        let scheduled = scheduled.collect();
        some.then(|| {
            Box::new(Above {
                linux,
                scheduled,
                dropped: Vec::new(),
            })
        })
    }

    /// Where packets of `contender` of `node` wait.
    fn place(&mut self, contender: u32, node: u32) -> Place<'_> {
        match (&mut self.linux, &mut self.scheduled[contender as usize]) {
            (Some(linux), _) if node == AP => Place::Linux(linux),
            (_, Some(scheduled)) => Place::Scheduled(scheduled),
            _ => Place::Device,
        }
    }

    /// Whether packets of a lane of `contender`, of the access point, wait.
    pub(super) fn has_for(&self, contender: u32, lane: u32) -> bool {
        match (&self.linux, &self.scheduled[contender as usize]) {
            (Some(linux), _) => linux.has_for(contender, lane),
            (None, Some(scheduled)) => scheduled.of_lane[lane as usize] > 0,
            (None, None) => false,
        }
    }

    /// The device of `contender` begins an exchange.
    pub(super) fn begin(&mut self, contender: u32) {
        if let Some(own) = &mut self.scheduled[contender as usize] {
            own.held = None;
        }
    }

    /// The setting of `contender` of `node` is `to` from now on, as far as it may move; false: it is not here.
    pub(super) fn change(&mut self, contender: u32, node: u32, to: &QueueSetting) -> bool {
        match self.place(contender, node) {
            Place::Linux(linux) => linux.change(to),
            Place::Scheduled(scheduled) => scheduled.scheduler.change(to),
            Place::Device => return false,
        }
        true
    }
}

/// Where packets of a contender wait.
enum Place<'a> {
    Linux(&'a mut Linux),
    Scheduled(&'a mut Scheduled),
    /// In its lanes alone.
    Device,
}

impl Cell {
    /// A packet enters queue `number`, above the device or not; false if it is refused.
    #[inline(never)]
    pub(super) fn enter_above(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let port = &mut self.ports[number as usize];
        let (Some(above), Some(queue)) = (&mut self.above, lanes(&mut port.queue)) else {
            return self.enter_lane(now, number, packet);
        };
        let first = self.lost.len();
        let was_empty = queue.is_empty();
        match above.place(number, port.node) {
            Place::Linux(linux) => {
                queue.count_above(now, packet.bytes);
                linux.enqueue(now, number, queue.lane_of(packet), packet);
                self.count_lost_above(now);
            }
            Place::Scheduled(own) => {
                queue.count_above(now, packet.bytes);
                own.enqueue(now, packet, queue, &mut self.lost);
                for packet in &self.lost[first..] {
                    queue.lose_above(now, packet.bytes);
                }
            }
            Place::Device => return self.enter_lane(now, number, packet),
        }
        self.pull_and_contend(now, number, was_empty);
        true
    }

    /// The device of queue `number`, which held nothing or something, takes more. A contender that gives up
    /// its packet inside the node keeps it until the exchange on the air ends, and must not be told before.
    fn pull_and_contend(&mut self, now: Time, number: u32, was_empty: bool) {
        self.pull(now, number);
        if was_empty {
            self.contend_with(now, number);
        }
    }

    /// What the queue of the access point has lost counts there.
    fn count_lost_above(&mut self, now: Time) {
        while let Some(linux) = self.above.as_mut().and_then(|above| above.linux.as_mut())
            && let Some((contender, packet)) = linux.take_lost()
        {
            if let Some(queue) = lanes(&mut self.ports[contender as usize].queue) {
                queue.lose_above(now, packet.bytes);
            }
            self.lost.push(packet);
        }
    }

    /// Rates of stations are as their ways have them now.
    pub(super) fn tell_rates(&mut self, stations: std::ops::Range<usize>) {
        if let (Some(above), Some(aggregates)) = (&mut self.above, &self.aggregates)
            && let Some(linux) = &mut above.linux
        {
            linux.tell_rates(stations, aggregates, &self.medium);
        }
    }

    /// The device of queue `number` takes what it may from above.
    fn pull(&mut self, now: Time, number: u32) {
        let port = &mut self.ports[number as usize];
        let (Some(above), Some(aggregates), Some(queue)) =
            (&mut self.above, &self.aggregates, lanes(&mut port.queue))
        else {
            return;
        };
        let mut dropped = std::mem::take(&mut above.dropped);
        match above.place(number, port.node) {
            Place::Linux(linux) => linux.pull(now, number, aggregates, queue, &mut dropped),
            Place::Scheduled(own) => own.pull(now, number, aggregates, queue, &mut dropped),
            Place::Device => {}
        }
        for packet in dropped.drain(..) {
            queue.lose_above(now, packet.bytes);
            self.lost.push(packet);
        }
        above.dropped = dropped;
    }

    /// An exchange has ended in which `contender` sent, or gave up a packet of `given_up` without sending it: who
    /// shares air time is told, and the device takes more.
    pub(super) fn pull_after_exchange(&mut self, now: Time, contender: u32, given_up: Option<u32>) {
        if let (Some(above), Some(aggregates)) = (&mut self.above, &self.aggregates)
            && let Some(linux) = &mut above.linux
            && let port = &mut self.ports[contender as usize]
            && let Some(queue) = lanes(&mut port.queue)
        {
            match given_up {
                None => linux.account(now, contender, port.node, aggregates, queue),
                Some(lane) if port.node == AP => linux.hold(contender, lane, aggregates, queue),
                Some(_) => {}
            }
        }
        if let Some(above) = &mut self.above {
            above.begin(contender); // it holds less
        }
        self.pull(now, contender);
    }

    /// After an exchange: the device of the access point may take more for categories that had no part in it.
    pub(super) fn pull_others(&mut self, now: Time) {
        let own = self.above.as_ref().and_then(|above| above.linux.as_ref());
        let count = own.map_or(0, |linux| linux.contenders.len());
        for index in 0..if count > 1 { count } else { 0 } {
            let own = self.above.as_ref().and_then(|above| above.linux.as_ref());
            let Some(contender) = own.map(|linux| linux.contenders[index]) else {
                return;
            };
            let queue = lanes(&mut self.ports[contender as usize].queue);
            let was_empty = queue.is_some_and(|queue| queue.is_empty());
            self.pull_and_contend(now, contender, was_empty);
        }
    }

    /// Packets that wait above the device, for queue `number` or for all.
    pub(super) fn above(&self, number: Option<u32>) -> impl Iterator<Item = &Packet> {
        let own = self.above.iter();
        own.flat_map(move |above| {
            let of_ap = number.is_none_or(|number| self.ports[number as usize].node == AP);
            let linux = above.linux.iter().filter(move |_| of_ap);
            let linux = linux.flat_map(move |linux| linux.packets(number));
            let scheduled = (0..).zip(&above.scheduled);
            let own = scheduled.filter(move |(of, _)| number.is_none_or(|number| number == *of));
            let own = own.flat_map(|(_, own)| own);
            linux.chain(own.flat_map(|own| own.scheduler.packets()))
        })
    }
}

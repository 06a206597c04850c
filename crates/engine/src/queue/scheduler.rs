//! Disciplines that drop, mark or reorder packets at their departure. A scheduler contains the
//! waiting packets, but not the packet in service.

use super::cake::{Cake, FlowClass, TcpHeader, TinCounters};
use super::codel::{Passed, Single};
use super::discipline::OfDiscipline;
use super::dualpi2::DualPi2;
use super::fair::Fair;
use super::fq_codel::FqCoDel;
use super::{Discipline, QueueCounters, QueueSetting};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A discipline that decides at departures, with its waiting packets.
#[derive(Clone, Debug)]
pub struct Scheduler {
    /// Maximum number of packets, including the packet in service.
    limit: usize,
    kind: Kind,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    CoDel(Box<Single>),
    FqCoDel(Box<FqCoDel>),
    DualPi2(Box<DualPi2>),
    Fair(Box<Fair>),
    Cake(Box<Cake>),
}

impl Scheduler {
    /// Returns an empty queue with the discipline `kind` and a limit of `limit` packets.
    pub(super) fn new(kind: Kind, limit: u32) -> Scheduler {
        let limit = limit as usize;
        Scheduler { limit, kind }
    }

    /// Returns a scheduler for fair queueing. Each leaf has its own limit.
    pub fn fair(fair: Fair) -> Scheduler {
        Scheduler {
            limit: usize::MAX,
            kind: Kind::Fair(Box::new(fair)),
        }
    }

    /// Treats the packets of the new flow `flow` like those of flow `like`. If `reversed` is true,
    /// the data of the two flows have opposite directions.
    pub fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        match &mut self.kind {
            Kind::Fair(fair) => fair.adopt(flow, like),
            Kind::Cake(cake) => cake.adopt(flow, like, reversed),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) => {}
        }
    }

    /// Applies the settings `to` that may change at run time. Waiting packets are not dropped.
    pub fn change(&mut self, to: &QueueSetting) {
        match (&mut self.kind, &to.discipline) {
            (Kind::CoDel(single), Discipline::CoDel(setting)) => {
                single.setting = single.setting.moved_to(*setting);
            }
            (Kind::FqCoDel(fq), Discipline::FqCoDel(setting)) => {
                fq.setting = fq.setting.moved_to(*setting);
            }
            (Kind::DualPi2(dual), Discipline::DualPi2(setting)) => {
                dual.setting = dual.setting.moved_to(*setting);
            }
            (Kind::Cake(cake), Discipline::Cake(setting)) => cake.change(*setting),
            (Kind::Fair(fair), _) => return fair.set_limit(to.limit_packets),
            // `to` belongs to another discipline
            (Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) | Kind::Cake(_), _) => return,
        }
        self.limit = to.limit_packets as usize;
    }

    /// Adds a packet. `busy` says whether the egress is busy. If the queue is full, a packet,
    /// possibly `packet` itself, is dropped and appended to `dropped`.
    pub fn enqueue(&mut self, now: Time, packet: Packet, busy: bool, dropped: &mut Vec<Packet>) {
        let room = self.limit - usize::from(busy);
        let packet = Packet {
            queued: now,
            ..packet
        };
        match &mut self.kind {
            Kind::CoDel(single) if single.codel.packets.len() >= room => dropped.push(packet),
            Kind::CoDel(single) => {
                single.largest = single.largest.max(u64::from(packet.bytes));
                single.codel.push(packet);
            }
            Kind::FqCoDel(fq) => fq.enqueue(packet, room, dropped),
            Kind::DualPi2(dual) => dual.enqueue(packet, room, dropped),
            Kind::Fair(fair) => fair.enqueue(packet, dropped),
            Kind::Cake(cake) => cake.enqueue(packet, room, dropped),
        }
    }

    /// Returns the next packet to send, possibly marked. Appends packets that the discipline drops
    /// to `dropped`.
    pub fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        match &mut self.kind {
            Kind::CoDel(single) => {
                let marked = &mut single.marked;
                let passed = Passed { dropped, marked };
                let (setting, largest) = (&single.setting, single.largest);
                single.codel.dequeue(now, setting, largest, passed)
            }
            Kind::FqCoDel(fq) => fq.dequeue(now, dropped),
            Kind::DualPi2(dual) => dual.dequeue(now, dropped),
            Kind::Fair(fair) => fair.dequeue(now),
            Kind::Cake(cake) => cake.dequeue(now, dropped),
        }
    }

    /// Returns the earliest time at which the scheduler has a packet to send, or `Time::NEVER` if
    /// the queue is empty.
    pub fn ready(&self) -> Time {
        match &self.kind {
            Kind::Fair(fair) => fair.ready(),
            Kind::Cake(cake) => cake.ready(),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) => Time::NEVER,
        }
    }

    /// Sets whether the maximum rates of the leaves are enforced.
    pub fn set_capped(&mut self, is_capped: bool) {
        if let Kind::Fair(fair) = &mut self.kind {
            fair.is_capped = is_capped;
        }
    }

    /// Returns whether a greedy source could add a data packet of `flow`: see
    /// [`super::HeadQueue::is_full`].
    pub fn has_room(&self, flow: u32) -> bool {
        match &self.kind {
            Kind::Fair(fair) => fair.has_room(flow),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) | Kind::Cake(_) => false,
        }
    }

    /// Records that `packet`, the last packet returned by `dequeue`, has been sent.
    pub fn departed(&mut self, packet: &Packet, at: Time) {
        match &mut self.kind {
            Kind::Fair(fair) => fair.departed(packet, at),
            Kind::Cake(cake) => cake.departed(packet, at),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) => {}
        }
    }

    /// Sets the hosts and DSCPs of the flows, by number. Only CAKE uses them.
    pub(crate) fn set_flows(&mut self, classes: &[FlowClass]) {
        if let Kind::Cake(cake) = &mut self.kind {
            cake.set_flows(classes);
        }
    }

    /// Adds the next flow, whose hosts and DSCP are those of flow `like`. If `reversed` is true, the
    /// two ends are exchanged. Only CAKE uses them.
    pub(crate) fn add_flow(&mut self, like: usize, reversed: bool) {
        if let Kind::Cake(cake) = &mut self.kind {
            cake.add_flow(like, reversed);
        }
    }

    /// Makes the ACK filter of CAKE compare TCP headers. Returns false if there is no ACK filter.
    pub(crate) fn filter_headers(&mut self) -> bool {
        match &mut self.kind {
            Kind::Cake(cake) => cake.filter_headers(),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) | Kind::Fair(_) => false,
        }
    }

    /// Sets the TCP header of the packet of an external host, which only the ACK filter of CAKE
    /// uses; `None` for a packet that is not TCP.
    pub(crate) fn set_header(&mut self, number: u32, header: Option<TcpHeader>) {
        if let Kind::Cake(cake) = &mut self.kind {
            cake.set_header(number, header);
        }
    }

    /// Returns the counters of the tins; an empty list unless the discipline is CAKE.
    pub(crate) fn tins(&self) -> Vec<TinCounters> {
        match &self.kind {
            Kind::Cake(cake) => cake.tins().collect(),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) | Kind::Fair(_) => Vec::new(),
        }
    }

    /// Returns the counters of each leaf; an empty list unless the discipline is fair queueing.
    pub fn leaves(&self) -> Vec<QueueCounters> {
        match &self.kind {
            Kind::Fair(fair) => fair.counters().collect(),
            Kind::CoDel(_) | Kind::FqCoDel(_) | Kind::DualPi2(_) | Kind::Cake(_) => Vec::new(),
        }
    }

    /// Returns the number of waiting packets.
    pub(crate) fn len(&self) -> usize {
        match &self.kind {
            Kind::CoDel(single) => single.codel.packets.len(),
            Kind::FqCoDel(fq) => fq.packets,
            Kind::DualPi2(dual) => dual.len(),
            Kind::Fair(fair) => fair.packets,
            Kind::Cake(cake) => cake.packets,
        }
    }

    /// Returns the number of packets marked since the start of the run.
    pub fn marked(&self) -> u64 {
        match &self.kind {
            Kind::CoDel(single) => single.marked,
            Kind::FqCoDel(fq) => fq.marked,
            Kind::DualPi2(dual) => dual.marked,
            Kind::Fair(_) => 0,
            Kind::Cake(cake) => cake.marked(),
        }
    }

    /// Returns the waiting packets. Packets of the same flow are in order of arrival.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        let (mut single, mut fq, mut dual, mut fair, mut cake) = (None, None, None, None, None);
        match &self.kind {
            Kind::CoDel(own) => single = Some(own.codel.packets.iter()),
            Kind::FqCoDel(own) => fq = Some(own.packets()),
            Kind::DualPi2(own) => dual = Some(own.packets()),
            Kind::Fair(own) => fair = Some(own.packets()),
            Kind::Cake(own) => cake = Some(own.packets()),
        }
        let queues = single.into_iter().flatten().chain(fq.into_iter().flatten());
        let queues = queues.chain(dual.into_iter().flatten());
        let queues = queues.chain(fair.into_iter().flatten());
        queues.chain(cake.into_iter().flatten())
    }
}

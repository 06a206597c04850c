//! A tin: flow queues with COBALT, served by DRR++ (deficit round robin in which sparse flows are
//! served first), with weights for host isolation.
//!
//! ```text
//!  none --packet--> sparse --quantum used up--> bulk --empty--> decaying --state at rest--> none
//!                     |  \--used up, empty--> sparse, waiting --packet--> bulk
//!                     \--empty--> decaying or none             decaying --packet--> sparse
//! ```

use std::collections::VecDeque;

use super::ack_filter::{AckFilter, superfluous};
use super::chain::{Chain, List};
use super::cobalt::{Cobalt, Parameters};
use super::counters::{Set, TinCounters};
use super::isolation::{Found, HostTable, Isolation, QUEUES, find};
use super::line::Line;
use super::shaper::{Shaper, TinClock};
use super::tcp_header::TcpHeaders;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::packet::Packet;

/// Largest and smallest quantum of a flow. [bytes]
const QUANTUM: [u64; 2] = [300, 1514];

/// A flow queue.
#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    /// Total length of the packets. [bytes]
    bytes: u64,
    cobalt: Cobalt,
    /// Number of bytes that the queue may still send in this round. [bytes]
    deficit: i64,
    /// Places of the source host and of the destination host.
    hosts: [u16; 2],
    set: Set,
}

/// The state outside a tin that the service of the tin reads and changes.
pub(super) struct Service<'a> {
    pub(super) now: Time,
    pub(super) line: Line,
    pub(super) isolation: Isolation,
    /// Whether dropped packets are charged to the shaper.
    pub(super) ingress: bool,
    /// Whether the decaying queues have not been served during this departure.
    pub(super) decaying_first: bool,
    pub(super) shaper: &'a mut Shaper,
    pub(super) stream: &'a mut Stream,
    pub(super) dropped: &'a mut Vec<Packet>,
}

/// A tin with its flow queues.
#[derive(Clone, Debug)]
pub(super) struct Tin {
    pub(super) parameters: Parameters,
    pub(super) clock: TinClock,
    /// Number of bytes that a flow may send per turn. [bytes]
    pub(super) flow_quantum: u32,
    /// Number of bytes that the tin may send per turn without a shaper. [bytes]
    pub(super) quantum: i64,
    pub(super) deficit: i64,
    pub(super) packets: usize,
    pub(super) counters: TinCounters,
    queues: Vec<Queue>,
    tags: Vec<u32>,
    chain: Chain,
    hosts: [HostTable; 2],
}

impl Tin {
    /// Returns an empty tin. `rate` is its rate threshold, or 0 without a shaper. [bytes/s]
    pub(super) fn new(name: &'static str, rtt: Span, rate: u64, quantum: i64) -> Tin {
        let [least, most] = QUANTUM;
        let flow_quantum = if rate == 0 {
            most
        } else {
            (rate >> 12).clamp(least, most)
        };
        Tin {
            parameters: Parameters::new(rtt, rate),
            clock: TinClock {
                rate,
                next: Time::ZERO,
            },
            flow_quantum: flow_quantum as u32,
            quantum,
            deficit: 0,
            packets: 0,
            counters: TinCounters {
                name,
                ..TinCounters::default()
            },
            queues: Vec::new(),
            tags: Vec::new(),
            chain: Chain::default(),
            hosts: Default::default(),
        }
    }

    /// Creates the queues. This takes place at the first packet, because most tins stay empty.
    #[cold]
    fn create_queues(&mut self) {
        self.queues = vec![Queue::default(); usize::from(QUEUES)];
        self.tags = vec![0; usize::from(QUEUES)];
        self.chain = Chain::new(QUEUES);
        self.hosts = [HostTable::new(), HostTable::new()];
    }

    /// Returns whether the tin has sparse flows or bulk flows.
    pub(super) fn is_busy(&self) -> bool {
        self.counters.flows != [0, 0]
    }

    /// Appends `packet` to the queue of flow `tag`. `hosts` returns the tags of the source and of the
    /// destination. Returns the ACK that `filter` drops because of this packet; see [`superfluous`] for
    /// `headers`.
    pub(super) fn enqueue(
        &mut self,
        packet: Packet,
        tag: u32,
        hosts: impl Fn() -> [u32; 2],
        isolation: Isolation,
        filter: AckFilter,
        headers: Option<&TcpHeaders>,
    ) -> Option<Packet> {
        if self.queues.is_empty() {
            self.create_queues();
        }
        let now = packet.queued;
        let place = self.classify(tag, hosts, isolation);
        let queue = &mut self.queues[usize::from(place)];
        queue.bytes += u64::from(packet.bytes);
        queue.packets.push_back(packet);
        self.packets += 1;
        self.counters.packets.enter(now);
        let filtered = superfluous(&mut queue.packets, filter, headers);
        if let Some(ack) = &filtered {
            queue.bytes -= u64::from(ack.bytes);
            self.packets -= 1;
            self.counters.filter(now);
        }
        match queue.set {
            Set::Sparse | Set::Bulk => {}
            Set::None | Set::Decaying => {
                queue.set = Set::Sparse;
                self.chain.move_to(List::New, place);
                self.counters.count_flow(now, None, Some(Set::Sparse));
                let load = self.load(place, isolation);
                let quantum = (self.flow_quantum * share(load)) >> 16;
                self.queues[usize::from(place)].deficit = i64::from(quantum);
            }
            Set::SparseWait => {
                queue.set = Set::Bulk;
                self.counters
                    .count_flow(now, Some(Set::SparseWait), Some(Set::Bulk));
                self.enter_bulk(place, isolation);
            }
        }
        filtered
    }

    /// Returns the place of the queue for a packet, and assigns the place to its flow.
    fn classify(&mut self, tag: u32, hosts: impl Fn() -> [u32; 2], isolation: Isolation) -> u16 {
        let first = (tag % u32::from(QUEUES)) as usize;
        let is_used = |place: usize| self.queues[place].set != Set::None;
        if self.tags[first] == tag && is_used(first) {
            return first as u16;
        }
        let place_found = find(&self.tags, tag, is_used);
        let (Found::Same(place) | Found::Free(place) | Found::Shared(place)) = place_found;
        if let Found::Same(_) = place_found
            && is_used(usize::from(place))
        {
            return place;
        }
        self.tags[usize::from(place)] = tag;
        if isolation.ends() == [false, false] {
            return place;
        }
        let hosts = hosts();
        let is_bulk = self.queues[usize::from(place)].set == Set::Bulk;
        if is_bulk {
            self.leave_bulk(place, isolation);
        }
        for end in [0, 1].into_iter().filter(|&end| isolation.ends()[end]) {
            self.queues[usize::from(place)].hosts[end] = self.hosts[end].place(hosts[end]);
        }
        if is_bulk {
            self.enter_bulk(place, isolation);
        }
        place
    }

    /// Counts the flow of a queue as a bulk flow of its hosts.
    fn enter_bulk(&mut self, place: u16, isolation: Isolation) {
        let hosts = self.queues[usize::from(place)].hosts;
        for end in [0, 1].into_iter().filter(|&end| isolation.ends()[end]) {
            self.hosts[end].enter(hosts[end]);
        }
    }

    fn leave_bulk(&mut self, place: u16, isolation: Isolation) {
        let hosts = self.queues[usize::from(place)].hosts;
        for end in [0, 1].into_iter().filter(|&end| isolation.ends()[end]) {
            self.hosts[end].leave(hosts[end]);
        }
    }

    /// Returns the number by which the quantum of a queue is divided: the number of bulk flows of
    /// its busier host, and at least 1.
    fn load(&self, place: u16, isolation: Isolation) -> u16 {
        let hosts = self.queues[usize::from(place)].hosts;
        let ends = isolation.ends();
        let load = |end: usize| {
            if ends[end] {
                self.hosts[end].load(hosts[end])
            } else {
                0
            }
        };
        load(0).max(load(1)).max(1)
    }

    /// Returns the next packet of the tin; `None` if the queue that was served has become empty, or
    /// if there is no queue. Then another tin may be served.
    pub(super) fn serve(&mut self, service: &mut Service) -> Option<Packet> {
        loop {
            let place = self.next_queue(&mut service.decaying_first)?;
            let queue = &mut self.queues[usize::from(place)];
            if queue.deficit <= 0 {
                self.refill(place, service);
                continue;
            }
            match self.take(place, service) {
                QueueService::Packet(packet) => return Some(packet),
                QueueService::Charged => {}
                QueueService::Empty => {
                    self.retire(place, service);
                    return None;
                }
            }
        }
    }

    /// Returns the queue that is served next.
    fn next_queue(&self, decaying_first: &mut bool) -> Option<u16> {
        let first = |list| self.chain.first(list);
        let decaying = std::mem::take(decaying_first).then(|| first(List::Decaying));
        let decaying = decaying.flatten();
        let busy = decaying.or_else(|| first(List::New));
        let busy = busy.or_else(|| first(List::Old));
        busy.or_else(|| first(List::Decaying))
    }

    /// Gives a queue that has used up its deficit a quantum, and moves it to the end of the bulk
    /// rotation.
    fn refill(&mut self, place: u16, service: &mut Service) {
        let queue = &mut self.queues[usize::from(place)];
        if queue.set == Set::Sparse {
            if queue.packets.is_empty() {
                queue.set = Set::SparseWait;
            } else {
                queue.set = Set::Bulk;
                let now = service.now;
                self.counters
                    .count_flow(now, Some(Set::Sparse), Some(Set::Bulk));
                self.enter_bulk(place, service.isolation);
            }
        }
        let load = self.load(place, service.isolation);
        // a random number below one byte, so that rounding does not favour flows
        let dither = service.stream.up_to(0xffff);
        let quantum = (self.flow_quantum * share(load) + dither) >> 16;
        self.queues[usize::from(place)].deficit += i64::from(quantum);
        self.chain.move_to(List::Old, place);
    }

    /// Takes the next packet of a queue that COBALT does not drop.
    fn take(&mut self, place: u16, service: &mut Service) -> QueueService {
        let queue = &mut self.queues[usize::from(place)];
        let now = service.now;
        loop {
            let Some(mut packet) = queue.packets.pop_front() else {
                return QueueService::Empty;
            };
            queue.bytes -= u64::from(packet.bytes);
            self.packets -= 1;
            let length = service.line.length(packet.bytes);
            let bulk_flows = if service.ingress {
                self.counters.flows[1]
            } else {
                0
            };
            let (drops, marks) = queue.cobalt.judge(
                now,
                &self.parameters,
                bulk_flows,
                &mut packet,
                service.stream,
            );
            let drops = drops && !queue.packets.is_empty();
            if drops {
                self.counters.packets.withdraw(now);
                service.dropped.push(packet);
                if !service.ingress {
                    continue;
                }
            } else {
                self.counters.packets.marked += u64::from(marks);
            }
            queue.deficit -= i64::from(length);
            self.deficit -= i64::from(length);
            self.clock.charge(now, u64::from(length));
            service.shaper.charge(u64::from(length), drops);
            return match drops {
                true => QueueService::Charged,
                false => QueueService::Packet(packet),
            };
        }
    }

    /// Removes an empty queue from the round robin. The queue stays in the list of decaying queues
    /// until the state of COBALT has decayed.
    fn retire(&mut self, place: u16, service: &Service) {
        let now = service.now;
        let queue = &mut self.queues[usize::from(place)];
        let before = queue.set;
        let ends = queue.cobalt.empty(now, &self.parameters);
        let is_active = queue.cobalt.is_active(now);
        queue.set = if is_active { Set::Decaying } else { Set::None };
        self.counters.unresponsive -= u32::from(ends);
        self.counters.count_flow(now, Some(before), None);
        match is_active {
            true => self.chain.move_to(List::Decaying, place),
            false => self.chain.remove(place),
        }
        if before == Set::Bulk {
            self.leave_bulk(place, service.isolation);
        }
    }

    /// Returns the largest backlog of a queue, and the place of this queue; `None` if the tin is
    /// empty. [bytes]
    pub(super) fn longest(&self) -> Option<(u64, u16)> {
        let queues = self.queues.iter().zip(0..);
        let busy = queues.filter(|(queue, _)| !queue.packets.is_empty());
        busy.map(|(queue, place)| (queue.bytes, place)).max()
    }

    /// Drops the first packet of a queue because CAKE is full.
    pub(super) fn overflow(&mut self, now: Time, place: u16) -> Option<Packet> {
        let queue = &mut self.queues[usize::from(place)];
        let packet = queue.packets.pop_front()?;
        queue.bytes -= u64::from(packet.bytes);
        self.packets -= 1;
        let begins = queue.cobalt.overflow(now, &self.parameters);
        self.counters.unresponsive += u32::from(begins);
        self.counters.packets.withdraw(now);
        Some(packet)
    }

    /// Returns the packets of all queues.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.queues.iter().flat_map(|queue| &queue.packets)
    }
}

/// Result of the service of a queue.
enum QueueService {
    /// The packet that leaves.
    Packet(Packet),
    /// A packet was dropped, and charged to its queue and to the shaper.
    Charged,
    /// The queue has no packet.
    Empty,
}

/// Returns the part of a quantum for each of `load` flows of a host. [2^-16]
fn share(load: u16) -> u32 {
    65_535 / u32::from(load)
}

//! CAKE: a shaper, tins for classes of traffic, fair queueing among hosts and flows, and COBALT in
//! each flow queue.
//!
//! Høiland-Jørgensen, Täht, Morton: "Piece of CAKE: A Comprehensive Queue Management Solution for
//! Home Gateways" (2018); tc-cake(8); Linux, `net/sched/sch_cake.c`.
//!
//! ```text
//!  packet --DSCP--> tin --hash of flow and hosts--> queue --DRR++--> COBALT --> shaper --> link
//! ```
//!
//! | content | module |
//! |---|---|
//! | tins of a DSCP, thresholds of tins | [`dscp`] |
//! | flow queues of a tin, DRR++ | [`tin`] |
//! | set-associative hash, host isolation | [`isolation`] |
//! | AQM | [`cobalt`] |
//! | shaper, clocks of the tins | [`shaper`] |
//! | lengths on the line | [`line`] |
//! | ACK filter | [`ack_filter`], [`tcp_header`] |
//! | hosts and DSCPs of flows | [`flow_table`] |
//!
//! Differs from Linux 6.12 in:
//! - The hash is computed from the number of the flow and its direction, and from the numbers of its
//!   hosts, with a random key per replication.
//! - Packets are single segments, so that there is nothing to split (`split-gso`).
//! - `overhead` is not negative. Without it, 14 bytes are added, as Linux counts the header of an
//!   Ethernet frame.
//! - All buffers are slabs: see [`truesize`](super::truesize) for other allocators.
//! - The key `limit` also limits the number of packets. Among queues of equal length, the drop is
//!   in the highest tin and queue.
//! - ACKs: see [`ack_filter`].
//! - `wash`, `fwmark`, `autorate-ingress` and the overrides of tins and flows by filters are missing.
//! - The average delays of a tin are averages over the measured time, not moving averages.

mod ack_filter;
mod chain;
mod cobalt;
mod counters;
mod dscp;
mod flow_table;
mod isolation;
mod line;
mod settings;
mod shaper;
mod tcp_header;
mod tin;

pub use self::counters::TinCounters;
pub use self::dscp::{Diffserv, Dscp};
pub(crate) use self::flow_table::{FlowClass, OWN};
pub use self::settings::CakeSetting;
pub use self::tcp_header::TcpHeader;

use self::ack_filter::AckFilter;
use self::flow_table::{Entry, flow_of, hosts_of};
use self::isolation::Isolation;
use self::line::Line;
use self::shaper::Shaper;
use self::tcp_header::TcpHeaders;
use self::tin::{Service, Tin};
use super::drr::{hash_key, mixed};
use super::truesize::truesize;
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A queue with CAKE.
#[derive(Clone, Debug)]
pub struct Cake {
    pub(super) setting: CakeSetting,
    line: Line,
    tins: Vec<Tin>,
    /// Hosts and tin of each flow. Flows beyond the end have hosts of their own.
    flows: Vec<Entry>,
    /// TCP headers of the packets of external hosts, if the ACK filter compares them; `None` in a
    /// simulation.
    headers: Option<Box<TcpHeaders>>,
    shaper: Shaper,
    key: u64,
    stream: Stream,
    /// Number of the tin that was served last.
    current: usize,
    pub(super) packets: usize,
    /// Memory of the packets, as Linux counts it. [bytes]
    memory: u64,
    /// Largest memory of the packets. [bytes]
    memory_limit: u64,
}

impl Cake {
    /// Returns an empty queue.
    pub fn new(setting: CakeSetting, stream: Stream) -> Cake {
        let mut stream = stream;
        Cake {
            line: setting.line(),
            tins: tins(&setting),
            flows: Vec::new(),
            headers: None,
            shaper: Shaper::new(setting.rate()),
            key: hash_key(&mut stream),
            stream,
            current: 0,
            packets: 0,
            memory: 0,
            memory_limit: setting.memory_limit(),
            setting,
        }
    }

    /// Sets the hosts and DSCPs of the flows, by number.
    pub(crate) fn set_flows(&mut self, classes: &[FlowClass]) {
        self.flows = classes.iter().map(|class| self.entry(class)).collect();
    }

    /// Adds the next flow, with hosts and DSCP like flow `like`. If `reversed` is true, the two ends
    /// are exchanged.
    pub(crate) fn add_flow(&mut self, like: usize, reversed: bool) {
        let Some(&entry) = self.flows.get(like) else {
            return;
        };
        let [from, to] = entry.hosts;
        let hosts = if reversed { [to, from] } else { [from, to] };
        self.flows.push(Entry { hosts, ..entry });
    }

    /// Adds flow `flow` like [`Cake::add_flow`]. Flows without an entry before it have hosts of their
    /// own.
    pub(super) fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        let own = self.entry(&FlowClass::OWN);
        self.flows.resize(flow as usize, own);
        self.add_flow(like as usize, reversed);
    }

    fn entry(&self, class: &FlowClass) -> Entry {
        let hosts = if self.setting.nat {
            class.hosts
        } else {
            class.public
        };
        Entry {
            hosts,
            tin: self.setting.diffserv.tin(class.dscp),
        }
    }

    /// Makes the ACK filter compare TCP headers, which [`Cake::set_header`] sets. Returns false if
    /// there is no filter.
    pub(super) fn filter_headers(&mut self) -> bool {
        let is_filtering = self.setting.ack_filter != AckFilter::Off;
        self.headers = is_filtering.then(Box::default);
        is_filtering
    }

    /// Sets the TCP header of the packet of an external host; `None` for a packet that is not TCP.
    pub(super) fn set_header(&mut self, number: u32, header: Option<TcpHeader>) {
        if let Some(headers) = &mut self.headers {
            headers.set(number, header);
        }
    }

    /// Applies the settings `to` that may change at run time.
    pub(super) fn change(&mut self, to: CakeSetting) {
        use super::discipline::OfDiscipline;
        self.setting = self.setting.moved_to(to);
        self.memory_limit = self.setting.memory_limit();
        for (tin, new) in self.tins.iter_mut().zip(tins(&self.setting)) {
            tin.parameters = new.parameters;
        }
    }

    /// Returns the hosts and the tin of a packet.
    fn entry_of(&self, packet: &Packet) -> Entry {
        let known = self.flows.get(packet.flow as usize).copied();
        known.unwrap_or_else(|| self.entry(&FlowClass::OWN))
    }

    /// Returns the tag by which a packet is assigned to a queue. `hosts` returns the tags of its
    /// source and destination.
    #[inline]
    fn tag(&self, packet: &Packet, hosts: impl Fn() -> [u32; 2]) -> u32 {
        match self.setting.isolation {
            Isolation::Flowblind => 0,
            Isolation::Srchost => hosts()[0],
            Isolation::Dsthost => hosts()[1],
            Isolation::Hosts => {
                let [source, destination] = hosts();
                source ^ destination
            }
            Isolation::Flows
            | Isolation::DualSrchost
            | Isolation::DualDsthost
            | Isolation::TripleIsolate => mixed(flow_of(packet), self.key) as u32,
        }
    }

    /// Appends `packet` to its queue. While the memory limit or `room` packets are exceeded, packets
    /// are dropped from the longest queue.
    pub(super) fn enqueue(&mut self, packet: Packet, room: usize, dropped: &mut Vec<Packet>) {
        let now = packet.queued;
        let entry = self.entry_of(&packet);
        let key = self.key;
        let hosts = || hosts_of(&packet, &entry).map(|host| mixed(host, key) as u32);
        let tag = self.tag(&packet, hosts);
        let CakeSetting {
            isolation,
            ack_filter,
            ..
        } = self.setting;
        let headers = self.headers.as_deref();
        let tin = &mut self.tins[usize::from(entry.tin)];
        if tin.packets == 0 {
            tin.clock.wake(now);
            if self.packets == 0 {
                self.shaper.wake(now);
            }
        }
        self.packets += 1;
        self.memory += u64::from(truesize(packet.bytes));
        if let Some(ack) = tin.enqueue(packet, tag, hosts, isolation, ack_filter, headers) {
            self.packets -= 1;
            self.memory -= u64::from(truesize(ack.bytes));
            if self.setting.ingress {
                let length = u64::from(self.line.length(ack.bytes));
                tin.clock.charge(now, length);
                self.shaper.charge(length, true);
            }
            dropped.push(ack);
        }
        while (self.packets > room || self.memory > self.memory_limit) && self.packets > 0 {
            dropped.extend(self.overflow(now));
        }
    }

    /// Drops the first packet of the longest queue.
    #[cold]
    fn overflow(&mut self, now: Time) -> Option<Packet> {
        let tins = self.tins.iter().enumerate();
        let longest = tins.filter_map(|(number, tin)| Some((tin.longest()?, number)));
        let ((_, place), number) = longest.max_by_key(|((bytes, _), _)| *bytes)?;
        let tin = &mut self.tins[number];
        let packet = tin.overflow(now, place)?;
        self.packets -= 1;
        self.memory -= u64::from(truesize(packet.bytes));
        if self.setting.ingress {
            let length = u64::from(self.line.length(packet.bytes));
            tin.clock.charge(now, length);
            self.shaper.charge(length, true);
        }
        Some(packet)
    }

    /// Returns the next packet to send; `None` if the shaper does not allow a packet now, or if the
    /// queue is empty.
    pub(super) fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        let mut decaying_first = true;
        while self.packets > 0 && self.shaper.due() <= now {
            self.current = match self.shaper.rate {
                0 => self.next_turn(),
                _ => self.next_scheduled(now),
            };
            let before = dropped.len();
            let mut service = Service {
                now,
                line: self.line,
                isolation: self.setting.isolation,
                ingress: self.setting.ingress,
                decaying_first,
                shaper: &mut self.shaper,
                stream: &mut self.stream,
                dropped: &mut *dropped,
            };
            let packet = self.tins[self.current].serve(&mut service);
            decaying_first = service.decaying_first;
            let gone = dropped[before..].iter().chain(&packet);
            for packet in gone {
                self.packets -= 1;
                self.memory -= u64::from(truesize(packet.bytes));
            }
            if packet.is_some() {
                return packet;
            }
        }
        None
    }

    /// Returns the tin that is served next without a shaper: tins are served in turns, by weights.
    fn next_turn(&mut self) -> usize {
        let mut number = self.current;
        loop {
            let tin = &mut self.tins[number];
            if tin.deficit >= 0 && tin.is_busy() {
                return number;
            }
            if tin.deficit <= 0 {
                tin.deficit += tin.quantum;
            }
            number = (number + 1) % self.tins.len();
        }
    }

    /// Returns the tin that is served next with a shaper: the highest tin below its threshold, or
    /// otherwise the tin whose clock is the earliest.
    fn next_scheduled(&self, now: Time) -> usize {
        let mut best = (Time::NEVER, 0);
        for (number, tin) in self.tins.iter().enumerate() {
            if tin.is_busy() && (tin.clock.next <= now || tin.clock.next <= best.0) {
                best = (tin.clock.next, number);
            }
        }
        best.1
    }

    /// Returns the earliest time at which the shaper allows a packet, or `Time::NEVER` if the queue
    /// is empty.
    pub(super) fn ready(&self) -> Time {
        match self.packets {
            0 => Time::NEVER,
            _ => self.shaper.due(),
        }
    }

    /// Records that `packet`, the last packet returned by `dequeue`, has been sent.
    pub(super) fn departed(&mut self, packet: &Packet, at: Time) {
        let tin = usize::from(self.entry_of(packet).tin);
        self.tins[tin].counters.packets.leave(packet.queued, at);
    }

    /// Returns the counters of the tins, by number.
    pub(crate) fn tins(&self) -> impl Iterator<Item = TinCounters> {
        let counters = |tin: &Tin| TinCounters {
            waiting: tin.packets as u64,
            ..tin.counters
        };
        self.tins.iter().map(counters)
    }

    /// Returns the number of packets marked since the start of the run.
    pub(super) fn marked(&self) -> u64 {
        self.tins
            .iter()
            .map(|tin| tin.counters.packets.marked)
            .sum()
    }

    /// Returns the packets of all queues.
    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.tins.iter().flat_map(Tin::packets)
    }
}

/// Returns empty tins.
fn tins(setting: &CakeSetting) -> Vec<Tin> {
    let thresholds = setting.diffserv.thresholds(setting.rate());
    let quanta = setting.diffserv.quanta().into_iter();
    let pairs = thresholds.into_iter().zip(quanta);
    let tins = pairs.zip(setting.diffserv.tins());
    let tins = tins.map(|((rate, quantum), name)| Tin::new(name, setting.rtt, rate, quantum));
    tins.collect()
}

#[cfg(test)]
mod tests;

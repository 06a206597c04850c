//! A cell: the medium that an access point and its stations share, with the queues in front of it.
//!
//! ```text
//!  offer --> queue --head--> medium (mac::dcf) --end of an exchange--> what has left:
//!                                                 a packet at its receiver, packets lost
//! ```
//!
//! A cell is told of packets and of time and says its next deadline. Nothing in it knows of TCP, of
//! wires or of an agenda, so that the simulator's world and the emulator's clock drive the same object.
//!
//! | question | place |
//! |---|---|
//! | who sends when, collisions, rates | [`crate::mac::dcf`] |
//! | who is dropped, which packet is next | [`crate::queue`] |
//! | what goes in one exchange, in a cell that aggregates; what is received in order | `cell/aggregates.rs` |
//! | how many stations have something to send | `cell/activity.rs` |
//! | what waits above a device that aggregates | `cell/above.rs` |
//! | what is kept for stations that sleep | `cell/power_save.rs` |
//! | what is kept of an exchange for who records | `cell/transmission.rs` |
//! | how a queue is named, what draws its random numbers | [`Cell::new`] |

mod above;
mod activity;
mod aggregates;
mod bursts;
mod power_save;
mod transmission;

use self::above::Above;
use self::activity::Activity;
use self::aggregates::Aggregates;
pub use self::aggregates::OnAir;
use self::power_save::PowerSave;
pub use self::transmission::{Formed, Transmission};
use crate::app::Flow;
use crate::channel::Channel;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{
    AP, AggregateCounters, Content, Dcf, DownCounters, Frame, NodeCounters, Outcome,
};
use crate::mac::{self, Category, Node, QueueOrder, Station};
use crate::packet::Packet;
use crate::queue::{Discipline, Egress, Greedy, HeadQueue, Lanes, SharedBuffer};

/// An access point and its stations, with the flows over them, as settings describe them.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot<'a> {
    /// The cell, its access point included.
    pub cell: &'a mac::Cell,
    /// The stations.
    pub stations: &'a [Station],
    /// All flows, also those that do not cross the air.
    pub flows: &'a [Flow],
}

/// A medium with its queues, one for each contender.
#[derive(Clone, Debug)]
pub struct Cell {
    medium: Dcf,
    ports: Vec<Port>,
    /// Node of the station of each flow, [`AP`] for flows without one. The flows of pings, one for each
    /// station, stand behind those of the scenario.
    stations: Vec<u32>,
    activity: Activity,
    /// Picks the next packet of an access point that serves in mixed order.
    mixing: Option<Stream>,
    /// Whether classes share the access point's queue.
    shares: bool,
    /// What contenders send, if the cell aggregates.
    aggregates: Option<Box<Aggregates>>,
    /// What waits above devices that aggregate, if a queue decides when packets leave.
    above: Option<Box<Above>>,
    /// Whether packets may have to wait in front of the queues, for one of two reasons.
    guarded: bool,
    /// What is kept for stations that sleep, if some do.
    power_save: Option<Box<PowerSave>>,
    /// The next beacon that somebody waits for.
    beacon: Time,
    /// That, or when a receiver has waited long enough for an MPDU that is missing.
    timer: Time,
    /// Packets lost since [`Cell::take_lost`] was last called.
    lost: Vec<Packet>,
    /// What transmitters of a cell that aggregates have on the air, if that is kept for somebody.
    transmissions: Option<Vec<Transmission>>,
}

/// Where packets wait for a contender.
#[derive(Clone, Debug)]
struct Port {
    /// The contender's node: 0 is the AP, i + 1 is station i.
    node: u32,
    queue: HeadQueue,
    /// Whether the queue may mark packets.
    marks: bool,
    /// Whether greedy sources fill the queue.
    greedy: bool,
    /// Name of the queue in results, and of its random stream.
    name: Box<str>,
}

/// What has come off the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OffAir {
    /// Nothing.
    Nothing,
    /// A packet, at the station that it is for.
    AtStation,
    /// A packet, at the access point.
    AtAccessPoint,
    /// Any number of packets: [`Cell::take_received`].
    Several,
}

impl Cell {
    /// The cell of a hot-spot, idle, with empty queues. If stations are `pinged`, each has a flow of
    /// pings behind the others.
    pub fn new(hotspot: Hotspot, pinged: bool, streams: &Streams) -> Cell {
        let Hotspot {
            cell,
            stations,
            flows,
        } = hotspot;
        let medium = hotspot.medium(streams);
        let of_flows = flows.iter();
        let of_flows = of_flows.map(|flow| flow.station().map_or(AP, |one| one as u32 + 1));
        let pinged = if pinged { stations.len() as u32 } else { 0 };
        let stations_of_flows: Vec<u32> = of_flows.chain(1..=pinged).collect();
        let mut schedulers = Vec::new();
        let mut port = |contender| {
            let node = medium.node(contender);
            let name = hotspot.queue_name(&medium, contender);
            let draws = streams.stream(&format!("{name}/queue"));
            let queue = hotspot.queue(node, draws);
            let queue = match medium.forms() {
                true => {
                    let (lanes, of_flow) = Aggregates::lanes(hotspot, node, &stations_of_flows);
                    let (admission, scheduler) = queue.apart();
                    schedulers.push(scheduler);
                    HeadQueue::lanes(Lanes::new(admission, lanes, of_flow))
                }
                false => queue,
            };
            Port {
                node,
                queue,
                marks: hotspot.node(node).queue.marks(),
                greedy: false,
                name: name.into(),
            }
        };
        let ports = (0..medium.contenders() as u32).map(&mut port).collect();
        let power_save = PowerSave::new(cell, stations);
        let above = Above::new(hotspot, &medium, schedulers, streams);
        let mixed = cell.ap_queue_order == QueueOrder::Mixed;
        let mut cell = Cell {
            ports,
            aggregates: Aggregates::new(hotspot, &medium),
            guarded: above.is_some() || power_save.is_some(),
            above,
            stations: stations_of_flows,
            activity: Activity::new(stations.len()),
            mixing: mixed.then(|| streams.stream("ap/order")),
            shares: !cell.sharing_classes.is_empty(),
            power_save,
            beacon: Time::NEVER,
            timer: Time::NEVER,
            lost: Vec::new(),
            transmissions: None,
            medium,
        };
        cell.tell_rates(0..stations.len());
        cell
    }

    /// When [`Cell::timer`] must be called next, and [`Cell::end_exchange`] unless a timer was due.
    #[inline]
    pub fn deadline(&mut self) -> Time {
        self.medium.deadline().min(self.timer)
    }

    /// `packet` enters queue `number`; false if it is refused. Other packets that are lost are fetched with
    /// [`Cell::take_lost`].
    #[inline]
    pub fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        if self.power_save.is_some() {
            return self.offer_or_keep(now, number, packet);
        }
        self.enter_queue(now, number, packet)
    }

    #[inline(always)]
    fn enter_queue(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let port = &mut self.ports[number as usize];
        let was_empty = port.queue.head().is_none();
        let enters = port.queue.offer(now, packet);
        let may_drop = port.queue.may_drop_later();
        if enters && was_empty && port.queue.head().is_some() {
            self.contend(now, number, packet);
        }
        if may_drop {
            self.note_dropped(number);
        }
        enters
    }

    /// Greedy sources begin to fill queue `number`.
    pub fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        let port = &mut self.ports[number as usize];
        port.greedy = true;
        let queue = &mut port.queue;
        let was_empty = queue.head().is_none();
        sources.refill(now, number, queue);
        if was_empty && let Some(packet) = queue.head().copied() {
            self.contend(now, number, &packet);
        }
    }

    /// The first packet of a queue that was empty.
    #[inline(always)]
    fn contend(&mut self, now: Time, number: u32, packet: &Packet) {
        let node = self.ports[number as usize].node;
        self.activity.begin(node, now);
        let frame = frame(&self.stations, node, packet);
        self.medium.backlog(now, number, frame);
    }

    /// Ends the exchange on the air; call it exactly at the deadline. Its frames are still heads of
    /// their queues, until [`Cell::clear`] takes them away.
    #[inline]
    pub fn end_exchange(&mut self) -> Outcome {
        self.medium.advance()
    }

    /// Takes from their queues what the exchange that ended at `now` has brought to an end: the packet
    /// that was received, if one was, which is written to `packet`, and those given up
    /// ([`Cell::take_lost`]).
    #[inline(always)]
    pub fn clear(
        &mut self,
        now: Time,
        outcome: Outcome,
        sources: &mut impl Greedy,
        packet: &mut Packet,
    ) -> OffAir {
        if !self.medium.discarded().is_empty() {
            self.give_up(now, sources);
        }
        let Outcome::Delivered { from, done } = outcome else {
            return OffAir::Nothing;
        };
        self.take_head(from, done, sources, packet);
        if self.shares && packet.is_data() {
            self.count_shares(packet.flow);
        }
        let off = match self.ports[from as usize].node {
            AP => OffAir::AtStation,
            _ => OffAir::AtAccessPoint,
        };
        if self.power_save.is_some() {
            return self.attend(now, done, off, packet);
        }
        off
    }

    /// Takes away the packets that the medium has given up.
    #[cold]
    #[inline(never)]
    fn give_up(&mut self, now: Time, sources: &mut impl Greedy) {
        for index in 0..self.medium.discarded().len() {
            let contender = self.medium.discarded()[index];
            let mut packet = Packet::BLANK;
            self.take_head(contender, now, sources, &mut packet);
            self.lose(contender, packet);
        }
    }

    /// The air has carried data of `flow`; the access point's queues that classes share are told of it.
    #[inline(never)]
    fn count_shares(&mut self, flow: u32) {
        let ap = self.ports.iter_mut().filter(|port| port.node == AP);
        ap.for_each(|port| port.queue.carried(flow));
    }

    /// Removes the packet that `contender` got rid of, its place free from `done` on, and writes it to
    /// `packet`. A contender that sends has a packet: the medium was told of it.
    fn take_head(
        &mut self,
        contender: u32,
        done: Time,
        sources: &mut impl Greedy,
        packet: &mut Packet,
    ) {
        let port = &mut self.ports[contender as usize];
        if let Some(head) = port.queue.head() {
            *packet = *head;
        }
        port.queue.pop(done);
        if port.greedy {
            sources.refill(done, contender, &mut port.queue);
        }
        if let Some(stream) = &mut self.mixing
            && port.node == AP
        {
            port.queue.mix(stream);
        }
        let may_drop = port.queue.may_drop_later();
        let next = port.queue.head();
        let next = next.map(|next| frame(&self.stations, port.node, next));
        if next.is_none() {
            self.activity.end(port.node, done);
        }
        self.medium.proceed(contender, next);
        if may_drop {
            self.note_dropped(contender);
        }
    }

    /// A queue may have dropped packets after taking them.
    #[inline(never)]
    fn note_dropped(&mut self, number: u32) {
        while let Some(packet) = self.ports[number as usize].queue.take_dropped() {
            self.lose(number, packet);
        }
    }

    /// `packet` is lost from queue `number`, in a cell without aggregates.
    fn lose(&mut self, number: u32, packet: Packet) {
        if self.power_save.is_some() {
            self.uncount(number, &packet);
        }
        self.lost.push(packet);
    }

    /// Whether [`Cell::take_lost`] has one.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// A packet that was given up on the air, or dropped by a queue after it had been taken.
    #[inline]
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop()
    }

    /// The medium, for what it counts and whose queue is whose.
    pub fn medium(&self) -> &Dcf {
        &self.medium
    }

    /// Station number `station`, counted from 0, has this `channel` from now on.
    pub fn change_channel(&mut self, station: usize, channel: &Channel) {
        self.medium.change_channel(station, channel);
        if let Some(aggregates) = &mut self.aggregates {
            aggregates.change_channel(station, channel, &self.medium);
        }
        self.tell_rates(station..station + 1);
    }

    /// What differs between two hot-spots in windows, opportunities and queues is as `to` has it from `now` on,
    /// as far as it may move.
    #[cold]
    #[inline(never)]
    pub fn change(&mut self, now: Time, [from, to]: [Hotspot; 2]) {
        for (contender, port) in (0..).zip(&mut self.ports) {
            let [before, after] = [from, to].map(|hotspot| hotspot.node(port.node));
            let category = self.medium.category(contender);
            if before.access(category) != after.access(category) {
                let access = after.access(category);
                self.medium.set_access(now, contender, access);
            }
            let above = self.above.as_mut();
            if before.queue != after.queue
                && !above.is_some_and(|above| above.change(contender, port.node, &after.queue))
            {
                port.queue.change(now, &after.queue);
            }
        }
    }

    /// Number of queues.
    pub fn queues(&self) -> usize {
        self.ports.len()
    }

    /// Queue `number`.
    pub fn queue(&self, number: usize) -> &HeadQueue {
        &self.ports[number].queue
    }

    /// Whether queue `number` may mark packets.
    pub fn marks(&self, number: usize) -> bool {
        self.ports[number].marks
    }

    /// Name of queue `number`: its node's, with the category if that is not best effort.
    pub fn queue_name(&self, number: usize) -> &str {
        &self.ports[number].name
    }

    /// What the medium has done for queue `number`.
    pub fn frames(&self, number: usize) -> NodeCounters {
        let number = number as u32;
        let counters = self.medium.counters(number);
        match &self.aggregates {
            Some(aggregates) => aggregates.counters(number, counters),
            None => counters,
        }
    }

    /// What became of the access point's frames, or MPDUs, to station number `station`, counted from 0.
    pub fn down_counters(&self, station: usize) -> DownCounters {
        match &self.aggregates {
            Some(aggregates) => aggregates.down(station),
            None => self.medium.down_counters(station),
        }
    }

    /// What has been sent from queue `number`, in a cell that aggregates.
    pub fn sent(&self, number: usize) -> Option<AggregateCounters> {
        Some(self.aggregates.as_ref()?.sent(number as u32))
    }

    /// What the access point has sent to station number `station`, counted from 0, in a cell that aggregates.
    pub fn sent_to(&self, station: usize) -> Option<AggregateCounters> {
        Some(self.aggregates.as_ref()?.sent_to(station))
    }

    /// Time in which PPDUs with data for station number `station`, counted from 0, or from it have been on the air
    /// by `now`, in a cell that aggregates. [ns]
    pub fn air_ns(&self, station: usize, now: Time) -> Option<u64> {
        Some(self.aggregates.as_ref()?.air_ns(station, now, &self.medium))
    }

    /// Packets above the device that count in queue `number`, and that the discipline there judges when they
    /// come down.
    pub fn judged_above(&self, number: usize) -> u64 {
        self.above(Some(number as u32)).count() as u64
    }

    /// Packets in no queue: on the air in an aggregate, held until those before them have come, or above the
    /// device.
    pub fn in_aggregates(&self) -> impl Iterator<Item = &Packet> {
        let inside = self.aggregates.iter().flat_map(|own| own.inside());
        inside.chain(self.above(None))
    }

    /// The station of the flow of `packet`: its node, [`AP`] if it has none.
    #[inline]
    pub fn station_of(&self, packet: &Packet) -> u32 {
        self.stations[packet.flow as usize]
    }

    /// Time integral of the number of stations with a frame to send. [ns]
    pub fn activity_ns(&self, now: Time) -> u64 {
        self.activity.integral_ns(now)
    }
}

impl<'a> Hotspot<'a> {
    /// The medium, idle.
    pub fn medium(&self, streams: &Streams) -> Dcf {
        let categories = self.flows.iter();
        let categories = categories.filter_map(|flow| Some((flow.station()?, flow.category)));
        Dcf::new(self.cell, self.stations, categories, streams)
    }

    /// The settings of a node.
    fn node(&self, node: u32) -> &'a Node {
        match node {
            AP => &self.cell.ap,
            station => &self.stations[station as usize - 1].node,
        }
    }

    fn queue_name(&self, medium: &Dcf, contender: u32) -> String {
        let node = match medium.node(contender) {
            AP => "ap",
            node => &self.stations[node as usize - 1].name,
        };
        match medium.category(contender) {
            Category::BestEffort => node.to_owned(),
            other => format!("{node}/{}", other.name()),
        }
    }

    /// The empty queue of a contender of `node`.
    fn queue(&self, node: u32, draws: Stream) -> HeadQueue {
        let setting = &self.node(node).queue;
        if node == AP
            && let Discipline::BufferSharing(sharing) = setting.discipline
        {
            let classes = &self.cell.sharing_classes;
            let limit = setting.limit_packets;
            return HeadQueue::shared(SharedBuffer::new(
                sharing,
                limit,
                classes,
                self.flows.len(),
                draws,
            ));
        }
        HeadQueue::new(setting, self.egress(node), draws)
    }

    /// What a discipline knows of the cell that serves the queues of `node`: its fastest data rate.
    fn egress(&self, node: u32) -> Egress {
        let rate_bps = match node {
            AP => self.stations.iter().map(|s| s.downlink_rate_bps).max(),
            station => Some(self.stations[station as usize - 1].rate_bps),
        };
        Egress {
            rate_bps: rate_bps.unwrap_or(0),
            is_fixed: false,
            delay: Span::ZERO,
        }
    }
}

/// The frame in which `node` sends `packet`.
#[inline]
fn frame(stations: &[u32], node: u32, packet: &Packet) -> Frame {
    let to = match node {
        AP => stations[packet.flow as usize],
        _ => AP,
    };
    Frame {
        to,
        ip_bytes: u32::from(packet.bytes),
        content: if packet.is_data() {
            Content::Data
        } else {
            Content::Ack
        },
    }
}

#[cfg(test)]
mod tests;

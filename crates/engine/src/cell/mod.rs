//! A cell: the medium that an access point and its stations share, with the queues in front of it.
//!
//! ```text
//!  offer --> queue --head--> medium (mac::dcf) --end of an exchange--> received or lost packets
//! ```
//!
//! The inputs of a cell are packets and the time. It returns the time of its next event (its
//! deadline). A cell does not depend on TCP, on wires or on an event queue, so that the simulator
//! and the emulator use the same type. The type of its exchanges, [`SingleFrame`] or
//! [`Aggregating`], is a parameter of the type [`Cell`]. Code that reads results uses `&Cell`, a
//! cell with exchanges of any type.
//!
//! | subject | file |
//! |---|---|
//! | transmission times, collisions, rates | [`crate::mac::dcf`] |
//! | dropped packets, and the next packet | [`crate::queue`] |
//! | operations of every cell | `cell/exchange.rs` |
//! | operations of a cell of single frames | `cell/single_frame.rs` |
//! | operations of a cell that aggregates | `cell/aggregating.rs` |
//! | contents of an aggregate, and the order at the receiver | `cell/senders.rs` |
//! | number of stations that have something to send | `cell/activity.rs` |
//! | packets in front of a device that aggregates | `cell/pull_qdisc.rs`, `cell/pulling.rs` |
//! | packets kept for stations that sleep | `cell/power_save.rs`, `cell/sleeping.rs` |
//! | records of what is on the air | `cell/transmission.rs` |
//! | name of a queue, and its random numbers | `cell/hotspot.rs` |

mod activity;
mod aggregates;
mod aggregating;
mod assembly;
mod exchange;
mod hotspot;
mod off_air;
mod power_save;
mod pull_qdisc;
mod pulling;
mod senders;
mod single_frame;
mod sleeping;
mod transmission;

use self::activity::Activity;
pub use self::aggregates::{Aggregating, ExchangeCounters};
pub use self::exchange::{CellExchange, OnExchange};
pub use self::hotspot::Hotspot;
pub use self::off_air::{OffAir, ReceivedPackets};
use self::power_save::PowerSave;
pub use self::senders::OnAir;
pub use self::transmission::{Formed, Transmission};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::mac::bss::{NodeId, Roles};
use crate::mac::dcf::{AggregateCounters, Dcf, DownCounters, NodeCounters};
use crate::packet::Packet;
use crate::queue::{HeadQueue, Scheduler};

pub use crate::mac::dcf::SingleFrame;

/// Medium with one queue per contender. `X` is the type of the exchanges.
#[derive(Clone, Debug)]
pub struct Cell<X: ?Sized = dyn ExchangeCounters> {
    medium: Dcf,
    ports: Vec<Port>,
    /// Node number of the access point.
    ap: NodeId,
    roles: Roles,
    /// Station of each flow; the access point for a flow without a station. The flows of the
    /// scenario precede the flows of pings (one per station).
    stations: Vec<NodeId>,
    activity: Activity,
    /// Random numbers for the choice of the next packet, if the access point serves its packets in
    /// random order.
    mixing: Option<Stream>,
    /// Whether several classes of flows share the queue of the access point.
    shares: bool,
    /// Whether packets may have to wait before they are in a queue, because some stations sleep or
    /// the cell has a pull qdisc.
    guarded: bool,
    /// Packets that are kept for stations that sleep; `None` if no station sleeps.
    power_save: Option<Box<PowerSave>>,
    /// Time of the next beacon that must release packets.
    beacon: Time,
    /// Time of the next timer: `beacon`, or the earlier time at which a receiver stops waiting for
    /// a missing MPDU.
    timer: Time,
    /// Packets lost since the last call of [`Cell::take_lost`].
    lost: Vec<Packet>,
    exchange: X,
}

/// The queue of a contender.
#[derive(Clone, Debug)]
struct Port {
    /// Node of the contender.
    node: NodeId,
    queue: HeadQueue,
    /// Whether the queue may mark packets.
    marks: bool,
    /// Whether greedy sources fill the queue.
    greedy: bool,
    /// Name of the queue in results, and of its random stream.
    name: Box<str>,
}

impl<X: ?Sized> Cell<X> {
    /// Informs the shared queues of the access point that a data packet of `flow` was delivered
    /// over the air.
    #[inline(never)]
    fn count_shares(&mut self, flow: u32) {
        let ap = self.ports.iter_mut().filter(|port| port.node == self.ap);
        ap.for_each(|port| port.queue.carried(flow));
    }

    /// Returns whether [`Cell::take_lost`] would return a packet.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Removes and returns a lost packet: a packet that was given up on the air, or that a queue
    /// dropped after it had accepted the packet. `None`: no packet is lost.
    #[inline]
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop()
    }

    /// Returns the medium, which has the counters of the contenders. The number of a contender is
    /// also the number of its queue.
    pub fn medium(&self) -> &Dcf {
        &self.medium
    }

    /// Returns the number of queues.
    pub fn queues(&self) -> usize {
        self.ports.len()
    }

    /// Returns queue `number`.
    pub fn queue(&self, number: usize) -> &HeadQueue {
        &self.ports[number].queue
    }

    /// Returns whether queue `number` may mark packets.
    pub fn marks(&self, number: usize) -> bool {
        self.ports[number].marks
    }

    /// Returns the name of queue `number`: the name of its node, followed by the access category if
    /// the category is not best effort.
    pub fn queue_name(&self, number: usize) -> &str {
        &self.ports[number].name
    }

    /// Returns the station of the flow of `packet`; the access point if the flow has no station.
    #[inline]
    pub fn station_of(&self, packet: &Packet) -> NodeId {
        self.stations[packet.flow as usize]
    }

    /// Treats the packets of the new flow `flow` like those of flow `like`. If `reversed` is true,
    /// the data of the two flows have opposite directions.
    pub fn adopt(&mut self, flow: u32, like: u32, reversed: bool) {
        let station = self.stations[like as usize];
        self.stations.resize(flow as usize + 1, station);
        for port in &mut self.ports {
            port.queue.adopt(flow, like, reversed);
        }
    }

    /// Calls `visit` with the queues whose discipline decides at departures.
    pub(crate) fn each_scheduler(&mut self, visit: &mut dyn FnMut(&mut Scheduler)) {
        let ports = self.ports.iter_mut();
        ports
            .filter_map(|port| port.queue.scheduler_mut())
            .for_each(visit);
    }

    /// Returns the time integral of the number of stations that have a frame to send. [ns]
    pub fn activity_ns(&self, now: Time) -> u64 {
        self.activity.integral_ns(now)
    }
}

impl<X: ExchangeCounters + ?Sized> Cell<X> {
    /// Returns the state of the exchanges with aggregates; `None` in a cell of single frames.
    pub fn aggregates(&self) -> Option<&Aggregating> {
        self.exchange.aggregates()
    }

    /// Returns the transmission counters of the contender with queue `number`.
    pub fn frames(&self, number: usize) -> NodeCounters {
        let number = number as u32;
        self.exchange.frames(number, self.medium.counters(number))
    }

    /// Returns the counters of the frames, or MPDUs, from the access point to the station with
    /// index `station`, counted from 0.
    pub fn down_counters(&self, station: usize) -> DownCounters {
        self.exchange.down_counters(station)
    }

    /// Returns the counters of the aggregates that the contender with queue `number` sent; `None`
    /// in a cell of single frames.
    pub fn sent(&self, number: usize) -> Option<AggregateCounters> {
        Some(self.aggregates()?.senders.sent(number as u32))
    }

    /// Returns the counters of the aggregates from the access point to the station with index
    /// `station`, counted from 0; `None` in a cell of single frames.
    pub fn sent_to(&self, station: usize) -> Option<AggregateCounters> {
        Some(self.aggregates()?.senders.sent_to(station))
    }

    /// Returns the time for which PPDUs with data to or from a station were on the air by `now`;
    /// `None` in a cell of single frames. `station` is the index of the station, counted from 0.
    /// [ns]
    pub fn air_ns(&self, station: usize, now: Time) -> Option<u64> {
        let senders = &self.aggregates()?.senders;
        Some(senders.air_ns(station, now, &self.medium))
    }

    /// Returns the packets in service that belong to queue `number`: packets in an aggregate on the
    /// air, packets to be sent again, and packets in the pull qdisc.
    pub fn in_service(&self, number: usize) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates().into_iter();
        let in_device = own.flat_map(move |own| own.senders.in_service(number as u32));
        in_device.chain(self.in_pull_qdisc(Some(number as u32)))
    }

    /// Returns the packets that are in no queue: packets in an aggregate on the air, packets that a
    /// receiver stores until earlier packets arrive, and packets in the pull qdisc.
    pub fn in_aggregates(&self) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates().into_iter();
        let inside = own.flat_map(|own| own.senders.inside());
        inside.chain(self.in_pull_qdisc(None))
    }

    /// Returns the number of packets of queue `number` that wait in the pull qdisc. The queue
    /// discipline may drop or mark a packet when the packet leaves the pull qdisc.
    pub fn unjudged_in_pull_qdisc(&self, number: usize) -> u64 {
        self.in_pull_qdisc(Some(number as u32)).count() as u64
    }

    /// Returns the contents of the exchange that began last, one item per transmitter. The list is
    /// empty if contents are not recorded.
    pub fn transmissions(&self) -> &[Transmission] {
        let own = self.aggregates().and_then(|own| own.transmissions.as_ref());
        own.map_or(&[], |own| own)
    }

    /// Returns the exchange of `contender` on the air; `None` if the contender has no exchange on
    /// the air.
    pub fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        self.aggregates()?.senders.on_air(contender)
    }

    /// Returns, for each MPDU of the exchange that ended last, whether the MPDU was received. The
    /// list is empty if there were several transmitters.
    pub fn judged(&self) -> &[bool] {
        self.aggregates().map_or(&[], |own| &own.senders.judged)
    }
}

#[cfg(test)]
mod tests;

//! A cell: the medium that an access point and its stations share, with the queues in front of it.
//!
//! ```text
//!  offer --> queue --head--> medium (mac::dcf) --end of an exchange--> received or lost packets
//! ```
//!
//! A cell is given packets and the time, and returns its next deadline. It does not depend on TCP,
//! on wires or on an agenda, so that the simulator's world and the emulator's clock use the same
//! object. The type of its exchanges, [`SingleFrame`] or [`Aggregating`], is a parameter of the
//! type [`Cell`]. Readers of results use `&Cell`, which is a cell of either kind.
//!
//! | question | place |
//! |---|---|
//! | transmission times, collisions, rates | [`crate::mac::dcf`] |
//! | dropped packets, and the next packet | [`crate::queue`] |
//! | steps of every cell | `cell/exchange.rs` |
//! | steps of a cell of single frames | `cell/single_frame.rs` |
//! | steps of a cell that aggregates | `cell/aggregating.rs` |
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
pub use self::off_air::OffAir;
use self::power_save::PowerSave;
pub use self::senders::OnAir;
pub use self::transmission::{Formed, Transmission};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::mac::bss::{NodeId, Roles};
use crate::mac::dcf::{AggregateCounters, Dcf, DownCounters, NodeCounters};
use crate::packet::Packet;
use crate::queue::HeadQueue;

pub use crate::mac::dcf::SingleFrame;

/// A medium with its queues, one for each contender, and with exchanges of one kind.
#[derive(Clone, Debug)]
pub struct Cell<X: ?Sized = dyn ExchangeCounters> {
    medium: Dcf,
    ports: Vec<Port>,
    /// The access point.
    ap: NodeId,
    roles: Roles,
    /// Station of each flow, the access point for flows without a station. The flows of pings, one
    /// for each station, follow those of the scenario.
    stations: Vec<NodeId>,
    activity: Activity,
    /// Picks the next packet of an access point that serves in mixed order.
    mixing: Option<Stream>,
    /// Whether classes share the access point's queue.
    shares: bool,
    /// Whether packets may have to wait in front of the queues: some stations sleep, or there is a
    /// pull qdisc.
    guarded: bool,
    /// Packets kept for stations that sleep, if some do.
    power_save: Option<Box<PowerSave>>,
    /// The next beacon for which a packet waits.
    beacon: Time,
    /// The earlier of that beacon and the time at which a receiver stops waiting for a missing
    /// MPDU.
    timer: Time,
    /// Packets lost since [`Cell::take_lost`] was last called.
    lost: Vec<Packet>,
    exchange: X,
}

/// The queue of a contender.
#[derive(Clone, Debug)]
struct Port {
    /// The contender's node.
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
    /// Counts data of `flow` that the air has carried in the access point's queues that classes
    /// share.
    #[inline(never)]
    fn count_shares(&mut self, flow: u32) {
        let ap = self.ports.iter_mut().filter(|port| port.node == self.ap);
        ap.for_each(|port| port.queue.carried(flow));
    }

    /// Returns whether [`Cell::take_lost`] has a packet.
    #[inline(always)]
    pub fn has_lost(&self) -> bool {
        !self.lost.is_empty()
    }

    /// Returns a packet that was given up on the air, or dropped by a queue that had taken it.
    #[inline]
    pub fn take_lost(&mut self) -> Option<Packet> {
        self.lost.pop()
    }

    /// Returns the medium: its counters, and the contender of each queue.
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

    /// Returns the name of queue `number`: its node's, with the category if that is not best
    /// effort.
    pub fn queue_name(&self, number: usize) -> &str {
        &self.ports[number].name
    }

    /// Returns the station of the flow of `packet`; the access point if it has none.
    #[inline]
    pub fn station_of(&self, packet: &Packet) -> NodeId {
        self.stations[packet.flow as usize]
    }

    /// Returns the time integral of the number of stations with a frame to send. [ns]
    pub fn activity_ns(&self, now: Time) -> u64 {
        self.activity.integral_ns(now)
    }
}

impl<X: ExchangeCounters + ?Sized> Cell<X> {
    /// Returns the aggregates, if exchanges carry them.
    pub fn aggregates(&self) -> Option<&Aggregating> {
        self.exchange.aggregates()
    }

    /// Returns the counters of queue `number` at the medium.
    pub fn frames(&self, number: usize) -> NodeCounters {
        let number = number as u32;
        self.exchange.frames(number, self.medium.counters(number))
    }

    /// Returns the counters of the access point's frames, or MPDUs, to station number `station`,
    /// counted from 0.
    pub fn down_counters(&self, station: usize) -> DownCounters {
        self.exchange.down_counters(station)
    }

    /// Returns the counters of aggregates from queue `number`, if exchanges carry them.
    pub fn sent(&self, number: usize) -> Option<AggregateCounters> {
        Some(self.aggregates()?.senders.sent(number as u32))
    }

    /// Returns the counters of the access point's aggregates to station number `station`, counted
    /// from 0.
    pub fn sent_to(&self, station: usize) -> Option<AggregateCounters> {
        Some(self.aggregates()?.senders.sent_to(station))
    }

    /// Returns the time for which PPDUs with data to or from station number `station`, counted from
    /// 0, were on the air by `now`, if exchanges carry aggregates. [ns]
    pub fn air_ns(&self, station: usize, now: Time) -> Option<u64> {
        let senders = &self.aggregates()?.senders;
        Some(senders.air_ns(station, now, &self.medium))
    }

    /// Returns the packets of queue `number` that are in an aggregate on the air, wait to be sent
    /// again, or wait in the pull qdisc.
    pub fn in_service(&self, number: usize) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates().into_iter();
        let in_device = own.flat_map(move |own| own.senders.in_service(number as u32));
        in_device.chain(self.in_pull_qdisc(Some(number as u32)))
    }

    /// Returns the packets in no queue: on the air in an aggregate, held until earlier packets have
    /// come, or in the pull qdisc.
    pub fn in_aggregates(&self) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates().into_iter();
        let inside = own.flat_map(|own| own.senders.inside());
        inside.chain(self.in_pull_qdisc(None))
    }

    /// Returns the number of packets in the pull qdisc that count in queue `number`, and that the
    /// discipline judges when they leave it.
    pub fn unjudged_in_pull_qdisc(&self, number: usize) -> u64 {
        self.in_pull_qdisc(Some(number as u32)).count() as u64
    }

    /// Returns what each transmitter of the exchange that began last sends, or sent, if it is
    /// recorded.
    pub fn transmissions(&self) -> &[Transmission] {
        let own = self.aggregates().and_then(|own| own.transmissions.as_ref());
        own.map_or(&[], |own| own)
    }

    /// Returns what `contender` has on the air, from the begin of its exchange to its end.
    pub fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        self.aggregates()?.senders.on_air(contender)
    }

    /// Returns which MPDUs of the exchange that ended last were received, if there was a single
    /// transmitter.
    pub fn judged(&self) -> &[bool] {
        self.aggregates().map_or(&[], |own| &own.senders.judged)
    }
}

#[cfg(test)]
mod tests;

//! The radio channel of a simulation, and the queues in front of it.
//!
//! | access | variant | medium and queues |
//! |---|---|---|
//! | every node hears every other: DCF, EDCA | [`Medium::Cell`] | [`crate::cell`] |
//! | DCF and EDCA with aggregates | [`Medium::AggregatingCell`] | [`crate::cell`] |
//! | links hear some of each other: CSMA on a conflict graph | [`Medium::ConflictGraph`] | [`crate::conflict`] |
//!
//! To add an access method, add a variant with a type that has the methods that this file calls.

use crate::cell::{Aggregating, Cell, OffAir, ReceivedPackets, SingleFrame};
use crate::channel::Channel;
use crate::conflict::Conflict;
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::NodeCounters;
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue};
use crate::scenario::Scenario;

pub(crate) use crate::cell::OnExchange;

/// The radio channel of a scenario, and the queues in front of it.
#[expect(
    clippy::large_enum_variant,
    reason = "a world has one medium, and asks it at every step"
)]
#[repr(u8)] // an explicit tag makes the test for `Medium::Cell` a single comparison
pub(crate) enum Medium {
    /// A cell: all nodes sense each other. In a scenario without stations, the access point sends
    /// nothing.
    Cell(Cell<SingleFrame>),
    /// A cell in which a frame exchange may carry several packets (aggregates).
    AggregatingCell(Box<Cell<Aggregating>>),
    /// The wireless links of a CSMA network, with a conflict graph.
    ConflictGraph(Box<Conflict>),
}

/// Evaluates the same expression for each variant of the medium. In the expression, `$name` is the
/// content of the variant.
macro_rules! with_medium {
    ($self:expr, $medium:ident => $result:expr) => {
        match $self {
            Medium::Cell($medium) => $result,
            Medium::AggregatingCell($medium) => $result,
            Medium::ConflictGraph($medium) => $result,
        }
    };
}

impl Medium {
    pub(super) fn new(scenario: &Scenario, streams: &Streams) -> Medium {
        let pinged = scenario.bottleneck.is_some();
        let hotspot = scenario.hotspot();
        match (&scenario.csma, &hotspot.bss.cell.ppdus) {
            (Some(csma), _) => Medium::ConflictGraph(Box::new(Conflict::new(csma, streams))),
            (None, Some(_)) => {
                Medium::AggregatingCell(Box::new(Cell::aggregating(hotspot, pinged, streams)))
            }
            (None, None) => Medium::Cell(Cell::new(hotspot, pinged, streams)),
        }
    }

    /// Returns the time at which [`Medium::advance`] must be called.
    #[inline(always)]
    pub(super) fn deadline(&mut self) -> Time {
        match self {
            Medium::Cell(cell) => cell.deadline(),
            Medium::AggregatingCell(cell) => cell.deadline(),
            Medium::ConflictGraph(conflict) => conflict.deadline(),
        }
    }

    /// Offers `packet` to queue `number`. Returns whether the queue accepts the packet, and the
    /// value of [`Medium::has_lost`], because the queue may drop other packets.
    #[inline(always)]
    pub(super) fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> (bool, bool) {
        with_medium!(self, medium => (medium.offer(now, number, packet), medium.has_lost()))
    }

    /// Lets greedy sources fill queue `number` after a source has been added.
    pub(super) fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        with_medium!(self, medium => medium.fill(now, number, sources));
    }

    /// Processes the event at `now`. If exactly one packet has been received, the packet is written
    /// to `packet`. `watch` is called at the end of each frame exchange of a cell, while the
    /// packets are still in their queues.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        match self {
            Medium::Cell(cell) => cell.advance(now, sources, watch, packet),
            Medium::AggregatingCell(_) | Medium::ConflictGraph(_) => {
                self.advance_other_medium(now, sources, watch, packet)
            }
        }
    }

    /// Performs [`Medium::advance`] if the medium is of a variant other than `Cell`.
    #[inline(never)]
    fn advance_other_medium(
        &mut self,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        match self {
            Medium::Cell(cell) => cell.advance(now, sources, watch, packet),
            Medium::AggregatingCell(cell) => cell.advance(now, sources, watch, packet),
            Medium::ConflictGraph(conflict) => match conflict.advance(now, sources) {
                None => OffAir::Nothing,
                Some(received) => {
                    *packet = received;
                    // the packet continues like a packet that the access point has received, even
                    // if its next stop is the endpoint
                    OffAir::AtAccessPoint
                }
            },
        }
    }

    /// Returns whether [`Medium::take_lost`] has a packet.
    #[inline(always)]
    pub(super) fn has_lost(&self) -> bool {
        with_medium!(self, medium => medium.has_lost())
    }

    /// Returns a packet that was discarded after its last transmission attempt, or dropped by a
    /// queue that had admitted it.
    pub(super) fn take_lost(&mut self) -> Option<Packet> {
        with_medium!(self, medium => medium.take_lost())
    }

    /// Returns the cell; `None` in a CSMA network.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        match self {
            Medium::Cell(cell) => Some(cell),
            Medium::AggregatingCell(cell) => Some(&**cell),
            Medium::ConflictGraph(_) => None,
        }
    }

    /// Sets the channel model of station number `station` at `now`. Stations are counted from 0.
    pub(super) fn set_channel(&mut self, now: Time, station: usize, channel: &Channel) {
        match self {
            Medium::Cell(cell) => cell.set_channel(now, station, channel),
            Medium::AggregatingCell(cell) => cell.set_channel(now, station, channel),
            Medium::ConflictGraph(_) => {}
        }
    }

    /// Applies the differences between two scenarios from `now` on. Only settings that may change
    /// at run time are considered.
    pub(super) fn change(&mut self, now: Time, scenarios: [&Scenario; 2]) {
        let hotspots = scenarios.map(Scenario::hotspot);
        match self {
            Medium::Cell(cell) => cell.change(now, hotspots),
            Medium::AggregatingCell(cell) => cell.change(now, hotspots),
            Medium::ConflictGraph(_) => {}
        }
    }

    /// Starts recording the transmissions of nodes that aggregate.
    pub(super) fn record_transmissions(&mut self) {
        if let Medium::AggregatingCell(cell) = self {
            cell.record_transmissions();
        }
    }

    /// Exchanges the list of packets received in the last event for an empty list. Must be called
    /// after [`OffAir::Several`].
    pub(super) fn swap_received(&mut self, received: &mut ReceivedPackets) {
        if let Medium::AggregatingCell(cell) = self {
            cell.swap_received(received);
        }
    }

    /// Returns the wireless links of a CSMA network; `None` in a cell.
    pub(crate) fn conflict(&self) -> Option<&Conflict> {
        match self {
            Medium::ConflictGraph(conflict) => Some(conflict),
            Medium::Cell(_) | Medium::AggregatingCell(_) => None,
        }
    }

    /// Returns the wireless links of a CSMA network for modification; `None` in a cell.
    pub(super) fn conflict_mut(&mut self) -> Option<&mut Conflict> {
        match self {
            Medium::ConflictGraph(conflict) => Some(conflict),
            Medium::Cell(_) | Medium::AggregatingCell(_) => None,
        }
    }

    /// Returns all queues, ordered by number.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &HeadQueue> + Clone {
        let count = with_medium!(self, medium => medium.queues());
        (0..count).map(|number| self.queue(number))
    }

    /// Returns the packets of a cell that are in no queue: packets buffered for sleeping stations,
    /// and packets in aggregates.
    pub(crate) fn outside_queues(&self) -> impl Iterator<Item = &Packet> {
        let cells = self.cell().into_iter();
        cells.flat_map(|cell| cell.power_save_packets().chain(cell.in_aggregates()))
    }

    /// Returns the packets of queue `number` that are in an aggregate on the air, or that wait for
    /// a retransmission.
    pub(crate) fn in_service(&self, number: usize) -> impl Iterator<Item = &Packet> {
        let cells = self.cell().into_iter();
        cells.flat_map(move |cell| cell.in_service(number))
    }

    /// Returns queue `number`.
    pub(crate) fn queue(&self, number: usize) -> &HeadQueue {
        with_medium!(self, medium => medium.queue(number))
    }

    /// Returns whether queue `number` may mark packets.
    pub(crate) fn marks(&self, number: usize) -> bool {
        with_medium!(self, medium => medium.marks(number))
    }

    /// Returns the number of packets of queue `number` that the discipline may still drop or mark
    /// at their departure.
    pub(crate) fn unjudged(&self, number: usize) -> u64 {
        let in_qdisc = |cell: &Cell| cell.unjudged_in_pull_qdisc(number);
        self.queue(number).unjudged() + self.cell().map_or(0, in_qdisc)
    }

    /// Returns the name of queue `number`.
    pub(crate) fn queue_name(&self, number: usize) -> &str {
        with_medium!(self, medium => medium.queue_name(number))
    }

    /// Returns the transmission counters of the contender that sends the packets of queue `number`.
    pub(crate) fn frames(&self, number: usize) -> NodeCounters {
        with_medium!(self, medium => medium.frames(number))
    }
}

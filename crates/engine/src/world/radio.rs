//! The air of a world: which medium serves the queues in front of it.
//!
//! | access | arm | medium and queues |
//! |---|---|---|
//! | every node hears every other: DCF, EDCA | [`Radio::Cell`] | [`crate::cell`] |
//! | the same with aggregates | [`Other::Aggregating`] | [`crate::cell`], other steps |
//! | links hear some of each other: CSMA on a conflict graph | [`Other::Conflict`] | [`crate::conflict`] |
//!
//! Another access method is another arm of [`Other`]: an object with the methods that are called here. The
//! cell without aggregates stands apart from the others, so that its steps are found at a glance.

use crate::cell::{Cell, OffAir};
use crate::conflict::Conflict;
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::{NodeCounters, Outcome};
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue};
use crate::scenario::Scenario;

/// The medium of a scenario, with its queues.
#[expect(
    clippy::large_enum_variant,
    reason = "a world has one, and asks it at every turn"
)]
pub(crate) enum Radio {
    /// One contention domain; without stations an access point that nobody talks to.
    Cell(Cell),
    /// Another.
    Other(Box<Other>),
}

/// A medium that is no cell of single frames.
#[expect(clippy::large_enum_variant, reason = "a world has one")]
pub(crate) enum Other {
    /// One contention domain, in which exchanges carry several packets.
    Aggregating(Cell),
    /// Links on a conflict graph.
    Conflict(Conflict),
}

impl Radio {
    pub(super) fn new(scenario: &Scenario, streams: &Streams) -> Radio {
        match &scenario.csma {
            None => {
                let pinged = scenario.bottleneck.is_some();
                let cell = Cell::new(scenario.hotspot(), pinged, streams);
                match cell.aggregates() {
                    false => Radio::Cell(cell),
                    true => Radio::Other(Box::new(Other::Aggregating(cell))),
                }
            }
            Some(csma) => Radio::Other(Box::new(Other::Conflict(Conflict::new(csma, streams)))),
        }
    }

    /// When [`Radio::advance`] is due.
    #[inline(always)]
    pub(super) fn deadline(&mut self) -> Time {
        match self {
            Radio::Cell(cell) => cell.deadline(),
            Radio::Other(other) => match &mut **other {
                Other::Aggregating(cell) => cell.deadline_of_bursts(),
                Other::Conflict(conflict) => conflict.deadline(),
            },
        }
    }

    /// `packet` enters queue `number`; false if it is refused. Other packets that are lost are fetched with
    /// [`Radio::take_lost`].
    #[inline(always)]
    pub(super) fn offer(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        match self {
            Radio::Cell(cell) => cell.offer(now, number, packet),
            Radio::Other(other) => match &mut **other {
                Other::Aggregating(cell) => cell.offer_to_lane(now, number, packet),
                Other::Conflict(conflict) => conflict.offer(now, number, packet),
            },
        }
    }

    /// Greedy sources begin to fill queue `number`.
    pub(super) fn fill(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        match self {
            Radio::Cell(cell) => cell.fill(now, number, sources),
            Radio::Other(other) => match &mut **other {
                Other::Aggregating(cell) => cell.fill_lanes(now, number, sources),
                Other::Conflict(conflict) => conflict.fill(now, number, sources),
            },
        }
    }

    /// Does what is due at the deadline, `now`; the packet that has been received, if one was, is written
    /// to `packet`. An exchange ends before a beacon of the same instant. `watch` sees each exchange of a cell when it has ended, its frames still in their
    /// queues.
    #[inline(always)]
    pub(super) fn advance(
        &mut self,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        match self {
            Radio::Cell(cell) => {
                if cell.timer(now) {
                    return OffAir::Nothing;
                }
                let outcome = cell.end_exchange();
                if let Some(watch) = watch {
                    watch(cell, outcome);
                }
                cell.clear(now, outcome, sources, packet)
            }
            Radio::Other(other) => other.advance(now, sources, watch, packet),
        }
    }

    /// Whether [`Radio::take_lost`] has one.
    #[inline(always)]
    pub(super) fn has_lost(&self) -> bool {
        match self {
            Radio::Cell(cell) => cell.has_lost(),
            Radio::Other(other) => match &**other {
                Other::Aggregating(cell) => cell.has_lost(),
                Other::Conflict(conflict) => conflict.has_lost(),
            },
        }
    }

    /// A packet that was given up on the air, or dropped by a queue after it had been taken.
    pub(super) fn take_lost(&mut self) -> Option<Packet> {
        match self {
            Radio::Cell(cell) => cell.take_lost(),
            Radio::Other(other) => match &mut **other {
                Other::Aggregating(cell) => cell.take_lost(),
                Other::Conflict(conflict) => conflict.take_lost(),
            },
        }
    }

    /// The cell, if it is one.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        match self {
            Radio::Cell(cell) => Some(cell),
            Radio::Other(other) => match &**other {
                Other::Aggregating(cell) => Some(cell),
                Other::Conflict(_) => None,
            },
        }
    }

    /// The same, to change it.
    pub(super) fn cell_mut(&mut self) -> Option<&mut Cell> {
        match self {
            Radio::Cell(cell) => Some(cell),
            Radio::Other(other) => match &mut **other {
                Other::Aggregating(cell) => Some(cell),
                Other::Conflict(_) => None,
            },
        }
    }

    /// The links of a conflict graph, if it is one.
    pub(crate) fn conflict(&self) -> Option<&Conflict> {
        match self {
            Radio::Other(other) => match &**other {
                Other::Conflict(conflict) => Some(conflict),
                Other::Aggregating(_) => None,
            },
            Radio::Cell(_) => None,
        }
    }

    /// The same, to change them.
    pub(super) fn conflict_mut(&mut self) -> Option<&mut Conflict> {
        match self {
            Radio::Other(other) => match &mut **other {
                Other::Conflict(conflict) => Some(conflict),
                Other::Aggregating(_) => None,
            },
            Radio::Cell(_) => None,
        }
    }

    /// What `of_cell` or `of_conflict` tells.
    fn of<'a, T>(
        &'a self,
        of_cell: impl FnOnce(&'a Cell) -> T,
        of_conflict: impl FnOnce(&'a Conflict) -> T,
    ) -> T {
        match self {
            Radio::Cell(cell) => of_cell(cell),
            Radio::Other(other) => match &**other {
                Other::Aggregating(cell) => of_cell(cell),
                Other::Conflict(conflict) => of_conflict(conflict),
            },
        }
    }

    /// All queues, by number.
    pub(crate) fn queues(&self) -> impl Iterator<Item = &HeadQueue> + Clone {
        let count = self.of(Cell::queues, Conflict::queues);
        (0..count).map(|number| self.queue(number))
    }

    /// Packets that wait in no queue: a cell's, for stations that sleep, and in aggregates.
    pub(crate) fn kept(&self) -> impl Iterator<Item = &Packet> {
        let cells = self.cell().into_iter();
        cells.flat_map(|cell| cell.kept().chain(cell.in_aggregates()))
    }

    /// Packets of queue `number` that are in an aggregate on the air, or wait to be sent again.
    pub(crate) fn in_service(&self, number: usize) -> impl Iterator<Item = &Packet> {
        let cells = self.cell().into_iter();
        cells.flat_map(move |cell| cell.in_service(number))
    }

    /// Exchanges the packets that have come off the air, after [`OffAir::Several`], for an empty list.
    pub(super) fn swap_received(&mut self, received: &mut Vec<(OffAir, Packet)>) {
        if let Some(cell) = self.cell_mut() {
            cell.swap_received(received);
        }
    }

    /// Queue `number`.
    pub(crate) fn queue(&self, number: usize) -> &HeadQueue {
        self.of(|cell| cell.queue(number), |conflict| conflict.queue(number))
    }

    /// Whether queue `number` may mark packets.
    pub(crate) fn marks(&self, number: usize) -> bool {
        self.of(|cell| cell.marks(number), Conflict::marks)
    }

    /// Packets of queue `number` that its discipline judges only when they depart.
    pub(crate) fn unjudged(&self, number: usize) -> u64 {
        let above = |cell: &Cell| cell.judged_above(number);
        self.queue(number).unjudged() + self.of(above, |_| 0)
    }

    /// Name of queue `number`.
    pub(crate) fn queue_name(&self, number: usize) -> &str {
        self.of(
            |cell| cell.queue_name(number),
            |conflict| conflict.name(number),
        )
    }

    /// What the medium has done for queue `number`.
    pub(crate) fn frames(&self, number: usize) -> NodeCounters {
        self.of(
            |cell| cell.frames(number),
            |conflict| conflict.frames(number),
        )
    }
}

impl Other {
    #[inline(never)]
    fn advance(
        &mut self,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        match self {
            Other::Aggregating(cell) => {
                if cell.timer(now) {
                    return OffAir::Several; // what a receiver held, perhaps
                }
                let outcome = cell.begin_or_end(now);
                if let Some(watch) = watch {
                    watch(cell, outcome);
                }
                cell.settle(now, outcome, sources)
            }
            Other::Conflict(conflict) => match conflict.advance(now, sources) {
                None => OffAir::Nothing,
                Some(received) => {
                    *packet = received;
                    OffAir::AtAccessPoint // it goes on from here, if only to its endpoint
                }
            },
        }
    }
}

/// Who looks at exchanges when they have ended.
pub(crate) type OnExchange<'a> = dyn FnMut(&Cell, Outcome) + 'a;

//! A cell whose exchanges carry several packets: the steps of a cell, with [`Aggregates`] between its
//! queues and its medium.

use super::{Cell, OffAir, OnAir, Transmission};
use crate::kernel::time::Time;
use crate::mac::dcf::Outcome;
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue, Lanes, OtherQueue};

impl Cell {
    /// Whether it is such a cell.
    pub fn aggregates(&self) -> bool {
        self.aggregates.is_some()
    }

    /// [`Cell::deadline`].
    #[inline]
    pub fn deadline_of_bursts(&mut self) -> Time {
        self.medium.deadline_of_bursts().min(self.timer)
    }

    /// [`Cell::offer`].
    #[inline]
    pub fn offer_to_lane(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        if self.guarded {
            return self.offer_or_keep(now, number, packet);
        }
        self.enter_lane(now, number, packet)
    }

    /// [`Cell::fill`].
    pub fn fill_lanes(&mut self, now: Time, number: u32, sources: &mut impl Greedy) {
        let port = &mut self.ports[number as usize];
        port.greedy = true;
        sources.refill(now, number, &mut port.queue);
        self.contend_with(now, number);
    }

    /// A packet enters queue `number`; false if it is refused.
    #[inline(always)]
    pub(super) fn enter_lane(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let Some(queue) = lanes(&mut self.ports[number as usize].queue) else {
            return false;
        };
        let was_empty = queue.is_empty();
        let enters = queue.offer(now, packet);
        if was_empty && enters {
            self.contend_with(now, number);
        }
        enters
    }

    /// Queue `number` has a packet; its contender may know.
    pub(super) fn contend_with(&mut self, now: Time, number: u32) {
        let Cell {
            aggregates,
            medium,
            ports,
            activity,
            ..
        } = self;
        if medium.is_backlogged(number) {
            return;
        }
        let port = &mut ports[number as usize];
        if let (Some(aggregates), Some(queue)) = (aggregates, lanes(&mut port.queue))
            && let Some(prospect) = aggregates.prospect(number, queue, medium)
        {
            activity.begin(port.node, now);
            if medium.backlog_with(now, number, prospect) {
                self.form(); // what comes in the same instant is too late
            }
        }
    }

    /// Forms the exchange that begins.
    fn form(&mut self) {
        let Cell {
            aggregates,
            medium,
            ports,
            transmissions,
            above,
            ..
        } = self;
        let Some(aggregates) = aggregates else {
            return;
        };
        if let Some(kept) = transmissions {
            kept.clear();
        }
        for index in 0..medium.transmitters().len() {
            let contender = medium.transmitters()[index];
            if let Some(queue) = lanes(&mut ports[contender as usize].queue) {
                let burst = aggregates.form(contender, queue, medium);
                if let Some(above) = above {
                    above.begin(contender);
                }
                medium.load_burst(contender, &burst);
                if let Some(kept) = transmissions {
                    let on_air = aggregates.on_air(contender);
                    kept.extend(on_air.map(|one| Transmission::begin(contender, burst, &one)));
                }
            }
        }
        medium.launch();
    }

    /// Keeps from now on what transmitters have on the air, if the cell aggregates.
    pub fn keep_transmissions(&mut self) {
        if self.aggregates.is_some() {
            self.transmissions = Some(Vec::new());
        }
    }

    /// What each transmitter of the exchange that began last sends, or sent, if it is kept.
    pub fn transmissions(&self) -> &[Transmission] {
        self.transmissions.as_deref().unwrap_or(&[])
    }

    /// Begins the exchange that is due, which is formed then, or ends the one on the air; call it exactly at
    /// the deadline, `now`, and [`Cell::settle`] then.
    pub fn begin_or_end(&mut self, now: Time) -> Outcome {
        if self.medium.begins() {
            self.form();
            return Outcome::Begins;
        }
        let Cell {
            aggregates,
            medium,
            ports,
            ..
        } = self;
        let Some(aggregates) = aggregates else {
            return Outcome::Begins;
        };
        let received = match *medium.transmitters() {
            [from] => match lanes(&mut ports[from as usize].queue) {
                Some(queue) => {
                    let done = medium.response_end(now, from);
                    aggregates.receive(now, done, from, queue, medium)
                }
                None => true,
            },
            _ => false,
        };
        medium.finish(received)
    }

    /// Takes away what the exchange that ended at `now` has brought to an end, and says what comes next.
    pub fn settle(&mut self, now: Time, outcome: Outcome, sources: &mut impl Greedy) -> OffAir {
        if outcome == Outcome::Begins {
            return OffAir::Nothing;
        }
        let free = match outcome {
            Outcome::Delivered { done, .. } => done,
            _ => now,
        };
        if let (Outcome::Collided, Some(aggregates)) = (outcome, &mut self.aggregates) {
            aggregates.note_overlap(&self.medium);
        }
        for index in 0..self.medium.transmitters().len() {
            let contender = self.medium.transmitters()[index];
            self.settle_one(now, free, contender, outcome, true, sources);
        }
        for index in 0..self.medium.discarded().len() {
            let contender = self.medium.discarded()[index];
            if !self.medium.transmitters().contains(&contender) {
                self.settle_one(now, free, contender, outcome, false, sources);
            }
        }
        self.note_lost();
        if self.above.is_some() {
            self.pull_others(now);
        }
        self.attend_all(now, free)
    }

    fn settle_one(
        &mut self,
        now: Time,
        free: Time,
        contender: u32,
        outcome: Outcome,
        sent: bool,
        sources: &mut impl Greedy,
    ) {
        let Cell {
            aggregates,
            medium,
            ports,
            ..
        } = self;
        let port = &mut ports[contender as usize];
        let (Some(aggregates), Some(queue)) = (aggregates, lanes(&mut port.queue)) else {
            return;
        };
        let discarded = medium.discarded().contains(&contender);
        let behind_rts = medium.protection(contender).is_some();
        let would_have_sent = queue.next();
        aggregates.settle(
            now,
            contender,
            outcome,
            (sent, discarded, behind_rts),
            queue,
        );
        if self.above.is_some() {
            match (sent, would_have_sent) {
                (true, _) => self.pull_after_exchange(now, contender, None),
                (false, Some(lane)) => self.pull_after_exchange(now, contender, Some(lane)),
                (false, None) => {}
            }
        }
        let Cell {
            aggregates,
            medium,
            ports,
            activity,
            ..
        } = self;
        let port = &mut ports[contender as usize];
        let Some(aggregates) = aggregates else {
            return;
        };
        if port.greedy {
            sources.refill(free, contender, &mut port.queue);
        }
        let Some(queue) = lanes(&mut port.queue) else {
            return;
        };
        let prospect = aggregates.prospect(contender, queue, medium);
        if prospect.is_none() {
            activity.end(port.node, free);
        }
        medium.proceed_with(contender, prospect);
    }

    fn note_lost(&mut self) {
        if let Some(aggregates) = &mut self.aggregates {
            self.lost.append(&mut aggregates.lost);
            self.timer = self.beacon.min(aggregates.deadline);
        }
    }

    /// Tells those who listen of packets that have been handed up at `now`.
    fn attend_all(&mut self, now: Time, done: Time) -> OffAir {
        let own = self.aggregates.as_ref();
        let count = own.map_or(0, |own| own.received.len());
        let somebody_listens = self.shares || self.power_save.is_some();
        for index in 0..if somebody_listens { count } else { 0 } {
            let own = self.aggregates.as_ref();
            let Some((off, packet)) = own.and_then(|own| own.received.get(index).copied()) else {
                break;
            };
            if self.shares && packet.is_data() {
                self.count_shares(packet.flow);
            }
            if self.power_save.is_some() {
                self.attend(now, done, off, &packet);
            }
        }
        match count {
            0 => OffAir::Nothing,
            _ => OffAir::Several,
        }
    }

    /// Receivers that have waited long enough at `now` hand up what they hold.
    pub(super) fn stop_waiting(&mut self, now: Time) {
        if let Some(aggregates) = &mut self.aggregates {
            aggregates.time_out(now);
        }
        self.note_lost();
    }

    /// Packets of queue `number` that are in an aggregate on the air, wait to be sent again, or wait above the
    /// device.
    pub fn in_service(&self, number: usize) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates.iter();
        let own = own.flat_map(move |own| own.in_service(number as u32));
        own.chain(self.above(Some(number as u32)))
    }

    /// Exchanges the list of packets that have come off the air, each with where, for `received`, an empty
    /// one; [`OffAir::Several`] announced them.
    pub fn swap_received(&mut self, received: &mut Vec<(OffAir, Packet)>) {
        if let Some(aggregates) = &mut self.aggregates {
            std::mem::swap(&mut aggregates.received, received);
        }
    }

    /// What `contender` has on the air, from the begin of its exchange to its end.
    pub fn on_air(&self, contender: u32) -> Option<OnAir<'_>> {
        self.aggregates.as_ref()?.on_air(contender)
    }

    /// Which MPDUs of the exchange that ended last were received, if there was a single transmitter.
    pub fn judged(&self) -> &[bool] {
        self.aggregates.as_ref().map_or(&[], |own| own.judged())
    }
}

#[inline(always)]
pub(super) fn lanes(queue: &mut HeadQueue) -> Option<&mut Lanes> {
    match queue {
        HeadQueue::Other(other) => match &mut **other {
            OtherQueue::Lanes(lanes) => Some(lanes),
            OtherQueue::Scheduled(_) => None,
        },
        HeadQueue::Fifo(_) => None,
    }
}

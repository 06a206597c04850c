//! A cell that aggregates: each exchange may carry several packets, and its contents are chosen
//! when it begins. After an exchange, each of its contenders declares to the medium the shortest
//! exchange with which it can begin next (its minimum exchange).
//!
//! ```text
//!   offer --> pull qdisc (if any) --> txqs --an exchange begins--> senders: PPDU on the air
//!   --the exchange ends--> packets acknowledged, given up, or to be sent again
//! ```

use super::aggregates::txqs;
use super::{Aggregating, Cell, CellExchange, OffAir, OnExchange, ReceivedPackets, Transmission};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::mac::dcf::Outcome;
use crate::packet::Packet;
use crate::queue::{Greedy, QueueSetting};

impl CellExchange for Aggregating {
    #[inline(always)]
    fn enqueue(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool {
        let Some(queue) = txqs(&mut cell.ports[number as usize].queue) else {
            return false;
        };
        let was_empty = queue.is_empty();
        let enters = queue.offer(now, packet);
        if was_empty && enters {
            cell.contend(now, number);
        }
        enters
    }

    fn enqueue_guarded(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool {
        match cell.exchange.pull_qdisc {
            Some(_) => cell.enqueue_in_qdisc(now, number, packet),
            None => Aggregating::enqueue(cell, now, number, packet),
        }
    }

    fn fill(cell: &mut Cell<Self>, now: Time, number: u32, sources: &mut impl Greedy) {
        sources.refill(now, number, &mut cell.ports[number as usize].queue);
        cell.contend(now, number);
    }

    fn advance(
        cell: &mut Cell<Self>,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        _packet: &mut Packet,
    ) -> OffAir {
        if cell.timer(now) {
            return OffAir::Several; // at a timer, receivers may hand up the packets that they store
        }
        let outcome = cell.begin_or_end(now);
        if let Some(watch) = watch {
            watch(cell, outcome);
        }
        cell.settle(now, outcome, sources)
    }

    fn has_for(cell: &Cell<Self>, sleeper: usize) -> bool {
        let Some(station) = cell.station_of_sleeper(sleeper) else {
            return false;
        };
        cell.queues_of_access_point().any(|queue| {
            let in_queue = cell.ports[queue as usize].queue.has_for_txq(station);
            let qdisc = cell.exchange.pull_qdisc.as_ref();
            in_queue
                || cell.exchange.senders.is_serving(queue, station)
                || qdisc.is_some_and(|qdisc| qdisc.has_for(queue, station))
        })
    }

    fn time_out(cell: &mut Cell<Self>, now: Time) {
        cell.exchange.senders.time_out(now);
        cell.collect_lost();
    }

    fn set_channel(cell: &mut Cell<Self>, _now: Time, station: usize, channel: &Channel) {
        cell.exchange.senders.set_channel(station, channel);
        cell.update_rates(station..station + 1);
    }

    fn change_qdisc(&mut self, contender: u32, node: NodeId, to: &QueueSetting) -> bool {
        let qdisc = self.pull_qdisc.as_mut();
        qdisc.is_some_and(|qdisc| qdisc.change(contender, node, to))
    }
}

impl Cell<Aggregating> {
    /// Makes the contender of queue `number` contend, if the queue stores a packet and the
    /// contender does not contend yet.
    pub(super) fn contend(&mut self, now: Time, number: u32) {
        if self.medium.is_backlogged(number) {
            return;
        }
        let port = &mut self.ports[number as usize];
        if let Some(queue) = txqs(&mut port.queue)
            && let senders = &mut self.exchange.senders
            && let Some(minimum) = senders.minimum_exchange(now, number, queue, &self.medium)
        {
            self.activity.begin(port.node, now);
            let begins = self
                .medium
                .backlog(now, number, minimum, &mut self.exchange);
            if begins {
                self.form(); // later packets of the same instant are not part of this exchange
            }
        }
    }

    /// Chooses the contents of the exchange that begins, for all transmitters.
    fn form(&mut self) {
        let Aggregating {
            senders,
            pull_qdisc,
            transmissions,
            ..
        } = &mut self.exchange;
        if let Some(recorded) = transmissions {
            recorded.clear();
        }
        for index in 0..self.medium.transmitters().len() {
            let contender = self.medium.transmitters()[index];
            if let Some(queue) = txqs(&mut self.ports[contender as usize].queue) {
                let planned = senders.form(contender, queue, &self.medium);
                if let Some(qdisc) = pull_qdisc {
                    qdisc.begin(contender);
                }
                self.medium.load_exchange(contender, &planned);
                if let Some(recorded) = transmissions {
                    let on_air = senders.on_air(contender);
                    recorded.extend(
                        on_air.map(|on_air| Transmission::begin(contender, planned, &on_air)),
                    );
                }
            }
        }
        self.medium.launch();
    }

    /// Enables the recording of the contents of exchanges.
    pub fn record_transmissions(&mut self) {
        self.exchange.transmissions = Some(Vec::new());
    }

    /// Begins the exchange that is due, or ends the exchange on the air. `now` is exactly the
    /// deadline. The caller then calls [`Cell::settle`].
    pub fn begin_or_end(&mut self, now: Time) -> Outcome {
        if self.medium.begins(&self.exchange) {
            self.form();
            return Outcome::Begins;
        }
        self.exchange.received = match *self.medium.transmitters() {
            [from] => match txqs(&mut self.ports[from as usize].queue) {
                Some(queue) => {
                    let done = self.medium.response_end(now, from);
                    let senders = &mut self.exchange.senders;
                    senders.receive(now, done, from, queue, &mut self.medium)
                }
                None => true,
            },
            _ => false,
        };
        self.medium.end_exchange(&mut self.exchange)
    }

    /// Settles the packets of the exchange that ended at `now`: each packet is acknowledged, given
    /// up, or marked to be sent again. Each contender of the exchange then declares its next
    /// exchange.
    pub fn settle(&mut self, now: Time, outcome: Outcome, sources: &mut impl Greedy) -> OffAir {
        if outcome == Outcome::Begins {
            return OffAir::Nothing;
        }
        let free = match outcome {
            Outcome::Delivered { done, .. } => done,
            Outcome::Corrupted | Outcome::Collided | Outcome::Begins => now,
        };
        if outcome == Outcome::Collided {
            self.exchange.senders.count_overlap(&self.medium);
        }
        for index in 0..self.medium.transmitters().len() {
            let contender = self.medium.transmitters()[index];
            self.settle_contender(now, free, contender, outcome, true, sources);
        }
        for index in 0..self.medium.discarded().len() {
            let contender = self.medium.discarded()[index];
            if !self.medium.transmitters().contains(&contender) {
                self.settle_contender(now, free, contender, outcome, false, sources);
            }
        }
        self.collect_lost();
        if self.exchange.pull_qdisc.is_some() {
            self.pull_others(now);
        }
        self.wake_all(now, free)
    }

    fn settle_contender(
        &mut self,
        now: Time,
        free: Time,
        contender: u32,
        outcome: Outcome,
        sent: bool,
        sources: &mut impl Greedy,
    ) {
        let Some(queue) = txqs(&mut self.ports[contender as usize].queue) else {
            return;
        };
        let discarded = self.medium.discarded().contains(&contender);
        let after_rts = self.medium.protection(contender).is_some();
        let would_have_sent = queue.next();
        self.exchange
            .senders
            .settle(now, contender, outcome, (sent, discarded, after_rts), queue);
        if self.exchange.pull_qdisc.is_some() {
            match (sent, would_have_sent) {
                (true, _) => self.pull_after_exchange(now, contender, None),
                (false, Some(txq)) => self.pull_after_exchange(now, contender, Some(txq)),
                (false, None) => {}
            }
        }
        let port = &mut self.ports[contender as usize];
        let port_node = port.node;
        if port.greedy {
            sources.refill(free, contender, &mut port.queue);
        }
        let Some(queue) = txqs(&mut port.queue) else {
            return;
        };
        let senders = &mut self.exchange.senders;
        let minimum = senders.minimum_exchange(now, contender, queue, &self.medium);
        if minimum.is_none() {
            self.activity.end(port.node, free);
        }
        self.medium.proceed(contender, minimum, &mut self.exchange);
        if self.exchange.senders.adapts && port_node == self.ap {
            let station = self.exchange.senders.last(contender).0 as usize;
            self.update_rates(station..station + 1);
        }
    }

    fn collect_lost(&mut self) {
        self.lost.append(&mut self.exchange.senders.lost);
        self.timer = self.beacon.min(self.exchange.senders.deadline);
    }

    /// Informs the shared queues, and the power save of stations that sleep, about the packets that
    /// receivers handed up at `now`.
    fn wake_all(&mut self, now: Time, done: Time) -> OffAir {
        let count = self.exchange.senders.received.len();
        if self.shares || self.power_save.is_some() {
            self.inform_all(now, done);
        }
        match count {
            0 => OffAir::Nothing,
            1.. => OffAir::Several,
        }
    }

    #[inline(never)]
    fn inform_all(&mut self, now: Time, done: Time) {
        let mut received = std::mem::take(&mut self.exchange.senders.received);
        for (off, packets) in received.runs() {
            for packet in packets {
                if self.shares && packet.is_data() {
                    self.count_shares(packet.flow);
                }
                if self.power_save.is_some() {
                    self.wake(now, done, off, packet);
                }
            }
        }
        self.exchange.senders.received = received;
    }

    /// Swaps the list of received packets with `received`, which must be an empty list. Each packet
    /// is listed with the node that received it. The caller calls this method after
    /// [`OffAir::Several`].
    pub fn swap_received(&mut self, received: &mut ReceivedPackets) {
        std::mem::swap(&mut self.exchange.senders.received, received);
    }
}

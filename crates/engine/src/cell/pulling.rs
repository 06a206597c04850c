//! Operations of a cell with packets in front of a device that forms aggregates.

use super::aggregates::txqs;
use super::pull_qdisc::{Linux, Place};
use super::{Aggregating, Cell, CellExchange, ExchangeCounters};
use crate::kernel::time::Time;
use crate::packet::Packet;

impl Cell<Aggregating> {
    /// Enqueues a packet of queue `number`, in front of the device or in the device. Returns false
    /// if the packet is refused.
    #[inline(never)]
    pub(super) fn enqueue_in_qdisc(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let port = &mut self.ports[number as usize];
        let (Some(qdisc), Some(queue)) = (&mut self.exchange.pull_qdisc, txqs(&mut port.queue))
        else {
            return Aggregating::enqueue(self, now, number, packet);
        };
        let first = self.lost.len();
        let was_empty = queue.is_empty();
        match qdisc.place(number, port.node) {
            Place::Linux(linux) => {
                queue.count_in_qdisc(now, packet.bytes);
                linux.enqueue(now, number, queue.txq_of(packet), packet);
                self.count_lost_in_qdisc(now);
            }
            Place::Scheduled(own) => {
                queue.count_in_qdisc(now, packet.bytes);
                own.enqueue(now, packet, queue, &mut self.lost);
                for packet in &self.lost[first..] {
                    queue.lose_in_qdisc(now, packet.bytes);
                }
            }
            Place::Device => return Aggregating::enqueue(self, now, number, packet),
        }
        self.pull_and_contend(now, number, was_empty);
        true
    }

    /// Makes the device of queue `number` pull packets. If the device was empty (`was_empty`), its
    /// contender then contends. After an internal collision, a contender that has given up a packet
    /// stores this packet until the exchange on the air ends. Until that time its device is not
    /// empty, so that the contender does not contend.
    fn pull_and_contend(&mut self, now: Time, number: u32, was_empty: bool) {
        self.pull(now, number);
        if was_empty {
            self.contend(now, number);
        }
    }

    /// Counts the packets that the queue of a Linux access point has dropped.
    fn count_lost_in_qdisc(&mut self, now: Time) {
        while let Some(qdisc) = self.exchange.pull_qdisc.as_mut()
            && let Some((contender, packet)) = qdisc.linux.as_mut().and_then(Linux::take_lost)
        {
            if let Some(queue) = txqs(&mut self.ports[contender as usize].queue) {
                queue.lose_in_qdisc(now, packet.bytes);
            }
            self.lost.push(packet);
        }
    }

    /// Updates the rates of the links to `stations` in the queue of a Linux access point.
    pub(super) fn update_rates(&mut self, stations: std::ops::Range<usize>) {
        if let Some(qdisc) = &mut self.exchange.pull_qdisc
            && let Some(linux) = &mut qdisc.linux
        {
            linux.update_rates(stations, &self.exchange.senders, &self.medium);
        }
    }

    /// Makes the device of queue `number` pull as many packets as its limits permit.
    fn pull(&mut self, now: Time, number: u32) {
        let port = &mut self.ports[number as usize];
        let senders = &self.exchange.senders;
        let (Some(qdisc), Some(queue)) = (&mut self.exchange.pull_qdisc, txqs(&mut port.queue))
        else {
            return;
        };
        let mut dropped = std::mem::take(&mut qdisc.dropped);
        match qdisc.place(number, port.node) {
            Place::Linux(linux) => linux.pull(now, number, senders, queue, &mut dropped),
            Place::Scheduled(own) => own.pull(now, number, senders, queue, &mut dropped),
            Place::Device => {}
        }
        for packet in dropped.drain(..) {
            queue.lose_in_qdisc(now, packet.bytes);
            self.lost.push(packet);
        }
        qdisc.dropped = dropped;
    }

    /// Updates the queue in front of the device after an exchange of `contender`, and then makes
    /// the device pull packets. The air time of the exchange is charged to the station of the
    /// exchange. If `given_up` is a transmit queue, the contender sent nothing, but gave up a
    /// packet of this transmit queue.
    pub(super) fn pull_after_exchange(&mut self, now: Time, contender: u32, given_up: Option<u32>) {
        let port = &mut self.ports[contender as usize];
        let senders = &self.exchange.senders;
        if let Some(qdisc) = &mut self.exchange.pull_qdisc {
            if let (Some(linux), Some(queue)) = (&mut qdisc.linux, txqs(&mut port.queue)) {
                match given_up {
                    None => linux.account(now, contender, port.node, senders, queue),
                    Some(txq) if port.node == self.ap => linux.hold(contender, txq, senders, queue),
                    Some(_) => {}
                }
            }
            qdisc.begin(contender); // there are now fewer packets in the device
        }
        self.pull(now, contender);
    }

    /// Makes the device of the access point pull packets after an exchange, for the access
    /// categories that did not take part in the exchange.
    pub(super) fn pull_others(&mut self, now: Time) {
        let count = self.linux().map_or(0, |linux| linux.contenders.len());
        for index in 0..if count > 1 { count } else { 0 } {
            let Some(contender) = self.linux().map(|linux| linux.contenders[index]) else {
                return;
            };
            let queue = txqs(&mut self.ports[contender as usize].queue);
            let was_empty = queue.is_some_and(|queue| queue.is_empty());
            self.pull_and_contend(now, contender, was_empty);
        }
    }

    fn linux(&self) -> Option<&Linux> {
        self.exchange.pull_qdisc.as_ref()?.linux.as_ref()
    }
}

impl<X: ExchangeCounters + ?Sized> Cell<X> {
    /// Returns the packets that wait in front of the device for queue `number`; `None`: the packets
    /// for all queues.
    pub(super) fn in_pull_qdisc(&self, number: Option<u32>) -> impl Iterator<Item = &Packet> {
        let own = self.aggregates().and_then(|own| own.pull_qdisc.as_ref());
        own.into_iter().flat_map(move |qdisc| {
            let of_ap = number.is_none_or(|number| self.ports[number as usize].node == self.ap);
            let linux = qdisc.linux.iter().filter(move |_| of_ap);
            let linux = linux.flat_map(move |linux| linux.packets(number));
            let scheduled = (0..).zip(&qdisc.scheduled);
            let own = scheduled.filter(move |(of, _)| number.is_none_or(|number| number == *of));
            let own = own.flat_map(|(_, own)| own);
            linux.chain(own.flat_map(|own| own.scheduler.packets()))
        })
    }
}

//! A cell of single frames: each exchange of a contender carries the first packet of its queue.

use super::{Cell, CellExchange, OffAir, OnExchange, Port, SingleFrame};
use crate::channel::Channel;
use crate::kernel::time::Time;
use crate::mac::NodeId;
use crate::mac::dcf::{Content, Frame, Outcome};
use crate::packet::Packet;
use crate::queue::{Greedy, HeadQueue};

impl CellExchange for SingleFrame {
    #[inline(always)]
    fn enqueue(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool {
        let port = &mut cell.ports[number as usize];
        let HeadQueue::Fifo(queue) = &mut port.queue else {
            return cell.enqueue_scheduled(now, number, packet);
        };
        let was_empty = queue.is_empty();
        let enters = queue.offer(now, packet);
        if enters && was_empty {
            let node = port.node;
            cell.contend(now, number, node, packet);
        }
        enters
    }

    fn enqueue_guarded(cell: &mut Cell<Self>, now: Time, number: u32, packet: &Packet) -> bool {
        if let Some(waiting) = cell.waiting_like(number, packet) {
            *waiting += 1;
        }
        let enters = SingleFrame::enqueue(cell, now, number, packet);
        if !enters {
            cell.uncount(number, packet);
        }
        enters
    }

    fn fill(cell: &mut Cell<Self>, now: Time, number: u32, sources: &mut impl Greedy) {
        let Port { queue, node, .. } = &mut cell.ports[number as usize];
        let was_empty = queue.head().is_none();
        sources.refill(now, number, queue);
        if was_empty && let Some(packet) = queue.head().copied() {
            let node = *node;
            cell.contend(now, number, node, &packet);
        }
    }

    #[inline(always)]
    fn advance(
        cell: &mut Cell<Self>,
        now: Time,
        sources: &mut impl Greedy,
        watch: Option<&mut OnExchange<'_>>,
        packet: &mut Packet,
    ) -> OffAir {
        if cell.timer(now) {
            return OffAir::Nothing;
        }
        cell.medium.begins(&cell.exchange);
        let outcome = cell.medium.end_exchange(&mut cell.exchange);
        if let Some(watch) = watch {
            watch(cell, outcome);
        }
        if !cell.medium.discarded().is_empty() {
            cell.give_up(now, sources);
        }
        match outcome {
            Outcome::Delivered { from, done } => cell.deliver(now, from, done, sources, packet),
            Outcome::Corrupted | Outcome::Collided | Outcome::Begins => OffAir::Nothing,
        }
    }

    fn has_for(cell: &Cell<Self>, sleeper: usize) -> bool {
        let own = cell.power_save.as_ref();
        own.is_some_and(|own| own.waiting(sleeper) > 0)
    }

    fn set_channel(cell: &mut Cell<Self>, now: Time, station: usize, channel: &Channel) {
        cell.exchange.set_channel(station, channel);
        let node = cell.roles.node_of(station);
        cell.medium.reload(now, node, &mut cell.exchange);
    }
}

impl Cell<SingleFrame> {
    /// Enqueues `packet` in queue `number`, whose discipline decides at departures. The queue may
    /// drop other packets. Returns false if the queue refuses the packet.
    #[inline(never)]
    fn enqueue_scheduled(&mut self, now: Time, number: u32, packet: &Packet) -> bool {
        let Port { queue, node, .. } = &mut self.ports[number as usize];
        let was_empty = queue.head().is_none();
        let enters = queue.offer(now, packet);
        if enters && was_empty && queue.head().is_some() {
            let node = *node;
            self.contend(now, number, node, packet);
        }
        self.take_dropped(number);
        enters
    }

    /// Makes the contender with queue `number`, which belongs to `node`, contend for `packet`. The
    /// queue was empty before, and `packet` is the first packet in the queue.
    #[inline(always)]
    fn contend(&mut self, now: Time, number: u32, node: NodeId, packet: &Packet) {
        self.activity.begin(node, now);
        let frame = frame(self.ap, &self.stations, node, packet);
        self.medium.backlog(now, number, frame, &mut self.exchange);
    }

    /// Removes from its queue the packet that contender `from` has delivered in the exchange that
    /// ended at `now`, and writes the packet to `packet`. `done` is the end of the MAC ACK.
    #[inline(always)]
    fn deliver(
        &mut self,
        now: Time,
        from: u32,
        done: Time,
        sources: &mut impl Greedy,
        packet: &mut Packet,
    ) -> OffAir {
        let off = self.take_head(from, done, sources, packet);
        if self.shares && packet.is_data() {
            self.count_shares(packet.flow);
        }
        if self.power_save.is_some() {
            self.uncount(from, packet);
            self.wake(now, done, off, packet);
        }
        off
    }

    /// Removes from their queues the packets that the medium has given up. [`Cell::take_lost`]
    /// returns these packets.
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

    /// Removes from the queue of `contender` the packet that was delivered or given up, and writes
    /// the packet to `packet`. Another packet can use the free room in the queue from `done` on.
    /// The caller ensures that the queue is not empty. Returns the node to which the packet was
    /// sent.
    #[inline(always)]
    fn take_head(
        &mut self,
        contender: u32,
        done: Time,
        sources: &mut impl Greedy,
        packet: &mut Packet,
    ) -> OffAir {
        let port = &mut self.ports[contender as usize];
        port.queue.pop_into(done, packet);
        if port.greedy {
            sources.refill(done, contender, &mut port.queue);
        }
        if let Some(stream) = &mut self.mixing
            && port.node == self.ap
        {
            port.queue.mix(stream);
        }
        let may_drop = port.queue.may_drop_later();
        let node = port.node;
        let next = port.queue.head();
        let next = next.map(|next| frame(self.ap, &self.stations, node, next));
        if next.is_none() {
            self.activity.end(node, done);
        }
        self.medium.proceed(contender, next, &mut self.exchange);
        if may_drop {
            self.take_dropped(contender);
        }
        OffAir::of(node == self.ap)
    }

    /// Records the packets that a queue has dropped after it had accepted them.
    #[inline(never)]
    fn take_dropped(&mut self, number: u32) {
        while let Some(packet) = self.ports[number as usize].queue.take_dropped() {
            self.lose(number, packet);
        }
    }

    /// Records that `packet` from queue `number` is lost.
    fn lose(&mut self, number: u32, packet: Packet) {
        if self.power_save.is_some() {
            self.uncount(number, &packet);
        }
        self.lost.push(packet);
    }
}

/// Returns the frame in which `node` sends `packet`.
#[inline]
fn frame(ap: NodeId, stations: &[NodeId], node: NodeId, packet: &Packet) -> Frame {
    let to = match node == ap {
        true => stations[packet.flow as usize],
        false => ap,
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

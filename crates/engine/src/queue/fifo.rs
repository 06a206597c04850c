//! A FIFO under a discipline that decides on arrival; its head stays inside while it is served.

use std::collections::VecDeque;

use super::{Admission, Backlog, Held, QueueCounters, QueueSetting, SharedBuffer, Verdict, Waits};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// Packets in order of arrival, the one in service included.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: VecDeque<Packet>,
    admission: Admission,
    /// Until when the last packet removed still occupies its place (its MAC ACK is on the air).
    released: Time,
    /// Length of that packet. [bytes]
    released_bytes: u16,
    /// Length of the packets inside. [bytes]
    bytes: u64,
    counters: QueueCounters,
    waits: Waits,
}

impl Fifo {
    /// An empty queue.
    pub fn new(admission: Admission) -> Fifo {
        Fifo {
            packets: VecDeque::new(),
            admission,
            released: Time::ZERO,
            released_bytes: 0,
            bytes: 0,
            counters: QueueCounters::default(),
            waits: Waits::default(),
        }
    }

    /// What decides on packets, for another order of service.
    #[inline(never)]
    pub fn admission(self) -> Admission {
        self.admission
    }

    /// Appends `packet`, marked or not, or refuses it. Returns whether it was taken.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        let verdict = match self.admission {
            Admission::DropTail(limit) if self.length(now) < limit as usize => Verdict::Enter,
            Admission::DropTail(_) => Verdict::Drop,
            Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::BufferSharing(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => self.judge(now, packet),
        };
        if verdict == Verdict::Drop {
            self.counters.refuse();
            return false;
        }
        self.counters.enter(now);
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(Packet {
            queued: now,
            ..*packet
        });
        if verdict == Verdict::Mark && self.packets.back_mut().is_some_and(Packet::mark) {
            self.counters.mark();
        }
        true
    }

    #[inline(never)]
    fn judge(&mut self, now: Time, packet: &Packet) -> Verdict {
        let backlog = self.backlog(now);
        let held = Held {
            packets: backlog.packets,
            bytes: backlog.bytes,
        };
        self.admission.advance(now, |_| held);
        self.admission.admit(now, &backlog, packet)
    }

    /// What a packet that arrives at `now` finds.
    fn backlog(&self, now: Time) -> Backlog {
        let packets = self.length(now) as u32;
        let released_bytes = match now < self.released {
            true => self.released_bytes,
            false => 0,
        };
        let in_service = match self.head() {
            Some(head) if released_bytes == 0 => head.bytes,
            _ => released_bytes,
        };
        Backlog {
            packets,
            bytes: self.bytes + u64::from(released_bytes),
            in_service_bytes: u32::from(in_service),
            idle_since: (packets == 0).then_some(self.released),
        }
    }

    /// The setting is `to` from `now` on, as far as it may move; packets that wait stay.
    pub(super) fn change(&mut self, now: Time, to: &QueueSetting) {
        let backlog = self.backlog(now);
        let held = Held {
            packets: backlog.packets,
            bytes: backlog.bytes,
        };
        self.admission.advance(now, |_| held);
        self.admission.change(now, to);
    }

    /// The packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Removes the head, whose place becomes free at `at` (not before now).
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        if !matches!(self.admission, Admission::DropTail(_)) {
            self.tell_departed(at, packet);
        }
        self.bytes -= u64::from(packet.bytes);
        self.counters.leave(packet.queued, at);
        self.waits
            .leave(packet.flow, packet.kind, packet.queued, at);
        self.released = at;
        self.released_bytes = packet.bytes;
        Some(packet)
    }

    /// The discipline hears that `packet`, still counted, leaves at `at`.
    #[inline(never)]
    fn tell_departed(&mut self, at: Time, packet: Packet) {
        let held = Held {
            packets: self.packets.len() as u32 + 1,
            bytes: self.bytes,
        };
        self.admission.departed(at, &packet, held);
    }

    /// Brings to the front the first packet of the flow of a packet drawn at random.
    pub fn mix(&mut self, stream: &mut Stream) {
        if self.packets.len() < 2 {
            return;
        }
        let drawn = stream.up_to(self.packets.len() as u32 - 1) as usize;
        let flow = self.packets[drawn].flow;
        let first = self.packets.iter().position(|packet| packet.flow == flow);
        if let Some(packet) = first.and_then(|index| self.packets.remove(index)) {
            self.packets.push_front(packet);
        }
    }

    /// Length of the packets inside. [bytes]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sets the probability of a drop where that is set from outside.
    pub fn set_price(&mut self, r: f64) {
        if let Admission::Price(price) = &mut self.admission {
            price.set(r);
        }
    }

    /// Packets that occupy a place at `now`.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        self.packets.len() + usize::from(now < self.released)
    }

    /// True unless there is room in a drop-tail queue at `now`: under another discipline there is
    /// none that a source could count on.
    #[inline]
    pub fn is_full(&self, now: Time) -> bool {
        match self.admission {
            Admission::DropTail(limit) => self.length(now) >= limit as usize,
            Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::BufferSharing(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => true,
        }
    }

    /// Packets inside, in order.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }

    /// The shares of its classes, if its discipline has some.
    #[inline]
    pub fn sharing(&self) -> Option<&SharedBuffer> {
        match &self.admission {
            Admission::BufferSharing(sharing) => Some(sharing),
            Admission::DropTail(_)
            | Admission::Red(_)
            | Admission::Proportional(_)
            | Admission::Pi(_)
            | Admission::Pie(_)
            | Admission::Price(_)
            | Admission::Plugin(_) => None,
        }
    }

    /// The air has carried a data segment of `flow`, either way.
    #[inline]
    pub fn carried(&mut self, flow: u32) {
        if let Admission::BufferSharing(sharing) = &mut self.admission {
            sharing.carried(flow);
        }
    }

    /// Totals as they stand now.
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }

    /// Times of the datagrams that have left.
    pub fn waits(&self) -> &Waits {
        &self.waits
    }

    /// Time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        // a head removed early is in the integral until its release, which may lie ahead
        self.counters
            .occupancy_ns(now)
            .wrapping_sub(self.released.since(now).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketKind;

    fn drop_tail(limit: u32) -> Fifo {
        Fifo::new(Admission::DropTail(limit))
    }

    fn packet(number: u32) -> Packet {
        Packet {
            flow: 0,
            number,
            stamp: Time::ZERO,
            queued: Time::ZERO,
            bytes: 1500,
            hop: 0,
            kind: PacketKind::Segment,
            ..Packet::SAMPLE
        }
    }

    #[test]
    fn the_limit_counts_the_packet_in_service_until_its_release() {
        let mut queue = drop_tail(2);
        assert!(queue.offer(Time(0), &packet(0)));
        assert!(queue.offer(Time(10), &packet(1)));
        assert!(!queue.offer(Time(20), &packet(2)));
        assert_eq!(queue.pop(Time(40)).map(|p| p.number), Some(0));
        assert!(
            !queue.offer(Time(39), &packet(3)),
            "its place is taken until 40"
        );
        assert!(queue.offer(Time(40), &packet(4)));
        let counters = queue.counters();
        assert_eq!(
            (counters.offered, counters.dropped, counters.left),
            (5, 2, 1)
        );
        assert_eq!(counters.sojourn_ns, 40);
    }

    #[test]
    fn mixing_serves_flows_by_their_share_and_keeps_each_in_order() {
        let mut stream = crate::kernel::streams::Streams::new(1, 0).stream("mix");
        let mut queue = drop_tail(400);
        for number in 0..300 {
            // two packets of flow 0 for one of flow 1
            let flow = u32::from(number % 3 == 2);
            queue.offer(
                Time(0),
                &Packet {
                    flow,
                    ..packet(number)
                },
            );
        }
        let mut last = [None, None];
        let mut first_half = [0, 0];
        for served in 0..300 {
            queue.mix(&mut stream);
            let Some(packet) = queue.pop(Time(1)) else {
                panic!("300 packets were offered");
            };
            let flow = packet.flow as usize;
            assert!(last[flow] < Some(packet.number), "flow {flow} in order");
            last[flow] = Some(packet.number);
            first_half[flow] += u32::from(served < 150);
        }
        // hypergeometric: mean 50, standard deviation 4.1
        assert!((38..=62).contains(&first_half[1]), "{first_half:?}");
    }

    #[test]
    fn occupancy_is_the_area_under_the_queue_length() {
        let mut queue = drop_tail(9);
        queue.offer(Time(0), &packet(0));
        queue.offer(Time(10), &packet(1));
        assert_eq!(queue.occupancy_ns(Time(20)), 20 + 10);
        queue.pop(Time(40)); // decided at 30, place free at 40
        assert_eq!(queue.occupancy_ns(Time(30)), 30 + 20);
        assert_eq!(queue.occupancy_ns(Time(50)), 40 + 40);
    }
}

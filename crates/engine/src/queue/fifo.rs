//! A FIFO queue with a discipline that decides at arrivals. The first packet stays in the queue
//! while it is served.

use super::admitted::Admitted;
use super::ring::PacketRing;
use super::{Admission, Backlog, QueueSetting, Verdict};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::packet::Packet;

/// Packets in order of arrival, including the packet in service.
#[derive(Clone, Debug)]
pub struct Fifo {
    packets: PacketRing,
    pub(super) admitted: Admitted,
    /// Time until which the packet that was removed last still counts towards the queue length,
    /// because its MAC ACK is on the air.
    released: Time,
    /// Length of the last removed packet. [bytes]
    released_bytes: u16,
}

impl Fifo {
    /// Returns an empty queue.
    pub fn new(admission: Admission) -> Fifo {
        Fifo {
            packets: PacketRing::default(),
            admitted: Admitted::new(admission),
            released: Time::ZERO,
            released_bytes: 0,
        }
    }

    /// Appends `packet`, possibly marked, or refuses it. Returns whether the packet was accepted.
    #[inline(always)]
    pub fn offer(&mut self, now: Time, packet: &Packet) -> bool {
        let verdict = match self.admitted.admission.drop_tail() {
            Some(limit) if self.length(now) < limit as usize => Verdict::Enter,
            Some(_) => Verdict::Drop,
            None => self.judge(now, packet),
        };
        let counters = &mut self.admitted.counts.counters;
        if verdict == Verdict::Drop {
            counters.refuse();
            return false;
        }
        let mut queued = *packet; // a copy of the whole packet takes fewer instructions than one of each field
        queued.queued = now;
        self.packets.push_back(queued);
        if verdict == Verdict::Mark && self.packets.back_mut().is_some_and(Packet::mark) {
            counters.marked += 1;
        }
        self.admitted.enter(now, packet.bytes);
        true
    }

    #[inline(never)]
    fn judge(&mut self, now: Time, packet: &Packet) -> Verdict {
        let backlog = self.backlog(now);
        self.admitted.judge(now, &backlog, packet)
    }

    /// Returns the backlog that an arrival at `now` finds.
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
            bytes: self.admitted.bytes + u64::from(released_bytes),
            in_service_bytes: u32::from(in_service),
            idle_since: (packets == 0).then_some(self.released),
        }
    }

    /// Applies the settings `to` that may change at run time, from `now` on. Waiting packets are
    /// not dropped.
    pub(super) fn change(&mut self, now: Time, to: &QueueSetting) {
        let held = self.backlog(now).held();
        self.admitted.change(now, held, to);
    }

    /// Returns whether the queue has no packet, also none in service.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Returns the packet in service.
    #[inline]
    pub fn head(&self) -> Option<&Packet> {
        self.packets.front()
    }

    /// Removes the first packet. The packet counts towards the queue length until `at`, which is
    /// not before now.
    #[inline(always)]
    pub fn pop(&mut self, at: Time) -> Option<Packet> {
        let mut packet = Packet::BLANK;
        let is_removed = self.pop_into(at, &mut packet);
        is_removed.then_some(packet)
    }

    /// Removes the first packet like [`Fifo::pop`], and writes it to `packet`. Returns false, and
    /// writes nothing, if the queue is empty.
    #[inline(always)]
    pub fn pop_into(&mut self, at: Time, packet: &mut Packet) -> bool {
        if !self.packets.pop_front_into(packet) {
            return false;
        }
        self.admitted.leave(packet, self.packets.len() + 1, at);
        self.released = at;
        self.released_bytes = packet.bytes;
        true
    }

    /// Selects a random packet, and moves the first packet of its flow to the front.
    pub fn mix(&mut self, stream: &mut Stream) {
        if self.packets.len() < 2 {
            return;
        }
        let drawn = stream.up_to(self.packets.len() as u32 - 1) as usize;
        let flow = self.packets.flow_at(drawn);
        let first = self.packets.iter().position(|packet| packet.flow == flow);
        self.packets.move_to_front(first.unwrap_or(drawn));
    }

    /// Returns the queue length at `now`. A removed packet is included until its MAC ACK has been
    /// received.
    #[inline]
    pub fn length(&self, now: Time) -> usize {
        self.packets.len() + usize::from(now < self.released)
    }

    /// Returns the packets in the order of their arrival.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.packets.iter()
    }

    /// Returns the time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        self.admitted.counts.occupancy_ns(now, 1, self.released)
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
        let counters = queue.admitted.counts.counters;
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
            // two packets of flow 0 per packet of flow 1
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
        // the number of packets of flow 1 among the first 150 has a hypergeometric distribution
        // with mean 50 and standard deviation 4.1
        assert!((38..=62).contains(&first_half[1]), "{first_half:?}");
    }

    #[test]
    fn occupancy_is_the_area_under_the_queue_length() {
        let mut queue = drop_tail(9);
        queue.offer(Time(0), &packet(0));
        queue.offer(Time(10), &packet(1));
        assert_eq!(queue.occupancy_ns(Time(20)), 20 + 10);
        queue.pop(Time(40)); // removed at 30, part of the queue until 40
        assert_eq!(queue.occupancy_ns(Time(30)), 30 + 20);
        assert_eq!(queue.occupancy_ns(Time(50)), 40 + 40);
    }
}

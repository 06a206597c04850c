//! Wired link: rate, propagation time, drop-tail queue; packets arrive in order.
//!
//! The link is a FIFO pipe with one pending event, the arrival of the packet in front. A packet's
//! departure is known when it enters (nothing behind it reorders), so departures need no events:
//! the queue in front of the link is the list of departure times still ahead.

use std::collections::VecDeque;

use crate::kernel::time::{Span, Time};
use crate::packet::Packet;
use crate::queue::QueueCounters;
use crate::scenario::Wire;

/// One direction of a wired link.
#[derive(Clone, Debug)]
pub struct Link {
    rate_bps: Option<u64>,
    propagation: Span,
    limit: usize,
    arrivals: VecDeque<(Time, Packet)>,
    departures: VecDeque<Time>,
    last_departure: Time,
    counters: QueueCounters,
    last_sent: (u16, Span),
    busy_ns: u64,
}

impl Link {
    /// An empty link.
    pub fn new(wire: &Wire) -> Link {
        Link {
            rate_bps: wire.rate_bps,
            propagation: wire.delay,
            limit: wire.queue_packets as usize,
            arrivals: VecDeque::new(),
            departures: VecDeque::new(),
            last_departure: Time::ZERO,
            counters: QueueCounters::default(),
            last_sent: (0, Span::ZERO),
            busy_ns: 0,
        }
    }

    /// True if a packet arrives at the far end in the instant it is sent.
    pub fn is_instant(&self) -> bool {
        self.rate_bps.is_none() && self.propagation == Span::ZERO
    }

    /// Sends `packet`; returns false if the queue in front of the link was full.
    #[inline]
    pub fn send(&mut self, now: Time, packet: Packet) -> bool {
        let mut departure = now;
        if let Some(rate) = self.rate_bps {
            while self.departures.front().is_some_and(|&front| front <= now) {
                self.departures.pop_front();
            }
            if self.departures.len() >= self.limit {
                self.counters.refuse();
                return false;
            }
            if self.last_sent.0 != packet.bytes {
                self.last_sent = (packet.bytes, Span::to_send(u64::from(packet.bytes), rate));
            }
            departure = self.last_departure.max(now) + self.last_sent.1;
            self.busy_ns += self.last_sent.1.0;
            self.last_departure = departure;
            self.departures.push_back(departure);
        }
        self.counters.enter(now);
        self.counters.leave(now, departure);
        self.arrivals
            .push_back((departure + self.propagation, packet));
        true
    }

    /// When the next packet arrives at the far end.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.arrivals.front().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// Takes the packet that arrives at the far end.
    #[inline]
    pub fn arrive(&mut self) -> Option<Packet> {
        self.arrivals.pop_front().map(|(_, packet)| packet)
    }

    /// Packets in the queue or under way.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.arrivals.iter().map(|(_, packet)| packet)
    }

    /// Packets in the queue at `now`, the one in service included.
    pub fn length(&self, now: Time) -> usize {
        self.departures
            .iter()
            .filter(|&&departure| departure > now)
            .count()
    }

    /// Totals of the queue; departures are counted when a packet enters.
    pub fn counters(&self) -> QueueCounters {
        self.counters
    }

    /// Time integral of the queue length up to `now`. [packets ns]
    pub fn occupancy_ns(&self, now: Time) -> u64 {
        let ahead = self
            .departures
            .iter()
            .map(|departure| departure.since(now).0)
            .sum::<u64>();
        self.counters.occupancy_ns(now).wrapping_sub(ahead)
    }

    /// Time spent sending up to `now`. [ns]
    pub fn busy_ns(&self, now: Time) -> u64 {
        self.busy_ns - self.last_departure.since(now).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::packet::PacketKind;

    fn wire(rate_bps: Option<u64>, queue_packets: u32) -> Wire {
        Wire {
            rate_bps,
            delay: Span(1_000_000),
            queue_packets,
            loss: 0.0,
        }
    }

    fn packet(bytes: u16) -> Packet {
        Packet {
            flow: 0,
            number: 0,
            stamp: Time::ZERO,
            queued: Time::ZERO,
            bytes,
            kind: PacketKind::Datagram,
            ..Packet::SAMPLE
        }
    }

    #[test]
    fn packets_are_sent_one_after_the_other() {
        let mut link = Link::new(&wire(Some(8_000_000), 10)); // 1 us per byte
        assert!(link.send(Time(0), packet(1000)));
        assert!(link.send(Time(500_000), packet(500)));
        assert_eq!(link.deadline(), Time(2_000_000));
        link.arrive();
        assert_eq!(link.deadline(), Time(2_500_000));
        assert_eq!(link.counters().sojourn_ns, 1_000_000 + 1_000_000);
        assert_eq!(link.occupancy_ns(Time(1_000_000)), 1_000_000 + 500_000);
        assert_eq!(link.busy_ns(Time(1_200_000)), 1_200_000);
    }

    #[test]
    fn the_limit_counts_the_packet_in_service() {
        let mut link = Link::new(&wire(Some(8_000_000), 2));
        assert!(link.send(Time(0), packet(1000)));
        assert!(link.send(Time(0), packet(1000)));
        assert!(!link.send(Time(999_999), packet(1000)));
        assert!(link.send(Time(1_000_000), packet(1000)));
        assert_eq!(link.counters().dropped, 1);
    }

    #[test]
    fn without_a_rate_only_propagation_remains() {
        let mut link = Link::new(&wire(None, 1));
        assert!(link.send(Time(5), packet(1000)) && link.send(Time(5), packet(1000)));
        assert_eq!(link.deadline(), Time(1_000_005));
    }
}

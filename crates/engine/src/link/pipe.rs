//! A link whose queue decides about a packet (accept, drop or mark) only on arrival.
//!
//! The queue is a FIFO, in which no later packet changes the order. The departure of a packet is
//! therefore known when the packet enters. Departures need no events: the queue is the list of
//! future departures.
//!
//! For the same reason a packet may enter with lookahead: the caller calls [`Pipe::enter`] before
//! the time of entry. This requires that the caller learns of the packets in the order of their
//! times of entry. The next event is then the arrival of the packet at the far end. The counters
//! are exact at any time. A packet is counted as offered when the time of its entry has passed, and
//! as departed when the time of its departure has passed.

use std::collections::VecDeque;
use std::ops::Range;

use super::LinkSettings;
use super::bins::Bins;
use super::losses::Losses;
use super::model::{LinkModel, Transit};
use super::residence::{Residence, Residences};
use crate::kernel::time::{Span, Time};
use crate::packet::{Packet, PacketKind};
use crate::queue::{Admission, Passage, QueueCounters, QueueSetting, Verdict, Waits};

/// A link whose departures are known when packets enter.
#[derive(Clone, Debug)]
pub struct Pipe {
    rate_bps: Option<u64>,
    propagation: Span,
    admission: Admission,
    losses: Losses,
    /// Time of entry and time of departure of each packet in the queue. The time of entry may be in
    /// the future.
    residences: Residences,
    /// Counters of the queue, including packets that will enter in the future.
    passage: Passage,
    /// Queueing times of the datagrams that depart in the measured period.
    waits: Waits,
    last_departure: Time,
    /// Length of the last packet, and its serialisation time.
    last_sent: (u16, Span),
    busy_ns: u64,
    /// Measured period.
    measured: Range<Time>,
    longest: usize,
    bins: Bins,
    /// Packets that entered with lookahead and will be lost, with the time and kind of the loss, in
    /// order of time.
    lost_later: VecDeque<(Time, Packet, Transit)>,
}

impl Pipe {
    /// Returns an empty link with the queue discipline `admission` and with `losses`. `measured` is
    /// the time from the end of the warm-up to the end of the run. `bin` is the width of the bins
    /// for the smallest utilisation, if the utilisation is measured.
    pub fn new(
        settings: &LinkSettings,
        admission: Admission,
        losses: Losses,
        measured: Range<Time>,
        bin: Option<Span>,
    ) -> Pipe {
        Pipe {
            rate_bps: settings.rate.bps(),
            propagation: settings.delay,
            admission,
            losses,
            residences: Residences::new(),
            passage: Passage::default(),
            waits: Waits::default(),
            last_departure: Time::ZERO,
            last_sent: (0, Span::ZERO),
            busy_ns: 0,
            longest: 0,
            bins: Bins::new(bin.unwrap_or(Span(u64::MAX)), &measured),
            measured,
            lost_later: VecDeque::new(),
        }
    }

    /// Enqueues `packet` at `at`, which is `now` or later, and not before an earlier packet. If the
    /// packet is lost at `now`, the caller counts the loss. If the packet will be lost later, the
    /// link stores it until then ([`Pipe::settle`]). If the packet arrives, the caller stores it,
    /// or passes it to the next link immediately.
    #[inline]
    pub fn enter(&mut self, now: Time, at: Time, packet: &mut Packet) -> Transit {
        let fate = self.pass(now, at, packet);
        if !matches!(fate, Transit::Arrives(_)) {
            self.schedule_loss(now, at, packet, fate);
        }
        fate
    }

    /// Returns whether a greedy source may enqueue a packet at `now`, because the queue has room.
    pub fn has_room(&mut self, now: Time) -> bool {
        self.residences.retire(now);
        let waiting = self.residences.waiting();
        matches!(self.admission, Admission::DropTail(limit) if waiting < limit as usize)
    }

    /// Returns the departure of the packet that was in service at the last call of [`Pipe::enter`]
    /// or [`Pipe::has_room`].
    pub fn next_departure(&self) -> Time {
        (self.residences.in_service()).map_or(Time::NEVER, |residence| residence.departs)
    }

    /// Counts the refusal of a packet that is lost now, or stores a packet that will be lost later.
    /// `fate` says whether the queue refuses the packet or the link loses it.
    #[inline(never)]
    fn schedule_loss(&mut self, now: Time, at: Time, packet: &Packet, fate: Transit) {
        if at > now {
            self.lost_later.push_back((at, *packet, fate));
        } else if fate == Transit::Refused {
            self.passage.refused += 1;
        }
    }

    #[inline(always)]
    fn pass(&mut self, now: Time, at: Time, packet: &mut Packet) -> Transit {
        if self.losses.take(packet) {
            return Transit::Lost;
        }
        let Some(rate) = self.rate_bps else {
            return Transit::Arrives(at.plus(self.propagation));
        };
        let verdict = if let Admission::DropTail(limit) = self.admission {
            self.residences.retire(at);
            match self.residences.waiting() < limit as usize {
                true => Verdict::Enter,
                false => Verdict::Drop,
            }
        } else {
            self.judge(at, packet)
        };
        let marked = match verdict {
            Verdict::Enter => false,
            Verdict::Mark if packet.mark() => {
                self.passage.marked += 1;
                true
            }
            Verdict::Mark | Verdict::Drop => return Transit::Refused,
        };
        if self.last_sent.0 != packet.bytes || packet.kind == PacketKind::Datagram {
            self.prepare(at, packet, rate);
        }
        let service = self.last_sent.1;
        let begins = self.last_departure.max(at);
        let departs = begins.plus(service);
        self.bins.add(begins, departs, self.busy_ns);
        self.busy_ns += service.0;
        self.last_departure = departs;
        self.passage.add(at, departs);
        let residence = Residence {
            entered: at,
            departs,
            bytes: u32::from(packet.bytes),
            marked,
        };
        self.residences.push(now, residence);
        let waiting = self.residences.waiting();
        if waiting > self.longest && self.measured.contains(&at) {
            self.longest = waiting;
        }
        Transit::Arrives(departs.plus(self.propagation))
    }

    /// Computes the serialisation time of `packet`, which enters at `at`. The caller calls this
    /// method if the packet is a datagram, or if its length differs from that of the previous
    /// packet.
    #[inline(never)]
    fn prepare(&mut self, at: Time, packet: &Packet, rate_bps: u64) {
        let service = service(packet.bytes, rate_bps);
        self.last_sent = (packet.bytes, service);
        if packet.kind == PacketKind::Datagram {
            let departs = self.last_departure.max(at).plus(service);
            if departs > self.measured.start && departs <= self.measured.end {
                self.waits.add(packet.flow, at, departs);
            }
        }
    }

    /// Returns the decision of the queue discipline about `packet`, for disciplines other than
    /// drop-tail.
    #[inline(always)]
    fn judge(&mut self, at: Time, packet: &Packet) -> Verdict {
        if let Admission::Red(red) = &mut self.admission {
            self.residences.retire(at);
            let backlog = self.residences.backlog(self.last_departure);
            return red.admit(at, &backlog, packet);
        }
        self.judge_by_rule(at, packet)
    }

    /// Returns the decision of any discipline. [`Pipe::judge`] makes the decision of RED without a
    /// call of this function.
    #[inline(never)]
    fn judge_by_rule(&mut self, at: Time, packet: &Packet) -> Verdict {
        let residences = &self.residences;
        self.admission
            .advance(at, |instant| residences.held_at(instant));
        self.residences.retire(at);
        let backlog = self.residences.backlog(self.last_departure);
        self.admission.admit(at, &backlog, packet)
    }

    /// Returns the next packet that entered with lookahead and has been lost by `now`.
    #[inline]
    pub fn settle(&mut self, now: Time) -> Option<Packet> {
        let &(at, packet, fate) = self.lost_later.front()?;
        if at > now {
            return None;
        }
        if fate == Transit::Refused {
            self.passage.refused += 1;
        }
        self.lost_later.pop_front();
        Some(packet)
    }

    /// Returns the packets that entered with lookahead and will be lost.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.lost_later.iter().map(|(_, packet, _)| packet)
    }
}

impl LinkModel for Pipe {
    fn unrated_delay(&self) -> Option<Span> {
        self.rate_bps.is_none().then_some(self.propagation)
    }

    fn loses_some(&self) -> bool {
        self.losses.take_some()
    }

    fn loses(&mut self, packet: &Packet) -> bool {
        self.losses.take(packet)
    }

    fn each_packet(&self, visit: &mut dyn FnMut(&Packet)) {
        self.packets().for_each(visit);
    }

    /// Changes the setting of the queue. The caller ensures that no packet has entered with
    /// lookahead.
    fn change_queue(&mut self, now: Time, to: &QueueSetting) {
        let residences = &self.residences;
        self.admission
            .advance(now, |instant| residences.held_at(instant));
        self.admission.change(now, to);
    }

    fn length(&self, now: Time) -> usize {
        self.residences.length(now)
    }

    fn waits(&self) -> Option<&Waits> {
        Some(&self.waits)
    }

    fn counters(&self, now: Time) -> QueueCounters {
        let mut counters = self.passage.totals(self.residences.entered());
        for residence in self.residences.open(now) {
            counters.take_back_leave(residence.entered, residence.departs);
            if residence.entered > now {
                counters.take_back_enter(residence.entered, residence.marked);
            }
        }
        counters
    }

    fn used(&self, now: Time) -> [u64; 2] {
        let mut ahead = 0;
        let mut free = Time::ZERO;
        for residence in self.residences.open(now) {
            let begins = free.max(residence.entered).max(now);
            ahead += residence.departs.since(begins).0;
            free = residence.departs;
        }
        [self.busy_ns - ahead, now.0]
    }

    fn longest(&self) -> usize {
        self.longest
    }

    fn least_utilisation(&self) -> Option<f64> {
        self.bins.least(self.busy_ns)
    }
}

/// Returns the serialisation time of a packet.
#[inline(never)]
pub(super) fn service(bytes: u16, rate_bps: u64) -> Span {
    Span::to_send(u64::from(bytes), rate_bps)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::queue::QueueSetting;

    const MS: u64 = 1_000_000;

    fn link(rate_bps: Option<u64>, queue_packets: u32) -> Pipe {
        let settings = LinkSettings {
            rate: rate_bps.into(),
            delay: Span(MS),
            queue: QueueSetting::drop_tail(queue_packets),
            ..LinkSettings::ideal("link", "a", "b")
        };
        let admission = Admission::DropTail(queue_packets);
        let losses = Losses::new(settings.loss, Streams::new(1, 0).stream("loss"));
        let measured = Time(MS)..Time(4 * MS);
        Pipe::new(&settings, admission, losses, measured, Some(Span(MS)))
    }

    fn packet(bytes: u16) -> Packet {
        Packet {
            bytes,
            ..Packet::SAMPLE
        }
    }

    fn enter(link: &mut Pipe, at: u64, bytes: u16) -> Transit {
        link.enter(Time(at), Time(at), &mut packet(bytes))
    }

    #[test]
    fn packets_are_sent_one_after_the_other() {
        let mut link = link(Some(8_000_000), 10); // 1 us per byte
        assert_eq!(enter(&mut link, 0, 1000), Transit::Arrives(Time(2 * MS)));
        assert_eq!(
            enter(&mut link, MS / 2, 500),
            Transit::Arrives(Time(5 * MS / 2))
        );
        let counters = link.counters(Time(2 * MS));
        assert_eq!(counters.sojourn_ns, MS + MS);
        assert_eq!(link.counters(Time(MS)).occupancy_ns(Time(MS)), MS + MS / 2);
        assert_eq!(link.used(Time(6 * MS / 5))[0], 6 * MS / 5);
        assert_eq!(link.length(Time(MS - 1)), 2);
        assert_eq!(link.length(Time(MS)), 1);
    }

    #[test]
    fn the_limit_counts_the_packet_in_service() {
        let mut link = link(Some(8_000_000), 2);
        assert!(matches!(enter(&mut link, 0, 1000), Transit::Arrives(_)));
        assert!(matches!(enter(&mut link, 0, 1000), Transit::Arrives(_)));
        assert_eq!(enter(&mut link, MS - 1, 1000), Transit::Refused);
        assert!(matches!(enter(&mut link, MS, 1000), Transit::Arrives(_)));
        assert_eq!(link.counters(Time(MS)).dropped, 1);
        assert_eq!(link.longest(), 2);
    }

    #[test]
    fn without_a_rate_only_propagation_remains() {
        let mut link = link(None, 1);
        assert_eq!(enter(&mut link, 5, 1000), Transit::Arrives(Time(MS + 5)));
        assert_eq!(enter(&mut link, 5, 1000), Transit::Arrives(Time(MS + 5)));
    }

    #[test]
    fn what_enters_ahead_of_time_counts_when_its_time_has_come() {
        let mut link = link(Some(8_000_000), 1);
        let now = Time(0);
        assert!(matches!(
            link.enter(now, Time(MS), &mut packet(1000)),
            Transit::Arrives(_)
        ));
        assert_eq!(
            link.enter(now, Time(3 * MS / 2), &mut packet(1000)),
            Transit::Refused
        );
        assert_eq!(link.counters(Time(MS - 1)).offered, 0);
        assert_eq!(link.used(Time(MS))[0], 0);
        assert_eq!(link.used(Time(3 * MS / 2))[0], MS / 2);
        assert_eq!(link.settle(Time(3 * MS / 2 - 1)), None);
        assert_eq!(
            link.packets().count(),
            1,
            "the lost_later one is on its way"
        );
        assert!(link.settle(Time(3 * MS / 2)).is_some());
        let counters = link.counters(Time(3 * MS / 2));
        assert_eq!((counters.offered, counters.dropped), (2, 1));
    }

    #[test]
    fn the_least_utilisation_is_that_of_the_emptiest_bin_measured() {
        // the measured period is 1 ms to 4 ms, which are the bins 1, 2 and 3; 700 bytes use 0.7 ms
        // of bin 3
        let mut link = link(Some(8_000_000), 10);
        for (at, bytes) in [(MS, 900), (2 * MS, 1000), (3 * MS, 700), (4 * MS, 100)] {
            enter(&mut link, at, bytes);
        }
        assert_eq!(link.least_utilisation(), Some(0.7));
    }

    #[test]
    fn a_bin_without_a_packet_is_empty() {
        let mut idle_at_the_end = link(Some(8_000_000), 10);
        enter(&mut idle_at_the_end, MS, 2000);
        assert_eq!(idle_at_the_end.least_utilisation(), Some(0.0));
        let mut idle_between = link(Some(8_000_000), 10);
        enter(&mut idle_between, MS, 1000);
        enter(&mut idle_between, 3 * MS, 1000);
        assert_eq!(idle_between.least_utilisation(), Some(0.0));
    }

    #[test]
    fn a_long_transmission_fills_its_bins() {
        let mut link = link(Some(8_000_000), 10);
        for _ in 0..4 {
            enter(&mut link, 0, 1500);
        }
        assert_eq!(link.least_utilisation(), Some(1.0));
    }
}

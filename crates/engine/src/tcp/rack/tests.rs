//! Compares RACK with the pseudocode of RFC 8985, which is executed over a plain list of segments.

use super::*;
use crate::kernel::streams::{Stream, Streams};
use crate::tcp::pipe::MS;
use proptest::prelude::*;
use std::collections::BTreeSet;

/// The state that the sender stores for each segment (RFC 8985, section 5.2).
#[derive(Clone, Copy, Debug)]
struct Segment {
    number: u32,
    xmit_ts: Time,
    /// Number of transmissions of all segments before the last transmission of this segment.
    order: u64,
    retransmitted: bool,
    lost: bool,
    arrived: bool,
}

/// The pseudocode of RFC 8985, section 6.2, which loops over all segments.
#[derive(Clone, Debug)]
struct Oracle {
    segments: Vec<Segment>,
    snd_una: u32,
    xmit_ts: Time,
    order: u64,
    sent: u64,
    rtt: Span,
    min_rtt: Span,
    fack: u32,
    reordering_seen: bool,
    deadline: Time,
}

/// RACK_sent_after(): compares two transmissions by time, and then by the order of transmissions
/// instead of sequence numbers.
fn sent_after(t1: Time, order1: u64, t2: Time, order2: u64) -> bool {
    t1 > t2 || t1 == t2 && order1 > order2
}

impl Oracle {
    fn new() -> Oracle {
        Oracle {
            segments: Vec::new(),
            snd_una: 0,
            xmit_ts: Time::ZERO,
            order: 0,
            sent: 0,
            rtt: Span::ZERO,
            min_rtt: Span(u64::MAX),
            fack: 0,
            reordering_seen: false,
            deadline: Time::NEVER,
        }
    }

    fn transmit(&mut self, now: Time, number: u32) {
        self.sent += 1;
        let order = self.sent;
        if number as usize == self.segments.len() {
            self.segments.push(Segment {
                number,
                xmit_ts: now,
                order,
                retransmitted: false,
                lost: false,
                arrived: false,
            });
        } else {
            let segment = &mut self.segments[number as usize];
            (segment.xmit_ts, segment.retransmitted) = (now, true);
            (segment.order, segment.lost) = (order, false);
        }
    }

    fn on_ack(&mut self, now: Time, next: u32, echo: Time, blocks: &Blocks) {
        let covers =
            |number: u32| number < next || blocks.iter().any(|b| (b.0..b.1).contains(&number));
        let mut reported: Vec<Segment> = Vec::new();
        for segment in &mut self.segments {
            if !segment.arrived && covers(segment.number) {
                segment.arrived = true;
                reported.push(*segment);
            }
        }
        // step 1: update RACK.min_RTT
        if next > self.snd_una {
            self.min_rtt = self.min_rtt.min(now.since(echo));
        }
        // step 2: update RACK.segment, in the order of transmissions
        reported.sort_by_key(|segment| segment.order);
        for segment in &reported {
            let rtt = now.since(segment.xmit_ts);
            if segment.retransmitted {
                let cumulative = segment.number < next;
                if cumulative && echo < segment.xmit_ts || rtt < self.min_rtt {
                    continue;
                }
            }
            self.rtt = rtt;
            let Segment { xmit_ts, order, .. } = *segment;
            if sent_after(xmit_ts, order, self.xmit_ts, self.order) {
                (self.xmit_ts, self.order) = (xmit_ts, order);
            }
        }
        let once = reported.iter().filter(|segment| !segment.retransmitted);
        let least = once.map(|segment| now.since(segment.xmit_ts)).min();
        self.min_rtt = self.min_rtt.min(least.unwrap_or(self.min_rtt));
        // step 3: detect reordering, in the order of sequence numbers
        reported.sort_by_key(|segment| segment.number);
        for segment in &reported {
            let end_seq = segment.number + 1;
            if end_seq > self.fack {
                self.fack = end_seq;
            } else if end_seq < self.fack && !segment.retransmitted {
                self.reordering_seen = true;
            }
        }
        self.snd_una = next;
    }

    /// Returns the reordering window RACK.reo_wnd (step 4).
    fn reo_wnd(&self, state: SenderState) -> Span {
        let sacked = self.segments[self.snd_una as usize..].iter();
        let sacked = sacked.filter(|segment| segment.arrived).count();
        if !self.reordering_seen && (state.recovers || sacked >= 3) {
            return Span::ZERO;
        }
        Span(self.min_rtt.0 / 4).min(state.srtt.unwrap())
    }

    /// Declares late segments lost and returns their number (step 5).
    fn detect_loss(&mut self, now: Time, state: SenderState) -> u32 {
        let reo_wnd = self.reo_wnd(state);
        let (mut timeout, mut losses) = (None, 0);
        for segment in &mut self.segments[self.snd_una as usize..] {
            let Segment { xmit_ts, order, .. } = *segment;
            if segment.arrived
                || segment.lost
                || !sent_after(self.xmit_ts, self.order, xmit_ts, order)
            {
                continue;
            }
            let due = xmit_ts + self.rtt + reo_wnd;
            if due <= now {
                segment.lost = true;
                losses += 1;
            } else {
                timeout = timeout.max(Some(due));
            }
        }
        self.deadline = timeout.unwrap_or(Time::NEVER);
        losses
    }

    /// Declares segments lost after a retransmission timeout (section 6.3).
    fn on_rto(&mut self, now: Time, state: SenderState) {
        let (rtt, reo_wnd) = (self.rtt, self.reo_wnd(state));
        let first = self.snd_una;
        for segment in &mut self.segments[first as usize..] {
            let is_late = segment.xmit_ts + rtt + reo_wnd <= now;
            if !segment.arrived && (segment.number == first || is_late) {
                segment.lost = true;
            }
        }
        self.deadline = Time::NEVER;
    }
}

/// A simulated connection with RACK, the pseudocode, the receiver, and the packets in flight.
struct Play {
    rack: Rack,
    oracle: Oracle,
    draws: Stream,
    now: Time,
    snd_una: u32,
    snd_max: u32,
    /// Segments in flight, each with its transmission time.
    data: Vec<(Time, u32)>,
    acks: Vec<(u32, Time, Blocks)>,
    rcv_nxt: u32,
    ahead: BTreeSet<u32>,
    ts_recent: Time,
    state: SenderState,
}

impl Rack {
    pub(in crate::tcp) fn is_sacked(&self, number: u32) -> bool {
        self.sacked.contains(number)
    }
}

/// The observable state of RACK or of the pseudocode, for their comparison. Times are in ns.
type Seen = (Vec<u32>, u32, u64, u64, u64, u32, u64);

const WINDOW: u32 = 60;

impl Play {
    fn new(seed: u64) -> Play {
        Play {
            rack: Rack::new(WINDOW),
            oracle: Oracle::new(),
            draws: Streams::new(seed, 0).stream("play"),
            now: Time(1_000 * MS),
            snd_una: 0,
            snd_max: 0,
            data: Vec::new(),
            acks: Vec::new(),
            rcv_nxt: 0,
            ahead: BTreeSet::new(),
            ts_recent: Time::ZERO,
            state: SenderState {
                recovers: false,
                srtt: Some(Span(8 * MS)),
            },
        }
    }

    fn below(&mut self, bound: usize) -> usize {
        self.draws.up_to(bound as u32 - 1) as usize
    }

    /// Simulates one random event. With `reorders`, packets may be reordered.
    fn step(&mut self, reorders: bool) {
        self.now += Span(u64::from(self.draws.up_to(2)) * MS); // often 0, so that many events are simultaneous
        match self.below(12) {
            0..4 if self.snd_max - self.snd_una < WINDOW => {
                self.rack.on_sent(self.now, self.snd_una, self.snd_max);
                self.transmit(self.snd_max);
                self.snd_max += 1;
            }
            4 | 5 => {
                if let Some(number) = self.rack.first_lost(self.snd_una, self.snd_max) {
                    let lost = self.oracle.segments.iter().find(|s| s.lost && !s.arrived);
                    assert_eq!(lost.map(|s| s.number), Some(number));
                    self.rack.on_sent_again(self.now, number);
                    self.transmit(number);
                }
            }
            6..9 if !self.data.is_empty() => self.arrive(reorders),
            9 | 10 if !self.acks.is_empty() => self.acknowledge(reorders),
            11 if self.now >= self.rack.deadline() => self.detect(),
            11 if self.snd_una < self.snd_max && self.below(8) == 0 => {
                self.rack.on_rto(self.now, self.snd_una, self.state);
                self.oracle.on_rto(self.now, self.state);
            }
            _ => self.state.recovers = self.below(4) == 0,
        }
    }

    fn transmit(&mut self, number: u32) {
        self.oracle.transmit(self.now, number);
        if self.below(5) > 0 {
            self.data.push((self.now, number));
        }
    }

    /// Delivers a segment, which may be out of order. The ACK of the segment may be lost.
    fn arrive(&mut self, reorders: bool) {
        let which = if reorders {
            self.below(self.data.len().min(6))
        } else {
            0
        };
        let (sent, number) = self.data.remove(which);
        if number <= self.rcv_nxt && sent >= self.ts_recent {
            self.ts_recent = sent;
        }
        if number >= self.rcv_nxt {
            self.ahead.insert(number);
        }
        while self.ahead.remove(&self.rcv_nxt) {
            self.rcv_nxt += 1;
        }
        let mut blocks = Blocks::default();
        let starts = self
            .ahead
            .iter()
            .filter(|&&n| !self.ahead.contains(&(n - 1)));
        for (block, &from) in blocks.iter_mut().zip(starts.rev()) {
            let to = (from..).find(|n| !self.ahead.contains(n)).unwrap();
            *block = (from, to);
        }
        if self.below(6) > 0 {
            self.acks.push((self.rcv_nxt, self.ts_recent, blocks));
        }
    }

    fn acknowledge(&mut self, reorders: bool) {
        let which = if reorders {
            self.below(self.acks.len().min(2))
        } else {
            0
        };
        let (next, echo, blocks) = self.acks.remove(which);
        if next < self.snd_una || self.snd_una == self.snd_max {
            return;
        }
        let arrived = |oracle: &Oracle| oracle.segments.iter().filter(|s| s.arrived).count();
        let before = arrived(&self.oracle);
        self.oracle.on_ack(self.now, next, echo, &blocks);
        let update = self.rack.on_ack(Step {
            now: self.now,
            before: self.snd_una,
            next,
            snd_max: self.snd_max,
            echo,
            blocks: &blocks,
        });
        assert_eq!(update.delivered as usize, arrived(&self.oracle) - before);
        assert_eq!(
            update.outstanding as usize,
            self.oracle.segments.len() - before
        );
        self.snd_una = next;
        self.detect();
    }

    fn detect(&mut self) {
        let losses = self.rack.detect_loss(self.now, self.state);
        assert_eq!(losses, self.oracle.detect_loss(self.now, self.state));
    }

    fn seen_of_rack(&self) -> Seen {
        let rack = &self.rack;
        let out = self.snd_una..self.snd_max;
        (
            out.filter(|&number| rack.lost.contains(number)).collect(),
            rack.in_flight(),
            rack.latest.xmit_ts.0,
            rack.rtt.0,
            rack.window.min_rtt().0,
            rack.fack,
            rack.deadline().0,
        )
    }

    fn seen_of_oracle(&self) -> Seen {
        let oracle = &self.oracle;
        let out = || oracle.segments.iter().filter(|segment| !segment.arrived);
        (
            out().filter(|s| s.lost).map(|s| s.number).collect(),
            out().filter(|s| !s.lost).count() as u32,
            oracle.xmit_ts.0,
            oracle.rtt.0,
            oracle.min_rtt.0,
            oracle.fack,
            oracle.deadline.0,
        )
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Segments and ACKs are lost and reordered at random, timers expire, and lost segments are
    /// retransmitted and lost again. After each step the whole state of RACK must agree with the
    /// pseudocode.
    #[test]
    fn rack_is_the_pseudocode_over_a_plain_list(seed in any::<u64>(), reorders in any::<bool>()) {
        let mut play = Play::new(seed);
        for _ in 0..600 {
            play.step(reorders);
            prop_assert_eq!(play.seen_of_rack(), play.seen_of_oracle());
        }
    }
}

/// Checks that the random traces contain lost retransmissions and reordering.
#[test]
fn random_traces_lose_retransmissions_and_see_reordering() {
    let (mut losses, mut seen, mut timers) = (0, 0, 0);
    for seed in 0..20 {
        let mut play = Play::new(seed);
        for _ in 0..600 {
            let before = play.seen_of_rack().0.len();
            play.step(seed % 2 == 0);
            timers += u32::from(play.rack.deadline() != Time::NEVER);
            let lost = play.seen_of_rack().0;
            let of_retransmissions = |n: &&u32| play.oracle.segments[**n as usize].retransmitted;
            if lost.len() > before {
                losses += lost.iter().filter(of_retransmissions).count();
            }
        }
        seen += u32::from(play.oracle.reordering_seen);
    }
    assert!(
        losses > 50 && seen >= 10 && timers > 500,
        "{losses} {seen} {timers}"
    );
}

//! Compares DualPI2 with a separate implementation of the pseudocode of RFC 9332, and with
//! calculated values. The coupling of mark and drop rates is tested at several loads.

use proptest::prelude::*;

use super::*;
use crate::kernel::streams::Streams;
use crate::notation::setting::{FileTable, US};

fn usual() -> DualPi2Setting {
    DualPi2Setting::usual().expect("all have defaults")
}

fn packet(number: u32, queued: u64, bytes: u16, ecn: Ecn) -> Packet {
    Packet {
        number,
        queued: Time(queued),
        bytes,
        ecn,
        ..Packet::SAMPLE
    }
}

/// An implementation of RFC 9332, figures 2, 3, 5, 7 and 8, with the names of the RFC. Times are
/// floating-point numbers [s]; p' and p_CL are at most 1. The scheduler is `dequeue_packet` of
/// Linux, with an integer credit.
struct Rfc {
    lq: VecDeque<(f64, u32, i64, Ecn)>,
    cq: VecDeque<(f64, u32, i64, Ecn)>,
    lq_count: f64,
    cq_count: f64,
    p: f64,
    p_cl: f64,
    p_c: f64,
    prevq: f64,
    /// Weight of the classic queue, multiplied by 1500 bytes. The weights of the two queues sum to
    /// 4.
    wc: i64,
    wl: i64,
    credit: i64,
    limit: usize,
    dropped: Vec<u32>,
    /// Head start of L4S packets if the scheduler is a time-shifted FIFO.
    tshift: Option<f64>,
}

const K: f64 = 2.0;

impl Rfc {
    fn new(limit: usize, tshift: Option<f64>) -> Rfc {
        Rfc {
            lq: VecDeque::new(),
            cq: VecDeque::new(),
            lq_count: 0.0,
            cq_count: 0.0,
            p: 0.0,
            p_cl: 0.0,
            p_c: 0.0,
            prevq: 0.0,
            wc: 1,
            wl: 3,
            credit: 1_500 * (1 - 3),
            limit,
            dropped: Vec::new(),
            tshift,
        }
    }

    fn enqueue(&mut self, now: f64, number: u32, bytes: i64, ecn: Ecn) {
        if self.lq.len() + self.cq.len() + 1 > self.limit {
            self.dropped.push(number);
            return;
        }
        match ecn {
            Ecn::Scalable | Ecn::Experienced => self.lq.push_back((now, number, bytes, ecn)),
            Ecn::NotCapable | Ecn::Capable => self.cq.push_back((now, number, bytes, ecn)),
        }
    }

    fn recur(count: &mut f64, likelihood: f64) -> bool {
        *count += likelihood;
        if *count > 1.0 {
            *count -= 1.0;
            return true;
        }
        false
    }

    fn laqm(qdelay: f64) -> f64 {
        if qdelay >= 0.001_2 {
            1.0
        } else if qdelay > 0.000_8 {
            (qdelay - 0.000_8) / 0.000_4
        } else {
            0.0
        }
    }

    /// Returns whether the L queue is served next, and the change of the credit per byte.
    fn scheduler(&self, now: f64) -> (bool, i64) {
        let (Some(l), Some(c)) = (self.lq.front(), self.cq.front()) else {
            return (self.cq.is_empty(), 0);
        };
        match self.tshift {
            Some(tshift) => (now - l.0 + tshift >= now - c.0, 0),
            None if self.credit <= 0 => (true, self.wc),
            None => (false, -self.wl),
        }
    }

    /// Returns the number of the next packet, and whether the packet has a CE mark.
    fn dequeue(&mut self, now: f64) -> Option<(u32, bool)> {
        while self.lq.len() + self.cq.len() > 0 {
            let (is_lq, change) = self.scheduler(now);
            let (number, bytes, ce);
            if is_lq {
                let length = self.lq.len();
                let taken = self.lq.pop_front().unwrap();
                (number, bytes) = (taken.1, taken.2);
                if self.p_cl < 1.0 {
                    let p_l = match length > 1 {
                        true => Rfc::laqm(now - taken.0).max(self.p_cl),
                        false => self.p_cl,
                    };
                    ce = Rfc::recur(&mut self.lq_count, p_l);
                } else {
                    if Rfc::recur(&mut self.lq_count, self.p_c) {
                        self.dropped.push(number);
                        continue;
                    }
                    ce = Rfc::recur(&mut self.lq_count, self.p_cl);
                }
            } else {
                let taken = self.cq.pop_front().unwrap();
                (number, bytes) = (taken.1, taken.2);
                ce = Rfc::recur(&mut self.cq_count, self.p_c);
                if ce && (taken.3 == Ecn::NotCapable || self.p_c >= (1.0 / (K * K)).min(1.0)) {
                    self.dropped.push(number);
                    continue;
                }
            }
            self.credit += change * bytes;
            return Some((number, ce));
        }
        self.credit = 1_500 * (self.wc - self.wl);
        None
    }

    fn update(&mut self, now: f64) {
        let time =
            |queue: &VecDeque<(f64, u32, i64, Ecn)>| queue.front().map_or(0.0, |p| now - p.0);
        let curq = time(&self.cq).max(time(&self.lq));
        self.p += 0.16 * (curq - 0.015) + 3.2 * (curq - self.prevq);
        self.p = self.p.clamp(0.0, 1.0);
        self.p_cl = (self.p * K).min(1.0);
        self.p_c = self.p * self.p;
        self.prevq = curq;
    }
}

/// Duration of one step of both implementations: a prime number, so that no comparison depends on
/// rounding. [ns]
const STEP: u64 = 100_003;

proptest! {
    #[test]
    fn the_pseudo_code_marks_and_drops_the_same_packets(
        phases in prop::collection::vec(
            (1..1_500_u64, 40_u16..1500, prop::array::uniform3(1..40_u64), 1..12_u64), 1..12),
        is_wrr in any::<bool>(),
        limit in 5..400_usize,
    ) {
        // the traffic consists of random phases: in a phase, packets of each type arrive at a fixed
        // interval, and the server sends a packet every `gap` steps; the controller is updated
        // every 160 steps, which are 16 ms as in Linux
        let setting = DualPi2Setting {
            update: Span(160 * STEP),
            classic_weight: 0.25,
            scheduler: if is_wrr { DualScheduler::Wrr } else { DualScheduler::TimeShiftedFifo },
            ..usual()
        };
        let mut ours = DualPi2::new(setting);
        let mut rfc = Rfc::new(limit, (!is_wrr).then_some(0.05));
        let (mut step, mut number, mut dropped) = (0_u64, 0_u32, Vec::new());
        for (length, bytes, every, gap) in phases {
            for _ in 0..length {
                step += 1;
                let (now, seconds) = (step * STEP, (step * STEP) as f64 / 1e9);
                if step % 160 == 0 {
                    rfc.update(seconds);
                }
                for (kind, every) in [Ecn::NotCapable, Ecn::Capable, Ecn::Scalable].into_iter().zip(every) {
                    if step % every == 0 {
                        number += 1;
                        ours.enqueue(packet(number, now, bytes, kind), limit, &mut dropped);
                        rfc.enqueue(seconds, number, i64::from(bytes), kind);
                    }
                }
                if step % gap == 0 {
                    let sent = ours.dequeue(Time(now), &mut dropped);
                    let sent = sent.map(|sent| (sent.number, sent.ecn == Ecn::Experienced));
                    prop_assert_eq!(sent, rfc.dequeue(seconds));
                }
            }
        }
        let dropped: Vec<u32> = dropped.iter().map(|packet| packet.number).collect();
        prop_assert_eq!(dropped, rfc.dropped);
        prop_assert_eq!(ours.len(), rfc.lq.len() + rfc.cq.len());
        ours.advance(Time(step * STEP));
        prop_assert!((ours.base.p - rfc.p).abs() < 1e-9);
    }
}

/// The queueing delay of the classic queue is 20 ms, then 10 ms, then 0; p' is calculated with
/// alpha 0.16 and beta 3.2 per second.
#[test]
fn the_controller_follows_a_trace_worked_by_hand() {
    let mut dual = DualPi2::new(usual());
    let mut at = 0;
    let mut step = |waited: u64| {
        at += 16 * MS;
        dual.classic.packets.clear();
        if waited > 0 {
            let first = packet(0, at - waited * MS, 1_500, Ecn::NotCapable);
            dual.classic.packets.push_back(first);
        }
        dual.advance(Time(at));
        dual.base.p
    };
    let near = |value: f64, expected: f64| assert!((value - expected).abs() < 1e-12, "{value}");
    near(step(0), 0.0); // p' = 0.16 (0 - 15 ms) would be below 0
    near(step(15), 0.048); // the change of p' is 3.2 * 15 ms
    near(step(15), 0.048);
    near(step(10), 0.048 - 0.000_8 - 0.016);
    near(step(10), 0.031_2 - 0.000_8);
    near(step(0), 0.0); // the change of p' is - 0.0024 - 0.032
}

/// While the queue is empty, nothing changes: even if updates are hours late, the result is the
/// same.
#[test]
fn hours_without_a_packet_cost_no_steps_and_change_nothing() {
    let run = |idle: u64| {
        let mut dual = DualPi2::new(usual());
        let begin = idle * 16 * MS;
        dual.advance(Time(begin + MS));
        dual.enqueue(
            packet(0, begin + MS, 1_500, Ecn::NotCapable),
            9,
            &mut Vec::new(),
        );
        dual.advance(Time(begin + 48 * MS));
        (dual.base.p, dual.next_update.0 - begin)
    };
    assert_eq!(run(1_000_000_000_000), run(0));
    assert!(run(0).0 > 0.1);
}

#[test]
fn the_l_queue_is_marked_by_its_own_delay_and_a_single_packet_is_spared() {
    let dual = DualPi2::new(usual());
    let marked = [0, 800, 900, 1_000, 1_199, 1_200, 90_000].map(|us| dual.native(Span(us * US)));
    assert_eq!(marked, [0.0, 0.0, 0.25, 0.5, 0.9975, 1.0, 1.0]);
    let step = DualPi2::new(DualPi2Setting {
        min_threshold: Span(MS),
        range: Span(0),
        ..usual()
    });
    assert_eq!(
        [999, 1_000, 1_001].map(|us| step.native(Span(us * US))),
        [0.0, 1.0, 1.0]
    );

    // ECT(1) and CE packets are marked if at least one more packet is in the queue
    let mut dual = DualPi2::new(usual());
    let mut dropped = Vec::new();
    for (number, ecn) in [
        (0, Ecn::Scalable),
        (1, Ecn::Experienced),
        (2, Ecn::Scalable),
        (3, Ecn::Scalable),
    ] {
        dual.enqueue(packet(number, 0, 1_500, ecn), 9, &mut dropped);
    }
    let sent: Vec<Ecn> = std::iter::from_fn(|| dual.dequeue(Time(5 * MS), &mut dropped))
        .map(|sent| sent.ecn)
        .collect();
    // `recur` delays the first mark, because the sum of likelihoods must exceed 1
    let expected = [
        Ecn::Scalable,
        Ecn::Experienced,
        Ecn::Experienced,
        Ecn::Scalable,
    ];
    assert_eq!(
        (&sent[..], dual.marked, dropped.len()),
        (&expected[..], 2, 0)
    );
}

/// 1500 bytes take 1 ms at 12 Mb/s, so that two packets take 2 ms. At 100 Mb/s, or with the service
/// times of frames, the ramp begins at 800 us.
#[test]
fn on_a_slow_link_the_ramp_begins_with_two_packets() {
    let begins = |rate_bps, is_fixed| {
        let delay = Span(0);
        let egress = Egress {
            rate_bps,
            is_fixed,
            delay,
        };
        usual().upstream_of(egress).min_threshold
    };
    assert_eq!(begins(12_000_000, true), Span(2 * MS));
    assert_eq!(begins(15_000_000, true), Span(800 * US));
    assert_eq!(begins(12_000_000, false), Span(800 * US));
}

/// Both queues always hold packets of equal length. With weights 9 to 1 the L queue is served
/// first. The time-shifted FIFO has a shift of 50 ms.
#[test]
fn who_is_served_next() {
    let served = |scheduler| {
        let mut dual = DualPi2::new(DualPi2Setting {
            scheduler,
            ..usual()
        });
        for number in 0..40 {
            let ecn = [Ecn::NotCapable, Ecn::Scalable][number as usize % 2];
            dual.enqueue(packet(number, 0, 1_500, ecn), 99, &mut Vec::new());
        }
        let sent = (0..24).filter_map(|_| dual.dequeue(Time(MS), &mut Vec::new()));
        sent.map(|sent| {
            if sent.ecn == Ecn::NotCapable {
                'C'
            } else {
                'L'
            }
        })
        .collect::<String>()
    };
    // the credit starts at -1200 bytes and increases by 150 bytes per L4S packet: it is above 0
    // after nine packets, and a classic packet is then served
    assert_eq!(served(DualScheduler::Wrr), "LLLLLLLLLCLLLLLLLLLCLLCC");
    assert_eq!(
        served(DualScheduler::TimeShiftedFifo),
        "LLLLLLLLLLLLLLLLLLLLCCCC"
    );

    let mut dual = DualPi2::new(DualPi2Setting {
        scheduler: DualScheduler::TimeShiftedFifo,
        target: Span(S),
        ..usual()
    });
    let mut dropped = Vec::new();
    for (number, queued, ecn) in [
        (0, 0, Ecn::NotCapable),
        (1, 50 * MS, Ecn::Scalable),
        (2, 51 * MS, Ecn::Scalable),
    ] {
        dual.enqueue(packet(number, queued, 1_500, ecn), 9, &mut dropped);
    }
    let sent = std::iter::from_fn(|| dual.dequeue(Time(60 * MS), &mut dropped));
    assert_eq!(sent.map(|sent| sent.number).collect::<Vec<_>>(), [1, 0, 2]);
}

/// From p' = 1/2 on, p_C is 1/4 or more. ECN-capable packets of the classic queue are then dropped
/// instead of marked, and L4S packets are dropped at the same rate.
#[test]
fn overload_drops_from_both_queues() {
    let served = |p: f64, ecn| {
        let mut dual = DualPi2::new(DualPi2Setting {
            target: Span(S),
            alpha: 0.0,
            beta: 0.0,
            ..usual()
        });
        dual.base.p = p;
        let (mut dropped, mut marked) = (Vec::new(), 0);
        for number in 0..1_000 {
            dual.enqueue(packet(number, 0, 1_500, ecn), 9, &mut dropped);
            let sent = dual.dequeue(Time(0), &mut dropped);
            marked += u32::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
        }
        (dropped.len(), marked)
    };
    let close = |value: (usize, u32), dropped: usize, marked: u32| {
        let off = (value.0.abs_diff(dropped), value.1.abs_diff(marked));
        assert!(
            off.0 <= 1 && off.1 <= 2,
            "{value:?} for {dropped}, {marked}"
        );
    };
    close(served(0.4, Ecn::NotCapable), 160, 0);
    close(served(0.4, Ecn::Capable), 0, 160);
    close(served(0.4, Ecn::Scalable), 0, 800);
    close(served(0.6, Ecn::Capable), 360, 0);
    close(served(0.6, Ecn::Scalable), 360, 640);
}

/// The results of a link of 100 Mb/s with packets of 1500 bytes. The loads of L4S and classic
/// packets are given as fractions of the rate.
struct Served {
    /// Fraction of the L4S packets that were marked, and fraction of the classic packets that were
    /// lost.
    p_l: f64,
    p_c: f64,
    /// Time average of k p', where k is the coupling factor; the next field is the time average of
    /// p'^2.
    coupled: f64,
    squared: f64,
}

fn serve(low_latency: f64, classic: f64, is_regular: bool, seconds: u64) -> Served {
    const SERVICE: u64 = 120_000;
    let mut dual = DualPi2::new(usual());
    let mut draws = Streams::new(1, 0).stream("arrivals");
    let mut gap = |load: f64| {
        let mean = SERVICE as f64 / load;
        let drawn = if is_regular { 1.0 } else { draws.exponential() };
        (drawn * mean) as u64
    };
    let mut dropped = Vec::new();
    let mut next = [gap(low_latency), gap(classic)];
    let (mut offered, mut marked, mut lost) = ([0_u64; 2], 0_u64, 0_u64);
    let (mut sums, mut times) = ([0.0; 2], 0);
    let warm = seconds / 5 * S;
    for now in (0..seconds * S).step_by(SERVICE as usize) {
        while let Some(kind) = (0..2)
            .filter(|&kind| next[kind] <= now)
            .min_by_key(|&kind| next[kind])
        {
            let ecn = [Ecn::Scalable, Ecn::NotCapable][kind];
            let arrived = packet(0, next[kind], 1_500, ecn);
            dual.enqueue(arrived, 10_000, &mut dropped);
            offered[kind] += u64::from(next[kind] >= warm);
            next[kind] += gap([low_latency, classic][kind]);
        }
        let sent = dual.dequeue(Time(now), &mut dropped);
        if now >= warm {
            marked += u64::from(sent.is_some_and(|sent| sent.ecn == Ecn::Experienced));
            lost += dropped.len() as u64;
            sums[0] += dual.coupled();
            sums[1] += dual.squared();
            times += 1;
        }
        dropped.clear();
    }
    Served {
        p_l: marked as f64 / offered[0] as f64,
        p_c: lost as f64 / offered[1] as f64,
        coupled: sums[0] / f64::from(times),
        squared: sums[1] / f64::from(times),
    }
}

fn near(value: f64, expected: f64) {
    let off = value / expected - 1.0;
    assert!(off.abs() < 0.05, "{value} for {expected}");
}

/// Checks the fractions of marked and lost packets at these loads. The offered load in excess of
/// the rate must be lost. If arrivals are regular, this excess determines the drop probability p_C,
/// except for the losses of L4S packets. L4S packets are marked with probability k sqrt(p_C), where
/// k is the coupling factor. If arrivals are random, the base probability p' varies, and p_C
/// exceeds the square of the mean of p'. Therefore the fraction of marks is compared with the
/// average of k p', and the fraction of drops with the average of p'^2. With random arrivals the
/// queue is sometimes empty, so that the fraction of lost packets is above `lost`, the value for
/// regular arrivals.
fn coupled_within_five_percent(loads: &[(f64, f64)], seconds: u64) {
    for &(low_latency, classic) in loads {
        let lost = 1.0 - (1.0 - low_latency) / classic;
        let regular = serve(low_latency, classic, true, seconds);
        near(regular.p_c, lost);
        near(regular.p_l, 2.0 * lost.sqrt());
        let random = serve(low_latency, classic, false, seconds);
        near(random.p_c, random.squared);
        near(random.p_l, random.coupled);
    }
}

#[test]
fn marks_are_twice_the_root_of_drops() {
    coupled_within_five_percent(&[(0.1, 0.94), (0.2, 0.85), (0.1, 1.05)], 20);
}

#[test]
#[ignore = "some seconds"]
fn marks_are_twice_the_root_of_drops_over_many_loads() {
    let loads = [0.05, 0.1, 0.2, 0.3].into_iter();
    let beyond = [1.01, 1.02, 1.05, 1.1, 1.2, 1.3];
    let loads = loads.flat_map(|own| beyond.map(|over| (own, (1.0 - own) * over)));
    coupled_within_five_percent(&loads.collect::<Vec<_>>(), 200);
}

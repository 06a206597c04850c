//! Tests properties of every discipline: limit, marks, counters, order within a flow, and the same
//! outcome of a repeated run.

use proptest::prelude::*;

use super::*;
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
use crate::notation::setting::FileTable;
use crate::packet::{Ecn, PacketKind};
use crate::queue::{
    CoDelSetting, Discipline, DualPi2Setting, DualScheduler, FqCoDelSetting, PieSetting,
    ProportionalSetting, RedForm, RedSetting, RedWeight,
};

const MS: u64 = 1_000_000;

const OUTLET: Egress = Egress {
    rate_bps: 10_000_000,
    is_fixed: false,
    delay: Span(0),
};

/// Generates a random discipline whose settings cause drops and marks even with short random
/// traffic.
fn discipline(ecn: bool) -> impl Strategy<Value = Discipline> {
    let codel = CoDelSetting {
        target: Span(2 * MS),
        interval: Span(10 * MS),
        ecn,
        ce_threshold: None,
        ce_threshold_l4s: false,
    };
    let red = move |form| RedSetting {
        form,
        min_th: 2.0,
        max_th: 6.0,
        max_p: 0.5,
        weight: RedWeight::Given(0.5),
        gentle: true,
        wait: false,
        bytes: false,
        ecn,
        mean_packet_bytes: 500,
    };
    prop_oneof![
        Just(Discipline::DropTail),
        (1..9_u32).prop_map(|packets| Discipline::Threshold { packets }),
        Just(Discipline::Red(red(RedForm::Ns2))),
        Just(Discipline::Red(red(RedForm::Published))),
        Just(Discipline::Proportional(ProportionalSetting {
            slope: 0.05,
            ecn
        })),
        Just(Discipline::CoDel(codel)),
        any::<bool>().prop_map(move |ce_threshold_l4s| Discipline::CoDel(CoDelSetting {
            ce_threshold: Some(Span(MS)),
            ce_threshold_l4s,
            ..codel
        })),
        any::<bool>().prop_map(|is_wrr| Discipline::DualPi2(DualPi2Setting {
            target: Span(2 * MS),
            update: Span(MS),
            alpha: 5.0,
            beta: 20.0,
            scheduler: match is_wrr {
                true => DualScheduler::Wrr,
                false => DualScheduler::TimeShiftedFifo,
            },
            ..DualPi2Setting::usual().unwrap()
        })),
        Just(Discipline::Pie(PieSetting {
            target: Span(2 * MS),
            update: Span(MS),
            alpha: 0.125,
            beta: 12.5,
            max_burst: Span(2 * MS),
            ecn,
        })),
        (1..40_u32).prop_map(move |queues| Discipline::FqCoDel(FqCoDelSetting {
            target: codel.target,
            interval: codel.interval,
            quantum_bytes: 700,
            queues,
            ecn,
            ce_threshold: None,
            ce_threshold_l4s: false,
        })),
    ]
}

/// Returns whether the packets of a flow are L4S packets: those of every second flow are.
fn is_l4s(flow: u32) -> bool {
    flow % 2 == 1
}

/// An event of a run: the time since the previous event [ns], and the packet that arrives, or
/// `None` for a departure.
type Step = (u64, Option<(u32, u16, bool)>);

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let arrival = (0..5_u32, 40..1_500_u16, any::<bool>());
    let what = prop_oneof![3 => arrival.prop_map(Some), 2 => Just(None)];
    prop::collection::vec((0..2 * MS, what), 1..600)
}

/// The outcome of a run: the packets that left, the packets that were lost, and the queue at the
/// end. Each packet is stored with the number of the event at which it left or was lost.
struct Run {
    left: Vec<(usize, Packet)>,
    lost: Vec<(usize, Packet)>,
    queue: HeadQueue,
}

fn run(setting: &QueueSetting, steps: &[Step]) -> Run {
    let draws = Streams::new(1, 0).stream("ap/queue");
    let mut run = Run {
        left: Vec::new(),
        lost: Vec::new(),
        queue: HeadQueue::new(setting, OUTLET, draws),
    };
    let mut now = Time::ZERO;
    for (step, (gap, arrival)) in steps.iter().enumerate() {
        now += Span(*gap);
        if let Some((flow, bytes, capable)) = *arrival {
            let packet = Packet {
                flow,
                number: step as u32,
                stamp: now,
                queued: now,
                bytes,
                kind: PacketKind::Datagram,
                ecn: match (is_l4s(flow), capable) {
                    (true, _) => Ecn::Scalable,
                    (false, true) => Ecn::Capable,
                    (false, false) => Ecn::NotCapable,
                },
                ..Packet::SAMPLE
            };
            if !run.queue.offer(now, &packet) {
                run.lost.push((step, packet));
            }
        } else {
            run.left
                .extend(run.queue.pop(now).map(|packet| (step, packet)));
        }
        while let Some(packet) = run.queue.take_dropped() {
            run.lost.push((step, packet));
        }
        assert!(run.queue.length(now) <= setting.most_packets() as usize);
        assert_eq!(run.queue.length(now) == 0, run.queue.head().is_none());
    }
    run
}

proptest! {
    #[test]
    fn every_discipline_keeps_the_laws(
        discipline in any::<bool>().prop_flat_map(discipline),
        limit_packets in 1..30_u32,
        steps in steps(),
    ) {
        let setting = QueueSetting { limit_packets, discipline };
        let outcome = run(&setting, &steps);
        let counters = outcome.queue.counters();
        let inside = outcome.queue.packets().count();
        let offered = steps.iter().filter(|(_, arrival)| arrival.is_some()).count();
        prop_assert_eq!(offered, outcome.left.len() + outcome.lost.len() + inside);
        prop_assert_eq!(counters.offered, offered as u64);
        prop_assert_eq!(counters.dropped, outcome.lost.len() as u64);
        prop_assert_eq!(counters.left, outcome.left.len() as u64);
        prop_assert_eq!(counters.length(), inside as u64);

        // marks occur only with ECN, only on ECN-capable packets, and each mark is counted
        let packets = outcome.left.iter().map(|(_, packet)| packet).chain(outcome.queue.packets());
        let marked: Vec<&Packet> = packets.filter(|p| p.ecn == Ecn::Experienced).collect();
        let capable = |p: &&Packet| match steps[p.number as usize].1 {
            Some((flow, _, capable)) => capable || is_l4s(flow),
            None => false,
        };
        prop_assert!(setting.marks() || marked.is_empty());
        prop_assert!(marked.iter().all(capable));
        prop_assert!(outcome.lost.iter().all(|(_, p)| p.ecn != Ecn::Experienced));
        prop_assert_eq!(counters.marked, marked.len() as u64);

        // packets of each flow leave in order
        let mut last = [None; 5];
        for (_, packet) in &outcome.left {
            let flow = packet.flow as usize;
            prop_assert!(last[flow] < Some(packet.number));
            last[flow] = Some(packet.number);
        }

        // a second run with the same events has the same outcome
        let again = run(&setting, &steps);
        prop_assert_eq!((&outcome.left, &outcome.lost), (&again.left, &again.lost));
    }

    #[test]
    fn the_time_integral_is_the_sum_of_the_stays(
        discipline in discipline(false),
        limit_packets in 1..30_u32,
        steps in steps(),
    ) {
        let setting = QueueSetting { limit_packets, discipline };
        let outcome = run(&setting, &steps);
        let mut times = Vec::new();
        let mut now = 0;
        for (gap, _) in &steps {
            now += gap;
            times.push(now);
        }
        let stay = |(step, packet): &(usize, Packet)| times[*step] - times[packet.number as usize];
        let left: u64 = outcome.left.iter().map(stay).sum();
        let lost: u64 = outcome.lost.iter().map(stay).sum();
        let inside = outcome.queue.packets().map(|p| now - times[p.number as usize]);
        let inside: u64 = inside.sum();
        prop_assert_eq!(outcome.queue.occupancy_ns(Time(now)), left + lost + inside);
        prop_assert_eq!(outcome.queue.counters().sojourn_ns, left);
    }
}

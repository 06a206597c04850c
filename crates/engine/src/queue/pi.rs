//! PI: controls the queue length by a drop probability so that it stays at a target q_ref. A
//! proportional-integral controller updates the probability at regular times.
//!
//! Reference: C. V. Hollot, V. Misra, D. Towsley, W. Gong, "On designing improved controllers for
//! AQM routers supporting TCP flows", INFOCOM 2001. The default values are those of section V of
//! this paper. These values are designed for 60 flows, 15 Mb/s (3,750 packets per second), and
//! round-trip times of up to 246 ms.
//!
//! ```text
//! p(k) = a (q(k) - q_ref) - b (q(k-1) - q_ref) + p(k-1)
//! ```
//!
//! In step k, q(k) is the queue length, p(k) is the drop probability, and a and b are weights. The
//! integral term has the weight a - b. Because of this term, q_ref is the only equilibrium of the
//! queue length, at any load.
//!
//! Differs from the paper in four points. The queue includes the packet in service. The probability
//! p stays between 0 and 1. Updates occur at multiples of the interval from the start of the run
//! (default 5.882 ms, which is the rate of 170 Hz in the paper). A packet is lost if the queue
//! already holds `limit` packets. As in the paper and ns-2, each packet is lost with probability p,
//! independently of other packets. Differs from ns-2 (`pi.cc`) in one point: there is no byte mode.

use super::discipline::{Backlog, OfDiscipline, RandomDrop, Verdict, check_start, moving};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{MS, S, count, duration, flag, number};
use crate::packet::Packet;
use crate::table;

table! {
    /// PI: a drop probability that keeps the queue at a target length.
    pub struct PiSetting: Copy in "pi" {
        /// Target number of packets in the queue, including the packet in service.
        target: u32, json "target_packets" = count(1..=1_000_000).default(200);
        /// Weight of the difference between queue and target at the present step. The weight must be above b.
        a: f64 = number(0.0..=1.0).default(1.822e-5);
        /// Weight of the difference between queue and target at the previous step.
        b: f64 = number(0.0..=1.0).default(1.816e-5);
        /// Time between two steps.
        update: Span = duration(MS / 10..=10 * S).default("5.882 ms");
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(false);
    }
}

impl OfDiscipline for PiSetting {
    moving!(target, a, b);

    fn marks(&self) -> bool {
        self.ecn
    }

    /// Checks that the target is below the limit, and that a exceeds b, so that there is an
    /// integral term.
    fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        if let Some(target) = own.located(PiSetting::target) {
            check_start(queue, &target, "pi.target", problems);
        }
        if let (Some(a), Some(b)) = (own.located(PiSetting::a), own.located(PiSetting::b))
            && b.value >= a.value
        {
            let blamed = if b.given { &b } else { &a };
            let message = format!(
                "a = {} is not above b = {}; expected a above b",
                a.shown, b.shown
            );
            problems.add(blamed.origin, &blamed.path, message);
        }
    }
}

/// The state of one PI queue.
#[derive(Clone, Debug)]
pub struct Pi {
    setting: PiSetting,
    random_drop: RandomDrop,
    next_update: Time,
    /// Drop probability p after the previous step. [-]
    probability: f64,
    /// Queue length q at the previous step. [packets]
    before: u32,
}

impl Pi {
    /// Returns an empty queue.
    pub fn new(setting: PiSetting, limit: u32, stream: Stream) -> Pi {
        Pi {
            random_drop: RandomDrop::new(limit, setting.ecn, stream),
            next_update: Time::ZERO + setting.update,
            probability: 0.0,
            before: 0,
            setting,
        }
    }

    /// Performs the steps that are due until `now`. `packets_at` returns the number of packets in
    /// the queue at a past time.
    pub fn advance(&mut self, now: Time, mut packets_at: impl FnMut(Time) -> u32) {
        while self.next_update <= now {
            self.step(packets_at(self.next_update));
            self.next_update += self.setting.update;
        }
    }

    /// Performs one step of the controller, with `packets` in the queue.
    fn step(&mut self, packets: u32) {
        let PiSetting { a, b, target, .. } = self.setting;
        let distance = |packets: u32| f64::from(packets) - f64::from(target);
        let step = a * distance(packets) - b * distance(self.before);
        self.probability = (self.probability + step).clamp(0.0, 1.0);
        self.before = packets;
    }

    /// Sets the limit and the settings that may change at run time. The next step of the controller
    /// uses the new values.
    pub(super) fn change(&mut self, setting: PiSetting, limit: u32) {
        self.setting = self.setting.moved_to(setting);
        self.random_drop.limit = limit;
    }

    /// Returns the verdict on `packet`, which arrives now, when the queue holds `backlog`.
    /// `advance` must have been called for this time.
    pub fn admit(&mut self, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.random_drop.admit(self.probability, backlog, packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::notation::setting::FileTable;
    use crate::packet::Ecn;

    fn pi(setting: PiSetting) -> Pi {
        Pi::new(setting, 800, Streams::new(1, 0).stream("pi"))
    }

    fn close(value: f64, expected: f64) {
        let error = (value - expected).abs();
        assert!(error <= 1e-12, "{value} for {expected}");
    }

    const ROUND: PiSetting = PiSetting {
        target: 200,
        a: 0.000_3,
        b: 0.000_2,
        update: Span(10 * MS),
        ecn: false,
    };

    #[test]
    fn the_values_are_those_published() {
        let usual = PiSetting::usual().expect("all have defaults");
        assert_eq!((usual.a, usual.b, usual.target), (1.822e-5, 1.816e-5, 200));
        let hertz = 1.0 / usual.update.seconds();
        assert!((hertz - 170.0).abs() < 0.02, "{hertz}");
    }

    #[test]
    fn the_controller_follows_a_trace_worked_by_hand() {
        let mut queue = pi(ROUND);
        // the change of p, 3e-4 (0 - 200) - 2e-4 (0 - 200), is below 0, so that p stays 0
        queue.advance(Time(10 * MS), |_| 0);
        close(queue.probability, 0.0);
        // the change of p is 3e-4 (500 - 200) - 2e-4 (0 - 200)
        queue.advance(Time(20 * MS), |_| 500);
        close(queue.probability, 0.13);
        // the change of p is 3e-4 * 300 - 2e-4 * 300: only the integral term
        queue.advance(Time(30 * MS), |_| 500);
        close(queue.probability, 0.16);
        // at the target the change of p is -2e-4 * 300, and 0 in later steps
        queue.advance(Time(40 * MS), |_| 200);
        close(queue.probability, 0.10);
        queue.advance(Time(60 * MS), |_| 200);
        close(queue.probability, 0.10);
        // the change of p in the first step would be 3e-4 (100,000 - 200), but p is at most 1
        queue.advance(Time(500 * MS), |_| 100_000);
        close(queue.probability, 1.0);
    }

    #[test]
    fn steps_that_are_late_see_the_queue_of_their_own_instants() {
        let mut late = pi(ROUND);
        let mut asked = Vec::new();
        late.advance(Time(35 * MS), |at| {
            asked.push(at.0 / MS);
            600 - 10 * asked.len() as u32
        });
        assert_eq!(asked, [10, 20, 30]);
        late.advance(Time(39 * MS), |_| panic!("the next is due at 40 ms"));
        let mut punctual = pi(ROUND);
        for (at, packets) in [(10, 590), (20, 580), (30, 570)] {
            punctual.advance(Time(at * MS), |_| packets);
        }
        assert_eq!(late.probability, punctual.probability);
    }

    #[test]
    fn packets_are_marked_or_lost_with_the_probability_and_lost_at_the_limit() {
        let mut queue = pi(PiSetting { ecn: true, ..ROUND });
        queue.probability = 0.2;
        let mut share = |packets: u32, ecn: Ecn, verdict: Verdict| {
            let backlog = Backlog {
                packets,
                bytes: u64::from(packets) * 100,
                in_service_bytes: 100,
                idle_since: None,
            };
            let packet = Packet {
                ecn,
                ..Packet::SAMPLE
            };
            let verdicts = (0..20_000).map(|_| queue.admit(&backlog, &packet));
            verdicts.filter(|other| *other == verdict).count() as f64 / 20_000.0
        };
        // the standard deviation of the measured fraction of dropped packets is 0.0028
        assert!((share(50, Ecn::NotCapable, Verdict::Drop) - 0.2).abs() < 0.012);
        assert!((share(50, Ecn::Capable, Verdict::Mark) - 0.2).abs() < 0.012);
        assert_eq!(share(50, Ecn::Capable, Verdict::Drop), 0.0);
        assert_eq!(share(800, Ecn::Capable, Verdict::Drop), 1.0);
    }
}

#[cfg(test)]
mod linux;

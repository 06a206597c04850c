//! DualPI2: a short queue for L4S packets and a queue for all other packets, with coupled marks and
//! drops.
//!
//! Reference: RFC 9332, appendices A.1 and A.2. The comments give the names of that pseudocode. In
//! the diagram, delay is the queueing delay of the queue whose first packet has waited longer.
//!
//! ```text
//! ECT(1), CE --> L queue ---- marks, p_L = max(p'_L, p_CL) --+
//!                               ^ p_CL = k p'                 scheduler --> egress
//! all others --> C queue ---- drops or marks, p_C = p'^2 ----+
//! p' + alpha (delay - target) + beta (delay - delay before)     each `update`; delay: the longer queue's
//! p'_L = (sojourn - min_threshold) / range, from 0 to 1         with more than a packet in the L queue
//! ```
//!
//! The window of Reno is proportional to 1/sqrt(p), and the window of a scalable sender to 1/p.
//! Therefore the classic queue uses the square of the base probability p', which makes the rates of
//! both senders about equal. Marks and drops are spaced evenly, not drawn at random (`recur`).
//!
//! Where the RFC is not clear, it is read as follows. The length of the L queue (line 5a of figure
//! 7) includes the departing packet, because the text says "if the queue is only 1 packet".
//! `lq.time()` in figure 7 is the sojourn time of the departing packet. The probabilities p_CL and
//! p' are at most 1. If the rate of the link is known and the transmission of a packet takes longer
//! than `min_threshold`, the ramp of p'_L begins at the transmission time of two packets, as in
//! DOCSIS.
//!
//! The RFC does not specify the scheduler. The default is the weighted round robin of Linux
//! (`sch_dualpi2.c`, 6.17). While both queues have packets, bytes sent from one queue give credit
//! to the other queue in proportion to the weights. After an idle time of the egress, the L queue
//! is served first. The alternative is the time-shifted FIFO of appendix B, line 29. The controller
//! updates p' at multiples of `update` from the start of the run.
//!
//! Differs from Linux in four points. The probability p'_L is a ramp, whereas Linux has a step at 1
//! ms (range 0 makes a step). Decisions are not random. Packets may be marked or dropped even if
//! the queues hold less than two packets, whereas Linux requires two. The limit is a number of
//! packets.

use std::collections::VecDeque;

use super::discipline::{Egress, OfDiscipline, moving, refuse_idle};
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{MS, S, duration, number, word};
use crate::packet::{Ecn, Packet};
use crate::{table, words};

words! {
    /// Scheduler that chooses between the two queues.
    pub enum DualScheduler {
        /// Weighted round robin.
        Wrr = "wrr",
        /// The packet that has waited longer, with a head start for the L4S queue.
        TimeShiftedFifo = "time_shifted_fifo",
    }
}

table! {
    /// DualPI2: a short queue for L4S packets (ECT(1)) and a queue for all other packets, with coupled marks and drops.
    pub struct DualPi2Setting: Copy in "dualpi2" {
        /// Target queueing delay of the classic queue.
        target: Span = duration(0..=10 * S).default("15 ms");
        /// Time between updates of the base probability.
        update: Span = duration(MS..=10 * S).default("16 ms");
        /// Weight of the difference between queueing delay and target, per second.
        alpha: f64, json "alpha_per_s" = number(0.0..=100.0).default(0.16);
        /// Weight of the change of the queueing delay, per second.
        beta: f64, json "beta_per_s" = number(0.0..=100.0).default(3.2);
        /// Coupling factor k. L4S packets are marked with k times the base probability. Other packets are dropped or marked with the square of the base probability.
        coupling: f64 = number(1.0..=16.0).default(2.0);
        /// Time in the L4S queue from which its packets are marked. If a link of fixed rate needs longer for a packet of 1500 bytes, it is the time of two such packets.
        min_threshold: Span = duration(0..=10 * S).default("800 us");
        /// Range of time above min_threshold over which the marked fraction rises from no packet to all packets. With "0 s" it rises in one step.
        range: Span = duration(0..=10 * S).default("400 us");
        /// Scheduler that chooses between the two queues: weighted round robin ("wrr"), or the packet that has waited longer ("time_shifted_fifo").
        scheduler: DualScheduler = word().default(DualScheduler::Wrr);
        /// Smallest part of the link's capacity that the classic queue gets while both queues have packets, with scheduler = "wrr".
        classic_weight: f64 = number(0.0..=1.0).default(0.1);
        /// Head start of L4S packets over other packets, with scheduler = "time_shifted_fifo".
        time_shift: Span = duration(0..=10 * S).default("50 ms");
    }
}

impl OfDiscipline for DualPi2Setting {
    /// Default limit of Linux: a quarter of a second at 480 Mb/s. [packets]
    const LIMIT: u32 = 10_000;
    const ORDERS: bool = true;

    moving!(target);

    fn marks(&self) -> bool {
        true
    }

    fn check(_: &Section, own: &Section, problems: &mut Problems) {
        let Some(scheduler) = own.value(Self::scheduler) else {
            return;
        };
        let [idle, needed] = match scheduler {
            DualScheduler::Wrr => [Self::time_shift.name(), "\"time_shifted_fifo\""],
            DualScheduler::TimeShiftedFifo => [Self::classic_weight.name(), "\"wrr\""],
        };
        refuse_idle(own, &[idle], Self::scheduler, needed, problems);
    }
}

impl DualPi2Setting {
    /// Returns the settings for a link. If the link is so slow that a packet would be marked even
    /// if the queue contains no other packet, the ramp begins at the transmission time of two
    /// packets (appendix A.2).
    pub(super) fn upstream_of(self, egress: Egress) -> DualPi2Setting {
        let service_s = MTU * 8.0 / egress.rate_bps as f64;
        if !egress.is_fixed || self.min_threshold.seconds() >= service_s {
            return self;
        }
        DualPi2Setting {
            min_threshold: Span::from_seconds(2.0 * service_s),
            ..self
        }
    }
}

/// `Th_len`: length of the L queue above which packets are marked because of their sojourn time.
/// [packets]
const MIN_LENGTH: usize = 1;

/// Length of a full packet. [bytes]
const MTU: f64 = 1_500.0;

/// The L queue and the classic queue, without the packet in service.
#[derive(Clone, Debug)]
pub struct DualPi2 {
    pub(super) setting: DualPi2Setting,
    /// `lq`: the L queue.
    low_latency: Queue,
    /// `cq`: the classic queue.
    classic: Queue,
    next_update: Time,
    base: Base,
    /// Number of bytes that the L queue has sent in excess of its weighted share. If the number is
    /// above 0, the classic queue is served next. [bytes]
    credit: f64,
    pub(super) marked: u64,
}

#[derive(Clone, Debug, Default)]
struct Queue {
    packets: VecDeque<Packet>,
    /// `count`: sum of the likelihoods of a mark or drop, minus 1 for each mark or drop.
    count: f64,
}

/// The state of the controller (figure 8).
#[derive(Clone, Copy, Debug, Default)]
struct Base {
    /// `p'`: base probability. [-]
    p: f64,
    /// `prevq`: queueing delay at the previous update.
    before: Span,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    LowLatency,
    Classic,
}

impl DualPi2 {
    /// Returns empty queues.
    pub fn new(setting: DualPi2Setting) -> DualPi2 {
        let mut queues = DualPi2 {
            setting,
            low_latency: Queue::default(),
            classic: Queue::default(),
            next_update: Time::ZERO + setting.update,
            base: Base::default(),
            credit: 0.0,
            marked: 0,
        };
        queues.reset_credit();
        queues
    }

    /// Appends `packet`, which arrives now, to its queue. The packet is dropped if the two queues
    /// hold at least `room` packets in total (`dualpi2_enqueue`).
    pub fn enqueue(&mut self, packet: Packet, room: usize, dropped: &mut Vec<Packet>) {
        self.advance(packet.queued);
        if self.len() >= room {
            dropped.push(packet);
        } else if packet.ecn.is_l4s() {
            self.low_latency.packets.push_back(packet);
        } else {
            self.classic.packets.push_back(packet);
        }
    }

    /// Returns the next packet to send, possibly marked. Packets that are dropped before this
    /// packet are appended to `dropped` (`dualpi2_dequeue`).
    pub fn dequeue(&mut self, now: Time, dropped: &mut Vec<Packet>) -> Option<Packet> {
        self.advance(now);
        loop {
            let Some((mut packet, turn, price)) = self.next(now) else {
                self.reset_credit();
                return None;
            };
            let (marks, drops) = match turn {
                Turn::LowLatency => self.judge_low_latency(now, &packet),
                Turn::Classic => self.judge_classic(&packet),
            };
            if drops {
                dropped.push(packet);
                continue;
            }
            if marks && packet.mark() {
                self.marked += 1;
            }
            self.credit += price;
            return Some(packet);
        }
    }

    /// Returns whether a departing L4S packet is marked, and whether it is dropped (figure 7, lines
    /// 4b to 8j).
    fn judge_low_latency(&mut self, now: Time, packet: &Packet) -> (bool, bool) {
        let coupled = self.coupled();
        if coupled < 1.0 {
            let is_long = 1 + self.low_latency.packets.len() > MIN_LENGTH;
            let native = match is_long {
                true => self.native(now.since(packet.queued)),
                false => 0.0,
            };
            (self.low_latency.recur(native.max(coupled)), false)
        } else if self.low_latency.recur(self.squared()) {
            (false, true)
        } else {
            (self.low_latency.recur(coupled), false)
        }
    }

    /// Returns whether a departing classic packet is marked, and whether it is dropped (figure 7,
    /// lines 11 to 17).
    fn judge_classic(&mut self, packet: &Packet) -> (bool, bool) {
        let squared = self.squared();
        if !self.classic.recur(squared) {
            return (false, false);
        }
        // p_Cmax: from this probability on, ECN-capable packets are dropped, too
        let most = 1.0 / (self.setting.coupling * self.setting.coupling);
        let drops = packet.ecn == Ecn::NotCapable || squared >= most;
        (!drops, drops)
    }

    /// Returns `p_CL`, the coupled probability of a mark in the L queue. [-]
    fn coupled(&self) -> f64 {
        (self.setting.coupling * self.base.p).min(1.0)
    }

    /// Returns `p_C`, the probability of a mark or drop in the classic queue. [-]
    fn squared(&self) -> f64 {
        self.base.p * self.base.p
    }

    /// Returns `laqm`, the probability p'_L of a mark at this sojourn time. [-]
    fn native(&self, sojourn_time: Span) -> f64 {
        let DualPi2Setting { range, .. } = self.setting;
        let least = self.setting.min_threshold;
        if sojourn_time >= least + range {
            1.0
        } else if sojourn_time > least {
            (sojourn_time.0 - least.0) as f64 / range.0 as f64
        } else {
            0.0
        }
    }

    /// Performs the updates that are due until `now`.
    fn advance(&mut self, now: Time) {
        while self.next_update <= now {
            let rests = self.len() == 0 && self.base.p == 0.0 && self.base.before == Span::ZERO;
            if rests {
                // updates of an empty queue with p' = 0 change nothing, and are skipped
                let left = now.since(self.next_update).0 / self.setting.update.0;
                self.next_update += Span(left * self.setting.update.0);
            } else {
                self.step(self.next_update);
            }
            self.next_update += self.setting.update;
        }
    }

    /// Performs one update of the controller: `dualpi2_update`, figure 8.
    fn step(&mut self, at: Time) {
        let setting = &self.setting;
        let queue = self.low_latency.waited(at).max(self.classic.waited(at));
        let over = queue.seconds() - setting.target.seconds();
        let grown = queue.seconds() - self.base.before.seconds();
        let p = self.base.p + setting.alpha * over + setting.beta * grown;
        self.base.p = p.clamp(0.0, 1.0);
        self.base.before = queue;
    }

    /// Returns the next packet, its queue, and the credit for the other queue if the packet is
    /// sent.
    fn next(&mut self, now: Time) -> Option<(Packet, Turn, f64)> {
        let turn = self.turn(now)?;
        let weight = self.setting.classic_weight;
        let (queue, other, price) = match turn {
            Turn::LowLatency => (&mut self.low_latency, &self.classic, weight),
            Turn::Classic => (&mut self.classic, &self.low_latency, weight - 1.0),
        };
        let contends = !other.packets.is_empty();
        let packet = queue.packets.pop_front()?;
        let price = match contends {
            true => price * f64::from(packet.bytes),
            false => 0.0,
        };
        Some((packet, turn, price))
    }

    /// Returns the queue that is served next (`scheduler`).
    fn turn(&self, now: Time) -> Option<Turn> {
        let first = |queue: &Queue| queue.packets.front().map(|_| queue.waited(now));
        let (low_latency, classic) = (first(&self.low_latency), first(&self.classic));
        match (low_latency, classic) {
            (None, None) => None,
            (Some(_), None) => Some(Turn::LowLatency),
            (None, Some(_)) => Some(Turn::Classic),
            (Some(ours), Some(theirs)) => {
                let goes_first = match self.setting.scheduler {
                    DualScheduler::Wrr => self.credit <= 0.0,
                    DualScheduler::TimeShiftedFifo => ours + self.setting.time_shift >= theirs,
                };
                Some(match goes_first {
                    true => Turn::LowLatency,
                    false => Turn::Classic,
                })
            }
        }
    }

    /// Resets the credit, so that the L queue is served first.
    fn reset_credit(&mut self) {
        self.credit = MTU * (2.0 * self.setting.classic_weight - 1.0);
    }

    /// Returns the number of packets in both queues.
    pub(super) fn len(&self) -> usize {
        self.low_latency.packets.len() + self.classic.packets.len()
    }

    /// Returns the packets of one queue, followed by the packets of the other queue.
    pub fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.low_latency.packets.iter().chain(&self.classic.packets)
    }
}

impl Queue {
    /// Returns the time that the first packet has waited, or 0 if the queue is empty.
    fn waited(&self, at: Time) -> Span {
        let first = self.packets.front();
        first.map_or(Span::ZERO, |packet| at.since(packet.queued))
    }

    /// Returns true for a fraction `likelihood` of the calls, evenly spaced.
    fn recur(&mut self, likelihood: f64) -> bool {
        self.count += likelihood;
        let recurs = self.count > 1.0;
        if recurs {
            self.count -= 1.0;
        }
        recurs
    }
}

#[cfg(test)]
mod tests;

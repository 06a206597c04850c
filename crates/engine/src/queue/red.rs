//! Random early detection (RED): drops packets before the queue is full, with a probability that
//! increases with the average queue length.
//!
//! The published algorithm is that of S. Floyd, V. Jacobson, "Random early detection gateways for
//! congestion avoidance", IEEE/ACM Transactions on Networking 1(4), 1993, sections IV and VII. The
//! simulated algorithm ([`RedForm::Ns2`]) is that of ns-2.35, `queue/red.cc`.
//!
//! | | published | ns-2 |
//! |---|---|---|
//! | queue length that is averaged | with the packet in service | waiting packets only |
//! | average after an idle time of m packets | (1-w)^m avg, m real | (1-w)^(m+1) avg + w q, m whole |
//! | count when the average enters [min_th, max_th) | 0 at the first packet | the first packet always passes, the next has count 2 |
//! | short queue | may drop | never drops while at most one packet waits (in byte mode: none) |
//! | distance of early drops | uniform on {1, ..., 1/p_b - 1} packets | with `wait` (default) uniform on {1/p_b, ..., 2/p_b - 1} packets |
//! | average of max_th and above | drops all packets | with `gentle` (default) p_b rises from max_p to 1 at 2 max_th |
//! | byte mode | p_b is multiplied by length / reference before p_a is computed | p_a is multiplied by length / reference |
//! | overflow | not specified: count does not change | count restarts |
//! | limit in byte mode | not specified: packets | bytes of this number of packets of the mean length |
//! | automatic weight | none, 0.002 recommended | 1 - exp(-1/(10 R C)), R = max(3 (delay + 1/C), 0.1 s) |
//!
//! In the table, avg is the average queue length, q is the current queue length, and w is the
//! weight of q in avg. The base drop probability p_b depends on avg, and p_a is the drop
//! probability of the packet. Count is the number of packets since the last early drop. C is the
//! rate of the egress in packets of mean length per second. With w = 1 there is no averaging.
//!
//! Differs from the published algorithm in three points. A packet that cannot carry a mark is
//! dropped. Even with ECN, every packet is dropped if the average is so high that RED drops all
//! packets (RFC 3168, section 7). The reference length of byte mode is the mean packet length, not
//! the maximum. Differs from ns-2 in four points. The limit includes the packet in service. In byte
//! mode there is also a limit on the number of packets. With ECN, packets are marked below max_th
//! for any max_p, whereas ns-2 marks packets only if p_b is at most `mark_p_` = 0.1. There are no
//! adaptive, cautious or random-victim variants.

use super::discipline::{Backlog, Egress, OfDiscipline, Verdict, check_start, moving};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{Json, Setting, flag, number, size, word};
use crate::notation::value::Value;
use crate::packet::Packet;
use crate::{table, words};

words! {
    /// Variant of RED.
    pub enum RedForm {
        /// Variant of ns-2.35.
        Ns2 = "ns-2",
        /// Published variant.
        Published = "published",
    }
}

/// The weight of the current queue length in the average of RED.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RedWeight {
    /// Average over ten assumed round-trip times, at least 1 s (q_weight -1 of ns-2). The assumed
    /// round-trip time is three times the sum of link delay and transmission time.
    Auto,
    /// Average over 1 s (q_weight 0 of ns-2).
    PerSecond,
    /// Given weight, above 0 and up to 1. With weight 1 there is no averaging. [-]
    Given(f64),
}

impl Setting for RedWeight {
    fn of(value: &Value) -> Option<RedWeight> {
        match value {
            Value::Word("auto") => Some(RedWeight::Auto),
            Value::Number(0.0) => Some(RedWeight::PerSecond),
            other => f64::of(other).map(RedWeight::Given),
        }
    }

    fn json(&self) -> Json {
        match self {
            RedWeight::Auto => Json::from("auto"),
            RedWeight::PerSecond => Json::from(0.0),
            RedWeight::Given(weight) => Json::from(*weight),
        }
    }
}

/// Weight of the current queue length that the authors recommend (Floyd & Jacobson 1993, section
/// VI).
const ADVISED: RedWeight = RedWeight::Given(0.002);

table! {
    /// Random early detection (RED), in the variant of ns-2 or as published.
    pub struct RedSetting: Copy in "red" {
        /// Variant of RED. "ns-2": implementation of ns-2.35. "published": algorithm of Floyd and Jacobson (1993).
        form: RedForm = word().default(RedForm::Ns2);
        /// Average queue from which packets are dropped, in packets; with bytes = true in packets of the mean length.
        min_th: f64, json "min_th_packets" = number(0.0..=1_000_000.0).required();
        /// Average queue at which the drop probability reaches max_p, in packets; with bytes = true in packets of the mean length.
        max_th: f64, json "max_th_packets" = number(0.0..=1_000_000.0).required();
        /// Drop probability just below max_th.
        max_p: f64 = number(0.000_001..=1.0).default(0.1);
        /// Weight of the present queue in its average. With 1 there is no averaging. With "auto" the weight follows from rate and delay of the link, as with q_weight = -1 in ns-2. With 0 it follows from the rate only, as with q_weight = 0 in ns-2.
        weight: RedWeight = number(0.0..=1.0).or("auto").depends("\"auto\"; 0.002 with form = \"published\"")
            => match form { RedForm::Ns2 => RedWeight::Auto, RedForm::Published => ADVISED };
        /// If true, the drop probability rises above max_th until it is 1 at twice max_th. Otherwise it is 1 above max_th.
        gentle: bool = flag().depends("true; false with form = \"published\"") => form == RedForm::Ns2;
        /// If true, early drops are 1/p to 2/p packets apart, where p is the drop probability. Otherwise they are up to 1/p packets apart.
        wait: bool = flag().depends("true; false with form = \"published\"") => form == RedForm::Ns2;
        /// If true, the queue is counted in bytes, and long packets are dropped more often than short packets. With form = "ns-2" there is also a limit in bytes, in addition to the limit in packets.
        bytes: bool = flag().default(false);
        /// Mean length of a packet, which is used for idle times, the automatic weight and bytes = true.
        mean_packet_bytes as "mean_packet": u32 = size(1..=65_535).default("500 B");
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(false);
    }
}

impl OfDiscipline for RedSetting {
    moving!(min_th, max_th, max_p);

    fn marks(&self) -> bool {
        self.ecn
    }

    fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        let Some(min_th) = own.located(RedSetting::min_th) else {
            return;
        };
        if let Some(max_th) = own.located(RedSetting::max_th)
            && min_th.value >= max_th.value
        {
            let message = format!(
                "{} is not below max_th; expected less than {}",
                min_th.shown, max_th.shown
            );
            problems.add(min_th.origin, &min_th.path, message);
        }
        // in byte mode the thresholds are not compared with the limit, because packets longer than
        // the mean may raise the average above the limit in packets
        let bytes = own.located(RedSetting::bytes);
        if bytes.is_some_and(|bytes| !bytes.value) {
            check_start(queue, &min_th, "red.min_th", problems);
        }
    }
}

/// The state of a RED queue. In byte mode thresholds and average are in bytes, otherwise in
/// packets.
#[derive(Clone, Debug)]
pub struct Red {
    setting: RedSetting,
    /// Maximum number of packets, including the packet in service.
    limit: u32,
    /// Number of waiting bytes at which the queue is full (ns-2 form, byte mode).
    limit_bytes: u64,
    min_th: f64,
    max_th: f64,
    /// Weight of the current queue length in the average. The next field is 1 - weight. [-]
    weight: f64,
    memory: f64,
    /// C: rate of the egress in packets of mean length. [1/s]
    packets_per_s: f64,
    /// Average queue length at the last arrival. [packets, or bytes in byte mode]
    average: f64,
    /// Number of packets since the last early drop or mark; -1 while the average is below min_th
    /// (published form).
    count: i64,
    /// Number of bytes since the last early drop or mark.
    count_bytes: u64,
    /// Whether the average was min_th or more at the previous arrival (ns-2 form).
    above: bool,
    stream: Stream,
}

impl Red {
    /// Returns an empty queue.
    pub fn new(setting: RedSetting, limit: u32, egress: Egress, stream: Stream) -> Red {
        let mean_bytes = f64::from(setting.mean_packet_bytes);
        let packets_per_s = egress.rate_bps as f64 / (8.0 * mean_bytes);
        let unit = setting.unit();
        let weight = weight(setting.weight, packets_per_s, egress.delay.seconds());
        Red {
            limit,
            limit_bytes: limit_bytes(&setting, limit),
            min_th: setting.min_th * unit,
            max_th: setting.max_th * unit,
            weight,
            memory: 1.0 - weight,
            packets_per_s,
            average: 0.0,
            count: match setting.form {
                RedForm::Ns2 => 0,
                RedForm::Published => -1,
            },
            count_bytes: 0,
            above: false,
            setting,
            stream,
        }
    }

    /// Sets the limit and the settings that may change at run time. The average queue length is not
    /// reset.
    pub(super) fn change(&mut self, setting: RedSetting, limit: u32) {
        self.setting = self.setting.moved_to(setting);
        (self.min_th, self.max_th) = (
            setting.min_th * setting.unit(),
            setting.max_th * setting.unit(),
        );
        (self.limit, self.limit_bytes) = (limit, limit_bytes(&setting, limit));
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`.
    #[inline(always)]
    pub fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        let verdict = match self.setting.form {
            RedForm::Ns2 => self.as_ns2(now, backlog, packet),
            RedForm::Published => {
                let queue = match self.setting.bytes {
                    true => backlog.bytes as f64,
                    false => f64::from(backlog.packets),
                };
                self.as_published(now, queue, backlog.idle_since, packet)
            }
        };
        if backlog.packets < self.limit && !self.is_full(backlog) {
            return verdict;
        }
        if self.setting.form == RedForm::Ns2 {
            self.restart_count();
        }
        Verdict::Drop
    }

    #[inline(never)]
    fn as_published(
        &mut self,
        now: Time,
        queue: f64,
        idle_since: Option<Time>,
        packet: &Packet,
    ) -> Verdict {
        match idle_since {
            None => self.average += self.weight * (queue - self.average),
            Some(since) => {
                let missed = self.packets_per_s * now.since(since).seconds();
                self.average *= libm::pow(self.memory, missed);
            }
        }
        if self.average < self.min_th {
            self.count = -1;
            self.count_bytes = 0;
            return Verdict::Enter;
        }
        if self.is_beyond() {
            self.restart_count();
            return Verdict::Drop;
        }
        self.count += 1;
        let mut p_b = self.base_probability();
        if self.setting.bytes {
            p_b *= f64::from(packet.bytes) / f64::from(self.setting.mean_packet_bytes);
        }
        let p_a = self.spread(p_b, self.count as f64);
        self.early(p_a, packet)
    }

    #[inline(always)]
    fn as_ns2(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        let queue = if self.setting.bytes {
            (backlog.bytes - u64::from(backlog.in_service_bytes)) as f64
        } else {
            f64::from(backlog.packets.saturating_sub(1))
        };
        let memory = match backlog.idle_since {
            None => self.memory,
            Some(since) => {
                let missed = (self.packets_per_s * now.since(since).seconds()).floor();
                libm::pow(self.memory, missed + 1.0)
            }
        };
        self.average = self.average * memory + self.weight * queue;
        self.count += 1;
        if self.setting.bytes {
            self.count_bytes += u64::from(packet.bytes);
        }
        if self.average < self.min_th || queue <= 1.0 {
            self.above = false;
            return Verdict::Enter;
        }
        if !self.above {
            self.above = true;
            self.count = 1;
            self.count_bytes = u64::from(packet.bytes);
            return Verdict::Enter;
        }
        let count = if self.setting.bytes {
            (self.count_bytes / u64::from(self.setting.mean_packet_bytes)) as f64
        } else {
            self.count as f64
        };
        let mut p_a = self.spread(self.base_probability(), count);
        if self.setting.bytes && p_a < 1.0 {
            p_a *= f64::from(packet.bytes) / f64::from(self.setting.mean_packet_bytes);
        }
        match p_a > 0.0 {
            true => self.early(p_a, packet),
            false => Verdict::Enter,
        }
    }

    /// Returns whether the number of waiting bytes has reached the limit. The value is false if the
    /// link is idle.
    fn is_full(&self, backlog: &Backlog) -> bool {
        if self.limit_bytes == u64::MAX {
            return false;
        }
        let waiting = backlog.bytes - u64::from(backlog.in_service_bytes);
        waiting >= self.limit_bytes && backlog.packets > 0
    }

    /// Returns the base drop probability p_b for the current average, between 0 and 1. [-]
    fn base_probability(&self) -> f64 {
        let RedSetting { max_p, gentle, .. } = self.setting;
        if self.average < self.max_th {
            max_p * (self.average - self.min_th) / (self.max_th - self.min_th)
        } else if gentle {
            (max_p + (1.0 - max_p) * (self.average - self.max_th) / self.max_th).min(1.0)
        } else {
            1.0
        }
    }

    /// Returns the drop probability p_a of a packet: `p_b`, corrected so that drops are evenly
    /// spaced. `count` is the number of packets since the last drop. [-]
    fn spread(&self, p_b: f64, count: f64) -> f64 {
        let expected = count * p_b;
        match self.setting.wait {
            true if expected < 1.0 => 0.0,
            true if expected < 2.0 => (p_b / (2.0 - expected)).min(1.0),
            false if expected < 1.0 => (p_b / (1.0 - expected)).min(1.0),
            _ => 1.0,
        }
    }

    /// Returns the verdict on a packet that is dropped or marked with probability `p_a`.
    #[inline(never)]
    fn early(&mut self, p_a: f64, packet: &Packet) -> Verdict {
        if !self.stream.chance(p_a) {
            return Verdict::Enter;
        }
        self.restart_count();
        Verdict::early(self.setting.ecn && self.average < self.max_th, packet)
    }

    /// Returns whether the current average is so high that every packet is dropped.
    fn is_beyond(&self) -> bool {
        let factor = if self.setting.gentle { 2.0 } else { 1.0 };
        self.average >= factor * self.max_th
    }

    fn restart_count(&mut self) {
        self.count = 0;
        self.count_bytes = 0;
    }
}

impl RedSetting {
    /// Returns the size of one packet in the unit of the thresholds: 1 packet or, in byte mode, the
    /// mean length. [packets or bytes]
    fn unit(&self) -> f64 {
        match self.bytes {
            true => f64::from(self.mean_packet_bytes),
            false => 1.0,
        }
    }
}

/// Returns the number of waiting bytes at which the queue is full (ns-2 form, byte mode).
fn limit_bytes(setting: &RedSetting, limit: u32) -> u64 {
    match (setting.form, setting.bytes) {
        (RedForm::Ns2, true) => u64::from(limit - 1) * u64::from(setting.mean_packet_bytes),
        _ => u64::MAX,
    }
}

/// Returns the weight of the current queue length. `packets_per_s` is the rate of the egress [1/s],
/// and `delay` is the delay of the link [s].
fn weight(setting: RedWeight, packets_per_s: f64, delay: f64) -> f64 {
    let after = |seconds: f64| -libm::expm1(-1.0 / (seconds * packets_per_s));
    match setting {
        RedWeight::Given(weight) => weight,
        RedWeight::PerSecond => after(1.0),
        RedWeight::Auto => after(10.0 * (3.0 * (delay + 1.0 / packets_per_s)).max(0.1)),
    }
}

#[cfg(test)]
mod tests;

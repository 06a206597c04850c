//! CoDel (RFC 8289, section 5). If the sojourn time exceeds a target for a whole interval, CoDel
//! drops packets at the head of the queue, at an increasing rate.
//!
//! Differs from RFC 8289 in two points. With ECN, an ECN-capable packet is marked and sent instead
//! of dropped, as in Linux (the RFC does not specify this case). Where the RFC uses the MTU, this
//! code uses the length of the longest packet so far.
//!
//! In addition, a departing packet is marked if its sojourn time exceeds `ce_threshold`, as in
//! Linux (`codel_impl.h`, and `ce_threshold_selector` of `fq_codel`). These marks are for senders
//! that react to the fraction of marks.

use std::collections::VecDeque;

use super::discipline::{OfDiscipline, moving, refuse_idle};
use crate::kernel::time::{Span, Time};
use crate::notation::decode::{Located, Section};
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, duration, flag, keys};
use crate::packet::{Ecn, Packet};
use crate::table;

table! {
    /// CoDel, which drops packets at the head of the queue while packets wait too long.
    pub struct CoDelSetting: Copy in "codel" {
        /// Acceptable time in the queue.
        target: Span = duration(0..=10 * S).default("5 ms");
        /// Time for which packets must be above target before a packet is dropped. It should be of the order of a round-trip time.
        interval: Span = duration(US..=100 * S).default("100 ms");
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(false);
        /// Time in the queue from which every ECN-capable packet is marked, in addition to the decisions of CoDel.
        ce_threshold: Option<Span> = duration(0..=10 * S).or("off").default("off");
        /// If true, ce_threshold marks only ECT(1) packets, which are L4S. Otherwise it marks all ECN-capable packets.
        ce_threshold_l4s: bool = flag().default(false);
    }
}

impl OfDiscipline for CoDelSetting {
    const ORDERS: bool = true;

    moving!(target, interval);

    fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    fn check(_: &Section, own: &Section, problems: &mut Problems) {
        let marks = own.located(Self::ce_threshold).and_then(Located::present);
        let is_off = marks.is_none() && !own.lacks(Self::ce_threshold);
        if is_off && own.value(Self::ce_threshold_l4s) == Some(true) {
            let (keys, switch) = (keys!(Self: ce_threshold_l4s), Self::ce_threshold);
            refuse_idle(own, &keys, switch, "a duration", problems);
        }
        let (target, interval) = (own.located(Self::target), own.located(Self::interval));
        if let (Some(target), Some(interval)) = (target, interval)
            && target.value >= interval.value
        {
            // the error is reported at the key that the file sets, not at the key with the default
            // value
            match target.given {
                true => {
                    let most = &interval.shown;
                    let fault = format!("is not below interval; expected less than {most}");
                    target.refuse_value(fault, problems)
                }
                false => {
                    let least = &target.shown;
                    let fault = format!("is not above target; expected more than {least}");
                    interval.refuse_value(fault, problems)
                }
            };
        }
    }
}

impl CoDelSetting {
    /// Returns whether the departing `packet` has waited longer than `ce_threshold` and is to be
    /// marked.
    #[inline]
    fn is_late(&self, now: Time, packet: &Packet) -> bool {
        let Some(threshold) = self.ce_threshold else {
            return false;
        };
        let is_meant = !self.ce_threshold_l4s || packet.ecn == Ecn::Scalable;
        is_meant && now.since(packet.queued) > threshold
    }
}

/// A FIFO queue with the state of CoDel. The packet in service is not included.
#[derive(Clone, Debug, Default)]
pub struct CoDel {
    pub(super) packets: VecDeque<Packet>,
    /// Total length of the packets. [bytes]
    pub(super) bytes: u64,
    state: DropState,
}

/// The state variables of CoDel's control law.
#[derive(Clone, Copy, Debug, Default)]
struct DropState {
    /// Time at which the sojourn time will have exceeded the target for a whole interval; `None`
    /// while the sojourn time is below the target.
    first_above: Option<Time>,
    /// Time of the next drop while CoDel is dropping.
    drop_next: Time,
    /// Number of packets dropped since CoDel began to drop. The number may include drops of the
    /// previous dropping period.
    count: u32,
    /// Value of `count` when CoDel began to drop.
    last_count: u32,
    dropping: bool,
}

/// The packets that `dequeue` has dropped or marked.
pub(super) struct Passed<'a> {
    /// Packets that were dropped.
    pub(super) dropped: &'a mut Vec<Packet>,
    /// Number of packets marked so far.
    pub(super) marked: &'a mut u64,
}

impl CoDel {
    /// Appends a packet.
    pub(super) fn push(&mut self, packet: Packet) {
        self.bytes += u64::from(packet.bytes);
        self.packets.push_back(packet);
    }

    /// Removes the first packet, without applying CoDel.
    pub(super) fn pop(&mut self) -> Option<Packet> {
        let packet = self.packets.pop_front()?;
        self.bytes -= u64::from(packet.bytes);
        Some(packet)
    }

    /// Returns the next packet to send. `largest` [bytes] is the length of the largest packet.
    /// CoDel drops nothing if the backlog does not exceed this length.
    pub(super) fn dequeue(
        &mut self,
        now: Time,
        setting: &CoDelSetting,
        largest: u64,
        mut passed: Passed,
    ) -> Option<Packet> {
        let mut packet = self.controlled(now, setting, largest, &mut passed)?;
        if setting.is_late(now, &packet) && packet.ecn != Ecn::Experienced && packet.mark() {
            *passed.marked += 1;
        }
        Some(packet)
    }

    /// Returns the next packet to send, after applying the CoDel algorithm.
    fn controlled(
        &mut self,
        now: Time,
        setting: &CoDelSetting,
        largest: u64,
        passed: &mut Passed,
    ) -> Option<Packet> {
        let (mut packet, mut ok_to_drop) = self.next(now, setting, largest)?;
        if self.state.dropping {
            if !ok_to_drop {
                self.state.dropping = false;
            }
            while self.state.dropping && now >= self.state.drop_next {
                self.state.count += 1;
                if setting.ecn && packet.mark() {
                    *passed.marked += 1;
                    self.state.schedule(self.state.drop_next, setting.interval);
                    return Some(packet);
                }
                passed.dropped.push(packet);
                let Some(next) = self.next(now, setting, largest) else {
                    self.state.dropping = false;
                    return None;
                };
                (packet, ok_to_drop) = next;
                if ok_to_drop {
                    self.state.schedule(self.state.drop_next, setting.interval);
                } else {
                    self.state.dropping = false;
                }
            }
        } else if ok_to_drop {
            self.state.begin(now, setting.interval);
            if setting.ecn && packet.mark() {
                *passed.marked += 1;
                return Some(packet);
            }
            passed.dropped.push(packet);
            (packet, _) = self.next(now, setting, largest)?;
        }
        Some(packet)
    }

    /// Removes and returns the first packet. The second value is true if the sojourn time has
    /// exceeded the target for a whole interval.
    fn next(&mut self, now: Time, setting: &CoDelSetting, largest: u64) -> Option<(Packet, bool)> {
        let Some(packet) = self.pop() else {
            self.state.first_above = None;
            return None;
        };
        if now.since(packet.queued) < setting.target || self.bytes <= largest {
            self.state.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.state.first_above.get_or_insert(now + setting.interval);
        // `first_above` is None at the first packet above the target; the interval is positive, so
        // that it cannot end at this packet
        Some((packet, now >= first_above))
    }
}

impl DropState {
    /// Starts dropping: sets `count` and the time of the next drop.
    fn begin(&mut self, now: Time, interval: Span) {
        self.dropping = true;
        // if CoDel stopped dropping only recently, the previous drop rate is the initial rate
        let delta = self.count.saturating_sub(self.last_count);
        let recent = now.since(self.drop_next) < interval * 16;
        self.count = if delta > 1 && recent { delta } else { 1 };
        self.last_count = self.count;
        self.schedule(now, interval);
    }

    /// Returns the time of the next drop: `from` plus interval / sqrt(`count`).
    fn schedule(&mut self, from: Time, interval: Span) {
        let gap = interval.seconds() / f64::from(self.count).sqrt();
        self.drop_next = from + Span::from_seconds(gap);
    }
}

/// A single FIFO queue that CoDel controls.
#[derive(Clone, Debug)]
pub struct Single {
    pub(super) setting: CoDelSetting,
    pub(super) codel: CoDel,
    /// Length of the longest packet so far. [bytes]
    pub(super) largest: u64,
    pub(super) marked: u64,
}

impl Single {
    pub(super) fn new(setting: CoDelSetting) -> Single {
        Single {
            setting,
            codel: CoDel::default(),
            largest: 0,
            marked: 0,
        }
    }
}

#[cfg(test)]
mod tests;

//! Settings of the queue of a Linux access point.

use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, count, duration, flag, keys, size};
use crate::queue::CoDelSetting;
use crate::queue::discipline::{OfDiscipline, moving, refuse_idle};
use crate::table;

table! {
    /// Queue of a Linux access point (mac80211, Linux 6.18): FQ-CoDel for each station and category. Stations take turns by air time, and the air time of packets in the device is limited.
    pub struct Mac80211Setting: Copy in "mac80211" {
        /// Number of flow queues of the radio, to which flows are hashed. If a flow's queue is in use for another station, the flow goes to the overflow queue of its own station and category.
        flows: u32 = count(1..=65_536).default(4_096);
        /// Memory that packets may use, as counted by Linux. A packet of 1,500 B uses 2,304 B, and a packet of 52 B uses 768 B.
        memory_bytes as "memory": Option<u32> = size(10_000..=1_000_000_000).depends("16777216 B; 4194304 B in 802.11n");
        /// Quantum: number of bytes that a flow may send per turn.
        quantum_bytes as "quantum": u32 = size(1..=100_000).default("300 B");
        /// Acceptable time in the queue.
        target: Span = duration(0..=10 * S).default("20 ms");
        /// Time for which packets must be above target before a packet is dropped. It should be of the order of a round-trip time.
        interval: Span = duration(US..=100 * S).default("100 ms");
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(true);
        /// Time in the queue from which every ECN-capable packet is marked, in addition to the decisions of CoDel. Linux has this code but leaves it off.
        ce_threshold: Option<Span> = duration(0..=10 * S).or("off").default("off");
        /// If true, ce_threshold marks only ECT(1) packets, which are L4S. Otherwise it marks all ECN-capable packets.
        ce_threshold_l4s: bool = flag().default(false);
        /// If true, stations take turns by air time, which includes both directions. Otherwise every station with packets gets its turn.
        airtime_fairness: bool = flag().default(true);
        /// Air time that a station with a negative air time deficit receives per round.
        airtime_weight: Span = duration(US..=S).default("256 us");
        /// If true, the device accepts packets until their estimated air time reaches the limits (AQL). Otherwise it holds two aggregates, including the aggregate on the air, as ath9k does.
        aql: bool = flag().default(true);
        /// Air time below which the device accepts more packets for a station and category, regardless of the packets that it holds for others.
        aql_low: Span = duration(US..=S).default("5 ms");
        /// Air time below which the device accepts more packets for a station and category while it holds less than aql_radio in total.
        aql_high: Span = duration(US..=S).default("12 ms");
        /// Total air time of the packets in the device from which only aql_low applies.
        aql_radio: Span = duration(US..=10 * S).default("24 ms");
        /// If true, slow stations have a target of 50 ms, an interval of 300 ms and no marks. A station is slow if it expects less than 6 Mb/s for each station of the cell. Linux removed this rule in 6.15.
        slow_stations: bool = flag().default(false);
    }
}

/// Settings of CoDel for a slow station, if `slow_stations` is set.
pub(super) const SLOW: CoDelSetting = CoDelSetting {
    target: Span(50_000_000),
    interval: Span(300_000_000),
    ecn: false,
    ce_threshold: None,
    ce_threshold_l4s: false,
};

impl Mac80211Setting {
    /// Default limit of a queue. [packets]
    pub(crate) const LIMIT: u32 = 8_192;

    moving!(pub(crate) target, interval);

    /// Returns whether packets may be marked.
    pub(crate) fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    /// Returns the settings of CoDel for each flow queue.
    pub(super) fn codel(&self) -> CoDelSetting {
        CoDelSetting {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
            ce_threshold_l4s: self.ce_threshold_l4s,
        }
    }

    /// Checks the combinations of keys in the table `mac80211`.
    pub(crate) fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        // the table of mac80211 contains all keys of the table of CoDel
        CoDelSetting::check(queue, own, problems);
        if own.value(Self::airtime_fairness) == Some(false) {
            let (keys, switch) = (keys!(Self: airtime_weight), Self::airtime_fairness);
            refuse_idle(own, &keys, switch, "true", problems);
        }
        if own.value(Self::aql) == Some(false) {
            let keys = keys!(Self: aql_low, aql_high, aql_radio);
            return refuse_idle(own, &keys, Self::aql, "true", problems);
        }
        let (low, high) = (own.located(Self::aql_low), own.located(Self::aql_high));
        if let (Some(low), Some(high)) = (low, high)
            && low.value > high.value
        {
            // the error is reported at the key that the file sets, not at the key with the default
            // value
            match low.given {
                true => {
                    let fault = format!("is above aql_high; expected at most {}", high.shown);
                    low.refuse_value(fault, problems)
                }
                false => {
                    let fault = format!("is below aql_low; expected at least {}", low.shown);
                    high.refuse_value(fault, problems)
                }
            };
        }
    }
}

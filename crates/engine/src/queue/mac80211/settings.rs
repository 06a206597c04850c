//! What a file says of the queue of a Linux access point.

use crate::kernel::time::Span;
use crate::notation::decode::Section;
use crate::notation::problem::Problems;
use crate::notation::setting::{S, US, count, duration, flag, keys, size};
use crate::queue::CoDelSetting;
use crate::queue::settings::{OfDiscipline, moving, refuse_idle};
use crate::table;

table! {
    /// The queue of a Linux access point (mac80211, Linux 6.18): FQ-CoDel for each station and category, which take turns by air time, and limits of the air time that the device takes ahead.
    pub struct Mac80211Setting: Copy in "mac80211" {
        /// Flow queues of the radio, to which flows are hashed; one that is used for another station stands for it with an overflow queue of its own.
        flows: u32 = count(1..=65_536).default(4_096);
        /// What packets may take in memory, as Linux counts it: a packet of 1,500 B takes 2,304 B, one of 52 B 768 B.
        memory_bytes as "memory": Option<u32> = size(10_000..=1_000_000_000).depends("16777216 B, in 802.11n 4194304 B");
        /// What a flow may send in its turn.
        quantum_bytes as "quantum": u32 = size(1..=100_000).default("300 B");
        /// Time in the queue that is acceptable.
        target: Span = duration(0..=10 * S).default("20 ms");
        /// For how long packets must be above target before one is dropped; of the order of a round trip.
        interval: Span = duration(US..=100 * S).default("100 ms");
        /// Marks packets that are ECN-capable instead of dropping them.
        ecn: bool = flag().default(true);
        /// Time in the queue from which every packet that is ECN-capable is marked, beside what CoDel does; Linux has the code and leaves it off.
        ce_threshold: Option<Span> = duration(0..=10 * S).or("off").default("off");
        /// ce_threshold marks ECT(1) alone, which is L4S; otherwise all that is ECN-capable.
        ce_threshold_l4s: bool = flag().default(false);
        /// Whether stations take turns by air time, both directions counting; without it each that has packets has its turn.
        airtime_fairness: bool = flag().default(true);
        /// Air time that a station in debt is given in a round.
        airtime_weight: Span = duration(US..=S).default("256 us");
        /// Whether the device takes packets ahead until their estimated air time reaches the limits; without it, it holds two aggregates, the one on the air included, as ath9k does.
        aql: bool = flag().default(true);
        /// Air time below which the device takes more for a station and category, whatever it holds for others.
        aql_low: Span = duration(US..=S).default("5 ms");
        /// Air time below which it does so while it holds less than aql_radio in all.
        aql_high: Span = duration(US..=S).default("12 ms");
        /// Air time of all that the device holds from which aql_low counts alone.
        aql_radio: Span = duration(US..=10 * S).default("24 ms");
        /// The rule that Linux dropped in 6.15: a station that expects less than 6 Mb/s for each station of the cell has a target of 50 ms, an interval of 300 ms and no marks.
        slow_stations: bool = flag().default(false);
    }
}

/// CoDel of a slow station, where there is a rule for them.
pub(super) const SLOW: CoDelSetting = CoDelSetting {
    target: Span(50_000_000),
    interval: Span(300_000_000),
    ecn: false,
    ce_threshold: None,
    ce_threshold_l4s: false,
};

impl Mac80211Setting {
    /// Limit of a queue whose table gives none. [packets]
    pub(crate) const LIMIT: u32 = 8_192;

    moving!(pub(crate) target, interval);

    /// Whether packets may be marked.
    pub(crate) fn marks(&self) -> bool {
        self.ecn || self.ce_threshold.is_some()
    }

    /// CoDel in each flow queue.
    pub(super) fn codel(&self) -> CoDelSetting {
        CoDelSetting {
            target: self.target,
            interval: self.interval,
            ecn: self.ecn,
            ce_threshold: self.ce_threshold,
            ce_threshold_l4s: self.ce_threshold_l4s,
        }
    }

    /// What its values must satisfy together.
    pub(crate) fn check(queue: &Section, own: &Section, problems: &mut Problems) {
        // the keys have the same names
        CoDelSetting::check(queue, own, problems);
        if own.value(Self::airtime_fairness) == Some(false) {
            let (keys, switch) = (keys!(Self: airtime_weight), Self::airtime_fairness);
            refuse_idle(own, &keys, switch, "true", problems);
        }
        if own.value(Self::aql) == Some(false) {
            let keys = keys!(Self: aql_low, aql_high, aql_radio);
            return refuse_idle(own, &keys, Self::aql, "true", problems);
        }
        let (low, high) = (own.said(Self::aql_low), own.said(Self::aql_high));
        if let (Some(low), Some(high)) = (low, high)
            && low.value > high.value
        {
            // a default that nobody wrote is not blamed
            match low.given {
                true => {
                    let fault = format!("is above aql_high; allowed is at most {}", high.shown);
                    low.refuse_value(fault, problems)
                }
                false => {
                    let fault = format!("is below aql_low; allowed is at least {}", low.shown);
                    high.refuse_value(fault, problems)
                }
            };
        }
    }
}

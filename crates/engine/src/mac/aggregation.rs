//! Aggregation of MPDUs and MSDUs: settings, and lengths of A-MPDUs and A-MSDUs (IEEE 802.11-2020,
//! 9.3.2.2, 9.7, 10.12).

use serde_json::json;

use super::ppdu::Generation;
use super::{Category, LONGEST_PPDU};
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json, S, US, count, duration, flag, size};
use crate::table;

table! {
    /// Aggregation of frames that a node of an 802.11n, ac or ax cell sends, and reordering of frames that it receives.
    pub struct AggregationKeys: Copy in "aggregation" {
        /// Largest number of MPDUs in a PPDU, and window of the block acknowledgement. The largest value is 64 in 802.11n and ac, else 256. With 1 there are no aggregates of MPDUs, and each MPDU has a MAC ACK of its own.
        mpdus: Option<u32> = count(1..=256).depends("64 in 802.11n and ac, 256 in 802.11ax; 1 in category voice, as in Linux");
        /// Length of the longest A-MPDU: at most 65535 B in 802.11n, 1048575 B in 802.11ac, 6500631 B in 802.11ax.
        bytes: Option<u32> = size(1..=6_500_631).depends("the largest of the PHY");
        /// Duration of the longest PPDU with several MPDUs.
        time: Option<Span> = duration(100 * US..=LONGEST_PPDU.0).depends("5.484 ms, the standard's limit");
        /// Length of the longest A-MSDU, in which packets to one receiver share an MPDU. With "none" each packet has an MPDU of its own.
        amsdu: Option<u32> = size(100..=11_398).or("none").depends("\"none\"");
        /// Largest number of attempts for an MPDU under a block acknowledgement, including the first attempt. ns-3 uses "unlimited". Without a block acknowledgement, attempts_short and attempts_long apply.
        attempts: Option<u32> = count(1..=255).or("unlimited").depends("15");
        /// If true, a BlockAckReq follows an aggregate without response, in place of the data, as in ns-3.
        bar_after_failure: Option<bool> = flag().depends("false");
        /// Time for which the receiver holds an MPDU while an earlier MPDU is missing. With "never" it waits until the sender gives up.
        reorder_timeout: Option<Span> = duration(US..=10 * S).or("never").depends("100 ms, as in Linux");
    }
}

/// Aggregation of one access category at one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregation {
    /// Largest number of MPDUs in a PPDU, which is also the window of the block acknowledgement.
    pub mpdus: u32,
    /// Length of the longest A-MPDU. [bytes]
    pub bytes: u32,
    /// Duration of the longest PPDU with several MPDUs.
    pub time: Span,
    /// Length of the longest A-MSDU; `None`: each MPDU contains one packet. [bytes]
    pub amsdu_bytes: Option<u32>,
    /// Largest number of attempts for an MPDU under a block acknowledgement; `None`: no limit.
    pub attempts: Option<u32>,
    /// Whether a BlockAckReq follows an aggregate without response.
    pub bar_after_failure: bool,
    /// Time for which the receiver waits for a missing MPDU; `None`: no limit.
    pub reorder_timeout: Option<Span>,
}

/// Aggregation of each access category at one node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aggregations([Aggregation; Category::ALL.len()]);

/// Default of the largest number of MPDUs in category voice. Linux starts no block acknowledgement
/// session for voice, and without a session there is no A-MPDU. `ieee80211_aggr_check()` in
/// `net/mac80211/tx.c` of Linux 6.18 returns if `skb_get_queue_mapping(skb) == IEEE80211_AC_VO`
/// (until Linux 5.13 `minstrel_aggr_check()` in `rc80211_minstrel_ht.c`).
/// `mt76_connac2_tx_check_aggr()` of the driver mt76 returns for TID 6 and 7. The standard has no
/// such rule (IEEE 802.11-2020, 10.25).
pub(super) const MPDUS_OF_VOICE: u32 = 1;

/// Length of the delimiter in front of an MPDU in an A-MPDU. [bytes]
const DELIMITER: u32 = 4;
/// Length of the header of a subframe of an A-MSDU. [bytes]
const SUBFRAME_HEADER: u32 = 14;

/// Length of a BlockAckReq. [bytes]
pub const BAR_BYTES: u32 = 24;

impl Generation {
    /// Returns the largest number of MPDUs in the window of a block acknowledgement.
    pub const fn most_mpdus(self) -> u32 {
        match self {
            Generation::Ht | Generation::Vht => 64,
            Generation::He => 256,
        }
    }

    /// Returns the largest length of an A-MPDU. [bytes]
    pub const fn longest_ampdu(self) -> u32 {
        match self {
            Generation::Ht => 65_535,
            Generation::Vht => 1_048_575,
            Generation::He => 6_500_631,
        }
    }

    /// Returns the largest length of an A-MSDU. [bytes]
    pub const fn longest_amsdu(self) -> u32 {
        match self {
            Generation::Ht => 7_935,
            Generation::Vht | Generation::He => 11_398,
        }
    }

    /// Returns whether an MPDU has a delimiter if it is the only MPDU of a PPDU.
    pub const fn delimits_one(self) -> bool {
        !matches!(self, Generation::Ht)
    }
}

impl Aggregation {
    /// No aggregation: each exchange carries one MPDU, and each MPDU contains one packet.
    pub const OFF: Aggregation = Aggregation {
        mpdus: 1,
        bytes: u32::MAX,
        time: LONGEST_PPDU,
        amsdu_bytes: None,
        attempts: None,
        bar_after_failure: false,
        reorder_timeout: None,
    };

    /// Returns the aggregation that the tables of `layers` set. If several tables set a key, the
    /// first table applies.
    ///
    /// # Errors
    /// A value has been refused.
    pub(super) fn read(layers: &Layers, generation: Generation) -> Result<Aggregation, Refused> {
        let keys = AggregationKeys::read(layers)?;
        Ok(Aggregation {
            mpdus: keys.mpdus.unwrap_or(generation.most_mpdus()),
            bytes: keys.bytes.unwrap_or(generation.longest_ampdu()),
            time: keys.time.unwrap_or(LONGEST_PPDU),
            amsdu_bytes: keys.amsdu,
            attempts: layers.value(AggregationKeys::attempts)?.unwrap_or(Some(15)),
            bar_after_failure: keys.bar_after_failure.unwrap_or(false),
            reorder_timeout: (layers.value(AggregationKeys::reorder_timeout)?)
                .unwrap_or(Some(Span(100_000_000))),
        })
    }

    /// Returns the aggregation for frames to or from a station whose physical layer is of the given
    /// generation; `None`: a station that does not support aggregates.
    pub fn with(&self, generation: Option<Generation>) -> Aggregation {
        let Some(generation) = generation else {
            return Aggregation {
                mpdus: 1,
                amsdu_bytes: None,
                ..*self
            };
        };
        let amsdu = self.amsdu_bytes;
        Aggregation {
            mpdus: self.mpdus.min(generation.most_mpdus()),
            bytes: self.bytes.min(generation.longest_ampdu()),
            amsdu_bytes: amsdu.map(|most| most.min(generation.longest_amsdu())),
            ..*self
        }
    }

    /// Returns the aggregation as JSON for the normalised scenario.
    pub(crate) fn json(&self) -> Json {
        json!({
            "mpdus": self.mpdus,
            "bytes": self.bytes,
            "time_s": self.time.seconds(),
            "amsdu_bytes": self.amsdu_bytes,
            "attempts": self.attempts,
            "bar_after_failure": self.bar_after_failure,
            "reorder_timeout_s": self.reorder_timeout.map(Span::seconds),
        })
    }

    /// Returns the length of the BlockAck that responds to an aggregate. [bytes]
    pub const fn block_ack_bytes(&self) -> u32 {
        if self.mpdus <= 64 { 32 } else { 56 }
    }
}

impl Aggregations {
    /// Returns aggregations with the settings `own` in every category.
    pub const fn alike(own: Aggregation) -> Aggregations {
        Aggregations([own; Category::ALL.len()])
    }

    /// Returns the aggregation of a category.
    pub const fn of(&self, category: Category) -> &Aggregation {
        &self.0[category as usize]
    }

    /// Returns these aggregations, with the settings of one category replaced by `own`.
    #[must_use]
    pub const fn with(mut self, category: Category, own: Aggregation) -> Aggregations {
        self.0[category as usize] = own;
        self
    }
}

/// Returns the length of an A-MSDU of length `subframes` after a subframe is added to it. The
/// subframe contains an MSDU of `msdu_bytes`, LLC header included. [bytes]
pub const fn amsdu_bytes(subframes: u32, msdu_bytes: u32) -> u32 {
    subframes.next_multiple_of(4) + SUBFRAME_HEADER + msdu_bytes
}

/// Returns the length of a PSDU with one MPDU of `mpdu_bytes`. [bytes]
pub const fn psdu_of_one(generation: Generation, mpdu_bytes: u32) -> u32 {
    if generation.delimits_one() {
        DELIMITER + mpdu_bytes
    } else {
        mpdu_bytes
    }
}

/// Returns the length of an A-MPDU of length `subframes` after an MPDU of `mpdu_bytes` is added to
/// it with its delimiter. [bytes]
pub const fn ampdu_bytes(subframes: u32, mpdu_bytes: u32) -> u32 {
    subframes.next_multiple_of(4) + DELIMITER + mpdu_bytes
}

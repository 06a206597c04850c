//! Modulation of 802.11n, ac and ax transmissions to one receiver: HT-mixed, VHT-SU and HE-SU
//! PPDUs.
//!
//! IEEE 802.11-2020, clauses 19 (HT) and 21 (VHT); IEEE 802.11ax-2021, clause 27 (HE).

use crate::kernel::time::Span;
use crate::words;

/// Generation of a physical layer that aggregates, in order of publication.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// 802.11n
    Ht,
    /// 802.11ac
    Vht,
    /// 802.11ax
    He,
}

words! {
    /// Error-correcting code of the data.
    pub enum Coding {
        /// Binary convolutional code, which needs tail bits.
        Bcc = "bcc",
        /// Low-density parity check.
        Ldpc = "ldpc",
    }
}

/// Differences between the computed durations and the durations of the standard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    /// VHT-SU PPDUs have no VHT-SIG-B.
    pub no_sig_b: bool,
    /// Symbols with a short guard interval do not end at a multiple of 4 us.
    pub short_gi_not_rounded: bool,
    /// An HE-LTF takes 8 us, independent of the setting `ltf`.
    pub ltf_of_8_us: bool,
    /// HE PPDUs have no packet extension.
    pub no_packet_extension: bool,
    /// Symbols are counted as for a convolutional code; HE PPDUs have one encoder.
    pub bcc_throughout: bool,
}

impl Departures {
    /// Differences between ns-3 3.44 and the standard.
    pub const NS3: Departures = Departures {
        no_sig_b: true,
        short_gi_not_rounded: true,
        ltf_of_8_us: true,
        no_packet_extension: true,
        bcc_throughout: true,
    };
}

/// Modulation of a PPDU, which determines its duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulation {
    /// Generation of the PPDU.
    pub generation: Generation,
    /// Channel width: 20, 40, 80 (VHT, HE) or 160 (VHT, HE). [MHz]
    pub width_mhz: u32,
    /// MCS index, which sets modulation and code rate of a spatial stream: 0 to 7 (HT), 9 (VHT) or
    /// 11 (HE).
    pub mcs: u32,
    /// Number of spatial streams: from 1 to 4 (HT) or 8 (VHT, HE).
    pub streams: u32,
    /// Guard interval: 0.4 or 0.8 us (HT, VHT); 0.8, 1.6 or 3.2 us (HE).
    pub guard_interval: Span,
    /// Duration of an HE-LTF without its guard interval: 3.2, 6.4 or 12.8 us.
    pub ltf: Span,
    /// Error-correcting code of the data.
    pub coding: Coding,
    /// Nominal packet padding that the receiver requires: 0, 8 or 16 us (HE).
    pub padding: Span,
    /// Whether a silence of 6 us follows the PPDU, as in the 2.4 GHz band.
    pub signal_extension: bool,
    /// Differences between the computed duration and the duration of the standard.
    pub departures: Departures,
}

/// Bits per subcarrier, and numerator and denominator of the code rate, for each MCS.
pub const MCS: [(u64, u64, u64); 12] = [
    (1, 1, 2),
    (2, 1, 2),
    (2, 3, 4),
    (4, 1, 2),
    (4, 3, 4),
    (6, 2, 3),
    (6, 3, 4),
    (6, 5, 6),
    (8, 3, 4),
    (8, 5, 6),
    (10, 3, 4),
    (10, 5, 6),
];

/// Number of convolutional encoders, where the number does not follow from the rate. Each row
/// contains the width [MHz], the number of streams, the MCS and the number of encoders. IEEE
/// 802.11-2020, tables 21-30 to 21-61.
const ENCODERS: [(u32, u32, u32, u64); 15] = [
    (80, 7, 2, 3),
    (80, 7, 7, 6),
    (80, 7, 8, 6),
    (80, 8, 7, 6),
    (160, 4, 7, 6),
    (160, 5, 8, 8),
    (160, 6, 7, 8),
    (160, 7, 3, 4),
    (160, 7, 4, 6),
    (160, 7, 5, 7),
    (160, 7, 7, 9),
    (160, 7, 8, 12),
    (160, 7, 9, 12),
    (160, 8, 5, 8),
    (160, 8, 8, 12),
];

/// Returns the number of points of the constellation of an MCS, and its code rate as numerator and
/// denominator; `None` if no MCS has this index.
pub fn constellation_and_code(mcs: u32) -> Option<(u32, (u64, u64))> {
    let &(bits, data, of) = MCS.get(mcs as usize)?;
    Some((1 << bits, (data, of)))
}

impl Modulation {
    /// Returns the rate of the data. [bit/s]
    pub fn rate_bps(&self) -> u64 {
        self.data_bits() * 1_000_000_000 / self.symbol().0
    }

    /// Returns the rate of the non-HT frames that are as robust as this modulation. A response does
    /// not exceed this rate (IEEE 802.11-2020, 10.6.11). [bit/s]
    pub fn reference_bps(&self) -> u64 {
        const MBPS: u64 = 1_000_000;
        MBPS * match self.mcs {
            0 => 6,
            1 => 12,
            2 => 18,
            3 => 24,
            4 => 36,
            5 => 48,
            _ => 54,
        }
    }

    /// Returns the code rate, as numerator and denominator.
    pub fn code(&self) -> (u64, u64) {
        let (_, data, of) = MCS[self.mcs as usize];
        (data, of)
    }

    /// Returns the number of points of the constellation.
    pub fn points(&self) -> u32 {
        1 << MCS[self.mcs as usize].0
    }

    /// Returns whether the standard allows this modulation. Width, streams, MCS and guard interval
    /// must be possible in the generation, and the encoders must be able to share the code bits.
    pub fn is_allowed(&self) -> bool {
        let gi = self.guard_interval.0;
        let of_generation = match self.generation {
            Generation::Ht => {
                matches!(self.width_mhz, 20 | 40)
                    && self.mcs <= 7
                    && self.streams <= 4
                    && matches!(gi, 400 | 800)
            }
            Generation::Vht => {
                matches!(self.width_mhz, 20 | 40 | 80 | 160)
                    && self.mcs <= 9
                    && matches!(gi, 400 | 800)
                    && self.shares_code_bits()
            }
            Generation::He => {
                matches!(self.width_mhz, 20 | 40 | 80 | 160)
                    && self.mcs <= 11
                    && matches!(
                        (self.ltf.0, gi),
                        (3_200, 800) | (6_400, 800 | 1_600) | (12_800, 800 | 3_200)
                    )
                    && matches!(self.padding.0, 0 | 8_000 | 16_000)
                    && (self.coding == Coding::Ldpc
                        || self.width_mhz == 20 && self.mcs <= 9 && self.streams <= 4)
            }
        };
        of_generation && (1..=8).contains(&self.streams)
    }

    /// Returns whether each encoder and each block of the code has whole numbers of coded bits and
    /// data bits (IEEE 802.11-2020, 21.5).
    fn shares_code_bits(&self) -> bool {
        let (_, _, block) = MCS[self.mcs as usize];
        self.coded_bits().is_multiple_of(self.encoders() * block)
    }

    /// Returns the duration of a data symbol with its guard interval.
    pub(super) fn symbol(&self) -> Span {
        let useful = match self.generation {
            Generation::He => 12_800,
            Generation::Ht | Generation::Vht => 3_200,
        };
        Span(useful) + self.guard_interval
    }

    /// Returns the number of data subcarriers.
    pub(super) fn subcarriers(&self) -> u64 {
        match (self.generation, self.width_mhz) {
            (Generation::He, 20) => 234,
            (Generation::He, 40) => 468,
            (Generation::He, 80) => 980,
            (Generation::He, _) => 1960,
            (Generation::Ht | Generation::Vht, 20) => 52,
            (Generation::Ht | Generation::Vht, 40) => 108,
            (Generation::Ht | Generation::Vht, 80) => 234,
            (Generation::Ht | Generation::Vht, _) => 468,
        }
    }

    /// Returns the numbers of coded bits and of data bits of a symbol with the given number of
    /// subcarriers.
    pub(super) fn bits(&self, subcarriers: u64) -> (u64, u64) {
        let (bits, data, of) = MCS[self.mcs as usize];
        let coded = subcarriers * bits * u64::from(self.streams);
        (coded, coded * data / of)
    }

    /// Returns the number of coded bits of a symbol.
    pub(super) fn coded_bits(&self) -> u64 {
        self.bits(self.subcarriers()).0
    }

    /// Returns the number of data bits of a symbol.
    pub(super) fn data_bits(&self) -> u64 {
        self.bits(self.subcarriers()).1
    }

    /// Returns the number of convolutional encoders.
    pub(super) fn encoders(&self) -> u64 {
        let most_bps: u64 = match (self.generation, self.guard_interval.0) {
            (Generation::He, _) => return 1,
            (Generation::Ht, 400) => 350_000_000,
            (Generation::Ht, _) => 320_000_000,
            (Generation::Vht, 400) => 600_000_000,
            (Generation::Vht, _) => 540_000_000,
        };
        let own = (self.width_mhz, self.streams, self.mcs);
        let mut encoders = ENCODERS.iter();
        match encoders.find(|&&(mhz, streams, mcs, _)| (mhz, streams, mcs) == own) {
            Some(&(_, _, _, encoders)) if self.generation == Generation::Vht => encoders,
            Some(_) | None => self.rate_bps().div_ceil(most_bps),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a modulation with a binary convolutional code, and with the duration rules of ns-3.
    pub(in crate::mac) fn of(
        generation: Generation,
        width_mhz: u32,
        mcs: u32,
        streams: u32,
        gi_ns: u64,
    ) -> Modulation {
        Modulation {
            generation,
            width_mhz,
            mcs,
            streams,
            guard_interval: Span(gi_ns),
            ltf: Span(6_400),
            coding: Coding::Bcc,
            padding: Span::ZERO,
            signal_extension: false,
            departures: Departures::NS3,
        }
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        // expected rates in Mb/s: 600 (HT40, four streams), 866.7 (VHT80, two), 1201.0 (HE80, two),
        // 143.4 (HE20)
        let rate = |modulation: Modulation| modulation.rate_bps() / 100_000;
        assert_eq!(rate(of(Generation::Ht, 40, 7, 4, 400)), 6_000);
        assert_eq!(rate(of(Generation::Vht, 80, 9, 2, 400)), 8_666);
        assert_eq!(rate(of(Generation::He, 80, 11, 2, 800)), 12_009);
        assert_eq!(rate(of(Generation::He, 20, 11, 1, 800)), 1_433);
    }

    #[test]
    fn combinations_that_the_standard_leaves_out() {
        let vht = |width, mcs, streams| of(Generation::Vht, width, mcs, streams, 800).is_allowed();
        let out = |width, mcs| -> Vec<u32> {
            (1..=8)
                .filter(|&streams| !vht(width, mcs, streams))
                .collect()
        };
        assert_eq!(out(20, 9), [1, 2, 4, 5, 7, 8]);
        assert_eq!(out(80, 6), [3, 7]);
        assert_eq!(out(80, 9), [6]);
        assert_eq!(out(160, 9), [3]);
        for (width, mcs) in [(20, 8), (40, 9), (80, 8), (160, 8)] {
            assert!(out(width, mcs).is_empty(), "{width} MHz, MCS {mcs}");
        }
        assert!(!of(Generation::Ht, 80, 0, 1, 800).is_allowed());
        assert!(!of(Generation::He, 20, 11, 1, 800).is_allowed()); // MCS 11 needs LDPC; `of` sets BCC
    }
}

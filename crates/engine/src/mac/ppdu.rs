//! Durations of 802.11n, ac and ax transmissions to one receiver: HT-mixed, VHT-SU and HE-SU PPDUs.
//!
//! IEEE 802.11-2020, clauses 19 (HT) and 21 (VHT); IEEE 802.11ax-2021, clause 27 (HE).

use crate::kernel::time::Span;
use crate::words;

/// Generation of a physical layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// Where a duration is not that of the standard, as in ns-3 3.44.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Departures {
    /// VHT-SU PPDUs have no VHT-SIG-B.
    pub no_sig_b: bool,
    /// Symbols with a short guard interval do not end at a multiple of 4 us.
    pub short_gi_not_rounded: bool,
    /// An HE-LTF takes 8 us, whatever it is set to.
    pub ltf_of_8_us: bool,
    /// HE PPDUs have no packet extension.
    pub no_packet_extension: bool,
    /// Symbols are counted as for a convolutional code, with one encoder in HE PPDUs.
    pub bcc_throughout: bool,
}

impl Departures {
    /// All of them.
    pub const NS3: Departures = Departures {
        no_sig_b: true,
        short_gi_not_rounded: true,
        ltf_of_8_us: true,
        no_packet_extension: true,
        bcc_throughout: true,
    };
}

/// How a PPDU is modulated, which decides how long it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Modulation {
    /// Its generation.
    pub generation: Generation,
    /// Width of the channel: 20, 40, 80 (VHT, HE), 160 (VHT, HE). [MHz]
    pub width_mhz: u32,
    /// Modulation and code rate of a spatial stream: 0 to 7, 9 (VHT) or 11 (HE).
    pub mcs: u32,
    /// Spatial streams, 1 to 4 (HT) or 8.
    pub streams: u32,
    /// Guard interval: 0.4 or 0.8 us, HE 0.8, 1.6 or 3.2 us.
    pub guard_interval: Span,
    /// An HE-LTF without its guard interval: 3.2, 6.4 or 12.8 us.
    pub ltf: Span,
    /// Code of the data.
    pub coding: Coding,
    /// Nominal packet padding, which the receiver asks for: 0, 8 or 16 us (HE).
    pub padding: Span,
    /// Whether silence of 6 us follows, as in the band of 2.4 GHz.
    pub signal_extension: bool,
    /// What is not as in the standard.
    pub departures: Departures,
}

pub(super) const US: u64 = 1_000;

/// Bits of a subcarrier, and numerator and denominator of the code rate, by MCS.
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

/// Convolutional encoders where the rate alone does not tell: MHz, streams, MCS, encoders.
/// IEEE 802.11-2020, tables 21-30 to 21-61.
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

/// SERVICE field. [bits]
const SERVICE: u64 = 16;
/// Tail of a convolutional encoder. [bits]
const TAIL: u64 = 6;
/// Legacy preamble and L-SIG.
const LEGACY: Span = Span(20 * US);

/// Symbols of the data, and in how many quarters of the last of them the code ends (HE).
struct Symbols {
    count: u64,
    quarters: u64,
}

/// Points of the constellation of an MCS, and the rate of its code as numerator and denominator;
/// `None` if there is no such MCS.
pub fn constellation_and_code(mcs: u32) -> Option<(u32, (u64, u64))> {
    let &(bits, data, of) = MCS.get(mcs as usize)?;
    Some((1 << bits, (data, of)))
}

impl Modulation {
    /// Rate of the data. [bit/s]
    pub fn rate_bps(&self) -> u64 {
        self.data_bits() * 1_000_000_000 / self.symbol().0
    }

    /// Rate of the non-HT frames that are as robust, which a response does not exceed (IEEE 802.11-2020,
    /// 10.6.11). [bit/s]
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

    /// Rate of the code, numerator and denominator.
    pub fn code(&self) -> (u64, u64) {
        let (_, data, of) = MCS[self.mcs as usize];
        (data, of)
    }

    /// Points of the constellation.
    pub fn points(&self) -> u32 {
        1 << MCS[self.mcs as usize].0
    }

    /// Air time of a PPDU that carries so many bytes of MPDUs, delimiters and padding.
    pub fn duration(&self, psdu_bytes: u32) -> Span {
        let symbols = self.symbols(psdu_bytes);
        let mut data = self.symbol() * symbols.count;
        let short = self.generation != Generation::He && self.guard_interval.0 < 800;
        if short && !self.departures.short_gi_not_rounded {
            data = Span(data.0.next_multiple_of(4 * US));
        }
        let extension = Span(if self.signal_extension { 6 * US } else { 0 });
        self.preamble() + data + self.packet_extension(symbols.quarters) + extension
    }

    /// Most bytes that a PPDU of at most this air time carries; `None` if it is too short for any.
    pub fn most_bytes(&self, longest: Span) -> Option<u32> {
        let (mut fits, mut too_many) = (0, 1 << 28);
        if self.duration(1) > longest {
            return None;
        }
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            if self.duration(middle) <= longest {
                fits = middle;
            } else {
                too_many = middle;
            }
        }
        Some(fits)
    }

    /// Bytes of which a PPDU of at most this air time surely carries so many, and more than which it does
    /// not carry; between them `duration` tells.
    pub fn bounds(&self, longest: Span) -> (u32, u32) {
        let extension = if self.signal_extension { 6 * US } else { 0 };
        let around = self.preamble().0 + extension;
        let symbols = |less: u64| longest.0.saturating_sub(around + less) / self.symbol().0;
        let bytes = |symbols: u64, bits: u64| {
            let bytes = (symbols * self.data_bits()).saturating_sub(bits) / 8;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let at_end = 4 * US + self.padding.0; // rounding and packet extension
        let one_less = symbols(at_end).saturating_sub(1); // LDPC may need one more
        let surely = bytes(one_less, SERVICE + TAIL * self.encoders());
        (surely, bytes(symbols(0), SERVICE))
    }

    /// All ahead of the data.
    pub fn preamble(&self) -> Span {
        let training = u64::from(match (self.generation, self.streams) {
            (_, 1 | 2) => self.streams,
            (_, 3 | 4) => 4,
            (_, 5 | 6) => 6,
            _ => 8,
        });
        let own = match self.generation {
            // HT-SIG, HT-STF, HT-LTFs
            Generation::Ht => 8 * US + 4 * US + 4 * US * training,
            // VHT-SIG-A, VHT-STF, VHT-LTFs, VHT-SIG-B
            Generation::Vht => {
                let sig_b = if self.departures.no_sig_b { 0 } else { 4 * US };
                8 * US + 4 * US + 4 * US * training + sig_b
            }
            // RL-SIG, HE-SIG-A, HE-STF, HE-LTFs
            Generation::He => {
                let ltf = match self.departures.ltf_of_8_us {
                    true => 8 * US,
                    false => self.ltf.0 + self.guard_interval.0,
                };
                4 * US + 8 * US + 4 * US + ltf * training
            }
        };
        LEGACY + Span(own)
    }

    /// Whether the standard has such a modulation: widths, streams and MCS of its generation, a guard
    /// interval, code bits that encoders can share.
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

    /// IEEE 802.11-2020, 21.5: coded and data bits are whole for each encoder and block of the code.
    fn shares_code_bits(&self) -> bool {
        let (_, _, block) = MCS[self.mcs as usize];
        self.coded_bits().is_multiple_of(self.encoders() * block)
    }

    /// A data symbol with its guard interval.
    fn symbol(&self) -> Span {
        let useful = match self.generation {
            Generation::He => 12_800,
            Generation::Ht | Generation::Vht => 3_200,
        };
        Span(useful) + self.guard_interval
    }

    /// Data subcarriers.
    fn subcarriers(&self) -> u64 {
        match (self.generation, self.width_mhz) {
            (Generation::He, 20) => 234,
            (Generation::He, 40) => 468,
            (Generation::He, 80) => 980,
            (Generation::He, _) => 1960,
            (_, 20) => 52,
            (_, 40) => 108,
            (_, 80) => 234,
            (_, _) => 468,
        }
    }

    /// Data subcarriers of the first quarter of an HE symbol (table 27-31).
    fn short_subcarriers(&self) -> u64 {
        match self.width_mhz {
            20 => 60,
            40 => 120,
            80 => 240,
            _ => 492,
        }
    }

    /// Coded bits of a symbol.
    fn coded_bits(&self) -> u64 {
        self.subcarriers() * MCS[self.mcs as usize].0 * u64::from(self.streams)
    }

    /// Data bits of a symbol.
    fn data_bits(&self) -> u64 {
        let (_, data, of) = MCS[self.mcs as usize];
        self.coded_bits() * data / of
    }

    /// Coded and data bits of the first quarter of an HE symbol.
    fn short_bits(&self) -> (u64, u64) {
        let (bits, data, of) = MCS[self.mcs as usize];
        let coded = self.short_subcarriers() * bits * u64::from(self.streams);
        (coded, coded * data / of)
    }

    /// Convolutional encoders.
    fn encoders(&self) -> u64 {
        let most_bps: u64 = match (self.generation, self.guard_interval.0) {
            (Generation::He, _) => return 1,
            (Generation::Ht, 400) => 350_000_000,
            (Generation::Ht, _) => 320_000_000,
            (Generation::Vht, 400) => 600_000_000,
            (Generation::Vht, _) => 540_000_000,
        };
        let of = |&&(mhz, streams, mcs, _): &&(u32, u32, u32, u64)| {
            (mhz, streams, mcs) == (self.width_mhz, self.streams, self.mcs)
        };
        match ENCODERS.iter().find(of) {
            Some(&(_, _, _, encoders)) if self.generation == Generation::Vht => encoders,
            _ => self.rate_bps().div_ceil(most_bps),
        }
    }

    /// Symbols of the data.
    fn symbols(&self, psdu_bytes: u32) -> Symbols {
        let payload = SERVICE + 8 * u64::from(psdu_bytes);
        let per_symbol = self.data_bits();
        if self.departures.bcc_throughout {
            let count = (payload + TAIL * self.encoders()).div_ceil(per_symbol);
            return Symbols { count, quarters: 4 };
        }
        match (self.generation, self.coding) {
            (Generation::He, _) => self.he_symbols(payload),
            (_, Coding::Bcc) => Symbols {
                count: (payload + TAIL * self.encoders()).div_ceil(per_symbol),
                quarters: 4,
            },
            (_, Coding::Ldpc) => {
                let count = payload.div_ceil(per_symbol);
                // VHT fills its symbols before it encodes (21.3.10.5.4), HT does not (19.3.11.7.5).
                let encoded = match self.generation {
                    Generation::Vht => count * per_symbol,
                    _ => payload,
                };
                let more = self.needs_more(encoded, count * self.coded_bits());
                Symbols {
                    count: count + u64::from(more),
                    quarters: 4,
                }
            }
        }
    }

    /// Those of an HE PPDU, whose last symbol ends in a quarter (27.3.12.5).
    fn he_symbols(&self, payload: u64) -> Symbols {
        let tail = match self.coding {
            Coding::Bcc => TAIL * self.encoders(),
            Coding::Ldpc => 0,
        };
        let per_symbol = self.data_bits();
        let (short_coded, short_data) = self.short_bits();
        let count = (payload + tail).div_ceil(per_symbol);
        let quarters = match (payload + tail) % per_symbol {
            0 => 4,
            left => left.div_ceil(short_data).min(4),
        };
        if self.coding == Coding::Bcc {
            return Symbols { count, quarters };
        }
        let last = |whole: u64, quarter: u64| {
            if quarters < 4 {
                quarters * quarter
            } else {
                whole
            }
        };
        let encoded = (count - 1) * per_symbol + last(per_symbol, short_data);
        let room = (count - 1) * self.coded_bits() + last(self.coded_bits(), short_coded);
        match (self.needs_more(encoded, room), quarters) {
            (false, quarters) => Symbols { count, quarters },
            (true, 4) => Symbols {
                count: count + 1,
                quarters: 1,
            },
            (true, quarters) => Symbols {
                count,
                quarters: quarters + 1,
            },
        }
    }

    /// Whether code words would lose too many parity bits in so many coded bits (19.3.11.7.5, steps b
    /// to d).
    fn needs_more(&self, encoded: u64, room: u64) -> bool {
        let (_, data, of) = MCS[self.mcs as usize];
        let parity = of - data;
        // `bits` of a code word at rate data / of: its share of parity bits
        let parity_of = |bits: u64| bits * parity / of;
        let wide = |more: u64| room >= encoded + parity_of(more);
        let (words, length) = if room <= 648 {
            (1, if wide(912) { 1296 } else { 648 })
        } else if room <= 1296 {
            (1, if wide(1464) { 1944 } else { 1296 })
        } else if room <= 1944 {
            (1, 1944)
        } else if room <= 2592 {
            (2, if wide(2916) { 1944 } else { 1296 })
        } else {
            ((encoded * of).div_ceil(1944 * data), 1944)
        };
        let whole = words * length;
        let shortened = (whole * data / of).saturating_sub(encoded);
        let punctured = whole.saturating_sub(room + shortened);
        let parity_bits = parity_of(whole);
        let many = 10 * punctured > parity_bits && 10 * shortened * parity < 12 * punctured * data;
        many || 10 * punctured > 3 * parity_bits
    }

    /// Packet extension after the quarter in which the code ends (table 27-47).
    fn packet_extension(&self, quarters: u64) -> Span {
        if self.generation != Generation::He || self.departures.no_packet_extension {
            return Span::ZERO;
        }
        Span(match self.padding.0 {
            0 => 0,
            8_000 => 4 * US * quarters.saturating_sub(2),
            _ => 4 * US * quarters,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(
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
    fn bounds_enclose_what_a_ppdu_carries() {
        for (generation, width_mhz, mcs, gi) in [
            (Generation::Ht, 20, 7, 400),
            (Generation::Vht, 80, 9, 400),
            (Generation::He, 80, 11, 800),
            (Generation::He, 20, 0, 3_200),
        ] {
            for coding in [Coding::Bcc, Coding::Ldpc] {
                for departures in [Departures::default(), Departures::NS3] {
                    let one = Modulation {
                        coding,
                        departures,
                        ..of(generation, width_mhz, mcs, 1, gi)
                    };
                    for us in (40..6_000).step_by(37) {
                        let longest = Span(us * US);
                        let (surely, at_most) = one.bounds(longest);
                        let most = one.most_bytes(longest).unwrap_or(0);
                        assert!(surely <= most && most <= at_most, "{one:?} {us} us");
                    }
                }
            }
        }
    }

    #[test]
    fn durations_of_1536_bytes_by_the_rules_of_ns3() {
        let table = [
            (of(Generation::Ht, 20, 7, 1, 800), 228.0),
            (of(Generation::Ht, 40, 7, 1, 800), 128.0),
            (of(Generation::Vht, 20, 8, 1, 800), 196.0),
            (of(Generation::Vht, 80, 9, 1, 800), 68.0),
            (of(Generation::He, 20, 0, 1, 800), 1485.6),
            (of(Generation::He, 20, 11, 1, 800), 139.2),
            (of(Generation::He, 80, 11, 1, 800), 71.2),
            (of(Generation::He, 160, 11, 1, 800), 57.6),
        ];
        for (modulation, us) in table {
            let took = modulation.duration(1536);
            assert_eq!(took, Span((us * 1e3) as u64), "{modulation:?}");
        }
    }

    #[test]
    fn rates_are_those_of_the_standards_tables() {
        // 600 Mb/s (HT40, four streams), 866.7 (VHT80, two), 1201.0 (HE80, two), 143.4 (HE20)
        let rate = |one: Modulation| one.rate_bps() / 100_000;
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
        assert!(!of(Generation::He, 20, 11, 1, 800).is_allowed()); // needs LDPC
    }

    #[test]
    fn a_short_guard_interval_ends_with_whole_symbols() {
        let short = Modulation {
            departures: Departures::default(),
            ..of(Generation::Ht, 20, 7, 1, 400)
        };
        // 16 + 12288 + 6 bits, 260 a symbol: 48 symbols of 3.6 us, 172.8 us, to 176 us
        assert_eq!(short.duration(1536), Span(36_000 + 176_000));
        let as_ns3 = Modulation {
            departures: Departures::NS3,
            ..short
        };
        assert_eq!(as_ns3.duration(1536), Span(36_000 + 172_800));
    }

    #[test]
    fn packet_extension_follows_the_quarter_in_which_the_code_ends() {
        let he = Modulation {
            coding: Coding::Ldpc,
            padding: Span(16_000),
            departures: Departures::default(),
            ..of(Generation::He, 80, 11, 2, 800)
        };
        let plain = Modulation {
            padding: Span::ZERO,
            ..he
        };
        let extensions: std::collections::BTreeSet<u64> = (1..3000)
            .map(|bytes| (he.duration(bytes) - plain.duration(bytes)).0)
            .collect();
        assert_eq!(
            extensions.into_iter().collect::<Vec<_>>(),
            [4_000, 8_000, 12_000, 16_000]
        );
    }

    #[test]
    fn most_bytes_are_the_last_that_fit() {
        let longest = Span(5_484_000);
        for generation in [Generation::Ht, Generation::Vht, Generation::He] {
            let one = of(generation, 40, 4, 2, 800);
            let most = one.most_bytes(longest).unwrap();
            assert!(one.duration(most) <= longest);
            assert!(one.duration(most + 1) > longest);
            assert_eq!(one.most_bytes(Span(30_000)), None);
        }
    }
}

//! Durations of PPDUs of 802.11n, ac and ax to one receiver.
//!
//! IEEE 802.11-2020, clauses 19 (HT) and 21 (VHT); IEEE 802.11ax-2021, clause 27 (HE).

use super::ppdu::{Coding, Generation, MCS, Modulation};
use crate::kernel::time::Span;
use crate::notation::setting::US;

/// Length of the SERVICE field. [bits]
const SERVICE: u64 = 16;
/// Length of the tail of a convolutional encoder. [bits]
const TAIL: u64 = 6;
/// Duration of the legacy preamble and L-SIG.
const LEGACY: Span = Span(20 * US);

/// Number of symbols of the data field.
struct Symbols {
    count: u64,
    /// Number of quarters of the last symbol that the coded bits fill (HE).
    quarters: u64,
}

impl Modulation {
    /// Returns the duration of a PPDU. `psdu_bytes` is the length of the MPDUs with their
    /// delimiters and padding.
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

    /// Returns two PSDU lengths. A PPDU whose PSDU has at most the first length never lasts longer
    /// than `longest`. A PPDU whose PSDU is longer than the second length always lasts longer. For
    /// a length between the two values, [`Modulation::duration`] decides. [bytes]
    pub fn bounds(&self, longest: Span) -> (u32, u32) {
        let extension = if self.signal_extension { 6 * US } else { 0 };
        let around = self.preamble().0 + extension;
        let symbols = |less: u64| longest.0.saturating_sub(around + less) / self.symbol().0;
        let bytes = |symbols: u64, bits: u64| {
            let bytes = (symbols * self.data_bits()).saturating_sub(bits) / 8;
            u32::try_from(bytes).unwrap_or(u32::MAX)
        };
        let at_end = 4 * US + self.padding.0; // time at the end of a PPDU for the rounding of the data and for the packet extension
        let one_less = symbols(at_end).saturating_sub(1); // one symbol less, because LDPC may add a symbol
        let surely = bytes(one_less, SERVICE + TAIL * self.encoders());
        (surely, bytes(symbols(0), SERVICE))
    }

    /// Returns the duration of all fields that precede the data.
    pub fn preamble(&self) -> Span {
        let training = match self.streams {
            1 => 1,
            several => u64::from(several.next_multiple_of(2)),
        };
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

    /// Returns the number of data subcarriers in the first quarter of an HE symbol (table 27-31).
    fn short_subcarriers(&self) -> u64 {
        match self.width_mhz {
            20 => 60,
            40 => 120,
            80 => 240,
            _ => 492,
        }
    }

    /// Returns the number of symbols for a PSDU of `psdu_bytes`.
    fn symbols(&self, psdu_bytes: u32) -> Symbols {
        let payload = SERVICE + 8 * u64::from(psdu_bytes);
        let per_symbol = self.data_bits();
        let by_bcc = self.departures.bcc_throughout;
        let count = match (by_bcc, self.generation, self.coding) {
            (false, Generation::He, _) => return self.he_symbols(payload),
            (true, ..) | (_, _, Coding::Bcc) => {
                (payload + TAIL * self.encoders()).div_ceil(per_symbol)
            }
            (false, generation, Coding::Ldpc) => {
                let count = payload.div_ceil(per_symbol);
                // VHT pads its symbols before encoding (21.3.10.5.4); HT does not (19.3.11.7.5)
                let encoded = match generation {
                    Generation::Vht => count * per_symbol,
                    Generation::Ht | Generation::He => payload,
                };
                count + u64::from(self.needs_more(encoded, count * self.coded_bits()))
            }
        };
        Symbols { count, quarters: 4 }
    }

    /// Returns the number of symbols of an HE PPDU. The coded bits fill a number of quarters of the
    /// last symbol (27.3.12.5).
    fn he_symbols(&self, payload: u64) -> Symbols {
        let tail = match self.coding {
            Coding::Bcc => TAIL * self.encoders(),
            Coding::Ldpc => 0,
        };
        let (coded, per_symbol) = self.bits(self.subcarriers());
        let (short_coded, short_data) = self.bits(self.short_subcarriers());
        let count = (payload + tail).div_ceil(per_symbol);
        let quarters = match (payload + tail) % per_symbol {
            0 => 4,
            left => left.div_ceil(short_data).min(4),
        };
        if self.coding == Coding::Bcc {
            return Symbols { count, quarters };
        }
        let last = |symbol: u64, quarter: u64| match quarters {
            4 => symbol,
            fewer => fewer * quarter,
        };
        let encoded = (count - 1) * per_symbol + last(per_symbol, short_data);
        let room = (count - 1) * coded + last(coded, short_coded);
        match quarters + u64::from(self.needs_more(encoded, room)) {
            5 => Symbols {
                count: count + 1,
                quarters: 1,
            },
            quarters => Symbols { count, quarters },
        }
    }

    /// Returns whether LDPC must add a symbol, because too many parity bits would be punctured
    /// (19.3.11.7.5, steps b to d). The code has `encoded` bits, and `room` is the number of coded
    /// bits that the symbols contain.
    fn needs_more(&self, encoded: u64, room: u64) -> bool {
        let (_, data, of) = MCS[self.mcs as usize];
        let parity = of - data;
        // number of parity bits among `bits` bits of a code word
        let parity_of = |bits: u64| bits * parity / of;
        let has_room = |more: u64| room >= encoded + parity_of(more);
        let (words, length) = if room <= 648 {
            (1, if has_room(912) { 1296 } else { 648 })
        } else if room <= 1296 {
            (1, if has_room(1464) { 1944 } else { 1296 })
        } else if room <= 1944 {
            (1, 1944)
        } else if room <= 2592 {
            (2, if has_room(2916) { 1944 } else { 1296 })
        } else {
            ((encoded * of).div_ceil(1944 * data), 1944)
        };
        let bits = words * length;
        let shortened = (bits * data / of).saturating_sub(encoded);
        let punctured = bits.saturating_sub(room + shortened);
        let parity_bits = parity_of(bits);
        let many = 10 * punctured > parity_bits && 10 * shortened * parity < 12 * punctured * data;
        many || 10 * punctured > 3 * parity_bits
    }

    /// Returns the packet extension, given the number of quarters of the last symbol that the coded
    /// bits fill (table 27-47).
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
    use super::super::ppdu::Departures;
    use super::super::ppdu::tests::of;
    use super::*;

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
                    let modulation = Modulation {
                        coding,
                        departures,
                        ..of(generation, width_mhz, mcs, 1, gi)
                    };
                    for us in (40..6_000).step_by(37) {
                        let longest = Span(us * US);
                        let (sure, max) = modulation.bounds(longest);
                        let fits = sure == 0 || modulation.duration(sure) <= longest;
                        let ends = modulation.duration(max + 1) > longest;
                        assert!(fits && ends, "{modulation:?} {us} us");
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
    fn a_short_guard_interval_ends_with_whole_symbols() {
        let short = Modulation {
            departures: Departures::default(),
            ..of(Generation::Ht, 20, 7, 1, 400)
        };
        // 16 + 12288 + 6 bits at 260 bits per symbol: 48 symbols of 3.6 us are 172.8 us, rounded up
        // to 176 us
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
}

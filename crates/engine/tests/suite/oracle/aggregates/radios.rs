//! Physical layers of cells with aggregation, and modulations of the stations.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::ppdu::{Coding, Departures, Generation, Modulation};
use lasthop_engine::mac::{Band, EifsRule, Ppdus, Width};
use lasthop_engine::scenario::{Format, Phy, PhyKind, parse};
use proptest::prelude::*;
use proptest::sample::select;

const MBPS: u64 = 1_000_000;
const US: u64 = 1_000;

/// PHY and band of a cell.
#[derive(Clone, Copy, Debug)]
pub struct Radio {
    pub kind: PhyKind,
    pub band: Band,
}

/// All combinations of PHY and band.
pub const RADIOS: [Radio; 6] = [
    radio(PhyKind::Dot11n, Band::Ghz2_4),
    radio(PhyKind::Dot11n, Band::Ghz5),
    radio(PhyKind::Dot11ac, Band::Ghz5),
    radio(PhyKind::Dot11ax, Band::Ghz2_4),
    radio(PhyKind::Dot11ax, Band::Ghz5),
    radio(PhyKind::Dot11ax, Band::Ghz6),
];

const fn radio(kind: PhyKind, band: Band) -> Radio {
    Radio { kind, band }
}

impl Radio {
    fn generation(self) -> Generation {
        self.kind.generation().expect("one that aggregates")
    }

    /// Returns the physical layer of legacy stations in this band, if there is one.
    pub fn legacy(self) -> Option<PhyKind> {
        match self.band {
            Band::Ghz2_4 => Some(PhyKind::Dot11g),
            Band::Ghz5 => Some(PhyKind::Dot11a),
            Band::Ghz6 => None,
        }
    }

    /// Returns the timing of the cell, its control frames and its legacy stations.
    pub fn phy(self) -> Phy {
        let at_2_4 = self.band == Band::Ghz2_4;
        Phy {
            kind: self.kind,
            slot: Span(9 * US),
            sifs: Span(if at_2_4 { 10 } else { 16 } * US),
            preamble: Span(20 * US),
            eifs_rate_bps: 6 * MBPS,
            signal_extension: Span(if at_2_4 { 6 } else { 0 } * US),
        }
    }

    /// Returns the channel widths that the cell may have.
    fn widths(self) -> Vec<Width> {
        let mut all = vec![Width::Mhz20, Width::Mhz40, Width::Mhz80, Width::Mhz160];
        if self.kind == PhyKind::Dot11n || self.band == Band::Ghz2_4 {
            all.truncate(2);
        }
        all
    }

    /// Returns the generations of stations that aggregate.
    pub fn generations(self) -> Vec<Generation> {
        match (self.kind, self.band) {
            (PhyKind::Dot11n, _) => vec![Generation::Ht],
            (PhyKind::Dot11ac, _) => vec![Generation::Ht, Generation::Vht],
            (_, Band::Ghz2_4) => vec![Generation::Ht, Generation::He],
            (_, Band::Ghz5) => vec![Generation::Ht, Generation::Vht, Generation::He],
            (_, Band::Ghz6) => vec![Generation::He],
        }
    }

    /// Returns the PPDU rules for this modulation, without an RTS rule.
    pub fn ppdus(self, modulation: Modulation, eifs: EifsRule) -> Ppdus {
        const TEXT: &str =
            "duration = \"1 s\"\ncell.phy = \"802.11n\"\n[station.one]\ndownload = 1\n";
        let usual = match parse(TEXT, Format::Toml, "cell.toml", &[]) {
            Ok(scenario) => scenario.bss[0].cell.ppdus.expect("802.11n has PPDUs"),
            Err(problems) => panic!("{problems:?}"),
        };
        Ppdus {
            band: self.band,
            width: match modulation.width_mhz {
                20 => Width::Mhz20,
                40 => Width::Mhz40,
                80 => Width::Mhz80,
                _ => Width::Mhz160,
            },
            modulation,
            eifs,
            rts_longer_than: None,
            ..usual
        }
    }

    /// Returns the modulation MCS 0, one stream, a long guard interval, 20 MHz.
    pub fn plain(self) -> Modulation {
        let he = self.generation() == Generation::He;
        Modulation {
            generation: self.generation(),
            width_mhz: 20,
            mcs: 0,
            streams: 1,
            guard_interval: Span(800),
            ltf: Span(6_400),
            coding: if he { Coding::Ldpc } else { Coding::Bcc },
            padding: Span(16_000),
            signal_extension: self.band == Band::Ghz2_4,
            departures: Departures::default(),
        }
    }
}

pub fn any_modulation(radio: Radio) -> impl Strategy<Value = Modulation> {
    let symbols = match radio.generation() {
        Generation::He => vec![
            (3_200, 800),
            (6_400, 800),
            (6_400, 1_600),
            (12_800, 800),
            (12_800, 3_200),
        ],
        _ => vec![(6_400, 400), (6_400, 800)],
    };
    (
        select(radio.widths()),
        select(symbols),
        any::<bool>(),
        select(vec![0, 8_000, 16_000]),
        prop_oneof![3 => Just(Departures::default()), 1 => Just(Departures::NS3)],
    )
        .prop_map(move |(width, (ltf, gi), other_code, padding, departures)| {
            let needs_ldpc = radio.generation() == Generation::He && width != Width::Mhz20;
            let plain = radio.plain();
            let other = match plain.coding {
                Coding::Bcc => Coding::Ldpc,
                Coding::Ldpc => Coding::Bcc,
            };
            Modulation {
                width_mhz: width.mhz(),
                guard_interval: Span(gi),
                ltf: Span(ltf),
                coding: if other_code && !needs_ldpc {
                    other
                } else {
                    plain.coding
                },
                padding: Span(padding),
                departures,
                ..plain
            }
        })
}

/// Returns the modulation of a station in a cell with modulation `own`. The station's generation is the same or
/// earlier. A number above the largest MCS or number of streams wraps around.
pub fn in_cell(own: Modulation, generation: Generation, mcs: u32, streams: u32) -> Modulation {
    let width_mhz = match generation {
        Generation::Ht => own.width_mhz.min(40),
        _ => own.width_mhz,
    };
    let of_ax = own.generation == Generation::He && generation != Generation::He;
    let mut one = Modulation {
        generation,
        width_mhz,
        streams: 1 + streams % generation.most_streams(),
        ..own
    };
    if of_ax {
        (one.guard_interval, one.coding) = (Span(800), Coding::Bcc);
    }
    if !one.is_allowed() {
        one.streams = 1; // 802.11ax with many streams requires LDPC instead of the convolutional code
    }
    let highest = one.highest_mcs();
    let mut allowed = (0..=mcs % (highest + 1)).rev();
    let fits = |mcs: &u32| Modulation { mcs: *mcs, ..one }.is_allowed();
    let mcs = allowed.find(fits).expect("MCS 0 is always allowed");
    Modulation { mcs, ..one }
}

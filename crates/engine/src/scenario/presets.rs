//! Physical layers by name: timing, rates and default contention windows.

use super::model::PhyKind;
use crate::kernel::time::Span;
use crate::notation::table::Listed;

/// What `cell.phy` fills in.
pub(super) struct Preset {
    pub(super) kind: PhyKind,
    pub(super) name: &'static str,
    pub(super) slot: Span,
    pub(super) sifs: Span,
    pub(super) preamble: Span,
    pub(super) eifs_rate_bps: u64,
    pub(super) cwmin: u32,
    pub(super) cwmax: u32,
    /// Rates of data frames, and the default one. [bit/s]
    pub(super) rates: &'static [u64],
    pub(super) rate_bps: u64,
    /// Rates of control frames, and the default one. [bit/s]
    pub(super) control_rates: &'static [u64],
    pub(super) control_rate_bps: u64,
}

const MBPS: u64 = 1_000_000;

const OFDM_RATES: &[u64] = &[
    6 * MBPS,
    9 * MBPS,
    12 * MBPS,
    18 * MBPS,
    24 * MBPS,
    36 * MBPS,
    48 * MBPS,
    54 * MBPS,
];

const DSSS_RATES: &[u64] = &[MBPS, 2 * MBPS, 5_500_000, 11 * MBPS];

/// IEEE 802.11-2016, clauses 16 (HR/DSSS, long preamble) and 18 (ERP); `802.11g-long` is
/// Table II of paper 000.
const PRESETS: &[Preset] = &[
    Preset {
        kind: PhyKind::Dot11b,
        name: "802.11b",
        slot: Span(20_000),
        sifs: Span(10_000),
        preamble: Span(192_000),
        eifs_rate_bps: MBPS,
        cwmin: 31,
        cwmax: 1023,
        rates: DSSS_RATES,
        rate_bps: 11 * MBPS,
        control_rates: DSSS_RATES,
        control_rate_bps: 2 * MBPS,
    },
    Preset {
        kind: PhyKind::Dot11g,
        name: "802.11g",
        slot: Span(9_000),
        sifs: Span(10_000),
        preamble: Span(20_000),
        eifs_rate_bps: 6 * MBPS,
        cwmin: 15,
        cwmax: 1023,
        rates: OFDM_RATES,
        rate_bps: 54 * MBPS,
        control_rates: &[6 * MBPS, 12 * MBPS, 24 * MBPS],
        control_rate_bps: 24 * MBPS,
    },
    Preset {
        kind: PhyKind::Dot11gLong,
        name: "802.11g-long",
        slot: Span(20_000),
        sifs: Span(10_000),
        preamble: Span(192_000),
        eifs_rate_bps: 2 * MBPS,
        cwmin: 31,
        cwmax: 1023,
        rates: OFDM_RATES,
        rate_bps: 36 * MBPS,
        control_rates: &[
            MBPS,
            2 * MBPS,
            5_500_000,
            6 * MBPS,
            11 * MBPS,
            12 * MBPS,
            24 * MBPS,
        ],
        control_rate_bps: 2 * MBPS,
    },
];

/// Names of the presets, in the order of the documentation.
pub(super) const PHY_NAMES: &[&str] = &["802.11b", "802.11g", "802.11g-long"];

/// Rates of data frames.
pub(super) static DATA_RATE: Listed = Listed {
    what: "rate",
    rates: || {
        PRESETS
            .iter()
            .map(|preset| (preset.name, preset.rates))
            .collect()
    },
};

/// Rates of control frames.
pub(super) static CONTROL_RATE: Listed = Listed {
    what: "control rate",
    rates: || {
        PRESETS
            .iter()
            .map(|preset| (preset.name, preset.control_rates))
            .collect()
    },
};

/// What each preset makes of a key, in words.
pub(super) fn per_preset(of: fn(&Preset) -> String) -> String {
    let values = PRESETS
        .iter()
        .map(|preset| format!("{} {}", preset.name, of(preset)));
    values.collect::<Vec<_>>().join(", ")
}

impl Preset {
    pub(super) fn named(name: &str) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| preset.name == name)
    }

    pub(super) fn of(kind: PhyKind) -> &'static Preset {
        match kind {
            PhyKind::Dot11b => &PRESETS[0],
            PhyKind::Dot11g => &PRESETS[1],
            PhyKind::Dot11gLong => &PRESETS[2],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_kinds_and_presets_agree() {
        assert_eq!(PRESETS.len(), PHY_NAMES.len());
        for (preset, name) in PRESETS.iter().zip(PHY_NAMES) {
            assert_eq!(preset.name, *name);
            assert_eq!(Preset::of(preset.kind).name, *name);
            assert!(preset.rates.contains(&preset.rate_bps));
            assert!(preset.control_rates.contains(&preset.control_rate_bps));
        }
    }
}

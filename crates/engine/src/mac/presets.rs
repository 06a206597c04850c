//! Physical layers by name: timing, rates and default contention windows.

use super::ppdu::Generation;
use super::settings::{CountdownRule, PhyKind};
use crate::kernel::time::Span;
use crate::notation::table::Listed;
use crate::notation::units;

/// What `cell.phy` fills in.
pub(crate) struct Preset {
    pub(crate) kind: PhyKind,
    pub(crate) slot: Span,
    pub(crate) sifs: Span,
    pub(crate) preamble: Span,
    pub(crate) eifs_rate_bps: u64,
    pub(crate) cwmin: u32,
    pub(crate) cwmax: u32,
    pub(crate) aifsn: u32,
    /// Longest transmission opportunity of best effort.
    pub(crate) txop_limit: Option<Span>,
    pub(crate) countdown: CountdownRule,
    pub(crate) mac_header_bytes: u32,
    /// Limit of the access point's queue.
    pub(crate) ap_queue_packets: u32,
    /// Rates of data frames, and the default one. [bit/s]
    pub(crate) rates: &'static [u64],
    pub(crate) rate_bps: u64,
    /// Rates of control frames, and the default one. [bit/s]
    pub(crate) control_rates: &'static [u64],
    pub(crate) control_rate_bps: u64,
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

/// What presets of the DCF have in common.
const DCF: Preset = Preset {
    kind: PhyKind::Dot11b,
    slot: Span(20_000),
    sifs: Span(10_000),
    preamble: Span(192_000),
    eifs_rate_bps: MBPS,
    cwmin: 31,
    cwmax: 1023,
    aifsn: 2,
    txop_limit: None,
    countdown: CountdownRule::Dcf,
    mac_header_bytes: 28,
    ap_queue_packets: 100,
    rates: DSSS_RATES,
    rate_bps: 11 * MBPS,
    control_rates: DSSS_RATES,
    control_rate_bps: 2 * MBPS,
};

/// Those of OFDM in the band of 5 GHz.
const OFDM: Preset = Preset {
    kind: PhyKind::Dot11a,
    slot: Span(9_000),
    sifs: Span(16_000),
    preamble: Span(20_000),
    eifs_rate_bps: 6 * MBPS,
    cwmin: 15,
    rates: OFDM_RATES,
    rate_bps: 54 * MBPS,
    control_rates: &[6 * MBPS, 12 * MBPS, 24 * MBPS],
    control_rate_bps: 24 * MBPS,
    ..DCF
};

/// Those with EDCA; parameters of IEEE 802.11-2020, table 9-155.
const QOS: Preset = Preset {
    kind: PhyKind::Dot11n,
    aifsn: 3,
    txop_limit: Some(Span(2_528_000)),
    countdown: CountdownRule::Edca,
    mac_header_bytes: 30,
    ap_queue_packets: 1_000,
    rates: &[], // of MCS and streams
    ..OFDM
};

/// IEEE 802.11-2016, clauses 16 (HR/DSSS, long preamble), 17 (OFDM) and 18 (ERP); `802.11g-long` is
/// Table II of paper 000. In the order of [`PhyKind`].
const PRESETS: &[Preset] = &[
    DCF,
    Preset {
        kind: PhyKind::Dot11g,
        sifs: Span(10_000),
        ..OFDM
    },
    Preset {
        kind: PhyKind::Dot11gLong,
        eifs_rate_bps: 2 * MBPS,
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
        ..DCF
    },
    OFDM,
    QOS,
    Preset {
        kind: PhyKind::Dot11ac,
        ..QOS
    },
    Preset {
        kind: PhyKind::Dot11ax,
        ..QOS
    },
];

/// A rate as a preset's documentation shows it.
pub(crate) fn rate_of(bps: u64) -> String {
    units::show_rates(&[bps])
}

/// A length as a preset's documentation shows it.
pub(crate) fn size_of(bytes: u32) -> String {
    format!("{bytes} B")
}

/// A time as a preset's documentation shows it.
pub(crate) fn time_of(span: Span) -> String {
    units::show(span.0, units::TIME)
}

/// Rates of data frames, where there is no MCS.
pub(crate) static DATA_RATE: Listed = Listed {
    what: "rate",
    rates: || {
        let mut all = of_each(|preset| preset.rates);
        all.retain(|(_, rates)| !rates.is_empty());
        all
    },
};

/// The usual rate of data frames of each physical layer without MCS, for documentation.
pub(crate) fn usual_rates() -> String {
    let presets = PRESETS.iter().filter(|one| !one.rates.is_empty());
    let told = presets.map(|one| format!("{} {}", one.kind.name(), rate_of(one.rate_bps)));
    told.collect::<Vec<String>>().join(", ")
}

/// Rates of control frames.
pub(crate) static CONTROL_RATE: Listed = Listed {
    what: "control rate",
    rates: || of_each(|preset| preset.control_rates),
};

/// What each preset has of something, by the preset's name.
fn of_each<T>(of: fn(&Preset) -> T) -> Vec<(&'static str, T)> {
    let presets = PRESETS.iter();
    presets.map(|one| (one.kind.name(), of(one))).collect()
}

/// The values that presets give a key, for its documentation.
pub(crate) fn per_preset(of: fn(&Preset) -> String) -> String {
    let values = of_each(of).into_iter();
    let told: Vec<String> = values
        .map(|(kind, value)| format!("{kind} {value}"))
        .collect();
    told.join(", ")
}

impl Preset {
    pub(crate) fn of(kind: PhyKind) -> &'static Preset {
        &PRESETS[kind as usize]
    }
}

impl PhyKind {
    /// Its generation, if it aggregates.
    pub const fn generation(self) -> Option<Generation> {
        match self {
            PhyKind::Dot11b | PhyKind::Dot11g | PhyKind::Dot11gLong | PhyKind::Dot11a => None,
            PhyKind::Dot11n => Some(Generation::Ht),
            PhyKind::Dot11ac => Some(Generation::Vht),
            PhyKind::Dot11ax => Some(Generation::He),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_preset_whose_rates_it_lists() {
        assert_eq!(PRESETS.len(), PhyKind::ALL.len());
        for kind in PhyKind::ALL {
            let preset = Preset::of(kind);
            assert_eq!(preset.kind, kind);
            let has_rates = kind.generation().is_none();
            assert_eq!(preset.rates.contains(&preset.rate_bps), has_rates);
            assert!(preset.control_rates.contains(&preset.control_rate_bps));
        }
    }
}

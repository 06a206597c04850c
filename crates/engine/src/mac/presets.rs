//! Presets of the physical layers: timing, rates and default contention windows.

use super::PhyKind;
use crate::kernel::time::Span;
use crate::notation::table::Listed;
use crate::notation::units;
use crate::words;

words! {
    /// Instant at which a backoff counter decreases.
    pub enum CountdownRule {
        /// At the end of each idle slot.
        Dcf = "dcf",
        /// At the beginning of each slot, including a slot in which another node begins to send.
        Edca = "edca",
    }
}

/// Defaults of the keys of a cell that depend on its physical layer.
pub(crate) struct Preset {
    pub(crate) kind: PhyKind,
    pub(crate) slot: Span,
    pub(crate) sifs: Span,
    pub(crate) preamble: Span,
    pub(crate) eifs_rate_bps: u64,
    pub(crate) cwmin: u32,
    pub(crate) cwmax: u32,
    pub(crate) aifsn: u32,
    /// Limit of the duration of a TXOP of best effort.
    pub(crate) txop_limit: Option<Span>,
    pub(crate) countdown: CountdownRule,
    pub(crate) mac_header_bytes: u32,
    /// Limit of the queue of the access point. [packets]
    pub(crate) ap_queue_packets: u32,
    /// Rates of data frames. `rate_bps` is the default rate. [bit/s]
    pub(crate) rates: &'static [u64],
    pub(crate) rate_bps: u64,
    /// Rates of control frames. `control_rate_bps` is the default rate. [bit/s]
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

/// Preset of 802.11b. The presets of the other physical layers with the DCF are derived from it.
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

/// Preset of 802.11a. The presets of the other physical layers with OFDM are derived from it.
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

/// Preset of 802.11n, with the EDCA parameters of IEEE 802.11-2020, table 9-155.
const QOS: Preset = Preset {
    kind: PhyKind::Dot11n,
    aifsn: 3,
    txop_limit: Some(Span(2_528_000)),
    countdown: CountdownRule::Edca,
    mac_header_bytes: 30,
    ap_queue_packets: 1_000,
    rates: &[], // the rates follow from MCS and streams
    ..OFDM
};

/// Presets in the order of [`PhyKind`], from IEEE 802.11-2016, clauses 16 (HR/DSSS, long preamble),
/// 17 (OFDM) and 18 (ERP). `802.11g-long` has the values of Table II of paper 000.
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

/// Returns a rate in the form that the documentation of presets uses.
pub(crate) fn rate_of(bps: u64) -> String {
    units::show_rates(&[bps])
}

/// Returns a length in the form that the documentation of presets uses.
pub(crate) fn size_of(bytes: u32) -> String {
    format!("{bytes} B")
}

/// Returns a time in the form that the documentation of presets uses.
pub(crate) fn time_of(span: Span) -> String {
    units::show(span.0, units::TIME)
}

/// Rates of data frames of each physical layer without MCSs.
pub(crate) static DATA_RATE: Listed = Listed {
    what: "rate",
    rates: || {
        let mut all = of_each(|preset| preset.rates);
        all.retain(|(_, rates)| !rates.is_empty());
        all
    },
};

/// Rates of control frames of each physical layer.
pub(crate) static CONTROL_RATE: Listed = Listed {
    what: "control rate",
    rates: || of_each(|preset| preset.control_rates),
};

/// Returns a value of each preset, with the name of its physical layer.
fn of_each<T>(of: fn(&Preset) -> T) -> Vec<(&'static str, T)> {
    let presets = PRESETS.iter();
    presets
        .map(|preset| (preset.kind.name(), of(preset)))
        .collect()
}

/// Returns the default rate of data frames of each physical layer without MCSs, for the
/// documentation.
pub(crate) fn usual_rates() -> String {
    let presets = PRESETS.iter().filter(|preset| !preset.rates.is_empty());
    listed(presets, |preset| rate_of(preset.rate_bps))
}

/// Returns the default of a key in each preset, for the documentation.
pub(crate) fn per_preset(of: fn(&Preset) -> String) -> String {
    listed(PRESETS.iter(), of)
}

fn listed(presets: impl Iterator<Item = &'static Preset>, of: fn(&Preset) -> String) -> String {
    let values = presets.map(|preset| format!("{} {}", preset.kind.name(), of(preset)));
    values.collect::<Vec<String>>().join(", ")
}

impl Preset {
    /// Returns the preset of a physical layer.
    pub(crate) fn of(kind: PhyKind) -> &'static Preset {
        &PRESETS[kind as usize]
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

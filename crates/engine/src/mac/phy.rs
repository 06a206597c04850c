//! Timing of the physical layer of a cell.

use super::ppdu_keys::PpduKeys;
use super::presets::{per_preset, rate_of, time_of};
use super::{Band, PhyKind, Preset};
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{MS, duration, rate, word};
use crate::table;

table! {
    /// Timing of the physical layer, from the preset unless overridden.
    pub struct Phy: Copy in "phy" {
        /// Preset of timing, rates and contention windows.
        kind as "phy": PhyKind, json "phy" = word().hinting(PhyKind::meant).required();
        /// Slot time.
        slot: Span = duration(1..=MS).by_preset(|| per_preset(|preset| time_of(preset.slot)))
            => Preset::of(kind).slot;
        /// Short interframe space (SIFS). It is 10 us in an 802.11n or ax cell at 2.4 GHz.
        sifs: Span = duration(0..=MS).by_preset(|| per_preset(|preset| time_of(preset.sifs))), by sifs;
        /// Duration of the preamble and PLCP header in front of every frame. In 802.11n, ac and ax cells it applies only to control frames.
        preamble: Span =
            duration(0..=10 * MS).by_preset(|| per_preset(|preset| time_of(preset.preamble)))
            => Preset::of(kind).preamble;
        /// Rate of the MAC ACK whose duration EIFS contains.
        eifs_rate_bps as "eifs_rate": u64 =
            rate().by_preset(|| per_preset(|preset| rate_of(preset.eifs_rate_bps)))
            => Preset::of(kind).eifs_rate_bps;
        /// Silence after every OFDM frame, which counts as busy.
        made signal_extension: Span = signal_extension;
    }
}

/// Returns the physical layer of control frames and of stations without aggregates.
fn legacy_kind(layers: &Layers) -> Result<PhyKind, Refused> {
    let kind = layers.need(Phy::kind)?;
    let band = layers.value(PpduKeys::band)?.flatten();
    Ok(match (kind.generation(), band) {
        (None, _) => kind,
        (Some(_), Some(Band::Ghz2_4)) => PhyKind::Dot11g,
        (Some(_), Some(Band::Ghz5 | Band::Ghz6) | None) => PhyKind::Dot11a,
    })
}

fn sifs(layers: &Layers) -> Result<Span, Refused> {
    let given = layers.value(Phy::sifs)?;
    Ok(given.unwrap_or(Preset::of(legacy_kind(layers)?).sifs))
}

fn signal_extension(layers: &Layers) -> Result<Span, Refused> {
    Ok(legacy_kind(layers)?.signal_extension())
}

//! Physical layers of a cell, by their names in files.

use super::ppdu::Generation;
use crate::kernel::time::Span;
use crate::words;

words! {
    /// Physical layer of the cell.
    pub enum PhyKind {
        /// DSSS/HR-DSSS, long preamble.
        Dot11b = "802.11b",
        /// ERP-OFDM with 6 us signal extension, short slot.
        Dot11g = "802.11g",
        /// 802.11g rates after a long DSSS preamble (paper 000, Table II).
        Dot11gLong = "802.11g-long",
        /// OFDM at 5 GHz.
        Dot11a = "802.11a",
        /// High throughput (HT): aggregates, 20 or 40 MHz, 2.4 or 5 GHz.
        Dot11n = "802.11n",
        /// Very high throughput (VHT): aggregates, 20 to 160 MHz, 5 GHz.
        Dot11ac = "802.11ac",
        /// High efficiency (HE): aggregates, 20 to 160 MHz, 2.4, 5 or 6 GHz.
        Dot11ax = "802.11ax",
    }
}

impl PhyKind {
    /// Returns a hint for `name`, which is not the name of a physical layer in scenario files.
    pub(super) fn meant(name: &str) -> Option<String> {
        let plain = name.to_ascii_lowercase().replace([' ', '-', '_', '.'], "");
        let plain = plain.trim_start_matches("ieee").trim_start_matches("80211");
        let known = match plain {
            "wifi4" | "n" | "ht" => "\"802.11n\"",
            "wifi5" | "ac" | "vht" => "\"802.11ac\"",
            "wifi6" | "ax" | "he" => "\"802.11ax\"",
            "wifi6e" => "\"802.11ax\" with band = \"6 GHz\"",
            "a" => "\"802.11a\"",
            "b" => "\"802.11b\"",
            "g" => "\"802.11g\"",
            "wifi7" | "be" | "eht" | "wifi8" | "bn" => {
                return Some(
                    "the latest standard that is modelled is \"802.11ax\"; 802.11be with \
                     several links, wider channels or MCS 12 and 13 is not modelled"
                        .to_owned(),
                );
            }
            "ad" | "ay" | "ah" | "af" | "p" => {
                return Some("only the bands of 2.4, 5 and 6 GHz are modelled".to_owned());
            }
            _ => return None,
        };
        Some(format!("did you mean {known}?"))
    }

    /// Returns the silence that follows each OFDM frame (IEEE 802.11-2020, 18.3.2.4).
    pub const fn signal_extension(self) -> Span {
        Span(if matches!(self, PhyKind::Dot11g) {
            6_000
        } else {
            0
        })
    }

    /// Returns the generation of a physical layer; `None` if the physical layer does not aggregate.
    pub const fn generation(self) -> Option<Generation> {
        match self {
            PhyKind::Dot11b | PhyKind::Dot11g | PhyKind::Dot11gLong | PhyKind::Dot11a => None,
            PhyKind::Dot11n => Some(Generation::Ht),
            PhyKind::Dot11ac => Some(Generation::Vht),
            PhyKind::Dot11ax => Some(Generation::He),
        }
    }
}

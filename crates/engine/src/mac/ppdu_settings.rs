//! Settings of the PPDUs of 802.11n, ac and ax, and the MCSs that the settings allow.

use std::cmp::Ordering;

use serde_json::json;

use super::ppdu::{Coding, Departures, Generation, Modulation, constellation_and_code};
use super::ppdu_keys::{DurationRules, EdcaDefaults, PpduKeys};
use super::{Band, EifsRule, Phy, Width};
use crate::channel::coded_frame_error;
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json};

/// Length of an MPDU that contains an IP packet of 1500 bytes. [bytes]
const TYPICAL_MPDU: u32 = 1_538;

/// Settings of the PPDUs of an 802.11n, ac or ax cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ppdus {
    /// Band of the cell.
    pub band: Band,
    /// Channel width.
    pub width: Width,
    /// Modulation of a single stream with MCS 0. Stations set the MCS and the number of streams.
    pub modulation: Modulation,
    /// Rules by which durations are computed.
    pub durations: DurationRules,
    /// Response whose duration is contained in EIFS.
    pub eifs: EifsRule,
    /// Source of the default access parameters.
    pub edca: EdcaDefaults,
    /// Duration of a PPDU above which RTS/CTS precede the PPDU.
    pub rts_longer_than: Option<Span>,
}

impl Ppdus {
    /// Returns the settings that the tables of a cell describe; `None` if the physical layer of the
    /// cell does not aggregate.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(layers: &Layers) -> Result<Option<Ppdus>, Refused> {
        let Some(generation) = layers.need(Phy::kind)?.generation() else {
            return Ok(None);
        };
        let keys = PpduKeys::read(layers)?;
        let band = keys.band.unwrap_or(Band::Ghz5);
        let narrow = generation == Generation::Ht || band == Band::Ghz2_4;
        let width = if narrow { Width::Mhz20 } else { Width::Mhz80 };
        let width = keys.width.unwrap_or(width);
        let coding = match generation {
            Generation::Ht | Generation::Vht => Coding::Bcc,
            Generation::He => Coding::Ldpc,
        };
        let guard_interval = keys.guard_interval.unwrap_or(Span(800));
        let ltf = match guard_interval.0 {
            3_200 => 12_800,
            _ => 6_400,
        };
        let modulation = Modulation {
            generation,
            width_mhz: width.mhz(),
            mcs: 0,
            streams: 1,
            guard_interval,
            ltf: keys.ltf.unwrap_or(Span(ltf)),
            coding: keys.coding.unwrap_or(coding),
            padding: keys.packet_padding.unwrap_or(Span(16_000)),
            signal_extension: band == Band::Ghz2_4,
            departures: match keys.durations {
                DurationRules::Standard => Departures::default(),
                DurationRules::Ns3 => Departures::NS3,
            },
        };
        Ok(Some(Ppdus {
            band,
            width,
            modulation,
            durations: keys.durations,
            eifs: keys.eifs,
            edca: keys.edca,
            rts_longer_than: keys.rts_longer_than,
        }))
    }

    /// Returns the modulation of a station whose physical layer is of the given generation; `None`
    /// if the generation is newer than that of the cell.
    pub(crate) fn of_generation(&self, generation: Generation) -> Option<Modulation> {
        let own = self.modulation;
        let (guard_interval, coding) = match own.generation {
            Generation::He => (Span(800), Coding::Bcc),
            Generation::Ht | Generation::Vht => (own.guard_interval, own.coding),
        };
        let earlier = Modulation {
            generation,
            width_mhz: own.width_mhz.min(generation.widest_mhz()),
            guard_interval,
            coding,
            ..own
        };
        match generation.cmp(&own.generation) {
            Ordering::Less => Some(earlier),
            Ordering::Equal => Some(own),
            Ordering::Greater => None,
        }
    }

    /// Returns the settings as JSON for the normalised scenario.
    pub(crate) fn json(&self) -> Json {
        let own = self.modulation;
        let is_he = own.generation == Generation::He;
        let of_he = |span: Span| is_he.then_some(span.seconds());
        json!({
            "band": self.band.name(),
            "width": self.width.name(),
            "guard_interval_s": own.guard_interval.seconds(),
            "ltf_s": of_he(own.ltf),
            "packet_padding_s": of_he(own.padding),
            "coding": own.coding.name(),
            "durations": self.durations.name(),
            "eifs": self.eifs.name(),
            "edca": self.edca.name(),
            "rts_longer_than_s": self.rts_longer_than.map(Span::seconds),
        })
    }
}

impl Generation {
    /// Returns the width of the widest channel of the generation. [MHz]
    const fn widest_mhz(self) -> u32 {
        match self {
            Generation::Ht => 40,
            Generation::Vht | Generation::He => 160,
        }
    }

    /// Returns the highest MCS of the generation.
    pub const fn highest_mcs(self) -> u32 {
        match self {
            Generation::Ht => 7,
            Generation::Vht => 9,
            Generation::He => 11,
        }
    }

    /// Returns the largest number of spatial streams of the generation.
    pub const fn most_streams(self) -> u32 {
        match self {
            Generation::Ht => 4,
            Generation::Vht | Generation::He => 8,
        }
    }
}

/// Returns the signal-to-noise ratio of one stream, if `streams` streams share the ratio `snr_db`.
/// [dB]
fn of_stream_db(snr_db: f64, streams: u32) -> f64 {
    snr_db - 10.0 * libm::log10(f64::from(streams))
}

/// Returns the probability that noise destroys an MPDU of `bytes`; `None` if no MCS has this index.
/// The MPDU is sent with `mcs` on `streams` streams, which share the signal-to-noise ratio
/// `snr_db`. [-]
pub fn mcs_frame_error(mcs: u32, streams: u32, bytes: u32, snr_db: f64) -> Option<f64> {
    let (points, code) = constellation_and_code(mcs)?;
    let snr_db = of_stream_db(snr_db, streams);
    Some(coded_frame_error(points, code, bytes, snr_db))
}

impl Modulation {
    /// Returns the highest MCS that is allowed with the number of streams and the width of this
    /// modulation.
    pub fn highest_mcs(&self) -> u32 {
        self.with_each_mcs().last().map_or(0, |highest| highest.mcs)
    }

    /// Returns the probability that noise destroys an MPDU of `bytes`. The streams of this
    /// modulation share the signal-to-noise ratio `snr_db`. [-]
    pub fn frame_error(&self, bytes: u32, snr_db: f64) -> f64 {
        let snr_db = of_stream_db(snr_db, self.streams);
        coded_frame_error(self.points(), self.code(), bytes, snr_db)
    }

    /// Returns one modulation per MCS that is allowed with the number of streams and the width of
    /// this modulation, in order of rate.
    pub fn with_each_mcs(self) -> impl Iterator<Item = Modulation> {
        let all = (0..=self.generation.highest_mcs()).map(move |mcs| Modulation { mcs, ..self });
        all.filter(Modulation::is_allowed)
    }

    /// Returns this modulation with the best MCS for a signal-to-noise ratio: the MCS with the
    /// highest goodput of MPDUs of 1,538 bytes. An ideal rate control would choose this MCS.
    pub fn best_for(&self, snr_db: f64) -> Modulation {
        let carries = |own: &Modulation| {
            own.rate_bps() as f64 * (1.0 - own.frame_error(TYPICAL_MPDU, snr_db))
        };
        let mut best = Modulation { mcs: 0, ..*self };
        for modulation in self.with_each_mcs() {
            if carries(&modulation) > carries(&best) {
                best = modulation;
            }
        }
        best
    }
}

//! What a file says of the PPDUs of 802.11n, ac and ax, and of the rules that come with them.

use super::ppdu::{Coding, Departures, Generation, Modulation, constellation_and_code};
use super::settings::{Phy, PhyKind};
use crate::channel::coded_frame_error;
use crate::kernel::time::Span;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{
    Json, JsonObject, MS, Setting, US, count, duration, word, word_or_none,
};
use crate::{table, words};

words! {
    /// Band of a cell.
    pub enum Band {
        /// Slots of 9 us, SIFS of 10 us, and silence of 6 us after each OFDM frame.
        Ghz2_4 = "2.4 GHz",
        /// Slots of 9 us, SIFS of 16 us.
        Ghz5 = "5 GHz",
        /// Slots of 9 us, SIFS of 16 us.
        Ghz6 = "6 GHz",
    }
}

words! {
    /// Width of a channel.
    pub enum Width {
        /// 20 MHz
        Mhz20 = "20 MHz",
        /// 40 MHz
        Mhz40 = "40 MHz",
        /// 80 MHz
        Mhz80 = "80 MHz",
        /// 160 MHz
        Mhz160 = "160 MHz",
    }
}

words! {
    /// Rules by which durations are computed.
    pub enum DurationRules {
        /// Rules of the standard.
        Standard = "standard",
        /// Simplified rules of ns-3 3.44: VHT PPDUs without VHT-SIG-B, short guard intervals that are not
        /// rounded, an HE-LTF of 8 us, no packet extension, symbols counted as for a convolutional code.
        Ns3 = "ns-3",
    }
}

words! {
    /// Response whose duration EIFS contains.
    pub enum EifsRule {
        /// Response to the frame in error, estimated by its modulation.
        Expected = "expected",
        /// MAC ACK at the EIFS rate.
        Ack = "ack",
    }
}

words! {
    /// Source of the default access parameters.
    pub enum EdcaDefaults {
        /// IEEE 802.11-2020, table 9-155, at all nodes.
        Standard = "802.11-2020",
        /// Defaults of hostapd. At the access point, best effort has CWmax 63, and video and voice have
        /// AIFSN 1. Stations have the parameters that it announces to them.
        Hostapd = "hostapd",
    }
}

table! {
    /// PPDUs of 802.11n, ac and ax, and the rules that come with them.
    pub struct PpduKeys: Copy in "ppdu" {
        /// Band of an 802.11n, ac or ax cell. 802.11ac supports only 5 GHz, and only 802.11ax supports 6 GHz.
        band: Option<Band> = word_or_none().depends("\"5 GHz\"");
        /// Width of the channel: up to 40 MHz in 802.11n and at 2.4 GHz, else up to 160 MHz.
        width: Option<Width> = word_or_none().depends("\"20 MHz\" in 802.11n and at 2.4 GHz, else \"80 MHz\"");
        /// Guard interval of data symbols.
        guard_interval: Option<Span> = duration(400..=3_200)
            .but("0.4 or 0.8 us in 802.11n and ac; 0.8, 1.6 or 3.2 us in 802.11ax").depends("0.8 us");
        /// Duration of the HE long training field without its guard interval. A duration of 3.2 us requires a guard interval of 0.8 us. A duration of 6.4 us requires 0.8 or 1.6 us, and 12.8 us requires 0.8 or 3.2 us.
        ltf: Option<Span> = duration(3_200..=12_800)
            .but("3.2, 6.4 or 12.8 us").depends("6.4 us; 12.8 us with a guard interval of 3.2 us");
        /// Nominal packet padding of 802.11ax, which receivers request as time to decode. The packet extension at the end of a PPDU is never longer.
        packet_padding: Option<Span> = duration(0..=16_000)
            .but("0, 8 or 16 us").depends("16 us");
        /// Error-correcting code of the data. 802.11ax supports only LDPC above 20 MHz, with MCS 10 and 11, and with more than 4 streams.
        coding: Option<Coding> = word_or_none().depends("\"bcc\" in 802.11n and ac, \"ldpc\" in 802.11ax");
        /// Rules for durations. "standard": rules of IEEE 802.11. "ns-3": simplified rules of ns-3 3.44.
        durations: DurationRules = word().default(DurationRules::Standard);
        /// Response whose duration EIFS contains, in addition to SIFS and AIFS. "expected": the response to the frame, whose duration depends on the modulation of the frame. After an HT, VHT or HE PPDU the response takes 68, 44 or 32 us; after another OFDM frame it takes 44, 32 or 28 us. "ack": a MAC ACK at eifs_rate.
        eifs: EifsRule = word().default(EifsRule::Expected);
        /// Default access parameters of 802.11n, ac and ax cells. "802.11-2020": the standard, with TXOPs of 2.528 ms for best effort and background, 4.096 ms for video, and 2.08 ms for voice. "hostapd": the defaults of hostapd for access points and their stations.
        edca: EdcaDefaults = word().default(EdcaDefaults::Standard);
        /// Duration above which a PPDU is preceded by RTS/CTS, whatever its length.
        rts_longer_than: Option<Span> = duration(1..=10 * MS).or("never").default("never");
    }
}

table! {
    /// Modulation of data frames to and from a station.
    pub struct StreamKeys: Copy in "modulation" {
        /// Modulation and coding scheme (MCS) of each spatial stream, in both directions. The highest is 7 in 802.11n, 9 in 802.11ac, and 11 in 802.11ax.
        mcs: Option<u32> = count(0..=11).depends("the best for `snr` if it is set, else the highest");
        /// Number of spatial streams in both directions: at most 4 in 802.11n, else 8.
        streams: Option<u32> = count(1..=8).depends("1");
    }
}

/// What an access point of 802.11ac or ax may do and a cell does not, and what to say of it.
pub const NOT_MODELLED: &[(&str, &str)] = &{
    const SEVERAL: &str = "a PPDU goes to one receiver: DL-MU, OFDMA and MU-MIMO are not modelled";
    const ALWAYS: &str = "stations are awake, or sleep by `power_save`: TWT is not modelled";
    [
        ("ofdma", SEVERAL),
        ("mu", SEVERAL),
        ("mu_mimo", SEVERAL),
        ("dl_mu", SEVERAL),
        ("ul_mu", SEVERAL),
        ("rus", SEVERAL),
        ("twt", ALWAYS),
    ]
};

/// The longest PPDU that any of them may be, aPPDUMaxTime.
pub const LONGEST_PPDU: Span = Span(5_484 * US);

/// An IP packet of 1500 bytes with its headers. [bytes]
const TYPICAL_MPDU: u32 = 1_538;

/// What holds for the PPDUs of an 802.11n, ac or ax cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ppdus {
    /// Band of the cell.
    pub band: Band,
    /// Width of the channel.
    pub width: Width,
    /// Modulation of one stream at MCS 0: all but what stations say.
    pub modulation: Modulation,
    /// Rules by which durations are computed.
    pub durations: DurationRules,
    /// Response whose duration EIFS contains.
    pub eifs: EifsRule,
    /// Whose access parameters were the defaults.
    pub edca: EdcaDefaults,
    /// PPDUs longer than this are preceded by RTS.
    pub rts_longer_than: Option<Span>,
}

impl Ppdus {
    /// Those of the cell that the tables describe; `None` if its physical layer has none.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(layers: &Layers) -> Result<Option<Ppdus>, Refused> {
        use crate::notation::setting::FileTable;
        let kind: PhyKind = layers.need(Phy::kind)?;
        let Some(generation) = kind.generation() else {
            return Ok(None);
        };
        let keys = PpduKeys::read(layers)?;
        let band = keys.band.unwrap_or(Band::Ghz5);
        let narrow = generation == Generation::Ht || band == Band::Ghz2_4;
        let usual = if narrow { Width::Mhz20 } else { Width::Mhz80 };
        let width = keys.width.unwrap_or(usual);
        let he = generation == Generation::He;
        let usual = if he { Coding::Ldpc } else { Coding::Bcc };
        let guard_interval = keys.guard_interval.unwrap_or(Span(800));
        let usual_ltf = Span(if guard_interval.0 == 3_200 {
            12_800
        } else {
            6_400
        });
        let modulation = Modulation {
            generation,
            width_mhz: width.mhz(),
            mcs: 0,
            streams: 1,
            guard_interval,
            ltf: keys.ltf.unwrap_or(usual_ltf),
            coding: keys.coding.unwrap_or(usual),
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

    /// The modulation of a station of an earlier generation, or of the cell's; `None` if it is a later one.
    pub(crate) fn of_generation(&self, generation: Generation) -> Option<Modulation> {
        let own = self.modulation;
        let earlier = Modulation {
            generation,
            width_mhz: match generation {
                Generation::Ht => own.width_mhz.min(40),
                _ => own.width_mhz,
            },
            guard_interval: match own.generation {
                Generation::He => Span(800),
                _ => own.guard_interval,
            },
            coding: match own.generation {
                Generation::He => Coding::Bcc,
                _ => own.coding,
            },
            ..own
        };
        match (generation, own.generation) {
            (Generation::Ht, Generation::Ht)
            | (Generation::Vht, Generation::Vht)
            | (Generation::He, Generation::He) => Some(own),
            (Generation::Ht, _) | (Generation::Vht, Generation::He) => Some(earlier),
            _ => None,
        }
    }

    /// Its settings in the normalised scenario.
    pub(crate) fn json(&self) -> JsonObject {
        let Modulation {
            guard_interval,
            ltf,
            coding,
            padding,
            ..
        } = self.modulation;
        let he = self.modulation.generation == Generation::He;
        let of_he = |span: Span| he.then_some(span).json();
        let mut json = JsonObject::new();
        let mut say = |key: &str, value: Json| json.insert(key.to_owned(), value);
        say("band", self.band.json());
        say("width", self.width.json());
        say("guard_interval_s", guard_interval.json());
        say("ltf_s", of_he(ltf));
        say("packet_padding_s", of_he(padding));
        say("coding", coding.json());
        say("durations", self.durations.json());
        say("eifs", self.eifs.json());
        say("edca", self.edca.json());
        say("rts_longer_than_s", self.rts_longer_than.json());
        json
    }
}

impl Width {
    /// [MHz]
    pub const fn mhz(self) -> u32 {
        match self {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
            Width::Mhz160 => 160,
        }
    }
}

impl Generation {
    /// The highest MCS.
    pub const fn highest_mcs(self) -> u32 {
        match self {
            Generation::Ht => 7,
            Generation::Vht => 9,
            Generation::He => 11,
        }
    }

    /// Most spatial streams.
    pub const fn most_streams(self) -> u32 {
        match self {
            Generation::Ht => 4,
            Generation::Vht | Generation::He => 8,
        }
    }
}

/// Signal-to-noise ratio of each of several streams that share `snr_db`. [dB]
fn of_stream_db(snr_db: f64, streams: u32) -> f64 {
    snr_db - 10.0 * libm::log10(f64::from(streams))
}

/// Probability that noise destroys an MPDU of `bytes` that is sent with an MCS over some streams, at
/// a signal-to-noise ratio that the streams share; `None` if there is no such MCS. [-]
pub fn mcs_frame_error(mcs: u32, streams: u32, bytes: u32, snr_db: f64) -> Option<f64> {
    let (points, code) = constellation_and_code(mcs)?;
    Some(coded_frame_error(
        points,
        code,
        bytes,
        of_stream_db(snr_db, streams),
    ))
}

impl Modulation {
    /// The highest MCS that these streams may have at this width.
    pub fn highest_mcs(&self) -> u32 {
        let all = (0..=self.generation.highest_mcs()).rev();
        let mut allowed = all.filter(|&mcs| Modulation { mcs, ..*self }.is_allowed());
        allowed.next().unwrap_or(0)
    }

    /// Probability that noise destroys an MPDU of `bytes`, at a signal-to-noise ratio that its streams
    /// share. [-]
    pub fn frame_error(&self, bytes: u32, snr_db: f64) -> f64 {
        coded_frame_error(
            self.points(),
            self.code(),
            bytes,
            of_stream_db(snr_db, self.streams),
        )
    }

    /// Returns this modulation with each MCS that its streams may have at its width, in order of rate.
    pub fn with_each_mcs(self) -> impl Iterator<Item = Modulation> {
        let all = (0..=self.generation.highest_mcs()).map(move |mcs| Modulation { mcs, ..self });
        all.filter(Modulation::is_allowed)
    }

    /// Returns this modulation with the MCS that carries most at a signal-to-noise ratio, losses of MPDUs of 1538 bytes
    /// deducted: the choice of an ideal rate control.
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

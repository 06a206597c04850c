//! Keys of the PPDUs of 802.11n, ac and ax.

use super::ppdu::Coding;
use crate::kernel::time::Span;
use crate::notation::setting::{MS, US, count, duration, word, word_or_none};
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
        /// Response to the frame in error. Its duration is estimated from the modulation of the
        /// frame.
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
        /// AIFSN 1. Stations have the parameters that the access point announces to them.
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

/// Keys that a reader may expect for 802.11ac and ax but that are not modelled, with the reason.
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

/// Longest duration of a PPDU, aPPDUMaxTime.
pub const LONGEST_PPDU: Span = Span(5_484 * US);

impl Width {
    /// Returns the channel width. [MHz]
    pub const fn mhz(self) -> u32 {
        match self {
            Width::Mhz20 => 20,
            Width::Mhz40 => 40,
            Width::Mhz80 => 80,
            Width::Mhz160 => 160,
        }
    }
}

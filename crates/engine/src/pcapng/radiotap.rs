//! The radiotap header of each frame (radiotap.org): rate or modulation, and channel. In a cell
//! with aggregation, the header also contains the position of an MPDU in its PPDU, and the time of
//! the end of the preamble, at which the MAC receives the first bit of the PSDU.

use crate::kernel::time::Time;
use crate::mac::Band;
use crate::mac::ppdu::{Coding, Generation, Modulation};

/// Link type `LINKTYPE_IEEE802_11_RADIOTAP`.
pub(super) const LINK_TYPE: u16 = 127;

// Bits of the presence word, which lists the fields of the header.
const TSFT: u32 = 1 << 0;
const FLAGS: u32 = 1 << 1;
const RATE: u32 = 1 << 2;
const CHANNEL: u32 = 1 << 3;
const MCS: u32 = 1 << 19;
const AMPDU_STATUS: u32 = 1 << 20;
const VHT: u32 = 1 << 21;
const HE: u32 = 1 << 23;

/// Value of the field Flags: the frame ends with its FCS, and the preamble is long (bit 1 clear).
const FCS_AT_END: u8 = 0x10;

const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;
/// Flag of the 5 GHz band. This flag is also set for the 6 GHz band, as in Linux, because radiotap
/// has no flag for 6 GHz.
const CHANNEL_5_GHZ: u16 = 0x0100;

/// DSSS and CCK rates. All other rates are OFDM rates. [bit/s]
const CCK_RATES_BPS: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];

/// Properties that all frames of a PPDU have in common.
#[derive(Clone, Copy)]
pub(super) struct Reception<'a> {
    pub(super) band: Band,
    /// Modulation of an 802.11n, ac or ax frame; `None` for a frame of 802.11a, b or g.
    pub(super) modulation: Option<&'a Modulation>,
    /// Rate of the frame, if it is a frame of 802.11a, b or g. [bit/s]
    pub(super) rate_bps: u64,
    /// Time of the end of the preamble; `None` if the header does not contain this time.
    pub(super) mac_time: Option<Time>,
}

/// Position of an MPDU in an A-MPDU.
#[derive(Clone, Copy)]
pub(super) struct Subframe {
    /// Reference number of the A-MPDU.
    pub(super) reference: u32,
    pub(super) is_last: bool,
    /// Whether the MPDU is the only MPDU of the A-MPDU.
    pub(super) is_only: bool,
}

/// Appends the radiotap header: version, length, presence word, and the fields at their natural
/// alignment.
pub(super) fn header(out: &mut Vec<u8>, reception: Reception, subframe: Option<Subframe>) {
    let Reception {
        modulation,
        rate_bps,
        mac_time,
        ..
    } = reception;
    let start = out.len();
    let generation = modulation.map(|modulation| modulation.generation);
    let mut present = FLAGS | CHANNEL;
    present |= match generation {
        None => RATE,
        Some(Generation::Ht) => MCS,
        Some(Generation::Vht) => VHT,
        Some(Generation::He) => HE,
    };
    if subframe.is_some() {
        present |= AMPDU_STATUS;
    }
    if mac_time.is_some() {
        present |= TSFT;
    }
    out.extend_from_slice(&[0; 4]); // version, pad, length (set later)
    out.extend_from_slice(&present.to_le_bytes());
    if let Some(Time(time_ns)) = mac_time {
        out.extend_from_slice(&(time_ns / 1000).to_le_bytes());
    }
    out.push(FCS_AT_END);
    if generation.is_none() {
        // rate in units of 500 kbit/s; the rates of 802.11a, b and g fit into the field
        out.push(u8::try_from(rate_bps / 500_000).unwrap_or(u8::MAX));
    }
    align(out, start, 2);
    let (frequency_mhz, of_band) = channel(reception.band);
    let is_cck = generation.is_none() && CCK_RATES_BPS.contains(&rate_bps);
    let of_signal = if is_cck { CHANNEL_CCK } else { CHANNEL_OFDM };
    out.extend_from_slice(&frequency_mhz.to_le_bytes());
    out.extend_from_slice(&(of_band | of_signal).to_le_bytes());
    if let Some(modulation) = modulation
        && modulation.generation == Generation::Ht
    {
        ht(out, modulation);
    }
    if let Some(subframe) = subframe {
        align(out, start, 4);
        ampdu_status(out, subframe, generation != Some(Generation::Ht));
    }
    align(out, start, 2);
    match modulation.map(|modulation| (modulation, modulation.generation)) {
        Some((modulation, Generation::Vht)) => vht(out, modulation),
        Some((modulation, Generation::He)) => he(out, modulation),
        Some((_, Generation::Ht)) | None => {}
    }
    let length = (out.len() - start) as u16;
    out[start + 2..start + 4].copy_from_slice(&length.to_le_bytes());
}

/// Returns the frequency of the first channel of a band [MHz], and the channel flag of the band.
fn channel(band: Band) -> (u16, u16) {
    match band {
        Band::Ghz2_4 => (2412, CHANNEL_2_GHZ),
        Band::Ghz5 => (5180, CHANNEL_5_GHZ),
        Band::Ghz6 => (5955, CHANNEL_5_GHZ),
    }
}

fn align(out: &mut Vec<u8>, start: usize, to: usize) {
    let length = (out.len() - start).next_multiple_of(to);
    out.resize(start + length, 0);
}

/// Appends the MCS field. The values marked as known are bandwidth, MCS, guard interval, format
/// (mixed), FEC, STBC (none) and extension streams (none).
fn ht(out: &mut Vec<u8>, modulation: &Modulation) {
    const KNOWN: u8 = 0x7F;
    let mut flags = u8::from(modulation.width_mhz == 40);
    if is_short(modulation) {
        flags |= 0x04;
    }
    if modulation.coding == Coding::Ldpc {
        flags |= 0x10;
    }
    let index = modulation.mcs + 8 * (modulation.streams - 1);
    out.extend_from_slice(&[KNOWN, flags, index as u8]);
}

/// Appends the A-MPDU status field: the reference number, and whether the subframe is the last. VHT
/// and HE delimiters also have an end-of-frame (EOF) bit, which is set if the MPDU is the only MPDU
/// of its PPDU.
fn ampdu_status(out: &mut Vec<u8>, subframe: Subframe, has_eof: bool) {
    const LAST_KNOWN: u16 = 0x0004;
    const LAST: u16 = 0x0008;
    const EOF: u16 = 0x0040;
    const EOF_KNOWN: u16 = 0x0080;
    let mut flags = LAST_KNOWN;
    if subframe.is_last {
        flags |= LAST;
    }
    if has_eof {
        flags |= EOF_KNOWN | if subframe.is_only { EOF } else { 0 };
    }
    out.extend_from_slice(&subframe.reference.to_le_bytes());
    out.extend_from_slice(&flags.to_le_bytes());
    out.extend_from_slice(&[0, 0]); // delimiter CRC, reserved byte
}

/// Appends the VHT field. The values marked as known are STBC (none), guard interval and bandwidth.
fn vht(out: &mut Vec<u8>, modulation: &Modulation) {
    const KNOWN: u16 = 0x0001 | 0x0004 | 0x0040;
    let flags = if is_short(modulation) { 0x04 } else { 0 };
    let bandwidth = match modulation.width_mhz {
        20 => 0,
        40 => 1,
        80 => 4,
        _ => 11,
    };
    let first_user = (modulation.mcs << 4 | modulation.streams) as u8;
    let coding = u8::from(modulation.coding == Coding::Ldpc);
    out.extend_from_slice(&KNOWN.to_le_bytes());
    out.extend_from_slice(&[flags, bandwidth, first_user, 0, 0, 0, coding]);
    out.extend_from_slice(&[0; 3]); // group ID, partial AID
}

/// Appends the HE field. The values marked as known are data MCS, DCM (none), coding, STBC (none),
/// bandwidth, guard interval, and the number and size of LTFs.
fn he(out: &mut Vec<u8>, modulation: &Modulation) {
    const SU: u16 = 0;
    const KNOWN: u16 = SU | 0x0020 | 0x0040 | 0x0080 | 0x0200 | 0x4000;
    const ALSO_KNOWN: u16 = 0x0002 | 0x0004;
    let coding = u16::from(modulation.coding == Coding::Ldpc) << 13;
    let bandwidth = match modulation.width_mhz {
        20 => 0,
        40 => 1,
        80 => 2,
        _ => 3,
    };
    let guard_interval = match modulation.guard_interval.0 {
        800 => 0,
        1_600 => 1,
        _ => 2,
    };
    let ltf_size = match modulation.ltf.0 {
        3_200 => 1,
        6_400 => 2,
        _ => 3,
    };
    // number of HE-LTF symbols for this number of spatial streams: 1, 2, 4, 6 or 8
    let ltfs = match modulation.streams {
        1 => 0,
        2 => 1,
        3 | 4 => 2,
        5 | 6 => 3,
        _ => 4,
    };
    let fields = [
        KNOWN,
        ALSO_KNOWN,
        (modulation.mcs as u16) << 8 | coding,
        0,
        bandwidth | guard_interval << 4 | ltf_size << 6 | ltfs << 8,
        modulation.streams as u16,
    ];
    out.extend(fields.iter().flat_map(|field| field.to_le_bytes()));
}

/// Returns whether the modulation uses the short guard interval of HT and VHT.
fn is_short(modulation: &Modulation) -> bool {
    modulation.guard_interval.0 < 800
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;
    use crate::mac::ppdu::Departures;

    fn modulation(generation: Generation, width_mhz: u32, mcs: u32, streams: u32) -> Modulation {
        Modulation {
            generation,
            width_mhz,
            mcs,
            streams,
            guard_interval: Span(800),
            ltf: Span(6_400),
            coding: Coding::Ldpc,
            padding: Span::ZERO,
            signal_extension: false,
            departures: Departures::default(),
        }
    }

    /// Returns the presence word and the fields of a header with this modulation.
    fn written(band: Band, modulation: &Modulation, subframe: Option<Subframe>) -> (u32, Vec<u8>) {
        let reception = Reception {
            band,
            modulation: Some(modulation),
            rate_bps: modulation.rate_bps(),
            mac_time: Some(Time(5_000_999)),
        };
        // three bytes precede the header, because fields are aligned relative to the start of the
        // header, and not of the buffer
        let mut out = vec![0xEE; 3];
        header(&mut out, reception, subframe);
        let header = out.split_off(3);
        assert_eq!(header[..2], [0, 0]);
        assert_eq!(
            usize::from(u16::from_le_bytes([header[2], header[3]])),
            header.len()
        );
        assert_eq!(header[8..16], 5_000_u64.to_le_bytes());
        let present = u32::from_le_bytes([header[4], header[5], header[6], header[7]]);
        (present, header[16..].to_vec())
    }

    #[test]
    fn ht_tells_width_guard_interval_code_and_streams_in_its_mcs() {
        let short = Modulation {
            guard_interval: Span(400),
            ..modulation(Generation::Ht, 40, 7, 2)
        };
        let (present, fields) = written(Band::Ghz2_4, &short, None);
        assert_eq!(present, TSFT | FLAGS | CHANNEL | MCS);
        // flags, pad, 2412 MHz, channel flags of 2.4 GHz and OFDM, MCS field, pad
        assert_eq!(
            fields,
            [
                0x10,
                0,
                0x6C,
                0x09,
                0xC0,
                0,
                0x7F,
                0x01 | 0x04 | 0x10,
                15,
                0
            ]
        );
    }

    #[test]
    fn vht_tells_width_streams_and_the_place_in_an_aggregate() {
        let wide = modulation(Generation::Vht, 80, 9, 2);
        let subframe = Subframe {
            reference: 0x0102_0304,
            is_last: true,
            is_only: false,
        };
        let (present, fields) = written(Band::Ghz5, &wide, Some(subframe));
        assert_eq!(present, TSFT | FLAGS | CHANNEL | AMPDU_STATUS | VHT);
        assert_eq!(fields[..6], [0x10, 0, 0x3C, 0x14, 0x40, 0x01]); // flags, pad, 5180 MHz, 5 GHz and OFDM
        // pad; A-MPDU reference; status flags: last known, last, EOF known
        assert_eq!(fields[6..16], [0, 0, 4, 3, 2, 1, 0x8C, 0, 0, 0]);
        let known = 0x01 | 0x04 | 0x40;
        assert_eq!(fields[16..], [known, 0, 0, 4, 0x92, 0, 0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn he_tells_guard_interval_and_ltfs_and_an_mpdu_alone_ends_its_frame() {
        let he = Modulation {
            guard_interval: Span(3_200),
            ltf: Span(12_800),
            ..modulation(Generation::He, 160, 11, 3)
        };
        let subframe = Subframe {
            reference: 1,
            is_last: true,
            is_only: true,
        };
        let (present, fields) = written(Band::Ghz6, &he, Some(subframe));
        assert_eq!(present, TSFT | FLAGS | CHANNEL | AMPDU_STATUS | HE);
        assert_eq!(fields[2..4], 5955_u16.to_le_bytes());
        assert_eq!(fields[12..14], [0xCC, 0]);
        let words = [
            0x0020 | 0x0040 | 0x0080 | 0x0200 | 0x4000,
            0x0002 | 0x0004,
            11 << 8 | 1 << 13,
            0,
            3 | 2 << 4 | 3 << 6 | 2 << 8,
            3_u16,
        ];
        let expected: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        assert_eq!(fields[16..], expected);
    }
}

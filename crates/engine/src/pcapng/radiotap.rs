//! The radiotap header in front of each frame: rate and channel.

/// `LINKTYPE_IEEE802_11_RADIOTAP`.
pub(super) const LINK_TYPE: u16 = 127;

/// Length of the header below. [bytes]
const LENGTH: u16 = 14;

// Bits of the presence word: Flags, Rate, Channel.
const PRESENT: u32 = 1 << 1 | 1 << 2 | 1 << 3;

/// Flags: the frame ends with its FCS. Preamble is long (bit 1 clear).
const FCS_AT_END: u8 = 0x10;

/// Channel 1. [MHz]
const FREQUENCY_MHZ: u16 = 2412;
const CHANNEL_CCK: u16 = 0x0020;
const CHANNEL_OFDM: u16 = 0x0040;
const CHANNEL_2_GHZ: u16 = 0x0080;

/// Rates of DSSS and CCK; all others are OFDM. [bit/s]
const CCK_RATES_BPS: [u64; 4] = [1_000_000, 2_000_000, 5_500_000, 11_000_000];

/// Version, length, presence word, then the fields at their natural alignment.
pub(super) fn header(out: &mut Vec<u8>, rate_bps: u64) {
    let modulation = if CCK_RATES_BPS.contains(&rate_bps) {
        CHANNEL_CCK
    } else {
        CHANNEL_OFDM
    };
    // units of 500 kbit/s; all rates of the presets fit
    let rate = u8::try_from(rate_bps / 500_000).unwrap_or(u8::MAX);
    out.extend_from_slice(&[0, 0]);
    out.extend_from_slice(&LENGTH.to_le_bytes());
    out.extend_from_slice(&PRESENT.to_le_bytes());
    out.extend_from_slice(&[FCS_AT_END, rate]);
    out.extend_from_slice(&FREQUENCY_MHZ.to_le_bytes());
    out.extend_from_slice(&(CHANNEL_2_GHZ | modulation).to_le_bytes());
}

//! Air times of frames.
//!
//! IEEE 802.11-2016, clauses 16 (HR/DSSS) and 18 (ERP).

use super::{Cell, Phy, PhyKind, Rates};
use crate::kernel::time::Span;

/// Length of a MAC ACK and of a CTS. [bytes]
pub const ACK_BYTES: u32 = 14;
/// Length of an RTS. [bytes]
pub const RTS_BYTES: u32 = 20;

/// Duration of an OFDM symbol.
const SYMBOL: Span = Span(4_000);
/// Length of the SERVICE field and the tail of an OFDM frame. [bits]
const SERVICE_AND_TAIL_BITS: u64 = 16 + 6;

impl Phy {
    /// Returns the air time of a frame of `bytes`, MAC header and FCS included, at `rate_bps`.
    pub fn airtime(&self, bytes: u32, rate_bps: u64) -> Span {
        match self.kind {
            PhyKind::Dot11b | PhyKind::Dot11gLong => {
                self.preamble + Span::to_send(u64::from(bytes), rate_bps)
            }
            PhyKind::Dot11g
            | PhyKind::Dot11a
            | PhyKind::Dot11n
            | PhyKind::Dot11ac
            | PhyKind::Dot11ax => {
                let bits = SERVICE_AND_TAIL_BITS + 8 * u64::from(bytes);
                let symbols = (bits * 1_000_000_000).div_ceil(rate_bps * SYMBOL.0);
                self.preamble + SYMBOL * symbols + self.signal_extension
            }
        }
    }

    /// Returns the arbitration interframe space: AIFS = SIFS + AIFSN times the slot time (paper
    /// 003, eq. 1).
    pub fn aifs(&self, aifsn: u32) -> Span {
        self.sifs + self.slot * u64::from(aifsn)
    }

    /// Returns EIFS minus AIFS: SIFS and the duration of a MAC ACK at the EIFS rate.
    pub fn eifs_lead(&self) -> Span {
        self.sifs + self.airtime(ACK_BYTES, self.eifs_rate_bps)
    }
}

impl Cell {
    /// Returns the length of the MAC frame that carries an IP packet. [bytes]
    pub fn frame_bytes(&self, ip_bytes: u32) -> u32 {
        ip_bytes + self.mac_header_bytes + self.llc_bytes
    }

    /// Returns the duration of an undisturbed exchange of an IP packet, from the start of the first
    /// frame to the end of the MAC ACK. The first frame is an RTS if the MAC frame is longer than
    /// the RTS threshold.
    pub fn exchange(&self, ip_bytes: u32, rates: Rates) -> Span {
        let bytes = self.frame_bytes(ip_bytes);
        let response = self.phy.airtime(ACK_BYTES, rates.response_bps);
        let protected = self.rts_threshold_bytes.is_some_and(|most| bytes > most);
        let protection = if protected {
            let rts = self.phy.airtime(RTS_BYTES, rates.rts_bps);
            rts + self.phy.sifs + response + self.phy.sifs
        } else {
            Span::ZERO
        };
        protection + self.phy.airtime(bytes, rates.data_bps) + self.phy.sifs + response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phy(kind: PhyKind, slot: u64, preamble: u64, eifs_rate_bps: u64) -> Phy {
        let (slot, preamble) = (Span(slot * 1000), Span(preamble * 1000));
        Phy {
            kind,
            slot,
            sifs: Span(10_000),
            preamble,
            eifs_rate_bps,
            signal_extension: kind.signal_extension(),
        }
    }

    #[test]
    fn frames_of_paper_003() {
        let phy = phy(PhyKind::Dot11b, 20, 192, 1_000_000);
        assert_eq!(phy.airtime(1538, 11_000_000), Span(1_310_545));
        assert_eq!(phy.airtime(78, 11_000_000), Span(248_727));
        assert_eq!(phy.airtime(ACK_BYTES, 2_000_000), Span(248_000));
        assert_eq!(phy.aifs(2), Span(50_000));
        assert_eq!(phy.eifs_lead() + phy.aifs(2), Span(364_000)); // ns-2 computes the same EIFS
    }

    #[test]
    fn frames_of_paper_000() {
        // paper 000, Table II: EIFS is 308 us, and T_data = frame + SIFS + ACK + DIFS is 839.6 us
        let phy = phy(PhyKind::Dot11gLong, 20, 192, 2_000_000);
        assert_eq!(phy.eifs_lead() + phy.aifs(2), Span(308_000));
        let ack = phy.airtime(ACK_BYTES, 2_000_000);
        let exchange = phy.airtime(1528, 36_000_000) + phy.sifs + ack + phy.aifs(2);
        assert_eq!(exchange, Span(839_556));
    }

    #[test]
    fn ofdm_frames_are_whole_symbols_and_a_signal_extension() {
        // 1536 bytes at 54 Mb/s are 22 + 12288 bits, which fill 57 symbols of 216 bits
        let phy = phy(PhyKind::Dot11g, 9, 20, 6_000_000);
        assert_eq!(
            phy.airtime(1536, 54_000_000),
            Span(20_000 + 57 * 4_000 + 6_000)
        );
        // an ACK at 24 Mb/s has 134 bits, which fill 2 symbols of 96 bits
        assert_eq!(
            phy.airtime(ACK_BYTES, 24_000_000),
            Span(20_000 + 8_000 + 6_000)
        );
    }
}

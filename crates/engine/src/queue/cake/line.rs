//! The length of a packet on the line: overhead, minimum length, and the cells of ATM or the
//! encoding of PTM (tc-cake(8), section "Overhead compensation parameters").

use crate::words;

words! {
    /// Encoding of the packets on the line.
    pub enum LinkLayer {
        /// The packets themselves, such as Ethernet frames.
        None = "none",
        /// ATM, as on ADSL: cells of 53 bytes, each with 48 bytes of a packet. The last cell is
        /// padded.
        Atm = "atm",
        /// PTM, as on VDSL2: one byte for each 64 bytes or part of 64 bytes.
        Ptm = "ptm",
    }
}

/// Bytes that the line adds to packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Line {
    /// Number of bytes that are added to the IP packet. [bytes]
    pub(super) overhead: u32,
    /// Minimum length with overhead. [bytes]
    pub(super) mpu: u32,
    pub(super) link_layer: LinkLayer,
}

impl Line {
    /// Returns the length on the line of an IP packet of `bytes`. [bytes]
    #[inline]
    pub(super) fn length(self, bytes: u16) -> u32 {
        let length = (u32::from(bytes) + self.overhead).max(self.mpu);
        match self.link_layer {
            LinkLayer::None => length,
            LinkLayer::Atm => length.div_ceil(48) * 53,
            LinkLayer::Ptm => length + length.div_ceil(64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(overhead: u32, mpu: u32, link_layer: LinkLayer) -> Line {
        Line {
            overhead,
            mpu,
            link_layer,
        }
    }

    /// The manual's "conservative" setting: 48 bytes of overhead, in ATM cells. A packet of 1500
    /// bytes needs 1548 / 48 = 32.25, that is, 33 cells of 53 bytes.
    #[test]
    fn atm_sends_whole_cells() {
        let adsl = line(40, 0, LinkLayer::Atm);
        // 1500 + 40 = 1540 = 32 * 48 + 4: 33 cells
        assert_eq!(adsl.length(1500), 33 * 53);
        // 40 + 40 = 80 = 48 + 32: 2 cells
        assert_eq!(adsl.length(40), 106);
        // 1496 + 40 = 1536 = 32 * 48 exactly
        assert_eq!([1496, 1497].map(|bytes| adsl.length(bytes)), [1696, 1749]);
        assert_eq!(line(48, 0, LinkLayer::Atm).length(1500), 1749);
        assert_eq!(line(8, 0, LinkLayer::Atm).length(40), 53);
    }

    #[test]
    fn ptm_adds_a_byte_for_each_64_bytes_begun() {
        let vdsl = line(30, 0, LinkLayer::Ptm);
        // 1500 + 30 = 1530 = 23 * 64 + 58: 24 bytes
        assert_eq!(vdsl.length(1500), 1554);
        assert_eq!([34, 35].map(|bytes| vdsl.length(bytes)), [65, 67]);
    }

    #[test]
    fn the_minimum_length_includes_the_overhead() {
        // Ethernet: 38 bytes of overhead, and at least 84 bytes on the line
        let ethernet = line(38, 84, LinkLayer::None);
        assert_eq!(
            [40, 46, 47, 1500].map(|bytes| ethernet.length(bytes)),
            [84, 84, 85, 1538]
        );
        // the minimum length applies before the cells of ATM: 84 bytes are 2 cells
        assert_eq!(line(8, 84, LinkLayer::Atm).length(40), 106);
        assert_eq!(line(0, 0, LinkLayer::None).length(1500), 1500);
    }
}

//! Headers of the TCP packets of external hosts, as far as the ACK filter compares them. A simulated
//! packet has its own fields instead.
//!
//! Linux, `cake_ack_filter`, `cake_tcph_may_drop` and `cake_tcph_sack_compare`.

use std::cmp::Ordering;

/// Fields of the header of a TCP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TcpHeader {
    /// IPv4 address and port of the source, and those of the destination.
    pub ends: [(u32, u16); 2],
    /// Acknowledgement number: the next sequence number that the sender of the packet expects.
    pub ack: u32,
    /// Whether the packet may make earlier ACKs superfluous: the ACK flag is set, and SYN is not.
    pub acknowledges: bool,
    /// Whether the packet may be superfluous: it has no data, its only flags are ACK, ECE and CWR,
    /// and its options are time stamps, SACK and MD5 signatures.
    pub is_plain: bool,
    /// The flags ECE and CWR.
    pub ecn_flags: u8,
    /// Time stamp of the sender and the echoed time stamp (RFC 7323); `None` without the option.
    pub stamps: Option<[u32; 2]>,
    /// First and last sequence number of each SACK block (RFC 2018).
    pub sack: [[u32; 2]; TcpHeader::BLOCKS],
    /// Number of SACK blocks.
    pub blocks: u8,
}

impl TcpHeader {
    /// Largest number of SACK blocks in the 40 bytes of TCP options.
    pub const BLOCKS: usize = 4;

    /// Returns whether `later`, a packet of the same connection, tells everything that this ACK
    /// tells, and more.
    pub(super) fn is_covered_by(&self, later: &TcpHeader) -> bool {
        let [now, echoed] = later.stamps.unwrap_or_default();
        let is_stamped_later = |[own, echo]: [u32; 2]| is_after(own, now) || is_after(echo, echoed);
        if !self.is_plain
            || self.stamps.is_some_and(is_stamped_later)
            || is_after(self.ack, later.ack)
        {
            return false;
        }
        match self.compare_sack(later) {
            Ordering::Greater => false,
            Ordering::Equal => self.ack != later.ack,
            Ordering::Less => true,
        }
    }

    fn blocks(&self) -> &[[u32; 2]] {
        &self.sack[..usize::from(self.blocks)]
    }

    /// Compares the SACK blocks of two ACKs. The blocks of this ACK are greater if one of them is not
    /// within a block of `other`, or if one is a duplicate (RFC 2883), which is told only once.
    /// Otherwise the number of bytes decides.
    fn compare_sack(&self, other: &TcpHeader) -> Ordering {
        let (own, others) = (self.blocks(), other.blocks());
        if own.is_empty() || others.is_empty() {
            return own.len().min(1).cmp(&others.len().min(1));
        }
        let is_told = |&[first, last]: &[u32; 2]| {
            let within = |&[from, to]: &[u32; 2]| !is_after(from, first) && !is_after(last, to);
            !is_after(self.ack, first) && others.iter().any(within)
        };
        if !own.iter().all(is_told) {
            return Ordering::Greater;
        }
        let bytes = |blocks: &[[u32; 2]]| -> u32 {
            let lengths = blocks.iter().map(|[first, last]| last.wrapping_sub(*first));
            lengths.fold(0, u32::wrapping_add)
        };
        match bytes(others) > bytes(own) {
            true => Ordering::Less,
            false => Ordering::Equal,
        }
    }
}

/// Returns whether a sequence number is after another one, modulo 2^32.
fn is_after(number: u32, other: u32) -> bool {
    (other.wrapping_sub(number) as i32) < 0
}

/// Headers of the packets of external hosts, by packet number.
#[derive(Clone, Debug, Default)]
pub(super) struct TcpHeaders(Vec<Option<TcpHeader>>);

impl TcpHeaders {
    /// Sets the header of a packet; `None` for a packet that is not TCP.
    pub(super) fn set(&mut self, number: u32, header: Option<TcpHeader>) {
        let place = number as usize;
        if self.0.len() <= place {
            self.0.resize(place + 1, None);
        }
        self.0[place] = header;
    }

    /// Returns the header of a packet.
    pub(super) fn of(&self, number: u32) -> Option<&TcpHeader> {
        self.0.get(number as usize)?.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(ack: u32, blocks: &[[u32; 2]]) -> TcpHeader {
        let mut header = TcpHeader {
            ack,
            acknowledges: true,
            is_plain: true,
            blocks: blocks.len() as u8,
            ..TcpHeader::default()
        };
        header.sack[..blocks.len()].copy_from_slice(blocks);
        header
    }

    #[test]
    fn a_higher_number_covers_a_lower_one_also_after_a_wrap() {
        assert!(ack(100, &[]).is_covered_by(&ack(101, &[])));
        assert!(!ack(101, &[]).is_covered_by(&ack(100, &[])));
        assert!(ack(u32::MAX, &[]).is_covered_by(&ack(5, &[])));
        assert!(
            !ack(100, &[]).is_covered_by(&ack(100, &[])),
            "a duplicate ACK"
        );
    }

    #[test]
    fn an_ack_stays_if_its_options_or_flags_are_unknown_or_its_stamp_is_later() {
        let later = TcpHeader {
            stamps: Some([20, 10]),
            ..ack(200, &[])
        };
        let of = |stamps| TcpHeader {
            stamps,
            ..ack(100, &[])
        };
        for (stamps, covered) in [
            (None, true),
            (Some([20, 10]), true),
            (Some([21, 10]), false),
            (Some([20, 11]), false),
        ] {
            assert_eq!(of(stamps).is_covered_by(&later), covered, "{stamps:?}");
        }
        assert!(
            !of(Some([20, 10])).is_covered_by(&ack(200, &[])),
            "0 is earlier than 20"
        );
        let special = TcpHeader {
            is_plain: false,
            ..ack(100, &[])
        };
        assert!(!special.is_covered_by(&later));
    }

    /// Checks pairs of SACK options: acknowledgement number and blocks of an ACK, those of a later
    /// ACK, and whether the later ACK covers the earlier one.
    #[test]
    fn a_sack_block_stays_until_a_later_ack_has_it() {
        type Case<'a> = (u32, &'a [[u32; 2]], u32, &'a [[u32; 2]], bool);
        let cases: [Case; 9] = [
            // a later duplicate ACK has a longer block, or a new block
            (10, &[[20, 30]], 10, &[[20, 40]], true),
            (10, &[[20, 30]], 10, &[[50, 60], [20, 30]], true),
            // the first block
            (10, &[], 10, &[[20, 30]], true),
            // equal blocks: only a higher number is new
            (10, &[[20, 30]], 10, &[[20, 30]], false),
            (10, &[[20, 30]], 15, &[[20, 30]], true),
            // a hole is filled, and the later ACK has no block: Linux keeps the block
            (10, &[[20, 30]], 30, &[], false),
            // two blocks have merged to one
            (10, &[[20, 30], [40, 50]], 10, &[[20, 50]], true),
            // one of two blocks is missing in the later ACK
            (10, &[[20, 30], [40, 50]], 12, &[[40, 90]], false),
            // a duplicate block below the number is told only once (RFC 2883)
            (10, &[[4, 6], [20, 30]], 10, &[[4, 6], [20, 40]], false),
        ];
        for (number, blocks, later, others, covered) in cases {
            let (own, other) = (ack(number, blocks), ack(later, others));
            assert_eq!(own.is_covered_by(&other), covered, "{own:?} {other:?}");
        }
    }

    #[test]
    fn a_reused_number_has_the_new_header() {
        let mut headers = TcpHeaders::default();
        headers.set(3, Some(ack(7, &[])));
        assert_eq!(headers.of(3).map(|header| header.ack), Some(7));
        headers.set(3, None);
        assert_eq!([headers.of(3), headers.of(0), headers.of(9)], [None; 3]);
    }
}

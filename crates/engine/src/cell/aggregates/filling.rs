//! A PPDU that is being filled.

use crate::mac::aggregation::{ampdu_bytes, amsdu_bytes};
use crate::mac::block_ack::Window;
use crate::mac::way::{Room, Way};
use crate::queue::Lanes;

/// A PPDU that is being filled.
pub(super) struct Filling<'a> {
    pub(super) way: &'a Way,
    pub(super) room: Room,
    pub(super) mpdus: u32,
    pub(super) count: u32,
    /// Length of the subframes of an A-MPDU. [bytes]
    pub(super) subframes: u32,
    pub(super) psdu: u32,
}

impl Filling<'_> {
    /// Adds an MPDU, if it has room; the first always has.
    #[inline(always)]
    pub(super) fn add(&mut self, mpdu_bytes: u32) -> bool {
        (self.count == 0 || self.count < self.mpdus) && self.put(mpdu_bytes)
    }

    /// The same where there may be another one.
    #[inline(always)]
    pub(super) fn put(&mut self, mpdu_bytes: u32) -> bool {
        if self.count == 0 {
            self.psdu = self.way.psdu_of_one(mpdu_bytes);
            self.subframes = ampdu_bytes(0, mpdu_bytes);
            self.count = 1;
            return true;
        }
        let subframes = ampdu_bytes(self.subframes, mpdu_bytes);
        if !self.way.fits(&self.room, subframes, true) {
            return false;
        }
        (self.subframes, self.psdu) = (subframes, subframes);
        self.count += 1;
        true
    }

    /// Adds to the MPDU added last, of `bytes` with one packet, what else may share it: an A-MSDU of at
    /// most `most` bytes.
    pub(super) fn widen(
        &mut self,
        bytes: u32,
        (mac_header, llc): (u32, u32),
        most: u32,
        lane: u32,
        queue: &mut Lanes,
        window: &mut Window,
    ) {
        let mut mpdu = bytes;
        let mut amsdu = amsdu_bytes(0, bytes - mac_header);
        while let Some(next) = queue.first(lane) {
            let wider = amsdu_bytes(amsdu, u32::from(next.bytes) + llc);
            if wider > most {
                break;
            }
            let subframes = self.subframes - mpdu + wider + mac_header;
            let several = self.count > 1;
            let psdu = match several {
                true => subframes,
                false => self.way.psdu_of_one(wider + mac_header),
            };
            if !self.way.fits(&self.room, psdu, several) {
                break;
            }
            mpdu = wider + mac_header;
            (amsdu, self.subframes, self.psdu) = (wider, subframes, psdu);
            if let Some(packet) = queue.take(lane) {
                window.join(packet, mpdu);
            }
        }
    }
}

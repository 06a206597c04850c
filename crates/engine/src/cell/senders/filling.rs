//! The PPDU of an exchange that begins, while it is filled with MPDUs.

use crate::mac::aggregation::{ampdu_bytes, amsdu_bytes};
use crate::mac::block_ack::BlockAckWindow;
use crate::mac::tx_timing::{Room, TxTiming};
use crate::packet::Packet;
use crate::queue::TxQueues;

/// PPDU to which MPDUs are added.
pub(super) struct Filling<'a> {
    pub(super) timing: &'a TxTiming,
    pub(super) room: Room,
    pub(super) mpdus: u32,
    pub(super) count: u32,
    /// Length of all subframes of the A-MPDU so far. [bytes]
    pub(super) subframes: u32,
    pub(super) psdu: u32,
}

impl Filling<'_> {
    /// Adds an MPDU, unless the PPDU would exceed its limits of MPDUs or length. Returns whether
    /// the MPDU was added. The first MPDU is always added.
    #[inline(always)]
    pub(super) fn add(&mut self, mpdu_bytes: u32) -> bool {
        if self.count == 0 {
            self.put_first(mpdu_bytes);
            return true;
        }
        self.count < self.mpdus && self.put_next(mpdu_bytes)
    }

    /// Adds the first MPDU.
    #[inline(always)]
    fn put_first(&mut self, mpdu_bytes: u32) {
        self.psdu = self.timing.psdu_of_one(mpdu_bytes);
        self.subframes = ampdu_bytes(0, mpdu_bytes);
        self.count = 1;
    }

    /// Adds an MPDU that is not the first, unless the PSDU would exceed its limit of length. Returns
    /// whether the MPDU was added. The caller checks the number of MPDUs.
    #[inline(always)]
    fn put_next(&mut self, mpdu_bytes: u32) -> bool {
        let subframes = ampdu_bytes(self.subframes, mpdu_bytes);
        if !self.timing.fits(&self.room, subframes, true) {
            return false;
        }
        (self.subframes, self.psdu) = (subframes, subframes);
        self.count += 1;
        true
    }

    /// Adds MPDUs that contain one packet each, until the PSDU would exceed its limit of length or
    /// `room` MPDUs have been added. Returns the number of added MPDUs. The packets are in two slices, because a loop over
    /// a slice takes fewer instructions than a loop over a ring.
    #[inline(always)]
    pub(super) fn put_all(&mut self, packets: [&[Packet]; 2], room: u32, headers: u32) -> usize {
        let bytes = |packet: &Packet| u32::from(packet.bytes) + headers;
        let last = self.count + room;
        let before = self.count;
        for slice in packets {
            let most = slice.len().min((last - self.count) as usize);
            let mut new = slice[..most].iter();
            if self.count == 0
                && let Some(first) = new.next()
            {
                self.put_first(bytes(first));
            }
            if !new.all(|packet| self.put_next(bytes(packet))) {
                break;
            }
        }
        (self.count - before) as usize
    }

    /// Adds packets of the transmit queue `txq` to the last MPDU, to form an A-MSDU of at most
    /// `max` bytes. When this method is called, the MPDU contains one packet and has a length of
    /// `bytes`.
    pub(super) fn widen(
        &mut self,
        bytes: u32,
        (mac_header, llc): (u32, u32),
        max: u32,
        txq: u32,
        queue: &mut TxQueues,
        window: &mut BlockAckWindow,
    ) {
        let mut mpdu = bytes;
        let mut amsdu = amsdu_bytes(0, bytes - mac_header);
        while let Some(next) = queue.first(txq) {
            let wider = amsdu_bytes(amsdu, u32::from(next.bytes) + llc);
            if wider > max {
                break;
            }
            let subframes = self.subframes - mpdu + wider + mac_header;
            let several = self.count > 1;
            let psdu = match several {
                true => subframes,
                false => self.timing.psdu_of_one(wider + mac_header),
            };
            if !self.timing.fits(&self.room, psdu, several) {
                break;
            }
            mpdu = wider + mac_header;
            (amsdu, self.subframes, self.psdu) = (wider, subframes, psdu);
            if let Some(packet) = queue.take(txq) {
                window.join(packet, mpdu);
            }
        }
    }
}

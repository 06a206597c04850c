//! MPDUs and A-MSDUs of cells with aggregation (IEEE 802.11-2020, 9.2.4.5, 9.3.2.2).

use super::Cell;
use super::fields::{
    FROM_DS, QOS_DATA, RETRY, SERVER, SNAP_IPV4, TO_DS, close, mac_address, microseconds,
    traffic_identifier,
};
use crate::mac::NodeId;
use crate::packet::Packet;
use crate::record::{FrameRecord, Mpdu, Ppdu};

/// Flag of the QoS control field for a frame that contains an A-MSDU. The ACK policy bits 5 and 6
/// are clear: normal ACK or implicit BlockAckReq.
const AMSDU: u8 = 0x80;
impl Cell {
    /// Appends an MPDU of `ppdu`, including the FCS. `write` appends an IP packet.
    pub(in super::super) fn mpdu(
        &mut self,
        out: &mut Vec<u8>,
        record: &FrameRecord,
        ppdu: &Ppdu,
        (mpdu, packets): (&Mpdu, &[Packet]),
        write: &impl Fn(&mut Vec<u8>, &Packet),
    ) {
        let start = out.len();
        let is_retry = mpdu.number < self.agreements.of(record, ppdu).unsent;
        let is_amsdu = packets.len() > 1;
        let ap = self.ap;
        let ds = if record.to == ap { TO_DS } else { FROM_DS };
        let retry = if is_retry { RETRY } else { 0 };
        out.extend_from_slice(&[QOS_DATA, ds | retry]);
        out.extend_from_slice(&microseconds(record.reserves));
        // the third address is the BSSID if the frame is an A-MSDU, whose subframes contain the
        // other addresses (table 9-60)
        let third = if is_amsdu { ap } else { SERVER };
        for address in [record.to, record.from, third] {
            out.extend_from_slice(&mac_address(address));
        }
        out.extend_from_slice(&(mpdu.sequence_number() << 4).to_le_bytes());
        let amsdu = if is_amsdu { AMSDU } else { 0 };
        out.extend_from_slice(&[traffic_identifier(ppdu.category) | amsdu, 0]);
        if is_amsdu {
            amsdu_body(out, record, ap, packets, write);
        } else {
            for packet in packets {
                out.extend_from_slice(&SNAP_IPV4);
                write(out, packet);
            }
        }
        close(out, start);
    }

    /// Updates the block acknowledgement agreement after all MPDUs of `ppdu` have been appended.
    /// The MPDUs that were not lost are then recorded as received.
    pub(in super::super) fn end_ppdu(&mut self, record: &FrameRecord, ppdu: &Ppdu) {
        let agreement = self.agreements.of(record, ppdu);
        agreement.begin_at(ppdu.start);
        for mpdu in &ppdu.mpdus {
            agreement.unsent = agreement.unsent.max(mpdu.number + 1);
            if !mpdu.is_lost {
                agreement.received.insert(mpdu.number);
            }
        }
    }
}

/// Appends the subframes of an A-MSDU, each with destination address, source address and length.
/// Each subframe except the last is padded to a multiple of four bytes.
fn amsdu_body(
    out: &mut Vec<u8>,
    record: &FrameRecord,
    ap: NodeId,
    packets: &[Packet],
    write: &impl Fn(&mut Vec<u8>, &Packet),
) {
    let begin = out.len();
    let [destination, source] = match record.to == ap {
        true => [SERVER, record.from],
        false => [record.to, SERVER],
    };
    for packet in packets {
        out.resize(begin + (out.len() - begin).next_multiple_of(4), 0);
        out.extend_from_slice(&mac_address(destination));
        out.extend_from_slice(&mac_address(source));
        let length_at = out.len();
        out.extend_from_slice(&[0; 2]);
        out.extend_from_slice(&SNAP_IPV4);
        write(out, packet);
        let length = (out.len() - length_at - 2) as u16;
        out[length_at..length_at + 2].copy_from_slice(&length.to_be_bytes());
    }
}

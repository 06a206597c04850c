//! What transmitters of a cell that aggregates have on the air, as it was formed; for who records.

use super::OnAir;
use crate::mac::block_ack::Terms;
use crate::mac::dcf::Burst;
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;

/// What one contender sends in the exchange that began last.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Who sends.
    pub contender: u32,
    /// To whom, at which rates, how long.
    pub burst: Burst,
    /// How its data are modulated; `None`: as frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Limits of the agreement with the receiver.
    pub terms: Terms,
    /// The lowest number that is neither acknowledged nor given up.
    pub start: u32,
    /// Length of a BlockAck in answer. [bytes]
    pub block_ack_bytes: u32,
    /// MPDUs in order; none: it is a BlockAckReq.
    pub mpdus: Vec<Formed>,
    /// Attempts made at the BlockAckReq before.
    pub bar_attempts: u32,
    /// The packets of all MPDUs.
    pub packets: Vec<Packet>,
}

/// An MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Its number.
    pub number: u32,
    /// Attempts made at it before.
    pub attempts: u32,
    /// How many packets it has.
    pub packets: u32,
}

impl Transmission {
    /// What `contender` begins to send.
    pub(super) fn begin(contender: u32, burst: Burst, on_air: &OnAir) -> Transmission {
        let mut packets = Vec::new();
        let mut mpdus = Vec::new();
        let ppdu = on_air.mpdus.iter().flat_map(|window| window.ppdu());
        for (number, attempts, own) in ppdu {
            let before = packets.len();
            packets.extend(own.copied());
            mpdus.push(Formed {
                number,
                attempts,
                packets: (packets.len() - before) as u32,
            });
        }
        Transmission {
            contender,
            burst,
            modulation: on_air.modulation,
            terms: *on_air.window.terms(),
            start: on_air.window.start(),
            block_ack_bytes: on_air.block_ack_bytes,
            mpdus,
            bar_attempts: on_air.bar_attempts,
            packets,
        }
    }
}

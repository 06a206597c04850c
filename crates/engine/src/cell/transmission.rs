//! Contents of exchanges with aggregates, for recorders.

use super::OnAir;
use crate::mac::block_ack::BlockAckParameters;
use crate::mac::dcf::PlannedExchange;
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;

/// The exchange of one contender, as its contents were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Sending contender.
    pub contender: u32,
    /// Receiver, rates and air times.
    pub planned: PlannedExchange,
    /// Modulation of its data; `None`: that of frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Parameters of the block acknowledgement with the receiver.
    pub parameters: BlockAckParameters,
    /// The lowest number that is neither acknowledged nor given up.
    pub start: u32,
    /// Length of a BlockAck in response. [bytes]
    pub block_ack_bytes: u32,
    /// MPDUs in order; empty for a BlockAckReq.
    pub mpdus: Vec<Formed>,
    /// Earlier attempts at the BlockAckReq.
    pub bar_attempts: u32,
    /// The packets of all MPDUs.
    pub packets: Vec<Packet>,
}

/// An MPDU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Its number.
    pub number: u32,
    /// Earlier attempts at it.
    pub attempts: u32,
    /// Number of packets in it.
    pub packets: u32,
}

impl Transmission {
    /// Returns the exchange of `contender` that begins.
    pub(super) fn begin(contender: u32, planned: PlannedExchange, on_air: &OnAir) -> Transmission {
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
            planned,
            modulation: on_air.modulation,
            parameters: *on_air.window.parameters(),
            start: on_air.window.start(),
            block_ack_bytes: on_air.block_ack_bytes,
            mpdus,
            bar_attempts: on_air.bar_attempts,
            packets,
        }
    }
}

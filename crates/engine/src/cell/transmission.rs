//! Contents of exchanges with aggregates, for recorders.

use super::OnAir;
use crate::mac::block_ack::BlockAckParameters;
use crate::mac::dcf::PlannedExchange;
use crate::mac::ppdu::Modulation;
use crate::packet::Packet;

/// Record of the exchange of one contender, made when the contents of the exchange were chosen.
#[derive(Clone, Debug, PartialEq)]
pub struct Transmission {
    /// Contender that sends the exchange.
    pub contender: u32,
    /// Receiver, rates and air times of the exchange.
    pub planned: PlannedExchange,
    /// Modulation of the data; `None`: the data are in frames of 802.11a, b or g.
    pub modulation: Option<Modulation>,
    /// Parameters of the block acknowledgement agreement with the receiver.
    pub parameters: BlockAckParameters,
    /// Lowest MPDU number that is neither acknowledged nor given up.
    pub start: u32,
    /// Length of the BlockAck in response. [bytes]
    pub block_ack_bytes: u32,
    /// MPDUs of the exchange, in order; empty for a BlockAckReq.
    pub mpdus: Vec<Formed>,
    /// Number of earlier attempts at the BlockAckReq.
    pub bar_attempts: u32,
    /// Packets of all MPDUs.
    pub packets: Vec<Packet>,
}

/// An MPDU of a recorded exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Formed {
    /// Number of the MPDU.
    pub number: u32,
    /// Number of earlier attempts at the MPDU.
    pub attempts: u32,
    /// Number of packets in the MPDU.
    pub packets: u32,
}

impl Transmission {
    /// Returns the record of the exchange that `contender` begins.
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

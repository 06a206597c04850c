//! Records the frames of an exchange, which are RTS, CTS, data and response.

use super::{Fate, FrameKind, FrameRecord};
use crate::kernel::time::{Span, Time};
use crate::mac::airtime::{ACK_BYTES, RTS_BYTES};

/// An exchange that has ended. It begins with the RTS, or with the data frame if there is no RTS.
/// It ends with the response.
pub(super) struct Exchange {
    /// End of the data frame.
    pub(super) end: Time,
    pub(super) sifs: Span,
    /// Air times of the RTS and the CTS; `None` if the exchange has no RTS.
    pub(super) protection: Option<(Span, Span)>,
    pub(super) rts_bps: u64,
    /// Air times of CTS, data and response. The Duration fields of the frames are computed from
    /// these air times. In a cell without aggregates, they are computed for the nominal rates of
    /// the link.
    pub(super) reserved: [Span; 3],
    /// Frame type, length and rate of the response. [bytes], [bit/s]
    pub(super) response: (FrameKind, u32, u64),
}

impl Exchange {
    /// Appends to `records` those frames of the exchange that were transmitted. `data` is the data
    /// frame, whose time is set to the start of the exchange. If there is an RTS, the method moves
    /// this time to one SIFS after the CTS.
    pub(super) fn write(&self, records: &mut Vec<FrameRecord>, mut data: FrameRecord) {
        let (response, response_bytes, response_bps) = self.response;
        let back = [data.to, data.from];
        let [cts_air, data_air, response_air] = self.reserved;
        data.reserves = self.sifs + response_air;
        if let Some((rts, cts)) = self.protection {
            let after_cts = self.sifs + data_air + data.reserves;
            let collided = data.fate.is_collided();
            let mut first = FrameRecord {
                kind: FrameKind::Rts,
                bytes: RTS_BYTES,
                rate_bps: self.rts_bps,
                reserves: self.sifs + cts_air + after_cts,
                ppdu: None,
                ..data.clone()
            };
            if collided {
                return records.push(first);
            }
            first.fate = Fate::Delivered;
            records.push(first);
            let at = data.at + rts + self.sifs;
            records.push(FrameRecord {
                reserves: after_cts,
                ..FrameRecord::control(FrameKind::Cts, at, back, ACK_BYTES, response_bps)
            });
            data.at = at + cts + self.sifs;
            data.backoff = None;
        }
        let is_received = data.fate == Fate::Delivered;
        records.push(data);
        if is_received {
            let at = self.end + self.sifs;
            let response = FrameRecord::control(response, at, back, response_bytes, response_bps);
            records.push(response);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mac::NodeId;

    #[test]
    fn each_frame_reserves_the_medium_up_to_the_end_of_the_response() {
        let us = |us: u64| Span(us * 1_000);
        let exchange = Exchange {
            end: Time(3_000_000),
            sifs: us(10),
            protection: Some((us(272), us(248))),
            rts_bps: 2_000_000,
            reserved: [us(248), us(1_310), us(248)],
            response: (FrameKind::Ack, ACK_BYTES, 2_000_000),
        };
        let data = FrameRecord::control(
            FrameKind::Data,
            Time::ZERO,
            [NodeId(1), NodeId(0)],
            1_536,
            11_000_000,
        );
        let mut records = Vec::new();
        exchange.write(&mut records, data.clone());
        let frames = records
            .iter()
            .map(|frame| (frame.kind, frame.at.0, frame.reserves));
        let frames: Vec<_> = frames.collect();
        assert_eq!(
            frames,
            [
                (FrameKind::Rts, 0, us(10 + 248 + 10 + 1_310 + 10 + 248)),
                (FrameKind::Cts, 282_000, us(10 + 1_310 + 10 + 248)),
                (FrameKind::Data, 540_000, us(10 + 248)),
                (FrameKind::Ack, 3_010_000, us(0)),
            ]
        );
        records.clear();
        let fate = Fate::Collided;
        exchange.write(&mut records, FrameRecord { fate, ..data });
        assert_eq!((records.len(), records[0].fate), (1, fate));
    }
}

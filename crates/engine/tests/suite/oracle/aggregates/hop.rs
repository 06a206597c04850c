//! The path from an access category of one node to another node of the cell: limits and durations
//! of the PPDUs on this path.

use lasthop_engine::kernel::time::Span;
use lasthop_engine::mac::ppdu::Modulation;
use lasthop_engine::mac::{Aggregation, EifsRule};
use lasthop_engine::scenario::{self, Category, Cell, Direction, Rates, Scenario, Station};

use super::super::air::{ACK_BYTES, RTS_BYTES};
use super::lengths;

/// An access category of a sending node, with the receiving node. One of the two nodes is the
/// access point (0).
#[derive(Clone, Copy, Debug)]
pub struct Hop<'a> {
    scenario: &'a Scenario,
    from: u32,
    category: Category,
    to: u32,
}

impl<'a> Hop<'a> {
    pub fn new(scenario: &'a Scenario, (from, category): (u32, Category), to: u32) -> Hop<'a> {
        Hop {
            scenario,
            from,
            category,
            to,
        }
    }

    pub fn cell(&self) -> &'a Cell {
        &self.scenario.bss[0].cell
    }

    fn station(&self) -> &'a Station {
        &self.scenario.stations[self.from.max(self.to) as usize - 1]
    }

    fn sender(&self) -> &'a scenario::Node {
        match self.from {
            0 => &self.cell().ap,
            _ => &self.station().node,
        }
    }

    fn receiver(&self) -> &'a scenario::Node {
        match self.to {
            0 => &self.cell().ap,
            _ => &self.station().node,
        }
    }

    /// Returns the aggregation settings of the sender, or `None` in a cell without aggregation.
    fn own(&self) -> Option<&'a Aggregation> {
        let own = self.sender().aggregation.as_ref();
        own.map(|own| own.of(self.category))
    }

    fn modulation(&self) -> Option<&'a Modulation> {
        self.station().modulation.as_ref()
    }

    fn rates(&self) -> Rates {
        let direction = match self.from {
            0 => Direction::Down,
            _ => Direction::Up,
        };
        self.cell().rates(self.station(), direction)
    }

    /// Returns the largest number of MPDUs in a PPDU, which is also the BlockAck window. Without a BlockAck agreement,
    /// the number is 1.
    pub fn window(&self) -> u32 {
        match (self.modulation(), self.own()) {
            (Some(modulation), Some(own)) => own.mpdus.min(modulation.generation.most_mpdus()),
            _ => 1,
        }
    }

    /// Returns whether the sender has a BlockAck agreement with the receiver.
    pub fn has_agreement(&self) -> bool {
        self.window() > 1
    }

    /// Returns the attempt limit of an MPDU or a BlockAckReq under a BlockAck agreement.
    pub fn attempts(&self) -> Option<u32> {
        self.own().and_then(|own| own.attempts)
    }

    /// Returns whether the sender sends a BlockAckReq after an aggregate that got no response.
    pub fn bar_after_failure(&self) -> bool {
        self.has_agreement() && self.own().is_some_and(|own| own.bar_after_failure)
    }

    /// Returns the longest time for which the receiver keeps MPDUs after a gap in the sequence numbers.
    pub fn reorder_timeout(&self) -> Option<Span> {
        let own = self.receiver().aggregation.as_ref();
        own.and_then(|own| own.of(self.category).reorder_timeout)
    }

    /// Returns whether packets of these lengths fit into one A-MSDU.
    pub fn may_share(&self, ip_bytes: &[u32]) -> bool {
        let (Some(modulation), Some(own)) = (self.modulation(), self.own()) else {
            return false;
        };
        let most = modulation.generation.longest_amsdu();
        let own = own.amsdu_bytes.map(|own| own.min(most));
        own.is_some_and(|most| lengths::amsdu(self.cell(), ip_bytes) <= most)
    }

    /// Returns whether a PPDU with MPDUs of these lengths is within the limits of the PHY and of the sender.
    pub fn may_aggregate(&self, mpdu_bytes: &[u32]) -> bool {
        let (Some(modulation), Some(own)) = (self.modulation(), self.own()) else {
            return false;
        };
        let most = own.bytes.min(modulation.generation.longest_ampdu());
        mpdu_bytes.len() <= self.window() as usize
            && self.psdu_bytes(mpdu_bytes) <= most
            && self.ppdu(mpdu_bytes) <= own.time
    }

    fn psdu_bytes(&self, mpdu_bytes: &[u32]) -> u32 {
        let generation = self.modulation().map(|modulation| modulation.generation);
        lengths::psdu(generation, mpdu_bytes)
    }

    /// Returns whether RTS precedes a PPDU with MPDUs of these lengths at the start of a transmission opportunity.
    pub fn needs_rts(&self, mpdu_bytes: &[u32]) -> bool {
        let ppdus = self.cell().ppdus.as_ref();
        let longest = ppdus.and_then(|ppdus| ppdus.rts_longer_than);
        let most = self.cell().rts_threshold_bytes;
        most.is_some_and(|most| self.psdu_bytes(mpdu_bytes) > most)
            || longest.is_some_and(|longest| self.ppdu(mpdu_bytes) > longest)
    }

    /// Returns the duration of a PPDU with MPDUs of these lengths.
    pub fn ppdu(&self, mpdu_bytes: &[u32]) -> Span {
        let bytes = self.psdu_bytes(mpdu_bytes);
        match self.modulation() {
            Some(modulation) => modulation.duration(bytes),
            None => self.plain(bytes, self.rates().data_bps),
        }
    }

    /// Returns the duration of the response to a PPDU with this many MPDUs: MAC ACK or BlockAck.
    pub fn response(&self, mpdus: usize) -> Span {
        if mpdus == 1 {
            self.plain(ACK_BYTES, self.rates().response_bps)
        } else {
            self.block_ack()
        }
    }

    pub fn block_ack(&self) -> Span {
        let bytes = lengths::block_ack(self.window());
        self.plain(bytes, self.rates().response_bps)
    }

    pub fn block_ack_req(&self) -> Span {
        self.plain(lengths::BAR_BYTES, self.rates().rts_bps)
    }

    /// Returns the duration of an RTS or a CF-End frame, which have equal lengths.
    pub fn rts(&self) -> Span {
        self.plain(RTS_BYTES, self.rates().rts_bps)
    }

    pub fn cts(&self) -> Span {
        self.plain(ACK_BYTES, self.rates().response_bps)
    }

    /// Returns the duration of RTS, SIFS, CTS and SIFS before a PPDU.
    pub fn protection(&self) -> Span {
        let sifs = self.cell().phy.sifs;
        self.rts() + sifs + self.cts() + sifs
    }

    /// Returns the duration of a non-HT OFDM frame. SERVICE and tail are 22 bits, and a symbol lasts 4 us.
    fn plain(&self, bytes: u32, rate_bps: u64) -> Span {
        let phy = &self.cell().phy;
        let symbols = (22 + 8 * u64::from(bytes)).div_ceil(rate_bps * 4 / 1_000_000);
        phy.preamble + Span(4_000 * symbols) + phy.signal_extension
    }

    /// Returns the duration of the response that other nodes expect after a frame that they could not read. The frame
    /// is an RTS or BlockAckReq (`is_control`), or a PPDU with data.
    pub fn expected_response(&self, is_control: bool) -> Span {
        let phy = &self.cell().phy;
        let rule = self.cell().ppdus.as_ref().map(|ppdus| ppdus.eifs);
        let rates = self.rates();
        let plain = |rate_bps| match rate_bps {
            6_000_000 | 9_000_000 => 44_000,
            12_000_000 | 18_000_000 => 32_000,
            _ => 28_000,
        };
        match (rule, self.modulation()) {
            (None | Some(EifsRule::Ack), _) => self.plain(ACK_BYTES, phy.eifs_rate_bps),
            (Some(EifsRule::Expected), _) if is_control => Span(plain(rates.rts_bps)),
            (Some(EifsRule::Expected), None) => Span(plain(rates.data_bps)),
            (Some(EifsRule::Expected), Some(modulation)) => Span(match modulation.mcs {
                0 => 68_000,
                1 | 2 => 44_000,
                _ => 32_000,
            }),
        }
    }
}

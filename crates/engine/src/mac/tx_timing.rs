//! Air times of exchanges with aggregates on a link, for one TXVECTOR.

use super::aggregation::{BAR_BYTES, psdu_of_one};
use super::airtime::{ACK_BYTES, RTS_BYTES};
use super::exchange::PlannedExchange;
use super::link_rates::LinkRates;
use super::ppdu::{Generation, Modulation};
use super::rate_control::{Controller, TxVector};
use super::{Aggregation, Cell, EifsRule, NodeId, Phy, Rates, Station};
use crate::channel::{Quality, frame_error};
use crate::kernel::streams::Stream;
use crate::kernel::time::Span;
use crate::notation::setting::US;
use crate::packet::Direction;
use crate::queue::Estimate;

/// Air times with one TXVECTOR.
#[derive(Clone, Debug)]
pub struct TxTiming {
    /// Modulation of data; `None`: data are sent in frames of 802.11a, b or g.
    modulation: Option<Modulation>,
    phy: Phy,
    /// Exchange with a single MPDU and a MAC ACK, without the fields that depend on the data.
    template: PlannedExchange,
    block_ack_air: Span,
    bar_air: Span,
    /// Length above which RTS/CTS precede a PSDU. [bytes]
    rts_above: u32,
    /// Largest length of the PSDU of an aggregate. [bytes]
    max_bytes: u32,
    /// Largest length of a PSDU with which the first exchange of a transmission opportunity,
    /// including RTS/CTS if needed, ends within the TXOP limit. The first value is for one MPDU,
    /// the second for several MPDUs. `None`: no limit. [bytes]
    opening: Option<[u32; 2]>,
    /// Lengths and air times of the two most recent single MPDUs. `sent` stores the length and air
    /// time of the PSDU that was sent last.
    known: [(u32, Span); 2],
    sent: (u32, Span),
}

/// Limits of a PSDU whose exchange must end within the time left in a transmission opportunity. In
/// each field, the first value is for a PSDU with one MPDU, and the second value for a PSDU with
/// several MPDUs.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// PSDU length up to which the exchange always ends within the time left in the transmission
    /// opportunity. For these lengths the air time is not computed. [bytes]
    sure_bytes: [u32; 2],
    /// PSDU length above which the exchange never ends within the time left in the transmission
    /// opportunity. [bytes]
    max_bytes: [u32; 2],
    /// Largest air time of a PPDU whose exchange ends within the time left. This limit decides
    /// about a PSDU whose length is between `sure_bytes` and `max_bytes`.
    max_air: [Span; 2],
}

impl TxTiming {
    /// Returns the air times of the link between the access point and `station`. `txop_limit` is
    /// the limit of the transmission opportunities of the sender. `modulation` is `None` if data
    /// are sent in frames of 802.11a, b or g.
    pub fn new(
        cell: &Cell,
        (station, direction): (&Station, Direction),
        aggregation: &Aggregation,
        txop_limit: Option<Span>,
        modulation: Option<Modulation>,
    ) -> TxTiming {
        let rates = match &modulation {
            Some(modulation) => cell.rates_of(station, direction, modulation),
            None => cell.rates(station, direction),
        };
        let phy = cell.phy;
        let ppdus = cell.ppdus.as_ref();
        let lead = |estimate: Span| match ppdus.map(|own| own.eifs) {
            Some(EifsRule::Expected) => phy.sifs + estimate,
            Some(EifsRule::Ack) | None => phy.eifs_lead(),
        };
        let of_data = match modulation {
            Some(modulation) => expected_response(modulation.points()),
            None => expected_ack(rates.data_bps),
        };
        let mut timing = TxTiming {
            modulation,
            phy,
            template: PlannedExchange {
                rates,
                rts_air: phy.airtime(RTS_BYTES, rates.rts_bps),
                cts_air: phy.airtime(ACK_BYTES, rates.response_bps),
                response_air: phy.airtime(ACK_BYTES, rates.response_bps),
                eifs_leads: [lead(expected_ack(rates.rts_bps)), lead(of_data)],
                ..PlannedExchange::default()
            },
            block_ack_air: phy.airtime(aggregation.block_ack_bytes(), rates.response_bps),
            bar_air: phy.airtime(BAR_BYTES, rates.rts_bps),
            rts_above: cell.rts_threshold_bytes.unwrap_or(u32::MAX),
            max_bytes: u32::MAX,
            opening: None,
            known: [(u32::MAX, Span::ZERO); 2],
            sent: (u32::MAX, Span::ZERO),
        };
        timing.max_bytes = timing.longest(aggregation.time).min(aggregation.bytes);
        if let Some(longer) = ppdus.and_then(|own| own.rts_longer_than) {
            timing.rts_above = timing.rts_above.min(timing.longest(longer));
        }
        timing.opening = txop_limit.map(|limit| {
            [timing.template.response_air, timing.block_ack_air].map(|response| {
                let plain = timing.longest_with(limit, response);
                let rts = timing.template.rts_air
                    + timing.phy.sifs
                    + timing.template.cts_air
                    + timing.phy.sifs;
                let after_rts = timing.longest_with(limit - rts, response);
                plain.min(timing.rts_above).max(after_rts)
            })
        });
        timing
    }

    /// Returns the largest length of a PSDU whose PPDU takes at most `time`. [bytes]
    fn longest(&self, time: Span) -> u32 {
        let (mut fits, mut too_many) = (0, 1 << 28);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            match self.air(middle) <= time {
                true => fits = middle,
                false => too_many = middle,
            }
        }
        fits
    }

    /// Returns the largest length of a PSDU whose PPDU, with SIFS and a response that takes
    /// `response`, takes at most `limit`. [bytes]
    fn longest_with(&self, limit: Span, response: Span) -> u32 {
        self.longest(limit - (self.phy.sifs + response))
    }

    /// Returns the limits of a PSDU in an exchange. `left` is the time left in the transmission
    /// opportunity, and `opens` is whether the exchange is the first of the opportunity.
    pub fn room(&self, left: Option<Span>, opens: bool) -> Room {
        let known = match (left, self.opening) {
            (None, _) => [u32::MAX; 2],
            (Some(_), Some(opening)) if opens => opening,
            (Some(left), _) => return self.room_within(left),
        };
        let max = known.map(|bytes| bytes.min(self.max_bytes));
        Room {
            sure_bytes: max,
            max_bytes: max,
            max_air: [Span::ZERO; 2],
        }
    }

    /// Returns the limits of a PSDU in an exchange with the time `left` in its transmission
    /// opportunity.
    fn room_within(&self, left: Span) -> Room {
        let air = [self.template.response_air, self.block_ack_air]
            .map(|response| left - (self.phy.sifs + response));
        let bounds = air.map(|air| match self.modulation {
            Some(modulation) => modulation.bounds(air),
            None => (u32::MAX, u32::MAX),
        });
        Room {
            sure_bytes: bounds.map(|(sure, _)| sure.min(self.max_bytes)),
            max_bytes: bounds.map(|(_, max)| max.min(self.max_bytes)),
            max_air: air,
        }
    }

    /// Returns whether a PSDU of length `psdu_bytes` is within the limits of `room`. `several` is
    /// whether the PSDU has several MPDUs.
    #[inline]
    pub fn fits(&self, room: &Room, psdu_bytes: u32, several: bool) -> bool {
        let of = usize::from(several);
        psdu_bytes <= room.sure_bytes[of]
            || psdu_bytes <= room.max_bytes[of] && self.air(psdu_bytes) <= room.max_air[of]
    }

    /// Returns the length of a PSDU with a single MPDU. [bytes]
    #[inline]
    pub fn psdu_of_one(&self, mpdu_bytes: u32) -> u32 {
        match self.modulation {
            Some(modulation) => psdu_of_one(modulation.generation, mpdu_bytes),
            None => mpdu_bytes,
        }
    }

    /// Returns the air time of the PPDU that contains a PSDU of length `psdu_bytes`.
    pub fn air(&self, psdu_bytes: u32) -> Span {
        match self.modulation {
            Some(modulation) => modulation.duration(psdu_bytes),
            None => self.phy.airtime(psdu_bytes, self.template.rates.data_bps),
        }
    }

    /// Returns the air time of a PPDU with a single MPDU, and the air time of its MAC ACK.
    #[inline]
    pub fn single(&mut self, mpdu_bytes: u32) -> (Span, Span) {
        if self.known[0].0 != mpdu_bytes {
            self.known.swap(0, 1);
        }
        if self.known[0].0 != mpdu_bytes {
            self.known[0] = (mpdu_bytes, self.air(self.psdu_of_one(mpdu_bytes)));
        }
        (self.known[0].1, self.template.response_air)
    }

    /// Returns the modulation of data; `None`: data are sent in frames of 802.11a, b or g.
    pub fn modulation(&self) -> Option<Modulation> {
        self.modulation
    }

    /// Returns the air time of a BlockAckReq, and the air time of the BlockAck in response.
    pub fn bar(&self) -> (Span, Span) {
        (self.bar_air, self.block_ack_air)
    }

    /// Returns the exchange of a PSDU with node `to`. `several` is whether the PSDU has several
    /// MPDUs, and `opens` is whether the exchange is the first of a transmission opportunity.
    pub fn exchange(
        &mut self,
        to: NodeId,
        psdu_bytes: u32,
        several: bool,
        opens: bool,
    ) -> PlannedExchange {
        if self.sent.0 != psdu_bytes {
            self.sent = (psdu_bytes, self.air(psdu_bytes));
        }
        PlannedExchange {
            to,
            protect: opens && psdu_bytes > self.rts_above,
            data_air: self.sent.1,
            response_air: match several {
                true => self.block_ack_air,
                false => self.template.response_air,
            },
            ..self.template
        }
    }

    /// Returns the exchange in which a BlockAckReq is sent to node `to`.
    pub fn bar_exchange(&self, to: NodeId) -> PlannedExchange {
        let template = self.template;
        PlannedExchange {
            to,
            rates: Rates {
                data_bps: template.rates.rts_bps,
                ..template.rates
            },
            data_air: self.bar_air,
            response_air: self.block_ack_air,
            eifs_leads: [template.eifs_leads[0]; 2],
            ..template
        }
    }

    /// Returns the air time of packets on the link as a Linux access point estimates it
    /// (`ieee80211_calc_expected_tx_airtime`). `aggregated` is whether the packets are in
    /// aggregates. The estimate uses the data rate. The estimate includes only a fraction of the
    /// preamble. This fraction is smaller at higher data rates, because fast stations send longer
    /// aggregates.
    pub fn estimate(&self, aggregated: bool) -> Estimate {
        let rate_bps = self.template.rates.data_bps;
        let Some(modulation) = self.modulation else {
            let dsss = matches!(rate_bps, 1_000_000 | 2_000_000 | 5_500_000 | 11_000_000);
            let each = Span(if dsss { 202 * US } else { 36 * US });
            return Estimate { rate_bps, each };
        };
        let of_1024_bytes_us = 8_192_000_000 / rate_bps.max(1);
        let halvings = match of_1024_bytes_us {
            _ if !aggregated => 0,
            401.. => 1,
            251.. => 2,
            151.. => 3,
            71.. => 4,
            ..=20 if modulation.generation == Generation::He => 6,
            _ => 5,
        };
        let overhead = (36 + 4 * u64::from(modulation.streams)) * US;
        Estimate {
            rate_bps,
            each: Span(overhead >> halvings),
        }
    }

    /// Returns the largest length of an aggregate in the first exchange of a transmission
    /// opportunity. [bytes]
    pub fn max_bytes(&self) -> u32 {
        self.opening
            .map_or(self.max_bytes, |[_, several]| several.min(self.max_bytes))
    }

    /// Returns the probability that noise destroys an MPDU. [-]
    #[inline(never)]
    fn noise(&self, mpdu_bytes: u32, snr_db: f64) -> f64 {
        match self.modulation {
            Some(modulation) => modulation.frame_error(mpdu_bytes, snr_db),
            None => frame_error(self.template.rates.data_bps, mpdu_bytes, snr_db),
        }
    }
}

impl LinkRates<TxTiming> {
    /// Returns the link between the access point and `station`. The link has a TXVECTOR for each
    /// MCS that its rate control may choose.
    pub fn of_ppdus(
        cell: &Cell,
        (station, direction): (&Station, Direction),
        aggregation: &Aggregation,
        txop_limit: Option<Span>,
        stream: &mut Stream,
    ) -> LinkRates<TxTiming> {
        let modulations = match station.modulation {
            Some(nominal) if station.mcs_by_snr => nominal.with_each_mcs().collect(),
            Some(nominal) if cell.rate_control.adapts() => {
                let up_to_nominal = nominal.with_each_mcs();
                up_to_nominal.filter(|own| own.mcs <= nominal.mcs).collect()
            }
            nominal => Vec::from_iter(nominal),
        };
        let timing = |modulation| {
            let link = (station, direction);
            TxTiming::new(cell, link, aggregation, txop_limit, modulation)
        };
        let timings = match modulations.is_empty() {
            true => vec![timing(None)],
            false => modulations.iter().copied().map(Some).map(timing).collect(),
        };
        let nominal = modulations
            .iter()
            .position(|own| Some(*own) == station.modulation);
        let controller = match nominal {
            Some(nominal) if station.mcs_by_snr => {
                Controller::best_for_snr(modulations, TxVector(nominal as u8))
            }
            Some(_) | None => cell.rate_control.controller(timings.len()),
        };
        let mut link = LinkRates::new(timings, controller);
        link.set_channel(&station.channel, direction == Direction::Down, stream);
        link
    }

    /// Returns the expected goodput: the data rate multiplied by the probability that an MPDU of
    /// 1,200 bytes is received. [bit/s]
    pub fn expected_bps(&self) -> f64 {
        self.timing().template.rates.data_bps as f64 * (1.0 - self.error(1_200, true))
    }

    /// Returns whether the link has no channel errors.
    #[inline]
    pub fn is_clean(&self) -> bool {
        matches!(self.quality(), Quality::Given { data, ack } if data == 0.0 && ack == 0.0)
    }

    /// Returns the probability that channel errors destroy an MPDU. [-]
    #[inline]
    pub fn error(&self, mpdu_bytes: u32, has_data: bool) -> f64 {
        match (self.quality(), has_data) {
            (Quality::Given { data, .. }, true) => data,
            (Quality::Given { ack, .. }, false) => ack,
            (Quality::Snr { db }, _) => self.timing().noise(mpdu_bytes, db),
        }
    }
}

/// Returns the duration of the expected response after an HT, VHT or HE PPDU that was not decoded
/// (IEEE 802.11-2020, table 10-8): a BlockAck at the rate that the modulation requires.
fn expected_response(points: u32) -> Span {
    Span(match points {
        2 => 68_000,
        4 => 44_000,
        _ => 32_000,
    })
}

/// Returns the duration of the expected response after a frame that is not an HT, VHT or HE PPDU: a
/// MAC ACK.
fn expected_ack(rate_bps: u64) -> Span {
    Span(match rate_bps {
        1_000_000 => 304_000,
        2_000_000 | 5_500_000 | 11_000_000 => 248_000,
        6_000_000 | 9_000_000 => 44_000,
        12_000_000 | 18_000_000 => 32_000,
        _ => 28_000,
    })
}

#[cfg(test)]
mod tests {
    use super::super::PhyKind;
    use super::super::ppdu::tests::of;
    use super::*;

    #[test]
    fn estimated_responses_are_those_of_the_table() {
        assert_eq!(expected_response(2), Span(68_000));
        assert_eq!(expected_response(1024), Span(32_000));
        assert_eq!(expected_ack(24_000_000), Span(28_000));
    }

    #[test]
    fn the_longest_psdu_is_the_last_that_fits() {
        for generation in [Generation::Ht, Generation::Vht, Generation::He] {
            let timing = TxTiming {
                modulation: Some(of(generation, 40, 4, 2, 800)),
                phy: Phy {
                    kind: PhyKind::Dot11n,
                    slot: Span(9_000),
                    sifs: Span(16_000),
                    preamble: Span(20_000),
                    eifs_rate_bps: 6_000_000,
                    signal_extension: Span::ZERO,
                },
                template: PlannedExchange::default(),
                block_ack_air: Span::ZERO,
                bar_air: Span::ZERO,
                rts_above: u32::MAX,
                max_bytes: u32::MAX,
                opening: None,
                known: [(u32::MAX, Span::ZERO); 2],
                sent: (u32::MAX, Span::ZERO),
            };
            let time = Span(5_484_000);
            let longest = timing.longest(time);
            assert!(timing.air(longest) <= time && timing.air(longest + 1) > time);
            assert_eq!(timing.longest(Span(30_000)), 0);
        }
    }
}

//! The way from a node to another in a cell that aggregates: how long what goes on it takes.

use super::aggregation::{Aggregation, BAR_BYTES, psdu_of_one};
use super::airtime::{ACK_BYTES, RTS_BYTES};
use super::exchange::PlannedExchange;
use super::ppdu::{Generation, Modulation, US};
use super::{Cell, EifsRule, Phy, Rates, Station};
use crate::channel::{Channel, Quality, frame_error};
use crate::kernel::time::Span;
use crate::queue::Estimate;

/// How data frames on a way are modulated.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Carrier {
    /// Frames of 802.11a, b or g.
    Plain {
        /// [bit/s]
        rate_bps: u64,
    },
    /// PPDUs of 802.11n, ac or ax.
    Modulated(Modulation),
}

/// What is sent from a node to another.
#[derive(Clone, Debug)]
pub struct TxTiming {
    carrier: Carrier,
    phy: Phy,
    quality: Quality,
    rates: Rates,
    sifs: Span,
    rts_air: Span,
    cts_air: Span,
    ack_air: Span,
    block_ack_air: Span,
    bar_air: Span,
    /// What EIFS adds to AIFS behind an RTS, or a BlockAckReq, and behind data.
    eifs_leads: [Span; 2],
    /// PSDUs longer than this are preceded by RTS. [bytes]
    rts_above: u32,
    /// Longest PSDU that an aggregate may be. [bytes]
    most: u32,
    /// The same that opens an opportunity, with the RTS that is its due: alone and with others in an
    /// aggregate.
    opening: Option<[u32; 2]>,
    /// Lengths and air times of the two single MPDUs seen last, and of the PSDU sent last.
    known: [(u32, Span); 2],
    sent: (u32, Span),
}

/// What a PSDU may be at most: with one MPDU, and with several.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// So many bytes fit for sure.
    surely: [u32; 2],
    /// More do not.
    at_most: [u32; 2],
    /// Between them, a PPDU has room that takes at most this.
    air: [Span; 2],
}

impl TxTiming {
    /// From node `from` to node `to`, one of which is the access point (0; i + 1 is the i-th of the
    /// `stations`), whose sender aggregates so and has opportunities of this length.
    pub fn new(
        cell: &Cell,
        stations: &[Station],
        (from, to): (u32, u32),
        aggregation: &Aggregation,
        txop_limit: Option<Span>,
        channel: &Channel,
    ) -> TxTiming {
        let station = &stations[from.max(to) as usize - 1];
        let modulation = station.modulation.map(|one| match channel.snr_db {
            Some(snr_db) if station.mcs_by_snr => one.best_for(snr_db),
            _ => one,
        });
        let rates = match &modulation {
            Some(modulation) => cell.rates_of(stations, from, to, modulation),
            None => cell.rates(stations, from, to),
        };
        let carrier = match modulation {
            Some(modulation) => Carrier::Modulated(modulation),
            None => Carrier::Plain {
                rate_bps: rates.data_bps,
            },
        };
        let phy = cell.phy;
        let ppdus = cell.ppdus.as_ref();
        let lead = |estimate: Span| match ppdus.map(|own| own.eifs) {
            Some(EifsRule::Expected) => phy.sifs + estimate,
            _ => phy.eifs_lead(),
        };
        let of_data = match carrier {
            Carrier::Modulated(modulation) => expected_response(modulation.points()),
            Carrier::Plain { rate_bps } => expected_ack(rate_bps),
        };
        let mut way = TxTiming {
            carrier,
            phy,
            quality: match from {
                0 => channel.quality_down(),
                _ => channel.quality_up(),
            },
            rates,
            sifs: phy.sifs,
            rts_air: phy.airtime(RTS_BYTES, rates.rts_bps),
            cts_air: phy.airtime(ACK_BYTES, rates.response_bps),
            ack_air: phy.airtime(ACK_BYTES, rates.response_bps),
            block_ack_air: phy.airtime(aggregation.block_ack_bytes(), rates.response_bps),
            bar_air: phy.airtime(BAR_BYTES, rates.rts_bps),
            eifs_leads: [lead(expected_ack(rates.rts_bps)), lead(of_data)],
            rts_above: cell.rts_threshold_bytes.unwrap_or(u32::MAX),
            most: u32::MAX,
            opening: None,
            known: [(u32::MAX, Span::ZERO); 2],
            sent: (u32::MAX, Span::ZERO),
        };
        way.most = way.longest(aggregation.time).min(aggregation.bytes);
        if let Some(longer) = ppdus.and_then(|own| own.rts_longer_than) {
            way.rts_above = way.rts_above.min(way.longest(longer));
        }
        way.opening = txop_limit.map(|limit| {
            [way.ack_air, way.block_ack_air].map(|response| {
                let plain = way.longest_with(limit, response);
                let rts = way.rts_air + way.sifs + way.cts_air + way.sifs;
                let behind_rts = way.longest_with(Span(limit.0.saturating_sub(rts.0)), response);
                plain.min(way.rts_above).max(behind_rts)
            })
        });
        way
    }

    /// Longest PSDU whose PPDU takes at most this time. [bytes]
    fn longest(&self, time: Span) -> u32 {
        let rate_bps = match self.carrier {
            Carrier::Modulated(modulation) => return modulation.most_bytes(time).unwrap_or(0),
            Carrier::Plain { rate_bps } => rate_bps,
        };
        let (mut fits, mut too_many) = (0, 1 << 24);
        while too_many - fits > 1 {
            let middle = fits + (too_many - fits) / 2;
            match self.phy.airtime(middle, rate_bps) <= time {
                true => fits = middle,
                false => too_many = middle,
            }
        }
        fits
    }

    /// Longest PSDU that ends with its response within `limit`. [bytes]
    fn longest_with(&self, limit: Span, response: Span) -> u32 {
        let rest = self.sifs + response;
        self.longest(Span(limit.0.saturating_sub(rest.0)))
    }

    /// What a PSDU may be at most in an exchange that has `left` of its opportunity, and opens it or not.
    pub fn room(&self, left: Option<Span>, opens: bool) -> Room {
        let known = match (left, self.opening) {
            (None, _) => [u32::MAX; 2],
            (Some(_), Some(opening)) if opens => opening,
            (Some(left), _) => return self.room_within(left),
        };
        let most = known.map(|most| most.min(self.most));
        Room {
            surely: most,
            at_most: most,
            air: [Span::ZERO; 2],
        }
    }

    /// The same in an exchange that follows others.
    fn room_within(&self, left: Span) -> Room {
        let air = [self.ack_air, self.block_ack_air].map(|response| {
            let rest = self.sifs + response;
            Span(left.0.saturating_sub(rest.0))
        });
        let bounds = air.map(|air| match self.carrier {
            Carrier::Modulated(modulation) => modulation.bounds(air),
            Carrier::Plain { .. } => (u32::MAX, u32::MAX),
        });
        Room {
            surely: bounds.map(|(surely, _)| surely.min(self.most)),
            at_most: bounds.map(|(_, at_most)| at_most.min(self.most)),
            air,
        }
    }

    /// Whether a PSDU of so many bytes, with one MPDU or `several`, has `room`.
    #[inline]
    pub fn fits(&self, room: &Room, psdu_bytes: u32, several: bool) -> bool {
        let of = usize::from(several);
        psdu_bytes <= room.surely[of]
            || psdu_bytes <= room.at_most[of] && self.air(psdu_bytes) <= room.air[of]
    }

    /// Length of a PSDU with one MPDU. [bytes]
    #[inline]
    pub fn psdu_of_one(&self, mpdu_bytes: u32) -> u32 {
        match self.carrier {
            Carrier::Modulated(modulation) => psdu_of_one(modulation.generation, mpdu_bytes),
            Carrier::Plain { .. } => mpdu_bytes,
        }
    }

    /// Air time of a PPDU.
    pub fn air(&self, psdu_bytes: u32) -> Span {
        match self.carrier {
            Carrier::Modulated(modulation) => modulation.duration(psdu_bytes),
            Carrier::Plain { rate_bps } => self.phy.airtime(psdu_bytes, rate_bps),
        }
    }

    /// Air times of one MPDU alone and of its MAC ACK.
    #[inline]
    pub fn single(&mut self, mpdu_bytes: u32) -> (Span, Span) {
        if self.known[0].0 != mpdu_bytes {
            self.known.swap(0, 1);
        }
        if self.known[0].0 != mpdu_bytes {
            self.known[0] = (mpdu_bytes, self.air(self.psdu_of_one(mpdu_bytes)));
        }
        (self.known[0].1, self.ack_air)
    }

    /// How data are modulated; `None`: as frames of 802.11a, b or g.
    pub fn modulation(&self) -> Option<Modulation> {
        match self.carrier {
            Carrier::Modulated(modulation) => Some(modulation),
            Carrier::Plain { .. } => None,
        }
    }

    /// Air times of a BlockAckReq and of its BlockAck.
    pub fn bar(&self) -> (Span, Span) {
        (self.bar_air, self.block_ack_air)
    }

    /// An exchange to node `to` of a PSDU with one MPDU or `several`, which opens an opportunity or follows.
    pub fn exchange(
        &mut self,
        to: u32,
        psdu_bytes: u32,
        several: bool,
        opens: bool,
    ) -> PlannedExchange {
        if self.sent.0 != psdu_bytes {
            self.sent = (psdu_bytes, self.air(psdu_bytes));
        }
        PlannedExchange {
            to,
            rates: self.rates,
            protect: opens && psdu_bytes > self.rts_above,
            rts_air: self.rts_air,
            cts_air: self.cts_air,
            data_air: self.sent.1,
            response_air: if several {
                self.block_ack_air
            } else {
                self.ack_air
            },
            eifs_leads: self.eifs_leads,
        }
    }

    /// An exchange of a BlockAckReq.
    pub fn bar_exchange(&self, to: u32) -> PlannedExchange {
        let Rates { rts_bps, .. } = self.rates;
        PlannedExchange {
            to,
            rates: Rates {
                data_bps: rts_bps,
                ..self.rates
            },
            protect: false,
            rts_air: self.rts_air,
            cts_air: self.cts_air,
            data_air: self.bar_air,
            response_air: self.block_ack_air,
            eifs_leads: [self.eifs_leads[0]; 2],
        }
    }

    /// How a Linux access point estimates the air time of packets to be sent on the way, in aggregates or not
    /// (`ieee80211_calc_expected_tx_airtime`): at the rate of the data, with a part of the preamble that falls
    /// with the rate, since fast stations have longer aggregates.
    pub fn estimate(&self, aggregated: bool) -> Estimate {
        let modulation = match self.carrier {
            Carrier::Modulated(modulation) => modulation,
            Carrier::Plain { rate_bps } => {
                let dsss = matches!(rate_bps, 1_000_000 | 2_000_000 | 5_500_000 | 11_000_000);
                let each = if dsss { 202 * US } else { 36 * US };
                return Estimate {
                    rate_bps,
                    each: Span(each),
                };
            }
        };
        let rate_bps = modulation.rate_bps();
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

    /// What a sender may expect of the way: the rate of the data times the part of MPDUs of 1,200 bytes that
    /// arrive. [bit/s]
    pub fn expected_bps(&self) -> f64 {
        let rate_bps = match self.carrier {
            Carrier::Modulated(modulation) => modulation.rate_bps(),
            Carrier::Plain { rate_bps } => rate_bps,
        };
        rate_bps as f64 * (1.0 - self.error(1_200, true))
    }

    /// Most bytes of an aggregate that opens an opportunity.
    pub fn max_bytes(&self) -> u32 {
        self.opening
            .map_or(self.most, |[_, several]| several.min(self.most))
    }

    /// Whether channel errors destroy nothing.
    #[inline]
    pub fn is_clean(&self) -> bool {
        matches!(self.quality, Quality::Given { data, ack } if data == 0.0 && ack == 0.0)
    }

    /// Probability that channel errors destroy an MPDU. [-]
    #[inline]
    pub fn error(&self, mpdu_bytes: u32, has_data: bool) -> f64 {
        match (self.quality, has_data) {
            (Quality::Given { data, .. }, true) => data,
            (Quality::Given { ack, .. }, false) => ack,
            (Quality::Snr { db }, _) => self.noise(mpdu_bytes, db),
        }
    }

    #[inline(never)]
    fn noise(&self, mpdu_bytes: u32, snr_db: f64) -> f64 {
        match self.carrier {
            Carrier::Modulated(modulation) => modulation.frame_error(mpdu_bytes, snr_db),
            Carrier::Plain { rate_bps } => frame_error(rate_bps, mpdu_bytes, snr_db),
        }
    }
}

/// The response to expect behind an HT, VHT or HE PPDU that was not understood (IEEE 802.11-2020, table
/// 10-8): a BlockAck at the rate that its modulation asks for.
fn expected_response(points: u32) -> Span {
    Span(match points {
        2 => 68_000,
        4 => 44_000,
        _ => 32_000,
    })
}

/// The same behind another frame: a MAC ACK.
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
    use super::*;

    #[test]
    fn estimated_responses_are_those_of_the_table() {
        assert_eq!(expected_response(2), Span(68_000));
        assert_eq!(expected_response(1024), Span(32_000));
        assert_eq!(expected_ack(24_000_000), Span(28_000));
    }
}

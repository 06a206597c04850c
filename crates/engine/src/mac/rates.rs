//! Rates of the frames of an exchange.
//!
//! IEEE 802.11-2016, 10.6.6: a control frame is sent at a basic rate that does not exceed the rate
//! of the data frame that it announces or acknowledges. In this model `control_rate` of a node is
//! the highest rate that the node uses for control frames.

use super::ppdu::Modulation;
use super::{Cell, Phy, PhyKind, Preset, Station};
use crate::packet::Direction;

/// Rates of the frames of an exchange between the access point and a station, in one direction.
/// [bit/s]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rates {
    /// Rate of data frames.
    pub data_bps: u64,
    /// Rate of RTS frames before the data.
    pub rts_bps: u64,
    /// Rate of CTS frames and MAC ACKs in response.
    pub response_bps: u64,
}

/// Returns the rates of data frames of the physical layer with the name `phy`, slowest rate first;
/// `None` if no physical layer has this name. [bit/s]
pub fn data_rates(phy: &str) -> Option<&'static [u64]> {
    let kind = PhyKind::ALL.into_iter().find(|kind| kind.name() == phy)?;
    Some(Preset::of(kind).rates)
}

impl Cell {
    /// Returns the rates of the frames between the access point and `station`, in the given
    /// direction.
    pub fn rates(&self, station: &Station, direction: Direction) -> Rates {
        match &station.modulation {
            Some(modulation) => self.rates_of(station, direction, modulation),
            None => self.rates_at(station, direction, nominal_bps(station, direction)),
        }
    }

    /// Returns the rates of the frames of an exchange, given the modulation of its data.
    pub fn rates_of(
        &self,
        station: &Station,
        direction: Direction,
        modulation: &Modulation,
    ) -> Rates {
        Rates {
            data_bps: modulation.rate_bps(),
            ..self.rates_at(station, direction, modulation.reference_bps())
        }
    }

    /// Returns the rates of the frames for each data rate of the physical layer up to the nominal
    /// rate, slowest rate first.
    pub fn rates_up_to_nominal(&self, station: &Station, direction: Direction) -> Vec<Rates> {
        let nominal_bps = nominal_bps(station, direction);
        let rates = Preset::of(self.phy.kind).rates.iter();
        rates
            .filter(|&&data_bps| data_bps <= nominal_bps)
            .map(|&data_bps| self.rates_at(station, direction, data_bps))
            .collect()
    }

    fn rates_at(&self, station: &Station, direction: Direction, data_bps: u64) -> Rates {
        let (sender, receiver) = match direction {
            Direction::Down => (&self.ap, &station.node),
            Direction::Up => (&station.node, &self.ap),
        };
        let control = |limit_bps| self.phy.control_rate(limit_bps, data_bps);
        Rates {
            data_bps,
            rts_bps: control(sender.control_rate_bps),
            response_bps: control(receiver.control_rate_bps),
        }
    }
}

/// Returns the nominal rate of data frames between the access point and `station`. Without rate
/// control, all data frames have the nominal rate. [bit/s]
fn nominal_bps(station: &Station, direction: Direction) -> u64 {
    match direction {
        Direction::Down => station.downlink_rate_bps,
        Direction::Up => station.rate_bps,
    }
}

impl Phy {
    /// Returns the highest control rate that exceeds neither `limit_bps` nor `data_bps`; if all
    /// control rates exceed these limits, the lowest control rate.
    fn control_rate(&self, limit_bps: u64, data_bps: u64) -> u64 {
        let rates = Preset::of(self.kind).control_rates;
        let mut fastest_first = rates.iter().rev().copied();
        let fitting = fastest_first.find(|&rate| rate <= limit_bps.min(data_bps));
        fitting.unwrap_or(rates[0])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::time::Span;

    const MBPS: u64 = 1_000_000;

    #[test]
    fn responses_are_not_faster_than_the_data() {
        let control = |kind, limit_mbps, data_mbps| {
            let (slot, sifs, preamble) = (Span(9_000), Span(10_000), Span(20_000));
            let phy = Phy {
                kind,
                slot,
                sifs,
                preamble,
                eifs_rate_bps: MBPS,
                signal_extension: kind.signal_extension(),
            };
            phy.control_rate(limit_mbps * MBPS, data_mbps * MBPS) / MBPS
        };
        assert_eq!(control(PhyKind::Dot11b, 2, 11), 2);
        assert_eq!(control(PhyKind::Dot11b, 2, 1), 1);
        assert_eq!(control(PhyKind::Dot11g, 24, 54), 24);
        assert_eq!(control(PhyKind::Dot11g, 24, 18), 12);
        assert_eq!(control(PhyKind::Dot11g, 24, 9), 6);
        assert_eq!(control(PhyKind::Dot11gLong, 2, 36), 2);
    }
}

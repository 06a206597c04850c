//! The link between the access point and a station, one direction: its rates and its quality.

use super::airtime::{ACK_BYTES, RTS_BYTES};
use super::arf::Fallback;
use super::exchange::{Content, Frame};
use super::{Phy, Rates};
use crate::channel::{Quality, frame_error};
use crate::kernel::time::Span;

/// Rates and quality of a link.
#[derive(Clone, Debug)]
pub(super) struct LinkRates {
    /// Rates, slowest first; without rate fallback only the one that is used.
    ladder: Vec<Rates>,
    /// Chooses among them.
    fallback: Option<Fallback>,
    quality: Quality,
    /// What the rates in use make of frames.
    present: Present,
}

/// What the rates in use make of frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Present {
    pub(super) rates: Rates,
    pub(super) rts_air: Span,
    pub(super) response_air: Span,
    /// Lengths, air times and errors of the two frame lengths seen last; errors where the
    /// signal-to-noise ratio gives them.
    known: [(u32, Span, f64); 2],
}

impl Present {
    /// No frame length has been seen.
    const UNKNOWN: [(u32, Span, f64); 2] = [(0, Span::ZERO, 0.0); 2];

    fn new(phy: &Phy, rates: Rates) -> Present {
        Present {
            rates,
            rts_air: phy.airtime(RTS_BYTES, rates.rts_bps),
            response_air: phy.airtime(ACK_BYTES, rates.response_bps),
            known: Present::UNKNOWN,
        }
    }
}

impl LinkRates {
    /// A link with the rates of `ladder`, slowest first and at least one, that begins with the fastest
    /// and stays there unless it `falls_back`.
    pub(super) fn new(
        phy: &Phy,
        ladder: Vec<Rates>,
        falls_back: bool,
        quality: Quality,
    ) -> LinkRates {
        let fastest = ladder[ladder.len() - 1];
        LinkRates {
            fallback: falls_back.then(|| Fallback::new(ladder.len())),
            ladder,
            quality,
            present: Present::new(phy, fastest),
        }
    }

    /// Frames are lost by `quality` from now on.
    pub(super) fn set_quality(&mut self, quality: Quality) {
        self.quality = quality;
        self.present.known = Present::UNKNOWN;
    }

    /// What its rates make of frames.
    #[inline]
    pub(super) fn present(&self) -> &Present {
        &self.present
    }

    /// Air time of a frame of `bytes` that carries `frame`, and the probability that channel errors
    /// destroy it.
    #[inline(always)]
    pub(super) fn judge(&mut self, frame: Frame, bytes: u32, phy: &Phy) -> (Span, f64) {
        let known = &mut self.present.known;
        if known[0].0 != bytes {
            known.swap(0, 1);
        }
        if known[0].0 != bytes {
            let rate_bps = self.present.rates.data_bps;
            let error = match self.quality {
                Quality::Given { .. } => 0.0,
                Quality::Snr { db } => frame_error(rate_bps, bytes, db),
            };
            known[0] = (bytes, phy.airtime(bytes, rate_bps), error);
        }
        let (_, air, noise) = known[0];
        let error = match (self.quality, frame.content) {
            (Quality::Given { data, .. }, Content::Data) => data,
            (Quality::Given { ack, .. }, Content::Ack) => ack,
            (Quality::Snr { .. }, _) => noise,
        };
        (air, error)
    }

    /// A data frame was acknowledged, or was not; returns whether the rates have changed.
    #[inline]
    pub(super) fn heard(&mut self, acknowledged: bool, phy: &Phy) -> bool {
        let Some(fallback) = &mut self.fallback else {
            return false;
        };
        if !fallback.heard(acknowledged) {
            return false;
        }
        self.present = Present::new(phy, self.ladder[fallback.present()]);
        true
    }
}

//! The link between the access point and a station, in one direction: its TXVECTORs, its rate
//! control and its quality.

use super::rate_control::{Controller, TxVector};
use crate::channel::{Channel, Quality};
use crate::kernel::streams::Stream;
use crate::kernel::time::Time;

/// Rates of a link. `T` is the type of the air times of a TXVECTOR.
#[derive(Clone, Debug)]
pub struct LinkRates<T> {
    /// Air times of each TXVECTOR, in order of rate. The air times of the present TXVECTOR are in
    /// `timing` instead.
    timings: Vec<T>,
    /// TXVECTOR of the next data frame. `timing` has its air times.
    present: TxVector,
    timing: T,
    controller: Controller,
    quality: Quality,
}

impl<T: Clone> LinkRates<T> {
    /// Returns a link with the air times of each TXVECTOR, in order of rate. There is at least one
    /// TXVECTOR. The last TXVECTOR is used until the controller chooses one.
    pub(super) fn new(timings: Vec<T>, controller: Controller) -> LinkRates<T> {
        LinkRates {
            present: TxVector(timings.len() as u8 - 1),
            timing: timings[timings.len() - 1].clone(),
            timings,
            controller,
            quality: Quality::Given {
                data: 0.0,
                ack: 0.0,
            },
        }
    }

    /// Sets the channel of the link. The link leads from the access point (if `down`) or to the
    /// access point.
    pub fn set_channel(&mut self, channel: &Channel, down: bool, stream: &mut Stream) {
        self.quality = channel.quality(down);
        self.controller.get().on_snr(channel.snr_db);
        self.choose(Time::ZERO, 0, stream);
    }

    /// Lets the rate control choose the TXVECTOR of the next data frame. `retry` is the number of
    /// failed attempts at the frame.
    pub fn choose(&mut self, now: Time, retry: u32, stream: &mut Stream) -> TxVector {
        if self.timings.len() > 1 {
            let chosen = self.controller.get().tx_vector(now, retry, stream);
            let before = std::mem::replace(&mut self.present, chosen);
            for place in [before, chosen] {
                std::mem::swap(&mut self.timing, &mut self.timings[usize::from(place.0)]);
            }
        }
        self.present
    }

    /// Reports the result of data frames with TXVECTOR `sent` to the rate control. `acked` MPDUs
    /// were acknowledged, and `failed` MPDUs were not.
    pub fn on_tx_status(&mut self, now: Time, sent: TxVector, acked: u32, failed: u32) {
        self.controller.get().on_tx_status(now, sent, acked, failed);
    }

    /// Returns the TXVECTOR of the next data frame.
    pub fn tx_vector(&self) -> TxVector {
        self.present
    }

    /// Returns the air times of the next data frame.
    #[inline(always)]
    pub fn timing(&self) -> &T {
        &self.timing
    }

    /// Returns the air times of the next data frame as a mutable reference.
    #[inline(always)]
    pub fn timing_mut(&mut self) -> &mut T {
        &mut self.timing
    }

    /// Returns the air times of all TXVECTORs as mutable references.
    pub(super) fn timings_mut(&mut self) -> impl Iterator<Item = &mut T> {
        std::iter::once(&mut self.timing).chain(&mut self.timings)
    }

    /// Returns the quality of the link, which determines its frame errors.
    #[inline(always)]
    pub fn quality(&self) -> Quality {
        self.quality
    }
}

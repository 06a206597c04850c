//! How growth may differ from a law's: HyStart++ in the first slow start, and ACKs that count by what they cover.
//!
//! Reference: RFC 3465 (appropriate byte counting), without its limit L, as Linux has it: an ACK of n segments
//! counts as n ACKs. Linux's CUBIC counts segments by itself.

use super::hystart::HyStart;
use super::{CongestionControl, NewAck, Window};
use crate::tcp::TcpSettings;

#[derive(Clone, Debug)]
pub(super) struct Extras {
    /// Watches over the first slow start, until it is over.
    hystart: Option<HyStart>,
    counts_segments: bool,
}

impl Extras {
    /// None where growth is the law's alone.
    pub(super) fn new(settings: &TcpSettings) -> Option<Box<Extras>> {
        Extras {
            hystart: settings.hystart.then(HyStart::new),
            counts_segments: settings.byte_counting
                && settings.congestion != CongestionControl::CubicLinux,
        }
        .if_any()
    }

    /// Whether the first slow start is over with this ACK.
    pub(super) fn ends_slow_start(&mut self, window: &mut Window, ack: &NewAck) -> bool {
        let hystart = self.hystart.as_mut();
        hystart.is_some_and(|hystart| hystart.on_ack(window, ack).is_break())
    }

    /// The first slow start is over.
    pub(super) fn without_hystart(mut self) -> Option<Box<Extras>> {
        self.hystart = None;
        self.if_any()
    }

    /// For how many ACKs an ACK counts.
    pub(super) fn times(&self, ack: &NewAck) -> u32 {
        if self.counts_segments { ack.acked } else { 1 }
    }

    fn if_any(self) -> Option<Box<Extras>> {
        (self.hystart.is_some() || self.counts_segments).then(|| self.into())
    }
}

//! How growth may differ from a algorithm's: HyStart++ in the first slow start, and ACKs that count by what they cover.
//!
//! Reference: RFC 3465 (appropriate byte counting). Reno's window grows by one once a whole window of segments is
//! acknowledged, as in Linux's `tcp_cong_avoid_ai`; with any other algorithm an ACK of n segments counts as n ACKs.
//! Linux's CUBIC and Prague count segments by themselves. As in Linux no limit L bounds what an ACK counts for, but a segment
//! counts once: what was SACKed does not count again. Without SACK, where Linux counts duplicate ACKs, an ACK
//! counts for two segments at most until all that was sent before a loss is acknowledged.

use super::algorithm::CongestionAlgorithm;
use super::control::NewAck;
use super::hystart::HyStart;
use super::window::Window;
use crate::tcp::TcpSettings;

#[derive(Clone, Debug)]
pub(super) struct Extras {
    /// Watches over the first slow start, until it is over.
    hystart: Option<HyStart>,
    count: Count,
}

/// What an ACK counts for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// One.
    Ack,
    /// As many ACKs as it covers segments.
    Acks,
    /// Its segments: so many are acknowledged since the window grew in congestion avoidance.
    Segments(u32),
}

impl Count {
    fn new(settings: &TcpSettings) -> Count {
        use CongestionAlgorithm::{CubicLinux, Dctcp, NewReno, Prague, Reno, Tahoe};
        match settings.congestion {
            _ if !settings.byte_counting => Count::Ack,
            CubicLinux | Prague => Count::Ack,
            Tahoe | Reno | NewReno | Dctcp => Count::Segments(0),
            _ => Count::Acks,
        }
    }
}

impl Extras {
    /// None where growth is the algorithm's alone.
    pub(super) fn new(settings: &TcpSettings) -> Option<Box<Extras>> {
        Extras {
            hystart: settings.hystart.then(HyStart::new),
            count: Count::new(settings),
        }
        .if_any()
    }

    /// Whether the first slow start is over with this ACK.
    pub(super) fn ends_slow_start(&mut self, window: &mut Window, ack: &NewAck) -> bool {
        let hystart = self.hystart.as_mut();
        hystart.is_some_and(|hystart| hystart.on_ack(window, ack).is_break())
    }

    /// The first slow start is over, or the window was reduced.
    pub(super) fn after_slow_start(mut self) -> Option<Box<Extras>> {
        self.hystart = None;
        if let Count::Segments(counted) = &mut self.count {
            *counted = 0;
        }
        self.if_any()
    }

    pub(super) fn count(&mut self) -> &mut Count {
        &mut self.count
    }

    fn if_any(self) -> Option<Box<Extras>> {
        (self.hystart.is_some() || self.count != Count::Ack).then(|| self.into())
    }
}

/// Reno's growth by `acked` segments, of which `counted` are those since it last grew in congestion avoidance.
pub(super) fn grow_by_segments(window: &mut Window, counted: &mut u32, acked: u32) {
    let mut left = acked;
    while left > 0 && window.slow_start() {
        left -= 1;
    }
    let whole = window.cwnd.max(1.0) as u32;
    if *counted >= whole {
        *counted = 0; // counted for a larger window
        window.add(1.0);
    }
    *counted += left;
    let steps = *counted / whole;
    *counted -= steps * whole;
    window.add(f64::from(steps));
}

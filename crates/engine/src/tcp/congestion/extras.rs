//! Extensions that are independent of the congestion control: HyStart++ in the first slow start,
//! byte counting, the reduction of the window by marks (ABE, `abe.rs`), and the validation of the
//! window (`tcp/validation.rs`).
//!
//! Reference: RFC 3465 (appropriate byte counting). In congestion avoidance Reno's window grows by
//! one packet when a whole window of segments is acknowledged, as in Linux's `tcp_cong_avoid_ai`.
//! With other congestion controls an ACK of n segments is processed as n ACKs. Linux's CUBIC and
//! Prague always count segments.
//!
//! As in Linux, the RFC's limit L on the number of counted segments per ACK does not apply. Each
//! segment is counted once: a SACKed segment is not counted again when it is acknowledged. Without
//! SACK, Linux counts duplicate ACKs. Here, after a loss without SACK, an ACK counts as at most two
//! segments until all segments sent before the loss are acknowledged.

use super::abe::Abe;
use super::algorithm::CongestionAlgorithm;
use super::control::NewAck;
use super::hystart::HyStart;
use super::window::Window;
use crate::tcp::TcpSettings;
use crate::tcp::validation::Validation;

#[derive(Clone, Debug)]
pub(super) struct Extras {
    /// State of HyStart++; `None` after the end of the first slow start.
    hystart: Option<HyStart>,
    count: Count,
    /// Reduction of the window by marks; `None` if they reduce it as losses do.
    abe: Option<Abe>,
    /// Validation of the window; `None` if the window is kept after idle time.
    pub(super) validation: Option<Validation>,
}

/// The unit in which the growth of the window is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Count {
    /// Each ACK counts once.
    Ack,
    /// An ACK of n segments is processed as n ACKs.
    Acks,
    /// Each segment counts once. The value is the number of segments acknowledged since the window
    /// last grew in congestion avoidance.
    Segments(u32),
}

impl Count {
    fn new(settings: &TcpSettings) -> Count {
        use CongestionAlgorithm::{Bbr, Bbr3, CubicLinux, Dctcp, NewReno, Prague, Reno, Tahoe};
        match settings.congestion {
            _ if !settings.byte_counting => Count::Ack,
            CubicLinux | Prague | Bbr | Bbr3 => Count::Ack,
            Tahoe | Reno | NewReno | Dctcp => Count::Segments(0),
            _ => Count::Acks,
        }
    }
}

impl Extras {
    /// Returns the extensions that the settings require; `None` if they require none.
    pub(super) fn new(settings: &TcpSettings) -> Option<Box<Extras>> {
        Extras {
            hystart: settings.hystart.then(HyStart::new),
            count: Count::new(settings),
            abe: settings.abe.then(|| Abe::of(settings.congestion)).flatten(),
            validation: match settings.congestion {
                // BBR has a rule of its own for the restart after idle time
                CongestionAlgorithm::Bbr | CongestionAlgorithm::Bbr3 => None,
                _ => Validation::new(settings.after_idle, settings.initial_cwnd_packets),
            },
        }
        .if_any()
    }

    /// Returns whether this ACK ends the first slow start.
    pub(super) fn ends_slow_start(&mut self, window: &mut Window, ack: &NewAck) -> bool {
        let hystart = self.hystart.as_mut();
        hystart.is_some_and(|hystart| hystart.on_ack(window, ack).is_break())
    }

    /// Returns the extensions that remain after the first slow start has ended or the window was
    /// reduced; `None` if none remain.
    pub(super) fn after_slow_start(mut self) -> Option<Box<Extras>> {
        self.hystart = None;
        if let Count::Segments(counted) = &mut self.count {
            *counted = 0;
        }
        self.if_any()
    }

    /// Returns the reduction of the window by marks; `None` if they reduce it as losses do.
    pub(super) fn abe(&self) -> Option<Abe> {
        self.abe
    }

    pub(super) fn count(&mut self) -> &mut Count {
        &mut self.count
    }

    fn if_any(self) -> Option<Box<Extras>> {
        let is_needed = self.hystart.is_some()
            || self.count != Count::Ack
            || self.abe.is_some()
            || self.validation.is_some();
        is_needed.then(|| self.into())
    }
}

/// Increases the window by Reno's growth for `acked` segments. `counted` is the number of segments
/// acknowledged since the window last grew in congestion avoidance.
pub(super) fn grow_by_segments(window: &mut Window, counted: &mut u32, acked: u32) {
    let mut left = acked;
    while left > 0 && window.slow_start() {
        left -= 1;
    }
    let packets = window.cwnd.max(1.0) as u32;
    if *counted >= packets {
        // the window has been reduced: the segments that were counted for the larger window
        // increase the smaller window by one packet
        *counted = 0;
        window.add(1.0);
    }
    *counted += left;
    let steps = *counted / packets;
    *counted -= steps * packets;
    window.add(f64::from(steps));
}

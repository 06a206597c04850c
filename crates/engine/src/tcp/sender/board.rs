//! The scoreboard of a sender with SACK, with the state of its loss detection.

use super::rack_tlp::RackTlp;
use crate::tcp::TcpSettings;
use crate::tcp::scoreboard::Scoreboard;

/// The scoreboard of a sender with SACK, for either method of loss detection.
#[derive(Clone, Debug)]
pub(super) enum Board {
    /// Loss detection by counting: a segment is lost if three segments above it are SACKed.
    Counted(Scoreboard),
    /// Loss detection by time (RACK): a segment is lost if it is late by more than the reordering
    /// window.
    Timed(Box<RackTlp>),
}

impl Board {
    pub(super) fn new(settings: &TcpSettings) -> Board {
        if settings.rack {
            Board::Timed(RackTlp::new(settings).into())
        } else {
            Board::Counted(Scoreboard::new(settings.window_packets, settings.prr))
        }
    }

    /// Returns whether the next segment is a probe.
    #[inline]
    pub(super) fn has_probe(&self) -> bool {
        match self {
            Board::Counted(_) => false,
            Board::Timed(timed) => timed.probes,
        }
    }
}

//! The state of RACK-TLP at a sender.
//!
//! Reference: RFC 8985.

use super::undo::Undo;
use crate::kernel::time::{Span, Time};
use crate::tcp::TcpSettings;
use crate::tcp::prr::{Progress, RateReduction};
use crate::tcp::rack::Rack;
use crate::tcp::scoreboard::Update;
use crate::tcp::tlp::LossProbe;

/// The state of RACK-TLP at a sender.
#[derive(Clone, Debug)]
pub(super) struct RackTlp {
    pub(super) rack: Rack,
    pub(super) probe: LossProbe,
    /// Whether the next segment to send is a probe.
    pub(super) probes: bool,
    /// Whether the first lost segment of the recovery has not been retransmitted yet. This segment
    /// is retransmitted regardless of the number of segments in the network.
    pub(super) first: bool,
    /// Number of segments sent by limited transmit since `snd_una` last increased. FlightSize
    /// excludes these segments (RFC 5681, section 3.2).
    pub(super) limited: u32,
    /// Whether fast recovery uses proportional rate reduction (RFC 9937).
    pub(super) reduces: bool,
    /// Proportional rate reduction of the current recovery; `None` if it is not used.
    pub(super) reduction: Option<Reduction>,
    /// Whether the sender undoes a recovery in which no segment was lost.
    pub(super) undoes: bool,
    /// Window before the current recovery. The value is `None` as soon as an ACK has shown whether
    /// a segment was really lost.
    pub(super) undo: Option<Undo>,
    /// Whether the ACK that ends fast recovery also increases the window. In Linux this ACK
    /// increases the window, because `tcp_cong_control` runs after the recovery has ended.
    pub(super) counts_last: bool,
    /// Expiry of the retransmission timer.
    pub(super) rto: Time,
}

/// The proportional rate reduction of one recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reduction {
    pub(super) rate: RateReduction,
    /// Window of RFC 9937 (cwnd): number of segments in the network after the last ACK, plus number
    /// of segments that this ACK permits. [packets]
    pub(super) cwnd: u32,
}

/// A timer of a sender with RACK-TLP (RFC 8985, section 8).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Timer {
    Reordering,
    Probe,
    Retransmission,
}

impl RackTlp {
    pub(super) fn new(settings: &TcpSettings) -> RackTlp {
        let delay = settings.delayed_ack.then_some(settings.ack_delay);
        RackTlp {
            rack: Rack::new(settings.window_packets)
                .listing_losses(settings.congestion.processes_losses()),
            probe: LossProbe::new(delay.unwrap_or(Span::ZERO)),
            probes: false,
            first: false,
            limited: 0,
            reduces: settings.prr && !settings.congestion.sets_recovery_window(),
            reduction: None,
            undoes: settings.undo,
            undo: None,
            counts_last: settings.byte_counting,
            rto: Time::NEVER,
        }
    }

    /// Returns the armed timer and its expiry.
    #[inline]
    pub(super) fn timer(&self) -> (Timer, Time) {
        let (timer, at) = match (self.rack.deadline(), self.probe.deadline()) {
            (Time::NEVER, probe) => (Timer::Probe, probe),
            (reordering, _) => (Timer::Reordering, reordering),
        };
        // if a probe and the retransmission timer are due at the same time, the probe is sent
        // (RFC 8985, section 7.2)
        if at == Time::NEVER || at > self.rto && timer == Timer::Reordering {
            (Timer::Retransmission, self.rto)
        } else {
            (timer, at.min(self.rto))
        }
    }

    /// Returns whether a segment may be sent with the window `cwnd`.
    #[inline]
    pub(super) fn has_room(&self, cwnd: u32) -> bool {
        let cwnd = self.reduction.map_or(cwnd, |reduction| reduction.cwnd);
        self.rack.in_flight() < cwnd || self.first && self.rack.has_lost()
    }

    /// Updates the proportional rate reduction by an ACK in fast recovery. The reduction ends with
    /// a window of `ssthresh` packets. `safe` is SafeACK of RFC 9937: the ACK shows progress and no
    /// further loss.
    pub(super) fn reduce(&mut self, update: Update, safe: bool, ssthresh: u32) {
        let in_flight = self.rack.in_flight();
        if let Some(Reduction { rate, cwnd }) = &mut self.reduction {
            let delivered = update.delivered;
            rate.on_ack(
                Progress {
                    delivered,
                    in_flight,
                    safe,
                },
                ssthresh,
            );
            *cwnd = in_flight + rate.sndcnt();
        }
    }
}

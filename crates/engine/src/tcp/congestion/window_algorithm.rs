//! The recovery of Reno, for congestion controls that only define how the window grows and how a
//! loss reduces it.
//!
//! References: RFC 5681, section 3.2; RFC 6582, section 3.2.
//!
//! ```text
//! loss            ssthresh = as the algorithm decides, cwnd = ssthresh + 3    (GoBackN: cwnd = 1)
//! duplicate ACK   cwnd + 1
//! partial ACK     cwnd - acked + 1
//! full ACK        cwnd = ssthresh
//! timeout         ssthresh = flight/2, cwnd = 1, unless the algorithm differs
//! ```
//!
//! Segments may be sent whenever fewer segments than the window are outstanding. These congestion
//! controls are not paced, and the sender does not report single segments to them.

use super::control::{
    Arrival, CongestionControl, CongestionSign, Lost, MarkReport, NewAck, RecoveryAck, Sent,
};
use super::window::{Window, half};
use crate::kernel::time::Time;
use crate::tcp::recovery::RecoveryMode;

/// The growth and the reduction of a window. The defaults of the functions are those of NewReno,
/// see `newreno.rs`. In all events, `flight` is the number of outstanding segments before the
/// event.
pub trait WindowAlgorithm {
    /// Returns the way in which the sender repairs losses that are reported by duplicate ACKs.
    fn recovery_mode(&self) -> RecoveryMode {
        RecoveryMode::EachHole
    }

    /// Processes an ACK of new data outside fast recovery.
    #[inline]
    fn on_ack(&mut self, window: &mut Window, _ack: NewAck) {
        window.grow();
    }

    /// Returns the new ssthresh after a loss while `flight` segments are outstanding. The new
    /// ssthresh must be at least 2.
    fn decrease(&mut self, _window: &Window, flight: u32) -> f64 {
        half(flight)
    }

    /// Processes the number of marked segments that an ACK reports. This event is the first event
    /// of the ACK.
    fn on_marks(&mut self, _report: &MarkReport) {}

    /// Returns the new window after an ACK reports marks; `None` if the window does not change.
    fn decrease_by_marks(
        &mut self,
        window: &Window,
        _report: &MarkReport,
        flight: u32,
    ) -> Option<f64> {
        Some(self.decrease(window, flight))
    }

    /// Processes the beginning of an application-limited period; see
    /// [`CongestionControl::on_out_of_data`].
    fn on_out_of_data(&mut self, _now: Time) {}

    /// Processes the supply of data by the application; see [`CongestionControl::on_write`].
    fn on_write(&mut self, _now: Time, _is_idle: bool) {}

    /// Processes the expiry of the retransmission timer. If `first` is false, the timer has already
    /// expired for the same segment, and ssthresh does not change (RFC 5681, section 3.1).
    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        window.on_timeout(flight, first);
    }
}

impl<A: WindowAlgorithm + ?Sized> CongestionControl for A {
    type PacketInfo = ();

    fn recovery_mode(&self) -> RecoveryMode {
        WindowAlgorithm::recovery_mode(self)
    }

    fn on_sent(&mut self, _: &mut Window, _: &Sent) {}

    fn on_delivered(&mut self, _: &mut Window, _: &Arrival, (): ()) {}

    fn on_lost(&mut self, _: &mut Window, _: &Lost, (): ()) {}

    fn earliest_departure(&self, now: Time) -> Time {
        now
    }

    #[inline(always)]
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        WindowAlgorithm::on_ack(self, window, ack);
    }

    fn on_recovery_ack(&mut self, window: &mut Window, ack: RecoveryAck) {
        match ack {
            RecoveryAck::Duplicate => window.cwnd += 1.0,
            // the window is deflated by one segment less than the ACK acknowledges, because one
            // segment is retransmitted
            RecoveryAck::Partial { acked } => {
                window.cwnd = (window.cwnd - f64::from(acked)).max(0.0) + 1.0;
            }
            RecoveryAck::Full => window.deflate(),
        }
    }

    fn on_loss(&mut self, window: &mut Window, flight: u32, sign: CongestionSign) {
        if sign != CongestionSign::DuplicateAcksAfterMark {
            window.ssthresh = self.decrease(window, flight);
        }
        match (sign, WindowAlgorithm::recovery_mode(self)) {
            (CongestionSign::Selective, _) => window.deflate(),
            (_, RecoveryMode::GoBackN) => window.collapse(),
            (_, RecoveryMode::FirstHole | RecoveryMode::EachHole) => window.inflate(),
        }
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        WindowAlgorithm::on_timeout(self, window, flight, first);
    }

    fn on_out_of_data(&mut self, now: Time) {
        WindowAlgorithm::on_out_of_data(self, now);
    }

    fn on_write(&mut self, now: Time, is_idle: bool) {
        WindowAlgorithm::on_write(self, now, is_idle);
    }

    fn on_marks(&mut self, report: &MarkReport) {
        WindowAlgorithm::on_marks(self, report);
    }

    fn decrease_by_marks(&mut self, window: &mut Window, report: &MarkReport, flight: u32) -> bool {
        let Some(ssthresh) = WindowAlgorithm::decrease_by_marks(self, window, report, flight)
        else {
            return false;
        };
        window.ssthresh = ssthresh;
        window.deflate();
        true
    }
}

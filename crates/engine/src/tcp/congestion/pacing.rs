//! Pacing: segments are sent one at a time, at a multiple of the rate cwnd/SRTT.
//!
//! Reference: Linux 6.x, `tcp_update_pacing_rate` in net/ipv4/tcp_input.c, `tcp_pacing_check` and
//! `tcp_update_skb_after_send` in net/ipv4/tcp_output.c; the factors are the defaults of
//! `net.ipv4.tcp_pacing_ss_ratio` and `net.ipv4.tcp_pacing_ca_ratio`.
//!
//! ```text
//! rate = 2   max(cwnd, flight) / SRTT     cwnd < ssthresh / 2
//!      = 1.2 max(cwnd, flight) / SRTT     otherwise
//! a segment is sent no earlier than 1 / rate after the segment before it
//! ```
//!
//! Retransmissions and probes are paced as well. The number of segments in flight is still limited
//! by the window, so that the average rate remains cwnd/RTT.
//!
//! With `tso`, segments leave in bursts, and a late burst shortens the next gap (`pacer.rs`).
//!
//! Differs from Linux in:
//! - Without `tso`, a segment that is sent late does not let the next segment be sent earlier. Linux
//!   shortens the next gap by up to a half, to compensate for late timers of the host.
//! - Without `tso`, segments leave one at a time. Linux sends bursts of about 1 ms.
//! - The first ten segments are paced, too, if the handshake has given a round-trip sample.
//! - A sender does not wait for a larger window to send a longer burst (`tcp_tso_should_defer`).
//! - The rate is computed from the window at the transmission of a segment, not from the window
//!   after the last ACK.

use super::control::{
    Arrival, CongestionControl, CongestionSign, Lost, MarkReport, NewAck, RecoveryAck, Sent,
};
use super::pacer::{Pacer, burst_segments};
use super::window::Window;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::S;
use crate::tcp::TcpSettings;
use crate::tcp::recovery::RecoveryMode;

/// `net.ipv4.tcp_pacing_ss_ratio`: pacing rate divided by cwnd/SRTT, while cwnd is below half of
/// ssthresh. [-]
const SLOW_START_FACTOR: f64 = 2.0;

/// `net.ipv4.tcp_pacing_ca_ratio`: pacing rate divided by cwnd/SRTT, while cwnd is at least half of
/// ssthresh. [-]
const FACTOR: f64 = 1.2;

/// `net.ipv4.tcp_min_tso_segs`: minimum number of segments of a burst.
const MIN_BURST: u32 = 2;

/// A congestion control with pacing.
#[derive(Clone, Debug)]
pub(super) struct Paced<C> {
    control: C,
    pacer: Pacer,
    /// Bursts of several segments; `None` without `tso`.
    bursts: Option<Bursts>,
}

/// The values on which the length of a burst depends.
#[derive(Clone, Copy, Debug)]
struct Bursts {
    /// Payload of a segment. [bytes]
    mss: u32,
    /// Least smoothed round-trip time so far.
    min_rtt: Span,
}

impl<C> Paced<C> {
    pub(super) fn new(control: C, settings: &TcpSettings) -> Paced<C> {
        Paced {
            control,
            pacer: Pacer::new(),
            bursts: settings.tso.then_some(Bursts {
                mss: settings.mss_bytes,
                min_rtt: Span(u64::MAX),
            }),
        }
    }
}

impl Bursts {
    /// Returns the number of segments of a burst, if segments are `gap` apart at the pacing rate.
    fn segments(&mut self, gap: Span, srtt: Span) -> u32 {
        self.min_rtt = self.min_rtt.min(srtt);
        let rate = u64::from(self.mss) * S / gap.0.max(1);
        burst_segments(rate, self.min_rtt, self.mss, MIN_BURST)
    }
}

/// Returns the minimum time between two segments at this window and smoothed round-trip time.
fn spacing(window: &Window, flight: u32, srtt: Span) -> Span {
    let factor = match window.cwnd < window.ssthresh / 2.0 {
        true => SLOW_START_FACTOR,
        false => FACTOR,
    };
    let segments_per_rtt = factor * window.cwnd.max(f64::from(flight));
    Span::from_nanoseconds((srtt.nanoseconds() / segments_per_rtt).ceil())
}

impl<C: CongestionControl<PacketInfo = ()>> CongestionControl for Paced<C> {
    type PacketInfo = ();

    #[inline(always)]
    fn follows_arrivals(&self) -> bool {
        false
    }

    fn recovery_mode(&self) -> RecoveryMode {
        self.control.recovery_mode()
    }

    fn on_sent(&mut self, window: &mut Window, sent: &Sent) {
        if let Some(srtt) = sent.srtt {
            let gap = spacing(window, sent.flight, srtt);
            match &mut self.bursts {
                None => self.pacer.on_sent_singly(sent.now, gap),
                Some(bursts) => {
                    let burst = bursts.segments(gap, srtt);
                    self.pacer.on_sent(sent.now, gap, burst);
                }
            }
        }
    }

    fn on_delivered(&mut self, _: &mut Window, _: &Arrival, (): ()) {}

    fn on_lost(&mut self, _: &mut Window, _: &Lost, (): ()) {}

    fn earliest_departure(&self, now: Time) -> Time {
        self.pacer.earliest_departure(now)
    }

    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        self.control.on_ack(window, ack);
    }

    fn on_recovery_ack(&mut self, window: &mut Window, ack: RecoveryAck) {
        self.control.on_recovery_ack(window, ack);
    }

    fn on_loss(&mut self, window: &mut Window, flight: u32, sign: CongestionSign) {
        self.control.on_loss(window, flight, sign);
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        self.control.on_timeout(window, flight, first);
    }

    fn on_out_of_data(&mut self, now: Time) {
        self.control.on_out_of_data(now);
    }

    fn on_write(&mut self, now: Time, is_idle: bool) {
        self.control.on_write(now, is_idle);
    }

    fn on_marks(&mut self, report: &MarkReport) {
        self.control.on_marks(report);
    }

    fn decrease_by_marks(&mut self, window: &mut Window, report: &MarkReport, flight: u32) -> bool {
        self.control.decrease_by_marks(window, report, flight)
    }
}

#[cfg(test)]
mod tests;

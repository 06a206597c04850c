//! The interface of a congestion control, which sets the amount of data in flight and the departure
//! time of the next segment.
//!
//! ```text
//! sender --on_sent, on_delivered, on_lost, on_ack, on_loss, on_timeout, on_marks--> control
//! sender --on_ack_processed, on_timeout_processed, on_app_limited, on_undo, on_sign-> control
//! sender --on_out_of_data, on_write-----------------------------------------------> control
//! sender <------ window (cwnd, ssthresh), earliest departure, recovery mode ------- control
//! ```
//!
//! The sender owns the [`Window`] and passes it to each event, as Linux does with `snd_cwnd`.
//! Therefore the sender reads cwnd without a call of the congestion control.
//!
//! Most congestion controls only define the growth of the window and its reduction after a loss.
//! These controls implement `WindowAlgorithm` (`window_algorithm.rs`), which adds Reno's recovery.
//! They have no pacing.

use std::fmt::Debug;

use super::window::Window;
use crate::kernel::time::{Span, Time};
use crate::tcp::recovery::RecoveryMode;
use crate::tcp::rtt::RttEstimator;

/// A congestion control of one sender. In all events, `flight` is the number of outstanding
/// segments before the event.
pub trait CongestionControl {
    /// State that the congestion control attaches to one transmission, such as the data of a
    /// delivery-rate sample. The control returns this state when the segment is sent, and receives
    /// it again when the segment is acknowledged or lost.
    type PacketInfo: Copy + Debug;

    /// Returns whether the congestion control processes `on_delivered`, `on_lost`,
    /// `on_ack_processed`, `on_timeout_processed`, `on_app_limited` and `on_undo`. If not, the
    /// sender does not store its transmissions. The result is a constant.
    #[inline(always)]
    fn follows_arrivals(&self) -> bool {
        true
    }

    /// Returns the way in which the sender repairs losses that are reported by duplicate ACKs.
    fn recovery_mode(&self) -> RecoveryMode {
        RecoveryMode::EachHole
    }

    /// Processes the transmission of a segment. Returns the state to attach to the transmission.
    fn on_sent(&mut self, window: &mut Window, sent: &Sent) -> Self::PacketInfo;

    /// Processes an ACK that reports the arrival of segments for the first time. This event is the
    /// first event of the ACK. `newest` is the state that is attached to the most recent
    /// transmission of these segments.
    fn on_delivered(&mut self, window: &mut Window, arrival: &Arrival, newest: Self::PacketInfo);

    /// Processes the arrival of one of the segments of the next `on_delivered`.
    #[cfg(feature = "bbr3-trace")]
    fn on_each_delivered(&mut self, _info: Self::PacketInfo) {}

    /// Processes the loss of a transmission: an ACK, the reordering timer or a retransmission
    /// timeout has declared it lost. `info` is the state that is attached to this transmission.
    /// These events precede `on_ack_processed` and `on_timeout_processed`.
    fn on_lost(&mut self, window: &mut Window, lost: &Lost, info: Self::PacketInfo);

    /// Returns the time at which the next segment may be sent, if the window permits it. If this
    /// time is not after `now`, the segment may be sent immediately.
    fn earliest_departure(&self, now: Time) -> Time;

    /// Processes the end of the processing of an ACK: the sender has updated its scoreboard and its
    /// recovery. This event is the last event of the ACK.
    fn on_ack_processed(&mut self, _window: &mut Window, _state: &Processed) {}

    /// Processes the end of the processing of a retransmission timeout: the sender has declared
    /// segments lost.
    fn on_timeout_processed(&mut self, _window: &mut Window, _state: &Processed) {}

    /// Processes a pause of the application: it supplies data after all earlier data has been sent,
    /// although the window had room. `in_flight` segments are in the network.
    fn on_app_limited(&mut self, _in_flight: u32) {}

    /// Processes the beginning of an application-limited period: at `now`, all data that the
    /// application has supplied is sent, and the application will supply more. The sender may call
    /// this function several times in one period.
    fn on_out_of_data(&mut self, _now: Time) {}

    /// Processes the supply of data by the application. `is_idle` is true if no segment is
    /// outstanding.
    fn on_write(&mut self, _now: Time, _is_idle: bool) {}

    /// Processes the undo of a recovery in which no segment was lost. The window has been restored.
    fn on_undo(&mut self, _window: &mut Window) {}

    /// Processes a sign of congestion that is not the loss of a known transmission: the echo of an
    /// ECN mark by a flag, or a loss that a probe has repaired.
    fn on_sign(&mut self, _window: &mut Window) {}

    /// Processes an ACK of new data outside fast recovery.
    fn on_ack(&mut self, window: &mut Window, ack: NewAck);

    /// Processes an ACK in fast recovery, or the ACK that ends it.
    fn on_recovery_ack(&mut self, window: &mut Window, ack: RecoveryAck);

    /// Processes the first sign of congestion in a window of data: a loss or an ECN echo.
    fn on_loss(&mut self, window: &mut Window, flight: u32, sign: CongestionSign);

    /// Processes the expiry of the retransmission timer. `first` is false if the timer has already expired
    /// for the same segment.
    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool);

    /// Processes the number of marked segments that an ACK reports. This event precedes all other
    /// events of the ACK except [`on_delivered`](CongestionControl::on_delivered).
    fn on_marks(&mut self, report: &MarkReport);

    /// Reduces the window because an ACK reports the first marks since the last reduction. Returns
    /// whether the window was reduced.
    fn decrease_by_marks(&mut self, window: &mut Window, report: &MarkReport, flight: u32) -> bool;
}

/// The transmission of a segment.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Time of the transmission.
    pub now: Time,
    /// Number of the segment, counted from 0 in its flow. Retransmissions have the number of the
    /// first transmission.
    pub number: u32,
    /// Whether the segment was sent before.
    pub is_retransmission: bool,
    /// Whether the transmission is a tail loss probe that repeats the last segment, although no
    /// loss is known.
    pub is_probe: bool,
    /// Number of outstanding segments, including this segment. [packets]
    pub flight: u32,
    /// Smoothed round-trip time, or `None` before the first sample.
    pub srtt: Option<Span>,
}

/// The arrival of segments that an ACK reports for the first time.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Number of segments whose arrival the ACK reports for the first time.
    pub segments: u32,
}

/// The loss of a transmission.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Time at which the transmission is declared lost.
    pub now: Time,
    /// Number of the segment, counted from 0 in its flow.
    pub number: u32,
    /// Loss recovery after the event that declares the loss.
    pub phase: RecoveryPhase,
}

/// The loss recovery of a sender, in the order in which losses become more severe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum RecoveryPhase {
    /// No recovery is in progress.
    Open,
    /// Fast recovery.
    Fast,
    /// Recovery from a timeout.
    Timeout,
}

/// The state of a sender with RACK-TLP after it has processed an ACK or a retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub struct Processed {
    /// Time of the event.
    pub now: Time,
    /// Number of segments in the network before the event. [packets]
    pub in_flight_before: u32,
    /// Number of segments in the network after the event. [packets]
    pub in_flight: u32,
    /// Number of segments that were declared lost by this event. [packets]
    pub newly_lost: u32,
    /// Number of times that a segment was declared lost so far. [packets]
    pub lost: u32,
    /// Loss recovery after the event.
    pub phase: RecoveryPhase,
    /// Time since the latest transmission among the segments that the ACK reports for the first
    /// time and that were sent only once; `None` if there are no such segments.
    pub rtt: Option<Span>,
    /// Minimum round-trip time of the last minutes; the largest value before the first sample.
    pub min_rtt: Span,
    /// Smoothed round-trip time, or `None` before the first sample.
    pub srtt: Option<Span>,
}

/// Properties of an ACK of new data on which the growth of the window depends.
#[derive(Clone, Copy)]
pub struct NewAck<'a> {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Number of segments that the ACK acknowledges.
    pub acked: u32,
    /// Number of segments whose arrival the ACK reports for the first time. It is less than `acked`
    /// if some of the acknowledged segments were SACKed before, and more than `acked` if the ACK
    /// also SACKs other segments. Without SACK, this number is at most 2 after a loss.
    pub delivered: u32,
    /// Number of the first unacknowledged segment after this ACK.
    pub snd_una: u32,
    /// Number of the next new segment.
    pub snd_nxt: u32,
    /// Round-trip time estimator, which already includes the sample of this ACK.
    pub rtt: &'a RttEstimator,
}

impl NewAck<'_> {
    /// Splits the ACK into one ACK for each delivered segment.
    pub(super) fn split(self) -> impl Iterator<Item = Self> {
        let last = self.acked.saturating_sub(1);
        (0..self.delivered).rev().map(move |later| NewAck {
            acked: 1,
            delivered: 1,
            snd_una: self.snd_una - later.min(last),
            ..self
        })
    }
}

/// The effect of an ACK on fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoveryAck {
    /// A duplicate ACK, which shows that another segment has left the network.
    Duplicate,
    /// An ACK of some, but not all, segments that were sent before the loss.
    Partial {
        /// Number of segments that the ACK acknowledges.
        acked: u32,
    },
    /// The ACK that ends fast recovery.
    Full,
}

/// The sign by which a sender detects congestion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionSign {
    /// Three duplicate ACKs.
    DuplicateAcks,
    /// Three duplicate ACKs in a window of data for which an ECN mark has already reduced cwnd.
    DuplicateAcksAfterMark,
    /// An ECN echo, or a loss that is shown by SACK blocks, a timer or a probe. The sender knows
    /// the number of segments in the network, so the window need not be inflated (RFC 6675, step
    /// 4.2; RFC 3168, section 6.1.2).
    Selective,
}

/// The ECN marks that an ACK reports, for a congestion control that reacts to the number of marks.
#[derive(Clone, Copy, Debug)]
pub struct MarkReport {
    /// Arrival time of the ACK.
    pub now: Time,
    /// Number of segments that the ACK acknowledges.
    pub acked: u32,
    /// Number of segments whose marks the ACK reports for the first time. The number can exceed
    /// `acked`, because segments that arrived after a lost segment may be marked as well.
    pub marked: u32,
    /// Number of the first unacknowledged segment after this ACK.
    pub snd_una: u32,
    /// Number of the next new segment.
    pub snd_nxt: u32,
    /// Smoothed round-trip time before the ACK; `None` before the first sample.
    pub srtt: Option<Span>,
}

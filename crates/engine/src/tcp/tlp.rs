//! Tail loss probes: segments whose ACKs show whether the last segments of a flight are lost.
//!
//! Reference: RFC 8985, section 7. The names of the RFC are in the docstrings.
//!
//! RACK detects losses only if ACKs arrive. Therefore, two round trips after the last progress and
//! before the retransmission timer expires, one more segment is sent regardless of the window. This
//! probe is a new segment, or a retransmission of the last segment. From the ACK of this probe,
//! RACK detects which segments are lost. If only the last segment was lost, the probe repairs the
//! loss, and the window must be reduced as for any loss.
//!
//! If a single segment is outstanding and the connection has `delayed_ack`, the probe is sent
//! later, by the maximum ACK delay of the receiver (TLP.max_ack_delay). Without `delayed_ack` the
//! receiver delays no ACK. The probe is then sent after two round trips, for any number of
//! outstanding segments.
//!
//! Without a round-trip time sample no probe is sent. By the RFC, a timer of one second would
//! expire, and then section 7.3 would suppress the probe.

use crate::kernel::time::{Span, Time};
use crate::tcp::Ack;

#[derive(Clone, Copy, Debug)]
pub(super) struct LossProbe {
    /// TLP.end_seq: one more than the highest number of a segment sent before the probe; `None` if
    /// no probe is outstanding.
    end_seq: Option<u32>,
    /// TLP.is_retrans: whether the outstanding probe is a retransmission.
    is_retrans: bool,
    /// Whether there has been no round-trip time sample since the last probe.
    unmeasured: bool,
    /// TLP.max_ack_delay: maximum ACK delay of the receiver; zero without `delayed_ack`.
    max_ack_delay: Span,
    /// Expiry of the probe timeout (PTO); [`Time::NEVER`] if no probe is scheduled.
    due: Time,
}

/// The state of a sender when a probe is scheduled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    pub(super) now: Time,
    /// FlightSize: number of outstanding segments. [packets]
    pub(super) flight: u32,
    pub(super) srtt: Option<Span>,
}

impl LossProbe {
    /// Returns the initial state, for a receiver that delays ACKs by at most `max_ack_delay`.
    pub(super) fn new(max_ack_delay: Span) -> LossProbe {
        LossProbe {
            end_seq: None,
            is_retrans: false,
            unmeasured: false,
            max_ack_delay,
            due: Time::NEVER,
        }
    }

    /// TLP_init(), section 7.1: processes the beginning of a recovery.
    pub(super) fn init(&mut self) {
        self.end_seq = None;
        self.is_retrans = false;
        self.due = Time::NEVER;
    }

    /// Returns the expiry of the probe timeout; [`Time::NEVER`] if no probe is scheduled.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.due
    }

    /// Schedules a probe (section 7.2). It is called after new data was sent or an ACK reported
    /// progress. The caller ensures that no segment is SACKed and that no recovery is in progress.
    #[inline]
    pub(super) fn schedule(&mut self, outlook: Outlook) {
        self.due = match outlook.srtt {
            Some(srtt) if self.end_seq.is_none() && !self.unmeasured && outlook.flight > 0 => {
                let ack_delay = match outlook.flight {
                    1 => self.max_ack_delay,
                    _ => Span::ZERO,
                };
                outlook.now + srtt * 2 + ack_delay
            }
            _ => Time::NEVER,
        };
    }

    /// Cancels the scheduled probe.
    #[inline]
    pub(super) fn cancel(&mut self) {
        self.due = Time::NEVER;
    }

    /// Processes the transmission of a probe (section 7.3). `snd_nxt` is the next new segment after
    /// the probe.
    pub(super) fn on_sent(&mut self, snd_nxt: u32, is_retrans: bool) {
        self.end_seq = Some(snd_nxt);
        self.is_retrans = is_retrans;
        self.unmeasured = true;
        self.due = Time::NEVER;
    }

    /// Records that an ACK has given a round-trip time sample.
    #[inline]
    pub(super) fn on_sample(&mut self) {
        self.unmeasured = false;
    }

    /// TLP_process_ack(), section 7.4.2: returns whether the probe has repaired a loss. `repeats`
    /// is true for a duplicate ACK. `dsack` is the duplicate segment that the ACK reports.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack, repeats: bool, dsack: Option<u32>) -> bool {
        match self.end_seq {
            Some(end_seq) if ack.next >= end_seq => {
                let twice = dsack.is_some_and(|number| number + 1 == end_seq);
                let beyond = ack.next > end_seq;
                let bare = repeats && ack.sack == 0;
                if !self.is_retrans || twice || beyond || bare {
                    self.end_seq = None;
                }
                self.is_retrans && beyond && !twice
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tcp::pipe::{MS, plain};

    fn outlook(flight: u32) -> Outlook {
        Outlook {
            now: Time(1_000 * MS),
            flight,
            srtt: Some(Span(100 * MS)),
        }
    }

    #[test]
    fn the_timeout_is_two_round_trips_and_for_a_single_segment_the_delay_of_its_ack() {
        let mut probe = LossProbe::new(Span(40 * MS));
        probe.schedule(outlook(2));
        assert_eq!(probe.deadline(), Time(1_200 * MS));
        probe.schedule(outlook(1));
        assert_eq!(probe.deadline(), Time(1_240 * MS));
        probe.schedule(outlook(0));
        assert_eq!(probe.deadline(), Time::NEVER);
        probe.schedule(Outlook {
            srtt: None,
            ..outlook(2)
        });
        assert_eq!(probe.deadline(), Time::NEVER);
    }

    #[test]
    fn there_is_one_probe_at_a_time_and_a_sample_between_two_probes() {
        let mut probe = LossProbe::new(Span::ZERO);
        probe.on_sent(8, false);
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time::NEVER);
        assert!(!probe.on_ack(&plain(8, Time::ZERO), false, None));
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time::NEVER); // no sample since the last probe, so no probe is scheduled
        probe.on_sample();
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time(1_200 * MS));
    }

    /// Tests the cases of section 7.4.2, in the order of that section.
    #[test]
    fn only_an_ack_beyond_the_probe_shows_a_repaired_loss() {
        let again = || {
            let mut probe = LossProbe::new(Span::ZERO);
            probe.on_sent(8, true);
            probe
        };
        let ack = |next| plain(next, Time::ZERO);
        let mut probe = again();
        assert!(!probe.on_ack(&ack(7), false, None));
        // the ACK may be that of the original segment or of the probe, so it does not show a loss
        assert!(!probe.on_ack(&ack(8), false, None));
        assert_eq!(probe.end_seq, Some(8));
        // a duplicate ACK: both the original segment and the probe arrived, so no segment was lost
        assert!(!probe.on_ack(&ack(8), true, None));
        assert_eq!(probe.end_seq, None);

        let mut probe = again();
        assert!(!probe.on_ack(&ack(9), false, Some(7)));
        assert_eq!(probe.end_seq, None);

        let mut probe = again();
        assert!(probe.on_ack(&ack(9), false, None));
        assert_eq!(probe.end_seq, None);

        let mut probe = LossProbe::new(Span::ZERO);
        probe.on_sent(8, false); // the probe is a new segment
        assert!(!probe.on_ack(&ack(8), false, None));
        assert_eq!(probe.end_seq, None);
    }
}

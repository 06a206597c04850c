//! Tail loss probes: a segment that brings an ACK where the last ones of a flight may be lost.
//!
//! Reference: RFC 8985, section 7; its names stand in the docstrings.
//!
//! Without ACKs RACK learns nothing. So two round trips after the last progress, before the
//! retransmission timer expires, one more segment leaves whatever the window: a new one, or the last
//! again. Its ACK tells RACK what is lost, or, if only the last one was, repairs the loss by itself; then
//! the window must be reduced as for any loss.
//!
//! A probe waits longer, by the most that the receiver delays an ACK (TLP.max_ack_delay), if a single segment is
//! outstanding and the connection has `delayed_ack`. Without `delayed_ack` the receiver delays no ACK, and nothing is
//! added: the probe leaves after two round trips, whatever is outstanding.
//!
//! Without a round-trip sample there is no probe: the RFC would wait a second for it, and then, by its
//! section 7.3, not send it.

use crate::kernel::time::{Span, Time};
use crate::tcp::Ack;

#[derive(Clone, Copy, Debug)]
pub(super) struct LossProbe {
    /// TLP.end_seq: one past the highest segment sent when the probe left; none is under way otherwise.
    end_seq: Option<u32>,
    /// TLP.is_retrans.
    is_retrans: bool,
    /// Whether there was no round-trip sample since the last probe.
    unmeasured: bool,
    /// TLP.max_ack_delay; zero without `delayed_ack`.
    max_ack_delay: Span,
    /// When the probe timeout (PTO) expires, if nothing arrives before.
    due: Time,
}

/// What is outstanding when a probe is planned.
#[derive(Clone, Copy, Debug)]
pub(super) struct Outlook {
    pub(super) now: Time,
    /// FlightSize. [packets]
    pub(super) flight: u32,
    pub(super) srtt: Option<Span>,
}

impl LossProbe {
    /// For a receiver that delays ACKs by at most `max_ack_delay`, zero if it delays none.
    pub(super) fn new(max_ack_delay: Span) -> LossProbe {
        LossProbe {
            end_seq: None,
            is_retrans: false,
            unmeasured: false,
            max_ack_delay,
            due: Time::NEVER,
        }
    }

    /// TLP_init(), section 7.1: a recovery begins.
    pub(super) fn init(&mut self) {
        self.end_seq = None;
        self.is_retrans = false;
        self.due = Time::NEVER;
    }

    /// When the probe timeout expires; [`Time::NEVER`] when none is to be sent.
    #[inline]
    pub(super) fn deadline(&self) -> Time {
        self.due
    }

    /// Section 7.2: new data was sent, or an ACK told of progress. The caller sees to it that nothing is SACKed
    /// and no recovery under way.
    #[inline]
    pub(super) fn schedule(&mut self, outlook: Outlook) {
        self.due = match outlook.srtt {
            Some(srtt) if self.end_seq.is_none() && !self.unmeasured && outlook.flight > 0 => {
                let one = outlook.flight == 1;
                let pto = srtt * 2 + if one { self.max_ack_delay } else { Span::ZERO };
                outlook.now + pto
            }
            _ => Time::NEVER,
        };
    }

    /// No probe is to be sent for now.
    #[inline]
    pub(super) fn cancel(&mut self) {
        self.due = Time::NEVER;
    }

    /// Section 7.3: a probe left, after which `snd_nxt` is next.
    pub(super) fn on_sent(&mut self, snd_nxt: u32, is_retrans: bool) {
        self.end_seq = Some(snd_nxt);
        self.is_retrans = is_retrans;
        self.unmeasured = true;
        self.due = Time::NEVER;
    }

    /// An ACK gave a round-trip sample.
    #[inline]
    pub(super) fn on_sample(&mut self) {
        self.unmeasured = false;
    }

    /// TLP_process_ack(), section 7.4.2: whether the probe has repaired a loss. `repeats`: the ACK repeats the
    /// last one; `dsack`: a segment that it says arrived twice.
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
    fn two_round_trips_and_for_a_single_segment_the_delay_of_its_ack() {
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
    fn one_probe_at_a_time_and_a_sample_between_two() {
        let mut probe = LossProbe::new(Span::ZERO);
        probe.on_sent(8, false);
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time::NEVER);
        assert!(!probe.on_ack(&plain(8, Time::ZERO), false, None));
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time::NEVER); // not measured yet
        probe.on_sample();
        probe.schedule(outlook(8));
        assert_eq!(probe.deadline(), Time(1_200 * MS));
    }

    /// Section 7.4.2, cases in its order.
    #[test]
    fn only_an_ack_beyond_the_probe_tells_of_a_loss_that_it_repaired() {
        let again = || {
            let mut probe = LossProbe::new(Span::ZERO);
            probe.on_sent(8, true);
            probe
        };
        let ack = |next| plain(next, Time::ZERO);
        let mut probe = again();
        assert!(!probe.on_ack(&ack(7), false, None));
        assert!(!probe.on_ack(&ack(8), false, None)); // of the original, or of the probe
        assert_eq!(probe.end_seq, Some(8));
        assert!(!probe.on_ack(&ack(8), true, None)); // both arrived
        assert_eq!(probe.end_seq, None);

        let mut probe = again();
        assert!(!probe.on_ack(&ack(9), false, Some(7)));
        assert_eq!(probe.end_seq, None);

        let mut probe = again();
        assert!(probe.on_ack(&ack(9), false, None));
        assert_eq!(probe.end_seq, None);

        let mut probe = LossProbe::new(Span::ZERO);
        probe.on_sent(8, false); // new data
        assert!(!probe.on_ack(&ack(8), false, None));
        assert_eq!(probe.end_seq, None);
    }
}

//! Proportional rate reduction (PRR): the number of segments that may leave on each ACK of a recovery.
//!
//! Reference: RFC 9937, which obsoletes RFC 6937.
//!
//! While more than ssthresh segments are in the network, segments leave in proportion to the
//! segments that arrive. Therefore the window shrinks over a round trip, and the sender is not
//! silent for half a round trip. At or below ssthresh, as many segments leave as arrive
//! (conservative reduction bound). One more segment leaves if the ACK shows progress without a
//! further loss (slow-start reduction bound).
//!
//! The RFC sets cwnd to the number of segments in the network plus the number of segments that may
//! leave. Here cwnd is ssthresh from the beginning of the recovery on. The RFC gives cwnd this
//! value at the end of the recovery.

/// The state of one recovery. [packets]
#[derive(Clone, Copy, Debug)]
pub(super) struct RateReduction {
    /// prr_delivered: number of segments that arrived since the recovery began, including those
    /// reported by the ACK that began the recovery.
    delivered: u32,
    /// prr_out: segments sent since the recovery began.
    out: u32,
    /// RecoverFS: segments that could still be delivered when the recovery began.
    recover_fs: u32,
    /// SndCnt: segments that may leave now.
    sndcnt: u32,
}

/// An ACK in recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// DeliveredData: segments whose arrival the ACK is the first to report. [packets]
    pub(super) delivered: u32,
    /// Segments in the network. [packets]
    pub(super) in_flight: u32,
    /// SafeACK: whether the ACK acknowledges new data and reports no further loss.
    pub(super) safe: bool,
}

impl RateReduction {
    /// Begins a recovery with an ACK before which `recover_fs` segments were outstanding and not SACKed.
    ///
    /// In the RFC, `recover_fs` is FlightSize, minus the segments SACKed before, plus the segments
    /// that this ACK acknowledges.
    pub(super) fn new(recover_fs: u32) -> RateReduction {
        RateReduction {
            delivered: 0,
            out: 0,
            recover_fs: recover_fs.max(1),
            sndcnt: 0,
        }
    }

    /// Computes the number of segments that may leave after an ACK.
    pub(super) fn on_ack(&mut self, ack: Progress, ssthresh: u32) {
        if ack.delivered == 0 {
            return;
        }
        self.delivered += ack.delivered;
        self.sndcnt = if ack.in_flight > ssthresh {
            let share = u64::from(self.delivered) * u64::from(ssthresh);
            let share = share.div_ceil(u64::from(self.recover_fs)) as u32;
            share.saturating_sub(self.out)
        } else {
            let owed = self.delivered.saturating_sub(self.out);
            let bound = owed.max(ack.delivered) + u32::from(ack.safe);
            bound.min(ssthresh - ack.in_flight)
        };
        if self.out == 0 {
            self.sndcnt = self.sndcnt.max(1); // the fast retransmit
        }
    }

    /// Returns the number of segments that may leave. [packets]
    pub(super) fn sndcnt(&self) -> u32 {
        self.sndcnt
    }

    /// Processes the departure of a segment.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.sndcnt = self.sndcnt.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Processes ACKs of one segment each, and returns the number of segments sent after each ACK.
    /// `in_flight` returns the number of segments in the network before an ACK, from the number of
    /// the ACK and the number of segments sent.
    fn play(
        prr: &mut RateReduction,
        ssthresh: u32,
        acks: u32,
        in_flight: impl Fn(u32, u32) -> u32,
    ) -> Vec<u32> {
        let mut sent = Vec::new();
        for ack in 1..=acks {
            let progress = Progress {
                delivered: 1,
                in_flight: in_flight(ack, sent.iter().sum()),
                safe: false,
            };
            prr.on_ack(progress, ssthresh);
            sent.push(prr.sndcnt());
            while prr.sndcnt() > 0 {
                prr.on_sent();
            }
        }
        sent
    }

    /// RFC 6937, section 3.1, first figure, row "sent" of PRR: the first of segments 0 to 19 is
    /// lost, and two more segments left on the first two duplicate ACKs. The figure includes these
    /// two in FlightSize: ssthresh = 11 and RecoverFS = 22. The retransmission leaves on ACK 3, and
    /// then one segment leaves per two ACKs. No segment leaves on ACK 17, when 11 segments are in
    /// the network, and one segment leaves on each of ACKs 18 and 19.
    #[test]
    fn one_segment_leaves_for_two_that_arrive() {
        let mut prr = RateReduction::new(22);
        // 22 out, 1 lost, 2 SACKed before
        let sent = play(&mut prr, 11, 17, |ack, sent| 19 - ack + sent);
        let expected = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1];
        assert_eq!(sent, expected);
    }

    /// The example with RFC 9937's numbers, ssthresh = 10 and RecoverFS = 20: a segment leaves on ACK 17 as
    /// well, and the next one when fewer than 10 are in the network.
    #[test]
    fn limited_transmit_is_not_counted() {
        let mut prr = RateReduction::new(20);
        let sent = play(&mut prr, 10, 19, |ack, sent| 19 - ack + sent);
        let expected = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1];
        assert_eq!(sent, expected);
    }

    /// RFC 6937, section 3.1, second figure, row "sent" of PRR-CRB: segments 0 to 14 are lost, 4 remain in
    /// the network, and each of the three ACKs lets one segment leave.
    #[test]
    fn heavy_loss_sends_one_segment_per_arrival() {
        let mut prr = RateReduction::new(22);
        assert_eq!(play(&mut prr, 11, 3, |_, _| 4), [1, 1, 1]);
    }

    /// RFC 6937, section 3.1, second figure, row PRR-SSRB: one more segment on each ACK, since each is safe.
    #[test]
    fn safe_acks_let_the_window_grow_as_in_slow_start_up_to_ssthresh() {
        let mut prr = RateReduction::new(22);
        let mut sent = Vec::new();
        for in_flight in [4, 5, 6, 10] {
            let safe = Progress {
                delivered: 1,
                in_flight,
                safe: true,
            };
            prr.on_ack(safe, 11);
            sent.push(prr.sndcnt());
            while prr.sndcnt() > 0 {
                prr.on_sent();
            }
        }
        assert_eq!(sent, [2, 2, 2, 1]);
    }

    /// ACKs that deliver nothing change nothing. A segment that could have been sent earlier may be sent later.
    #[test]
    fn unused_permissions_are_kept() {
        let mut prr = RateReduction::new(20);
        let ack = |delivered, in_flight| Progress {
            delivered,
            in_flight,
            safe: false,
        };
        prr.on_ack(ack(1, 18), 10);
        prr.on_sent();
        prr.on_ack(ack(0, 9), 10);
        assert_eq!(prr.sndcnt(), 0);
        prr.on_ack(ack(6, 13), 10); // 7 * 10/20 = 3.5: 4, of which 1 left
        assert_eq!(prr.sndcnt(), 3);
        prr.on_ack(ack(5, 8), 10); // 12 arrived, 1 left, but 10 - 8
        assert_eq!(prr.sndcnt(), 2);
    }

    proptest! {
        /// For any number of segments in the network, no more segments leave than arrived ("strong
        /// packet conservation bound"). Exceptions are the fast retransmit and one segment on each
        /// safe ACK. Below ssthresh, the segments in the network do not exceed ssthresh.
        #[test]
        fn packets_are_conserved(
            recover_fs in 1..200_u32,
            ssthresh in 1..200_u32,
            acks in prop::collection::vec((0..4_u32, 0..200_u32, any::<bool>()), 1..100),
        ) {
            let ssthresh = ssthresh.min(recover_fs);
            let mut prr = RateReduction::new(recover_fs);
            let (mut arrived, mut left, mut safe_acks) = (0, 0, 0);
            for (delivered, in_flight, safe) in acks {
                prr.on_ack(Progress { delivered, in_flight, safe }, ssthresh);
                arrived += delivered;
                safe_acks += u32::from(safe);
                let sndcnt = prr.sndcnt();
                if delivered > 0 && left > 0 && in_flight <= ssthresh {
                    prop_assert!(in_flight + sndcnt <= ssthresh);
                }
                left += sndcnt;
                (0..sndcnt).for_each(|_| prr.on_sent());
                prop_assert!(left <= arrived + safe_acks + 1);
            }
        }
    }
}

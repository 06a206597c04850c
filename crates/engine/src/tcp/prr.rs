//! Proportional rate reduction (PRR): the number of segments that may be sent on each ACK of a
//! recovery.
//!
//! Reference: RFC 9937, which obsoletes RFC 6937.
//!
//! While more than ssthresh segments are in the network, the number of sent segments is
//! proportional to the number of segments that arrive. Therefore the window shrinks over a round
//! trip, and the sender does not pause for half a round trip. At or below ssthresh, as many
//! segments are sent as arrive (conservative reduction bound). One more segment is sent if the ACK
//! shows progress without a further loss (slow-start reduction bound).
//!
//! During the recovery, the RFC sets cwnd to the number of segments in the network plus the number
//! of segments that may be sent. Here cwnd is ssthresh from the beginning of the recovery on. The
//! RFC sets cwnd to ssthresh at the end of the recovery.

/// The state of proportional rate reduction in one recovery. All numbers are in packets.
#[derive(Clone, Copy, Debug)]
pub(super) struct RateReduction {
    /// prr_delivered: number of segments that have arrived since the recovery began. It includes
    /// the segments reported by the ACK that began the recovery.
    delivered: u32,
    /// prr_out: number of segments sent since the recovery began.
    out: u32,
    /// RecoverFS: number of segments that were outstanding and not SACKed when the recovery began.
    recover_fs: u32,
    /// SndCnt: number of segments that may be sent now.
    sndcnt: u32,
}

/// The properties of an ACK in a recovery.
#[derive(Clone, Copy, Debug)]
pub(super) struct Progress {
    /// DeliveredData: number of segments whose arrival this ACK reports for the first time.
    /// [packets]
    pub(super) delivered: u32,
    /// Number of segments in the network. [packets]
    pub(super) in_flight: u32,
    /// SafeACK: whether the ACK acknowledges new data and reports no further loss.
    pub(super) safe: bool,
}

impl RateReduction {
    /// Returns the state at the beginning of a recovery. Before the ACK that begins the recovery,
    /// `recover_fs` segments were outstanding and not SACKed.
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

    /// Computes the number of segments that may be sent after an ACK.
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
            self.sndcnt = self.sndcnt.max(1); // at least the fast retransmit is sent
        }
    }

    /// Returns the number of segments that may be sent now. [packets]
    pub(super) fn sndcnt(&self) -> u32 {
        self.sndcnt
    }

    /// Processes the transmission of a segment.
    pub(super) fn on_sent(&mut self) {
        self.out += 1;
        self.sndcnt = self.sndcnt.saturating_sub(1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Processes ACKs of one segment each. Returns the number of segments sent after each ACK.
    /// `in_flight` computes the number of segments in the network before an ACK, from the number of
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

    /// RFC 6937, section 3.1, first figure, row "sent" of PRR. The first of segments 0 to 19 is
    /// lost, and two more segments were sent on the first two duplicate ACKs. The figure includes
    /// these two segments in FlightSize: ssthresh = 11 and RecoverFS = 22. The retransmission is
    /// sent on ACK 3, and then one segment is sent per two ACKs. No segment is sent on ACK 17, when
    /// 11 segments are in the network. One segment is sent on each of ACKs 18 and 19.
    #[test]
    fn one_segment_leaves_for_two_that_arrive() {
        let mut prr = RateReduction::new(22);
        // 22 segments were sent, of which 1 was lost and 2 were SACKed before the recovery, so 19
        // are in the network
        let sent = play(&mut prr, 11, 17, |ack, sent| 19 - ack + sent);
        let expected = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1];
        assert_eq!(sent, expected);
    }

    /// The example of the first figure of RFC 6937, section 3.1, with the numbers of RFC 9937
    /// (ssthresh = 10, RecoverFS = 20). A segment is also sent on ACK 17. The next segment is sent
    /// when fewer than 10 segments are in the network.
    #[test]
    fn limited_transmit_is_not_counted() {
        let mut prr = RateReduction::new(20);
        let sent = play(&mut prr, 10, 19, |ack, sent| 19 - ack + sent);
        let expected = [1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1];
        assert_eq!(sent, expected);
    }

    /// RFC 6937, section 3.1, second figure, row "sent" of PRR-CRB. Segments 0 to 14 are lost, 4
    /// segments remain in the network, and one segment is sent on each of the three ACKs.
    #[test]
    fn heavy_loss_sends_one_segment_per_arrival() {
        let mut prr = RateReduction::new(22);
        assert_eq!(play(&mut prr, 11, 3, |_, _| 4), [1, 1, 1]);
    }

    /// RFC 6937, section 3.1, second figure, row PRR-SSRB. One more segment is sent on each ACK,
    /// because each ACK is safe (it reports no further loss).
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

    /// An ACK that reports no arrival changes nothing. A segment that was permitted earlier and not
    /// sent may be sent later.
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
        prr.on_ack(ack(6, 13), 10); // 7 * 10/20 = 3.5 segments, rounded up to 4, of which 1 was sent
        assert_eq!(prr.sndcnt(), 3);
        prr.on_ack(ack(5, 8), 10); // 12 arrived and 1 was sent, which would permit 11; ssthresh permits only 10 - 8
        assert_eq!(prr.sndcnt(), 2);
    }

    proptest! {
        /// For any number of segments in the network, no more segments are sent than arrived
        /// ("strong packet conservation bound"). Exceptions are the fast retransmit, and one
        /// segment on each safe ACK. Below ssthresh, the number of segments in the network does not
        /// exceed ssthresh.
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

//! Drops packets with a probability that the caller sets: the price of a link of a CSMA network
//! (paper 001, algorithm 1, line 14).

use super::discipline::{Backlog, RandomDrop, Verdict};
use crate::kernel::streams::Stream;
use crate::packet::Packet;

/// The state of a queue whose drop probability is set by the caller.
#[derive(Clone, Debug)]
pub struct Price {
    /// Probability of a drop, at least 0. A value above 1 is treated as 1.
    pub(super) r: f64,
    random_drop: RandomDrop,
}

impl Price {
    /// Returns an empty queue whose drop probability is zero.
    pub fn new(limit: u32, stream: Stream) -> Price {
        Price {
            r: 0.0,
            random_drop: RandomDrop::new(limit, true, stream),
        }
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`.
    #[inline]
    pub fn admit(&mut self, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.random_drop.admit(self.r, backlog, packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::kernel::time::Time;
    use crate::packet::Ecn;

    #[test]
    fn the_price_is_the_share_of_packets_that_is_dropped_or_marked() {
        let mut queue = Price::new(10, Streams::new(1, 0).stream("price"));
        let mut share = |r: f64, packets: u32, ecn: Ecn, verdict: Verdict| {
            queue.r = r;
            let backlog = Backlog {
                packets,
                bytes: 0,
                in_service_bytes: 0,
                idle_since: Some(Time::ZERO),
            };
            let packet = Packet {
                ecn,
                ..Packet::SAMPLE
            };
            let verdicts = (0..20_000).map(|_| queue.admit(&backlog, &packet));
            verdicts.filter(|other| *other == verdict).count() as f64 / 20_000.0
        };
        assert_eq!(share(0.0, 9, Ecn::NotCapable, Verdict::Enter), 1.0);
        assert_eq!(share(0.0, 10, Ecn::Capable, Verdict::Drop), 1.0);
        assert_eq!(share(1.5, 0, Ecn::NotCapable, Verdict::Drop), 1.0);
        // the standard deviation of the measured fraction of dropped packets is 0.0022
        assert!((share(0.1, 5, Ecn::NotCapable, Verdict::Drop) - 0.1).abs() < 0.007);
        assert!((share(0.1, 5, Ecn::Capable, Verdict::Mark) - 0.1).abs() < 0.007);
    }
}

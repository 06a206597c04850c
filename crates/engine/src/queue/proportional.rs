//! Drops packets with a probability proportional to the backlog, as in paper 001, appendix B. The
//! loss rate is the price of the link in the optimisation problem of this paper.
//!
//! Differs from the paper in one point: the queue includes the packet in service.

use super::discipline::{Backlog, OfDiscipline, RandomDrop, Verdict, moving};
use crate::kernel::streams::Stream;
use crate::notation::setting::{flag, number};
use crate::packet::Packet;
use crate::table;

table! {
    /// Queue that drops packets with a probability proportional to the backlog.
    pub struct ProportionalSetting: Copy in "proportional" {
        /// Drop probability for each packet that an arriving packet finds in the queue.
        slope: f64 = number(0.000_000_001..=1.0).required();
        /// If true, ECN-capable packets are marked, not dropped.
        ecn: bool = flag().default(false);
    }
}

impl OfDiscipline for ProportionalSetting {
    moving!(slope);

    fn marks(&self) -> bool {
        self.ecn
    }
}

/// The state of a queue with this discipline.
#[derive(Clone, Debug)]
pub struct Proportional {
    slope: f64,
    random_drop: RandomDrop,
}

impl Proportional {
    /// Returns an empty queue.
    pub fn new(setting: ProportionalSetting, limit: u32, stream: Stream) -> Proportional {
        Proportional {
            slope: setting.slope,
            random_drop: RandomDrop::new(limit, setting.ecn, stream),
        }
    }

    /// Sets the limit and the slope.
    pub(super) fn change(&mut self, setting: ProportionalSetting, limit: u32) {
        self.slope = setting.slope;
        self.random_drop.limit = limit;
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`.
    pub fn admit(&mut self, backlog: &Backlog, packet: &Packet) -> Verdict {
        let p = self.slope * f64::from(backlog.packets);
        self.random_drop.admit(p, backlog, packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;
    use crate::kernel::time::Time;
    use crate::packet::{Ecn, PacketKind};

    #[test]
    fn drops_are_as_frequent_as_the_backlog_is_long() {
        let setting = ProportionalSetting {
            slope: 0.002,
            ecn: true,
        };
        let mut queue = Proportional::new(setting, 300, Streams::new(1, 0).stream("aqm"));
        let mut share = |packets: u32, ecn: Ecn, verdict: Verdict| {
            let backlog = Backlog {
                packets,
                bytes: u64::from(packets) * 100,
                in_service_bytes: 100 * packets.min(1),
                idle_since: (packets == 0).then_some(Time::ZERO),
            };
            let packet = Packet {
                flow: 0,
                number: 0,
                stamp: Time::ZERO,
                queued: Time::ZERO,
                bytes: 100,
                hop: 0,
                kind: PacketKind::Segment,
                ecn,
                ..Packet::SAMPLE
            };
            let verdicts = (0..20_000).map(|_| queue.admit(&backlog, &packet));
            verdicts.filter(|other| *other == verdict).count() as f64 / 20_000.0
        };
        assert_eq!(share(0, Ecn::NotCapable, Verdict::Enter), 1.0);
        assert_eq!(share(300, Ecn::Capable, Verdict::Drop), 1.0);
        // the standard deviation of the measured fraction of dropped packets is at most 0.0033
        assert!((share(50, Ecn::NotCapable, Verdict::Drop) - 0.1).abs() < 0.01);
        assert!((share(200, Ecn::NotCapable, Verdict::Drop) - 0.4).abs() < 0.015);
        assert!((share(200, Ecn::Capable, Verdict::Mark) - 0.4).abs() < 0.015);
        assert_eq!(share(200, Ecn::Capable, Verdict::Drop), 0.0);
    }
}

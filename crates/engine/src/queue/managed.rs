//! The state of a queue discipline, created from its settings.

use super::cake::Cake;
use super::codel::Single;
use super::discipline::Egress;
use super::fq_codel::FqCoDel;
use super::scheduler::Kind;
use super::{Admission, Discipline, DualPi2, Pi, Pie, Proportional, QueueSetting, Red, Scheduler};
use crate::kernel::streams::Stream;

/// A queue discipline with its state, grouped by whether it decides at arrivals or at departures.
#[derive(Clone, Debug)]
pub enum Managed {
    /// A discipline that decides only at the arrival of a packet.
    OnArrival(Admission),
    /// A discipline that drops, marks or reorders packets at their departure.
    OnDeparture(Scheduler),
}

impl Managed {
    /// Returns the discipline of an empty queue upstream of `egress`. Virtual buffer sharing and
    /// mac80211 are created by other functions, because only an access point supports them. For
    /// these disciplines, a drop-tail queue is returned.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> Managed {
        let limit = setting.limit_packets;
        let admission = match &setting.discipline {
            Discipline::DropTail
            | Discipline::Threshold { .. }
            | Discipline::BufferSharing(_)
            | Discipline::Mac80211(_) => Admission::DropTail(setting.most_packets()),
            Discipline::Plugin(own) => Admission::Plugin(own.policy(limit, egress, stream)),
            Discipline::Red(own) => Admission::Red(Box::new(Red::new(*own, limit, egress, stream))),
            Discipline::Proportional(own) => {
                Admission::Proportional(Box::new(Proportional::new(*own, limit, stream)))
            }
            Discipline::Pi(own) => Admission::Pi(Box::new(Pi::new(*own, limit, stream))),
            Discipline::Pie(own) => Admission::Pie(Box::new(Pie::new(*own, limit, egress, stream))),
            Discipline::CoDel(own) => {
                return Managed::scheduled(Kind::CoDel(Box::new(Single::new(*own))), limit);
            }
            Discipline::FqCoDel(own) => {
                let queues = FqCoDel::new(*own, stream);
                return Managed::scheduled(Kind::FqCoDel(Box::new(queues)), limit);
            }
            Discipline::Cake(own) => {
                let cake = Box::new(Cake::new(*own, stream));
                return Managed::scheduled(Kind::Cake(cake), limit);
            }
            Discipline::DualPi2(own) => {
                let queues = DualPi2::new(own.upstream_of(egress));
                return Managed::scheduled(Kind::DualPi2(Box::new(queues)), limit);
            }
        };
        Managed::OnArrival(admission)
    }

    fn scheduled(kind: Kind, limit: u32) -> Managed {
        Managed::OnDeparture(Scheduler::new(kind, limit))
    }
}

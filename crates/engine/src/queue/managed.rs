//! The discipline of a queue with its state, made from its settings.

use super::discipline::{Egress, OfDiscipline};
use super::scheduler::Kind;
use super::{Admission, Discipline, QueueSetting, Scheduler};
use crate::kernel::streams::Stream;

/// A discipline with its state.
#[derive(Clone, Debug)]
pub enum Managed {
    /// It decides when a packet arrives, and never again.
    OnArrival(Admission),
    /// It decides or reorders when a packet leaves.
    OnDeparture(Scheduler),
}

impl Managed {
    /// Returns the discipline of an empty queue upstream of `egress`. Disciplines for classes and stations work only at
    /// the access point: elsewhere such a queue is drop-tail.
    pub fn new(setting: &QueueSetting, egress: Egress, stream: Stream) -> Managed {
        let limit = setting.limit_packets;
        let on_arrival = Managed::OnArrival;
        let on_departure = |kind| Managed::OnDeparture(Scheduler::new(kind, limit));
        match &setting.discipline {
            Discipline::DropTail
            | Discipline::Threshold { .. }
            | Discipline::BufferSharing(_)
            | Discipline::Mac80211(_) => on_arrival(Admission::DropTail(setting.most_packets())),
            Discipline::Plugin(plugin) => {
                on_arrival(Admission::Plugin(plugin.policy(limit, egress, stream)))
            }
            Discipline::Red(red) => {
                on_arrival(Admission::Red(Box::new(red.queue(limit, egress, stream))))
            }
            Discipline::Proportional(proportional) => on_arrival(Admission::Proportional(
                Box::new(proportional.queue(limit, egress, stream)),
            )),
            Discipline::Pi(pi) => {
                on_arrival(Admission::Pi(Box::new(pi.queue(limit, egress, stream))))
            }
            Discipline::Pie(pie) => {
                on_arrival(Admission::Pie(Box::new(pie.queue(limit, egress, stream))))
            }
            Discipline::CoDel(codel) => {
                on_departure(Kind::CoDel(Box::new(codel.queue(limit, egress, stream))))
            }
            Discipline::FqCoDel(fq) => {
                on_departure(Kind::FqCoDel(Box::new(fq.queue(limit, egress, stream))))
            }
            Discipline::DualPi2(dual) => {
                on_departure(Kind::DualPi2(Box::new(dual.queue(limit, egress, stream))))
            }
        }
    }
}

//! Sensors at work: their reports enter the transport one by one.

use super::World;
use super::flow::Endpoints;
use crate::kernel::time::Time;

impl World<'_> {
    /// The sensor of flow `index` starts.
    pub(super) fn start_reports(&mut self, now: Time, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Endpoints::Tcp(tcp) = &flow.endpoints {
            flow.cwnd_since = now;
            flow.cwnd = tcp.0.cwnd();
        }
        if let Some(reports) = &mut flow.reports {
            reports.open(now);
            self.reports.insert((reports.deadline(), index));
        }
        self.arm_reports();
    }

    /// The sensor of flow `index` stops; what it has reported is still delivered.
    pub(super) fn stop_reports(&mut self, index: u32) {
        if let Some(reports) = &mut self.flows[index as usize].reports {
            self.reports.remove(&(reports.deadline(), index));
            reports.close();
        }
        self.arm_reports();
    }

    /// The earliest report is made.
    pub(super) fn report_event(&mut self, now: Time) {
        if let Some((_, index)) = self.reports.pop_first() {
            self.report(now, index);
        }
        self.arm_reports();
    }

    fn report(&mut self, now: Time, index: u32) {
        let flow = &mut self.flows[index as usize];
        if let Some(reports) = &mut flow.reports {
            reports.make(now);
            self.reports.insert((reports.deadline(), index));
        }
        match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                tcp.0.supply(1);
                self.pump(now, index as usize);
            }
            Endpoints::Udp(source) => {
                let number = source.send();
                self.send_datagram(now, index as usize, number);
            }
            Endpoints::Web(_) | Endpoints::Ping => unreachable!("sensors are stations'"),
        }
    }

    fn arm_reports(&mut self) {
        let next = self.reports.first().map_or(Time::NEVER, |&(at, _)| at);
        self.agenda.set(self.slots.reports(), next);
    }
}

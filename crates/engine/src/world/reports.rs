//! Sensors during a simulation: their start, stop and reports.

use super::flow::Endpoints;
use super::network::Network;
use super::numbers::Owner;
use super::step::Wants;
use crate::kernel::time::Time;

impl Network {
    /// Starts the sensor of flow `index`.
    pub(super) fn start_reports(&mut self, now: Time, index: usize) -> Wants {
        let flow = &mut self.flows.states[index];
        let mut wants = Wants::Nothing;
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            flow.cwnd_since = now;
            flow.cwnd = tcp.0.cwnd();
            tcp.0.connect();
            wants = Wants::All(index);
        }
        if let Some(reports) = &mut flow.reports {
            reports.open(now);
            let next = (reports.deadline(), index as u32);
            self.flows.reports.insert(next);
        }
        self.arm_reports();
        wants
    }

    /// Stops the sensor of flow `index`. Reports that have already been created are still
    /// delivered.
    pub(super) fn stop_reports(&mut self, index: usize) {
        if let Some(reports) = &mut self.flows.states[index].reports {
            let next = (reports.deadline(), index as u32);
            self.flows.reports.remove(&next);
            reports.close();
        }
        self.arm_reports();
    }

    /// Creates the report that is due now.
    pub(super) fn report(&mut self, now: Time) -> Wants {
        let Some((_, number)) = self.flows.reports.pop_first() else {
            return Wants::Nothing;
        };
        let flow = &mut self.flows.states[number as usize];
        if let Some(reports) = &mut flow.reports {
            reports.make(now);
            self.flows.reports.insert((reports.deadline(), number));
        }
        let wants = match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                tcp.0.supply(1);
                Wants::All(number as usize)
            }
            Endpoints::Udp(udp) => {
                let datagram = udp.0.send();
                Wants::Packet(flow.datagram(now, number, datagram))
            }
            Endpoints::Web(_) | Endpoints::Ping | Endpoints::Pinger(_) | Endpoints::Hosts => {
                unreachable!("sensors are stations'")
            }
        };
        self.arm_reports();
        wants
    }

    fn arm_reports(&mut self) {
        let next = self.flows.reports.first();
        let next = next.map_or(Time::NEVER, |&(at, _)| at);
        self.clock.set(Owner::Reports, next);
    }
}

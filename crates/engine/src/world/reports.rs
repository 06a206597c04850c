//! Applications with their own times during a simulation: their start, stop and actions.

use super::application::Application;
use super::flow::Endpoints;
use super::network::Network;
use super::numbers::Owner;
use super::step::Wants;
use crate::app::writes::Write;
use crate::kernel::time::Time;

impl Network {
    /// Starts the application of flow `index`.
    pub(super) fn start_application(&mut self, now: Time, index: usize) -> Wants {
        if let Some(Application::Player(_, tcp)) = self.flows.states[index].application.as_deref() {
            let tcp = tcp.clone();
            self.open_requests(now, index, &tcp);
        }
        let flow = &mut self.flows.states[index];
        let mut wants = Wants::Nothing;
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            flow.cwnd_since = now;
            flow.cwnd = tcp.0.cwnd();
            tcp.0.connect();
            wants = Wants::All(index);
        }
        if let Some(application) = &mut flow.application {
            application.open(now);
            let next = (application.deadline(), index as u32);
            self.flows.actions.insert(next);
        }
        self.arm_actions();
        wants
    }

    /// Stops the application of flow `index`. Reports that have already been created are still
    /// delivered.
    pub(super) fn stop_application(&mut self, index: usize) {
        if let Some(application) = &mut self.flows.states[index].application {
            let next = (application.deadline(), index as u32);
            self.flows.actions.remove(&next);
            application.close();
        }
        self.arm_actions();
    }

    /// Performs the action of an application that is due now.
    pub(super) fn act(&mut self, now: Time) -> Wants {
        let Some((_, number)) = self.flows.actions.pop_first() else {
            return Wants::Nothing;
        };
        let index = number as usize;
        let flow = &mut self.flows.states[index];
        let mut write = Write::Nothing;
        if let Some(application) = &mut flow.application {
            write = application.act(now);
            self.flows.actions.insert((application.deadline(), number));
        }
        let wants = match &mut flow.endpoints {
            Endpoints::Tcp(tcp) => {
                match write {
                    Write::Request(bytes) => {
                        self.arm_actions();
                        return self.send_request(now, index, bytes);
                    }
                    Write::Chunk(bytes) => {
                        self.arm_actions();
                        return self.write_message(now, index, bytes);
                    }
                    Write::Nothing | Write::Datagram(_) | Write::Feedback { .. } => {}
                    Write::Segments(count) => tcp.0.supply(now, count),
                    Write::Resume => tcp.0.resume(now),
                    Write::Pause => tcp.0.pause(),
                }
                Wants::All(index)
            }
            Endpoints::Udp(_) => flow.write_datagram(now, number, write),
            Endpoints::Web(_) | Endpoints::Ping | Endpoints::Pinger(_) | Endpoints::Hosts => {
                unreachable!("applications use TCP or UDP")
            }
        };
        self.arm_actions();
        wants
    }

    /// Updates the agenda with the time of the next action of an application.
    pub(super) fn arm_actions(&mut self) {
        let next = self.flows.actions.first();
        let next = next.map_or(Time::NEVER, |&(at, _)| at);
        self.clock.set(Owner::Reports, next);
    }
}

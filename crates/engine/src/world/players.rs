//! Players of adaptive video during a run: requests travel to the server, and chunks travel back.
//!
//! The flow of the scenario carries the chunks. A further flow, with the same route in the opposite
//! direction, carries the requests. Both flows are one persistent TCP connection of an application,
//! so that each has its own window and timers, and the handshake belongs to the requests.

use super::application::Application;
use super::flow::{Endpoints, FlowState};
use super::network::Network;
use super::step::Wants;
use super::web::{Member, Role};
use crate::app::player::Player;
use crate::kernel::time::Time;
use crate::scenario::TcpSettings;

impl Network {
    /// Adds the flow for the requests of the player of flow `index`.
    pub(super) fn open_requests(&mut self, now: Time, index: usize, tcp: &TcpSettings) {
        let requests = self.flows.states.len();
        if !self.clock.grow(requests + 1) {
            return;
        }
        let mut flow = FlowState::connection(tcp);
        flow.started_at = now;
        flow.cwnd_since = now;
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            flow.cwnd = tcp.0.cwnd();
            tcp.0.connect();
        }
        self.flows.states.push(flow);
        self.wires.add_flow(index, true);
        self.flows.webs.members.push(Member {
            flow: index as u32,
            role: Role::Requests,
        });
        self.flows.seed(requests);
        if let Some(player) = self.player(index) {
            player.requests = Some(requests as u32);
        }
    }

    /// Returns the player whose video flow `index` carries.
    fn player(&mut self, index: usize) -> Option<&mut Player> {
        match self.flows.states[index].application.as_deref_mut() {
            Some(Application::Player(player, _)) => Some(player),
            _ => None,
        }
    }

    /// Sends a request of `bytes` bytes of the player of flow `index`.
    pub(super) fn send_request(&mut self, now: Time, index: usize, bytes: u32) -> Wants {
        match self.player(index).and_then(|player| player.requests) {
            Some(requests) => self.write_message(now, requests as usize, u64::from(bytes)),
            None => Wants::Nothing,
        }
    }

    /// Sends a request or a chunk of `bytes` bytes on the persistent connection of flow `index`.
    pub(super) fn write_message(&mut self, now: Time, index: usize, bytes: u64) -> Wants {
        let flow = &mut self.flows.states[index];
        let mss = u64::from(flow.data_bytes - flow.ack_bytes);
        let segments = bytes.div_ceil(mss);
        let payload = bytes - (segments - 1) * mss; // at most the payload of a segment
        // before the first message, `last` is the number before 0
        flow.last = flow.last.wrapping_add(segments as u32);
        flow.last_bytes = payload as u16 + flow.ack_bytes;
        if let Endpoints::Tcp(tcp) = &mut flow.endpoints {
            tcp.0.supply(now, segments as u32);
        }
        Wants::All(index)
    }

    /// Processes the arrival of a request of the player of flow `index` at the server. The method
    /// may be called again for the same request.
    pub(super) fn request_arrived(&mut self, now: Time, index: usize) {
        self.change_player(index, |player| player.request_arrived(now));
    }

    /// Processes the complete arrival of a chunk on flow `index`, if a player waits for the chunk.
    pub(super) fn chunk_arrived(&mut self, now: Time, index: usize) {
        if self.player(index).is_none() {
            return;
        }
        let mut bytes = None;
        self.change_player(index, |player| bytes = player.chunk_arrived(now));
        let counters = &mut self.flows.states[index];
        let mss = u64::from(counters.data_bytes - counters.ack_bytes);
        let short = bytes.map_or(0, |bytes| bytes.next_multiple_of(mss) - bytes);
        counters.counters.short_bytes += short;
    }

    /// Changes the state of a player, and the time of its next action.
    fn change_player(&mut self, index: usize, change: impl FnOnce(&mut Player)) {
        let Some(player) = self.player(index) else {
            return;
        };
        let before = player.deadline();
        change(player);
        let after = player.deadline();
        self.flows.actions.remove(&(before, index as u32));
        self.flows.actions.insert((after, index as u32));
        self.arm_actions();
    }
}

#[cfg(test)]
mod tests;

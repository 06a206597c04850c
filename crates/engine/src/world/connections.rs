//! Web sources during a run: sources open connections, requests and responses arrive, and servers
//! respond.

use super::flow::FlowState;
use super::network::Network;
use super::step::Wants;
use super::web::{Connection, Member, Stage};
use crate::app::web::Transaction;
use crate::kernel::time::{Span, Time};
use crate::scenario::TcpSettings;

/// Maximum number of simultaneous connections of a web source, including connections that are
/// closing.
pub(crate) const MAX_OPEN: usize = 10_000;

/// Number of closing connections that are checked for reuse when a new connection is opened.
const LOOKED_AT: usize = 4;

impl Network {
    /// Opens a connection of the web source of flow `index`, if the next connection is due.
    pub(super) fn arrive_at_web(&mut self, now: Time, index: usize, web: u32) -> Wants {
        let source = &mut self.flows.webs.sources[web as usize].source;
        let transaction = (source.deadline() <= now).then(|| source.connect());
        let next = source.deadline();
        self.set_timer(index, next);
        match transaction {
            Some(transaction) => self.begin_connection(now, index, web, transaction),
            None => Wants::Nothing,
        }
    }

    fn begin_connection(
        &mut self,
        now: Time,
        index: usize,
        web: u32,
        transaction: Transaction,
    ) -> Wants {
        let vacancy = self.vacancy(now, index, web);
        let web = &mut self.flows.webs.sources[web as usize];
        let Some(place) = vacancy else {
            web.refused += 1;
            return Wants::Nothing;
        };
        web.begun += 1;
        let connection = &mut web.connections[place as usize];
        connection.stage = Stage::Asking;
        connection.began = now;
        connection.transaction = transaction;
        let tcp = web.settings.tcp.clone();
        let request = connection.request as usize;
        self.send_message(now, request, &tcp, transaction.request_bytes)
    }

    /// Returns the index of a closed connection that can be reused, or of a new connection. The
    /// value is `None` if the maximum number of connections is open.
    fn vacancy(&mut self, now: Time, index: usize, web: u32) -> Option<u32> {
        let place = web as usize;
        for _ in 0..self.flows.webs.sources[place].closing.len().min(LOOKED_AT) {
            let source = &mut self.flows.webs.sources[place];
            let closing = source.closing.pop_front()?;
            let request = source.connections[closing as usize].request;
            if self.is_over(request) {
                return Some(closing);
            }
            self.settle(now);
            if self.is_over(request) {
                return Some(closing);
            }
            self.flows.webs.sources[place].closing.push_back(closing);
        }
        let flows = &mut self.flows;
        let source = &mut flows.webs.sources[place];
        let first = flows.states.len();
        let connection = source.connections.len() as u32;
        if connection as usize >= MAX_OPEN || !self.clock.grow(first + 2) {
            return None;
        }
        for is_request in [true, false] {
            let message = FlowState::message(&source.settings.tcp);
            flows.states.push(message);
            self.wires.add_flow(index, is_request);
            flows.webs.members.push(Member { web, connection });
        }
        source.connections.push(Connection {
            request: first as u32,
            stage: Stage::Closing,
            began: now,
            transaction: Transaction {
                request_bytes: 1,
                server_delay: Span::ZERO,
                response_bytes: 1,
            },
        });
        Some(connection)
    }

    /// Returns whether all data of a connection's two flows is acknowledged, and none of their
    /// packets is in flight. `request` is the index of the flow for the request.
    fn is_over(&self, request: u32) -> bool {
        self.flows.is_free(request) && self.flows.is_free(request + 1)
    }

    /// Returns whether flow `index` is the flow of a request, not of a response.
    fn is_request(&self, index: usize) -> bool {
        self.flows.webs.member(index).is_some_and(|member| {
            let web = &self.flows.webs.sources[member.web as usize];
            web.connections[member.connection as usize].request as usize == index
        })
    }

    /// Sends the request or the response of flow `index`.
    fn send_message(&mut self, now: Time, index: usize, tcp: &TcpSettings, bytes: u32) -> Wants {
        let segments = bytes.div_ceil(tcp.mss_bytes);
        let tcp = TcpSettings {
            segments: Some(u64::from(segments)),
            // a response uses the TCP connection that its request has opened
            handshake: tcp.handshake && self.is_request(index),
            ..tcp.clone()
        };
        let flow = &mut self.flows.states[index];
        let payload = bytes - (segments - 1) * tcp.mss_bytes;
        flow.last = segments - 1;
        flow.last_bytes = (payload + tcp.header_bytes) as u16; // not longer than a full segment
        flow.renew(&tcp);
        self.flows.seed(index);
        self.start(now, index)
    }

    /// Processes the complete arrival of a request or response on flow `index`. The method may be
    /// called again for the same message.
    #[cold]
    pub(super) fn message_arrived(&mut self, now: Time, index: usize) {
        let Some(member) = self.flows.webs.member(index) else {
            return;
        };
        let web = &mut self.flows.webs.sources[member.web as usize];
        let mss = u64::from(web.settings.tcp.mss_bytes);
        let connection = &mut web.connections[member.connection as usize];
        let transaction = connection.transaction;
        let is_request = index == connection.request as usize;
        let bytes = u64::from(match (connection.stage, is_request) {
            (Stage::Asking, true) => {
                let until = now + transaction.server_delay;
                connection.stage = Stage::Serving { until };
                self.set_timer(index + 1, until);
                transaction.request_bytes
            }
            (Stage::Answering, false) => {
                connection.stage = Stage::Closing;
                web.closing.push_back(member.connection);
                web.finished += 1;
                web.completions.add(now.since(connection.began));
                transaction.response_bytes
            }
            _ => return, // the segment was a duplicate
        });
        self.flows.states[index].counters.short_bytes += bytes.next_multiple_of(mss) - bytes;
    }

    /// Returns the packets of the response if flow `index` is waiting for its server and the
    /// response is due.
    #[cold]
    pub(super) fn serve_web(&mut self, now: Time, index: usize) -> Option<Wants> {
        let Member { web, connection } = self.flows.webs.member(index)?;
        let web = &mut self.flows.webs.sources[web as usize];
        let connection = &mut web.connections[connection as usize];
        let Stage::Serving { until } = connection.stage else {
            return None;
        };
        if index != connection.request as usize + 1 {
            return None;
        }
        if until > now {
            self.set_timer(index, until);
            return Some(Wants::Nothing);
        }
        connection.stage = Stage::Answering;
        let bytes = connection.transaction.response_bytes;
        let tcp = web.settings.tcp.clone();
        self.set_timer(index, Time::NEVER);
        Some(self.send_message(now, index, &tcp, bytes))
    }
}

#[cfg(test)]
mod tests;

//! Web connections at work: sources begin them, messages arrive, servers answer.

use super::clock::Clock;
use super::flow::FlowState;
use super::flows::Flows;
use super::step::Wants;
use super::web::{Connection, Member, Stage};
use super::wires::Wires;
use crate::app::web::Transaction;
use crate::kernel::time::{Span, Time};
use crate::scenario::TcpSettings;

/// Most connections of one source at a time, those that are closing included.
pub(crate) const MOST_OPEN: usize = 10_000;

/// How many closing connections are looked at when a place is needed.
const LOOKED_AT: usize = 4;

impl Flows {
    /// The source of flow `index` has a connection to begin, if it is not over.
    pub(super) fn arrive_at_web(
        &mut self,
        now: Time,
        index: usize,
        web: u32,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Wants {
        let source = &mut self.webs.sources[web as usize].source;
        let transaction = (source.deadline() <= now).then(|| source.connect());
        let next = source.deadline();
        self.set_timer(index, next, clock);
        match transaction {
            Some(transaction) => self.begin_connection(now, index, web, transaction, wires, clock),
            None => Wants::Nothing,
        }
    }

    fn begin_connection(
        &mut self,
        now: Time,
        index: usize,
        web: u32,
        transaction: Transaction,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Wants {
        let Some(place) = self.vacancy(now, index, web, wires, clock) else {
            self.webs.sources[web as usize].refused += 1;
            return Wants::Nothing;
        };
        let web = &mut self.webs.sources[web as usize];
        web.begun += 1;
        let connection = &mut web.connections[place as usize];
        connection.stage = Stage::Asking;
        connection.began = now;
        connection.transaction = transaction;
        let tcp = web.settings.tcp.clone();
        let request = connection.request as usize;
        self.send_message(now, request, &tcp, transaction.request_bytes, wires, clock)
    }

    /// A connection that may be used: one that is over, or a new one.
    fn vacancy(
        &mut self,
        now: Time,
        index: usize,
        web: u32,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Option<u32> {
        let closing = self.webs.sources[web as usize].closing.len();
        for _ in 0..closing.min(LOOKED_AT) {
            let place = self.webs.sources[web as usize].closing.pop_front()?;
            let request = self.webs.sources[web as usize].connections[place as usize].request;
            if self.is_over(request) {
                return Some(place);
            }
            wires.settle_all(now, &mut |packet| self.lose(packet));
            if self.is_over(request) {
                return Some(place);
            }
            self.webs.sources[web as usize].closing.push_back(place);
        }
        let first = self.states.len();
        let place = self.webs.sources[web as usize].connections.len();
        if place >= MOST_OPEN || !clock.grow(first + 2) {
            return None;
        }
        let settings = self.webs.sources[web as usize].settings.clone();
        for is_request in [true, false] {
            self.states.push(FlowState::message(&settings.tcp));
            wires.routes.add(index, is_request);
            self.webs.members.push(Member {
                web,
                connection: place as u32,
            });
        }
        self.webs.sources[web as usize]
            .connections
            .push(Connection {
                request: first as u32,
                stage: Stage::Closing,
                began: now,
                transaction: Transaction {
                    request_bytes: 1,
                    server_delay: Span::ZERO,
                    response_bytes: 1,
                },
            });
        Some(place as u32)
    }

    /// Whether nothing of a connection's two flows is outstanding or under way.
    fn is_over(&self, request: u32) -> bool {
        [request, request + 1]
            .into_iter()
            .all(|index| self.is_free(index))
    }

    /// Whether flow `index` has the request of its connection.
    fn is_request(&self, index: usize) -> bool {
        self.webs.member(index).is_some_and(|member| {
            let web = &self.webs.sources[member.web as usize];
            web.connections[member.connection as usize].request as usize == index
        })
    }

    /// Flow `index` sends a message of its connection.
    fn send_message(
        &mut self,
        now: Time,
        index: usize,
        tcp: &TcpSettings,
        bytes: u32,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Wants {
        let segments = bytes.div_ceil(tcp.mss_bytes);
        let tcp = TcpSettings {
            segments: Some(u64::from(segments)),
            // a response goes by the connection that its request has opened
            handshake: tcp.handshake && self.is_request(index),
            ..tcp.clone()
        };
        let flow = &mut self.states[index];
        let payload = bytes - (segments - 1) * tcp.mss_bytes;
        flow.last = segments - 1;
        flow.last_bytes = (payload + tcp.header_bytes) as u16; // at most a full segment's
        flow.renew(&tcp);
        self.start(now, index, wires, clock)
    }

    /// Every segment of the message of flow `index` has been delivered, perhaps not for the first
    /// time.
    #[cold]
    pub(super) fn message_arrived(&mut self, now: Time, index: usize, clock: &mut Clock) {
        let Some(Member {
            web, connection, ..
        }) = self.webs.member(index)
        else {
            return;
        };
        let web = &mut self.webs.sources[web as usize];
        let mss = u64::from(web.settings.tcp.mss_bytes);
        let Connection {
            request,
            stage,
            began,
            transaction,
        } = web.connections[connection as usize];
        let is_request = index == request as usize;
        let bytes = u64::from(match (stage, is_request) {
            (Stage::Asking, true) => {
                let until = now + transaction.server_delay;
                web.connections[connection as usize].stage = Stage::Serving { until };
                self.set_timer(index + 1, until, clock);
                transaction.request_bytes
            }
            (Stage::Answering, false) => {
                web.connections[connection as usize].stage = Stage::Closing;
                web.closing.push_back(connection);
                web.finished += 1;
                web.completions.add(now.since(began));
                transaction.response_bytes
            }
            _ => return, // a segment that came twice
        });
        self.states[index].counters.short_bytes += bytes.next_multiple_of(mss) - bytes;
    }

    /// What flow `index` wants if it waits for its server: to send when the time has come.
    #[cold]
    pub(super) fn serve_web(
        &mut self,
        now: Time,
        index: usize,
        wires: &mut Wires,
        clock: &mut Clock,
    ) -> Option<Wants> {
        let Member { web, connection } = self.webs.member(index)?;
        let web = &mut self.webs.sources[web as usize];
        let connection = &mut web.connections[connection as usize];
        let Stage::Serving { until } = connection.stage else {
            return None;
        };
        if index != connection.request as usize + 1 {
            return None;
        }
        if until > now {
            self.set_timer(index, until, clock);
            return Some(Wants::Nothing);
        }
        connection.stage = Stage::Answering;
        let bytes = connection.transaction.response_bytes;
        let tcp = web.settings.tcp.clone();
        self.set_timer(index, Time::NEVER, clock);
        Some(self.send_message(now, index, &tcp, bytes, wires, clock))
    }
}

#[cfg(test)]
mod tests;

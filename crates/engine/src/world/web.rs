//! Connections that come and go: a web source, its connections, the flows they take turns in.
//!
//! A connection is two flows of one segment stream each: its request, from client to server, and its
//! response back. Each is acknowledged by ACKs of its own, and has its own two timers.
//!
//! ```text
//! begin --request--> Asking --delivered--> Serving --delay--> Answering --delivered--> Closing
//!                                                      all acknowledged, nothing under way --> free
//! ```
//!
//! A connection that is over leaves its flows to a later one once none of their packets is under way
//! (sent = arrived + lost, for data and ACKs), so that memory follows the number of connections open at
//! a time. At most [`MOST_OPEN`] are: one that would begin then is refused, and counted.

use std::collections::VecDeque;

use super::World;
use super::flow::FlowState;
use crate::app::web::{Transaction, WebSource};
use crate::histogram::Histogram;
use crate::kernel::time::{Span, Time};

use crate::scenario::{TcpSettings, WebSettings};

/// Most connections of one source at a time, those that are closing included.
const MOST_OPEN: usize = 10_000;

/// Connections that are closing, looked at when a place is needed.
const LOOKED_AT: usize = 4;

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The request is on its way.
    Asking,
    /// The server is busy with it.
    Serving { until: Time },
    /// The response is on its way.
    Answering,
    /// The response has arrived.
    Closing,
}

#[derive(Clone, Copy, Debug)]
struct Connection {
    /// Index of the flow of the request; that of the response is the next.
    request: u32,
    stage: Stage,
    began: Time,
    transaction: Transaction,
}

/// A web source at work.
pub(crate) struct Web {
    source: WebSource,
    settings: WebSettings,
    connections: Vec<Connection>,
    /// Connections that are over, by the time they were.
    closing: VecDeque<u32>,
    begun: u64,
    finished: u64,
    /// Since the end of the warm-up: connections that found no place.
    refused: u64,
    /// Since then: from the first packet of the request to the last of the response.
    completions: Histogram,
}

impl Web {
    pub(super) fn new(settings: &WebSettings, source: WebSource) -> Web {
        Web {
            source,
            settings: *settings,
            connections: Vec::new(),
            closing: VecDeque::new(),
            begun: 0,
            finished: 0,
            refused: 0,
            completions: Histogram::EMPTY,
        }
    }

    /// What is measured is measured from now on.
    pub(super) fn begin_to_measure(&mut self) {
        self.refused = 0;
        self.completions = Histogram::EMPTY;
    }

    /// No new connections.
    pub(super) fn close(&mut self) {
        self.source.close();
    }

    /// Connections that found no place, since measuring began.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Times from the first packet of the request to the last of the response, since measuring began.
    pub(crate) fn completions(&self) -> &Histogram {
        &self.completions
    }

    /// Connections whose response has not arrived.
    pub(crate) fn unfinished(&self) -> u64 {
        let connections = self.connections.iter();
        let open = connections.filter(|connection| connection.stage != Stage::Closing);
        open.count() as u64
    }

    /// Begun and finished so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.begun, self.finished)
    }

    /// The flows of responses.
    pub(crate) fn responses(&self) -> impl Iterator<Item = usize> {
        let connections = self.connections.iter();
        connections.map(|connection| connection.request as usize + 1)
    }
}

/// The place of a flow among the connections of the sources.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    web: u32,
    connection: u32,
}

impl World<'_> {
    /// Starts source number `web`, that of flow `index`.
    pub(super) fn start_web(&mut self, now: Time, index: usize, web: u32) {
        self.webs[web as usize].source.open(now);
        self.arrive_at_web(now, index, web);
    }

    /// The source of flow `index` has a connection to begin, if it is not over.
    pub(super) fn arrive_at_web(&mut self, now: Time, index: usize, web: u32) {
        let source = &mut self.webs[web as usize].source;
        if source.deadline() <= now {
            let transaction = source.connect();
            self.begin_connection(now, index, web, transaction);
        }
        let next = self.webs[web as usize].source.deadline();
        self.set_timer(index, next);
    }

    fn begin_connection(&mut self, now: Time, index: usize, web: u32, transaction: Transaction) {
        let Some(place) = self.vacancy(now, index, web) else {
            self.webs[web as usize].refused += 1;
            return;
        };
        let web = &mut self.webs[web as usize];
        web.begun += 1;
        let connection = &mut web.connections[place as usize];
        connection.stage = Stage::Asking;
        connection.began = now;
        connection.transaction = transaction;
        let tcp = web.settings.tcp;
        let request = connection.request as usize;
        self.send_message(now, request, &tcp, transaction.request_bytes);
    }

    /// A connection that may be used, one that is over or another.
    fn vacancy(&mut self, now: Time, index: usize, web: u32) -> Option<u32> {
        let closing = self.webs[web as usize].closing.len();
        for _ in 0..closing.min(LOOKED_AT) {
            let place = self.webs[web as usize].closing.pop_front()?;
            let request = self.webs[web as usize].connections[place as usize].request;
            if self.is_over(request) {
                return Some(place);
            }
            self.settle_links(now);
            if self.is_over(request) {
                return Some(place);
            }
            self.webs[web as usize].closing.push_back(place);
        }
        let first = self.flows.len();
        let place = self.webs[web as usize].connections.len();
        if place >= MOST_OPEN || !self.agenda.grow(self.slots.flow(first + 2), self.end) {
            return None;
        }
        let settings = self.webs[web as usize].settings;
        for is_request in [true, false] {
            self.flows.push(FlowState::message(&settings.tcp));
            self.routes.add(index, is_request);
            self.members.push(Member {
                web,
                connection: place as u32,
            });
        }
        self.webs[web as usize].connections.push(Connection {
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

    /// Nothing of a connection's two flows is outstanding or under way.
    fn is_over(&self, request: u32) -> bool {
        [request, request + 1]
            .into_iter()
            .all(|index| self.is_free(index))
    }

    /// Nothing of flow `index` is outstanding or under way, so that it can carry another connection.
    pub(super) fn is_free(&self, index: u32) -> bool {
        self.flows[index as usize].is_done() && !self.acks.values().any(|&(flow, _)| flow == index)
    }

    /// Flow `index` sends a message of its connection.
    fn send_message(&mut self, now: Time, index: usize, tcp: &TcpSettings, bytes: u32) {
        let segments = bytes.div_ceil(tcp.mss_bytes);
        let tcp = TcpSettings {
            segments: Some(u64::from(segments)),
            ..*tcp
        };
        let flow = &mut self.flows[index];
        let payload = bytes - (segments - 1) * tcp.mss_bytes;
        flow.last = segments - 1;
        flow.last_bytes = (payload + tcp.header_bytes) as u16; // at most a full segment's
        flow.renew(&tcp);
        self.start_flow(now, index as u32);
    }

    /// The place of flow `index` among the connections, if it is of one.
    fn member(&self, index: usize) -> Option<Member> {
        let place = index.checked_sub(self.first_member)?;
        self.members.get(place).copied()
    }

    /// Every segment of the message of flow `index` has been delivered, perhaps not for the first
    /// time.
    #[cold]
    pub(super) fn message_arrived(&mut self, now: Time, index: usize) {
        let Some(Member {
            web, connection, ..
        }) = self.member(index)
        else {
            return;
        };
        let web = &mut self.webs[web as usize];
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
                self.set_timer(index + 1, until);
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
        self.flows[index].counters.short_bytes += bytes.next_multiple_of(mss) - bytes;
    }

    /// Whether flow `index` waits for its server; it begins to send when the time has come.
    #[cold]
    pub(super) fn serve_web(&mut self, now: Time, index: usize) -> bool {
        let Some(Member {
            web, connection, ..
        }) = self.member(index)
        else {
            return false;
        };
        let web = &mut self.webs[web as usize];
        let connection = &mut web.connections[connection as usize];
        let Stage::Serving { until } = connection.stage else {
            return false;
        };
        if index != connection.request as usize + 1 {
            return false;
        }
        if until > now {
            self.set_timer(index, until);
            return true;
        }
        connection.stage = Stage::Answering;
        let bytes = connection.transaction.response_bytes;
        let tcp = web.settings.tcp;
        self.set_timer(index, Time::NEVER);
        self.send_message(now, index, &tcp, bytes);
        true
    }
}

#[cfg(test)]
mod tests;

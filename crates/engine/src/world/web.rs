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

use super::clock::Clock;
use super::flow::FlowState;
use super::flows::{Flows, Wants};
use super::wires::{Wires, settle_all};
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

    /// Connections may begin.
    pub(super) fn open(&mut self, now: Time) {
        self.source.open(now);
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
struct Member {
    web: u32,
    connection: u32,
}

/// All web sources with their connections.
pub(crate) struct Webs {
    pub(super) sources: Vec<Web>,
    /// Place of each flow of a connection, and the number of the first such flow.
    members: Vec<Member>,
    first: usize,
}

impl Webs {
    pub(super) fn new(first: usize) -> Webs {
        Webs {
            sources: Vec::new(),
            members: Vec::new(),
            first,
        }
    }

    /// The sources by number.
    pub(crate) fn sources(&self) -> &[Web] {
        &self.sources
    }

    pub(super) fn begin_to_measure(&mut self) {
        self.sources.iter_mut().for_each(Web::begin_to_measure);
    }

    /// The place of flow `index` among the connections, if it is of one.
    fn member(&self, index: usize) -> Option<Member> {
        let place = index.checked_sub(self.first)?;
        self.members.get(place).copied()
    }
}

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
        let tcp = web.settings.tcp;
        let request = connection.request as usize;
        self.send_message(now, request, &tcp, transaction.request_bytes, wires, clock)
    }

    /// A connection that may be used, one that is over or another.
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
            settle_all(wires, self, now);
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
        let settings = self.webs.sources[web as usize].settings;
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

    /// Nothing of a connection's two flows is outstanding or under way.
    fn is_over(&self, request: u32) -> bool {
        [request, request + 1]
            .into_iter()
            .all(|index| self.is_free(index))
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
            ..*tcp
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
        let Some(Member {
            web, connection, ..
        }) = self.webs.member(index)
        else {
            return None;
        };
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
        let tcp = web.settings.tcp;
        self.set_timer(index, Time::NEVER, clock);
        Some(self.send_message(now, index, &tcp, bytes, wires, clock))
    }
}

#[cfg(test)]
mod tests;

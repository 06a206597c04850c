//! The connections of web sources. Successive connections use the same flows.
//!
//! A connection consists of two flows. One carries the request from client to server, and the other
//! carries the response from server to client. Each flow has its own ACKs and its own two timers.
//!
//! ```text
//! begin --request--> Asking --delivered--> Serving --delay--> Answering --delivered--> Closing
//!                                                    all acknowledged, no packet in flight --> free
//! ```
//!
//! When a connection has ended and none of its packets is in flight (sent = arrived + lost, for
//! data and ACKs), a new connection reuses its flows. Therefore memory is proportional to the
//! number of connections that are open simultaneously. At most [`MAX_OPEN`](super::connections)
//! connections may be open. Further connections are refused, and counted.

use std::collections::VecDeque;

use crate::app::web::{Transaction, WebSource};
use crate::histogram::Histogram;
use crate::kernel::time::Time;

use crate::scenario::WebSettings;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The request is being transferred.
    Asking,
    /// The server processes the request until this time.
    Serving { until: Time },
    /// The response is being transferred.
    Answering,
    /// The response has arrived completely. Packets may still be in flight.
    Closing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    /// Index of the flow for the request. The flow for the response has the next index.
    pub(super) request: u32,
    pub(super) stage: Stage,
    pub(super) began: Time,
    pub(super) transaction: Transaction,
}

/// A web source, and its connections.
pub(crate) struct Web {
    pub(super) source: WebSource,
    pub(super) settings: WebSettings,
    pub(super) connections: Vec<Connection>,
    /// Flows of the responses if external hosts replace this source; `None` if the source itself
    /// opens connections.
    pub(super) outside: Option<Vec<u32>>,
    /// Indices of connections whose responses have arrived. Packets of these connections may still
    /// be in flight.
    pub(super) closing: VecDeque<u32>,
    pub(super) begun: u64,
    pub(super) finished: u64,
    /// Number of connections refused since the end of the warm-up.
    pub(super) refused: u64,
    /// Completion times since the end of the warm-up: from the SYN to the last packet of the
    /// response.
    pub(super) completions: Histogram,
}

impl Web {
    pub(super) fn new(settings: &WebSettings, source: WebSource) -> Web {
        Web {
            source,
            settings: settings.clone(),
            connections: Vec::new(),
            outside: None,
            closing: VecDeque::new(),
            begun: 0,
            finished: 0,
            refused: 0,
            completions: Histogram::EMPTY,
        }
    }

    /// Starts the measurement, at the end of the warm-up.
    pub(super) fn begin_to_measure(&mut self) {
        self.refused = 0;
        self.completions = Histogram::EMPTY;
    }

    /// Returns the number of connections refused since the end of the warm-up.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the completion times since the end of the warm-up: from the SYN to the last packet
    /// of the response.
    pub(crate) fn completions(&self) -> &Histogram {
        &self.completions
    }

    /// Returns the number of connections whose response has not arrived completely.
    pub(crate) fn unfinished(&self) -> u64 {
        let connections = self.connections.iter();
        let open = connections.filter(|connection| connection.stage != Stage::Closing);
        open.count() as u64
    }

    /// Returns the number of connections started so far, and the number of connections finished so
    /// far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.begun, self.finished)
    }

    /// Returns the flows that carry responses.
    pub(crate) fn responses(&self) -> impl Iterator<Item = usize> + Clone {
        let connections = self.connections.iter();
        let own = connections.map(|connection| connection.request as usize + 1);
        own.chain(self.outside.iter().flatten().map(|&flow| flow as usize))
    }
}

/// Role of a flow that opens during the run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Role {
    /// Request or response of the connection with the index `connection` of the web source `web`.
    Web { web: u32, connection: u32 },
    /// Requests of the player of a stream.
    Requests,
}

/// A flow that opens during the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    /// Flow of the scenario to which this flow belongs.
    pub(super) flow: u32,
    pub(super) role: Role,
}

/// All web sources and their connections, and the owners of flows that open during the run.
pub(crate) struct Webs {
    pub(super) sources: Vec<Web>,
    /// Owner and role of each flow that opens during the run. The next field is the number of the
    /// first of these flows.
    pub(super) members: Vec<Member>,
    pub(super) first: usize,
}

impl Webs {
    pub(super) fn new(first: usize) -> Webs {
        Webs {
            sources: Vec::new(),
            members: Vec::new(),
            first,
        }
    }

    /// Returns all web sources in the order of their numbers.
    pub(crate) fn sources(&self) -> &[Web] {
        &self.sources
    }

    /// Returns the owner and the role of flow `index`; `None` for flows of the scenario and of
    /// users.
    pub(super) fn member(&self, index: usize) -> Option<Member> {
        let place = index.checked_sub(self.first)?;
        self.members.get(place).copied()
    }

    /// Returns the web source and the connection of flow `index`; `None` if the flow belongs to
    /// neither a request nor a response of a web source.
    pub(super) fn connection(&self, index: usize) -> Option<(u32, u32)> {
        match self.member(index)?.role {
            Role::Web { web, connection } => Some((web, connection)),
            Role::Requests => None,
        }
    }
}

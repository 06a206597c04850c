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
//! a time. At most [`MOST_OPEN`](super::connections) are: one that would begin then is refused, and counted.

use std::collections::VecDeque;

use crate::app::web::{Transaction, WebSource};
use crate::histogram::Histogram;
use crate::kernel::time::Time;

use crate::scenario::WebSettings;

/// What a connection is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
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
pub(super) struct Connection {
    /// Index of the flow of the request; that of the response is the next.
    pub(super) request: u32,
    pub(super) stage: Stage,
    pub(super) began: Time,
    pub(super) transaction: Transaction,
}

/// A web source at work.
pub(crate) struct Web {
    pub(super) source: WebSource,
    pub(super) settings: WebSettings,
    pub(super) connections: Vec<Connection>,
    /// Flows of responses where the connections are between hosts outside; the source is silent then.
    pub(super) outside: Option<Vec<u32>>,
    /// Connections whose responses have arrived; packets of theirs may still be under way.
    pub(super) closing: VecDeque<u32>,
    pub(super) begun: u64,
    pub(super) finished: u64,
    /// Since the end of the warm-up: connections that found no place.
    pub(super) refused: u64,
    /// Since then: from the SYN to the last packet of the response.
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

    /// Measuring begins now.
    pub(super) fn begin_to_measure(&mut self) {
        self.refused = 0;
        self.completions = Histogram::EMPTY;
    }

    /// Connections that found no place, since measuring began.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Times from the SYN to the last packet of the response, since measuring began.
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
    pub(crate) fn responses(&self) -> impl Iterator<Item = usize> + Clone {
        let connections = self.connections.iter();
        let own = connections.map(|connection| connection.request as usize + 1);
        own.chain(self.outside.iter().flatten().map(|&flow| flow as usize))
    }
}

/// The place of a flow among the connections of the sources.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) web: u32,
    pub(super) connection: u32,
}

/// All web sources with their connections.
pub(crate) struct Webs {
    pub(super) sources: Vec<Web>,
    /// Place of each flow of a connection, and the number of the first such flow.
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

    /// The sources by number.
    pub(crate) fn sources(&self) -> &[Web] {
        &self.sources
    }

    /// The place of flow `index` among the connections, if it is of one.
    pub(super) fn member(&self, index: usize) -> Option<Member> {
        let place = index.checked_sub(self.first)?;
        self.members.get(place).copied()
    }
}

//! The connections of web sources, and the flows that successive connections share.
//!
//! A connection consists of two flows, each with a stream of segments: its request, from client to
//! server, and its response, from server to client. Each flow has separate ACKs and two separate
//! timers.
//!
//! ```text
//! begin --request--> Asking --delivered--> Serving --delay--> Answering --delivered--> Closing
//!                                                    all acknowledged, no packet in flight --> free
//! ```
//!
//! A later connection uses the flows of a connection that has ended, once none of their packets is
//! in flight (sent = arrived + lost, for data and ACKs). Thus memory is proportional to the number
//! of connections that are open simultaneously. At most [`MOST_OPEN`](super::connections) may be
//! open. Further connections are refused, and counted.

use std::collections::VecDeque;

use crate::app::web::{Transaction, WebSource};
use crate::histogram::Histogram;
use crate::kernel::time::Time;

use crate::scenario::WebSettings;

/// State of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// The request is in flight.
    Asking,
    /// The server processes the request.
    Serving { until: Time },
    /// The response is in flight.
    Answering,
    /// The response has arrived.
    Closing,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Connection {
    /// Index of the flow of the request. The next index is the flow of the response.
    pub(super) request: u32,
    pub(super) stage: Stage,
    pub(super) began: Time,
    pub(super) transaction: Transaction,
}

/// A web source with its connections.
pub(crate) struct Web {
    pub(super) source: WebSource,
    pub(super) settings: WebSettings,
    pub(super) connections: Vec<Connection>,
    /// Flows of responses if the connections are between external hosts. The source then sends
    /// nothing.
    pub(super) outside: Option<Vec<u32>>,
    /// Connections whose responses have arrived. Some of their packets may still be in flight.
    pub(super) closing: VecDeque<u32>,
    pub(super) begun: u64,
    pub(super) finished: u64,
    /// Number of connections refused since the end of the warm-up.
    pub(super) refused: u64,
    /// Times from the SYN to the last packet of the response, since the end of the warm-up.
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

    /// Begins the measurement.
    pub(super) fn begin_to_measure(&mut self) {
        self.refused = 0;
        self.completions = Histogram::EMPTY;
    }

    /// Returns the number of connections refused since the start of measurements.
    pub(crate) fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns the times from the SYN to the last packet of the response, since the start of
    /// measurements.
    pub(crate) fn completions(&self) -> &Histogram {
        &self.completions
    }

    /// Returns the number of connections whose response has not arrived completely.
    pub(crate) fn unfinished(&self) -> u64 {
        let connections = self.connections.iter();
        let open = connections.filter(|connection| connection.stage != Stage::Closing);
        open.count() as u64
    }

    /// Returns the numbers of connections that have begun and finished so far.
    pub(crate) fn totals(&self) -> (u64, u64) {
        (self.begun, self.finished)
    }

    /// Returns the flows of responses.
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

    /// Returns the sources by number.
    pub(crate) fn sources(&self) -> &[Web] {
        &self.sources
    }

    /// Returns the place of flow `index` among the connections, if it belongs to a connection.
    pub(super) fn member(&self, index: usize) -> Option<Member> {
        let place = index.checked_sub(self.first)?;
        self.members.get(place).copied()
    }
}

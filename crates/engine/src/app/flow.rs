//! What runs between whom: a flow as settings describe it.

use super::call::CallPart;
use super::{Arrivals, ReportSettings, Transport};
use crate::kernel::time::Span;
use crate::mac::Category;
use crate::packet::Direction;

/// What a flow runs between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A station and a wired node.
    Station {
        /// Index of the station.
        station: usize,
        /// Where the data goes.
        direction: Direction,
    },
    /// Two wired nodes.
    Wired,
}

/// One transport flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique name: `STATION/up/K`, `STATION/down/K`, `STATION/udp-up/K` or `STATION/udp-down/K`; between
    /// wired nodes the name of its table, with a number if the table makes several. A flow of a call:
    /// `HOST/audio-up/K`, `HOST/audio-down/K`, `HOST/video-up/K` or `HOST/video-down/K`.
    pub name: String,
    /// The table it comes from, for statistics by class.
    pub class: String,
    /// What it runs between.
    pub ends: Ends,
    /// The links that its data takes, indices into the wired links; for a station's flow those
    /// beyond the cell's wire.
    pub forward: Vec<u32>,
    /// The links that its ACKs take.
    pub back: Vec<u32>,
    /// Access category of its packets, both ways.
    pub category: Category,
    /// When the first packet is sent, at the earliest.
    pub start: Span,
    /// By how much the first packet may be later, uniformly at random in each replication.
    pub start_spread: Span,
    /// No new data from then on; `None`: runs to the end.
    pub stop: Option<Span>,
    /// What sends.
    pub transport: Transport,
    /// A sensor's reports, if they are what the transport carries, each as one segment or datagram.
    pub reports: Option<ReportSettings>,
    /// The part of a call that it is.
    pub call: Option<CallPart>,
}

impl Flow {
    /// A station's flow in category best effort, from the start of the run to its end.
    pub fn of_station(
        name: String,
        station: usize,
        direction: Direction,
        transport: Transport,
    ) -> Flow {
        Flow {
            class: String::new(),
            ends: Ends::Station { station, direction },
            forward: Vec::new(),
            back: Vec::new(),
            category: Category::BestEffort,
            start: Span::ZERO,
            start_spread: Span::ZERO,
            stop: None,
            transport,
            reports: None,
            call: None,
            name,
        }
    }

    /// The flow's station, if it has one.
    pub fn station(&self) -> Option<usize> {
        match self.ends {
            Ends::Station { station, .. } => Some(station),
            Ends::Wired => None,
        }
    }

    /// Whether a greedy source fills a queue for a station, rather than that of the station.
    pub fn fills_downlink(&self) -> bool {
        let greedy =
            matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy);
        greedy && self.direction() == Some(Direction::Down)
    }

    /// Direction of a station's flow.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
}

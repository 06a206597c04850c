//! Flows and their endpoints, as settings describe them.

use super::call::CallPart;
use super::{Arrivals, ReportSettings, Transport};
use crate::kernel::time::Span;
use crate::mac::Category;
use crate::packet::Direction;

/// The endpoints of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A station and a wired node.
    Station {
        /// Index of the station.
        station: usize,
        /// Direction of the data.
        direction: Direction,
    },
    /// Two wired nodes.
    Wired,
}

/// One transport flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique name of the flow. For a flow of a station it is `STATION/up/K`, `STATION/down/K`,
    /// `STATION/udp-up/K` or `STATION/udp-down/K`. Between wired nodes it is the name of the table,
    /// with a number if the table makes several flows. For a flow of a call it is
    /// `HOST/audio-up/K`, `HOST/audio-down/K`, `HOST/video-up/K` or `HOST/video-down/K`.
    pub name: String,
    /// Name of the table that describes the flow, for statistics by class.
    pub class: String,
    /// Endpoints of the flow.
    pub ends: Ends,
    /// Indices of the links that the data passes. For a flow of a station these are the links
    /// beyond the wire of the cell.
    pub forward: Vec<u32>,
    /// Indices of the links that the ACKs pass.
    pub back: Vec<u32>,
    /// Access category of the packets in both directions.
    pub category: Category,
    /// Earliest time of the first packet.
    pub start: Span,
    /// Maximum additional delay of the first packet. The delay is uniformly random in each
    /// replication.
    pub start_spread: Span,
    /// Time from which the flow sends no new data; `None` if the flow runs to the end.
    pub stop: Option<Span>,
    /// Transport of the flow.
    pub transport: Transport,
    /// Settings of the reports of a sensor, if the flow carries reports. Each report is one segment
    /// or datagram.
    pub reports: Option<ReportSettings>,
    /// Component of a call that the flow carries.
    pub call: Option<CallPart>,
}

impl Flow {
    /// Returns a flow of a station, with category best effort, from the start of the run to its
    /// end.
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

    /// Returns the station of the flow, if the flow has a station.
    pub fn station(&self) -> Option<usize> {
        match self.ends {
            Ends::Station { station, .. } => Some(station),
            Ends::Wired => None,
        }
    }

    /// Returns whether the flow is a greedy source that fills a queue in the direction of a
    /// station, and not the queue of the station.
    pub fn fills_downlink(&self) -> bool {
        let greedy =
            matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy);
        greedy && self.direction() == Some(Direction::Down)
    }

    /// Returns the direction of a flow of a station.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
}

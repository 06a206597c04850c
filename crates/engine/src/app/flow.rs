//! Flows and their ends, as settings describe them.

use super::call::CallPart;
use super::{Arrivals, ReportSettings, Transport};
use crate::kernel::time::Span;
use crate::mac::Category;
use crate::packet::Direction;

/// The ends of a flow.
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
    /// Unique name: `STATION/up/K`, `STATION/down/K`, `STATION/udp-up/K` or `STATION/udp-down/K`;
    /// between wired nodes the name of the table, with a number if the table makes several flows;
    /// for a flow of a call `HOST/audio-up/K`, `HOST/audio-down/K`, `HOST/video-up/K` or
    /// `HOST/video-down/K`.
    pub name: String,
    /// The table that describes the flow, for statistics by class.
    pub class: String,
    /// The ends.
    pub ends: Ends,
    /// Indices of the links that the data passes. For a station's flow these are the links beyond
    /// the wire of the cell.
    pub forward: Vec<u32>,
    /// Indices of the links that the ACKs pass.
    pub back: Vec<u32>,
    /// Access category of the packets in both directions.
    pub category: Category,
    /// The earliest time of the first packet.
    pub start: Span,
    /// Largest additional delay of the first packet, uniformly at random in each replication.
    pub start_spread: Span,
    /// The time from which the flow has no new data; `None`: it runs to the end.
    pub stop: Option<Span>,
    /// The source.
    pub transport: Transport,
    /// Reports of a sensor, if the transport carries them, each as one segment or datagram.
    pub reports: Option<ReportSettings>,
    /// The part of a call that the flow carries.
    pub call: Option<CallPart>,
}

impl Flow {
    /// Returns a station's flow of category best effort, from the start of the run to its end.
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

    /// Returns the station of the flow, if it has one.
    pub fn station(&self) -> Option<usize> {
        match self.ends {
            Ends::Station { station, .. } => Some(station),
            Ends::Wired => None,
        }
    }

    /// Returns whether a greedy source fills a queue for a station, instead of the queue of the
    /// station.
    pub fn fills_downlink(&self) -> bool {
        let greedy =
            matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy);
        greedy && self.direction() == Some(Direction::Down)
    }

    /// Returns the direction of a station's flow.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
}

//! Flows and their endpoints, as a scenario defines them.

use super::call::CallPart;
use super::{Arrivals, FlowHosts, ReportSettings, Transport, WriteSettings};
use crate::kernel::time::Span;
use crate::mac::Category;
use crate::packet::Direction;

/// The endpoints of a flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A station and a wired host.
    Station {
        /// Index of the station.
        station: usize,
        /// Direction of the data.
        direction: Direction,
    },
    /// Two wired hosts.
    Wired,
}

/// A flow of a scenario: one TCP connection, UDP source, web source or sequence of pings.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Unique name of the flow. For a flow of a station the name is `STATION/up/K`,
    /// `STATION/down/K`, `STATION/up/GROUP/K`, `STATION/down/GROUP/K`, `STATION/udp-up/K` or
    /// `STATION/udp-down/K`; for pings it is `STATION/ping/1`. For a flow between wired nodes
    /// the name is that of the table, with a number if the table defines several flows. For a flow
    /// of a call the name is `HOST/audio-up/K`, `HOST/audio-down/K`, `HOST/video-up/K` or
    /// `HOST/video-down/K`.
    pub name: String,
    /// Name of the table that defines the flow. Flows of one table form a class in results.
    pub class: String,
    /// Endpoints of the flow.
    pub ends: Ends,
    /// Indices of the links that the data passes. For a flow of a station, the wire of the cell is
    /// not included.
    pub forward: Vec<u32>,
    /// Indices of the links that the ACKs pass.
    pub back: Vec<u32>,
    /// Access category of the packets in both directions.
    pub category: Category,
    /// Time of the first packet, without the random delay `start_spread`.
    pub start: Span,
    /// Maximum random delay of the first packet. In each replication the delay is uniform between 0
    /// and this value.
    pub start_spread: Span,
    /// Time from which the flow sends no new data; `None` if the flow sends until the end of the
    /// run.
    pub stop: Option<Span>,
    /// Transport protocol of the flow, and its settings.
    pub transport: Transport,
    /// Settings of the sensor that sends its reports over the flow; `None` if no sensor uses the
    /// flow. Each report is one segment or datagram.
    pub reports: Option<Box<ReportSettings>>,
    /// Times at which an application writes the data of the TCP connection; `None` if TCP always has
    /// data to send.
    pub writes: Option<Box<WriteSettings>>,
    /// Role of the flow in a call; `None` for other flows.
    pub call: Option<CallPart>,
    /// Names of the hosts of a flow between wired nodes, and its DSCP; `None` if the file sets none
    /// of these.
    pub hosts: Option<Box<FlowHosts>>,
}

impl Flow {
    /// Returns a flow of a station with access category best effort. The flow exists from the start
    /// to the end of the run.
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
            writes: None,
            call: None,
            hosts: None,
            name,
        }
    }

    /// Returns the index of the flow's station; `None` for a flow between wired nodes.
    pub fn station(&self) -> Option<usize> {
        match self.ends {
            Ends::Station { station, .. } => Some(station),
            Ends::Wired => None,
        }
    }

    /// Returns whether the flow is a greedy source whose data goes to a station. This source keeps
    /// the queue of a link or of the access point full.
    pub fn fills_downlink(&self) -> bool {
        let greedy =
            matches!(&self.transport, Transport::Udp(udp) if udp.arrivals == Arrivals::Greedy);
        greedy && self.direction() == Some(Direction::Down)
    }

    /// Returns the direction of a station's flow; `None` for a flow between wired nodes.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
    /// Returns whether an application determines when the flow has data to send over TCP.
    pub fn is_limited_by_application(&self) -> bool {
        self.writes
            .as_ref()
            .is_some_and(|writes| writes.limits_data())
    }
}

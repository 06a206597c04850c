//! The checked scenario: every default filled in, every value in range.
//! Built only by [`super::parse`]; the rest of the engine trusts it.

use super::gateway::Gateway;
pub use crate::app::{
    Arrivals, Carrier, Gaps, ReportSettings, Transport, UdpSettings, WebArrivals, WebSettings,
};
pub use crate::bottleneck::{VsbFairness, VsbSettings};
pub use crate::channel::{Channel, ChannelChange, Quality};
pub use crate::conflict::{
    Connections, Csma, CsmaAccess, CsmaAcks, CsmaAir, CsmaFlow, CsmaLink, CsmaNode, CsmaPrice,
    CsmaUsers, DcfSettings, Hop,
};
use crate::kernel::streams::Streams;
use crate::kernel::time::Span;
pub use crate::link::{LinkSettings, Loss, Wire};
use crate::mac::dcf::Dcf;
pub use crate::mac::{
    Access, Category, Cell, CountdownRule, Node, Phy, PhyKind, QueueOrder, RateControl, Rates,
    Spread, Station, data_rates,
};
pub use crate::packet::Direction;
pub use crate::queue::*;
pub use crate::record::Record;
pub use crate::tcp::{CompoundSettings, CongestionControl, TcpSettings};

/// A whole experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title shown in results.
    pub name: String,
    /// Simulated time of each replication, warm-up included.
    pub duration: Span,
    /// Time cut from the start of each replication before anything is measured.
    pub warmup: Span,
    /// Number of independent replications.
    pub replications: u32,
    /// Seed of all random streams.
    pub seed: u64,
    /// The WLAN cell; without stations it stands idle.
    pub cell: Cell,
    /// The wired link between the access point and the servers, each way.
    pub wire: Wire,
    /// The virtual shared bottleneck between wire and access point.
    pub vsb: Option<VsbSettings>,
    /// Stations in order of the file, groups expanded.
    pub stations: Vec<Station>,
    /// Each direction of each wired link of the network, the cell's wire not among them.
    pub links: Vec<LinkSettings>,
    /// Flows: those of the stations in station order, then those between wired nodes.
    pub flows: Vec<Flow>,
    /// Wireless links that hear only some of each other; nothing else is wireless then.
    pub csma: Option<Csma>,
    /// What to record beside the means.
    pub record: Record,
    /// How fairness is enforced on Linux; nothing here reads it.
    pub gateway: Option<Gateway>,
}

/// What a flow runs between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ends {
    /// A station and a wired node.
    Station {
        /// Index into [`Scenario::stations`].
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
    /// Unique name: `STATION/up/K`, `STATION/down/K`, `STATION/udp-up/K` or `STATION/udp-down/K`;
    /// between wired nodes that of its table, with its number if the table makes several.
    pub name: String,
    /// The table it comes from, for statistics by class.
    pub class: String,
    /// What it runs between.
    pub ends: Ends,
    /// The links that its data takes, indices into [`Scenario::links`]; for a station's flow those
    /// beyond the cell's wire.
    pub forward: Vec<u32>,
    /// The links that its ACKs take.
    pub back: Vec<u32>,
    /// Access category of its packets, both ways.
    pub category: Category,
    /// First packet, at the earliest.
    pub start: Span,
    /// The first packet is this much later at most, uniformly at random in each replication.
    pub start_spread: Span,
    /// No new data from then on; `None`: runs to the end.
    pub stop: Option<Span>,
    /// What sends.
    pub transport: Transport,
    /// The transport carries a sensor's reports, each one segment or datagram, and nothing else.
    pub reports: Option<ReportSettings>,
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

    /// Direction of a station's flow.
    pub fn direction(&self) -> Option<Direction> {
        match self.ends {
            Ends::Station { direction, .. } => Some(direction),
            Ends::Wired => None,
        }
    }
}

impl Scenario {
    /// Rates of the frames from node `from` to node `to`, one of which is the access point (0; i + 1
    /// is station i).
    pub fn rates(&self, from: u32, to: u32) -> Rates {
        self.cell.rates(&self.stations, from, to)
    }
}

impl Dcf {
    /// The cell of `scenario`, idle.
    pub fn new(scenario: &Scenario, streams: &Streams) -> Dcf {
        let categories = scenario.flows.iter();
        let categories = categories.filter_map(|flow| Some((flow.station()?, flow.category)));
        Dcf::of(&scenario.cell, &scenario.stations, categories, streams)
    }
}

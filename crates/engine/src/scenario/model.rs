//! The checked scenario: every default filled in, every value in range.
//! Built only by [`super::parse`]; the rest of the engine trusts it.

pub use crate::app::{
    Arrivals, Carrier, Ends, Flow, Gaps, ReportSettings, Transport, UdpSettings, WebArrivals,
    WebSettings,
};
pub use crate::bottleneck::{
    BottleneckFairness, BottleneckGroup, BottleneckSettings, BottleneckUdp,
};
use crate::cell::Hotspot;
pub use crate::channel::{Channel, ChannelChange, Quality};
pub use crate::conflict::{
    Connections, Csma, CsmaAccess, CsmaAcks, CsmaAir, CsmaFlow, CsmaLink, CsmaNode, CsmaPrice,
    CsmaUsers, Hop, QueueUnit, Rounding,
};
use crate::echo::Responder;
pub use crate::echo::{Echo, EchoChange};
use crate::kernel::streams::Streams;
use std::ops::Range;

pub use super::record::Record;
use crate::bottleneck;
use crate::kernel::time::{Span, Time};
pub use crate::link::{LinkRate, LinkSettings, Loss, Trace, Wire};
pub use crate::mac::{
    Access, Bss, Category, Cell, ColliderWait, CountdownRule, Node, NodeId, Phy, PhyKind,
    PowerSave, QueueOrder, RateControl, Rates, Spread, Station, data_rates,
};
pub use crate::packet::Direction;
pub use crate::queue::*;
pub use crate::tcp::{
    CompoundSettings, CongestionAlgorithm, CubicLinuxSettings, DctcpSettings, PragueSettings,
    TcpSettings,
};

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
    /// Basic service sets. A scenario has one; without stations it is idle.
    pub bss: Vec<Bss>,
    /// The wired link between the access point and the servers, each way.
    pub wire: Wire,
    /// The virtual shared bottleneck between wire and access point.
    pub bottleneck: Option<BottleneckSettings>,
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
    /// TCP of flows that say nothing of it.
    pub tcp: TcpSettings,
    /// Defaults of TCP that depend on the kind of network and that flows have.
    pub tcp_defaults: TcpDefaults,
    /// UDP of flows that say nothing of it.
    pub udp: UdpSettings,
    /// What runs at places of an emulation; nothing else asks.
    pub programs: Vec<Program>,
}

/// Commands of the shell that run at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the place.
    pub place: String,
    /// The commands, in order.
    pub commands: Vec<String>,
}

impl Scenario {
    /// Returns the only BSS. Its callers support a single one.
    pub fn only_bss(&self) -> &Bss {
        debug_assert_eq!(self.bss.len(), 1);
        &self.bss[0]
    }

    /// Returns the rates of the frames of station number `station`, counted from 0.
    pub fn rates(&self, station: usize, direction: Direction) -> Rates {
        let cell = &self.only_bss().cell;
        cell.rates(&self.stations[station], direction)
    }

    /// Leaves of the bottleneck that packets can come to: number, and name in results.
    pub fn bottleneck_leaves(&self) -> impl Iterator<Item = (usize, String)> + use<> {
        bottleneck::shown_leaves(self.bottleneck.as_ref(), self.hotspot())
    }

    /// Whether some station sleeps.
    pub fn sleeps(&self) -> bool {
        self.stations.iter().any(|one| one.power_save.is_some())
    }

    /// The stations as they answer pings.
    pub fn responders(&self, streams: &Streams) -> impl Iterator<Item = Responder> {
        let stations = self.stations.iter();
        stations.map(|one| Responder::new(&one.name, one.echo, &one.echo_changes, streams))
    }

    /// The time that is measured: from the end of the warm-up to that of the run.
    pub fn measured(&self) -> Range<Time> {
        Time::ZERO + self.warmup..Time::ZERO + self.duration
    }

    /// Access point, stations and flows.
    pub fn hotspot(&self) -> Hotspot<'_> {
        Hotspot {
            bss: self.only_bss(),
            stations: &self.stations,
            flows: &self.flows,
        }
    }
}

/// Defaults of TCP that at least one flow has, among those that depend on the kind of network.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpDefaults {
    /// The network: its physical layer, or the key of its table.
    pub network: &'static str,
    /// Keys of the table `tcp`, each with its default as a file states it.
    pub values: Vec<(&'static str, String)>,
}

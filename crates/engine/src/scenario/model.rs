//! The checked scenario: every default is filled in, every value is in range. Only [`super::parse`] makes it, and the
//! rest of the engine relies on the checks.

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

/// An experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title shown in results.
    pub name: String,
    /// Simulated time of each replication, warm-up included.
    pub duration: Span,
    /// Time at the start of each replication that is not measured.
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
    /// Each direction of each wired link of the network, except the wire of the cell.
    pub links: Vec<LinkSettings>,
    /// Flows: those of the stations in station order, then those between wired nodes.
    pub flows: Vec<Flow>,
    /// Wireless links that sense only some of each other. The scenario then has no other wireless link.
    pub csma: Option<Csma>,
    /// Data to record in addition to mean values.
    pub record: Record,
    /// TCP settings of flows without their own.
    pub tcp: TcpSettings,
    /// Defaults of TCP that depend on the kind of network and that at least one flow has.
    pub tcp_defaults: TcpDefaults,
    /// UDP settings of flows without their own.
    pub udp: UdpSettings,
    /// Programs at places of an emulation. Only an emulation uses them.
    pub programs: Vec<Program>,
}

/// Shell commands that run at a place.
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

    /// Returns the leaves of the bottleneck at which packets may arrive: number, and name in results.
    pub fn bottleneck_leaves(&self) -> impl Iterator<Item = (usize, String)> + use<> {
        bottleneck::shown_leaves(self.bottleneck.as_ref(), self.hotspot())
    }

    /// Returns whether at least one station sleeps.
    pub fn sleeps(&self) -> bool {
        let mut stations = self.stations.iter();
        stations.any(|station| station.power_save.is_some())
    }

    /// The stations as they answer pings.
    pub fn responders(&self, streams: &Streams) -> impl Iterator<Item = Responder> {
        let stations = self.stations.iter();
        stations.map(|own| Responder::new(&own.name, own.echo, &own.echo_changes, streams))
    }

    /// Returns the measured time: from the end of the warm-up to the end of the run.
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

//! The checked scenario: all defaults are filled in, and all values are in range. Only
//! [`super::parse`] creates a [`Scenario`], and the rest of the engine relies on its checks.

pub use crate::app::{
    Arrivals, Carrier, Ends, Flow, Gaps, Periods, ReportSettings, StreamSettings, Transport,
    UdpSettings, WebArrivals, WebSettings, WriteSettings,
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
    AfterIdle, Bbr3Settings, BbrSettings, CompoundSettings, CongestionAlgorithm,
    CubicLinuxSettings, DctcpSettings, PragueSettings, TcpSettings,
};

/// A checked scenario.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Title shown in results.
    pub name: String,
    /// Simulated time of each replication, warm-up included.
    pub duration: Span,
    /// Initial part of each replication, which is excluded from the measurements.
    pub warmup: Span,
    /// Number of independent replications.
    pub replications: u32,
    /// Seed of all random streams.
    pub seed: u64,
    /// Basic service sets: always exactly one, which is idle in a scenario without stations.
    pub bss: Vec<Bss>,
    /// Wired link between the access point and the servers, in both directions.
    pub wire: Wire,
    /// Virtual shared bottleneck between the wired link and the access point; `None` without such a
    /// bottleneck.
    pub bottleneck: Option<BottleneckSettings>,
    /// Stations in order of the file, with groups expanded.
    pub stations: Vec<Station>,
    /// Wired links of the network, each direction separately, without the wire of the cell.
    pub links: Vec<LinkSettings>,
    /// Flows: first those of the stations in station order, then those between wired nodes.
    pub flows: Vec<Flow>,
    /// Wireless network in which each link senses only some of the other links; `None` without such
    /// a network. A scenario with such a network has no other wireless links.
    pub csma: Option<Csma>,
    /// Data to record in addition to mean values.
    pub record: Record,
    /// TCP settings of flows whose own tables set no TCP keys.
    pub tcp: TcpSettings,
    /// TCP defaults that depend on the kind of network. Only defaults that at least one flow uses
    /// are included.
    pub tcp_defaults: TcpDefaults,
    /// UDP settings of flows whose own tables set no UDP keys.
    pub udp: UdpSettings,
    /// Programs that an emulation runs at the server, at stations, and at the ends of wired flows.
    pub programs: Vec<Program>,
}

/// Shell commands that an emulation runs at the server, at a station, or at one end of a wired
/// flow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// Name of the place: the server, a station, or one end of a wired flow.
    pub place: String,
    /// Shell commands, in order.
    pub commands: Vec<String>,
}

impl Scenario {
    /// Returns the only BSS, for code that supports exactly one BSS.
    pub fn only_bss(&self) -> &Bss {
        debug_assert_eq!(self.bss.len(), 1);
        &self.bss[0]
    }

    /// Returns the rates of frames from or to station number `station`, counted from 0.
    pub fn rates(&self, station: usize, direction: Direction) -> Rates {
        let cell = &self.only_bss().cell;
        cell.rates(&self.stations[station], direction)
    }

    /// Returns those leaves (queues) of the bottleneck at which packets may arrive. With each
    /// leaf, returns its number and its name in results.
    pub fn bottleneck_leaves(&self) -> impl Iterator<Item = (usize, String)> + use<> {
        bottleneck::shown_leaves(self.bottleneck.as_ref(), self.hotspot())
    }

    /// Returns whether at least one station uses power save.
    pub fn sleeps(&self) -> bool {
        let mut stations = self.stations.iter();
        stations.any(|station| station.power_save.is_some())
    }

    /// Returns the responder of each station: the part of the simulation that replies to the
    /// bottleneck's pings.
    pub fn responders(&self, streams: &Streams) -> impl Iterator<Item = Responder> {
        let stations = self.stations.iter();
        stations.map(|own| Responder::new(&own.name, own.echo, &own.echo_changes, streams))
    }

    /// Returns the measured time: from the end of the warm-up to the end of the run.
    pub fn measured(&self) -> Range<Time> {
        Time::ZERO + self.warmup..Time::ZERO + self.duration
    }

    /// Returns the hot spot of the scenario: the access point, the stations and their flows.
    pub fn hotspot(&self) -> Hotspot<'_> {
        Hotspot {
            bss: self.only_bss(),
            stations: &self.stations,
            flows: &self.flows,
        }
    }
}

/// The TCP defaults that depend on the kind of network and that at least one flow uses.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TcpDefaults {
    /// Kind of network: the physical layer of the cell, or the key of the network's table, such as
    /// `dumbbell`.
    pub network: &'static str,
    /// Keys of the table `tcp`, each with its default as text in the notation of a file.
    pub values: Vec<(&'static str, String)>,
}

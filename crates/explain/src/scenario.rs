//! The settings of a normalised scenario that explanations use, read from its JSON.

use serde_json::Value;

use crate::json::{Json, Read, table};
use crate::text::Text;

table! {
    /// A normalised scenario. Tables that a scenario has only once are kept as JSON.
    pub struct Scenario<'a> {
        pub cell: Value,
        pub wire: Value,
        pub vsb: Value,
        pub stations: Vec<Station<'a>>,
        pub links: Vec<Link<'a>>,
        pub flows: Vec<FlowTable<'a>>,
    }
}

table! {
    /// A station of a cell.
    pub struct Station<'a> {
        pub name: Text<'a>,
        /// Name of the scenario table that defines the station.
        pub group: Text<'a>,
        pub phy: Text<'a>,
        pub rate_bps: Value,
        pub downlink_rate_bps: Value,
        pub mcs: Value,
        pub mcs_by_snr: Value,
        pub snr_db: Value,
        pub error_up: Value,
        pub error_down: Value,
        pub power_save_s: Value,
        pub cwmin: Value,
        pub cwmax: Value,
        pub queue_packets: Value,
        pub queue: Discipline<'a>,
    }
}

table! {
    /// One direction of a wired link.
    pub struct Link<'a> {
        pub name: Text<'a>,
        pub from: Text<'a>,
        pub to: Text<'a>,
        pub rate_bps: Value,
        pub delay_s: Value,
        pub loss: Value,
        /// Whether the link connects a host of a flow to the network.
        pub of_host: Value,
        pub queue_packets: Value,
        pub queue: Discipline<'a>,
    }
}

table! {
    /// The discipline of a queue.
    pub struct Discipline<'a> {
        pub discipline: Text<'a>,
    }
}

table! {
    /// The settings of a flow.
    pub struct FlowTable<'a> {
        pub name: Text<'a>,
        /// Name of the scenario table that defines the flow.
        pub class: Text<'a>,
        pub station: Option<Text<'a>>,
        pub direction: Text<'a>,
        pub category: Text<'a>,
        pub forward: Vec<Text<'a>>,
        pub back: Vec<Text<'a>>,
        pub tcp: Option<Tcp<'a>>,
        pub udp: Option<Udp>,
        pub web: Option<Present>,
        pub sensor: Option<Present>,
        pub ping: Option<Present>,
        pub application: Option<Application>,
        /// Adaptive video that the connection carries.
        pub stream: Option<Present>,
    }
}

table! {
    /// TCP settings of a flow.
    pub struct Tcp<'a> {
        pub congestion: Text<'a>,
        pub sack: Value,
        pub window_packets: Value,
        pub initial_cwnd_packets: Value,
        pub mss_bytes: Value,
        pub segments: Value,
    }
}

table! {
    /// Times at which an application writes the data of a TCP connection.
    pub struct Application {
        pub rate_bps: Value,
        pub every_s: Value,
        pub on_s: Value,
    }
}

impl Application {
    /// Returns whether the application, and not only TCP, determines when data is sent.
    pub fn paces(&self) -> bool {
        [&self.rate_bps, &self.every_s, &self.on_s]
            .iter()
            .any(|key| !key.is_null())
    }
}

table! {
    /// A source of datagrams.
    pub struct Udp {
        pub rate_bps: Value,
    }
}

/// A table of which only the presence counts.
#[derive(Default)]
pub struct Present;

impl<'a> Read<'a> for Present {
    fn read(_: Json<'a>) -> Present {
        Present
    }
}

//! Traffic sources: UDP, calls, sensors, pings and web. Bulk TCP needs no source.

pub mod call;
mod flow;
pub mod ping;
pub mod sensor;
mod settings;
pub mod tally;
pub mod udp;
pub mod web;

pub use flow::{Ends, Flow};
pub use settings::{
    Arrivals, Carrier, Datagrams, Gaps, ReportSettings, SensorSettings, SourceRate, Transport,
    UdpSettings, WebArrivals, WebSettings, WiredDatagrams,
};

//! Traffic sources: UDP, calls (with a constant rate, or with Google congestion control), sensors, pings, web, adaptive video, and applications that write to a TCP connection
//! at their own times. Bulk TCP needs no source.

pub mod adaptive_call;
pub mod call;
mod flow;
mod flow_classes;
mod flow_hosts;
pub mod gcc;
pub mod ping;
pub mod player;
pub mod sensor;
mod settings;
mod stream_settings;
pub mod tally;
pub mod udp;
pub mod web;
mod write_settings;
pub mod writes;

pub use flow::{Ends, Flow};
pub(crate) use flow_classes::flow_classes;
pub use flow_hosts::FlowHosts;
pub use settings::{
    Arrivals, Carrier, Datagrams, Gaps, ReportSettings, SensorSettings, SourceRate, Transport,
    UdpSettings, WebArrivals, WebSettings, WiredDatagrams,
};
pub(crate) use stream_settings::chunk_bytes;
pub use stream_settings::{Adaptation, StreamSettings, VideoKeys};
pub use write_settings::{Periods, WriteKeys, WriteSettings};

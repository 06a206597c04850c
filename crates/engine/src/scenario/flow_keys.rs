//! The keys of a station's flows.

use super::model::*;
use crate::app::call::CallKeys;
use crate::app::ping::PingKeys;
use crate::app::{Datagrams, SensorSettings, VideoKeys, WebSettings, WriteKeys};
use crate::kernel::time::Span;
use crate::notation::setting::{S, count, duration, name, word};
use crate::table;

table! {
    /// Keys of every flow of a station.
    pub struct StationFlow in "flow of a station" {
        /// Time of the first packet, to which the delay of stagger is added.
        start: Span = duration(0..=1_000_000 * S).default("0 s");
        /// Time after which no new data is sent.
        stop: Option<Span> = duration(0..=1_000_000 * S).depends("the end of the run");
        /// Node of the wired network to which the server is attached.
        server: Option<String> = name().depends("the node that cell.node sets");
        /// Access category of the flow's packets. The ACKs of a TCP flow have the same category.
        category: Category = word().default(Category::BestEffort);
    }
}

table! {
    /// TCP connections of a station in one direction. A bare number is the number of connections. For several kinds of connections, the table contains groups in place of keys: tables with names of your choice, each with these keys.
    pub struct Connections in "connections" {
        /// Number of connections.
        connections: u32 = count(0..=100_000).default(1);
        all_of StationFlow;
        /// Largest random delay of the start of each connection, drawn in each replication.
        start_spread: Span = duration(0..=1_000_000 * S).default("0 s");
        /// Number of segments that each connection sends.
        segments: Option<u64> = count(1..=4_000_000_000).depends("no limit");
        all_of WriteKeys;
        all_of TcpSettings, inherits "the station's table tcp";
    }
}

table! {
    /// A UDP source. A bare value is its rate.
    pub struct DatagramFlow in "datagrams" {
        all_of Datagrams;
        all_of StationFlow;
        all_of UdpSettings, inherits "[udp]";
    }
}

table! {
    /// Small reports, each in one segment or datagram. A bare value is the mean time between reports.
    pub struct SensorFlow in "reports" {
        all_of SensorSettings;
        all_of StationFlow;
    }
}

table! {
    /// Calls of a station. A bare number is the number of calls, and the word "audio" is one call without video. Each call has 50 audio packets of 160 B per second (64 kb/s) in both directions. With video it also has 30 frames per second in both directions, each of 5 packets of 1000 B (1.2 Mb/s). With control = "gcc" the rate of the video adapts to the network.
    pub struct StationCall in "call" {
        all_of CallKeys;
        all_of StationFlow;
    }
}

table! {
    /// Pings of a station. A bare time is the time between two requests. The station sends the requests up, and the server replies immediately.
    pub struct StationPing in "station_ping" {
        all_of PingKeys;
        all_of StationFlow;
    }
}

table! {
    /// Web pages that a station loads. A bare number is the number of pages per second. With a bare number, responses have 8 kB on average; set response for whole pages. Each page is a TCP connection of its own with one request and one response. For several kinds of pages, the table contains groups in place of keys: tables with names of your choice, each with these keys.
    pub struct StationWeb in "station_web" {
        all_of WebSettings;
        all_of StationFlow;
        /// Largest random delay of the start, drawn in each replication.
        start_spread: Span = duration(0..=1_000_000 * S).default("0 s");
        all_of TcpSettings, inherits "the station's table tcp";
    }
}

table! {
    /// Adaptive video that a station plays. A bare number is the number of streams. For several kinds of streams, the table contains groups in place of keys: tables with names of your choice, each with these keys.
    pub struct StationStream in "station_stream" {
        all_of VideoKeys;
        all_of StationFlow;
        /// Largest random delay of the start of each stream, drawn in each replication.
        start_spread: Span = duration(0..=1_000_000 * S).default("0 s");
        all_of TcpSettings, inherits "the station's table tcp";
    }
}

table! {
    /// Settings of one station's TCP connections.
    pub struct StationTcp in "station_tcp" {
        all_of TcpSettings, inherits "[tcp]";
    }
}

//! The keys of a scenario file and of its stations.

use super::flow_keys::{
    Connections, DatagramFlow, SensorFlow, StationCall, StationPing, StationStream, StationTcp,
    StationWeb,
};
use super::record::Record;
use super::wired::{Dumbbell, FlowTable, ParkingLot};
use crate::app::call::CallKeys;
use crate::app::ping::PingKeys;
use crate::app::{Datagrams, SensorSettings, UdpSettings, VideoKeys, WebSettings};
use crate::bottleneck::BottleneckSettings;
use crate::channel::ErrorKeys;
use crate::conflict::CsmaTable;
use crate::echo::EchoKeys;
use crate::kernel::time::Span;
use crate::link::{LinkSettings, Wire};
use crate::mac::{Cell, DATA_RATE, NOT_MODELLED, NodeAccess, PhyKind, SleepKeys, StreamKeys};
use crate::notation::setting::{
    MS, S, by_place, commands, count, duration, inner, listed, shorthand, tables, title,
    word_or_none,
};
use crate::notation::table::joined;
use crate::queue::{QueueSetting, queue};
use crate::table;
use crate::tcp::TcpSettings;

/// Version of the format of scenario files and saved results.
pub const FORMAT: u32 = 1;

table! {
    /// A Wi-Fi hot spot, a network of wired links with its flows, or both. A hot spot is one access point, its stations, and their flows to servers at the far end of a wire.
    pub struct Root in "scenario" {
        /// Title shown in results.
        name: Option<String> = title().depends("the name of the file without its extension");
        /// Simulated time of each replication, warm-up included.
        duration: Span = duration(MS..=1_000_000 * S).required();
        all_of RootKeys;
    }
}

table! {
    /// Other keys of the file.
    pub struct RootKeys in "scenario" {
        /// Format of the file. Files of a newer format are refused.
        format: u32 = count(1..=FORMAT as u64).but("1").default(1);
        /// Time at the start of each replication that is not measured.
        warmup: Option<Span> =
            duration(0..=1_000_000 * S).depends("a tenth of the duration, at most 20 s");
        /// Number of independent replications, from which confidence intervals are computed.
        replications: u32 = count(1..=10_000).default(5);
        /// Seed of all random streams.
        seed: u64 = count(0..=(1 << 53) - 1).default(1);
        /// Delay between the starts of consecutive flows. Flow number k of the file, from k = 0 on, starts k times this value later.
        stagger: Span = duration(0..=1_000 * S).default("0 s");
        /// The WLAN cell: its physical layer, and the medium access of all nodes.
        key cell: Cell = inner().absent("no cell; a cell is required with stations");
        /// The wired link between the access point and the servers, equal in both directions by default.
        key wire: Wire = inner().depends("an ideal wire, without delay, losses and a limited rate");
        /// A virtual shared bottleneck in front of the access point.
        key bottleneck as "vsb": BottleneckSettings = inner().absent("none");
        /// Settings of all TCP connections.
        key tcp: TcpSettings = inner().depends("the defaults of the table's keys");
        /// Settings of all UDP sources.
        key udp: UdpSettings = inner().depends("the defaults of the table's keys");
        /// Stations by name. A name has at most 64 ASCII letters, digits, `-` and `_`, and begins with a letter or digit. The name `ap` is reserved.
        key station: StationTable = tables().absent("no stations");
        /// Wired links by name. Names follow the rules for names of stations.
        key link: LinkSettings = tables().absent("no links");
        /// Two routers with one bottleneck between them.
        key dumbbell: Dumbbell = inner().absent("none");
        /// Routers in a row, with a bottleneck between each router and the next.
        key parking_lot: ParkingLot = inner().absent("none");
        /// Network of wireless links that sense only some of each other, described by its conflict graph.
        key csma: CsmaTable = inner().absent("none");
        /// Queue in front of the bottlenecks of a dumbbell or parking_lot, in the direction of the data. A bare number is its limit in packets.
        key queue: QueueSetting = queue().default(1_000);
        /// Flows between wired nodes, by name. Names follow the rules for names of stations.
        key flow: FlowTable = tables().absent("no flows between wired nodes");
        /// Programs at places of an emulation. Other runs ignore them. A place is `server`, the name of a station, or one end of a flow between wired nodes, in quotes: "FLOW/source" or "FLOW/sink". A command may be a list of commands.
        key programs: ProgramTable = by_place(ProgramTable::run)
            .but("commands by place, such as { server = \"iperf3 -s\" }")
            .absent("no programs");
        /// Data to record in addition to mean values.
        key record: Record = inner().depends("only mean values");
    }
}

table! {
    /// Programs at one place of an emulation. A bare value is the command, or the list of commands.
    pub struct ProgramTable in "program" {
        /// Shell command, or list of shell commands. Each program starts with the run, and ends with the run at the latest.
        run: Vec<String> = commands().checked();
    }
}

/// Words for kinds of traffic that have no key in a station's table, each with a hint.
const TRAFFIC: &[(&str, &str)] = &{
    const CALL: &str = "write a call as `call = 1`, or without video as `call = \"audio\"`";
    const PING: &str = "write pings from the station to its server as `ping = \"200 ms\"`";
    const GAME: &str = "write a game as a UDP flow in each direction, such as `udp_up = { rate = \
                        \"50 kbps\", packet = \"100 B\" }` and `udp_down` with the same value";
    const STREAM: &str = "write an adaptive video as `stream = 1`, or a stream of a fixed rate as \
                          `udp_down = { rate = \"5 Mbps\" }`";
    const WEB: &str = "write web pages as `web = 0.2`, the number of pages per second";
    [
        ("calls", CALL),
        ("audio_call", CALL),
        ("phone_call", CALL),
        ("video_call", CALL),
        ("voice_call", CALL),
        ("video_conference", CALL),
        ("conference", CALL),
        ("meeting", CALL),
        ("voip", CALL),
        ("webrtc", CALL),
        ("teams", CALL),
        ("zoom", CALL),
        ("icmp", PING),
        ("irtt", PING),
        ("ping_up", PING),
        ("ping_every", PING),
        ("game", GAME),
        ("gaming", GAME),
        ("streaming", STREAM),
        ("video_stream", STREAM),
        ("youtube", STREAM),
        ("netflix", STREAM),
        ("dash", STREAM),
        ("http", WEB),
        ("browsing", WEB),
        ("pages", WEB),
    ]
};

/// Keys that a station's table does not have, each with a hint.
const NO_KEY: &[(&str, &str)] =
    &joined::<{ NOT_MODELLED.len() + TRAFFIC.len() }>(NOT_MODELLED, TRAFFIC);

table! {
    /// A station, or a group of equal stations if count is set.
    pub struct StationTable in "station" without NO_KEY {
        /// Number of equal stations, which are called NAME-1 to NAME-count.
        count: Option<u64> = count(1..=10_000).depends("one station with the table's own name");
        /// Physical layer of an older station in an 802.11n, ac or ax cell. At 2.4 GHz the station may have 802.11g, or 802.11n in an 802.11ax cell. At 5 GHz it may have 802.11a, n or ac.
        phy: Option<PhyKind> = word_or_none().depends("the physical layer of the cell");
        /// Rate of data frames from the station, and to the station unless downlink_rate or cell.ap.rate is set.
        rate: Option<u64> = listed(&DATA_RATE).depends("cell.rate");
        /// Rate of data frames to the station.
        downlink_rate: Option<u64> = listed(&DATA_RATE).depends("cell.ap.rate, else the station's rate");
        /// Queue of each access category: the limit in packets, or a table with limit and discipline.
        key queue: QueueSetting = queue().depends("cell.queue");
        all_of StreamKeys, inherits "[cell]";
        all_of ErrorKeys;
        all_of SleepKeys;
        all_of EchoKeys;
        /// Settings of the station's TCP connections.
        key tcp: StationTcp = inner().depends("the scenario's table [tcp]");
        /// TCP connections from the station to its server. A bare number is the number of connections. In place of the keys, the table may have groups of connections by name.
        key upload: Connections = shorthand(Connections::connections).groups::<Connections>().depends("none");
        /// TCP connections from the server to the station. A bare number is the number of connections. In place of the keys, the table may have groups of connections by name.
        key download: Connections = shorthand(Connections::connections).groups::<Connections>().depends("none");
        /// A UDP source at the station, which sends to the server.
        key udp_up: DatagramFlow = shorthand(Datagrams::rate).or_zero().depends("none");
        /// A UDP source at the server, which sends to the station.
        key udp_down: DatagramFlow = shorthand(Datagrams::rate).or_zero().depends("none");
        /// A sensor at the station, which sends small reports to the server from time to time.
        key sensor_up: SensorFlow = shorthand(SensorSettings::every).or_zero().depends("none");
        /// Small reports, such as commands, from the server to the station.
        key sensor_down: SensorFlow = shorthand(SensorSettings::every).or_zero().depends("none");
        /// Calls between the station and its server. A bare number is the number of calls with audio and video, and the word "audio" is one call without video.
        key call: StationCall = shorthand(CallKeys::calls).or_zero().depends("none");
        /// Pings from the station to its server and back, which measure the round-trip time under load. A bare time is the time between two requests, and 0 means no pings. A virtual shared bottleneck (vsb) has separate pings; the keys ping_delay, ping_loss and pings set how the station replies to them.
        key ping: StationPing = shorthand(PingKeys::every).or_zero().depends("none");
        /// Web pages that the station loads from its server. A bare number is the number of pages per second, and 0 means no pages. With a bare number, responses have 8 kB on average; set response for whole pages. In place of the keys, the table may have groups of pages by name.
        key web: StationWeb = shorthand(WebSettings::connections_per_s).groups::<StationWeb>().or_zero().depends("none");
        /// Adaptive video that the station plays from its server. A bare number is the number of streams, and 0 means no video. In place of the keys, the table may have groups of streams by name. The key streams of a station is the number of spatial streams of its radio, and the key video is an access category.
        key stream: StationStream = shorthand(VideoKeys::streams).groups::<StationStream>().or_zero().depends("none");
        all_of NodeAccess, inherits "[cell]";
    }
}

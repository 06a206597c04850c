//! The flows of a station: what a file says of them, and the flows made of it.

use super::model::*;
use super::network;
use super::root::{RootKeys, StationTable};
use super::wired::FlowTable;
use crate::app::call::CallKeys;
use crate::app::{Datagrams, SensorSettings};
use crate::kernel::time::Span;
use crate::mac::ApTable;
use crate::notation::decode::{Said, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, KeyOf, S, count, duration, name, word};
use crate::notation::units::{self, TIME};
use crate::table;

/// Longest deadline of reports that is chosen without being asked for.
const LONGEST_DEFAULT_DEADLINE: Span = Span(10_000_000_000);

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
    /// TCP connections of a station in one direction. A bare number is the number of connections.
    pub struct Connections in "connections" {
        /// Number of connections.
        connections: u32 = count(0..=100_000).default(1);
        all_of StationFlow;
        /// Number of segments that each connection sends.
        segments: Option<u64> = count(1..=4_000_000_000).depends("no limit");
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
    /// Calls of a station. A bare number is the number of calls, and the word "audio" is one call without video. Each call has 50 audio packets of 160 B per second (64 kb/s) in both directions. With video it also has 30 frames per second in both directions, each of 5 packets of 1000 B (1.2 Mb/s).
    pub struct StationCall in "call" {
        all_of CallKeys;
        all_of StationFlow;
    }
}

table! {
    /// Settings of one station's TCP connections.
    pub struct StationTcp in "station_tcp" {
        all_of TcpSettings, inherits "[tcp]";
    }
}

/// Tables of a station that make flows of TCP connections.
pub(super) const CONNECTIONS: [(KeyOf<Connections>, Direction); 2] = [
    (StationTable::upload, Direction::Up),
    (StationTable::download, Direction::Down),
];

/// Tables of a station that make a flow of datagrams.
pub(super) const DATAGRAMS: [(KeyOf<DatagramFlow>, Direction); 2] = [
    (StationTable::udp_up, Direction::Up),
    (StationTable::udp_down, Direction::Down),
];

/// Tables of a station that make a flow of reports.
pub(super) const REPORTS: [(KeyOf<SensorFlow>, Direction); 2] = [
    (StationTable::sensor_up, Direction::Up),
    (StationTable::sensor_down, Direction::Down),
];

/// The tables that a station has under these keys.
pub(super) fn made<T>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); 2],
) -> impl Iterator<Item = (&Section, Direction)> {
    let table = |(key, direction)| Some((station.inside(key)?, direction));
    keys.into_iter().filter_map(table)
}

/// Settings of TCP connections of a station, some of which may be in their own table.
pub(super) fn tcp_of(
    root: &Section,
    station: &Section,
    own: Option<&Section>,
) -> Result<TcpSettings, Refused> {
    let layers: Vec<&Section> = own
        .into_iter()
        .chain(station.inside(StationTable::tcp))
        .chain(root.inside(RootKeys::tcp))
        .collect();
    TcpSettings::read(&Layers(&layers))
}

/// Settings of datagram sources, some of which may be in their own table.
pub(super) fn udp_of(root: &Section, own: Option<&Section>) -> Result<UdpSettings, Refused> {
    let layers: Vec<&Section> = own.into_iter().chain(root.inside(RootKeys::udp)).collect();
    UdpSettings::read(&Layers(&layers))
}

/// The flows of one station of a table in a run of this `duration`, named without the station,
/// stagger not applied.
pub(super) fn of_station(
    root: &Section,
    station: &Section,
    links: &[LinkSettings],
    duration: Span,
    problems: &mut Problems,
) -> Result<Vec<Flow>, Refused> {
    let mut flows = Vec::new();
    let cell = root.inside(RootKeys::cell);
    let mut flow = |name: String, table: &Section, direction, transport| {
        let own = StationFlow::read(&Layers(&[table]))?;
        let (out, home) = network::beyond_the_wire(cell, table, links, problems)?;
        let (forward, back) = match direction {
            Direction::Up => (out, home),
            Direction::Down => (home, out),
        };
        Ok(Flow {
            forward,
            back,
            category: own.category,
            start: own.start,
            stop: own.stop,
            ..Flow::of_station(name, 0, direction, transport)
        })
    };
    for (table, direction) in made(station, CONNECTIONS) {
        let Connections {
            connections,
            segments,
        } = Connections::read(&Layers(&[table]))?;
        let transport = Transport::Tcp(TcpSettings {
            segments,
            ..tcp_of(root, station, Some(table))?
        });
        for k in 1..=connections {
            let name = format!("{}/{k}", direction.name());
            flows.push(flow(name, table, direction, transport.clone())?);
        }
    }
    for (table, direction) in made(station, DATAGRAMS) {
        let Datagrams {
            rate,
            arrivals,
            burst,
        } = Datagrams::read(&Layers(&[table]))?;
        let udp = udp_of(root, Some(table))?.leaving(rate, arrivals, burst);
        let transport = Transport::Udp(udp);
        let name = format!("udp-{}/1", direction.name());
        flows.push(flow(name, table, direction, transport)?);
    }
    for (table, direction) in made(station, REPORTS) {
        let sensor = SensorSettings::read(&Layers(&[table]))?;
        let transport = match sensor.transport {
            Carrier::Tcp => Transport::Tcp(TcpSettings {
                mss_bytes: sensor.payload_bytes,
                ..tcp_of(root, station, None)?
            }),
            Carrier::Udp => Transport::Udp(UdpSettings {
                payload_bytes: sensor.payload_bytes,
                ..udp_of(root, None)?
            }),
        };
        let default_deadline = Span(duration.0 / 10).min(LONGEST_DEFAULT_DEADLINE);
        let reports = ReportSettings {
            arrivals: sensor.arrivals,
            every: Layers(&[table])
                .need(SensorSettings::every)?
                .unwrap_or(duration),
            deadline: sensor.deadline.unwrap_or(default_deadline),
        };
        let name = format!("sensor-{}/1", direction.name());
        flows.push(Flow {
            reports: Some(reports),
            ..flow(name, table, direction, transport)?
        });
    }
    if let Some(table) = station.inside(StationTable::call) {
        let udp = udp_of(root, None)?;
        for part in CallKeys::read(&Layers(&[table]))?.parts() {
            let transport = Transport::Udp(part.medium.source(udp));
            flows.push(Flow {
                call: Some(part),
                ..flow(part.name(), table, part.direction, transport)?
            });
        }
    }
    Ok(flows)
}

/// The start of the k-th flow, k times the stagger later; it is before its stop and the end.
pub(super) fn staggered(
    root: &Section,
    k: usize,
    flow: &Flow,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Span, Refused> {
    let stagger = root.said(RootKeys::stagger).ok_or_else(Refused::already)?;
    let delay = stagger.value.0.saturating_mul(k as u64);
    let start = Span(flow.start.0.saturating_add(delay));
    let end = flow.stop.unwrap_or(scenario.duration);
    let end = end.min(scenario.duration);
    if start < end {
        return Ok(start);
    }
    let own = start_of(root, &scenario.stations, flow);
    let late = own.filter(|_| flow.start >= end).unwrap_or(stagger);
    let [start, end] = [start, end].map(|time| units::show(time.0, TIME));
    let name = &flow.name;
    let message = format!("flow `{name}` would start at {start}; expected before its end at {end}");
    Err(late.refuse(message, problems))
}

/// The start of a flow in the file.
fn start_of<'a>(root: &'a Section, stations: &[Station], flow: &Flow) -> Option<Said<'a, Span>> {
    let Ends::Station { station, direction } = flow.ends else {
        return root
            .one(RootKeys::flow, &flow.class)?
            .said(FlowTable::start);
    };
    let group = &stations[station].group;
    let station = root.one(RootKeys::station, group)?;
    let table = match flow.transport {
        _ if flow.reports.is_some() => under(station, REPORTS, direction),
        _ if flow.call.is_some() => station.inside(StationTable::call),
        Transport::Tcp(_) => under(station, CONNECTIONS, direction),
        Transport::Udp(_) => under(station, DATAGRAMS, direction),
        Transport::Web(_) => None, // between wired nodes only
    };
    table?.said(StationFlow::start)
}

/// The table of a station that makes flows of this direction.
pub(super) fn under<T>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); 2],
    direction: Direction,
) -> Option<&Section> {
    let found = made(station, keys).find(|(_, way)| *way == direction);
    found.map(|(table, _)| table)
}

/// An order of service cannot go with a discipline that has its own.
pub(super) fn check_order(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let ap = &scenario.cell.ap.queue;
    let table = root.inside(RootKeys::cell);
    if scenario.cell.ap_queue_order == QueueOrder::Mixed
        && ap.discipline.orders()
        && let Some(table) = table.and_then(|cell| cell.inside(Cell::ap))
        && let Some(order) = table.said(ApTable::queue_order)
    {
        let fault = "contradicts the queue's discipline, which chooses the next packet; expected \
                     \"fifo\"";
        order.refuse_value(fault, problems);
    }
}

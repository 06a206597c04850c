//! Creates the flows of a station from the tables of a file.

use super::flow_keys::{Connections, StationFlow, StationStream, StationWeb};
use super::flow_tables::{
    CONNECTIONS, DATAGRAMS, PAGES, REPORTS, VIDEOS, connections_of, group_of, grouped, made,
    tcp_layers, tcp_of, udp_of, under,
};
use super::model::*;
use super::network;
use super::root::{RootKeys, StationTable};
use super::wired::FlowTable;
use super::writes;
use crate::app::call::CallKeys;
use crate::app::ping::{PingKeys, PingSettings};
use crate::app::{Datagrams, SensorSettings, StreamSettings};
use crate::kernel::time::Span;
use crate::mac::ApTable;
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::FileTable;
use crate::notation::units::{self, TIME};

/// Longest default deadline of reports.
const LONGEST_DEFAULT_DEADLINE: Span = Span(10_000_000_000);

/// Returns the flows of one station of a group, in a run of this `duration`. The caller adds the
/// station's name to the names of the flows, and `stagger` to their starts.
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
    for (group, table, direction) in grouped(station, CONNECTIONS) {
        let own = Connections::read(&Layers(&[table]))?;
        let layers = tcp_layers(root, station, Some(table));
        let tcp = writes::tcp(&Layers(&layers), table, own.segments)?;
        let transport = Transport::Tcp(tcp);
        let writes = writes::of_flow(table, &transport)?;
        for k in 1..=own.connections {
            let group = group.map_or(String::new(), |group| format!("{group}/"));
            let name = format!("{}/{group}{k}", direction.name());
            flows.push(Flow {
                start_spread: own.start_spread,
                writes: writes.clone(),
                ..flow(name, table, direction, transport.clone())?
            });
        }
    }
    for (table, direction) in made(station, DATAGRAMS) {
        let own = Datagrams::read(&Layers(&[table]))?;
        let udp = udp_of(root, Some(table))?;
        let transport = Transport::Udp(udp.leaving(own.rate, own.arrivals, own.burst));
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
            reports: Some(reports.into()),
            ..flow(name, table, direction, transport)?
        });
    }
    if let Some(table) = station.inside(StationTable::call) {
        let udp = udp_of(root, None)?;
        let calls = CallKeys::read(&Layers(&[table]))?;
        for part in calls.parts() {
            let transport = Transport::Udp(calls.source(part, udp));
            flows.push(Flow {
                call: Some(part),
                ..flow(part.name(), table, part.direction, transport)?
            });
        }
    }
    if let Some(table) = station.inside(StationTable::ping) {
        let ping = PingSettings::of(PingKeys::read(&Layers(&[table]))?, duration);
        let name = "ping/1".to_owned();
        flows.push(flow(name, table, Direction::Up, Transport::Ping(ping))?);
    }
    for (group, table, direction) in grouped(station, PAGES) {
        let layers = tcp_layers(root, station, Some(table));
        let transport = Transport::Web(WebSettings {
            tcp: TcpSettings::read(&Layers(&layers))?,
            ..WebSettings::read(&Layers(&[table]))?
        });
        let name = numbered("web", group, 1);
        flows.push(Flow {
            start_spread: StationWeb::read(&Layers(&[table]))?.start_spread,
            ..flow(name, table, direction, transport)?
        });
    }
    for (group, table, direction) in grouped(station, VIDEOS) {
        let layers = tcp_layers(root, station, Some(table));
        let transport = Transport::Tcp(writes::paced_tcp(&Layers(&layers))?);
        let (streams, settings) = StreamSettings::read(&Layers(&[table]))?;
        for k in 1..=streams {
            flows.push(Flow {
                start_spread: StationStream::read(&Layers(&[table]))?.start_spread,
                stream: Some(settings.clone()),
                ..flow(
                    numbered("stream", group, k),
                    table,
                    direction,
                    transport.clone(),
                )?
            });
        }
    }
    Ok(flows)
}

/// Returns the name of flow `k` of a table, without the name of the station.
fn numbered(kind: &str, group: Option<&str>, k: u32) -> String {
    match group {
        Some(group) => format!("{kind}/{group}/{k}"),
        None => format!("{kind}/{k}"),
    }
}

/// Returns the start of flow number `k`: its start in the file plus k times `stagger`. The start
/// must be before the flow's stop and the end of the run.
pub(super) fn staggered(
    root: &Section,
    k: usize,
    flow: &Flow,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Span, Refused> {
    let stagger = root
        .located(RootKeys::stagger)
        .ok_or_else(Refused::already)?;
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

/// Returns the file entry that sets the start of a flow.
fn start_of<'a>(root: &'a Section, stations: &[Station], flow: &Flow) -> Option<Located<'a, Span>> {
    let Ends::Station { station, direction } = flow.ends else {
        return root
            .named(RootKeys::flow, &flow.class)?
            .located(FlowTable::start);
    };
    let group = &stations[station].group;
    let station = root.named(RootKeys::station, group)?;
    let table = match flow.transport {
        _ if flow.reports.is_some() => under(station, REPORTS, direction),
        _ if flow.call.is_some() => station.inside(StationTable::call),
        _ if flow.stream.is_some() => group_of(station, VIDEOS, direction, &flow.name),
        Transport::Tcp(_) => connections_of(station, direction, &flow.name),
        Transport::Udp(_) => under(station, DATAGRAMS, direction),
        Transport::Ping(_) => station.inside(StationTable::ping),
        Transport::Web(_) => group_of(station, PAGES, direction, &flow.name),
    };
    table?.located(StationFlow::start)
}

/// Refuses the key `queue_order` of the access point if the discipline of its queue determines the
/// order of service.
pub(super) fn check_order(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    let cell = &scenario.only_bss().cell;
    let table = root.inside(RootKeys::cell);
    if cell.ap_queue_order == QueueOrder::Mixed
        && cell.ap.queue.discipline.orders()
        && let Some(table) = table.and_then(|cell| cell.inside(Cell::ap))
        && let Some(order) = table.located(ApTable::queue_order)
    {
        let fault = "contradicts the queue's discipline, which chooses the next packet; expected \
                     \"fifo\"";
        order.refuse_value(fault, problems);
    }
}

//! Checks that values in different tables are consistent. Values that have been refused are not
//! checked.

use super::csma;
use super::flow_keys::StationFlow;
use super::flow_tables::{CONNECTIONS, DATAGRAMS, REPORTS, made};
use super::model::*;
use super::pings;
use super::root::{Root, RootKeys, StationTable};
use super::sharing;
use super::stations::{self, made_stations, shapes};
use super::wired::{FlowTable, Hosts, ShapeLink};
use super::writes;
use crate::app::call::CallKeys;
use crate::app::{Datagrams, SensorSettings, SourceRate, WiredDatagrams, WriteKeys};
use crate::kernel::time::Span;
use crate::mac::{Own, Preset};
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::setting::{FileTable, KeyOf, keys};
use crate::notation::units::{self, TIME};

/// Largest MSDU, LLC/SNAP header included (IEEE 802.11-2016, 9.2.4.7). [bytes]
const LARGEST_MSDU: u32 = 2_304;

/// Maximum rate of datagrams of a source. [1/s]
pub(super) const MAX_DATAGRAMS: u64 = 1_000_000;

/// Maximum number of samples of a time series.
const MAX_SAMPLES: u64 = 1_000_000;

/// Checks the consistency of a decoded file. The file is valid if neither this function nor the
/// decoder reports a problem.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    check_times(root, problems);
    stations::check(root, problems);
    check_wired_flows(root, problems);
    writes::check_tables(root, problems);
    check_bottleneck(root, problems);
    csma::check(root, problems);
    QueueSetting::check(root, RootKeys::queue, problems);
    for link in root.each(RootKeys::link) {
        LinkSettings::check(link, problems);
    }
    if let Some(wire) = root.inside(RootKeys::wire) {
        Wire::check(wire, problems);
    }
    for shape in shapes(root) {
        LinkRate::check(shape, ShapeLink::bottleneck, problems);
    }
    let Some(cell) = root.inside(RootKeys::cell) else {
        check_cell_is_not_needed(root, problems);
        return;
    };
    Cell::check(cell, problems);
    sharing::check(root, problems);
    let stations = root.tables(RootKeys::station);
    if !root.lacks(RootKeys::station) && stations.is_empty() {
        let message = "the cell has no stations; expected tables [station.NAME]";
        cell.refuse(message, problems);
    }
    let duration = root.value(Root::duration);
    for (_, station) in stations {
        QueueSetting::check(station, StationTable::queue, problems);
        let own = Own {
            phy: station.located(StationTable::phy),
            rates: [StationTable::rate, StationTable::downlink_rate],
        };
        Cell::check_station(station, cell, own, problems);
        Channel::check(station, duration, problems);
        Echo::check(station, duration, problems);
        for (connections, _) in made(station, CONNECTIONS) {
            check_lifetime(connections, problems);
            check_segment(root, cell, station, connections, problems);
        }
        for (source, _) in made(station, DATAGRAMS) {
            check_lifetime(source, problems);
            check_source(root, cell, source, problems);
            check_burst(source, source.located(Datagrams::burst), problems);
        }
        if let Some(call) = station.inside(StationTable::call) {
            check_lifetime(call, problems);
            check_call(call, problems);
        }
        if let Some(ping) = station.inside(StationTable::ping) {
            check_lifetime(ping, problems);
            pings::check_in_cell(root, cell, ping, LARGEST_MSDU, problems);
        }
        for (reports, _) in made(station, REPORTS) {
            check_lifetime(reports, problems);
            check_report(root, cell, station, reports, problems);
        }
    }
}

/// Checks the table of the virtual shared bottleneck. The file must have a cell, because the
/// bottleneck feeds an access point.
fn check_bottleneck(root: &Section, problems: &mut Problems) {
    let Some(bottleneck) = root.inside(RootKeys::bottleneck) else {
        return;
    };
    match root.inside(RootKeys::cell) {
        None => {
            let message = "this table is for a bottleneck in front of an access point; expected a \
                           cell with stations";
            bottleneck.refuse(message, problems);
        }
        Some(cell) => {
            if let Some(phy) = cell.located(Phy::kind) {
                let rate_bps = Preset::of(phy.value).rate_bps;
                BottleneckSettings::check(bottleneck, rate_bps, &made_stations(root), problems);
            }
        }
    }
}

fn check_cell_is_not_needed(root: &Section, problems: &mut Problems) {
    if root.lacks(RootKeys::cell) {
        return;
    }
    if let Some(station) = root.each(RootKeys::station).next() {
        let message = "missing; stations need a table with at least the key phy";
        problems.add(station.origin, RootKeys::cell.name(), message.to_owned());
        return;
    }
    if let Some(wire) = root.inside(RootKeys::wire)
        && wire.given
    {
        let message = "this is the wire between an access point and its servers, and the file has \
                       no cell; accepted with a `cell`";
        let hint = "the links of a wired network are tables [link.NAME]".to_owned();
        wire.refuse_with_hint(message, Some(hint), problems);
    }
}

fn check_wired_flows(root: &Section, problems: &mut Problems) {
    let tcp = root.inside(RootKeys::tcp);
    if let Some(tcp) = tcp
        && shapes(root).next().is_some()
    {
        TcpSettings::check(Layers(&[tcp]), problems);
    }
    for flow in root.each(RootKeys::flow) {
        check_lifetime_of(flow, FlowTable::start, FlowTable::stop, problems);
        if let Some(tcp) = tcp {
            TcpSettings::check(Layers(&[flow, tcp]), problems);
        }
        check_web(flow, problems);
        if let Some(ping) = flow.inside(FlowTable::ping) {
            pings::check(root, ping, problems);
            pings::check_wired(flow, problems);
            refuse_tcp(flow, "ping", problems);
            continue;
        }
        if let Some(call) = flow.inside(FlowTable::call) {
            check_wired_call(flow, call, problems);
            continue;
        }
        let Some(source) = flow.inside(FlowTable::udp) else {
            continue;
        };
        if let Some(udp) = root.inside(RootKeys::udp) {
            let rate = source.located(WiredDatagrams::rate);
            check_datagram_rate(rate, Layers(&[source, udp]), problems);
        }
        let needed = "a rate such as \"2 Mbps\"";
        missing(source, WiredDatagrams::rate, needed, problems);
        check_burst(source, source.located(WiredDatagrams::burst), problems);
        refuse_tcp(flow, "udp", problems);
    }
}

/// Refuses TCP keys in the table of a flow that uses another transport. `other` is the key that
/// selects this transport.
fn refuse_tcp(flow: &Section, other: &str, problems: &mut Problems) {
    let of_tcp = TcpSettings::table().names();
    let of_tcp = of_tcp.chain(keys!(FlowTable: segments));
    let of_tcp = of_tcp.chain(WriteKeys::table().names());
    for entry in of_tcp.filter_map(|key| flow.entry(key)) {
        let message = format!("this key is only for TCP; expected a flow without {other}");
        entry.refuse(message, problems);
    }
}

/// Checks that the table of a flow with calls contains no keys of UDP, web or TCP traffic.
fn check_wired_call(flow: &Section, call: &Section, problems: &mut Problems) {
    check_call(call, problems);
    let others = [flow.inside(FlowTable::udp), flow.inside(FlowTable::web)];
    for other in others.into_iter().flatten() {
        other.refuse("conflicts with `call`; expected one of the two", problems);
    }
    refuse_tcp(flow, "call", problems);
}

/// Checks that a call without video has no settings of video.
fn check_call(call: &Section, problems: &mut Problems) {
    if let (Some(calls), Some(video)) = (call.value(CallKeys::calls), call.located(CallKeys::video))
        && CallKeys::contradict(calls, video.value)
    {
        let fault = "contradicts calls = \"audio\"; expected false, or a number of calls";
        video.refuse_value(fault, problems);
    }
    CallKeys::check_control(call, problems);
}

/// Refuses bursts of a greedy source, which sends without gaps.
fn check_burst(source: &Section, burst: Option<Located<u32>>, problems: &mut Problems) {
    let rate = source.value(Datagrams::rate).flatten();
    let arrivals = source.value(Datagrams::arrivals).flatten();
    let is_greedy = rate == Some(SourceRate::Greedy) || arrivals == Some(Arrivals::Greedy);
    if let Some(burst) = burst
        && burst.value > 1
        && is_greedy
    {
        let fault = "contradicts a greedy source, which has no gaps; expected 1";
        burst.refuse_value(fault, problems);
    }
}

/// Reports that the key `key` of a table is missing, because `needed` requires it.
pub(super) fn missing<T>(table: &Section, key: KeyOf<T>, needed: &str, problems: &mut Problems) {
    if table.entry(key.name()).is_none() && !table.lacks(key) {
        let message = format!("missing; expected {needed}");
        problems.add(table.origin, &table.path(key.name()), message);
    }
}

/// Checks the table of a flow with web traffic. Keys that apply only to bulk TCP, such as `count`
/// and `segments`, are refused.
fn check_web(flow: &Section, problems: &mut Problems) {
    let Some(web) = flow.inside(FlowTable::web) else {
        return;
    };
    let needed = "a number of connections a second";
    missing(web, WebSettings::connections_per_s, needed, problems);
    if let Some(source) = flow.inside(FlowTable::udp) {
        source.refuse("conflicts with `web`; expected one of the two", problems);
    }
    let of_bulk = keys!(FlowTable: count, segments; Hosts: access_spread, rtt_spread);
    let of_bulk = of_bulk.into_iter().chain(WriteKeys::table().names());
    for entry in of_bulk.filter_map(|key| flow.entry(key)) {
        let message = "this key is only for bulk TCP; expected a flow without web";
        entry.refuse(message, problems);
    }
}

fn check_times(root: &Section, problems: &mut Problems) {
    let Some(duration) = root.value(Root::duration) else {
        return;
    };
    let shown = units::show(duration.0, TIME);
    if let Some(warmup) = root.located(RootKeys::warmup)
        && warmup.value.is_some_and(|span| span >= duration)
    {
        let fault =
            format!("leaves nothing to measure; expected less than the duration of {shown}");
        warmup.refuse_value(fault, problems);
    }
    let Some(record) = root.inside(RootKeys::record) else {
        return;
    };
    let from = record.located(Record::from);
    if let Some(from) = from.as_ref().filter(|from| from.value >= duration) {
        let fault = format!("leaves nothing to record; expected less than the duration of {shown}");
        from.refuse_value(fault, problems);
        return;
    }
    let Some(interval) = record.present(Record::series_interval) else {
        return;
    };
    let asked = Record {
        series_interval: Some(interval.value),
        from: from.map_or(Span::ZERO, |from| from.value),
        ..Record::default()
    };
    let samples = asked.samples(duration);
    if samples == 0 {
        let fault = format!("leaves no sample; expected at most the duration of {shown}");
        interval.refuse_value(fault, problems);
    } else if samples > MAX_SAMPLES {
        let fault = format!("makes {samples} samples of {shown}; expected at most {MAX_SAMPLES}");
        interval.refuse_value(fault, problems);
    }
}

pub(super) fn check_lifetime(flow: &Section, problems: &mut Problems) {
    check_lifetime_of(flow, StationFlow::start, StationFlow::stop, problems);
}

/// Checks that the start of a flow is before its stop.
fn check_lifetime_of(
    flow: &Section,
    start: KeyOf<Span>,
    stop: KeyOf<Option<Span>>,
    problems: &mut Problems,
) {
    if let (Some(start), Some(stop)) = (flow.located(start), flow.located(stop))
        && stop.value.is_some_and(|stop| stop <= start.value)
    {
        let start = units::show(start.value.0, TIME);
        let fault = format!("is not after the start; expected more than {start}");
        stop.refuse_value(fault, problems);
    }
}

pub(super) fn check_segment(
    root: &Section,
    cell: &Section,
    station: &Section,
    connections: &Section,
    problems: &mut Problems,
) {
    if let Some(tcp) = root.inside(RootKeys::tcp)
        && let Some(station_tcp) = station.inside(StationTable::tcp)
    {
        let tables = [connections, station_tcp, tcp];
        let layers = Layers(&tables);
        let sizes = (TcpSettings::mss_bytes, TcpSettings::header_bytes);
        check_msdu(cell, layers, sizes, connections, problems);
        TcpSettings::check(layers, problems);
    }
}

/// Checks that the packets of a flow fit into one 802.11 frame each, because packets are not
/// fragmented.
fn check_msdu(
    cell: &Section,
    layers: Layers,
    (payload, header): (KeyOf<u32>, KeyOf<u32>),
    flow: &Section,
    problems: &mut Problems,
) {
    let (payload, header) = (layers.located(payload), layers.located(header));
    let (Some(payload), Some(header), Some(llc_bytes)) =
        (payload, header, cell.value(Cell::llc_bytes))
    else {
        return;
    };
    let header_bytes = header.value;
    let room = LARGEST_MSDU.saturating_sub(header_bytes + llc_bytes);
    if payload.value <= room {
        return;
    }
    let fault = format!(
        "with headers of {header_bytes} B and {llc_bytes} B is more than an 802.11 frame carries \
         ({LARGEST_MSDU} B) in `{}`; expected at most {room} B",
        flow.path
    );
    payload.refuse_value(fault, problems);
}

fn check_source(root: &Section, cell: &Section, source: &Section, problems: &mut Problems) {
    let Some(udp) = root.inside(RootKeys::udp) else {
        return;
    };
    let tables = [source, udp];
    let layers = Layers(&tables);
    let sizes = (UdpSettings::payload_bytes, UdpSettings::header_bytes);
    check_msdu(cell, layers, sizes, source, problems);
    let rate = source.located(Datagrams::rate);
    let arrivals = source.located(Datagrams::arrivals);
    let is_greedy = |arrivals: Option<Arrivals>| arrivals == Some(Arrivals::Greedy);
    match (&rate, &arrivals) {
        (None, arrivals) if !arrivals.as_ref().is_some_and(|own| is_greedy(own.value)) => {
            let needed = "a rate such as \"2 Mbps\", or \"greedy\"";
            missing(source, Datagrams::rate, needed, problems);
        }
        (Some(rate), Some(arrivals))
            if (rate.value == Some(SourceRate::Greedy)) != is_greedy(arrivals.value) =>
        {
            let fault = format!(
                "contradicts the rate of {}; expected \"greedy\" for a greedy source, \
                 \"constant\" or \"poisson\" for one with a rate",
                rate.shown
            );
            arrivals.refuse_value(fault, problems);
        }
        _ => check_datagram_rate(rate, layers, problems),
    }
}

/// Checks that a sensor's report fits into a frame, and that its deadline is shorter than the run.
fn check_report(
    root: &Section,
    cell: &Section,
    station: &Section,
    reports: &Section,
    problems: &mut Problems,
) {
    let needed = "a duration such as \"10 s\"";
    missing(reports, SensorSettings::every, needed, problems);
    let transport = reports.value(SensorSettings::transport);
    let (outer, own, header) = match transport {
        Some(Carrier::Tcp) => {
            let own = station.inside(StationTable::tcp);
            (root.inside(RootKeys::tcp), own, TcpSettings::header_bytes)
        }
        Some(Carrier::Udp) | None => (root.inside(RootKeys::udp), None, UdpSettings::header_bytes),
    };
    if let Some(outer) = outer {
        let tables: Vec<&Section> = [reports].into_iter().chain(own).chain([outer]).collect();
        let sizes = (SensorSettings::payload_bytes, header);
        check_msdu(cell, Layers(&tables), sizes, reports, problems);
    }
    if let Some(duration) = root.located(Root::duration)
        && let Some(deadline) = reports.located(SensorSettings::deadline)
        && deadline.value.is_some_and(|span| span >= duration.value)
    {
        let duration = units::show(duration.value.0, TIME);
        let fault =
            format!("leaves no report to measure; expected less than the duration of {duration}");
        deadline.refuse_value(fault, problems);
    }
}

fn check_datagram_rate(
    rate: Option<Located<Option<SourceRate>>>,
    layers: Layers,
    problems: &mut Problems,
) {
    if let Some(rate) = rate
        && let Some(SourceRate::Bps(bps)) = rate.value
        && let Some(payload) = layers.located(UdpSettings::payload_bytes)
        && let bits = 8 * u64::from(payload.value)
        && bps > MAX_DATAGRAMS * bits
    {
        let fault = format!(
            "in datagrams of {} B is {} datagrams per second; expected at most {MAX_DATAGRAMS}",
            payload.value,
            bps / bits
        );
        rate.refuse_value(fault, problems);
    }
}

//! Names of stations and flows, and the maximum numbers of stations and flows.

use std::collections::HashMap;

use super::flow_keys::Connections;
use super::flow_tables::{CONNECTIONS, DATAGRAMS, PAGES, REPORTS, VIDEOS, made};
use super::root::{RootKeys, StationTable};
use super::wired::{Dumbbell, FlowTable, ParkingLot};
use crate::app::VideoKeys;
use crate::app::call::CallKeys;
use crate::notation::decode::Section;
use crate::notation::problem::{Origin, Problems, one_line};
use crate::notation::value::NAMES;

/// Maximum number of stations in a scenario.
pub(super) const MAX_STATIONS: u64 = 10_000;

/// Maximum number of flows in a scenario.
pub(super) const MAX_FLOWS: u64 = 100_000;

/// Returns the tables `dumbbell` and `parking_lot` of the file, each of which creates several links
/// and flows.
pub(super) fn shapes(root: &Section) -> impl Iterator<Item = &Section> {
    let dumbbell = root.inside(RootKeys::dumbbell);
    dumbbell
        .into_iter()
        .chain(root.inside(RootKeys::parking_lot))
}

/// Returns whether the table `dumbbell` or `parking_lot` of the file was refused.
fn lacks_shape(root: &Section) -> bool {
    root.lacks(RootKeys::dumbbell) || root.lacks(RootKeys::parking_lot)
}

/// Name of the access point in results and random streams.
pub(super) const AP_NAME: &str = "ap";

/// Returns the name of each table of stations with the names of the stations that the table
/// creates.
pub(super) fn made_stations(root: &Section) -> Vec<(String, Vec<String>)> {
    let tables = root.tables(RootKeys::station).iter();
    let each = tables.map(|(table, section)| (table.clone(), member_names(table, section)));
    each.collect()
}

/// Returns the names of the stations that the table `name` creates.
pub(super) fn member_names(name: &str, station: &Section) -> Vec<String> {
    members(name, station.value(StationTable::count).flatten())
}

/// Returns `name`, or with a `count` the names `name-1` to `name-count`.
pub(super) fn members(name: &str, count: Option<u64>) -> Vec<String> {
    match count {
        Some(count) => (1..=count).map(|k| format!("{name}-{k}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// Returns the number of flows of each station of the table; `None` if a number of flows was
/// refused.
fn flows(station: &Section) -> Option<u64> {
    let mut flows = 0;
    for (table, _) in made(station, CONNECTIONS) {
        flows += u64::from(table.value(Connections::connections)?);
    }
    for (table, _) in made(station, VIDEOS) {
        flows += u64::from(table.value(VideoKeys::streams)?);
    }
    let pages = made(station, PAGES).count();
    let others = pages + made(station, DATAGRAMS).count() + made(station, REPORTS).count();
    let of_calls = match station.inside(StationTable::call) {
        Some(call) => call_flows(call)?,
        None => 0,
    };
    let pings = u64::from(station.inside(StationTable::ping).is_some());
    Some(flows + others as u64 + of_calls + pings)
}

/// Returns the number of flows that a table of calls creates; `None` if a number was refused.
fn call_flows(table: &Section) -> Option<u64> {
    let calls = table.value(CallKeys::calls)?;
    let video = table.value(CallKeys::video)?;
    Some(CallKeys::flows(calls, video) as u64)
}

/// Returns the number of flows between wired nodes; `None` if a number of flows was refused.
fn wired_flows(root: &Section) -> Option<u64> {
    let mut all = 0;
    for flow in root.each(RootKeys::flow) {
        let of_calls = match flow.inside(FlowTable::call) {
            Some(call) => call_flows(call)?,
            None => 1,
        };
        all += of_calls * flow.value(FlowTable::count).flatten().unwrap_or(1);
    }
    if let Some(dumbbell) = root.inside(RootKeys::dumbbell) {
        all += dumbbell.value(Dumbbell::flows)?;
    }
    if let Some(lot) = root.inside(RootKeys::parking_lot) {
        let hops = lot.value(ParkingLot::hops)?;
        all += lot.value(ParkingLot::flows)? + hops * lot.value(ParkingLot::cross)?;
    }
    Some(all)
}

/// Checks the names and the total numbers of stations and flows.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    let named = root.tables(RootKeys::station).iter();
    let named = named.chain(root.tables(RootKeys::link));
    for (name, section) in named.chain(root.tables(RootKeys::flow)) {
        check_name(name, section, problems);
    }
    check_groups(root, problems);
    if root.lacks(RootKeys::station) {
        return;
    }
    let count = |station: &Section| station.value(StationTable::count).flatten().unwrap_or(1);
    let stations: u64 = root.each(RootKeys::station).map(count).sum();
    if stations > MAX_STATIONS {
        let message = format!("{stations} stations in total; expected at most {MAX_STATIONS}");
        problems.add(last_origin(root), RootKeys::station.name(), message);
        return;
    }
    check_unique(root, problems);
    let of_stations = |station| Some(flows(station)?.saturating_mul(count(station)));
    let of_stations: Option<u64> = root.each(RootKeys::station).map(of_stations).sum();
    let all = of_stations.zip(wired_flows(root));
    match all.map(|(flows, wired)| flows.saturating_add(wired)) {
        _ if root.lacks(RootKeys::flow) || lacks_shape(root) => {}
        // without flows, the programs of an emulation create the traffic
        Some(0) if !root.tables(RootKeys::programs).is_empty() => {}
        Some(0) => {
            let (origin, path, message) = nothing_flows(root);
            problems.add(origin, &path, message.to_owned());
        }
        Some(flows) if flows > MAX_FLOWS => {
            let message = format!("{flows} flows in total; expected at most {MAX_FLOWS}");
            let (origin, path) = most_flows(root);
            problems.add(origin, &path, message);
        }
        _ => {}
    }
}

/// Returns the origin and the path at which too many flows are reported: the last station, if the
/// file has stations, or else the last flow or the topology.
fn most_flows(root: &Section) -> (Origin, String) {
    let shape = shapes(root).next();
    match root.each(RootKeys::flow).next_back().or(shape) {
        Some(table) if root.tables(RootKeys::station).is_empty() => {
            (table.origin, table.path.clone())
        }
        _ => (last_origin(root), RootKeys::station.name().to_owned()),
    }
}

/// Returns the origin, the path and the message of the problem that a file creates no flows.
fn nothing_flows(root: &Section) -> (Origin, String, &'static str) {
    let shape = shapes(root).next();
    match shape {
        _ if !root.tables(RootKeys::station).is_empty() => (
            last_origin(root),
            RootKeys::station.name().to_owned(),
            "no station has a flow; expected at least one upload, download, udp_up, udp_down, \
             sensor_up, sensor_down, call, ping, web or stream, or [programs] for an emulation",
        ),
        Some(shape) => match shape.given(Dumbbell::flows.name()) {
            Some(flows) => (
                flows.origin,
                flows.path.clone(),
                "0 makes no flow; expected a number from 1 to 100000, or 0 with tables [flow.NAME]",
            ),
            None => (
                shape.origin,
                shape.path(Dumbbell::flows.name()),
                "missing; expected a number of flows, or tables [flow.NAME]",
            ),
        },
        None if root.lacks(RootKeys::link) || !root.tables(RootKeys::link).is_empty() => (
            root.origin,
            RootKeys::flow.name().to_owned(),
            "missing; expected tables [flow.NAME], each with a node `from` and a node `to`",
        ),
        None => (
            root.origin,
            RootKeys::station.name().to_owned(),
            "missing; expected tables [station.NAME] with flows, or flows over wired links",
        ),
    }
}

/// Returns the line or override of the last table of stations.
fn last_origin(root: &Section) -> Origin {
    let last = root.each(RootKeys::station).next_back();
    last.map_or(root.origin, |station| station.origin)
}

fn check_name(name: &str, section: &Section, problems: &mut Problems) {
    section.check_name(name, problems);
    if name == AP_NAME {
        let message = format!("\"{name}\" is the access point's name; expected {NAMES}");
        section.refuse(message, problems);
    }
}

/// Checks the names of the groups of connections of all stations. A table with groups has no keys of
/// its own, because they could belong to all groups or to one more group.
fn check_groups(root: &Section, problems: &mut Problems) {
    for station in root.each(RootKeys::station) {
        let connections = CONNECTIONS.into_iter().map(|(key, _)| station.inside(key));
        let pages = PAGES.into_iter().map(|(key, _)| station.inside(key));
        let videos = VIDEOS.into_iter().map(|(key, _)| station.inside(key));
        let tables = connections.chain(pages).chain(videos).flatten();
        for table in tables.filter(|table| !table.groups().is_empty()) {
            for (name, group) in table.groups() {
                group.check_name(name, problems);
            }
            let message =
                "conflicts with the groups of this table; expected this key in each group";
            for entry in table.all_given() {
                entry.refuse(message, problems);
            }
            for inner in table.given_tables() {
                let message = format!("{message}, or another name for the group");
                inner.refuse(message, problems);
            }
        }
    }
}

fn check_unique(root: &Section, problems: &mut Problems) {
    let mut makers: HashMap<String, &str> = HashMap::new();
    for (group, station) in root.tables(RootKeys::station) {
        for name in member_names(group, station) {
            let Some(other) = makers.insert(name.clone(), group) else {
                continue;
            };
            let message = format!(
                "station name `{}` is made twice, by `station.{}` too; expected unique names",
                one_line(&name, 80),
                one_line(other, 80)
            );
            station.refuse(message, problems);
            break;
        }
    }
}

//! Names and number of stations and flows.

use std::collections::HashMap;

use crate::notation::decode::{Entry, Section};
use crate::notation::problem::{Origin, Problems, one_line};
use crate::notation::value::{NAMES, fault_of_name};

/// Most stations in a scenario.
pub(super) const MOST_STATIONS: u64 = 10_000;

/// Most flows in a scenario.
pub(super) const MOST_FLOWS: u64 = 100_000;

/// Tables that stand for several links, and flows across them.
pub(super) const SHAPES: [&str; 2] = ["dumbbell", "parking_lot"];

/// The access point's name in results and random streams.
pub(super) const AP_NAME: &str = "ap";

/// The names of the stations that the table `name` makes.
pub(super) fn member_names(name: &str, station: &Section) -> Vec<String> {
    match station.entry("count").and_then(|entry| entry.count()) {
        Some(count) => (1..=count).map(|k| format!("{name}-{k}")).collect(),
        None => vec![name.to_owned()],
    }
}

/// Number of flows of one station of the table; `None` if a number was refused.
fn flows(station: &Section) -> Option<u64> {
    let mut flows = 0;
    for key in ["upload", "download"] {
        if let Some(table) = station.table(key) {
            flows += table.entry("connections")?.count()?;
        }
    }
    let sources =
        ["udp_up", "udp_down", "sensor_up", "sensor_down"].map(|key| station.table(key).is_some());
    Some(flows + sources.iter().map(|there| u64::from(*there)).sum::<u64>())
}

/// Number of flows between wired nodes; `None` if a number of a shape was refused.
fn wired_flows(root: &Section) -> Option<u64> {
    let count = |section: &Section, key| section.entry(key).and_then(Entry::count);
    let own = root.named("flow").iter();
    let own: u64 = own.map(|(_, flow)| count(flow, "count").unwrap_or(1)).sum();
    let shapes = SHAPES.iter().filter_map(|key| root.table(key));
    let of_shape = |shape: &Section| {
        let is_refused = ["flows", "cross", "hops"]
            .iter()
            .any(|key| shape.lacks(key));
        let hops = count(shape, "hops").unwrap_or(0);
        let all = count(shape, "flows").unwrap_or(0) + hops * count(shape, "cross").unwrap_or(0);
        (!is_refused).then_some(all)
    };
    Some(own + shapes.map(of_shape).sum::<Option<u64>>()?)
}

/// Checks the stations as a whole.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    for (name, station) in root.named("station") {
        check_name(name, station, problems);
    }
    for (name, section) in root.named("link").iter().chain(root.named("flow")) {
        check_name(name, section, problems);
    }
    if root.lacks("station") {
        return;
    }
    let count = |station: &Section| match station.entry("count") {
        Some(entry) => entry.count().unwrap_or(1),
        None => 1,
    };
    let stations: u64 = root.named("station").iter().map(|(_, s)| count(s)).sum();
    if stations > MOST_STATIONS {
        let message = format!("{stations} stations in all; allowed are at most {MOST_STATIONS}");
        problems.add(last_origin(root), "station", message);
        return;
    }
    check_unique(root, problems);
    let per_table: Option<Vec<u64>> = root
        .named("station")
        .iter()
        .map(|(_, s)| Some(flows(s)?.saturating_mul(count(s))))
        .collect();
    let all = per_table.zip(wired_flows(root));
    match all.map(|(flows, wired)| flows.iter().sum::<u64>().saturating_add(wired)) {
        _ if root.lacks("flow") || SHAPES.iter().any(|key| root.lacks(key)) => {}
        Some(0) => {
            let (origin, path, message) = nothing_flows(root);
            problems.add(origin, &path, message.to_owned());
        }
        Some(flows) if flows > MOST_FLOWS => {
            let message = format!("{flows} flows in all; allowed are at most {MOST_FLOWS}");
            let (origin, path) = most_flows(root);
            problems.add(origin, &path, message);
        }
        _ => {}
    }
}

/// The last table of those that make flows, the plural of stations standing for all of them.
fn most_flows(root: &Section) -> (Origin, String) {
    let shape = SHAPES.iter().find_map(|key| root.table(key));
    let flow = root.named("flow").last().map(|(_, flow)| flow);
    match flow.or(shape) {
        Some(table) if root.named("station").is_empty() => (table.origin, table.path.clone()),
        _ => (last_origin(root), "station".to_owned()),
    }
}

/// What to say of a file without a flow, and where.
fn nothing_flows(root: &Section) -> (Origin, String, &'static str) {
    let shape = SHAPES.iter().find_map(|key| root.table(key));
    match shape {
        _ if !root.named("station").is_empty() => (
            last_origin(root),
            "station".to_owned(),
            "no station has a flow; needed is at least one upload, download, udp_up, udp_down, \
             sensor_up or sensor_down",
        ),
        Some(shape) => (
            shape.origin,
            format!("{}.flows", shape.path),
            "missing; needed is a number of flows, or tables [flow.NAME]",
        ),
        None if root.lacks("link") || !root.named("link").is_empty() => (
            root.origin,
            "flow".to_owned(),
            "missing; needed are tables [flow.NAME], each with a node `from` and a node `to`",
        ),
        None => (
            root.origin,
            "station".to_owned(),
            "missing; needed are tables [station.NAME] with flows, or flows over wired links",
        ),
    }
}

/// Where the last station stands: it makes the sum what it is.
fn last_origin(root: &Section) -> Origin {
    root.named("station")
        .last()
        .map_or(root.origin, |(_, s)| s.origin)
}

fn check_name(name: &str, station: &Section, problems: &mut Problems) {
    let own = (name == AP_NAME).then_some("is the access point's name");
    let Some(fault) = fault_of_name(name).or(own) else {
        return;
    };
    let message = format!("\"{}\" {fault}; allowed {NAMES}", one_line(name, 40));
    problems.add(station.origin, &station.path, message);
}

fn check_unique(root: &Section, problems: &mut Problems) {
    let mut makers: HashMap<String, &str> = HashMap::new();
    for (group, station) in root.named("station") {
        for name in member_names(group, station) {
            let Some(other) = makers.insert(name.clone(), group) else {
                continue;
            };
            let message = format!(
                "station name `{}` is made twice, by `station.{}` too; allowed are unique names",
                one_line(&name, 80),
                one_line(other, 80)
            );
            problems.add(station.origin, &station.path, message);
            break;
        }
    }
}

//! TCP defaults that depend on the kind of network of a file.

use super::flow_tables::{CONNECTIONS, REPORTS, made};
use super::model::{Carrier, Phy, TcpDefaults};
use super::root::{RootKeys, StationTable};
use super::stations::shapes;
use super::wired::{Dumbbell, FlowTable, ParkingLot};
use crate::app::SensorSettings;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::setting::keys;
use crate::tcp::{CongestionAlgorithm, TcpSettings};

/// Returns the network-dependent TCP defaults that at least one flow of the file uses.
pub(super) fn of(root: &Section) -> TcpDefaults {
    let senders = senders(root);
    let keys = keys!(TcpSettings: congestion, sack, initial_cwnd_packets, window_packets);
    let default = |key: &&'static str| {
        let mut shown = senders.iter().filter_map(|tables| default_of(tables, key));
        Some((*key, shown.next()?))
    };
    TcpDefaults {
        network: network(root),
        values: keys.iter().filter_map(default).collect(),
    }
}

/// Returns the kind of network of a file, in the form of [`TcpDefaults::network`].
fn network(root: &Section) -> &'static str {
    let cell = root.inside(RootKeys::cell);
    if let Some(phy) = cell.and_then(|cell| cell.value(Phy::kind)) {
        return phy.name();
    }
    let tables = keys!(RootKeys: csma, dumbbell, parking_lot);
    let mut tables = tables.iter().filter(|key| root.table(key).is_some());
    tables.next().unwrap_or(&RootKeys::link.name())
}

/// Returns, for each group of TCP senders, the tables in which their TCP settings are looked up, in
/// order of precedence.
fn senders(root: &Section) -> Vec<Vec<&Section>> {
    let Some(tcp) = root.inside(RootKeys::tcp) else {
        return Vec::new();
    };
    let mut senders = Vec::new();
    for station in root.each(RootKeys::station) {
        let own = station.inside(StationTable::tcp);
        let connections = made(station, CONNECTIONS).map(|(table, _)| Some(table));
        let reports = made(station, REPORTS)
            .filter(|(table, _)| table.value(SensorSettings::transport) == Some(Carrier::Tcp));
        for table in connections.chain(reports.map(|_| None)) {
            senders.push(table.into_iter().chain(own).chain([tcp]).collect());
        }
    }
    for shape in shapes(root) {
        let counts = [Dumbbell::flows, ParkingLot::flows, ParkingLot::cross];
        if counts.iter().any(|key| shape.value(*key) > Some(0)) {
            senders.push(vec![tcp]);
        }
    }
    let flows = root.each(RootKeys::flow);
    let flows = flows.filter(|flow| flow.inside(FlowTable::udp).is_none());
    senders.extend(flows.map(|flow| vec![flow, tcp]));
    senders
}

/// Returns the default of `key` for senders with these tables, as text in the notation of a file;
/// `None` if one of the tables contains the key.
fn default_of(tables: &[&Section], key: &str) -> Option<String> {
    let entry = tables.iter().find_map(|table| table.entry(key))?;
    let congestion = Layers(tables).located(TcpSettings::congestion)?.value;
    // the default of SACK also depends on the congestion control, because Tahoe cannot use SACK
    let adapts = key == TcpSettings::sack.name() && congestion == CongestionAlgorithm::Tahoe;
    (!entry.given && !adapts).then(|| entry.shown.clone())
}

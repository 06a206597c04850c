//! Tables that create the flows of a station, and the outer tables from which these tables inherit
//! settings.

use super::flow_keys::{Connections, DatagramFlow, SensorFlow, StationStream, StationWeb};
use super::model::*;
use super::root::{RootKeys, StationTable};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, KeyOf};

/// Keys that create TCP connections in a station's table, each with the direction of the data.
pub(super) const CONNECTIONS: [(KeyOf<Connections>, Direction); 2] = [
    (StationTable::upload, Direction::Up),
    (StationTable::download, Direction::Down),
];

/// Keys that create a datagram source in a station's table, each with the direction of the data.
pub(super) const DATAGRAMS: [(KeyOf<DatagramFlow>, Direction); 2] = [
    (StationTable::udp_up, Direction::Up),
    (StationTable::udp_down, Direction::Down),
];

/// Keys that create a sensor's reports in a station's table, each with the direction of the data.
pub(super) const REPORTS: [(KeyOf<SensorFlow>, Direction); 2] = [
    (StationTable::sensor_up, Direction::Up),
    (StationTable::sensor_down, Direction::Down),
];

/// Key that creates web pages in a station's table, with the direction of the responses.
pub(super) const PAGES: [(KeyOf<StationWeb>, Direction); 1] =
    [(StationTable::web, Direction::Down)];

/// Key that creates adaptive video in a station's table, with the direction of the video.
pub(super) const VIDEOS: [(KeyOf<StationStream>, Direction); 1] =
    [(StationTable::stream, Direction::Down)];

/// Returns the tables that a station has under the keys `keys`, each with its direction.
pub(super) fn made<T, const N: usize>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); N],
) -> impl Iterator<Item = (&Section, Direction)> {
    grouped(station, keys).map(|(_, table, direction)| (table, direction))
}

/// Returns the tables that a station has under the keys `keys`, each with its direction. A table
/// with groups is replaced by its groups, each with its name.
pub(super) fn grouped<T, const N: usize>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); N],
) -> impl Iterator<Item = (Option<&str>, &Section, Direction)> {
    let table = |(key, direction)| Some((station.inside(key)?, direction));
    keys.into_iter()
        .filter_map(table)
        .flat_map(|(table, direction)| {
            let groups = table.groups().iter();
            let groups = groups.map(move |(name, group)| (Some(name.as_str()), group, direction));
            let own = table
                .groups()
                .is_empty()
                .then_some((None, table, direction));
            groups.chain(own)
        })
}

/// Returns the table that defines a TCP connection of a station. `flow` is the name of the flow,
/// which contains the name of its group.
pub(super) fn connections_of<'a>(
    station: &'a Section,
    direction: Direction,
    flow: &str,
) -> Option<&'a Section> {
    group_of(station, CONNECTIONS, direction, flow)
}

/// Returns the station's table under one of the keys `keys`, or the group in this table, that
/// defines the flow `flow` in the direction `direction`.
pub(super) fn group_of<'a, T, const N: usize>(
    station: &'a Section,
    keys: [(KeyOf<T>, Direction); N],
    direction: Direction,
    flow: &str,
) -> Option<&'a Section> {
    let parts: Vec<&str> = flow.split('/').collect();
    let group = match parts[..] {
        [_, _, group, _] => Some(group),
        _ => None,
    };
    let mut tables = grouped(station, keys);
    let (_, table, _) = tables.find(|&(name, _, own)| own == direction && name == group)?;
    Some(table)
}

/// Returns the TCP settings of a station's connections. Each setting is taken from the table of the
/// connections, else from the station's table, else from the root table.
pub(super) fn tcp_of(
    root: &Section,
    station: &Section,
    own: Option<&Section>,
) -> Result<TcpSettings, Refused> {
    TcpSettings::read(&Layers(&tcp_layers(root, station, own)))
}

/// Returns the tables in which the TCP settings of a station's connections are looked up, in order
/// of precedence.
pub(super) fn tcp_layers<'a>(
    root: &'a Section,
    station: &'a Section,
    own: Option<&'a Section>,
) -> Vec<&'a Section> {
    own.into_iter()
        .chain(station.inside(StationTable::tcp))
        .chain(root.inside(RootKeys::tcp))
        .collect()
}

/// Returns the settings of a datagram source. Each setting is taken from the table of the source,
/// else from the root table.
pub(super) fn udp_of(root: &Section, own: Option<&Section>) -> Result<UdpSettings, Refused> {
    let layers: Vec<&Section> = own.into_iter().chain(root.inside(RootKeys::udp)).collect();
    UdpSettings::read(&Layers(&layers))
}

/// Returns the station's table under one of the keys `keys` that creates flows in the direction
/// `direction`; `None` if the station has no such table.
pub(super) fn under<T>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); 2],
    direction: Direction,
) -> Option<&Section> {
    let mut tables = made(station, keys);
    let (table, _) = tables.find(|&(_, own)| own == direction)?;
    Some(table)
}

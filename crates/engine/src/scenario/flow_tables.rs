//! The tables that create the flows of a station, and the settings that these tables inherit.

use super::flow_keys::{Connections, DatagramFlow, SensorFlow};
use super::model::*;
use super::root::{RootKeys, StationTable};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, KeyOf};

/// Tables of a station that create flows of TCP connections.
pub(super) const CONNECTIONS: [(KeyOf<Connections>, Direction); 2] = [
    (StationTable::upload, Direction::Up),
    (StationTable::download, Direction::Down),
];

/// Tables of a station that create a flow of datagrams.
pub(super) const DATAGRAMS: [(KeyOf<DatagramFlow>, Direction); 2] = [
    (StationTable::udp_up, Direction::Up),
    (StationTable::udp_down, Direction::Down),
];

/// Tables of a station that create a flow of reports.
pub(super) const REPORTS: [(KeyOf<SensorFlow>, Direction); 2] = [
    (StationTable::sensor_up, Direction::Up),
    (StationTable::sensor_down, Direction::Down),
];

/// Returns the tables under these keys in the table of a station.
pub(super) fn made<T>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); 2],
) -> impl Iterator<Item = (&Section, Direction)> {
    let table = |(key, direction)| Some((station.inside(key)?, direction));
    keys.into_iter().filter_map(table)
}

/// Returns the TCP settings of a station's connections, from the nearest of these tables: their own
/// table, the station's table and the root table.
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

/// Returns the settings of datagram sources, from the nearest of these tables: their own table and
/// the root table.
pub(super) fn udp_of(root: &Section, own: Option<&Section>) -> Result<UdpSettings, Refused> {
    let layers: Vec<&Section> = own.into_iter().chain(root.inside(RootKeys::udp)).collect();
    UdpSettings::read(&Layers(&layers))
}

/// Returns the table of a station that creates flows in this direction.
pub(super) fn under<T>(
    station: &Section,
    keys: [(KeyOf<T>, Direction); 2],
    direction: Direction,
) -> Option<&Section> {
    let mut tables = made(station, keys);
    let (table, _) = tables.find(|&(_, own)| own == direction)?;
    Some(table)
}

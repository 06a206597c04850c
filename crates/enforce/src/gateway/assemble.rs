//! Assembles the [`Gateway`] from a decoded `[gateway]` table that has no problems.

use std::net::SocketAddr;

use lasthop_engine::control::WceSettings;
use lasthop_engine::notation::decode::Section;
use lasthop_engine::notation::layers::Layers;
use lasthop_engine::notation::problem::Refused;
use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::scenario::{Context, Station};

use super::checked::{AccessPoint, Discovery, Gateway, GatewayStation, Group, Snmp};
use super::settings::{
    AccessPointTable, BottleneckKeys, DiscoverTable, GatewayStationTable, GatewayTable, GatewayWce,
    GroupTable, ONLY, SnmpTable,
};
use crate::forms::{self, Which};

/// Returns the gateway of a decoded table.
///
/// # Errors
/// A value has been refused.
pub(crate) fn assemble(gateway: &Section, context: &Context) -> Result<Gateway, Refused> {
    let stations = (context.scenario).map_or(&[][..], |scenario| &scenario.stations);
    let keys = GatewayTable::read(&Layers(&[gateway]))?;
    let mut aps = Vec::new();
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        aps.push(access_point(name, Some(ap), gateway)?);
    }
    if aps.is_empty() {
        aps.push(access_point(ONLY, None, gateway)?);
    }
    let only = (aps.len() == 1).then(|| aps[0].name.clone());
    let mut listed = Vec::new();
    for (name, section) in gateway.tables(GatewayTable::station) {
        listed.push(station(name, section, only.as_deref(), stations)?);
    }
    let mut groups = Vec::new();
    for (name, section) in gateway.tables(GatewayTable::group) {
        groups.push(group(name, section, &mut listed)?);
    }
    Ok(Gateway {
        name: context.name.to_owned(),
        wan: keys.wan,
        lan: keys.lan,
        queue_packets: keys.queue_packets,
        discipline: keys.discipline,
        flow_leaves: keys.flow_leaves,
        udp_uplink_bps: keys.udp_uplink_bps,
        // the value "off" does not parse as an address and becomes `None`
        metrics: keys.metrics.parse().ok().map(SocketAddr::into),
        discovery: discovery(gateway)?,
        aps,
        stations: listed,
        groups,
    })
}

/// Returns an access point from its table `its`. If the file lists no access point, `its` is `None`, and
/// the function returns the only access point.
fn access_point(
    name: &str,
    its: Option<&Section>,
    gateway: &Section,
) -> Result<AccessPoint, Refused> {
    let tables: Vec<&Section> = its.into_iter().chain([gateway]).collect();
    let layers = Layers(&tables);
    let keys = AccessPointTable::read(&Layers(its.as_slice()))?;
    let shared = BottleneckKeys::read(&layers)?;
    // this finds the `wce` tables of the access point and of the gateway, because both have the same name
    let wce = layers.inside(GatewayTable::wce);
    let asked = its.and_then(|ap| ap.inside(AccessPointTable::snmp));
    Ok(AccessPoint {
        name: name.to_owned(),
        interface: match keys.interface {
            Some(interface) => interface,
            None => Layers(&[gateway]).need(GatewayTable::lan)?,
        },
        subnets: forms::each(keys.subnets.as_deref(), forms::subnet),
        fairness: shared.fairness,
        udp: shared.udp,
        rate_bps: shared.rate_bps,
        wce: WceSettings::of(&wce.layers(), WceSettings::MAX_BPS)?,
        max_by_default: wce.layers().located(GatewayWce::max).is_none(),
        snmp: asked.map(snmp).transpose()?,
        station_rates: forms::each(keys.station_rates.as_deref(), forms::rate_source),
    })
}

fn snmp(section: &Section) -> Result<Snmp, Refused> {
    let layers = Layers(&[section]);
    let keys = SnmpTable::read(&layers)?;
    Ok(Snmp {
        agent: forms::agent(&keys.agent)
            .ok_or_else(|| layers.lack(SnmpTable::agent))?
            .into(),
        community: keys.community,
        table: keys.column,
        rates: keys.rates,
        rates_unit_bps: keys.rates_unit_bps,
    })
}

/// Returns the settings of the discovery of stations.
///
/// # Errors
/// A required value has been refused.
pub(crate) fn discovery(gateway: &Section) -> Result<Discovery, Refused> {
    let inside = Layers(&[gateway]).inside(GatewayTable::discover);
    let keys = DiscoverTable::read(&inside.layers())?;
    let mut aps = gateway.tables(GatewayTable::ap).iter();
    let asked = aps.any(|(_, ap)| ap.inside(AccessPointTable::snmp).is_some());
    let none_listed = gateway.tables(GatewayTable::station).is_empty();
    Ok(Discovery {
        neighbours: (keys.neighbours).unwrap_or(none_listed && keys.leases.is_none() && !asked),
        leases: keys.leases,
        ignore: forms::each(keys.ignore.as_deref(), forms::address),
        interval: keys.interval,
        absence: keys.absence,
        quarantine: keys.quarantine,
        new_per_minute: keys.new_per_minute,
    })
}

fn station(
    name: &str,
    section: &Section,
    only: Option<&str>,
    stations: &[Station],
) -> Result<GatewayStation, Refused> {
    let keys = GatewayStationTable::read(&Layers(&[section]))?;
    let of_scenario = stations.iter().find(|station| station.name == name);
    Ok(GatewayStation {
        name: name.to_owned(),
        ap: keys.ap.or(only.map(str::to_owned)),
        addresses: forms::each(keys.address.as_deref(), forms::address),
        subnets: forms::each(keys.address.as_deref(), forms::subnet),
        mac: keys.mac.and_then(|mac| forms::mac(&mac).ok()),
        rate_bps: keys
            .rate_bps
            .or(of_scenario.map(|station| station.rate_bps)),
        group: keys.group,
    })
}

/// Returns a group. Also sets the group of each listed station that the group names.
fn group(name: &str, section: &Section, listed: &mut [GatewayStation]) -> Result<Group, Refused> {
    let keys = GroupTable::read(&Layers(&[section]))?;
    let (mut macs, mut subnets) = (Vec::new(), Vec::new());
    for which in forms::each(keys.stations.as_deref(), forms::station) {
        for station in listed.iter_mut().filter(|station| station.is(&which)) {
            station.group = Some(name.to_owned());
        }
        match which {
            Which::Mac(mac) => macs.push(mac),
            Which::Subnet(subnet) => subnets.push(subnet),
            Which::Name(_) => {}
        }
    }
    Ok(Group {
        name: name.to_owned(),
        share: keys.share,
        max_bps: keys.max_bps,
        macs,
        subnets,
    })
}

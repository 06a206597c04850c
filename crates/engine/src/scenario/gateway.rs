//! The gateway of a file: who is to get what at which access point. It is checked here, with
//! everything else of the file, and carried out by `lasthop gateway` on Linux.

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use serde_json::{Value, json};

use super::forms;
use super::gateway_table::{
    AccessPointTable, BottleneckKeys, DiscoverTable, GatewayStationTable, GatewayTable, SnmpTable,
};
pub use super::gateway_table::{Fairness, LeafQueue};
use super::model::Station;
use super::root::{Root, RootKeys};
use crate::control::GatewayWce;
use crate::control::WceSettings;
use crate::kernel::time::Span;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::problem::{Problems, did_you_mean, one_line};
use crate::notation::setting::FileTable;
use crate::notation::value::{NAMES, fault_of_name};

/// The access point of a gateway that lists none.
const ONLY: &str = "wlan";
/// Most access points of a gateway.
const MOST_ACCESS_POINTS: usize = 64;
/// Most stations in the file; more may be discovered.
const MOST_STATIONS: usize = 10_000;
/// Least rate of a bottleneck: a full packet in twelve seconds. [bit/s]
const LEAST_BPS: u64 = 1_000;

/// A virtual shared bottleneck in front of access points.
#[derive(Clone, Debug, PartialEq)]
pub struct Gateway {
    /// Title.
    pub name: String,
    /// Interface towards the Internet.
    pub wan: String,
    /// Interface towards the access points.
    pub lan: String,
    /// Packets that a leaf holds.
    pub queue_packets: u64,
    /// Queue in each leaf.
    pub discipline: LeafQueue,
    /// Leaves into which an access point's flows are hashed.
    pub flow_leaves: u64,
    /// Uplink UDP above which a station is not pinged. [bit/s]
    pub udp_uplink_bps: u64,
    /// Where metrics are served.
    pub metrics: Option<SocketAddr>,
    /// How stations are found.
    pub discovery: Discovery,
    /// Access points, at least one.
    pub aps: Vec<AccessPoint>,
    /// Stations that are known beforehand.
    pub stations: Vec<GatewayStation>,
}

/// Where stations are looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Discovery {
    /// In the kernel's table of neighbours.
    pub neighbours: bool,
    /// In this leases file.
    pub leases: Option<String>,
    /// These are no stations.
    pub ignore: Vec<IpAddr>,
    /// Time between two looks.
    pub interval: Span,
    /// A station leaves when it has not been named for so long.
    pub absence: Span,
}

/// An access point and its bottleneck.
#[derive(Clone, Debug, PartialEq)]
pub struct AccessPoint {
    /// Unique name.
    pub name: String,
    /// Interface towards it.
    pub interface: String,
    /// Stations with an address in these are its own.
    pub subnets: Vec<(IpAddr, u32)>,
    /// Who gets equal shares.
    pub fairness: Fairness,
    /// Fixed rate; `None`: estimated. [bit/s]
    pub rate_bps: Option<u64>,
    /// The estimator.
    pub wce: WceSettings,
    /// Whether the estimator's largest rate is the paper's, since the file says none.
    pub max_by_default: bool,
    /// Its own table of stations.
    pub snmp: Option<Snmp>,
}

/// How an access point is asked for its stations.
#[derive(Clone, Debug, PartialEq)]
pub struct Snmp {
    /// Where it answers.
    pub agent: SocketAddr,
    /// Community that may read.
    pub community: String,
    /// Column of addresses.
    pub table: String,
}

/// A station that is known beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct GatewayStation {
    /// Unique name.
    pub name: String,
    /// Its access point; `None`: the one that it is found at.
    pub ap: Option<String>,
    /// Its addresses.
    pub addresses: Vec<IpAddr>,
    /// Its MAC address, in lower case with colons.
    pub mac: Option<String>,
    /// Rate of its frames. [bit/s]
    pub rate_bps: Option<u64>,
}

/// Checks what several values must satisfy together.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    let Some(gateway) = root.table("gateway") else {
        return;
    };
    check_interfaces(gateway, problems);
    check_names(gateway, problems);
    check_stations(gateway, problems);
    check_subnets(gateway, problems);
    check_sources(gateway, problems);
    check_discovery(gateway, problems);
    if let Some(wce) = gateway.table("wce") {
        WceSettings::check(&[wce], WceSettings::MAX_BPS, problems);
        for (_, ap) in gateway.named("ap") {
            if let Some(own) = ap.table("wce") {
                WceSettings::check(&[own, wce], WceSettings::MAX_BPS, problems);
            }
        }
    }
    check_rates(gateway, problems);
}

/// A bottleneck must let something through.
fn check_rates(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.named("ap").iter().map(|(_, ap)| ap);
    for bottleneck in std::iter::once(gateway).chain(aps) {
        let wce = bottleneck.table("wce");
        let bounds = ["min", "max"].map(|key| wce.and_then(|wce| wce.entry(key)));
        let entries = [bottleneck.entry("rate")].into_iter().chain(bounds);
        for entry in entries.flatten() {
            if entry.rate().is_some_and(|bps| bps < LEAST_BPS) {
                let message = format!(
                    "{} is too low; allowed is 1 kbps up to 100 Gbps",
                    entry.shown
                );
                problems.add(entry.origin, &entry.path, message);
            }
        }
    }
}

fn check_interfaces(gateway: &Section, problems: &mut Problems) {
    let wan = gateway.entry("wan").and_then(Entry::text);
    let of_aps = gateway
        .named("ap")
        .iter()
        .filter_map(|(_, ap)| ap.entry("interface"));
    for entry in gateway.entry("lan").into_iter().chain(of_aps) {
        if entry.text() == wan {
            let message = format!(
                "{} is `gateway.wan` too; allowed is another interface",
                entry.shown
            );
            problems.add(entry.origin, &entry.path, message);
        }
    }
}

fn check_names(gateway: &Section, problems: &mut Problems) {
    for (name, section) in gateway.named("ap").iter().chain(gateway.named("station")) {
        if let Some(fault) = fault_of_name(name) {
            let message = format!("\"{}\" {fault}; allowed {NAMES}", one_line(name, 40));
            problems.add(section.origin, &section.path, message);
        }
    }
    let limits = [("ap", MOST_ACCESS_POINTS), ("station", MOST_STATIONS)];
    for (key, most) in limits {
        let tables = gateway.named(key);
        if let Some((_, last)) = tables.last()
            && tables.len() > most
        {
            let path = format!("{}.{key}", gateway.path);
            let message = format!("{} tables; allowed are at most {most}", tables.len());
            problems.add(last.origin, &path, message);
        }
    }
}

fn check_stations(gateway: &Section, problems: &mut Problems) {
    let aps = ap_names(gateway);
    let mut owners: HashMap<String, &str> = HashMap::new();
    for (name, station) in gateway.named("station") {
        if let Some(entry) = station.entry("ap")
            && let Some(ap) = entry.text()
            && !aps.contains(&ap)
        {
            let message = format!(
                "{} is no access point of this gateway; allowed are {}",
                entry.shown,
                aps.join(", ")
            );
            let hint = did_you_mean(ap, aps.iter().copied());
            problems.add_with_hint(entry.origin, &entry.path, message, hint);
        }
        let known = ["address", "mac"].map(|key| station.entry(key));
        if known.iter().all(Option::is_none) && !station.lacks("address") && !station.lacks("mac") {
            let message = "has neither address nor mac; needed is one of them";
            problems.add(station.origin, &station.path, message.to_owned());
        }
        for entry in known.into_iter().flatten() {
            for word in entry.text().map(forms::words).into_iter().flatten() {
                let same = forms::address(word)
                    .map(|a| a.to_string())
                    .or_else(|_| forms::mac(word));
                let Ok(same) = same else { continue };
                if let Some(other) = owners.insert(same, name) {
                    let message = format!(
                        "`{}` is of `gateway.station.{}` too; allowed is one station for each",
                        one_line(word, 40),
                        one_line(other, 80)
                    );
                    problems.add(entry.origin, &entry.path, message);
                }
            }
        }
    }
}

/// An address must be in subnets of one access point at most.
fn check_subnets(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.named("ap");
    let subnets = |ap: &Section| -> Vec<(IpAddr, u32)> {
        let list = ap.entry("subnets").and_then(Entry::text);
        let words = forms::words(list.unwrap_or_default());
        words.filter_map(|word| forms::subnet(word).ok()).collect()
    };
    for (k, (_, ap)) in aps.iter().enumerate() {
        for own in subnets(ap) {
            let twin = aps[..k].iter().find_map(|(name, other)| {
                let found = subnets(other).into_iter().find(|s| overlap(*s, own))?;
                Some((name, found))
            });
            if let Some((name, (address, length))) = twin
                && let Some(entry) = ap.entry("subnets")
            {
                let message = format!(
                    "{}/{} and {address}/{length} of `gateway.ap.{}` overlap; allowed are subnets of one access point each",
                    own.0,
                    own.1,
                    one_line(name, 80)
                );
                problems.add(entry.origin, &entry.path, message);
            }
        }
    }
}

/// Whether two subnets have an address in common.
fn overlap(a: (IpAddr, u32), b: (IpAddr, u32)) -> bool {
    let prefix = |address: IpAddr, length: u32| match address {
        IpAddr::V4(v4) => u128::from(u32::from(v4).checked_shr(32 - length).unwrap_or(0)),
        IpAddr::V6(v6) => u128::from(v6).checked_shr(128 - length).unwrap_or(0),
    };
    let length = a.1.min(b.1);
    a.0.is_ipv4() == b.0.is_ipv4() && prefix(a.0, length) == prefix(b.0, length)
}

/// There must be a way to a station at all.
fn check_sources(gateway: &Section, problems: &mut Problems) {
    let lacking = ["ap", "discover", "station"];
    if lacking.iter().any(|key| gateway.lacks(key)) || !gateway.named("station").is_empty() {
        return;
    }
    let asked = |(_, ap): &(String, Section)| ap.table("snmp").is_some() || ap.lacks("snmp");
    let Some(section) = gateway.table("discover") else {
        return;
    };
    if let Some(entry) = section.entry("neighbours")
        && entry.flag() == Some(false)
        && section.entry("leases").is_none()
        && !section.lacks("leases")
        && !gateway.named("ap").iter().any(asked)
    {
        let message = "false leaves no way to any station; needed is true, discover.leases, ap.NAME.snmp or a listed station";
        problems.add(entry.origin, &entry.path, message.to_owned());
    }
}

/// Stations that are found must be some access point's.
fn check_discovery(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.named("ap");
    let lacking = ["ap", "discover", "station"]
        .iter()
        .any(|key| gateway.lacks(key));
    if aps.len() < 2 || lacking {
        return;
    }
    let found = discovery(gateway).is_ok_and(|d| d.neighbours || d.leases.is_some());
    let by_mac = |(_, station): &(String, Section)| station.entry("address").is_none();
    let unplaced = |(_, station): &(String, Section)| station.entry("ap").is_none();
    if !found
        && !gateway
            .named("station")
            .iter()
            .any(|s| unplaced(s) || by_mac(s))
    {
        return;
    }
    let interface = |ap: &Section| {
        let own = ap.entry("interface").or(gateway.entry("lan"));
        own.and_then(Entry::text).map(str::to_owned)
    };
    for (name, ap) in aps {
        let has = |key| ap.entry(key).is_some() || ap.lacks(key);
        let here = aps.iter().filter(|(_, o)| interface(o) == interface(ap));
        let told = has("subnets") || (has("interface") && here.count() == 1);
        if !told && ap.table("snmp").is_none() {
            let message = format!(
                "nothing tells which stations are at `{}`; needed is an interface of its own, subnets or snmp, or ap in each of the stations",
                one_line(name, 80)
            );
            problems.add(ap.origin, &ap.path, message);
        }
    }
}

fn ap_names(gateway: &Section) -> Vec<&str> {
    match gateway.named("ap") {
        [] => vec![ONLY],
        aps => aps.iter().map(|(name, _)| name.as_str()).collect(),
    }
}

/// The gateway of a file without problems; `stations` are those of its scenario.
///
/// # Errors
/// A value has been refused.
pub(super) fn assemble(
    root: &Section,
    default_name: &str,
    stations: &[Station],
) -> Result<Gateway, Refused> {
    let top = Layers(&[root]);
    let inside = top.inside(RootKeys::gateway);
    let layers = inside.layers();
    let Some(gateway) = layers.0.first() else {
        return Err(top.lack(RootKeys::gateway));
    };
    let keys = GatewayTable::read(&layers)?;
    let mut aps = Vec::new();
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        aps.push(access_point(name, ap, gateway)?);
    }
    if aps.is_empty() {
        let wce = layers.inside(GatewayTable::wce);
        let own = BottleneckKeys::read(&layers)?;
        aps.push(AccessPoint {
            name: ONLY.to_owned(),
            interface: keys.lan.clone(),
            subnets: Vec::new(),
            fairness: own.fairness,
            rate_bps: own.rate_bps,
            wce: WceSettings::of(&wce.layers(), WceSettings::MAX_BPS)?,
            max_by_default: wce.layers().said(GatewayWce::max).is_none(),
            snmp: None,
        });
    }
    let only = (aps.len() == 1).then(|| aps[0].name.clone());
    let mut listed = Vec::new();
    for (name, section) in gateway.tables(GatewayTable::station) {
        listed.push(station(name, section, only.as_deref(), stations)?);
    }
    Ok(Gateway {
        name: match top.value(Root::name)?.flatten() {
            Some(name) => name,
            None => default_name.to_owned(),
        },
        wan: keys.wan,
        lan: keys.lan,
        queue_packets: keys.queue_packets,
        discipline: keys.discipline,
        flow_leaves: keys.flow_leaves,
        udp_uplink_bps: keys.udp_uplink_bps,
        metrics: keys.metrics.parse().ok(), // "off" is no address
        discovery: discovery(gateway)?,
        aps,
        stations: listed,
    })
}

fn access_point(name: &str, ap: &Section, gateway: &Section) -> Result<AccessPoint, Refused> {
    let tables = [ap, gateway];
    let layers = Layers(&tables);
    let keys = AccessPointTable::read(&Layers(&[ap]))?;
    let shared = BottleneckKeys::read(&layers)?;
    let wce = layers.inside(GatewayTable::wce); // under the same name in both
    let snmp = match ap.inside(AccessPointTable::snmp) {
        Some(section) => Some(snmp(section)?),
        None => None,
    };
    Ok(AccessPoint {
        name: name.to_owned(),
        interface: match keys.interface {
            Some(interface) => interface,
            None => Layers(&[gateway]).need(GatewayTable::lan)?,
        },
        subnets: forms::words(keys.subnets.as_deref().unwrap_or_default())
            .filter_map(|word| forms::subnet(word).ok())
            .collect(),
        fairness: shared.fairness,
        rate_bps: shared.rate_bps,
        wce: WceSettings::of(&wce.layers(), WceSettings::MAX_BPS)?,
        max_by_default: wce.layers().said(GatewayWce::max).is_none(),
        snmp,
    })
}

fn snmp(section: &Section) -> Result<Snmp, Refused> {
    let layers = Layers(&[section]);
    let keys = SnmpTable::read(&layers)?;
    Ok(Snmp {
        agent: forms::agent(&keys.agent).ok_or_else(|| layers.lack(SnmpTable::agent))?,
        community: keys.community,
        table: keys.column,
    })
}

/// How stations are found.
///
/// # Errors
/// A value that is needed has been refused.
fn discovery(gateway: &Section) -> Result<Discovery, Refused> {
    let inside = Layers(&[gateway]).inside(GatewayTable::discover);
    let keys = DiscoverTable::read(&inside.layers())?;
    let mut aps = gateway.tables(GatewayTable::ap).iter();
    let asked = aps.any(|(_, ap)| ap.inside(AccessPointTable::snmp).is_some());
    let none_listed = gateway.tables(GatewayTable::station).is_empty();
    Ok(Discovery {
        neighbours: (keys.neighbours).unwrap_or(none_listed && keys.leases.is_none() && !asked),
        leases: keys.leases,
        ignore: addresses(keys.ignore.as_deref()),
        interval: keys.interval,
        absence: keys.absence,
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
        addresses: addresses(keys.address.as_deref()),
        mac: keys.mac.and_then(|mac| forms::mac(&mac).ok()),
        rate_bps: keys
            .rate_bps
            .or(of_scenario.map(|station| station.rate_bps)),
    })
}

/// The addresses of a list without fault.
fn addresses(list: Option<&str>) -> Vec<IpAddr> {
    let words = forms::words(list.unwrap_or_default());
    words.filter_map(|word| forms::address(word).ok()).collect()
}

impl Gateway {
    /// The gateway as a JSON object that says its units in its keys.
    pub fn to_json(&self) -> Value {
        let aps: Vec<Value> = self.aps.iter().map(AccessPoint::to_json).collect();
        let stations: Vec<Value> = self.stations.iter().map(GatewayStation::to_json).collect();
        json!({
            "name": self.name,
            "wan": self.wan,
            "lan": self.lan,
            "queue_packets": self.queue_packets,
            "discipline": self.discipline.name(),
            "flow_leaves": self.flow_leaves,
            "udp_uplink_bps": self.udp_uplink_bps,
            "metrics": self.metrics.map(|at| json!({"host": at.ip(), "port": at.port()})),
            "discovery": {
                "neighbours": self.discovery.neighbours,
                "leases": self.discovery.leases,
                "ignore": self.discovery.ignore,
                "interval_s": self.discovery.interval.seconds(),
                "absence_s": self.discovery.absence.seconds(),
            },
            "aps": aps,
            "stations": stations,
        })
    }
}

impl AccessPoint {
    fn to_json(&self) -> Value {
        let subnets = self
            .subnets
            .iter()
            .map(|(address, length)| format!("{address}/{length}"));
        json!({
            "name": self.name,
            "interface": self.interface,
            "subnets": subnets.collect::<Vec<_>>(),
            "fairness": self.fairness.name(),
            "rate_bps": self.rate_bps,
            "wce": self.wce.json(),
            "max_by_default": self.max_by_default,
            "snmp": self.snmp.as_ref().map(|snmp| json!({
                "host": snmp.agent.ip(),
                "port": snmp.agent.port(),
                "community": snmp.community,
                "table": snmp.table,
            })),
        })
    }
}

impl GatewayStation {
    fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "ap": self.ap,
            "addresses": self.addresses,
            "mac": self.mac,
            "rate_bps": self.rate_bps,
        })
    }
}

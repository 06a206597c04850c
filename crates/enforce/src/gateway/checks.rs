//! What several values of the table must satisfy together. A value that was refused is not judged
//! again.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::net::IpAddr;

use lasthop_engine::control::{WceKeys, WceSettings};
use lasthop_engine::notation::decode::{Entry, Said, Section};
use lasthop_engine::notation::problem::{Problems, did_you_mean, one_line, one_of};

use super::assemble::discovery;
use super::settings::{
    AccessPointTable, BottleneckKeys, DiscoverTable, GatewayStationTable, GatewayTable, GatewayWce,
    GroupTable, ONLY, SnmpTable,
};
use super::{effect, groups};
use crate::forms::{self, Range};

/// Most access points of a gateway.
const MOST_ACCESS_POINTS: usize = 64;
/// Most stations in the file; more may be discovered.
const MOST_STATIONS: usize = 10_000;
/// Most groups of stations.
const MOST_GROUPS: usize = 256;
/// Least rate of a bottleneck: a full packet in twelve seconds. [bit/s]
const LEAST_BPS: u64 = 1_000;

/// Checks what several values must satisfy together.
pub(crate) fn check(gateway: &Section, problems: &mut Problems) {
    check_interfaces(gateway, problems);
    check_names(gateway, problems);
    check_stations(gateway, problems);
    groups::check(gateway, problems);
    check_subnets(gateway, problems);
    check_sources(gateway, problems);
    check_discovery(gateway, problems);
    if let Some(wce) = gateway.inside(GatewayTable::wce) {
        WceSettings::check(&[wce], WceSettings::MAX_BPS, problems);
        for (_, ap) in gateway.tables(GatewayTable::ap) {
            if let Some(own) = ap.inside(AccessPointTable::wce) {
                WceSettings::check(&[own, wce], WceSettings::MAX_BPS, problems);
            }
        }
    }
    check_rates(gateway, problems);
    check_rate_sources(gateway, problems);
    effect::check(gateway, problems);
}

/// A bottleneck must let something through.
fn check_rates(gateway: &Section, problems: &mut Problems) {
    let own = gateway.inside(GatewayTable::wce);
    check_rates_of(gateway, own, problems);
    for (_, ap) in gateway.tables(GatewayTable::ap) {
        check_rates_of(ap, ap.inside(AccessPointTable::wce), problems);
    }
    for (_, group) in gateway.tables(GatewayTable::group) {
        refuse_low(group.said(GroupTable::max_bps), problems);
    }
}

fn check_rates_of(bottleneck: &Section, wce: Option<&Section>, problems: &mut Problems) {
    let fixed = bottleneck.said(BottleneckKeys::rate_bps);
    let bounds = [WceKeys::min, GatewayWce::max].map(|key| wce.and_then(|wce| wce.said(key)));
    for rate in [fixed].into_iter().chain(bounds) {
        refuse_low(rate, problems);
    }
}

fn refuse_low(rate: Option<Said<Option<u64>>>, problems: &mut Problems) {
    if let Some(rate) = rate
        && rate.value.is_some_and(|bps| bps < LEAST_BPS)
    {
        let message = format!("{} is too low; expected 1 kbps up to 100 Gbps", rate.shown);
        problems.add(rate.origin, &rate.path, message);
    }
}

/// The rates of an access point's stations come from the machine itself or by SNMP, not from both.
fn check_rate_sources(gateway: &Section, problems: &mut Problems) {
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        let snmp = ap.inside(AccessPointTable::snmp);
        let column = snmp.and_then(|snmp| snmp.said(SnmpTable::rates)?.present());
        let sources = ap.said(AccessPointTable::station_rates);
        if let (Some(column), Some(_)) = (column, sources.and_then(Said::present)) {
            let message = format!(
                "{} is a second source of rates, in addition to `gateway.ap.{}.station_rates`: expected one source",
                column.shown,
                one_line(name, 80)
            );
            problems.add(column.origin, &column.path, message);
        }
    }
}

fn check_interfaces(gateway: &Section, problems: &mut Problems) {
    let Some(wan) = gateway.said(GatewayTable::wan) else {
        return;
    };
    let mut refuse_wan = |entry: &Entry, interface: &str| {
        if interface == wan.value {
            let message = format!(
                "{} is also `gateway.wan`; expected another interface",
                entry.shown
            );
            problems.add(entry.origin, &entry.path, message);
        }
    };
    if let Some(lan) = gateway.said(GatewayTable::lan) {
        refuse_wan(&lan, &lan.value);
    }
    for (_, ap) in gateway.tables(GatewayTable::ap) {
        let own = ap.said(AccessPointTable::interface);
        if let Some(own) = own.and_then(Said::present) {
            refuse_wan(&own, &own.value);
        }
    }
}

fn check_names(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.tables(GatewayTable::ap);
    let stations = gateway.tables(GatewayTable::station);
    let groups = gateway.tables(GatewayTable::group);
    for (name, section) in aps.iter().chain(stations).chain(groups) {
        section.check_name(name, problems);
    }
    let limits = [
        (aps, GatewayTable::ap.name(), MOST_ACCESS_POINTS),
        (stations, GatewayTable::station.name(), MOST_STATIONS),
        (groups, GatewayTable::group.name(), MOST_GROUPS),
    ];
    for (tables, key, most) in limits {
        if let Some((_, last)) = tables.last()
            && tables.len() > most
        {
            let path = gateway.path(key);
            let message = format!("{} tables; expected at most {most}", tables.len());
            problems.add(last.origin, &path, message);
        }
    }
}

fn check_stations(gateway: &Section, problems: &mut Problems) {
    let aps = ap_names(gateway);
    let mut lists: Vec<(&str, Said<'_, String>)> = Vec::new();
    let mut owners: HashMap<String, &str> = HashMap::new();
    let mut claims: Vec<(Range, Claim<'_>)> = Vec::new();
    for (name, station) in gateway.tables(GatewayTable::station) {
        let ap = station.said(GatewayStationTable::ap);
        if let Some(ap) = ap.and_then(Said::present)
            && !aps.contains(&ap.value.as_str())
        {
            let message = format!(
                "{} is no access point of this gateway; expected {}",
                ap.shown,
                one_of(&aps)
            );
            let hint = did_you_mean(&ap.value, aps.iter().copied());
            problems.add_with_hint(ap.origin, &ap.path, message, hint);
        }
        let keys = [GatewayStationTable::address, GatewayStationTable::mac];
        let known = keys.map(|key| station.said(key).and_then(Said::present));
        if known.iter().all(Option::is_none) && !keys.iter().any(|key| station.lacks(*key)) {
            let message = "has neither address nor mac; expected one of these keys";
            problems.add(station.origin, &station.path, message.to_owned());
        }
        lists.extend(
            known
                .into_iter()
                .flatten()
                .map(|said| (name.as_str(), said)),
        );
    }
    for (name, said) in &lists {
        for word in forms::words(&said.value) {
            let claim = Claim { name, said, word };
            if let Ok(member) = forms::member(word) {
                if member.1 == 0 {
                    let message = format!(
                        "`{word}` has every address; expected addresses and subnets of one station"
                    );
                    problems.add(said.origin, &said.path, message);
                }
                claims.push((forms::range(member), claim));
            } else if let Ok(mac) = forms::mac(word)
                && let Some(other) = owners.insert(mac, name)
            {
                claim.refuse(other, problems);
            }
        }
    }
    check_overlaps(claims, problems);
}

/// An address, a subnet or a MAC address that the file gives to a station.
struct Claim<'a> {
    name: &'a str,
    said: &'a Said<'a, String>,
    word: &'a str,
}

impl Claim<'_> {
    /// Adds the problem that another station has the same address.
    fn refuse(&self, other: &str, problems: &mut Problems) {
        let message = format!(
            "`{}` is also in `gateway.station.{}`; expected each address in one station only",
            one_line(self.word, 40),
            one_line(other, 80)
        );
        problems.add(self.said.origin, &self.said.path, message);
    }
}

/// Refuses overlapping addresses and subnets of two stations, at the later station in the file.
fn check_overlaps(claims: Vec<(Range, Claim<'_>)>, problems: &mut Problems) {
    let mut sorted: Vec<(Range, usize)> = claims.iter().map(|claim| claim.0).zip(0..).collect();
    // A subnet comes before what is in it.
    sorted.sort_by_key(|&((is_v4, first, last), order)| (is_v4, first, Reverse(last), order));
    let mut around: Vec<(Range, usize)> = Vec::new();
    let mut twins: Vec<(usize, usize)> = Vec::new();
    for (range, order) in sorted {
        while around
            .pop_if(|(outer, _)| outer.0 != range.0 || outer.2 < range.1)
            .is_some()
        {}
        let others = around.iter().map(|&(_, other)| other);
        let mut twin = others.filter(|&other| claims[other].1.name != claims[order].1.name);
        twins.extend(
            twin.next_back()
                .map(|other| (order.max(other), order.min(other))),
        );
        around.push((range, order));
    }
    twins.sort_unstable();
    for (later, earlier) in twins {
        claims[later].1.refuse(claims[earlier].1.name, problems);
    }
}

/// An address must be in subnets of one access point at most.
fn check_subnets(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.tables(GatewayTable::ap);
    let subnets = |ap: &Section| -> Vec<(IpAddr, u32)> {
        let list = ap.said(AccessPointTable::subnets);
        forms::subnets(list.and_then(|said| said.value).as_deref())
    };
    for (k, (_, ap)) in aps.iter().enumerate() {
        for own in subnets(ap) {
            let twin = aps[..k].iter().find_map(|(name, other)| {
                let found = subnets(other)
                    .into_iter()
                    .find(|s| forms::overlap(*s, own))?;
                Some((name, found))
            });
            if let Some((name, (address, length))) = twin
                && let Some(list) = ap.said(AccessPointTable::subnets)
            {
                let message = format!(
                    "{}/{} and {address}/{length} of `gateway.ap.{}` overlap; expected each \
                     subnet at one access point only",
                    own.0,
                    own.1,
                    one_line(name, 80)
                );
                problems.add(list.origin, &list.path, message);
            }
        }
    }
}

/// Whether a table that names stations, or says where they are, has been refused.
fn lacks_sources(gateway: &Section) -> bool {
    gateway.lacks(GatewayTable::ap)
        || gateway.lacks(GatewayTable::discover)
        || gateway.lacks(GatewayTable::station)
}

/// There must be a way to a station at all.
fn check_sources(gateway: &Section, problems: &mut Problems) {
    if lacks_sources(gateway) || !gateway.tables(GatewayTable::station).is_empty() {
        return;
    }
    let asked = |(_, ap): &(String, Section)| {
        ap.inside(AccessPointTable::snmp).is_some() || ap.lacks(AccessPointTable::snmp)
    };
    let Some(section) = gateway.inside(GatewayTable::discover) else {
        return;
    };
    if let Some(neighbours) = section.said(DiscoverTable::neighbours)
        && neighbours.value == Some(false)
        && section.said(DiscoverTable::leases).is_none()
        && !section.lacks(DiscoverTable::leases)
        && !gateway.tables(GatewayTable::ap).iter().any(asked)
    {
        let message = "with false no station would be found; expected true, discover.leases, \
                       ap.NAME.snmp or a listed station";
        problems.add(neighbours.origin, &neighbours.path, message.to_owned());
    }
}

/// Stations that are found must be some access point's.
fn check_discovery(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.tables(GatewayTable::ap);
    if aps.len() < 2 || lacks_sources(gateway) {
        return;
    }
    let found = discovery(gateway).is_ok_and(|d| d.neighbours || d.leases.is_some());
    let mut stations = gateway.tables(GatewayTable::station).iter();
    let unplaced = |(_, station): &(String, Section)| {
        station.said(GatewayStationTable::ap).is_none()
            || station.said(GatewayStationTable::address).is_none() // found by its MAC address
    };
    if !found && !stations.any(unplaced) {
        return;
    }
    let interface = |ap: &Section| {
        let own = ap.said(AccessPointTable::interface);
        let own = own.and_then(|said| said.value);
        own.or_else(|| gateway.said(GatewayTable::lan).map(|said| said.value))
    };
    for (name, ap) in aps {
        let has = |key| ap.said(key).is_some() || ap.lacks(key);
        let here = aps.iter().filter(|(_, o)| interface(o) == interface(ap));
        let own_interface = has(AccessPointTable::interface) && here.count() == 1;
        let told = has(AccessPointTable::subnets) || own_interface;
        if !told && ap.inside(AccessPointTable::snmp).is_none() {
            let message = format!(
                "the file does not say which stations are at `{}`; expected an interface of its \
                 own, subnets, snmp, or `ap` in the table of each station",
                one_line(name, 80)
            );
            problems.add(ap.origin, &ap.path, message);
        }
    }
}

fn ap_names(gateway: &Section) -> Vec<&str> {
    match gateway.tables(GatewayTable::ap) {
        [] => vec![ONLY],
        aps => aps.iter().map(|(name, _)| name.as_str()).collect(),
    }
}

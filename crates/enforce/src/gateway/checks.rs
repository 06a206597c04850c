//! Checks of `[gateway]` that concern several values together. A value that was refused before is
//! not checked again.

use std::cmp::Reverse;
use std::collections::HashMap;

use ipnet::IpNet;
use lasthop_engine::control::{WceKeys, WceSettings};
use lasthop_engine::notation::decode::{Entry, Located, Section};
use lasthop_engine::notation::problem::{Problems, did_you_mean, one_line, one_of};

use super::assemble::discovery;
use super::settings::{
    AccessPointTable, BottleneckKeys, DiscoverTable, GatewayStationTable, GatewayTable, GatewayWce,
    GroupTable, ONLY, SnmpTable,
};
use super::{effect, groups};
use crate::forms::{self, Range};

/// Maximum number of access points of a gateway.
const MAX_ACCESS_POINTS: usize = 64;
/// Maximum number of stations in the file. Discovered stations do not count.
const MAX_STATIONS: usize = 10_000;
/// Maximum number of groups of stations.
const MAX_GROUPS: usize = 256;
/// Minimum rate of a bottleneck, at which a full packet takes 12 s. [bit/s]
const MIN_BPS: u64 = 1_000;

/// Checks the conditions that several values must satisfy together.
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

/// Checks that the rate of each bottleneck is at least [`MIN_BPS`].
fn check_rates(gateway: &Section, problems: &mut Problems) {
    let own = gateway.inside(GatewayTable::wce);
    check_rates_of(gateway, own, problems);
    for (_, ap) in gateway.tables(GatewayTable::ap) {
        check_rates_of(ap, ap.inside(AccessPointTable::wce), problems);
    }
    for (_, group) in gateway.tables(GatewayTable::group) {
        refuse_low(group.located(GroupTable::max_bps), problems);
    }
}

fn check_rates_of(bottleneck: &Section, wce: Option<&Section>, problems: &mut Problems) {
    let fixed = bottleneck.located(BottleneckKeys::rate_bps);
    let bounds = [WceKeys::min, GatewayWce::max].map(|key| wce.and_then(|wce| wce.located(key)));
    for rate in [fixed].into_iter().chain(bounds) {
        refuse_low(rate, problems);
    }
}

fn refuse_low(rate: Option<Located<Option<u64>>>, problems: &mut Problems) {
    if let Some(rate) = rate
        && rate.value.is_some_and(|bps| bps < MIN_BPS)
    {
        rate.refuse_value("is too low; expected 1 kbps up to 100 Gbps", problems);
    }
}

/// Checks that the data rates of an access point's stations come from this machine or from SNMP,
/// but not from both.
fn check_rate_sources(gateway: &Section, problems: &mut Problems) {
    for (name, ap) in gateway.tables(GatewayTable::ap) {
        let snmp = ap.inside(AccessPointTable::snmp);
        let column = snmp.and_then(|snmp| snmp.located(SnmpTable::rates)?.present());
        let sources = ap.located(AccessPointTable::station_rates);
        if let (Some(column), Some(_)) = (column, sources.and_then(Located::present)) {
            let fault = format!(
                "is a second source of rates, in addition to `gateway.ap.{}.station_rates`: \
                 expected one source",
                one_line(name, 80)
            );
            column.refuse_value(fault, problems);
        }
    }
}

fn check_interfaces(gateway: &Section, problems: &mut Problems) {
    let Some(wan) = gateway.located(GatewayTable::wan) else {
        return;
    };
    let mut refuse_wan = |entry: &Entry, interface: &str| {
        if interface == wan.value {
            entry.refuse_value(
                "is also `gateway.wan`; expected another interface",
                problems,
            );
        }
    };
    if let Some(lan) = gateway.located(GatewayTable::lan) {
        refuse_wan(&lan, &lan.value);
    }
    for (_, ap) in gateway.tables(GatewayTable::ap) {
        let own = ap.located(AccessPointTable::interface);
        if let Some(own) = own.and_then(Located::present) {
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
        (aps, GatewayTable::ap.name(), MAX_ACCESS_POINTS),
        (stations, GatewayTable::station.name(), MAX_STATIONS),
        (groups, GatewayTable::group.name(), MAX_GROUPS),
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
    let mut lists: Vec<(&str, Located<'_, String>)> = Vec::new();
    let mut owners: HashMap<String, &str> = HashMap::new();
    let mut claims: Vec<(Range, Claim<'_>)> = Vec::new();
    for (name, station) in gateway.tables(GatewayTable::station) {
        let ap = station.located(GatewayStationTable::ap);
        if let Some(ap) = ap.and_then(Located::present)
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
        let known = keys.map(|key| station.located(key).and_then(Located::present));
        if known.iter().all(Option::is_none) && !keys.iter().any(|key| station.lacks(*key)) {
            let message = "has neither address nor mac; expected one of these keys";
            station.refuse(message, problems);
        }
        lists.extend(
            known
                .into_iter()
                .flatten()
                .map(|list| (name.as_str(), list)),
        );
    }
    for (name, list) in &lists {
        for word in forms::words(&list.value) {
            let claim = Claim { name, list, word };
            if let Ok(member) = forms::member(word) {
                if member.prefix_len() == 0 {
                    let message = format!(
                        "`{word}` has every address; expected addresses and subnets of one station"
                    );
                    list.refuse(message, problems);
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
    list: &'a Located<'a, String>,
    word: &'a str,
}

impl Claim<'_> {
    /// Adds the problem that the address of this station overlaps with an address of station
    /// `other`.
    fn refuse(&self, other: &str, problems: &mut Problems) {
        let message = format!(
            "`{}` is also in `gateway.station.{}`; expected each address in one station only",
            one_line(self.word, 40),
            one_line(other, 80)
        );
        self.list.refuse(message, problems);
    }
}

/// Refuses overlapping addresses and subnets of two stations. The problem is reported for the
/// station that is later in the file.
fn check_overlaps(claims: Vec<(Range, Claim<'_>)>, problems: &mut Problems) {
    let mut sorted: Vec<(Range, usize)> = claims.iter().map(|claim| claim.0).zip(0..).collect();
    // a subnet is sorted before the subnets and addresses inside it
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

/// Checks that an address is in the subnets of at most one access point.
fn check_subnets(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.tables(GatewayTable::ap);
    let subnets = |ap: &Section| -> Vec<IpNet> {
        let list = ap.located(AccessPointTable::subnets);
        forms::each(
            list.and_then(|setting| setting.value).as_deref(),
            forms::subnet,
        )
    };
    for (k, (_, ap)) in aps.iter().enumerate() {
        for own in subnets(ap) {
            let twin = aps[..k].iter().find_map(|(name, other)| {
                let mut others = subnets(other).into_iter();
                Some((name, others.find(|other| forms::overlap(own, *other))?))
            });
            if let Some((name, other)) = twin
                && let Some(list) = ap.located(AccessPointTable::subnets)
            {
                let message = format!(
                    "{own} and {other} of `gateway.ap.{}` overlap; expected each subnet at one \
                     access point only",
                    one_line(name, 80)
                );
                list.refuse(message, problems);
            }
        }
    }
}

/// Returns whether a table of an access point, the table of a station, or the table `discover` has been refused.
fn lacks_sources(gateway: &Section) -> bool {
    gateway.lacks(GatewayTable::ap)
        || gateway.lacks(GatewayTable::discover)
        || gateway.lacks(GatewayTable::station)
}

/// Checks that the gateway lists a station or has a source from which stations are discovered.
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
    if let Some(neighbours) = section.located(DiscoverTable::neighbours)
        && neighbours.value == Some(false)
        && section.located(DiscoverTable::leases).is_none()
        && !section.lacks(DiscoverTable::leases)
        && !gateway.tables(GatewayTable::ap).iter().any(asked)
    {
        let message = "with false no station would be found; expected true, discover.leases, \
                       ap.NAME.snmp or a listed station";
        neighbours.refuse(message, problems);
    }
}

/// Checks that the access point of each discovered station can be determined.
fn check_discovery(gateway: &Section, problems: &mut Problems) {
    let aps = gateway.tables(GatewayTable::ap);
    if aps.len() < 2 || lacks_sources(gateway) {
        return;
    }
    let finds = discovery(gateway).is_ok_and(|d| d.neighbours || d.leases.is_some());
    let mut stations = gateway.tables(GatewayTable::station).iter();
    let unplaced = |(_, station): &(String, Section)| {
        station.located(GatewayStationTable::ap).is_none()
            // a station without `address` gets its addresses by discovery
            || station.located(GatewayStationTable::address).is_none()
    };
    if !finds && !stations.any(unplaced) {
        return;
    }
    let interface = |ap: &Section| {
        let own = ap.located(AccessPointTable::interface);
        let own = own.and_then(|setting| setting.value);
        own.or_else(|| {
            gateway
                .located(GatewayTable::lan)
                .map(|setting| setting.value)
        })
    };
    for (name, ap) in aps {
        let has = |key| ap.located(key).is_some() || ap.lacks(key);
        let here = aps.iter().filter(|(_, o)| interface(o) == interface(ap));
        let own_interface = has(AccessPointTable::interface) && here.count() == 1;
        let is_assigned = has(AccessPointTable::subnets) || own_interface;
        if !is_assigned && ap.inside(AccessPointTable::snmp).is_none() {
            let message = format!(
                "the file does not say which stations are at `{}`; expected an interface of its \
                 own, subnets, snmp, or `ap` in the table of each station",
                one_line(name, 80)
            );
            ap.refuse(message, problems);
        }
    }
}

fn ap_names(gateway: &Section) -> Vec<&str> {
    match gateway.tables(GatewayTable::ap) {
        [] => vec![ONLY],
        aps => aps.iter().map(|(name, _)| name.as_str()).collect(),
    }
}

//! Checks of groups: a station is in at most one group, and every group has a station.

use std::collections::{HashMap, HashSet};

use ipnet::IpNet;
use lasthop_engine::notation::decode::{Located, Section};
use lasthop_engine::notation::problem::{Origin, Problems, did_you_mean, one_line};

use super::effect::bottlenecks;
use super::settings::{
    BottleneckKeys, DiscoverTable, Fairness, GatewayStationTable, GatewayTable, GroupTable,
    UNLISTED,
};
use crate::forms::{self, Which};

/// The list of stations in `gateway.group.NAME.stations`, and the name of the group.
struct Claim<'a> {
    group: &'a str,
    list: Located<'a, String>,
}

/// Checks `[gateway.group.NAME]` and `gateway.station.NAME.group`.
pub(super) fn check(gateway: &Section, problems: &mut Problems) {
    check_members(gateway, problems);
    check_listed(gateway, problems);
    check_fairness(gateway, problems);
    check_largest_rates(gateway, problems);
}

/// Checks that the group of a station exists, and that a listed station is in one group at most.
fn check_listed(gateway: &Section, problems: &mut Problems) {
    let groups = gateway.tables(GatewayTable::group);
    let names: Vec<&str> = groups.iter().map(|(name, _)| name.as_str()).collect();
    let names: Vec<&str> = names.into_iter().filter(|name| *name != UNLISTED).collect();
    for (station, section) in gateway.tables(GatewayTable::station) {
        let own = section.located(GatewayStationTable::group);
        let own = own.and_then(Located::present);
        if let Some(own) = &own
            && !names.contains(&own.value.as_str())
            && !gateway.lacks(GatewayTable::group)
        {
            let (shown, known) = (&own.shown, names.join(", "));
            let message = match names.is_empty() {
                true => format!(
                    "{shown} is no group: expected the name of a table [gateway.group.NAME]"
                ),
                false => format!("{shown} is no group of listed stations: must be one of {known}"),
            };
            let hint = did_you_mean(&own.value, names.iter().copied());
            problems.add_with_hint(own.origin, &own.path, message, hint);
            continue;
        }
        let mut first = own.map(|own| own.value);
        for claim in claims(gateway) {
            let mut words = forms::words(&claim.list.value);
            let Some(word) = words.find(|word| means(word, station, section)) else {
                continue;
            };
            match &first {
                Some(group) if group != claim.group => {
                    let message = format!(
                        "`{}` means station `{}`, which is in group `{}`: a station must be in one \
                         group only",
                        one_line(word, 40),
                        one_line(station, 80),
                        one_line(group, 80)
                    );
                    claim.list.refuse(message, problems);
                }
                _ => first = Some(claim.group.to_owned()),
            }
        }
    }
}

/// Checks that every group has a station, and that no station is in two groups.
fn check_members(gateway: &Section, problems: &mut Problems) {
    let stations = gateway.tables(GatewayTable::station);
    let listed: Vec<&str> = stations.iter().map(|(name, _)| name.as_str()).collect();
    for (name, group) in gateway.tables(GatewayTable::group) {
        let list = group
            .located(GroupTable::stations)
            .and_then(Located::present);
        let named = |(_, station): &(String, Section)| {
            let own = station.located(GatewayStationTable::group);
            own.and_then(Located::present)
                .is_some_and(|own| own.value == *name)
        };
        match list {
            Some(list) if name == UNLISTED => {
                let fault = format!(
                    "has no effect, since `{UNLISTED}` has all stations that the file does not \
                     name: expected a group with another name"
                );
                list.refuse_value(fault, problems);
            }
            None if name != UNLISTED
                && !group.lacks(GroupTable::stations)
                && !gateway.lacks(GatewayTable::station)
                && !stations.iter().any(named) =>
            {
                let message = "has no stations: expected `stations`, or `group` in a station";
                group.refuse(message, problems);
            }
            _ => {}
        }
    }
    let ignored = gateway
        .inside(GatewayTable::discover)
        .and_then(|discover| discover.located(DiscoverTable::ignore)?.present());
    let ignored = forms::each(
        ignored.as_ref().map(|list| list.value.as_str()),
        forms::address,
    );
    let mut macs: HashMap<String, &str> = HashMap::new();
    let mut subnets: Vec<(IpNet, &str)> = Vec::new();
    for Claim { group, list } in claims(gateway) {
        let mut refuse = |message: String, hint: Option<String>| {
            problems.add_with_hint(list.origin, &list.path, message, hint);
        };
        let mut seen = HashSet::new();
        for word in forms::words(&list.value) {
            let shown = one_line(word, 40);
            let Ok(which) = forms::station(word) else {
                continue; // the syntax of the word was refused before
            };
            let other = match &which {
                Which::Mac(mac) => macs.insert(mac.clone(), group),
                Which::Subnet(subnet) => {
                    let twin = subnets
                        .iter()
                        .find(|(other, _)| forms::overlap(*other, *subnet));
                    let other = twin.map(|(_, group)| *group);
                    subnets.push((*subnet, group));
                    other
                }
                Which::Name(name) if !listed.contains(&name.as_str()) => {
                    let message = format!(
                        "`{shown}` is no MAC address, IP address, subnet or listed station"
                    );
                    refuse(message, did_you_mean(name, listed.iter().copied()));
                    None
                }
                Which::Name(_) => None,
            };
            if !seen.insert(which) {
                let message = format!("`{shown}` is listed twice: expected each station once");
                refuse(message, None);
            }
            if forms::address(word).is_ok_and(|address| ignored.contains(&address)) {
                let message = format!(
                    "`{shown}` is in `gateway.discover.ignore`, and such addresses bypass the leaf \
                     queues: must be in only one of the two lists"
                );
                refuse(message, None);
            }
            if let Some(other) = other.filter(|other| *other != group) {
                let message = format!(
                    "`{shown}` is also in `gateway.group.{}`: a station must be in one group only",
                    one_line(other, 80)
                );
                refuse(message, None);
            }
        }
    }
}

/// Refuses every `fairness` except "station" if there are groups. Only with this fairness does every station have a
/// separate leaf, which a group needs.
fn check_fairness(gateway: &Section, problems: &mut Problems) {
    if gateway.tables(GatewayTable::group).is_empty() {
        return;
    }
    let aps = gateway.tables(GatewayTable::ap);
    let bottlenecks = [gateway].into_iter().chain(aps.iter().map(|(_, ap)| ap));
    for bottleneck in bottlenecks {
        if let Some(fairness) = bottleneck.located(BottleneckKeys::fairness)
            && fairness.value != Fairness::Station
        {
            let fault = "does not support groups: must be \"station\" with `gateway.group`";
            fairness.refuse_value(fault, problems);
        }
    }
}

/// Checks that the maximum rate of each group is below the fixed rate of at least one access point.
///
/// Does nothing if the rate of some access point is estimated or set by an override.
fn check_largest_rates(gateway: &Section, problems: &mut Problems) {
    let mut largest_bps = 0;
    for tables in &bottlenecks(gateway) {
        let rate = tables
            .iter()
            .find_map(|table| table.located(BottleneckKeys::rate_bps));
        match rate {
            Some(rate) if !matches!(rate.origin, Origin::Setting(_)) => match rate.value {
                Some(rate_bps) => largest_bps = largest_bps.max(rate_bps),
                None => return,
            },
            _ => return,
        }
    }
    for (_, group) in gateway.tables(GatewayTable::group) {
        if let Some(largest) = group.located(GroupTable::max_bps)
            && largest.value.is_some_and(|max_bps| max_bps >= largest_bps)
        {
            let fault = "has no effect, since it is not below `gateway.rate`: expected a lower \
                         rate, or none";
            largest.refuse_value(fault, problems);
        }
    }
}

/// Returns the listed stations of each group.
fn claims(gateway: &Section) -> impl Iterator<Item = Claim<'_>> {
    let groups = gateway.tables(GatewayTable::group).iter();
    groups.filter_map(|(group, section)| {
        let list = section
            .located(GroupTable::stations)
            .and_then(Located::present)?;
        Some(Claim { group, list })
    })
}

/// Returns whether `word` refers to station `name` of the file.
fn means(word: &str, name: &str, station: &Section) -> bool {
    let text = |key| station.located(key).and_then(Located::present);
    match forms::station(word) {
        Ok(Which::Mac(mac)) => text(GatewayStationTable::mac)
            .is_some_and(|address| forms::mac(&address.value).is_ok_and(|own| own == mac)),
        Ok(Which::Subnet(subnet)) => text(GatewayStationTable::address).is_some_and(|list| {
            let mut own = forms::words(&list.value).filter_map(|word| forms::member(word).ok());
            own.any(|own| forms::overlap(own, subnet))
        }),
        Ok(Which::Name(other)) => other == name,
        Err(_) => false,
    }
}

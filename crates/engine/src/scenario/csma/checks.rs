//! Checks of the tables of `[csma]`, and of keys that require or exclude `[csma]`.

use super::super::model::Record;
use super::super::root::RootKeys;
use super::super::wired::{FlowTable, Hosts};
use super::assemble::{distance, names, position};
use super::{CsmaPrice, effect};
use crate::app::FlowHosts;
use crate::app::{Gaps, SourceRate, WiredDatagrams, WriteKeys};
use crate::conflict::{AccessWord, ConnectionsWord, CsmaLinkTable, CsmaTable};
use crate::notation::decode::{Entry, Located, Section};
use crate::notation::problem::{Problems, did_you_mean, one_line, one_of};
use crate::notation::setting::{FileTable, Millimetres, keys};
use crate::notation::tree::{Data, Item};
use crate::notation::units::{self, LENGTH, TIME};

/// Maximum number of wireless links.
const MAX_LINKS: usize = 5_000;

/// Tables that describe other kinds of networks, and exclude `[csma]`.
const OTHERS: [&str; 6] = keys!(RootKeys: cell, station, dumbbell, parking_lot, wire, bottleneck);

/// Keys of a flow that are accepted only with `[csma]`.
const OF_ROUTES: [&str; 3] = keys!(FlowTable: route, weight, marginal_utility);

/// Keys of a flow that are accepted only without `[csma]`.
const OF_WIRES: [&str; 12] = keys!(
    FlowTable: from, to;
    Hosts: access, access_spread, jitter, rtt, rtt_spread;
    FlowHosts: from_host, to_host, from_nat, to_nat, dscp
);

/// Refuses a cell or a topology in a file with `[csma]`, and removes its table, so that the table
/// causes no further problems.
pub(in super::super) fn leave_alone(root: &mut Item, problems: &mut Problems) {
    let Data::Table(tables) = &mut root.data else {
        return;
    };
    let is_csma =
        |(name, item): &(String, Item)| name == RootKeys::csma.name() && item.entries().is_some();
    if !tables.iter().any(is_csma) {
        return;
    }
    let others = tables.extract_if(.., |(name, _)| OTHERS.contains(&name.as_str()));
    let others: Vec<(String, Item)> = others.collect();
    if let Some(((first, item), more)) = others.split_first() {
        let more: String = more.iter().map(|(name, _)| format!(", `{name}`")).collect();
        let more = match more.strip_prefix(',') {
            Some(more) => format!(", as well as{more}"),
            None => more,
        };
        let message = format!(
            "conflicts with `csma`{more}; expected only wired links and flows with a route"
        );
        problems.add(item.origin, first, message);
    }
}

/// Checks the tables of `[csma]`. In a file without `[csma]`, refuses the keys that require this
/// table.
pub(in super::super) fn check(root: &Section, problems: &mut Problems) {
    let Some(csma) = root.inside(RootKeys::csma) else {
        if root.lacks(RootKeys::csma) {
            return;
        }
        for (_, flow) in root.tables(RootKeys::flow) {
            for entry in OF_ROUTES.iter().filter_map(|key| flow.entry(key)) {
                let message = "this key needs `csma`; expected wireless links [csma.link.NAME]";
                entry.refuse(message, problems);
            }
            if let Some(rate) = greedy(flow) {
                rate.refuse_value("is only for a flow on a route; expected a rate", problems);
            }
        }
        return;
    };
    check_links(csma, problems);
    for (_, flow) in root.tables(RootKeys::flow) {
        check_flow(csma, flow, problems);
    }
    if root.tables(RootKeys::flow).is_empty() && !root.lacks(RootKeys::flow) {
        let message = "missing; expected tables [flow.NAME] with a route".to_owned();
        problems.add(csma.origin, RootKeys::flow.name(), message);
    }
    let has_tcp = (root.each(RootKeys::flow)).any(|flow| flow.inside(FlowTable::udp).is_none());
    check_rules(csma, has_tcp, problems);
    effect::check(root, csma, has_tcp, problems);
    if let Some(record) = root.inside(RootKeys::record)
        && let Some(frames) = record.located(Record::frames)
        && frames.value != Some(0)
    {
        let message = "conflicts with `csma`; a capture is of the frames of a cell";
        frames.refuse(message, problems);
    }
}

fn check_links(csma: &Section, problems: &mut Problems) {
    let links = csma.tables(CsmaTable::link);
    if links.len() > MAX_LINKS {
        let message = format!("{} links; expected at most {MAX_LINKS}", links.len());
        problems.add(csma.origin, "csma.link", message);
    }
    for (name, section) in links.iter().chain(csma.tables(CsmaTable::node)) {
        section.check_name(name, problems);
    }
    for (name, link) in links {
        let ends = [
            link.located(CsmaLinkTable::from),
            link.located(CsmaLinkTable::to),
        ];
        let given = ends.iter().flatten().count();
        let keys = [CsmaLinkTable::from, CsmaLinkTable::to];
        if given == 1 && !keys.iter().any(|end| link.lacks(*end)) {
            let message = "has only one end; expected both `from` and `to`, or neither of the two \
                           keys";
            link.refuse(message, problems);
        }
        check_others(name, link, links, given > 0, problems);
        for end in ends.iter().flatten() {
            if let Some(node) = &end.value {
                known(end, node, csma.tables(CsmaTable::node), "node", problems);
            }
        }
        check_length(csma, link, problems);
    }
    check_mixture(csma, problems);
}

/// Checks the names of other links in the table of a link, such as its conflicts. Each name must be
/// the name of another existing link.
fn check_others(
    name: &str,
    link: &Section,
    links: &[(String, Section)],
    placed: bool,
    problems: &mut Problems,
) {
    for listing in [CsmaLinkTable::conflicts, CsmaLinkTable::disturbs] {
        let key = listing.name();
        let Some(entry) = link.located(listing) else {
            continue;
        };
        if placed {
            let message =
                format!("conflicts with the nodes at the ends; expected {key}, or these nodes");
            entry.refuse(message, problems);
        }
        for other in &names(link, listing) {
            if other == name {
                let message = format!("\"{name}\" is the link itself; expected other links");
                entry.refuse(message, problems);
            } else {
                known(&entry, other, links, "wireless link", problems);
            }
        }
    }
    let listed = |of: &Section, name: &str| {
        names(of, CsmaLinkTable::conflicts)
            .iter()
            .any(|n| n == name)
    };
    let hears = |other: &&String| {
        let theirs = links.iter().find(|(name, _)| name == *other);
        listed(link, other) || theirs.is_some_and(|(_, section)| listed(section, name))
    };
    if let Some(entry) = link.located(CsmaLinkTable::disturbs)
        && let Some(heard) = entry.value.iter().flatten().find(hears)
    {
        let message = format!(
            "\"{heard}\" is in conflict with this link and waits for it; expected links \
                     without a conflict"
        );
        entry.refuse(message, problems);
    }
}

/// Checks that either all links or no links have nodes. A link without nodes has no position, so
/// its conflicts could not be computed from positions.
fn check_mixture(csma: &Section, problems: &mut Problems) {
    let links = csma.tables(CsmaTable::link);
    let placed = |link: &Section| {
        link.located(CsmaLinkTable::from).is_some() || link.lacks(CsmaLinkTable::from)
    };
    if let (true, Some((_, link))) = (
        links.iter().any(|(_, link)| placed(link)),
        links.iter().find(|(_, link)| !placed(link)),
    ) {
        let message = "has no nodes, but another link has; expected nodes for all or for none";
        link.refuse(message, problems);
    }
    if !links.iter().any(|(_, link)| placed(link))
        && let Some((_, node)) = csma.tables(CsmaTable::node).first()
    {
        let message = "no link begins or ends at a node; expected `from` and `to` of links";
        node.refuse(message, problems);
    }
}

/// Refuses the name `name` if none of `tables` has this name.
fn known(
    entry: &Entry,
    name: &str,
    tables: &[(String, Section)],
    what: &str,
    problems: &mut Problems,
) {
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    if !names.contains(&name) {
        let instead = match names.len() {
            0 => format!("expected tables [csma.{what}.NAME]"),
            _ => format!("expected {}", one_line(&one_of(&names), 200)),
        };
        let message = format!("there is no {what} \"{name}\"; {instead}");
        let hint = did_you_mean(name, names);
        entry.refuse_with_hint(message, hint, problems);
    }
}

fn check_length(csma: &Section, link: &Section, problems: &mut Problems) {
    let (from, to) = (
        link.located(CsmaLinkTable::from),
        link.located(CsmaLinkTable::to),
    );
    if let (Some(from), Some(to)) = (from, to)
        && from.value == to.value
    {
        let fault = "is also the other end of the link; expected another node";
        to.refuse_value(fault, problems);
        return;
    }
    if let Some(Millimetres(range)) = csma.value(CsmaTable::transmission_range)
        && let Some(from) = position(csma, link, CsmaLinkTable::from)
        && let Some(to) = position(csma, link, CsmaLinkTable::to)
        && let long = distance(from, to)
        && long > range as f64
    {
        let (long, range) = (long / 1000.0, units::show(range, LENGTH));
        let message =
            format!("is {long:.0} m long; expected at most the transmission range of {range}");
        link.refuse(message, problems);
    }
}

fn check_flow(csma: &Section, flow: &Section, problems: &mut Problems) {
    if let Some(table) = flow.inside(FlowTable::call) {
        let message = "a call sends in both directions, and a route has one; expected bulk TCP, \
                       or udp";
        table.refuse(message, problems);
        return;
    }
    if let Some(table) = flow.inside(FlowTable::ping) {
        let message = "pings are not supported with `csma`; expected bulk TCP, or udp";
        table.refuse(message, problems);
        return;
    }
    if flow.located(FlowTable::route).is_none() {
        if !flow.lacks(FlowTable::route) {
            let message = "missing key `route`; with `csma` a flow needs the list of its links, such as route = [\"a\"]";
            flow.refuse(message, problems);
        }
        return;
    }
    for entry in OF_WIRES.iter().filter_map(|key| flow.given(key)) {
        let message = "this key is only for flows between wired nodes, not for flows on a route";
        entry.refuse(message, problems);
    }
    if let Some(table) = flow.inside(FlowTable::web) {
        let message = "conflicts with `route`; expected bulk TCP, or udp";
        table.refuse(message, problems);
    }
    if let Some(entry) = flow.located(FlowTable::segments) {
        let fault = "this key is only for flows that end by themselves; on a route expected `stop`";
        entry.refuse(fault, problems);
    }
    for entry in WriteKeys::table().names().filter_map(|key| flow.entry(key)) {
        let message = "this key is only for flows between wired nodes, not for flows on a route";
        entry.refuse(message, problems);
    }
    check_greedy(csma, flow, problems);
}

/// Returns the rate entry of a flow's datagram source, if the rate is "greedy".
fn greedy(flow: &Section) -> Option<Located<'_, Option<SourceRate>>> {
    let rate = flow.inside(FlowTable::udp)?.located(WiredDatagrams::rate);
    rate.filter(|rate| rate.value == Some(SourceRate::Greedy))
}

/// Checks that a greedy source can fill its queue.
fn check_greedy(csma: &Section, flow: &Section, problems: &mut Problems) {
    let Some(rate) = greedy(flow) else {
        return;
    };
    let source = flow.inside(FlowTable::udp);
    let arrivals = source.and_then(|source| source.value(WiredDatagrams::arrivals));
    let route = flow.value(FlowTable::route).flatten().unwrap_or_default();
    let on_air = |name: &String| csma.named(CsmaTable::link, name).is_some();
    let adapts = csma.value(CsmaTable::access) == Some(AccessWord::Adaptive);
    let message = if arrivals == Some(Gaps::Poisson) {
        "\"greedy\" contradicts arrivals = \"poisson\"; expected one of the two"
    } else if !route.first().is_some_and(on_air) {
        "a greedy source needs a route that begins with a wireless link; expected a rate"
    } else if adapts && csma.value(CsmaPrice::aqm) == Some(true) {
        "a greedy source fills its queue to the limit, which csma.aqm does not allow; expected a \
         rate, or csma.aqm = false"
    } else {
        return;
    };
    rate.refuse(message, problems);
}

fn check_rules(csma: &Section, has_tcp: bool, problems: &mut Problems) {
    if let (Some(least), Some(most)) = (
        csma.located(CsmaTable::cwmin),
        csma.located(CsmaTable::cwmax),
    ) && most.value < least.value
    {
        let (least, cwmax) = (least.value, most.value);
        let message = format!("{cwmax} is less than cwmin; expected at least {least}");
        most.refuse(message, problems);
    }
    let difs = csma.value(CsmaTable::difs);
    let difs = difs.or_else(|| Some(csma.value(CsmaTable::access)?.difs()));
    if let (Some(difs), Some(eifs)) = (difs, csma.located(CsmaTable::eifs))
        && eifs.value < difs
    {
        let difs = units::show(difs.0, TIME);
        let fault = format!("is less than difs; expected at least {difs}");
        eifs.refuse_value(fault, problems);
    }
    if let Some(fairness) = csma.located(CsmaTable::fairness) {
        if fairness.value <= 0.0 {
            let fault = "makes a utility that is not strictly concave; expected a number above 0";
            fairness.refuse_value(fault, problems);
        }
        if csma.located(CsmaTable::marginal_utility).is_some() {
            let fault = "conflicts with marginal_utility, which also sets the utility of rates; \
                         expected one of the two";
            fairness.refuse_value(fault, problems);
        }
    }
    check_ranges(csma, problems);
    if has_tcp
        && csma.value(CsmaTable::access) == Some(AccessWord::Adaptive)
        && csma.value(CsmaTable::connections) == Some(ConnectionsWord::One)
        && csma.value(CsmaPrice::r_max) == Some(None)
        && let Some(aqm) = csma.located(CsmaPrice::aqm).filter(|aqm| !aqm.value)
    {
        let message = "without aqm and with one connection r grows without bound; expected r_max";
        aqm.refuse(message, problems);
    }
}

/// Checks that the sensing range is at least the transmission range: a station senses every frame
/// that it can decode.
fn check_ranges(csma: &Section, problems: &mut Problems) {
    let sensing = csma.located(CsmaTable::sensing_range);
    let transmission = csma.located(CsmaTable::transmission_range);
    let (Some(sensing), Some(transmission)) = (sensing, transmission) else {
        return;
    };
    let (sensed, received) = (sensing.value.0, transmission.value.0);
    if sensed >= received || csma.tables(CsmaTable::node).is_empty() {
        return;
    }
    let (entry, bound, metres) = match sensing.given {
        true => (sensing, "at least", received),
        false => (transmission, "at most", sensed),
    };
    let bound = format!("{bound} {}", units::show(metres, LENGTH));
    let fault = format!(
        "makes sensing_range less than transmission_range, but a frame that can be received is \
         sensed; expected {bound}"
    );
    entry.refuse_value(fault, problems);
}

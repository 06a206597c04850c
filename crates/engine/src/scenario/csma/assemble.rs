//! From decoded tables to [`Csma`].

use std::collections::HashSet;

use super::super::assemble::{tcp, udp};
use super::super::model::Scenario;
use super::super::network::START_SPREAD;
use super::routes::{check_time, route};
use super::*;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, one_line};
use crate::notation::units::{self, TIME};

/// Links, conflicts and flows of `[csma]`. `Some(None)` without such a table, `None` only together
/// with a problem.
pub(in super::super) fn assemble(
    root: &Section,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Option<Option<Csma>> {
    let Some(csma) = root.table("csma") else {
        return Some(None);
    };
    let network = settings(csma)?;
    for (name, section) in csma.named("link") {
        if scenario.links.iter().any(|wired| wired.name == *name) {
            let message = "is the name of a wired link too; allowed are unique names";
            problems.add(section.origin, &section.path, message.to_owned());
            return None;
        }
    }
    if network.connected {
        connected(csma, &network.links, problems)?;
    }
    let flows = flows(root, &network.links, scenario, problems)?;
    let network = Csma { flows, ..network };
    check_overhead(csma, &network, problems)?;
    Some(Some(network))
}

/// Everything but the flows.
fn settings(csma: &Section) -> Option<Csma> {
    let own = Layers(&[csma]);
    let number = |key: &str| csma.entry(key)?.number();
    let word = |key: &str| csma.entry(key)?.word();
    let metres = |key: &str| Some(csma.entry(key)?.length()? as f64 / 1e3);
    let k = number("k")?;
    let access = match word("access")? {
        "legacy" => CsmaAccess::Legacy {
            access_intensity: number("access_intensity")?,
        },
        "dcf" => CsmaAccess::Dcf(DcfSettings {
            slot: own.duration("slot")?,
            difs: own.duration("difs")?,
            eifs: match csma.entry("eifs") {
                Some(eifs) => eifs.duration()?,
                None => own.duration("difs")?,
            },
            cwmin: own.count("cwmin")?,
            cwmax: own.count("cwmax")?,
        }),
        _ => CsmaAccess::Adaptive,
    };
    let is_adaptive = access == CsmaAccess::Adaptive;
    Some(Csma {
        links: links(csma)?,
        nodes: nodes(csma)?,
        transmission_range_m: metres("transmission_range")?,
        sensing_range_m: metres("sensing_range")?,
        interference_range_m: metres("interference_range")?,
        connected: csma.entry("connected")?.flag()?,
        flows: Vec::new(),
        access,
        air: CsmaAir {
            service_rate_pps: number("service_rate")?,
            overhead: own.duration("overhead")?,
            backoff: spread(word("backoff")?),
            transmission: spread(word("transmission")?),
            attempts: own.count("attempts")?,
        },
        beta: number("beta")?,
        price: CsmaPrice {
            r_per_packet: number("r_per_packet")?,
            r_max: number("r_max"),
            in_bytes: word("queue_unit")? == "bytes",
            aqm: csma.entry("aqm")?.flag()? && is_adaptive,
            interval: own.duration("r_interval")?,
        },
        queue_packets: own.count("queue")?,
        dummy: csma.entry("dummy")?.flag()?,
        acks: match word("acks")? {
            "contend" => CsmaAcks::Contend,
            _ => CsmaAcks::Priority,
        },
        // without prices nothing tells several connections what they cost
        connections: match word("connections")? {
            _ if !is_adaptive => Connections::One,
            "utility" => Connections::Utility {
                k,
                fairness: number("fairness").unwrap_or(2.0),
            },
            "one" => Connections::One,
            _ => Connections::Rtt { k },
        },
        users: CsmaUsers {
            interval: own.duration("connections_interval")?,
            nearest: word("rounding")? == "nearest",
            smoothing: csma.entry("smoothing")?.probability()?,
        },
    })
}

fn spread(name: &str) -> Spread {
    let found = Spread::ALL.into_iter().find(|one| one.name() == name);
    found.unwrap_or(Spread::Exponential) // a test proves that the grammar names no other
}

/// The fixed part of a transmission leaves something for the packet.
fn check_overhead(csma: &Section, network: &Csma, problems: &mut Problems) -> Option<()> {
    let entry = csma.entry("overhead")?;
    let whole = Span::from_seconds(1.0 / network.air.service_rate_pps);
    if network.air.overhead < whole {
        return Some(());
    }
    let message = format!(
        "{} is not less than a packet takes at this service_rate; allowed is less than {}",
        entry.shown,
        units::show(whole.0, TIME)
    );
    problems.add(entry.origin, &entry.path, message);
    None
}

fn nodes(csma: &Section) -> Option<Vec<CsmaNode>> {
    let node = |(name, node): &(String, Section)| {
        Some(CsmaNode {
            name: name.clone(),
            x_m: node.entry("x")?.length()? as f64 / 1e3,
            y_m: node.entry("y")?.length()? as f64 / 1e3,
        })
    };
    csma.named("node").iter().map(node).collect()
}

/// The links with their conflicts, listed or from positions.
fn links(csma: &Section) -> Option<Vec<CsmaLink>> {
    let tables = csma.named("link");
    let place = |name: &String| tables.iter().position(|(link, _)| link == name);
    let mut links = Vec::with_capacity(tables.len());
    for (name, link) in tables {
        let end = |key: &str| link.entry(key).and_then(Entry::text).map(str::to_owned);
        links.push(CsmaLink {
            name: name.clone(),
            conflicts: names(link, "conflicts")
                .iter()
                .map(place)
                .collect::<Option<_>>()?,
            disturbs: names(link, "disturbs")
                .iter()
                .map(place)
                .collect::<Option<_>>()?,
            reads: BTreeSet::new(),
            ends: end("from").zip(end("to")).map(|(from, to)| [from, to]),
            r: link.entry("r").and_then(Entry::number),
            error: link.entry("error")?.probability()?,
        });
    }
    for a in 0..links.len() {
        for b in links[a].conflicts.clone() {
            links[b].conflicts.insert(a);
        }
    }
    from_positions(csma, &mut links)?;
    Some(links)
}

/// Adds the conflicts of links whose ends have places, and who reads and disturbs whom: an exchange is
/// read by who is near one of its ends.
fn from_positions(csma: &Section, links: &mut [CsmaLink]) -> Option<()> {
    let sensing = csma.entry("sensing_range")?.length()? as f64;
    let transmission = csma.entry("transmission_range")?.length()? as f64;
    let interference = csma.entry("interference_range")?.length()? as f64;
    let tables = csma.named("link");
    let places: Vec<Option<[(f64, f64); 2]>> = tables
        .iter()
        .map(|(_, link)| Some([position(csma, link, "from")?, position(csma, link, "to")?]))
        .collect();
    for a in 0..links.len() {
        let (Some([transmitter, _]), Some(nodes)) = (places[a], links[a].ends.clone()) else {
            continue;
        };
        for b in (0..links.len()).filter(|&b| b != a) {
            let (Some([other, receiver]), Some(ends)) = (places[b], &links[b].ends) else {
                continue;
            };
            let shared = ends.iter().any(|end| nodes.contains(end));
            let near = |node| distance(transmitter, node) <= transmission;
            if shared || distance(transmitter, other) <= sensing {
                links[a].conflicts.insert(b);
                if shared || near(other) || near(receiver) {
                    links[a].reads.insert(b);
                }
            } else if distance(transmitter, receiver) <= interference {
                links[a].disturbs.insert(b);
            }
        }
    }
    Some(())
}

/// The names listed under a key of a link.
pub(super) fn names<'a>(link: &'a Section, key: &str) -> &'a [String] {
    let names = link.entry(key).and_then(Entry::names);
    names.unwrap_or(&[])
}

/// The node at one end of a link. [mm]
pub(super) fn position(csma: &Section, link: &Section, end: &str) -> Option<(f64, f64)> {
    let name = link.entry(end)?.text()?;
    let (_, node) = csma.named("node").iter().find(|(node, _)| node == name)?;
    let along = |axis| Some(node.entry(axis)?.length()? as f64);
    Some((along("x")?, along("y")?))
}

pub(super) fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    libm::hypot(one.0 - other.0, one.1 - other.1)
}

/// Refuses a conflict graph in several parts.
fn connected(csma: &Section, links: &[CsmaLink], problems: &mut Problems) -> Option<()> {
    let mut reached = BTreeSet::from([0]);
    let mut frontier = vec![0];
    while let Some(link) = frontier.pop() {
        let new = links[link]
            .conflicts
            .iter()
            .filter(|&&one| reached.insert(one));
        frontier.extend(new);
    }
    let Some(apart) = (0..links.len()).find(|link| !reached.contains(link)) else {
        return Some(());
    };
    let entry = csma.entry("connected")?;
    let message = format!(
        "the conflict graph is not connected: no conflicts lead from link {} to link {}; \
         allowed is false",
        links[0].name, links[apart].name
    );
    problems.add(entry.origin, &entry.path, message);
    None
}

fn flows(
    root: &Section,
    links: &[CsmaLink],
    scenario: &Scenario,
    problems: &mut Problems,
) -> Option<Vec<CsmaFlow>> {
    let stagger = root.entry("stagger")?;
    let of_all = root.table("csma")?.entry("marginal_utility");
    let mut flows: Vec<CsmaFlow> = Vec::new();
    let mut known = HashSet::new();
    for (class, section) in root.named("flow") {
        let route = route(section.entry("route")?, links, &scenario.links, problems)?;
        check_time(section, &route, scenario, problems)?;
        let own = Layers(&[section]);
        let transport = match section.table("udp") {
            Some(source) => Transport::Udp(udp(Layers(&[source, root.table("udp")?]))?),
            None => Transport::Tcp(tcp(Layers(&[section, root.table("tcp")?]))?),
        };
        let names = match section.entry("count").and_then(Entry::count) {
            None => vec![class.clone()],
            Some(count) => (1..=count).map(|k| format!("{class}-{k}")).collect(),
        };
        let marginal_utility = section.entry("marginal_utility").or(of_all);
        let points = marginal_utility.and_then(Entry::points);
        let marginal_utility = points.and_then(|points| Marginals::new(points.to_vec()).ok());
        for name in names {
            if !known.insert(name.clone()) {
                let message = format!(
                    "flow name `{}` is made twice; allowed are unique names",
                    one_line(&name, 80)
                );
                problems.add(section.origin, &section.path, message);
                return None;
            }
            let delay = stagger.duration()?.0.saturating_mul(flows.len() as u64);
            let flow = CsmaFlow {
                name,
                class: class.clone(),
                route: route.clone(),
                weight: section
                    .entry("weight")
                    .and_then(Entry::number)
                    .unwrap_or(1.0),
                marginal_utility: marginal_utility.clone(),
                transport,
                start: Span(own.duration("start")?.0.saturating_add(delay)),
                start_spread: own.duration("start_spread").unwrap_or(START_SPREAD),
                stop: own.duration("stop"),
            };
            check_start(section, stagger, &flow, scenario.duration, problems)?;
            flows.push(flow);
        }
    }
    Some(flows)
}

/// A flow begins before its end.
fn check_start(
    section: &Section,
    stagger: &Entry,
    flow: &CsmaFlow,
    duration: Span,
    problems: &mut Problems,
) -> Option<()> {
    let end = flow.stop.unwrap_or(duration).min(duration);
    if flow.start < end {
        return Some(());
    }
    let start = section.entry("start")?;
    let blamed = match start.duration()? < end {
        true => stagger,
        false => start,
    };
    let message = format!(
        "flow `{}` would start at {}; allowed is before its end at {}",
        flow.name,
        units::show(flow.start.0, TIME),
        units::show(end.0, TIME)
    );
    problems.add(blamed.origin, &blamed.path, message);
    None
}

//! From decoded tables to [`Csma`].

use std::collections::HashSet;

use super::super::flows::udp_of;
use super::super::model::{Scenario, Transport};
use super::super::root::RootKeys;
use super::super::wired::{FlowTable, Hosts};
use super::routes::{check_time, route};
use super::*;
use crate::app::WiredDatagrams;
use crate::conflict::{AccessWord, ConnectionsWord, CsmaLinkTable, CsmaTable};
use crate::notation::decode::{Said, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused, one_line};
use crate::notation::setting::{FileTable, KeyOf, Millimetres};
use crate::notation::units::{self, TIME};

/// Links, conflicts and flows of `[csma]`, if there is such a table.
///
/// # Errors
/// There is a problem.
pub(in super::super) fn assemble(
    root: &Section,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Option<Csma>, Refused> {
    let Some(csma) = root.inside(RootKeys::csma) else {
        return Ok(None);
    };
    let network = settings(csma)?;
    for (name, section) in csma.tables(CsmaTable::link) {
        if scenario.links.iter().any(|wired| wired.name == *name) {
            let message = "is the name of a wired link too; allowed are unique names";
            return Err(section.refuse(message, problems));
        }
    }
    if network.connected {
        connected(csma, &network.links, problems)?;
    }
    let flows = flows(root, &network.links, scenario, problems)?;
    let network = Csma { flows, ..network };
    check_overhead(csma, &network, problems)?;
    Ok(Some(network))
}

/// Everything but the flows.
fn settings(csma: &Section) -> Result<Csma, Refused> {
    let keys = CsmaTable::read(&Layers(&[csma]))?;
    let k = keys.k;
    let access = match keys.access {
        AccessWord::Adaptive => CsmaAccess::Adaptive,
        AccessWord::Legacy => CsmaAccess::Legacy {
            access_intensity: keys.access_intensity,
        },
        AccessWord::Dcf => CsmaAccess::Dcf(DcfSettings {
            slot: keys.slot,
            difs: keys.difs,
            eifs: keys.eifs,
            cwmin: keys.cwmin,
            cwmax: keys.cwmax,
        }),
    };
    let is_adaptive = access == CsmaAccess::Adaptive;
    Ok(Csma {
        links: links(csma)?,
        nodes: nodes(csma)?,
        transmission_range_m: keys.transmission_range.metres(),
        sensing_range_m: keys.sensing_range.metres(),
        interference_range_m: keys.interference_range.metres(),
        connected: keys.connected,
        flows: Vec::new(),
        access,
        air: keys.air,
        beta: keys.beta,
        price: CsmaPrice {
            aqm: keys.price.aqm && is_adaptive,
            ..keys.price
        },
        queue_packets: keys.queue,
        dummy: keys.dummy,
        acks: keys.acks,
        // without prices nothing tells several connections what they cost
        connections: match keys.connections {
            ConnectionsWord::Rtt if is_adaptive => Connections::Rtt { k },
            ConnectionsWord::Utility if is_adaptive => Connections::Utility {
                k,
                fairness: keys.fairness,
            },
            ConnectionsWord::Rtt | ConnectionsWord::Utility | ConnectionsWord::One => {
                Connections::One
            }
        },
        users: keys.users,
    })
}

/// The fixed part of a transmission leaves something for the packet.
fn check_overhead(csma: &Section, network: &Csma, problems: &mut Problems) -> Result<(), Refused> {
    let whole = Span::from_seconds(1.0 / network.air.service_rate_pps);
    let overhead = csma.said(CsmaAir::overhead);
    let Some(overhead) = overhead.filter(|overhead| overhead.value >= whole) else {
        return Ok(());
    };
    let fault = format!(
        "is not less than a packet takes at this service_rate; allowed is less than {}",
        units::show(whole.0, TIME)
    );
    Err(overhead.refuse_value(fault, problems))
}

fn nodes(csma: &Section) -> Result<Vec<(String, CsmaNode)>, Refused> {
    let nodes = csma.tables(CsmaTable::node).iter();
    let node =
        |(name, node): &(String, Section)| Ok((name.clone(), CsmaNode::read(&Layers(&[node]))?));
    nodes.map(node).collect()
}

/// The links with their conflicts, listed or from positions.
fn links(csma: &Section) -> Result<Vec<CsmaLink>, Refused> {
    let tables = csma.tables(CsmaTable::link);
    let place = |name: &String| tables.iter().position(|(link, _)| link == name);
    let mut links = Vec::with_capacity(tables.len());
    for (name, link) in tables {
        let keys = CsmaLinkTable::read(&Layers(&[link]))?;
        // the checks have seen to it that all of them are there
        let places =
            |names: Option<Vec<String>>| names.iter().flatten().filter_map(place).collect();
        links.push(CsmaLink {
            name: name.clone(),
            conflicts: places(keys.conflicts),
            disturbs: places(keys.disturbs),
            reads: BTreeSet::new(),
            ends: keys.from.zip(keys.to).map(|(from, to)| [from, to]),
            r: keys.r,
            error: keys.error,
        });
    }
    for a in 0..links.len() {
        for b in links[a].conflicts.clone() {
            links[b].conflicts.insert(a);
        }
    }
    from_positions(csma, &mut links)?;
    Ok(links)
}

/// Adds the conflicts of links whose ends have places, and who reads and disturbs whom: an exchange is
/// read by who is near one of its ends.
fn from_positions(csma: &Section, links: &mut [CsmaLink]) -> Result<(), Refused> {
    let range = |key: KeyOf<Millimetres>| Ok(Layers(&[csma]).need(key)?.0 as f64);
    let sensing = range(CsmaTable::sensing_range)?;
    let transmission = range(CsmaTable::transmission_range)?;
    let interference = range(CsmaTable::interference_range)?;
    let tables = csma.tables(CsmaTable::link);
    let places: Vec<Option<[(f64, f64); 2]>> = tables
        .iter()
        .map(|(_, link)| {
            let from = position(csma, link, CsmaLinkTable::from)?;
            Some([from, position(csma, link, CsmaLinkTable::to)?])
        })
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
    Ok(())
}

/// The names listed under a key of a link.
pub(super) fn names(link: &Section, key: KeyOf<Option<Vec<String>>>) -> Vec<String> {
    link.said(key)
        .and_then(|said| said.value)
        .unwrap_or_default()
}

/// The node at one end of a link. [mm]
pub(super) fn position(
    csma: &Section,
    link: &Section,
    end: KeyOf<Option<String>>,
) -> Option<(f64, f64)> {
    let node = csma.one(CsmaTable::node, &link.value(end)??)?;
    let along = |axis| Some(node.value::<Millimetres>(axis)?.0 as f64);
    Some((along(CsmaNode::x)?, along(CsmaNode::y)?))
}

pub(super) fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    libm::hypot(one.0 - other.0, one.1 - other.1)
}

/// Refuses a conflict graph in several parts.
fn connected(csma: &Section, links: &[CsmaLink], problems: &mut Problems) -> Result<(), Refused> {
    let mut reached = BTreeSet::from([0]);
    let mut frontier = vec![0];
    while let Some(link) = frontier.pop() {
        let new = links[link]
            .conflicts
            .iter()
            .filter(|&&one| reached.insert(one));
        frontier.extend(new);
    }
    let apart = (0..links.len()).find(|link| !reached.contains(link));
    let (Some(apart), Some(connected)) = (apart, csma.said(CsmaTable::connected)) else {
        return Ok(());
    };
    let message = format!(
        "the conflict graph is not connected: no conflicts lead from link {} to link {}; allowed \
         is false",
        links[0].name, links[apart].name
    );
    Err(connected.refuse(message, problems))
}

fn flows(
    root: &Section,
    links: &[CsmaLink],
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Vec<CsmaFlow>, Refused> {
    let stagger = root.said(RootKeys::stagger);
    let csma = root.inside(RootKeys::csma);
    let of_all = csma.and_then(|csma| marginals(csma, CsmaTable::marginal_utility));
    let mut flows: Vec<CsmaFlow> = Vec::new();
    let mut known = HashSet::new();
    for (class, section) in root.tables(RootKeys::flow) {
        let Some(names) = section
            .said(FlowTable::route)
            .and_then(|said| said.present())
        else {
            continue; // there has been a complaint
        };
        let route = route(&names, links, &scenario.links, problems)?;
        check_time(&names, &route, scenario, problems)?;
        let own = FlowTable::read(&Layers(&[section]))?;
        let transport = match section.inside(FlowTable::udp) {
            Some(source) => {
                let WiredDatagrams { rate, arrivals } = WiredDatagrams::read(&Layers(&[source]))?;
                let udp = udp_of(root, Some(source))?;
                Transport::Udp(udp.leaving(rate, Some(arrivals.into())))
            }
            None => {
                let tcp = root.inside(RootKeys::tcp);
                let tables: Vec<&Section> = [section].into_iter().chain(tcp).collect();
                Transport::Tcp(TcpSettings::read(&Layers(&tables))?)
            }
        };
        let members = match own.count {
            None => vec![class.clone()],
            Some(count) => (1..=count).map(|k| format!("{class}-{k}")).collect(),
        };
        let marginal_utility = marginals(section, FlowTable::marginal_utility);
        let marginal_utility = marginal_utility.or(of_all.clone());
        for name in members {
            if !known.insert(name.clone()) {
                let message = format!(
                    "flow name `{}` is made twice; allowed are unique names",
                    one_line(&name, 80)
                );
                return Err(section.refuse(message, problems));
            }
            let step = stagger.as_ref().map_or(Span::ZERO, |stagger| stagger.value);
            let delay = step.0.saturating_mul(flows.len() as u64);
            let flow = CsmaFlow {
                name,
                class: class.clone(),
                route: route.clone(),
                weight: own.weight,
                marginal_utility: marginal_utility.clone(),
                transport,
                start: Span(own.start.0.saturating_add(delay)),
                start_spread: Hosts::read(&Layers(&[section]))?.start_spread,
                stop: own.stop,
            };
            check_start(section, &stagger, &flow, scenario.duration, problems)?;
            flows.push(flow);
        }
    }
    Ok(flows)
}

/// The marginal utility of a table, whose points have been checked.
fn marginals(table: &Section, key: KeyOf<Vec<(f64, f64)>>) -> Option<Marginals> {
    let points = table.said(key)?.value;
    Marginals::new(points).ok()
}

/// A flow begins before its end.
fn check_start(
    section: &Section,
    stagger: &Option<Said<Span>>,
    flow: &CsmaFlow,
    duration: Span,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let end = flow.stop.unwrap_or(duration).min(duration);
    if flow.start < end {
        return Ok(());
    }
    let message = format!(
        "flow `{}` would start at {}; allowed is before its end at {}",
        flow.name,
        units::show(flow.start.0, TIME),
        units::show(end.0, TIME)
    );
    let own = section.said(FlowTable::start);
    let late = own.filter(|start| start.value >= end);
    let (origin, path) = match (&late, stagger) {
        (Some(start), _) => (start.origin, &start.path),
        (None, Some(stagger)) => (stagger.origin, &stagger.path),
        (None, None) => (section.origin, &section.path),
    };
    Err(problems.add(origin, path, message))
}

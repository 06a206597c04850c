//! Assembles the settings [`Csma`] of a network with a conflict graph from decoded tables.

use std::collections::HashSet;

use super::super::flows::staggered;
use super::super::model::Scenario;
use super::super::network::{transport, unique};
use super::super::root::RootKeys;
use super::super::stations::members;
use super::super::wired::{FlowTable, Hosts};
use super::routes::{check_time, route};
use super::*;
use crate::conflict::{AccessWord, ConnectionsWord, CsmaLinkTable, CsmaTable};
use crate::mac::graph::Pace;
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problems, Refused};
use crate::notation::setting::{FileTable, KeyOf, Millimetres};
use crate::notation::units::{self, TIME};

/// Returns the links, conflicts and flows of `[csma]`, if the file has this table.
///
/// # Errors
/// A problem has been reported.
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
            let message = "is also the name of a wired link; expected unique names";
            return Err(section.refuse(message, problems));
        }
    }
    if network.connected {
        connected(csma, &network.links, problems)?;
    }
    let flows = flows(root, &network.links, scenario, problems)?;
    let network = Csma { flows, ..network };
    check_overhead(csma, &network, problems)?;
    check_marks(csma, &network, problems)?;
    Ok(Some(network))
}

/// Returns the settings of `[csma]`, without the flows.
fn settings(csma: &Section) -> Result<Csma, Refused> {
    let keys = CsmaTable::read(&Layers(&[csma]))?;
    let k = keys.k;
    let pace = Pace {
        slot: keys.slotted.then_some(keys.slot),
        difs: keys.difs,
        eifs: keys.eifs,
    };
    let access = match keys.access {
        AccessWord::Adaptive => CsmaAccess::Adaptive(pace),
        AccessWord::Legacy => CsmaAccess::Legacy {
            access_intensity: keys.access_intensity,
            pace,
        },
        AccessWord::Dcf => CsmaAccess::Dcf {
            pace: Pace {
                slot: Some(keys.slot),
                ..pace
            },
            cwmin: keys.cwmin,
            cwmax: keys.cwmax,
        },
    };
    let is_adaptive = keys.access == AccessWord::Adaptive;
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
        // without prices, a user does not know the cost of a second connection, so it opens only
        // one
        connections: match keys.connections {
            ConnectionsWord::Rtt if is_adaptive => Connections::Rtt { k },
            ConnectionsWord::Utility if is_adaptive => Connections::Utility {
                k,
                fairness: keys.fairness,
            },
            ConnectionsWord::Marks if is_adaptive => Connections::Marks { k },
            ConnectionsWord::Rtt
            | ConnectionsWord::Utility
            | ConnectionsWord::Marks
            | ConnectionsWord::One => Connections::One,
        },
        users: keys.users,
    })
}

/// Checks that the overhead of a transmission is shorter than the time of a packet.
fn check_overhead(csma: &Section, network: &Csma, problems: &mut Problems) -> Result<(), Refused> {
    let packet = Span::from_seconds(1.0 / network.air.service_rate_pps);
    let overhead = csma.located(CsmaAir::overhead);
    let Some(overhead) = overhead.filter(|overhead| overhead.value >= packet) else {
        return Ok(());
    };
    let fault = format!(
        "is not less than the time of a packet at this service_rate; expected less than {}",
        units::show(packet.0, TIME)
    );
    Err(overhead.refuse_value(fault, problems))
}

/// Checks that links mark packets and flows use ECN, if the number of connections depends on marks.
fn check_marks(csma: &Section, network: &Csma, problems: &mut Problems) -> Result<(), Refused> {
    let lacks = |flow: &&CsmaFlow| matches!(&flow.transport, Transport::Tcp(tcp) if !tcp.ecn);
    let Connections::Marks { .. } = network.connections else {
        return Ok(());
    };
    let fault = match network.flows.iter().find(lacks) {
        _ if !network.price.aqm => "needs aqm = true, so that links mark".to_owned(),
        Some(flow) => format!("needs flows with ecn = true, which {} is not", flow.name),
        None => return Ok(()),
    };
    match csma.located(CsmaTable::connections) {
        Some(word) => Err(word.refuse_value(fault, problems)),
        None => Ok(()),
    }
}

fn nodes(csma: &Section) -> Result<Vec<(String, CsmaNode)>, Refused> {
    let nodes = csma.tables(CsmaTable::node).iter();
    nodes
        .map(|(name, node)| Ok((name.clone(), CsmaNode::read(&Layers(&[node]))?)))
        .collect()
}

/// Returns the links with their conflicts. The conflicts are either listed in the file, or computed
/// from the positions of the nodes.
fn links(csma: &Section) -> Result<Vec<CsmaLink>, Refused> {
    let tables = csma.tables(CsmaTable::link);
    let place = |name: &String| tables.iter().position(|(link, _)| link == name);
    let mut links = Vec::with_capacity(tables.len());
    for (name, link) in tables {
        let keys = CsmaLinkTable::read(&Layers(&[link]))?;
        // the checks have refused unknown names of links, so `place` returns an index for every
        // name
        let places = |names: Option<Vec<String>>| {
            // `collect` would sort the places before
            let mut places = BTreeSet::new();
            places.extend(names.iter().flatten().filter_map(place));
            places
        };
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

/// Adds the relations that follow from the positions of nodes: which links conflict, which links
/// decode each other's frames, and which links cause interference. Link a decodes the exchanges of
/// link b if the transmitter of a is in the transmission range of the transmitter or receiver of b.
fn from_positions(csma: &Section, links: &mut [CsmaLink]) -> Result<(), Refused> {
    let range = |key: KeyOf<Millimetres>| Ok(Layers(&[csma]).need(key)?.0 as f64);
    let sensing = range(CsmaTable::sensing_range)?;
    let transmission = range(CsmaTable::transmission_range)?;
    let interference = range(CsmaTable::interference_range)?;
    let place = |link: &Section| {
        let from = position(csma, link, CsmaLinkTable::from)?;
        Some([from, position(csma, link, CsmaLinkTable::to)?])
    };
    let places: Vec<Option<[(f64, f64); 2]>> = csma.each(CsmaTable::link).map(place).collect();
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

/// Returns the names listed under a key of a link.
pub(super) fn names(link: &Section, key: KeyOf<Option<Vec<String>>>) -> Vec<String> {
    link.value(key).flatten().unwrap_or_default()
}

/// Returns the position of the node at one end of a link. [mm]
pub(super) fn position(
    csma: &Section,
    link: &Section,
    end: KeyOf<Option<String>>,
) -> Option<(f64, f64)> {
    let node = csma.named(CsmaTable::node, &link.value(end)??)?;
    let along = |axis| Some(node.value::<Millimetres>(axis)?.0 as f64);
    Some((along(CsmaNode::x)?, along(CsmaNode::y)?))
}

pub(super) fn distance(from: (f64, f64), to: (f64, f64)) -> f64 {
    libm::hypot(from.0 - to.0, from.1 - to.1)
}

/// Refuses a conflict graph that is not connected: a link must reach every other link over
/// conflicts.
fn connected(csma: &Section, links: &[CsmaLink], problems: &mut Problems) -> Result<(), Refused> {
    let mut reached = BTreeSet::from([0]);
    let mut frontier = vec![0];
    while let Some(link) = frontier.pop() {
        let conflicts = links[link].conflicts.iter();
        frontier.extend(conflicts.filter(|&&other| reached.insert(other)));
    }
    let apart = (0..links.len()).find(|link| !reached.contains(link));
    let (Some(apart), Some(connected)) = (apart, csma.located(CsmaTable::connected)) else {
        return Ok(());
    };
    let message = format!(
        "the conflict graph is not connected: no conflicts lead from link {} to link {}; expected \
         false",
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
    let csma = root.inside(RootKeys::csma);
    let of_all = csma.and_then(|csma| marginals(csma, CsmaTable::marginal_utility));
    let mut flows: Vec<CsmaFlow> = Vec::new();
    let mut known = HashSet::new();
    for (class, section) in root.tables(RootKeys::flow) {
        let Some(names) = section.present(FlowTable::route) else {
            continue;
        };
        let route = route(&names, links, &scenario.links, problems)?;
        check_time(&names, &route, scenario, problems)?;
        let own = FlowTable::read(&Layers(&[section]))?;
        let transport = transport(root, Some(section))?;
        let marginal_utility = marginals(section, FlowTable::marginal_utility);
        let marginal_utility = marginal_utility.or(of_all.clone());
        for name in members(class, own.count) {
            unique(&mut known, &name, section, problems)?;
            let flow = CsmaFlow {
                name,
                class: class.clone(),
                route: route.clone(),
                weight: own.weight,
                marginal_utility: marginal_utility.clone(),
                transport: transport.clone(),
                start: own.start,
                start_spread: Hosts::read(&Layers(&[section]))?.start_spread,
                stop: own.stop,
            };
            let start = staggered(root, flows.len(), &flow.to_flow(), scenario, problems)?;
            flows.push(CsmaFlow { start, ..flow });
        }
    }
    Ok(flows)
}

/// Returns the marginal utility that a table sets. The checks have already accepted the points of
/// the marginal utility.
fn marginals(table: &Section, key: KeyOf<Vec<(f64, f64)>>) -> Option<Marginals> {
    Marginals::new(table.value(key)?).ok()
}

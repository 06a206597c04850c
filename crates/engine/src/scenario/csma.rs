//! Networks by conflict graph: what `[csma]` and flows with a route mean.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::decode::{Entry, Section};
use super::layers::Layers;
use super::model::{LinkSettings, Scenario};
use super::problem::{Problems, did_you_mean, one_line};
use super::units::{self, LENGTH};
use super::value::{NAMES, fault_of_name};

/// Most wireless links.
const MOST_LINKS: usize = 5_000;

/// Wireless links that hear only some of each other, with the flows over them.
#[derive(Clone, Debug, PartialEq)]
pub struct Csma {
    /// The links.
    pub links: Vec<CsmaLink>,
    /// Where nodes stand, if the conflicts follow from that.
    pub nodes: Vec<CsmaNode>,
    /// How far a frame can be received. [m]
    pub transmission_range_m: f64,
    /// How far a frame can be sensed. [m]
    pub sensing_range_m: f64,
    /// The file states that the conflict graph is in one piece, and it is.
    pub connected: bool,
    /// The flows.
    pub flows: Vec<CsmaFlow>,
    /// How links count down.
    pub access: CsmaAccess,
    /// Packets that an active link sends in a second. [packets/s]
    pub service_rate_pps: f64,
    /// Factor of the aggressiveness in the exponent of the backoff.
    pub beta: f64,
    /// Aggressiveness for each queued packet.
    pub r_per_packet: f64,
    /// Largest aggressiveness, if it has one.
    pub r_max: Option<f64>,
    /// A link drops arriving packets with the probability of its aggressiveness.
    pub aqm: bool,
    /// How many connections a flow has.
    pub connections: Connections,
}

/// A wireless link.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaLink {
    /// Unique among wireless and wired links.
    pub name: String,
    /// Indices of the links that it conflicts with, in order.
    pub conflicts: BTreeSet<usize>,
    /// Transmitter and receiver, if the conflicts follow from where they stand.
    pub ends: Option<[String; 2]>,
}

/// A node and where it stands.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaNode {
    /// Unique among nodes.
    pub name: String,
    /// To the east. [m]
    pub x_m: f64,
    /// To the north. [m]
    pub y_m: f64,
}

/// A flow over wireless links, and wired ones.
#[derive(Clone, Debug, PartialEq)]
pub struct CsmaFlow {
    /// Unique name.
    pub name: String,
    /// The table it comes from.
    pub class: String,
    /// What it passes.
    pub route: Vec<Hop>,
    /// Weight of its utility.
    pub weight: f64,
    /// Payload of its segments. [bytes]
    pub mss_bytes: u32,
    /// TCP and IP headers. [bytes]
    pub header_bytes: u32,
}

/// A link of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hop {
    /// Index into [`Csma::links`].
    Wireless(usize),
    /// Index into [`Scenario::links`].
    Wired(usize),
}

/// How links count down.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CsmaAccess {
    /// By their queues.
    Adaptive,
    /// Alike: mean transmission over mean backoff time.
    Legacy {
        /// That ratio.
        access_intensity: f64,
    },
}

/// How many connections a flow has.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Connections {
    /// `k` times the round-trip time.
    Rtt {
        /// [1/s]
        k: f64,
    },
    /// As many as realise a utility.
    Utility {
        /// [1/s]
        k: f64,
        /// Exponent of the utility's derivative, above 0.
        fairness: f64,
    },
    /// One.
    One,
}

/// What tables of a file with or without `[csma]` must satisfy together.
pub(super) fn check(root: &Section, problems: &mut Problems) {
    let Some(csma) = root.table("csma") else {
        for (_, flow) in root.named("flow") {
            for entry in ["route", "weight"].iter().filter_map(|key| flow.entry(key)) {
                let message = "without `csma`; needed are wireless links [csma.link.NAME]";
                problems.add(entry.origin, &entry.path, message.to_owned());
            }
        }
        return;
    };
    check_alone(root, problems);
    check_links(csma, problems);
    for (_, flow) in root.named("flow") {
        check_flow(csma, flow, problems);
    }
    if root.named("flow").is_empty() && !root.lacks("flow") {
        let message = "missing; needed are tables [flow.NAME] with a route".to_owned();
        problems.add(csma.origin, "flow", message);
    }
    check_rules(csma, problems);
}

/// No cell and no shape beside the conflict graph.
fn check_alone(root: &Section, problems: &mut Problems) {
    let message = "beside `csma`; allowed are only wired links and flows with a route";
    for key in ["cell", "dumbbell", "parking_lot"] {
        if let Some(table) = root.table(key) {
            problems.add(table.origin, &table.path, message.to_owned());
        }
    }
    if let Some((_, station)) = root.named("station").first() {
        problems.add(station.origin, &station.path, message.to_owned());
    }
}

fn check_links(csma: &Section, problems: &mut Problems) {
    let links = csma.named("link");
    if links.len() > MOST_LINKS {
        let message = format!("{} links; allowed are at most {MOST_LINKS}", links.len());
        problems.add(csma.origin, "csma.link", message);
    }
    for (name, section) in links.iter().chain(csma.named("node")) {
        if let Some(fault) = fault_of_name(name) {
            let message = format!("\"{}\" {fault}; allowed {NAMES}", one_line(name, 40));
            problems.add(section.origin, &section.path, message);
        }
    }
    for (name, link) in links {
        let ends = [link.entry("from"), link.entry("to")];
        let given = ends.iter().flatten().count();
        if given == 1 && !link.lacks("from") && !link.lacks("to") {
            let message = "has one end; needed are `from` and `to`, or neither".to_owned();
            problems.add(link.origin, &link.path, message);
        }
        if let (Some(conflicts), true) = (link.entry("conflicts"), given > 0) {
            let message = "beside nodes; allowed are conflicts, or the nodes at the ends";
            problems.add(conflicts.origin, &conflicts.path, message.to_owned());
        }
        for other in conflicts(link) {
            if other == name {
                let entry = link.entry("conflicts").map_or(link.origin, |e| e.origin);
                let path = format!("{}.conflicts", link.path);
                let message = format!("\"{name}\" is the link itself; allowed are other links");
                problems.add(entry, &path, message);
            } else if let Some(entry) = link.entry("conflicts") {
                known(entry, other, links, "wireless link", problems);
            }
        }
        for entry in ends.into_iter().flatten() {
            if let Some(node) = entry.text() {
                known(entry, node, csma.named("node"), "node", problems);
            }
        }
        check_length(csma, link, problems);
    }
    check_mixture(csma, problems);
}

/// Either all links have nodes or none has: a link with neither would be in nobody's range.
fn check_mixture(csma: &Section, problems: &mut Problems) {
    let links = csma.named("link");
    let placed = |link: &Section| link.entry("from").is_some() || link.lacks("from");
    if let (true, Some((_, link))) = (
        links.iter().any(|(_, link)| placed(link)),
        links.iter().find(|(_, link)| !placed(link)),
    ) {
        let message = "has no nodes, but another link has; needed are nodes for all or for none";
        problems.add(link.origin, &link.path, message.to_owned());
    }
    if !links.iter().any(|(_, link)| placed(link))
        && let Some((_, node)) = csma.named("node").first()
    {
        let message = "no link begins or ends at a node; needed are `from` and `to` of links";
        problems.add(node.origin, &node.path, message.to_owned());
    }
}

/// A name that stands for no table.
fn known(
    entry: &Entry,
    name: &str,
    tables: &[(String, Section)],
    what: &str,
    problems: &mut Problems,
) {
    let names: Vec<&str> = tables.iter().map(|(name, _)| name.as_str()).collect();
    if !names.contains(&name) {
        let message = match names.len() {
            0 => format!("there is no {what} \"{name}\"; needed are tables [csma.{what}.NAME]"),
            _ => format!(
                "there is no {what} \"{name}\"; allowed are {}",
                one_line(&names.join(", "), 200)
            ),
        };
        problems.add_with_hint(
            entry.origin,
            &entry.path,
            message,
            did_you_mean(name, names),
        );
    }
}

fn conflicts(link: &Section) -> &[String] {
    let entry = link.entry("conflicts");
    entry.and_then(Entry::names).unwrap_or(&[])
}

/// The node at one end of a link. [mm]
fn position(csma: &Section, link: &Section, end: &str) -> Option<(f64, f64)> {
    let name = link.entry(end)?.text()?;
    let (_, node) = csma.named("node").iter().find(|(node, _)| node == name)?;
    let along = |axis| Some(node.entry(axis)?.length()? as f64);
    Some((along("x")?, along("y")?))
}

fn distance(one: (f64, f64), other: (f64, f64)) -> f64 {
    libm::hypot(one.0 - other.0, one.1 - other.1)
}

fn check_length(csma: &Section, link: &Section, problems: &mut Problems) {
    let (from, to) = (link.entry("from"), link.entry("to"));
    if let (Some(from), Some(to)) = (from, to)
        && from.text() == to.text()
    {
        let message = format!("{} is its other end too; allowed is another node", to.shown);
        problems.add(to.origin, &to.path, message);
        return;
    }
    let range = csma.entry("transmission_range").and_then(Entry::length);
    if let (Some(from), Some(to), Some(range)) = (
        position(csma, link, "from"),
        position(csma, link, "to"),
        range,
    ) && distance(from, to) > range as f64
    {
        let message = format!(
            "is {:.0} m long; allowed is at most the transmission range of {}",
            distance(from, to) / 1000.0,
            units::show(range, LENGTH)
        );
        problems.add(link.origin, &link.path, message);
    }
}

fn check_flow(csma: &Section, flow: &Section, problems: &mut Problems) {
    if flow.entry("route").is_none() {
        if !flow.lacks("route") {
            let message = "without a route; needed beside `csma` is a list of its links";
            problems.add(flow.origin, &flow.path, message.to_owned());
        }
        return;
    }
    for key in ["from", "to", "rtt", "access", "access_spread"] {
        if let Some(entry) = flow.entry(key) {
            let message = format!(
                "{} is of flows between wired nodes, not on a route",
                entry.shown
            );
            problems.add(entry.origin, &entry.path, message);
        }
    }
    for key in ["udp", "web"] {
        if let Some(table) = flow.table(key) {
            let message = "beside `route`; allowed is bulk TCP".to_owned();
            problems.add(table.origin, &table.path, message);
        }
    }
    if let Some(weight) = flow.entry("weight")
        && csma.entry("connections").and_then(Entry::word) != Some("utility")
    {
        let message = format!(
            "{} has no effect; needed is csma.connections = \"utility\"",
            weight.shown
        );
        problems.add(weight.origin, &weight.path, message);
    }
}

fn check_rules(csma: &Section, problems: &mut Problems) {
    let word = |key: &str| csma.entry(key).and_then(Entry::word);
    if let Some(fairness) = csma.entry("fairness") {
        if word("connections") != Some("utility") {
            let message = format!(
                "{} has no effect; needed is connections = \"utility\"",
                fairness.shown
            );
            problems.add(fairness.origin, &fairness.path, message);
        } else if fairness.number().is_some_and(|value| value <= 0.0) {
            let message = format!(
                "{} makes a utility that is not strictly concave; allowed is a number above 0",
                fairness.shown
            );
            problems.add(fairness.origin, &fairness.path, message);
        }
    }
    let aqm = csma.entry("aqm");
    if word("access") == Some("adaptive")
        && aqm.and_then(Entry::flag) == Some(false)
        && word("connections") == Some("one")
        && word("r_max") == Some("unlimited")
        && let Some(aqm) = aqm
    {
        let message = "without it and with one connection r grows without bound; needed is r_max";
        problems.add(aqm.origin, "csma.aqm", message.to_owned());
    }
}

/// Links, conflicts and flows of `[csma]`. `Some(None)` without such a table, `None` only together
/// with a problem.
pub(super) fn assemble(
    root: &Section,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Option<Option<Csma>> {
    let Some(csma) = root.table("csma") else {
        return Some(None);
    };
    let number = |key: &str| csma.entry(key)?.number();
    let k = number("k")?;
    let network = Csma {
        links: links(csma)?,
        nodes: nodes(csma)?,
        transmission_range_m: csma.entry("transmission_range")?.length()? as f64 / 1e3,
        sensing_range_m: csma.entry("sensing_range")?.length()? as f64 / 1e3,
        connected: csma.entry("connected")?.flag()?,
        flows: Vec::new(),
        access: match csma.entry("access")?.word()? {
            "legacy" => CsmaAccess::Legacy {
                access_intensity: number("access_intensity")?,
            },
            _ => CsmaAccess::Adaptive,
        },
        service_rate_pps: number("service_rate")?,
        beta: number("beta")?,
        r_per_packet: number("r_per_packet")?,
        r_max: number("r_max"),
        aqm: csma.entry("aqm")?.flag()?,
        connections: match csma.entry("connections")?.word()? {
            "utility" => Connections::Utility {
                k,
                fairness: number("fairness").unwrap_or(2.0),
            },
            "one" => Connections::One,
            _ => Connections::Rtt { k },
        },
    };
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
    Some(Some(Csma { flows, ..network }))
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
    let sensing = csma.entry("sensing_range")?.length()? as f64;
    let end = |link: &Section, key: &str| {
        let entry = link.entry(key);
        entry.and_then(Entry::text).map(str::to_owned)
    };
    let mut links: Vec<CsmaLink> = tables
        .iter()
        .map(|(name, link)| CsmaLink {
            name: name.clone(),
            conflicts: BTreeSet::new(),
            ends: end(link, "from")
                .zip(end(link, "to"))
                .map(|(from, to)| [from, to]),
        })
        .collect();
    let place = |name: &String| tables.iter().position(|(link, _)| link == name);
    for (a, (_, one)) in tables.iter().enumerate() {
        for other in conflicts(one) {
            let b = place(other)?;
            links[a].conflicts.insert(b);
            links[b].conflicts.insert(a);
        }
        let Some(transmitter) = position(csma, one, "from") else {
            continue;
        };
        let nodes = [end(one, "from"), end(one, "to")];
        for (b, (_, other)) in tables.iter().enumerate().take(a) {
            let shared = nodes.contains(&end(other, "from")) || nodes.contains(&end(other, "to"));
            if shared || distance(transmitter, position(csma, other, "from")?) <= sensing {
                links[a].conflicts.insert(b);
                links[b].conflicts.insert(a);
            }
        }
    }
    Some(links)
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
    let mut flows: Vec<CsmaFlow> = Vec::new();
    for (class, section) in root.named("flow") {
        let route = route(section.entry("route")?, links, &scenario.links, problems)?;
        let tcp = Layers(&[section, root.table("tcp")?]);
        let names = match section.entry("count").and_then(Entry::count) {
            None => vec![class.clone()],
            Some(count) => (1..=count).map(|k| format!("{class}-{k}")).collect(),
        };
        for name in names {
            if flows.iter().any(|flow| flow.name == name) {
                let message = format!(
                    "flow name `{}` is made twice; allowed are unique names",
                    one_line(&name, 80)
                );
                problems.add(section.origin, &section.path, message);
                return None;
            }
            flows.push(CsmaFlow {
                name,
                class: class.clone(),
                route: route.clone(),
                weight: section
                    .entry("weight")
                    .and_then(Entry::number)
                    .unwrap_or(1.0),
                mss_bytes: tcp.size("mss")?,
                header_bytes: tcp.size("header")?,
            });
        }
    }
    Some(flows)
}

/// The links of a route; each is there.
fn route(
    entry: &Entry,
    links: &[CsmaLink],
    wired: &[LinkSettings],
    problems: &mut Problems,
) -> Option<Vec<Hop>> {
    let mut hops = Vec::new();
    for name in entry.names()? {
        let wireless = links.iter().position(|link| link.name == *name);
        let wire = || wired.iter().position(|link| link.name == *name);
        match wireless
            .map(Hop::Wireless)
            .or_else(|| wire().map(Hop::Wired))
        {
            Some(hop) => hops.push(hop),
            None => {
                let there = wired.iter().filter(|link| !link.name.contains('/'));
                let names: Vec<&str> = links
                    .iter()
                    .map(|link| link.name.as_str())
                    .chain(there.map(|link| link.name.as_str()))
                    .collect();
                let message = format!(
                    "there is no link \"{name}\"; allowed are {}",
                    one_line(&names.join(", "), 200)
                );
                let hint = did_you_mean(name, names);
                problems.add_with_hint(entry.origin, &entry.path, message, hint);
                return None;
            }
        }
    }
    Some(hops)
}

impl Csma {
    /// As models read it.
    pub(super) fn to_json(&self, wired: &[LinkSettings]) -> Value {
        let name = |hop: &Hop| match hop {
            Hop::Wireless(link) => self.links[*link].name.as_str(),
            Hop::Wired(link) => wired[*link].name.as_str(),
        };
        let link = |link: &CsmaLink| {
            let conflicts = link.conflicts.iter().map(|&one| &self.links[one].name);
            json!({
                "name": link.name,
                "conflicts": conflicts.collect::<Vec<_>>(),
                "from": link.ends.as_ref().map(|[from, _]| from),
                "to": link.ends.as_ref().map(|[_, to]| to),
            })
        };
        let node = |node: &CsmaNode| json!({"name": node.name, "x_m": node.x_m, "y_m": node.y_m});
        let flow = |flow: &CsmaFlow| {
            json!({
                "name": flow.name,
                "class": flow.class,
                "route": flow.route.iter().map(name).collect::<Vec<_>>(),
                "weight": flow.weight,
                "mss_bytes": flow.mss_bytes,
                "header_bytes": flow.header_bytes,
            })
        };
        let (access, access_intensity) = match self.access {
            CsmaAccess::Adaptive => ("adaptive", None),
            CsmaAccess::Legacy { access_intensity } => ("legacy", Some(access_intensity)),
        };
        let (connections, k, fairness) = match self.connections {
            Connections::Rtt { k } => ("rtt", Some(k), None),
            Connections::Utility { k, fairness } => ("utility", Some(k), Some(fairness)),
            Connections::One => ("one", None, None),
        };
        json!({
            "links": self.links.iter().map(link).collect::<Vec<_>>(),
            "nodes": self.nodes.iter().map(node).collect::<Vec<_>>(),
            "transmission_range_m": self.transmission_range_m,
            "sensing_range_m": self.sensing_range_m,
            "connected": self.connected,
            "flows": self.flows.iter().map(flow).collect::<Vec<_>>(),
            "access": access,
            "access_intensity": access_intensity,
            "service_rate_pps": self.service_rate_pps,
            "beta": self.beta,
            "r_per_packet": self.r_per_packet,
            "r_max": self.r_max,
            "aqm": self.aqm,
            "connections": connections,
            "k_per_s": k,
            "fairness": fairness,
        })
    }
}

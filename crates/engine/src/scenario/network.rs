//! The wired network of a file: links, shapes that stand for several, flows between wired nodes.

use std::collections::HashSet;

use super::assemble::{tcp, udp, web};
use super::model::*;
use super::queue::{self, QueueSetting};
use super::routes::{Route, nodes, route};
use crate::kernel::time::Span;
use crate::notation::decode::{Entry, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems, did_you_mean, one_line};
use crate::notation::units::{self, TIME};

/// Longest route. [links]
const LONGEST_ROUTE: usize = 250;

/// Start of a flow at most this late, unless the file says otherwise: replications differ.
pub(super) const START_SPREAD: Span = Span(1_000_000_000);

/// A network of a known shape.
struct Shape<'a> {
    section: &'a Section,
    /// Its nodes, in a row.
    nodes: Vec<String>,
    links: Vec<String>,
    /// Classes of flows: name, number, first and last node.
    flows: Vec<(String, u64, usize, usize)>,
}

/// A class of equal flows.
struct Class<'a> {
    name: String,
    /// Names are numbered if there may be several.
    count: Option<u64>,
    from: String,
    to: String,
    /// Its table, if it has one of its own.
    own: Option<&'a Section>,
    shape: Option<&'a Section>,
}

/// Adds links and wired flows to `scenario`. `None` only together with a problem.
pub(super) fn assemble(
    root: &Section,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Option<()> {
    let shape = shape(root, problems)?;
    if let Some(shape) = &shape {
        scenario.links.extend(shape_links(root, shape)?);
    }
    for (name, section) in root.named("link") {
        scenario.links.extend(link(name, section)?);
    }
    unique_links(root, scenario, problems)?;
    let mut names = HashSet::new();
    for class in classes(root, shape.as_ref(), problems)? {
        flows(root, &class, scenario, problems)?;
        let first = &class.own.or(class.shape)?;
        for member in class.names() {
            if !names.insert(member.clone()) {
                let message = format!(
                    "flow name `{}` is made twice; allowed are unique names",
                    one_line(&member, 80)
                );
                problems.add(first.origin, &first.path, message);
                return None;
            }
        }
    }
    Some(())
}

fn shape<'a>(root: &'a Section, problems: &mut Problems) -> Option<Option<Shape<'a>>> {
    match (root.table("dumbbell"), root.table("parking_lot")) {
        (None, None) => Some(None),
        (Some(section), None) => Some(Some(Shape {
            section,
            nodes: vec!["left".to_owned(), "right".to_owned()],
            links: vec!["bottleneck".to_owned()],
            flows: vec![("flow".to_owned(), section.entry("flows")?.count()?, 0, 1)],
        })),
        (None, Some(section)) => {
            let hops = section.entry("hops")?.count()? as usize;
            let cross = section.entry("cross")?.count()?;
            let through = (
                "through".to_owned(),
                section.entry("flows")?.count()?,
                0,
                hops,
            );
            let across = (0..hops).map(|k| (format!("cross-{}", k + 1), cross, k, k + 1));
            Some(Some(Shape {
                section,
                nodes: (0..=hops).map(|k| format!("r{k}")).collect(),
                links: (1..=hops).map(|k| format!("bottleneck-{k}")).collect(),
                flows: std::iter::once(through).chain(across).collect(),
            }))
        }
        (Some(_), Some(second)) => {
            let message = "a second shape beside `dumbbell`; allowed is one of the two";
            problems.add(second.origin, &second.path, message.to_owned());
            None
        }
    }
}

/// Both directions of each bottleneck.
fn shape_links(root: &Section, shape: &Shape) -> Option<Vec<LinkSettings>> {
    let mut links = Vec::new();
    let queue = queue::at(&[(root, "queue")])?;
    for (k, name) in shape.links.iter().enumerate() {
        let there = LinkSettings {
            name: name.clone(),
            from: shape.nodes[k].clone(),
            to: shape.nodes[k + 1].clone(),
            rate_bps: Layers(&[shape.section]).rate("bottleneck"),
            delay: Layers(&[shape.section]).duration("delay")?,
            jitter: Span::ZERO,
            queue,
            loss: 0.0,
            of_host: false,
        };
        links.push(back(&there, QueueSetting::drop_tail(BACK_QUEUE)));
        links.insert(links.len() - 1, there);
    }
    Some(links)
}

/// Queue of the way back of a shape's bottleneck. [packets]
const BACK_QUEUE: u32 = 1_000;

fn back(there: &LinkSettings, queue: QueueSetting) -> LinkSettings {
    LinkSettings {
        name: format!("{}/back", there.name),
        from: there.to.clone(),
        to: there.from.clone(),
        queue,
        ..there.clone()
    }
}

fn link(name: &str, section: &Section) -> Option<[LinkSettings; 2]> {
    let own = Layers(&[section]);
    let there = LinkSettings {
        name: name.to_owned(),
        from: section.entry("from")?.text()?.to_owned(),
        to: section.entry("to")?.text()?.to_owned(),
        rate_bps: own.rate("rate"),
        delay: own.duration("delay")?,
        jitter: Span::ZERO,
        queue: queue::at(&[(section, "queue")])?,
        loss: section.entry("loss")?.probability()?,
        of_host: false,
    };
    let back = back(&there, queue::at(&[(section, "back_queue")])?);
    Some([there, back])
}

/// Links have names of their own, and two ends.
fn unique_links(root: &Section, scenario: &Scenario, problems: &mut Problems) -> Option<()> {
    let mut fine = Some(());
    for (name, section) in root.named("link") {
        let same = scenario.links.iter().filter(|link| link.name == *name);
        if same.count() > 1 {
            let message = "is the name of a bottleneck too; allowed are unique names";
            problems.add(section.origin, &section.path, message.to_owned());
            fine = None;
        }
        let to = section.entry("to")?;
        if section.entry("from")?.text() == to.text() {
            let message = format!("{} is its other end too; allowed is another node", to.shown);
            problems.add(to.origin, &to.path, message);
            fine = None;
        }
        for end in [section.entry("from")?, to] {
            if end.text() == Some("ap") {
                let message = "\"ap\" is no wired node; allowed is the node of the cell's wire";
                let hint = Some("`cell.node` says on which node a cell hangs".to_owned());
                problems.add_with_hint(end.origin, &end.path, message.to_owned(), hint);
                fine = None;
            }
        }
    }
    fine
}

fn classes<'a>(
    root: &'a Section,
    shape: Option<&Shape<'a>>,
    problems: &mut Problems,
) -> Option<Vec<Class<'a>>> {
    let mut classes = Vec::new();
    if let Some(shape) = shape {
        let made = shape.flows.iter().filter(|(_, count, ..)| *count > 0);
        classes.extend(made.map(|(name, count, from, to)| Class {
            name: name.clone(),
            count: Some(*count),
            from: shape.nodes[*from].clone(),
            to: shape.nodes[*to].clone(),
            own: None,
            shape: Some(shape.section),
        }));
    }
    let wired = root.named("flow").iter();
    for (name, section) in wired.filter(|(_, flow)| flow.entry("route").is_none()) {
        let ends = [
            ("from", shape.and_then(|shape| shape.nodes.first())),
            ("to", shape.and_then(|shape| shape.nodes.last())),
        ];
        let [from, to] = ends.map(|(key, default)| {
            let given = section.entry(key).and_then(Entry::text);
            given.map(str::to_owned).or_else(|| default.cloned())
        });
        let (Some(from), Some(to)) = (from, to) else {
            let message = "`from` and `to` are needed without a dumbbell or parking_lot";
            problems.add(section.origin, &section.path, message.to_owned());
            return None;
        };
        classes.push(Class {
            name: name.clone(),
            count: section.entry("count").and_then(Entry::count),
            from,
            to,
            own: Some(section),
            shape: shape.map(|shape| shape.section),
        });
    }
    Some(classes)
}

impl Class<'_> {
    fn names(&self) -> Vec<String> {
        match self.count {
            None => vec![self.name.clone()],
            Some(count) => (1..=count).map(|k| format!("{}-{k}", self.name)).collect(),
        }
    }

    /// The table that says how hosts are attached, nearest first.
    fn layers(&self) -> Vec<&Section> {
        self.own.into_iter().chain(self.shape).collect()
    }

    /// Where to complain about an end of its route.
    fn place(&self, key: &str) -> Option<(Origin, String)> {
        let table = self.own.or(self.shape)?;
        Some(match table.entry(key) {
            Some(entry) => (entry.origin, entry.path.clone()),
            None => (table.origin, table.path.clone()),
        })
    }
}

/// The flows of a class, each with the links of its hosts.
fn flows(
    root: &Section,
    class: &Class,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Option<()> {
    let forward = way(class, "to", &class.from, &class.to, scenario, problems)?;
    let back = way(class, "from", &class.to, &class.from, scenario, problems)?;
    let tables = class.layers();
    let layers = Layers(&tables);
    let quarter = quarter(class, layers, forward.delay + back.delay, problems)?;
    let site = class.own.and_then(|own| own.table("web"));
    let own: Vec<&Section> = class.own.into_iter().collect();
    let own = Layers(&own);
    // a web source stands for many hosts: the rate of a shape's hosts is not that of all of them
    let access = if site.is_some() { own } else { layers }.rate("access");
    let rtt_spread = layers.duration("rtt_spread").unwrap_or(Span::ZERO);
    if let Some(entry) = class.own.and_then(|own| own.entry("rtt_spread"))
        && class.count.unwrap_or(1) < 2
    {
        let message = format!(
            "{} is of several flows; needed is a count of at least 2",
            entry.shown
        );
        problems.add(entry.origin, &entry.path, message);
        return None;
    }
    let spread = layers.entry("access_spread").and_then(Entry::probability);
    let source = class.own.and_then(|own| own.table("udp"));
    let transport = match (source, class.own) {
        (Some(source), _) => Transport::Udp(udp(Layers(&[source, root.table("udp")?]))?),
        (None, Some(own)) => {
            let tcp = tcp(Layers(&[own, root.table("tcp")?]))?;
            match site {
                Some(site) => Transport::Web(web(site, tcp)?),
                None => Transport::Tcp(tcp),
            }
        }
        (None, None) => Transport::Tcp(tcp(Layers(&[root.table("tcp")?]))?),
    };
    let timeless =
        quarter == Span::ZERO && access.is_none() && forward.is_instant && back.is_instant;
    if timeless && !matches!(transport, Transport::Udp(_)) {
        let (origin, path) = class.place("to")?;
        let message = format!(
            "packets from {} to {} and back take no time; needed is a rate or a delay on the way, \
             or an rtt",
            class.from, class.to
        );
        problems.add(origin, &path, message);
        return None;
    }
    let jitter = jitter(
        root, class, layers, &forward, &transport, scenario, problems,
    )?;
    let names = class.names();
    let members = names.len();
    for (k, name) in names.into_iter().enumerate() {
        let rate_bps = access.map(|rate| spread_rate(rate, spread.unwrap_or(0.0), k, members));
        let longer = spread_delay(rtt_spread, k, members);
        let quarter = Span(quarter.0 + longer.0 / 4);
        let first = scenario.links.len() as u32;
        let has_hosts = rate_bps.is_some() || quarter > Span::ZERO || jitter > Span::ZERO;
        if has_hosts {
            let hosts = host_links(&name, class, rate_bps, quarter, jitter);
            scenario.links.extend(hosts);
        }
        let with_hosts = |route: &Route, out: u32, into: u32| -> Vec<u32> {
            let links = route.links.iter().copied();
            if has_hosts {
                [first + out]
                    .into_iter()
                    .chain(links)
                    .chain([first + into])
                    .collect()
            } else {
                links.collect()
            }
        };
        scenario.flows.push(Flow {
            reports: None,
            class: class.name.clone(),
            ends: Ends::Wired,
            forward: with_hosts(&forward, 0, 1),
            back: with_hosts(&back, 2, 3),
            category: Category::BestEffort,
            start: own.duration("start").unwrap_or(Span::ZERO),
            start_spread: layers.duration("start_spread").unwrap_or(START_SPREAD),
            stop: own.duration("stop"),
            transport,
            name,
        });
    }
    Some(())
}

/// The links from the node of a cell to the server of a station's flows, and back.
pub(super) fn beyond_the_wire(
    cell: &Section,
    flows: &Section,
    links: &[LinkSettings],
    problems: &mut Problems,
) -> Option<(Vec<u32>, Vec<u32>)> {
    let hangs_on = cell.entry("node");
    let node = hangs_on.and_then(Entry::text);
    let known = nodes(links);
    let server = flows.entry("server");
    for entry in [hangs_on, server].into_iter().flatten() {
        if !known.contains(&entry.text()?) {
            if !problems.concern(&entry.path) {
                let hint = did_you_mean(entry.text()?, known.iter().copied());
                let message = match known.len() {
                    0 => format!("no link has a node {}; needed are links", entry.shown),
                    _ => format!(
                        "no link has a node {}; allowed are {}",
                        entry.shown,
                        known.join(", ")
                    ),
                };
                problems.add_with_hint(entry.origin, &entry.path, message, hint);
            }
            return None;
        }
    }
    let Some(server) = server else {
        return Some((Vec::new(), Vec::new()));
    };
    let there = server.text()?;
    let (out, home) = match node {
        Some(node) => (route(links, node, there), route(links, there, node)),
        None => (None, None),
    };
    match (out, home) {
        (Some(out), Some(home)) if out.links.len() + home.links.len() <= LONGEST_ROUTE => {
            Some((out.links, home.links))
        }
        _ => {
            let message = format!(
                "no links lead from the cell to {}; allowed is a node that they lead to",
                server.shown
            );
            let hint = match node {
                None => Some("`cell.node` says on which node the cell hangs".to_owned()),
                Some(_) => None,
            };
            problems.add_with_hint(server.origin, &server.path, message, hint);
            None
        }
    }
}

/// The route of a class one way.
fn way(
    class: &Class,
    key: &str,
    from: &str,
    to: &str,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Option<Route> {
    if let Some(route) = route(&scenario.links, from, to)
        && !route.links.is_empty()
        && route.links.len() <= LONGEST_ROUTE
    {
        return Some(route);
    }
    let known = nodes(&scenario.links);
    for (key, node) in [("from", &class.from), ("to", &class.to)] {
        if !known.contains(&node.as_str()) {
            let (origin, path) = class.place(key)?;
            let hint = did_you_mean(node, known.iter().copied());
            let message = match known.len() {
                0 => format!("no link has a node {node}; needed are links or a dumbbell"),
                _ => format!(
                    "no link has a node {node}; allowed are {}",
                    known.join(", ")
                ),
            };
            problems.add_with_hint(origin, &path, message, hint);
            return None;
        }
    }
    let (origin, path) = class.place(key)?;
    let message = if from == to {
        format!("the flow would end at {to}, where it begins; allowed is another node")
    } else {
        format!(
            "no links lead from {from} to {to}, at least none over {LONGEST_ROUTE} links or fewer"
        )
    };
    problems.add(origin, &path, message);
    None
}

/// A quarter of what the route lacks to the round-trip time asked for.
fn quarter(class: &Class, layers: Layers, route: Span, problems: &mut Problems) -> Option<Span> {
    let Some(entry) = layers.entry("rtt") else {
        return Some(Span::ZERO);
    };
    let rtt = entry.duration()?;
    if rtt < route {
        let message = format!(
            "{} is less than the links from {} to {} and back take; allowed is at least {}",
            entry.shown,
            class.from,
            class.to,
            units::show(route.0, TIME)
        );
        problems.add(entry.origin, &entry.path, message);
        return None;
    }
    Some(Span((rtt.0 - route.0) / 4))
}

/// By how much the round-trip time of member `k` of `members` exceeds that of the first.
fn spread_delay(spread: Span, k: usize, members: usize) -> Span {
    let intervals = members.saturating_sub(1).max(1) as u64;
    Span(spread.0 / intervals * k as u64)
}

/// Longest of the random times that a class's sources take over a packet.
fn jitter(
    root: &Section,
    class: &Class,
    layers: Layers,
    route: &Route,
    transport: &Transport,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Option<Span> {
    let Some(entry) = layers.entry("jitter") else {
        return Some(Span::ZERO);
    };
    if let Some(most) = entry.duration() {
        return Some(most);
    }
    let rates = route.links.iter();
    let rates = rates.filter_map(|&link| scenario.links[link as usize].rate_bps);
    let Some(rate_bps) = rates.min() else {
        let message = format!(
            "no link from {} to {} has a rate; needed is one, or a duration",
            class.from, class.to
        );
        problems.add(entry.origin, &entry.path, message);
        return None;
    };
    let segment = |tcp: &TcpSettings| u64::from(tcp.mss_bytes + tcp.header_bytes);
    let bytes = match transport {
        Transport::Tcp(tcp) => segment(tcp),
        Transport::Web(web) => segment(&web.tcp),
        Transport::Udp(_) => segment(&tcp(Layers(&[root.table("tcp")?]))?),
    };
    Some(Span::to_send(bytes, rate_bps))
}

/// Rate of member `k` of `members`: evenly over `spread` of the rate, around it.
fn spread_rate(rate_bps: u64, spread: f64, k: usize, members: usize) -> u64 {
    if members < 2 {
        return rate_bps;
    }
    let place = k as f64 / (members - 1) as f64 - 0.5;
    ((rate_bps as f64 * (1.0 + spread * place)).round() as u64).max(1)
}

/// Links of a flow's hosts: source to network, network to sink, sink to network, network to source.
fn host_links(
    flow: &str,
    class: &Class,
    rate_bps: Option<u64>,
    delay: Span,
    jitter: Span,
) -> [LinkSettings; 4] {
    let (source, sink) = (format!("{flow}/source"), format!("{flow}/sink"));
    let link = |name: &str, from: &str, to: &str, rate_bps| LinkSettings {
        name: format!("{flow}/{name}"),
        from: from.to_owned(),
        to: to.to_owned(),
        rate_bps,
        delay,
        jitter: if name == "access" { jitter } else { Span::ZERO },
        queue: QueueSetting::drop_tail(u32::MAX),
        loss: 0.0,
        of_host: true,
    };
    [
        link("access", &source, &class.from, rate_bps),
        link("exit", &class.to, &sink, None),
        link("exit/back", &sink, &class.to, None),
        link("access/back", &class.from, &source, rate_bps),
    ]
}

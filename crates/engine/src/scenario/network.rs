//! Assembles the wired network of a file: its links, dumbbell or parking lot, and flows between
//! wired nodes.

use std::collections::HashSet;

use super::flow_keys::StationFlow;
use super::flow_tables::udp_of;
use super::model::*;
use super::root::{RootKeys, StationTable};
use super::routes::{Route, nodes, route};
use super::shapes::{Shape, shape, shape_links, spread_rate};
use super::stations::{member_names, members};
use super::wired::{FlowTable, Hosts};
use super::writes;
use crate::app::call::{CallKeys, CallPart};
use crate::app::ping::{PingKeys, PingSettings};
use crate::app::{FlowHosts, WiredDatagrams};
use crate::kernel::time::Span;
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems, Refused, did_you_mean, one_line, one_of};
use crate::notation::setting::{FileTable, KeyOf};
use crate::notation::units::{self, TIME};

/// Maximum length of a route. [links]
const LONGEST_ROUTE: usize = 250;

/// A class of equal flows between the same two nodes.
struct Class<'a> {
    name: String,
    /// Number of flows, each with a number in its name; `None` for a single flow without a number.
    count: Option<u64>,
    from: String,
    to: String,
    start: Span,
    stop: Option<Span>,
    /// Table of the class; `None` for a class that a dumbbell or parking lot creates.
    own: Option<&'a Section>,
    /// Tables in which settings of the class are looked up, in order of precedence: its own table,
    /// then the table of the dumbbell or parking lot.
    tables: Vec<&'a Section>,
}

/// Adds links and wired flows to `scenario`.
///
/// # Errors
/// A problem has been reported.
pub(super) fn assemble(
    root: &Section,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let shape = shape(root, problems)?;
    if let Some(shape) = &shape {
        scenario.links.extend(shape_links(root, shape)?);
    }
    for (name, section) in root.tables(RootKeys::link) {
        let own = Layers(&[section]);
        let forth = LinkSettings {
            name: name.clone(),
            ..LinkSettings::read(&own)?
        };
        let rate = LinkRate::nearest(&own, LinkSettings::back_rate)?;
        let queue = QueueSetting::nearest(&own, LinkSettings::back_queue)?;
        let back = forth.back(rate.unwrap_or_else(|| forth.rate.clone()), queue);
        scenario.links.extend([forth, back]);
    }
    unique_links(root, scenario, problems)?;
    let callers: HashSet<String> = callers(root).collect();
    let mut names = HashSet::new();
    for class in classes(root, shape.as_ref(), problems)? {
        flows(root, &class, scenario, problems)?;
        for member in class.names() {
            unique(&mut names, &member, class.table(), problems)?;
            if class.calls() && callers.contains(&member) {
                let message = format!(
                    "station `{}` has calls of this name too; expected unique names",
                    one_line(&member, 80)
                );
                return Err(class.table().refuse(message, problems));
            }
        }
    }
    Ok(())
}

/// Returns the names of the stations with calls.
fn callers(root: &Section) -> impl Iterator<Item = String> {
    let stations = root.tables(RootKeys::station).iter();
    let calling = stations.filter(|(_, station)| station.inside(StationTable::call).is_some());
    calling.flat_map(|(table, station)| member_names(table, station))
}

/// Checks that the name of a flow is unique.
pub(super) fn unique(
    names: &mut HashSet<String>,
    name: &str,
    table: &Section,
    problems: &mut Problems,
) -> Result<(), Refused> {
    if names.insert(name.to_owned()) {
        return Ok(());
    }
    let name = one_line(name, 80);
    let message = format!("flow name `{name}` is made twice; expected unique names");
    Err(table.refuse(message, problems))
}

/// Checks that the names of links are unique and that the two ends of each link differ.
fn unique_links(
    root: &Section,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let mut fine = Ok(());
    for (name, section) in root.tables(RootKeys::link) {
        let same = scenario.links.iter().filter(|link| link.name == *name);
        if same.count() > 1 {
            let message = "is also the name of a bottleneck; expected unique names";
            fine = Err(section.refuse(message, problems));
        }
        let from = section.located(LinkSettings::from);
        let (Some(from), Some(to)) = (from, section.located(LinkSettings::to)) else {
            continue;
        };
        if from.value == to.value {
            let fault = "is also the other end of the link; expected another node";
            fine = Err(to.refuse_value(fault, problems));
        }
        for end in [from, to] {
            if end.value == "ap" {
                let message = "\"ap\" is no wired node; expected the node of the cell's wire";
                let hint = "`cell.node` sets the node to which a cell is attached".to_owned();
                fine = Err(end.refuse_with_hint(message, Some(hint), problems));
            }
        }
    }
    fine
}

fn classes<'a>(
    root: &'a Section,
    shape: Option<&Shape<'a>>,
    problems: &mut Problems,
) -> Result<Vec<Class<'a>>, Refused> {
    let mut classes = Vec::new();
    if let Some(shape) = shape {
        let made = shape.flows.iter().filter(|(_, count, ..)| *count > 0);
        classes.extend(made.map(|(name, count, from, to)| Class {
            name: name.clone(),
            count: Some(*count),
            from: shape.nodes[*from].clone(),
            to: shape.nodes[*to].clone(),
            start: Span::ZERO,
            stop: None,
            own: None,
            tables: vec![shape.section],
        }));
    }
    for (name, section) in root.tables(RootKeys::flow) {
        let flow = FlowTable::read(&Layers(&[section]))?;
        if flow.route.is_some() {
            continue;
        }
        let first = shape.and_then(|shape| shape.nodes.first());
        let last = shape.and_then(|shape| shape.nodes.last());
        let (from, to) = (flow.from.as_ref().or(first), flow.to.as_ref().or(last));
        let (Some(from), Some(to)) = (from, to) else {
            let message = "`from` and `to` are needed without a dumbbell or parking_lot";
            return Err(section.refuse(message, problems));
        };
        classes.push(Class {
            name: name.clone(),
            count: flow.count,
            from: from.clone(),
            to: to.clone(),
            start: flow.start,
            stop: flow.stop,
            own: Some(section),
            tables: [section]
                .into_iter()
                .chain(shape.map(|shape| shape.section))
                .collect(),
        });
    }
    Ok(classes)
}

impl Class<'_> {
    fn names(&self) -> Vec<String> {
        members(&self.name, self.count)
    }

    /// Returns whether the flows of the class belong to calls.
    fn calls(&self) -> bool {
        self.own
            .is_some_and(|own| own.inside(FlowTable::call).is_some())
    }

    /// Returns the first table in which settings of the class are looked up.
    fn table(&self) -> &Section {
        self.tables[0]
    }

    /// Returns the origin and the path at which problems with the key `key` (one end of the route)
    /// are reported.
    fn place(&self, key: KeyOf<Option<String>>) -> (Origin, &str) {
        let table = self.table();
        match table.entry(key.name()) {
            Some(entry) => (entry.origin, &entry.path),
            None => (table.origin, &table.path),
        }
    }
}

/// Returns the transport of a class of flows. `own` is the table of the class; `None` for a class
/// of a dumbbell or parking lot.
pub(super) fn transport(root: &Section, own: Option<&Section>) -> Result<Transport, Refused> {
    let tcp = root.inside(RootKeys::tcp);
    let Some(own) = own else {
        return TcpSettings::read(&Layers(tcp.as_slice())).map(Transport::Tcp);
    };
    if let Some(source) = own.inside(FlowTable::udp) {
        let own = WiredDatagrams::read(&Layers(&[source]))?;
        let udp = udp_of(root, Some(source))?;
        let arrivals = Some(own.arrivals.into());
        return Ok(Transport::Udp(udp.leaving(own.rate, arrivals, own.burst)));
    }
    let tables: Vec<&Section> = [own].into_iter().chain(tcp).collect();
    let segments = Layers(&[own]).value(FlowTable::segments)?.flatten();
    let tcp = writes::tcp(&Layers(&tables), own, segments)?;
    match own.inside(FlowTable::web) {
        None => Ok(Transport::Tcp(tcp)),
        Some(web) => Ok(Transport::Web(WebSettings {
            tcp,
            ..WebSettings::read(&Layers(&[web]))?
        })),
    }
}

/// One flow between a pair of hosts of a class. A call consists of several flows.
struct Carried {
    transport: Transport,
    /// Part of a call whose packets the flow carries, such as audio upstream; `None` if the flow is
    /// not part of a call.
    part: Option<CallPart>,
}

/// Returns the flows between one pair of hosts of a class: several for a call, otherwise one.
fn carried(root: &Section, own: Option<&Section>, duration: Span) -> Result<Vec<Carried>, Refused> {
    if let Some(ping) = own.and_then(|own| own.inside(FlowTable::ping)) {
        let ping = PingSettings::of(PingKeys::read(&Layers(&[ping]))?, duration);
        let (transport, part) = (Transport::Ping(ping), None);
        return Ok(vec![Carried { transport, part }]);
    }
    let Some(call) = own.and_then(|own| own.inside(FlowTable::call)) else {
        let transport = transport(root, own)?;
        let part = None;
        return Ok(vec![Carried { transport, part }]);
    };
    let udp = udp_of(root, None)?;
    let calls = CallKeys::read(&Layers(&[call]))?;
    let carried = calls.parts().map(|part| Carried {
        transport: Transport::Udp(calls.source(part, udp)),
        part: Some(part),
    });
    Ok(carried.collect())
}

/// Adds the flows of a class to the scenario. Each flow has its own host links at both ends.
fn flows(
    root: &Section,
    class: &Class,
    scenario: &mut Scenario,
    problems: &mut Problems,
) -> Result<(), Refused> {
    let (from, to) = (&class.from, &class.to);
    let forward = path(class, FlowTable::to, from, to, scenario, problems)?;
    let back = path(class, FlowTable::from, to, from, scenario, problems)?;
    let hosts = Hosts::read(&Layers(&class.tables))?;
    let quarter = quarter(class, forward.delay + back.delay, problems)?;
    let carried = carried(root, class.own, scenario.duration)?;
    // only a call has several flows; all of them are UDP, so the first flow determines the
    // transport
    let transport = &carried[0].transport;
    // a web source represents many hosts, so the access rate of a dumbbell or parking lot does not
    // apply, because this rate is the rate of a single host
    let access = match (transport, class.own) {
        (Transport::Web(_), Some(own)) => Layers(&[own]).value(Hosts::access)?.flatten(),
        _ => hosts.access,
    };
    if let Some(spread) = class.own.and_then(|own| own.located(Hosts::rtt_spread))
        && class.count.unwrap_or(1) < 2
    {
        let fault = "this key is only for several flows; expected a count of at least 2";
        return Err(spread.refuse(fault, problems));
    }
    let timeless =
        quarter == Span::ZERO && access.is_none() && forward.is_instant && back.is_instant;
    if timeless && !matches!(transport, Transport::Udp(_) | Transport::Ping(_)) {
        let (origin, path) = class.place(FlowTable::to);
        let message = format!(
            "packets from {from} to {to} and back take no time; expected a rate or a delay on the \
             way, or an rtt"
        );
        return Err(problems.add(origin, path, message));
    }
    let jitter = jitter(root, class, &forward, transport, scenario, problems)?;
    let writes = match class.own {
        Some(own) => writes::of_flow(own, transport)?,
        None => None,
    };
    let flow_hosts = match class.own {
        Some(own) => Some(FlowHosts::read(&Layers(&[own]))?).filter(|own| *own != FlowHosts::NONE),
        None => None,
    };
    let names = class.names();
    let members = names.len();
    for (k, member) in names.into_iter().enumerate() {
        let rate_bps = access.map(|rate| spread_rate(rate, hosts.access_spread, k, members));
        let longer = spread_delay(hosts.rtt_spread, k, members);
        let quarter = Span(quarter.0 + longer.0 / 4);
        for Carried { transport, part } in &carried {
            let name = match part {
                Some(part) => format!("{member}/{}", part.name()),
                None => member.clone(),
            };
            let (ends, out, home) = match part.map(|part| part.direction) {
                Some(Direction::Down) => ([to, from], &back, &forward),
                Some(Direction::Up) | None => ([from, to], &forward, &back),
            };
            let first = scenario.links.len() as u32;
            let has_hosts = rate_bps.is_some() || quarter > Span::ZERO || jitter > Span::ZERO;
            if has_hosts {
                let hosts = host_links(&name, ends, rate_bps, quarter, jitter);
                scenario.links.extend(hosts);
            }
            let with_hosts = |route: &Route, out: u32, into: u32| match has_hosts {
                true => [&[first + out], &route.links[..], &[first + into]].concat(),
                false => route.links.clone(),
            };
            scenario.flows.push(Flow {
                reports: None,
                writes: writes.clone(),
                stream: None,
                call: *part,
                hosts: match part.map(|part| part.direction) {
                    Some(Direction::Down) => flow_hosts.clone().map(|own| own.reversed().into()),
                    Some(Direction::Up) | None => flow_hosts.clone().map(Box::new),
                },
                class: class.name.clone(),
                ends: Ends::Wired,
                forward: with_hosts(out, 0, 1),
                back: with_hosts(home, 2, 3),
                category: Category::BestEffort,
                start: class.start,
                start_spread: hosts.start_spread,
                stop: class.stop,
                transport: transport.clone(),
                name,
            });
        }
    }
    Ok(())
}

/// Returns the links of two paths: from the node of a cell to the server of a station's flows, and
/// the reverse path.
pub(super) fn beyond_the_wire(
    cell: Option<&Section>,
    flows: &Section,
    links: &[LinkSettings],
    problems: &mut Problems,
) -> Result<(Vec<u32>, Vec<u32>), Refused> {
    let attachment = cell.and_then(|cell| cell.located(Cell::node));
    let known = nodes(links);
    let server = flows.present(StationFlow::server);
    for entry in [&attachment, &server].into_iter().flatten() {
        if known.contains(&entry.value.as_str()) {
            continue;
        }
        let needed = match known.is_empty() && attachment.is_none() {
            true => "no `server`: without links, the server is at the far end of the wire",
            false => "links",
        };
        let (message, hint) = no_such_node(&entry.value, &entry.shown, &known, needed);
        let at_ap = "an access point is no server; without delay, a server at the far end of the \
                     wire is next to it";
        let hint = hint.or_else(|| (entry.value == "ap").then(|| at_ap.to_owned()));
        return Err(match problems.concern(&entry.path) {
            true => Refused::already(),
            false => entry.refuse_with_hint(message, hint, problems),
        });
    }
    let Some(server) = server else {
        return Ok((Vec::new(), Vec::new()));
    };
    if let Some(node) = &attachment
        && let Some(out) = route(links, &node.value, &server.value)
        && let Some(home) = route(links, &server.value, &node.value)
        && out.links.len() + home.links.len() <= LONGEST_ROUTE
    {
        return Ok((out.links, home.links));
    }
    let message = format!(
        "no links lead from the cell to {}; expected a node that they lead to",
        server.shown
    );
    let hint = "`cell.node` sets the node to which the cell is attached";
    let hint = attachment.is_none().then(|| hint.to_owned());
    Err(server.refuse_with_hint(message, hint, problems))
}

/// Returns the message and the hint for a node at which no link begins or ends. `shown` is the node
/// as text. If the network has no links, `needed` is the expected text.
fn no_such_node(node: &str, shown: &str, known: &[&str], needed: &str) -> (String, Option<String>) {
    let instead = match known.len() {
        0 => format!("expected {needed}"),
        _ => format!("expected {}", one_of(known)),
    };
    let hint = did_you_mean(node, known.iter().copied());
    (format!("no link has a node {shown}; {instead}"), hint)
}

/// Returns the route of a class from node `from` to node `to`. If there is no route, a problem is
/// reported at the key `end`.
fn path(
    class: &Class,
    end: KeyOf<Option<String>>,
    from: &str,
    to: &str,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Route, Refused> {
    if let Some(route) = route(&scenario.links, from, to)
        && !route.links.is_empty()
        && route.links.len() <= LONGEST_ROUTE
    {
        return Ok(route);
    }
    let known = nodes(&scenario.links);
    for (key, node) in [(FlowTable::from, &class.from), (FlowTable::to, &class.to)] {
        if !known.contains(&node.as_str()) {
            let (origin, path) = class.place(key);
            let (message, hint) = no_such_node(node, node, &known, "links or a dumbbell");
            return Err(problems.add_with_hint(origin, path, message, hint));
        }
    }
    let (origin, path) = class.place(end);
    let message = if from == to {
        format!("the flow would end at {to}, where it begins; expected another node")
    } else {
        format!(
            "no links lead from {from} to {to}, at least none over {LONGEST_ROUTE} links or fewer"
        )
    };
    Err(problems.add(origin, path, message))
}

/// Returns a quarter of the difference between the configured round-trip time `rtt` and that of the
/// route. Each of the four host links of a flow has this delay.
fn quarter(class: &Class, route: Span, problems: &mut Problems) -> Result<Span, Refused> {
    let rtt = Layers(&class.tables).located(Hosts::rtt);
    let Some(rtt) = rtt.and_then(Located::present) else {
        return Ok(Span::ZERO);
    };
    if rtt.value < route {
        let (from, to, least) = (&class.from, &class.to, units::show(route.0, TIME));
        let fault = format!(
            "is less than the links from {from} to {to} and back take; expected at least {least}"
        );
        return Err(rtt.refuse_value(fault, problems));
    }
    Ok(Span((rtt.value.0 - route.0) / 4))
}

/// Returns the additional round-trip time of flow number `k` of `members` flows. The additional
/// times are evenly spaced from 0 to `spread`.
fn spread_delay(spread: Span, k: usize, members: usize) -> Span {
    let intervals = members.saturating_sub(1).max(1) as u64;
    Span(spread.0 / intervals * k as u64)
}

/// Returns the largest random delay that the sources of a class add to a packet. The word "packet"
/// is converted to the time of a full segment on the slowest link.
fn jitter(
    root: &Section,
    class: &Class,
    route: &Route,
    transport: &Transport,
    scenario: &Scenario,
    problems: &mut Problems,
) -> Result<Span, Refused> {
    let Some(jitter) = Layers(&class.tables).located(Hosts::jitter) else {
        return Ok(Span::ZERO);
    };
    if let Some(most) = jitter.value {
        return Ok(most);
    }
    let rates = route.links.iter();
    let rates = rates.filter_map(|&link| scenario.links[link as usize].rate.bps());
    let Some(rate_bps) = rates.min() else {
        let message = format!(
            "no link from {} to {} has a rate; expected a link with a rate, or a duration",
            class.from, class.to
        );
        return Err(jitter.refuse(message, problems));
    };
    let tcp = match transport {
        Transport::Tcp(tcp) => tcp.clone(),
        Transport::Web(web) => web.tcp.clone(),
        Transport::Udp(_) | Transport::Ping(_) => {
            TcpSettings::read(&Layers(root.inside(RootKeys::tcp).as_slice()))?
        }
    };
    let bytes = u64::from(tcp.mss_bytes + tcp.header_bytes);
    Ok(Span::to_send(bytes, rate_bps))
}

/// Returns the four links between a flow's hosts and the network: source to network, network to
/// sink, sink to network, network to source.
fn host_links(
    flow: &str,
    [from, to]: [&String; 2],
    rate_bps: Option<u64>,
    delay: Span,
    jitter: Span,
) -> [LinkSettings; 4] {
    let (source, sink) = (format!("{flow}/source"), format!("{flow}/sink"));
    let link = |name: &str, from: &str, to: &str, rate_bps: Option<u64>| LinkSettings {
        rate: rate_bps.into(),
        delay,
        jitter: if name == "access" { jitter } else { Span::ZERO },
        queue: QueueSetting::drop_tail(u32::MAX),
        of_host: true,
        ..LinkSettings::ideal(&format!("{flow}/{name}"), from, to)
    };
    [
        link("access", &source, from, rate_bps),
        link("exit", to, &sink, None),
        link("exit/back", &sink, to, None),
        link("access/back", from, &source, rate_bps),
    ]
}

//! The facts of a run: the scenario and the result, joined by name.

use std::cell::OnceCell;

use serde_json::Value;

use crate::answer::{Answer, Item};
use crate::edits::{Setting, Topology, tcp_settings};
use crate::index::Index;
use crate::scenario::{FlowTable, Link, Scenario, Station, Tcp};

/// Returns `value`, rounded to a multiple of 1 / `parts` for use in a text.
pub fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// Returns a fraction as text, in percent.
pub fn percent(fraction: f64) -> String {
    format!("{} %", rounded(100.0 * fraction, 1.0))
}

/// Returns the text at a key, or an empty text if the key is absent.
pub fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or("")
}

/// Type of traffic of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A TCP connection that always has data.
    Bulk,
    /// A TCP connection that sends a limited amount of data.
    Finite,
    /// A TCP connection whose application writes at its own times, but not in chunks.
    Written,
    /// A TCP connection whose application writes chunks.
    Chunks,
    /// A TCP connection that carries adaptive video.
    Video,
    /// Web connections.
    Web,
    /// Datagrams at a constant rate. [bit/s]
    Paced(f64),
    /// Datagrams from a source that always has a packet to send.
    Greedy,
    /// Reports of a sensor.
    Sensor,
}

impl Kind {
    /// Returns whether the traffic uses TCP.
    pub fn is_tcp(self) -> bool {
        !matches!(self, Kind::Paced(_) | Kind::Greedy | Kind::Sensor)
    }

    /// Returns whether the application, and not only TCP, determines when data is sent.
    pub fn is_written(self) -> bool {
        matches!(self, Kind::Written | Kind::Chunks | Kind::Video)
    }

    /// Returns whether the traffic uses the whole line for a while, and then pauses or ends: pages,
    /// chunks, and flows with an end.
    pub fn is_in_bursts(self) -> bool {
        matches!(self, Kind::Web | Kind::Finite | Kind::Chunks | Kind::Video)
    }
}

/// A flow of the scenario, with its item in the result if there is one.
pub struct Flow<'a> {
    /// Name of the flow in results.
    pub name: &'a str,
    /// Name of the scenario table that defines the flow.
    pub class: &'a str,
    /// Name of the flow's station, or `None` for a flow between wired nodes.
    pub station: Option<&'a str>,
    /// Direction `up` or `down`, or empty for a flow between wired nodes.
    pub direction: &'a str,
    /// Type of traffic.
    pub kind: Kind,
    /// Access category.
    pub category: &'a str,
    /// TCP settings, or `None` if the flow does not use TCP.
    pub tcp: Option<&'a Tcp<'a>>,
    /// Names of the queues on the flow's path, in order.
    pub path: Vec<&'a str>,
    /// Names of the wired links on the path of the flow's ACKs.
    pub back: Vec<&'a str>,
    /// One-way propagation time of the wired part of the flow's path. [s]
    pub propagation_s: f64,
    /// Item of the flow in the result, if there is one.
    pub answer: Option<&'a Item<'a>>,
}

impl Flow<'_> {
    /// Returns the mean of a quantity of the flow.
    pub fn mean(&self, quantity: &str) -> Option<f64> {
        self.answer?.mean(quantity)
    }

    /// Returns the congestion control of the flow, or an empty text without TCP.
    pub fn congestion(&self) -> &str {
        self.tcp.map_or("", |tcp| &tcp.congestion)
    }

    /// Returns whether the flow uses SACK, or `None` if this is unknown.
    pub fn sack(&self) -> Option<bool> {
        self.tcp?.sack.as_bool()
    }

    /// Returns whether the flow uses TCP.
    pub fn is_tcp(&self) -> bool {
        self.kind.is_tcp()
    }

    /// Returns the key of the station table that defines the flow's traffic, such as `udp_up`. The
    /// key is empty for a flow between wired nodes.
    pub fn traffic_key(&self) -> String {
        let Some((_, rest)) = self.name.split_once('/') else {
            return String::new();
        };
        let parts: Vec<&str> = rest.split('/').collect();
        match parts[..] {
            ["up", group, _] => format!("upload.{group}"),
            ["down", group, _] => format!("download.{group}"),
            ["up", ..] => "upload".into(),
            ["down", ..] => "download".into(),
            [key @ ("web" | "stream"), group, _] => format!("{key}.{group}"),
            _ => parts[0].replace('-', "_"),
        }
    }
}

/// The facts of a run: the scenario and the result, joined by name.
pub struct Facts<'a> {
    /// Normalised scenario.
    pub scenario: &'a Scenario<'a>,
    /// Result object.
    pub answer: &'a Answer<'a>,
    /// Table that describes the wired network.
    pub topology: Topology,
    flows: Vec<Flow<'a>>,
    stations: Index<'a, Station<'a>>,
    links: Index<'a, Link<'a>>,
    station_items: Index<'a, Item<'a>>,
    queue_items: Index<'a, Item<'a>>,
    link_items: Index<'a, Item<'a>>,
    air_is_full: bool,
    has_delay_sensitive: bool,
    has_video: bool,
    cubic: OnceCell<Vec<Setting>>,
}

impl<'a> Facts<'a> {
    /// Joins a normalised scenario and its result by name.
    pub fn read(scenario: &'a Scenario<'a>, answer: &'a Answer<'a>) -> Facts<'a> {
        let links = Index::new(&scenario.links, |link| &link.name);
        let mut facts = Facts {
            scenario,
            answer,
            topology: topology(&links),
            flows: Vec::new(),
            stations: Index::new(&scenario.stations, |station| &station.name),
            links,
            station_items: Index::new(&answer.stations, |item| &item.name),
            queue_items: Index::new(&answer.queues, |item| &item.name),
            link_items: Index::new(&answer.links, |item| &item.name),
            air_is_full: false,
            has_delay_sensitive: false,
            has_video: false,
            cubic: OnceCell::new(),
        };
        facts.air_is_full = facts.limits_senders();
        let measured = Index::new(&answer.flows, |item| &item.name);
        let classes = Index::new(&answer.classes, |item| &item.name);
        // pings measure the network: they neither suffer nor share
        let traffic = scenario.flows.iter().filter(|flow| flow.ping.is_none());
        let flows = traffic.map(|flow| Flow {
            name: &flow.name,
            class: &flow.class,
            station: flow.station.as_deref(),
            direction: &flow.direction,
            kind: kind(flow),
            category: &flow.category,
            tcp: flow.tcp.as_ref(),
            path: facts.path(flow),
            back: back(flow),
            propagation_s: facts.propagation_s(flow),
            answer: measured
                .named(&flow.name)
                .or_else(|| classes.named(&flow.class)),
        });
        facts.flows = flows.collect();
        let is_sensitive = |flow: &Flow<'_>| !matches!(flow.kind, Kind::Bulk | Kind::Greedy);
        facts.has_delay_sensitive = facts.flows.iter().any(is_sensitive);
        let is_video = |flow: &Flow<'_>| flow.kind == Kind::Video;
        let sends_datagrams = |flow: &Flow<'_>| matches!(flow.kind, Kind::Paced(_) | Kind::Sensor);
        facts.has_video =
            facts.flows.iter().any(is_video) && !facts.flows.iter().any(sends_datagrams);
        facts
    }

    /// Returns the flows in the order of the scenario, without pings.
    pub fn flows(&self) -> impl Iterator<Item = &Flow<'a>> {
        #[cfg(test)]
        let count = |_: &&Flow<'a>| crate::growth::count();
        #[cfg(not(test))]
        let count = |_: &&Flow<'a>| {};
        self.flows.iter().inspect(count)
    }

    /// Returns the table `cell` of the scenario, if there is one.
    pub fn cell(&self) -> Option<&'a Value> {
        let cell = &self.scenario.cell;
        (!cell.is_null()).then_some(cell)
    }

    /// Returns the aggregation settings of the access point, if the cell uses aggregation.
    pub fn aggregation(&self) -> Option<&'a Value> {
        let aggregation = &self.cell()?["ap"]["aggregation"];
        (!aggregation.is_null()).then_some(aggregation)
    }

    /// Returns whether the cell uses aggregation.
    pub fn aggregates(&self) -> bool {
        self.aggregation().is_some()
    }

    /// Returns the item of the cell in the result, if there is one.
    pub fn cell_answer(&self) -> Option<&'a Item<'a>> {
        self.answer.cells.first()
    }

    /// Returns the mean of a quantity of the cell.
    pub fn cell_mean(&self, quantity: &str) -> Option<f64> {
        self.cell_answer()?.mean(quantity)
    }

    /// Returns the fraction of time in which the medium is busy. [-]
    pub fn busy_fraction(&self) -> f64 {
        self.cell_mean("busy_fraction").unwrap_or(0.0)
    }

    /// Returns whether the medium limits its senders. This is the case if the medium is nearly
    /// always busy, or often busy while packets wait for access.
    pub fn air_is_full(&self) -> bool {
        self.air_is_full
    }

    fn limits_senders(&self) -> bool {
        let mut aps = self.answer.aps.iter();
        let ap_waits = aps.any(|ap| {
            ap.mean("queue_packets")
                .is_some_and(|packets| packets > 5.0)
        });
        let stations_wait = self.cell_mean("active_stations").unwrap_or(0.0) > 0.9;
        self.busy_fraction() > 0.9 || (self.busy_fraction() > 0.6 && (ap_waits || stations_wait))
    }

    /// Returns the weight `full` if the medium limits its senders, and the weight `other`
    /// otherwise. [-]
    pub fn by_air(&self, full: f64, other: f64) -> f64 {
        if self.air_is_full() { full } else { other }
    }

    /// Returns the flows for which `holds` is true.
    pub fn flows_that<'f>(&'f self, holds: impl Fn(&Flow<'a>) -> bool) -> Vec<&'f Flow<'a>> {
        self.flows().filter(|flow| holds(flow)).collect()
    }

    /// Returns the flows that use TCP.
    pub fn tcp_flows(&self) -> Vec<&Flow<'a>> {
        self.flows_that(Flow::is_tcp)
    }

    /// Returns whether the scenario has traffic for which delay matters.
    pub fn has_delay_sensitive(&self) -> bool {
        self.has_delay_sensitive
    }

    /// Returns whether the scenario has adaptive video, and no traffic of which each packet must be on
    /// time.
    pub fn has_video(&self) -> bool {
        self.has_video
    }

    /// Returns the scenario table of a station.
    pub fn station(&self, name: &str) -> Option<&'a Station<'a>> {
        self.stations.named(name)
    }

    /// Returns the name of the scenario table that defines a station.
    pub fn group(&self, station: &str) -> &'a str {
        self.station(station).map_or("", |table| &table.group)
    }

    /// Returns the settings of one direction of a wired link.
    pub fn link(&self, name: &str) -> Option<&'a Link<'a>> {
        self.links.named(name)
    }

    /// Returns the item of a queue in the result.
    pub fn queue_item(&self, name: &str) -> Option<&'a Item<'a>> {
        self.queue_items.named(name)
    }

    /// Returns the item of one direction of a wired link in the result.
    pub fn link_item(&self, name: &str) -> Option<&'a Item<'a>> {
        self.link_items.named(name)
    }

    /// Returns the item of a station in the result.
    pub fn station_item(&self, name: &str) -> Option<&'a Item<'a>> {
        self.station_items.named(name)
    }

    /// Returns the settings that give all TCP flows CUBIC and SACK.
    pub fn cubic(&self) -> &[Setting] {
        self.cubic.get_or_init(|| {
            let all = self.tcp_flows();
            let mut settings = tcp_settings(self, &all, "congestion", "cubic");
            settings.extend(tcp_settings(self, &all, "sack", "true"));
            settings
        })
    }

    /// Returns those queues on the path of a flow that the result contains, in order.
    fn path(&self, flow: &FlowTable<'_>) -> Vec<&'a str> {
        let links = flow.forward.iter().map(|name| name.to_string());
        let category = match &*flow.category {
            "" | "best-effort" => String::new(),
            other => format!("/{other}"),
        };
        let path: Vec<String> = match (&flow.station, &*flow.direction) {
            (Some(station), "up") => [format!("{station}{category}"), "vsb".into()]
                .into_iter()
                .chain(["wire/up".into()])
                .chain(links)
                .collect(),
            (Some(_), _) => links
                .chain(["wire/down".into(), "vsb".into(), format!("ap{category}")])
                .collect(),
            _ => links.collect(),
        };
        let items = path.iter().filter_map(|name| self.queue_item(name));
        items.map(|item| &*item.name).collect()
    }

    fn propagation_s(&self, flow: &FlowTable<'_>) -> f64 {
        let links = flow.forward.iter();
        let wired: f64 = links
            .filter_map(|name| self.link(name)?.delay_s.as_f64())
            .sum();
        match &flow.station {
            None => wired,
            Some(_) => wired + self.scenario.wire["delay_s"].as_f64().unwrap_or(0.0),
        }
    }
}

/// Returns the table that describes the wired network.
fn topology(links: &Index<'_, Link<'_>>) -> Topology {
    let between = |name: &str, ends: (&str, &str)| {
        let link = links.named(name);
        link.is_some_and(|link| (&*link.from, &*link.to) == ends)
    };
    if between("bottleneck", ("left", "right")) {
        Topology::Dumbbell
    } else if between("bottleneck-1", ("r0", "r1")) {
        Topology::ParkingLot
    } else {
        Topology::Links
    }
}

/// Returns the wired links on the path of a flow's ACKs.
fn back<'a>(flow: &'a FlowTable<'a>) -> Vec<&'a str> {
    let wire = match (&flow.station, &*flow.direction) {
        (None, _) => None,
        (Some(_), "up") => Some("wire/down"),
        (Some(_), _) => Some("wire/up"),
    };
    let links = flow.back.iter().map(|name| &**name);
    wire.into_iter().chain(links).collect()
}

fn kind(flow: &FlowTable<'_>) -> Kind {
    if flow.web.is_some() {
        Kind::Web
    } else if flow.sensor.is_some() {
        Kind::Sensor
    } else if let Some(udp) = &flow.udp {
        match udp.rate_bps.as_f64() {
            Some(rate_bps) if rate_bps > 0.0 => Kind::Paced(rate_bps),
            _ => Kind::Greedy,
        }
    } else if flow.stream.is_some() {
        Kind::Video
    } else if let Some(application) = flow.application.as_ref().filter(|own| own.paces()) {
        match application.every_s.is_null() {
            true => Kind::Written,
            false => Kind::Chunks,
        }
    } else if flow.tcp.as_ref().is_some_and(|tcp| !tcp.segments.is_null()) {
        Kind::Finite
    } else {
        Kind::Bulk
    }
}

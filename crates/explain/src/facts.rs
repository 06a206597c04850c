//! The facts of a run: the scenario and the result, joined by name.

use serde_json::Value;

/// Returns the mean of a quantity in an item of the result.
pub fn mean(item: &Value, quantity: &str) -> Option<f64> {
    item[quantity]["mean"].as_f64()
}

/// Returns `value`, rounded to a multiple of 1 / `parts` for use in a text.
pub fn rounded(value: f64, parts: f64) -> f64 {
    (value * parts).round() / parts
}

/// Returns a fraction as text, in percent.
pub fn percent(fraction: f64) -> String {
    format!("{} %", rounded(100.0 * fraction, 1.0))
}

/// Returns the half width of the 95 % interval of a quantity, or 0 with a single replication.
pub fn ci95(item: &Value, quantity: &str) -> f64 {
    item[quantity]["ci95"].as_f64().unwrap_or(0.0)
}

/// Returns the text at a key, or an empty text if the key is absent.
pub fn text<'a>(item: &'a Value, key: &str) -> &'a str {
    item[key].as_str().unwrap_or("")
}

/// Returns the items of the list at a key, or no items if the list is absent.
pub fn list<'a>(table: &'a Value, key: &str) -> &'a [Value] {
    table[key].as_array().map_or(&[], Vec::as_slice)
}

/// Returns the item with this name.
pub fn named<'a>(items: &'a [Value], name: &str) -> Option<&'a Value> {
    items.iter().find(|item| text(item, "name") == name)
}

/// Type of traffic of a flow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Kind {
    /// A TCP connection that always has data.
    Bulk,
    /// A TCP connection that sends a limited amount of data.
    Finite,
    /// Web connections.
    Web,
    /// Datagrams at a constant rate. [bit/s]
    Paced(f64),
    /// Datagrams from a source that always has a packet to send.
    Greedy,
    /// Reports of a sensor.
    Sensor,
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
    /// TCP settings, or null if the flow does not use TCP.
    pub tcp: &'a Value,
    /// Names of the queues on the flow's path, in order.
    pub path: Vec<String>,
    /// Names of the wired links on the path of the flow's ACKs.
    pub back: Vec<String>,
    /// One-way propagation time of the wired part of the flow's path. [s]
    pub propagation_s: f64,
    /// Item of the flow in the result, or null.
    pub answer: &'a Value,
}

impl Flow<'_> {
    /// Returns whether the flow uses TCP.
    pub fn is_tcp(&self) -> bool {
        matches!(self.kind, Kind::Bulk | Kind::Finite | Kind::Web)
    }

    /// Returns the key of the station table that defines the flow's traffic, such as `udp_up`. The
    /// key is empty for a flow between wired nodes.
    pub fn traffic_key(&self) -> String {
        let Some((_, rest)) = self.name.split_once('/') else {
            return String::new();
        };
        match rest.split('/').next().unwrap_or("") {
            "up" => "upload".into(),
            "down" => "download".into(),
            key => key.replace('-', "_"),
        }
    }
}

/// The facts of a run: the scenario and the result, joined by name.
pub struct Facts<'a> {
    /// Normalised scenario.
    pub scenario: &'a Value,
    /// Result object.
    pub answer: &'a Value,
    /// Flows in the order of the scenario.
    pub flows: Vec<Flow<'a>>,
}

impl<'a> Facts<'a> {
    /// Joins a normalised scenario and its result by name.
    pub fn read(scenario: &'a Value, answer: &'a Value) -> Facts<'a> {
        let measured = list(answer, "flows");
        let classes = list(answer, "classes");
        let mut facts = Facts {
            scenario,
            answer,
            flows: Vec::new(),
        };
        facts.flows = list(scenario, "flows")
            .iter()
            .map(|flow| {
                let name = text(flow, "name");
                let item = named(measured, name).or_else(|| named(classes, text(flow, "class")));
                Flow {
                    name,
                    class: text(flow, "class"),
                    station: flow["station"].as_str(),
                    direction: text(flow, "direction"),
                    kind: kind(flow),
                    category: text(flow, "category"),
                    tcp: &flow["tcp"],
                    path: facts.path(flow),
                    back: facts.back(flow),
                    propagation_s: facts.propagation_s(flow),
                    answer: item.unwrap_or(&Value::Null),
                }
            })
            .collect();
        facts
    }

    /// Returns the table `cell` of the scenario, if there is one.
    pub fn cell(&self) -> Option<&'a Value> {
        let cell = &self.scenario["cell"];
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

    /// Returns the item of the cell in the result, or null without a cell.
    pub fn cell_answer(&self) -> &'a Value {
        list(self.answer, "cells").first().unwrap_or(&Value::Null)
    }

    /// Returns the fraction of time in which the medium is busy. [-]
    pub fn busy_fraction(&self) -> f64 {
        mean(self.cell_answer(), "busy_fraction").unwrap_or(0.0)
    }

    /// Returns whether the medium limits its senders. This is the case if the medium is nearly
    /// always busy, or often busy while packets wait for access.
    pub fn air_is_full(&self) -> bool {
        let ap_waits = list(self.answer, "aps")
            .iter()
            .any(|ap| mean(ap, "queue_packets").is_some_and(|packets| packets > 5.0));
        let stations_wait = mean(self.cell_answer(), "active_stations").unwrap_or(0.0) > 0.9;
        self.busy_fraction() > 0.9 || (self.busy_fraction() > 0.6 && (ap_waits || stations_wait))
    }

    /// Returns the weight `full` if the medium limits its senders, and the weight `other`
    /// otherwise. [-]
    pub fn by_air(&self, full: f64, other: f64) -> f64 {
        if self.air_is_full() { full } else { other }
    }

    /// Returns the flows for which `holds` is true.
    pub fn flows_that<'f>(&'f self, holds: impl Fn(&Flow<'a>) -> bool) -> Vec<&'f Flow<'a>> {
        self.flows.iter().filter(|flow| holds(flow)).collect()
    }

    /// Returns the flows that use TCP.
    pub fn tcp_flows(&self) -> Vec<&Flow<'a>> {
        self.flows_that(Flow::is_tcp)
    }

    /// Returns whether the scenario has traffic for which delay matters.
    pub fn has_delay_sensitive(&self) -> bool {
        let is_sensitive = |kind| !matches!(kind, Kind::Bulk | Kind::Greedy);
        self.flows.iter().any(|flow| is_sensitive(flow.kind))
    }

    /// Returns the scenario table of a station.
    pub fn station(&self, name: &str) -> Option<&'a Value> {
        named(list(self.scenario, "stations"), name)
    }

    /// Returns the name of the scenario table that defines a station.
    pub fn group(&self, station: &str) -> &'a str {
        self.station(station)
            .map_or("", |table| text(table, "group"))
    }

    /// Returns the item of a queue in the result.
    pub fn queue(&self, name: &str) -> Option<&'a Value> {
        named(list(self.answer, "queues"), name)
    }

    /// Returns the utilisation of a wired link. [-]
    pub fn utilisation(&self, link: &str) -> Option<f64> {
        mean(named(list(self.answer, "links"), link)?, "utilisation")
    }

    /// Returns those queues on the path of a flow that the result contains, in order.
    fn path(&self, flow: &Value) -> Vec<String> {
        let links = list(flow, "forward").iter().filter_map(Value::as_str);
        let links = links.map(str::to_owned);
        let category = match text(flow, "category") {
            "" | "best-effort" => String::new(),
            other => format!("/{other}"),
        };
        let path: Vec<String> = match (flow["station"].as_str(), text(flow, "direction")) {
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
        path.into_iter()
            .filter(|name| self.queue(name).is_some())
            .collect()
    }

    /// Returns the wired links on the path of a flow's ACKs.
    fn back(&self, flow: &Value) -> Vec<String> {
        let wire = match (flow["station"].is_null(), text(flow, "direction")) {
            (true, _) => None,
            (false, "up") => Some("wire/down"),
            (false, _) => Some("wire/up"),
        };
        let links = list(flow, "back").iter().filter_map(Value::as_str);
        wire.into_iter().chain(links).map(str::to_owned).collect()
    }

    fn propagation_s(&self, flow: &Value) -> f64 {
        let links = list(self.scenario, "links");
        let wired: f64 = list(flow, "forward")
            .iter()
            .filter_map(|name| named(links, name.as_str()?)?["delay_s"].as_f64())
            .sum();
        match flow["station"].is_null() {
            true => wired,
            false => wired + self.scenario["wire"]["delay_s"].as_f64().unwrap_or(0.0),
        }
    }
}

fn kind(flow: &Value) -> Kind {
    if !flow["web"].is_null() {
        Kind::Web
    } else if !flow["sensor"].is_null() {
        Kind::Sensor
    } else if !flow["udp"].is_null() {
        match flow["udp"]["rate_bps"].as_f64() {
            Some(rate_bps) if rate_bps > 0.0 => Kind::Paced(rate_bps),
            _ => Kind::Greedy,
        }
    } else if !flow["tcp"]["segments"].is_null() {
        Kind::Finite
    } else {
        Kind::Bulk
    }
}

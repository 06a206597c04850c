//! The normalised scenario as JSON: all defaults are filled in, groups are expanded, and values are
//! in SI units.

use serde_json::json;

use super::model::*;
use crate::app::call::control_json;
use crate::notation::setting::{FileTable, Json};

impl Scenario {
    /// Returns the scenario as a JSON object with units in its keys, for models and results. The
    /// object does not follow the grammar of scenario files.
    pub fn to_json(&self) -> Json {
        let flows = self.flows.iter().map(|flow| self.flow(flow)).collect();
        let links = self.links.iter().map(LinkSettings::to_json).collect();
        let stations = (0..self.stations.len()).map(|index| self.station_json(index));
        self.around(stations.collect(), links, flows)
    }

    /// Returns the text of the JSON object that `to_json` returns, but takes only two thirds of the
    /// time. This function builds no tree of all stations, links and flows. It converts transport settings
    /// only once for consecutive flows with equal settings.
    pub fn to_json_text(&self) -> String {
        let mut known: Option<(Transport, String)> = None;
        let flows = self.flows.iter().map(|flow| {
            let mut own = self.plain_flow(flow);
            if let Some(reports) = &flow.reports {
                own["sensor"] = sensor(reports, &flow.transport);
                return own.to_string();
            }
            if known
                .as_ref()
                .is_none_or(|(last, _)| *last != flow.transport)
            {
                let mut carrier = json!({});
                carry(&mut carrier, &flow.transport);
                known = Some((flow.transport.clone(), carrier.to_string()));
            }
            let carrier = known.as_ref().map_or("{}", |(_, text)| text);
            let own = own.to_string();
            format!("{},{}", &own[..own.len() - 1], &carrier[1..])
        });
        let links = self.links.iter().map(|link| link.to_json().to_string());
        let stations = (0..self.stations.len()).map(|index| self.station_json(index).to_string());
        let head = self.head_to_json().to_string();
        // quotes inside values are escaped, so this text occurs only once in the JSON
        let (before, after) = head
            .split_once(r#""stations":null,"links":null,"flows":null"#)
            .unwrap_or((&head, ""));
        let mut text = format!(r#"{before}"stations":"#);
        push_list(&mut text, stations);
        text.push_str(r#","links":"#);
        push_list(&mut text, links);
        text.push_str(r#","flows":"#);
        push_list(&mut text, flows);
        text.push_str(after);
        text
    }

    /// Returns the scenario as JSON with these lists of stations, links and flows.
    pub(super) fn around(&self, stations: Json, links: Json, flows: Json) -> Json {
        let names: Vec<&str> = self
            .stations
            .iter()
            .map(|station| station.name.as_str())
            .collect();
        let mut json = json!({
            "name": self.name,
            "duration_s": self.duration.seconds(),
            "warmup_s": self.warmup.seconds(),
            "replications": self.replications,
            "seed": self.seed,
            "cell": (!self.stations.is_empty()).then(|| cell(self)),
            "wire": self.wire.to_json(),
            "vsb": self.bottleneck.as_ref().map(|vsb| vsb.to_json(&names)),
            "stations": null,
            "links": null,
            "flows": null,
            "record": self.record.json(),
        });
        // the lists are inserted after the macro `json!`, because the macro would copy the lists
        for (name, list) in [("stations", stations), ("links", links), ("flows", flows)] {
            json[name] = list;
        }
        if !self.programs.is_empty() {
            let programs = self.programs.iter();
            json["programs"] = programs
                .map(|program| json!({"place": program.place, "commands": program.commands}))
                .collect();
        }
        if let Some(csma) = &self.csma {
            json["csma"] = csma.to_json(&self.links);
        }
        json
    }

    /// Returns the flows over a conflict graph as JSON, in the form of wired flows without their
    /// routes.
    pub fn users_to_json(&self) -> Json {
        self.users().map(|user| self.flow(&user)).collect()
    }

    /// Returns the station with this index as JSON.
    pub(super) fn station_json(&self, index: usize) -> Json {
        station(index, self)
    }

    pub(super) fn flow(&self, flow: &Flow) -> Json {
        let mut json = self.plain_flow(flow);
        match &flow.reports {
            Some(reports) => json["sensor"] = sensor(reports, &flow.transport),
            None => carry(&mut json, &flow.transport),
        }
        json
    }

    /// Returns a flow as JSON, without its transport settings.
    pub(super) fn plain_flow(&self, flow: &Flow) -> Json {
        let names = |links: &[u32]| -> Vec<&str> {
            let links = links.iter().map(|&link| &self.links[link as usize]);
            links.map(|link| link.name.as_str()).collect()
        };
        let mut json = json!({
            "name": flow.name,
            "class": flow.class,
            "station": flow.station().map(|station| &self.stations[station].name),
            "direction": flow.direction().map(Direction::name),
            "forward": names(&flow.forward),
            "back": names(&flow.back),
            "category": flow.category.name(),
            "start_s": flow.start.seconds(),
            "start_spread_s": flow.start_spread.seconds(),
            "stop_s": flow.stop.map(crate::kernel::time::Span::seconds),
        });
        if let Some(writes) = &flow.writes {
            json["application"] = writes.json();
        }
        if let Some(hosts) = &flow.hosts {
            json["hosts"] = hosts.to_json();
        }
        if let Some(stream) = &flow.stream {
            json["stream"] = stream.json();
        }
        if let Some(call) = flow.call {
            json["call"] = call.json();
            if let Transport::Udp(udp) = &flow.transport
                && let Some(bounds) = &udp.control
            {
                json["call"]["control"] = control_json(bounds);
            }
        }
        json
    }
}

/// Appends a JSON list of items, which are already JSON text.
fn push_list(json: &mut String, items: impl Iterator<Item = String>) {
    json.push('[');
    for (index, item) in items.enumerate() {
        if index > 0 {
            json.push(',');
        }
        json.push_str(&item);
    }
    json.push(']');
}

/// Adds the settings of a transport to the JSON object of a flow.
pub(super) fn carry(json: &mut Json, transport: &Transport) {
    match transport {
        Transport::Tcp(tcp) => json["tcp"] = tcp.json(),
        Transport::Udp(udp) => {
            json["udp"] = udp.json();
            if udp.burst > 1 {
                json["udp"]["burst_packets"] = udp.burst.into();
            }
        }
        Transport::Web(web) => {
            json["tcp"] = web.tcp.json();
            json["web"] = web.json();
        }
        Transport::Ping(ping) => json["ping"] = ping.json(),
    }
}

fn sensor(reports: &ReportSettings, transport: &Transport) -> Json {
    let mut json = json!({
        "every_s": reports.every.seconds(),
        "arrivals": reports.arrivals.name(),
        "deadline_s": reports.deadline.seconds(),
    });
    carry(&mut json, transport);
    json
}

fn cell(scenario: &Scenario) -> Json {
    let cell = &scenario.only_bss().cell;
    let mut json = cell.json();
    let mut ap = cell.ap.json();
    ap.insert("queue_order".to_owned(), cell.ap_queue_order.name().into());
    json["ap"] = ap.into();
    if let Some(ppdus) = &cell.ppdus {
        extend(&mut json, ppdus.json());
    }
    if scenario.sleeps() {
        extend(&mut json, cell.power_save.json());
    }
    if !cell.sharing_classes.is_empty() {
        let classes = cell.sharing_classes.iter();
        json["vbs_classes"] = classes
            .map(|class| sharing_class(class, scenario))
            .collect();
    }
    json
}

fn sharing_class(class: &SharingClass, scenario: &Scenario) -> Json {
    let flows = class.flows.iter();
    let flows: Vec<&str> = flows
        .map(|&flow| scenario.flows[flow as usize].name.as_str())
        .collect();
    json!({
        "name": class.name,
        "share": class.share,
        "target_share": class.target,
        "flows": flows,
    })
}

/// Returns the station with this index as JSON.
fn station(index: usize, scenario: &Scenario) -> Json {
    let [up, down] = [Direction::Up, Direction::Down].map(|way| scenario.rates(index, way));
    let station = &scenario.stations[index];
    let mut json = json!({
        "name": station.name,
        "group": station.group,
        "rate_bps": station.rate_bps,
        "downlink_rate_bps": station.downlink_rate_bps,
        "uplink_rts_rate_bps": up.rts_bps,
        "uplink_response_rate_bps": up.response_bps,
        "downlink_rts_rate_bps": down.rts_bps,
        "downlink_response_rate_bps": down.response_bps,
    });
    if scenario.only_bss().cell.ppdus.is_some() {
        json["phy"] = station.phy.name().into();
        json["mcs"] = station.modulation.map(|modulation| modulation.mcs).into();
        json["streams"] = station
            .modulation
            .map(|modulation| modulation.streams)
            .into();
        json["mcs_by_snr"] = station.mcs_by_snr.into();
    }
    extend(&mut json, channel(&station.channel));
    if !station.channel_changes.is_empty() {
        let changes = station.channel_changes.iter().map(|change| {
            let mut json = json!({"at_s": change.at.seconds()});
            extend(&mut json, channel(&change.channel));
            json
        });
        json["channel_changes"] = changes.collect();
    }
    if let Some(awake) = station.power_save {
        json["power_save_s"] = awake.seconds().into();
    }
    if station.echo != Echo::default() || !station.echo_changes.is_empty() {
        extend(&mut json, echo(station.echo));
        let changes = station.echo_changes.iter().map(|change| {
            let mut json = json!({"at_s": change.at.seconds()});
            extend(&mut json, echo(change.echo));
            json
        });
        json["ping_changes"] = changes.collect();
    }
    extend(&mut json, station.node.json().into());
    json
}

/// Appends the keys of the object `more` to the object `json`.
fn extend(json: &mut Json, more: Json) {
    if let (Json::Object(json), Json::Object(more)) = (json, more) {
        json.extend(more);
    }
}

fn echo(echo: Echo) -> Json {
    json!({
        "ping_delay_s": echo.delay.seconds(),
        "ping_loss": echo.loss,
    })
}

fn channel(channel: &Channel) -> Json {
    json!({
        "error_up": channel.error_up,
        "error_down": channel.error_down,
        "ack_error_up": channel.ack_error_up,
        "ack_error_down": channel.ack_error_down,
        "snr_db": channel.snr_db,
    })
}

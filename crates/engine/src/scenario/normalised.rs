//! The normalised scenario as JSON: all defaults filled in, groups expanded, SI units.

use serde_json::{Value, json};

use super::model::*;
use super::presets::Preset;
use super::vsb::VsbSettings;
use crate::kernel::time::Span;

impl Scenario {
    /// The scenario as a JSON object that says its units in its keys; what models and results read.
    /// It is not the file's grammar.
    pub fn to_json(&self) -> Value {
        let stations = (1..).zip(&self.stations);
        let stations: Vec<Value> = stations.map(|(n, one)| station(one, self, n)).collect();
        let flows: Vec<Value> = self.flows.iter().map(|flow| self.flow(flow)).collect();
        let links: Vec<Value> = self.links.iter().map(link).collect();
        let mut json = json!({
            "name": self.name,
            "duration_s": self.duration.seconds(),
            "warmup_s": self.warmup.seconds(),
            "replications": self.replications,
            "seed": self.seed,
            "cell": (!self.stations.is_empty()).then(|| cell(self)),
            "wire": {
                "rate_bps": self.wire.rate_bps,
                "delay_s": self.wire.delay.seconds(),
                "queue_packets": self.wire.queue.most_packets(),
                "queue": self.wire.queue.to_json(),
                "loss": self.wire.loss,
            },
            "vsb": self.vsb.map(VsbSettings::to_json),
            "stations": stations,
            "links": links,
            "flows": flows,
            "record": {
                "series_interval_s": self.record.series_interval.map(Span::seconds),
                "utilisation_bin_s": self.record.utilisation_bin.map(Span::seconds),
                "frames": self.record.frames,
            },
        });
        if let Some(gateway) = &self.gateway {
            json["gateway"] = gateway.to_json();
        }
        if let Some(csma) = &self.csma {
            json["csma"] = csma.to_json(&self.links);
        }
        json
    }

    fn flow(&self, flow: &Flow) -> Value {
        let names = |links: &[u32]| -> Vec<&str> {
            let links = links.iter().map(|&link| &self.links[link as usize]);
            links.map(|link| link.name.as_str()).collect()
        };
        let mut json = json!({
            "name": flow.name,
            "class": flow.class,
            "station": flow.station().map(|station| &self.stations[station].name),
            "direction": flow.direction().map(|direction| match direction {
                Direction::Up => "up",
                Direction::Down => "down",
            }),
            "forward": names(&flow.forward),
            "back": names(&flow.back),
            "category": flow.category.name(),
            "start_s": flow.start.seconds(),
            "start_spread_s": flow.start_spread.seconds(),
            "stop_s": flow.stop.map(Span::seconds),
        });
        if let Some(reports) = &flow.reports {
            json["sensor"] = sensor(reports, &flow.transport);
            return json;
        }
        match &flow.transport {
            Transport::Tcp(settings) => json["tcp"] = tcp(settings),
            Transport::Udp(settings) => json["udp"] = udp(settings),
            Transport::Web(settings) => {
                json["tcp"] = tcp(&settings.tcp);
                json["web"] = web(settings);
            }
        }
        json
    }
}

fn link(link: &LinkSettings) -> Value {
    let mut json = json!({
        "name": link.name,
        "from": link.from,
        "to": link.to,
        "rate_bps": link.rate_bps,
        "delay_s": link.delay.seconds(),
        "queue_packets": link.queue.most_packets(),
        "queue": link.queue.to_json(),
        "loss": link.loss,
        "of_host": link.of_host,
    });
    if link.jitter > Span::ZERO {
        json["jitter_s"] = json!(link.jitter.seconds());
    }
    json
}

fn cell(scenario: &Scenario) -> Value {
    let cell = &scenario.cell;
    let mut json = json!({
        "phy": Preset::of(cell.phy.kind).name,
        "slot_s": cell.phy.slot.seconds(),
        "sifs_s": cell.phy.sifs.seconds(),
        "preamble_s": cell.phy.preamble.seconds(),
        "eifs_rate_bps": cell.phy.eifs_rate_bps,
        "mac_header_bytes": cell.mac_header_bytes,
        "llc_bytes": cell.llc_bytes,
        "rts_threshold_bytes": cell.rts_threshold_bytes,
        "ack_timeout_s": cell.ack_timeout.map(Span::seconds),
        "countdown": match cell.countdown {
            CountdownRule::Dcf => "dcf",
            CountdownRule::Edca => "edca",
        },
        "cf_end": cell.cf_end,
        "rate_control": match cell.rate_control {
            RateControl::Fixed => "fixed",
            RateControl::Arf => "arf",
        },
        "ap": ap(cell),
    });
    if !cell.vbs_classes.is_empty() {
        let classes = cell.vbs_classes.iter();
        let classes: Vec<Value> = classes.map(|class| vbs_class(class, scenario)).collect();
        json["vbs_classes"] = json!(classes);
    }
    json
}

fn vbs_class(class: &VbsClass, scenario: &Scenario) -> Value {
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

fn ap(cell: &Cell) -> Value {
    let mut json = node(&cell.ap);
    json["queue_order"] = json!(match cell.ap_queue_order {
        QueueOrder::Fifo => "fifo",
        QueueOrder::Mixed => "mixed",
    });
    json
}

fn node(node: &Node) -> Value {
    let mut json = json!({"control_rate_bps": node.control_rate_bps});
    extend(&mut json, access(&node.best_effort));
    extend(
        &mut json,
        json!({
            "attempts_short": node.attempts_short,
            "attempts_long": node.attempts_long,
            "queue_packets": node.queue.most_packets(),
            "queue": node.queue.to_json(),
            "voice": access(&node.voice),
            "video": access(&node.video),
            "background": access(&node.background),
        }),
    );
    json
}

fn access(access: &Access) -> Value {
    json!({
        "aifsn": access.aifsn,
        "cwmin": access.cwmin,
        "cwmax": access.cwmax,
        "txop_packets": access.txop_packets,
        "txop_limit_s": access.txop_limit.map(Span::seconds),
    })
}

/// Appends the keys of `more` to the object `json`.
fn extend(json: &mut Value, more: Value) {
    if let (Value::Object(json), Value::Object(more)) = (json, more) {
        json.extend(more);
    }
}

/// A station; `number` is its node's.
fn station(station: &Station, scenario: &Scenario, number: u32) -> Value {
    let (up, down) = (scenario.rates(number, 0), scenario.rates(0, number));
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
    extend(&mut json, channel(&station.channel));
    if !station.channel_changes.is_empty() {
        let changes = station.channel_changes.iter().map(|change| {
            let mut json = json!({"at_s": change.at.seconds()});
            extend(&mut json, channel(&change.channel));
            json
        });
        extend(
            &mut json,
            json!({"channel_changes": changes.collect::<Vec<_>>()}),
        );
    }
    extend(&mut json, node(&station.node));
    json
}

fn channel(channel: &super::Channel) -> Value {
    json!({
        "error_up": channel.error_up,
        "error_down": channel.error_down,
        "ack_error_up": channel.ack_error_up,
        "ack_error_down": channel.ack_error_down,
        "snr_db": channel.snr_db,
    })
}

fn tcp(settings: &TcpSettings) -> Value {
    json!({
        "congestion": settings.congestion.name(),
        "compound": compound(&settings.compound),
        "hystart": settings.hystart,
        "ecn": settings.ecn,
        "sack": settings.sack,
        "prr": settings.prr,
        "window_packets": settings.window_packets,
        "initial_cwnd_packets": settings.initial_cwnd_packets,
        "delayed_ack": settings.delayed_ack,
        "ack_delay_s": settings.ack_delay.seconds(),
        "ack_processing_s": settings.ack_processing.seconds(),
        "mss_bytes": settings.mss_bytes,
        "header_bytes": settings.header_bytes,
        "min_rto_s": settings.min_rto.seconds(),
        "initial_rto_s": settings.initial_rto.seconds(),
        "segments": settings.segments,
    })
}

fn compound(settings: &CompoundSettings) -> Value {
    json!({
        "alpha": settings.alpha,
        "beta": settings.beta,
        "k": settings.k,
        "gamma_packets": settings.gamma,
        "zeta": settings.zeta,
    })
}

fn sensor(reports: &ReportSettings, transport: &Transport) -> Value {
    let mut json = json!({
        "every_s": reports.every.seconds(),
        "arrivals": match reports.arrivals {
            Arrivals::Poisson => "poisson",
            Arrivals::Constant | Arrivals::Greedy => "constant",
        },
        "deadline_s": reports.deadline.seconds(),
    });
    match transport {
        Transport::Tcp(settings) => json["tcp"] = tcp(settings),
        Transport::Udp(settings) => json["udp"] = udp(settings),
        Transport::Web(_) => {}
    }
    json
}

/// Null stands for what varies from connection to connection.
fn web(settings: &WebSettings) -> Value {
    json!({
        "connections_per_s": settings.connections_per_s,
        "arrivals": match settings.arrivals {
            WebArrivals::Packmime => "packmime",
            WebArrivals::Poisson => "poisson",
            WebArrivals::Constant => "constant",
        },
        "request_bytes": settings.request_bytes,
        "response_bytes": settings.response_bytes,
        "server_delay_s": settings.server_delay.map(Span::seconds),
    })
}

fn udp(settings: &UdpSettings) -> Value {
    json!({
        "arrivals": match settings.arrivals {
            Arrivals::Constant => "constant",
            Arrivals::Poisson => "poisson",
            Arrivals::Greedy => "greedy",
        },
        "rate_bps": settings.rate_bps,
        "payload_bytes": settings.payload_bytes,
        "header_bytes": settings.header_bytes,
    })
}

//! From a decoded file without problems to the [`Scenario`].

use super::access;
use super::channel;
use super::checks;
use super::csma;
use super::gateway;
use super::grammar::CELL;
use super::idle;
use super::model::*;
use super::network;
use super::opportunities;
use super::presets::Preset;
use super::queue::{self, QueueSetting};
use super::stations::member_names;
use super::vbs;
use super::vsb;
use crate::kernel::time::Span;
use crate::notation::decode::{Entry, Section, decode_table};
use crate::notation::layers::Layers;
use crate::notation::problem::{Origin, Problems};
use crate::notation::tree::{Data, Item};
use crate::notation::units::{self, TIME};

/// Longest warm-up that is chosen without being asked for.
const LONGEST_DEFAULT_WARMUP: Span = Span(20_000_000_000);

/// Longest deadline of reports that is chosen without being asked for.
const LONGEST_DEFAULT_DEADLINE: Span = Span(10_000_000_000);

/// Builds the scenario. `None` only together with a problem: each value that is not optional in
/// the grammar is there once decoder and checks are content.
pub(super) fn assemble(
    root: &Section,
    default_name: &str,
    problems: &mut Problems,
) -> Option<Scenario> {
    let top = Layers(&[root]);
    let idle = idle_cell();
    let cell_section = root.table("cell").unwrap_or(&idle);
    let preset = checks::preset(cell_section)?;
    let duration = top.duration("duration")?;
    let default_warmup = Span(duration.0 / 10).min(LONGEST_DEFAULT_WARMUP);
    let mut scenario = Scenario {
        name: match root.entry("name").and_then(Entry::text) {
            Some(name) => name.to_owned(),
            None => default_name.to_owned(),
        },
        duration,
        warmup: top.duration("warmup").unwrap_or(default_warmup),
        replications: top.count("replications")?,
        seed: root.entry("seed")?.count()?,
        cell: cell(cell_section, preset)?,
        wire: wire(root.table("wire")?)?,
        vsb: match root.table("vsb") {
            Some(vsb) => Some(vsb::assemble(vsb, preset.rate_bps)?),
            None => None,
        },
        stations: Vec::new(),
        links: Vec::new(),
        flows: Vec::new(),
        csma: None,
        record: record(root.table("record")?)?,
        gateway: None,
    };
    network::assemble(root, &mut scenario, problems)?;
    scenario.csma = csma::assemble(root, &scenario, problems)?;
    let wired = std::mem::take(&mut scenario.flows);
    for (group, section) in root.named("station") {
        let mut pattern = station(section, cell_section, group, preset)?;
        channel::hear_noise(&mut pattern, root, section, &scenario.cell)?;
        let flows = station_flows(root, section, &scenario.links, problems)?;
        for name in member_names(group, section) {
            let index = scenario.stations.len();
            scenario.flows.extend(flows.iter().map(|flow| Flow {
                name: format!("{name}/{}", flow.name),
                class: group.clone(),
                ends: match flow.ends {
                    Ends::Station { direction, .. } => Ends::Station {
                        station: index,
                        direction,
                    },
                    Ends::Wired => Ends::Wired,
                },
                ..flow.clone()
            }));
            scenario.stations.push(Station {
                name,
                ..pattern.clone()
            });
        }
    }
    scenario.flows.extend(wired);
    stagger(root, &mut scenario, problems)?;
    opportunities::check(root, &scenario, problems);
    idle::check(root, &scenario, problems);
    queue::check_sources(root, &scenario, problems);
    if root.table("gateway").is_some() {
        scenario.gateway = gateway::assemble(root, default_name, &scenario.stations);
    }
    vbs::assemble(root, &mut scenario, problems);
    Some(scenario)
}

/// The cell of a file without one: no station is in it.
fn idle_cell() -> Section {
    let item = |data| Item {
        origin: Origin::File,
        data,
    };
    let phy = item(Data::Text("802.11b".to_owned()));
    let cell = item(Data::Table(vec![("phy".to_owned(), phy)]));
    decode_table(&cell, &CELL, &mut Problems::new("", &[]))
}

fn cell(cell: &Section, preset: &Preset) -> Option<Cell> {
    let ap = cell.table("ap")?;
    let own = Layers(&[cell]);
    let queue = queue::at(&[(ap, "queue"), (cell, "ap_queue")])?;
    Some(Cell {
        phy: Phy {
            kind: preset.kind,
            slot: own.duration("slot").unwrap_or(preset.slot),
            sifs: own.duration("sifs").unwrap_or(preset.sifs),
            preamble: own.duration("preamble").unwrap_or(preset.preamble),
            eifs_rate_bps: own.rate("eifs_rate").unwrap_or(preset.eifs_rate_bps),
        },
        mac_header_bytes: own.size("mac_header")?,
        llc_bytes: own.size("llc")?,
        rts_threshold_bytes: own.size("rts_threshold"),
        ack_timeout: own.duration("ack_timeout"),
        countdown: match cell.entry("countdown")?.word()? {
            "edca" => CountdownRule::Edca,
            _ => CountdownRule::Dcf,
        },
        cf_end: cell.entry("cf_end")?.flag()?,
        ap: node(&[ap, cell], preset, queue)?,
        rate_control: match cell.entry("rate_control")?.word()? {
            "arf" => RateControl::Arf,
            _ => RateControl::Fixed,
        },
        vbs_classes: Vec::new(),
        ap_queue_order: match ap.entry("queue_order")?.word()? {
            "mixed" => QueueOrder::Mixed,
            _ => QueueOrder::Fifo,
        },
    })
}

fn node(tables: &[&Section], preset: &Preset, queue: QueueSetting) -> Option<Node> {
    let layers = Layers(tables);
    let access = |category| access::access(tables, preset, category);
    Some(Node {
        control_rate_bps: layers
            .rate("control_rate")
            .unwrap_or(preset.control_rate_bps),
        best_effort: access(Category::BestEffort),
        background: access(Category::Background),
        video: access(Category::Video),
        voice: access(Category::Voice),
        attempts_short: layers.count("attempts_short")?,
        attempts_long: layers.count("attempts_long")?,
        queue,
    })
}

fn wire(wire: &Section) -> Option<Wire> {
    let own = Layers(&[wire]);
    Some(Wire {
        rate_bps: own.rate("rate"),
        delay: own.duration("delay")?,
        queue: queue::at(&[(wire, "queue")])?,
        loss: wire.entry("loss")?.probability()?,
    })
}

fn record(record: &Section) -> Option<Record> {
    let frames = record.entry("frames")?.count()?;
    Some(Record {
        series_interval: Layers(&[record]).duration("series_interval"),
        utilisation_bin: Layers(&[record]).duration("utilisation_bin"),
        frames: (frames > 0).then_some(frames),
    })
}

fn station(station: &Section, cell: &Section, group: &str, preset: &Preset) -> Option<Station> {
    let ap = cell.table("ap")?;
    let tables = [station, cell];
    let layers = Layers(&tables);
    let rate_bps = layers.rate("rate").unwrap_or(preset.rate_bps);
    let downlink = Layers(&[station]).rate("downlink_rate");
    let queue = queue::at(&[(station, "queue"), (cell, "queue")])?;
    Some(Station {
        name: group.to_owned(),
        group: group.to_owned(),
        rate_bps,
        downlink_rate_bps: downlink.or(Layers(&[ap]).rate("rate")).unwrap_or(rate_bps),
        node: node(&tables, preset, queue)?,
        channel: channel::channel(&[station])?,
        channel_changes: channel::changes(station)?,
    })
}

/// The flows of one station of a table, named without the station, stagger not applied.
fn station_flows(
    root: &Section,
    station: &Section,
    links: &[LinkSettings],
    problems: &mut Problems,
) -> Option<Vec<Flow>> {
    let mut flows = Vec::new();
    let mut flow = |name, table, direction, transport| {
        let cell = root.table("cell")?;
        let (out, home) = network::beyond_the_wire(cell, table, links, problems)?;
        let (forward, back) = match direction {
            Direction::Up => (out, home),
            Direction::Down => (home, out),
        };
        Some(Flow {
            forward,
            back,
            ..flow(name, table, direction, transport)?
        })
    };
    for (key, direction) in [("upload", Direction::Up), ("download", Direction::Down)] {
        let Some(table) = station.table(key) else {
            continue;
        };
        let name = if direction == Direction::Up {
            "up"
        } else {
            "down"
        };
        let layers = Layers(&[table, station.table("tcp")?, root.table("tcp")?]);
        let transport = Transport::Tcp(tcp(layers)?);
        for k in 1..=table.entry("connections")?.count()? {
            flows.push(flow(format!("{name}/{k}"), table, direction, transport)?);
        }
    }
    for (key, direction) in [("udp_up", Direction::Up), ("udp_down", Direction::Down)] {
        let Some(table) = station.table(key) else {
            continue;
        };
        let name = if direction == Direction::Up {
            "udp-up"
        } else {
            "udp-down"
        };
        let transport = Transport::Udp(udp(Layers(&[table, root.table("udp")?]))?);
        flows.push(flow(format!("{name}/1"), table, direction, transport)?);
    }
    for (key, direction) in [
        ("sensor_up", Direction::Up),
        ("sensor_down", Direction::Down),
    ] {
        let Some(table) = station.table(key) else {
            continue;
        };
        let transport = match table.entry("transport")?.word()? {
            "tcp" => Transport::Tcp(TcpSettings {
                mss_bytes: table.entry("size")?.size()?,
                ..tcp(Layers(&[station.table("tcp")?, root.table("tcp")?]))?
            }),
            _ => Transport::Udp(UdpSettings {
                payload_bytes: table.entry("size")?.size()?,
                ..udp(Layers(&[root.table("udp")?]))?
            }),
        };
        let name = format!("{}/1", key.replace('_', "-"));
        flows.push(Flow {
            reports: Some(reports(table, top_duration(root)?)?),
            ..flow(name, table, direction, transport)?
        });
    }
    Some(flows)
}

fn top_duration(root: &Section) -> Option<Span> {
    Layers(&[root]).duration("duration")
}

fn reports(table: &Section, duration: Span) -> Option<ReportSettings> {
    let own = Layers(&[table]);
    let default_deadline = Span(duration.0 / 10).min(LONGEST_DEFAULT_DEADLINE);
    Some(ReportSettings {
        arrivals: match table.entry("arrivals")?.word()? {
            "constant" => Arrivals::Constant,
            _ => Arrivals::Poisson,
        },
        every: own.duration("every")?,
        deadline: own.duration("deadline").unwrap_or(default_deadline),
    })
}

fn flow(name: String, table: &Section, direction: Direction, transport: Transport) -> Option<Flow> {
    let own = Layers(&[table]);
    Some(Flow {
        category: category(table.entry("category")?.word()?),
        start: own.duration("start")?,
        stop: own.duration("stop"),
        ..Flow::of_station(name, 0, direction, transport)
    })
}

fn category(name: &str) -> Category {
    let named = |category: &Category| category.name() == name;
    let found = Category::ALL.into_iter().find(named);
    found.unwrap_or(Category::BestEffort) // a test proves that the grammar names no other
}

pub(super) fn tcp(layers: Layers) -> Option<TcpSettings> {
    Some(TcpSettings {
        congestion: congestion(layers.entry("congestion")?.word()?),
        compound: compound(layers),
        hystart: layers.entry("hystart")?.flag()?,
        ecn: layers.entry("ecn")?.flag()?,
        sack: layers.entry("sack")?.flag()?,
        prr: layers.entry("prr")?.flag()?,
        window_packets: layers.count("window")?,
        initial_cwnd_packets: layers.count("initial_window")?,
        delayed_ack: layers.entry("delayed_ack")?.flag()?,
        ack_delay: layers.duration("ack_delay")?,
        ack_processing: layers.duration("ack_processing")?,
        mss_bytes: layers.size("mss")?,
        header_bytes: layers.size("header")?,
        min_rto: layers.duration("min_rto")?,
        initial_rto: layers.duration("initial_rto")?,
        segments: layers.entry("segments").and_then(Entry::count),
    })
}

fn congestion(name: &str) -> CongestionControl {
    let named = |control: &CongestionControl| control.name() == name;
    let found = CongestionControl::ALL.into_iter().find(named);
    found.unwrap_or(CongestionControl::NewReno) // a test proves that the grammar names no other
}

/// Each parameter from the nearest table that gives it.
fn compound(layers: Layers) -> CompoundSettings {
    let tables: Vec<&Section> = layers
        .0
        .iter()
        .filter_map(|s| s.table("compound"))
        .collect();
    let number = |key: &str, published: f64| {
        let entry = Layers(&tables).entry(key);
        let given = entry.and_then(|entry| entry.number().or(entry.probability()));
        given.unwrap_or(published)
    };
    let published = CompoundSettings::PUBLISHED;
    CompoundSettings {
        alpha: number("alpha", published.alpha),
        beta: number("beta", published.beta),
        k: number("k", published.k),
        gamma: number("gamma", published.gamma),
        zeta: number("zeta", published.zeta),
    }
}

pub(super) fn udp(layers: Layers) -> Option<UdpSettings> {
    let rate = layers.entry("rate");
    let greedy = rate.is_some_and(|entry| entry.word() == Some("greedy"));
    let arrivals = match layers.entry("arrivals").and_then(Entry::word) {
        _ if greedy => Arrivals::Greedy,
        Some("greedy") => Arrivals::Greedy,
        Some("poisson") => Arrivals::Poisson,
        _ => Arrivals::Constant,
    };
    Some(UdpSettings {
        arrivals,
        rate_bps: rate.and_then(Entry::rate).unwrap_or(0),
        payload_bytes: layers.size("packet")?,
        header_bytes: layers.size("header")?,
    })
}

pub(super) fn web(table: &Section, tcp: TcpSettings) -> Option<WebSettings> {
    let own = Layers(&[table]);
    Some(WebSettings {
        tcp,
        connections_per_s: table.entry("connections")?.number()?,
        arrivals: match table.entry("arrivals")?.word()? {
            "poisson" => WebArrivals::Poisson,
            "constant" => WebArrivals::Constant,
            _ => WebArrivals::Packmime,
        },
        request_bytes: own.size("request"),
        response_bytes: own.size("response"),
        server_delay: own.duration("server_delay"),
    })
}

/// Delays the k-th flow by k times the stagger; each must begin before its stop and the end.
fn stagger(root: &Section, scenario: &mut Scenario, problems: &mut Problems) -> Option<()> {
    let stagger = root.entry("stagger")?;
    let step = stagger.duration()?;
    for (k, flow) in scenario.flows.iter_mut().enumerate() {
        let unstaggered = flow.start;
        let delay = step.0.saturating_mul(k as u64);
        flow.start = Span(unstaggered.0.saturating_add(delay));
        let end = flow
            .stop
            .unwrap_or(scenario.duration)
            .min(scenario.duration);
        if flow.start < end {
            continue;
        }
        let message = format!(
            "flow `{}` would start at {}; allowed is before its end at {}",
            flow.name,
            units::show(flow.start.0, TIME),
            units::show(end.0, TIME)
        );
        let blamed = if unstaggered < end {
            stagger
        } else {
            start_of(root, &scenario.stations, flow)?
        };
        problems.add(blamed.origin, &blamed.path, message);
        return None;
    }
    Some(())
}

/// The start of a flow in the file.
fn start_of<'a>(root: &'a Section, stations: &[Station], flow: &Flow) -> Option<&'a Entry> {
    let Ends::Station { station, direction } = flow.ends else {
        let (_, own) = root
            .named("flow")
            .iter()
            .find(|(name, _)| *name == flow.class)?;
        return own.entry("start");
    };
    let key = match (direction, flow.transport) {
        (Direction::Up, _) if flow.reports.is_some() => "sensor_up",
        (Direction::Down, _) if flow.reports.is_some() => "sensor_down",
        (Direction::Up, Transport::Tcp(_)) => "upload",
        (Direction::Down, Transport::Tcp(_)) => "download",
        (Direction::Up, Transport::Udp(_)) => "udp_up",
        (Direction::Down, Transport::Udp(_)) => "udp_down",
        (_, Transport::Web(_)) => return None, // between wired nodes only
    };
    let group = &stations[station].group;
    let (_, station) = root
        .named("station")
        .iter()
        .find(|(name, _)| name == group)?;
    station.table(key)?.entry("start")
}

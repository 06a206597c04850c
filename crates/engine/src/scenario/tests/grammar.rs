//! Tests that the grammar is consistent with itself, with the decoder and with the JSON Schema.

use serde_json::Value;

use super::super::model::CongestionAlgorithm;
use super::super::root::Root;
use super::super::schema;
use super::toml;
use crate::notation::problem::Origin;
use crate::notation::setting::FileTable;
use crate::notation::table::{Default, Key, Kind, Table};
use crate::notation::tree::{Data, Item};
use crate::notation::value::check;
use crate::queue::DISCIPLINES;

/// A scenario with all four kinds of flows, long enough for the values of `sample`.
const FULL: &str = r#"
duration = "100 s"
wire.rate = "9 Mbps"
cell = { phy = "802.11b", node = "a" }
programs.a = "true"
link = { near = { from = "a", to = "c", delay = "1 ms" }, far = { from = "c", to = "b" } }
[station.a]
upload = { server = "c" }
download = 1
udp_up = "2 Mbps"
udp_down = "3 Mbps"
sensor_up = "1 s"
sensor_down = "1 s"
ping = "200 ms"
"#;

/// Networks for the tests of all keys. Each key has an effect in at least one of these networks.
const NETWORKS: [&str; 15] = [
    r#"
duration = "100 s"
cell = { phy = "802.11b" }
vsb = {}
[station.a]
upload = 1
power_save = "100 ms"
"#,
    r#"
duration = "100 s"
cell = { phy = "802.11b" }
vsb.group.a.stations = "a"
[station.a]
upload = 1
[station.b]
upload = 1
"#,
    r#"
duration = "100 s"
cell = { phy = "802.11b" }
[station.a]
upload = 1
[station.b]
error = 0.5
upload = 1
download = 1
"#,
    r#"
duration = "100 s"
csma = { connections = "utility", aqm = false, r_max = 1, link = { a = {}, b = { conflicts = ["c"] }, c = { conflicts = ["a"] } } }
flow.a.route = ["a", "c"]
"#,
    r#"
duration = "100 s"
flow.a.route = ["a"]
[csma]
access = "legacy"
node = { a = { x = "4 m" }, b = { x = "3 m" }, c = { x = "4 m", y = "4 m" } }
link = { a = { from = "a", to = "c" } }
"#,
    r#"
duration = "100 s"
csma = { access = "dcf", link = { a = {} } }
flow.a.route = ["a"]
"#,
    r#"
duration = "100 s"
csma = { link = { a = {} } }
flow.a.route = ["a"]
"#,
    r#"
duration = "100 s"
stagger = "1 ms"
dumbbell = { bottleneck = "5 Mbps", flows = 3, access = "1 Mbps", access_spread = 0.5, rtt = "1 s" }
[flow.a]
count = 2
[flow.b]
segments = 9
"#,
    r#"
duration = "100 s"
parking_lot = { bottleneck = "5 Mbps", flows = 3, cross = 2, access = "1 Mbps" }
[flow.a]
udp = "2 Mbps"
"#,
    r#"
duration = "100 s"
[link.a]
from = "x"
to = "y"
rate = "1 Mbps"
[link.z]
from = "x"
to = "b"
[link.zz]
from = "y"
to = "b"
[flow.a]
from = "x"
to = "y"
access = "1 Mbps"
count = 2
"#,
    r#"
duration = "100 s"
cell = { phy = "802.11b" }
wire.delay = "1 ms"
[station.a]
download = 1
[link.a]
from = "x"
to = "y"
delay = "1 ms"
[flow.a]
from = "x"
to = "y"
"#,
    r#"
duration = "100 s"
[cell]
phy = "802.11ax"
width = "20 MHz"
mcs = 5
guard_interval = "0.8 us"
[station.a]
download = 1
"#,
    r#"
duration = "100 s"
dumbbell = { bottleneck = { trace = [9] }, flows = 1 }
"#,
    r#"
duration = "100 s"
parking_lot = { bottleneck = { trace = [9] }, flows = 1 }
"#,
    r#"
duration = "100 s"
dumbbell = { bottleneck = "5 Mbps" }
flow.a.web = { connections = 5 }
"#,
];

/// Calls `visit` with every key below `table` and the key's path in [`FULL`].
fn each_key(table: &'static Table, path: &str, visit: &mut dyn FnMut(&str, &'static Key)) {
    for (key, _) in table.keys() {
        let path = format!("{path}{}", key.name);
        visit(&path, key);
        if let Kind::Tables(inner) = key.kind {
            let name = if inner.is_named { ".a." } else { "." };
            each_key((inner.table)(), &format!("{path}{name}"), visit);
        }
    }
}

/// Returns an accepted value of the key in [`FULL`] that differs from the key's default.
fn sample(path: &str, key: &Key) -> Option<&'static str> {
    if is_of_shaper(path, key) && (path.starts_with("cell") || path.starts_with("station")) {
        return None; // in a cell, CAKE has no shaper
    }
    Some(match key.kind {
        // the flow must last until pings count
        _ if path == "station.a.ping.stop" => "80 s",
        Kind::Title => "another title",
        Kind::Name => "b",
        Kind::Flag => match key.default {
            _ if key.name == "bar_after_failure" => "true",
            Default::Flag(true) => "false",
            Default::Depends(_)
                if matches!(key.name, "ecn" | "l4s" | "pacing" | "rack" | "suspension") =>
            {
                "true"
            }
            Default::Depends(_) => "false", // the default is true, as in ns-2, so the sample is false
            _ => "true",
        },
        Kind::Count(_) if path == "format" => return None, // only one format is accepted
        Kind::Count(_) if key.accepted.is_some() => "3",
        Kind::Count(_) => match key.name {
            "cwmin" | "mcs" => "3",
            "streams" => "2",
            "hz" => "250",
            _ => "40",
        },
        Kind::Number(_) if matches!(key.name, "speed_up" | "coupling") => "1.25",
        Kind::Number(_) if path.ends_with("pi.b") => "0.00001", // b must be less than a
        Kind::Probability | Kind::Number(_) => "0.25",
        Kind::Level(_) => "9 dB",
        Kind::Duration(_) if key.name == "beacon_interval" => "51.2 ms",
        Kind::Duration(_) if path.contains(".ping.") => "7 ms",
        Kind::Duration(_) if path == "station.a.stream.chunk" => "2 s",
        Kind::Duration(_) if path == "station.a.stream.buffer" => "20 s",
        Kind::Duration(_) => match key.name {
            "duration" => "90 s",
            "txop_limit" | "update" | "threshold" | "aql_high" => "9 ms",
            "high" | "timeout" => "0.9 s",
            "interval" => "70 ms",
            "guard_interval" => "1.6 us",
            "ltf" => "3.2 us",
            "packet_padding" => "8 us",
            _ => "0.7 ms",
        },
        Kind::Rate if key.name == "increase" => "4 kbps",
        Kind::Rate => "4 Mbps",
        Kind::Listed(_) => "1 Mbps",
        Kind::Size(_) if key.name == "amsdu" => "3839 B",
        Kind::Size(_) if key.name == "memory" => "50 kB",
        Kind::Size(_) => "50 B",
        Kind::Length(_) if key.name == "sensing_range" => "900 m",
        Kind::Length(_) => "5 m",
        Kind::Names => "[\"b\"]",
        Kind::Rates => "[\"1 Mbps\", \"2 Mbps\"]",
        Kind::Times => "[1, 2, 2]",
        Kind::TimesFile => return None, // the test passes no files, so a file of times cannot be set
        Kind::Commands => "ping server",
        Kind::Points(_) => "[[1, 2], [3, 1.5]]",
        Kind::Choice(_) => match key.name {
            "phy" if path.starts_with("station") => "802.11a",
            "phy" => "802.11g-long",
            "band" => "2.4 GHz",
            "width" => "40 MHz",
            "coding" => "bcc",
            "durations" => "ns-3",
            "eifs" => "ack",
            "edca" => "hostapd",
            "congestion" => "tahoe",
            "queue_order" => "mixed",
            "countdown" => "edca",
            "collider_wait" => "eifs",
            "form" => "published",
            "category" => "video",
            "fairness" => "flow",
            "rate_control" => "arf",
            "share_of" => "service",
            "scheduler" => "time_shifted_fifo",
            "algorithm" => "regulated",
            "by" => "direction",
            "direction" | "udp" => "down",
            "arrivals" => match key.default {
                Default::Text("poisson") => "constant",
                _ => "poisson",
            },
            "transport" => match key.default {
                Default::Text("udp") => "tcp",
                _ => "udp",
            },
            "access" => "adaptive",
            "connections" => "one",
            "backoff" | "transmission" => "uniform",
            "acks" => "contend",
            "queue_unit" => "bytes",
            "rounding" => "nearest",
            "rule" => "paper",
            "after_idle" => "linux",
            "adaptation" => "buffer",
            "isolation" => "flows",
            "diffserv" => "besteffort",
            "ack_filter" => "aggressive",
            "link_layer" => "atm",
            "dscp" => "EF",
            _ => "poisson",
        },
        Kind::Formed(_) if path.ends_with("group.a.stations") => "b",
        Kind::Formed(_) => panic!("{path} has a form of its own"),
        Kind::Tables(_) => return None,
    })
}

/// Returns whether the key at `path` belongs to the shaper of CAKE.
fn is_of_shaper(path: &str, key: &Key) -> bool {
    path.contains(".cake.")
        && matches!(
            key.name,
            "bandwidth" | "overhead" | "mpu" | "link_layer" | "ingress"
        )
}

/// Returns the settings, with their values, without which the key at `path` has no effect.
fn needed(path: &str, key: &Key) -> Vec<(String, &'static str)> {
    let on = |other| (path.replace(key.name, other), "true");
    match key.name {
        "prr" | "rack" => vec![on("sack")],
        "undo" => vec![on("sack"), on("rack")],
        "tso" => vec![on("pacing")],
        "abe" => vec![on("ecn")],
        "every" | "on" | "off" | "arrivals" if is_of_connections(path) => {
            let table = path.strip_suffix(key.name).unwrap_or(path);
            let with = |other, value| (format!("{table}{other}"), value);
            match key.name {
                "every" => vec![with("size", "50 B")],
                _ => vec![with("on", "9 ms"), with("off", "9 ms")],
            }
        }
        _ => needed_one(path, key).into_iter().collect(),
    }
}

/// Returns whether the key at `path` is in a table of TCP connections.
fn is_of_connections(path: &str) -> bool {
    let parts: Vec<&str> = path.split('.').collect();
    matches!(
        parts[..],
        ["station", _, "upload" | "download", _] | ["flow", _, _]
    )
}

fn needed_one(path: &str, key: &Key) -> Option<(String, &'static str)> {
    if key.name == "collider_wait" {
        return Some((path.replace("collider_wait", "ack_timeout"), "250 us"));
    }
    if let Some((station, _)) = path.split_once("channel.a.") {
        let change = "{ a = { at = \"1 s\", error = 0 } }";
        return Some((format!("{station}channel"), change));
    }
    if let Some((estimator, "increase" | "decrease" | "speed_up" | "back_off")) =
        path.split_once("wce.")
    {
        return Some((format!("{estimator}wce.rule"), "paper"));
    }
    for control in ["bbr", "bbr3", "compound", "cubic_linux"] {
        if path.contains(&format!("{control}.")) {
            return Some(("tcp.congestion".to_owned(), control));
        }
    }
    let neighbour = |other: &str, value| Some((path.replace(key.name, other), value));
    if is_of_shaper(path, key) && key.name != "bandwidth" {
        return neighbour("bandwidth", "5 Mbps");
    }
    match key.name {
        "ce_threshold_l4s" => return neighbour("ce_threshold", "1 ms"),
        "time_shift" => return neighbour("scheduler", "time_shifted_fifo"),
        "l4s" => return Some(("tcp.congestion".to_owned(), "dctcp")),
        "virtual_rtt" | "transition" => return Some(("tcp.congestion".to_owned(), "prague")),
        _ => {}
    }
    if let Some((station, _)) = path.split_once("pings.a.") {
        let change = "{ a = { at = \"1 s\", ping_loss = 0 } }";
        return Some((format!("{station}pings"), change));
    }
    DISCIPLINES.iter().find_map(|name| {
        let (queue, _) = path.split_once(&format!("queue.{name}."))?;
        let given = match *name {
            "vbs" if path.contains(".class.a.") => "{ class = { a = { share = 0.1 } } }",
            "vbs" => "{ by = \"group\" }",
            "red" => "{ min_th = 0.1, max_th = 100 }",
            "proportional" => "{ slope = 0.001 }",
            _ => "{}",
        };
        Some((format!("{queue}queue.{name}"), given))
    })
}

#[test]
fn every_key_changes_the_scenario() {
    let bases: Vec<&str> = [FULL].into_iter().chain(NETWORKS).collect();
    for base in &bases {
        assert!(toml(base, &[]).is_ok(), "{:?}", toml(base, &[]).err());
    }
    let mut keys = 0;
    each_key(Root::table(), "", &mut |path, key| {
        let Some(value) = sample(path, key) else {
            return;
        };
        let changes = bases.iter().any(|base| {
            let mut required = needed(path, key);
            if path.starts_with("station.a.web.") && key.name != "connections" {
                required.push(("station.a.web.connections".to_owned(), "1"));
            }
            let mut given: Vec<_> = required.iter().map(|(at, given)| (at.as_str(), *given)).collect();
            let before = toml(base, &given);
            given.push((path, value));
            let after = toml(base, &given);
            matches!((before, after), (Ok(before), Ok(after)) if before.to_json() != after.to_json())
        });
        assert!(changes, "{path} = {value} has no effect");
        keys += 1;
    });
    assert!(keys > 90, "{keys} keys visited");
}

/// The normalised scenario identifies a run, so it must contain every key of a flow over a conflict
/// graph.
#[test]
fn every_key_of_a_flow_over_a_conflict_graph_changes_the_scenario() {
    let network = "duration = \"100 s\"\ncsma = { connections = \"one\", link = { a = {} } }\n";
    for (flow, tables, least) in [
        ("flow.a.route = [\"a\"]", ["flow.a.", "tcp."], 40),
        (
            "flow.a = { route = [\"a\"], udp = \"1 Mbps\" }",
            ["flow.a.udp.", "udp."],
            4,
        ),
    ] {
        let base = format!("{network}{flow}");
        let mut changed = 0;
        each_key(Root::table(), "", &mut |path, key| {
            let is_of_flow = tables.iter().any(|table| path.starts_with(table));
            let Some(value) = sample(path, key).filter(|_| is_of_flow) else {
                return;
            };
            let required = needed(path, key);
            let mut given: Vec<_> = required
                .iter()
                .map(|(at, given)| (at.as_str(), *given))
                .collect();
            let before = toml(&base, &given);
            given.push((path, value));
            if let (Ok(before), Ok(after)) = (before, toml(&base, &given)) {
                assert_ne!(before.to_json(), after.to_json(), "{path} = {value}");
                changed += 1;
            }
        });
        assert!(changed >= least, "{flow}: {changed} keys");
    }
}

#[test]
fn every_congestion_control_of_the_grammar_has_its_name_in_the_model() {
    for congestion in CongestionAlgorithm::ALL {
        let name = congestion.name();
        let scenario = toml(FULL, &[("tcp.congestion", name)]).unwrap();
        assert_eq!(scenario.to_json()["flows"][0]["tcp"]["congestion"], name);
    }
    let Some(Key {
        kind: Kind::Choice(words),
        ..
    }) = Root::table().key("tcp").and_then(|key| match key.kind {
        Kind::Tables(inner) => (inner.table)().key("congestion"),
        _ => None,
    })
    else {
        panic!("tcp.congestion is a choice");
    };
    assert_eq!(words.len(), CongestionAlgorithm::ALL.len());
}

#[test]
fn parameters_of_compound_come_from_the_nearest_table_that_gives_them() {
    let settings = [
        ("tcp.congestion", "compound"),
        ("tcp.compound.alpha", "0.25"),
        ("tcp.compound.gamma", "20"),
        ("station.a.tcp.compound.gamma", "10"),
        ("station.a.download.compound.gamma", "5"),
    ];
    let flows = &toml(FULL, &settings).unwrap().to_json()["flows"];
    let of = |flow: usize, key: &str| flows[flow]["tcp"]["compound"][key].clone();
    assert_eq!((of(0, "alpha"), of(1, "alpha")), (0.25.into(), 0.25.into()));
    assert_eq!(
        (of(0, "gamma_packets"), of(1, "gamma_packets")),
        (10.0.into(), 5.0.into())
    );
    assert_eq!(of(0, "zeta"), 0.5);
}

#[test]
fn every_default_is_a_value_of_its_kind() {
    each_key(Root::table(), "", &mut |path, key| {
        for is_modern in [false, true] {
            check_default(path, key, key.default.of_network(is_modern));
        }
    });
}

/// Checks that the default of a key is a value of the key's kind.
fn check_default(path: &str, key: &Key, default: Default) {
    let kind = match &key.kind {
        Kind::Tables(inner) if inner.bare.is_some() && !inner.is_named => {
            &inner.bare_key().unwrap().kind
        }
        kind => kind,
    };
    let data = match default {
        Default::Text(text) => Data::Text(text.to_owned()),
        Default::Count(count) => match kind {
            Kind::Count(range) => {
                assert!(range.contains(&count), "{path}");
                return;
            }
            _ => panic!("{path} is not a count"),
        },
        Default::Flag(flag) => Data::Flag(flag),
        Default::ByPreset(values) => {
            assert!(values().contains("802.11g "), "{path}");
            return;
        }
        Default::Number(number) => match kind {
            Kind::Number(range) => {
                assert!(range.contains(&number), "{path}");
                return;
            }
            Kind::Probability => {
                assert!((0.0..1.0).contains(&number), "{path}");
                return;
            }
            _ => panic!("{path} is not a number"),
        },
        Default::Required
        | Default::Checked
        | Default::Depends(_)
        | Default::ByNetwork(_)
        | Default::Absent(_) => {
            return;
        }
    };
    let origin = Origin::File;
    assert!(check(&Item { origin, data }, key, None).is_ok(), "{path}");
}

/// Returns the schema of the key at `path`, with references resolved.
fn schema_at<'s>(root: &'s Value, path: &str) -> Option<&'s Value> {
    let follow = |schema: &'s Value| match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')),
        None => Some(schema),
    };
    let mut schema = root;
    for name in path.split('.') {
        let table = match schema.get("oneOf") {
            Some(choices) => follow(&choices[1])?,
            None => follow(schema)?,
        };
        schema = match table.get("properties") {
            Some(properties) => properties.get(name)?,
            None => table.get("additionalProperties")?,
        };
    }
    Some(schema)
}

#[test]
fn the_schema_describes_every_key() {
    let schema = schema();
    each_key(Root::table(), "", &mut |path, key| {
        let described = schema_at(&schema, path).unwrap_or_else(|| panic!("{path} is missing"));
        let description = described["description"].as_str().unwrap_or_default();
        assert!(description.starts_with(key.doc), "{path}: {description}");
        let says_default = described.get("default").is_some()
            || description.contains("Default: ")
            || key.default.is_needed();
        assert!(says_default, "{path} says nothing of its default");
    });
}

#[test]
fn the_schema_is_closed_and_names_its_dialect() {
    let schema = schema();
    assert_eq!(
        schema["$schema"],
        "https://json-schema.org/draft/2020-12/schema"
    );
    let definitions = schema["$defs"].as_object().unwrap();
    for (name, table) in definitions.iter().chain([(&"root".to_owned(), &schema)]) {
        // only tables of connections, pages and streams have groups, whose names the file chooses
        let groups = serde_json::json!({"$ref": format!("#/$defs/{name}")});
        let expected = match name.as_str() {
            "connections" | "station_web" | "station_stream" => groups,
            _ => false.into(),
        };
        assert_eq!(table["additionalProperties"], expected, "{name}");
    }
}

//! Tests that compare the tables with the decoder and with the JSON schema.

use lasthop_engine::notation::setting::FileTable;
use lasthop_engine::notation::table::{Default, Key, Kind, Table};

use super::{complaints, gateway_with};
use crate::gateway::settings::GatewayTable;
use crate::{EXTENSION, Gateway};

/// A gateway file in which most keys can be set to the values of [`sample`].
const FULL: &str = r#"
duration = "100 s"
dumbbell = { bottleneck = "5 Mbps", flows = 1 }
[gateway]
wan = "eth0"
lan = "eth1"
wce = { low = "0.5 ms", threshold = "0.6 ms", high = "0.8 ms", timeout = "1 s" }
discover.leases = "/a"
[gateway.ap.a]
snmp = { agent = "192.0.2.1" }
[gateway.ap.b]
interface = "eth2"
[gateway.station.a]
address = "192.0.2.2"
"#;

/// A gateway file with groups, which require `fairness = "station"`.
const GROUPS: &str = r#"
[gateway]
wan = "eth0"
lan = "eth1"
[gateway.station.a]
address = "192.0.2.2"
[gateway.group.a]
stations = "02:00:5e:10:00:02"
[gateway.group.b]
stations = "02:00:5e:10:00:03"
"#;

/// Values that are accepted in [`FULL`] and differ from the defaults, keyed by the end of the path.
/// Other keys get a value that depends on the type of the key.
const SAMPLES: &[(&str, &str)] = &[
    ("wan", "wan0"),
    ("lan", "lan0"),
    ("interface", "wlan0"),
    ("address", "192.0.2.9, 2001:db8::9"),
    ("subnets", "192.0.2.0/24"),
    ("mac", "02:00:5e:10:00:01"),
    ("leases", "/leases"),
    ("agent", "192.0.2.3:1161"),
    ("community", "private"),
    ("table", "1.3.6.1"),
    ("rates", "1.3.6.2"),
    ("station_rates", "iw:wlan0, hostapd:/run/hostapd/wlan0"),
    ("metrics", "off"),
    ("discipline", "sfq"),
    ("fairness", "rate"),
    ("udp", "down"),
    ("flow_leaves", "9"),
    ("discover.interval", "3 s"),
    ("absence", "9 s"),
    ("quarantine", "7 s"),
    ("ignore", "192.0.2.4"),
    ("neighbours", "true"),
    ("wce.rule", "paper"),
    ("wce.interval", "40 ms"),
    ("wce.low", "0.55 ms"),
    ("wce.threshold", "0.7 ms"),
    ("wce.high", "0.9 ms"),
    ("wce.timeout", "30 ms"),
    ("speed_up", "1.5"),
    ("wce.increase", "100 kbps"),
    ("station.a.ap", "b"),
    ("station.a.group", "b"),
    ("group.a.stations", "192.0.2.0/24"),
];

/// Returns every key of the gateway with its path in [`FULL`].
fn keys() -> Vec<(String, &'static Key)> {
    let mut keys = Vec::new();
    collect(GatewayTable::table(), "gateway", &mut keys);
    keys
}

fn collect(table: &'static Table, path: &str, keys: &mut Vec<(String, &'static Key)>) {
    for (key, _) in table.keys() {
        let path = format!("{path}.{}", key.name);
        if let Kind::Tables(inner) = key.kind {
            let name = if inner.is_named { ".a" } else { "" };
            collect((inner.table)(), &format!("{path}{name}"), keys);
        }
        keys.push((path, key));
    }
}

fn sample(path: &str, key: &Key) -> Option<&'static str> {
    let own = |(end, _): &&(&str, &str)| {
        let rest = path.strip_suffix(end);
        rest.is_some_and(|rest| rest.ends_with('.'))
    };
    if let Some((_, value)) = SAMPLES.iter().find(own) {
        return Some(value);
    }
    match key.kind {
        Kind::Tables(_) => None,
        Kind::Count(_) => Some("40"),
        Kind::Number(_) => Some("0.25"),
        Kind::Rate => Some("4 Mbps"),
        _ => panic!("{path} has no sample"),
    }
}

fn with(path: &str, settings: &[(&str, &str)]) -> Result<Gateway, String> {
    let base = if path.contains("group") { GROUPS } else { FULL };
    let owned = |(path, value): &(&str, &str)| ((*path).to_owned(), (*value).to_owned());
    let settings: Vec<_> = settings.iter().map(owned).collect();
    gateway_with(base, "x.toml", &settings).map_err(|problems| complaints::<()>(Err(problems)))
}

/// Returns the settings (with values) without which the key at `path` has no effect.
fn needed(path: &str) -> Vec<(&str, &str)> {
    let steps = ["increase", "decrease", "speed_up", "back_off"];
    if steps
        .iter()
        .any(|step| path.ends_with(&format!("wce.{step}")))
    {
        return vec![("gateway.wce.rule", "paper")];
    }
    let by_rate = ("gateway.ap.a.fairness", "rate");
    match path {
        "gateway.flow_leaves" => vec![("gateway.fairness", "flow")],
        "gateway.udp_uplink" => vec![("gateway.udp", "down")],
        "gateway.station.a.rate" => vec![("gateway.fairness", "rate")],
        "gateway.ap.a.station_rates" | "gateway.ap.a.snmp.rates" => vec![by_rate],
        "gateway.ap.a.snmp.rates_unit" => vec![by_rate, ("gateway.ap.a.snmp.rates", "1.3.6.2")],
        _ => Vec::new(),
    }
}

#[test]
fn every_key_changes_the_gateway() {
    let mut changed = 0;
    for (path, key) in keys() {
        let Some(value) = sample(&path, key) else {
            continue;
        };
        let needed = needed(&path);
        let before = with(&path, &needed).unwrap();
        let after = with(&path, &[needed, vec![(path.as_str(), value)]].concat());
        let after = after.unwrap_or_else(|message| panic!("{path} = {value}: {message}"));
        assert_ne!(before.to_json(), after.to_json(), "{path} = {value}");
        changed += 1;
    }
    assert!(changed > 40, "{changed} keys");
}

#[test]
fn every_default_is_a_value_of_its_kind() {
    for (path, key) in keys() {
        let default = match key.default {
            Default::Text(text) => text.to_owned(),
            Default::Count(count) => count.to_string(),
            Default::Number(number) => number.to_string(),
            Default::Flag(flag) => flag.to_string(),
            Default::Required
            | Default::Checked
            | Default::ByPreset(_)
            | Default::ByNetwork(_)
            | Default::Depends(_)
            | Default::Absent(_) => {
                continue;
            }
        };
        // a default may conflict with other values of FULL; such a problem is reported for the table, so no message may
        // name the key itself
        let own = (path.as_str(), default.as_str());
        let settings: Vec<_> = needed(&path).into_iter().chain([own]).collect();
        let message = with(&path, &settings).err().unwrap_or_default();
        assert!(!message.contains(&format!("`{path}`: ")), "{message}");
    }
}

#[test]
fn the_schema_describes_every_key() {
    let schema = EXTENSION.schema();
    let properties = |name: &str| schema["$defs"][name]["properties"].clone();
    let defined = [
        "gateway",
        "wce",
        "discover",
        "gateway.ap",
        "gateway.ap.wce",
        "snmp",
        "gateway.station",
        "gateway.group",
    ];
    for (path, key) in keys() {
        let described = defined.iter().any(|name| {
            let description = &properties(name)[key.name]["description"];
            description
                .as_str()
                .is_some_and(|description| description.starts_with(key.doc))
        });
        assert!(described, "{path}");
    }
    assert_eq!(
        schema["properties"]["gateway"]["description"],
        "Settings of `lasthop gateway`, which enforces fairness on Linux. Simulations ignore them. \
         Default: no gateway."
    );
}

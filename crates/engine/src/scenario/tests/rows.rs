//! Tests that consecutive ranges of a long list, joined together, are equal to the list of
//! `to_json`, and that the list has the order on which its readers rely.

use serde_json::Value;

use super::super::{LongList, Scenario};
use super::examples::{CSMA_WIRES, HOTSPOT};
use super::toml;

/// A wired network whose hosts have links of their own, with bulk TCP, datagrams and web traffic. A
/// separate link and a station with sensor reports are added.
const NETWORK: &str = r#"
duration = "9 s"
cell = { phy = "802.11b", node = "left" }
parking_lot = { hops = 2, flows = 3, cross = 2, bottleneck = "9 Mbps", rtt = "80 ms", access = "20 Mbps" }
link.aside = { from = "left", to = "r0", rate = "10 Mbps", queue = { limit = 50, codel = {} } }
flow.call = { udp = "64 kbps", count = 2 }
flow.small = { mss = "500 B" }
flow.more = {}
flow.web.web = { connections = 5 }
station.meter = { sensor_up = { every = "2 s" }, download = 2 }
"#;

/// Asserts that ranges of three items, joined together, are equal to the lists of `to_json`.
pub(super) fn assert_rows_are_whole(scenario: &Scenario) {
    let (complete, head) = (scenario.to_json(), scenario.head_to_json());
    for list in LongList::ALL {
        assert_eq!(rows(scenario, list), complete[list.name()]);
        assert_eq!(head[list.name()], Value::Null);
    }
    let keys = |tree: &Value| -> Vec<String> {
        let keys = tree.as_object().expect("a tree").keys();
        keys.cloned().collect()
    };
    assert_eq!(keys(&head), keys(&complete));
}

/// Returns a long list that is read in ranges of three items.
fn rows(scenario: &Scenario, list: LongList) -> Value {
    let count = scenario.count_of(list);
    let pieces = (0..count).step_by(3).map(|first| {
        let mut piece = scenario.rows_to_json(list, first..count.min(first + 3));
        let shared = piece["shared"].take();
        let mut rows = piece["rows"].take();
        for row in rows.as_array_mut().expect("a list of rows") {
            for (key, tables) in shared.as_object().expect("tables by key") {
                if let Some(index) = row.get(key).and_then(Value::as_u64) {
                    row[key] = tables[index as usize].clone();
                }
            }
        }
        rows
    });
    pieces
        .flat_map(|mut rows| std::mem::take(rows.as_array_mut().expect("a list of rows")))
        .collect()
}

#[test]
fn stretches_make_up_the_whole() {
    for text in [NETWORK, HOTSPOT, CSMA_WIRES] {
        let scenario = toml(text, &[]).unwrap();
        assert_rows_are_whole(&scenario);
        assert_eq!(scenario.to_json_text(), scenario.to_json().to_string());
    }
}

#[test]
fn a_table_that_rows_in_succession_have_is_there_once() {
    let scenario = toml(NETWORK, &[]).unwrap();
    let piece = scenario.rows_to_json(LongList::Flows, 0..scenario.flows.len());
    let count = |key: &str| piece["shared"][key].as_array().map(Vec::len);
    // three TCP tables: one for the flows of stations and topology, one for the flow with its own
    // settings, and one for the flows after this flow
    assert_eq!(count("tcp"), Some(3));
    assert_eq!((count("udp"), count("sensor")), (Some(1), Some(1)));
}

/// A reader that needs only the links of routers can stop at the first link of a host.
#[test]
fn links_of_routers_stand_before_those_of_hosts() {
    let scenario = toml(NETWORK, &[]).unwrap();
    let of_host: Vec<bool> = scenario.links.iter().map(|link| link.of_host).collect();
    assert!(of_host.is_sorted());
    assert_eq!(of_host.iter().filter(|&&of_host| !of_host).count(), 6);
}

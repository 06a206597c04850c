//! What is enforced on Linux: the tables `[gateway]` and `[interface]` of a scenario's file.
//!
//! ```text
//! text --engine's notation--> Section --checks--> assemble --> Tables --to_json--> `lasthop gateway`, `lasthop queue`
//! ```
//!
//! The file may describe a scenario too. The engine reads that, and knows nothing of these tables.
#![doc(html_no_source)]

mod forms;
mod gateway;
mod interface;

pub use gateway::{
    AccessPoint, Discovery, Fairness, Gateway, GatewayStation, Group, LeafQueue, ShapedUdp, Snmp,
};
pub use interface::{Interface, Members};

use gateway::GatewayTable;
use interface::InterfaceTable;
use lasthop_engine::notation::setting::{Json, KeyOf, inner};
use lasthop_engine::scenario::{ExtensionTable, Files, Format, Needed, Problem, Scenario};

const GATEWAY: KeyOf<GatewayTable> = KeyOf::new("gateway");
const INTERFACE: KeyOf<InterfaceTable> = KeyOf::new("interface");

/// What a file has enforced.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// A shared bottleneck in front of access points.
    pub gateway: Option<Gateway>,
    /// The queue of an interface.
    pub interface: Option<Interface>,
}

static EXTENSION: ExtensionTable<Tables> = ExtensionTable::new(
    || {
        let gateway = "Settings of `lasthop gateway`, which enforces fairness on Linux. Simulations ignore them.";
        let interface = "Settings of `lasthop queue`, which gives a network interface on Linux a queue. Simulations ignore them.";
        vec![
            inner().absent("no gateway").key(GATEWAY, gateway),
            inner().absent("no interface").key(INTERFACE, interface),
        ]
    },
    |root, problems| {
        if let Some(gateway) = root.inside(GATEWAY) {
            gateway::check(gateway, problems);
        }
        if let Some(interface) = root.inside(INTERFACE) {
            interface::check(interface, problems);
        }
    },
    |context, problems| {
        let gateway = context.root.inside(GATEWAY);
        let interface = context.root.inside(INTERFACE);
        Ok(Tables {
            gateway: match gateway {
                Some(table) => Some(gateway::assemble(table, context)?),
                None => None,
            },
            interface: match interface {
                Some(table) => Some(interface::assemble(table, context, problems)?),
                None => None,
            },
        })
    },
);

/// The scenario that a file and the settings over it describe, and what it has enforced; `files` are those that it
/// names.
///
/// # Errors
/// All that is wrong with either.
pub fn parse_scenario(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
    files: &Files,
) -> Result<(Scenario, Tables), Vec<Problem>> {
    EXTENSION.parse_with_scenario(bytes, format, source, settings, files)
}

/// The gateway that a file describes, which need not say what to simulate; if it does, that is checked
/// too.
///
/// # Errors
/// All that is wrong with the file.
pub fn parse_gateway(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
    files: &Files,
) -> Result<Gateway, Vec<Problem>> {
    let needed = Needed {
        key: GATEWAY.name(),
        what: "a table [gateway] with at least wan and lan",
    };
    let tables = EXTENSION.parse(needed, bytes, format, source, settings, files)?;
    Ok(tables
        .gateway
        .unwrap_or_else(|| unreachable!("it is needed")))
}

/// The interface that a file describes, which need not say what to simulate; if it does, that is checked
/// too.
///
/// # Errors
/// All that is wrong with the file.
pub fn parse_interface(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
    files: &Files,
) -> Result<Interface, Vec<Problem>> {
    let needed = Needed {
        key: INTERFACE.name(),
        what: "a table [interface] with at least name",
    };
    let tables = EXTENSION.parse(needed, bytes, format, source, settings, files)?;
    Ok(tables
        .interface
        .unwrap_or_else(|| unreachable!("it is needed")))
}

/// JSON Schema (2020-12) of the scenario file with these tables.
pub fn schema() -> Json {
    EXTENSION.schema()
}

/// The text of `to_json`, byte for byte, sooner.
pub fn to_json_text(scenario: &Scenario, tables: &Tables) -> String {
    if tables.gateway.is_none() && tables.interface.is_none() {
        return scenario.to_json_text();
    }
    to_json(scenario, tables).to_string()
}

/// The normalised scenario, with what it has enforced behind what is recorded.
pub fn to_json(scenario: &Scenario, tables: &Tables) -> Json {
    with_tables(scenario.to_json(), tables)
}

/// The same with null in the place of its long lists.
pub fn head_to_json(scenario: &Scenario, tables: &Tables) -> Json {
    with_tables(scenario.head_to_json(), tables)
}

fn with_tables(mut json: Json, tables: &Tables) -> Json {
    if let Json::Object(keys) = &mut json {
        let record = keys.keys().position(|key| key == "record");
        let mut behind = record.map_or(keys.len(), |at| at + 1);
        let gateway = tables.gateway.as_ref().map(Gateway::to_json);
        let interface = tables.interface.as_ref().map(Interface::to_json);
        for (name, table) in [(GATEWAY.name(), gateway), (INTERFACE.name(), interface)] {
            if let Some(table) = table {
                keys.shift_insert(behind, name.to_owned(), table);
                behind += 1;
            }
        }
    }
    json
}

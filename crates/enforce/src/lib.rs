//! The tables `[gateway]` and `[interface]` of a scenario file, whose settings lasthop applies to a Linux machine.
//!
//! ```text
//! text --engine's notation--> Section --checks--> assemble --> Tables --to_json--> `lasthop gateway`, `lasthop queue`
//! ```
//!
//! The file may also describe a scenario. The engine reads the scenario and ignores these tables.
#![doc(html_no_source)]

mod forms;
mod gateway;
mod interface;

pub use forms::RateSource;
pub use gateway::{
    AccessPoint, Discovery, Endpoint, Fairness, Gateway, GatewayStation, Group, LeafQueue,
    ShapedUdp, Snmp,
};
pub use interface::{Interface, Members};

use gateway::GatewayTable;
use interface::InterfaceTable;
use lasthop_engine::notation::setting::{Json, KeyOf, inner};
use lasthop_engine::scenario::{ExtensionTable, Needed, Scenario};

const GATEWAY: KeyOf<GatewayTable> = KeyOf::new("gateway");
const INTERFACE: KeyOf<InterfaceTable> = KeyOf::new("interface");

/// Error if a command needs a gateway and the file has none.
pub const NEEDS_GATEWAY: Needed = Needed {
    key: GATEWAY.name(),
    what: "a table [gateway] with at least wan and lan",
};

/// Error if a command needs an interface and the file has none.
pub const NEEDS_INTERFACE: Needed = Needed {
    key: INTERFACE.name(),
    what: "a table [interface] with at least name",
};

/// The tables of this crate in a scenario file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tables {
    /// The table `[gateway]`, if the file has it: a shared bottleneck in front of access points.
    pub gateway: Option<Gateway>,
    /// The table `[interface]`, if the file has it: the queue of a network interface.
    pub interface: Option<Interface>,
}

impl Tables {
    /// Returns each table as JSON, with its key.
    pub fn to_json(&self) -> impl Iterator<Item = (&'static str, Json)> {
        let gateway = self.gateway.as_ref().map(Gateway::to_json);
        let interface = self.interface.as_ref().map(Interface::to_json);
        let tables = [(GATEWAY.name(), gateway), (INTERFACE.name(), interface)];
        tables
            .into_iter()
            .filter_map(|(key, table)| Some((key, table?)))
    }
}

/// The root tables with which this crate extends scenario files.
pub static EXTENSION: ExtensionTable<Tables> = ExtensionTable::new(
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
        let mut assemble = |table| interface::assemble(table, context, problems);
        Ok(Tables {
            gateway: gateway
                .map(|table| gateway::assemble(table, context))
                .transpose()?,
            interface: interface.map(&mut assemble).transpose()?,
        })
    },
);

/// Returns the text of the JSON of [`to_json`]. Does not build the JSON if the file has neither table.
pub fn to_json_text(scenario: &Scenario, tables: &Tables) -> String {
    if *tables == Tables::default() {
        return scenario.to_json_text();
    }
    to_json(scenario, tables).to_string()
}

/// Returns the normalised scenario as JSON, with the tables of this crate after the table `record`.
pub fn to_json(scenario: &Scenario, tables: &Tables) -> Json {
    with_tables(scenario.to_json(), tables)
}

/// Returns the normalised scenario as JSON, with null in place of its long lists.
pub fn head_to_json(scenario: &Scenario, tables: &Tables) -> Json {
    with_tables(scenario.head_to_json(), tables)
}

fn with_tables(mut json: Json, tables: &Tables) -> Json {
    if let Json::Object(keys) = &mut json {
        let record = keys.keys().position(|key| key == "record");
        let first = record.map_or(keys.len(), |at| at + 1);
        for (place, (name, table)) in (first..).zip(tables.to_json()) {
            keys.shift_insert(place, name.to_owned(), table);
        }
    }
    json
}

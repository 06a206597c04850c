//! Settings of the Linux gateway: the table `[gateway]` of a scenario's file.
//!
//! ```text
//! text --engine's notation--> Section --checks--> assemble --> Gateway --to_json--> `lasthop gateway`
//! ```
//!
//! The file may describe a scenario too. The engine reads that, and knows nothing of this table.
#![doc(html_no_source)]

mod assemble;
mod checks;
mod effect;
mod forms;
mod gateway;
mod settings;

#[cfg(test)]
mod tests;

pub use gateway::{AccessPoint, Discovery, Gateway, GatewayStation, Snmp};
pub use settings::{Fairness, LeafQueue, ShapedUdp};

use lasthop_engine::notation::setting::{Json, KeyOf, inner};
use lasthop_engine::scenario::{Companion, Files, Format, Problem, Scenario};
use settings::GatewayTable;

/// The table at the root of the file.
const GATEWAY: KeyOf<GatewayTable> = KeyOf::new("gateway");

static COMPANION: Companion<Gateway> = Companion::new(
    || {
        let doc = "How `lasthop gateway` enforces fairness on Linux; simulations do not read it.";
        inner().absent("no gateway").key(GATEWAY, doc)
    },
    "a table [gateway] with at least wan and lan",
    checks::check,
    assemble::assemble,
);

/// The scenario that a file and the settings over it describe, and its gateway if it has one; `files` are
/// those that it names.
///
/// # Errors
/// All that is wrong with either.
pub fn parse_scenario(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
    files: &Files,
) -> Result<(Scenario, Option<Gateway>), Vec<Problem>> {
    COMPANION.parse_beside(bytes, format, source, settings, files)
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
    COMPANION.parse(bytes, format, source, settings, files)
}

/// JSON Schema (2020-12) of the scenario file with its gateway.
pub fn schema() -> Json {
    COMPANION.schema()
}

/// The normalised scenario, with its gateway behind what is recorded.
pub fn to_json(scenario: &Scenario, gateway: Option<&Gateway>) -> Json {
    let mut json = scenario.to_json();
    if let (Json::Object(keys), Some(gateway)) = (&mut json, gateway) {
        let record = keys.keys().position(|key| key == "record");
        let behind = record.map_or(keys.len(), |at| at + 1);
        keys.shift_insert(behind, GATEWAY.name().to_owned(), gateway.to_json());
    }
    json
}

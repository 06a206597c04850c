//! From TOML or JSON text to a checked [`Scenario`].
//!
//! ```text
//! text --read_toml/read_json--> Item --settings--> Item --decode--> Section --checks--> assemble --> Scenario
//! ```
//!
//! The tree keeps the line of every key, so that each problem names its place. `grammar` is the
//! one table of keys behind the decoder, the messages and [`schema`].

mod assemble;
mod checks;
mod csma;
mod flows;
mod forms;
mod gateway;
mod gateway_table;
mod idle;
mod model;
mod network;
mod normalised;
mod opportunities;
mod record;
mod root;
mod routes;
mod stations;
mod vbs;
mod wired;

#[cfg(test)]
mod tests;

pub use crate::notation::problem::{Problem, WHOLE_FILE};
pub use crate::notation::{Format, LARGEST_FILE};
pub use gateway::{AccessPoint, Discovery, Fairness, Gateway, GatewayStation, LeafQueue, Snmp};
pub use model::*;

use crate::notation::problem::{Origin, Problems, one_line};
use crate::notation::read;
use crate::notation::setting::{FileTable, Words};
use crate::notation::table::{Added, Grammar, NOTHING_ADDED};
use crate::notation::tree::{Data, Item};

/// What is said of a file with nothing in it.
const NEEDED: &str = "allowed is a scenario with at least a duration and flows: stations with a cell, or wired links";

/// A scenario.
static GRAMMAR: Grammar<'static> = Grammar {
    root: root::Root::table,
    reserved_name: stations::AP_NAME,
    preset,
    added: &NOTHING_ADDED,
};

/// A gateway, with or without a scenario.
static GATEWAY_GRAMMAR: Grammar<'static> = Grammar {
    root: root::GatewayRoot::table,
    reserved_name: stations::AP_NAME,
    preset,
    added: &NOTHING_ADDED,
};

/// The physical layer of a file, if it is one.
fn preset(root: &Item) -> Option<&'static str> {
    match &root.get("cell")?.get("phy")?.data {
        Data::Text(name) => PhyKind::WORDS.iter().copied().find(|word| word == name),
        _ => None,
    }
}

/// JSON Schema (2020-12) of the scenario file, in TOML or JSON, shorthands included.
pub fn schema() -> serde_json::Value {
    // a file for a gateway need not say what to simulate
    crate::notation::schema::schema(&GRAMMAR, "lasthop scenario", &["duration", "gateway"])
}

/// The tables in which settings of TCP stand, each with where it inherits them from.
pub(crate) fn tables_of_tcp() -> [(&'static str, Option<&'static str>); 4] {
    [
        (TcpSettings::table().name, None),
        (flows::StationTcp::table().name, Some("tcp")),
        (flows::Connections::table().name, Some("the station's tcp")),
        (wired::FlowTable::table().name, Some("tcp")),
    ]
}

/// The scenario that `text` and the settings over it describe, or every problem found.
///
/// `source` is the name of the file in messages; `settings` are pairs of key path and value
/// (`--set cell.ap.cwmin=15`), applied in order before anything is checked.
pub fn parse(
    text: &str,
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_bytes(text.as_bytes(), format, source, settings)
}

/// The same from the bytes of a file, which may be too many or not text at all.
pub fn parse_bytes(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_with(&NOTHING_ADDED, bytes, format, source, settings)
}

/// The same with what parts from outside add to the tables.
pub(crate) fn parse_with(
    added: &Added,
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    let mut problems = Problems::new(source, settings);
    let alone = csma::leave_alone;
    let grammar = &Grammar { added, ..GRAMMAR };
    let Some(file) = read(
        bytes,
        format,
        grammar,
        NEEDED,
        settings,
        alone,
        &mut problems,
    ) else {
        return Err(problems.into_vec());
    };
    checks::check(&file, &mut problems);
    gateway::check(&file, &mut problems);
    if !problems.is_empty() {
        return Err(problems.into_vec());
    }
    let scenario = assemble::assemble(&file, &default_name(source), &mut problems);
    problems.conclude(scenario)
}

/// The gateway that a file describes, or every problem found. A file that says what to simulate is
/// checked as a scenario too; one that does not is refused by [`parse_bytes`] alone.
pub fn parse_gateway(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Gateway, Vec<Problem>> {
    let mut problems = Problems::new(source, settings);
    let alone = csma::leave_alone;
    let grammar = &GATEWAY_GRAMMAR;
    let Some(file) = read(
        bytes,
        format,
        grammar,
        NEEDED,
        settings,
        alone,
        &mut problems,
    ) else {
        return Err(problems.into_vec());
    };
    let simulated = file.said(root::Root::duration).is_some();
    if simulated {
        checks::check(&file, &mut problems);
    }
    gateway::check(&file, &mut problems);
    if file.inside(root::RootKeys::gateway).is_none() && !problems.concern("gateway") {
        let message = "missing; needed is a table [gateway] with at least wan and lan";
        problems.add(Origin::File, "gateway", message.to_owned());
    }
    if !problems.is_empty() {
        return Err(problems.into_vec());
    }
    let name = default_name(source);
    let stations = match simulated {
        true => assemble::assemble(&file, &name, &mut problems).map(|scenario| scenario.stations),
        false => Ok(Vec::new()),
    };
    let gateway = stations.and_then(|stations| gateway::assemble(&file, &name, &stations));
    problems.conclude(gateway)
}

/// The name of a scenario that gives none: its file's, without folder and ending.
fn default_name(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" || stem.starts_with('<') {
        "scenario".to_owned()
    } else {
        one_line(stem, 100)
    }
}

//! From TOML or JSON text to a checked [`Scenario`].
//!
//! ```text
//! text --read_toml/read_json--> Item --settings--> Item --decode--> Section --checks--> assemble --> Scenario
//! ```
//!
//! The tree has the line of every key, so that each problem has its place. Each part defines its keys once,
//! and `root` combines them: decoder, messages and [`schema`] follow from it. Another crate may add its own
//! tables at the root, an [`ExtensionTable`].

mod assemble;
mod checks;
mod csma;
mod extension_table;
mod file;
mod flow_keys;
mod flow_tables;
mod flows;
mod greedy;
mod idle;
mod model;
mod motion;
mod network;
mod normalised;
mod opportunities;
mod programs;
mod reach;
mod record;
mod root;
mod routes;
mod rows;
mod shapes;
mod sharing;
mod stations;
mod tcp_defaults;
mod wired;

#[cfg(test)]
mod tests;

pub use crate::notation::problem::{Problem, WHOLE_FILE};
pub use crate::notation::times::Files;
pub use crate::notation::{Format, LARGEST_FILE};
pub use extension_table::{Context, ExtensionTable, Needed};
pub use model::*;
pub use motion::{Changeable, Reader};
pub use root::FORMAT;
pub use rows::LongList;

use std::sync::LazyLock;

use crate::notation::setting::FileTable;
use crate::notation::table::{Added, NOTHING_ADDED, Table};
use crate::notation::times::NO_FILES;
use crate::notation::{self, File, schema};

/// The root of a scenario without extensions.
static ROOT: LazyLock<Table> = LazyLock::new(|| Table {
    elsewhere: extension_table::ELSEWHERE,
    ..root::Root::table().clone()
});

/// Returns the JSON Schema (2020-12) of the scenario file, in TOML or JSON, with shorthands. It has no
/// extension tables: see [`ExtensionTable::schema`].
pub fn schema() -> serde_json::Value {
    let grammar = file::grammar(&ROOT, &NOTHING_ADDED, &NO_FILES);
    schema::schema(&grammar, file::TITLE, &["duration"])
}

/// Returns the tables with settings of TCP, each with the table that it inherits from.
pub(crate) fn tables_of_tcp() -> [(&'static str, Option<&'static str>); 4] {
    let connections = flow_keys::Connections::table().name;
    [
        (TcpSettings::table().name, None),
        (flow_keys::StationTcp::table().name, Some("tcp")),
        (connections, Some("the station's table tcp")),
        (wired::FlowTable::table().name, Some("tcp")),
    ]
}

/// Returns the scenario that `text` and the settings over it describe, or every problem found.
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

/// Returns the scenario of the bytes of a file, which may be too many or not text at all. An extension table
/// is refused, and so is the name of a file: see [`ExtensionTable::parse_with_scenario`].
pub fn parse_bytes(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_with(&NOTHING_ADDED, bytes, format, source, settings)
}

/// Returns the scenario of the bytes of a file, with keys and words that plugins add to the tables.
pub(crate) fn parse_with(
    added: &Added,
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    let grammar = file::grammar(&ROOT, added, &NO_FILES);
    let file = File {
        bytes,
        format,
        source,
        settings,
    };
    file::parse(&grammar, &file, |root, problems| {
        checks::check(root, problems);
        problems.so_far()?;
        assemble::assemble(root, source, problems)
    })
}

/// Returns the units that values may have, each with its SI unit as a suffix of names, such as `bps`, and its
/// size in that unit, as numerator and denominator.
pub fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    notation::units::in_si().collect()
}

/// Returns the names of files that a scenario needs in addition to its text, in its order.
pub fn files_named(bytes: &[u8], format: Format, settings: &[(String, String)]) -> Vec<String> {
    let grammar = file::grammar(&ROOT, &NOTHING_ADDED, &NO_FILES);
    let file = File {
        bytes,
        format,
        source: "",
        settings,
    };
    notation::files_named(&file, &grammar)
}

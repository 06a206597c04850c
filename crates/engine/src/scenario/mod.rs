//! Reads TOML or JSON text into a checked [`Scenario`].
//!
//! ```text
//! text --read_toml/read_json--> Item --settings--> Item --decode--> Section --checks--> assemble --> Scenario
//! ```
//!
//! The tree contains the line of every key, so that each problem is reported with its line. Each
//! module defines its keys once, and `root` combines them. The decoder, the messages and the
//! [`schema`] use these definitions. Another crate may add root tables with an [`ExtensionTable`].

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
mod pings;
mod programs;
mod reach;
mod record;
mod root;
mod routes;
mod rows;
mod shaped;
mod shapes;
mod sharing;
mod stations;
mod tcp_defaults;
mod viewing;
mod wired;
mod writes;

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

/// Root table of a scenario without extensions.
static ROOT: LazyLock<Table> = LazyLock::new(|| Table {
    elsewhere: extension_table::ELSEWHERE,
    ..root::Root::table().clone()
});

/// Returns the JSON Schema (2020-12) of scenario files in TOML or JSON. The schema accepts bare
/// values in place of tables, but no extension tables: see [`ExtensionTable::schema`]. Without the
/// feature `docs`, the schema has no complete descriptions.
pub fn schema() -> serde_json::Value {
    let grammar = file::grammar(&ROOT, &NOTHING_ADDED, &NO_FILES);
    schema::schema(&grammar, file::TITLE, &["duration"])
}

/// Returns the names of the tables with TCP settings. With each name, returns the name of the table
/// from which it inherits absent keys.
pub(crate) fn tables_of_tcp() -> [(&'static str, Option<&'static str>); 4] {
    let connections = flow_keys::Connections::table().name;
    [
        (TcpSettings::table().name, None),
        (flow_keys::StationTcp::table().name, Some("tcp")),
        (connections, Some("the station's table tcp")),
        (wired::FlowTable::table().name, Some("tcp")),
    ]
}

/// Returns the scenario that `text` and the overrides `settings` describe, or all problems.
///
/// `source` is the name of the file in messages; `settings` are pairs of key path and value (`--set
/// cell.ap.cwmin=15`), which are applied in order before all checks.
pub fn parse(
    text: &str,
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_bytes(text.as_bytes(), format, source, settings)
}

/// Returns the scenario in the content of a file, or all problems. Content that is too large or not
/// text is reported as a problem. Extension tables and names of other files are refused: see
/// [`ExtensionTable::parse_with_scenario`].
pub fn parse_bytes(
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
) -> Result<Scenario, Vec<Problem>> {
    parse_with(&NOTHING_ADDED, bytes, format, source, settings)
}

/// Returns the scenario in the content of a file. `added` contains keys and words of plugins, which
/// the file may use.
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
        viewing::check(root, problems);
        problems.so_far()?;
        assemble::assemble(root, source, problems)
    })
}

/// Returns the units of values in files. With each unit, returns the suffix of its SI unit in
/// names, such as `bps`, and its size in the SI unit as numerator and denominator.
pub fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    notation::units::in_si().collect()
}

/// Returns the names of the other files, such as traces, that a scenario file refers to, in the
/// order of the text.
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

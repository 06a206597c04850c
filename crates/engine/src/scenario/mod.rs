//! From TOML or JSON text to a checked [`Scenario`].
//!
//! ```text
//! text --read_toml/read_json--> Item --settings--> Item --decode--> Section --checks--> assemble --> Scenario
//! ```
//!
//! The tree keeps the line of every key, so that each problem names its place. The parts say their
//! keys once, `root` puts them together: decoder, messages and [`schema`] are read off it. Another
//! crate may add a table of its own at the root, a [`Companion`].

mod assemble;
mod checks;
mod companion;
mod csma;
mod file;
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
mod sharing;
mod stations;
mod tcp_defaults;
mod wired;

#[cfg(test)]
mod tests;

pub use crate::notation::problem::{Problem, WHOLE_FILE};
pub use crate::notation::times::Files;
pub use crate::notation::{Format, LARGEST_FILE};
pub use companion::{Beside, Companion, Needed};
pub use model::*;
pub use motion::{Changeable, Reader};
pub use root::FORMAT;
pub use rows::LongList;
pub use tcp_defaults::TcpDefaults;

use std::sync::LazyLock;

use crate::notation::setting::FileTable;
use crate::notation::table::{Added, NOTHING_ADDED, Table};
use crate::notation::times::NO_FILES;
use crate::notation::{self, schema};

/// A scenario without companions.
static ALONE: LazyLock<Table> = LazyLock::new(|| Table {
    elsewhere: companion::ELSEWHERE,
    ..root::Root::table().clone()
});

/// JSON Schema (2020-12) of the scenario file, in TOML or JSON, shorthands included. It has no table of
/// a companion: see [`Companion::schema`].
pub fn schema() -> serde_json::Value {
    schema::schema(
        &file::grammar(&ALONE, &NOTHING_ADDED, &NO_FILES),
        file::TITLE,
        &["duration"],
    )
}

/// The tables in which settings of TCP stand, each with where it inherits them from.
pub(crate) fn tables_of_tcp() -> [(&'static str, Option<&'static str>); 4] {
    [
        (TcpSettings::table().name, None),
        (flows::StationTcp::table().name, Some("tcp")),
        (
            flows::Connections::table().name,
            Some("the station's table tcp"),
        ),
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

/// The same from the bytes of a file, which may be too many or not text at all. A table of a companion
/// is refused, and so is the name of a file: see [`Companion::parse_beside`].
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
    let grammar = file::grammar(&ALONE, added, &NO_FILES);
    file::parse(
        &grammar,
        bytes,
        format,
        source,
        settings,
        |root, problems| {
            checks::check(root, problems);
            problems.so_far()?;
            assemble::assemble(root, source, problems)
        },
    )
}

/// The units that values may have: each with its SI unit as it ends names, such as `bps`, and its size in
/// that, as numerator and denominator.
pub fn units() -> Vec<(&'static str, &'static str, u64, u64)> {
    notation::units::in_si().collect()
}

/// The names of files that a scenario needs beside its text, in its order.
pub fn files_named(bytes: &[u8], format: Format, settings: &[(String, String)]) -> Vec<String> {
    let grammar = file::grammar(&ALONE, &NOTHING_ADDED, &NO_FILES);
    notation::files_named(bytes, format, &grammar, settings)
}

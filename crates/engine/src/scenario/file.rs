//! How a scenario's file is read: its grammar, whatever tables stand at its root, and its name.

use super::{csma, stations};
use crate::mac::PhyKind;
use crate::notation::Format;
use crate::notation::decode::Section;
use crate::notation::problem::{Problems, Refused, one_line};
use crate::notation::setting::Words;
use crate::notation::table::{Added, Grammar, Table};
use crate::notation::tree::{Data, Item};

/// What is said of a file with nothing in it.
const NEEDED: &str = "allowed is a scenario with at least a duration and flows: stations with a cell, or wired links";

/// Title of the schema.
pub(super) const TITLE: &str = "lasthop scenario";

/// What a file with this `root` may hold, and what parts from outside add to it.
pub(super) fn grammar<'a>(root: &'static Table, added: &'a Added) -> Grammar<'a> {
    Grammar {
        root,
        reserved_name: stations::AP_NAME,
        preset,
        added,
    }
}

/// The physical layer of a file, if it is one.
fn preset(root: &Item) -> Option<&'static str> {
    match &root.get("cell")?.get("phy")?.data {
        Data::Text(name) => PhyKind::WORDS.iter().copied().find(|word| word == name),
        _ => None,
    }
}

/// What a file says.
///
/// # Errors
/// It cannot be read at all.
pub(super) fn read(
    bytes: &[u8],
    format: Format,
    grammar: &Grammar,
    settings: &[(String, String)],
    problems: &mut Problems,
) -> Result<Section, Refused> {
    let prepare = csma::leave_alone;
    crate::notation::read(bytes, format, grammar, NEEDED, settings, prepare, problems)
}

/// The name of a scenario that gives none: its file's, without folder and ending.
pub(super) fn default_name(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" || stem.starts_with('<') {
        "scenario".to_owned()
    } else {
        one_line(stem, 100)
    }
}

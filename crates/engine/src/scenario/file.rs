//! Reads a scenario file with a grammar, to which plugins and other crates may add keys.

use super::root::{FORMAT, Root, RootKeys};
use super::{csma, stations};
use crate::mac::{Phy, PhyKind};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problem, Problems, Refused, one_line};
use crate::notation::setting::{Words, keys};
use crate::notation::table::{Added, Grammar, Table};
use crate::notation::times::Files;
use crate::notation::tree::{Data, Item};
use crate::notation::{File, read};

/// Message for an empty file.
const NEEDED: &str =
    "expected a scenario with at least a duration and flows: stations with a cell, or wired links";

/// Title of the schema.
pub(super) const TITLE: &str = "lasthop scenario";

/// Returns the grammar of files with the root table `root`. `added` are the keys of plugins, and
/// `files` the files that the scenario names.
pub(super) fn grammar<'a>(root: &'static Table, added: &'a Added, files: &'a Files) -> Grammar<'a> {
    Grammar {
        root,
        reserved_name: stations::AP_NAME,
        preset,
        is_modern,
        added,
        files,
    }
}

/// Returns the name of the physical layer that a file sets; `None` if lasthop does not support it.
fn preset(root: &Item) -> Option<&'static str> {
    let name = root.get("cell")?.get("phy")?.text()?;
    PhyKind::WORDS.iter().copied().find(|word| *word == name)
}

/// Returns whether a file describes a modern network. A network is modern if it has a cell of
/// 802.11n, ac or ax, or if it has wired links and no cell. Topologies of a fixed shape and
/// networks with `csma` are not modern, because they use the defaults of their papers.
fn is_modern(root: &Item) -> bool {
    let has = |key: &str| root.get(key).is_some();
    let cell = || root.get(RootKeys::cell.name())?.get(Phy::kind.name());
    match cell().and_then(Item::text) {
        Some(name) => {
            let kind = PhyKind::ALL.into_iter().find(|kind| kind.name() == name);
            kind.is_some_and(|kind| kind.generation().is_some())
        }
        None => {
            let older = keys!(RootKeys: cell, dumbbell, parking_lot, csma);
            has(RootKeys::link.name()) && !older.into_iter().any(has)
        }
    }
}

/// Decodes a file and returns the result of `make` for its root table, or all problems.
pub(super) fn parse<T>(
    grammar: &Grammar,
    file: &File,
    make: impl FnOnce(&Section, &mut Problems) -> Result<T, Refused>,
) -> Result<T, Vec<Problem>> {
    let mut problems = Problems::new(file.source, file.settings);
    let prepare = |root: &mut Item, problems: &mut Problems| {
        refuse_newer(root, problems)?;
        csma::leave_alone(root, problems);
        Ok(())
    };
    let root = read(file, grammar, NEEDED, prepare, &mut problems);
    let made = root.and_then(|root| make(&root, &mut problems));
    problems.conclude(made)
}

/// Refuses a file whose format is newer than this version of lasthop. The other keys of the file
/// are not checked, because the format may define new keys.
fn refuse_newer(root: &Item, problems: &mut Problems) -> Result<(), Refused> {
    let key = RootKeys::format.name();
    if let Some(item) = root.get(key)
        && let Data::Number(number) = &item.data
        && number.integer > Some(i128::from(FORMAT))
    {
        let message = format!(
            "{} is a newer format than this version of lasthop supports; expected {FORMAT}; update \
             lasthop",
            item.show()
        );
        return Err(problems.add(item.origin, key, message));
    }
    Ok(())
}

/// Returns the title of a file.
///
/// # Errors
/// The title has been refused.
pub(super) fn name(root: &Section, source: &str) -> Result<String, Refused> {
    let title = Layers(&[root]).value(Root::name)?.flatten();
    Ok(title.unwrap_or_else(|| default_name(source)))
}

/// Returns the default name of a scenario: the name of its file without folder and extension.
fn default_name(source: &str) -> String {
    let file = source.rsplit(['/', '\\']).next().unwrap_or(source);
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    if stem.is_empty() || stem == "-" || stem.starts_with('<') {
        "scenario".to_owned()
    } else {
        one_line(stem, 100)
    }
}

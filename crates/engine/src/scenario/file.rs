//! How a scenario's file is read: its grammar, whatever tables stand at its root, and its name.

use super::root::{FORMAT, Root, RootKeys};
use super::{csma, stations};
use crate::mac::{Phy, PhyKind};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::{Problem, Problems, Refused, one_line};
use crate::notation::setting::Words;
use crate::notation::table::{Added, Grammar, Table};
use crate::notation::times::Files;
use crate::notation::tree::{Data, Item};
use crate::notation::{Format, read};

/// What is said of a file with nothing in it.
const NEEDED: &str =
    "expected a scenario with at least a duration and flows: stations with a cell, or wired links";

/// Title of the schema.
pub(super) const TITLE: &str = "lasthop scenario";

/// What a file with this `root` may hold, what parts from outside add to it, and the files that it names.
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

/// The physical layer of a file, if it is one.
fn preset(root: &Item) -> Option<&'static str> {
    match &root.get("cell")?.get("phy")?.data {
        Data::Text(name) => PhyKind::WORDS.iter().copied().find(|word| word == name),
        _ => None,
    }
}

/// Returns whether a file describes a modern network: a cell of 802.11n, ac or ax, or, without a cell, wired
/// links. Networks of a known shape and `csma` keep the defaults of the papers that they come from.
fn is_modern(root: &Item) -> bool {
    let has = |key: &str| root.get(key).is_some();
    let cell = || root.get(RootKeys::cell.name())?.get(Phy::kind.name());
    match cell().map(|phy| &phy.data) {
        Some(Data::Text(name)) => {
            let kind = PhyKind::ALL.into_iter().find(|kind| kind.name() == name);
            kind.is_some_and(|kind| kind.generation().is_some())
        }
        _ => {
            let older = [
                RootKeys::cell.name(),
                RootKeys::dumbbell.name(),
                RootKeys::parking_lot.name(),
                RootKeys::csma.name(),
            ];
            has(RootKeys::link.name()) && !older.into_iter().any(has)
        }
    }
}

/// What `make` makes of what a file says, or every problem found.
pub(super) fn parse<T>(
    grammar: &Grammar,
    bytes: &[u8],
    format: Format,
    source: &str,
    settings: &[(String, String)],
    make: impl FnOnce(&Section, &mut Problems) -> Result<T, Refused>,
) -> Result<T, Vec<Problem>> {
    let mut problems = Problems::new(source, settings);
    let prepare = |root: &mut Item, problems: &mut Problems| {
        refuse_newer(root, problems)?;
        csma::leave_alone(root, problems);
        Ok(())
    };
    let root = read(
        bytes,
        format,
        grammar,
        NEEDED,
        settings,
        prepare,
        &mut problems,
    );
    let made = root.and_then(|root| make(&root, &mut problems));
    problems.conclude(made)
}

/// Refuses a file of a newer format. Its other keys may be new as well, so they are not checked.
fn refuse_newer(root: &Item, problems: &mut Problems) -> Result<(), Refused> {
    let key = RootKeys::format.name();
    match root.get(key) {
        Some(item) if matches!(&item.data, Data::Number(number) if number.whole > Some(i128::from(FORMAT))) =>
        {
            let message = format!(
                "{} is a newer format than this version of lasthop supports; expected {FORMAT}; update \
                 lasthop",
                item.show()
            );
            Err(problems.add(item.origin, key, message))
        }
        _ => Ok(()),
    }
}

/// The title of a file.
///
/// # Errors
/// It has been refused.
pub(super) fn name(root: &Section, source: &str) -> Result<String, Refused> {
    let title = Layers(&[root]).value(Root::name)?.flatten();
    Ok(title.unwrap_or_else(|| default_name(source)))
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

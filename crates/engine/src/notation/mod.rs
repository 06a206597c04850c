//! The notation of files: TOML or JSON, values with units, tables of keys, and overrides of the
//! file.
//!
//! ```text
//! text --read--> Item --overrides--> Item --decode--> Section --(modules with settings)--> values
//! ```
//!
//! The tree contains the line of every key, so that each problem is reported with its line. A
//! module with settings declares their keys with [`table!`](crate::table). The [`table::Grammar`]
//! combines the keys of all modules.

pub(crate) mod changes;
pub mod decode;
mod elsewhere;
mod file_table;
pub mod forms;
mod key;
pub mod layers;
mod macros;
pub mod moving;
mod numbers;
mod overrides;
pub mod problem;
mod read_json;
mod read_toml;
pub(crate) mod schema;
pub mod setting;
mod spec;
pub mod table;
pub mod times;
pub(crate) mod tree;
mod unclosed;
pub(crate) mod units;
pub mod value;
mod values;

use self::decode::Section;
use self::problem::{Origin, Problems, Refused, WHOLE_FILE};
use self::table::Grammar;
use self::tree::Item;

/// The format of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON. JSON is read into the same kind of tree as TOML.
    Json,
}

/// Maximum size of a file. [bytes]
pub const LARGEST_FILE: usize = 1 << 20;

/// A scenario file before it is read.
#[derive(Clone, Copy)]
pub(crate) struct File<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) format: Format,
    /// Name of the file in messages.
    pub(crate) source: &'a str,
    /// Overrides: pairs of key path and value. The overrides are applied in order before the file
    /// is checked.
    pub(crate) settings: &'a [(String, String)],
}

/// Returns the decoded root table of the file. `prepare` may change the tree after the overrides
/// have been applied and before it is decoded. `needed` is the message for an empty file.
///
/// # Errors
/// If the file cannot be parsed.
pub(crate) fn read(
    file: &File,
    grammar: &Grammar,
    needed: &str,
    prepare: impl FnOnce(&mut Item, &mut Problems) -> Result<(), Refused>,
    problems: &mut Problems,
) -> Result<Section, Refused> {
    let text = text(file.bytes).map_err(|(at, message)| problems.add(at, WHOLE_FILE, message))?;
    let mut root = tree(text, file.format, needed, problems).ok_or_else(Refused::already)?;
    overrides::apply(&mut root, grammar, file.settings, problems);
    prepare(&mut root, problems)?;
    Ok(decode::decode(&root, grammar, problems))
}

/// Returns the names of the other files, such as traces, that a file refers to, in the order of the
/// text. Returns an empty list if the file cannot be read.
pub(crate) fn files_named(file: &File, grammar: &Grammar) -> Vec<String> {
    let mut problems = Problems::new(file.source, file.settings);
    let mut names = Vec::new();
    if let Ok(text) = text(file.bytes)
        && let Some(mut root) = tree(text, file.format, "", &mut problems)
    {
        overrides::apply(&mut root, grammar, file.settings, &mut problems);
        times::named(&root, &mut names);
    }
    names
}

/// Returns the bytes as text if they are small enough and valid text. Otherwise, returns the origin
/// and the message of the problem.
fn text(bytes: &[u8]) -> Result<&str, (Origin, String)> {
    let length = bytes.len();
    if length > LARGEST_FILE {
        let message = format!("more than {LARGEST_FILE} bytes, which is too large for a scenario");
        return Err((Origin::File, message));
    }
    let breaks = |offset: usize| bytes[..offset].iter().filter(|b| **b == b'\n').count();
    let no_text = |offset: usize, what: &str| {
        let message = format!("not text {what}; expected a scenario in TOML or JSON");
        (Origin::Line(1 + breaks(offset)), message)
    };
    if let Some(offset) = bytes.iter().position(|b| *b == 0) {
        return Err(no_text(offset, "(a NUL byte)"));
    }
    let text = std::str::from_utf8(bytes);
    let text = text.map_err(|error| no_text(error.valid_up_to(), "in UTF-8"))?;
    Ok(text.strip_prefix('\u{feff}').unwrap_or(text))
}

fn tree(text: &str, format: Format, needed: &str, problems: &mut Problems) -> Option<Item> {
    let comment_only = |line: &str| {
        let line = line.trim();
        line.is_empty() || (format == Format::Toml && line.starts_with('#'))
    };
    if text.lines().all(comment_only) {
        let message = format!("the file is empty; {needed}");
        problems.add(Origin::File, WHOLE_FILE, message);
        return None;
    }
    let root = match format {
        Format::Toml => read_toml::read(text, problems),
        Format::Json => read_json::read(text, problems),
    }?;
    if root.entries().is_none() {
        let message = format!("{} is not a table; {needed}", root.show());
        problems.add(Origin::File, WHOLE_FILE, message);
        return None;
    }
    Some(root)
}

//! How a file is written: TOML or JSON, values with units, tables of keys, settings over them.
//!
//! ```text
//! text --read--> Item --overrides--> Item --decode--> Section --(whoever has settings)--> values
//! ```
//!
//! The tree keeps the line of every key, so that each problem names its place. Whoever has settings
//! declares their keys with [`table!`](crate::table) and hands them in as a [`table::Grammar`].

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
use self::tree::{Data, Item};

/// How the text of a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// TOML 1.0.
    Toml,
    /// JSON with the same tree.
    Json,
}

/// Largest file that is read. [bytes]
pub const LARGEST_FILE: usize = 1 << 20;

/// What a file says, every key known and every value of its kind and in range. `settings` are pairs of key
/// path and value, applied in order before anything is checked; `prepare` sees the tree after that.
/// `needed` is the message for a file with nothing in it.
///
/// # Errors
/// It cannot be read at all.
pub(crate) fn read(
    bytes: &[u8],
    format: Format,
    grammar: &Grammar,
    needed: &str,
    settings: &[(String, String)],
    prepare: impl FnOnce(&mut Item, &mut Problems) -> Result<(), Refused>,
    problems: &mut Problems,
) -> Result<Section, Refused> {
    let text = text(bytes).map_err(|(at, message)| problems.add(at, WHOLE_FILE, message))?;
    let mut root = tree(text, format, needed, problems).ok_or_else(Refused::already)?;
    overrides::apply(&mut root, grammar, settings, problems);
    prepare(&mut root, problems)?;
    Ok(decode::decode(&root, grammar, problems))
}

/// Names of the files that a file needs, in its order; what cannot be read needs none.
pub(crate) fn files_named(
    bytes: &[u8],
    format: Format,
    grammar: &Grammar,
    settings: &[(String, String)],
) -> Vec<String> {
    let mut problems = Problems::new("", settings);
    let mut names = Vec::new();
    if let Ok(text) = text(bytes)
        && let Some(mut root) = tree(text, format, "", &mut problems)
    {
        overrides::apply(&mut root, grammar, settings, &mut problems);
        times::named(&root, &mut names);
    }
    names
}

/// The bytes as text, if they can be a file of ours at all; else where and why not.
fn text(bytes: &[u8]) -> Result<&str, (Origin, String)> {
    let length = bytes.len();
    if length > LARGEST_FILE {
        let message =
            format!("{length} bytes are too many for a scenario; expected at most {LARGEST_FILE}");
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
        problems.add(
            Origin::File,
            WHOLE_FILE,
            format!("the file is empty; {needed}"),
        );
        return None;
    }
    let root = match format {
        Format::Toml => read_toml::read(text, problems),
        Format::Json => read_json::read(text, problems),
    }?;
    if !matches!(root.data, Data::Table(_)) {
        let message = format!("{} is not a table; {needed}", root.show());
        problems.add(Origin::File, WHOLE_FILE, message);
        return None;
    }
    Some(root)
}

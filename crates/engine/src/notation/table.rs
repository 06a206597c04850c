//! The definition of the tables of a file: keys, kinds of value, defaults and ranges.
//!
//! The decoder, the schema and the messages use these definitions. Each module declares the keys of
//! its settings with [`table!`](crate::table), so this file defines no key.

use std::any::Any;
use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::forms::Form;
use super::times::Files;

/// Returns the length of the first phrase of a documentation. [bytes]
pub(super) const fn phrase_length(doc: &str) -> usize {
    let doc = doc.as_bytes();
    let mut length = 0;
    while length < doc.len() && !matches!(doc[length], b'.' | b',' | b';' | b':') {
        length += 1;
    }
    length
}

/// Returns the length of the part of a documentation that the definition of a table has. [bytes]
#[doc(hidden)]
pub const fn kept_length(doc: &str) -> usize {
    match cfg!(feature = "docs") {
        true => doc.len(),
        false => phrase_length(doc),
    }
}

/// Returns the first bytes of a documentation, as constants that need no other memory.
#[doc(hidden)]
pub const fn first_bytes<const N: usize>(doc: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes.copy_from_slice(doc.as_bytes().split_at(N).0);
    bytes
}

/// Returns a text that only documents; empty in an engine without the feature `docs`.
pub(crate) const fn documented(text: &'static str) -> &'static str {
    if cfg!(feature = "docs") { text } else { "" }
}

/// A table of a file.
#[derive(Clone)]
pub struct Table {
    /// Name of the table's definition in the schema.
    pub name: &'static str,
    /// Documentation of the table.
    pub doc: &'static str,
    /// Keys of the table, as lists of keys that several tables may share.
    pub parts: Cow<'static, [Part]>,
    /// Keys that users may wrongly expect in the table, each with a hint.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// Joins two lists of keys that a table does not have, each with its hint.
pub const fn joined<const N: usize>(
    first: &[(&'static str, &'static str)],
    second: &[(&'static str, &'static str)],
) -> [(&'static str, &'static str); N] {
    assert!(N == first.len() + second.len());
    let mut all = [("", ""); N];
    let mut at = 0;
    while at < N {
        all[at] = if at < first.len() {
            first[at]
        } else {
            second[at - first.len()]
        };
        at += 1;
    }
    all
}

/// Consecutive keys of a table. Several tables can share one `Part`; for example, four tables have
/// the TCP keys.
#[derive(Clone)]
pub struct Part {
    /// The keys.
    pub keys: Cow<'static, [Key]>,
    /// Name of the table in which absent keys of this part are looked up; `None` if absent keys
    /// have their defaults.
    pub inherits: Option<&'static str>,
}

/// A key of a table.
#[derive(Clone)]
pub struct Key {
    /// Name of the key in files.
    pub name: &'static str,
    /// Kind of the key's value.
    pub kind: Kind,
    /// A word that is accepted in place of a value; `None` if no word is accepted.
    pub word: Option<&'static str>,
    /// Accepted values, as a noun phrase that follows the word `expected`, if `kind` does not
    /// describe them completely.
    pub accepted: Option<&'static str>,
    /// Value if the key is absent.
    pub default: Default,
    /// Documentation of the key.
    pub doc: &'static str,
    /// Function that returns the hint for a word that the key does not accept.
    pub meant: Option<fn(&str) -> Option<String>>,
}

/// The value of an absent key.
#[derive(Clone, Copy)]
pub enum Default {
    /// The key must be given.
    Required,
    /// The key must be given, but the decoder does not report its absence. A later check of the
    /// table reports it.
    Checked,
    /// A text: a word, or a number with its unit.
    Text(&'static str),
    /// A whole number.
    Count(u64),
    /// A number.
    Number(f64),
    /// A truth value.
    Flag(bool),
    /// One of two values. The network that the file describes determines which value applies.
    ByNetwork(&'static ByNetwork),
    /// One value per preset (physical layer). The function returns a description of all these
    /// values.
    ByPreset(fn() -> String),
    /// A value that depends on other keys. The text describes the value.
    Depends(&'static str),
    /// No value. If the value of the key is a table, no table with defaults is created. The text
    /// describes the behaviour without the key.
    Absent(&'static str),
}

/// The defaults of a key for older and for modern networks, between which [`Grammar::is_modern`]
/// decides.
#[derive(Clone, Copy)]
pub struct ByNetwork {
    /// Default in older networks. This default also applies to a table that is read without the
    /// rest of its file.
    pub older: Default,
    /// Default in modern networks.
    pub modern: Default,
    /// Description of modern networks, as a phrase that follows the default in the documentation.
    pub networks: &'static str,
}

impl ByNetwork {
    /// Returns the description of both defaults for the documentation of a key.
    pub(crate) fn description(&self) -> String {
        let [modern, older] = [self.modern, self.older].map(Default::shown);
        format!("{modern} {}; otherwise {older}", self.networks)
    }
}

impl Default {
    /// Returns the default as text in the notation of a file; empty if the default is no value.
    fn shown(self) -> String {
        match self {
            Default::Text(text) => format!("\"{text}\""),
            Default::Count(count) => count.to_string(),
            Default::Number(number) => number.to_string(),
            Default::Flag(flag) => flag.to_string(),
            Default::Required
            | Default::Checked
            | Default::ByNetwork(_)
            | Default::ByPreset(_)
            | Default::Depends(_)
            | Default::Absent(_) => String::new(),
        }
    }

    /// Returns the default for a modern network, or for an older network.
    pub(crate) fn of_network(self, is_modern: bool) -> Default {
        match self {
            Default::ByNetwork(each) if is_modern => each.modern,
            Default::ByNetwork(each) => each.older,
            other => other,
        }
    }

    /// Returns whether the table must have the key.
    pub fn is_needed(self) -> bool {
        matches!(self, Default::Required | Default::Checked)
    }
}

/// Conversions of Rust values to defaults of keys.
macro_rules! defaults {
    ($( $type:ty: |$value:ident| $default:expr; )+) => { $(
        impl From<$type> for Default {
            fn from($value: $type) -> Default {
                $default
            }
        }
    )+ };
}

defaults! {
    &'static str: |text| Default::Text(text);
    i32: |count| Default::Count(count.unsigned_abs().into());
    f64: |number| Default::Number(number);
    bool: |flag| Default::Flag(flag);
}

/// The kind of a value.
#[derive(Clone)]
pub enum Kind {
    /// A title.
    Title,
    /// A plain name.
    Name,
    /// Text in a format that another standard defines, such as an IP address.
    Formed(&'static Form),
    /// true or false.
    Flag,
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// A number from 0 to below 1.
    Probability,
    /// A number.
    Number(RangeInclusive<f64>),
    /// A ratio of two powers, such as a signal-to-noise ratio. [dB]
    Level(RangeInclusive<f64>),
    /// A duration. [ns]
    Duration(RangeInclusive<u64>),
    /// A positive rate.
    Rate,
    /// One of the rates that the file's preset lists.
    Listed(&'static Listed),
    /// A size. [bytes]
    Size(RangeInclusive<u64>),
    /// A length. [mm]
    Length(RangeInclusive<u64>),
    /// A list of names.
    Names,
    /// A list of different rates in ascending order.
    Rates,
    /// A list of times in ascending order. [ms]
    Times,
    /// The name of a file with times in ascending order. [ms]
    TimesFile,
    /// A shell command, or a list of shell commands.
    Commands,
    /// A list of points of a curve.
    Points(&'static Curve),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table, or tables by name.
    Tables(Inner),
}

/// The value of a key that is a table, or a set of tables with names.
#[derive(Clone, Copy)]
pub struct Inner {
    /// Function that returns the definition of the table.
    pub table: fn() -> &'static Table,
    /// Key of the table that a bare value sets; `None` if a bare value is not accepted.
    pub bare: Option<&'static str>,
    /// Whether the key contains several tables, whose names the file chooses.
    pub is_named: bool,
    /// Function that returns the definition of the groups of the table: in place of the keys, the
    /// table may contain tables whose names the file chooses. `None` if the table has no groups.
    pub groups: Option<fn() -> &'static Table>,
    /// Whether the bare number 0 means that the table is absent.
    pub is_absent_at_zero: bool,
}

impl Inner {
    /// Returns the key that a bare value sets; `None` if a bare value is not accepted.
    pub fn bare_key(&self) -> Option<&'static Key> {
        (self.table)().key(self.bare?)
    }

    /// Returns whether the key contains exactly one table, which cannot be written as a bare value.
    pub(crate) fn is_plain(&self) -> bool {
        self.bare.is_none() && !self.is_named
    }
}

/// Rates that depend on the preset of the file.
pub struct Listed {
    /// Name of these rates in messages: "rate" or "control rate".
    pub what: &'static str,
    /// Function that returns the presets, each with its rates. [bit/s]
    pub rates: fn() -> Vec<(&'static str, &'static [u64])>,
}

/// A kind of curve, given as points.
pub struct Curve {
    /// Largest number of points.
    pub most: usize,
    /// Accepted points, as a noun phrase that follows the word `expected`.
    pub expected: &'static str,
    /// Function that returns the fault of a list of points, as a phrase that follows the list in a
    /// message; `None` if the points are accepted.
    pub fault: fn(&[(f64, f64)]) -> Option<String>,
}

/// The plugin that adds a key or word. The module that reads the table converts this value to the
/// Rust type of the plugin.
pub type Extension = &'static (dyn Any + Send + Sync);

/// A word that a plugin adds to the accepted values of a key.
#[derive(Clone, Copy)]
pub struct AddedWord {
    /// The word in files.
    pub word: &'static str,
    /// The plugin.
    pub extension: Extension,
}

/// Keys and words that plugins add to the tables of a file.
#[derive(Clone, Default)]
pub struct Added {
    keys: Vec<AddedKey>,
    /// Words of plugins, each with the name of its key.
    words: Vec<(&'static str, AddedWord)>,
}

#[derive(Clone)]
struct AddedKey {
    table: &'static str,
    key: Key,
    inherits: Option<&'static str>,
    extension: Extension,
}

/// An empty set of plugin keys and words.
pub(crate) static NOTHING_ADDED: Added = Added {
    keys: Vec::new(),
    words: Vec::new(),
};

impl Added {
    /// Adds a key to the table of this name in the grammar.
    pub(crate) fn key(
        &mut self,
        table: &'static str,
        key: Key,
        inherits: Option<&'static str>,
        extension: Extension,
    ) {
        self.keys.push(AddedKey {
            table,
            key,
            inherits,
            extension,
        });
    }

    /// Adds a word to the accepted words of every key of this name.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str, extension: Extension) {
        self.words.push((key, AddedWord { word, extension }));
    }

    /// Returns all keys of a table; keys of plugins are last. With each key, returns the name of
    /// the table in which the key is looked up if it is absent.
    pub(super) fn keys<'k>(
        &'k self,
        table: &'k Table,
    ) -> impl Iterator<Item = (&'k Key, Option<&'static str>)> {
        let added = self.keys.iter().filter(|added| added.table == table.name);
        table
            .keys()
            .chain(added.map(|added| (&added.key, added.inherits)))
    }

    /// Returns the key with this name in a table.
    pub(super) fn find<'k>(&'k self, table: &'k Table, name: &str) -> Option<&'k Key> {
        self.keys(table)
            .map(|(key, _)| key)
            .find(|key| key.name == name)
    }

    /// Returns the names of all keys of a table.
    pub(super) fn names(&self, table: &Table) -> Vec<&'static str> {
        self.keys(table).map(|(key, _)| key.name).collect()
    }

    /// Returns the plugin that added a key to a table; `None` for keys of lasthop.
    pub(super) fn extension_of(&self, table: &Table, key: &str) -> Option<Extension> {
        let mut keys = self.keys.iter();
        let key = keys.find(|added| added.table == table.name && added.key.name == key);
        key.map(|added| added.extension)
    }

    /// Returns the words that plugins add to a key.
    pub(super) fn words(&self, key: &str) -> impl Iterator<Item = AddedWord> {
        let words = self.words.iter().filter(move |(of, _)| *of == key);
        words.map(|(_, added)| *added)
    }
}

/// The grammar of a file.
#[derive(Clone, Copy)]
pub struct Grammar<'a> {
    /// Root table of the file.
    pub root: &'static Table,
    /// Reserved name, which no station, link or flow of the file may have.
    pub reserved_name: &'static str,
    /// Function that returns the preset of a file: one of the names that [`Listed::rates`] lists.
    pub preset: fn(&super::tree::Item) -> Option<&'static str>,
    /// Function that returns whether a file describes a modern network, which decides between the
    /// defaults of [`ByNetwork`].
    pub is_modern: fn(&super::tree::Item) -> bool,
    /// Keys and words that plugins add.
    pub added: &'a Added,
    /// Contents of the other files that the scenario file names.
    pub files: &'a Files,
}

/// Maximum rate of any key. [bit/s]
pub const LARGEST_RATE: u64 = 100_000_000_000;

impl Table {
    /// Returns all keys in order. With each key, returns the name of the table in which the key is
    /// looked up if it is absent.
    pub fn keys(&self) -> impl Iterator<Item = (&Key, Option<&'static str>)> {
        self.parts
            .iter()
            .flat_map(|part| part.keys.iter().map(|key| (key, part.inherits)))
    }

    /// Returns the key at a dotted path, such as `station.a.rate`, below this table.
    pub(crate) fn at(&self, path: &str) -> Option<&Key> {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        let key = self.key(name)?;
        if rest.is_empty() {
            return Some(key);
        }
        let Kind::Tables(inner) = &key.kind else {
            return None; // the path continues after a key that has a single value
        };
        match inner.is_named {
            true => (inner.table)().at(rest.split_once('.')?.1),
            false => (inner.table)()
                .at(rest)
                .or_else(|| (inner.groups?)().at(rest.split_once('.')?.1)),
        }
    }

    /// Returns the key of this name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys().map(|(key, _)| key).find(|key| key.name == name)
    }

    /// Returns the names of the required keys.
    pub fn required(&self) -> impl Iterator<Item = &'static str> {
        self.keys()
            .filter(|(key, _)| matches!(key.default, Default::Required))
            .map(|(key, _)| key.name)
    }

    /// Returns the names of all keys.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys().map(|(key, _)| key.name)
    }
}

impl Kind {
    /// Returns the smallest and the largest accepted value in the SI unit; `None` if the value is
    /// not a number.
    pub(crate) fn range(&self) -> Option<[f64; 2]> {
        let of = |range: &RangeInclusive<u64>, per_unit: f64| {
            let ends = [*range.start(), *range.end()];
            Some(ends.map(|end| end as f64 / per_unit))
        };
        match self {
            Kind::Count(range) | Kind::Size(range) => of(range, 1.0),
            Kind::Duration(range) => of(range, 1e9),
            Kind::Length(range) => of(range, 1e3),
            Kind::Number(range) | Kind::Level(range) => Some([*range.start(), *range.end()]),
            Kind::Probability => Some([0.0, 1.0]),
            Kind::Rate => Some([1.0, LARGEST_RATE as f64]),
            Kind::Title
            | Kind::Name
            | Kind::Formed(_)
            | Kind::Flag
            | Kind::Listed(_)
            | Kind::Names
            | Kind::Rates
            | Kind::Times
            | Kind::TimesFile
            | Kind::Commands
            | Kind::Points(_)
            | Kind::Choice(_)
            | Kind::Tables(_) => None,
        }
    }
}

impl Listed {
    /// Returns the rates of this preset. [bit/s]
    pub(crate) fn of(&self, preset: &str) -> Option<&'static [u64]> {
        let mut all = (self.rates)().into_iter();
        all.find(|(name, _)| *name == preset)
            .map(|(_, rates)| rates)
    }
}

//! Tables as data: keys, kinds of value, defaults and ranges.
//!
//! Decoder, schema and messages follow from these. Settings are defined with [`table!`](crate::table) next to
//! the code that uses them; this file does not contain a key.

use std::any::Any;
use std::borrow::Cow;
use std::ops::RangeInclusive;

use super::forms::Form;
use super::times::Files;

/// A table of a file.
#[derive(Clone)]
pub struct Table {
    /// Name of its definition in the schema.
    pub name: &'static str,
    /// Its documentation.
    pub doc: &'static str,
    /// Its keys.
    pub parts: Cow<'static, [Part]>,
    /// Keys that it does not have but that are known elsewhere, each with a hint.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

/// Joins two lists of keys that a table does not have.
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

/// Consecutive keys of a table. Parts are shared: the TCP keys are in four tables.
#[derive(Clone)]
pub struct Part {
    /// The keys.
    pub keys: Cow<'static, [Key]>,
    /// Where absent keys of this part are looked up next, instead of the defaults of the keys.
    pub inherits: Option<&'static str>,
}

/// A key of a table.
#[derive(Clone)]
pub struct Key {
    /// Name of the key in files.
    pub name: &'static str,
    /// Kind of its value.
    pub kind: Kind,
    /// A word that may stand in the place of a value.
    pub word: Option<&'static str>,
    /// The accepted values, if they are fewer than the range has: a noun phrase that follows `expected`.
    pub accepted: Option<&'static str>,
    /// Value if the key is absent.
    pub default: Default,
    /// Its documentation.
    pub doc: &'static str,
    /// Returns the hint for a word that is not accepted.
    pub meant: Option<fn(&str) -> Option<String>>,
}

/// The value of an absent key.
#[derive(Clone, Copy)]
pub enum Default {
    /// The key must be given.
    Required,
    /// The key must be given; a later check refuses a table without it.
    Checked,
    /// This text: a word, or a value with its unit.
    Text(&'static str),
    /// This whole number.
    Count(u64),
    /// This number.
    Number(f64),
    /// This truth value.
    Flag(bool),
    /// One of two values, which depends on the network that the file describes.
    ByNetwork(&'static ByNetwork),
    /// A value for each preset, which this function describes.
    ByPreset(fn() -> String),
    /// Something that depends on other keys, described here.
    Depends(&'static str),
    /// Nothing, not even a table of defaults.
    Absent(&'static str),
}

/// A default of older networks and one of modern networks. [`Grammar::is_modern`] tells them apart.
#[derive(Clone, Copy)]
pub struct ByNetwork {
    /// The default in older networks, and in a table that is read by itself.
    pub older: Default,
    /// The default in modern networks.
    pub modern: Default,
    /// Description of modern networks: a phrase that follows a value.
    pub networks: &'static str,
}

impl ByNetwork {
    /// Returns both defaults as the documentation of a key shows them.
    pub(crate) fn description(&self) -> String {
        let [modern, older] = [self.modern, self.older].map(Default::shown);
        format!("{modern} {}; otherwise {older}", self.networks)
    }
}

impl Default {
    /// Returns a default that is a value, as a file states it.
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
            | Default::Absent(_) => String::new(), // not a value
        }
    }

    /// Returns the default that applies to a file that describes a modern network, or an older one.
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

/// Conversions of values to defaults.
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
    /// Text of a form that is not lasthop's own, such as an IP address.
    Formed(&'static Form),
    /// true or false.
    Flag,
    /// A whole number.
    Count(RangeInclusive<u64>),
    /// A number from 0 to below 1.
    Probability,
    /// A number.
    Number(RangeInclusive<f64>),
    /// A level. [dB]
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
    /// A list of times in order. [ms]
    Times,
    /// The name of a file of such times.
    TimesFile,
    /// A command of the shell, or a list of them.
    Commands,
    /// A list of points of a curve.
    Points(&'static Curve),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table, or tables by name.
    Tables(Inner),
}

/// The tables that a key may have.
#[derive(Clone, Copy)]
pub struct Inner {
    /// The table.
    pub table: fn() -> &'static Table,
    /// The key of the table that a bare value sets, if the table may be written as a bare value.
    pub bare: Option<&'static str>,
    /// Whether the key has several tables, each with a name of its own.
    pub is_named: bool,
}

impl Inner {
    /// Returns the key that a bare value sets, if the table may be written as a bare value.
    pub fn bare_key(&self) -> Option<&'static Key> {
        (self.table)().key(self.bare?)
    }

    /// Returns whether the key has exactly one table, which must be written as a table.
    pub(crate) fn is_plain(&self) -> bool {
        self.bare.is_none() && !self.is_named
    }
}

/// Rates that depend on the preset of the file.
pub struct Listed {
    /// Name of these rates: "rate", "control rate".
    pub what: &'static str,
    /// The presets, each with its rates. [bit/s]
    pub rates: fn() -> Vec<(&'static str, &'static [u64])>,
}

/// Points of a curve.
pub struct Curve {
    /// Largest number of points.
    pub most: usize,
    /// The points it accepts, as a noun phrase that follows the word `expected`.
    pub expected: &'static str,
    /// Returns the fault of the points, as a phrase that follows the value.
    pub fault: fn(&[(f64, f64)]) -> Option<String>,
}

/// The plugin of a key or word; the reader of its table tests for its type.
pub type Extension = &'static (dyn Any + Send + Sync);

/// A word of a plugin.
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
    /// Words with the names of their keys.
    words: Vec<(&'static str, AddedWord)>,
}

#[derive(Clone)]
struct AddedKey {
    table: &'static str,
    key: Key,
    inherits: Option<&'static str>,
    extension: Extension,
}

/// No plugins.
pub(crate) static NOTHING_ADDED: Added = Added {
    keys: Vec::new(),
    words: Vec::new(),
};

impl Added {
    /// Adds a key to the table of this name.
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

    /// Adds a word to those of the key of this name, in every table.
    pub(crate) fn word(&mut self, key: &'static str, word: &'static str, extension: Extension) {
        self.words.push((key, AddedWord { word, extension }));
    }

    /// Returns all keys of a table, those of plugins last, each with the table that it inherits from.
    pub(super) fn keys<'k>(
        &'k self,
        table: &'k Table,
    ) -> impl Iterator<Item = (&'k Key, Option<&'static str>)> {
        let added = self.keys.iter().filter(|added| added.table == table.name);
        table
            .keys()
            .chain(added.map(|added| (&added.key, added.inherits)))
    }

    /// Returns the key of a table that has this name.
    pub(super) fn find<'k>(&'k self, table: &'k Table, name: &str) -> Option<&'k Key> {
        self.keys(table)
            .map(|(key, _)| key)
            .find(|key| key.name == name)
    }

    /// Returns the names of all keys of a table.
    pub(super) fn names(&self, table: &Table) -> Vec<&'static str> {
        self.keys(table).map(|(key, _)| key.name).collect()
    }

    /// Returns the plugin of a key of a table.
    pub(super) fn extension_of(&self, table: &Table, key: &str) -> Option<Extension> {
        let mut keys = self.keys.iter();
        let key = keys.find(|added| added.table == table.name && added.key.name == key);
        key.map(|added| added.extension)
    }

    /// Returns the words of plugins for a key.
    pub(super) fn words(&self, key: &str) -> impl Iterator<Item = AddedWord> {
        let words = self.words.iter().filter(move |(of, _)| *of == key);
        words.map(|(_, added)| *added)
    }
}

/// The grammar of a file.
#[derive(Clone, Copy)]
pub struct Grammar<'a> {
    /// The table at the root of the file.
    pub root: &'static Table,
    /// A name that no table with a free name may have.
    pub reserved_name: &'static str,
    /// Returns the preset of a file, by the names in [`Listed`].
    pub preset: fn(&super::tree::Item) -> Option<&'static str>,
    /// Returns whether a file describes a modern network, which decides between the defaults of [`ByNetwork`].
    pub is_modern: fn(&super::tree::Item) -> bool,
    /// Keys and words of plugins.
    pub added: &'a Added,
    /// Files that the file names.
    pub files: &'a Files,
}

/// Largest rate of any key. [bit/s]
pub const LARGEST_RATE: u64 = 100_000_000_000;

impl Table {
    /// Returns all keys in order, each with the table that it inherits from.
    pub fn keys(&self) -> impl Iterator<Item = (&Key, Option<&'static str>)> {
        self.parts
            .iter()
            .flat_map(|part| part.keys.iter().map(|key| (key, part.inherits)))
    }

    /// Returns the key at a path of keys and names of tables.
    pub(crate) fn at(&self, path: &str) -> Option<&Key> {
        let (name, rest) = path.split_once('.').unwrap_or((path, ""));
        let key = self.key(name)?;
        if rest.is_empty() {
            return Some(key);
        }
        let Kind::Tables(inner) = &key.kind else {
            return None; // a single value
        };
        match inner.is_named {
            true => (inner.table)().at(rest.split_once('.')?.1),
            false => (inner.table)().at(rest),
        }
    }

    /// Returns the key of this name.
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys().map(|(key, _)| key).find(|key| key.name == name)
    }

    /// Returns the names of the keys that must be given.
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
    /// Returns the smallest and the largest value in the SI unit; `None` if the value is not a number.
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
    /// Returns the rates of a preset. [bit/s]
    pub(crate) fn of(&self, preset: &str) -> Option<&'static [u64]> {
        let mut all = (self.rates)().into_iter();
        all.find(|(name, _)| *name == preset)
            .map(|(_, rates)| rates)
    }
}

//! The scenario file's grammar as data: every table, key, kind of value, default and range, once.
//!
//! The decoder, the JSON Schema and the texts of error messages are all read off these tables.

mod access;
mod cell;
mod csma;
mod flows;
mod gateway;
mod network;
mod queue;
mod station;
mod vbs;
mod vsb;
mod wce;

use super::forms::Form;
use super::presets::Preset;
pub(super) use cell::{CELL, GATEWAY_ROOT, ROOT};
pub(super) use network::FLOW;
pub(super) use queue::DISCIPLINES;

/// A table of the file.
pub(super) struct Table {
    /// Name of its definition in the schema.
    pub(super) name: &'static str,
    pub(super) doc: &'static str,
    pub(super) parts: &'static [Part],
}

/// A run of keys of a table. Parts are shared: the TCP keys stand in four tables.
pub(super) struct Part {
    pub(super) keys: &'static [Key],
    /// Where absent keys of this part are looked up next, instead of the keys' own defaults.
    pub(super) inherits: Option<&'static str>,
}

/// A key of a table.
pub(super) struct Key {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) default: Default,
    pub(super) doc: &'static str,
}

/// What holds if a key is absent.
pub(super) enum Default {
    /// The key must be given.
    Required,
    /// This value.
    Text(&'static str),
    /// This value.
    Count(u64),
    /// This value.
    Probability(f64),
    /// This value.
    Number(f64),
    /// This value.
    Flag(bool),
    /// This value of the PHY preset.
    Preset(fn(&Preset) -> String),
    /// Something that depends on other keys, described here.
    Depends(&'static str),
    /// Nothing, not even a table of defaults.
    Absent(&'static str),
}

/// What a value must be.
pub(super) enum Kind {
    /// A title.
    Title,
    /// A plain name.
    Name,
    /// Text of a form that is not lasthop's own, such as an IP address.
    Formed(&'static Form),
    /// true or false.
    Flag,
    /// A whole number.
    Count { least: u64, most: u64 },
    /// An arbitration interframe space number, whose range depends on whose it is.
    Aifsn,
    /// A number from 0 to below 1.
    Probability,
    /// A number, or a word.
    Number {
        least: f64,
        most: f64,
        word: Option<&'static str>,
    },
    /// A level in decibels.
    Level { least: f64, most: f64 },
    /// A duration in nanoseconds, or a word.
    Duration {
        least: u64,
        most: u64,
        word: Option<&'static str>,
    },
    /// A positive rate, or a word.
    Rate { word: Option<&'static str> },
    /// One of the rates the PHY has for data frames.
    DataRate,
    /// One of the rates the PHY has for control frames.
    ControlRate,
    /// A number of bytes, or a word.
    Size {
        least: u64,
        most: u64,
        word: Option<&'static str>,
    },
    /// A length in millimetres.
    Length { least: u64, most: u64 },
    /// A list of names.
    Names,
    /// A list of points of rate and marginal utility.
    Points,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A table.
    Table(&'static Table),
    /// A table, or a bare value that stands for its key `main`.
    Shorthand {
        table: &'static Table,
        main: &'static str,
    },
    /// A table of tables with free names.
    Named(&'static Table),
}

/// AIFSN of DIFS, the least at a station, and the greatest that 802.11e can announce; one below
/// is PIFS, for the access point.
pub(super) const AIFSN: (u64, u64) = (2, 15);

/// Largest rate of anything. [bit/s]
pub(super) const LARGEST_RATE: u64 = 100_000_000_000;

impl Table {
    /// All keys in order, each with where it inherits from.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&'static Key, Option<&'static str>)> {
        self.parts
            .iter()
            .flat_map(|part| part.keys.iter().map(|key| (key, part.inherits)))
    }

    pub(super) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys().map(|(key, _)| key).find(|key| key.name == name)
    }

    /// Names of the keys that must be given.
    pub(super) fn required(&self) -> impl Iterator<Item = &'static str> {
        self.keys()
            .filter(|(key, _)| matches!(key.default, Default::Required))
            .map(|(key, _)| key.name)
    }

    pub(super) fn names(&self) -> impl Iterator<Item = &'static str> {
        self.keys().map(|(key, _)| key.name)
    }
}

// Short forms for the tables.

const US: u64 = 1_000;
const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

const fn key(name: &'static str, kind: Kind, default: Default, doc: &'static str) -> Key {
    Key {
        name,
        kind,
        default,
        doc,
    }
}

const fn count(least: u64, most: u64) -> Kind {
    Kind::Count { least, most }
}

const fn duration(least: u64, most: u64) -> Kind {
    let word = None;
    Kind::Duration { least, most, word }
}

const fn size(least: u64, most: u64) -> Kind {
    let word = None;
    Kind::Size { least, most, word }
}

const fn length(least: u64, most: u64) -> Kind {
    Kind::Length { least, most }
}

const fn number(least: f64, most: f64) -> Kind {
    let word = None;
    Kind::Number { least, most, word }
}

const fn number_or(word: &'static str, least: f64, most: f64) -> Kind {
    let word = Some(word);
    Kind::Number { least, most, word }
}

const fn own(keys: &'static [Key]) -> Part {
    let inherits = None;
    Part { keys, inherits }
}

const fn inherited(keys: &'static [Key], from: &'static str) -> Part {
    let inherits = Some(from);
    Part { keys, inherits }
}

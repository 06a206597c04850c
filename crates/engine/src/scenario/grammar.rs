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

use std::borrow::Cow;

pub(super) use access::AIFSN;
pub(super) use cell::{CELL, GATEWAY_ROOT, ROOT};
pub(super) use network::FLOW;
pub(super) use queue::DISCIPLINES;

use crate::notation::table::{Default, Key, Kind, Part, Table};

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
    let told = None;
    Kind::Count { least, most, told }
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
    Part {
        keys: Cow::Borrowed(keys),
        inherits,
    }
}

const fn inherited(keys: &'static [Key], from: &'static str) -> Part {
    let inherits = Some(from);
    Part {
        keys: Cow::Borrowed(keys),
        inherits,
    }
}

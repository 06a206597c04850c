//! Settings: what a value, a word and a table of a file become. All that [`table!`](crate::table) and
//! whoever writes one needs is here.

use std::marker::PhantomData;

use super::decode;
use super::layers::Layers;
pub(crate) use super::macros::keys;
use super::problem::Refused;
pub use super::spec::*;
use super::table::Table;
use super::value::Value;
pub use super::values::Millimetres;

/// A value of the normalised scenario.
pub use serde_json::Value as Json;

/// An object of the normalised scenario, its keys in order.
pub type JsonObject = serde_json::Map<String, Json>;

/// A microsecond. [ns]
pub const US: u64 = 1_000;
/// A millisecond. [ns]
pub const MS: u64 = 1_000_000;
/// A second. [ns]
pub const S: u64 = 1_000_000_000;

/// A type that a value of a file becomes.
pub trait Setting: Sized {
    /// What is added to the name of such a setting in JSON: the unit that the type implies.
    const UNIT: &'static str = "";

    /// The meaning of a checked value; `None` if it is of another kind.
    fn of(value: &Value) -> Option<Self>;

    /// What it is if no table says it and it has no default.
    fn unsaid() -> Option<Self> {
        None
    }

    /// The setting in the normalised scenario.
    fn json(&self) -> Json;
}

/// An enum whose variants are words of the file; [`words!`](crate::words) makes them.
pub trait Words: Copy + 'static {
    /// The words, in the order of the documentation.
    const WORDS: &'static [&'static str];
}

/// A struct whose fields are settings of a table of the file; [`table!`](crate::table) makes them.
pub trait FileTable: Sized {
    /// The table's keys, kinds, defaults and documentation.
    fn table() -> &'static Table;

    /// The settings as the layers have them, each from the nearest that gives it.
    ///
    /// # Errors
    /// A value that is needed has been refused.
    fn read(layers: &Layers) -> Result<Self, Refused>;

    /// The settings in the normalised scenario, each with its unit in its name.
    fn json(&self) -> Json;

    /// The settings of a table that says nothing.
    ///
    /// # Errors
    /// A key of the table must be given.
    fn usual() -> Result<Self, Refused> {
        Self::read(&Layers(&[&decode::nothing(Self::table())]))
    }
}

/// The name of a key, and the type of what it says.
pub struct KeyOf<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> KeyOf<T> {
    /// The key of this name.
    pub const fn new(name: &'static str) -> KeyOf<T> {
        let of = PhantomData;
        KeyOf { name, of }
    }

    /// As the file has it.
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<T> Clone for KeyOf<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for KeyOf<T> {}

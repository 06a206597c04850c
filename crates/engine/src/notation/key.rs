//! Keys of a file and the types of their values.

use std::marker::PhantomData;

use super::value::Value;

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
    /// Suffix of the name of such a setting in JSON: the unit that the type implies.
    const UNIT: &'static str = "";

    /// Returns the meaning of a checked value; `None` if it is of another kind.
    fn of(value: &Value) -> Option<Self>;

    /// Returns the setting if no table has it and it has no default.
    fn unsaid() -> Option<Self> {
        None
    }

    /// Returns the setting in the normalised scenario.
    fn json(&self) -> Json;
}

/// An enum whose variants are words of the file; [`words!`](crate::words) makes them.
pub trait Words: Copy + 'static {
    /// The words, in the order of the documentation.
    const WORDS: &'static [&'static str];
}

/// The name of a key, and the type of its value.
pub struct KeyOf<T> {
    name: &'static str,
    of: PhantomData<fn() -> T>,
}

impl<T> KeyOf<T> {
    /// Returns the key of this name.
    pub const fn new(name: &'static str) -> KeyOf<T> {
        let of = PhantomData;
        KeyOf { name, of }
    }

    /// Returns the name of the key in files.
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

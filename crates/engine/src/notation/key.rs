//! Keys of a file and the types of their values.

use std::marker::PhantomData;

use super::value::Value;

/// A value of the normalised scenario.
pub use serde_json::Value as Json;

/// An object of the normalised scenario. The order of its keys is preserved.
pub type JsonObject = serde_json::Map<String, Json>;

/// Sets a key of an object. `name` are the parts of the name of the key.
pub fn put(object: &mut JsonObject, name: &[&str], value: Json) {
    object.insert(name.concat(), value);
}

/// Number of nanoseconds per microsecond. [ns]
pub const US: u64 = 1_000;
/// Number of nanoseconds per millisecond. [ns]
pub const MS: u64 = 1_000_000;
/// Number of nanoseconds per second. [ns]
pub const S: u64 = 1_000_000_000;

/// A type into which the value of a key is converted.
pub trait Setting: Sized {
    /// Suffix of the setting's name in JSON, which shows the unit, such as `_s` for seconds.
    const UNIT: &'static str = "";

    /// Returns the setting from a checked value; `None` if the kind of the value does not fit the
    /// type.
    fn of(value: &Value) -> Option<Self>;

    /// Returns the setting for a key that no table gives and that has no default; `None` if the
    /// type has no value for such a key.
    fn unsaid() -> Option<Self> {
        None
    }

    /// Returns the setting in the JSON form of the normalised scenario.
    fn json(&self) -> Json;
}

/// An enum whose variants are words of the file. The macro [`words!`](crate::words) implements this
/// trait.
pub trait Words: Copy + 'static {
    /// The words, in the order of the documentation.
    const WORDS: &'static [&'static str];
}

/// The name of a key, with the Rust type of its value as a type parameter.
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

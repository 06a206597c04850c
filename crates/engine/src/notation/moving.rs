//! Values that may change in motion: what a key says now, as a number and as a file has it.

use super::units::{self, RATE, TIME};
use crate::kernel::time::Span;

/// What a key says now.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// The key in its table, after those of the tables between: `red.min_th`.
    pub key: String,
    /// The value in its SI unit; `None`: a word stands in its place.
    pub number: Option<f64>,
    /// The SI unit; `-` if it has none.
    pub unit: &'static str,
    /// The value as a file has it.
    pub text: String,
}

/// A type of values that may change in motion.
pub(crate) trait Movable {
    /// The SI unit.
    const UNIT: &'static str = "-";

    /// The value in it; `None`: a word stands in its place.
    fn number(&self) -> Option<f64>;

    /// The value as a file has it.
    fn text(&self) -> String;

    /// What `key` says now.
    fn at(&self, key: &str) -> Moving {
        Moving {
            key: key.to_owned(),
            number: self.number(),
            unit: Self::UNIT,
            text: self.text(),
        }
    }
}

impl Movable for u32 {
    fn number(&self) -> Option<f64> {
        Some(f64::from(*self))
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

impl Movable for f64 {
    fn number(&self) -> Option<f64> {
        Some(*self)
    }

    fn text(&self) -> String {
        self.to_string()
    }
}

/// A rate. [bit/s]
impl Movable for u64 {
    const UNIT: &'static str = "bit/s";

    fn number(&self) -> Option<f64> {
        Some(*self as f64)
    }

    fn text(&self) -> String {
        units::show(*self, RATE)
    }
}

impl Movable for Span {
    const UNIT: &'static str = "s";

    fn number(&self) -> Option<f64> {
        Some(self.seconds())
    }

    fn text(&self) -> String {
        units::show(self.0, TIME)
    }
}

/// A limit that there need not be.
impl<T: Movable> Movable for Option<T> {
    const UNIT: &'static str = T::UNIT;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::text)
    }
}

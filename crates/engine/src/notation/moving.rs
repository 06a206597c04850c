//! Values that may change during a run: the present value of a key, as a number and as text of a file.

use super::units::{self, RATE, TIME};
use crate::kernel::time::Span;

/// The present value of a key.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// The key in its table, after the keys of the tables in between: `red.min_th`.
    pub key: String,
    /// The value in its SI unit; `None` if it is a word.
    pub number: Option<f64>,
    /// The SI unit; `-` if it has none.
    pub unit: &'static str,
    /// The value as text of a file.
    pub text: String,
}

/// A type of values that may change during a run.
pub(crate) trait Movable {
    /// The SI unit.
    const UNIT: &'static str;

    /// Returns the value in the SI unit; `None` if it is a word.
    fn number(&self) -> Option<f64>;

    /// Returns the value as text of a file.
    fn text(&self) -> String;

    /// Returns the present value of `key`.
    fn at(&self, key: &str) -> Moving {
        Moving {
            key: key.to_owned(),
            number: self.number(),
            unit: Self::UNIT,
            text: self.text(),
        }
    }
}

/// Types that may change: unit, number and text of a value.
macro_rules! movable {
    ($( $type:ty, $unit:literal: |$value:ident| $number:expr, $text:expr; )+) => { $(
        impl Movable for $type {
            const UNIT: &'static str = $unit;

            fn number(&self) -> Option<f64> {
                let $value = *self;
                Some($number)
            }

            fn text(&self) -> String {
                let $value = *self;
                $text
            }
        }
    )+ };
}

// an integer of 64 bits is a rate
movable! {
    u32, "-": |count| f64::from(count), count.to_string();
    f64, "-": |number| number, number.to_string();
    u64, "bit/s": |rate| rate as f64, units::show(rate, RATE);
    Span, "s": |span| span.seconds(), units::show(span.0, TIME);
}

/// An optional limit.
impl<T: Movable> Movable for Option<T> {
    const UNIT: &'static str = T::UNIT;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::text)
    }
}

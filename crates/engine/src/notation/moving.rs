//! Settings that a user may change during a run. The present value of each setting is available as
//! a number and as text for a file.

use super::units::{self, RATE, TIME};
use crate::kernel::time::Span;

/// The present value of a key that may change during a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Moving {
    /// Name of the key in its table. If the key is in an inner table, the key of the inner table
    /// precedes it: `red.min_th`.
    pub key: String,
    /// Value in its SI unit; `None` if the value is a word, such as "none".
    pub number: Option<f64>,
    /// SI unit; `-` if the value has no unit.
    pub unit: &'static str,
    /// Value as text for a file.
    pub text: String,
}

/// The type of a setting that may change during a run.
pub(crate) trait Movable {
    /// SI unit of the values.
    const UNIT: &'static str;

    /// Returns the value in the SI unit; `None` if the value is a word.
    fn number(&self) -> Option<f64>;

    /// Returns the value as text for a file.
    fn text(&self) -> String;

    /// Returns the present value as the value of the key `key`.
    fn at(&self, key: &str) -> Moving {
        Moving {
            key: key.to_owned(),
            number: self.number(),
            unit: Self::UNIT,
            text: self.text(),
        }
    }
}

/// Implements [`Movable`] for several types. Each line of the macro's input has the type, its SI unit,
/// a name for the value, and two expressions: the value as a number, and the value as text for a
/// file.
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

// all settings of type `u64` that may change are rates
movable! {
    u32, "-": |count| f64::from(count), count.to_string();
    f64, "-": |number| number, number.to_string();
    u64, "bit/s": |rate| rate as f64, units::show(rate, RATE);
    Span, "s": |span| span.seconds(), units::show(span.0, TIME);
}

/// An optional limit: `None` is the word "none" in the file.
impl<T: Movable> Movable for Option<T> {
    const UNIT: &'static str = T::UNIT;

    fn number(&self) -> Option<f64> {
        self.as_ref().and_then(T::number)
    }

    fn text(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_owned(), T::text)
    }
}

//! Numbers of a file, with and without a unit, and the refusal of values.

use std::ops::RangeInclusive;

use super::problem::one_line;
use super::tree::{Data, Item, Number};
use super::units::{self, NotAQuantity, Unit};

/// The refusal of a value: its fault and a hint.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// The fault, as a phrase that follows the value in a message: `is not a positive rate`.
    pub(crate) fault: String,
    /// Suggested remedy.
    pub(crate) hint: Option<String>,
}

/// Returns a refusal without a hint.
pub(super) fn refuse<T>(fault: impl Into<String>) -> Result<T, Refusal> {
    let (fault, hint) = (fault.into(), None);
    Err(Refusal { fault, hint })
}

/// Returns the number of a value, if it is a finite number. Other values are refused.
pub(super) fn finite(node: &Item) -> Result<&Number, Refusal> {
    match &node.data {
        Data::Number(number) if number.value.is_finite() => Ok(number),
        Data::Number(number) if !number.text.ends_with("nan") => refuse("is not finite"),
        Data::Number(_)
        | Data::Table(_)
        | Data::List(_)
        | Data::Text(_)
        | Data::Flag(_)
        | Data::Date(_)
        | Data::Null => refuse("is not a number"),
    }
}

/// Returns the value as an integer, if it is a whole number in `range`. Other values are refused.
pub(super) fn integer(node: &Item, range: &RangeInclusive<u64>) -> Result<u64, Refusal> {
    let number = finite(node)?;
    if number.value < 0.0 {
        return refuse("is negative");
    }
    match number.integer.map(u64::try_from) {
        Some(Ok(count)) => in_range(count, range),
        Some(Err(_)) => refuse("is too large"),
        None if number.value > *range.end() as f64 => refuse("is too large"),
        None => refuse("is not a whole number"),
    }
}

/// Returns `value` if `range` contains it. Otherwise the value is refused.
pub(super) fn in_range<N: PartialOrd>(value: N, range: &RangeInclusive<N>) -> Result<N, Refusal> {
    if value < *range.start() {
        refuse("is too small")
    } else if value > *range.end() {
        refuse("is too large")
    } else {
        Ok(value)
    }
}

/// Returns the value of a text with a number and a unit, in base units.
pub(super) fn quantity(node: &Item, units: &[Unit], what: &str) -> Result<u64, Refusal> {
    let text = match &node.data {
        Data::Text(text) => text,
        Data::Number(_) => &finite(node)?.text,
        Data::Table(_) | Data::List(_) | Data::Flag(_) | Data::Date(_) | Data::Null => {
            return refuse(format!("is not a {what}"));
        }
    };
    let names: Vec<&str> = units.iter().map(|unit| unit.name).collect();
    units::parse(text, units).or_else(|fault| match fault {
        NotAQuantity::NoNumber => refuse(format!("is not a {what}")),
        NotAQuantity::NotFinite => refuse("is not finite"),
        NotAQuantity::Negative => refuse("is negative"),
        NotAQuantity::NoUnit => {
            let number = text.trim();
            if what == "rate" && number.parse::<f64>().is_ok_and(|value| value == 0.0) {
                return refuse("is not a positive rate");
            }
            // without a unit, a rate of 1000 or more is probably meant in bit/s
            let large = number.parse::<f64>().is_ok_and(|value| value >= 1000.0);
            let (a, b) = match what {
                "duration" => ("s", "ms"),
                "rate" if large => ("bps", "kbps"),
                "rate" => ("Mbps", "kbps"),
                "length" => ("m", "km"),
                _ => ("B", "kB"),
            };
            let number = one_line(number, 40);
            refuse(format!(
                "has no unit, write \"{number} {a}\" or \"{number} {b}\""
            ))
        }
        NotAQuantity::UnknownUnit(number, unit) => Err(Refusal {
            fault: format!("has none of the units {}", names.join(", ")),
            hint: units::meant(&unit, units)
                .map(|unit| format!("did you mean \"{} {unit}\"?", one_line(&number, 40))),
        }),
    })
}

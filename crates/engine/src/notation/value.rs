//! Checks a value by its [`Kind`]. The result is the checked value, or the reason why the value is
//! refused.

use std::ops::RangeInclusive;
use std::sync::Arc;

use super::numbers::{Refusal, finite, in_range, integer, quantity, refuse};
use super::problem::{nearest, one_line, one_of};
use super::table::{AddedWord, Curve, Key, Kind, LARGEST_RATE, Listed};
use super::times;
use super::tree::{Data, Item};
use super::units;
use crate::kernel::time::Span;

const LONGEST_NAME: usize = 64;

/// A checked value.
#[derive(Clone)]
pub enum Value {
    /// Text, or a name.
    Text(String),
    /// true or false.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A number, a probability, or a ratio of two powers in decibels.
    Number(f64),
    /// A duration.
    Duration(Span),
    /// A rate. [bit/s]
    Rate(u64),
    /// A size. [bytes]
    Size(u64),
    /// A length. [mm]
    Length(u64),
    /// One of the words that a [`Kind`] lists.
    Word(&'static str),
    /// A word of a plugin.
    Added(AddedWord),
    /// Names, or commands, in order.
    Names(Vec<String>),
    /// Times in order. [ms]
    Times(Arc<[u32]>),
    /// Points of a curve.
    Points(Vec<(f64, f64)>),
}

/// Returns the checked value of a key whose value is not a table. If `preset` (the physical layer)
/// is known, some accepted values depend on it.
pub(crate) fn check(node: &Item, key: &Key, preset: Option<&str>) -> Result<Value, Refusal> {
    let Some(word) = key.word else {
        return of_kind(node, &key.kind, preset);
    };
    let none =
        |is_zero: bool| (is_zero && word == "none").then(|| "did you mean \"none\"?".to_owned());
    let Some(text) = node.text() else {
        return of_kind(node, &key.kind, preset).map_err(|refusal| {
            let zero = matches!(&node.data, Data::Number(number) if number.value == 0.0);
            let hint = none(zero).or(refusal.hint);
            Refusal { hint, ..refusal }
        });
    };
    if text.trim() == word {
        return Ok(Value::Word(word));
    }
    of_kind(node, &key.kind, preset).map_err(|refusal| {
        let hint = refusal.hint.or_else(|| meant(text, [word]));
        let hint = hint.or_else(|| none(is_zero(text)));
        Refusal { hint, ..refusal }
    })
}

/// Returns whether a text is the number 0, with or without a unit.
fn is_zero(text: &str) -> bool {
    let number = text.trim_end_matches(|letter: char| letter.is_alphabetic() || letter == ' ');
    number.trim().parse() == Ok(0.0)
}

fn of_kind(node: &Item, kind: &Kind, preset: Option<&str>) -> Result<Value, Refusal> {
    match kind {
        Kind::Title => text(node, "text", fault_of_title).map(Value::Text),
        Kind::Name => text(node, "a name", fault_of_name).map(Value::Text),
        Kind::Formed(form) => {
            let formed = text(node, "text", |text| (form.fault)(text.trim()))?;
            Ok(Value::Text(formed.trim().to_owned()))
        }
        Kind::Flag => {
            let Data::Flag(flag) = node.data else {
                return refuse("is not a truth value");
            };
            Ok(Value::Flag(flag))
        }
        Kind::Count(range) => integer(node, range).map(Value::Count),
        Kind::Probability => match finite(node)?.value {
            negative if negative < 0.0 => refuse("is negative"),
            value if value >= 1.0 => refuse("is not below 1"),
            value => Ok(number(value)),
        },
        Kind::Number(range) => match finite(node)?.value {
            negative if negative < 0.0 && *range.start() >= 0.0 => refuse("is negative"),
            value => in_range(value, range).map(number),
        },
        Kind::Level(range) => in_range(level(node)?, range).map(number),
        Kind::Duration(range) => {
            let ns = quantity(node, units::TIME, "duration")?;
            in_range(ns, range).map(|ns| Value::Duration(Span(ns)))
        }
        Kind::Size(range) => {
            let bytes = quantity(node, units::SIZE, "size")?;
            if node
                .text()
                .is_some_and(|text| !units::is_whole(text, units::SIZE))
            {
                return refuse("is not a whole number of bytes");
            }
            in_range(bytes, range).map(Value::Size)
        }
        Kind::Length(range) => {
            let mm = quantity(node, units::LENGTH, "length")?;
            in_range(mm, range).map(Value::Length)
        }
        Kind::Rate => rate(node).map(Value::Rate),
        Kind::Listed(listed) => listed_rate(node, listed, preset),
        Kind::Names => names(node),
        Kind::Times => times::of_list(node).map(Value::Times),
        Kind::TimesFile => text(node, "a file's name", |_| None::<String>).map(Value::Text),
        Kind::Commands => commands(node).map(Value::Names),
        Kind::Points(curve) => points(node, curve).map(Value::Points),
        Kind::Choice(words) => choice(node, words),
        Kind::Tables(_) => refuse("is not a table"),
    }
}

/// Returns the values that a key accepts, as a noun phrase that follows the word `expected`.
pub(crate) fn expected(key: &Key, preset: Option<&str>) -> String {
    if let Some(accepted) = key.accepted {
        return accepted.to_owned();
    }
    let word = key.word.map(|word| format!("\"{word}\" or "));
    let word = word.unwrap_or_default();
    let between = |what: &str, range: &RangeInclusive<u64>, units| {
        let [min, max] = [range.start(), range.end()].map(|bound| units::show(*bound, units));
        format!("{word}a {what} from {min} to {max}")
    };
    match &key.kind {
        Kind::Name => NAMES.to_owned(),
        Kind::Formed(form) => form.expected.to_owned(),
        Kind::Title => "one line of 1 to 200 characters".to_owned(),
        Kind::Flag => "true or false".to_owned(),
        Kind::Count(range) => {
            let (min, max) = (range.start(), range.end());
            format!("{word}a whole number from {min} to {max}")
        }
        Kind::Probability => "a number from 0 to below 1".to_owned(),
        Kind::Number(range) => {
            format!("{word}a number from {} to {}", range.start(), range.end())
        }
        Kind::Level(range) => format!("a level from {} to {} dB", range.start(), range.end()),
        Kind::Duration(range) => between("duration", range, units::TIME),
        Kind::Size(range) => format!("{word}a size from {} to {} B", range.start(), range.end()),
        Kind::Rate => {
            let most = units::show(LARGEST_RATE, units::RATE);
            format!("{word}a rate above 0 and up to {most}")
        }
        Kind::Listed(listed) => match preset.and_then(|preset| listed.of(preset)) {
            Some(rates) => format!("one of {}", units::show_rates(rates)),
            None => "a rate of the PHY".to_owned(),
        },
        Kind::Length(range) => between("length", range, units::LENGTH),
        Kind::Names => "a list of names in quotes, such as [\"a\", \"b\"]".to_owned(),
        Kind::Times => times::LIST.to_owned(),
        Kind::TimesFile => times::FILE.to_owned(),
        Kind::Commands => "a command of the shell in quotes, or a list of them".to_owned(),
        Kind::Points(curve) => curve.expected.to_owned(),
        Kind::Choice(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            one_of(&quoted)
        }
        Kind::Tables(inner) => {
            let table = (inner.table)();
            match (inner.is_named, inner.bare) {
                (true, None) => format!("tables [{}.NAME]", table.name),
                (true, Some(_)) => format!("tables [{}.PLACE]", table.name),
                (false, Some(_)) => match inner.bare_key() {
                    Some(main) => format!("{}, or a table", expected(main, preset)),
                    None => "a table".to_owned(),
                },
                (false, None) => {
                    let required: Vec<&str> = table.required().collect();
                    let names: Vec<&str> = table.names().collect();
                    match required.is_empty() {
                        true => format!("a table with some of the keys {}", names.join(", ")),
                        false => format!("a table with at least the key {}", required.join(", ")),
                    }
                }
            }
        }
    }
}

/// Returns the text of a value. A value for which `fault` returns a fault is refused.
fn text<F: Into<String>>(
    node: &Item,
    what: &str,
    fault: impl Fn(&str) -> Option<F>,
) -> Result<String, Refusal> {
    let Some(text) = node.text() else {
        return refuse(format!("is not {what} in quotes"));
    };
    match fault(text) {
        Some(fault) => refuse(fault),
        None => Ok(text.to_owned()),
    }
}

fn fault_of_title(title: &str) -> Option<&'static str> {
    if title.trim().is_empty() {
        Some("is empty")
    } else if title.chars().any(char::is_control) {
        Some("has control characters")
    } else {
        (title.chars().count() > 200).then_some("is too long")
    }
}

/// Description of an accepted name, as a phrase that follows the word `expected`.
pub(crate) const NAMES: &str =
    "a name of up to 64 ASCII letters, digits, `-` and `_`, the first a letter or digit";

/// Returns the fault of `name` as a name of a station, link, flow or node; `None` if the name is
/// accepted.
pub(crate) fn fault_of_name(name: &str) -> Option<&'static str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if name.is_empty() {
        Some("is empty")
    } else if name.len() > LONGEST_NAME {
        Some("is too long for a name")
    } else if !name.chars().all(plain) || name.starts_with(['-', '_']) {
        Some("is not a plain name")
    } else {
        None
    }
}

/// Returns a list of distinct names.
fn names(node: &Item) -> Result<Value, Refusal> {
    let Data::List(items) = &node.data else {
        return refuse("is not a list of names");
    };
    let mut names = Vec::with_capacity(items.len());
    for item in items {
        let name = text(item, "a name", fault_of_name).map_err(|refusal| within(item, refusal))?;
        if names.contains(&name) {
            return refuse(format!("has \"{name}\" twice"));
        }
        names.push(name);
    }
    if names.is_empty() {
        return refuse("is empty");
    }
    Ok(Value::Names(names))
}

/// Returns a command or a list of commands.
fn commands(node: &Item) -> Result<Vec<String>, Refusal> {
    let command = |item: &Item| text(item, "a command", fault_of_command);
    let Data::List(items) = &node.data else {
        return command(node).map(|command| vec![command]);
    };
    let each = items
        .iter()
        .map(|item| command(item).map_err(|refusal| within(item, refusal)));
    match items.as_slice() {
        [] => refuse("is empty"),
        _ => each.collect(),
    }
}

fn fault_of_command(command: &str) -> Option<&'static str> {
    match command {
        blank if blank.trim().is_empty() => Some("is empty"),
        text => text.contains('\0').then_some("has a NUL character"),
    }
}

/// Returns the refusal of a list, because the item `item` of the list was refused.
fn within(item: &Item, refusal: Refusal) -> Refusal {
    let fault = format!("has {}, which {}", item.show(), refusal.fault);
    Refusal { fault, ..refusal }
}

/// Returns the points of a curve, if they are valid for this kind of curve.
fn points(node: &Item, curve: &Curve) -> Result<Vec<(f64, f64)>, Refusal> {
    let Data::List(items) = &node.data else {
        return refuse("is not a list of points");
    };
    let mut points = Vec::with_capacity(items.len().min(curve.most));
    for item in items {
        let Data::List(pair) = &item.data else {
            return refuse(format!("has {}, which is not a point", item.show()));
        };
        let [rate, marginal] = pair.as_slice() else {
            return refuse(format!("has a point of {} numbers", pair.len()));
        };
        let number = |node: &Item| match finite(node) {
            Ok(number) => Ok(number.value),
            Err(refusal) => Err(within(node, refusal)),
        };
        points.push((number(rate)?, number(marginal)?));
    }
    match (curve.fault)(&points) {
        Some(fault) => refuse(fault),
        None => Ok(points),
    }
}

/// Returns a number as a checked value. Adding 0 turns -0 into 0.
fn number(value: f64) -> Value {
    Value::Number(value + 0.0)
}

/// Returns a ratio of two powers, which the file gives with the unit dB. [dB]
fn level(node: &Item) -> Result<f64, Refusal> {
    let no_unit = |number: &str| refuse(format!("has no unit, write \"{number} dB\""));
    let text = match &node.data {
        Data::Text(text) => text.trim(),
        Data::Number(number) => return no_unit(&one_line(&number.text, 40)),
        Data::Table(_) | Data::List(_) | Data::Flag(_) | Data::Date(_) | Data::Null => {
            return refuse("is not a level");
        }
    };
    match (text.strip_suffix("dB"), text.parse::<f64>()) {
        (None, Ok(_)) => no_unit(text),
        (None, Err(_)) => refuse("is not a level"),
        (Some(digits), _) => match digits.trim().parse::<f64>() {
            Ok(value) if value.is_finite() => Ok(value),
            Ok(_) => refuse("is not finite"),
            Err(_) => refuse("is not a level"),
        },
    }
}

/// Returns the hint with the accepted word that the user probably meant by `text`; `None` if no
/// accepted word is similar.
fn meant<'w>(text: &str, words: impl IntoIterator<Item = &'w str>) -> Option<String> {
    nearest(text, words).map(|word| format!("did you mean \"{word}\"?"))
}

fn rate(node: &Item) -> Result<u64, Refusal> {
    let bps = quantity(node, units::RATE, "rate")?;
    match bps {
        0 => refuse("is not a positive rate"),
        _ => in_range(bps, &(1..=LARGEST_RATE)),
    }
}

fn listed_rate(node: &Item, listed: &Listed, preset: Option<&str>) -> Result<Value, Refusal> {
    let bps = rate(node)?;
    match preset.and_then(|preset| Some((preset, listed.of(preset)?))) {
        Some((preset, rates)) if !rates.contains(&bps) => {
            refuse(format!("is no {} of {preset}", listed.what))
        }
        _ => Ok(Value::Rate(bps)),
    }
}

fn choice(node: &Item, words: &[&'static str]) -> Result<Value, Refusal> {
    let Some(text) = node.text() else {
        return refuse("is not one of the words in quotes");
    };
    match words.iter().find(|word| **word == text) {
        Some(word) => Ok(Value::Word(word)),
        None => Err(Refusal {
            fault: "is unknown".to_owned(),
            hint: meant(text, words.iter().copied()),
        }),
    }
}

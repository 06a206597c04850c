//! One value against one [`Kind`]: what it means, or why it is refused.

use super::forms::Form;
use super::problem::{nearest, one_line};
use super::table::{Brought, Curve, Kind, LARGEST_RATE, Listed};
use super::tree::{Data, Item, Number};
use super::units::{self, NotAQuantity, Unit};
use crate::kernel::time::Span;

const LONGEST_NAME: usize = 64;

/// A checked value.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Text, or a name.
    Text(String),
    /// true or false.
    Flag(bool),
    /// A whole number.
    Count(u64),
    /// A number from 0 to below 1.
    Probability(f64),
    /// A number, or a level in decibels.
    Number(f64),
    /// A duration.
    Duration(Span),
    /// A rate. [bit/s]
    Rate(u64),
    /// A size. [bytes]
    Size(u64),
    /// A length. [mm]
    Length(u64),
    /// One of the words a [`Kind`] names.
    Word(&'static str),
    /// A word that a part from outside has added.
    Added(AddedWord),
    /// Names in order.
    Names(Vec<String>),
    /// Points of a curve.
    Points(Vec<(f64, f64)>),
}

/// A word from outside, with who brought it.
#[derive(Clone, Copy)]
pub struct AddedWord {
    /// As the file has it.
    pub word: &'static str,
    /// Whose it is.
    pub brought: Brought,
}

impl PartialEq for AddedWord {
    fn eq(&self, other: &AddedWord) -> bool {
        self.word == other.word
    }
}

impl std::fmt::Debug for AddedWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.word)
    }
}

/// Why a value is refused.
#[derive(Debug)]
pub(crate) struct Refusal {
    /// What is wrong with it, to follow the value: `is not a positive rate`.
    pub(crate) fault: String,
    /// A remedy.
    pub(crate) hint: Option<String>,
}

fn refuse<T>(fault: impl Into<String>) -> Result<T, Refusal> {
    let hint = None;
    Err(Refusal {
        fault: fault.into(),
        hint,
    })
}

/// The meaning of a value that is not a table; `preset`, if known, bounds what hangs on it.
pub(crate) fn check(node: &Item, kind: &Kind, preset: Option<&str>) -> Result<Value, Refusal> {
    match kind {
        Kind::Title => title(node),
        Kind::Name => name(node),
        Kind::Formed(form) => formed(node, form),
        Kind::Flag => match node.data {
            Data::Flag(flag) => Ok(Value::Flag(flag)),
            _ => refuse("is not a truth value"),
        },
        Kind::Count { least, most, .. } => whole(node, *least, *most).map(Value::Count),
        Kind::Probability => probability(node),
        Kind::Number { least, most, word } => word_or(node, *word, || number(node, *least, *most)),
        Kind::Level { least, most } => level(node, *least, *most),
        Kind::Duration { least, most, word } => word_or(node, *word, || {
            let ns = quantity(node, units::TIME, "duration")?;
            in_range(ns, *least, *most)?;
            Ok(Value::Duration(Span(ns)))
        }),
        Kind::Size { least, most, word } => word_or(node, *word, || {
            let bytes = quantity(node, units::SIZE, "size")?;
            in_range(bytes, *least, *most)?;
            Ok(Value::Size(bytes))
        }),
        Kind::Rate { word } => word_or(node, *word, || rate(node).map(Value::Rate)),
        Kind::Listed(listed) => listed_rate(node, listed, preset),
        Kind::Length { least, most } => {
            let mm = quantity(node, units::LENGTH, "length")?;
            in_range(mm, *least, *most)?;
            Ok(Value::Length(mm))
        }
        Kind::Names => names(node),
        Kind::Points(curve) => points(node, curve).map(Value::Points),
        Kind::Choice(words) => choice(node, words),
        Kind::Table(_) | Kind::Shorthand { .. } | Kind::Named(_) => refuse("is not a table"),
    }
}

/// What a kind allows, to follow the words `; allowed`.
pub(crate) fn allowed(kind: &Kind, preset: Option<&str>) -> String {
    let or_word = |word: &Option<&str>| match word {
        Some(word) => format!("\"{word}\" or "),
        None => String::new(),
    };
    match kind {
        Kind::Name => NAMES.to_owned(),
        Kind::Formed(form) => form.allowed.to_owned(),
        Kind::Title => "is one line of 1 to 200 characters".to_owned(),
        Kind::Flag => "are true, false".to_owned(),
        Kind::Count {
            told: Some(told), ..
        } => (*told).to_owned(),
        Kind::Count { least, most, .. } => format!("is a whole number from {least} to {most}"),
        Kind::Probability => "is a number from 0 to below 1".to_owned(),
        Kind::Number { least, most, word } => {
            format!("is {}a number from {least} to {most}", or_word(word))
        }
        Kind::Level { least, most } => format!("is a level from {least} to {most} dB"),
        Kind::Duration { least, most, word } => format!(
            "is {}a duration from {} to {}",
            or_word(word),
            units::show(*least, units::TIME),
            units::show(*most, units::TIME)
        ),
        Kind::Size { least, most, word } => {
            format!("is {}a size from {least} to {most} B", or_word(word))
        }
        Kind::Rate { word } => format!(
            "is {}a rate above 0 and up to {}",
            or_word(word),
            units::show(LARGEST_RATE, units::RATE)
        ),
        Kind::Listed(listed) => match preset.and_then(|preset| listed.of(preset)) {
            Some(rates) => format!("are {}", units::show_rates(rates)),
            None => "is a rate of the PHY".to_owned(),
        },
        Kind::Length { least, most } => format!(
            "is a length from {} to {}",
            units::show(*least, units::LENGTH),
            units::show(*most, units::LENGTH)
        ),
        Kind::Names => "is a list of names in quotes, such as [\"a\", \"b\"]".to_owned(),
        Kind::Points(curve) => curve.allowed.to_owned(),
        Kind::Choice(words) => {
            let quoted: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
            format!("are {}", quoted.join(", "))
        }
        Kind::Table(table) => {
            let table = table();
            let required: Vec<&str> = table.required().collect();
            if required.is_empty() {
                let names: Vec<&str> = table.names().collect();
                format!("is a table with some of the keys {}", names.join(", "))
            } else {
                format!("is a table with at least the key {}", required.join(", "))
            }
        }
        Kind::Named(table) => format!("are tables [{}.NAME]", table().name),
        Kind::Shorthand { table, main } => match table().key(main) {
            Some(key) => format!("{}, or a table", allowed(&key.kind, preset)),
            None => "is a table".to_owned(),
        },
    }
}

fn title(node: &Item) -> Result<Value, Refusal> {
    match &node.data {
        Data::Text(text) if text.trim().is_empty() => refuse("is empty"),
        Data::Text(text) if text.chars().any(char::is_control) => refuse("has control characters"),
        Data::Text(text) if text.chars().count() > 200 => refuse("is too long"),
        Data::Text(text) => Ok(Value::Text(text.clone())),
        _ => refuse("is not text in quotes"),
    }
}

/// What a name may be, to follow the word `allowed`.
pub(crate) const NAMES: &str =
    "are up to 64 ASCII letters, digits, `-` and `_`, the first a letter or digit";

/// What is wrong with `name` as that of a station, link, flow or node.
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

fn name(node: &Item) -> Result<Value, Refusal> {
    match &node.data {
        Data::Text(text) => match fault_of_name(text) {
            Some(fault) => refuse(fault),
            None => Ok(Value::Text(text.clone())),
        },
        _ => refuse("is not a name in quotes"),
    }
}

fn formed(node: &Item, form: &Form) -> Result<Value, Refusal> {
    match &node.data {
        Data::Text(text) => match (form.fault)(text.trim()) {
            Some(fault) => refuse(fault),
            None => Ok(Value::Text(text.trim().to_owned())),
        },
        _ => refuse("is not text in quotes"),
    }
}

/// A list of plain names, none of them twice.
fn names(node: &Item) -> Result<Value, Refusal> {
    let Data::List(items) = &node.data else {
        return refuse("is not a list of names");
    };
    let mut names = Vec::with_capacity(items.len());
    for item in items {
        let Value::Text(name) = name(item).map_err(|refusal| Refusal {
            fault: format!("has {}, which {}", item.show(), refusal.fault),
            ..refusal
        })?
        else {
            return refuse("is not a list of names");
        };
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

/// A list of pairs of numbers.
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
            Err(refusal) => refuse(format!("has {}, which {}", node.show(), refusal.fault)),
        };
        points.push((number(rate)?, number(marginal)?));
    }
    match (curve.fault)(&points) {
        Some(fault) => refuse(fault),
        None => Ok(points),
    }
}

fn finite(node: &Item) -> Result<&Number, Refusal> {
    match &node.data {
        Data::Number(number) if number.value.is_finite() => Ok(number),
        Data::Number(number) if number.text.ends_with("nan") => refuse("is not a number"),
        Data::Number(_) => refuse("is not finite"),
        _ => refuse("is not a number"),
    }
}

fn whole(node: &Item, least: u64, most: u64) -> Result<u64, Refusal> {
    let number = finite(node)?;
    if number.value < 0.0 {
        return refuse("is negative");
    }
    match number.whole.map(u64::try_from) {
        Some(Ok(count)) => in_range(count, least, most).map(|()| count),
        Some(Err(_)) => refuse("is too large"),
        None if number.value > most as f64 => refuse("is too large"),
        None => refuse("is not a whole number"),
    }
}

fn probability(node: &Item) -> Result<Value, Refusal> {
    let number = finite(node)?;
    if number.value < 0.0 {
        refuse("is negative")
    } else if number.value >= 1.0 {
        refuse("is not below 1")
    } else {
        // Adding 0 turns -0 into 0.
        Ok(Value::Probability(number.value + 0.0))
    }
}

fn number(node: &Item, least: f64, most: f64) -> Result<Value, Refusal> {
    let number = finite(node)?.value;
    if number < least {
        refuse("is too small")
    } else if number > most {
        refuse("is too large")
    } else {
        // Adding 0 turns -0 into 0.
        Ok(Value::Number(number + 0.0))
    }
}

/// A number with the unit dB.
fn level(node: &Item, least: f64, most: f64) -> Result<Value, Refusal> {
    let Data::Text(text) = &node.data else {
        let text = match &node.data {
            Data::Number(number) => one_line(&number.text, 40),
            _ => return refuse("is not a level"),
        };
        return refuse(format!("has no unit, write \"{text} dB\""));
    };
    let Some(digits) = text.trim().strip_suffix("dB").map(str::trim) else {
        return match text.trim().parse::<f64>() {
            Ok(_) => refuse(format!("has no unit, write \"{} dB\"", text.trim())),
            Err(_) => refuse("is not a level"),
        };
    };
    match digits.parse::<f64>() {
        Ok(value) if !value.is_finite() => refuse("is not finite"),
        Ok(value) if value < least => refuse("is too small"),
        Ok(value) if value > most => refuse("is too large"),
        // Adding 0 turns -0 into 0.
        Ok(value) => Ok(Value::Number(value + 0.0)),
        Err(_) => refuse("is not a level"),
    }
}

fn in_range(value: u64, least: u64, most: u64) -> Result<(), Refusal> {
    if value < least {
        refuse("is too small")
    } else if value > most {
        refuse("is too large")
    } else {
        Ok(())
    }
}

fn word_or(
    node: &Item,
    word: Option<&'static str>,
    otherwise: impl FnOnce() -> Result<Value, Refusal>,
) -> Result<Value, Refusal> {
    match (&node.data, word) {
        (Data::Text(text), Some(word)) if text.trim() == word => Ok(Value::Word(word)),
        (Data::Text(text), Some(word)) => otherwise().map_err(|refusal| Refusal {
            hint: refusal
                .hint
                .or_else(|| nearest(text, [word]).map(|word| format!("did you mean \"{word}\"?"))),
            ..refusal
        }),
        _ => otherwise(),
    }
}

/// A number with a unit, in base units.
fn quantity(node: &Item, units: &[Unit], what: &str) -> Result<u64, Refusal> {
    let text = match &node.data {
        Data::Text(text) => text,
        Data::Number(_) => &finite(node)?.text,
        _ => return refuse(format!("is not a {what}")),
    };
    let names: Vec<&str> = units.iter().map(|unit| unit.name).collect();
    units::parse(text, units).or_else(|fault| match fault {
        NotAQuantity::NoNumber => refuse(format!("is not a {what}")),
        NotAQuantity::NotFinite => refuse("is not finite"),
        NotAQuantity::Negative => refuse("is negative"),
        NotAQuantity::NoUnit => {
            let number = text.trim();
            // A rate in the thousands was thought of in bit/s.
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

fn rate(node: &Item) -> Result<u64, Refusal> {
    let bps = quantity(node, units::RATE, "rate")?;
    if bps == 0 {
        return refuse("is not a positive rate");
    }
    in_range(bps, 1, LARGEST_RATE)?;
    Ok(bps)
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
    let Data::Text(text) = &node.data else {
        return refuse("is not one of the words in quotes");
    };
    match words.iter().find(|word| *word == text) {
        Some(word) => Ok(Value::Word(word)),
        None => Err(Refusal {
            fault: "is unknown".to_owned(),
            hint: nearest(text, words.iter().copied())
                .map(|word| format!("did you mean \"{word}\"?")),
        }),
    }
}

//! Reads TOML text into the value tree.

use std::collections::HashSet;

use toml::Spanned;
use toml::de::{DeString, DeTable, DeValue, Error};

use super::problem::{Origin, Problems, WHOLE_FILE, one_line};
use super::tree::{DEEPEST, Data, Item, Lines, Number};
use super::unclosed;

/// Message of the TOML parser about a duplicate key. The parsed tree is valid in spite of this
/// error.
const DUPLICATE: &str = "duplicate key";
/// Fragment of the parser's message about a key that is added to an inline table. A problem with
/// this message has the hint [`COMPLETE_HINT`].
const COMPLETE: &str = "cannot extend value of type inline table";
const COMPLETE_HINT: &str = "a table in braces, such as `vsb = {}`, cannot get keys from other lines: write `[vsb]` \
     instead";

/// Returns the value tree of a text; `None` if the text is not TOML. A duplicate key is reported as
/// a problem, but the tree is still returned.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Item> {
    let lines = Lines::of(text);
    let (table, errors) = DeTable::parse_recoverable(text);
    let readable = report(text, &lines, &errors, problems);
    let line = |offset| Origin::Line(lines.line(offset));
    readable.then(|| Item {
        origin: Origin::File,
        data: table_data(table.get_ref(), &line, 0),
    })
}

/// Returns the value that `text` contains, if it is a TOML value.
pub(crate) fn read_value(text: &str, origin: Origin) -> Option<Item> {
    let value = DeValue::parse(text.trim()).ok()?;
    Some(Item {
        origin,
        data: data(value.get_ref(), &|_| origin, 0),
    })
}

fn table_data(table: &DeTable, origin: &dyn Fn(usize) -> Origin, depth: usize) -> Data {
    if depth > DEEPEST {
        return Data::Table(Vec::new());
    }
    let entry = |(key, value): (&Spanned<DeString>, &Spanned<DeValue>)| {
        let node = Item {
            origin: origin(key.span().start),
            data: data(value.get_ref(), origin, depth + 1),
        };
        (key.get_ref().to_string(), node)
    };
    Data::Table(table.iter().map(entry).collect())
}

fn data(value: &DeValue, origin: &dyn Fn(usize) -> Origin, depth: usize) -> Data {
    match value {
        DeValue::String(text) => Data::Text(text.to_string()),
        DeValue::Integer(integer) => {
            // parsing fails only for integers that are too large, because the TOML parser has
            // checked the digits
            let value = i128::from_str_radix(integer.as_str(), integer.radix()).ok();
            let large = || integer.as_str().parse().unwrap_or(f64::MAX);
            Data::Number(Number {
                text: integer.to_string(),
                value: value.map_or_else(large, |value| value as f64),
                integer: value,
            })
        }
        DeValue::Float(float) => match Number::read(float.as_str()) {
            Some(number) => Data::Number(number),
            None => Data::Text(float.to_string()),
        },
        DeValue::Boolean(flag) => Data::Flag(*flag),
        DeValue::Datetime(date) => Data::Date(date.to_string()),
        DeValue::Array(items) => {
            let item = |value: &Spanned<DeValue>| Item {
                origin: origin(value.span().start),
                data: match value.get_ref() {
                    DeValue::Array(_) if depth > DEEPEST => Data::List(Vec::new()),
                    DeValue::Table(_) => Data::Table(Vec::new()),
                    other => data(other, origin, depth + 1),
                },
            };
            Data::List(items.iter().map(item).collect())
        }
        DeValue::Table(table) => table_data(table, origin, depth),
    }
}

/// Reports the first error of each line. Returns false if the tree is not valid.
fn report(text: &str, lines: &Lines, errors: &[Error], problems: &mut Problems) -> bool {
    let mut reported = HashSet::new();
    let mut readable = true;
    let unclosed = errors
        .iter()
        .any(|error| error.message() != DUPLICATE)
        .then(|| unclosed::opener(text))
        .flatten();
    for error in errors {
        if problems.is_full() {
            break;
        }
        let offset = error.span().map_or(0, |span| span.start);
        let line = lines.line(offset);
        if unclosed.is_some_and(|(opened, _)| line >= lines.line(opened)) {
            // errors on the line of the unclosed bracket, and on later lines, are consequences of
            // this bracket
            continue;
        }
        if !reported.insert(line) {
            continue;
        }
        let duplicate = error.message() == DUPLICATE;
        readable &= duplicate;
        if duplicate {
            let key = error.span().and_then(|span| text.get(span));
            let path = path_at_line(text, line, key.unwrap_or_default());
            let message = "defined twice; expected one definition of each name".to_owned();
            problems.add(Origin::Line(line), &path, message);
        } else {
            let message = format!("not valid TOML: {}", one_line(error.message(), 200));
            let hint = (error.message().contains(COMPLETE)).then(|| COMPLETE_HINT.to_owned());
            problems.add_with_hint(Origin::Line(line), WHOLE_FILE, message, hint);
        }
    }
    if let Some((opened, mark)) = unclosed {
        let message = format!("not valid TOML: `{mark}` opens here and is not closed");
        problems.add(Origin::Line(lines.line(opened)), WHOLE_FILE, message);
        readable = false;
    }
    readable
}

/// Returns the full path of `key`, which `line` defines. The table header above the line gives the
/// first part of the path.
fn path_at_line(text: &str, line: usize, key: &str) -> String {
    let header = |l: &str| {
        let inner = l.trim().strip_prefix('[')?.split(']').next()?;
        Some(inner.trim_start_matches('[').trim().to_owned())
    };
    let mut upwards: Vec<&str> = text.lines().take(line).collect();
    upwards.reverse();
    let mut upwards = upwards.into_iter();
    let this = upwards.next().unwrap_or_default();
    let mut path = header(this).unwrap_or_else(|| {
        let table = upwards.find_map(header).unwrap_or_default();
        let left = this.split('=').next().unwrap_or_default().trim();
        let dot = if table.is_empty() { "" } else { "." };
        format!("{table}{dot}{left}")
    });
    if !path.ends_with(key) {
        path = format!("{path}.{key}");
    }
    if path.is_empty() {
        WHOLE_FILE.to_owned()
    } else {
        path
    }
}

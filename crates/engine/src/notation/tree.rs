//! The value tree of a file, in either format, or of an override.

use super::problem::{Origin, one_line};

/// Maximum depth of nested tables. Deeper tables are ignored, because the grammar has at most four
/// levels.
pub(crate) const DEEPEST: usize = 16;

/// A value of the tree, with the line or override that sets it.
#[derive(Clone, Debug)]
pub struct Item {
    pub(crate) origin: Origin,
    pub(crate) data: Data,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Data {
    /// Keys and values in order of the file, without duplicate keys.
    Table(Vec<(String, Item)>),
    /// Items of a list, in order. A table inside a list becomes an empty table.
    List(Vec<Item>),
    Text(String),
    Number(Number),
    Flag(bool),
    /// Text of a TOML date or time.
    Date(String),
    Null,
}

/// A number as written, and its value.
#[derive(Clone, Debug)]
pub struct Number {
    pub(crate) text: String,
    pub(crate) value: f64,
    /// The value as an integer, if the number is whole and exactly representable.
    pub(crate) integer: Option<i128>,
}

impl Number {
    /// Parses a number in Rust's notation, which includes the decimal notations of TOML and JSON.
    pub(crate) fn read(text: &str) -> Option<Number> {
        let value: f64 = text.parse().ok()?;
        let is_exact_integer = value.fract() == 0.0 && value.abs() <= 9_007_199_254_740_992.0;
        Some(Number {
            text: text.to_owned(),
            value,
            integer: text
                .parse()
                .ok()
                .or(is_exact_integer.then_some(value as i128)),
        })
    }
}

impl Item {
    /// Returns an empty table.
    pub(crate) fn empty(origin: Origin) -> Item {
        let data = Data::Table(Vec::new());
        Item { origin, data }
    }

    /// Returns the text of the value for error messages.
    pub(crate) fn show(&self) -> String {
        match &self.data {
            Data::Table(_) => "a table".to_owned(),
            Data::List(_) => "a list".to_owned(),
            Data::Text(text) => format!("\"{}\"", one_line(text, 40)),
            Data::Number(number) => one_line(&number.text, 40),
            Data::Flag(flag) => flag.to_string(),
            Data::Date(text) => one_line(text, 40),
            Data::Null => "null".to_owned(),
        }
    }

    /// Returns whether the value is the number 0, without a unit.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(&self.data, Data::Number(number) if number.value == 0.0)
    }

    /// Returns the entries of a table; `None` for other values.
    pub(crate) fn entries(&self) -> Option<&[(String, Item)]> {
        if let Data::Table(entries) = &self.data {
            return Some(entries);
        }
        None
    }

    /// Returns the content of text; `None` for other values.
    pub(crate) fn text(&self) -> Option<&str> {
        if let Data::Text(text) = &self.data {
            return Some(text);
        }
        None
    }

    /// Returns the value of the key `key` of a table; `None` without this key, or if this item is
    /// not a table.
    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        let mut entries = self.entries()?.iter();
        entries.find(|(name, _)| name == key).map(|(_, item)| item)
    }

    /// Returns the value of a key of a table, which may be changed; `None` without this key.
    pub(crate) fn get_mut(&mut self, key: &str) -> Option<&mut Item> {
        let Data::Table(entries) = &mut self.data else {
            return None;
        };
        let mut entries = entries.iter_mut();
        entries.find(|(name, _)| name == key).map(|(_, item)| item)
    }
}

/// Returns the dotted path of `key` in the table at `path`. The key is quoted if TOML requires
/// quotes.
pub(crate) fn join(path: &str, key: &str) -> String {
    let bare = |c: u8| c.is_ascii_alphanumeric() || c == b'-' || c == b'_';
    let is_bare = !key.is_empty() && key.bytes().all(bare);
    let (dot, quote) = (
        if path.is_empty() { "" } else { "." },
        if is_bare { "" } else { "\"" },
    );
    [path, dot, quote, key, quote].concat()
}

/// Converts byte offsets into line numbers.
pub(crate) struct Lines {
    /// Offset of the first byte of each line.
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let after_breaks = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(after_breaks.map(|(at, _)| at + 1));
        Lines {
            starts: starts.collect(),
        }
    }

    /// Returns the offset of the first byte of a line, counted from 1.
    pub(crate) fn start(&self, line: usize) -> Option<usize> {
        self.starts.get(line.checked_sub(1)?).copied()
    }

    /// Returns the line of the byte at `offset`, counted from 1.
    pub(crate) fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }
}

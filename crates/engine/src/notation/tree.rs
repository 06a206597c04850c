//! The value tree of a file, in either format, or of an override.

use super::problem::{Origin, one_line};

/// Maximum depth of nested tables. Deeper tables are cut off. The grammar needs four levels.
pub(crate) const DEEPEST: usize = 16;

/// A value of the tree, and the place of its key in the file.
#[derive(Clone, Debug)]
pub struct Item {
    pub(crate) origin: Origin,
    pub(crate) data: Data,
}

/// A value.
#[derive(Clone, Debug)]
pub enum Data {
    /// Keys in order of the file, without duplicates.
    Table(Vec<(String, Item)>),
    /// Items in order. Tables in a list are replaced by empty tables.
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
    /// The value, if it is a whole number and known exactly.
    pub(crate) integer: Option<i128>,
}

impl Number {
    /// Parses a number in the notation of Rust, which includes the decimal notations of TOML and
    /// JSON.
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

    /// Returns the value of `key` in a table, if it has this key.
    pub(crate) fn get(&self, key: &str) -> Option<&Item> {
        let mut entries = self.entries()?.iter();
        entries.find(|(name, _)| name == key).map(|(_, item)| item)
    }
}

/// Returns the path of `key` in the table at `path`. The key is quoted if TOML requires quotes.
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

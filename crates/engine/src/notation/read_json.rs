//! Reads JSON text into the value tree.
//!
//! serde_json parses the text. Line numbers are computed from its raw values, which are slices of
//! the text.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::problem::{Origin, Problems, WHOLE_FILE};
use super::tree::{DEEPEST, Data, Item, Lines, Number, join};

/// Returns the value tree of a text; `None` if the text is not JSON. A duplicate key is reported as
/// a problem, but the tree is still returned.
pub(crate) fn read(text: &str, problems: &mut Problems) -> Option<Item> {
    let mut reader = Reader {
        text,
        lines: Lines::of(text),
        problems,
    };
    let raw: &RawValue = match serde_json::from_str(text) {
        Ok(raw) => raw,
        Err(error) => {
            if let Some(comma) = trailing_comma(text, &reader.lines, &error) {
                let message = "not valid JSON: nothing follows this comma; expected commas \
                               between entries, not after the last";
                let line = Origin::Line(reader.lines.line(comma));
                reader.problems.add(line, WHOLE_FILE, message.to_owned());
                return None;
            }
            reader.not_json(1, &error);
            return None;
        }
    };
    let data = reader.data(raw, "", 0)?;
    Some(Item {
        origin: Origin::File,
        data,
    })
}

/// Returns the offset of a trailing comma, if the parser stopped at a closing bracket after a
/// comma.
fn trailing_comma(text: &str, lines: &Lines, error: &serde_json::Error) -> Option<usize> {
    let stopped = lines.start(error.line())? + error.column().checked_sub(1)?;
    let closes = text.get(stopped..)?.trim_start().starts_with(['}', ']']);
    let before = text.get(..stopped)?.trim_end();
    (closes && before.ends_with(',')).then(|| before.len() - 1)
}

struct Reader<'a, 'p, 's> {
    text: &'a str,
    lines: Lines,
    problems: &'p mut Problems<'s>,
}

impl<'a> Reader<'a, '_, '_> {
    fn line(&self, raw: &'a RawValue) -> usize {
        // `raw` is a slice of the text, so its address gives the offset
        self.lines
            .line(raw.get().as_ptr() as usize - self.text.as_ptr() as usize)
    }

    fn not_json(&mut self, first_line: usize, error: &serde_json::Error) {
        let message = error.to_string();
        let cause = message.split(" at line ").next().unwrap_or(&message);
        let line = (first_line + error.line()).saturating_sub(1).max(1);
        let message = format!("not valid JSON: {cause}");
        self.problems.add(Origin::Line(line), WHOLE_FILE, message);
    }

    fn parse<T: Deserialize<'a>>(&mut self, raw: &'a RawValue) -> Option<T> {
        serde_json::from_str(raw.get())
            .map_err(|error| self.not_json(self.line(raw), &error))
            .ok()
    }

    fn data(&mut self, raw: &'a RawValue, path: &str, depth: usize) -> Option<Data> {
        let text = raw.get();
        Some(match text.as_bytes()[0] {
            b'{' if depth > DEEPEST => Data::Table(Vec::new()),
            b'{' => self.table(raw, path, depth)?,
            b'[' if depth > DEEPEST => Data::List(Vec::new()),
            b'[' => self.list(raw, depth)?,
            b'"' => Data::Text(self.parse(raw)?),
            b't' => Data::Flag(true),
            b'f' => Data::Flag(false),
            b'n' => Data::Null,
            _ => Number::read(text).map_or(Data::Text(text.to_owned()), Data::Number),
        })
    }

    fn list(&mut self, raw: &'a RawValue, depth: usize) -> Option<Data> {
        let items: Vec<&'a RawValue> = self.parse(raw)?;
        let mut list = Vec::with_capacity(items.len());
        for raw in items {
            let data = match raw.get().as_bytes()[0] {
                b'{' => Data::Table(Vec::new()),
                _ => self.data(raw, "", depth + 1)?,
            };
            let origin = Origin::Line(self.line(raw));
            list.push(Item { origin, data });
        }
        Some(Data::List(list))
    }

    fn table(&mut self, raw: &'a RawValue, path: &str, depth: usize) -> Option<Data> {
        let Entries(entries) = self.parse(raw)?;
        let mut seen = std::collections::HashSet::new();
        let mut table = Vec::with_capacity(entries.len());
        for (key, raw) in entries {
            let origin = Origin::Line(self.line(raw));
            let path = join(path, &key);
            if !seen.insert(key.clone()) {
                let message = "defined twice; expected one definition of each name".to_owned();
                self.problems.add(origin, &path, message);
                continue;
            }
            let data = self.data(raw, &path, depth + 1)?;
            table.push((key, Item { origin, data }));
        }
        Some(Data::Table(table))
    }
}

/// The keys and values of a JSON object, including duplicate keys.
struct Entries<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Entries<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Vec<(String, &'de RawValue)>;
            fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(members)
            }
        }
        deserializer.deserialize_map(Members).map(Entries)
    }
}

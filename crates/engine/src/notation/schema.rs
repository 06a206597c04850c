//! The JSON Schema of scenario files, derived from the grammar.

use std::ops::RangeInclusive;

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::table::{Added, Default, Grammar, Key, Kind, Table};
use super::times::MAX_TIMES;
use super::units::{self, Unit};
use super::value::expected;

/// Pattern of the name of a station, link, flow or node.
const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";

/// Pattern of a place where programs run: the server, a station, or one end of a wired flow. The
/// name may be six characters longer than [`NAME`], because the stations of a group have a number
/// after the name of the group.
const PLACE: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,69}(/(source|sink))?$";
/// Pattern of a shell command.
const COMMAND: &str = r"^(?=[\s\S]*\S)[^\u0000]*$";

/// Returns the JSON Schema (2020-12) of scenario files in TOML or JSON. The schema also accepts
/// bare values in place of tables. A file must have at least one of the keys `needed`.
pub fn schema(grammar: &Grammar, title: &str, needed: &[&str]) -> Value {
    let mut writer = Writer {
        reserved_name: grammar.reserved_name,
        added: grammar.added,
        definitions: Map::new(),
    };
    let table = writer.table(grammar.root);
    let needed = needed.iter().map(|key| json!({"required": [key]}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": title,
        "description": table["description"],
        "type": "object",
        "properties": table["properties"],
        "additionalProperties": false,
        "anyOf": needed.collect::<Vec<_>>(),
        "$defs": writer.definitions,
    })
}

struct Writer<'a> {
    added: &'a Added,
    reserved_name: &'static str,
    definitions: Map<String, Value>,
}

impl Writer<'_> {
    fn table(&mut self, table: &Table) -> Value {
        let mut properties = Map::new();
        for (key, inherits) in self.added.keys(table) {
            properties.insert(key.name.to_owned(), self.property(key, inherits));
        }
        let mut schema = json!({
            "description": table.doc,
            "type": "object",
            "properties": properties,
        });
        let needed = table.keys().filter(|(key, _)| key.default.is_needed());
        let required: Vec<&str> = needed.map(|(key, _)| key.name).collect();
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        schema["additionalProperties"] = json!(false);
        schema
    }

    fn property(&mut self, key: &Key, inherits: Option<&str>) -> Value {
        let mut schema = self.kind(key);
        if let Some(Value::Array(words)) = schema.get_mut("enum") {
            words.extend(self.added.words(key.name).map(|added| json!(added.word)));
        }
        let mut description = key.doc.to_owned();
        if let Some(range) = range(key) {
            description += &format!(" Must be {range}.");
        }
        let mut default = None;
        match (&key.default, inherits) {
            (Default::Required | Default::Checked, _) => {}
            (_, Some(from)) => {
                description += &format!(" Default: the value of this key in {from}.")
            }
            (Default::Depends(what) | Default::Absent(what), _) => {
                description += &format!(" Default: {what}.")
            }
            (Default::ByNetwork(each), _) => {
                description += &format!(" Default: {}.", each.description())
            }
            (Default::ByPreset(values), _) => description += &format!(" Default: {}.", values()),
            (Default::Text(text), _) => default = Some(json!(text)),
            (Default::Count(count), _) => default = Some(json!(count)),
            (Default::Number(number), _) => default = Some(json!(number)),
            (Default::Flag(flag), _) => default = Some(json!(flag)),
        }
        schema["description"] = json!(description);
        if let Some(default) = default {
            schema["default"] = default;
        }
        schema
    }

    fn kind(&mut self, key: &Key) -> Value {
        match &key.kind {
            Kind::Title => json!({
                "type": "string",
                "maxLength": 200,
                "pattern": r"^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]*$",
            }),
            Kind::Name => json!({"type": "string", "pattern": NAME}),
            Kind::Formed(form) => json!({"type": "string", "pattern": form.pattern}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Count(range) => number("integer", range, key.word),
            Kind::Probability => json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
            Kind::Number(range) => number("number", range, key.word),
            Kind::Level { .. } => json!({
                "type": "string",
                "pattern": r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*dB\s*$",
            }),
            Kind::Duration(_) => quantity(units::TIME, key.word),
            Kind::Rate | Kind::Listed(_) => quantity(units::RATE, key.word),
            Kind::Size(_) => quantity(units::SIZE, key.word),
            Kind::Length(_) => quantity(units::LENGTH, key.word),
            Kind::Names => json!({
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "items": {"type": "string", "pattern": NAME},
            }),
            Kind::Times => json!({
                "type": "array",
                "minItems": 1,
                "maxItems": MAX_TIMES,
                "items": {"oneOf": [{"type": "integer", "minimum": 0}, quantity(units::TIME, None)]},
            }),
            Kind::TimesFile => json!({"type": "string"}),
            Kind::Commands => {
                let command = json!({"type": "string", "pattern": COMMAND});
                json!({"oneOf": [command, {"type": "array", "minItems": 1, "items": command}]})
            }
            Kind::Points(curve) => json!({
                "type": "array",
                "minItems": 2,
                "maxItems": curve.most,
                "items": {
                    "type": "array",
                    "minItems": 2,
                    "maxItems": 2,
                    "items": {"type": "number", "exclusiveMinimum": 0},
                },
            }),
            Kind::Choice(words) => json!({"enum": words}),
            Kind::Tables(inner) => {
                let bare = inner.bare_key().map(|key| self.kind(key));
                let table = self.reference((inner.table)());
                if let Some(groups) = inner.groups {
                    let groups = self.reference(groups());
                    let definition = &mut self.definitions[(inner.table)().name];
                    definition["additionalProperties"] = groups;
                    definition["propertyNames"] = json!({"pattern": NAME});
                }
                let table = match &bare {
                    Some(bare) if inner.is_absent_at_zero => {
                        json!({"oneOf": [bare, table, {"type": "integer", "minimum": 0, "maximum": 0}]})
                    }
                    Some(bare) => json!({"oneOf": [bare, table]}),
                    None => table,
                };
                let names = match bare {
                    _ if !inner.is_named => return table,
                    Some(_) => json!({"pattern": PLACE}),
                    None => json!({"pattern": NAME, "not": {"const": self.reserved_name}}),
                };
                json!({
                    "type": "object",
                    "minProperties": 1,
                    "propertyNames": names,
                    "additionalProperties": table,
                })
            }
        }
    }

    fn reference(&mut self, inner: &Table) -> Value {
        if !self.definitions.contains_key(inner.name) {
            self.definitions.insert(inner.name.to_owned(), Value::Null);
            let schema = self.table(inner);
            self.definitions.insert(inner.name.to_owned(), schema);
        }
        json!({"$ref": format!("#/$defs/{}", inner.name)})
    }
}

/// Returns the schema of a number in a range; `word` is also accepted.
fn number<N: Serialize>(kind: &str, range: &RangeInclusive<N>, word: Option<&str>) -> Value {
    let number = json!({"type": kind, "minimum": range.start(), "maximum": range.end()});
    match word {
        Some(word) => json!({"oneOf": [number, {"enum": [word]}]}),
        None => number,
    }
}

/// Returns the schema of text with a number and one of the units; `word` is also accepted.
fn quantity(units: &[Unit], word: Option<&str>) -> Value {
    let names: Vec<&str> = units.iter().map(|unit| unit.name).collect();
    let number = r"\+?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?";
    let pattern = format!(r"{number}\s*({})", names.join("|"));
    let pattern = match word {
        Some(word) => format!(r"^\s*({word}|{pattern})\s*$"),
        None => format!(r"^\s*{pattern}\s*$"),
    };
    json!({"type": "string", "pattern": pattern})
}

/// Returns the accepted range of a quantity as text for its description, because the pattern of the
/// quantity does not limit the value; `None` for kinds of values without such a text.
fn range(key: &Key) -> Option<String> {
    let of = |(preset, rates): (&str, &[u64])| format!("{preset} {}", units::show_rates(rates));
    match &key.kind {
        Kind::Formed(form) => Some(form.expected.to_owned()),
        Kind::Listed(listed) => {
            let lists: Vec<String> = (listed.rates)().into_iter().map(of).collect();
            Some(format!("one of {}", lists.join("; ")))
        }
        Kind::Duration(_)
        | Kind::Length(_)
        | Kind::Level(_)
        | Kind::Points(_)
        | Kind::Rate
        | Kind::Times
        | Kind::TimesFile
        | Kind::Size(_) => Some(expected(key, None)),
        Kind::Title
        | Kind::Name
        | Kind::Flag
        | Kind::Count(_)
        | Kind::Probability
        | Kind::Number(_)
        | Kind::Names
        | Kind::Commands
        | Kind::Choice(_)
        | Kind::Tables(_) => None,
    }
}

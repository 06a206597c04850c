//! JSON Schema of the scenario file, read off the grammar.

use serde_json::{Map, Value, json};

use super::table::{Added, Default, Grammar, Key, Kind, Table};
use super::units::{self, Unit};
use super::value::allowed;

/// A plain name.
const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";

/// JSON Schema (2020-12) of a file, in TOML or JSON, shorthands included. It must have one of the
/// keys `needed`.
pub fn schema(grammar: &Grammar, title: &str, needed: &[&str]) -> Value {
    let mut writer = Writer {
        reserved_name: grammar.reserved_name,
        added: grammar.added,
        definitions: Map::new(),
    };
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_owned(), json!(title));
    schema.extend(writer.table(grammar.root));
    schema.remove("required");
    let needed = needed.iter().map(|key| json!({"required": [key]}));
    schema.insert("anyOf".to_owned(), needed.collect());
    schema.insert("$defs".to_owned(), Value::Object(writer.definitions));
    Value::Object(schema)
}

struct Writer<'a> {
    added: &'a Added,
    reserved_name: &'static str,
    definitions: Map<String, Value>,
}

impl Writer<'_> {
    fn table(&mut self, table: &Table) -> Map<String, Value> {
        let mut properties = Map::new();
        for (key, inherits) in self.added.keys(table) {
            properties.insert(key.name.to_owned(), self.property(key, inherits));
        }
        let mut schema = Map::new();
        schema.insert("description".to_owned(), json!(table.doc));
        schema.insert("type".to_owned(), json!("object"));
        schema.insert("properties".to_owned(), Value::Object(properties));
        let required: Vec<&str> = table.required().collect();
        if !required.is_empty() {
            schema.insert("required".to_owned(), json!(required));
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    fn property(&mut self, key: &Key, inherits: Option<&str>) -> Value {
        let mut schema = self.kind(&key.kind);
        if let Some(Value::Array(words)) = schema.get_mut("enum") {
            words.extend(self.added.words(key.name).map(|(word, _)| json!(word)));
        }
        let mut description = key.doc.to_owned();
        if let Some(range) = range(&key.kind) {
            description += &format!(" Allowed {range}.");
        }
        let mut default = None;
        match (&key.default, inherits) {
            (Default::Required, _) => {}
            (_, Some(from)) => description += &format!(" Default: that of {from}."),
            (Default::Depends(what) | Default::Absent(what), _) => {
                description += &format!(" Default: {what}.")
            }
            (Default::Told(values), _) => description += &format!(" Default: {}.", values()),
            (Default::Text(text), _) => default = Some(json!(text)),
            (Default::Count(count), _) => default = Some(json!(count)),
            (Default::Probability(p), _) => default = Some(json!(p)),
            (Default::Number(number), _) => default = Some(json!(number)),
            (Default::Flag(flag), _) => default = Some(json!(flag)),
        }
        schema.insert("description".to_owned(), json!(description));
        if let Some(default) = default {
            schema.insert("default".to_owned(), default);
        }
        Value::Object(schema)
    }

    fn kind(&mut self, kind: &Kind) -> Map<String, Value> {
        let schema = match kind {
            Kind::Title => json!({
                "type": "string",
                "maxLength": 200,
                "pattern": r"^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]*$",
            }),
            Kind::Name => json!({"type": "string", "pattern": NAME}),
            Kind::Formed(form) => json!({"type": "string", "pattern": form.pattern}),
            Kind::Flag => json!({"type": "boolean"}),
            Kind::Count { least, most, .. } => {
                json!({"type": "integer", "minimum": least, "maximum": most})
            }
            Kind::Probability => json!({"type": "number", "minimum": 0, "exclusiveMaximum": 1}),
            Kind::Number { least, most, word } => {
                let number = json!({"type": "number", "minimum": least, "maximum": most});
                match word {
                    Some(word) => json!({"oneOf": [number, {"enum": [word]}]}),
                    None => number,
                }
            }
            Kind::Level { .. } => json!({
                "type": "string",
                "pattern": r"^\s*[-+]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*dB\s*$",
            }),
            Kind::Duration { word, .. } => quantity(units::TIME, *word),
            Kind::Rate { word } => quantity(units::RATE, *word),
            Kind::Listed(_) => quantity(units::RATE, None),
            Kind::Size { word, .. } => quantity(units::SIZE, *word),
            Kind::Length { .. } => quantity(units::LENGTH, None),
            Kind::Names => json!({
                "type": "array",
                "minItems": 1,
                "uniqueItems": true,
                "items": {"type": "string", "pattern": NAME},
            }),
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
            Kind::Table(inner) => self.reference(inner()),
            Kind::Shorthand { table: inner, main } => {
                let bare = inner().key(main).map(|key| self.kind(&key.kind));
                json!({"oneOf": [bare, self.reference(inner())]})
            }
            Kind::Named(inner) => json!({
                "type": "object",
                "minProperties": 1,
                "propertyNames": {
                    "pattern": NAME,
                    "not": {"const": self.reserved_name},
                },
                "additionalProperties": self.reference(inner()),
            }),
        };
        match schema {
            Value::Object(schema) => schema,
            other => Map::from_iter([("const".to_owned(), other)]),
        }
    }

    fn reference(&mut self, inner: &Table) -> Value {
        if !self.definitions.contains_key(inner.name) {
            self.definitions.insert(inner.name.to_owned(), Value::Null);
            let schema = self.table(inner);
            self.definitions
                .insert(inner.name.to_owned(), Value::Object(schema));
        }
        json!({"$ref": format!("#/$defs/{}", inner.name)})
    }
}

/// Text with a number and one of the units, or the word.
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

/// What the type and pattern of a quantity cannot say: its range.
fn range(kind: &Kind) -> Option<String> {
    let of = |(preset, rates): (&str, &[u64])| format!("{preset} {}", units::show_rates(rates));
    match kind {
        Kind::Formed(form) => Some(form.allowed.to_owned()),
        Kind::Listed(listed) => {
            let lists: Vec<String> = (listed.rates)().into_iter().map(of).collect();
            Some(format!("are {}", lists.join("; ")))
        }
        Kind::Duration { .. }
        | Kind::Length { .. }
        | Kind::Level { .. }
        | Kind::Points(_)
        | Kind::Rate { .. }
        | Kind::Size { .. } => Some(allowed(kind, None)),
        _ => None,
    }
}

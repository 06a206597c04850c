//! JSON Schema of the scenario file, read off the grammar.

use serde_json::{Map, Value, json};

use super::grammar::{AIFSN, Default, Key, Kind, ROOT, Table};
use super::presets::Preset;
use super::stations::AP_NAME;
use super::units::{self, Unit};
use super::value::allowed;
use crate::control::utility::MOST_POINTS;

/// A plain name.
const NAME: &str = "^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$";

/// JSON Schema (2020-12) of the scenario file, in TOML or JSON, shorthands included.
pub fn schema() -> Value {
    let mut definitions = Map::new();
    let mut schema = Map::new();
    schema.insert(
        "$schema".to_owned(),
        json!("https://json-schema.org/draft/2020-12/schema"),
    );
    schema.insert("title".to_owned(), json!("lasthop scenario"));
    schema.extend(table(&ROOT, &mut definitions));
    // A file for a gateway need not say what to simulate.
    schema.remove("required");
    schema.insert(
        "anyOf".to_owned(),
        json!([{"required": ["duration"]}, {"required": ["gateway"]}]),
    );
    schema.insert("$defs".to_owned(), Value::Object(definitions));
    Value::Object(schema)
}

fn table(table: &Table, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let mut properties = Map::new();
    for (key, inherits) in table.keys() {
        properties.insert(key.name.to_owned(), property(key, inherits, definitions));
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

fn property(key: &Key, inherits: Option<&str>, definitions: &mut Map<String, Value>) -> Value {
    let mut schema = kind(&key.kind, definitions);
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
        (Default::Preset(of), _) => {
            let values: Vec<String> = Preset::all()
                .iter()
                .map(|preset| format!("{} {}", preset.name, of(preset)))
                .collect();
            description += &format!(" Default: {}.", values.join(", "));
        }
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

fn kind(kind: &Kind, definitions: &mut Map<String, Value>) -> Map<String, Value> {
    let schema = match kind {
        Kind::Title => json!({
            "type": "string",
            "maxLength": 200,
            "pattern": r"^(?=.*\S)[^\u0000-\u001f\u007f-\u009f]*$",
        }),
        Kind::Name => json!({"type": "string", "pattern": NAME}),
        Kind::Formed(form) => json!({"type": "string", "pattern": form.pattern}),
        Kind::Flag => json!({"type": "boolean"}),
        Kind::Count { least, most } => {
            json!({"type": "integer", "minimum": least, "maximum": most})
        }
        Kind::Aifsn => json!({"type": "integer", "minimum": AIFSN.0 - 1, "maximum": AIFSN.1}),
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
        Kind::DataRate | Kind::ControlRate => quantity(units::RATE, None),
        Kind::Size { word, .. } => quantity(units::SIZE, *word),
        Kind::Length { .. } => quantity(units::LENGTH, None),
        Kind::Names => json!({
            "type": "array",
            "minItems": 1,
            "uniqueItems": true,
            "items": {"type": "string", "pattern": NAME},
        }),
        Kind::Points => json!({
            "type": "array",
            "minItems": 2,
            "maxItems": MOST_POINTS,
            "items": {
                "type": "array",
                "minItems": 2,
                "maxItems": 2,
                "items": {"type": "number", "exclusiveMinimum": 0},
            },
        }),
        Kind::Choice(words) => json!({"enum": words}),
        Kind::Table(inner) => reference(inner, definitions),
        Kind::Shorthand { table: inner, main } => {
            let bare = inner
                .key(main)
                .map(|key| self::kind(&key.kind, definitions));
            json!({"oneOf": [bare, reference(inner, definitions)]})
        }
        Kind::Named(inner) => json!({
            "type": "object",
            "minProperties": 1,
            "propertyNames": {
                "pattern": NAME,
                "not": {"const": AP_NAME},
            },
            "additionalProperties": reference(inner, definitions),
        }),
    };
    match schema {
        Value::Object(schema) => schema,
        other => Map::from_iter([("const".to_owned(), other)]),
    }
}

fn reference(inner: &Table, definitions: &mut Map<String, Value>) -> Value {
    if !definitions.contains_key(inner.name) {
        definitions.insert(inner.name.to_owned(), Value::Null);
        let schema = table(inner, definitions);
        definitions.insert(inner.name.to_owned(), Value::Object(schema));
    }
    json!({"$ref": format!("#/$defs/{}", inner.name)})
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
    let rates_of = |rates: fn(&Preset) -> &[u64]| {
        let of = |preset: &Preset| format!("{} {}", preset.name, units::show_rates(rates(preset)));
        let lists: Vec<String> = Preset::all().iter().map(of).collect();
        format!("are {}", lists.join("; "))
    };
    match kind {
        Kind::Formed(form) => Some(form.allowed.to_owned()),
        Kind::DataRate => Some(rates_of(|preset| preset.rates)),
        Kind::ControlRate => Some(rates_of(|preset| preset.control_rates)),
        Kind::Duration { .. }
        | Kind::Length { .. }
        | Kind::Level { .. }
        | Kind::Points
        | Kind::Rate { .. }
        | Kind::Size { .. } => Some(allowed(kind, None)),
        _ => None,
    }
}

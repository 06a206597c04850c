//! Normalised scenarios as their difference from one set of defaults, `defaults.txt`.
//!
//! An object has a **kind**: its key, or for an element of a list its path, with its discipline if it is a queue.
//! `defaults.txt` has one line per kind and key, in the order in which the key occurs in objects. The line gives the
//! default, if most objects of the kind have the key. So a new key is one new line.
//!
//! | in a scenario | in its difference |
//! |---|---|
//! | a key with its default | nothing |
//! | a key with another value, or without a default | the key and the value |
//! | no key, though the kind has a default for it | `-` and the key, with the value null |

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::blocks;

const FILE: &str = "defaults.txt";

/// The key whose value is a part of the kind of an object.
const DISCRIMINATOR: &str = "discipline";

/// The keys of each kind in their order, each with its default.
#[derive(Default)]
pub struct Defaults(BTreeMap<String, Vec<(String, Option<Value>)>>);

impl Defaults {
    /// Returns the frozen defaults.
    pub fn read() -> Defaults {
        let mut defaults = Defaults::default();
        for line in blocks::text(FILE).lines() {
            let mut words = line.splitn(3, ' ');
            let (Some(kind), Some(key)) = (words.next(), words.next()) else {
                continue;
            };
            if kind.starts_with('#') {
                continue;
            }
            let value = words.next().map(|json| {
                serde_json::from_str(json).unwrap_or_else(|error| panic!("{line}: {error}"))
            });
            let keys = defaults.0.entry(kind.to_owned()).or_default();
            keys.push((key.to_owned(), value));
        }
        defaults
    }

    /// Adds the keys of these scenarios that have no line, each with its most frequent value, removes the lines of keys
    /// that no scenario has, and writes the file. Existing defaults do not change.
    pub fn freeze(&mut self, scenarios: &[(&str, &Value)]) {
        let mut objects: BTreeMap<String, Vec<&Map<String, Value>>> = BTreeMap::new();
        for (kind, json) in scenarios {
            collect(kind, json, &mut objects);
        }
        self.0.retain(|kind, keys| {
            let all = objects.get(kind);
            keys.retain(|(key, _)| {
                all.is_some_and(|all| all.iter().any(|own| own.contains_key(key)))
            });
            !keys.is_empty()
        });
        let mut new: Vec<(String, String)> = Vec::new();
        for (kind, all) in &objects {
            let keys = self.0.entry(kind.clone()).or_default();
            for object in all {
                let mut place = 0;
                for key in object.keys() {
                    match keys.iter().position(|(known, _)| known == key) {
                        Some(known) => place = known + 1,
                        None => {
                            keys.insert(place, (key.clone(), None));
                            new.push((kind.clone(), key.clone()));
                            place += 1;
                        }
                    }
                }
            }
        }
        // the difference of an inner object depends on the defaults of its kind, so these come first
        for _ in 0..DEEPEST {
            for (kind, key) in new.iter().filter(|(_, key)| key != DISCRIMINATOR) {
                let all = &objects[kind];
                let own = all.iter().filter_map(|object| object.get(key));
                let path = format!("{kind}.{key}");
                let values: Vec<Value> =
                    own.map(|value| self.difference_of(&path, value)).collect();
                if 2 * values.len() > all.len() {
                    let keys = self.0.get_mut(kind).expect("it was added above");
                    let line = keys.iter_mut().find(|(known, _)| known == key);
                    line.expect("it was added above").1 = most_frequent(values);
                }
            }
        }
        let mut text = String::from("# Written by LASTHOP_FREEZE=1, see README.md.\n");
        for (kind, keys) in &self.0 {
            for (key, default) in keys {
                let _ = match default {
                    Some(value) => writeln!(text, "{kind} {key} {value}"),
                    None => writeln!(text, "{kind} {key}"),
                };
            }
        }
        std::fs::write(blocks::path(FILE), text).expect("the file can be written");
    }

    /// Returns the difference of a scenario or gateway from the defaults.
    pub fn difference(&self, kind: &str, json: &Value) -> Value {
        let object = json.as_object().expect("an object");
        self.difference_of_object(kind, object)
    }

    fn difference_of(&self, path: &str, value: &Value) -> Value {
        match value {
            Value::Object(object) => self.difference_of_object(&kind_of(path, object), object),
            Value::Array(elements) => {
                let path = format!("{path}[]");
                let elements = elements.iter();
                elements
                    .map(|element| self.difference_of(&path, element))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn difference_of_object(&self, kind: &str, object: &Map<String, Value>) -> Value {
        let keys = self.0.get(kind).map_or(&[][..], Vec::as_slice);
        let mut difference = Map::new();
        let mut last = 0;
        for (key, value) in object {
            let value = self.difference_of(&format!("{kind}.{key}"), value);
            let known = keys.iter().position(|(known, _)| known == key);
            if let Some(place) = known {
                assert!(place >= last, "{kind}: `{key}` is not in its order");
                last = place;
            }
            let default = known.and_then(|place| keys[place].1.as_ref());
            if default != Some(&value) {
                difference.insert(key.clone(), value);
            }
        }
        for (key, default) in keys {
            if default.is_some() && !object.contains_key(key) {
                difference.insert(format!("-{key}"), Value::Null);
            }
        }
        Value::Object(difference)
    }

    /// Returns the scenario or gateway of which this is the difference.
    pub fn expand(&self, kind: &str, difference: &Value) -> Value {
        let object = difference.as_object().expect("an object");
        self.expand_object(kind, object)
    }

    fn expand_value(&self, path: &str, value: &Value) -> Value {
        match value {
            Value::Object(object) => self.expand_object(&kind_of(path, object), object),
            Value::Array(elements) => {
                let path = format!("{path}[]");
                let elements = elements.iter();
                elements
                    .map(|element| self.expand_value(&path, element))
                    .collect()
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }

    fn expand_object(&self, kind: &str, difference: &Map<String, Value>) -> Value {
        let keys = self.0.get(kind).map_or(&[][..], Vec::as_slice);
        let mut object = Map::new();
        for (key, default) in keys {
            let is_absent = difference.contains_key(&format!("-{key}"));
            let value = difference.get(key).or(default.as_ref());
            if let Some(value) = value.filter(|_| !is_absent) {
                object.insert(
                    key.clone(),
                    self.expand_value(&format!("{kind}.{key}"), value),
                );
            }
        }
        for (key, value) in difference {
            if !key.starts_with('-') && !object.contains_key(key) {
                object.insert(
                    key.clone(),
                    self.expand_value(&format!("{kind}.{key}"), value),
                );
            }
        }
        Value::Object(object)
    }
}

/// Deepest nesting of objects in a scenario.
const DEEPEST: usize = 6;

/// Collects all objects by kind.
fn collect<'a>(
    kind: &str,
    value: &'a Value,
    objects: &mut BTreeMap<String, Vec<&'a Map<String, Value>>>,
) {
    match value {
        Value::Object(object) => {
            objects.entry(kind.to_owned()).or_default().push(object);
            for (key, value) in object {
                let path = format!("{kind}.{key}");
                let inner = value.as_object();
                let kind = inner.map_or(path.clone(), |inner| kind_of(&path, inner));
                collect(&kind, value, objects);
            }
        }
        Value::Array(elements) => {
            let path = format!("{kind}[]");
            for element in elements {
                let inner = element.as_object();
                let kind = inner.map_or(path.clone(), |inner| kind_of(&path, inner));
                collect(&kind, element, objects);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns the kind of the object at `path`.
fn kind_of(path: &str, object: &Map<String, Value>) -> String {
    let key = match path.ends_with("[]") {
        true => path,
        false => path.rsplit('.').next().unwrap_or(path),
    };
    match object.get(DISCRIMINATOR) {
        Some(Value::String(discipline)) => format!("{key}:{discipline}"),
        Some(_) | None => key.to_owned(),
    }
}

/// Returns the most frequent of these values, the first of several.
fn most_frequent(values: Vec<Value>) -> Option<Value> {
    let mut counted: Vec<(usize, Value)> = Vec::new();
    for value in values {
        match counted.iter_mut().find(|(_, known)| *known == value) {
            Some((count, _)) => *count += 1,
            None => counted.push((1, value)),
        }
    }
    let most = counted.iter().map(|(count, _)| *count).max()?;
    let (_, value) = counted.into_iter().find(|(count, _)| *count == most)?;
    Some(value)
}

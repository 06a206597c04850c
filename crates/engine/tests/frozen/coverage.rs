//! Which keys and words of the schema the scenarios use.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toml::de::{DeTable, DeValue};

/// Keys and words of `schema` that fewer than `least` of `texts` use.
pub fn rare(schema: &Value, texts: &[&str], least: usize) -> Vec<String> {
    let mut wanted = BTreeSet::new();
    let mut seen = BTreeSet::new();
    want(schema, schema, "", &mut wanted, &mut seen);
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for text in texts {
        let mut said = BTreeSet::new();
        if let Ok(table) = DeTable::parse(text) {
            say_table(schema, schema, "", table.get_ref(), &mut said);
        }
        for word in said {
            *counts.entry(word).or_default() += 1;
        }
    }
    let few = |word: &String| counts.get(word).is_none_or(|count| *count < least);
    wanted.into_iter().filter(few).collect()
}

/// Where a table leads, and what it is called: definitions stand under their own names.
fn resolve<'s>(root: &'s Value, node: &'s Value, path: &str) -> (&'s Value, String) {
    match node["$ref"].as_str() {
        Some(reference) => {
            let name = reference.trim_start_matches("#/$defs/");
            (&root["$defs"][name], name.to_owned())
        }
        None => (node, path.to_owned()),
    }
}

/// The forms that a value may have.
fn forms(node: &Value) -> impl Iterator<Item = &Value> {
    let several = ["oneOf", "anyOf"]
        .into_iter()
        .filter_map(|key| node[key].as_array());
    std::iter::once(node).chain(several.flatten())
}

fn want(
    root: &Value,
    node: &Value,
    path: &str,
    wanted: &mut BTreeSet<String>,
    seen: &mut BTreeSet<String>,
) {
    for form in forms(node) {
        let (form, path) = resolve(root, form, path);
        let is_table = path.is_empty() || form["properties"].is_object();
        if is_table && !seen.insert(path.clone()) {
            continue;
        }
        for word in words(form) {
            wanted.insert(format!("{path} = {word}"));
        }
        for (key, inner) in form["properties"].as_object().into_iter().flatten() {
            wanted.insert(join(&path, key));
            want(root, inner, &join(&path, key), wanted, seen);
        }
        if form["additionalProperties"].is_object() {
            want(
                root,
                &form["additionalProperties"],
                &join(&path, "NAME"),
                wanted,
                seen,
            );
        }
    }
}

fn words(form: &Value) -> impl Iterator<Item = &str> {
    let constant = form["const"].as_str();
    let all = form["enum"].as_array().into_iter().flatten();
    constant.into_iter().chain(all.filter_map(Value::as_str))
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

fn say_table(root: &Value, node: &Value, path: &str, table: &DeTable, said: &mut BTreeSet<String>) {
    for form in forms(node) {
        let (form, path) = resolve(root, form, path);
        for (key, value) in table.iter() {
            let key: &str = key.get_ref();
            if form["properties"][key].is_object() {
                said.insert(join(&path, key));
                let inner = &form["properties"][key];
                say(root, inner, &join(&path, key), value.get_ref(), said);
            } else if form["additionalProperties"].is_object() {
                let inner = &form["additionalProperties"];
                say(root, inner, &join(&path, "NAME"), value.get_ref(), said);
            }
        }
    }
}

fn say(root: &Value, node: &Value, path: &str, value: &DeValue, said: &mut BTreeSet<String>) {
    if let DeValue::Table(table) = value {
        say_table(root, node, path, table, said);
    }
    if let DeValue::String(text) = value {
        for form in forms(node) {
            let (form, path) = resolve(root, form, path);
            if words(form).any(|word| word == text.as_ref()) {
                said.insert(format!("{path} = {text}"));
            }
        }
    }
}

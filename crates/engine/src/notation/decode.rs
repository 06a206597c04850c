//! The value tree against the grammar: every key known, every value of its kind and in range.

use std::fmt::Display;

use super::elsewhere::stands_in;
use super::key::{KeyOf, Setting};
use super::numbers::Refusal;
use super::problem::{Origin, Problems, Refused, did_you_mean, nearest, one_line, one_of};
use super::table::{Added, Default, Extension, Grammar, Key, Kind, NOTHING_ADDED, Table};
use super::times::{self, Files, NO_FILES};
use super::tree::{Data, Item, join};
use super::units;
use super::value::{NAMES, Value, check, expected, fault_of_name};

/// A table of the file, decoded. What was refused is absent.
pub struct Section {
    /// Where it stands in the file's tree.
    pub path: String,
    /// Where it was written.
    pub origin: Origin,
    /// Whether the file or a setting has it.
    pub given: bool,
    entries: Vec<(&'static str, Entry)>,
    tables: Vec<(&'static str, Section)>,
    /// Keys whose value has been refused, that are misspelt, or that are needed but missing.
    lacking: Vec<&'static str>,
    /// What it could say.
    table: &'static Table,
    /// Keys of plugins that the file gives, each with its plugin.
    extensions: Vec<(&'static str, Extension)>,
    /// Tables with free names, in order of the file.
    named: Vec<(&'static str, Vec<(String, Section)>)>,
}

/// A value of a section.
pub struct Entry {
    /// Where it was written.
    pub origin: Origin,
    /// Its key path.
    pub path: String,
    /// What it means.
    pub value: Value,
    /// The value as written.
    pub shown: String,
    /// Whether the file or a setting has it; otherwise it is a default.
    pub given: bool,
}

/// Decodes the file `root`, reporting every problem.
pub(crate) fn decode(root: &Item, grammar: &Grammar, problems: &mut Problems) -> Section {
    let mut decoder = Decoder {
        root: grammar.root,
        preset: (grammar.preset)(root),
        is_modern: (grammar.is_modern)(root),
        added: grammar.added,
        files: grammar.files,
        problems,
    };
    decoder.section(root, grammar.root, String::new())
}

/// Decodes one table by itself, in which no problem is expected.
pub(crate) fn decode_table(item: &Item, table: &'static Table) -> Section {
    let mut decoder = Decoder {
        root: table,
        preset: None,
        is_modern: false,
        added: &NOTHING_ADDED,
        files: &NO_FILES,
        problems: &mut Problems::new("", &[]),
    };
    decoder.section(item, table, String::new())
}

/// A table that says nothing: its defaults.
pub(crate) fn nothing(table: &'static Table) -> Section {
    decode_table(&Item::empty(Origin::File), table)
}

struct Decoder<'p, 's> {
    /// The table that the file is.
    root: &'static Table,
    preset: Option<&'static str>,
    /// Whether the file describes a modern network.
    is_modern: bool,
    added: &'p Added,
    files: &'p Files,
    problems: &'p mut Problems<'s>,
}

impl Decoder<'_, '_> {
    fn section(&mut self, node: &Item, table: &'static Table, path: String) -> Section {
        let mut section = Section {
            path,
            origin: node.origin,
            given: true,
            entries: Vec::new(),
            tables: Vec::new(),
            lacking: Vec::new(),
            table,
            named: Vec::new(),
            extensions: Vec::new(),
        };
        if let Data::Table(entries) = &node.data {
            for (name, node) in entries {
                match self.added.find(table, name) {
                    Some(key) => {
                        if let Some(extension) = self.added.extension_of(table, key.name) {
                            section.extensions.push((key.name, extension));
                        }
                        let path = join(&section.path, key.name);
                        self.key(&mut section, key, node, path);
                    }
                    None => {
                        self.unknown(&section, table, name, node);
                        // what is misspelt is not missing
                        if !self.problems.is_full()
                            && let names = self.added.names(table)
                            && let Some(meant) = nearest(name, names.iter().copied())
                            && let Some(key) = self.added.find(table, meant)
                        {
                            section.lacking.push(key.name);
                        }
                    }
                }
            }
        }
        for (key, inherits) in self.added.keys(table) {
            if node.get(key.name).is_none() {
                self.absent(&mut section, key, inherits.is_some());
            }
        }
        section
    }

    fn key(&mut self, section: &mut Section, key: &Key, node: &Item, path: String) {
        match (&key.kind, &node.data) {
            (Kind::Table(table) | Kind::Shorthand(table, _), Data::Table(_)) => {
                let inner = self.section(node, table(), path);
                section.tables.push((key.name, inner));
            }
            (Kind::Shorthand(table, main), _) => {
                let inner = self.bare(node, table(), main, path);
                section.tables.push((key.name, inner));
            }
            (Kind::Named(table) | Kind::ByPlace(table, _), Data::Table(entries)) => {
                let table = table();
                if entries.is_empty() {
                    let message = format!("empty; expected {}", expected(key, self.preset));
                    self.problems.add(node.origin, &path, message);
                    section.lacking.push(key.name);
                }
                let mut named = Vec::new();
                for (name, node) in entries {
                    let path = join(&path, name);
                    if let Data::Table(_) = node.data {
                        let inner = self.section(node, table, path);
                        named.push((name.clone(), inner));
                    } else if let Kind::ByPlace(_, main) = key.kind {
                        let inner = self.bare(node, table, main, path);
                        named.push((name.clone(), inner));
                    } else {
                        let message = format!(
                            "{} is not a table; expected a table with the keys of a {}",
                            node.show(),
                            table.name
                        );
                        self.problems.add(node.origin, &path, message);
                        section.lacking.push(key.name);
                    }
                }
                section.named.push((key.name, named));
            }
            _ => self.value(section, key, node, path),
        }
    }

    /// A value that is no table.
    fn value(&mut self, section: &mut Section, key: &Key, node: &Item, path: String) {
        match self.check(key, node) {
            Ok(value) => section.entries.push((
                key.name,
                Entry {
                    origin: node.origin,
                    path,
                    value,
                    shown: node.show(),
                    given: true,
                },
            )),
            Err(refusal) => {
                section.lacking.push(key.name);
                let mut expected = expected(key, self.preset);
                for added in self.added.words(key.name) {
                    expected += &format!(", \"{}\"", added.word);
                }
                let message = format!("{} {}; expected {expected}", node.show(), refusal.fault);
                let known = match (&node.data, key.meant) {
                    (Data::Text(text), Some(meant)) => meant(text),
                    _ => None,
                };
                let hint = known.or_else(|| table_meant(section, self.added, node));
                let hint = hint.or(refusal.hint);
                let hint = hint.or_else(|| no_unit(key, node));
                self.problems
                    .add_with_hint(node.origin, &path, message, hint);
            }
        }
    }

    /// The table that a bare value stands for, by its key `main`.
    fn bare(&mut self, node: &Item, table: &'static Table, main: &str, path: String) -> Section {
        let empty = Item::empty(node.origin);
        let mut section = self.section(&empty, table, path.clone());
        if let Some(main) = table.key(main) {
            section.entries.retain(|(name, _)| *name != main.name);
            self.key(&mut section, main, node, path);
        }
        section
    }

    /// The meaning of a value, which may be a word from outside, or name a file.
    fn check(&self, key: &Key, node: &Item) -> Result<Value, Refusal> {
        if let (Kind::Choice(_), Data::Text(text)) = (&key.kind, &node.data)
            && let Some(added) = self.added.words(key.name).find(|added| added.word == text)
        {
            return Ok(Value::Added(added));
        }
        if let (Kind::TimesFile, Data::Text(name)) = (&key.kind, &node.data) {
            return times::of_file(name, self.files).map(Value::Times);
        }
        check(node, key, self.preset)
    }

    fn unknown(&mut self, section: &Section, table: &Table, name: &str, node: &Item) {
        let (message, hint) = if self.problems.is_full() {
            (String::new(), None)
        } else {
            unknown_key(self.root, table, self.added, name)
        };
        let path = join(&section.path, name);
        self.problems
            .add_with_hint(node.origin, &path, message, hint);
    }

    /// Fills in the default of a key that is not in the file.
    fn absent(&mut self, section: &mut Section, key: &Key, inherited: bool) {
        let (value, shown) = match &key.default.of_network(self.is_modern) {
            Default::Required if section.lacking.contains(&key.name) => return,
            Default::Required => {
                let message = format!("missing; expected {}", expected(key, self.preset));
                let path = join(&section.path, key.name);
                self.problems.add(section.origin, &path, message);
                section.lacking.push(key.name);
                return;
            }
            Default::Depends(_) | Default::Told(_) => {
                if let Kind::Table(table) = key.kind {
                    let empty = Item::empty(section.origin);
                    let path = join(&section.path, key.name);
                    let inner = Section {
                        given: false,
                        ..self.section(&empty, table(), path)
                    };
                    section.tables.push((key.name, inner));
                }
                return;
            }
            Default::Absent(_) | Default::Checked | Default::ByNetwork(_) => return,
            _ if inherited => return,
            Default::Text(text) => {
                let node = Item {
                    origin: section.origin,
                    data: Data::Text((*text).to_owned()),
                };
                // A test proves that every default is a value of its kind.
                let Ok(value) = check(&node, key, None) else {
                    return;
                };
                (value, node.show())
            }
            Default::Count(count) => (Value::Count(*count), count.to_string()),
            Default::Number(number) => (Value::Number(*number), number.to_string()),
            Default::Flag(flag) => (Value::Flag(*flag), flag.to_string()),
        };
        let entry = Entry {
            origin: section.origin,
            path: join(&section.path, key.name),
            value,
            shown,
            given: false,
        };
        section.entries.push((key.name, entry));
    }
}

/// The hint for a word in the place of a value, if it is the name of a table that does something by being there:
/// a queue's discipline.
fn table_meant(section: &Section, added: &Added, node: &Item) -> Option<String> {
    let Data::Text(text) = &node.data else {
        return None;
    };
    if section.path.is_empty() {
        return None; // the whole file
    }
    let inner = |key: &Key| match (&key.kind, &key.default) {
        (Kind::Table(inner) | Kind::Shorthand(inner, _), Default::Absent(_)) => Some(inner()),
        _ => None,
    };
    let keys = added.keys(section.table).map(|(key, _)| key);
    let tables: Vec<(&str, &Table)> = keys
        .filter_map(|key| Some((key.name, inner(key)?)))
        .collect();
    let meant = nearest(text.trim(), tables.iter().map(|(name, _)| *name))?;
    let (_, inner) = tables.iter().find(|(name, _)| *name == meant)?;
    let needed: Vec<String> = (inner.required().map(|key| format!("{key} = ..."))).collect();
    let values = match needed[..] {
        [] => "{}".to_owned(),
        _ => format!("{{ {} }}", needed.join(", ")),
    };
    Some(format!(
        "did you mean `{} = {{ {meant} = {values} }}`?",
        section.path
    ))
}

/// What a bare number counts, for somebody who gave it a unit.
fn no_unit(key: &Key, node: &Item) -> Option<String> {
    let (Kind::Number { .. } | Kind::Count { .. }, Data::Text(text)) = (&key.kind, &node.data)
    else {
        return None;
    };
    let has_unit = [units::TIME, units::RATE, units::SIZE, units::LENGTH]
        .iter()
        .any(|units| units::parse(text, units).is_ok());
    let what = key.doc.split(['.', ',', ';', ':']).next()?;
    let (first, rest) = what.split_at_checked(1)?;
    let what = match rest.starts_with(char::is_uppercase) {
        true => what.to_owned(), // an abbreviation
        false => first.to_lowercase() + rest,
    };
    has_unit.then(|| format!("`{}` is a bare number: {what}", key.name))
}

/// Message and hint for a key that `table` does not have, nor parts from outside add; perhaps another
/// table of the file, which is `root`, has it.
pub(crate) fn unknown_key(
    root: &'static Table,
    table: &Table,
    added: &Added,
    name: &str,
) -> (String, Option<String>) {
    if let Some((_, hint)) = table.elsewhere.iter().find(|(key, _)| *key == name) {
        let message = format!("is no key of a {}", table.name);
        return (message, Some((*hint).to_owned()));
    }
    let names = added.names(table);
    let message = format!("unknown key; expected {}", one_of(&names));
    let hint = match (did_you_mean(name, names), stands_in(root, added, name)) {
        (Some(near), Some(elsewhere)) => Some(format!("{near} {elsewhere}")),
        (near, elsewhere) => near.or(elsewhere),
    };
    (message, hint)
}

/// What stands under a key.
fn find<'a, T>(all: &'a [(&'static str, T)], key: &str) -> Option<&'a T> {
    let found = all.iter().find(|(name, _)| *name == key);
    found.map(|(_, it)| it)
}

impl Entry {
    /// Whether it is from a setting over the file.
    pub(crate) fn is_set(&self) -> bool {
        self.given && matches!(self.origin, Origin::Setting(_))
    }

    /// Tells what is wrong with the value; `fault` is a phrase that follows it.
    pub fn refuse_value(&self, fault: impl Display, problems: &mut Problems) -> Refused {
        self.refuse(format!("{} {fault}", self.shown), problems)
    }

    /// Tells what is wrong.
    pub fn refuse(&self, message: impl Into<String>, problems: &mut Problems) -> Refused {
        problems.add(self.origin, &self.path, message.into())
    }
}

/// A value of a section, with its type.
pub struct Said<'a, T> {
    /// What it means.
    pub value: T,
    entry: &'a Entry,
}

impl<'a, T> Said<'a, Option<T>> {
    /// The value, unless a word stands in its place.
    pub fn present(self) -> Option<Said<'a, T>> {
        let entry = self.entry;
        self.value.map(|value| Said { value, entry })
    }
}

impl<T> std::ops::Deref for Said<'_, T> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.entry
    }
}

impl Section {
    /// Refuses keys without effect, of which whoever wrote one meant something; `needed` says for what they would have
    /// one. If a setting over the file took it away, `overruled`, what the file says for other choices stays.
    pub(crate) fn refuse_idle(
        &self,
        keys: &[&str],
        needed: &str,
        overruled: bool,
        problems: &mut Problems,
    ) {
        for entry in keys.iter().filter_map(|key| self.given(key)) {
            // a value that is refused anyway is not refused again
            if (!overruled || entry.is_set()) && !problems.concern(&entry.path) {
                entry.refuse_value(format!("has no effect; expected {needed}"), problems);
            }
        }
    }

    /// Tells what is wrong with the table.
    pub fn refuse(&self, message: impl Into<String>, problems: &mut Problems) -> Refused {
        problems.add(self.origin, &self.path, message.into())
    }

    /// The path of a key of this table.
    pub fn path(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Whether the table has a key of this name.
    pub fn knows(&self, key: &str) -> bool {
        self.table.key(key).is_some()
    }

    /// Returns the keys of plugins that the file gives, each with its plugin and its table.
    pub fn extensions(&self) -> impl Iterator<Item = (&'static str, Extension, &Section)> {
        let extensions = self.extensions.iter();
        extensions.filter_map(|(name, extension)| Some((*name, *extension, self.table(name)?)))
    }

    /// The tables with free names under this key, in order of the file.
    pub fn tables<T>(&self, key: KeyOf<T>) -> &[(String, Section)] {
        self.named(key.name())
    }

    /// The same without their names.
    pub(crate) fn each<T>(&self, key: KeyOf<T>) -> impl DoubleEndedIterator<Item = &Section> {
        self.tables(key).iter().map(|(_, table)| table)
    }

    /// The one with this name.
    pub(crate) fn one<T>(&self, key: KeyOf<T>, name: &str) -> Option<&Section> {
        let mut tables = self.tables(key).iter();
        tables
            .find(|(other, _)| other == name)
            .map(|(_, table)| table)
    }

    /// The table under this key.
    pub fn inside<T>(&self, key: KeyOf<T>) -> Option<&Section> {
        self.table(key.name())
    }

    /// What the file, a setting or a default says.
    pub fn said<T: Setting>(&self, key: KeyOf<T>) -> Option<Said<'_, T>> {
        let entry = self.entry(key.name())?;
        let value = T::of(&entry.value)?;
        Some(Said { value, entry })
    }

    /// The same without its place.
    pub(crate) fn value<T: Setting>(&self, key: KeyOf<T>) -> Option<T> {
        self.said(key).map(|said| said.value)
    }

    /// The same, unless a word stands in the place of a value.
    pub(crate) fn present<T: Setting>(&self, key: KeyOf<Option<T>>) -> Option<Said<'_, T>> {
        self.said(key)?.present()
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        find(&self.entries, key)
    }

    /// The entry of a key that stands in the file or a setting, not a default.
    pub fn given(&self, key: &str) -> Option<&Entry> {
        self.entry(key).filter(|entry| entry.given)
    }

    /// Whether there has been a complaint about the value of this key or the lack of one.
    pub fn lacks<T>(&self, key: KeyOf<T>) -> bool {
        self.lacking.contains(&key.name())
    }

    /// Complains if `name`, under which this table stands, is none that a file may give.
    pub fn check_name(&self, name: &str, problems: &mut Problems) {
        if let Some(fault) = fault_of_name(name) {
            let name = one_line(name, 40);
            self.refuse(format!("\"{name}\" {fault}; expected {NAMES}"), problems);
        }
    }

    /// The tables with free names under this key, in order of the file.
    pub(crate) fn named(&self, key: &str) -> &[(String, Section)] {
        find(&self.named, key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn table(&self, key: &str) -> Option<&Section> {
        find(&self.tables, key)
    }
}

//! Decodes the value tree of a file by the grammar. In the decoded sections, every key is a key of
//! the grammar, and every value is of its key's kind and in the key's range.

mod groups;

use std::fmt::Display;

use super::elsewhere::tables_hint;
use super::key::{KeyOf, Setting};
use super::numbers::Refusal;
use super::problem::{Origin, Problems, Refused, did_you_mean, nearest, one_line, one_of};
use super::table::{
    Added, Default, Extension, Grammar, Inner, Key, Kind, NOTHING_ADDED, Table, phrase_length,
};
use super::times::{self, Files, NO_FILES};
use super::tree::{Data, Item, join};
use super::units;
use super::value::{NAMES, Value, check, expected, fault_of_name};

/// A decoded table of the file, without the values that were refused.
pub struct Section {
    /// Path of the table's key in the file, such as `cell.ap`.
    pub path: String,
    /// File line or override that contains the table.
    pub origin: Origin,
    /// Whether the file or an override contains the table.
    pub given: bool,
    entries: Vec<(&'static str, Entry)>,
    tables: Vec<(&'static str, Section)>,
    /// Keys without a usable value: the value was refused, the key is misspelt in the file, or the
    /// key is required and missing.
    lacking: Vec<&'static str>,
    /// Definition of the table's keys.
    table: &'static Table,
    /// Plugin keys that the file gives, each with its plugin.
    extensions: Vec<(&'static str, Extension)>,
    /// Tables whose names the file chooses, in order of the file.
    named: Vec<(&'static str, Vec<(String, Section)>)>,
}

/// A value of a section.
pub struct Entry {
    /// File line or override that sets the key.
    pub origin: Origin,
    /// Path of the key.
    pub path: String,
    /// The checked value.
    pub value: Value,
    /// The value as written, for messages.
    pub shown: String,
    /// Whether the value is from the file or an override. If not, the value is a default.
    pub given: bool,
}

/// Decodes the value tree `root` of the file, and reports every problem.
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

/// Decodes a single table whose values are known to be valid.
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

/// Returns an empty table, whose keys have their defaults.
pub(crate) fn nothing(table: &'static Table) -> Section {
    decode_table(&Item::empty(Origin::File), table)
}

struct Decoder<'p, 's> {
    /// Root table of the file.
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
        for (name, node) in node.entries().unwrap_or_default() {
            if let Some(key) = self.added.find(table, name) {
                if let Some(extension) = self.added.extension_of(table, key.name) {
                    section.extensions.push((key.name, extension));
                }
                let path = join(&section.path, key.name);
                self.key(&mut section, key, node, path);
                continue;
            }
            self.unknown(&section, table, name, node);
            // a required key that is misspelt must not also be reported as missing
            if !self.problems.is_full()
                && let names = self.added.names(table)
                && let Some(meant) = nearest(name, names.iter().copied())
                && let Some(key) = self.added.find(table, meant)
            {
                section.lacking.push(key.name);
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
        let Kind::Tables(inner) = &key.kind else {
            return self.value(section, key, node, path);
        };
        match (node.entries(), inner.bare) {
            (Some(entries), _) if inner.is_named => {
                if entries.is_empty() {
                    let message = format!("empty; expected {}", expected(key, self.preset));
                    self.problems.add(node.origin, &path, message);
                    section.lacking.push(key.name);
                }
                let mut named = Vec::new();
                for (name, node) in entries {
                    match self.inner(inner, node, join(&path, name)) {
                        Some(inner) => named.push((name.clone(), inner)),
                        None => section.lacking.push(key.name),
                    }
                }
                section.named.push((key.name, named));
            }
            (None, _) if inner.is_named || inner.bare.is_none() => {
                self.value(section, key, node, path);
            }
            (None, _) if inner.is_absent_at_zero && node.is_zero() => {}
            (_, _) => {
                let inner = match inner.groups {
                    Some(group) => Some(self.grouped(inner, group(), node, path)),
                    None => self.inner(inner, node, path),
                };
                section.tables.extend(inner.map(|inner| (key.name, inner)));
            }
        }
    }

    /// Decodes a table. A bare value may represent the table. Returns `None` if the value is
    /// refused.
    fn inner(&mut self, inner: &Inner, node: &Item, path: String) -> Option<Section> {
        let table = (inner.table)();
        match (node.entries(), inner.bare) {
            (Some(_), _) => Some(self.section(node, table, path)),
            (None, Some(main)) => Some(self.bare(node, table, main, path)),
            (None, None) => {
                let message = format!(
                    "{} is not a table; expected a table with the keys of a {}",
                    node.show(),
                    table.name
                );
                self.problems.add(node.origin, &path, message);
                None
            }
        }
    }

    /// Decodes the value of a key that does not have tables.
    fn value(&mut self, section: &mut Section, key: &Key, node: &Item, path: String) {
        match self.check(key, node) {
            Ok(value) => {
                let entry = Entry {
                    origin: node.origin,
                    path,
                    value,
                    shown: node.show(),
                    given: true,
                };
                section.entries.push((key.name, entry));
            }
            Err(refusal) => {
                section.lacking.push(key.name);
                let mut expected = expected(key, self.preset);
                for added in self.added.words(key.name) {
                    expected += &format!(", \"{}\"", added.word);
                }
                let message = format!("{} {}; expected {expected}", node.show(), refusal.fault);
                let known = node.text().zip(key.meant);
                let hint = known.and_then(|(text, meant)| meant(text));
                let hint = hint.or_else(|| table_meant(section, self.added, node));
                let hint = hint.or(refusal.hint).or_else(|| no_unit(key, node));
                self.problems
                    .add_with_hint(node.origin, &path, message, hint);
            }
        }
    }

    /// Returns the table that the bare value `node` represents. In this table, the key `main` has
    /// the value `node`.
    fn bare(&mut self, node: &Item, table: &'static Table, main: &str, path: String) -> Section {
        let empty = Item::empty(node.origin);
        let mut section = self.section(&empty, table, path.clone());
        if let Some(main) = table.key(main) {
            section.entries.retain(|(name, _)| *name != main.name);
            self.key(&mut section, main, node, path);
        }
        section
    }

    /// Returns the checked value of a key. The value may also be a plugin's word, or the name of a
    /// file, which is replaced by the file's content.
    fn check(&self, key: &Key, node: &Item) -> Result<Value, Refusal> {
        if let (Kind::Choice(_), Some(text)) = (&key.kind, node.text())
            && let Some(added) = self.added.words(key.name).find(|added| added.word == text)
        {
            return Ok(Value::Added(added));
        }
        if let (Kind::TimesFile, Some(name)) = (&key.kind, node.text()) {
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

    /// Fills in the default of a key that is not in the file. If the key is `inherited`, its value
    /// is looked up in another table, so a number, word or flag gets no default in this table.
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
            Default::Depends(_) | Default::ByPreset(_) => {
                if let Kind::Tables(inner) = &key.kind
                    && inner.is_plain()
                {
                    let empty = Item::empty(section.origin);
                    let path = join(&section.path, key.name);
                    let inner = Section {
                        given: false,
                        ..self.section(&empty, (inner.table)(), path)
                    };
                    section.tables.push((key.name, inner));
                }
                return;
            }
            Default::Absent(_) | Default::Checked | Default::ByNetwork(_) => return,
            Default::Text(_) | Default::Count(_) | Default::Number(_) | Default::Flag(_)
                if inherited =>
            {
                return;
            }
            Default::Text(text) => {
                let node = Item {
                    origin: section.origin,
                    data: Data::Text((*text).to_owned()),
                };
                // this check never fails: a test proves that every default is a value of its kind
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

/// Returns the hint for a word that was given in place of a table, if the word is the name of an
/// optional inner table, such as the discipline of a queue.
fn table_meant(section: &Section, added: &Added, node: &Item) -> Option<String> {
    let text = node.text()?;
    if section.path.is_empty() {
        return None;
    }
    let optional = |(key, _): (&Key, _)| match (&key.kind, &key.default) {
        (Kind::Tables(inner), Default::Absent(_)) if !inner.is_named => {
            Some((key.name, (inner.table)()))
        }
        (_, _) => None,
    };
    let tables: Vec<(&str, &Table)> = added.keys(section.table).filter_map(optional).collect();
    let meant = nearest(text.trim(), tables.iter().map(|(name, _)| *name))?;
    let needed: Vec<String> = find(&tables, meant)?
        .required()
        .map(|key| format!("{key} = ..."))
        .collect();
    let values = match needed[..] {
        [] => "{}".to_owned(),
        _ => format!("{{ {} }}", needed.join(", ")),
    };
    let path = &section.path;
    Some(format!("did you mean `{path} = {{ {meant} = {values} }}`?"))
}

/// Returns the hint for a key without a unit whose value has a unit. The hint describes the
/// quantity that the key counts.
fn no_unit(key: &Key, node: &Item) -> Option<String> {
    let (Kind::Number { .. } | Kind::Count { .. }) = &key.kind else {
        return None;
    };
    let text = node.text()?;
    let has_unit = [units::TIME, units::RATE, units::SIZE, units::LENGTH]
        .iter()
        .any(|units| units::parse(text, units).is_ok());
    let what = &key.doc[..phrase_length(key.doc)];
    let (first, rest) = what.split_at_checked(1)?;
    let what = match rest.starts_with(|letter: char| letter.is_ascii_uppercase()) {
        // the description begins with an abbreviation, whose capitals are kept
        true => what.to_owned(),
        false => first.to_ascii_lowercase() + rest,
    };
    has_unit.then(|| format!("`{}` is a bare number: {what}", key.name))
}

/// Returns the message and the hint for a key that neither `table` nor a plugin has. The hint names
/// other tables below the root table `root` that have this key.
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
    let hint = match (did_you_mean(name, names), tables_hint(root, added, name)) {
        (Some(near), Some(elsewhere)) => Some(format!("{near} {elsewhere}")),
        (near, elsewhere) => near.or(elsewhere),
    };
    (message, hint)
}

/// Returns the item with this name.
fn find<'a, T>(items: &'a [(&str, T)], name: &str) -> Option<&'a T> {
    let item = items.iter().find(|(other, _)| *other == name);
    item.map(|(_, item)| item)
}

impl Entry {
    /// Returns whether the value is from an override.
    pub(crate) fn is_set(&self) -> bool {
        self.given && matches!(self.origin, Origin::Setting(_))
    }

    /// Reports a problem of this value. The message consists of the value and the phrase `fault`.
    pub fn refuse_value(&self, fault: impl Display, problems: &mut Problems) -> Refused {
        self.refuse(format!("{} {fault}", self.shown), problems)
    }

    /// Reports a problem of this value.
    pub fn refuse(&self, message: impl Into<String>, problems: &mut Problems) -> Refused {
        self.refuse_with_hint(message, None, problems)
    }

    /// Reports a problem of this value, with a hint.
    pub fn refuse_with_hint(
        &self,
        message: impl Into<String>,
        hint: Option<String>,
        problems: &mut Problems,
    ) -> Refused {
        problems.add_with_hint(self.origin, &self.path, message.into(), hint)
    }
}

/// A value of a section, converted to its Rust type, and the entry that contains the value.
pub struct Located<'a, T> {
    /// The value.
    pub value: T,
    entry: &'a Entry,
}

impl<'a, T> Located<'a, Option<T>> {
    /// Returns the value; `None` if the file gives a word in place of a value.
    pub fn present(self) -> Option<Located<'a, T>> {
        let entry = self.entry;
        self.value.map(|value| Located { value, entry })
    }
}

impl<T> std::ops::Deref for Located<'_, T> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        self.entry
    }
}

impl Section {
    /// Refuses those keys of the list `keys` that are set. The keys have no effect, because the
    /// condition `needed` is not met. If `overruled` is true, an override is the reason why the
    /// condition is not met. In this case, keys of the file are accepted, and only keys of
    /// overrides are refused.
    pub(crate) fn refuse_idle(
        &self,
        keys: &[&str],
        needed: &str,
        overruled: bool,
        problems: &mut Problems,
    ) {
        for entry in keys.iter().filter_map(|key| self.given(key)) {
            // a value is refused at most once
            if (!overruled || entry.is_set()) && !problems.concern(&entry.path) {
                entry.refuse_value(format!("has no effect; expected {needed}"), problems);
            }
        }
    }

    /// Reports a problem of the table.
    pub fn refuse(&self, message: impl Into<String>, problems: &mut Problems) -> Refused {
        self.refuse_with_hint(message, None, problems)
    }

    /// Reports a problem of the table with a hint.
    pub fn refuse_with_hint(
        &self,
        message: impl Into<String>,
        hint: Option<String>,
        problems: &mut Problems,
    ) -> Refused {
        problems.add_with_hint(self.origin, &self.path, message.into(), hint)
    }

    /// Returns the full path of the key `key` of this table.
    pub fn path(&self, key: &str) -> String {
        join(&self.path, key)
    }

    /// Returns whether the grammar defines the key `key` in this table.
    pub fn knows(&self, key: &str) -> bool {
        self.table.key(key).is_some()
    }

    /// Returns the plugin keys that the file gives, each with its plugin and its table.
    pub fn extensions(&self) -> impl Iterator<Item = (&'static str, Extension, &Section)> {
        let extensions = self.extensions.iter();
        extensions.filter_map(|(name, extension)| Some((*name, *extension, self.table(name)?)))
    }

    /// Returns the tables under this key, each with the name that the file gives it, in order of
    /// the file.
    pub fn tables<T>(&self, key: KeyOf<T>) -> &[(String, Section)] {
        find(&self.named, key.name()).map_or(&[], Vec::as_slice)
    }

    /// Returns the tables under this key, without the names that the file gives them.
    pub(crate) fn each<T>(&self, key: KeyOf<T>) -> impl DoubleEndedIterator<Item = &Section> {
        self.tables(key).iter().map(|(_, table)| table)
    }

    /// Returns the table with this name under this key.
    pub(crate) fn named<T>(&self, key: KeyOf<T>, name: &str) -> Option<&Section> {
        let mut tables = self.tables(key).iter();
        tables
            .find(|(other, _)| other == name)
            .map(|(_, table)| table)
    }

    /// Returns the table under this key.
    pub fn inside<T>(&self, key: KeyOf<T>) -> Option<&Section> {
        self.table(key.name())
    }

    /// Returns the value of this key from the file, an override or a default, with its entry;
    /// `None` if the key has no value.
    pub fn located<T: Setting>(&self, key: KeyOf<T>) -> Option<Located<'_, T>> {
        let entry = self.entry(key.name())?;
        let value = T::of(&entry.value)?;
        Some(Located { value, entry })
    }

    /// Returns the value of this key from the file, an override or a default; `None` if the key has
    /// no value.
    pub(crate) fn value<T: Setting>(&self, key: KeyOf<T>) -> Option<T> {
        T::of(&self.entry(key.name())?.value)
    }

    /// Returns the value of this key with its entry; `None` if the file gives a word in place of a
    /// number.
    pub(crate) fn present<T: Setting>(&self, key: KeyOf<Option<T>>) -> Option<Located<'_, T>> {
        self.located(key)?.present()
    }

    pub(crate) fn entry(&self, key: &str) -> Option<&Entry> {
        find(&self.entries, key)
    }

    /// Returns the entry of a key that the file or an override gives; `None` if the key has its
    /// default.
    pub fn given(&self, key: &str) -> Option<&Entry> {
        self.entry(key).filter(|entry| entry.given)
    }

    /// Returns whether the value of this key was refused, or the key is required and missing.
    pub fn lacks<T>(&self, key: KeyOf<T>) -> bool {
        self.lacks_named(key.name())
    }

    pub(super) fn lacks_named(&self, key: &str) -> bool {
        self.lacking.contains(&key)
    }

    /// Refuses this table if its name is not accepted.
    pub fn check_name(&self, name: &str, problems: &mut Problems) {
        if let Some(fault) = fault_of_name(name) {
            let name = one_line(name, 40);
            self.refuse(format!("\"{name}\" {fault}; expected {NAMES}"), problems);
        }
    }

    pub(crate) fn table(&self, key: &str) -> Option<&Section> {
        find(&self.tables, key)
    }
}

//! `--set PATH=VALUE`: single values changed in the tree before it is decoded.
//!
//! Semantics: the value is a TOML value if it reads as one, else text. A path goes into tables,
//! created where absent; only a table with a free name, such as a station's, must exist unless the
//! value is the whole of it. A path also goes into the written-out form of a shorthand: with
//! `upload = 6` in the file, `station.a.upload.window=4` makes it
//! `upload = { connections = 6, window = 4 }`. The other way round, a bare value set over a
//! written-out table changes the key that the bare value stands for and leaves the others.

use super::decode::unknown_key;
use super::problem::{Origin, Problems, did_you_mean, one_line, one_of};
use super::read_toml;
use super::table::{Added, Grammar, Kind, Table};
use super::tree::{Data, Item, join};

/// Applies `settings` in order to the tree of a file.
pub(crate) fn apply(
    root: &mut Item,
    grammar: &Grammar,
    settings: &[(String, String)],
    problems: &mut Problems,
) {
    for (index, (path, value)) in settings.iter().enumerate() {
        let origin = Origin::Setting(index);
        let keys: Vec<&str> = path.split('.').map(str::trim).collect();
        if keys.iter().any(|key| key.is_empty()) {
            let message = "not a path; expected names joined by dots, such as `cell.ap.cwmin`";
            let shown = if path.is_empty() { "--set" } else { path };
            problems.add(origin, shown, message.to_owned());
            continue;
        }
        let mut setting = Setting {
            root: grammar.root,
            added: grammar.added,
            origin,
            value,
            problems,
        };
        setting.in_table(root, grammar.root, &keys, "");
    }
}

struct Setting<'a, 'p, 's> {
    /// The table that the file is.
    root: &'static Table,
    added: &'a Added,
    origin: Origin,
    value: &'a str,
    problems: &'p mut Problems<'s>,
}

impl Setting<'_, '_, '_> {
    fn in_table(&mut self, node: &mut Item, table: &'static Table, keys: &[&str], path: &str) {
        let (Some((name, rest)), Data::Table(entries)) = (keys.split_first(), &mut node.data)
        else {
            return; // A bare value where the file needs a table is reported by the decoder.
        };
        let path = join(path, name);
        let added = self.added;
        let Some(key) = added.find(table, name) else {
            let (message, hint) = unknown_key(self.root, table, added, name);
            self.problems
                .add_with_hint(self.origin, &path, message, hint);
            return;
        };
        if rest.is_empty() {
            let value = self.node(&key.kind);
            if self.is_broken_table(&key.kind, &value) {
                let message = format!(
                    "\"{}\" cannot be read as a table; expected `{{ key = value, ... }}`",
                    one_line(self.value, 80)
                );
                self.problems.add(self.origin, &path, message);
            } else {
                self.put(entries, name, &key.kind, value);
            }
            return;
        }
        let inner = match &key.kind {
            Kind::Table(inner)
            | Kind::Shorthand(inner, _)
            | Kind::Named(inner)
            | Kind::ByPlace(inner, _) => inner(),
            _ => {
                let message = format!(
                    "`{}` is a single value, not a table; expected `{}=VALUE`",
                    one_line(name, 40),
                    one_line(&path, 80)
                );
                let whole_path = join(&path, &rest.join("."));
                self.problems.add(self.origin, &whole_path, message);
                return;
            }
        };
        let was_there = entries.iter().any(|(entry, _)| entry == name);
        let child = self.table_at(entries, name);
        match &key.kind {
            Kind::Named(_) | Kind::ByPlace(..) => {
                self.in_named(child, &key.kind, inner, rest, &path)
            }
            Kind::Shorthand(_, main) => {
                write_out(child, main);
                self.in_table(child, inner, rest, &path);
            }
            _ => self.in_table(child, inner, rest, &path),
        }
        // nothing is missing in a table that a refused setting would have begun
        if !was_there {
            entries.retain(|(entry, item)| entry != name || !item.is_empty_table());
        }
    }

    /// In a table of tables, which is of this `kind`.
    fn in_named(
        &mut self,
        node: &mut Item,
        kind: &Kind,
        table: &'static Table,
        keys: &[&str],
        path: &str,
    ) {
        let (Some((name, rest)), Data::Table(entries)) = (keys.split_first(), &mut node.data)
        else {
            return;
        };
        let parent = path;
        let path = join(path, name);
        let present = entries.iter_mut().find(|(key, _)| key == name);
        match (present, rest) {
            (_, []) => {
                let value = self.node(kind);
                self.put(entries, name, kind, value);
            }
            (Some((_, child)), rest) => {
                if let Kind::ByPlace(_, main) = kind {
                    write_out(child, main);
                }
                self.in_table(child, table, rest, &path);
            }
            (None, _) => {
                let names: Vec<&str> = entries.iter().map(|(key, _)| key.as_str()).collect();
                let names_shown = one_line(&one_of(&names), 200);
                let (message, hint) = match group_of(name, entries) {
                    Some((group, count)) => (
                        format!(
                            "is a member of the group `{group}` (count {count}), whose members \
                             are alike; expected {names_shown}"
                        ),
                        Some(format!(
                            "{} sets all members of the group; to set only one station, give it a \
                             table of its own",
                            join(&join(parent, group), &rest.join("."))
                        )),
                    ),
                    None if names.is_empty() => (
                        format!(
                            "no such {}; the file has no such table; to add one, set the whole \
                             table",
                            table.name
                        ),
                        Some(format!("`{path}={{ ... }}`")),
                    ),
                    None => (
                        format!("no such {}; expected {names_shown}", table.name),
                        did_you_mean(name, names.iter().copied()),
                    ),
                };
                self.problems
                    .add_with_hint(self.origin, &path, message, hint);
            }
        }
    }

    /// The value of the setting, for a key of this kind.
    fn node(&self, kind: &Kind) -> Item {
        let origin = self.origin;
        let data = read_toml::read_value(self.value, origin).map(|item| item.data);
        let data = data.filter(|data| match (data, kind) {
            (Data::Text(_), _) => true,
            (Data::Date(_), _) | (_, Kind::Title | Kind::Formed(_)) => false,
            _ => true,
        });
        let data = data.unwrap_or_else(|| Data::Text(self.value.to_owned()));
        Item { origin, data }
    }

    /// Whether the setting was to be a table and, by its spelling, became text.
    fn is_broken_table(&self, kind: &Kind, value: &Item) -> bool {
        let has_keys = matches!(
            kind,
            Kind::Table(_) | Kind::Shorthand(..) | Kind::Named(_) | Kind::ByPlace(..)
        );
        let is_text = matches!(value.data, Data::Text(_));
        has_keys && is_text && self.value.trim_start().starts_with('{')
    }

    fn put(&self, entries: &mut Vec<(String, Item)>, name: &str, kind: &Kind, value: Item) {
        let Some((_, present)) = entries.iter_mut().find(|(key, _)| key == name) else {
            entries.push((name.to_owned(), value));
            return;
        };
        match (kind, &mut present.data, &value.data) {
            (Kind::Shorthand(..), Data::Table(_), Data::Table(_)) => *present = value,
            (Kind::Shorthand(_, main), Data::Table(inner), _) => {
                inner.retain(|(key, _)| key != main);
                inner.push(((*main).to_owned(), value));
            }
            _ => *present = value,
        }
    }

    /// The entry `name`, made an empty table if absent.
    fn table_at<'e>(&self, entries: &'e mut Vec<(String, Item)>, name: &str) -> &'e mut Item {
        let at = match entries.iter().position(|(key, _)| key == name) {
            Some(at) => at,
            None => {
                entries.push((name.to_owned(), Item::empty(self.origin)));
                entries.len() - 1
            }
        };
        &mut entries[at].1
    }
}

/// The table of which the station `name` is a member (`others` for `others-2`), and its count.
fn group_of<'e>(name: &str, entries: &'e [(String, Item)]) -> Option<(&'e str, &'e str)> {
    let (group, number) = name.rsplit_once('-')?;
    let (group, table) = entries.iter().find(|(key, _)| key == group)?;
    let Data::Number(count) = &table.get("count")?.data else {
        return None;
    };
    let members = 1..=count.whole?;
    members
        .contains(&number.parse().ok()?)
        .then_some((group, &count.text))
}

/// Replaces a bare value by the table it stands for.
fn write_out(node: &mut Item, main: &str) {
    if !matches!(node.data, Data::Table(_)) {
        let bare = node.clone();
        node.data = Data::Table(vec![(main.to_owned(), bare)]);
    }
}

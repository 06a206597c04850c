//! Overrides (`--set PATH=VALUE`): changes of single values in the tree before the tree is decoded.
//!
//! The value is a TOML value if it can be parsed as one, and otherwise text. Missing tables on the
//! path are created. A table whose name the user chooses, such as the table of a station, must
//! already exist, unless the override sets the whole table. A path may also lead into the long form
//! of a shorthand. With `upload = 6` in the file, `station.a.upload.window=4` changes this value
//! into `upload = { connections = 6, window = 4 }`. Conversely, `station.a.upload=4` changes only
//! the key `connections` if the file contains a table, because a bare number of `upload` is the
//! number of connections. If the table has groups, the number replaces them.

use super::decode::unknown_key;
use super::problem::{Origin, Problems, did_you_mean, one_line, one_of};
use super::read_toml;
use super::table::{Added, Grammar, Inner, Key, Kind, Table};
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
    /// Root table of the grammar.
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
            // nothing is set: the decoder reports that a bare value is in place of a table
            return;
        };
        let path = join(path, name);
        let added = self.added;
        let Some(key) = added.find(table, name) else {
            let (message, hint) = unknown_key(self.root, table, added, name);
            return self.refuse(&path, message, hint);
        };
        if rest.is_empty() {
            let value = self.node(&key.kind);
            if self.is_broken_table(&key.kind, &value) {
                let message = format!(
                    "\"{}\" cannot be read as a table; expected `{{ key = value, ... }}`",
                    one_line(self.value, 80)
                );
                return self.refuse(&path, message, None);
            }
            if let Kind::Tables(inner) = &key.kind
                && value.entries().is_none()
                && let Some((_, present)) = entries.iter_mut().find(|(entry, _)| entry == name)
                && self.replaces(*inner, &value, present)
            {
                *present = value;
                return;
            }
            return put(entries, name, &key.kind, value);
        }
        let Kind::Tables(inner) = &key.kind else {
            let message = format!(
                "`{}` is a single value, not a table; expected `{}=VALUE`",
                one_line(name, 40),
                one_line(&path, 80)
            );
            return self.refuse(&join(&path, &rest.join(".")), message, None);
        };
        let was_present = entries.iter().any(|(entry, _)| entry == name);
        let child = self.table_at(entries, name);
        if inner.is_named {
            self.in_named(child, key, *inner, rest, &path);
        } else {
            write_out(child, inner.bare);
            self.in_table_or_group(child, *inner, rest, &path);
        }
        // a refused override must not leave an empty table, because the decoder would report that
        // required keys of the table are missing
        if !was_present {
            let is_empty = |item: &Item| item.entries().is_some_and(<[_]>::is_empty);
            entries.retain(|(entry, item)| entry != name || !is_empty(item));
        }
    }

    /// Sets the value at the path `keys` below a table that may have groups. If the first name is
    /// not a key of the table, it is the name of a group.
    fn in_table_or_group(&mut self, node: &mut Item, inner: Inner, keys: &[&str], path: &str) {
        let table = (inner.table)();
        let (Some(group), Some((name, rest))) = (inner.groups, keys.split_first()) else {
            return self.in_table(node, table, keys, path);
        };
        if self.added.find(table, name).is_some() {
            return self.in_table(node, table, keys, path);
        }
        let names = self.groups_of(node, table);
        let present = node.get_mut(name).filter(|item| item.entries().is_some());
        match (present, rest) {
            (Some(child), [_, ..]) => self.in_table(child, group(), rest, &join(path, name)),
            (present, []) => {
                let item = read_toml::read_value(self.value, self.origin);
                match (item.filter(|item| item.entries().is_some()), present) {
                    (Some(item), _) => {
                        if let Data::Table(entries) = &mut node.data {
                            entries.retain(|(entry, _)| entry != name);
                            entries.push(((*name).to_owned(), item));
                        }
                    }
                    // a bare value of a group is that of its key, as in a table without groups
                    (None, Some(child)) if let Some(main) = inner.bare => {
                        self.in_table(child, group(), &[main], &join(path, name));
                    }
                    (None, _) => self.refuse_group(&names, (table, name), path),
                }
            }
            (None, _) => self.refuse_group(&names, (table, name), path),
        }
    }

    /// Returns whether the bare value `value` replaces the whole table `present`: its groups, or a
    /// table that is absent at 0.
    fn replaces(&self, inner: Inner, value: &Item, present: &Item) -> bool {
        let has_groups =
            inner.groups.is_some() && !self.groups_of(present, (inner.table)()).is_empty();
        has_groups || (inner.is_absent_at_zero && value.is_zero())
    }

    /// Returns the names of the groups in the table `node`.
    fn groups_of(&self, node: &Item, table: &Table) -> Vec<String> {
        let entries = node.entries().unwrap_or_default().iter();
        let is_group = |(name, item): &&(String, Item)| {
            item.entries().is_some() && self.added.find(table, name).is_none()
        };
        entries
            .filter(is_group)
            .map(|(name, _)| name.clone())
            .collect()
    }

    /// Reports that a table has neither a key nor a group `name`. `groups` are the names of its
    /// groups.
    fn refuse_group(
        &mut self,
        groups: &[String],
        (table, name): (&'static Table, &str),
        path: &str,
    ) {
        let names = self.added.names(table);
        let known = groups.iter().map(String::as_str);
        let near = did_you_mean(name, names.into_iter().chain(known));
        let path = join(path, name);
        let whole = format!("set the whole table, such as `{path}={{ ... }}`");
        let (message, add) = match groups {
            [] => (
                "no such key, and the table has no groups; expected a key".to_owned(),
                near.is_none().then(|| format!("to add a group, {whole}")),
            ),
            _ => (
                format!(
                    "no such key or group; expected {}; to add one, {whole}",
                    one_of(groups)
                ),
                None,
            ),
        };
        self.refuse(&path, message, near.or(add));
    }

    /// Sets the value at the path `keys` below one of the named tables of `key`.
    fn in_named(&mut self, node: &mut Item, key: &Key, inner: Inner, keys: &[&str], path: &str) {
        let (Some((name, rest)), Data::Table(entries)) = (keys.split_first(), &mut node.data)
        else {
            return;
        };
        let parent = path;
        let path = join(path, name);
        let table = (inner.table)();
        let present = entries.iter_mut().find(|(key, _)| key == name);
        match (present, rest) {
            (_, []) => put(entries, name, &key.kind, self.node(&key.kind)),
            (Some((_, child)), rest) => {
                write_out(child, inner.bare);
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
                self.refuse(&path, message, hint);
            }
        }
    }

    fn refuse(&mut self, path: &str, message: String, hint: Option<String>) {
        self.problems
            .add_with_hint(self.origin, path, message, hint);
    }

    /// Returns the value of the override as an item of the tree. If a key of the kind `kind` has
    /// text as its value, the item is always text.
    fn node(&self, kind: &Kind) -> Item {
        let origin = self.origin;
        let is_text = matches!(kind, Kind::Title | Kind::Formed(_));
        let item = read_toml::read_value(self.value, origin).filter(|item| match &item.data {
            Data::Text(_) => true,
            Data::Date(_) => false,
            Data::Table(_) | Data::List(_) | Data::Number(_) | Data::Flag(_) | Data::Null => {
                !is_text
            }
        });
        item.unwrap_or_else(|| {
            let data = Data::Text(self.value.to_owned());
            Item { origin, data }
        })
    }

    /// Returns whether the override resembles a table but cannot be parsed as one.
    fn is_broken_table(&self, kind: &Kind, value: &Item) -> bool {
        let looks_like_table = self.value.trim_start().starts_with('{');
        matches!(kind, Kind::Tables(_)) && value.text().is_some() && looks_like_table
    }

    /// Returns the entry `name`, which is created as an empty table if it is absent.
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

/// Sets the value of the key `name` of a table. A bare value changes only one key of a table that
/// is already present.
fn put(entries: &mut Vec<(String, Item)>, name: &str, kind: &Kind, value: Item) {
    let Some((_, present)) = entries.iter_mut().find(|(key, _)| key == name) else {
        return entries.push((name.to_owned(), value));
    };
    if let Kind::Tables(inner) = kind
        && let (false, Some(main)) = (inner.is_named, inner.bare)
        && let (Data::Table(entries), None) = (&mut present.data, value.entries())
    {
        entries.retain(|(key, _)| key != main);
        entries.push((main.to_owned(), value));
    } else {
        *present = value;
    }
}

/// Returns the name of the group to which station `name` belongs (`others` for `others-2`), and the
/// number of the group's stations as written in the file; `None` if the station belongs to no
/// group.
fn group_of<'e>(name: &str, entries: &'e [(String, Item)]) -> Option<(&'e str, &'e str)> {
    let (group, number) = name.rsplit_once('-')?;
    let (group, table) = entries.iter().find(|(key, _)| key == group)?;
    let Data::Number(count) = &table.get("count")?.data else {
        return None;
    };
    let members = 1..=count.integer?;
    members
        .contains(&number.parse().ok()?)
        .then_some((group, &count.text))
}

/// Replaces a bare value by the equivalent table, in which the value is that of the key `main`.
fn write_out(node: &mut Item, main: Option<&str>) {
    if let (Some(main), None) = (main, node.entries()) {
        let bare = node.clone();
        node.data = Data::Table(vec![(main.to_owned(), bare)]);
    }
}

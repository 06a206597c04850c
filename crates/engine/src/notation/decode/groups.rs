//! Tables that may have groups in place of their keys: tables whose names the file chooses.

use super::{Decoder, Entry, Section, find};
use crate::notation::problem::{nearest, one_line, one_of};
use crate::notation::table::{Inner, Kind, Table};
use crate::notation::tree::{Data, Item, join};
use crate::notation::value::expected;

/// Key under which a section has its groups, which have no key in the file.
const GROUPS: &str = "";

impl Decoder<'_, '_> {
    /// Decodes a table that may have groups: tables whose names are not keys of the table. The table
    /// may also be a bare value.
    pub(super) fn grouped(
        &mut self,
        inner: &Inner,
        group: &'static Table,
        node: &Item,
        path: String,
    ) -> Section {
        let table = (inner.table)();
        let Some(entries) = node.entries() else {
            return match inner.bare {
                Some(main) => self.bare(node, table, main, path),
                None => self.section(node, table, path),
            };
        };
        let (mut keys, mut groups) = (Vec::new(), Vec::new());
        for (name, item) in entries {
            let path = join(&path, name);
            match self.added.find(table, name) {
                None if item.entries().is_some() => {
                    let item = self.without_groups(item, group, &path);
                    groups.push((name.clone(), self.section(&item, group, path)));
                }
                None if self.is_group_without_table(table, name, item) => {
                    let shown = item.show();
                    let key = inner.bare.unwrap_or("key");
                    let message = format!(
                        "is no key of this table, and {shown} is no table of a group; expected a \
                         key, such as `{key}`, or a group, such as `{} = {{ {key} = ... }}`",
                        one_line(name, 40)
                    );
                    self.problems.add(item.origin, &path, message);
                }
                Some(key)
                    if let Kind::Tables(own) = &key.kind
                        && self.has_keys_of_group(item, (own.table)(), group) =>
                {
                    let names = self.added.names((own.table)());
                    let message = format!(
                        "is a table of settings, and no name of a group; expected {}, or another \
                         name for the group, such as `{name}-1`",
                        one_of(&names)
                    );
                    self.problems.add(item.origin, &path, message);
                }
                Some(key) if item.entries().is_some() && !matches!(key.kind, Kind::Tables(_)) => {
                    let message = format!(
                        "is a key of this table, and no name of a group; expected {}, or another \
                         name for the group",
                        expected(key, self.preset)
                    );
                    self.problems.add(item.origin, &path, message);
                }
                _ => keys.push((name.clone(), item.clone())),
            }
        }
        let own = Item {
            origin: node.origin,
            data: Data::Table(keys),
        };
        let mut section = self.section(&own, table, path);
        if !groups.is_empty() {
            section.named.push((GROUPS, groups));
        }
        section
    }

    /// Returns the group `item` without the tables in it that are no keys of a group, which are
    /// refused.
    fn without_groups(&mut self, item: &Item, group: &'static Table, path: &str) -> Item {
        let mut entries = item.entries().unwrap_or_default().to_vec();
        entries.retain(|(name, inner)| {
            let is_group = inner.entries().is_some() && self.added.find(group, name).is_none();
            if is_group {
                let message = "is a table in a group; expected a key. A group has no groups";
                let path = join(path, name);
                self.problems.add(inner.origin, &path, message.to_owned());
            }
            !is_group
        });
        Item {
            origin: item.origin,
            data: Data::Table(entries),
        }
    }

    /// Returns whether an unknown key is probably the name of a group, and not a misspelt or invented
    /// key: its value is a count, such as the bare value of a table.
    fn is_group_without_table(&self, table: &Table, name: &str, item: &Item) -> bool {
        let names = self.added.names(table);
        matches!(item.data, Data::Number(_)) && nearest(name, names.iter().copied()).is_none()
    }

    /// Returns whether `item` has a key that its table `own` lacks and that a group has.
    fn has_keys_of_group(&self, item: &Item, own: &Table, group: &Table) -> bool {
        let entries = item.entries().unwrap_or_default().iter();
        let mut names = entries.map(|(name, _)| name);
        names.any(|name| {
            self.added.find(own, name).is_none() && self.added.find(group, name).is_some()
        })
    }
}

impl Section {
    /// Returns the groups of the table, each with its name, in order of the file.
    pub(crate) fn groups(&self) -> &[(String, Section)] {
        find(&self.named, GROUPS).map_or(&[], Vec::as_slice)
    }

    /// Returns the names and values of the keys that the file or an override gives.
    pub(crate) fn all_given(&self) -> impl Iterator<Item = &Entry> {
        self.entries
            .iter()
            .map(|(_, entry)| entry)
            .filter(|entry| entry.given)
    }

    /// Returns the inner tables that the file or an override gives.
    pub(crate) fn given_tables(&self) -> impl Iterator<Item = &Section> {
        self.tables
            .iter()
            .map(|(_, table)| table)
            .filter(|table| table.given)
    }
}

//! Tables that may have groups in place of their keys: tables whose names the file chooses.

use super::{Decoder, Entry, Section, find};
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
                    groups.push((name.clone(), self.section(item, group, path)));
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

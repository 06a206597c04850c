//! The hint for an unknown key. The hint names other tables of the grammar that have the key.

use std::collections::VecDeque;

use super::table::{Added, Kind, Table};
use super::tree::join;

/// Largest number of tables that a hint names. The other tables are only counted in the hint.
const NAMED: usize = 3;

/// Placeholder in a path for a name that the user chooses, such as the name of a station.
const NAME: &str = "NAME";

/// Returns the paths of the tables below `root` that have a key of this name, the shortest path
/// first. A table that is allowed under several paths is listed once. The root table has the empty
/// path.
fn tables_with(root: &'static Table, added: &Added, name: &str) -> Vec<String> {
    let mut paths = Vec::new();
    let mut seen: Vec<&'static Table> = vec![root];
    let mut ahead = VecDeque::from([(root, String::new())]);
    while let Some((table, path)) = ahead.pop_front() {
        if added.find(table, name).is_some() {
            paths.push(path.clone());
        }
        for (key, _) in added.keys(table) {
            let Kind::Tables(inner) = &key.kind else {
                continue;
            };
            let table = (inner.table)();
            if !seen.iter().any(|known| std::ptr::eq(*known, table)) {
                let place = join(&path, key.name);
                seen.push(table);
                ahead.push_back(match inner.is_named {
                    true => (table, join(&place, NAME)),
                    false => (table, place),
                });
            }
        }
    }
    paths
}

/// Returns the hint that names the tables below `root` that have the key; `None` if no table has
/// the key.
pub(super) fn tables_hint(root: &'static Table, added: &Added, name: &str) -> Option<String> {
    let paths = tables_with(root, added, name);
    let mut places: Vec<String> = paths
        .iter()
        .map(|path| match path.as_str() {
            "" => "the file itself, above its tables".to_owned(),
            path => format!("`{path}`"),
        })
        .collect();
    // a single remaining table is named, because "1 other tables" would not be shorter
    if places.len() > NAMED + 1 {
        let more = places.len() - NAMED;
        places.truncate(NAMED);
        places.push(format!("{more} other tables"));
    }
    let (last, others) = places.split_last()?;
    let listed = match others {
        [] => last.clone(),
        _ => format!("{} and {last}", others.join(", ")),
    };
    Some(format!("`{name}` is a key of {listed}"))
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::super::table::{Default, Inner, Key, NOTHING_ADDED, Part};
    use super::*;

    fn key(name: &'static str, kind: Kind) -> Key {
        Key {
            name,
            kind,
            word: None,
            accepted: None,
            default: Default::Absent("none"),
            meant: None,
            doc: "",
        }
    }

    fn inner(table: fn() -> &'static Table, bare: Option<&'static str>, is_named: bool) -> Kind {
        Kind::Tables(Inner {
            table,
            bare,
            is_named,
            groups: None,
            is_absent_at_zero: false,
        })
    }

    fn table(name: &'static str, keys: Vec<Key>) -> &'static Table {
        let part = Part {
            keys: Cow::Owned(keys),
            inherits: None,
        };
        Box::leak(Box::new(Table {
            name,
            doc: "",
            parts: Cow::Owned(vec![part]),
            elsewhere: &[],
        }))
    }

    fn leaf() -> &'static Table {
        use std::sync::OnceLock;
        static LEAF: OnceLock<&Table> = OnceLock::new();
        LEAF.get_or_init(|| {
            table(
                "tcp",
                vec![key("window", Kind::Flag), key("mss", Kind::Flag)],
            )
        })
    }

    fn station() -> &'static Table {
        use std::sync::OnceLock;
        static STATION: OnceLock<&Table> = OnceLock::new();
        STATION.get_or_init(|| {
            let keys = vec![
                key("rate", Kind::Flag),
                key("tcp", inner(leaf, None, false)),
            ];
            table("station", keys)
        })
    }

    fn root() -> &'static Table {
        let keys = vec![
            key("seed", Kind::Flag),
            key("station", inner(station, None, true)),
            key("tcp", inner(leaf, None, false)),
            key("link", inner(station, Some("rate"), false)),
        ];
        table("file", keys)
    }

    #[test]
    fn a_key_is_looked_for_in_all_tables_and_each_is_named_once() {
        let hint = |name| tables_hint(root(), &NOTHING_ADDED, name);
        // the key `window` is in a single table, which is allowed under several paths; the hint
        // contains the shortest path
        assert_eq!(
            hint("window").as_deref(),
            Some("`window` is a key of `tcp`")
        );
        assert_eq!(
            hint("rate").as_deref(),
            Some("`rate` is a key of `station.NAME`")
        );
        assert_eq!(
            hint("seed").as_deref(),
            Some("`seed` is a key of the file itself, above its tables")
        );
        assert_eq!(
            hint("tcp").as_deref(),
            Some("`tcp` is a key of the file itself, above its tables and `station.NAME`")
        );
        assert_eq!(hint("windows"), None);
    }
}

//! Which tables of a file have a key: for one that stands where it is unknown.

use std::collections::VecDeque;

use super::table::{Added, Kind, Table};
use super::tree::join;

/// Most tables that are named.
const NAMED: usize = 3;

/// Stands in a path for a name that the file chooses.
const NAME: &str = "NAME";

/// Paths of the tables below `root` that have a key of this name, the shortest first; each table once,
/// however many places it may stand at. The file itself has the empty path.
fn tables_with(root: &'static Table, added: &Added, name: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut seen: Vec<&'static Table> = vec![root];
    let mut ahead = VecDeque::from([(root, String::new())]);
    while let Some((table, path)) = ahead.pop_front() {
        if added.find(table, name).is_some() {
            found.push(path.clone());
        }
        for (key, _) in added.keys(table) {
            let (inner, place) = match &key.kind {
                Kind::Table(inner) | Kind::Shorthand(inner, _) => (inner(), join(&path, key.name)),
                Kind::Named(inner) | Kind::ByPlace(inner, _) => {
                    (inner(), join(&join(&path, key.name), NAME))
                }
                _ => continue,
            };
            if !seen.iter().any(|known| std::ptr::eq(*known, inner)) {
                seen.push(inner);
                ahead.push_back((inner, place));
            }
        }
    }
    found
}

/// A hint that names the tables below `root` which have the key; none if there is none.
pub(super) fn stands_in(root: &'static Table, added: &Added, name: &str) -> Option<String> {
    let paths = tables_with(root, added, name);
    let mut places: Vec<String> = paths
        .iter()
        .map(|path| match path.as_str() {
            "" => "the file itself, above its tables".to_owned(),
            path => format!("`{path}`"),
        })
        .collect();
    // a count of one would take the place of its name
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

    use super::super::table::{Default, Key, NOTHING_ADDED, Part};
    use super::*;

    fn key(name: &'static str, kind: Kind) -> Key {
        Key {
            name,
            kind,
            word: None,
            told: None,
            default: Default::Absent("none"),
            meant: None,
            doc: "",
        }
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
            let keys = vec![key("rate", Kind::Flag), key("tcp", Kind::Table(leaf))];
            table("station", keys)
        })
    }

    fn root() -> &'static Table {
        let keys = vec![
            key("seed", Kind::Flag),
            key("station", Kind::Named(station)),
            key("tcp", Kind::Table(leaf)),
            key("link", Kind::Shorthand(station, "rate")),
        ];
        table("file", keys)
    }

    #[test]
    fn a_key_is_looked_for_in_all_tables_and_each_is_named_once() {
        let found = |name| stands_in(root(), &NOTHING_ADDED, name);
        // by the shorter of its two ways
        assert_eq!(
            found("window").as_deref(),
            Some("`window` is a key of `tcp`")
        );
        assert_eq!(
            found("rate").as_deref(),
            Some("`rate` is a key of `station.NAME`")
        );
        assert_eq!(
            found("seed").as_deref(),
            Some("`seed` is a key of the file itself, above its tables")
        );
        assert_eq!(
            found("tcp").as_deref(),
            Some("`tcp` is a key of the file itself, above its tables and `station.NAME`")
        );
        assert_eq!(found("windows"), None);
    }
}

//! Search by name and grouping by key, each in logarithmic time.

use std::collections::BTreeMap;

use crate::text::Text;

/// Items of a list, sorted by name.
pub struct Index<'a, T> {
    sorted: Vec<(&'a Text<'a>, &'a T)>,
}

impl<'a, T> Index<'a, T> {
    /// Returns the index of a list whose items have the names `name`.
    pub fn new(items: &'a [T], name: impl Fn(&'a T) -> &'a Text<'a>) -> Index<'a, T> {
        let mut sorted: Vec<(&Text<'_>, &T)> =
            items.iter().map(|item| (name(item), item)).collect();
        sorted.sort_by_key(|&(name, _)| &**name);
        Index { sorted }
    }

    /// Returns the first item of the list with this name.
    pub fn named(&self, name: &str) -> Option<&'a T> {
        let at = self.sorted.partition_point(|(other, _)| &***other < name);
        let (key, item) = self.sorted.get(at)?;
        (&***key == name).then_some(*item)
    }
}

/// Values grouped by key, in the order of the first occurrence of each key.
pub struct Groups<K, V> {
    values: Vec<V>,
    positions: BTreeMap<K, usize>,
}

impl<K: Ord, V> Groups<K, V> {
    /// Returns no groups.
    pub fn new() -> Groups<K, V> {
        Groups {
            values: Vec::new(),
            positions: BTreeMap::new(),
        }
    }

    /// Returns the value of a group. If the group is new, its value is `new()`.
    pub fn group(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let at = *self.positions.entry(key).or_insert_with(|| {
            self.values.push(new());
            self.values.len() - 1
        });
        &mut self.values[at]
    }

    /// Returns the values of all groups.
    pub fn into_values(self) -> Vec<V> {
        self.values
    }
}

/// Returns the distinct items, in the order of their first occurrence.
pub fn distinct<T: Ord + Clone>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Groups::new();
    for item in items {
        distinct.group(item.clone(), || item);
    }
    distinct.into_values()
}

//! Sorting, search by name and grouping by key. Search and grouping take logarithmic time.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::marker::PhantomData;

use crate::text::Text;

/// Returns the positions 0 to `count` - 1 in the order of `compare`, which compares two positions.
/// Equal positions stay in ascending order.
///
/// All lists are sorted by this function, so that the sort is compiled only once.
fn positions(count: usize, compare: &dyn Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..count).collect();
    positions.sort_by(|a, b| compare(*a, *b));
    positions
}

/// Sorts items. Equal items stay in their order.
pub fn sort<T>(items: Vec<T>, compare: impl Fn(&T, &T) -> Ordering) -> Vec<T> {
    let sorted = positions(items.len(), &|a, b| compare(&items[a], &items[b]));
    let mut items: Vec<Option<T>> = items.into_iter().map(Some).collect();
    let sorted = sorted.into_iter();
    sorted.filter_map(|at| items[at].take()).collect()
}

/// Returns the set of these items.
pub fn set_of<T: Ord>(items: impl Iterator<Item = T>) -> BTreeSet<T> {
    // `collect` would sort the items before
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// Items of a list, with an index by name.
pub struct Index<'a, T> {
    items: &'a [T],
    /// Name of each item in alphabetical order, with the position of the item.
    sorted: Vec<(&'a Text<'a>, usize)>,
}

impl<'a, T> Index<'a, T> {
    /// Returns the index of a list whose items have the names `name`.
    pub fn new(items: &'a [T], name: impl Fn(&'a T) -> &'a Text<'a>) -> Index<'a, T> {
        let names: Vec<&Text<'_>> = items.iter().map(name).collect();
        let sorted = positions(names.len(), &|a, b| (**names[a]).cmp(names[b]));
        Index {
            items,
            sorted: sorted.into_iter().map(|at| (names[at], at)).collect(),
        }
    }

    /// Returns the first item of the list with this name.
    pub fn named(&self, name: &str) -> Option<&'a T> {
        let first = (self.sorted).partition_point(|(other, _)| &***other < name);
        let (key, at) = self.sorted.get(first)?;
        (&***key == name).then_some(&self.items[*at])
    }
}

/// A key of groups. All keys are looked up as texts, so that the map is compiled only once.
pub trait GroupKey {
    /// Appends the texts of the key, each with a terminator.
    fn write(&self, text: &mut String);
}

impl GroupKey for &str {
    fn write(&self, text: &mut String) {
        text.push_str(self);
        text.push('\0');
    }
}

impl GroupKey for String {
    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }
}

impl<A: GroupKey, B: GroupKey> GroupKey for (A, B) {
    fn write(&self, text: &mut String) {
        self.0.write(text);
        self.1.write(text);
    }
}

impl<T: GroupKey> GroupKey for Vec<T> {
    fn write(&self, text: &mut String) {
        self.iter().for_each(|item| item.write(text));
    }
}

/// Values grouped by key, in the order of the first occurrence of each key.
pub struct Groups<K, V> {
    values: Vec<V>,
    positions: BTreeMap<String, usize>,
    keys: PhantomData<K>,
}

impl<K: GroupKey, V> Groups<K, V> {
    /// Returns no groups.
    pub fn new() -> Groups<K, V> {
        Groups {
            values: Vec::new(),
            positions: BTreeMap::new(),
            keys: PhantomData,
        }
    }

    /// Returns the value of a group. If the group is new, its value is `new()`.
    pub fn group(&mut self, key: K, new: impl FnOnce() -> V) -> &mut V {
        let mut text = String::new();
        key.write(&mut text);
        let at = *self.positions.entry(text).or_insert_with(|| {
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
pub fn distinct<T: GroupKey + Clone>(items: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Groups::new();
    for item in items {
        distinct.group(item.clone(), || item);
    }
    distinct.into_values()
}

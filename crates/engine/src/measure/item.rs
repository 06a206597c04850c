//! The structure of a result: lists of items, and their values.

/// Name and value of a quantity. The value is `None` if the quantity could not be measured.
pub type Value = (&'static str, Option<f64>);

/// An item of a result list, such as a flow, a station or a queue.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name of the item, unique in its list.
    pub name: String,
    /// Labels of the item, such as `station`, `direction` and `class`. Labels are the same in all
    /// replications.
    pub labels: Vec<(&'static str, String)>,
    /// Measured values of the item.
    pub values: Vec<Value>,
}

impl Item {
    /// Returns an item without labels.
    pub fn new(name: &str, values: impl Into<Vec<Value>>) -> Item {
        let mut values = values.into();
        values.shrink_to_fit(); // a large network has very many items
        Item {
            name: name.to_owned(),
            labels: Vec::new(),
            values,
        }
    }
}

/// The result lists of one replication, in the order in which the result contains them.
#[derive(Clone, Debug)]
pub struct Measures {
    /// Name of each list, and its items.
    pub lists: Vec<(&'static str, Vec<Item>)>,
}

impl Measures {
    /// Returns all values in order; NaN for missing values. The results of the replications differ
    /// only in these values.
    pub fn values(&self) -> Vec<f64> {
        let items = self.lists.iter().flat_map(|(_, items)| items);
        let values = items.flat_map(|item| &item.values);
        values
            .map(|&(_, value)| value.unwrap_or(f64::NAN))
            .collect()
    }

    /// Returns these lists and items with other values. `values` has the order of
    /// [`Measures::values`].
    pub fn with_values(&self, values: &[f64]) -> Measures {
        let mut other = self.clone();
        let items = other.lists.iter_mut().flat_map(|(_, items)| items);
        let own = items.flat_map(|item| &mut item.values);
        for ((_, value), &given) in own.zip(values) {
            *value = (!given.is_nan()).then_some(given);
        }
        other
    }

    /// Adds a value to the item `name` of the list `list`, if there is such an item.
    pub(super) fn add(&mut self, list: &str, name: &str, value: Value) {
        let mut lists = self.lists.iter_mut();
        let items = lists.find(|(own, _)| *own == list).map(|(_, items)| items);
        let item = items.and_then(|items| items.iter_mut().find(|item| item.name == name));
        if let Some(item) = item {
            item.values.push(value);
        }
    }
}

/// Returns `part / total`; `None` if the total is 0. [-]
pub(super) fn ratio(part: u64, total: u64) -> Option<f64> {
    (total > 0).then(|| part as f64 / total as f64)
}

/// Returns `part / total`; `None` if the total is 0. [-]
pub(super) fn share(part: f64, total: f64) -> Option<f64> {
    (total > 0.0).then(|| part / total)
}

/// Returns the probability of a failure: failures divided by failures plus successes
/// ([`super::fates`]); `None` if there are neither failures nor successes. [-]
pub(super) fn probability(failed: u64, succeeded: u64) -> Option<f64> {
    ratio(failed, failed + succeeded)
}

/// Returns the mean of `count` times whose sum is `sum_ns` [ns]; `None` if `count` is 0. [s]
pub(super) fn mean_s(sum_ns: u64, count: u64) -> Option<f64> {
    ratio(sum_ns, count).map(|ns| ns / 1e9)
}

/// Returns a quantile of the ascending list `sorted`: the smallest value v such that at least the
/// fraction `part` of the values is v or less.
pub fn quantile<T: Copy>(sorted: &[T], part: f64) -> Option<T> {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

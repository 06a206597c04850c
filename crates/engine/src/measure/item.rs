//! Parts of a result: values, items and lists.

/// Name and value of a quantity. The value is `None` if the replication has none.
pub type Value = (&'static str, Option<f64>);

/// One item of a result list.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name of the item, unique in its list.
    pub name: String,
    /// Labels of the item that do not depend on the replication (`station`, `direction`, `class`).
    pub labels: Vec<(&'static str, String)>,
    /// Measured values of the item.
    pub values: Vec<Value>,
}

impl Item {
    /// Returns an item without labels.
    pub fn new(name: &str, values: impl Into<Vec<Value>>) -> Item {
        Item {
            name: name.to_owned(),
            labels: Vec::new(),
            values: values.into(),
        }
    }
}

/// All result lists of one replication, in the order of the result.
#[derive(Clone, Debug)]
pub struct Measures {
    /// Name and items of each list.
    pub lists: Vec<(&'static str, Vec<Item>)>,
}

impl Measures {
    /// Returns all values in order; NaN for missing values. The replications of a scenario differ
    /// only in these values.
    pub fn values(&self) -> Vec<f64> {
        let items = self.lists.iter().flat_map(|(_, items)| items);
        let values = items.flat_map(|item| &item.values);
        values
            .map(|&(_, value)| value.unwrap_or(f64::NAN))
            .collect()
    }

    /// Returns the same lists and items with other values, which are in the order of
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

/// Returns the probability of a failure: the failures divided by all decided fates
/// ([`super::fates`]); `None` if no fate was decided. [-]
pub(super) fn probability(failed: u64, succeeded: u64) -> Option<f64> {
    ratio(failed, failed + succeeded)
}

/// Returns the mean of `count` times whose sum is `sum_ns` [ns]; `None` if `count` is 0. [s]
pub(super) fn mean_s(sum_ns: u64, count: u64) -> Option<f64> {
    ratio(sum_ns, count).map(|ns| ns / 1e9)
}

/// Returns the quantile of `sorted`: the smallest value v for which at least the fraction `part` of
/// the values is v or less.
pub fn quantile<T: Copy>(sorted: &[T], part: f64) -> Option<T> {
    let rank = (part * sorted.len() as f64).ceil() as usize;
    sorted.get(rank.saturating_sub(1)).copied()
}

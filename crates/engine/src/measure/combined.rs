//! The measured values of several replications. Names are stored once, and values in one array per
//! replication.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::item::{Item, Measures};
use crate::estimate::{Estimate, estimate};

/// The result lists of all replications. A value takes eight bytes per replication.
#[derive(Clone, Debug, Default)]
pub struct ReplicationTable {
    lists: Vec<(&'static str, Vec<ItemHeader>)>,
    /// Values of each replication, in the order of the items and of their quantities; NaN for a
    /// missing value.
    runs: Vec<Vec<f64>>,
}

/// An item without its values. Consecutive items share equal labels and equal quantities.
#[derive(Clone, Debug)]
struct ItemHeader {
    name: Box<str>,
    labels: Arc<Labels>,
    quantities: Arc<Quantities>,
    /// Index of the item's first value in the array of a replication.
    first_value: usize,
}

type Labels = Vec<(&'static str, String)>;
type Quantities = Vec<&'static str>;

/// An item of a result list, with its values in all replications.
#[derive(Clone, Copy, Debug)]
pub struct CombinedItem<'a> {
    header: &'a ItemHeader,
    runs: &'a [Vec<f64>],
}

impl ReplicationTable {
    /// Combines the measures of replications. All replications have the same lists, items and
    /// quantities.
    pub fn from_replications(runs: &[&Measures]) -> ReplicationTable {
        let Some(measures) = runs.first() else {
            return ReplicationTable::default();
        };
        let mut last = (Arc::new(Vec::new()), Arc::new(Vec::new()));
        let mut first_value = 0;
        let mut header = |item: &Item| {
            let quantities = item.values.iter().map(|&(quantity, _)| quantity);
            if last.0.iter().ne(&item.labels) {
                last.0 = Arc::new(item.labels.clone());
            }
            if last.1.iter().copied().ne(quantities.clone()) {
                last.1 = Arc::new(quantities.collect());
            }
            let own = first_value;
            first_value += item.values.len();
            ItemHeader {
                name: item.name.as_str().into(),
                labels: Arc::clone(&last.0),
                quantities: Arc::clone(&last.1),
                first_value: own,
            }
        };
        let lists = measures.lists.iter();
        let lists = lists.map(|(list, items)| (*list, items.iter().map(&mut header).collect()));
        ReplicationTable {
            lists: lists.collect(),
            runs: runs.iter().map(|run| run.values()).collect(),
        }
    }

    /// Returns the number of replications.
    pub fn replications(&self) -> usize {
        self.runs.len()
    }

    /// Returns the names of the lists, in the order of the result.
    pub fn lists(&self) -> impl Iterator<Item = &'static str> {
        self.lists.iter().map(|&(list, _)| list)
    }

    /// Returns the items of a list; an empty iterator if there is no such list.
    pub fn items(&self, list: &str) -> impl Iterator<Item = CombinedItem<'_>> {
        let lists = self.lists.iter().filter(move |(own, _)| *own == list);
        let headers = lists.flat_map(|(_, headers)| headers);
        headers.map(|header| CombinedItem {
            header,
            runs: &self.runs,
        })
    }

    /// Returns the value of each quantity in each replication, in a form that serialises to JSON:
    /// list -> item -> quantity -> one value per replication (null if missing).
    pub fn samples(&self) -> impl Serialize {
        Samples(self)
    }
}

impl<'a> CombinedItem<'a> {
    /// Returns the name of the item.
    pub fn name(&self) -> &'a str {
        &self.header.name
    }

    /// Returns the names and texts of the labels.
    pub fn labels(&self) -> impl Iterator<Item = (&'static str, &'a str)> + use<'a> {
        let labels = self.header.labels.iter();
        labels.map(|(label, text)| (*label, text.as_str()))
    }

    /// Returns the estimate (mean and confidence interval) of each quantity over the replications. A
    /// quantity with a missing value in any replication is omitted.
    pub fn estimates(&self) -> impl Iterator<Item = (&'static str, Estimate)> + use<'a> {
        let item = *self;
        let quantities = self.header.quantities.iter().enumerate();
        let mut each = Vec::with_capacity(self.runs.len());
        quantities.filter_map(move |(position, &quantity)| {
            each.clear();
            each.extend(item.values(position));
            if each.iter().any(|value| value.is_nan()) {
                return None;
            }
            Some((quantity, estimate(&each)?))
        })
    }

    /// Returns the estimate (mean and confidence interval) of a quantity; `None` if the item does not
    /// have the quantity, or if a value is missing in any replication.
    pub fn estimate(&self, quantity: &str) -> Option<Estimate> {
        let position = self
            .header
            .quantities
            .iter()
            .position(|own| *own == quantity)?;
        let each: Vec<f64> = self.values(position).collect();
        let is_complete = !each.iter().any(|value| value.is_nan());
        is_complete.then(|| estimate(&each)).flatten()
    }

    /// Returns the value of a quantity in each replication; NaN for a missing value.
    fn values(&self, position: usize) -> impl Iterator<Item = f64> + use<'a> {
        let index = self.header.first_value + position;
        self.runs.iter().map(move |run| run[index])
    }
}

impl Serialize for CombinedItem<'_> {
    /// Writes the name, the labels, and the means with confidence intervals.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name())?;
        for (label, text) in self.labels() {
            map.serialize_entry(label, text)?;
        }
        for (quantity, estimate) in self.estimates() {
            map.serialize_entry(quantity, &estimate)?;
        }
        map.end()
    }
}

impl Serialize for ReplicationTable {
    /// Writes the lists of the result, with means and confidence intervals.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.lists().map(|list| (list, ListEstimates(self, list))))
    }
}

/// A result list, which serialises to a sequence of its items.
struct ListEstimates<'a>(&'a ReplicationTable, &'static str);

impl Serialize for ListEstimates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.items(self.1))
    }
}

/// The values of all lists, by list, item, quantity and replication.
struct Samples<'a>(&'a ReplicationTable);

impl Serialize for Samples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.lists().map(|list| (list, ListSamples(self.0, list))))
    }
}

/// The values of a list, by item, quantity and replication.
struct ListSamples<'a>(&'a ReplicationTable, &'static str);

impl Serialize for ListSamples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let items = self.0.items(self.1);
        serializer.collect_map(items.map(|item| (item.name(), ItemSamples(item))))
    }
}

/// The values of an item, by quantity and replication.
struct ItemSamples<'a>(CombinedItem<'a>);

impl Serialize for ItemSamples<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let quantities = self.0.header.quantities.iter().enumerate();
        serializer.collect_map(quantities.map(|(position, quantity)| {
            let each: Vec<f64> = self.0.values(position).collect();
            (quantity, each)
        }))
    }
}

//! The estimates of a result, read from its JSON.

use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};

use crate::text::{Entry, Estimate, Text};

/// The lists of a result that explanations use.
#[derive(Default, Deserialize)]
#[serde(default)]
pub struct Answer<'a> {
    #[serde(borrow)]
    pub flows: Vec<Item<'a>>,
    pub classes: Vec<Item<'a>>,
    pub stations: Vec<Item<'a>>,
    pub aps: Vec<Item<'a>>,
    pub cells: Vec<Item<'a>>,
    pub queues: Vec<Item<'a>>,
    pub links: Vec<Item<'a>>,
    pub waits: Vec<Item<'a>>,
}

/// An item of a result, such as a flow or a queue.
#[derive(Default)]
pub struct Item<'a> {
    /// Name of the item.
    pub name: Text<'a>,
    /// Flow of a wait, or empty.
    pub flow: Text<'a>,
    /// Queue of a wait, or empty.
    pub queue: Text<'a>,
    estimates: Vec<(Text<'a>, Estimate)>,
}

impl Item<'_> {
    /// Returns the mean of a quantity.
    pub fn mean(&self, quantity: &str) -> Option<f64> {
        self.estimate(quantity)?.mean
    }

    /// Returns the half width of the 95 % interval of a quantity, or 0 with a single replication.
    pub fn ci95(&self, quantity: &str) -> f64 {
        let estimate = self.estimate(quantity);
        estimate.and_then(|each| each.ci95).unwrap_or(0.0)
    }

    fn estimate(&self, quantity: &str) -> Option<&Estimate> {
        let mut estimates = self.estimates.iter();
        let (_, estimate) = estimates.find(|(name, _)| &**name == quantity)?;
        Some(estimate)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Item<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Item<'a>, D::Error> {
        deserializer.deserialize_map(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an item of a result")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Item<'de>, A::Error> {
        let mut item = Item::default();
        while let Some((key, entry)) = entries.next_entry::<Text<'de>, Entry<'de>>()? {
            match (&*key, entry) {
                ("name", Entry::Text(text)) => item.name = text,
                ("flow", Entry::Text(text)) => item.flow = text,
                ("queue", Entry::Text(text)) => item.queue = text,
                (_, Entry::Estimate(estimate)) => item.estimates.push((key, estimate)),
                _ => {}
            }
        }
        item.estimates.shrink_to_fit();
        Ok(item)
    }
}

//! The estimates of a result, read from its JSON.

use crate::json::{Json, Read, table};
use crate::text::Text;

table! {
    /// The lists of a result that explanations use.
    pub struct Answer<'a> {
        pub flows: Vec<Item<'a>>,
        pub classes: Vec<Item<'a>>,
        pub stations: Vec<Item<'a>>,
        pub aps: Vec<Item<'a>>,
        pub cells: Vec<Item<'a>>,
        pub queues: Vec<Item<'a>>,
        pub links: Vec<Item<'a>>,
        pub waits: Vec<Item<'a>>,
    }
}

/// Mean and half width of the 95 % interval of a quantity.
#[derive(Default)]
struct Estimate {
    mean: Option<f64>,
    ci95: Option<f64>,
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

impl<'a> Read<'a> for Item<'a> {
    fn read(json: Json<'a>) -> Item<'a> {
        let mut item = Item::default();
        for (key, json) in json.entries() {
            match (&*key, json) {
                ("name", Json::Text(text)) => item.name = text,
                ("flow", Json::Text(text)) => item.flow = text,
                ("queue", Json::Text(text)) => item.queue = text,
                (_, Json::Table(entries)) => item.estimates.push((key, estimate(entries))),
                _ => {}
            }
        }
        item.estimates.shrink_to_fit();
        item
    }
}

fn estimate(entries: Vec<(Text<'_>, Json<'_>)>) -> Estimate {
    let mut estimate = Estimate::default();
    for (key, json) in entries {
        match (&*key, json) {
            ("mean", Json::Scalar(value)) => estimate.mean = value.as_f64(),
            ("ci95", Json::Scalar(value)) => estimate.ci95 = value.as_f64(),
            _ => {}
        }
    }
    estimate
}

//! Medium access of one node.

use super::access::{Background, Video, Voice};
use super::aggregation::{AggregationKeys, MPDUS_OF_VOICE};
use super::ppdu::Generation;
use super::presets::{CONTROL_RATE, per_preset, rate_of};
use super::{Access, AccessDefaults, Aggregation, Aggregations, Category, Contention, Preset};
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{JsonObject, count, inner, listed};
use crate::queue::QueueSetting;
use crate::table;

table! {
    /// Medium access of any node. The contention keys are those of category best effort.
    pub struct NodeAccess: Copy in "access" {
        /// Highest rate of MAC ACK, RTS and CTS frames. These frames are never faster than the data frame to which they belong.
        control_rate_bps as "control_rate": Option<u64> =
            listed(&CONTROL_RATE).by_preset(|| per_preset(|preset| rate_of(preset.control_rate_bps)));
        /// Contention of category best effort.
        flat contention: Contention;
        /// Largest number of attempts for RTS and for frames up to the RTS threshold, including the first attempt.
        attempts_short: u32 = count(1..=255).default(7);
        /// Largest number of attempts for frames longer than the RTS threshold, including the first attempt.
        attempts_long: u32 = count(1..=255).default(4);
        /// Access parameters of category voice, which has the highest priority.
        key voice: Voice = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Access parameters of category video, which has the second-highest priority.
        key video: Video = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Access parameters of category background, which has the lowest priority.
        key background: Background = inner().depends("the parameters in [cell], else parameters derived from best effort");
        /// Aggregation of 802.11n, ac and ax. The table of a category may have keys of its own. Category voice has no aggregates of MPDUs unless voice.aggregation.mpdus is set.
        key aggregation: AggregationKeys = inner().depends("the defaults of the table's keys");
    }
}

/// Medium access of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// Largest rate of MAC ACK, RTS and CTS frames ([`super::rates`]). [bit/s]
    pub control_rate_bps: u64,
    /// Access parameters of category best effort, which are also those of the DCF.
    pub best_effort: Access,
    /// Access parameters of category background.
    pub background: Access,
    /// Access parameters of category video.
    pub video: Access,
    /// Access parameters of category voice.
    pub voice: Access,
    /// Largest number of attempts, including the first attempt, for RTS frames and for frames up to
    /// the RTS threshold.
    pub attempts_short: u32,
    /// Largest number of attempts, including the first attempt, for frames longer than the RTS
    /// threshold.
    pub attempts_long: u32,
    /// Setting of the queue of each category.
    pub queue: QueueSetting,
    /// Aggregation of each category; `None` in a cell without aggregates.
    pub aggregation: Option<Box<Aggregations>>,
}

impl Node {
    /// Returns the access parameters of `category`.
    pub fn access(&self, category: Category) -> &Access {
        match category {
            Category::Background => &self.background,
            Category::BestEffort => &self.best_effort,
            Category::Video => &self.video,
            Category::Voice => &self.voice,
        }
    }

    /// Returns the aggregation of `category`; [`Aggregation::OFF`] in a cell without aggregates.
    pub fn aggregation(&self, category: Category) -> &Aggregation {
        let own = self.aggregation.as_ref();
        own.map_or(&Aggregation::OFF, |own| own.of(category))
    }

    /// Returns the medium access of the node that the tables describe. If several tables set a key,
    /// the first table applies.
    ///
    /// # Errors
    /// A value has been refused.
    pub(crate) fn read(
        layers: &Layers,
        defaults: AccessDefaults,
        queue: QueueSetting,
    ) -> Result<Node, Refused> {
        let access = |category| Access::read(layers.0, defaults, category);
        let control = layers.value(NodeAccess::control_rate_bps)?.flatten();
        let generation = defaults.phy.generation();
        let aggregation = generation.map(|generation| Aggregations::read(layers, generation));
        Ok(Node {
            control_rate_bps: control.unwrap_or(Preset::of(defaults.phy).control_rate_bps),
            best_effort: access(Category::BestEffort)?,
            background: access(Category::Background)?,
            video: access(Category::Video)?,
            voice: access(Category::Voice)?,
            attempts_short: layers.need(NodeAccess::attempts_short)?,
            attempts_long: layers.need(NodeAccess::attempts_long)?,
            queue,
            aggregation: aggregation.transpose()?.map(Box::new),
        })
    }

    /// Returns the settings as JSON for the normalised scenario.
    pub(crate) fn json(&self) -> JsonObject {
        let best_effort = self.access(Category::BestEffort).json();
        let mut json = JsonObject::new();
        json.insert("control_rate_bps".to_owned(), self.control_rate_bps.into());
        json.extend(best_effort.as_object().cloned().into_iter().flatten());
        json.insert("attempts_short".to_owned(), self.attempts_short.into());
        json.insert("attempts_long".to_owned(), self.attempts_long.into());
        json.insert("queue_packets".to_owned(), self.queue.most_packets().into());
        json.insert("queue".to_owned(), self.queue.to_json());
        let usual = self.aggregation(Category::BestEffort);
        for category in [Category::Voice, Category::Video, Category::Background] {
            let mut access = self.access(category).json();
            let own = self.aggregation(category);
            if own != usual {
                access["aggregation"] = own.json();
            }
            json.insert(category.name().to_owned(), access);
        }
        if self.aggregation.is_some() {
            json.insert("aggregation".to_owned(), usual.json());
        }
        json
    }
}

impl Aggregations {
    /// Returns the aggregation that the tables of a node set. If several tables set a key, the
    /// first table applies. The tables of a category precede the tables of the node. For voice, the
    /// number of MPDUs is read only from the tables of voice.
    ///
    /// # Errors
    /// A value has been refused.
    fn read(node: &Layers, generation: Generation) -> Result<Aggregations, Refused> {
        let of_node = node.inside(NodeAccess::aggregation);
        let mut every = Aggregations::alike(Aggregation::OFF);
        for category in Category::ALL {
            let tables = Access::tables(node.0, category);
            let own = Layers(&tables).inside(Voice::aggregation);
            let tables = [own.layers().0, of_node.layers().0].concat();
            let mut aggregation = Aggregation::read(&Layers(&tables), generation)?;
            if category == Category::Voice {
                let mpdus = own.layers().value(AggregationKeys::mpdus)?.flatten();
                aggregation.mpdus = mpdus.unwrap_or(MPDUS_OF_VOICE);
            }
            every = every.with(category, aggregation);
        }
        Ok(every)
    }
}

//! Plugins: queue disciplines and congestion controls that other crates add to scenario files.
//!
//! A plugin implements an algorithm ([`Policy`], [`ExternalControl`]) and its settings
//! ([`table!`](crate::table)). A [`Registry`] parses scenarios that contain the plugin's key or
//! word. `examples/parts` is an example.

use crate::notation::setting::FileTable;
use crate::notation::setting::{KeyOf, Spec, inner};
use crate::notation::table::{Added, Default};
use crate::queue::{ApQueue, DisciplinePlugin, QueueSetting};
pub use crate::queue::{Backlog, Egress, Policy, Verdict};
use crate::scenario::{self, Format, Problem, Scenario};
use crate::tcp::{ControlPlugin, TcpSettings};
pub use crate::tcp::{ExternalControl, NewAck, RttEstimator, Window, WindowAlgorithm};

/// The plugins that other crates have registered.
#[derive(Clone, std::default::Default)]
pub struct Registry {
    added: Added,
}

impl Registry {
    /// Returns a registry without plugins.
    pub fn new() -> Registry {
        Registry::default()
    }

    /// Registers a queue discipline, which is then accepted in all tables of queues.
    #[must_use]
    pub fn discipline<P: Policy>(mut self) -> Registry {
        let plugin: &'static DisciplinePlugin = const { &DisciplinePlugin::of::<P>() };
        for queue in [QueueSetting::table(), ApQueue::table()] {
            let spec: Spec<P::Settings> = inner();
            let key = spec.absent("none").key(KeyOf::new(P::NAME), P::DOC);
            self.added.key(queue.name, key, None, plugin);
        }
        self
    }

    /// Registers a congestion control, which is then accepted for all connections. The settings of
    /// the congestion control are in a table with its name, within any table of TCP settings.
    #[must_use]
    pub fn congestion<C: ExternalControl>(mut self) -> Registry {
        let plugin: &'static ControlPlugin = const { &ControlPlugin::of::<C>() };
        self.added
            .word(TcpSettings::congestion.name(), C::NAME, plugin);
        for (table, inherits) in scenario::tables_of_tcp() {
            let spec: Spec<C::Settings> = inner();
            let doc = C::Settings::table().doc;
            let mut key = spec.key(KeyOf::new(C::NAME), doc);
            key.default = Default::Depends("the defaults of the table's keys");
            self.added.key(table, key, inherits, plugin);
        }
        self
    }

    /// Parses and checks the scenario `text` with overrides: see [`scenario::parse`].
    ///
    /// # Errors
    /// All problems found in the text and the overrides.
    pub fn parse(
        &self,
        text: &str,
        format: Format,
        source: &str,
        settings: &[(String, String)],
    ) -> Result<Scenario, Vec<Problem>> {
        scenario::parse_with(&self.added, text.as_bytes(), format, source, settings)
    }
}

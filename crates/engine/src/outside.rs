//! Parts of other crates in scenario files: queue disciplines and congestion controls.
//!
//! A crate says what its part does ([`Policy`], [`ExternalControl`]) and what files say of it
//! ([`table!`](crate::table)); scenarios parsed through [`Parts`] then know its key or word like any other.
//! `examples/parts` is such a crate.

use crate::notation::setting::FileTable;
use crate::notation::setting::{KeyOf, Spec, inner};
use crate::notation::table::{Added, Default};
use crate::queue::{ApQueue, QueuePart, QueueSetting};
pub use crate::queue::{Backlog, Outlet, Policy, Verdict};
use crate::scenario::{self, Format, Problem, Scenario};
use crate::tcp::{ControlPlugin, TcpSettings};
pub use crate::tcp::{ExternalControl, NewAck, RttEstimator, Window, WindowAlgorithm};

/// What other crates bring.
#[derive(Clone, std::default::Default)]
pub struct Parts {
    added: Added,
}

impl Parts {
    /// Lasthop's own parts alone.
    pub fn new() -> Parts {
        Parts::default()
    }

    /// Adds this queue discipline, for every queue.
    #[must_use]
    pub fn discipline<P: Policy>(mut self) -> Parts {
        let part: &'static QueuePart = const { &QueuePart::of::<P>() };
        for queue in [QueueSetting::table(), ApQueue::table()] {
            let spec: Spec<P::Settings> = inner();
            let key = spec.absent("none").key(KeyOf::new(P::NAME), P::DOC);
            self.added.key(queue.name, key, None, part);
        }
        self
    }

    /// Adds this congestion control, for every connection. Its settings are a table with its name wherever
    /// those of TCP stand.
    #[must_use]
    pub fn congestion<C: ExternalControl>(mut self) -> Parts {
        let part: &'static ControlPlugin = const { &ControlPlugin::of::<C>() };
        self.added
            .word(TcpSettings::congestion.name(), C::NAME, part);
        for (table, inherits) in scenario::tables_of_tcp() {
            let spec: Spec<C::Settings> = inner();
            let doc = C::Settings::table().doc;
            let mut key = spec.key(KeyOf::new(C::NAME), doc);
            key.default = Default::Depends("the defaults of the table's keys");
            self.added.key(table, key, inherits, part);
        }
        self
    }

    /// The scenario that `text` and the settings over it describe, or every problem found
    /// ([`scenario::parse`]).
    ///
    /// # Errors
    /// Every problem found.
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

//! Networks by conflict graph: what `[csma]` and flows with a route mean.

mod assemble;
mod checks;
mod effect;
mod normalised;
mod routes;

use std::collections::BTreeSet;

use super::model::*;
use crate::control::utility::Marginals;
use crate::kernel::time::Span;

pub(super) use assemble::assemble;
pub(super) use checks::{check, leave_alone};

impl CsmaFlow {
    /// The first of its connections, or its datagrams, as a flow between wired nodes; without route.
    pub(crate) fn to_flow(&self) -> Flow {
        Flow {
            name: self.name.clone(),
            class: self.class.clone(),
            ends: Ends::Wired,
            forward: Vec::new(),
            back: Vec::new(),
            category: Category::BestEffort,
            start: self.start,
            start_spread: self.start_spread,
            stop: self.stop,
            transport: self.transport,
            reports: None,
        }
    }
}

//! Networks with a conflict graph (`[csma]`) in the checked scenario. Each of their flows has a
//! route.

mod assemble;
mod checks;
mod effect;
mod normalised;
mod routes;

use std::collections::BTreeSet;

use super::model::*;
use crate::control::multi_connection::{Aim, MultiConnection};
use crate::control::utility::{Marginals, Utility};
use crate::kernel::time::Span;

pub(super) use assemble::assemble;
pub(super) use checks::{check, leave_alone};

impl CsmaFlow {
    /// Returns the algorithm that sets the number of the user's open TCP connections.
    pub fn rule(&self, csma: &Csma) -> MultiConnection {
        let aim = match csma.connections {
            Connections::Rtt { k } => Aim::Rtt { k },
            Connections::Utility { k, fairness } => Aim::Utility {
                k,
                utility: match &self.marginal_utility {
                    Some(points) => Utility::Points(points.clone()),
                    None => Utility::AlphaFair { fairness },
                },
                weight: self.weight,
            },
            Connections::Marks { k } => Aim::Marks { k },
            Connections::One => Aim::One,
        };
        let is_nearest = csma.users.rounding == Rounding::Nearest;
        MultiConnection::new(aim, csma.users.smoothing, is_nearest)
    }

    /// Returns the user's first TCP connection, or its datagrams, as a wired flow without a route.
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
            transport: self.transport.clone(),
            reports: None,
            writes: None,
            call: None,
            hosts: None,
        }
    }
}

impl Scenario {
    /// Returns each user of a network with a conflict graph in the form of a flow.
    pub(crate) fn users(&self) -> impl Iterator<Item = Flow> {
        let networks = self.csma.iter();
        networks.flat_map(|csma| csma.flows.iter().map(CsmaFlow::to_flow))
    }
}

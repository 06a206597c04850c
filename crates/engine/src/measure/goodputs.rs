//! Goodputs summed over all flows, which show whether a run was in a steady state.

use super::Measures;
use crate::quantities::GOODPUT;

/// Goodputs summed over the flows of each direction. [bit/s]
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Goodputs {
    /// Total goodput of the flows from stations. [bit/s]
    pub up: f64,
    /// Total goodput of the flows to stations. [bit/s]
    pub down: f64,
    /// Total goodput of the flows between wired hosts, or over the links of a CSMA network. [bit/s]
    pub other: f64,
}

impl Goodputs {
    /// Returns the sums of the goodputs in `measures`.
    pub(crate) fn of(measures: &Measures) -> Goodputs {
        let mut sum = Goodputs::default();
        let lists = measures.lists.iter().filter(|(name, _)| *name == "flows");
        for item in lists.flat_map(|(_, items)| items) {
            let own = item.values.iter().find(|(name, _)| *name == GOODPUT.name);
            let direction = item.labels.iter().find(|(label, _)| *label == "direction");
            let place = match direction.map(|(_, way)| way.as_str()) {
                Some("up") => &mut sum.up,
                Some("down") => &mut sum.down,
                _ => &mut sum.other,
            };
            *place += own.and_then(|&(_, value)| value).unwrap_or(0.0);
        }
        sum
    }

    /// Returns the goodputs in the second half of a period. `self` contains the goodputs in the
    /// whole period, and `first` those in its first half.
    pub(crate) fn second_half(self, first: Goodputs) -> Goodputs {
        Goodputs {
            up: 2.0 * self.up - first.up,
            down: 2.0 * self.down - first.down,
            other: 2.0 * self.other - first.other,
        }
    }
}

//! Set of the streams that a client has requested. To save memory, the set is stored as a limit and a list. All stream
//! identifiers below the limit are in the set. The list has the identifiers of the set above the limit.

use std::collections::BTreeSet;

use super::{Violation, violation};
use crate::frame::StreamId;

/// Maximum number of requested streams above the first missing identifier.
const MAX_ABOVE: usize = 65_536;

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Identifier below which all streams were requested.
    below: StreamId,
    above: BTreeSet<StreamId>,
}

impl Seen {
    pub(super) fn has(&self, id: StreamId) -> bool {
        id < self.below || self.above.contains(&id)
    }

    /// Adds a stream. Returns whether the stream is new in the set.
    pub(super) fn add(&mut self, id: StreamId) -> Result<bool, Violation> {
        if self.has(id) {
            return Ok(false);
        }
        if id == StreamId::MAX || self.above.len() >= MAX_ABOVE {
            return violation("numbers of streams with gaps between them");
        }
        self.above.insert(id);
        while self.above.remove(&self.below) {
            self.below += 1;
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once() {
        let mut seen = Seen::default();
        for id in [3, 0, 1, 2, 7] {
            assert!(!seen.has(id));
            assert_eq!(seen.add(id), Ok(true));
            assert_eq!(seen.add(id), Ok(false));
        }
        assert_eq!((seen.below, seen.above.len()), (4, 1));
        assert!(seen.add(StreamId::MAX).is_err());
    }
}

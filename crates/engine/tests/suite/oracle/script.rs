//! Random draws that a test specifies.

use lasthop_engine::scenario::Category;

use super::contention::{Draws, Who};

/// Backoffs and channel errors that a test specifies in place of random draws.
#[derive(Default)]
pub struct Script {
    /// Expected contention window and backoff slots of each draw, per node.
    pub backoff: Vec<Vec<(u32, u32)>>,
    /// Expected contention window and backoff slots of each draw for category voice, per node.
    pub voice: Vec<Vec<(u32, u32)>>,
    pub corrupted: Vec<bool>,
}

impl Draws for Script {
    fn backoff(&mut self, who: Who, cw: u32) -> u32 {
        let draws = match who.1 {
            Category::Voice => &mut self.voice,
            _ => &mut self.backoff,
        };
        let (expected_cw, slots) = draws[who.0 as usize].remove(0);
        assert_eq!(cw, expected_cw, "window of {who:?}");
        slots
    }

    fn corrupted(&mut self, _from: Who, _to: u32) -> bool {
        if self.corrupted.is_empty() {
            false
        } else {
            self.corrupted.remove(0)
        }
    }
}

impl Script {
    /// Checks that every backoff of the script has been drawn.
    pub fn must_be_used_up(&self) {
        assert!(
            self.backoff.iter().chain(&self.voice).all(Vec::is_empty),
            "left over: {:?}, voice {:?}",
            self.backoff,
            self.voice
        );
    }
}

//! Memory budget that all streams of a relay share.

use std::cell::Cell;
use std::rc::Rc;

/// A memory budget: its size in bytes, and the number of bytes in use.
#[derive(Clone, Debug)]
pub struct Budget {
    free: Rc<Cell<usize>>,
    bytes: usize,
}

impl Budget {
    /// Returns a budget of `bytes` without any byte in use.
    pub fn new(bytes: usize) -> Budget {
        Budget {
            free: Rc::new(Cell::new(bytes)),
            bytes,
        }
    }

    /// Returns the number of free bytes. [bytes]
    pub fn free(&self) -> usize {
        self.free.get()
    }

    /// Returns the number of free bytes minus the reserve for new streams, which is a quarter of the budget. [bytes]
    pub fn spare(&self) -> usize {
        self.free().saturating_sub(self.bytes / 4)
    }

    /// Returns the number of free bytes minus the reserve for active streams, which is half of the budget. [bytes]
    pub fn plenty(&self) -> usize {
        self.free().saturating_sub(self.bytes / 2)
    }

    /// Returns the number of bytes in use. [bytes]
    pub fn used(&self) -> usize {
        self.bytes - self.free.get()
    }

    /// Reserves `bytes` if this number of bytes is free. Returns whether they were reserved.
    #[must_use]
    pub fn take(&self, bytes: usize) -> bool {
        let left = self.free.get().checked_sub(bytes);
        left.map(|left| self.free.set(left)).is_some()
    }

    /// Releases reserved bytes.
    pub fn give(&self, bytes: usize) {
        self.free.set(self.free.get() + bytes);
        debug_assert!(self.free.get() <= self.bytes, "given back twice");
    }
}

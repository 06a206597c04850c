//! Memory that all streams of a relay share.

use std::cell::Cell;
use std::rc::Rc;

/// So many bytes, and how many of them are given away.
#[derive(Clone, Debug)]
pub struct Budget {
    free: Rc<Cell<usize>>,
    bytes: usize,
}

impl Budget {
    /// All of it is free.
    pub fn new(bytes: usize) -> Budget {
        Budget {
            free: Rc::new(Cell::new(bytes)),
            bytes: bytes,
        }
    }

    /// What is free. [bytes]
    pub fn free(&self) -> usize {
        self.free.get()
    }

    /// What is free beside a quarter of the whole, which is for those who come. [bytes]
    pub fn spare(&self) -> usize {
        self.free().saturating_sub(self.bytes / 4)
    }

    /// What is free in addition to half of the whole, which is for those that are known to use it. [bytes]
    pub fn plenty(&self) -> usize {
        self.free().saturating_sub(self.bytes / 2)
    }

    /// What is given away. [bytes]
    pub fn used(&self) -> usize {
        self.bytes - self.free.get()
    }

    /// Takes so many bytes, if they are free.
    #[must_use]
    pub fn take(&self, bytes: usize) -> bool {
        let left = self.free.get().checked_sub(bytes);
        left.map(|left| self.free.set(left)).is_some()
    }

    /// Gives bytes back that were taken.
    pub fn give(&self, bytes: usize) {
        self.free.set(self.free.get() + bytes);
        debug_assert!(self.free.get() <= self.bytes, "given back twice");
    }
}

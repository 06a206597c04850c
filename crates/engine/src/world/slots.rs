//! Slots of the agenda, in the order in which events of the same instant leave it.

/// Which slot of the agenda is whose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Slots {
    pub(super) links: usize,
    /// There is a slot for what a CSMA network is to change.
    pub(super) has_control: bool,
}

impl Slots {
    pub(super) fn schedule(self) -> usize {
        self.links
    }

    pub(super) fn gauge(self) -> usize {
        self.links + 1
    }

    pub(super) fn acks(self) -> usize {
        self.links + 2
    }

    pub(super) fn reports(self) -> usize {
        self.links + 3
    }

    /// Prices and numbers of connections.
    pub(super) fn control(self) -> usize {
        self.links + 4
    }

    /// The sender's timer of flow `index`; the receiver's is the next slot.
    pub(super) fn flow(self, index: usize) -> usize {
        self.links + 4 + usize::from(self.has_control) + 2 * index
    }

    /// The flow of a timer, and whether it is the receiver's.
    pub(super) fn timer(self, slot: usize) -> (usize, bool) {
        let timer = slot - self.flow(0);
        (timer / 2, timer % 2 == 1)
    }
}

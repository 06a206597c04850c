//! Reordering at a receiver of MPDUs from one sender under a BlockAck agreement (IEEE 802.11-2020, 10.25.6.6): the
//! receiver delivers their packets in order of sequence number. Without an agreement the window is 1, and no MPDU waits
//! in the reorder buffer.

use std::collections::BTreeMap;

use lasthop_engine::kernel::time::{Span, Time};

use super::super::node::Packet;

/// An MPDU in the reorder buffer that waits for an earlier MPDU.
#[derive(Debug)]
struct Held {
    since: Time,
    packets: Vec<Packet>,
}

/// Packets that leave the reorder buffer.
#[derive(Debug, Default)]
pub struct Taken {
    /// Packets delivered to the node, in order of sequence number.
    pub handed_up: Vec<Packet>,
    /// Packets dropped because packets with higher sequence numbers have already been delivered.
    pub too_late: Vec<Packet>,
}

/// Reorder buffer of one receiver for the MPDUs of one contender.
#[derive(Debug)]
pub struct Reordering {
    window: u32,
    timeout: Option<Span>,
    /// Sequence number that the receiver expects next.
    start: u32,
    held: BTreeMap<u32, Held>,
}

impl Reordering {
    pub fn new(window: u32, timeout: Option<Span>) -> Reordering {
        Reordering {
            window,
            timeout,
            start: 0,
            held: BTreeMap::new(),
        }
    }

    pub fn start(&self) -> u32 {
        self.start
    }

    /// Returns the packets in the reorder buffer.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        self.held.values().flat_map(|held| &held.packets)
    }

    /// Handles an MPDU that is received at `now`.
    pub fn take(&mut self, now: Time, number: u32, packets: Vec<Packet>, taken: &mut Taken) {
        if number < self.start {
            taken.too_late.extend(packets);
            return;
        }
        let since = now;
        self.held.insert(number, Held { since, packets });
        if number >= self.start + self.window {
            self.move_to(number - self.window + 1, taken);
        } else {
            self.move_to(self.start, taken);
        }
    }

    /// Moves the start of the window to `start`, if this is higher. Delivers all buffered MPDUs with lower numbers,
    /// then the MPDUs from `start` on without a gap.
    pub fn move_to(&mut self, start: u32, taken: &mut Taken) {
        self.start = self.start.max(start);
        while let Some(first) = self.held.first_entry()
            && *first.key() <= self.start
        {
            let (number, held) = first.remove_entry();
            taken.handed_up.extend(held.packets);
            self.start = self.start.max(number + 1);
        }
    }

    /// Returns the time at which the reorder time-out of the lowest buffered sequence number expires.
    pub fn deadline(&self) -> Option<Time> {
        let (_, first) = self.held.first_key_value()?;
        self.timeout.map(|timeout| first.since + timeout)
    }

    /// Handles the reorder time-out. The receiver no longer waits for the MPDUs missing before the first buffered MPDU.
    pub fn time_out(&mut self, taken: &mut Taken) {
        let first = self.held.keys().next().copied();
        self.move_to(first.expect("something is held"), taken);
    }
}

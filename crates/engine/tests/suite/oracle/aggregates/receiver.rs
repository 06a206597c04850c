//! What a receiver does with the MPDUs of one sender under a BlockAck agreement (IEEE 802.11-2020,
//! 10.25.6.6): it hands their packets up in order of number. Without an agreement the window is 1, and
//! nothing is ever held.

use std::collections::BTreeMap;

use lasthop_engine::kernel::time::{Span, Time};

use super::super::node::Packet;

/// An MPDU that is held back for one before it.
#[derive(Debug)]
struct Held {
    since: Time,
    packets: Vec<Packet>,
}

/// What became of MPDUs.
#[derive(Debug, Default)]
pub struct Taken {
    /// Packets handed up, in order.
    pub handed_up: Vec<Packet>,
    /// Packets dropped, since their turn is over.
    pub too_late: Vec<Packet>,
}

/// Order of the MPDUs of one contender at one receiver.
#[derive(Debug)]
pub struct Reordering {
    window: u32,
    timeout: Option<Span>,
    /// Number that is expected next.
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

    /// Packets that are held.
    pub fn held(&self) -> impl Iterator<Item = &Packet> {
        self.held.values().flat_map(|held| &held.packets)
    }

    /// An MPDU has been received at `now`.
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

    /// The window begins at `start` if it began earlier: all that is held below is handed up, then what
    /// is there from `start` on without a gap.
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

    /// When the held MPDU with the lowest number has been held for long enough.
    pub fn deadline(&self) -> Option<Time> {
        let (_, first) = self.held.first_key_value()?;
        self.timeout.map(|timeout| first.since + timeout)
    }

    /// It has: the receiver waits no longer for what is missing before it.
    pub fn time_out(&mut self, taken: &mut Taken) {
        let first = self.held.keys().next().copied();
        self.move_to(first.expect("something is held"), taken);
    }
}

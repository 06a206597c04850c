//! The sojourn times of the datagrams of each flow in a queue.
//!
//! Only datagrams that leave at the head of the queue are counted, as in
//! [`super::QueueCounters::sojourn_ns`]. TCP segments, ACKs, and datagrams that the queue refuses
//! or drops are not counted.

use crate::kernel::time::Time;
use crate::packet::PacketKind;

/// The sojourn times of datagrams in a queue, by flow.
#[derive(Clone, Debug, Default)]
pub struct Waits {
    /// Sojourn times of each flow; `None` until a datagram has left the queue.
    flows: Option<Box<Flows>>,
}

/// The flows with datagrams that have left the queue, by flow number.
#[derive(Clone, Debug, Default)]
struct Flows {
    each: Vec<Wait>,
}

/// Number of datagrams of a flow that have left a queue, and the sum of their sojourn times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wait {
    flow: u32,
    /// Number of datagrams that have left the queue.
    pub packets: u64,
    /// Sum of the sojourn times of the datagrams, including service. [ns]
    pub ns: u64,
}

impl Wait {
    fn none(flow: u32) -> Wait {
        Wait {
            flow,
            ..Wait::default()
        }
    }

    /// Returns the number and sojourn times of the datagrams that have left since the value
    /// `before` was read.
    pub fn since(self, before: Wait) -> Wait {
        Wait {
            packets: self.packets - before.packets,
            ns: self.ns - before.ns,
            ..self
        }
    }
}

impl Waits {
    /// Counts a packet of `flow` that entered at `entered` and leaves at `at`.
    #[inline(always)]
    pub fn leave(&mut self, flow: u32, kind: PacketKind, entered: Time, at: Time) {
        if kind == PacketKind::Datagram {
            self.add(flow, entered, at);
        }
    }

    /// Counts a datagram of `flow` that leaves.
    #[cold]
    #[inline(never)]
    pub fn add(&mut self, flow: u32, entered: Time, at: Time) {
        let each = &mut self.flows.get_or_insert_default().each;
        let place = match each.binary_search_by_key(&flow, |wait| wait.flow) {
            Ok(place) => place,
            Err(place) => {
                each.insert(place, Wait::none(flow));
                place
            }
        };
        each[place].packets += 1;
        each[place].ns += at.since(entered).0;
    }

    /// Returns the number of datagrams of a flow that have left the queue, with their sojourn
    /// times.
    pub fn of(&self, flow: u32) -> Wait {
        let each = self.flows.as_deref().map_or(&[][..], |flows| &flows.each);
        match each.binary_search_by_key(&flow, |wait| wait.flow) {
            Ok(place) => each[place],
            Err(_) => Wait::none(flow),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_datagrams_are_counted_and_each_flow_by_itself() {
        let mut waits = Waits::default();
        assert_eq!(size_of::<Waits>(), 8);
        for (flow, kind, ns) in [
            (7, PacketKind::Datagram, 5),
            (2, PacketKind::Datagram, 3),
            (7, PacketKind::Datagram, 6),
            (2, PacketKind::Segment, 100),
        ] {
            waits.leave(flow, kind, Time(10), Time(10 + ns));
        }
        let of = |flow| (waits.of(flow).packets, waits.of(flow).ns);
        assert_eq!([of(7), of(2), of(3)], [(2, 11), (1, 3), (0, 0)]);
    }
}

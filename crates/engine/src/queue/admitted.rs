//! A discipline that decides at arrivals, with counters of the packets that it admits.

use super::counters::Counts;
use super::{Admission, Backlog, Held, QueueSetting, SharedBuffer, Verdict};
use crate::kernel::time::Time;
use crate::packet::Packet;

/// A discipline that decides at arrivals, and counters of the packets in its queue.
#[derive(Clone, Debug)]
pub struct Admitted {
    pub(super) admission: Admission,
    /// Total length of the packets in the queue. [bytes]
    pub(super) bytes: u64,
    pub(super) counts: Counts,
}

impl Admitted {
    pub(super) fn new(admission: Admission) -> Admitted {
        Admitted {
            admission,
            bytes: 0,
            counts: Counts::default(),
        }
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`.
    pub(super) fn judge(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.admission.advance(now, |_| backlog.held());
        self.admission.admit(now, backlog, packet)
    }

    /// Applies the settings `to` that may change at run time, from `now` on. Packets in the queue
    /// are not dropped.
    pub(super) fn change(&mut self, now: Time, held: Held, to: &QueueSetting) {
        self.admission.advance(now, |_| held);
        self.admission.change(now, to);
    }

    /// Counts a packet that enters the queue.
    #[inline(always)]
    pub(super) fn enter(&mut self, now: Time, bytes: u16) {
        self.counts.counters.enter(now);
        self.bytes += u64::from(bytes);
    }

    /// Counts the departure of `packet` at `at`. `packets` is the queue length before the
    /// departure.
    #[inline(always)]
    pub(super) fn leave(&mut self, packet: &Packet, packets: usize, at: Time) {
        if self.admission.drop_tail().is_none() {
            self.report_departure(packet, packets, at);
        }
        self.bytes -= u64::from(packet.bytes);
        self.counts.leave(packet, at);
    }

    /// Calls the discipline's function for the departure of `packet` at `at`. The counters still
    /// include the packet.
    #[inline(never)]
    fn report_departure(&mut self, packet: &Packet, packets: usize, at: Time) {
        let held = Held {
            packets: packets as u32,
            bytes: self.bytes,
        };
        self.admission.departed(at, packet, held);
    }

    /// Returns the shared buffer, whose classes have target shares, if the discipline is virtual
    /// buffer sharing.
    pub(super) fn sharing(&self) -> Option<&SharedBuffer> {
        if let Admission::BufferSharing(sharing) = &self.admission {
            return Some(sharing);
        }
        None
    }
}

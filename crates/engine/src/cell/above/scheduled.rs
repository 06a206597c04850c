//! A device that takes packets from a scheduler, in its order.

use crate::cell::aggregates::Aggregates;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::{Lanes, Scheduler};

/// How many aggregates of the longest the device holds, the one on the air included: one to be sent, and one
/// to follow.
const DEPTH: f64 = 2.0;

/// What waits for one contender.
#[derive(Clone, Debug)]
pub(super) struct Scheduled {
    pub(super) scheduler: Scheduler,
    /// How many of the longest aggregates the packets that wait in the device would fill; `None`: an exchange
    /// has begun or ended since.
    pub(super) held: Option<f64>,
    /// Packets that wait for each lane of the device.
    pub(super) of_lane: Vec<u32>,
}

impl Scheduled {
    /// An empty device of so many lanes in front of this.
    pub(super) fn new(scheduler: Scheduler, lanes: usize) -> Scheduled {
        Scheduled {
            scheduler,
            held: None,
            of_lane: vec![0; lanes],
        }
    }

    /// `packet` arrives for the device's `queue`; what is lost for it, itself or others, is appended to `lost`.
    pub(super) fn enqueue(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &Lanes,
        lost: &mut Vec<Packet>,
    ) {
        let first = lost.len();
        self.of_lane[queue.lane_of(packet) as usize] += 1;
        self.scheduler.enqueue(now, *packet, false, lost);
        self.uncount(&lost[first..], queue);
    }

    fn uncount(&mut self, gone: &[Packet], queue: &Lanes) {
        for packet in gone {
            self.of_lane[queue.lane_of(packet) as usize] -= 1;
        }
    }

    /// The device of `contender` takes packets until it holds enough.
    pub(super) fn pull(
        &mut self,
        now: Time,
        contender: u32,
        aggregates: &Aggregates,
        queue: &mut Lanes,
        dropped: &mut Vec<Packet>,
    ) {
        let room = DEPTH - f64::from(u32::from(aggregates.sends(contender)));
        let held = self.held;
        let mut held = held.unwrap_or_else(|| aggregates.worth_held(contender, queue));
        let before = self.scheduler.marked();
        while held < room
            && let Some(packet) = self.scheduler.dequeue(now, dropped)
        {
            let lane = queue.lane_of(&packet);
            self.of_lane[lane as usize] -= 1;
            held += aggregates.worth(contender, lane, &packet);
            queue.take_over(lane, packet);
        }
        self.uncount(dropped, queue);
        self.held = Some(held);
        queue.mark_above(self.scheduler.marked() - before);
    }
}

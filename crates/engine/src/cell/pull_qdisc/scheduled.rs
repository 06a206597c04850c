//! A device that pulls packets from a scheduler, in the order of the scheduler.

use crate::cell::senders::Senders;
use crate::kernel::time::Time;
use crate::packet::Packet;
use crate::queue::{Scheduler, TxQueues};

/// Limit of the packets in the device, in units of the longest aggregate: the aggregate on the air
/// (or the next aggregate), and one more aggregate.
const DEPTH: f64 = 2.0;

/// Queue in front of the device of one contender.
#[derive(Clone, Debug)]
pub(in crate::cell) struct Scheduled {
    pub(in crate::cell) scheduler: Scheduler,
    /// Amount of packets in the device, in units of the longest aggregate. `None`: unknown, because
    /// an exchange has begun or ended.
    pub(in crate::cell) held: Option<f64>,
    /// Number of packets in the scheduler for each transmit queue of the device.
    pub(in crate::cell) of_txq: Vec<u32>,
}

impl Scheduled {
    /// Returns an empty device with `txqs` transmit queues, which pulls packets from `scheduler`.
    pub(in crate::cell) fn new(scheduler: Scheduler, txqs: usize) -> Scheduled {
        Scheduled {
            scheduler,
            held: None,
            of_txq: vec![0; txqs],
        }
    }

    /// Enqueues `packet`, which belongs to a transmit queue of `queue`. Lost packets are appended
    /// to `lost`.
    pub(in crate::cell) fn enqueue(
        &mut self,
        now: Time,
        packet: &Packet,
        queue: &TxQueues,
        lost: &mut Vec<Packet>,
    ) {
        let first = lost.len();
        self.of_txq[queue.txq_of(packet) as usize] += 1;
        self.scheduler.enqueue(now, *packet, false, lost);
        self.uncount(&lost[first..], queue);
    }

    fn uncount(&mut self, gone: &[Packet], queue: &TxQueues) {
        for packet in gone {
            self.of_txq[queue.txq_of(packet) as usize] -= 1;
        }
    }

    /// Makes the device of `contender` pull packets until the amount of packets in the device is
    /// [`DEPTH`].
    pub(in crate::cell) fn pull(
        &mut self,
        now: Time,
        contender: u32,
        senders: &Senders,
        queue: &mut TxQueues,
        dropped: &mut Vec<Packet>,
    ) {
        let room = DEPTH - f64::from(u32::from(senders.sends(contender)));
        let held = self.held;
        let mut held = held.unwrap_or_else(|| senders.aggregates_held(contender, queue));
        let before = self.scheduler.marked();
        while held < room
            && let Some(packet) = self.scheduler.dequeue(now, dropped)
        {
            let txq = queue.txq_of(&packet);
            self.of_txq[txq as usize] -= 1;
            held += senders.part_of_aggregate(contender, txq, &packet);
            queue.take_over(txq, packet);
        }
        self.uncount(dropped, queue);
        self.held = Some(held);
        queue.mark_in_qdisc(self.scheduler.marked() - before);
    }
}

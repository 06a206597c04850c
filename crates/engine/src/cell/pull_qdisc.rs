//! Pull qdisc: packets that wait in front of a device that forms aggregates. The device pulls the
//! packets, and a queue discipline chooses the next packet.
//!
//! ```text
//!   offer --> pull qdisc: Mac80211, or a scheduler --pull--> txqs --an exchange begins--> PPDU
//!                ^                                                                          |
//!                +----------- packets that the device still holds, air time ----------------+
//! ```
//!
//! The device pulls packets whenever a packet arrives, and whenever an exchange of the device has
//! ended. It sends packets in the order in which it has pulled them, but combines packets for one
//! receiver. The queue of a Linux access point serves the whole radio (`pull_qdisc/linux.rs`). Any
//! other discipline has one queue per contender (`pull_qdisc/scheduled.rs`), from which the device
//! pulls as many packets as fill two aggregates.

mod linux;
mod scheduled;

pub(super) use linux::Linux;
use scheduled::Scheduled;

use super::Hotspot;
use crate::kernel::streams::Streams;
use crate::mac::NodeId;
use crate::mac::dcf::Dcf;
use crate::packet::Packet;
use crate::queue::{QueueSetting, Scheduler};

/// Packets that wait in front of the devices of a cell.
#[derive(Clone, Debug)]
pub(super) struct PullQdisc {
    /// Node number of the access point.
    ap: NodeId,
    pub(super) linux: Option<Linux>,
    /// For each contender, the packets that wait in its scheduler; `None` if the queue discipline
    /// of the contender is not a scheduler.
    pub(super) scheduled: Vec<Option<Scheduled>>,
    pub(super) dropped: Vec<Packet>,
}

impl PullQdisc {
    /// Returns an empty pull qdisc for a cell; `None` if the cell has neither a scheduler nor the
    /// queue of a Linux access point.
    pub(super) fn new(
        hotspot: Hotspot,
        medium: &Dcf,
        schedulers: Vec<Option<Scheduler>>,
        streams: &Streams,
    ) -> Option<Box<PullQdisc>> {
        let linux = Linux::new(hotspot, medium, streams);
        let some = linux.is_some() || schedulers.iter().any(Option::is_some);
        let scheduled = (0..).zip(schedulers).map(|(contender, own)| {
            let txqs = match medium.node(contender) == hotspot.bss.ap {
                true => hotspot.stations.len(),
                false => 1,
            };
            own.map(|own| Scheduled::new(own, txqs))
        });
        let scheduled = scheduled.collect();
        some.then(|| {
            Box::new(PullQdisc {
                ap: hotspot.bss.ap,
                linux,
                scheduled,
                dropped: Vec::new(),
            })
        })
    }

    /// Returns the queue in which the packets of `contender` wait. The contender belongs to `node`.
    pub(super) fn place(&mut self, contender: u32, node: NodeId) -> Place<'_> {
        match (&mut self.linux, &mut self.scheduled[contender as usize]) {
            (Some(linux), _) if node == self.ap => Place::Linux(linux),
            (_, Some(scheduled)) => Place::Scheduled(scheduled),
            _ => Place::Device,
        }
    }

    /// Returns whether packets for the transmit queue `txq` of `contender` wait in front of the
    /// device. The caller ensures that `contender` is a contender of the access point.
    pub(super) fn has_for(&self, contender: u32, txq: u32) -> bool {
        match (&self.linux, &self.scheduled[contender as usize]) {
            (Some(linux), _) => linux.has_for(contender, txq),
            (None, Some(scheduled)) => scheduled.of_txq[txq as usize] > 0,
            (None, None) => false,
        }
    }

    /// Records that the number of packets in the device of `contender` has changed.
    pub(super) fn begin(&mut self, contender: u32) {
        if let Some(own) = &mut self.scheduled[contender as usize] {
            own.held = None;
        }
    }

    /// Changes the queue setting of `contender`, which belongs to `node`, to `to`, as far as the
    /// setting can change during a run. Returns whether the packets of the contender wait in the
    /// pull qdisc.
    pub(super) fn change(&mut self, contender: u32, node: NodeId, to: &QueueSetting) -> bool {
        match self.place(contender, node) {
            Place::Linux(linux) => linux.change(to),
            Place::Scheduled(scheduled) => scheduled.scheduler.change(to),
            Place::Device => return false,
        }
        true
    }
}

/// Queue in which packets of a contender wait.
pub(super) enum Place<'a> {
    Linux(&'a mut Linux),
    Scheduled(&'a mut Scheduled),
    /// No queue in front of the device: packets wait only in the transmit queues (txqs) of the
    /// device.
    Device,
}

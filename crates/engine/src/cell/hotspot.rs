//! Settings of a cell.

use crate::app::Flow;
use crate::app::flow_classes;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::Span;
use crate::mac::dcf::Dcf;
use crate::mac::{Bss, Category, Node, NodeId, Station};
use crate::queue::{Discipline, Egress, HeadQueue, SharedBuffer};

/// Settings of an access point, its stations, and the flows that cross the cell.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot<'a> {
    /// Basic service set of the cell.
    pub bss: &'a Bss,
    /// Stations of the BSS.
    pub stations: &'a [Station],
    /// All flows, including flows that do not cross the air.
    pub flows: &'a [Flow],
}

impl<'a> Hotspot<'a> {
    /// Returns the medium of the cell. The medium is idle.
    pub fn medium(&self, streams: &Streams) -> Dcf {
        let categories = self.flows.iter();
        let categories = categories.filter_map(|flow| Some((flow.station()?, flow.category)));
        Dcf::new(self.bss, self.stations, categories, streams)
    }

    /// Returns the settings of a node.
    pub(super) fn node(&self, node: NodeId) -> &'a Node {
        match self.bss.roles.station_of(node) {
            None => &self.bss.cell.ap,
            Some(station) => &self.stations[station].node,
        }
    }

    pub(super) fn queue_name(&self, medium: &Dcf, contender: u32) -> String {
        let node = match self.bss.roles.station_of(medium.node(contender)) {
            None => "ap",
            Some(station) => &self.stations[station].name,
        };
        match medium.category(contender) {
            Category::BestEffort => node.to_owned(),
            other => format!("{node}/{}", other.name()),
        }
    }

    /// Returns an empty queue for a contender of `node`.
    pub(super) fn queue(&self, node: NodeId, draws: Stream) -> HeadQueue {
        let setting = &self.node(node).queue;
        if node == self.bss.ap
            && let Discipline::BufferSharing(sharing) = setting.discipline
        {
            let classes = &self.bss.cell.sharing_classes;
            let limit = setting.limit_packets;
            return HeadQueue::shared(SharedBuffer::new(
                sharing,
                limit,
                classes,
                self.flows.len(),
                draws,
            ));
        }
        let mut queue = HeadQueue::new(setting, self.egress(node), draws);
        if let (Discipline::Cake(_), Some(scheduler)) = (&setting.discipline, queue.scheduler_mut())
        {
            scheduler.set_flows(&flow_classes(self.flows, self.stations.len()));
        }
        queue
    }

    /// Returns the egress of the queues of `node`. The rate of the egress is the fastest data rate
    /// of the cell.
    fn egress(&self, node: NodeId) -> Egress {
        let rate_bps = match self.bss.roles.station_of(node) {
            None => self.stations.iter().map(|s| s.downlink_rate_bps).max(),
            Some(station) => Some(self.stations[station].rate_bps),
        };
        Egress {
            rate_bps: rate_bps.unwrap_or(0),
            is_fixed: false,
            delay: Span::ZERO,
        }
    }
}

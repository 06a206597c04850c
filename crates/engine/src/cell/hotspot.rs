//! A cell in settings, and the cells that are made from it.

use super::activity::Activity;
use super::aggregating::Aggregating;
use super::power_save::PowerSave;
use super::pull_qdisc::PullQdisc;
use super::senders::Senders;
use super::{Cell, CellExchange, Port};
use crate::app::Flow;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::{Dcf, SingleFrame};
use crate::mac::{Bss, Category, Node, NodeId, QueueOrder, Station};
use crate::queue::{Discipline, Egress, HeadQueue, SharedBuffer, TxQueues};

/// An access point and its stations, with the flows over them, as settings describe them.
#[derive(Clone, Copy, Debug)]
pub struct Hotspot<'a> {
    /// The BSS.
    pub bss: &'a Bss,
    /// Its stations.
    pub stations: &'a [Station],
    /// All flows, also those that do not cross the air.
    pub flows: &'a [Flow],
}

impl Cell<SingleFrame> {
    /// Returns the cell of a hot-spot, idle, with empty queues. If stations are `pinged`, each has
    /// a flow of pings after the others.
    pub fn new(hotspot: Hotspot, pinged: bool, streams: &Streams) -> Cell<SingleFrame> {
        let exchange = SingleFrame::new(hotspot.bss, hotspot.stations, streams);
        let medium = hotspot.medium(streams);
        let queue = |_, queue, _: &[NodeId]| queue;
        Cell::assemble(hotspot, medium, pinged, streams, queue, exchange)
    }
}

impl Cell<Aggregating> {
    /// Returns the cell of a hot-spot that aggregates, idle, with empty queues. If stations are
    /// `pinged`, each has a flow of pings after the others.
    pub fn aggregating(hotspot: Hotspot, pinged: bool, streams: &Streams) -> Cell<Aggregating> {
        let medium = hotspot.medium(streams);
        let exchange = Aggregating {
            senders: Senders::new(hotspot, &medium, streams),
            pull_qdisc: None,
            transmissions: None,
            received: false,
        };
        let mut schedulers = Vec::new();
        let nodes: Vec<NodeId> = (0..medium.contenders() as u32)
            .map(|contender| medium.node(contender))
            .collect();
        let queue = |contender: u32, queue: HeadQueue, stations: &[NodeId]| {
            let node = nodes[contender as usize];
            let (txqs, of_flow) = Senders::txqs(hotspot, node, stations);
            let (admission, scheduler) = queue.apart();
            schedulers.push(scheduler);
            HeadQueue::txqs(TxQueues::new(admission, txqs, of_flow))
        };
        let mut cell = Cell::assemble(hotspot, medium, pinged, streams, queue, exchange);
        cell.exchange.pull_qdisc = PullQdisc::new(hotspot, &cell.medium, schedulers, streams);
        cell.guarded |= cell.exchange.pull_qdisc.is_some();
        cell.update_rates(0..hotspot.stations.len());
        cell
    }
}

impl<X: CellExchange> Cell<X> {
    /// Returns a cell whose queues are those of their settings, changed by `queue` for each
    /// contender.
    fn assemble(
        hotspot: Hotspot,
        medium: Dcf,
        pinged: bool,
        streams: &Streams,
        mut queue: impl FnMut(u32, HeadQueue, &[NodeId]) -> HeadQueue,
        exchange: X,
    ) -> Cell<X> {
        let Hotspot {
            bss,
            stations,
            flows,
        } = hotspot;
        let cell = &bss.cell;
        let of_flows = flows.iter();
        let node_of = |station| bss.roles.node_of(station);
        let of_flows = of_flows.map(|flow| flow.station().map_or(bss.ap, node_of));
        let pinged = if pinged { &bss.stations[..] } else { &[] };
        let stations_of_flows: Vec<NodeId> = of_flows.chain(pinged.iter().copied()).collect();
        let port = |contender| {
            let node = medium.node(contender);
            let name = hotspot.queue_name(&medium, contender);
            let draws = streams.stream(&format!("{name}/queue"));
            Port {
                node,
                queue: queue(contender, hotspot.queue(node, draws), &stations_of_flows),
                marks: hotspot.node(node).queue.marks(),
                greedy: false,
                name: name.into(),
            }
        };
        let ports = (0..medium.contenders() as u32).map(port).collect();
        let power_save = PowerSave::new(bss, stations);
        let mixed = cell.ap_queue_order == QueueOrder::Mixed;
        Cell {
            ports,
            guarded: power_save.is_some(),
            ap: bss.ap,
            roles: bss.roles,
            stations: stations_of_flows,
            activity: Activity::new(stations.len()),
            mixing: mixed.then(|| streams.stream("ap/order")),
            shares: !cell.sharing_classes.is_empty(),
            power_save,
            beacon: Time::NEVER,
            timer: Time::NEVER,
            lost: Vec::new(),
            medium,
            exchange,
        }
    }
}

impl<'a> Hotspot<'a> {
    /// Returns the medium, idle.
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

    fn queue_name(&self, medium: &Dcf, contender: u32) -> String {
        let node = match self.bss.roles.station_of(medium.node(contender)) {
            None => "ap",
            Some(station) => &self.stations[station].name,
        };
        match medium.category(contender) {
            Category::BestEffort => node.to_owned(),
            other => format!("{node}/{}", other.name()),
        }
    }

    /// Returns the empty queue of a contender of `node`.
    fn queue(&self, node: NodeId, draws: Stream) -> HeadQueue {
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
        HeadQueue::new(setting, self.egress(node), draws)
    }

    /// Returns the egress of the queues of `node`: the cell's fastest data rate.
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

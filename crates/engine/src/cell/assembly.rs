//! Construction of cells from settings.

use super::activity::Activity;
use super::power_save::PowerSave;
use super::pull_qdisc::PullQdisc;
use super::senders::Senders;
use super::{Aggregating, Cell, CellExchange, Hotspot, Port};
use crate::kernel::streams::Streams;
use crate::kernel::time::Time;
use crate::mac::dcf::{Dcf, SingleFrame};
use crate::mac::{NodeId, QueueOrder};
use crate::queue::{HeadQueue, TxQueues};

impl Cell<SingleFrame> {
    /// Returns the cell of a hot-spot of single frames. The cell is idle, and its queues are empty.
    /// If stations are `pinged`, each station also has a flow of pings, with a flow number above
    /// those of the scenario.
    pub fn new(hotspot: Hotspot, pinged: bool, streams: &Streams) -> Cell<SingleFrame> {
        let exchange = SingleFrame::new(hotspot.bss, hotspot.stations, streams);
        let medium = hotspot.medium(streams);
        let queue = |_, queue, _: &[NodeId]| queue;
        Cell::assemble(hotspot, medium, pinged, streams, queue, exchange)
    }
}

impl Cell<Aggregating> {
    /// Returns the cell of a hot-spot that aggregates. The cell is idle, and its queues are empty.
    /// If stations are `pinged`, each station also has a flow of pings, with a flow number above
    /// those of the scenario.
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
    /// Returns a cell with the queues of its settings. `queue` is called for each contender
    /// with the empty queue of the contender, and returns the queue that the cell uses.
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
            activity: Activity::new(bss),
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

//! From counters at the end of the warm-up and at the end of the run to measured quantities,
//! and the conservation laws that every run must obey.

mod conservation;
mod csma;
mod network;
mod vbs;
mod web;
mod wlan;

pub(crate) use conservation::check as check_conservation;

use crate::kernel::time::Time;
use crate::mac::dcf::{DownCounters, NodeCounters};
use crate::quantities::*;
use crate::queue::QueueCounters;
use crate::scenario::{Direction, Ends, Flow, Station, Transport};
use crate::world::FlowCounters;
use crate::world::{Endpoints, WiredLink, World};

/// A quantity's name and one value; `None` where a replication gives none.
pub type Value = (&'static str, Option<f64>);

/// One item of a result list.
#[derive(Clone, Debug)]
pub struct Item {
    /// Name, unique in its list.
    pub name: String,
    /// Fixed labels (`station`, `direction`, `class`).
    pub labels: Vec<(&'static str, String)>,
    /// What was measured.
    pub values: Vec<Value>,
}

/// All lists of one replication, in the order of the result.
#[derive(Clone, Debug)]
pub struct Measures {
    /// List name and items.
    pub lists: Vec<(&'static str, Vec<Item>)>,
}

/// Counters at one instant.
#[derive(Clone, Debug)]
pub(crate) struct Snapshot {
    at_ns: u64,
    flows: Vec<FlowCounters>,
    queues: Vec<(QueueCounters, u64)>,
    contenders: Vec<NodeCounters>,
    /// Counts of the access point's frames to each station.
    down: Vec<DownCounters>,
    /// Counters of the queue of every link, and the time that it was busy. [ns]
    links: Vec<(QueueCounters, u64)>,
    /// Counters of each leaf of the virtual shared bottleneck.
    leaves: Vec<QueueCounters>,
    /// Counters of the access point's queues that classes share.
    shared: vbs::Shared,
    on_air: csma::OnAir,
    busy_ns: u64,
    activity_ns: u64,
}

impl Snapshot {
    pub(crate) fn take(world: &World<'_>) -> Snapshot {
        let now = world.now();
        let links = world.wires().links().iter().map(WiredLink::link);
        Snapshot {
            at_ns: now.0,
            flows: world
                .flows()
                .states()
                .iter()
                .map(|flow| flow.counters(now))
                .collect(),
            queues: (world.radio().queues())
                .map(|queue| (queue.counters(), queue.occupancy_ns(now)))
                .collect(),
            contenders: (0..world.radio().queues().count())
                .map(|number| world.radio().frames(number))
                .collect(),
            down: (world.radio().cell().into_iter())
                .flat_map(|cell| {
                    let stations = 0..world.scenario().stations.len();
                    stations.map(|station| cell.medium().down_counters(station))
                })
                .collect(),
            links: links
                .map(|link| (link.counters(now), link.busy_ns(now)))
                .collect(),
            leaves: (world.wires().bottleneck())
                .map_or_else(Vec::new, |wired| wired.link().leaves()),
            shared: vbs::Shared::take(world),
            on_air: csma::OnAir::take(world),
            busy_ns: world
                .radio()
                .cell()
                .map_or(0, |cell| cell.medium().busy_ns()),
            activity_ns: world.radio().cell().map_or(0, |cell| cell.activity_ns(now)),
        }
    }
}

/// `part / whole`, absent when there is no whole.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// (sum x)^2 / (n sum x^2) (paper 002, eq. 27), absent if all are 0.
fn jain(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|x| x * x).sum();
    (squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

/// Quantities over the time from `start` to now.
pub(crate) fn between(start: &Snapshot, world: &World<'_>) -> Measures {
    Period {
        start,
        end: Snapshot::take(world),
        world,
    }
    .measures()
}

struct Period<'a> {
    start: &'a Snapshot,
    end: Snapshot,
    world: &'a World<'a>,
}

impl Period<'_> {
    fn measures(&self) -> Measures {
        let goodputs: Vec<f64> = (0..self.world.scenario().flows.len())
            .map(|i| self.goodput_bps(i))
            .collect();
        let scenario = self.world.scenario();
        let has_cell = !scenario.stations.is_empty();
        let is_on_air = self.world.radio().conflict().is_some();
        let mut flows = self.flows(&goodputs);
        flows.extend(self.users());
        let mut lists = vec![("flows", flows)];
        if has_cell {
            lists.push(("stations", self.stations(&goodputs)));
            lists.push(("aps", vec![self.node_item("ap", 0, Vec::new())]));
        }
        lists.push(("queues", self.queues()));
        if is_on_air || self.world.wires().links().iter().any(WiredLink::is_shown) {
            let mut links = self.links_on_air();
            links.extend(self.links());
            lists.push(("links", links));
        }
        if has_cell {
            lists.push(("cells", self.cells(&goodputs)));
        }
        let mut classes = self.sharing(&goodputs);
        if scenario.flows.iter().any(|flow| flow.ends == Ends::Wired) {
            classes.extend(self.classes(&goodputs));
        }
        if !classes.is_empty() {
            lists.push(("classes", classes));
        }
        lists.push(("totals", self.totals()));
        Measures { lists }
    }

    fn length_ns(&self) -> u64 {
        self.end.at_ns - self.start.at_ns
    }

    fn length_s(&self) -> f64 {
        self.length_ns() as f64 / 1e9
    }

    fn goodput_bps(&self, flow: usize) -> f64 {
        if let &Endpoints::Web(web) = self.world.flows().states()[flow].endpoints() {
            return self.web_goodput_bps(flow, web);
        }
        let packets = self.end.flows[flow].delivered - self.start.flows[flow].delivered;
        packets as f64 * self.world.payload_bits(flow) / self.length_s()
    }

    fn flows(&self, goodputs: &[f64]) -> Vec<Item> {
        let total: f64 = goodputs.iter().sum();
        let scenario = self.world.scenario();
        let noisy = scenario.stations.iter().any(Station::has_errors);
        let is_web = |index: &usize| matches!(scenario.flows[*index].transport, Transport::Web(_));
        (0..goodputs.len())
            .filter(|index| !is_web(index))
            .map(|index| {
                let flow = &scenario.flows[index];
                let (from, to) = (&self.start.flows[index], &self.end.flows[index]);
                let delay = ratio(
                    to.delay_ns - from.delay_ns,
                    to.delay_samples - from.delay_samples,
                )
                .map(|ns| ns / 1e9);
                let mut values = vec![
                    GOODPUT.of(goodputs[index]),
                    GOODPUT_SHARE.of((total > 0.0).then(|| goodputs[index] / total)),
                ];
                let loss = ratio(to.lost - from.lost, to.sent - from.sent);
                if let Transport::Tcp(tcp) = &flow.transport {
                    let cwnd = (to.cwnd_ns - from.cwnd_ns) / self.length_ns() as f64;
                    let again = to.retransmitted - from.retransmitted;
                    values.push(RTT.of(delay));
                    values.push(CWND.of(cwnd));
                    if noisy {
                        let longest = self.world.flows().states()[index].cwnd_max();
                        values.push(CWND_MAX.of(longest));
                    }
                    values.push(LOSS_PROBABILITY.of(loss));
                    values.push(RETRANSMISSIONS.of(again as f64));
                    if tcp.segments.is_some() {
                        let completion = self.world.flows().states()[index].completion_s();
                        values.push(COMPLETION.of(completion));
                        values.push(UNFINISHED.of(f64::from(completion.is_none())));
                    }
                } else {
                    values.push(ONE_WAY_DELAY.of(delay));
                    values.push(LOSS_PROBABILITY.of(loss));
                }
                values.extend(self.reports(index));
                Item {
                    name: flow.name.clone(),
                    labels: self.labels(flow),
                    values,
                }
            })
            .collect()
    }

    /// What became of a sensor's reports.
    fn reports(&self, flow: usize) -> Vec<Value> {
        let Some(reports) = self.world.flows().states()[flow].reports() else {
            return Vec::new();
        };
        let tally = reports.tally(Time(self.start.at_ns), Time(self.end.at_ns));
        vec![
            REPORTS.of(tally.made as f64),
            REPORT_DELIVERY.of(tally.delivery()),
            REPORT_DELAY.of(tally.mean_s()),
            REPORT_DELAY_P95.of(tally.quantile_s(0.95)),
        ]
    }

    fn labels(&self, flow: &Flow) -> Vec<(&'static str, String)> {
        let Ends::Station { station, direction } = flow.ends else {
            return vec![("class", flow.class.clone())];
        };
        let station = self.world.scenario().stations[station].name.clone();
        let direction = match direction {
            Direction::Up => "up",
            Direction::Down => "down",
        };
        vec![("station", station), ("direction", direction.to_owned())]
    }

    fn queues(&self) -> Vec<Item> {
        let shown =
            self.world.radio().conflict().is_some() || !self.world.scenario().stations.is_empty();
        let radio = self.world.radio();
        let pairs = self.start.queues.iter().zip(&self.end.queues).enumerate();
        let mut items: Vec<Item> = pairs
            .filter(|_| shown)
            .map(|(index, (from, to))| {
                let (name, marks) = (radio.queue_name(index), radio.marks(index));
                let mut item = self.queue_item(name, marks, (from.0, to.0), (from.1, to.1));
                item.values.extend(self.keeping(index));
                item
            })
            .collect();
        items.extend(self.link_queues());
        items.extend(self.leaf_queues());
        items
    }

    fn queue_item(
        &self,
        name: &str,
        marks: bool,
        (from, to): (QueueCounters, QueueCounters),
        (area_from, area_to): (u64, u64),
    ) -> Item {
        let sojourn = ratio(to.sojourn_ns - from.sojourn_ns, to.left - from.left);
        let mut values = vec![
            OCCUPANCY.of(ratio(area_to.wrapping_sub(area_from), self.length_ns())),
            DROP_PROBABILITY.of(ratio(to.dropped - from.dropped, to.offered - from.offered)),
            SOJOURN.of(sojourn.map(|ns| ns / 1e9)),
        ];
        if marks {
            let marked = ratio(to.marked - from.marked, to.offered - from.offered);
            values.push(MARK_PROBABILITY.of(marked));
        }
        Item {
            name: name.to_owned(),
            labels: Vec::new(),
            values,
        }
    }

    fn totals(&self) -> Vec<Item> {
        let delivered =
            |snapshot: &Snapshot| snapshot.flows.iter().map(|f| f.delivered).sum::<u64>();
        let packets = delivered(&self.end) - delivered(self.start);
        let values = vec![
            PACKETS_DELIVERED.of(packets as f64),
            EVENTS.of(self.world.events() as f64),
        ];
        vec![Item {
            name: "run".to_owned(),
            labels: Vec::new(),
            values,
        }]
    }
}

//! From counters at the end of the warm-up and at the end of the run to measured quantities,
//! and the conservation laws that every run must obey.

use crate::error::EngineError;
use crate::mac::dcf::NodeCounters;
use crate::queue::QueueCounters;
use crate::record::FlowCounters;
use crate::scenario::{Direction, Transport};
use crate::world::{Endpoints, World};

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
    wire: [(QueueCounters, u64, u64); 2],
    busy_ns: u64,
    activity_ns: u64,
}

impl Snapshot {
    pub(crate) fn take(world: &World<'_>) -> Snapshot {
        let now = world.now;
        let wire =
            |link: &crate::link::Link| (link.counters(), link.occupancy_ns(now), link.busy_ns(now));
        Snapshot {
            at_ns: now.0,
            flows: world.flows.iter().map(|flow| flow.counters).collect(),
            queues: world
                .ports
                .iter()
                .map(|port| (port.queue.counters(), port.queue.occupancy_ns(now)))
                .collect(),
            contenders: (0..world.ports.len() as u32)
                .map(|contender| world.cell.counters(contender))
                .collect(),
            wire: [wire(&world.downlink), wire(&world.uplink)],
            busy_ns: world.cell.busy_ns(),
            activity_ns: world.activity.integral_ns(now),
        }
    }
}

/// `part / whole`, absent when there is no whole.
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
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
        let goodputs: Vec<f64> = (0..self.world.flows.len())
            .map(|i| self.goodput_bps(i))
            .collect();
        let mut lists = vec![
            ("flows", self.flows(&goodputs)),
            ("stations", self.stations(&goodputs)),
            ("aps", vec![self.node_item("ap", 0, Vec::new())]),
            ("queues", self.queues()),
        ];
        if self.world.scenario.wire.rate_bps.is_some() {
            lists.push(("links", self.links()));
        }
        lists.push(("cells", self.cells(&goodputs)));
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
        let packets = self.end.flows[flow].delivered - self.start.flows[flow].delivered;
        packets as f64 * self.world.payload_bits(flow) / self.length_s()
    }

    fn flows(&self, goodputs: &[f64]) -> Vec<Item> {
        let total: f64 = goodputs.iter().sum();
        let scenario = self.world.scenario;
        (0..goodputs.len())
            .map(|index| {
                let flow = &scenario.flows[index];
                let (from, to) = (&self.start.flows[index], &self.end.flows[index]);
                let delay = ratio(
                    to.delay_ns - from.delay_ns,
                    to.delay_samples - from.delay_samples,
                )
                .map(|ns| ns / 1e9);
                let mut values = vec![
                    ("goodput_bps", Some(goodputs[index])),
                    (
                        "goodput_share",
                        (total > 0.0).then(|| goodputs[index] / total),
                    ),
                ];
                let loss = ratio(to.lost - from.lost, to.sent - from.sent);
                if let Transport::Tcp(tcp) = &flow.transport {
                    let cwnd = (to.cwnd_ns - from.cwnd_ns) / self.length_ns() as f64;
                    let again = to.retransmitted - from.retransmitted;
                    values.push(("rtt_s", delay));
                    values.push(("cwnd_packets", Some(cwnd)));
                    values.push(("loss_probability", loss));
                    values.push(("retransmissions", Some(again as f64)));
                    if tcp.segments.is_some() {
                        let finished = self.world.flows[index].finished_at;
                        let begun = flow.start.seconds();
                        values.push(("completion_s", finished.map(|at| at.seconds() - begun)));
                        values.push(("unfinished", Some(f64::from(finished.is_none()))));
                    }
                } else {
                    values.push(("one_way_delay_s", delay));
                    values.push(("loss_probability", loss));
                }
                let direction = match flow.direction {
                    Direction::Up => "up",
                    Direction::Down => "down",
                };
                let station = scenario.stations[flow.station].name.clone();
                let labels = vec![("station", station), ("direction", direction.to_owned())];
                Item {
                    name: flow.name.clone(),
                    labels,
                    values,
                }
            })
            .collect()
    }

    fn station_goodputs(&self, goodputs: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.world.scenario.stations.len()];
        for (flow, goodput) in self.world.scenario.flows.iter().zip(goodputs) {
            sums[flow.station] += goodput;
        }
        sums
    }

    fn stations(&self, goodputs: &[f64]) -> Vec<Item> {
        let sums = self.station_goodputs(goodputs);
        let total: f64 = sums.iter().sum();
        let stations = &self.world.scenario.stations;
        (0..sums.len())
            .map(|index| {
                let own = sums[index];
                let values = vec![
                    ("goodput_bps", Some(own)),
                    ("goodput_share", (total > 0.0).then(|| own / total)),
                    ("fairness_level", (own > 0.0).then(|| sums[0] / own)),
                ];
                self.node_item(&stations[index].name, index as u32 + 1, values)
            })
            .collect()
    }

    /// A node's medium access, its categories together.
    fn node_item(&self, name: &str, node: u32, mut values: Vec<Value>) -> Item {
        let mut sum = NodeCounters::default();
        let mut area = 0;
        for contender in self.world.cell.categories_of(node) {
            let contender = contender as usize;
            let (from, to) = (
                &self.start.contenders[contender],
                &self.end.contenders[contender],
            );
            sum.attempts += to.attempts - from.attempts;
            sum.collided += to.collided - from.collided;
            sum.corrupted += to.corrupted - from.corrupted;
            sum.delivered += to.delivered - from.delivered;
            sum.discarded += to.discarded - from.discarded;
            let (from, to) = (&self.start.queues[contender], &self.end.queues[contender]);
            area += to.1.wrapping_sub(from.1);
        }
        let failed = sum.collided + sum.corrupted;
        let settled = sum.delivered + sum.discarded;
        values.push(("collision_rate", ratio(sum.collided, sum.attempts)));
        values.push(("frame_failure_rate", ratio(failed, sum.attempts)));
        values.push(("discard_probability", ratio(sum.discarded, settled)));
        values.push(("queue_packets", ratio(area, self.length_ns())));
        Item {
            name: name.to_owned(),
            labels: Vec::new(),
            values,
        }
    }

    fn queues(&self) -> Vec<Item> {
        let names = (0..self.world.ports.len()).map(|contender| self.world.queue_name(contender));
        let pairs = self.start.queues.iter().zip(&self.end.queues);
        let mut items: Vec<Item> = names
            .zip(pairs)
            .map(|(name, (from, to))| self.queue_item(&name, (from.0, to.0), (from.1, to.1)))
            .collect();
        if self.world.scenario.wire.rate_bps.is_some() {
            for (index, name) in ["wire/down", "wire/up"].into_iter().enumerate() {
                let (from, to) = (&self.start.wire[index], &self.end.wire[index]);
                items.push(self.queue_item(name, (from.0, to.0), (from.1, to.1)));
            }
        }
        items
    }

    fn queue_item(
        &self,
        name: &str,
        (from, to): (QueueCounters, QueueCounters),
        (area_from, area_to): (u64, u64),
    ) -> Item {
        let sojourn = ratio(to.sojourn_ns - from.sojourn_ns, to.left - from.left);
        let values = vec![
            (
                "occupancy_packets",
                ratio(area_to.wrapping_sub(area_from), self.length_ns()),
            ),
            (
                "drop_probability",
                ratio(to.dropped - from.dropped, to.offered - from.offered),
            ),
            ("sojourn_s", sojourn.map(|ns| ns / 1e9)),
        ];
        Item {
            name: name.to_owned(),
            labels: Vec::new(),
            values,
        }
    }

    fn links(&self) -> Vec<Item> {
        ["wire/down", "wire/up"]
            .into_iter()
            .enumerate()
            .map(|(index, name)| {
                let busy = self.end.wire[index].2 - self.start.wire[index].2;
                let values = vec![("utilisation", ratio(busy, self.length_ns()))];
                Item {
                    name: name.to_owned(),
                    labels: Vec::new(),
                    values,
                }
            })
            .collect()
    }

    fn cells(&self, goodputs: &[f64]) -> Vec<Item> {
        let flows = &self.world.scenario.flows;
        let towards = |direction| -> f64 {
            let pairs = flows.iter().zip(goodputs);
            pairs
                .filter(|(flow, _)| flow.direction == direction)
                .map(|(_, goodput)| goodput)
                .sum()
        };
        let (up, down) = (towards(Direction::Up), towards(Direction::Down));
        let both = up > 0.0 && down > 0.0;
        let active = self.end.activity_ns.wrapping_sub(self.start.activity_ns);
        let values = vec![
            ("goodput_bps", Some(up + down)),
            ("active_stations", ratio(active, self.length_ns())),
            ("jain", self.jain(goodputs)),
            ("updown_ratio", both.then(|| up / down)),
            (
                "busy_fraction",
                ratio(self.end.busy_ns - self.start.busy_ns, self.length_ns()),
            ),
        ];
        vec![Item {
            name: "cell".to_owned(),
            labels: Vec::new(),
            values,
        }]
    }

    /// (sum x)^2 / (n sum x^2) over the stations with flows (paper 002, eq. 27).
    fn jain(&self, goodputs: &[f64]) -> Option<f64> {
        let sums = self.station_goodputs(goodputs);
        let mut uses = vec![false; sums.len()];
        self.world
            .scenario
            .flows
            .iter()
            .for_each(|flow| uses[flow.station] = true);
        let own: Vec<f64> = sums
            .iter()
            .zip(&uses)
            .filter(|&(_, &uses)| uses)
            .map(|(&sum, _)| sum)
            .collect();
        let (sum, squares) = (
            own.iter().sum::<f64>(),
            own.iter().map(|x| x * x).sum::<f64>(),
        );
        (squares > 0.0).then(|| sum * sum / (own.len() as f64 * squares))
    }

    fn totals(&self) -> Vec<Item> {
        let delivered =
            |snapshot: &Snapshot| snapshot.flows.iter().map(|f| f.delivered).sum::<u64>();
        let packets = delivered(&self.end) - delivered(self.start);
        let values = vec![
            ("packets_delivered", Some(packets as f64)),
            ("events", Some(self.world.events as f64)),
        ];
        vec![Item {
            name: "run".to_owned(),
            labels: Vec::new(),
            values,
        }]
    }
}

/// Created = delivered + lost + queued or under way, per flow; offered = dropped + left + inside and
/// left = acknowledged + given up, per queue; busy + idle = elapsed, for the medium.
///
/// # Errors
/// `EngineError::Conservation` naming the law, the item and both sides.
pub(crate) fn check_conservation(world: &World<'_>) -> Result<(), EngineError> {
    let violated = |law: String| Err(EngineError::Conservation(law));
    let mut under_way = vec![[0_u64; 2]; world.flows.len()];
    let queued = world.ports.iter().flat_map(|port| port.queue.packets());
    for packet in queued
        .chain(world.downlink.packets())
        .chain(world.uplink.packets())
    {
        under_way[packet.flow as usize][usize::from(packet.is_data())] += 1;
    }
    for (index, flow) in world.flows.iter().enumerate() {
        let c = &flow.counters;
        let name = &world.scenario.flows[index].name;
        let [acks, data] = under_way[index];
        if c.sent != c.arrived + c.lost + data {
            return violated(format!(
                "{name}: {} sent, {} arrived + {} lost + {data} under way",
                c.sent, c.arrived, c.lost
            ));
        }
        if c.acks_sent != c.acks_arrived + c.acks_lost + acks {
            return violated(format!(
                "{name}: {} ACKs sent, {} arrived + {} lost + {acks} under way",
                c.acks_sent, c.acks_arrived, c.acks_lost
            ));
        }
        let unique = c.sent - c.retransmitted;
        if c.delivered > unique {
            return violated(format!(
                "{name}: {} delivered of {unique} sent",
                c.delivered
            ));
        }
        if let Endpoints::Tcp(tcp) = &flow.endpoints
            && tcp.0.acked() > c.delivered
        {
            return violated(format!(
                "{name}: {} acknowledged of {}",
                tcp.0.acked(),
                c.delivered
            ));
        }
    }
    for (contender, port) in world.ports.iter().enumerate() {
        let queue = &port.queue;
        let name = world.queue_name(contender);
        let inside = queue.packets().count() as u64;
        if queue.counters().length() != inside {
            return violated(format!(
                "queue {name}: {} expected inside, {inside} found",
                queue.counters().length()
            ));
        }
        let frames = world.cell.counters(contender as u32);
        let left = queue.counters().left;
        if left != frames.delivered + frames.discarded {
            return violated(format!(
                "queue {name}: {left} left, {} acknowledged + {} given up",
                frames.delivered, frames.discarded
            ));
        }
    }
    let elapsed = world.cell.idle_since().0;
    if world.cell.busy_ns() + world.cell.idle_ns() != elapsed {
        return violated(format!(
            "medium: {} ns busy + {} ns idle in {elapsed} ns",
            world.cell.busy_ns(),
            world.cell.idle_ns()
        ));
    }
    Ok(())
}

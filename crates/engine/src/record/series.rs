//! Time series sampled at a fixed interval.

use serde::Serialize;

use crate::bottleneck;
use crate::kernel::time::Span;
use crate::queue::HeadQueue;
use crate::scenario::{Flow, Transport};
use crate::world::{Endpoints, World};

/// One sampled quantity of one item.
#[derive(Clone, Debug, Serialize)]
pub struct Track {
    /// Result list the item is in.
    pub list: &'static str,
    /// Name of the item.
    pub name: String,
    /// Name of the quantity, with its unit.
    pub quantity: &'static str,
    /// One value a sample.
    pub values: Vec<f64>,
}

/// Time series of one replication, warm-up included.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Sampling interval. [s]
    pub interval_s: f64,
    /// Sample instants. [s]
    pub time_s: Vec<f64>,
    /// Queue lengths, cwnd, rate of the bottleneck and last ping at the instant (NaN: not yet); goodput, utilisation and round-trip time of a user (NaN: no ACK) over the interval before it.
    pub tracks: Vec<Track>,
    #[serde(skip)]
    delivered: Vec<u64>,
    /// Of each link, up to the last sample.
    #[serde(skip)]
    busy_ns: Vec<u64>,
    /// Of each link on air, up to the last sample.
    #[serde(skip)]
    air_ns: Vec<u64>,
    /// Of each user over such links, segments delivered up to the last sample.
    #[serde(skip)]
    user_delivered: Vec<u64>,
    /// Of each of them, sum and number of round-trip times up to the last sample. [ns]
    #[serde(skip)]
    user_delay: Vec<[u64; 2]>,
}

impl Series {
    pub(crate) fn new(world: &World<'_>, interval: Span) -> Series {
        let track = |list, name: &str, quantity| Track {
            list,
            name: name.to_owned(),
            quantity,
            values: Vec::new(),
        };
        let names = (0..queues(world).count()).map(|number| world.radio().queue_name(number));
        let mut tracks: Vec<Track> = names
            .map(|name| track("queues", name, "occupancy_packets"))
            .collect();
        for wired in world
            .wires()
            .links()
            .iter()
            .filter(|wired| wired.is_shown())
        {
            tracks.push(track("queues", wired.name(), "occupancy_packets"));
            tracks.push(track("links", wired.name(), "utilisation"));
        }
        if world.bottleneck().is_some() {
            tracks.push(track("links", "vsb", "capacity_bps"));
            tracks.push(track("links", "vsb", "ping_rtt_s"));
            let leaves = bottleneck::shown_leaves(world.scenario());
            tracks.extend(leaves.map(|(_, name)| track("queues", &name, "occupancy_packets")));
        }
        let scenario = world.scenario();
        let is_web = |flow: &&Flow| matches!(flow.transport, Transport::Web(_));
        let flows = scenario.flows.iter().filter(|flow| !is_web(flow));
        tracks.extend(
            flows
                .clone()
                .map(|flow| track("flows", &flow.name, "goodput_bps")),
        );
        let tcp = flows.filter(|flow| matches!(flow.transport, Transport::Tcp(_)));
        tracks.extend(tcp.map(|flow| track("flows", &flow.name, "cwnd_packets")));
        if let Some(conflict) = world.radio().conflict() {
            for name in (0..conflict.queues()).map(|link| conflict.name(link)) {
                tracks.push(track("links", name, "airtime_fraction"));
                tracks.push(track("links", name, "aggressiveness"));
            }
            for flow in scenario.csma.iter().flat_map(|csma| &csma.flows) {
                tracks.push(track("flows", &flow.name, "goodput_bps"));
                tracks.push(track("flows", &flow.name, "connections"));
                if flow.is_tcp() {
                    tracks.push(track("flows", &flow.name, "rtt_s"));
                }
            }
        }
        let users = world.users().map_or(0, |users| users.iter().len());
        Series {
            air_ns: vec![0; world.radio().queues().count()],
            user_delivered: vec![0; users],
            user_delay: vec![[0; 2]; users],
            interval_s: interval.seconds(),
            time_s: Vec::new(),
            tracks,
            delivered: vec![0; scenario.flows.len()],
            busy_ns: vec![0; world.wires().links().len()],
        }
    }

    pub(crate) fn sample(&mut self, world: &World<'_>) {
        self.time_s.push(world.now().seconds());
        let mut tracks = self.tracks.iter_mut();
        let mut push = |value| {
            if let Some(track) = tracks.next() {
                track.values.push(value);
            }
        };
        for queue in queues(world) {
            push(queue.length(world.now()) as f64);
        }
        for (index, wired) in world
            .wires()
            .links()
            .iter()
            .enumerate()
            .filter(|(_, wired)| wired.is_shown())
        {
            push(wired.link().length(world.now()) as f64);
            let busy_ns = wired.link().busy_ns(world.now());
            push((busy_ns - self.busy_ns[index]) as f64 / 1e9 / self.interval_s);
            self.busy_ns[index] = busy_ns;
        }
        if let Some(bottleneck) = world.bottleneck() {
            push(bottleneck.rate_bps().map_or(f64::NAN, |bps| bps as f64));
            push(bottleneck.last_rtt().map_or(f64::NAN, Span::seconds));
            let leaves = world.wires().bottleneck();
            let leaves = leaves.map_or_else(Vec::new, |wired| wired.link().leaves());
            for (leaf, _) in bottleneck::shown_leaves(world.scenario()) {
                push(leaves[leaf].length() as f64);
            }
        }
        let own = world.flows().states().iter().take(self.delivered.len());
        for (index, flow) in own.clone().enumerate() {
            if let Endpoints::Web(_) = flow.endpoints() {
                continue;
            }
            let delivered = flow.counters(world.now()).delivered;
            let packets = delivered - self.delivered[index];
            self.delivered[index] = delivered;
            push(packets as f64 * world.payload_bits(index) / self.interval_s);
        }
        for flow in own {
            if let Some(sender) = flow.sender() {
                push(sender.cwnd());
            }
        }
        let (Some(conflict), Some(users)) = (world.radio().conflict(), world.users()) else {
            return;
        };
        for (link, drive) in conflict.drives().iter().enumerate() {
            let (air_ns, _) = conflict.medium().air_ns(link as u32, world.now());
            push((air_ns - self.air_ns[link]) as f64 / 1e9 / self.interval_s);
            self.air_ns[link] = air_ns;
            push(drive.r());
        }
        for (index, user) in users.iter().enumerate() {
            let delivered = user.sum(world.flows().states(), |c| c.delivered);
            let packets = delivered - self.user_delivered[index];
            self.user_delivered[index] = delivered;
            let bits = 8.0 * f64::from(user.payload_bytes());
            push(packets as f64 * bits / self.interval_s);
            push(user.connections() as f64);
            if user.is_tcp() {
                let before = self.user_delay[index];
                let sums = [
                    user.sum(world.flows().states(), |c| c.delay_ns),
                    user.sum(world.flows().states(), |c| c.delay_samples),
                ];
                self.user_delay[index] = sums;
                // NaN without a sample
                push((sums[0] - before[0]) as f64 / 1e9 / (sums[1] - before[1]) as f64);
            }
        }
    }
}

/// The queues of the cell's nodes; without stations there is no cell.
fn queues<'a>(world: &'a World<'_>) -> impl Iterator<Item = &'a HeadQueue> {
    let count = match world.scenario().stations.is_empty() {
        true => 0,
        false => usize::MAX,
    };
    world.radio().queues().take(count)
}

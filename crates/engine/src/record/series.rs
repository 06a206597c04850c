//! Time series of quantities, sampled at a fixed interval. A track is the time series of one
//! quantity of one item (a flow, queue, link or station).

use serde::Serialize;

use crate::bottleneck::Bottleneck;
use crate::kernel::time::{Span, Time};
use crate::link::Link;
use crate::measure::streams::player_of;
use crate::quantities::{
    AGGRESSIVENESS, AIRTIME_FRACTION, BUFFER, CAPACITY, CONNECTIONS, CWND, GOODPUT, OCCUPANCY,
    ONE_WAY_DELAY, PING_RTT, Quantity, RTT, UTILISATION,
};
use crate::scenario::Transport;
use crate::world::{User, World};

/// The samples of one quantity of one item, such as a flow or a queue.
#[derive(Clone, Debug, Serialize)]
pub struct Track {
    /// Result list that contains the item.
    pub list: &'static str,
    /// Name of the item in results.
    pub name: String,
    /// Name of the quantity, with its unit.
    pub quantity: &'static str,
    /// Values, one per sample.
    pub values: Vec<f64>,
    /// Index of the item among the items of the same type.
    #[serde(skip)]
    item: usize,
    #[serde(skip)]
    how: How,
}

/// The time series of one replication. The warm-up is included.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Sampling interval. [s]
    pub interval_s: f64,
    /// Times of the samples. [s]
    pub time_s: Vec<f64>,
    /// Time of the first sample that is recorded.
    #[serde(skip)]
    from: Time,
    /// Tracks. Some quantities are values at the time of the sample, others are values of the
    /// interval before the sample.
    ///
    /// - At the time: queue lengths, cwnd, rate of the bottleneck, and last ping (NaN: no value
    ///   yet).
    /// - Over the interval: goodput, utilisation, and round-trip time of a user (NaN: no ACK)
    ///   and of pings (NaN: no reply); with
    ///   `Detail::Tails` also the delay of each flow (NaN: no sample).
    pub tracks: Vec<Track>,
}

/// Method by which a track computes its values.
#[derive(Clone, Copy, Debug)]
enum How {
    /// Value at the time of the sample.
    Now(fn(&World<'_>, usize) -> f64),
    /// Value of the interval before the sample, computed from the increase of two counters.
    Over {
        totals: fn(&World<'_>, usize) -> [u64; 2],
        value: fn(&Interval<'_>) -> f64,
        /// Values of the two counters at the previous sample.
        before: [u64; 2],
    },
}

/// The interval between two samples, and the item to which a value belongs.
struct Interval<'a> {
    world: &'a World<'a>,
    item: usize,
    /// Increase of the two counters in the interval.
    grown: [u64; 2],
    length_s: f64,
}

impl Track {
    fn new(list: &'static str, name: &str, quantity: Quantity, item: usize, how: How) -> Track {
        Track {
            list,
            name: name.to_owned(),
            quantity: quantity.name,
            values: Vec::new(),
            item,
            how,
        }
    }

    fn sample(&mut self, world: &World<'_>, length_s: f64) -> f64 {
        let item = self.item;
        match &mut self.how {
            How::Now(value) => value(world, item),
            How::Over {
                totals,
                value,
                before,
            } => {
                let after = totals(world, item);
                let grown = [after[0] - before[0], after[1] - before[1]];
                *before = after;
                value(&Interval {
                    world,
                    item,
                    grown,
                    length_s,
                })
            }
        }
    }
}

impl Interval<'_> {
    /// Returns the busy time of the item divided by the length of the interval. The first counter
    /// is the busy time in nanoseconds. [-]
    fn busy_part(&self) -> f64 {
        self.grown[0] as f64 / 1e9 / self.length_s
    }

    /// Returns the mean delay in the interval; NaN if there is no sample. The counters are the sum
    /// of the delays in nanoseconds and the number of delays. [s]
    fn mean_s(&self) -> f64 {
        self.grown[0] as f64 / 1e9 / self.grown[1] as f64
    }

    /// Returns the rate in the interval. The first counter is a number of packets, each with `bits`
    /// bits. [bit/s]
    fn bits_per_second(&self, bits: f64) -> f64 {
        self.grown[0] as f64 * bits / self.length_s
    }
}

fn over(totals: fn(&World<'_>, usize) -> [u64; 2], value: fn(&Interval<'_>) -> f64) -> How {
    How::Over {
        totals,
        value,
        before: [0; 2],
    }
}

impl Series {
    pub(crate) fn new(world: &World<'_>, interval: Span) -> Series {
        let mut tracks = Vec::new();
        of_cell(world, &mut tracks);
        of_links(world, &mut tracks);
        of_bottleneck(world, &mut tracks);
        of_flows(world, &mut tracks);
        of_conflict(world, &mut tracks);
        Series {
            interval_s: interval.seconds(),
            time_s: Vec::new(),
            from: Time::ZERO + world.scenario().record.from,
            tracks,
        }
    }

    /// Returns time series that also contain the delays of the flows.
    pub(crate) fn with_delays(world: &World<'_>, interval: Span) -> Series {
        let mut series = Series::new(world, interval);
        delays_of_flows(world, &mut series.tracks);
        series
    }

    pub(crate) fn sample(&mut self, world: &World<'_>) {
        let is_kept = world.now() >= self.from;
        if is_kept {
            self.time_s.push(world.now().seconds());
        }
        for track in &mut self.tracks {
            let value = track.sample(world, self.interval_s);
            if is_kept {
                track.values.push(value);
            }
        }
    }
}

/// Current values of time-series quantities. Quantities that are computed over an interval are
/// excluded.
pub(crate) struct Present {
    tracks: Vec<Track>,
}

impl Present {
    pub(crate) fn new(world: &World<'_>) -> Present {
        let mut tracks = Series::new(world, Span::ZERO).tracks;
        tracks.retain(|track| matches!(track.how, How::Now(_)));
        Present { tracks }
    }

    /// Returns for each track the name of the result list, the name of the item, the name of the
    /// quantity, and the current value; NaN if there is no value.
    pub(crate) fn read<'p>(
        &'p self,
        world: &World<'_>,
    ) -> impl Iterator<Item = (&'static str, &'p str, &'static str, f64)> {
        self.tracks.iter().map(|track| {
            let value = match track.how {
                How::Now(value) => value(world, track.item),
                How::Over { .. } => f64::NAN, // not reached: the constructor has removed these tracks
            };
            (track.list, track.name.as_str(), track.quantity, value)
        })
    }
}

/// Adds the tracks of the cell. A scenario without stations has no cell.
fn of_cell(world: &World<'_>, tracks: &mut Vec<Track>) {
    let cell = world.radio().cell();
    let Some(cell) = cell.filter(|_| !world.scenario().stations.is_empty()) else {
        return;
    };
    let length = How::Now(|world, number| world.radio().queue(number).length(world.now()) as f64);
    for number in 0..cell.queues() {
        let name = cell.queue_name(number);
        tracks.push(Track::new("queues", name, OCCUPANCY, number, length));
    }
}

fn of_links(world: &World<'_>, tracks: &mut Vec<Track>) {
    let length =
        How::Now(|world, number| world.wires().links()[number].link().length(world.now()) as f64);
    let used = |value| {
        over(
            |world, number| world.wires().links()[number].link().used(world.now()),
            value,
        )
    };
    let busy = used(|over| over.busy_part());
    // NaN if there was no transmission opportunity in the interval
    let opportunities = used(|over| over.grown[0] as f64 / over.grown[1] as f64);
    for (number, wired) in world.wires().links().iter().enumerate() {
        if wired.is_shown() {
            let name = wired.name();
            tracks.push(Track::new("queues", name, OCCUPANCY, number, length));
            let how = match wired.link() {
                Link::Traced(_) => opportunities,
                Link::Host(_) | Link::Pipe(_) | Link::Served(_) => busy,
            };
            tracks.push(Track::new("links", name, UTILISATION, number, how));
        }
    }
}

fn of_bottleneck(world: &World<'_>, tracks: &mut Vec<Track>) {
    if world.bottleneck().is_none() {
        return;
    }
    let rate = How::Now(|world, _| {
        let rate_bps = world.bottleneck().and_then(Bottleneck::rate_bps);
        rate_bps.map_or(f64::NAN, |bps| bps as f64)
    });
    let rtt = How::Now(|world, _| {
        let rtt = world.bottleneck().and_then(Bottleneck::last_rtt);
        rtt.map_or(f64::NAN, Span::seconds)
    });
    let length = How::Now(|world, leaf| {
        let leaves = world.wires().bottleneck();
        leaves.map_or(0.0, |wired| wired.link().leaves()[leaf].length() as f64)
    });
    tracks.push(Track::new("links", "vsb", CAPACITY, 0, rate));
    tracks.push(Track::new("links", "vsb", PING_RTT, 0, rtt));
    for (leaf, name) in world.scenario().bottleneck_leaves() {
        tracks.push(Track::new("queues", &name, OCCUPANCY, leaf, length));
    }
}

/// Adds the tracks of the flows of the scenario, except web sources. Pings have a round-trip time in
/// place of a goodput.
fn of_flows(world: &World<'_>, tracks: &mut Vec<Track>) {
    let goodput = over(
        |world, flow| {
            let state = &world.flows().states()[flow];
            let delivered = state.counters(world.now()).delivered;
            let short_bytes = world.flows().states()[flow]
                .counters(world.now())
                .short_bytes;
            [
                delivered,
                world.missing_bytes(flow, delivered) + short_bytes,
            ]
        },
        |over| {
            let missing_bps = 8.0 * over.grown[1] as f64 / over.length_s;
            over.bits_per_second(over.world.payload_bits(over.item)) - missing_bps
        },
    );
    let cwnd = How::Now(|world, flow| {
        let flow = &world.flows().states()[flow];
        let sender = flow.sender().filter(|_| flow.exists(world.now()));
        sender.map_or(f64::NAN, |sender| sender.cwnd())
    });
    let buffer = How::Now(|world, flow| {
        let player = player_of(world, flow);
        player.map_or(f64::NAN, |player| player.buffered(world.now()).seconds())
    });
    let flows = world.scenario().flows.iter().enumerate();
    for (number, flow) in flows.clone() {
        if !matches!(flow.transport, Transport::Web(_) | Transport::Ping(_)) {
            tracks.push(Track::new("flows", &flow.name, GOODPUT, number, goodput));
        }
    }
    for (number, flow) in flows {
        if let Transport::Tcp(_) = flow.transport {
            tracks.push(Track::new("flows", &flow.name, CWND, number, cwnd));
        }
        if flow.stream.is_some() {
            tracks.push(Track::new("flows", &flow.name, BUFFER, number, buffer));
        }
        if let Transport::Ping(_) = flow.transport {
            tracks.push(Track::new("flows", &flow.name, RTT, number, mean_delay()));
        }
    }
}

/// Returns the mean delay of a flow's samples in an interval: round-trip times of TCP and pings, or
/// one-way delays of datagrams.
fn mean_delay() -> How {
    over(
        |world, flow| {
            let counters = world.flows().states()[flow].counters(world.now());
            [counters.delay_ns, counters.delay_samples]
        },
        |over| over.mean_s(),
    )
}

/// Adds tracks of the round-trip times of TCP flows and of the one-way delays of datagrams. Each
/// value is the mean of an interval.
fn delays_of_flows(world: &World<'_>, tracks: &mut Vec<Track>) {
    let delay = mean_delay();
    for (number, flow) in world.scenario().flows.iter().enumerate() {
        let quantity = match flow.transport {
            Transport::Tcp(_) => RTT,
            Transport::Udp(_) => ONE_WAY_DELAY,
            Transport::Web(_) | Transport::Ping(_) => continue,
        };
        tracks.push(Track::new("flows", &flow.name, quantity, number, delay));
    }
}

/// Adds the tracks of the links and of the users of a CSMA network.
fn of_conflict(world: &World<'_>, tracks: &mut Vec<Track>) {
    let (Some(conflict), Some(csma)) = (world.radio().conflict(), &world.scenario().csma) else {
        return;
    };
    let airtime = over(
        |world, link| {
            let conflict = world.radio().conflict();
            let air_ns = conflict.map(|own| own.medium().air_ns(link as u32, world.now()));
            [air_ns.map_or(0, |(total, _)| total), 0]
        },
        |over| over.busy_part(),
    );
    let drive = How::Now(|world, link| {
        let conflict = world.radio().conflict();
        conflict.map_or(f64::NAN, |conflict| conflict.drives()[link].r())
    });
    for link in 0..conflict.queues() {
        let name = conflict.queue_name(link);
        tracks.push(Track::new("links", name, AIRTIME_FRACTION, link, airtime));
        tracks.push(Track::new("links", name, AGGRESSIVENESS, link, drive));
    }
    let goodput = over(
        |world, user| {
            let flows = world.flows().states();
            let user = user_of(world, user);
            [user.map_or(0, |user| user.sum(flows, |c| c.delivered)), 0]
        },
        |over| {
            let payload = user_of(over.world, over.item).map_or(0, User::payload_bytes);
            over.bits_per_second(8.0 * f64::from(payload))
        },
    );
    let connections = How::Now(|world, user| {
        user_of(world, user).map_or(f64::NAN, |user| user.connections() as f64)
    });
    let rtt = over(
        |world, user| {
            let flows = world.flows().states();
            let sums = |user: &User| {
                let samples = user.sum(flows, |c| c.delay_samples);
                [user.sum(flows, |c| c.delay_ns), samples]
            };
            user_of(world, user).map_or([0; 2], sums)
        },
        |over| over.mean_s(),
    );
    for (user, flow) in csma.flows.iter().enumerate() {
        let name = &flow.name;
        tracks.push(Track::new("flows", name, GOODPUT, user, goodput));
        tracks.push(Track::new("flows", name, CONNECTIONS, user, connections));
        if flow.is_tcp() {
            tracks.push(Track::new("flows", name, RTT, user, rtt));
        }
    }
}

fn user_of<'a>(world: &'a World<'_>, number: usize) -> Option<&'a User> {
    world.users().map(|users| &users.each()[number])
}

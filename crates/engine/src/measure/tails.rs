//! Measures of effects that averages hide: unequal shares in single seconds, starved stations, and
//! the longest waiting times of packets.
//!
//! These quantities are measured only on request, and do not change any other value. [`Waits`] is
//! updated after each frame exchange. [`Seconds`] is updated after each simulated second.

use super::Snapshot;
use super::fairness::{competes, jain};
use super::item::{Measures, quantile};
use crate::cell::Cell;
use crate::histogram::Histogram;
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::Outcome;
use crate::quantities::{JAIN_P05, LONGEST_STARVED, SOJOURN_P99};
use crate::scenario::Scenario;
use crate::world::World;

/// Length of the windows for which fairness is computed.
pub(crate) const WINDOW: Span = Span(1_000_000_000);

/// A station is starved if it gets less than this fraction of an equal share. [-]
const STARVING: f64 = 0.1;

/// Histograms of the waiting times of packets, for each queue of a cell.
pub(crate) struct Waits {
    /// End of the warm-up. Packets that leave earlier are not measured.
    from: Time,
    queues: Vec<Histogram>,
}

impl Waits {
    /// Returns empty histograms for the packets that leave after the warm-up.
    pub(crate) fn new(scenario: &Scenario) -> Waits {
        Waits {
            from: Time::ZERO + scenario.warmup,
            queues: Vec::new(),
        }
    }

    /// Records the exchange that `cell` has just ended. The packets of the exchange must still be
    /// the first packets of their queues.
    pub(crate) fn exchange(&mut self, cell: &Cell, outcome: Outcome) {
        let medium = cell.medium();
        if let Outcome::Delivered { from, done } = outcome {
            self.leaves(cell, from, done);
        }
        let end = medium.exchange().end;
        for &from in medium.discarded() {
            self.leaves(cell, from, end);
        }
    }

    fn leaves(&mut self, cell: &Cell, from: u32, at: Time) {
        let number = from as usize;
        if let Some(head) = cell.queue(number).head()
            && at > self.from
        {
            self.queues.resize(cell.queues(), Histogram::EMPTY);
            self.queues[number].add(at.since(head.queued));
        }
    }

    /// Returns the waiting times in queue `number`; `None` if no packet has left any queue of the
    /// cell.
    pub(super) fn of_queue(&self, number: usize) -> Option<&Histogram> {
        self.queues.get(number)
    }

    /// Adds the 99th percentiles of the waiting times to `measures`.
    pub(crate) fn add_to(&self, cell: &Cell, measures: &mut Measures) {
        for number in 0..cell.queues() {
            let waits = self.queues.get(number);
            let p99 = waits.and_then(|waits| waits.quantile_s(0.99));
            measures.add("queues", cell.queue_name(number), SOJOURN_P99.of(p99));
        }
    }
}

/// The number of packets that each flow has delivered, at the ends of successive windows of one
/// second.
pub(crate) struct Seconds {
    bounds: Vec<Bound>,
}

/// The boundary between two windows: the end of one window and the start of the next.
struct Bound {
    at: Time,
    /// Number of packets that each flow has delivered since the start of the run.
    delivered: Vec<u64>,
}

impl Bound {
    fn now(world: &World<'_>) -> Bound {
        let flows = 0..world.scenario().flows.len();
        let states = world.flows().states();
        Bound {
            at: world.now(),
            delivered: flows
                .map(|flow| states[flow].counters(world.now()).delivered)
                .collect(),
        }
    }
}

impl Seconds {
    /// Starts the first window now, at the end of the warm-up.
    pub(crate) fn new(world: &World<'_>) -> Seconds {
        Seconds {
            bounds: vec![Bound::now(world)],
        }
    }

    /// Ends the current window now, and starts the next window.
    pub(crate) fn close(&mut self, world: &World<'_>) {
        self.bounds.push(Bound::now(world));
    }

    /// Adds two results to `measures`: the fairness in single windows, and the time for which
    /// stations were starved. The measured period is from `start` to now. Only stations that
    /// compete for their share are included.
    pub(crate) fn add_to(self, start: &Snapshot, world: &World<'_>, measures: &mut Measures) {
        let scenario = world.scenario();
        let mut stations: Vec<Share> = (0..scenario.stations.len())
            .map(|station| Share::new(station, start, world))
            .collect();
        let mut jains = Vec::new();
        for window in self.bounds.windows(2) {
            let [begin, end] = window else { continue };
            let shares: Vec<Option<f64>> = stations
                .iter()
                .map(|station| station.over(world, begin, end))
                .collect();
            let active: Vec<f64> = shares.iter().flatten().copied().collect();
            let equal = active.iter().sum::<f64>() / active.len() as f64;
            for (station, share) in stations.iter_mut().zip(&shares) {
                let starves = share.is_some_and(|bits| bits == 0.0 || bits < STARVING * equal);
                station.starved = if starves { station.starved + 1 } else { 0 };
                station.longest = station.longest.max(station.starved);
            }
            jains.extend(jain(&active));
        }
        jains.sort_unstable_by(f64::total_cmp);
        measures.add("cells", "cell", JAIN_P05.of(quantile(&jains, 0.05)));
        for (shares, station) in stations.iter().zip(&scenario.stations) {
            let longest = shares.longest as f64 * WINDOW.seconds();
            let is_known = self.bounds.len() > 1 && !shares.competing.is_empty();
            let value = LONGEST_STARVED.of(is_known.then_some(longest));
            measures.add("stations", &station.name, value);
        }
    }
}

/// The flows of a station, and the time for which the station was starved.
struct Share {
    /// Indices of all flows of the station.
    flows: Vec<usize>,
    /// Indices of the station's flows that compete for their share.
    competing: Vec<usize>,
    /// Number of successive windows, up to the current window, in which the station was starved.
    starved: u64,
    longest: u64,
}

impl Share {
    fn new(station: usize, start: &Snapshot, world: &World<'_>) -> Share {
        let all = &world.scenario().flows;
        let flows = (0..all.len()).filter(|&flow| all[flow].station() == Some(station));
        let states = world.flows().states();
        let competing = flows.clone().filter(|&flow| {
            let end = states[flow].counters(world.now());
            let life = states[flow].life(start.marks.at, world.now());
            competes(&all[flow], &start.flows[flow], &end, life)
        });
        Share {
            flows: flows.clone().collect(),
            competing: competing.collect(),
            starved: 0,
            longest: 0,
        }
    }

    /// Returns the number of bits that the station's flows have delivered in a window. The value is
    /// `None` if no competing flow of the station existed during the whole window.
    fn over(&self, world: &World<'_>, begin: &Bound, end: &Bound) -> Option<f64> {
        let could_send = |&flow: &usize| {
            let settings = &world.scenario().flows[flow];
            let begun = Time::ZERO + settings.start + settings.start_spread <= begin.at;
            let stopped = settings.stop.is_some_and(|stop| Time::ZERO + stop < end.at);
            let finished_at = world.flows().states()[flow].finished_at();
            begun && !stopped && finished_at.is_none_or(|at| at > end.at)
        };
        let bits = |&flow: &usize| {
            world.payload_bits_between(flow, begin.delivered[flow], end.delivered[flow])
        };
        let asks = self.competing.iter().any(could_send);
        asks.then(|| self.flows.iter().map(bits).sum())
    }
}

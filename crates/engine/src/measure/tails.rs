//! What means hide: how unequal the shares of single seconds are, who gets next to nothing for how long, and
//! how long the packets wait that wait longest.
//!
//! Nothing of it is measured unless it is asked for, and what is costs no other value a bit: [`Waits`] looks
//! at exchanges, [`Seconds`] at a world that halts.

use super::item::{Measures, jain, quantile};
use crate::app::Arrivals;
use crate::cell::Cell;
use crate::histogram::Histogram;
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::Outcome;
use crate::quantities::{JAIN_P05, LONGEST_STARVED, SOJOURN_P99};
use crate::scenario::{Flow, Scenario, Transport};
use crate::world::World;

/// Windows in which shares are compared.
pub(crate) const WINDOW: Span = Span(1_000_000_000);

/// Part of an equal share below which a station starves. [-]
const STARVING: f64 = 0.1;

/// How long packets were in each queue of a cell.
pub(crate) struct Waits {
    /// The warm-up ends.
    from: Time,
    queues: Vec<Histogram>,
}

impl Waits {
    /// Those of packets that leave after the warm-up.
    pub(crate) fn new(scenario: &Scenario) -> Waits {
        Waits {
            from: Time::ZERO + scenario.warmup,
            queues: Vec::new(),
        }
    }

    /// The exchange that `cell` has just ended; its packets are still heads of their queues.
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

    /// How long packets were in queue `number`, if any left it.
    pub(super) fn of_queue(&self, number: usize) -> Option<&Histogram> {
        self.queues.get(number)
    }

    /// Adds the 99th percentiles to what was measured.
    pub(crate) fn tell(&self, cell: &Cell, measures: &mut Measures) {
        for number in 0..cell.queues() {
            let waits = self.queues.get(number);
            let p99 = waits.and_then(|waits| waits.quantile_s(0.99));
            measures.add("queues", cell.queue_name(number), SOJOURN_P99.of(p99));
        }
    }
}

/// Shares of the stations in windows of a second, one behind the other.
pub(crate) struct Seconds {
    begin: Time,
    stations: Vec<Share>,
    /// Jain's indices of the windows.
    jains: Vec<f64>,
    windows: u64,
}

/// What a station gets.
struct Share {
    station: usize,
    /// Its flows that take what they can get, each with the packets it had delivered before the window.
    flows: Vec<(usize, u64)>,
    /// Windows in a row, up to now, in which it starved.
    starved: u64,
    longest: u64,
}

impl Seconds {
    /// Windows from the end of the warm-up on, which is now.
    pub(crate) fn new(world: &World<'_>) -> Seconds {
        let scenario = world.scenario();
        let asks = |flow: &Flow| flow.reports.is_none() && flow.station().is_some();
        let elastic = scenario.flows.iter().any(|flow| asks(flow) && takes(flow));
        let counts = |flow: &Flow| asks(flow) && (takes(flow) || !elastic);
        let own = |station: usize| -> Vec<(usize, u64)> {
            let flows = scenario.flows.iter().enumerate();
            flows
                .filter(|(_, flow)| counts(flow) && flow.station() == Some(station))
                .map(|(index, _)| (index, delivered(world, index)))
                .collect()
        };
        let stations = (0..scenario.stations.len()).map(|station| Share {
            station,
            flows: own(station),
            starved: 0,
            longest: 0,
        });
        Seconds {
            begin: world.now(),
            stations: stations.filter(|share| !share.flows.is_empty()).collect(),
            jains: Vec::new(),
            windows: 0,
        }
    }

    /// A window ends now.
    pub(crate) fn close(&mut self, world: &World<'_>) {
        let (begin, end) = (self.begin, world.now());
        let shares: Vec<Option<f64>> = self
            .stations
            .iter_mut()
            .map(|one| one.over(world, begin, end))
            .collect();
        let active: Vec<f64> = shares.iter().flatten().copied().collect();
        let equal = active.iter().sum::<f64>() / active.len() as f64;
        for (one, share) in self.stations.iter_mut().zip(&shares) {
            let starves = share.is_some_and(|bits| bits == 0.0 || bits < STARVING * equal);
            one.starved = if starves { one.starved + 1 } else { 0 };
            one.longest = one.longest.max(one.starved);
        }
        self.jains.extend(jain(&active));
        self.begin = end;
        self.windows += 1;
    }

    /// Adds what the windows say to what was measured.
    pub(crate) fn tell(mut self, scenario: &Scenario, measures: &mut Measures) {
        self.jains.sort_unstable_by(f64::total_cmp);
        measures.add("cells", "cell", JAIN_P05.of(quantile(&self.jains, 0.05)));
        for one in &self.stations {
            let longest = one.longest as f64 * WINDOW.seconds();
            let value = (self.windows > 0).then_some(longest);
            let name = &scenario.stations[one.station].name;
            measures.add("stations", name, LONGEST_STARVED.of(value));
        }
    }
}

impl Share {
    /// Bits handed over in the window from `begin` to `end`; `None` without a flow that could send in all of
    /// it.
    fn over(&mut self, world: &World<'_>, begin: Time, end: Time) -> Option<f64> {
        let (mut bits, mut asks) = (0.0, false);
        for (index, before) in &mut self.flows {
            let now = delivered(world, *index);
            bits += (now - *before) as f64 * world.payload_bits(*index);
            *before = now;
            let flow = &world.scenario().flows[*index];
            let begun = Time::ZERO + flow.start + flow.start_spread <= begin;
            let stopped = flow.stop.is_some_and(|stop| Time::ZERO + stop < end);
            let finished = world.flows().states()[*index].completion_s().is_some();
            asks |= begun && !stopped && !finished;
        }
        asks.then_some(bits)
    }
}

/// Whether a flow takes what it can get.
fn takes(flow: &Flow) -> bool {
    match &flow.transport {
        Transport::Tcp(_) => true,
        Transport::Udp(udp) => udp.arrivals == Arrivals::Greedy,
        Transport::Web(_) => false,
    }
}

/// Packets that a flow has handed over. [packets]
fn delivered(world: &World<'_>, flow: usize) -> u64 {
    world.flows().states()[flow].counters(world.now()).delivered
}

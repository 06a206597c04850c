//! The network of a scenario between external hosts. The hosts determine the present time.
//! Emulation uses the same network code as simulation.
//!
//! ```text
//!   host --send--> World (queues, links, medium, estimator) --arrivals--> host
//!                    ^ run_until(now)        | due                 losses
//! ```
//!
//! The network between the hosts is the world of [`crate::run`]. TCP, UDP and their timers are in
//! the hosts.

use std::ops::ControlFlow;

pub use self::open::{At, CONNECTIONS, Carrier, Place, flow_of, flows, open, web_sources};
pub use self::transactions::Transactions;
use crate::cell::Cell;
use crate::error::EngineError;
use crate::kernel::time::Time;
use crate::mac::dcf::Outcome;
use crate::measure::{self, Measures, Snapshot};
use crate::packet::Packet;
use crate::quantities::{self, *};
pub use crate::queue::TcpHeader;
use crate::record::{FrameLog, FrameRecord};
use crate::scenario::Scenario;
use crate::world::{self, Watch, World};
pub use crate::world::{Arrival, Sent};

/// Maximum number of simultaneous connections of a web source.
pub const MAX_OPEN: usize = world::MAX_OPEN;

/// A network that transports the packets of external hosts.
pub struct Live<'a> {
    world: World<'a>,
    start: Option<Snapshot>,
    /// Log of frames on the air, if requested.
    log: Option<FrameLog>,
    /// Whether a queue filters ACKs.
    filters_acks: bool,
}

impl<'a> Live<'a> {
    /// Returns the empty network of `scenario`. External hosts send and receive the packets of all
    /// flows.
    ///
    /// # Errors
    /// `TooLong` if the event queue cannot represent the duration of the scenario.
    pub fn new(scenario: &'a Scenario) -> Result<Live<'a>, EngineError> {
        let mut world = World::new(scenario, 0)?;
        world.open();
        let filters_acks = world.filter_headers();
        Ok(Live {
            filters_acks,
            world,
            start: None,
            log: None,
        })
    }

    /// Sets the `flows` whose packets are the responses of the web source with flow number `index`.
    pub fn answer_by(&mut self, index: usize, flows: impl Iterator<Item = u32>) {
        self.world.answer_by(index, flows);
    }

    /// Returns the time of the next event. The caller must call [`Live::run_until`] with the
    /// instant that is one nanosecond after this time.
    pub fn due(&mut self) -> Time {
        self.world.due()
    }

    /// Processes the events before `now`. From call to call, `now` must not decrease.
    ///
    /// # Errors
    /// None, because nothing interrupts a live network.
    pub fn run_until(&mut self, now: Time) -> Result<(), EngineError> {
        let scenario = self.world.scenario();
        let mut log = self.log.as_mut();
        let mut record = |cell: &Cell, outcome: Outcome| {
            if let Some(log) = &mut log {
                log.exchange(scenario.hotspot(), cell, outcome);
            }
        };
        let mut watch = Watch {
            look: &mut |_| ControlFlow::Continue(()),
            exchange: Some(&mut record),
        };
        self.world.run_until(now, &mut watch)
    }

    /// Starts recording at most `limit` frames on the air.
    pub fn record(&mut self, limit: u64) {
        let from = Time::ZERO + self.scenario().record.from;
        self.log = Some(FrameLog::new(limit, from));
        self.world.record_transmissions();
    }

    /// Returns the scenario.
    pub fn scenario(&self) -> &'a Scenario {
        self.world.scenario()
    }

    /// Returns whether the network itself, not a host, sent `packet`. The network sends only the
    /// pings of the virtual shared bottleneck.
    pub fn is_of_world(&self, packet: &Packet) -> bool {
        packet.flow as usize >= self.scenario().flows.len()
    }

    /// Returns the frames recorded since the last call, in order of their start. The caller must
    /// read the packets of these frames before the next call of `arrivals` or `losses`, because
    /// packet numbers are then reused.
    pub fn frames(&mut self) -> Vec<FrameRecord> {
        self.log.as_mut().map(FrameLog::take).unwrap_or_default()
    }

    /// Returns whether the maximum number of recorded frames was reached.
    pub fn frames_full(&self) -> bool {
        self.log.as_ref().is_some_and(FrameLog::is_full)
    }

    /// Returns whether a queue filters ACKs, so that [`Live::set_header`] must be called for each
    /// packet.
    pub fn filters_acks(&self) -> bool {
        self.filters_acks
    }

    /// Sets the TCP header of the packet with this number, before the packet is sent; `None` for a
    /// packet that is not TCP.
    pub fn set_header(&mut self, number: u32, header: Option<TcpHeader>) {
        self.world.set_header(number, header);
    }

    /// Sends a packet of a host at the present time of the network.
    pub fn send(&mut self, sent: &Sent) {
        self.world.take_from_host(sent);
    }

    /// Returns the packets that have arrived since the last call.
    pub fn arrivals(&mut self) -> std::vec::Drain<'_, Arrival> {
        self.world.arrivals()
    }

    /// Returns the numbers of the packets that were lost since the last call.
    pub fn losses(&mut self) -> std::vec::Drain<'_, u32> {
        self.world.losses()
    }

    /// Begins the measurements.
    pub fn begin_to_measure(&mut self) {
        self.world.begin_to_measure();
        self.start = Some(Snapshot::take(&self.world));
    }

    /// Returns the measurements up to now. For flows, the network measures only the lost packets.
    /// The hosts measure the other quantities of flows, and the goodput of stations, cells and
    /// classes.
    ///
    /// # Errors
    /// `Conservation` if a conservation law is violated.
    pub fn measures(&self) -> Result<Measures, EngineError> {
        measure::check_conservation(&self.world)?;
        let start = match &self.start {
            Some(start) => start,
            None => &Snapshot::take(&self.world),
        };
        let mut measures = measure::between(start, &self.world);
        measure::check_fractions(&measures)?;
        for (list, items) in &mut measures.lists {
            for item in items {
                item.values.retain(|&(name, _)| is_of_network(list, name));
            }
        }
        Ok(measures)
    }
}

/// Returns whether the network can measure a quantity without the hosts. `name` is the quantity,
/// and `list` is the list of the results that contains it.
fn is_of_network(list: &str, name: &str) -> bool {
    list != "totals" && OF_HOSTS.iter().all(|quantity| name != quantity.name)
}

/// Quantities that only the hosts can measure.
const OF_HOSTS: [Quantity; 25] = [
    GOODPUT,
    GOODPUT_SHARE,
    FAIRNESS_LEVEL,
    JAIN,
    UPDOWN_RATIO,
    RTT,
    ONE_WAY_DELAY,
    ONE_WAY_DELAY_P99,
    CWND,
    CWND_MAX,
    CWND_LIMITED,
    RWND_LIMITED,
    APP_LIMITED,
    RETRANSMISSIONS,
    COMPLETION,
    COMPLETION_P95,
    TRANSFER_RATE,
    UNFINISHED,
    STARVED_FLOWS,
    SYNCHRONISATION,
    CONNECTIONS_FINISHED,
    CONNECTIONS_REFUSED,
    quantities::CONNECTIONS,
    CONNECTIONS_OPENED,
    CONNECTIONS_CLOSED,
];

mod open;
#[cfg(test)]
mod tests;
mod transactions;

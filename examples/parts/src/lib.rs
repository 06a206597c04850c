//! A queue discipline and a congestion control of another project. The code of lasthop does not
//! mention them.
//!
//! A crate with plugins depends only on `lasthop-engine`, as a path or from git. This example uses
//! the path in the workspace. The crate runs its scenarios itself (see `tests/runs.rs`), because
//! the command `lasthop` only supports the algorithms that it was compiled with.
//!
//! ```toml
//! queue = { limit = 100, lottery = { p = 0.02 } }
//! tcp = { congestion = "scalable", scalable = { gain = 0.02 } }
//! ```

use lasthop_engine::kernel::streams::Stream;
use lasthop_engine::kernel::time::Time;
use lasthop_engine::notation::setting::{number, probability};
use lasthop_engine::packet::Packet;
use lasthop_engine::plugin::{
    Backlog, Egress, ExternalControl, NewAck, Policy, Registry, Verdict, Window, WindowAlgorithm,
};
use lasthop_engine::table;

table! {
    /// Drops with one probability, whatever the queue.
    pub struct Lottery: Copy in "lottery" {
        /// Probability that an arriving packet is dropped.
        p: f64 = probability().default(0.01);
    }
}

/// Queue with the discipline [`Lottery`]: its settings, its limit and its random stream.
#[derive(Clone, Debug)]
pub struct LotteryQueue(Lottery, u32, Stream);

impl Policy for LotteryQueue {
    const NAME: &'static str = "lottery";
    const DOC: &'static str = "Drops packets by lot.";
    type Settings = Lottery;

    fn new(settings: &Lottery, limit: u32, _: Egress, stream: Stream) -> LotteryQueue {
        LotteryQueue(*settings, limit, stream)
    }

    fn admit(&mut self, _: Time, backlog: &Backlog, _: &Packet) -> Verdict {
        match backlog.packets >= self.1 || self.2.chance(self.0.p) {
            true => Verdict::Drop,
            false => Verdict::Enter,
        }
    }
}

table! {
    /// Scalable TCP (Kelly 2003): the same number of round trips between losses at any rate.
    pub struct Scalable: Copy in "scalable" {
        /// Growth of the window for each ACK, in packets.
        gain: f64 = number(0.0..=1.0).default(0.01);
        /// Part of the window that a loss takes.
        loss: f64 = probability().default(0.125);
    }
}

impl WindowAlgorithm for Scalable {
    fn on_ack(&mut self, window: &mut Window, _: NewAck) {
        if !window.slow_start() {
            window.add(self.gain);
        }
    }

    fn decrease(&mut self, _: &Window, flight: u32) -> f64 {
        (f64::from(flight) * (1.0 - self.loss)).max(2.0)
    }
}

impl ExternalControl for Scalable {
    const NAME: &'static str = "scalable";
    type Settings = Scalable;

    fn new(settings: &Scalable) -> Scalable {
        *settings
    }
}

/// Returns a registry with both plugins.
pub fn parts() -> Registry {
    Registry::new()
        .discipline::<LotteryQueue>()
        .congestion::<Scalable>()
}

//! Google congestion control (GCC): the target rate of a video sender, from feedback about its
//! packets.
//!
//! ```text
//!                +--> groups, trendline, overuse detector --> AIMD (rate.rs) --+
//! feedback ------+--> throughput.rs (acknowledged bitrate) ----^               +--> loss.rs --> target
//!                +--> probe_result.rs --------------------------^              |
//!                +--> losses -------------------------------------------------+
//! bytes sent --> limited.rs (application-limited) --> probes.rs --> probe clusters
//! ```
//!
//! References:
//! - libwebrtc, `modules/congestion_controller/goog_cc` and
//!   `modules/remote_bitrate_estimator/aimd_rate_control.cc` (revisions of 2024 and 2025). All
//!   constants are those of libwebrtc, and each has the name of its file next to it.
//! - S. Holmer, H. Lundin, G. Carlucci, L. De Cicco, S. Mascolo, "A Google congestion control
//!   algorithm for real-time communication", draft-ietf-rmcat-gcc-02.
//! - G. Carlucci, L. De Cicco, S. Holmer, S. Mascolo, "Analysis and design of the Google congestion
//!   control for web real-time communication (WebRTC)", ACM MMSys 2016.
//!
//! Differs from draft-ietf-rmcat-gcc-02, as libwebrtc does: a trendline replaces the Kalman filter
//! of the delay gradient (section 5.3), the sender estimates the rate from feedback about every
//! packet instead of the receiver (section 2), the increase near the capacity is half as steep
//! (section 5.5), a decrease subtracts a further 5 kb/s, and probes measure the capacity.
//!
//! Differs from libwebrtc in these points:
//! - Losses are processed by the rule of the draft (section 6), which libwebrtc used until its
//!   `LossBasedBweV2`: +8 % per second below 2 % loss, a decrease above 10 %.
//! - The acknowledged bitrate is that of `BitrateEstimator`, not of `RobustThroughputEstimator`.
//! - There is no congestion window, no backoff at long round-trip times, no network state estimate,
//!   and no repetition of the initial probes. Without feedback the target rate stays constant.
//! - Clocks of sender and receiver do not drift, and no route changes.

mod delay;
mod limited;
mod loss;
mod probe_result;
mod probes;
mod rate;
mod report;
mod throughput;
mod trend;

use self::delay::DelayControl;
use self::limited::LimitDetector;
use self::loss::LossControl;
use self::probe_result::ProbeResults;
pub use self::probes::Cluster;
use self::probes::Probes;
pub use self::report::PacketReport;
use self::throughput::Throughput;
use crate::kernel::time::{Span, Time};

/// Factor between the target rate and the rate of the pacer (`kDefaultPaceMultiplier`). [-]
const PACING: f64 = 2.5;

/// Fraction of the acknowledged bitrate below which a probe does not reduce the estimate
/// (`kProbeDropThroughputFraction`). [-]
const PROBE_FLOOR: f64 = 0.85;

/// Lowest possible target rate (`kCongestionControllerMinBitrate`). [bit/s]
pub const LOWEST_BPS: u64 = 5_000;

/// Bounds of the target rate of a sender, and its value at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RateBounds {
    /// Lowest target rate, at least [`LOWEST_BPS`]. [bit/s]
    pub min_bps: u32,
    /// Target rate before the first feedback. [bit/s]
    pub start_bps: u32,
    /// Highest rate at which the application sends. [bit/s]
    pub max_bps: u32,
}

/// The congestion controller of one sender.
#[derive(Clone, Debug)]
pub struct Controller {
    bounds: RateBounds,
    delay: DelayControl,
    loss: LossControl,
    throughput: Throughput,
    results: ProbeResults,
    probes: Probes,
    limited: LimitDetector,
    was_limited: bool,
    target_bps: f64,
}

impl Controller {
    /// Returns the controller of a sender that starts at `now`. The initial probe clusters are due
    /// immediately.
    pub fn new(now: Time, bounds: RateBounds) -> Controller {
        let [min, start, max] = [bounds.min_bps, bounds.start_bps, bounds.max_bps].map(f64::from);
        let mut limited = LimitDetector::default();
        limited.set_estimate(start);
        Controller {
            bounds,
            delay: DelayControl::new(start, min),
            loss: LossControl::new(start, min),
            throughput: Throughput::default(),
            results: ProbeResults::default(),
            probes: Probes::new(now, start, max),
            limited,
            was_limited: false,
            target_bps: start,
        }
    }

    /// Returns the estimate of the available rate. It may exceed the highest rate of the
    /// application. [bit/s]
    pub fn estimate_bps(&self) -> f64 {
        self.target_bps
    }

    /// Returns the rate at which the application shall send. [bit/s]
    pub fn target_bps(&self) -> f64 {
        self.target_bps.min(f64::from(self.bounds.max_bps))
    }

    /// Returns the shortest round-trip time of the last report, without the time for which the
    /// receiver waited; zero before the first report.
    pub fn rtt(&self) -> Span {
        self.loss.rtt()
    }

    /// Returns the rate at which the pacer sends packets that wait. [bit/s]
    pub fn pacing_bps(&self) -> f64 {
        self.target_bps * PACING
    }

    /// Returns the next probe cluster that the sender shall send, and removes it.
    pub fn next_cluster(&mut self) -> Option<Cluster> {
        self.probes.next()
    }

    /// Records that a packet of `bytes` bytes is sent at `now`.
    pub fn on_sent(&mut self, now: Time, bytes: u32) {
        self.limited.on_sent(now, bytes);
    }

    /// Processes a feedback report that arrives at `now`. The packets are in the order of sending.
    pub fn on_feedback(&mut self, now: Time, packets: &[PacketReport]) {
        let mut arrived: Vec<(Time, &PacketReport)> = packets
            .iter()
            .filter_map(|packet| packet.arrived.map(|at| (at, packet)))
            .collect();
        arrived.sort_by_key(|&(at, packet)| (at, packet.sent)); // stable
        self.update_rtt(now, &arrived);
        let lost = packets.len() - arrived.len();
        self.loss.on_packets(now, lost as u64, packets.len() as u64);

        let is_limited = self.limited.since().is_some();
        if self.was_limited && !is_limited {
            self.throughput.expect_change();
            self.probes.limit_ended(now);
        }
        self.was_limited = is_limited;
        for &(at, packet) in &arrived {
            self.throughput.on_arrival(at, packet.bytes);
            if let Some(cluster) = packet.cluster {
                self.results.on_arrival(at, packet, &cluster);
            }
        }
        let throughput = self.throughput.bps();
        let probed = self.results.take().map(|probed| {
            let floor = throughput.map_or(0.0, |bps| bps * PROBE_FLOOR);
            probed.max(floor.min(self.delay.estimate_bps()))
        });
        let outcome = self.delay.update(now, &arrived, throughput, probed);
        if outcome.updated {
            if outcome.by_probe {
                self.loss.set_target(self.delay.estimate_bps());
            }
            self.loss.set_delay_limit(self.delay.estimate_bps());
            self.publish(now);
        }
        if outcome.recovered {
            self.probes.request(now, self.limited.since());
        }
    }

    /// Updates the round-trip times of both controls.
    fn update_rtt(&mut self, now: Time, arrived: &[(Time, &PacketReport)]) {
        let Some(&(last, _)) = arrived.last() else {
            return;
        };
        let rtts = arrived.iter().map(|(at, packet)| {
            let rtt = now.since(packet.sent);
            (rtt, rtt - last.since(*at))
        });
        let longest = rtts.clone().map(|(rtt, _)| rtt).max();
        let shortest = rtts.map(|(_, propagation)| propagation).min();
        self.delay.on_rtt(longest.unwrap_or(Span::ZERO));
        self.loss.on_rtt(shortest.unwrap_or(Span::ZERO));
    }

    /// Processes the passing of time. The sender calls this method every [`Controller::INTERVAL`].
    pub fn on_interval(&mut self, now: Time) {
        self.loss.update(now);
        self.probes.on_interval(now, self.limited.since());
        self.publish(now);
    }

    /// Time between two calls of [`Controller::on_interval`] (`kProcessInterval`).
    pub const INTERVAL: Span = Span(25_000_000);

    /// Reports a new target rate to the parts that depend on it.
    fn publish(&mut self, now: Time) {
        let target = self.loss.target_bps();
        if target == self.target_bps {
            return;
        }
        self.target_bps = target;
        self.limited.set_estimate(target);
        let may_probe = !self.delay.is_overusing() && !self.loss.is_limiting();
        self.probes.on_estimate(now, target, may_probe);
    }
}

#[cfg(test)]
mod tests;

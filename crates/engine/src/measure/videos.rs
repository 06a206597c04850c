//! Measures of the adaptive video of a call.
//!
//! The score is that of draft-ietf-ippm-qoo-11 (Quality of Outcome), section "Calculating QoO":
//!
//! ```text
//! latency    = clamp(0, 1 - (delay - optimal) / (worst - optimal), 1)     99th percentile
//! loss       = clamp(0, 1 - (loss - optimal) / (worst - optimal), 1)
//! throughput = 1 if the goodput is at least the requirement, otherwise 0
//! QoO        = min(latency, loss, throughput)
//! ```
//!
//! The draft leaves the requirements to the application. Those of a call are here: one-way delays of
//! 150 and 400 ms (ITU-T G.114), losses of 0 and 5 %, and a goodput of 300 kb/s, from which
//! libwebrtc sends video of 640 x 360 pixels.
//!
//! Differs from the draft: scores are fractions, not percentages. A single percentile of the delay
//! is used, which the draft allows.

use super::distributions::delays_of;
use super::item::{Value, ratio};
use super::period::Period;
use crate::kernel::time::Time;
use crate::quantities::*;
use crate::world::Application;

/// Optimal value, and the value from which the call is unacceptable.
const DELAYS_S: [f64; 2] = [0.15, 0.4];
const LOSSES: [f64; 2] = [0.0, 0.05];
/// Least goodput. [bit/s]
const LEAST_BPS: f64 = 300_000.0;

impl Period<'_> {
    /// Returns the measures of the adaptive video that flow `flow` carries; an empty list for other
    /// flows. `loss` is the fraction of its lost packets.
    pub(super) fn video(&self, flow: usize, goodput_bps: f64, loss: Option<f64>) -> Vec<Value> {
        let application = self.world.flows().states()[flow].application();
        let Some(video) = application.and_then(Application::video) else {
            return Vec::new();
        };
        let from = self.start.marks.at;
        let stop = self.world.scenario().flows[flow].stop;
        let to = self.end.marks.at;
        let to = stop.map_or(to, |stop| to.min(Time::ZERO + stop));
        let tally = video.tally(from, to);
        let delay_s = delays_of(self.world, [flow].into_iter()).quantile_s(0.99);
        let score = delay_s
            .zip(loss)
            .map(|(delay_s, loss)| outcome(delay_s, loss, goodput_bps));
        vec![
            SENT_RATE.of(tally.sent_bps),
            FREEZES.of(tally.freezes as f64),
            FROZEN.of(ratio(tally.frozen.0, tally.watched.0)),
            QOO.of(score),
        ]
    }
}

/// Returns the Quality of Outcome of a call. [-]
fn outcome(delay_s: f64, loss: f64, goodput_bps: f64) -> f64 {
    let score = |value: f64, [optimal, worst]: [f64; 2]| {
        (1.0 - (value - optimal) / (worst - optimal)).clamp(0.0, 1.0)
    };
    let throughput = match goodput_bps >= LEAST_BPS {
        true => 1.0,
        false => 0.0,
    };
    score(delay_s, DELAYS_S)
        .min(score(loss, LOSSES))
        .min(throughput)
}

#[cfg(test)]
mod tests {
    use super::outcome;

    #[test]
    fn the_score_is_that_of_the_worst_dimension() {
        assert_eq!(outcome(0.1, 0.0, 1e6), 1.0);
        assert!((outcome(0.275, 0.01, 1e6) - 0.5).abs() < 1e-9); // halfway from 150 to 400 ms
        assert!((outcome(0.16, 0.03, 1e6) - 0.4).abs() < 1e-9); // 3 of 5 % lost
        assert_eq!(outcome(0.5, 0.0, 1e6), 0.0);
        assert_eq!(outcome(0.1, 0.0, 2.9e5), 0.0);
    }
}

//! Samples of congestion windows and queue lengths at equal intervals. Two results need these
//! samples: the standard deviation of windows and queue lengths, and the correlation of the windows
//! of a class.

use super::flow::FlowState;
use super::flows::Flows;
use super::wires::Wires;
use crate::kernel::time::{Span, Time};
use crate::scenario::{Ends, Scenario};

/// Sum and sum of squares of the samples of one quantity.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
    }

    fn variance(&self, count: f64) -> f64 {
        let mean = self.sum / count;
        (self.squares / count - mean * mean).max(0.0)
    }
}

/// The samples since the end of the warm-up, as statistical moments.
#[derive(Clone, Debug)]
pub(crate) struct Gauge {
    interval: Span,
    count: u64,
    /// Moments of the queue length of each link.
    queues: Vec<Moments>,
    /// Moments of cwnd for each TCP flow.
    windows: Vec<Moments>,
    /// Moments of the sum of the windows in each class.
    sums: Vec<Moments>,
    /// Class of each flow, as an index into `classes`.
    class_of: Vec<usize>,
    /// Names of the classes, in the order of their first flows.
    pub(crate) classes: Vec<String>,
}

impl Gauge {
    /// Returns the sampler for a scenario with flows between wired nodes; `None` for other
    /// scenarios.
    pub(super) fn new(scenario: &Scenario, links: usize, interval: Span) -> Option<Gauge> {
        let flows = &scenario.flows;
        if !flows.iter().any(|flow| flow.ends == Ends::Wired) {
            return None;
        }
        let mut classes: Vec<String> = Vec::new();
        let class_of = flows.iter().map(|flow| {
            let known = classes.iter().position(|name| *name == flow.class);
            known.unwrap_or_else(|| {
                classes.push(flow.class.clone());
                classes.len() - 1
            })
        });
        let class_of = class_of.collect();
        Some(Gauge {
            interval,
            count: 0,
            queues: vec![Moments::default(); links],
            windows: vec![Moments::default(); flows.len()],
            sums: vec![Moments::default(); classes.len()],
            class_of,
            classes,
        })
    }

    /// Adds a sample of the congestion windows of all flows.
    fn read_windows(&mut self, windows: impl Iterator<Item = Option<f64>>) {
        let mut sums = vec![0.0; self.sums.len()];
        let readings = self.windows.iter_mut().zip(&self.class_of);
        for ((moments, &class), window) in readings.zip(windows) {
            if let Some(cwnd) = window {
                moments.add(cwnd);
                sums[class] += cwnd;
            }
        }
        for (moments, sum) in self.sums.iter_mut().zip(sums) {
            moments.add(sum);
        }
    }

    /// Adds a sample of all windows and queue lengths at `now`. Returns the time of the next
    /// sample.
    pub(super) fn read(&mut self, now: Time, wires: &Wires, flows: &mut Flows) -> Time {
        self.count += 1;
        for (moments, wired) in self.queues.iter_mut().zip(wires.links()) {
            if wired.is_shown() {
                moments.add(wired.link().length(now) as f64);
            }
        }
        let deferred = &mut flows.deferred;
        let window = |(index, flow): (usize, &FlowState)| {
            let sender = flow.sender()?;
            deferred.window(index).or_else(|| Some(sender.cwnd()))
        };
        self.read_windows(flows.states.iter().enumerate().map(window));
        let next = now + self.interval;
        deferred.expect_readings(next, self.interval);
        next
    }

    /// Returns the class of flow `index`, as an index into `classes`.
    pub(crate) fn class_of(&self, index: usize) -> usize {
        self.class_of[index]
    }

    /// Returns the standard deviation of the queue length of link number `link`. [packets]
    pub(crate) fn queue_deviation(&self, link: usize) -> Option<f64> {
        let count = self.count as f64;
        (self.count > 1).then(|| self.queues[link].variance(count).sqrt())
    }

    /// Returns the correlation of the windows of a class. The correlation has a numerator and a
    /// denominator, which are sums over all pairs of windows. The numerator is the sum of the
    /// covariances. The denominator is the sum of the products of the two standard deviations.
    /// Returns `None` if fewer than two windows vary.
    pub(crate) fn synchronisation(&self, class: usize) -> Option<f64> {
        let count = self.count as f64;
        let members = self.windows.iter().zip(&self.class_of);
        let own = members.filter(|&(_, &of)| of == class);
        let (mut variances, mut deviations) = (0.0, 0.0);
        for (window, _) in own {
            let variance = window.variance(count);
            variances += variance;
            deviations += variance.sqrt();
        }
        let pairs = deviations * deviations - variances;
        let together = self.sums[class].variance(count) - variances;
        (self.count > 1 && pairs > 1e-9 * variances).then(|| together / pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::{Format, parse};

    /// Returns two values of the correlation of three windows over time: the first computed in one
    /// pass, the second pair by pair.
    fn both(windows: &[[f64; 3]]) -> (f64, f64) {
        let text = "duration = \"1 s\"\ndumbbell = { bottleneck = \"1 Mbps\", flows = 3 }";
        let Ok(scenario) = parse(text, Format::Toml, "test.toml", &[]) else {
            panic!("a dumbbell");
        };
        let Some(mut gauge) = Gauge::new(&scenario, 4, Span(1)) else {
            panic!("wired flows");
        };
        for reading in windows {
            gauge.count += 1;
            gauge.read_windows(reading.iter().copied().map(Some));
        }
        let count = windows.len() as f64;
        let mean = |k: usize| windows.iter().map(|w| w[k]).sum::<f64>() / count;
        let covariance = |a: usize, b: usize| {
            let products = windows.iter().map(|w| (w[a] - mean(a)) * (w[b] - mean(b)));
            products.sum::<f64>() / count
        };
        let pairs = [(0, 1), (0, 2), (1, 2)];
        let scale = |a: usize, b: usize| (covariance(a, a) * covariance(b, b)).sqrt();
        let above: f64 = pairs.iter().map(|&(a, b)| covariance(a, b)).sum();
        let below: f64 = pairs.iter().map(|&(a, b)| scale(a, b)).sum();
        let Some(synchronisation) = gauge.synchronisation(0) else {
            panic!("windows vary");
        };
        (synchronisation, above / below)
    }

    #[test]
    fn synchronisation_is_the_correlation_over_all_pairs() {
        let (together, expected) = both(&[[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [5.0, 10.0, 15.0]]);
        assert!((together - 1.0).abs() < 1e-12 && (expected - 1.0).abs() < 1e-12);
        let mixed = both(&[
            [1.0, 9.0, 3.0],
            [4.0, 2.0, 3.5],
            [2.0, 7.0, 8.0],
            [6.0, 1.0, 2.0],
        ]);
        assert!((mixed.0 - mixed.1).abs() < 1e-12, "{mixed:?}");
        assert!(mixed.0 < 0.0);
    }
}

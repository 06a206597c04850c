//! Virtual buffer sharing (paper 000, section V): computes the probability that packets of each
//! class are blocked. The aim is that the queue contains a fraction c of its capacity B, and that
//! each class has its target share of the queue.
//!
//! Each step reads the backlog Q and the share h_i of each class in the backlog. It returns the
//! probability p_i that an arriving packet of class i is blocked.
//!
//! - [`SharingAlgorithm::Corrected`] is Algorithm 1 as the authors must have meant it. While (Q - cB)^2 > tol,
//!   p_i = 1 if Q >= cB and h_i >= h_i* (the target share), else 0. Within the tolerance p_i does
//!   not change.
//! - [`SharingAlgorithm::Printed`] is Algorithm 1 as printed: p_i = 1 if h_i >= h_i*, even if the queue is
//!   short.
//! - [`SharingAlgorithm::Regulated`] is a proportional-integral controller of the virtual buffer of each class.
//! - [`SharingAlgorithm::Partition`] is a drop-tail buffer for each class: p_i = 1 if Q h_i >= h_i* cB, else 0
//!   ("logical buffer partitioning", section II-C; "mimics a small DropTail buffer", section V).
//!
//! Targets apply to the classes that are present. The target of an absent class is divided among
//! the present classes in proportion to their targets.
//!
//! # The regulator
//!
//! The target of class i is h_i* cB packets. Its excess is e_i = Q h_i - h_i* cB packets. The model
//! is equation (23) of the paper. The window increases by one packet per round trip, as in Compound
//! TCP at windows below 16: dW/dt = ((1 - p(t - R))/W - beta W p(t - R)) W(t - R)/R. Linearised
//! around its equilibrium, the window responds to the loss probability as a first-order lag with
//! pole 2/(W R), gain beta W^2/R and delay R. All flows of the class together have the gain beta W
//! V/R, where V = h_i* cB is the backlog of the class. A controller k (1 + 2/(W R s)) cancels the
//! pole. The loop is then beta W V k/(R s) exp(-R s). Its gain is 1 at w = beta W V k/R, where the
//! phase margin is 90 degrees minus w R. The margin is 60 degrees at k = pi / (6 beta W V). The
//! window is computed from the loss probability: W = sqrt(1/(beta p)). Time is measured in packets
//! served. About cB packets are served during a round trip, so that no clock is needed.

use std::f64::consts::PI;

use crate::words;

/// Fraction by which TCP reduces its window at a loss. [-]
const BETA: f64 = 0.5;

/// Largest rounding error of a product of a share and a backlog. A class that is closer than this
/// to its target counts as being at its target. [packets]
const ROUNDING: f64 = 1e-9;

/// Smallest blocking probability from which gains are computed: the loss probability at a window of
/// 45 packets. [-]
const MIN_PROBABILITY: f64 = 0.001;

words! {
    /// Algorithm for the blocking probabilities.
    pub enum SharingAlgorithm {
        /// Algorithm 1, which blocks only at the target occupancy and above.
        Corrected = "corrected",
        /// Algorithm 1 as printed.
        Printed = "printed",
        /// A proportional-integral controller for each class.
        Regulated = "regulated",
        /// A drop-tail buffer for each class.
        Partition = "partition",
    }
}

/// Inputs of a step of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Observation<'a> {
    /// Backlog Q, the number of packets in the queue; with [`SharingAlgorithm::Partition`] only the packets of
    /// the classes. [packets]
    pub backlog_packets: f64,
    /// Present share h_i of each class in the backlog. [-]
    pub shares: &'a [f64],
    /// Whether each class has had traffic recently.
    pub present: &'a [bool],
    /// Number of packets that have left the queue since the last step. [packets]
    pub served_packets: f64,
}

/// Controller of virtual buffer sharing, with its targets and its state.
#[derive(Clone, Debug)]
pub struct Controller {
    algorithm: SharingAlgorithm,
    /// Target occupancy c B of the queue. [packets]
    occupancy: f64,
    /// Squared distance from the target occupancy within which Algorithm 1 does not change the
    /// blocking probabilities. [packets^2]
    tol: f64,
    /// Target share of each class, h_i*. [-]
    targets: Vec<f64>,
    /// Blocking probability of each class, p_i. [-]
    blocking: Vec<f64>,
    /// Integral term of the blocking probability of each class: the sum of the errors. Only
    /// [`SharingAlgorithm::Regulated`] uses this term. [-]
    integral: Vec<f64>,
}

impl Controller {
    /// Returns a controller whose blocking probabilities are zero.
    pub fn new(
        algorithm: SharingAlgorithm,
        occupancy: f64,
        tol: f64,
        targets: Vec<f64>,
    ) -> Controller {
        Controller {
            algorithm,
            occupancy,
            tol,
            blocking: vec![0.0; targets.len()],
            integral: vec![0.0; targets.len()],
            targets,
        }
    }

    /// Sets the target occupancy and its tolerance from the next step on.
    pub fn aim(&mut self, occupancy: f64, tol: f64) {
        (self.occupancy, self.tol) = (occupancy, tol);
    }

    /// Returns the blocking probability of each class, as computed by the last step. [-]
    pub fn blocking(&self) -> &[f64] {
        &self.blocking
    }

    /// Returns the integral term of the blocking probability of each class. [-]
    #[cfg(test)]
    pub(crate) fn integrals(&self) -> &[f64] {
        &self.integral
    }

    /// Returns the target of each class as a fraction of the sum of the targets of the present
    /// classes. [-]
    #[cfg(test)]
    pub(crate) fn targets_among<'a>(
        &'a self,
        present: &'a [bool],
    ) -> impl Iterator<Item = f64> + 'a {
        let classes = self.targets.iter().zip(present);
        let sum: f64 = classes
            .clone()
            .filter(|&(_, &is)| is)
            .map(|(target, _)| target)
            .sum();
        classes.map(move |(target, &is)| if is { target / sum } else { *target })
    }

    /// Returns whether the backlog is within the tolerance around the target occupancy.
    pub fn is_near(&self, backlog_packets: f64) -> bool {
        let error = backlog_packets - self.occupancy;
        error * error <= self.tol
    }

    /// Updates the blocking probabilities from the observation `seen`, and returns them.
    pub fn step(&mut self, seen: &Observation) -> &[f64] {
        let sum: f64 = (self.targets.iter().zip(seen.present))
            .filter(|&(_, &present)| present)
            .map(|(target, _)| target)
            .sum();
        let rests = matches!(
            self.algorithm,
            SharingAlgorithm::Corrected | SharingAlgorithm::Printed
        );
        if rests && self.is_near(seen.backlog_packets) {
            return &self.blocking;
        }
        for class in 0..self.targets.len() {
            let target = if seen.present[class] {
                self.targets[class] / sum
            } else {
                self.targets[class]
            };
            self.blocking[class] = match self.algorithm {
                SharingAlgorithm::Corrected => {
                    let full = seen.backlog_packets >= self.occupancy;
                    f64::from(full && seen.shares[class] >= target)
                }
                SharingAlgorithm::Printed => f64::from(seen.shares[class] >= target),
                SharingAlgorithm::Regulated => self.regulated(class, target, seen),
                SharingAlgorithm::Partition => {
                    let held_packets = seen.backlog_packets * seen.shares[class];
                    f64::from(held_packets >= target * self.occupancy - ROUNDING)
                }
            };
        }
        &self.blocking
    }

    /// Returns the next blocking probability of `class` under [`SharingAlgorithm::Regulated`].
    fn regulated(&mut self, class: usize, target: f64, seen: &Observation) -> f64 {
        let virtual_buffer = target * self.occupancy;
        let excess = seen.backlog_packets * seen.shares[class] - virtual_buffer;
        // The window is computed from the integral term only, which changes slowly. If the gain
        // also oscillated with the queue, the sum of the errors over one oscillation would not be
        // zero.
        let integral = &mut self.integral[class];
        let window = libm::sqrt(1.0 / (BETA * integral.max(MIN_PROBABILITY)));
        let gain = PI / (6.0 * BETA * window * virtual_buffer.max(1.0));
        let pole = 2.0 / (window * self.occupancy);
        *integral = (*integral + gain * pole * seen.served_packets * excess).clamp(0.0, 1.0);
        (*integral + gain * excess).clamp(0.0, 1.0)
    }
}

/// Returns the constants of the regulator for Linux. beta is the fraction by which TCP reduces its
/// window, p a blocking probability, V the backlog of a class, and cB the target occupancy. The
/// first constant is the smallest p from which gains are computed. The second constant is pi / (6
/// sqrt(beta)): multiplied by sqrt(p) / V, it is the gain k. The third constant is pi / 3:
/// multiplied by p / (V cB), it is k times the pole.
#[cfg(test)]
pub(crate) fn constants() -> (f64, f64, f64) {
    (MIN_PROBABILITY, PI / (6.0 * libm::sqrt(BETA)), PI / 3.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step<'a>(controller: &'a mut Controller, backlog: f64, shares: &[f64]) -> &'a [f64] {
        controller.step(&Observation {
            backlog_packets: backlog,
            shares,
            present: &vec![true; shares.len()],
            served_packets: 1.0,
        })
    }

    #[test]
    fn a_class_is_blocked_from_its_share_and_the_target_occupancy_on() {
        let mut corrected =
            Controller::new(SharingAlgorithm::Corrected, 60.0, 1e-4, vec![0.5, 0.5]);
        assert_eq!(step(&mut corrected, 59.0, &[0.9, 0.1]), [0.0, 0.0]);
        assert_eq!(step(&mut corrected, 61.0, &[0.9, 0.1]), [1.0, 0.0]);
        assert_eq!(step(&mut corrected, 61.0, &[0.5, 0.5]), [1.0, 1.0]);
        assert_eq!(step(&mut corrected, 99.0, &[0.4, 0.6]), [0.0, 1.0]);
        // exactly at the target occupancy, Algorithm 1 keeps the probabilities of the previous step
        assert_eq!(step(&mut corrected, 60.0, &[0.9, 0.1]), [0.0, 1.0]);
    }

    #[test]
    fn as_printed_a_short_queue_blocks_too() {
        let mut printed = Controller::new(SharingAlgorithm::Printed, 60.0, 1e-4, vec![0.5, 0.5]);
        assert_eq!(step(&mut printed, 1.0, &[1.0, 0.0]), [1.0, 0.0]);
        assert_eq!(step(&mut printed, 2.0, &[0.5, 0.5]), [1.0, 1.0]);
    }

    #[test]
    fn a_partition_is_a_drop_tail_buffer_of_each_class() {
        let mut partition =
            Controller::new(SharingAlgorithm::Partition, 60.0, 25.0, vec![0.5, 0.5]);
        assert_eq!(
            step(&mut partition, 33.0, &[29.0 / 33.0, 4.0 / 33.0]),
            [0.0, 0.0]
        );
        assert_eq!(
            step(&mut partition, 34.0, &[30.0 / 34.0, 4.0 / 34.0]),
            [1.0, 0.0]
        );
        // the previous step blocked a class although the backlog, 34 packets, was below the target
        // occupancy; this step blocks both classes although the backlog is within the tolerance
        assert_eq!(step(&mut partition, 60.0, &[0.5, 0.5]), [1.0, 1.0]);
        // a class that is the only present class may use the whole target occupancy of 60 packets
        let alone = Observation {
            backlog_packets: 59.0,
            shares: &[1.0, 0.0],
            present: &[true, false],
            served_packets: 1.0,
        };
        assert_eq!(partition.step(&alone)[0], 0.0);
        let full = Observation {
            backlog_packets: 60.0,
            ..alone
        };
        assert_eq!(partition.step(&full)[0], 1.0);
    }

    #[test]
    fn within_the_tolerance_blocking_stays_as_it_is() {
        let mut corrected =
            Controller::new(SharingAlgorithm::Corrected, 60.0, 25.0, vec![0.5, 0.5]);
        assert_eq!(step(&mut corrected, 64.0, &[0.9, 0.1]), [0.0, 0.0]);
        assert_eq!(step(&mut corrected, 66.0, &[0.9, 0.1]), [1.0, 0.0]);
        assert_eq!(step(&mut corrected, 55.0, &[0.9, 0.1]), [1.0, 0.0]);
        assert_eq!(step(&mut corrected, 54.0, &[0.9, 0.1]), [0.0, 0.0]);
    }

    #[test]
    fn what_an_absent_class_leaves_goes_to_the_others_in_proportion() {
        let targets = vec![0.5, 0.25, 0.25];
        let mut corrected = Controller::new(SharingAlgorithm::Corrected, 60.0, 1e-4, targets);
        let mut blocking = |shares: [f64; 3]| {
            let blocking = corrected.step(&Observation {
                backlog_packets: 70.0,
                shares: &shares,
                present: &[true, true, false],
                served_packets: 1.0,
            });
            (blocking[0], blocking[1])
        };
        // the target of the absent third class is divided: the targets of the present classes
        // become two thirds and one third of the target occupancy
        assert_eq!(blocking([0.66, 0.34, 0.0]), (0.0, 1.0));
        assert_eq!(blocking([0.67, 0.33, 0.0]), (1.0, 0.0));
    }

    #[test]
    fn the_regulator_settles_where_each_class_holds_its_virtual_buffer() {
        let mut regulated = Controller::new(SharingAlgorithm::Regulated, 60.0, 0.0, vec![0.6, 0.4]);
        for _ in 0..2_000 {
            step(&mut regulated, 60.0, &[0.7, 0.3]);
        }
        let held = regulated.blocking().to_vec();
        assert!(held[0] > 0.01 && held[1] == 0.0, "{held:?}");
        // without an error, the probabilities do not change
        step(&mut regulated, 60.0, &[0.6, 0.4]);
        let settled = regulated.blocking().to_vec();
        for _ in 0..100 {
            step(&mut regulated, 60.0, &[0.6, 0.4]);
        }
        assert_eq!(regulated.blocking(), settled);
        // with an empty queue the blocking probability falls to zero
        for _ in 0..2_000 {
            step(&mut regulated, 0.0, &[0.0, 0.0]);
        }
        assert_eq!(regulated.blocking(), [0.0, 0.0]);
    }

    /// Checks the loop of the regulator, with the linearised window equation (23) of paper 000, by
    /// its frequency response. The phase margin is 60 degrees at any window and share.
    #[test]
    fn the_regulated_loop_has_a_phase_margin_of_sixty_degrees() {
        for (window, flows, rtt) in [(6.0, 5.0, 0.05), (12.0, 2.5, 0.1), (2.0, 20.0, 0.02)] {
            let buffer = window * flows;
            let gain = PI / (6.0 * BETA * window * buffer);
            let pole = 2.0 / (window * rtt);
            let plant_gain = BETA * window * window / rtt * flows;
            // magnitude of the loop L(jw); bisection finds the w at which the magnitude is 1, and
            // arg L(jw) at this w gives the phase margin
            let magnitude = |w: f64| {
                let lag = plant_gain / libm::hypot(w, pole);
                lag * gain * libm::hypot(1.0, pole / w)
            };
            let (mut low, mut high) = (1e-6, 1e6);
            for _ in 0..200 {
                let middle = libm::sqrt(low * high);
                if magnitude(middle) > 1.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
            let phase = -libm::atan(low / pole) - libm::atan(pole / low) - low * rtt;
            let margin = (PI + phase).to_degrees();
            assert!((margin - 60.0).abs() < 1e-6, "{margin}");
        }
    }
}

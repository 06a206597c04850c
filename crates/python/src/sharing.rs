//! Virtual buffer sharing for programs that count the packets of a real queue.

use lasthop_engine::control::buffer_sharing::{Controller, Observation, SharingAlgorithm};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Largest excess of a sum of shares over 1 that is accepted as a rounding error.
const ROUNDING: f64 = 1e-9;

/// Virtual buffer sharing of paper 000, section V. It computes blocking probabilities of classes,
/// with which a queue holds `occupancy_packets`. Each class gets its share in `targets` of these
/// packets.
///
/// Call `step` at every arrival or at regular instants, and drop packets of each class with the
/// probability that `step` returns. `algorithm` is "corrected", "printed", "regulated" or
/// "partition", as in `cell.ap_queue.vbs`. Invalid values raise ValueError.
#[pyclass(module = "lasthop._core")]
pub struct Vbs {
    controller: Controller,
    classes: usize,
}

#[pymethods]
impl Vbs {
    #[new]
    #[pyo3(signature = (targets, *, occupancy_packets, algorithm = "corrected", tol = 0.0))]
    fn new(targets: Vec<f64>, occupancy_packets: f64, algorithm: &str, tol: f64) -> PyResult<Vbs> {
        let Some(sharing) = SharingAlgorithm::ALL
            .into_iter()
            .find(|each| each.name() == algorithm)
        else {
            let words = SharingAlgorithm::ALL
                .map(|each| format!("{:?}", each.name()))
                .join(", ");
            let message = format!("algorithm: {algorithm:?} is none of {words}");
            return Err(PyValueError::new_err(message));
        };
        let is_share = |share: &f64| *share > 0.0 && *share <= 1.0;
        if let Some(&target) = targets.iter().find(|share| !is_share(share)) {
            return refused("targets", target, "a share above 0 and at most 1");
        }
        if targets.is_empty() {
            let message = "targets: no shares; expected one for each class";
            return Err(PyValueError::new_err(message));
        }
        let sum: f64 = targets.iter().sum();
        if sum > 1.0 + ROUNDING {
            return refused("targets", sum, "a sum of shares of at most 1");
        }
        if !(occupancy_packets > 0.0 && occupancy_packets.is_finite()) {
            return refused("occupancy_packets", occupancy_packets, "a length above 0");
        }
        if !(tol >= 0.0 && tol.is_finite()) {
            return refused("tol", tol, "a squared distance of at least 0");
        }
        Ok(Vbs {
            classes: targets.len(),
            controller: Controller::new(sharing, occupancy_packets, tol, targets),
        })
    }

    /// Returns the blocking probability of each class.
    ///
    /// It depends on the number of packets in the queue, the share of each class in these packets
    /// (or in the service), and the number of packets that have left since the last step. Classes
    /// that are not `present` leave their share to the other classes. By default, all classes are
    /// present.
    #[pyo3(signature = (backlog_packets, shares, served_packets = 1.0, present = None))]
    fn step(
        &mut self,
        backlog_packets: f64,
        shares: Vec<f64>,
        served_packets: f64,
        present: Option<Vec<bool>>,
    ) -> PyResult<Vec<f64>> {
        let present = present.unwrap_or_else(|| vec![true; self.classes]);
        for (name, length) in [("shares", shares.len()), ("present", present.len())] {
            if length != self.classes {
                let message = format!("{name}: {length} values for {} classes", self.classes);
                return Err(PyValueError::new_err(message));
            }
        }
        if let Some(&share) = shares.iter().find(|share| !(0.0..=1.0).contains(*share)) {
            return refused("shares", share, "a share from 0 to 1");
        }
        for (name, count) in [
            ("backlog_packets", backlog_packets),
            ("served_packets", served_packets),
        ] {
            if !(count >= 0.0 && count.is_finite()) {
                return refused(name, count, "a count of at least 0");
            }
        }
        let seen = Observation {
            backlog_packets,
            shares: &shares,
            present: &present,
            served_packets,
        };
        Ok(self.controller.step(&seen).to_vec())
    }

    /// Blocking probability of each class after the last step. [-]
    #[getter]
    fn blocking(&self) -> Vec<f64> {
        self.controller.blocking().to_vec()
    }
}

fn refused<T>(name: &str, value: f64, allowed: &str) -> PyResult<T> {
    let message = format!("{name}: {value} is not {allowed}");
    Err(PyValueError::new_err(message))
}

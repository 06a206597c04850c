//! The lists of a result as Python objects, without JSON text.

use lasthop_engine::estimate::Estimate;
use lasthop_engine::measure::ReplicationTable;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyString};

/// Name of an item, mean of a quantity, and half width of its confidence interval.
pub type Named = (String, f64, Option<f64>);

/// Returns the items of a list as dictionaries, which are equal to those of the JSON text.
pub fn items<'py>(
    py: Python<'py>,
    measured: &ReplicationTable,
    list: &str,
) -> PyResult<Bound<'py, PyList>> {
    let items = PyList::empty(py);
    for item in measured.items(list) {
        let tree = PyDict::new(py);
        tree.set_item(intern!(py, "name"), item.name())?;
        for (label, text) in item.labels() {
            tree.set_item(PyString::intern(py, label), text)?;
        }
        for (quantity, Estimate { mean, ci95 }) in item.estimates() {
            let estimate = PyDict::new(py);
            estimate.set_item(intern!(py, "mean"), finite(mean))?;
            estimate.set_item(intern!(py, "ci95"), ci95.and_then(finite))?;
            tree.set_item(PyString::intern(py, quantity), estimate)?;
        }
        items.append(tree)?;
    }
    Ok(items)
}

/// Returns the estimates of a quantity in a list. Items without an estimate are omitted.
pub fn estimates(measured: &ReplicationTable, list: &str, quantity: &str) -> Vec<Named> {
    let items = measured.items(list);
    items
        .filter_map(|item| {
            let Estimate { mean, ci95 } = item.estimate(quantity)?;
            Some((item.name().to_owned(), finite(mean)?, ci95.and_then(finite)))
        })
        .collect()
}

/// Returns `None` for a value that JSON writes as null.
fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

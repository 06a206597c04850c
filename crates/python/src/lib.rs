//! `lasthop._core`: the engine for Python. A binding checks, converts, calls and converts back;
//! everything a user reads stands in `python/lasthop`.
#![allow(missing_docs)] // #[pymodule] adds public items without documentation.

use pyo3::prelude::*;

/// The compiled part of lasthop.
#[pymodule]
mod _core {
    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

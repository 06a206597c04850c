//! The engine of lasthop in a browser.
//!
//! ```text
//!  page -- text --> check --> problems, or the normalised scenario
//!       -- text --> begin --> run -- advance, advance, ... --> values, series, frames
//!                                           values of all runs -- combine --> the result of `--json`
//! ```
//!
//! A worker has several runs, each of one replication. The worker advances a run one slice at a time, so that it can
//! process messages of its page between slices. The page combines the values of several workers as a native run
//! combines its replications. [`Bench`] is the safe code of a worker. [`memory`] has the unsafe code: the functions
//! that use WebAssembly's memory, and a run that owns its scenario.

mod bench;
pub mod memory;

pub use bench::{Bench, Written};

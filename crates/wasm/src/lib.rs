//! The engine of lasthop in a browser.
//!
//! ```text
//!  page -- text --> check --> problems, or the normalised scenario
//!       -- text --> begin --> run -- advance, advance, ... --> values, series, frames
//!                                           values of all runs -- combine --> the result of `--json`
//! ```
//!
//! A worker holds runs, each of one replication, and advances them a slice at a time, so that it hears its
//! page in between. What several workers have finished is put together as a native run does it. [`Bench`]
//! is what they do in safe code; [`memory`] has all that is not: the functions over WebAssembly's own
//! memory, and a run that owns the scenario it reads.

mod bench;
pub mod memory;

pub use bench::{Bench, Written};

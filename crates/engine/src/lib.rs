//! Packet-level engine of lasthop.
//!
//! The text of a scenario is parsed and checked once, which results in a [`scenario::Scenario`].
//! [`run`] simulates this scenario and returns the result. This crate uses no files, sockets, wall
//! clocks or Python.
#![doc(html_no_source)]
#![doc = include_str!("../README.md")]

pub mod app;
pub mod bottleneck;
pub mod cell;
pub mod channel;
pub mod conflict;
pub mod control;
pub mod echo;
mod error;
pub mod estimate;
pub mod histogram;
#[cfg(test)]
mod in_c;
pub mod kernel;
pub mod link;
pub mod live;
pub mod mac;
pub mod measure;
pub mod notation;
pub mod packet;
pub mod pcapng;
pub mod plugin;
pub mod quantities;
pub mod queue;
pub mod record;
mod replication;
pub mod result;
mod run;
pub mod scenario;
mod session;
pub mod tcp;
pub mod world;

pub use error::EngineError;
pub use replication::{Detail, Replication, Running, run_replication, sampled};
pub use result::RunResult;
pub use run::{Progress, replications, run, run_in_detail};
pub use session::{Fixed, Session, has_interval};

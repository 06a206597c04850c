//! The shared medium: timing of the physical layer and medium access, one method a file.
//!
//! A medium is one object per contention domain without I/O: it is told of backlog and time,
//! says its next deadline, and reports what ended then.

pub mod airtime;
mod arf;
mod backoff;
mod contender;
mod countdown;
pub mod dcf;
mod exchange;
pub mod graph;
mod path;

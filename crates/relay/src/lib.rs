//! The multi-connection layer of paper 001, section 5.2, for real programs. All streams between two
//! relays share one pool of kernel connections. The number of connections follows the same rule as
//! in the simulator.
//!
//! ```text
//!  program --socket--> client ==n TCP connections== server --socket--> target
//!                       |  streams in, blocks out     |
//!                     pool (sockets, tasks) --> session (neither) --> frame, budget
//! ```
//!
//! [`session`] uses neither sockets nor clocks, so that tests can lose, duplicate and reorder its
//! messages. All tasks of a relay run on one thread.

mod allow;
mod budget;
mod callers;
mod client;
pub mod frame;
mod hello;
mod kernel;
mod links;
mod metrics;
mod noise;
mod number;
mod pool;
mod probe;
mod relay;
mod server;
pub mod session;
mod settings;
mod socks;

pub use budget::Budget;
pub use noise::{Key, new_key};
pub use relay::{Relay, RelayError};

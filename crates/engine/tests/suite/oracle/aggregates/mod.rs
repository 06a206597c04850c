//! The slow oracle of a cell that aggregates (802.11n, ac, ax): what each contender has to send
//! (`sender`), what each receiver holds back (`receiver`), and the medium that all of them hear. It
//! contends as the oracle of a cell without aggregates does (`contention`).

pub mod cells;
mod hop;
mod laws;
mod lengths;
mod medium;
mod radios;
mod receiver;
mod sender;
mod trace;
mod worked;

pub use medium::play;
pub use sender::Sent;
pub use trace::{AggregateTrace, Attempt, Outcome};

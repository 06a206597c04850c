//! Time, pending events and random streams; knows nothing of networks.

pub mod agenda;
pub mod streams;
pub mod time;

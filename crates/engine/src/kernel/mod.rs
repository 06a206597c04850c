//! Time, pending events and random streams; knows nothing of networks.

pub mod agenda;
pub mod calendar;
pub mod streams;
pub mod time;

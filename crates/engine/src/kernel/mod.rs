//! Time, pending events and random streams. This module does not depend on networks.

pub mod agenda;
pub mod arrivals;
pub mod calendar;
pub mod streams;
pub mod time;

//! Time, events, timers and random streams; knows nothing of networks.

pub mod time;

//! Traffic sources beside bulk TCP.

pub mod sensor;
pub mod udp;
pub mod web;

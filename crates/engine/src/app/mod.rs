//! Traffic sources beside bulk TCP.

pub mod udp;

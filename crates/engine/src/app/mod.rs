//! Traffic sources beside bulk TCP.

pub mod udp;
pub mod web;

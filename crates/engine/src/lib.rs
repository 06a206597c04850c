//! Packet-level engine of lasthop.
//!
//! `scenario` text is parsed once into a checked [`scenario::Scenario`]; [`run`] turns it into
//! a result. No files, sockets, wall clocks or Python in here.
#![doc(html_no_source)]

pub mod kernel;
pub mod pcapng;
pub mod scenario;
pub mod tcp;

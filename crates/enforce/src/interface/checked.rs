//! The checked interface: every default filled in, every value in range.

use std::net::IpAddr;

use lasthop_engine::queue::QueueSetting;
use serde_json::{Value, json};

/// The queue of a network interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Title.
    pub name: String,
    /// The interface.
    pub interface: String,
    /// The scenario's link that it stands for; "ap": the access point's queue.
    pub link: Option<String>,
    /// Rate that packets leave at. [bit/s]
    pub rate_bps: u64,
    /// Its queue.
    pub queue: QueueSetting,
    /// Interfaces without receive offload.
    pub from: Vec<String>,
    /// Classes that share the queue; none without virtual buffer sharing.
    pub classes: Vec<Members>,
}

/// A class, and who is in it.
#[derive(Clone, Debug, PartialEq)]
pub struct Members {
    /// Unique name.
    pub name: String,
    /// Its part of what all classes together are to have. [-]
    pub target: f64,
    /// Subnets; an address is one of itself alone.
    pub subnets: Vec<(IpAddr, u32)>,
    /// MAC addresses, in lower case with colons.
    pub macs: Vec<String>,
    /// A mark.
    pub mark: Option<u64>,
}

impl Interface {
    /// The interface as a JSON object that says its units in its keys.
    pub fn to_json(&self) -> Value {
        let classes: Vec<Value> = self.classes.iter().map(Members::to_json).collect();
        json!({
            "name": self.name,
            "interface": self.interface,
            "link": self.link,
            "rate_bps": self.rate_bps,
            "queue_packets": self.queue.most_packets(),
            "queue": self.queue.to_json(),
            "from": self.from,
            "classes": classes,
        })
    }
}

impl Members {
    fn to_json(&self) -> Value {
        let subnets = (self.subnets.iter()).map(|(address, length)| format!("{address}/{length}"));
        json!({
            "name": self.name,
            "target": self.target,
            "subnets": subnets.collect::<Vec<_>>(),
            "macs": self.macs,
            "mark": self.mark,
        })
    }
}

//! The checked interface: every default filled in, every value in range.

use ipnet::IpNet;
use lasthop_engine::queue::QueueSetting;
use serde::Serialize;
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

/// A class with its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Members {
    /// Unique name.
    pub name: String,
    /// Its part of what all classes together are to have. [-]
    pub target: f64,
    /// Subnets, some of one address only.
    pub subnets: Vec<IpNet>,
    /// MAC addresses, in lower case with colons.
    pub macs: Vec<String>,
    /// A mark.
    pub mark: Option<u64>,
}

impl Interface {
    /// The interface as a JSON object that says its units in its keys.
    pub fn to_json(&self) -> Value {
        json!({
            "name": self.name,
            "interface": self.interface,
            "link": self.link,
            "rate_bps": self.rate_bps,
            "queue_packets": self.queue.most_packets(),
            "queue": self.queue.to_json(),
            "from": self.from,
            "classes": self.classes,
        })
    }
}

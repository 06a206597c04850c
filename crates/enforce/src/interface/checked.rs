//! The checked interface settings, with all defaults filled in.

use ipnet::IpNet;
use lasthop_engine::queue::QueueSetting;
use serde::Serialize;
use serde_json::{Value, json};

/// The queue of a network interface.
#[derive(Clone, Debug, PartialEq)]
pub struct Interface {
    /// Title in the scenario file.
    pub name: String,
    /// Name of the network interface.
    pub interface: String,
    /// Link of the scenario that the interface represents. "ap" means the queue of the access
    /// point. `None` without a scenario.
    pub link: Option<String>,
    /// Rate at which packets leave the interface. [bit/s]
    pub rate_bps: u64,
    /// Queue of the interface.
    pub queue: QueueSetting,
    /// Interfaces through which packets arrive. Their receive offload (GRO) is turned off.
    pub from: Vec<String>,
    /// Classes that share the queue; empty without virtual buffer sharing.
    pub classes: Vec<Members>,
}

/// A class, and the addresses and marks by which its packets are recognised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Members {
    /// Unique name of the class.
    pub name: String,
    /// Target of the class, as a fraction of the sum of the targets. [-]
    pub target: f64,
    /// Subnets of the class's members. A single address is a subnet.
    pub subnets: Vec<IpNet>,
    /// MAC addresses of the class's members, in lower case with colons.
    pub macs: Vec<String>,
    /// Mark (fwmark) of the class's packets; `None` without a mark.
    pub mark: Option<u64>,
}

impl Interface {
    /// Returns the interface as a JSON object. Its keys contain the units.
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

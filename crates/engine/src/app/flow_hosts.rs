//! Hosts and DSCP of a flow between wired nodes, by which CAKE shares the rate and selects tins.

use crate::notation::setting::{FileTable, Json, name, word};
use crate::queue::Dscp;
use crate::table;

table! {
    /// Hosts and DSCP of a flow between wired nodes. Only CAKE (queue.cake) uses them.
    pub struct FlowHosts in "flow_hosts" {
        /// Name of the host at `from`. Flows with the same name here or in to_host belong to the same host. A queue with cake shares its rate among hosts.
        from_host: Option<String> = name().depends("a host of its own for each flow or call");
        /// Name of the host at `to`.
        to_host: Option<String> = name().depends("a host of its own for each flow or call");
        /// Router with NAT between the host at `from` and the network. A queue with cake sees its hosts as one host, unless nat = true.
        from_nat: Option<String> = name().absent("no NAT");
        /// Router with NAT between the host at `to` and the network.
        to_nat: Option<String> = name().absent("no NAT");
        /// DSCP of the packets in both directions, by which cake selects a tin. The DSCP of a station's packets follows from category: CS1, CS0, AF41 or EF.
        dscp: Dscp = word().default(Dscp::Cs0);
    }
}

impl FlowHosts {
    /// A flow without names of hosts, and with default forwarding.
    pub const NONE: FlowHosts = FlowHosts {
        from_host: None,
        to_host: None,
        from_nat: None,
        to_nat: None,
        dscp: Dscp::Cs0,
    };

    /// Returns the hosts of a flow of the opposite direction.
    pub fn reversed(self) -> FlowHosts {
        FlowHosts {
            from_host: self.to_host,
            to_host: self.from_host,
            from_nat: self.to_nat,
            to_nat: self.from_nat,
            ..self
        }
    }

    /// Returns the hosts as JSON for the normalised scenario.
    pub(crate) fn to_json(&self) -> Json {
        FileTable::json(self)
    }
}

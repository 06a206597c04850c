//! Tables of the interface: what `lasthop queue` does on Linux.

use lasthop_engine::notation::setting::{count, formed, name, rate, tables};
use lasthop_engine::queue::{ApQueue, ap_queue};
use lasthop_engine::table;

use crate::forms::{INTERFACE, INTERFACES, MACS, MEMBERS};

table! {
    /// The queue of a network interface, in front of a shaper: what leaves by the interface waits there.
    pub struct InterfaceTable in "interface" {
        /// Network interface that packets leave by.
        interface as "name": String = formed(&INTERFACE).required();
        /// The scenario's link whose rate and queue the interface gets, with "/back" behind its name for the other direction; "ap": the queue of the access point.
        link: Option<String> = name().depends("the scenario's only link with a rate");
        /// Rate that packets leave at, Ethernet's headers counted: somewhat below what the line behind can carry, so that they wait here and nowhere else.
        rate_bps as "rate": Option<u64> = rate().depends("that of the link");
        /// The queue, its limit counting the packet in service; classes of vbs have shares here and members in class.
        key queue: ApQueue = ap_queue().depends("that of the link");
        /// Interfaces that packets come in by, whose receive offload (GRO) is turned off: what it merges would count as one packet.
        from: Option<String> = formed(&INTERFACES).absent("none");
        /// Who is in the classes of vbs, by their names.
        key class: MembersTable = tables().absent("none");
    }
}

table! {
    /// Members of a class. A packet is of the class of its mark, else of that of its source's MAC address, its destination's, its source's IP address, its destination's; of prefixes the longest counts.
    pub struct MembersTable in "interface.class" {
        /// IP addresses and subnets.
        address: Option<String> = formed(&MEMBERS).absent("none");
        /// MAC addresses.
        mac: Option<String> = formed(&MACS).absent("none");
        /// Mark of a packet (fwmark), as nftables sets it.
        mark: Option<u64> = count(1..=4_294_967_295).absent("none");
    }
}

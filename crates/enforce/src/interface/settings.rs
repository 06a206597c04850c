//! Tables of a scenario file for `lasthop queue`, which runs on Linux.

use lasthop_engine::notation::setting::{count, formed, name, rate, tables};
use lasthop_engine::queue::{ApQueue, ap_queue};
use lasthop_engine::table;

use crate::forms::{INTERFACE, INTERFACES, MACS, MEMBERS};

table! {
    /// Queue of a network interface, in front of a shaper. Packets that leave through the interface wait in this queue.
    pub struct InterfaceTable in "interface" {
        /// Network interface through which packets leave.
        interface as "name": String = formed(&INTERFACE).required();
        /// Link of the scenario whose rate and queue the interface gets. The suffix "/back" selects the other direction. "ap" selects the queue of the access point.
        link: Option<String> = name().depends("the scenario's only link with a rate");
        /// Rate at which packets leave, including Ethernet headers. It should be somewhat below the rate of the line that follows, so that packets wait only in the queue of this interface. CAKE shapes to this rate itself, unless it has a bandwidth.
        rate_bps as "rate": Option<u64> = rate().depends("that of the link, or the bandwidth of CAKE");
        /// Queue of the interface; its limit includes the packet in service. With vbs, this table sets the shares of the classes, and `class` sets their members.
        key queue: ApQueue = ap_queue().depends("that of the link");
        /// Interfaces through which packets arrive. Their receive offload (GRO) is turned off, because merged packets would count as one packet.
        from: Option<String> = formed(&INTERFACES).absent("none");
        /// Members of the classes of vbs, by the name of the class.
        key class: MembersTable = tables().absent("none");
    }
}

table! {
    /// Members of a class. The class of a packet is found by its mark, then by source and destination MAC address, then by source and destination IP address. If several prefixes match, the longest prefix decides.
    pub struct MembersTable in "interface.class" {
        /// IP addresses and subnets of the members.
        address: Option<String> = formed(&MEMBERS).absent("none");
        /// MAC addresses of the members.
        mac: Option<String> = formed(&MACS).absent("none");
        /// Mark (fwmark) of the class's packets, as nftables sets it.
        mark: Option<u64> = count(1..=4_294_967_295).absent("none");
    }
}

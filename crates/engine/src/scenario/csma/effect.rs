//! Settings that have no effect beside the others. Whoever wrote one meant something, so it is
//! refused; but where a setting over the file chose the access or the connections, what the file says
//! for the other ones stays, so that one file serves all.

use crate::notation::decode::{Entry, Section};
use crate::notation::problem::{Origin, Problems};

/// How r follows the queue, and what hangs on r.
const PRICES: [&str; 5] = ["beta", "r_per_packet", "queue_unit", "r_interval", "r_max"];

/// What hangs on the queues if each link has an r of its own.
const QUEUES: [&str; 3] = ["r_per_packet", "queue_unit", "r_max"];

/// How a user follows the number of connections that is asked for.
const SEVERAL: [&str; 4] = ["k", "connections_interval", "rounding", "smoothing"];

/// What makes a utility, of all flows and of one.
const UTILITIES: [&str; 2] = ["fairness", "marginal_utility"];
const OWN_UTILITIES: [&str; 2] = ["weight", "marginal_utility"];

const SLOTS: [&str; 5] = ["slot", "difs", "eifs", "cwmin", "cwmax"];
const RANGES: [&str; 3] = ["transmission_range", "sensing_range", "interference_range"];

/// Checks `[csma]` and the flows; `has_tcp` if one of these is TCP.
pub(super) fn check(root: &Section, csma: &Section, has_tcp: bool, problems: &mut Problems) {
    let word = |key: &str| csma.entry(key).and_then(Entry::word);
    let (Some(access), Some(connections)) = (word("access"), word("connections")) else {
        return;
    };
    let mut idle = Idle {
        root,
        csma,
        problems,
    };
    if access != "adaptive" {
        idle.refuse_prices(connections);
    } else if !has_tcp {
        let needed = "a flow of TCP";
        idle.refuse(&SEVERAL, "flow", needed);
        idle.refuse(&UTILITIES, "flow", needed);
        if connections != "one" {
            idle.refuse(&["connections"], "flow", needed);
        }
    } else if connections == "one" {
        let needed = "csma.connections = \"rtt\" or \"utility\"";
        idle.refuse(&SEVERAL, "connections", needed);
    }
    if access == "adaptive" && connections == "utility" {
        for (_, flow) in root.named("flow") {
            if flow.table("udp").is_some() {
                idle.refuse_in(flow, &OWN_UTILITIES, "flow", "a flow of TCP");
            }
        }
    } else if access == "adaptive" {
        let needed = "csma.connections = \"utility\"";
        if has_tcp {
            idle.refuse(&UTILITIES, "connections", needed);
        }
        idle.refuse_of_flows(&OWN_UTILITIES, "connections", needed);
    }
    let links = csma.named("link");
    if access == "adaptive" && links.iter().all(|(_, link)| link.entry("r").is_some()) {
        idle.refuse(&QUEUES, "link", "a link without an r of its own");
    }
    if access != "legacy" {
        idle.refuse(&["access_intensity"], "access", "csma.access = \"legacy\"");
    }
    if access == "dcf" {
        let needed = "csma.access = \"adaptive\" or \"legacy\"";
        idle.refuse(&["backoff"], "access", needed);
    } else {
        idle.refuse(&SLOTS, "access", "csma.access = \"dcf\"");
    }
    if csma.named("node").is_empty() {
        idle.refuse(&RANGES, "node", "nodes with positions, [csma.node.NAME]");
    }
    if !has_tcp && word("acks") == Some("contend") {
        idle.refuse(&["acks"], "flow", "a flow of TCP");
    }
}

struct Idle<'a, 'p, 's> {
    root: &'a Section,
    csma: &'a Section,
    problems: &'p mut Problems<'s>,
}

impl Idle<'_, '_, '_> {
    /// Without adaptive access there are no prices: one connection a flow, and no AQM.
    fn refuse_prices(&mut self, connections: &str) {
        let needed = "csma.access = \"adaptive\"";
        self.refuse(&PRICES, "access", needed);
        self.refuse(&SEVERAL, "access", needed);
        self.refuse(&UTILITIES, "access", needed);
        if self.csma.entry("aqm").and_then(Entry::flag) == Some(true) {
            self.refuse(&["aqm"], "access", needed);
        }
        if connections != "one" {
            self.refuse(&["connections"], "access", needed);
        }
        for (_, link) in self.csma.named("link") {
            self.refuse_in(link, &["r"], "access", needed);
        }
        self.refuse_of_flows(&OWN_UTILITIES, "access", needed);
    }

    /// Settings of `[csma]` that the key `cause` leaves without effect.
    fn refuse(&mut self, keys: &[&str], cause: &str, needed: &str) {
        self.refuse_in(self.csma, keys, cause, needed);
    }

    fn refuse_of_flows(&mut self, keys: &[&str], cause: &str, needed: &str) {
        for (_, flow) in self.root.named("flow") {
            self.refuse_in(flow, keys, cause, needed);
        }
    }

    fn refuse_in(&mut self, table: &Section, keys: &[&str], cause: &str, needed: &str) {
        let is_setting = |entry: &Entry| matches!(entry.origin, Origin::Setting(_));
        let overruled = self.csma.given(cause).is_some_and(is_setting);
        for entry in keys.iter().filter_map(|key| table.given(key)) {
            // said once of a value that is refused anyway
            if (!overruled || is_setting(entry)) && !self.problems.concern(&entry.path) {
                let message = format!("{} has no effect; needed is {needed}", entry.shown);
                self.problems.add(entry.origin, &entry.path, message);
            }
        }
    }
}

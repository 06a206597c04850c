//! Settings that have no effect beside the others. Whoever wrote one meant something, so it is
//! refused; but where a setting over the file chose the access or the connections, what the file says
//! for the other ones stays, so that one file serves all.

use super::super::root::RootKeys;
use super::super::wired::FlowTable;
use crate::conflict::{AccessWord, ConnectionsWord, CsmaAcks, CsmaLinkTable, CsmaTable};
use crate::notation::decode::{Entry, Section};
use crate::notation::problem::{Origin, Problems};
use crate::scenario::model::{CsmaAir, CsmaPrice, CsmaUsers};

/// How r follows the queue, and what hangs on r.
const PRICES: [&str; 5] = [
    CsmaTable::beta.name(),
    CsmaPrice::r_per_packet.name(),
    CsmaPrice::queue_unit.name(),
    CsmaPrice::interval.name(),
    CsmaPrice::r_max.name(),
];

/// What hangs on the queues if each link has an r of its own.
const QUEUES: [&str; 3] = [
    CsmaPrice::r_per_packet.name(),
    CsmaPrice::queue_unit.name(),
    CsmaPrice::r_max.name(),
];

/// How a user follows the number of connections that is asked for.
const SEVERAL: [&str; 4] = [
    CsmaTable::k.name(),
    CsmaUsers::interval.name(),
    CsmaUsers::rounding.name(),
    CsmaUsers::smoothing.name(),
];

/// What makes a utility, of all flows and of one.
const UTILITIES: [&str; 2] = [
    CsmaTable::fairness.name(),
    CsmaTable::marginal_utility.name(),
];
const OWN_UTILITIES: [&str; 2] = [FlowTable::weight.name(), FlowTable::marginal_utility.name()];

const SLOTS: [&str; 5] = [
    CsmaTable::slot.name(),
    CsmaTable::difs.name(),
    CsmaTable::eifs.name(),
    CsmaTable::cwmin.name(),
    CsmaTable::cwmax.name(),
];
const RANGES: [&str; 3] = [
    CsmaTable::transmission_range.name(),
    CsmaTable::sensing_range.name(),
    CsmaTable::interference_range.name(),
];

// What may leave a setting without effect.
const ACCESS: &str = CsmaTable::access.name();
const CONNECTIONS: &str = CsmaTable::connections.name();
const LINK: &str = CsmaTable::link.name();
const NODE: &str = CsmaTable::node.name();
const FLOW: &str = RootKeys::flow.name();

/// Checks `[csma]` and the flows; `has_tcp` if one of these is TCP.
pub(super) fn check(root: &Section, csma: &Section, has_tcp: bool, problems: &mut Problems) {
    let access = csma.said(CsmaTable::access);
    let (Some(access), Some(connections)) = (access, csma.said(CsmaTable::connections)) else {
        return;
    };
    let (access, connections) = (access.value, connections.value);
    let is_adaptive = access == AccessWord::Adaptive;
    let mut idle = Idle {
        root,
        csma,
        problems,
    };
    if !is_adaptive {
        idle.refuse_prices(connections);
    } else if !has_tcp {
        let needed = "a flow of TCP";
        idle.refuse(&SEVERAL, FLOW, needed);
        idle.refuse(&UTILITIES, FLOW, needed);
        if connections != ConnectionsWord::One {
            idle.refuse(&[CONNECTIONS], FLOW, needed);
        }
    } else if connections == ConnectionsWord::One {
        let needed = "csma.connections = \"rtt\" or \"utility\"";
        idle.refuse(&SEVERAL, CONNECTIONS, needed);
    }
    if is_adaptive && connections == ConnectionsWord::Utility {
        for (_, flow) in root.tables(RootKeys::flow) {
            if flow.inside(FlowTable::udp).is_some() {
                idle.refuse_in(flow, &OWN_UTILITIES, FLOW, "a flow of TCP");
            }
        }
    } else if is_adaptive {
        let needed = "csma.connections = \"utility\"";
        if has_tcp {
            idle.refuse(&UTILITIES, CONNECTIONS, needed);
        }
        idle.refuse_of_flows(&OWN_UTILITIES, CONNECTIONS, needed);
    }
    let links = csma.tables(CsmaTable::link);
    if is_adaptive
        && links
            .iter()
            .all(|(_, link)| link.said(CsmaLinkTable::r).is_some())
    {
        idle.refuse(&QUEUES, LINK, "a link without an r of its own");
    }
    if access != AccessWord::Legacy {
        idle.refuse(
            &[CsmaTable::access_intensity.name()],
            ACCESS,
            "csma.access = \"legacy\"",
        );
    }
    if access == AccessWord::Dcf {
        let needed = "csma.access = \"adaptive\" or \"legacy\"";
        idle.refuse(&[CsmaAir::backoff.name()], ACCESS, needed);
    } else {
        idle.refuse(&SLOTS, ACCESS, "csma.access = \"dcf\"");
    }
    if csma.tables(CsmaTable::node).is_empty() {
        idle.refuse(&RANGES, NODE, "nodes with positions, [csma.node.NAME]");
    }
    if !has_tcp
        && csma
            .said(CsmaTable::acks)
            .is_some_and(|acks| acks.value == CsmaAcks::Contend)
    {
        idle.refuse(&[CsmaTable::acks.name()], FLOW, "a flow of TCP");
    }
}

struct Idle<'a, 'p, 's> {
    root: &'a Section,
    csma: &'a Section,
    problems: &'p mut Problems<'s>,
}

impl Idle<'_, '_, '_> {
    /// Without adaptive access there are no prices: one connection a flow, and no AQM.
    fn refuse_prices(&mut self, connections: ConnectionsWord) {
        let needed = "csma.access = \"adaptive\"";
        self.refuse(&PRICES, ACCESS, needed);
        self.refuse(&SEVERAL, ACCESS, needed);
        self.refuse(&UTILITIES, ACCESS, needed);
        if self.csma.said(CsmaPrice::aqm).is_some_and(|aqm| aqm.value) {
            self.refuse(&[CsmaPrice::aqm.name()], ACCESS, needed);
        }
        if connections != ConnectionsWord::One {
            self.refuse(&[CONNECTIONS], ACCESS, needed);
        }
        for (_, link) in self.csma.tables(CsmaTable::link) {
            self.refuse_in(link, &[CsmaLinkTable::r.name()], ACCESS, needed);
        }
        self.refuse_of_flows(&OWN_UTILITIES, ACCESS, needed);
    }

    /// Settings of `[csma]` that the key `cause` leaves without effect.
    fn refuse(&mut self, keys: &[&str], cause: &str, needed: &str) {
        self.refuse_in(self.csma, keys, cause, needed);
    }

    fn refuse_of_flows(&mut self, keys: &[&str], cause: &str, needed: &str) {
        for (_, flow) in self.root.tables(RootKeys::flow) {
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

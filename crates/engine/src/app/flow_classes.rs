//! Numbers of the hosts of all flows, and their DSCPs, for queues with CAKE.

use std::collections::BTreeMap;

use super::flow::{Ends, Flow};
use super::flow_hosts::FlowHosts;
use crate::mac::Category;
use crate::packet::Direction;
use crate::queue::{Dscp, FlowClass, OWN};

/// Host of wired flows.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Host<'a> {
    /// Host with a name that the file sets.
    Named(&'a str),
    /// Host at `from` of a call with this name.
    Caller(&'a str),
    /// Host at `to` of a call with this name.
    Callee(&'a str),
}

/// Returns the hosts and DSCPs of `flows`, by number. A station is one host, and each of its
/// connections leads to a host of its own. `stations` is the number of stations.
pub(crate) fn flow_classes(flows: &[Flow], stations: usize) -> Vec<FlowClass> {
    let mut numbers = Numbers {
        stations,
        known: BTreeMap::new(),
    };
    flows.iter().map(|flow| numbers.class(flow)).collect()
}

/// Numbers of hosts, in the order in which the hosts appear. Stations have the lowest numbers.
struct Numbers<'a> {
    stations: usize,
    known: BTreeMap<Host<'a>, u32>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, host: Host<'a>) -> u32 {
        let next = (self.stations + self.known.len()) as u32;
        *self.known.entry(host).or_insert(next)
    }

    fn class(&mut self, flow: &'a Flow) -> FlowClass {
        if let Ends::Station { station, direction } = flow.ends {
            let station = station as u32;
            let hosts = match direction {
                Direction::Up => [station, OWN],
                Direction::Down => [OWN, station],
            };
            return FlowClass {
                hosts,
                public: hosts,
                dscp: dscp_of(flow.category),
            };
        }
        let member = flow.name.split('/').next().unwrap_or_default();
        let usual = match flow.call.map(|part| part.direction) {
            None => [None, None],
            Some(Direction::Up) => [Some(Host::Caller(member)), Some(Host::Callee(member))],
            Some(Direction::Down) => [Some(Host::Callee(member)), Some(Host::Caller(member))],
        };
        let named = flow.hosts.as_deref().unwrap_or(&FlowHosts::NONE);
        let [from, to] = usual;
        let mut end = |name: &'a Option<String>, nat: &'a Option<String>, usual| {
            let host = name.as_deref().map(Host::Named).or(usual);
            let host = host.map_or(OWN, |host| self.of(host));
            let router = nat.as_deref().map(Host::Named);
            (host, router.map_or(host, |router| self.of(router)))
        };
        let (from, public_from) = end(&named.from_host, &named.from_nat, from);
        let (to, public_to) = end(&named.to_host, &named.to_nat, to);
        FlowClass {
            hosts: [from, to],
            public: [public_from, public_to],
            dscp: named.dscp,
        }
    }
}

/// Returns the DSCP of the packets of a flow with an access category (RFC 8325, section 4).
fn dscp_of(category: Category) -> Dscp {
    match category {
        Category::Background => Dscp::Cs1,
        Category::BestEffort => Dscp::Cs0,
        Category::Video => Dscp::Af41,
        Category::Voice => Dscp::Ef,
    }
}

//! Refuses settings of `[csma]` that have no effect because of other settings. A user who sets a
//! key expects an effect. Keys whose effect is removed by an override (`--set`) are accepted, so
//! that one file can be used with several overrides.

use super::super::root::RootKeys;
use super::super::wired::FlowTable;
use super::{CsmaAcks, CsmaAir, CsmaPrice, CsmaUsers};
use crate::conflict::{AccessWord, ConnectionsWord, CsmaLinkTable, CsmaTable};
use crate::notation::decode::{Entry, Section};
use crate::notation::problem::Problems;
use crate::notation::setting::keys;

/// Keys of the aggressiveness r, and keys that have an effect only through r.
const PRICES: &[&str] =
    &keys!(CsmaTable: beta; CsmaPrice: r_per_packet, queue_unit, interval, r_max);

/// Keys from which r is computed. They have no effect if each link has a fixed r.
const QUEUES: &[&str] = &keys!(CsmaPrice: r_per_packet, queue_unit, r_max);

/// Keys of the algorithm that sets a user's number of connections.
const SEVERAL: &[&str] = &keys!(CsmaTable: k; CsmaUsers: interval, rounding, smoothing);

/// Keys of the utility function: `UTILITIES` are the keys of `[csma]`, which apply to all flows,
/// and `OF_FLOWS` the keys of a single flow.
const UTILITIES: &[&str] = &keys!(CsmaTable: fairness, marginal_utility);
const OF_FLOWS: &[&str] = &keys!(FlowTable: weight, marginal_utility);

const WINDOWS: &[&str] = &keys!(CsmaTable: cwmin, cwmax);
const SLOT: &[&str] = &keys!(CsmaTable: slot);
const BY_MEAN: &[&str] = &keys!(CsmaTable: slotted; CsmaAir: backoff);
const RANGES: &[&str] = &keys!(CsmaTable: transmission_range, sensing_range, interference_range);
const INTENSITY: &[&str] = &keys!(CsmaTable: access_intensity);
const AQM: &[&str] = &keys!(CsmaPrice: aqm);
const ACKS: &[&str] = &keys!(CsmaTable: acks);
const R: &[&str] = &keys!(CsmaLinkTable: r);

// Names of the keys whose values may remove the effect of other keys, from `csma.access` on.
const ACCESS: &str = CsmaTable::access.name();
const CONNECTIONS: &str = CsmaTable::connections.name();
const LINK: &str = CsmaTable::link.name();
const NODE: &str = CsmaTable::node.name();
const SLOTTED: &str = CsmaTable::slotted.name();
const FLOW: &str = RootKeys::flow.name();

// Conditions under which keys have an effect, as error messages print them.
const ADAPTIVE: &str = "csma.access = \"adaptive\"";
const LEGACY: &str = "csma.access = \"legacy\"";
const DCF: &str = "csma.access = \"dcf\"";
const SLOTS: &str = "csma.slotted = true, or csma.access = \"dcf\"";
const NO_DCF: &str = "csma.access = \"adaptive\" or \"legacy\"";
const MANY: &str = "csma.connections = \"rtt\" or \"utility\"";
const UTILITY: &str = "csma.connections = \"utility\"";
const TCP: &str = "a flow of TCP";
const NO_R: &str = "a link without an r of its own";
const PLACES: &str = "nodes with positions, [csma.node.NAME]";

/// A rule about keys without effect: whether the rule applies, the tables, their keys, the key that
/// removes the effect, and the condition for an effect.
type Rule<'a> = (bool, &'a [&'a Section], &'a [&'a str], &'a str, &'a str);

/// Refuses keys without effect in `[csma]` and in the tables of flows. `has_tcp` is true if at
/// least one flow uses TCP.
pub(super) fn check(root: &Section, csma: &Section, has_tcp: bool, problems: &mut Problems) {
    let access = csma.value(CsmaTable::access);
    let (Some(access), Some(connections)) = (access, csma.value(CsmaTable::connections)) else {
        return;
    };
    let own = [csma];
    let links: Vec<&Section> = csma.each(CsmaTable::link).collect();
    let flows: Vec<&Section> = root.each(RootKeys::flow).collect();
    let is_udp = |flow: &&Section| flow.inside(FlowTable::udp).is_some();
    let of_udp: Vec<&Section> = flows.iter().copied().filter(is_udp).collect();
    let adapts = access == AccessWord::Adaptive;
    let windows = access == AccessWord::Dcf;
    let slotted = csma.value(CsmaTable::slotted) == Some(true);
    let several = connections != ConnectionsWord::One;
    let utility = connections == ConnectionsWord::Utility;
    let aqm = csma.value(CsmaPrice::aqm) == Some(true);
    let fixed = (links.iter()).all(|link| link.located(CsmaLinkTable::r).is_some());
    let contend = csma.value(CsmaTable::acks) == Some(CsmaAcks::Contend);
    let placed = !csma.tables(CsmaTable::node).is_empty();
    let legacy = access == AccessWord::Legacy;
    let (with_tcp, without_tcp) = (adapts && has_tcp, adapts && !has_tcp);
    let rules: [Rule; 21] = [
        // without adaptive access, links have no prices, so flows open only one connection, and AQM
        // has no effect
        (!adapts, &own, PRICES, ACCESS, ADAPTIVE),
        (!adapts, &own, SEVERAL, ACCESS, ADAPTIVE),
        (!adapts, &own, UTILITIES, ACCESS, ADAPTIVE),
        (!adapts && aqm, &own, AQM, ACCESS, ADAPTIVE),
        (!adapts && several, &own, &[CONNECTIONS], ACCESS, ADAPTIVE),
        (!adapts, &links, R, ACCESS, ADAPTIVE),
        (!adapts, &flows, OF_FLOWS, ACCESS, ADAPTIVE),
        (without_tcp, &own, SEVERAL, FLOW, TCP),
        (without_tcp, &own, UTILITIES, FLOW, TCP),
        (without_tcp && several, &own, &[CONNECTIONS], FLOW, TCP),
        (with_tcp && !several, &own, SEVERAL, CONNECTIONS, MANY),
        (adapts && utility, &of_udp, OF_FLOWS, FLOW, TCP),
        (with_tcp && !utility, &own, UTILITIES, CONNECTIONS, UTILITY),
        (adapts && !utility, &flows, OF_FLOWS, CONNECTIONS, UTILITY),
        (adapts && fixed, &own, QUEUES, LINK, NO_R),
        (!legacy, &own, INTENSITY, ACCESS, LEGACY),
        (windows, &own, BY_MEAN, ACCESS, NO_DCF),
        (!windows, &own, WINDOWS, ACCESS, DCF),
        (!windows && !slotted, &own, SLOT, SLOTTED, SLOTS),
        (!placed, &own, RANGES, NODE, PLACES),
        (!has_tcp && contend, &own, ACKS, FLOW, TCP),
    ];
    for (_, tables, keys, cause, needed) in rules.into_iter().filter(|(idle, ..)| *idle) {
        let overruled = csma.given(cause).is_some_and(Entry::is_set);
        for table in tables {
            table.refuse_idle(keys, needed, overruled, problems);
        }
    }
}

//! Checks that the TXOP limit of a node is long enough for any frame that the node sends.

use super::model::*;
use super::root::RootKeys;
use crate::kernel::time::Span;
use crate::mac::Contention;
use crate::notation::decode::{Located, Section};
use crate::notation::layers::Layers;
use crate::notation::problem::Problems;
use crate::notation::units::{self, TIME};

/// Reports each `txop_limit` that is shorter than a frame exchange that must fit into the TXOP.
pub(super) fn check(root: &Section, scenario: &Scenario, problems: &mut Problems) {
    // `txop_limit` entries that are too short, in order of their paths, each with the duration of
    // the longest exchange, and the name of the flow of this exchange
    let mut short: Vec<(Located<Option<Span>>, Span, &str)> = Vec::new();
    for flow in &scenario.flows {
        for sender in [Direction::Up, Direction::Down] {
            let Some((entry, limit)) = limit(root, scenario, flow, sender) else {
                continue;
            };
            let needed = exchange(scenario, flow, sender);
            match short.binary_search_by(|(other, ..)| other.path.cmp(&entry.path)) {
                Ok(place) if needed > short[place].1 => short[place] = (entry, needed, &flow.name),
                Err(place) if needed > limit => short.insert(place, (entry, needed, &flow.name)),
                _ => {}
            }
        }
    }
    for (entry, needed, flow) in short {
        let needed = units::show(needed.0, TIME);
        let fault = format!(
            "is shorter than the exchange of one frame of flow `{flow}`; expected \"none\" or at \
             least {needed}"
        );
        entry.refuse_value(fault, problems);
    }
}

/// Returns the entry of the TXOP limit for packets of `flow` in this direction; `None` without a
/// limit.
fn limit<'a>(
    root: &'a Section,
    scenario: &Scenario,
    flow: &Flow,
    direction: Direction,
) -> Option<(Located<'a, Option<Span>>, Span)> {
    let station = &scenario.stations[flow.station()?];
    let node = match direction {
        Direction::Up => &station.node,
        Direction::Down => &scenario.only_bss().cell.ap,
    };
    let limit = node.access(flow.category).txop_limit?;
    let cell = root.inside(RootKeys::cell)?;
    let own = match direction {
        Direction::Up => root.named(RootKeys::station, &station.group)?,
        Direction::Down => cell.inside(Cell::ap)?,
    };
    let tables = Access::tables(&[own, cell], flow.category);
    let entry = Layers(&tables).located(Contention::txop_limit)?;
    Some((entry, limit))
}

/// Returns the duration of the longest frame exchange for packets of `flow` in this direction.
fn exchange(scenario: &Scenario, flow: &Flow, direction: Direction) -> Span {
    let forward = flow.direction() == Some(direction);
    let ip_bytes = match &flow.transport {
        Transport::Tcp(tcp) if forward => tcp.mss_bytes + tcp.header_bytes,
        Transport::Tcp(tcp) => tcp.header_bytes,
        Transport::Udp(udp) if forward => udp.payload_bytes + udp.header_bytes,
        Transport::Ping(ping) => ping.packet_bytes(),
        // in both directions there are segments: requests and responses
        Transport::Web(web) => web.tcp.mss_bytes + web.tcp.header_bytes,
        Transport::Udp(_) => return Span::ZERO,
    };
    let Some(station) = flow.station() else {
        return Span::ZERO;
    };
    let rates = scenario.rates(station, direction);
    scenario.only_bss().cell.exchange(ip_bytes, rates)
}

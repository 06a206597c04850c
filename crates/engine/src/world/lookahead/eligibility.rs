//! The links and endpoints that are eligible for lookahead, because the order in which their
//! packets arrive is known in advance.
//!
//! Packets may enter a link with lookahead if they are processed in the order in which they reach
//! the link:
//!
//! ```text
//!  one other link:         ---> a ---> LINK                packets leave a in order
//!  hosts equally far:      h1 ---+
//!                          h2 ---+--> LINK                 all packets arrive after the same delay
//!  receivers equally far:  a ---> receivers ---+--> LINK   segments leave a one by one, and all ACKs
//!                               (pure delays)  +           arrive after the same delay
//! ```
//!
//! At any other link each packet waits for an event. A link from which every packet departs by an
//! event ([`Link::is_served`]) is not eligible either, because its packets become known only at
//! their arrival.
//!
//! An endpoint is eligible if its packets arrive in a known order and its replies leave through a
//! link that no other endpoint uses: see [`eligible_receivers`] and [`eligible_senders`].

use std::collections::BTreeSet;

use super::super::numbers::{self, in_network};
use super::super::routes::Routes;
use crate::kernel::time::Span;
use crate::link::Link;
use crate::scenario::{LinkRate, LinkSettings, Scenario, Transport};

/// Length of the smallest packet, which has headers only. [bytes]
const MIN_BYTES: u64 = 20;

/// The links and endpoints of a scenario that are eligible for lookahead.
pub(in crate::world) struct Eligibility {
    /// Whether packets enter each link with lookahead.
    pub(in crate::world) links: Vec<bool>,
    /// Whether the receiver and the sender of each flow are eligible. Flows with higher numbers
    /// than the lists have entries are not.
    pub(in crate::world) receivers: Vec<bool>,
    pub(in crate::world) senders: Vec<bool>,
}

impl Eligibility {
    /// Returns the eligibility of the links with `settings`, which do not include the bottleneck.
    pub(in crate::world) fn new(
        settings: &[&LinkSettings],
        routes: &Routes,
        scenario: &Scenario,
    ) -> Eligibility {
        let links = entered_ahead(settings, routes, scenario, &[]);
        let answers = eligible_receivers(scenario, routes);
        let with_answers = entered_ahead(settings, routes, scenario, &answers);
        let mut pairs = links.iter().zip(&with_answers);
        let keep_order = pairs.all(|(before, now)| before <= now);
        Eligibility {
            senders: eligible_senders(scenario, routes, &links),
            receivers: if keep_order { answers } else { Vec::new() },
            links,
        }
    }

    /// Returns whether packets enter link `number` with lookahead.
    pub(in crate::world) fn enter(&self, number: usize, link: &Link) -> bool {
        self.links[number] && !link.is_served()
    }
}

/// The sources of the packets of a link.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Feeders {
    None,
    /// Hosts or stations, whose packets become known at their arrival, and possibly also links.
    Endpoints,
    Links(BTreeSet<usize>),
}

impl Feeders {
    fn add(&mut self, link: Option<usize>) {
        match (&mut *self, link) {
            (Feeders::Endpoints, _) => {}
            (Feeders::None | Feeders::Links(_), None) => *self = Feeders::Endpoints,
            (Feeders::None, Some(link)) => *self = Feeders::Links(BTreeSet::from([link])),
            (Feeders::Links(links), Some(link)) => {
                links.insert(link);
            }
        }
    }

    fn only(&self) -> Option<usize> {
        match self {
            Feeders::Links(links) if links.len() == 1 => links.first().copied(),
            Feeders::None | Feeders::Endpoints | Feeders::Links(_) => None,
        }
    }
}

/// Returns for each link whether packets become known in the order in which they reach the link. If
/// a receiver has lookahead (`answers`), its ACKs come through the links of its segments.
fn entered_ahead(
    settings: &[&LinkSettings],
    routes: &Routes,
    scenario: &Scenario,
    answers: &[bool],
) -> Vec<bool> {
    let mut feeders = vec![Feeders::None; numbers::wired(scenario)];
    let mut pass = |links: &[u32], mut before: Option<usize>| {
        for &link in links {
            let link = link as usize;
            // packets that come off the air become known at their arrival
            before = feeders.get_mut(link).map(|feeders| {
                feeders.add(before);
                link
            });
        }
        before
    };
    let mut answer = vec![false; settings.len()];
    for (index, [acks, data]) in routes.pairs().enumerate() {
        let last = pass(data, None);
        let answers = answers.get(index) == Some(&true);
        pass(acks, last.filter(|_| answers));
        if answers {
            answer[acks[0] as usize] = true;
        }
    }
    // a greedy source enters the queue that it fills, whatever links are before the queue
    for (flow, [_, data]) in scenario.flows.iter().zip(routes.pairs()) {
        let has_rate = |&&link: &&u32| {
            let link = settings.get(link as usize);
            link.is_some_and(|link| link.rate != LinkRate::Unlimited)
        };
        if flow.fills_downlink()
            && let Some(&filled) = data.iter().find(has_rate)
        {
            feeders[filled as usize].add(None);
        }
    }
    let pure_delay = |link: usize| {
        let link = settings.get(link)?;
        (link.rate == LinkRate::Unlimited && link.jitter == Span::ZERO).then_some(link.delay)
    };
    let takes_time = |link: usize| {
        let rate = settings.get(link).map(|link| &link.rate);
        // a transmission opportunity of a trace may carry several packets
        matches!(rate, Some(LinkRate::Constant(bps)) if Span::to_send(MIN_BYTES, *bps) > Span::ZERO)
    };
    // The origin is the place at which the order of the packets of a pure delay became known, with
    // the time since then. It is either the endpoints that sent the packets or, for replies, the
    // exit of a link that the segments left one by one. The packets of a served link become known
    // at their arrival, like the packets of an endpoint. Marking the links downstream as eligible
    // does no harm.
    let origin = |link: usize| {
        let delay = pure_delay(link)?;
        match feeders[link] {
            Feeders::Endpoints => Some((None, delay)),
            Feeders::Links(_) if answer[link] => {
                let last = feeders[link].only()?;
                let first = feeders[last].only().filter(|&first| takes_time(first))?;
                Some((Some(first), delay + pure_delay(last)?))
            }
            Feeders::None | Feeders::Links(_) => None,
        }
    };
    let lookahead = |feeders: &Feeders| match feeders {
        Feeders::Links(links) if links.len() == 1 => true,
        Feeders::Links(links) => {
            let mut origins = links.iter().map(|&link| origin(link));
            let first = origins.next().flatten();
            first.is_some() && origins.all(|other| other == first)
        }
        Feeders::None | Feeders::Endpoints => false,
    };
    feeders.iter().map(lookahead).collect()
}

/// Returns for each flow whether the receiver replies immediately and is the only user of the first
/// link of its ACKs.
fn eligible_receivers(scenario: &Scenario, routes: &Routes) -> Vec<bool> {
    let is_single = has_single_user(scenario, routes);
    let answers = |(flow, [acks, data]): (&Transport, [&[u32]; 2])| match flow {
        Transport::Tcp(tcp) => {
            let is_immediate = !tcp.delayed_ack && tcp.ack_processing == Span::ZERO;
            is_immediate && !data.is_empty() && acks.first().is_some_and(&is_single)
        }
        Transport::Udp(_) | Transport::Web(_) => false,
    };
    flows_with_routes(scenario, routes).map(answers).collect()
}

/// Returns for each flow whether its sender is eligible. The sender must be the only user of the
/// first link of its segments, this link must take time, and segments must wait for an event after
/// it.
fn eligible_senders(scenario: &Scenario, routes: &Routes, lookahead: &[bool]) -> Vec<bool> {
    let is_single = has_single_user(scenario, routes);
    let is_eligible = |(flow, [_, data]): (&Transport, [&[u32]; 2])| match (flow, data) {
        (Transport::Tcp(_), [first, second, ..]) => {
            is_single(first) && takes_time(*first, scenario) && !lookahead[*second as usize]
        }
        _ => false,
    };
    flows_with_routes(scenario, routes)
        .map(is_eligible)
        .collect()
}

/// Returns the flows between hosts, with the routes of their ACKs and of their data. Returns none
/// if there is a cell or a link on air, because their events observe flows.
fn flows_with_routes<'a>(
    scenario: &'a Scenario,
    routes: &'a Routes,
) -> impl Iterator<Item = (&'a Transport, [&'a [u32]; 2])> {
    let wired =
        scenario.stations.is_empty() && scenario.csma.is_none() && scenario.bottleneck.is_none();
    let flows = scenario.flows.iter().filter(move |_| wired);
    flows.map(|flow| &flow.transport).zip(routes.pairs())
}

/// Returns whether every packet spends some time on this link of a host.
fn takes_time(link: u32, scenario: &Scenario) -> bool {
    let Some(link) = in_network(link, scenario) else {
        return false; // not a link of a host
    };
    let link = &scenario.links[link];
    let service = |rate| Span::to_send(MIN_BYTES, rate);
    link.delay + link.rate.bps().map_or(Span::ZERO, service) > Span::ZERO
}

/// Returns a predicate for links of hosts: whether only one route uses the link.
fn has_single_user<'a>(scenario: &'a Scenario, routes: &Routes) -> impl Fn(&u32) -> bool + use<'a> {
    let mut users = vec![0_u32; numbers::wired(scenario)];
    for link in routes.pairs().flatten().flatten() {
        if let Some(users) = users.get_mut(*link as usize) {
            *users += 1;
        }
    }
    move |&link| {
        let of_host = in_network(link, scenario).is_some_and(|index| scenario.links[index].of_host);
        of_host && users[link as usize] == 1
    }
}

#[cfg(test)]
mod tests;

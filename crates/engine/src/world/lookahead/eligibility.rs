//! Determines which links and endpoints are eligible for lookahead. Packets may be processed in
//! advance only if the order of their arrivals is known in advance.
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
//! At any other link each packet waits for the event of its arrival. If every departure from a link
//! is an event ([`Link::is_served`]), the link is not eligible either, because the departure times
//! are not known in advance.
//!
//! An endpoint is eligible if its packets arrive in a known order, and no other endpoint uses the
//! link on which its replies leave. See [`eligible_receivers`] and [`eligible_senders`].

use std::collections::BTreeSet;

use super::super::numbers::{self, in_network};
use super::super::routes::Routes;
use crate::kernel::time::Span;
use crate::link::Link;
use crate::scenario::{Flow, LinkRate, LinkSettings, Scenario, Transport};

/// Length of the smallest packet, which has headers only. [bytes]
const MIN_BYTES: u64 = 20;

/// The links and endpoints of a scenario that are eligible for lookahead.
pub(in crate::world) struct Eligibility {
    /// Whether each link is eligible.
    pub(in crate::world) links: Vec<bool>,
    /// Whether the receiver of each flow is eligible; the next field says whether the sender is.
    /// Flows with numbers beyond the end of the lists are not eligible.
    pub(in crate::world) receivers: Vec<bool>,
    pub(in crate::world) senders: Vec<bool>,
}

impl Eligibility {
    /// Determines the eligible links and endpoints. `settings` contains all links except the
    /// bottleneck.
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

/// The sources of the packets that enter a link.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Feeders {
    None,
    /// Hosts or stations, whose packets are not known in advance, and possibly also links.
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

/// Returns for each link whether the packets that enter it are known in advance, in the order of
/// their arrival. `answers` says which receivers have lookahead. The order of the ACKs of such
/// receivers follows from the last link that their segments pass.
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
            // packets received from the air are not known in advance
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
    // a greedy source adds its packets directly to its queue, without passing the links upstream
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
        // on a link whose rate is a trace, several packets may leave at the same transmission
        // opportunity
        matches!(rate, Some(LinkRate::Constant(bps)) if Span::to_send(MIN_BYTES, *bps) > Span::ZERO)
    };
    // Returns where the order of the packets on pure delay `link` was determined, and the delay
    // from there to the end of `link`. For packets that endpoints send, the first value is `None`.
    // For ACKs, the first value is the link from which the segments departed one by one. If
    // departures from that link are events, the packets are not known in advance. The links
    // downstream are then marked as eligible, too, but this has no effect.
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

/// Returns for each flow whether its receiver is eligible: the receiver must reply immediately, and
/// no other endpoint may use the first link that its ACKs pass.
fn eligible_receivers(scenario: &Scenario, routes: &Routes) -> Vec<bool> {
    let is_single = has_single_user(scenario, routes);
    let answers = |(flow, [acks, data]): (&Transport, [&[u32]; 2])| match flow {
        Transport::Tcp(tcp) => {
            let is_immediate = !tcp.delayed_ack && tcp.ack_processing == Span::ZERO;
            is_immediate && !data.is_empty() && acks.first().is_some_and(&is_single)
        }
        Transport::Udp(_) | Transport::Web(_) | Transport::Ping(_) => false,
    };
    flows_with_routes(scenario, routes).map(answers).collect()
}

/// Returns for each flow whether its sender is eligible. No other endpoint may use the first link
/// that the segments of this sender pass. The segments must need time on this link, and must wait
/// for an event at the end of the link.
fn eligible_senders(scenario: &Scenario, routes: &Routes, lookahead: &[bool]) -> Vec<bool> {
    let is_single = has_single_user(scenario, routes);
    type User<'a> = ((&'a Transport, [&'a [u32]; 2]), bool);
    let is_eligible = |((flow, [_, data]), is_limited): User| match (flow, data) {
        // the writes of an application change the sender between two ACKs
        (Transport::Tcp(_), [first, second, ..]) if !is_limited => {
            is_single(first) && takes_time(*first, scenario) && !lookahead[*second as usize]
        }
        _ => false,
    };
    let is_limited = scenario.flows.iter().map(Flow::is_limited_by_application);
    flows_with_routes(scenario, routes)
        .zip(is_limited)
        .map(is_eligible)
        .collect()
}

/// Returns the flows between hosts, with the routes of their ACKs and of their data. Returns no
/// flows if there is a cell or a CSMA network, because events on the air read the state of flows.
fn flows_with_routes<'a>(
    scenario: &'a Scenario,
    routes: &'a Routes,
) -> impl Iterator<Item = (&'a Transport, [&'a [u32]; 2])> {
    let wired =
        scenario.stations.is_empty() && scenario.csma.is_none() && scenario.bottleneck.is_none();
    let flows = scenario.flows.iter().filter(move |_| wired);
    flows.map(|flow| &flow.transport).zip(routes.pairs())
}

/// Returns whether every packet needs time on this access link of a host.
fn takes_time(link: u32, scenario: &Scenario) -> bool {
    let Some(link) = in_network(link, scenario) else {
        return false; // the link is not the access link of a host
    };
    let link = &scenario.links[link];
    let service = |rate| Span::to_send(MIN_BYTES, rate);
    link.delay + link.rate.bps().map_or(Span::ZERO, service) > Span::ZERO
}

/// Returns a function. Given the number of a host's access link, the function returns whether only
/// one route uses this link.
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

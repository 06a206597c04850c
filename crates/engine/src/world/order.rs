//! Where the order of packets is known before they come: which links they enter ahead of time, which
//! endpoints act so.
//!
//! A link may learn of its packets ahead of time where it does so in the order in which they reach it:
//!
//! ```text
//!  one other link:       ---> a ---> LINK             what leaves a does so in order
//!  hosts equally far:    h1 ---+
//!                        h2 ---+--> LINK              each after the same mere delay
//!  answers equally far:  a ---> receivers ---+--> LINK   segments left a one by one, and each ACK
//!                              (mere delays) +           takes as long from there
//! ```
//!
//! Anywhere else an event waits for each packet. A link from which every packet departs in an event
//! ([`Link::is_served`]) is not entered ahead of time either; what it delivers is known when it arrives.
//!
//! An endpoint acts ahead of time where its packets come in a known order and leave through a link of
//! its own: see [`answering`] and [`going_on`].

use std::collections::BTreeSet;

use super::numbers::{self, in_network};
use super::routes::Routes;
use crate::kernel::time::Span;
use crate::link::Link;
use crate::scenario::{LinkRate, LinkSettings, Scenario, Transport};

/// A packet of headers alone. [bytes]
const LEAST_BYTES: u64 = 20;

/// What may happen ahead of time in a scenario.
pub(super) struct Order {
    /// Whether packets enter each link ahead of time.
    pub(super) links: Vec<bool>,
    /// Whether each flow's receiver, and whether its sender, acts ahead of time; flows beyond the lists do
    /// not.
    pub(super) receivers: Vec<bool>,
    pub(super) senders: Vec<bool>,
}

impl Order {
    /// For the links with `settings`, the bottleneck not among them.
    pub(super) fn new(settings: &[&LinkSettings], routes: &Routes, scenario: &Scenario) -> Order {
        let links = entered_ahead(settings, routes, scenario, &[]);
        let answers = answering(scenario, routes);
        let with_answers = entered_ahead(settings, routes, scenario, &answers);
        let mut pairs = links.iter().zip(&with_answers);
        let keep_order = pairs.all(|(before, now)| before <= now);
        Order {
            senders: going_on(scenario, routes, &links),
            receivers: if keep_order { answers } else { Vec::new() },
            links,
        }
    }

    /// Whether packets enter link `number` ahead of time.
    pub(super) fn enter(&self, number: usize, link: &Link) -> bool {
        self.links[number] && !link.is_served()
    }
}

/// Where the packets of a link come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Feeders {
    Nobody,
    /// Hosts or stations, whose packets are known when they arrive; perhaps links too.
    Endpoints,
    Links(BTreeSet<usize>),
}

impl Feeders {
    fn add(&mut self, link: Option<usize>) {
        match (&mut *self, link) {
            (Feeders::Endpoints, _) => {}
            (_, None) => *self = Feeders::Endpoints,
            (Feeders::Nobody, Some(link)) => *self = Feeders::Links(BTreeSet::from([link])),
            (Feeders::Links(links), Some(link)) => {
                links.insert(link);
            }
        }
    }

    fn only(&self) -> Option<usize> {
        match self {
            Feeders::Links(links) if links.len() == 1 => links.first().copied(),
            _ => None,
        }
    }
}

/// For each link whether its packets reach it in the order in which their arrivals become known.
/// Where a receiver `answers` ahead of time, its ACKs come through the links of its segments.
fn entered_ahead(
    settings: &[&LinkSettings],
    routes: &Routes,
    scenario: &Scenario,
    answers: &[bool],
) -> Vec<bool> {
    let mut feeders = vec![Feeders::Nobody; numbers::wired(scenario)];
    let mut pass = |links: &[u32], mut before: Option<usize>| {
        for &link in links {
            let link = link as usize;
            // what comes off the air is known when it arrives
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
    // a greedy source enters the queue that it fills, whatever is before it
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
    let mere_delay = |link: usize| {
        let link = settings.get(link)?;
        (link.rate == LinkRate::Unlimited && link.jitter == Span::ZERO).then_some(link.delay)
    };
    let takes_time = |link: usize| {
        let rate = settings.get(link).map(|link| &link.rate);
        // an opportunity of a trace may carry several
        matches!(rate, Some(LinkRate::Constant(bps)) if Span::to_send(LEAST_BYTES, *bps) > Span::ZERO)
    };
    // where, and how long ago, the order of the packets that leave a link that only delays became known: at
    // the endpoints that sent them or, if they answer others, behind a link that those left one by one;
    // what a served link delivers is known when it arrives, as if it came from an endpoint; to mark the
    // links behind it as entered ahead of time does no harm
    let origin = |link: usize| {
        let delay = mere_delay(link)?;
        match feeders[link] {
            Feeders::Endpoints => Some((None, delay)),
            Feeders::Links(_) if answer[link] => {
                let last = feeders[link].only()?;
                let first = feeders[last].only().filter(|&first| takes_time(first))?;
                Some((Some(first), delay + mere_delay(last)?))
            }
            _ => None,
        }
    };
    let ahead = |feeders: &Feeders| match feeders {
        Feeders::Links(links) if links.len() == 1 => true,
        Feeders::Links(links) => {
            let mut origins = links.iter().map(|&link| origin(link));
            let first = origins.next().flatten();
            first.is_some() && origins.all(|other| other == first)
        }
        _ => false,
    };
    feeders.iter().map(ahead).collect()
}

/// Which receivers answer at once, each alone on the first link of its ACKs.
fn answering(scenario: &Scenario, routes: &Routes) -> Vec<bool> {
    let alone = alone(scenario, routes);
    let answers = |(flow, [acks, data]): (&Transport, [&[u32]; 2])| match flow {
        Transport::Tcp(tcp) => {
            let at_once = !tcp.delayed_ack && tcp.ack_processing == Span::ZERO;
            at_once && !data.is_empty() && acks.first().is_some_and(&alone)
        }
        _ => false,
    };
    ways(scenario, routes).map(answers).collect()
}

/// Which senders go on at once, each alone on the first link of its segments, which takes time and
/// behind which an event waits for them.
fn going_on(scenario: &Scenario, routes: &Routes, ahead: &[bool]) -> Vec<bool> {
    let alone = alone(scenario, routes);
    let goes_on = |(flow, [_, data]): (&Transport, [&[u32]; 2])| match (flow, data) {
        (Transport::Tcp(_), [first, second, ..]) => {
            alone(first) && takes_time(*first, scenario) && !ahead[*second as usize]
        }
        _ => false,
    };
    ways(scenario, routes).map(goes_on).collect()
}

/// Flows between hosts, with the ways of their ACKs and of their data; none beside a cell or links on
/// air, whose events look at flows.
fn ways<'a>(
    scenario: &'a Scenario,
    routes: &'a Routes,
) -> impl Iterator<Item = (&'a Transport, [&'a [u32]; 2])> {
    let wired =
        scenario.stations.is_empty() && scenario.csma.is_none() && scenario.bottleneck.is_none();
    let flows = scenario.flows.iter().filter(move |_| wired);
    flows.map(|flow| &flow.transport).zip(routes.pairs())
}

/// Whether every packet spends some time on this link of a host.
fn takes_time(link: u32, scenario: &Scenario) -> bool {
    let Some(link) = in_network(link, scenario) else {
        return false; // no link of a host
    };
    let link = &scenario.links[link];
    let service = |rate| Span::to_send(LEAST_BYTES, rate);
    link.delay + link.rate.bps().map_or(Span::ZERO, service) > Span::ZERO
}

/// Whether one way alone begins on a link of a host.
fn alone<'a>(scenario: &'a Scenario, routes: &Routes) -> impl Fn(&u32) -> bool + use<'a> {
    let mut users = vec![0_u32; numbers::wired(scenario)];
    for link in routes.pairs().flatten().flatten() {
        if let Some(users) = users.get_mut(*link as usize) {
            *users += 1;
        }
    }
    move |&link| {
        let of_host = in_network(link, scenario).is_some_and(|one| scenario.links[one].of_host);
        of_host && users[link as usize] == 1
    }
}

#[cfg(test)]
mod tests;

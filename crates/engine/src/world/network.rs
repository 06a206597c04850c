//! The wired network at work: packets go from link to link along their routes.
//!
//! A packet costs one event at each place where the order of arrivals is open: where several links
//! meet, and at its end unless the endpoint acts ahead of time too ([`super::ahead`]). Between them it
//! enters the links *ahead of time*, all at once (see [`Link`]). That is exact where a link learns of
//! its packets in the order in which they reach it: if all come through one other link, or all from
//! hosts at the same distance, or all answer packets of one other link, at the same distance from it.

use super::World;
use super::ahead;
use super::routes::{Place, Routes};
use crate::bottleneck;
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};
use crate::link::{self, Fate, Link};
use crate::packet::Packet;
use crate::scenario::{LinkSettings, Scenario};

/// The cell's wire: the links numbered 0 and 1.
pub(super) const WIRE_DOWN: u32 = 0;
pub(super) const WIRE_UP: u32 = 1;
/// Number of the first link of the network.
pub(super) const NETWORK: u32 = 2;

/// A full packet. [bytes]
const FULL_BYTES: u64 = 1500;
/// A packet of headers alone. [bytes]
pub(super) const LEAST_BYTES: u64 = 20;

/// Width of the bins of the least utilisation, unless the scenario says otherwise.
const UTILISATION_BIN: Span = Span(100_000_000);

/// A link of the network: a cache line, where it is one of the many of hosts.
#[repr(align(64))]
pub(crate) struct WiredLink {
    pub(super) link: Link,
    pub(super) label: Box<Label>,
}

impl WiredLink {
    /// The link, for what it counts.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Name in results.
    pub(crate) fn name(&self) -> &str {
        &self.label.name
    }

    /// Whether results show it.
    pub(crate) fn is_shown(&self) -> bool {
        self.label.shown
    }

    /// Whether its queue may mark packets.
    pub(crate) fn marks(&self) -> bool {
        self.label.marks
    }

    /// When a packet that enters the link of a host at `at` leaves it.
    #[inline(always)]
    pub(super) fn pass_host(&mut self, at: Time, packet: &Packet) -> Time {
        match &mut self.link {
            Link::Host(host) => host.enter(at, packet),
            Link::Pipe(_) | Link::Served(_) => unreachable!("legs know what links are"),
        }
    }
}

/// What no packet asks for.
pub(super) struct Label {
    /// Packets enter the link ahead of time.
    pub(super) ahead: bool,
    /// Results show it.
    pub(super) shown: bool,
    /// Its queue may mark packets.
    marks: bool,
    /// Its name in results.
    name: Box<str>,
}

/// Width of the scenario's bins.
pub(super) fn bin_of(scenario: &Scenario) -> Span {
    scenario.record.utilisation_bin.unwrap_or(UTILISATION_BIN)
}

/// How long most packets are under way: the longest propagation, and a full packet on the slowest link.
pub(super) fn reach_of(scenario: &Scenario) -> Span {
    let wire = (scenario.wire.delay, scenario.wire.rate_bps);
    let links = scenario
        .links
        .iter()
        .map(|link| (link.delay + link.jitter + link.jitter, link.rate_bps));
    let ways = links.chain([wire]).map(|(delay, rate_bps)| {
        let service = rate_bps.map_or(Span::ZERO, |rate| Span::to_send(FULL_BYTES, rate));
        delay + service
    });
    ways.max().unwrap_or(Span::ZERO)
}

/// The links of a scenario, at rest, the wire of its cell first.
pub(super) fn links_of(
    scenario: &Scenario,
    routes: &mut Routes,
    streams: &Streams,
) -> Vec<WiredLink> {
    let measured = Time::ZERO + scenario.warmup..Time::ZERO + scenario.duration;
    let bin = bin_of(scenario);
    let wires = [
        link::of_wire(&scenario.wire, "wire/down", ["servers", "ap"]),
        link::of_wire(&scenario.wire, "wire/up", ["ap", "servers"]),
    ];
    let settings: Vec<&LinkSettings> = wires.iter().chain(&scenario.links).collect();
    let ahead = entered_ahead(&settings, routes, scenario.vsb.is_some(), &[]);
    let answers = ahead::answering(scenario, routes);
    let with_answers = entered_ahead(&settings, routes, scenario.vsb.is_some(), &answers);
    let keep_order = ahead
        .iter()
        .zip(&with_answers)
        .all(|(before, now)| before <= now);
    let senders = ahead::going_on(scenario, routes, &ahead);
    routes.act_ahead(if keep_order { &answers } else { &[] }, &senders);
    let links = settings.iter().zip(ahead).map(|(settings, ahead)| {
        let shown = !settings.of_host && settings.rate_bps.is_some();
        let bin = shown.then_some(bin);
        let link = Link::new(settings, streams, measured.clone(), bin);
        let label = Label {
            ahead: ahead && !link.is_served(),
            shown,
            marks: settings.queue.marks(),
            name: settings.name.as_str().into(),
        };
        WiredLink {
            link,
            label: label.into(),
        }
    });
    let shared = scenario.vsb.as_ref().map(|settings| WiredLink {
        link: bottleneck::link_of(settings, scenario, streams, bin),
        label: Box::new(Label {
            ahead: false,
            shown: true,
            marks: false,
            name: "vsb".into(),
        }),
    });
    let links: Vec<WiredLink> = links.chain(shared).collect();
    routes.lay_legs(&links);
    links
}

/// Where the packets of a link come from.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Feeders {
    Nobody,
    /// Hosts or stations, whose packets are known when they arrive; perhaps links too.
    Endpoints,
    Links(Vec<usize>),
}

impl Feeders {
    fn add(&mut self, link: Option<usize>) {
        match (&mut *self, link) {
            (Feeders::Endpoints, _) => {}
            (_, None) => *self = Feeders::Endpoints,
            (Feeders::Nobody, Some(link)) => *self = Feeders::Links(vec![link]),
            (Feeders::Links(links), Some(link)) if !links.contains(&link) => links.push(link),
            (Feeders::Links(_), Some(_)) => {}
        }
    }

    fn only(&self) -> Option<usize> {
        match self {
            Feeders::Links(links) if links.len() == 1 => Some(links[0]),
            _ => None,
        }
    }
}

/// For each link whether its packets reach it in the order in which their arrivals become known.
/// Where a receiver `answers` ahead of time, its ACKs come through the links of its segments.
fn entered_ahead(
    settings: &[&LinkSettings],
    routes: &Routes,
    has_vsb: bool,
    answers: &[bool],
) -> Vec<bool> {
    let mut feeders = vec![Feeders::Nobody; settings.len() + usize::from(has_vsb)];
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
    let mere_delay = |link: usize| {
        let link = settings.get(link)?;
        (link.rate_bps.is_none() && link.jitter == Span::ZERO).then_some(link.delay)
    };
    let takes_time = |link: usize| {
        let rate_bps = settings.get(link).and_then(|link| link.rate_bps);
        rate_bps.is_some_and(|rate| Span::to_send(LEAST_BYTES, rate) > Span::ZERO)
    };
    // how long ago the packets that leave a link that only delays were where their order is known:
    // at the endpoints that sent them, or, if they answer others, behind a link that those left one by
    // one; what a served link delivers is known when it arrives, as if it came from an endpoint;
    // to mark what it feeds as entered ahead of time does no harm
    let origin = |link: usize| {
        let delay = mere_delay(link)?;
        match feeders[link] {
            Feeders::Endpoints => Some((None, delay)),
            Feeders::Links(ref last) if answer[link] => {
                let [last] = last[..] else { return None };
                let first = feeders[last].only().filter(|&first| takes_time(first))?;
                Some((Some(first), delay + mere_delay(last)?))
            }
            _ => None,
        }
    };
    let ahead = |feeders: &Feeders| match feeders {
        Feeders::Links(links) if links.len() == 1 => true,
        Feeders::Links(links) => {
            let first = origin(links[0]);
            first.is_some() && links.iter().all(|&link| origin(link) == first)
        }
        _ => false,
    };
    feeders.iter().map(ahead).collect()
}

impl World<'_> {
    /// A packet that reaches the next link of its route, or the end of it, at `at`: now, or ahead of
    /// time if it comes from an endpoint that acts so. What its endpoint answers ahead of time follows.
    pub(super) fn forward(&mut self, at: Time, mut packet: Packet) {
        let mut next = Some(at);
        while let Some(at) = next {
            next = self.go_on(at, &mut packet);
        }
    }

    /// A packet goes on as far as it may. If its endpoint answers ahead of time, the answer takes its
    /// place, and this is when it leaves.
    #[inline(always)]
    fn go_on(&mut self, at: Time, packet: &mut Packet) -> Option<Time> {
        let now = self.now;
        let mut at = at;
        let mut carrier = 0; // no link yet; set before `at` moves
        for leg in self.routes.legs(packet) {
            if at > now && !leg.ahead {
                break;
            }
            packet.hop += 1;
            at = at.plus(leg.lead);
            match leg.place {
                Place::Host(link) => at = self.links[link as usize].pass_host(at, packet),
                Place::Link(link) => {
                    let link = link as usize;
                    match self.links[link].link.enter(now, at, packet) {
                        Fate::Arrives(arrival) => at = arrival,
                        other => {
                            self.stop_at(at, link, other, packet);
                            return None;
                        }
                    }
                }
                Place::Delay => {}
                Place::EndAhead => return self.reach_ahead(at, carrier, packet),
                Place::Air(contender) => {
                    self.offer(now, contender, packet);
                    return None;
                }
                Place::End => {
                    self.consume(now, packet);
                    return None;
                }
            }
            at = at.plus(leg.delay);
            carrier = leg.carrier as usize;
            if leg.ends {
                return self.reach_ahead(at, carrier, packet);
            }
        }
        self.carried.push(at, carrier, *packet);
        None
    }

    /// A packet that entered link number `link` at `at` does not get through, or not yet.
    #[inline(never)]
    fn stop_at(&mut self, at: Time, link: usize, fate: Fate, packet: &Packet) {
        match fate {
            Fate::Kept => self.attend(self.now, link),
            _ if at == self.now => self.lose(packet),
            _ => self.settle(self.now, link),
        }
    }

    /// A packet arrives at the far end of a link.
    #[inline]
    pub(super) fn arrival_event(&mut self, now: Time) {
        if let Some(packet) = self.carried.pop() {
            self.forward(now, packet);
        }
    }

    /// The packet in service of link number `link` departs.
    pub(super) fn departure_event(&mut self, now: Time, link: usize) {
        if let Some((at, packet)) = self.links[link].link.depart(now) {
            self.carried.push(at, link, packet);
        }
        self.attend(now, link);
    }

    /// After a packet came to a served link or left it.
    fn attend(&mut self, now: Time, link: usize) {
        self.settle(now, link);
        let deadline = self.links[link].link.deadline();
        self.agenda.set(link, deadline);
    }

    /// Accounts for packets that were to be lost on a link by now.
    fn settle(&mut self, now: Time, link: usize) {
        while let Some(packet) = self.links[link].link.settle(now) {
            self.lose(&packet);
        }
    }

    /// The same for all links: what is counted holds at this instant.
    pub(super) fn settle_links(&mut self, now: Time) {
        (0..self.links.len()).for_each(|link| self.settle(now, link));
    }

    /// Every packet goes hop by hop, an event at each: what the shortcut must equal.
    #[cfg(test)]
    fn hop_by_hop(&mut self) {
        self.links
            .iter_mut()
            .for_each(|link| link.label.ahead = false);
        self.by_events();
    }
}

#[cfg(test)]
mod tests;

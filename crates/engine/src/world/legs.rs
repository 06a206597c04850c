//! Routes divided into legs. A leg is a section of a route that a packet passes in one event.
//!
//! A leg consists of a place (a link, a queue or an endpoint) and the sums of the pure delays
//! before and after this place. A pure delay is a link without a rate. This example shows the links
//! of a route, and the legs into which the route is divided:
//!
//! ```text
//!   links     host 5 ms   BOTTLENECK   2 ms   3 ms   QUEUE that decides on departure   1 ms   endpoint
//!   legs     |-- lead 5 ms, place BOTTLENECK, delay 2 + 3 ms --|-- place QUEUE --|-- delay 1 ms --| End
//! ```
//!
//! A route is divided wherever a packet must wait for an event:
//!
//! - before a link at which packets of several links meet, so that their order is known only at
//!   their arrival ([`super::lookahead`]);
//! - after a link whose departure times are not known in advance, so that each departure is an
//!   event;
//! - at a queue in front of the radio channel, and at an endpoint without lookahead.
//!
//! All other legs are entered with lookahead: the event of the previous leg also processes the
//! later arrival of the packet at such a leg. Pure delays belong to the leg before them
//! ([`Leg::delay`]). A pure delay at the beginning of a route belongs to the leg after it
//! ([`Leg::lead`]). An endpoint with lookahead belongs to the last leg ([`Leg::ends`]).

use super::wired::WiredLink;
use crate::kernel::time::Span;
use crate::link::Link;

/// A section of a route: a link, a queue or an endpoint, and the pure delays before and after it.
/// The alignment keeps a leg in one cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(32))]
pub(super) struct Leg {
    /// Sum of the pure delays before the place (link, queue or endpoint) of the leg.
    pub(super) lead: Span,
    pub(super) place: Place,
    /// Whether packets enter the leg with lookahead, that is, in the event of the previous leg. The
    /// first leg of a route is always entered immediately, when an endpoint sends the packet.
    pub(super) lookahead: bool,
    /// Last link of the leg. The link number determines the order of packets that arrive at the
    /// same time after the leg.
    pub(super) carrier: u32,
    /// Whether the leg ends at an endpoint with lookahead.
    pub(super) ends: bool,
    /// Sum of the pure delays after the place (link, queue or endpoint) of the leg.
    pub(super) delay: Span,
}

/// The link, queue or endpoint of a leg.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The access link of a host.
    Host(u32),
    /// A link of the network.
    Link(u32),
    /// A link of the network whose settings may change when the simulation halts. A gate in
    /// front of the link holds packets that arrive after the next halt, until the simulation
    /// continues ([`super::lookahead`]).
    Gate(u32),
    /// Pure delay: a link without a rate.
    Delay,
    /// A queue in front of the radio channel.
    Air(u32),
    /// The endpoint. The packet waits for the event of its arrival.
    End,
    /// The endpoint, with lookahead.
    EndAhead,
}

/// Divides a route into legs, and appends the new legs to `legs`. The route uses the links with
/// these `numbers`, and its last place is `end`. Numbers that are not in `links` are those of
/// wireless links.
pub(super) fn cut(legs: &mut Vec<Leg>, numbers: &[u32], end: Place, links: &[WiredLink]) {
    let first = legs.len();
    for &number in numbers {
        let is_first = legs.len() == first;
        let last = legs.get_mut(first..).and_then(<[Leg]>::last_mut);
        let Some(wired) = links.get(number as usize) else {
            let queue = number - links.len() as u32;
            legs.push(Leg::to(Place::Air(queue), is_first));
            continue;
        };
        let mere_delay = wired.link().mere_delay();
        match (mere_delay, last) {
            (Some(delay), Some(leg)) if wired.enters_ahead() && !leg.is_served(links) => {
                leg.delay = leg.delay + delay;
                leg.carrier = number;
            }
            (None, Some(leg)) if wired.enters_ahead() && leg.place == Place::Delay => {
                leg.lead = std::mem::replace(&mut leg.delay, Span::ZERO);
                leg.place = place_of(number, wired);
                leg.carrier = number;
            }
            (_, _) => legs.push(Leg {
                carrier: number,
                delay: mere_delay.unwrap_or(Span::ZERO),
                ..Leg::to(place_of(number, wired), is_first || wired.enters_ahead())
            }),
        }
    }
    let last = legs.get_mut(first..).and_then(<[Leg]>::last_mut);
    match last {
        Some(leg) if end == Place::EndAhead && !leg.is_served(links) => leg.ends = true,
        Some(_) | None => legs.push(Leg::to(end, end == Place::EndAhead)),
    }
}

/// Returns the place of the leg that contains link `number`.
fn place_of(number: u32, wired: &WiredLink) -> Place {
    match wired.link() {
        Link::Host(_) if wired.link().mere_delay().is_some() => Place::Delay,
        Link::Host(_) => Place::Host(number),
        Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => Place::Link(number),
    }
}

impl Leg {
    /// Returns the number of the link if the place is the access link of a host.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<u32> {
        if let Place::Host(link) = self.place {
            return Some(link);
        }
        None
    }

    /// Returns whether the place is a link from which each packet departs in a separate event.
    fn is_served(&self, links: &[WiredLink]) -> bool {
        match self.place {
            Place::Link(number) | Place::Gate(number) => links[number as usize].link().is_served(),
            Place::Host(_) | Place::Delay | Place::Air(_) | Place::End | Place::EndAhead => false,
        }
    }

    /// Adds a gate if the place is a link of the network.
    pub(super) fn gate(&mut self) {
        if let Place::Link(number) = self.place {
            self.place = Place::Gate(number);
        }
    }

    fn to(place: Place, lookahead: bool) -> Leg {
        Leg {
            lead: Span::ZERO,
            place,
            lookahead,
            carrier: 0,
            ends: false,
            delay: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;

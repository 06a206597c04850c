//! Routes divided into legs. A packet passes a leg in one event.
//!
//! A leg is a place with the sums of the pure delays before and after the place. For example, a
//! route over the links
//!
//! ```text
//!   links     host 5 ms   BOTTLENECK   2 ms   3 ms   QUEUE that decides on departure   1 ms   endpoint
//!   legs     |-- lead 5 ms, place BOTTLENECK, delay 2 + 3 ms --|-- place QUEUE --|-- delay 1 ms --| End
//! ```
//!
//! is divided wherever a packet must wait for an event:
//!
//! - before a link whose packets have an unknown order until they arrive ([`super::lookahead`]);
//! - after a link from which each packet departs by a separate event;
//! - at the queue of a radio and at an endpoint without lookahead.
//!
//! At all other places a packet enters a leg with lookahead: the current event processes it with
//! the later time of its arrival. Pure delays belong to the leg before them ([`Leg::delay`]). A
//! pure delay at the beginning of a route belongs to the leg after it ([`Leg::lead`]). An endpoint
//! with lookahead belongs to the last leg ([`Leg::ends`]).

use super::wired::WiredLink;
use crate::kernel::time::Span;
use crate::link::Link;

/// A section of a route: a place, and the time to the next place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Total of the pure delays before the place.
    pub(super) lead: Span,
    pub(super) place: Place,
    /// Whether a packet enters the leg with lookahead. For a packet sent by an endpoint, the leg
    /// begins immediately.
    pub(super) lookahead: bool,
    /// Last link of the leg. It determines the rank of packets that wait for an event after the
    /// leg.
    pub(super) carrier: u32,
    /// Whether the leg leads to an endpoint with lookahead.
    pub(super) ends: bool,
    /// Total of the pure delays after the place.
    pub(super) delay: Span,
}

/// A place that a packet enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A link of a host.
    Host(u32),
    /// A link of the network.
    Link(u32),
    /// A link of the network with a gate: packets that arrive after the next halt do not enter the
    /// link ([`super::lookahead`]).
    Gate(u32),
    /// A pure delay.
    Delay,
    /// A queue of the radio.
    Air(u32),
    /// The endpoint.
    End,
    /// The endpoint, with lookahead.
    EndAhead,
}

/// Appends the legs of a route to `end`. The route uses the links with these `numbers`. A number
/// above the numbers of `links` is a link on air.
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

/// Returns the place of a packet that enters link `number`.
fn place_of(number: u32, wired: &WiredLink) -> Place {
    match wired.link() {
        Link::Host(_) if wired.link().mere_delay().is_some() => Place::Delay,
        Link::Host(_) => Place::Host(number),
        Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => Place::Link(number),
    }
}

impl Leg {
    /// Returns the link of a host, if the place is such a link.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<u32> {
        if let Place::Host(link) = self.place {
            return Some(link);
        }
        None
    }

    /// Returns whether each packet leaves the link of the place by an event.
    fn is_served(&self, links: &[WiredLink]) -> bool {
        match self.place {
            Place::Link(number) | Place::Gate(number) => links[number as usize].link().is_served(),
            Place::Host(_) | Place::Delay | Place::Air(_) | Place::End | Place::EndAhead => false,
        }
    }

    /// Adds a gate to the link, if the place is a link.
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

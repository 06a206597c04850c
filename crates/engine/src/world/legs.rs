//! Routes cut into legs. A packet passes a leg in one event.
//!
//! A leg is a place with the sums of the pure delays before and after it. A route over links such as
//!
//! ```text
//!   links     host 5 ms   BOTTLENECK   2 ms   3 ms   QUEUE that decides on departure   1 ms   endpoint
//!   legs     |-- lead 5 ms, place BOTTLENECK, delay 2 + 3 ms --|-- place QUEUE --|-- delay 1 ms --| End
//! ```
//!
//! has a cut wherever an event must wait for the packet:
//!
//! - before a link whose packets have an unknown order until they arrive ([`super::lookahead`]);
//! - after a link from which packets depart in an event of their own;
//! - at the queue of a radio and at an endpoint without lookahead.
//!
//! Otherwise a packet enters a leg with lookahead: in the present event, at the later time. Pure delays are
//! part of the leg before them ([`Leg::delay`]). A pure delay at the beginning of a route is part of the leg
//! after it ([`Leg::lead`]). An endpoint with lookahead is part of the last leg ([`Leg::ends`]).

use super::wired::WiredLink;
use crate::kernel::time::Span;
use crate::link::Link;

/// A part of a route: a place, and the time to the next place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Total delay of the pure delays before it.
    pub(super) lead: Span,
    pub(super) place: Place,
    /// Whether a packet enters it with lookahead. A packet that an endpoint sends is there immediately.
    pub(super) lookahead: bool,
    /// The last link of the leg, whose rank packets have that wait for an event after it.
    pub(super) carrier: u32,
    /// Whether an endpoint with lookahead is after it.
    pub(super) ends: bool,
    /// Total delay of the pure delays after it.
    pub(super) delay: Span,
}

/// A place that a packet enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A link of a host.
    Host(u32),
    /// Another link.
    Link(u32),
    /// Another link with a gate: packets that come later than the next halt do not enter it
    /// ([`super::lookahead`]).
    Gate(u32),
    /// A pure delay.
    Delay,
    /// A queue of the radio.
    Air(u32),
    /// The endpoint.
    End,
    /// The endpoint, which has lookahead.
    EndAhead,
}

/// Appends the legs of a route over links with these `numbers`, which leads to `end`. A number above those of the
/// `links` is a link on air.
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
    /// Returns the link of a host, if the leg leads through such a link.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<u32> {
        if let Place::Host(link) = self.place {
            return Some(link);
        }
        None
    }

    /// Returns whether packets leave it in an event of their own.
    fn is_served(&self, links: &[WiredLink]) -> bool {
        match self.place {
            Place::Link(number) | Place::Gate(number) => links[number as usize].link().is_served(),
            Place::Host(_) | Place::Delay | Place::Air(_) | Place::End | Place::EndAhead => false,
        }
    }

    /// Makes the link a gate, if the place is a link.
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

//! Ways cut into legs: what a packet goes through in one go, and where an event waits for it.
//!
//! A leg is a place with the mere delays before and behind it added up. A way over links such as
//!
//! ```text
//!   links     host 5 ms   BOTTLENECK   2 ms   3 ms   QUEUE that decides on departure   1 ms   endpoint
//!   legs     |-- lead 5 ms, place BOTTLENECK, delay 2 + 3 ms --|-- place QUEUE --|-- delay 1 ms --| End
//! ```
//!
//! has a cut wherever an event must wait for the packet:
//!
//! - before a link whose packets have an unknown order until they arrive ([`super::lookahead`]);
//! - behind a link from which packets depart in an event of their own;
//! - at the queue of a radio and at an endpoint that acts in its own time.
//!
//! Elsewhere a leg is entered *ahead of time*: at once, at the later instant. Mere delays join the leg in
//! front of them ([`Leg::delay`]); one that begins a way joins the leg behind it ([`Leg::lead`]). An
//! endpoint that acts ahead of time joins the last leg ([`Leg::ends`]).

use super::wired::WiredLink;
use crate::kernel::time::Span;
use crate::link::Link;

/// A stretch of a way: a place, and the time to the next one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    /// Links before it that only delay, taken together.
    pub(super) lead: Span,
    pub(super) place: Place,
    /// Whether a packet enters it ahead of time; a packet that an endpoint sends is there at once.
    pub(super) ahead: bool,
    /// The last link of the leg: packets that wait for an event behind it have its rank.
    pub(super) carrier: u32,
    /// Whether the endpoint is behind it, and acts ahead of time.
    pub(super) ends: bool,
    /// Links behind it that only delay, taken together.
    pub(super) delay: Span,
}

/// What a packet enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A link of a host.
    Host(u32),
    /// Another link.
    Link(u32),
    /// The same, into which nothing goes that comes later than a world halts ([`super::lookahead`]).
    Gate(u32),
    /// A link that only delays.
    Delay,
    /// A queue of the radio.
    Air(u32),
    /// The endpoint.
    End,
    /// The endpoint, which acts ahead of time.
    EndAhead,
}

/// Appends to `legs` those of a way over links with these `numbers`, which leads to `end`. A number
/// beyond the `links` is one on air.
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

/// What link `number` is to a packet that enters it.
fn place_of(number: u32, wired: &WiredLink) -> Place {
    match wired.link() {
        Link::Host(_) if wired.link().mere_delay().is_some() => Place::Delay,
        Link::Host(_) => Place::Host(number),
        Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => Place::Link(number),
    }
}

impl Leg {
    /// The link of a host, if it leads through one.
    #[inline(always)]
    pub(super) fn host(&self) -> Option<u32> {
        match self.place {
            Place::Host(link) => Some(link),
            Place::Link(_)
            | Place::Gate(_)
            | Place::Delay
            | Place::Air(_)
            | Place::End
            | Place::EndAhead => None,
        }
    }

    /// Whether packets leave it in an event of their own.
    fn is_served(&self, links: &[WiredLink]) -> bool {
        match self.place {
            Place::Link(number) | Place::Gate(number) => links[number as usize].link().is_served(),
            Place::Host(_) | Place::Delay | Place::Air(_) | Place::End | Place::EndAhead => false,
        }
    }

    /// Nothing enters the link, if it is one, that comes later than a world halts.
    pub(super) fn gate(&mut self) {
        if let Place::Link(number) = self.place {
            self.place = Place::Gate(number);
        }
    }

    fn to(place: Place, ahead: bool) -> Leg {
        Leg {
            lead: Span::ZERO,
            place,
            ahead,
            carrier: 0,
            ends: false,
            delay: Span::ZERO,
        }
    }
}

#[cfg(test)]
mod tests;

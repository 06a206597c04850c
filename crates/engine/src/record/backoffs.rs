//! Backoffs that were counted down before recorded frames. The medium does not record the backoffs
//! that it draws. The backoffs are therefore computed from the state of the medium after each
//! exchange.

use crate::kernel::time::Span;
use crate::mac::dcf::{Backoff, Dcf};

/// The backoff states of all contenders at the end of the last exchange. A contender is a node, or
/// an access category of a node.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoffs {
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    state: Backoff,
    /// Number of idle slots of the backoff when the backoff was drawn; `None` if the draw was not
    /// observed.
    drawn: Option<u64>,
}

impl Backoffs {
    /// Returns the number of idle slots of `contender`'s backoff before the exchange that has just
    /// ended. The value is `None` if there was no backoff, or if the contender did not wait a whole
    /// number of slots.
    pub(super) fn counted(&self, medium: &Dcf, contender: u32) -> Option<u32> {
        let exchange = medium.exchange();
        if exchange.follows {
            return None;
        }
        let Some(seen) = self.seen.get(contender as usize) else {
            // this is the first exchange, so that no previous state is known
            return None;
        };
        let (was, slot) = (seen.state, medium.slot());
        if was.off_grid || exchange.start < was.resume {
            return None;
        }
        let waited = exchange.start.since(was.resume);
        if !is_multiple(waited, slot) {
            return None;
        }
        let slots = waited.0 / slot.0;
        let drawn = match was.passed + slots == was.target {
            true => seen.drawn,
            // the packet arrived during the interframe space after the last exchange, and the
            // backoff was drawn at that time, so all its slots were counted down before this
            // exchange
            false => Some(slots),
        };
        drawn.and_then(|slots| u32::try_from(slots).ok())
    }

    /// Stores the backoff states of all contenders after an exchange.
    pub(super) fn record(&mut self, medium: &Dcf) {
        for contender in 0..medium.contenders() {
            let state = medium.backoff(contender as u32);
            let Some(seen) = self.seen.get_mut(contender) else {
                let drawn = state.target.checked_sub(state.passed);
                self.seen.push(Seen { state, drawn });
                continue;
            };
            let was = seen.state;
            if (state.target, state.drawn_at) != (was.target, was.drawn_at) {
                // true if the backoff was drawn before the exchange began, false if it was drawn
                // later
                let before = state.drawn_at == was.openings && state.openings != was.openings;
                let passed = if before { was.passed } else { state.passed };
                seen.drawn = state.target.checked_sub(passed).filter(|_| !was.off_grid);
            }
            seen.state = state;
        }
    }
}

fn is_multiple(waited: Span, slot: Span) -> bool {
    slot > Span::ZERO && waited.0.is_multiple_of(slot.0)
}

//! Backoffs that were counted down before recorded frames: found by looking at the medium after each
//! exchange, which itself keeps no account of what it drew.

use crate::kernel::time::Span;
use crate::mac::dcf::{Backoff, Dcf};

/// What each contender was counting down when the last exchange had ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Backoffs {
    seen: Vec<Seen>,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    state: Backoff,
    /// Idle slots that were drawn; `None` where nobody saw it.
    drawn: Option<u64>,
}

impl Backoffs {
    /// Idle slots that `contender`, which has sent in the exchange that has just ended, had to count down
    /// before it; `None` if it had not to, or counted from an instant of its own.
    pub(super) fn counted(&self, medium: &Dcf, contender: u32) -> Option<u32> {
        let exchange = medium.exchange();
        if exchange.follows {
            return None;
        }
        let Some(seen) = self.seen.get(contender as usize) else {
            // the first exchange of all: nothing was drawn before
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
            // drawn since, when its packet came before its interframe space was over
            false => Some(slots),
        };
        drawn.and_then(|slots| u32::try_from(slots).ok())
    }

    /// Looks at all contenders after an exchange.
    pub(super) fn look(&mut self, medium: &Dcf) {
        for contender in 0..medium.contenders() {
            let state = medium.backoff(contender as u32);
            let Some(seen) = self.seen.get_mut(contender) else {
                let drawn = state.target.checked_sub(state.passed);
                self.seen.push(Seen { state, drawn });
                continue;
            };
            let was = seen.state;
            if (state.target, state.drawn_at) != (was.target, was.drawn_at) {
                // drawn before the exchange began, or since
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

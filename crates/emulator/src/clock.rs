//! The clock of the emulation loop.

use std::time::Instant;

use lasthop_engine::kernel::time::{Span, Time};

/// Longest time between two readings of the clock in simulated time. It limits the error of the loop's time, because
/// each sleep can end up to 1 us late while programs read the clock.
const LONGEST_UNREAD: Span = Span(1_000_000);

/// Kind of time in which an emulation runs: real or simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Timing {
    /// Real time.
    Real,
    /// Simulated time, in which computation takes no time.
    Simulated,
}

/// The clock of the emulation loop.
///
/// In user-mode Linux, each reading of the clock is a system call, and system calls are most of the
/// cost of an emulation. In simulated time, the clock is therefore read only after a packet has
/// arrived. At other times the loop knows the current time.
pub(crate) struct Clock {
    timing: Timing,
    started: Instant,
    /// Time at which the loop woke last.
    pub(crate) woke: Time,
    /// Time of the last reading of the clock.
    read: Time,
}

impl Clock {
    /// Starts the clock.
    pub(crate) fn start(timing: Timing) -> Clock {
        Clock {
            timing,
            started: Instant::now(),
            woke: Time::ZERO,
            read: Time::ZERO,
        }
    }

    /// Returns the current time since the start of the clock.
    pub(crate) fn now(&mut self) -> Time {
        if self.timing == Timing::Simulated {
            return self.woke;
        }
        self.read()
    }

    fn read(&mut self) -> Time {
        let passed = u64::try_from(self.started.elapsed().as_nanos());
        self.read = Time::ZERO + Span(passed.unwrap_or(u64::MAX));
        self.read
    }

    /// Records that the loop woke, after a sleep until `slept_until` or because a packet arrived
    /// (`None`). In simulated time, the loop continues 1 ns after `slept_until`, when all events of
    /// that time are due.
    pub(crate) fn wake(&mut self, slept_until: Option<Time>) {
        let known = slept_until
            .filter(|_| self.timing == Timing::Simulated)
            .filter(|until| until.since(self.read) < LONGEST_UNREAD);
        let now = known.map_or_else(|| self.read(), |until| until + Span(1));
        self.woke = self.woke.max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sleep_in_simulated_time_ends_right_after_its_time() {
        let mut clock = Clock::start(Timing::Simulated);
        clock.wake(Some(Time(500_000)));
        assert_eq!((clock.now(), clock.woke), (Time(500_001), Time(500_001)));
    }

    #[test]
    fn simulated_time_does_not_go_back_or_stand_still() {
        let mut clock = Clock::start(Timing::Simulated);
        clock.wake(Some(Time(500_000)));
        clock.wake(Some(Time(500_001)));
        assert_eq!(clock.now(), Time(500_002));
        clock.wake(Some(Time(400)));
        assert_eq!(clock.now(), Time(500_002));
    }

    #[test]
    fn the_clock_is_read_after_a_long_time_and_in_real_time() {
        let far = Time(3_600_000_000_000);
        for timing in [Timing::Simulated, Timing::Real] {
            let mut clock = Clock::start(timing);
            clock.wake(Some(far));
            assert!(clock.woke < far);
        }
    }
}

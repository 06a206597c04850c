//! Load of the emulation loop: packets per second, and the fraction of time in which the loop is not asleep.

use lasthop_engine::kernel::time::{Span, Time};

/// Load of the emulation loop since the time `since`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    since: Time,
    /// Number of packets delivered or lost before `since`.
    carried: u64,
    asleep: Span,
}

impl Pace {
    /// Returns a load that is measured from `since` on. `carried` packets were delivered or lost before `since`.
    pub(crate) fn from(since: Time, carried: u64) -> Pace {
        Pace {
            since,
            carried,
            asleep: Span::ZERO,
        }
    }

    /// Adds a time during which the loop was asleep.
    pub(crate) fn slept(&mut self, span: Span) {
        self.asleep = self.asleep + span;
    }

    /// Returns the packets delivered or lost per second from the start of the measurement until `now`, or `None` if no
    /// time has passed. `carried` is the number of packets delivered or lost until `now`. [packets/s]
    pub(crate) fn carried_pps(&self, now: Time, carried: u64) -> Option<f64> {
        let length_s = now.since(self.since).seconds();
        (length_s > 0.0).then(|| (carried - self.carried) as f64 / length_s)
    }

    /// Returns the fraction of time until `now` in which the loop was not asleep, or `None` if no time has passed.
    pub(crate) fn at_work(&self, now: Time) -> Option<f64> {
        let length_s = now.since(self.since).seconds();
        let part = (1.0 - self.asleep.seconds() / length_s).max(0.0);
        (length_s > 0.0).then_some(part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_loop_that_sleeps_a_quarter_of_the_time_is_at_work_for_the_rest() {
        let mut pace = Pace::from(Time(2 * SECOND), 100);
        pace.slept(Span(SECOND / 2));
        pace.slept(Span(SECOND / 2));
        let now = Time(6 * SECOND);
        assert_eq!(pace.at_work(now), Some(0.75));
        assert_eq!(pace.carried_pps(now, 40_100), Some(10_000.0));
    }

    #[test]
    fn nothing_is_known_at_once() {
        let pace = Pace::from(Time(SECOND), 7);
        assert_eq!(pace.at_work(Time(SECOND)), None);
        assert_eq!(pace.carried_pps(Time(SECOND), 7), None);
    }

    #[test]
    fn clocks_that_differ_by_a_little_make_no_part_below_zero() {
        let mut pace = Pace::from(Time::ZERO, 0);
        pace.slept(Span(SECOND + 5));
        assert_eq!(pace.at_work(Time(SECOND)), Some(0.0));
    }
}

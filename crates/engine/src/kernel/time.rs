//! Simulated time in integer nanoseconds.

use std::fmt;
use std::ops::{Add, AddAssign, Mul, Sub};

/// An instant: nanoseconds since the start of the run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Time(pub u64);

/// A duration in nanoseconds.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(pub u64);

impl Time {
    /// Instant at the start of the run.
    pub const ZERO: Time = Time(0);
    /// Instant later than every event. A timer that is off has this deadline.
    pub const NEVER: Time = Time(u64::MAX);

    /// Returns the time since the start of the run. [s]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the instant `span` after this instant. The caller ensures that this instant is not
    /// [`Time::NEVER`].
    #[inline(always)]
    pub fn plus(self, span: Span) -> Time {
        debug_assert!(self != Time::NEVER, "nothing comes after never");
        Time(self.0 + span.0)
    }

    /// Returns the time elapsed since `earlier`; zero if `earlier` is not before this instant.
    pub fn since(self, earlier: Time) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// Duration of zero.
    pub const ZERO: Span = Span(0);

    /// Returns the duration. [s]
    pub fn seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// Returns the duration, which must be less than 2^63 ns. [ns]
    #[inline(always)]
    pub fn nanoseconds(self) -> f64 {
        self.0.cast_signed() as f64 // this conversion is one instruction; the conversion of an unsigned number takes several
    }

    /// Returns the duration of `ns` nanoseconds: a whole number, not negative and less than 2^63.
    #[inline(always)]
    pub fn from_nanoseconds(ns: f64) -> Span {
        Span((ns as i64).cast_unsigned())
    }

    /// Returns the duration nearest to `seconds` (ties away from zero). `seconds` must be finite
    /// and not negative.
    pub fn from_seconds(seconds: f64) -> Span {
        Span((seconds * 1e9).round() as u64)
    }

    /// Returns the time to send `bytes` at `rate_bps` [bit/s], rounded to the nearest nanosecond.
    pub fn to_send(bytes: u64, rate_bps: u64) -> Span {
        let bits = u128::from(bytes) * 8 * 1_000_000_000;
        let rate = u128::from(rate_bps);
        Span(((bits + rate / 2) / rate) as u64)
    }
}

impl Add<Span> for Time {
    type Output = Time;
    fn add(self, span: Span) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Span;
    fn add(self, other: Span) -> Span {
        Span(self.0 + other.0)
    }
}

impl Sub for Span {
    type Output = Span;
    /// Returns this duration minus `other`; zero if `other` is longer.
    fn sub(self, other: Span) -> Span {
        Span(self.0.saturating_sub(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Span;
    fn mul(self, times: u64) -> Span {
        Span(self.0 * times)
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Time::NEVER {
            f.write_str("never")
        } else {
            write!(f, "{}ns", self.0)
        }
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}ns", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sending_time_rounds_to_the_nearest_nanosecond() {
        // 1538 B at 11 Mb/s = 1118.545454... us (paper 003, Table 2)
        assert_eq!(Span::to_send(1538, 11_000_000), Span(1_118_545));
        assert_eq!(Span::to_send(14, 2_000_000), Span(56_000));
    }

    #[test]
    fn never_stays_never() {
        assert_eq!(Time::NEVER + Span(5), Time::NEVER);
    }
}

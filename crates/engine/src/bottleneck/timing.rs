//! Segments that are timed on their way to stations that are listened to: from the bottleneck to the ACK that covers
//! them.
//!
//! The first few segments of one flow are taken, and the least of their round-trip times: an ACK may be delayed until
//! the next segment. A segment that is sent again makes all of them void, since nobody could say which one an ACK is
//! for (Karn and Partridge, 1987).

use crate::control::RoundTrip;
use crate::kernel::time::{Span, Time};

/// Segments that are taken of a flow.
const TAKEN: usize = 4;
/// What has not been acknowledged for so long will tell nothing.
const PATIENCE: Span = Span(3_000_000_000);

/// Segments on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing(Vec<Timed>);

/// Segments of a flow to a station.
#[derive(Clone, Copy, Debug)]
struct Timed {
    station: u32,
    flow: u32,
    taken: usize,
    covered: usize,
    segments: [Segment; TAKEN],
    least: Option<RoundTrip>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Segment {
    /// What an ACK that covers it says at least.
    end: u32,
    left: Time,
    passed_bytes: u64,
}

/// Whether a number of a sequence is not before another (RFC 9293, section 3.4).
fn reaches(number: u32, other: u32) -> bool {
    number.wrapping_sub(other) as i32 >= 0
}

impl Timing {
    /// Whether nothing is on its way.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A segment leaves the bottleneck at `now`, after so many bytes; it is taken if its station is `listening`.
    pub(super) fn leaves(
        &mut self,
        now: Time,
        (station, flow, end): (u32, u32, u32),
        passed_bytes: u64,
        listening: &[u32],
    ) {
        self.0
            .retain(|one| now.since(one.segments[one.taken - 1].left) <= PATIENCE);
        let segment = Segment {
            end,
            left: now,
            passed_bytes,
        };
        let is_listened_to = listening.contains(&station);
        let Some(place) = self.0.iter().position(|one| one.station == station) else {
            if is_listened_to {
                self.0.push(Timed {
                    station,
                    flow,
                    taken: 1,
                    covered: 0,
                    segments: [segment; TAKEN],
                    least: None,
                });
            }
            return;
        };
        let one = &mut self.0[place];
        if one.flow != flow {
            return;
        }
        if reaches(one.segments[one.taken - 1].end, end) {
            self.0.swap_remove(place); // sent again
        } else if one.taken < TAKEN && is_listened_to {
            one.segments[one.taken] = segment;
            one.taken += 1;
        }
    }

    /// An ACK comes back from a station; returns the least round-trip time, once all that was taken is covered.
    pub(super) fn returns(
        &mut self,
        now: Time,
        (station, flow, ack): (u32, u32, u32),
    ) -> Option<RoundTrip> {
        let is_it = |one: &Timed| one.station == station && one.flow == flow;
        let place = self.0.iter().position(is_it)?;
        let one = &mut self.0[place];
        while one.covered < one.taken && reaches(ack, one.segments[one.covered].end) {
            let segment = one.segments[one.covered];
            let trip = RoundTrip {
                station,
                sent: segment.left,
                rtt: now.since(segment.left),
                passed_bytes: segment.passed_bytes,
            };
            if one.least.is_none_or(|least| trip.rtt < least.rtt) {
                one.least = Some(trip);
            }
            one.covered += 1;
        }
        if one.covered < one.taken {
            return None;
        }
        self.0.swap_remove(place).least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    #[test]
    fn the_least_of_the_first_segments_counts() {
        let mut timing = Timing::default();
        for (ms, end) in [(0, 1), (10, 2), (20, 3)] {
            timing.leaves(at(ms), (7, 1, end), ms, &[7]);
        }
        assert_eq!(timing.returns(at(50), (7, 1, 2)), None);
        let least = timing.returns(at(90), (7, 1, 3)).unwrap();
        assert_eq!((least.sent, least.rtt), (at(10), Span(40_000_000)));
        assert_eq!(least.passed_bytes, 10);
        assert!(timing.is_empty());
    }

    #[test]
    fn what_is_sent_again_is_no_sample() {
        let mut timing = Timing::default();
        timing.leaves(at(0), (7, 1, u32::MAX), 0, &[7]);
        timing.leaves(at(1), (7, 1, 5), 0, &[7]); // behind it, since numbers wrap
        timing.leaves(at(2), (7, 1, u32::MAX), 0, &[7]);
        assert_eq!(timing.returns(at(9), (7, 1, 5)), None);
    }

    #[test]
    fn others_are_left_alone() {
        let mut timing = Timing::default();
        timing.leaves(at(0), (6, 1, 1), 0, &[7]);
        assert!(timing.is_empty());
        timing.leaves(at(0), (7, 1, 1), 0, &[7]);
        timing.leaves(at(0), (7, 2, 1), 0, &[7]); // another flow
        assert_eq!(timing.returns(at(1), (7, 2, 1)), None);
        assert_eq!(timing.returns(at(1), (6, 1, 1)), None);
        timing.leaves(at(5_000), (6, 1, 1), 0, &[]);
        assert!(timing.is_empty(), "it has been waited for too long");
    }
}

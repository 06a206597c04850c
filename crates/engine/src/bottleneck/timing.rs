//! The round-trip times of TCP segments, for stations that do not reply to pings. A round-trip time
//! is the time from the departure of a segment from the bottleneck to the arrival of its ACK at the
//! bottleneck.
//!
//! For each flow, the next few segments are timed, and the smallest of their round-trip times is
//! used. The receiver may delay an ACK until the next segment, which makes the other round-trip
//! times longer. If a segment is retransmitted, all timed segments of the flow are discarded,
//! because an ACK may belong to either transmission (Karn and Partridge, 1987).

use crate::control::RoundTrip;
use crate::kernel::time::{Span, Time};

/// Largest number of segments of a flow whose round-trip times are measured for one result. The
/// result is the smallest of these times.
const TAKEN: usize = 4;
/// Longest time from the departure of the last timed segment of a flow to its ACK. After this time,
/// all timed segments of the flow are discarded without a result.
const PATIENCE: Span = Span(3_000_000_000);

/// The timed segments in flight, of all flows.
#[derive(Clone, Debug, Default)]
pub(super) struct Timing(Vec<Timed>);

/// The timed segments of a flow to a station.
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
    /// Smallest acknowledgement number that acknowledges the segment.
    end: u32,
    left: Time,
    passed_bytes: u64,
}

/// Returns whether the sequence number `number` is equal to `other` or after it (RFC 9293, section
/// 3.4).
fn reaches(number: u32, other: u32) -> bool {
    number.wrapping_sub(other) as i32 >= 0
}

impl Timing {
    /// Returns whether no timed segment is in flight.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Records a segment that leaves the bottleneck at `now`. `passed_bytes` is the number of bytes
    /// that had left before the segment. `listening` contains the stations whose segments are
    /// timed.
    pub(super) fn leaves(
        &mut self,
        now: Time,
        (station, flow, end): (u32, u32, u32),
        passed_bytes: u64,
        listening: &[u32],
    ) {
        self.0
            .retain(|timed| now.since(timed.segments[timed.taken - 1].left) <= PATIENCE);
        let segment = Segment {
            end,
            left: now,
            passed_bytes,
        };
        let is_listened_to = listening.contains(&station);
        let Some(place) = self.0.iter().position(|timed| timed.station == station) else {
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
        let timed = &mut self.0[place];
        if timed.flow != flow {
            return;
        }
        if reaches(timed.segments[timed.taken - 1].end, end) {
            self.0.swap_remove(place); // the segment is a retransmission
        } else if timed.taken < TAKEN && is_listened_to {
            timed.segments[timed.taken] = segment;
            timed.taken += 1;
        }
    }

    /// Processes an ACK from a station. When all timed segments of the flow have been acknowledged,
    /// returns the smallest round-trip time.
    pub(super) fn returns(
        &mut self,
        now: Time,
        (station, flow, ack): (u32, u32, u32),
    ) -> Option<RoundTrip> {
        let mut all = self.0.iter();
        let place = all.position(|timed| timed.station == station && timed.flow == flow)?;
        let timed = &mut self.0[place];
        while timed.covered < timed.taken && reaches(ack, timed.segments[timed.covered].end) {
            let segment = timed.segments[timed.covered];
            let trip = RoundTrip {
                station,
                sent: segment.left,
                rtt: now.since(segment.left),
                passed_bytes: segment.passed_bytes,
            };
            if timed.least.is_none_or(|least| trip.rtt < least.rtt) {
                timed.least = Some(trip);
            }
            timed.covered += 1;
        }
        if timed.covered < timed.taken {
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
        // 5 is after the previous number, because sequence numbers wrap
        timing.leaves(at(1), (7, 1, 5), 0, &[7]);
        timing.leaves(at(2), (7, 1, u32::MAX), 0, &[7]);
        assert_eq!(timing.returns(at(9), (7, 1, 5)), None);
    }

    #[test]
    fn others_are_left_alone() {
        let mut timing = Timing::default();
        timing.leaves(at(0), (6, 1, 1), 0, &[7]);
        assert!(timing.is_empty());
        timing.leaves(at(0), (7, 1, 1), 0, &[7]);
        timing.leaves(at(0), (7, 2, 1), 0, &[7]); // segment of another flow
        assert_eq!(timing.returns(at(1), (7, 2, 1)), None);
        assert_eq!(timing.returns(at(1), (6, 1, 1)), None);
        timing.leaves(at(5_000), (6, 1, 1), 0, &[]);
        assert!(timing.is_empty(), "it has been waited for too long");
    }
}

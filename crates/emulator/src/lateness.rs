//! Histogram of the lateness of delivered packets. Its size does not depend on the number of
//! packets.

use lasthop_engine::kernel::time::{Span, Time};

/// Number of buckets per power of two. A quantile has a relative error of at most 1/64.
const FINE: u32 = 64;
const FINE_BITS: u32 = FINE.ilog2();
/// Number of all buckets, for all powers of two and for the smallest numbers.
const BUCKETS: usize = ((u64::BITS - FINE_BITS + 1) * FINE) as usize;

/// Histogram of the lateness of packets.
#[derive(Clone, Debug)]
pub(crate) struct Lateness {
    counts: Vec<u64>,
    count: u64,
    /// Due time of the last packet, number of packets with this due time, and largest number of
    /// packets with equal due times.
    due: Time,
    now: u64,
    most: u64,
}

impl Default for Lateness {
    fn default() -> Lateness {
        Lateness {
            counts: vec![0; BUCKETS],
            count: 0,
            due: Time::ZERO,
            now: 0,
            most: 0,
        }
    }
}

impl Lateness {
    /// Adds a packet that was due at `due` and delivered at `at`.
    pub(crate) fn add(&mut self, due: Time, at: Time) {
        self.counts[bucket(at.since(due).0)] += 1;
        self.count += 1;
        self.now = if due == self.due { self.now + 1 } else { 1 };
        self.due = due;
        self.most = self.most.max(self.now);
    }

    /// Returns the largest number of packets with equal due times.
    pub(crate) fn at_once(&self) -> u64 {
        self.most
    }

    /// Returns a quantile of the lateness: the fraction `quantile` of the packets has at most this
    /// lateness. The result is rounded up to the end of a bucket. Returns `None` if no packet was
    /// added.
    pub(crate) fn quantile(&self, quantile: f64) -> Option<Span> {
        let wanted = (quantile * self.count as f64).ceil().max(1.0) as u64;
        let mut seen = 0;
        self.counts.iter().enumerate().find_map(|(bucket, count)| {
            seen += count;
            (seen >= wanted).then(|| Span(last_of(bucket)))
        })
    }
}

/// Returns the index of the bucket that contains `number`. Each number below twice [`FINE`] has a
/// separate bucket, and each larger power of two has [`FINE`] buckets.
fn bucket(number: u64) -> usize {
    let Some(power) = number.checked_ilog2() else {
        return 0;
    };
    let shift = power.saturating_sub(FINE_BITS);
    (u64::from(shift * FINE) + (number >> shift)) as usize
}

/// Returns the largest number in a bucket.
fn last_of(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let fine = u64::from(FINE);
    if bucket < 2 * fine {
        return bucket;
    }
    let shift = bucket / fine - 1;
    let first = (bucket - shift * fine) << shift;
    first | ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_exact_to_a_part_in_sixty_four() {
        let mut lateness = Lateness::default();
        for k in 1..=1000 {
            lateness.add(Time(k), Time(k * 10_008));
        }
        for (quantile, exact) in [(0.5, 500 * 10_007), (0.99, 990 * 10_007), (1.0, 10_007_000)] {
            let estimate = lateness.quantile(quantile).map_or(0, |span| span.0);
            assert!(
                (exact..exact + exact / 64 + 1).contains(&estimate),
                "{estimate} {exact}"
            );
        }
    }

    #[test]
    fn a_number_is_in_its_bucket_and_buckets_are_in_order() {
        for power in 0..64 {
            for number in [
                1_u64 << power,
                (1 << power) + (1 << power) / 3,
                u64::MAX >> power,
            ] {
                let own = bucket(number);
                assert!(own < BUCKETS);
                assert!(number <= last_of(own));
                assert!(own == 0 || number > last_of(own - 1), "{number}");
            }
        }
        assert_eq!(bucket(0), 0);
        assert_eq!(last_of(bucket(u64::MAX)), u64::MAX);
    }

    #[test]
    fn packets_of_an_instant_are_counted_together() {
        let mut lateness = Lateness::default();
        for due in [0, 5, 5, 5, 9, 5, 5] {
            lateness.add(Time(due), Time(10));
        }
        assert_eq!(lateness.at_once(), 3);
    }

    #[test]
    fn nothing_is_known_of_no_packets() {
        assert_eq!(Lateness::default().quantile(0.99), None);
    }
}

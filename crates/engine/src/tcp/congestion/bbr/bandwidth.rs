//! The bandwidth in Linux's unit, and its maximum over the last rounds.
//!
//! References: Linux 6.12, net/ipv4/tcp_bbr.c (`BW_UNIT`, `BBR_UNIT`) and lib/win_minmax.c, the
//! algorithm of Kathleen Nichols. The filter stores three samples. Its maximum is that of a sliding
//! window, except that a new value may be used up to a quarter of the window late.

/// `BBR_UNIT`: a gain of 1. [1/256]
pub(super) const UNIT_GAIN: u64 = 1 << GAIN_SCALE;

const GAIN_SCALE: u32 = 8;

/// `BW_UNIT`: one packet per microsecond.
const UNIT: u64 = 1 << 24;

/// `bbr_bw_rtts`: number of rounds over which the maximum is taken.
const WINDOW: u32 = 10;

/// `bbr_lt_bw_diff`: 4 kbit/s. [bytes/s]
const NEAR: u64 = 4_000 / 8;

/// A bandwidth. [packets/us * 2^-24]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Bandwidth(pub(super) u64);

impl Bandwidth {
    pub(super) const ZERO: Bandwidth = Bandwidth(0);

    /// Returns the bandwidth of `packets` packets in `us` microseconds, rounded down.
    #[inline]
    pub(super) fn of(packets: u32, us: u64) -> Bandwidth {
        Bandwidth(u64::from(packets) * UNIT / us)
    }

    /// Returns the bandwidth times `gain` [1/256], rounded down.
    pub(super) fn times(self, gain: u64) -> Bandwidth {
        Bandwidth((self.0 * gain) >> GAIN_SCALE)
    }

    /// `bbr_bw_to_pacing_rate`: returns the pacing rate with the gain `gain` [1/256], for segments
    /// with `mss` bytes. It is 1 % lower than the product, so that queues become empty. [bytes/s]
    #[inline]
    pub(super) fn pacing_rate(self, mss: u64, gain: u64) -> u64 {
        let rate = (self.0 * mss * gain) >> GAIN_SCALE;
        (rate * (1_000_000 / 100 * 99)) >> UNIT.ilog2()
    }

    /// Returns the number of packets in `us` microseconds, rounded down.
    #[inline]
    pub(super) fn packets(self, us: u64) -> u64 {
        (self.0 * us) >> UNIT.ilog2()
    }

    /// `bbr_bdp`: returns the number of packets in `us` microseconds times `gain` [1/256], rounded
    /// up.
    #[inline]
    pub(super) fn packets_up(self, us: u64, gain: u64) -> u32 {
        (((self.0 * us * gain) >> GAIN_SCALE).div_ceil(UNIT)) as u32
    }

    /// Returns whether two bandwidths differ by at most 1/8 of `self`, or by at most 4 kbit/s.
    pub(super) fn is_near(self, other: Bandwidth, mss: u64) -> bool {
        let difference = Bandwidth(self.0.abs_diff(other.0));
        difference.0 * UNIT_GAIN <= UNIT_GAIN / 8 * self.0
            || difference.pacing_rate(mss, UNIT_GAIN) <= NEAR
    }
}

/// The maximum of the last `WINDOW` rounds (`struct minmax`).
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxFilter {
    /// Best, second-best and third-best sample. Their rounds do not decrease.
    best: [Entry; 3],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    round: u32,
    bw: Bandwidth,
}

impl MaxFilter {
    pub(super) fn new() -> MaxFilter {
        let entry = Entry {
            round: 0,
            bw: Bandwidth::ZERO,
        };
        MaxFilter { best: [entry; 3] }
    }

    #[inline]
    pub(super) fn max(&self) -> Bandwidth {
        self.best[0].bw
    }

    /// `minmax_running_max`: adds a sample of the round `round`.
    #[inline]
    pub(super) fn add(&mut self, round: u32, bw: Bandwidth) {
        let new = Entry { round, bw };
        let [first, second, third] = self.best;
        if bw >= first.bw || round - third.round > WINDOW {
            self.best = [new; 3];
            return;
        }
        if bw >= second.bw {
            self.best = [first, new, new];
        } else if bw >= third.bw {
            self.best[2] = new;
        }
        self.age(new);
    }

    /// `minmax_subwin_update`: removes samples that are older than the window.
    fn age(&mut self, new: Entry) {
        let [first, second, third] = self.best;
        let age = new.round - first.round;
        if age > WINDOW {
            self.best = [second, third, new];
            if new.round - second.round > WINDOW {
                self.best = [third, new, new];
            }
        } else if second.round == first.round && age > WINDOW / 4 {
            self.best = [first, new, new];
        } else if third.round == second.round && age > WINDOW / 2 {
            self.best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 packets per 10 ms are 1 packet per ms: 2^24 / 1000 = 16777.2, rounded down.
    #[test]
    fn units_worked_by_hand() {
        let bw = Bandwidth::of(10, 10_000);
        assert_eq!(bw, Bandwidth(16_777));
        // 16777 / 2^24 packets/us times 50 ms are 49.9993 packets
        assert_eq!(
            (bw.packets(50_000), bw.packets_up(50_000, UNIT_GAIN)),
            (49, 50)
        );
        assert_eq!(bw.packets_up(50_000, 2 * UNIT_GAIN), 100);
        // 1000 packets/s of 1460 bytes are 1.46 MB/s, and 99 % of that 1.4454 MB/s
        let rate = bw.pacing_rate(1460, UNIT_GAIN);
        assert!((1_445_300..=1_445_400).contains(&rate), "{rate}");
        assert_eq!(bw.times(UNIT_GAIN * 5 / 4), Bandwidth(20_971));
    }

    #[test]
    fn bandwidths_within_an_eighth_are_equal() {
        let bw = Bandwidth(80_000);
        assert!(bw.is_near(Bandwidth(90_000), 1460) && bw.is_near(Bandwidth(70_000), 1460));
        assert!(!bw.is_near(Bandwidth(90_001), 1460) && !bw.is_near(Bandwidth(69_999), 1460));
        // 5 units of 2^-24 packets/us are 0.298 packets/s, or 435 bytes/s, with 1 % less 430; 6
        // units are 516 bytes/s, more than 4 kbit/s
        assert!(Bandwidth(10).is_near(Bandwidth(15), 1460));
        assert!(!Bandwidth(10).is_near(Bandwidth(16), 1460));
    }

    /// A maximum is used for ten more rounds. Then the second-best sample is the maximum.
    #[test]
    fn the_maximum_is_forgotten_after_ten_rounds() {
        let mut filter = MaxFilter::new();
        filter.add(1, Bandwidth(100));
        for round in 2..=11 {
            filter.add(round, Bandwidth(u64::from(60 - round)));
            assert_eq!(filter.max(), Bandwidth(100));
        }
        // second-best: the first sample more than 10/4 rounds after round 1, which is round 4
        filter.add(12, Bandwidth(40));
        assert_eq!(filter.max(), Bandwidth(56));
        filter.add(13, Bandwidth(70));
        assert_eq!(filter.max(), Bandwidth(70));
        // a sample after a gap of more than ten rounds replaces all others
        filter.add(30, Bandwidth(5));
        assert_eq!(filter.max(), Bandwidth(5));
    }
}

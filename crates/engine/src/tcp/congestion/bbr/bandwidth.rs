//! The bandwidth in Linux's unit.
//!
//! Reference: Linux 6.12, net/ipv4/tcp_bbr.c (`BW_UNIT`, `BBR_UNIT`).

/// `BBR_UNIT`: a gain of 1. [1/256]
pub(super) const UNIT_GAIN: u64 = 1 << GAIN_SCALE;

const GAIN_SCALE: u32 = 8;

/// `BW_UNIT`: one packet per microsecond.
const UNIT: u64 = 1 << 24;

/// `bbr_bw_rtts`: number of rounds over which the maximum is taken.
pub(super) const WINDOW: u32 = 10;

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
}

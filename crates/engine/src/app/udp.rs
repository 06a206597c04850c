//! UDP sources: with equal gaps, with exponential gaps, or greedy. After each gap the source sends
//! a burst of one or more datagrams.

use super::{Arrivals, UdpSettings};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// A UDP source. A greedy source has no timer: the simulator requests a datagram whenever the
/// source's queue has room. Therefore this queue never has room for other sources.
#[derive(Clone, Debug)]
pub struct UdpSource {
    arrivals: Arrivals,
    mean_gap_ns: f64,
    gap: Span,
    burst: u32,
    /// Number of datagrams left in the current burst, at least 1.
    left: u32,
    stream: Stream,
    due: Time,
    open: bool,
    next: u32,
}

impl UdpSource {
    /// Returns a source that has not started.
    pub fn new(settings: &UdpSettings, stream: Stream) -> UdpSource {
        let bits = f64::from(settings.payload_bytes) * 8.0 * f64::from(settings.burst);
        let mean_gap_ns = bits * 1e9 / settings.rate_bps.max(1) as f64;
        UdpSource {
            arrivals: settings.arrivals,
            mean_gap_ns,
            gap: Span(mean_gap_ns.round() as u64),
            burst: settings.burst,
            left: settings.burst,
            stream,
            due: Time::NEVER,
            open: false,
            next: 0,
        }
    }

    /// Starts the flow. A source with equal gaps sends its first datagram at a random time within
    /// the first gap. Without this random phase, datagrams of equal sources that start
    /// simultaneously would always collide. A source with exponential gaps sends its first datagram
    /// after one gap.
    pub fn open(&mut self, now: Time) {
        self.open = true;
        self.due = match self.arrivals {
            Arrivals::Constant => now + self.draw_phase(),
            Arrivals::Poisson => now + self.draw_gap(),
            Arrivals::Greedy => Time::NEVER,
        };
    }

    /// Stops the flow.
    pub fn close(&mut self) {
        self.open = false;
        self.due = Time::NEVER;
    }

    /// Returns whether the source is greedy.
    pub fn is_greedy(&self) -> bool {
        self.open && self.arrivals == Arrivals::Greedy
    }

    /// Returns the departure time of the next datagram.
    pub fn deadline(&self) -> Time {
        self.due
    }

    /// Sends a datagram and sets the next deadline. Within a burst the next deadline is the current
    /// time. Returns the number of the datagram.
    pub fn send(&mut self) -> u32 {
        self.left -= 1;
        if self.left == 0 {
            self.left = self.burst;
            self.wait();
        }
        self.count()
    }

    /// Returns the number of the next datagram, whose time an application determines.
    pub fn count(&mut self) -> u32 {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        number
    }

    /// Sets the time of the next burst, one gap after the current burst.
    fn wait(&mut self) {
        match self.arrivals {
            Arrivals::Constant => self.due += self.gap,
            Arrivals::Poisson => {
                let gap = self.draw_gap();
                self.due += gap;
            }
            Arrivals::Greedy => {}
        }
    }

    fn draw_phase(&mut self) -> Span {
        Span((self.stream.unit() * self.mean_gap_ns) as u64)
    }

    fn draw_gap(&mut self) -> Span {
        Span((self.stream.exponential() * self.mean_gap_ns).round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::streams::Streams;

    fn source(arrivals: Arrivals, burst: u32) -> UdpSource {
        let settings = UdpSettings {
            arrivals,
            rate_bps: 8_000_000,
            payload_bytes: 1000,
            header_bytes: 28,
            burst,
            control: None,
        };
        UdpSource::new(&settings, Streams::new(1, 0).stream("udp"))
    }

    #[test]
    fn a_constant_source_keeps_equal_gaps() {
        let mut source = source(Arrivals::Constant, 1);
        source.open(Time(5));
        let first = source.deadline().0;
        assert!((5..1_000_005).contains(&first));
        let times: Vec<u64> = (0..3)
            .map(|_| {
                let at = source.deadline().0;
                source.send();
                at
            })
            .collect();
        assert_eq!(times, [first, first + 1_000_000, first + 2_000_000]);
        source.close();
        assert_eq!(source.deadline(), Time::NEVER);
    }

    #[test]
    fn a_burst_leaves_at_one_instant_and_the_gaps_are_longer() {
        let mut source = source(Arrivals::Constant, 5);
        source.open(Time::ZERO);
        let first = source.deadline().0;
        assert!(first < 5_000_000);
        let times: Vec<u64> = (0..7)
            .map(|_| {
                let at = source.deadline().0;
                source.send();
                at - first
            })
            .collect();
        assert_eq!(times, [0, 0, 0, 0, 0, 5_000_000, 5_000_000]);
    }

    #[test]
    fn a_poisson_source_keeps_its_mean_rate() {
        let mut source = source(Arrivals::Poisson, 1);
        source.open(Time::ZERO);
        for _ in 0..100_000 {
            source.send();
        }
        // after 100,001 gaps of 1 ms the standard error of their mean is 0.32 %
        let mean_gap_s = source.deadline().seconds() / 100_001.0;
        assert!((mean_gap_s / 1e-3 - 1.0).abs() < 0.013);
    }
}

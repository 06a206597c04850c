//! The variables that a congestion control sets: cwnd and ssthresh.
//!
//! Reference: RFC 5681, section 3.

/// Smallest slow-start threshold (RFC 5681, equation 4). [packets]
pub(super) const MIN_SSTHRESH: f64 = 2.0;

/// Returns half of the outstanding segments `flight`, but at least 2: the slow-start threshold
/// after a loss (RFC 5681, equation 4). [packets]
pub(super) fn half(flight: u32) -> f64 {
    (f64::from(flight) / 2.0).max(MIN_SSTHRESH)
}

/// The congestion window and its bounds. [packets]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Congestion window, including its inflation in fast recovery.
    pub cwnd: f64,
    /// Slow-start threshold. The sender is in slow start while cwnd is below this threshold, and
    /// otherwise in congestion avoidance.
    pub ssthresh: f64,
    /// Receive window.
    pub(super) receive: f64,
    /// Growth of cwnd per ACK in slow start: 1 unless HyStart++ reduces it.
    pub(super) slow_start_gain: f64,
}

impl Window {
    pub(in crate::tcp) fn new(cwnd: f64, ssthresh: f64, receive: f64) -> Window {
        Window {
            cwnd,
            ssthresh,
            receive,
            slow_start_gain: 1.0,
        }
    }

    /// Increases cwnd on an ACK of new data, by slow start or by congestion avoidance (RFC 5681,
    /// section 3.1, equations 2 and 3).
    #[inline]
    pub fn grow(&mut self) {
        if self.cwnd < self.receive && !self.slow_start() {
            self.add(1.0 / self.cwnd);
        }
    }

    /// In slow start, increases cwnd and returns true. In congestion avoidance, returns false and
    /// does not change cwnd.
    #[inline]
    pub fn slow_start(&mut self) -> bool {
        let below = self.cwnd < self.ssthresh;
        if below {
            self.add(self.slow_start_gain);
        }
        below
    }

    /// Returns whether cwnd is in slow start.
    pub fn is_below_ssthresh(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Increases cwnd by `increase`, up to the receive window.
    #[inline]
    pub fn add(&mut self, increase: f64) {
        if self.cwnd < self.receive {
            let grown = self.cwnd + increase;
            // `f64::min` takes several more instructions, for numbers that are not finite
            self.cwnd = if grown < self.receive {
                grown
            } else {
                self.receive
            };
        }
    }

    /// Inflates cwnd at the start of fast recovery, because the segments that caused the three
    /// duplicate ACKs have left the network (RFC 5681, section 3.2, step 3).
    pub fn inflate(&mut self) {
        self.cwnd = self.ssthresh + 3.0;
    }

    /// Returns the smaller of `flight` and cwnd, for congestion controls that reduce the window by
    /// less than half. FlightSize also includes segments that were SACKed or sent while cwnd was
    /// inflated. Therefore a large fraction of FlightSize, such as 7/8, may exceed the window.
    /// [packets]
    pub fn effective_flight(&self, flight: u32) -> f64 {
        f64::from(flight).min(self.cwnd)
    }

    /// Sets cwnd to ssthresh at the end of fast recovery (RFC 5681, section 3.2, step 6). cwnd
    /// never exceeds the receive window, even if the receive window is smaller than the minimum
    /// ssthresh.
    pub fn deflate(&mut self) {
        self.cwnd = self.ssthresh.min(self.receive);
    }

    /// Sets cwnd to the loss window of one segment (RFC 5681, section 3.1).
    pub fn collapse(&mut self) {
        self.cwnd = 1.0;
    }

    /// Reduces cwnd and ssthresh after a timeout as Reno does; see `WindowAlgorithm::on_timeout`.
    pub fn on_timeout(&mut self, flight: u32, first: bool) {
        if first {
            self.ssthresh = half(flight);
        }
        self.collapse();
    }
}

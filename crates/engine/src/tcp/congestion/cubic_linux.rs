//! CUBIC as computed in Linux: the window is in whole packets, grows by acknowledged segments, and
//! slow start uses HyStart.
//!
//! References: S. Ha, I. Rhee, L. Xu, "CUBIC: a new TCP-friendly high-speed TCP variant", ACM
//! SIGOPS Operating Systems Review 42(5), 2008; Linux 6.x, `tcp_cubic.c` and `tcp_cong.c`. The
//! comments below name the functions and variables of Linux.
//!
//! ```text
//! cwnd + 1 per segment acknowledged, up to ssthresh             slow start
//! cwnd + 1 per cnt segments acknowledged                        congestion avoidance
//! target = origin + 410/1024 (t - K)^3           t, K in seconds, from the epoch's start
//! cnt    = cwnd / (target - cwnd);               100 cwnd if target <= cwnd; at most 20
//!                                                before the first loss;
//!          at most cwnd / (W_est - cwnd),        W_est + 1 per 15/8 cwnd segments
//!          at least 2
//! ssthresh = max(717/1024 cwnd, 2)               a loss
//! W_max  = cwnd;                                 a loss
//!          (1024 + 717)/2048 cwnd if cwnd is     fast convergence
//!          below the previous W_max
//! origin = max(W_max, cwnd)                      plateau
//! ```
//!
//! The epoch is the time from one reduction of the window to the next. t is the time since the
//! beginning of the epoch plus `delay_min`, K the time until the window is at its plateau `origin`,
//! and W_est the window that a Reno flow would have. cnt is the number of acknowledged segments per
//! packet of growth.
//!
//! After idle time the epoch begins later by the time since the last transmission of new data, but
//! not later than the present (`CA_EVENT_TX_START` in `cubictcp_cwnd_event`). Therefore t does not
//! include idle time. It includes application-limited periods in which segments are outstanding.
//!
//! Differs from `cubic.rs` in:
//! - The window grows by segments and not by ACKs, so that delayed ACKs do not halve its growth.
//! - The target is computed at most once per timer tick. While the window does not change, `cnt` is
//!   computed again only after more than 1/32 s.
//! - Before the first loss, the window grows by at least 5 % per round trip after slow start. It
//!   never grows by more than half per round trip.
//! - A loss reduces cwnd by a fraction of cwnd, not of FlightSize.
//! - HyStart ends slow start, see `hybrid.rs`.
//!
//! Differs from Linux in:
//! - HZ is a setting, because it depends on the configuration of the kernel.
//! - The cube root is exact. The cube root of Linux has an error of 0.2 % on average.
//! - Samples of the delay are ignored during a recovery.
//! - Only a write after idle time moves the epoch. In Linux each segment does that is sent while no
//!   segment is outstanding, such as after an ACK of a whole window. A retransmission after the last
//!   new data does not change the length of the idle time.
//! - A timeout during recovery may reduce ssthresh again.
//!
//! A window that is limited by the receive window does not grow, as with the cwnd validation of
//! Linux (RFC 7661).

use super::control::NewAck;
use super::hybrid::HybridSlowStart;
use super::window::{MIN_SSTHRESH, Window};
use super::window_algorithm::WindowAlgorithm;
use crate::kernel::time::{Span, Time};
use crate::notation::setting::{count, flag};
use crate::table;

table! {
    /// Parameters of Linux's CUBIC (congestion = "cubic_linux").
    pub struct CubicLinuxSettings: Copy in "cubic_linux" {
        /// If true, slow start ends when ACKs arrive as fast as the path can carry segments, or when their delay rises (HyStart).
        hystart: bool = flag(), fallback true;
        /// Timer ticks per second of the clock that CUBIC reads: `CONFIG_HZ` of the kernel, often 250 or 1000.
        hz: u32 = count(100..=1_000), fallback 1_000;
    }
}

/// `BICTCP_BETA_SCALE`: denominator of fractions. Times are in units of 1/1024 s (`BICTCP_HZ`).
const SCALE: u64 = 1024;

/// `beta`: numerator of the factor 717/1024 by which a loss multiplies the window.
const BETA: u64 = 717;

/// `cube_rtt_scale`: constant C of the cubic function, in units of 1/1024 packet per cubic second
/// (410/1024 = 0.4).
const C: u64 = 410;

/// `beta_scale`: 8 (1 + beta) / (3 (1 - beta)). W_est, the window of a Reno flow, grows by one
/// packet whenever `FRIENDLY` / 8 of a window has been acknowledged.
const FRIENDLY: u64 = 8 * (SCALE + BETA) / 3 / (SCALE - BETA);

/// The clock that CUBIC reads. It counts timer ticks (jiffies).
#[derive(Clone, Copy, Debug)]
struct Clock {
    /// `HZ`: number of timer ticks per second. [1/s]
    hz: u64,
    /// Duration of a timer tick.
    tick: Span,
}

impl Clock {
    fn new(hz: u32) -> Clock {
        Clock {
            hz: u64::from(hz),
            tick: Span(1_000_000_000 / u64::from(hz)),
        }
    }

    /// Returns the timer tick at a time.
    fn at(self, now: Time) -> u64 {
        now.0 / self.tick.0
    }

    /// `usecs_to_jiffies`: returns the duration in timer ticks, rounded up.
    fn ticks(self, span: Span) -> u64 {
        span.0.div_ceil(self.tick.0)
    }
}

#[derive(Clone, Debug)]
pub(super) struct CubicLinux {
    clock: Clock,
    hystart: Option<HybridSlowStart>,
    /// Number of segments that must be acknowledged for the window to grow by one packet.
    cnt: u64,
    /// `snd_cwnd_cnt`: number of segments acknowledged since the window last grew.
    credit: u64,
    /// `last_max_cwnd`: window W_max before the last reduction. [packets]
    w_max: u64,
    /// Window and timer tick of the last update of `cnt`.
    last: (u64, u64),
    epoch: Option<Epoch>,
    /// `delay_min`: minimum round-trip time; `None` before the first sample.
    delay_min: Option<Span>,
    /// Time at which all data of the application was sent; `None` while the application has data.
    out_of_data: Option<Time>,
}

/// The time from one reduction of the window to the next.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    /// `epoch_start`: timer tick at which the epoch began. [ticks]
    start: u64,
    /// `bic_K`: time K from the beginning of the epoch to the plateau of the cubic function.
    /// [1/1024 s]
    k: u64,
    /// `bic_origin_point`: window at the plateau of the cubic function. [packets]
    origin: u64,
    /// `ack_cnt`: number of acknowledged segments that have not increased `w_est` yet.
    acked: u64,
    /// `tcp_cwnd`: window W_est that a Reno flow would have under the same conditions. [packets]
    w_est: u64,
}

impl Epoch {
    fn begin(start: u64, cwnd: u64, w_max: u64) -> Epoch {
        let below = w_max.saturating_sub(cwnd);
        Epoch {
            start,
            k: cube_root((1 << 40) / C * below),
            origin: w_max.max(cwnd),
            acked: 0,
            w_est: cwnd,
        }
    }

    /// Returns the target of the window [packets] at the time `t` [1/1024 s] after the beginning of
    /// the epoch.
    fn target(&self, t: u64) -> u64 {
        let offset = u128::from(t.abs_diff(self.k));
        let delta = ((u128::from(C) * offset * offset * offset) >> 40) as u64;
        if t < self.k {
            self.origin.saturating_sub(delta)
        } else {
            self.origin + delta
        }
    }

    /// Increases W_est, the window of a Reno flow, for the acknowledged segments. `cwnd` is the
    /// actual window.
    fn follow_reno(&mut self, cwnd: u64) {
        let each = (cwnd * FRIENDLY) >> 3;
        // at least 1 and at most `each` segments remain uncounted, as in the loop of Linux
        let packets = self.acked.saturating_sub(1) / each;
        self.acked -= packets * each;
        self.w_est += packets;
    }
}

/// Returns the cube root of `value`, rounded down.
fn cube_root(value: u64) -> u64 {
    let near = libm::cbrt(value as f64) as u64;
    let fits = |root: u64| root.pow(3) <= value;
    if fits(near + 1) {
        near + 1
    } else if fits(near) {
        near
    } else {
        near - 1
    }
}

impl CubicLinux {
    pub(super) fn new(settings: CubicLinuxSettings) -> CubicLinux {
        CubicLinux {
            clock: Clock::new(settings.hz),
            hystart: settings.hystart.then(HybridSlowStart::new),
            cnt: 0,
            credit: 0,
            w_max: 0,
            last: (0, 0),
            epoch: None,
            delay_min: None,
            out_of_data: None,
        }
    }

    /// `bictcp_reset`: resets the state of the algorithm after a timeout.
    fn reset(&mut self) {
        let out_of_data = self.out_of_data;
        *self = CubicLinux::new(CubicLinuxSettings {
            hystart: self.hystart.is_some(),
            hz: self.clock.hz as u32,
        });
        self.out_of_data = out_of_data;
    }

    /// `cubictcp_acked`: processes the round-trip time sample of an ACK. Samples in the first second
    /// of an epoch are ignored.
    fn on_sample(&mut self, window: &mut Window, ack: &NewAck) {
        let Some(rtt) = ack.rtt.last_sample() else {
            return;
        };
        if self
            .epoch
            .is_some_and(|epoch| self.clock.at(ack.now) - epoch.start < self.clock.hz)
        {
            return;
        }
        let delay_min = self.delay_min.map_or(rtt, |minimum| minimum.min(rtt));
        self.delay_min = Some(delay_min);
        let cwnd = window.cwnd;
        if cwnd < window.ssthresh
            && let Some(hystart) = &mut self.hystart
            && hystart.on_ack(ack, cwnd as u32, rtt, delay_min)
        {
            window.ssthresh = cwnd;
        }
    }

    /// `bictcp_update`: computes `cnt` after `acked` segments were acknowledged at the window
    /// `cwnd`.
    fn update(&mut self, now: Time, cwnd: u64, acked: u64) {
        let Clock { hz, .. } = self.clock;
        let now = self.clock.at(now);
        if let Some(epoch) = &mut self.epoch {
            epoch.acked += acked;
        }
        if self.last.0 == cwnd && now - self.last.1 <= hz / 32 {
            return;
        }
        let delay = self.clock.ticks(self.delay_min.unwrap_or(Span::ZERO));
        let w_max = self.w_max;
        let begins = self.epoch.is_none();
        let epoch = self.epoch.get_or_insert_with(|| Epoch {
            acked,
            ..Epoch::begin(now, cwnd, w_max)
        });
        if begins || now != self.last.1 {
            self.last = (cwnd, now);
            let target = epoch.target((now - epoch.start + delay) * SCALE / hz);
            self.cnt = match target.checked_sub(cwnd) {
                None | Some(0) => 100 * cwnd,
                Some(above) => cwnd / above,
            };
            if w_max == 0 {
                self.cnt = self.cnt.min(20);
            }
        }
        epoch.follow_reno(cwnd);
        if epoch.w_est > cwnd {
            self.cnt = self.cnt.min(cwnd / (epoch.w_est - cwnd));
        }
        self.cnt = self.cnt.max(2);
    }

    /// `tcp_cong_avoid_ai`: returns the growth of the window for `acked` segments. If `cnt` has
    /// decreased, the segments counted before add at most one packet to the window.
    fn increase(&mut self, acked: u64) -> u64 {
        let mut packets = 0;
        if self.credit >= self.cnt {
            self.credit = 0;
            packets = 1;
        }
        self.credit += acked;
        packets += self.credit / self.cnt;
        self.credit %= self.cnt;
        packets
    }

    /// `cubictcp_recalc_ssthresh`: returns ssthresh after a loss at the window `cwnd`. [packets]
    fn recalc_ssthresh(&mut self, cwnd: f64) -> f64 {
        let cwnd = cwnd as u64;
        self.epoch = None;
        // the count of acknowledged segments starts again, as in `tcp_init_cwnd_reduction`
        self.credit = 0;
        self.w_max = if cwnd < self.w_max {
            cwnd * (SCALE + BETA) / (2 * SCALE)
        } else {
            cwnd
        };
        ((cwnd * BETA / SCALE) as f64).max(MIN_SSTHRESH)
    }
}

impl WindowAlgorithm for CubicLinux {
    /// `cubictcp_cong_avoid`: processes an ACK of new data.
    fn on_ack(&mut self, window: &mut Window, ack: NewAck) {
        self.on_sample(window, &ack);
        if window.cwnd >= window.receive {
            return; // the receive window, not cwnd, limits the sender
        }
        let mut acked = ack.delivered;
        if window.cwnd < window.ssthresh {
            let room = (window.ssthresh - window.cwnd).ceil() as u32;
            let grown = acked.min(room);
            window.cwnd = (window.cwnd + f64::from(grown)).min(window.ssthresh);
            acked -= grown;
            if acked == 0 {
                return;
            }
        }
        self.update(ack.now, window.cwnd as u64, u64::from(acked));
        let packets = self.increase(u64::from(acked));
        window.add(packets as f64);
    }

    fn decrease(&mut self, window: &Window, _flight: u32) -> f64 {
        self.recalc_ssthresh(window.cwnd)
    }

    fn on_timeout(&mut self, window: &mut Window, flight: u32, first: bool) {
        if first {
            window.ssthresh = self.recalc_ssthresh(window.cwnd.max(f64::from(flight)));
        }
        self.reset();
        window.collapse();
    }

    fn on_out_of_data(&mut self, now: Time) {
        self.out_of_data.get_or_insert(now);
    }

    /// `cubictcp_cwnd_event`: moves the beginning of the epoch by the idle time.
    fn on_write(&mut self, now: Time, is_idle: bool) {
        if let Some(last_sent) = self.out_of_data.take()
            && is_idle
            && let Some(epoch) = &mut self.epoch
        {
            let now = self.clock.at(now);
            let idle = now - self.clock.at(last_sent);
            epoch.start = (epoch.start + idle).min(now);
        }
    }
}

#[cfg(test)]
mod idle_tests;
#[cfg(test)]
mod tests;

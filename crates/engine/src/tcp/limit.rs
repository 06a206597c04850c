//! The cause that keeps a sender from sending more segments.
//!
//! Reference: Linux, `tcp_chrono` and `tcp_write_xmit` in net/ipv4/tcp_output.c, which give the fields
//! `tcpi_busy_time`, `tcpi_rwnd_limited` and `tcpi_sndbuf_limited` of `tcp_info`;
//! `tcp_rate_check_app_limited` in net/ipv4/tcp_rate.c.
//!
//! After each event a sender sends as many segments as it may. The limit that stops it is recorded
//! until the next event:
//!
//! ```text
//! nothing to send --------------------------------------> App
//! data to send, the congestion control delays it -------> Cwnd
//! data to send, the receive window is used up ----------> Rwnd
//! no connection yet, or all data is acknowledged -------> None
//! ```
//!
//! Therefore the times of the limits add up to the lifetime of the connection. The congestion
//! control delays data by its window, or until the transmission time that its pacing permits. The
//! time of a recovery, and the wait for the retransmission timer, count as `Cwnd` or `Rwnd` if
//! there are segments to send or to retransmit.
//!
//! Differs from Linux in:
//! - The congestion window never exceeds the receive window here. If both are equal and used up,
//!   the limit is the receive window. In Linux the congestion window is larger in this case.
//! - While all data is sent and some data is not acknowledged, Linux counts the time as busy. Here
//!   the limit is the application, as in the rate samples of Linux. Therefore `tcpi_busy_time`
//!   minus `tcpi_rwnd_limited` is the time of `Cwnd` plus those times of `App` in which data is
//!   unacknowledged.
//! - There is no send buffer, so that `tcpi_sndbuf_limited` has no counterpart.

/// The limit that a sender meets after it has sent as many segments as it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// The congestion window or pacing prevents the transmission of available data.
    Cwnd = 0,
    /// The receive window prevents the transmission of available data.
    Rwnd = 1,
    /// The application has no further data: all data has been sent.
    App = 2,
    /// There is no connection yet, or all data of the flow has been acknowledged.
    None = 3,
}

impl Limit {
    /// Number of limits whose time is measured: all except `None`.
    pub const COUNT: usize = 3;

    /// Returns the limit of a sender whose window is used up. `is_receive` is true if the receive
    /// window is not larger than the congestion window.
    #[inline(always)]
    pub(super) fn of_window(is_receive: bool) -> Limit {
        match is_receive {
            true => Limit::Rwnd,
            false => Limit::Cwnd,
        }
    }
}

//! NewReno: fast recovery until everything sent before the loss has arrived.
//!
//! Reference: RFC 6582, section 3.2.
//!
//! Choices that the RFC offers:
//! - The full ACK sets cwnd = ssthresh (option 2), as in Reno, ns-2 and Linux. The cost is a burst
//!   when few segments are outstanding. Option 1, min(ssthresh, max(FlightSize, 1) + 1), would lead
//!   to slow start after each loss of a connection that fills its receive window, because such a
//!   connection can send nothing new in recovery. The throughput would be 5 % lower (window 42, RTT
//!   100 ms, 0.1 % loss).
//! - The timer is "impatient": it is restarted only on the first partial ACK. Therefore a window
//!   with many losses ends in a timeout and slow start, and not in one repair per round trip. ns-2
//!   has the same timer (`newreno_changes1_`); Linux restarts the timer on each partial ACK.
//!
//! Differs from the RFC in: a partial ACK deflates cwnd to zero at most, whereas the RFC would make
//! cwnd negative after many lost ACKs.

use super::window_algorithm::WindowAlgorithm;

/// NewReno, whose window follows the defaults of [`WindowAlgorithm`].
#[derive(Clone, Debug)]
pub(super) struct NewReno;

impl WindowAlgorithm for NewReno {}

//! NewReno: fast recovery until all segments that were sent before the loss have arrived.
//!
//! Reference: RFC 6582, section 3.2.
//!
//! Choices that the RFC offers:
//! - The full ACK sets cwnd = ssthresh (option 2), as in Reno, ns-2 and Linux. The cost is a burst
//!   when few segments are outstanding. Option 1, min(ssthresh, max(FlightSize, 1) + 1), would lead
//!   to slow start after each loss of a connection that fills its receive window, because such a
//!   connection can send nothing new in recovery. The throughput would be 5 % lower (window 42, RTT
//!   100 ms, 0.1 % loss).
//! - The retransmission timer is "impatient": only the first partial ACK restarts it. Therefore
//!   many losses in one window end in a timeout and slow start, and are not repaired one per round
//!   trip. ns-2 has the same timer (`newreno_changes1_`); Linux restarts the timer on each partial
//!   ACK.
//!
//! Differs from the RFC in: a partial ACK does not reduce cwnd below zero. By the RFC, cwnd would
//! be negative after many lost ACKs.

use super::window_algorithm::WindowAlgorithm;

/// NewReno. Its functions are the defaults of [`WindowAlgorithm`].
#[derive(Clone, Debug)]
pub(super) struct NewReno;

impl WindowAlgorithm for NewReno {}

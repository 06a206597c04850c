//! The state machine's states, the sample of an ACK, and the values that an undo restores.

use crate::kernel::time::Span;

/// `BBR.state`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

/// The sample of one ACK (RS).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) delivery_rate: f64,
    pub(super) newly_acked: f64,
    pub(super) delivered: u32,
    pub(super) prior_delivered: u32,
    pub(super) tx_in_flight: f64,
    pub(super) lost: f64,
    pub(super) rtt: Option<Span>,
    pub(super) has_data: bool,
    pub(super) is_app_limited: bool,
}

impl Sample {
    /// `InitRateSample`: the sample of an ACK that reports no arrivals.
    pub(super) const NONE: Sample = Sample {
        delivery_rate: 0.0,
        newly_acked: 0.0,
        delivered: 0,
        prior_delivered: 0,
        tx_in_flight: 0.0,
        lost: 0.0,
        rtt: None,
        has_data: false,
        is_app_limited: false,
    };
}

/// The values before a loss recovery, which are restored if it is spurious.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    pub(super) state: Option<State>,
    pub(super) bw_shortterm: f64,
    pub(super) inflight_shortterm: f64,
    pub(super) inflight_longterm: f64,
}

impl Undo {
    pub(super) const NONE: Undo = Undo {
        state: None,
        bw_shortterm: 0.0,
        inflight_shortterm: 0.0,
        inflight_longterm: 0.0,
    };
}

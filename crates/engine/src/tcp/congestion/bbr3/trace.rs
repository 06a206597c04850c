//! A trace of all events of one BBR v3 connection, for the comparison with an independent
//! implementation (`bench/bbr3_second.py`). It exists only with the feature `bbr3-trace`.
//!
//! The trace has one JSON object per line: the events of the connection in the order in which the
//! sender processes them, and the state of BBR after each ACK and timeout. Times are in nanoseconds,
//! volumes in bytes, and rates in bits per second. The page `bench/README.md` has all fields.

#[cfg(not(feature = "bbr3-trace"))]
pub(super) use absent::Trace;
#[cfg(feature = "bbr3-trace")]
pub(super) use present::Trace;
#[cfg(feature = "bbr3-trace")]
pub use present::take;

/// The trace of an engine without the feature `bbr3-trace`: it records nothing.
#[cfg(not(feature = "bbr3-trace"))]
mod absent {
    use super::super::Bbr3;
    use crate::kernel::time::{Span, Time};
    use crate::tcp::congestion::control::{Processed, Sent};

    #[derive(Clone, Debug)]
    pub(in super::super) struct Trace;

    #[allow(clippy::unused_self)]
    impl Trace {
        pub(in super::super) fn new() -> Trace {
            Trace
        }

        #[inline(always)]
        pub(in super::super) fn sent(&self, _: &Sent, _: f64, _: Span) {}

        #[inline(always)]
        pub(in super::super) fn recovery(&self, _: Time, _: bool) {}

        #[inline(always)]
        pub(in super::super) fn drawn(&self, _: f64) {}

        #[inline(always)]
        pub(in super::super) fn app_limited(&self) {}

        #[inline(always)]
        pub(in super::super) fn undo(&self) {}
    }

    #[allow(clippy::unused_self)]
    impl Bbr3 {
        #[inline(always)]
        pub(in super::super) fn trace_start(&self, _: Time, _: Option<Span>) {}

        #[inline(always)]
        pub(in super::super) fn trace_ack(&self, _: &Processed) {}

        #[inline(always)]
        pub(in super::super) fn trace_timeout(&self, _: Time) {}
    }
}

#[cfg(feature = "bbr3-trace")]
mod present {
    use std::sync::{Mutex, MutexGuard, PoisonError};

    use super::super::{Bbr3, State, UNKNOWN};
    use crate::kernel::time::{Span, Time};
    use crate::tcp::congestion::control::{Processed, RecoveryPhase, Sent};

    /// The trace of this process.
    static RECORD: Mutex<Record> = Mutex::new(Record {
        is_wanted: false,
        lines: Vec::new(),
    });

    struct Record {
        /// Whether the next connection that begins is traced.
        is_wanted: bool,
        lines: Vec<String>,
    }

    fn lock() -> MutexGuard<'static, Record> {
        RECORD.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the lines of the trace so far, and begins a new trace: the first connection that sends
    /// a segment afterwards is traced.
    pub fn take() -> Vec<String> {
        let mut record = lock();
        record.is_wanted = true;
        std::mem::take(&mut record.lines)
    }

    #[derive(Clone, Debug)]
    pub(in super::super) struct Trace {
        is_on: bool,
        /// Number of transmissions so far.
        sent: u64,
        is_app_limited: bool,
        is_undone: bool,
        delivered: Vec<u64>,
        lost: Vec<u64>,
        draws: Vec<f64>,
        lost_at: Time,
    }

    fn emit(line: String) {
        lock().lines.push(line);
    }

    fn list(values: &[u64]) -> String {
        let texts: Vec<String> = values.iter().map(u64::to_string).collect();
        format!("[{}]", texts.join(", "))
    }

    /// Returns a number as JSON; null if it is infinite.
    fn number(value: f64) -> String {
        match value.is_finite() {
            true => value.to_string(),
            false => "null".to_owned(),
        }
    }

    fn rtt(value: Option<Span>) -> String {
        value
            .filter(|&rtt| rtt != UNKNOWN)
            .map_or("null".to_owned(), |rtt| rtt.0.to_string())
    }

    impl State {
        fn name(self) -> &'static str {
            match self {
                State::Startup => "Startup",
                State::Drain => "Drain",
                State::Down => "ProbeBW_DOWN",
                State::Cruise => "ProbeBW_CRUISE",
                State::Refill => "ProbeBW_REFILL",
                State::Up => "ProbeBW_UP",
                State::ProbeRtt => "ProbeRTT",
            }
        }
    }

    impl Bbr3 {
        /// Returns the state after an ACK or a timeout as JSON.
        fn then(&self) -> String {
            let bps = 8e9 * self.mss;
            format!(
                "{{\"state\": \"{}\", \"pacing_rate_bps\": {}, \"cwnd_bytes\": {}, \"max_bw_bps\": {}, \
                 \"bw_bps\": {}, \"min_rtt_ns\": {}, \"inflight_longterm_bytes\": {}, \
                 \"inflight_shortterm_bytes\": {}, \"extra_acked_bytes\": {}, \"round_count\": {}}}",
                self.state.name(),
                number(self.pacing_rate * bps),
                number(self.cwnd * self.mss),
                number(self.max_bw * bps),
                number(self.bw * bps),
                rtt(Some(self.min_rtt)),
                number(self.inflight_longterm * self.mss),
                number(self.inflight_shortterm * self.mss),
                number(self.extra_acked.max() * self.mss),
                self.rounds,
            )
        }
    }

    impl Trace {
        pub(in super::super) fn new() -> Trace {
            Trace {
                is_on: false,
                sent: 0,
                is_app_limited: false,
                is_undone: false,
                delivered: Vec::new(),
                lost: Vec::new(),
                draws: Vec::new(),
                lost_at: Time::ZERO,
            }
        }

        /// Emits the events that precede an event at `now`.
        fn flush(&mut self, now: Time, is_ack: bool) {
            let is_of_ack = is_ack && self.lost_at == now;
            if !is_of_ack && !self.lost.is_empty() {
                let lost = list(&std::mem::take(&mut self.lost));
                let at = self.lost_at.0;
                emit(format!(
                    "{{\"event\": \"lost\", \"at_ns\": {at}, \"lost\": {lost}}}"
                ));
            }
            if std::mem::take(&mut self.is_undone) {
                emit(recovery(now, false, true));
            }
            if std::mem::take(&mut self.is_app_limited) {
                let at = now.0;
                emit(format!(
                    "{{\"event\": \"application_limited\", \"at_ns\": {at}}}"
                ));
            }
        }

        pub(in super::super) fn next_id(&self) -> u64 {
            self.sent
        }

        pub(in super::super) fn sent(&mut self, sent: &Sent, mss: f64, gap: Span) {
            if self.is_on {
                self.flush(sent.now, false);
                let replaces = match sent.is_probe && sent.is_retransmission {
                    true => ", \"replaces_last_of_segment\": true",
                    false => "",
                };
                emit(format!(
                    "{{\"event\": \"sent\", \"at_ns\": {}, \"id\": {}, \"bytes\": {mss}, \
                     \"is_retransmission\": {}, \"pacing_delay_ns\": {}{replaces}}}",
                    sent.now.0, self.sent, sent.is_retransmission, gap.0
                ));
            }
            self.sent += 1;
        }

        pub(in super::super) fn delivered(&mut self, id: u64) {
            if self.is_on {
                self.delivered.push(id);
            }
        }

        pub(in super::super) fn lost(&mut self, now: Time, id: u64) {
            if self.is_on {
                self.lost.push(id);
                self.lost_at = now;
            }
        }

        pub(in super::super) fn drawn(&mut self, value: f64) {
            if self.is_on {
                self.draws.push(value);
            }
        }

        pub(in super::super) fn app_limited(&mut self) {
            self.is_app_limited = true;
        }

        pub(in super::super) fn undo(&mut self) {
            self.is_undone = true;
        }

        pub(in super::super) fn recovery(&mut self, now: Time, is_entered: bool) {
            if self.is_on {
                self.flush(now, true);
                emit(recovery(now, is_entered, false));
            }
        }
    }

    fn recovery(now: Time, is_entered: bool, is_spurious: bool) -> String {
        let at = now.0;
        format!(
            "{{\"event\": \"recovery\", \"at_ns\": {at}, \"is_entered\": {is_entered}, \
             \"is_spurious\": {is_spurious}}}"
        )
    }

    impl Bbr3 {
        pub(in super::super) fn trace_start(&mut self, now: Time, srtt: Option<Span>) {
            self.trace.is_on = {
                let mut trace = lock();
                trace.is_wanted && std::mem::replace(&mut trace.is_wanted, false)
            };
            if !self.trace.is_on {
                return;
            }
            let mss = self.mss;
            emit(format!(
                "{{\"event\": \"start\", \"at_ns\": {}, \"mss_bytes\": {mss}, \
                 \"initial_window_bytes\": {}, \"srtt_ns\": {}, \"constants\": {{\"LossThresh\": {}, \
                 \"MaxBwFilterLen\": 2, \"ExtraAckedFilterLen\": 10, \"Beta\": 0.7, \"Headroom\": 0.15, \
                 \"MinPipeCwnd\": {}}}}}",
                now.0,
                self.initial_cwnd * mss,
                rtt(srtt),
                self.settings.loss_threshold,
                4.0 * mss,
            ));
        }

        pub(in super::super) fn trace_ack(&mut self, state: &Processed) {
            if !self.trace.is_on {
                return;
            }
            self.trace.flush(state.now, true);
            let newest = self.trace.delivered.iter().max();
            let round_trip_of = newest.map_or("null".to_owned(), u64::to_string);
            let delivered = list(&std::mem::take(&mut self.trace.delivered));
            let lost = list(&std::mem::take(&mut self.trace.lost));
            let draws = std::mem::take(&mut self.trace.draws);
            let (at, rtt, then) = (state.now.0, rtt(state.rtt), self.then());
            let is_in_recovery = state.phase != RecoveryPhase::Open;
            emit(format!(
                "{{\"event\": \"ack\", \"at_ns\": {at}, \"delivered\": {delivered}, \"lost\": {lost}, \
                 \"rtt_ns\": {rtt}, \"is_in_recovery\": {is_in_recovery}, \
                 \"round_trip_of\": {round_trip_of}, \"random\": {draws:?}, \"then\": {then}}}"
            ));
        }

        pub(in super::super) fn trace_timeout(&mut self, now: Time) {
            if !self.trace.is_on {
                return;
            }
            self.trace.flush(now, true);
            let lost = list(&std::mem::take(&mut self.trace.lost));
            let draws = std::mem::take(&mut self.trace.draws);
            let (at, then) = (now.0, self.then());
            emit(format!(
                "{{\"event\": \"timeout\", \"at_ns\": {at}, \"lost\": {lost}, \"random\": {draws:?}, \
                 \"then\": {then}}}"
            ));
        }
    }
}

//! The congestion state of a sender: the window, the congestion control that sets it, and
//! extensions of its growth.

use super::Control;
use super::control::{
    CongestionControl, CongestionSign, MarkReport, NewAck, Processed, RecoveryAck, RecoveryPhase,
    Sent,
};
use super::extras::{Count, Extras, grow_by_segments};
use super::undo::PriorWindow;
use super::window::{MIN_SSTHRESH, Window};
use crate::kernel::time::Time;
use crate::tcp::TcpSettings;
use crate::tcp::recovery::RecoveryMode;
use crate::tcp::sack::Blocks;
use crate::tcp::validation::Validation;

#[derive(Clone, Debug)]
pub(in crate::tcp) struct Congestion {
    pub(in crate::tcp) window: Window,
    pub(super) control: Control,
    /// Extensions of the growth, such as HyStart++; `None` if the settings require none.
    extras: Option<Box<Extras>>,
}

impl Congestion {
    pub(in crate::tcp) fn new(settings: &TcpSettings) -> Congestion {
        let receive = f64::from(settings.window_packets);
        let initial = f64::from(settings.initial_cwnd_packets);
        Congestion {
            window: Window::new(initial.min(receive), receive, receive),
            control: Control::new(settings),
            extras: Extras::new(settings),
        }
    }

    /// Returns the validation of the window, and the window; `None` if the window is kept after idle
    /// time.
    #[inline(always)]
    pub(in crate::tcp) fn validation(&mut self) -> Option<(&mut Validation, &mut Window)> {
        let validation = self.extras.as_mut()?.validation.as_mut()?;
        Some((validation, &mut self.window))
    }

    /// Returns whether the window is validated.
    #[inline(always)]
    pub(in crate::tcp) fn is_validated(&self) -> bool {
        (self.extras.as_ref()).is_some_and(|extras| extras.validation.is_some())
    }

    /// Returns whether the validation of the window permits growth on an ACK.
    #[inline(always)]
    pub(in crate::tcp) fn may_grow(&self) -> bool {
        let validation = self
            .extras
            .as_ref()
            .and_then(|extras| extras.validation.as_ref());
        validation.is_none_or(|validation| validation.may_grow(&self.window))
    }

    /// Returns the present window, so that a later reduction can be undone.
    pub(in crate::tcp) fn prior(&self) -> PriorWindow {
        PriorWindow::of(&self.window)
    }

    /// Undoes a reduction that turned out to be unnecessary: restores the window `prior`.
    pub(in crate::tcp) fn restore(&mut self, prior: PriorWindow) {
        prior.restore(&mut self.window);
        self.control.after_undo(&mut self.window);
    }

    /// Returns whether the congestion control draws random numbers.
    pub(in crate::tcp) fn draws_random_numbers(&self) -> bool {
        matches!(self.control, Control::Bbr(_) | Control::Bbr3(_))
    }

    /// Sets the seed of the random numbers of the congestion control, if it draws any.
    pub(in crate::tcp) fn set_seed(&mut self, seed: u32) {
        match &mut self.control {
            Control::Bbr(tracked) => tracked.control.set_seed(seed),
            Control::Bbr3(tracked) => tracked.control.set_seed(seed),
            _ => {}
        }
    }

    /// Begins the connection with a window of one packet, because a SYN was lost (RFC 5681, section 3.1).
    pub(in crate::tcp) fn begin_with_one(&mut self) {
        self.window.collapse();
    }

    pub(in crate::tcp) fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    pub(in crate::tcp) fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Returns the receive window. [packets]
    pub(in crate::tcp) fn receive_window(&self) -> u32 {
        self.window.receive as u32
    }

    /// Returns the number of whole segments that may be outstanding: min(cwnd, receive window).
    #[inline]
    pub(in crate::tcp) fn usable(&self) -> u32 {
        let Window { cwnd, receive, .. } = self.window;
        (if cwnd < receive { cwnd } else { receive }) as i32 as u32 // both values are at least 0 and below 2^31
    }

    /// Returns whether one more segment may be sent while `flight` segments are outstanding: whether
    /// `flight` is below [`usable`](Congestion::usable).
    #[inline]
    pub(in crate::tcp) fn permits_beyond(&self, flight: u32) -> bool {
        let Window { cwnd, receive, .. } = self.window;
        let window = if cwnd < receive { cwnd } else { receive };
        f64::from(flight + 1) <= window // this comparison takes fewer instructions than a conversion of `window`
    }

    /// Returns whether the receive window, not cwnd, determines the result of
    /// [`usable`](Congestion::usable).
    #[inline(always)]
    pub(in crate::tcp) fn fills_receive_window(&self) -> bool {
        self.window.cwnd >= self.window.receive
    }

    pub(in crate::tcp) fn recovery_mode(&self) -> RecoveryMode {
        self.control.recovery_mode()
    }

    /// Returns whether the sender must report each transmission to the congestion control, and must
    /// query when the next segment may be sent.
    #[inline(always)]
    pub(in crate::tcp) fn is_tracked(&self) -> bool {
        self.control.is_tracked()
    }

    /// Returns whether the sender must report arrivals of segments, the ends of ACKs and timeouts,
    /// and pauses to the congestion control.
    #[inline(always)]
    pub(in crate::tcp) fn follows_arrivals(&self) -> bool {
        self.control.follows_arrivals()
    }

    /// Processes the transmission of a segment.
    #[inline]
    pub(in crate::tcp) fn on_sent(&mut self, sent: &Sent) {
        self.control.on_segment_sent(&mut self.window, sent);
    }

    /// Processes the arrival of segments that an ACK reports for the first time. The ACK
    /// acknowledges all segments before `next`, and has the SACK blocks `blocks`.
    pub(in crate::tcp) fn on_delivered(&mut self, now: Time, next: u32, blocks: &Blocks) {
        (self.control).on_segments_delivered(&mut self.window, now, next, blocks);
    }

    /// Processes losses: `numbers` were declared lost at `now`. The loss recovery is then in the
    /// phase `phase`.
    #[cold]
    pub(in crate::tcp) fn on_lost(&mut self, now: Time, phase: RecoveryPhase, numbers: &[u32]) {
        (self.control).on_segments_lost(&mut self.window, now, phase, numbers);
    }

    /// Returns the time at which the next segment may be sent, if the window permits it.
    #[inline(always)]
    pub(in crate::tcp) fn earliest_departure(&self, now: Time) -> Time {
        self.control.departure(now)
    }

    /// Processes the end of the processing of an ACK.
    #[inline]
    pub(in crate::tcp) fn on_ack_processed(&mut self, state: &Processed) {
        self.control.after_ack(&mut self.window, state);
    }

    /// Processes the end of the processing of a retransmission timeout.
    pub(in crate::tcp) fn on_timeout_processed(&mut self, state: &Processed) {
        self.control.after_timeout(&mut self.window, state);
    }

    /// Processes a pause of the application.
    pub(in crate::tcp) fn on_app_limited(&mut self, in_flight: u32) {
        self.control.after_pause(in_flight);
    }

    /// Processes the beginning of an application-limited period.
    pub(in crate::tcp) fn on_out_of_data(&mut self, now: Time) {
        self.control.on_out_of_data(now);
    }

    /// Processes the supply of data by the application. `is_idle` is true if no segment is
    /// outstanding.
    pub(in crate::tcp) fn on_write(&mut self, now: Time, is_idle: bool) {
        self.control.on_write(now, is_idle);
    }

    /// Increases the window on an ACK of new data, if the control is NewReno without extensions,
    /// which uses no properties of the ACK. Otherwise the value is false, and the caller must call
    /// [`Congestion::on_ack`].
    #[inline(always)]
    pub(in crate::tcp) fn grow_as_newreno(&mut self) -> bool {
        let is_newreno = self.extras.is_none() && matches!(self.control, Control::NewReno(_));
        if is_newreno {
            self.window.grow();
        }
        is_newreno
    }

    /// Processes an ACK of new data.
    #[inline(never)]
    pub(in crate::tcp) fn on_ack(&mut self, ack: NewAck) {
        match self.extras {
            Some(_) => self.on_ack_with_extras(ack),
            None => self.control.on_ack(&mut self.window, ack),
        }
    }

    #[cold]
    fn on_ack_with_extras(&mut self, ack: NewAck) {
        let Some(extras) = &mut self.extras else {
            return;
        };
        let ends = extras.ends_slow_start(&mut self.window, &ack);
        match extras.count() {
            Count::Ack => self.control.on_ack(&mut self.window, ack),
            Count::Acks => {
                for ack in ack.split() {
                    self.control.on_ack(&mut self.window, ack);
                }
            }
            Count::Segments(counted) => grow_by_segments(&mut self.window, counted, ack.delivered),
        }
        if ends {
            self.leave_first_slow_start();
        }
    }

    fn leave_first_slow_start(&mut self) {
        self.extras = self
            .extras
            .take()
            .and_then(|extras| extras.after_slow_start());
        self.window.slow_start_gain = 1.0;
    }

    /// Processes a sign of congestion while `flight` segments are outstanding.
    pub(in crate::tcp) fn on_loss(&mut self, flight: u32, sign: CongestionSign) {
        if sign != CongestionSign::DuplicateAcksAfterMark {
            self.leave_first_slow_start();
        }
        self.control.on_loss(&mut self.window, flight, sign);
    }

    /// Processes a loss that a probe has repaired, while `flight` segments are outstanding.
    #[cold]
    pub(in crate::tcp) fn on_repair_by_probe(&mut self, flight: u32) {
        self.on_loss(flight, CongestionSign::Selective);
        self.control.after_sign(&mut self.window);
    }

    /// Processes the echo of an ECN mark while `flight` segments are outstanding. With ABE the
    /// window is reduced by less than after a loss.
    #[cold]
    pub(in crate::tcp) fn on_echo(&mut self, flight: u32) {
        let before = self.window;
        self.on_loss(flight, CongestionSign::Selective);
        self.control.after_sign(&mut self.window);
        if let Some(abe) = self.extras.as_ref().and_then(|extras| extras.abe()) {
            abe.soften(&mut self.window, &before, flight);
        }
    }

    /// Processes the number of marked segments that an ACK reports. It must be called for each ACK
    /// of a connection whose receiver reports the number of marks.
    pub(in crate::tcp) fn on_marks(&mut self, report: &MarkReport) {
        self.control.on_marks(report);
    }

    /// Reduces the window because segments were marked. Returns whether the window was reduced.
    pub(in crate::tcp) fn decrease_by_marks(&mut self, report: &MarkReport, flight: u32) -> bool {
        let reduced = self
            .control
            .decrease_by_marks(&mut self.window, report, flight);
        if reduced {
            self.leave_first_slow_start();
        }
        reduced
    }

    pub(in crate::tcp) fn on_recovery_ack(&mut self, ack: RecoveryAck) {
        self.control.on_recovery_ack(&mut self.window, ack);
    }

    /// Processes the expiry of the retransmission timer. ssthresh becomes at most `remaining` times
    /// its previous value.
    ///
    /// A timeout in fast recovery has the same cause as the preceding reduction of ssthresh. The
    /// timeout may reduce ssthresh further. It must not raise ssthresh because of segments sent
    /// after this reduction, which the receiver buffers above the lost segment. In fast recovery
    /// `remaining` is therefore 1, or 1/2 if ssthresh is halved again as in ns-2. Outside fast
    /// recovery `remaining` is infinite.
    pub(in crate::tcp) fn on_timeout(&mut self, flight: u32, first: bool, remaining: f64) {
        let max_ssthresh = (remaining * self.window.ssthresh).max(MIN_SSTHRESH);
        self.leave_first_slow_start();
        self.control.on_timeout(&mut self.window, flight, first);
        self.window.ssthresh = self.window.ssthresh.min(max_ssthresh);
    }
}

//! The sender of an application that does not always have data: writes of the application, and the
//! validation of the congestion window (`validation.rs`).

use super::Sender;
use crate::kernel::time::Time;
use crate::tcp::limit::Limit;
use crate::tcp::validation::SenderView;
use crate::tcp::{Ack, Blocks};

impl Sender {
    /// Adds `segments` segments of data from the application, for a flow that is not started by
    /// [`open`](Sender::open). Poll for segments afterwards.
    pub fn supply(&mut self, now: Time, segments: u32) {
        self.before_write(now);
        self.grant(self.granted.saturating_add(segments).min(self.end));
    }

    /// Permits the transmission of all remaining data. Poll for segments afterwards.
    pub fn resume(&mut self, now: Time) {
        self.before_write(now);
        self.grant(self.end);
    }

    /// Ends the permission of [`resume`](Sender::resume): only data that was sent before is sent
    /// again if it is lost.
    pub fn pause(&mut self) {
        self.grant(self.snd_max);
    }

    /// Passes the beginning of an application-limited period to the congestion control, after a poll
    /// found no data to send. A flow whose last segment has been sent is not limited by its
    /// application.
    #[cold]
    #[inline(never)]
    pub(super) fn on_out_of_data(&mut self, now: Time) {
        if self.limit_met == Limit::App && self.granted < self.end {
            self.congestion.on_out_of_data(now);
        }
    }

    fn before_write(&mut self, now: Time) {
        self.check_app_limited();
        self.congestion.on_write(now, self.flight() == 0);
        let view = self.view(now);
        if let Some((validation, window)) = self.congestion.validation() {
            validation.on_write(&view, window);
        }
    }

    pub(in crate::tcp) fn view(&self, now: Time) -> SenderView {
        SenderView {
            now,
            snd_una: self.snd_una,
            snd_nxt: self.snd_nxt,
            rto: self.rtt.rto(),
            srtt: self.rtt.srtt(),
        }
    }

    /// Returns whether ACKs and transmissions are always processed in detail, not only after the
    /// first sign of a loss.
    #[inline(always)]
    pub(super) fn is_watched(&self) -> bool {
        self.congestion.is_tracked() || self.congestion.is_validated()
    }

    /// Records a poll for segments. `sends` says whether the poll returned a segment.
    #[cold]
    #[inline(never)]
    pub(super) fn note_poll(&mut self, now: Time, sends: bool) {
        let view = self.view(now);
        if let Some((validation, window)) = self.congestion.validation() {
            match sends {
                true => validation.on_sent(&view),
                false => validation.on_poll(&view, window),
            }
        }
    }

    /// Processes an ACK of a sender whose window is validated.
    #[cold]
    #[inline(never)]
    pub(super) fn on_validated_ack(&mut self, now: Time, ack: Ack, blocks: &Blocks) {
        let (was_fast, flight) = (self.recovery.is_fast(), self.flight());
        let before = self.snd_una;
        let view = SenderView {
            snd_una: self.snd_una.max(ack.next),
            snd_nxt: self.snd_nxt.max(ack.next),
            ..self.view(now)
        };
        if let Some((validation, window)) = self.congestion.validation() {
            validation.on_ack(before, &view, window);
        }
        self.on_detailed_ack(now, ack, blocks);
        let view = self.view(now);
        if !was_fast
            && self.recovery.is_fast()
            && let Some((validation, window)) = self.congestion.validation()
        {
            validation.on_loss(&view, flight, window);
        }
    }
}

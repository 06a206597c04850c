//! The video of a call whose rate adapts to the network by Google congestion control
//! ([`super::gcc`]).
//!
//! ```text
//! encoder --frames--> pacer --packets--> network --> receiver --frames--> display
//!    ^                  ^ ^                            |
//!    | target rate      | +-- lost packets again ------+ requests (NACK)
//!    +---- controller --+ rate, probes <---------------+ feedback each 50 to 250 ms
//! ```
//!
//! References: libwebrtc (`modules/pacing`, `modules/remote_bitrate_estimator`,
//! `modules/video_coding/nack_requester.cc`, `video/video_quality_observer2.cc`); transport-wide
//! feedback: S. Holmer, M. Flodman, E. Sprang, draft-holmer-rmcat-transport-wide-cc-extensions-01.
//!
//! Differs from libwebrtc in these points:
//! - The encoder meets its target rate exactly. Only key frames are longer.
//! - Audio has a constant rate, is not paced, and is not part of the feedback.
//! - The pacer sends packets at equal distances, not in bursts. Padding packets may be as long as
//!   packets of video.
//! - Each frame refers to the frame before, and is displayed as soon as it and all frames before it
//!   are complete: there is no jitter buffer and no time for decoding.
//! - Feedback, requests for lost packets and requests for key frames share one packet.

mod freezes;
mod packets;
mod receiver;
mod sender;

use self::freezes::FreezeTally;
pub use self::packets::PAYLOAD_BYTES;

use self::packets::FRAME;
use self::receiver::Receiver;
use self::sender::Sender;
use crate::app::gcc::RateBounds;
use crate::app::writes::Write;
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};

/// The results of an adaptive video in a period.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VideoTally {
    /// Mean rate of the packets that were sent, with headers, probes and repeated packets; `None`
    /// if the period is empty. [bit/s]
    pub sent_bps: Option<f64>,
    /// Number of freezes that ended in the period, and of a freeze that lasts at its end.
    pub freezes: u64,
    /// Frozen time in the period.
    pub frozen: Span,
    /// Time in the period since the first frame was displayed.
    pub watched: Span,
}

/// The video of one direction of a call: the sender, and the receiver at the other end.
#[derive(Clone, Debug)]
pub struct AdaptiveVideo {
    sender: Sender,
    receiver: Receiver,
    stream: Stream,
    is_open: bool,
}

impl AdaptiveVideo {
    /// Returns a video that has not started. `header_bytes` is the length of the headers of UDP and
    /// IP.
    pub fn new(bounds: RateBounds, header_bytes: u32, stream: Stream) -> AdaptiveVideo {
        AdaptiveVideo {
            sender: Sender::new(bounds, header_bytes),
            receiver: Receiver::new(header_bytes),
            stream,
            is_open: false,
        }
    }

    /// Starts the video. The first frame is sent at a random time within the first gap, so that the
    /// frames of several calls do not always meet.
    pub fn open(&mut self, now: Time) {
        self.is_open = true;
        let phase = Span((self.stream.unit() * FRAME.nanoseconds()) as u64);
        self.sender.open(now + phase);
    }

    /// Stops the video. Packets that arrive later are not displayed.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns the time of the next call of [`act`](AdaptiveVideo::act).
    pub fn deadline(&self) -> Time {
        match self.is_open {
            true => self.sender.deadline().min(self.receiver.deadline()),
            false => Time::NEVER,
        }
    }

    /// Performs the action that is due at [`deadline`](AdaptiveVideo::deadline).
    pub fn act(&mut self, now: Time) -> Write {
        if self.receiver.deadline() <= now {
            return self.receiver.act(now, &self.sender);
        }
        self.sender.act(now)
    }

    /// Records that datagram `number` has arrived. Returns the length of its payload that is video
    /// and has not arrived before. [bytes]
    pub fn arrive(&mut self, now: Time, number: u32) -> u32 {
        match self.is_open {
            true => self.receiver.arrive(now, number, &self.sender),
            false => 0,
        }
    }

    /// Processes feedback packet `number` at the sender.
    pub fn take_feedback(&mut self, now: Time, number: u32) {
        if let Some(report) = self.receiver.take_report(number)
            && self.is_open
        {
            self.sender.take_report(now, &report);
        }
    }

    /// Returns the results from `from` to `to`.
    pub fn tally(&self, from: Time, to: Time) -> VideoTally {
        let FreezeTally {
            freezes,
            frozen,
            watched,
        } = self.receiver.freezes().tally(from, to);
        let bits = 8.0 * self.sender.sent_bytes(from, to) as f64;
        VideoTally {
            sent_bps: (to > from).then(|| bits / to.since(from).seconds()),
            freezes,
            frozen,
            watched,
        }
    }
}

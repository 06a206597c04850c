//! State of a link: one TCP connection of a pool, as the session uses it.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Message, Violation, violation};
use crate::frame::Frame;

/// Identifier of a link, unique in its session.
pub type LinkId = u32;

/// Maximum number of unacknowledged messages per link.
const MAX_KEPT: usize = 256;
/// Condition under which received messages of a link are acknowledged: after this number of
/// messages, after this number of bytes, or after this time, whichever is first.
const ACKNOWLEDGE: (u64, usize, Duration) = (64, 131_072, Duration::from_millis(500));

/// A message that was sent but not acknowledged yet.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) message: Message,
    /// Number of bytes for the message that are reserved in the memory budget.
    pub(super) charged: usize,
    /// Whether the message was also sent over another link.
    pub(super) copied: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) unacknowledged: VecDeque<Kept>,
    /// Number of messages of this link that the other relay has acknowledged.
    acknowledged: u64,
    /// Number of received messages that need an acknowledgement, and number of messages that this
    /// relay has acknowledged.
    came: u64,
    reported: u64,
    /// Number of bytes received since the last acknowledgement.
    unacknowledged_bytes: usize,
    /// Whether an acknowledgement sent by this relay may have been lost.
    pub(super) is_doubtful: bool,
    /// Whether the other relay has requested an acknowledgement.
    pub(super) answers: bool,
    /// Whether the link must still send a ping. The next three fields are further control messages
    /// that the link must still send.
    pings: bool,
    pub(super) wish: Option<u32>,
    pub(super) says_drain: bool,
    says_rest: bool,
    /// Whether the link currently delivers no messages.
    pub(super) is_stuck: bool,
    /// Time since which the link has been resting (open but unused), if it is resting.
    pub(super) rests: Option<Duration>,
    /// Whether this relay sends no new messages over the link (draining).
    pub(super) drains: bool,
    /// Whether the other relay sends no new messages over the link.
    pub(super) is_drained: bool,
    /// Time of the oldest request for an acknowledgement to which the other relay has not replied,
    /// or `None` if there is no such request.
    pub(super) asked: Option<Duration>,
    heard: Duration,
}

impl Link {
    pub(super) fn new(now: Duration) -> Link {
        Link {
            unacknowledged: VecDeque::new(),
            acknowledged: 0,
            came: 0,
            reported: 0,
            unacknowledged_bytes: 0,
            is_doubtful: false,
            answers: false,
            // the link begins with a ping, because a handshake may be a replay until the server has
            // received a first message from the client
            pings: true,
            wish: None,
            says_drain: false,
            says_rest: false,
            is_stuck: false,
            rests: None,
            drains: false,
            is_drained: false,
            asked: Some(now),
            heard: now,
        }
    }

    /// Returns whether the link accepts new data and other messages that need an acknowledgement.
    pub(super) fn takes(&self) -> bool {
        !self.drains
            && self.rests.is_none()
            && !self.is_stuck
            && self.unacknowledged.len() < MAX_KEPT
    }

    /// Makes the link rest from `since` on, or ends the rest if `since` is `None`. Notifies the
    /// other relay.
    pub(super) fn rest(&mut self, since: Option<Duration>) {
        self.rests = since;
        self.says_rest = true;
    }

    /// Returns whether the link has control messages to send that belong to this link only.
    pub(super) fn says(&self) -> bool {
        self.pings || self.answers || self.wish.is_some() || self.says_drain || self.says_rest
    }

    /// Returns the next control message of the link, if there is one.
    pub(super) fn passing(&mut self, id: LinkId, now: Duration) -> Option<Vec<u8>> {
        if std::mem::take(&mut self.answers) {
            let counts = vec![(id, self.acknowledge())];
            return Some(Frame::Acknowledge { counts }.message());
        }
        if std::mem::take(&mut self.pings) {
            self.asked.get_or_insert(now);
            return Some(Frame::Ping.message());
        }
        if let Some(connections) = self.wish.take() {
            return Some(Frame::Wish { connections }.message());
        }
        if std::mem::take(&mut self.says_rest) {
            let rests = self.rests.is_some();
            return Some(Frame::Rest { rests }.message());
        }
        if std::mem::take(&mut self.says_drain) {
            return Some(Frame::Drain.message());
        }
        None
    }

    pub(super) fn keep(&mut self, message: &Message, charged: usize, now: Duration) {
        self.asked.get_or_insert(now);
        self.unacknowledged.push_back(Kept {
            message: message.clone(),
            charged,
            copied: false,
        });
    }

    /// Records the arrival of a message that needs an acknowledgement. Returns the latest time for
    /// the acknowledgement.
    pub(super) fn came(&mut self, bytes: usize, now: Duration) -> Duration {
        self.came += 1;
        self.unacknowledged_bytes += bytes;
        let is_due = self.came - self.reported >= ACKNOWLEDGE.0
            || self.unacknowledged_bytes >= ACKNOWLEDGE.1;
        if is_due { now } else { now + ACKNOWLEDGE.2 }
    }

    /// Returns whether received messages have not been acknowledged.
    pub(super) fn has_unacknowledged(&self) -> bool {
        self.came > self.reported || self.is_doubtful
    }

    /// Returns the number of received messages for an acknowledgement, and records that this
    /// acknowledgement is sent now.
    pub(super) fn acknowledge(&mut self) -> u64 {
        self.reported = self.came;
        self.unacknowledged_bytes = 0;
        self.is_doubtful = false;
        self.came
    }

    /// Records that `count` messages have arrived at the other relay. Returns the number of budget
    /// bytes of the newly acknowledged messages.
    pub(super) fn acknowledged(&mut self, count: u64) -> Result<usize, Violation> {
        // acknowledgements may be sent over different links, so that an older one, with a smaller
        // `count`, may arrive after a newer one
        let new = usize::try_from(count.saturating_sub(self.acknowledged));
        let Some(new) = new.ok().filter(|&new| new <= self.unacknowledged.len()) else {
            return violation("acknowledges what was not sent");
        };
        self.acknowledged += new as u64;
        Ok(self
            .unacknowledged
            .drain(..new)
            .map(|entry| entry.charged)
            .sum())
    }

    pub(super) fn heard(&mut self, now: Duration) {
        self.heard = now;
        self.asked = (!self.unacknowledged.is_empty()).then_some(now);
    }

    pub(super) fn ping_if_silent(&mut self, now: Duration, every: Duration) {
        let since = self.asked.unwrap_or(self.heard).max(self.heard);
        if now.saturating_sub(since) > every && self.asked.is_none() {
            self.pings = true;
        }
    }
}

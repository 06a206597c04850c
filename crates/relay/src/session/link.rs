//! What a session knows of one connection of its pool.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Message, Violation, violation};
use crate::frame::Frame;

/// A link of a session.
pub type LinkId = u32;

/// Messages that may wait for their acknowledgement.
const MOST_KEPT: usize = 256;
/// What comes is acknowledged at once after so many messages or bytes of one link, else after a while.
const ACKNOWLEDGE: (u64, usize, Duration) = (64, 131_072, Duration::from_millis(500));

/// A message that has been sent and is not acknowledged.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) message: Message,
    /// What the budget was charged for it.
    pub(super) charged: usize,
    /// Whether another link has it, too.
    pub(super) copied: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) unacknowledged: VecDeque<Kept>,
    /// Messages that the other end has acknowledged.
    acknowledged: u64,
    /// Messages that have come, and those that this end has acknowledged.
    came: u64,
    reported: u64,
    /// Bytes that have come since.
    untold_bytes: usize,
    /// What this end has acknowledged may have been lost on its way.
    pub(super) is_doubtful: bool,
    /// The other end has asked for an acknowledgement.
    pub(super) answers: bool,
    /// What is to be said once.
    pings: bool,
    pub(super) wish: Option<u32>,
    pub(super) says_drain: bool,
    says_rest: bool,
    /// Whether it does not get through.
    pub(super) is_stuck: bool,
    /// Since when it has carried nothing because it is not needed.
    pub(super) rests: Option<Duration>,
    /// Whether it takes nothing new here, and there.
    pub(super) drains: bool,
    pub(super) is_drained: bool,
    /// When the other end was first asked for what it has not given.
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
            untold_bytes: 0,
            is_doubtful: false,
            answers: false,
            pings: true, // the server has a client once it has spoken
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

    /// Whether it takes messages that are kept.
    pub(super) fn takes(&self) -> bool {
        !self.drains
            && self.rests.is_none()
            && !self.is_stuck
            && self.unacknowledged.len() < MOST_KEPT
    }

    /// Have it carry nothing from some time on, or carry again, and tell the other end.
    pub(super) fn rest(&mut self, since: Option<Duration>) {
        self.rests = since;
        self.says_rest = true;
    }

    /// Whether it has something of its own to say.
    pub(super) fn says(&self) -> bool {
        self.pings || self.answers || self.wish.is_some() || self.says_drain || self.says_rest
    }

    /// The next thing of its own that it has to say.
    pub(super) fn passing(&mut self, id: LinkId, now: Duration) -> Option<Vec<u8>> {
        if std::mem::take(&mut self.answers) {
            let counts = vec![(id, self.tell())];
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

    /// A message that its sender keeps has come: when to acknowledge it.
    pub(super) fn came(&mut self, bytes: usize, now: Duration) -> Duration {
        self.came += 1;
        self.untold_bytes += bytes;
        let is_due =
            self.came - self.reported >= ACKNOWLEDGE.0 || self.untold_bytes >= ACKNOWLEDGE.1;
        if is_due { now } else { now + ACKNOWLEDGE.2 }
    }

    /// Whether the other end may not know of all that has come.
    pub(super) fn has_untold(&self) -> bool {
        self.came > self.reported || self.is_doubtful
    }

    /// How many have come, which the other end is told now.
    pub(super) fn tell(&mut self) -> u64 {
        self.reported = self.came;
        self.untold_bytes = 0;
        self.is_doubtful = false;
        self.came
    }

    /// So many have come there; what the budget was charged for those that are new.
    pub(super) fn acknowledged(&mut self, count: u64) -> Result<usize, Violation> {
        // of two acknowledgements over two links the later may come first
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

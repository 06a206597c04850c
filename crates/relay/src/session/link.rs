//! What a session knows of one connection of its pool.

use std::collections::VecDeque;
use std::time::Duration;

use super::{Message, Violation, violation};
use crate::frame::Frame;

/// A link of a session.
pub type LinkId = u64;

/// Messages that may wait for their acknowledgement.
const MOST_KEPT: usize = 256;
/// What comes is acknowledged at once after so many messages or bytes, else after a while.
const ACKNOWLEDGE: (u64, usize, Duration) = (8, 131_072, Duration::from_millis(25));

/// A message that has been sent and is not acknowledged.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) message: Message,
    /// What the budget was charged for it.
    pub(super) charged: usize,
    /// When it was sent.
    pub(super) at: Duration,
    /// Whether another link has it, too.
    pub(super) copied: bool,
}

#[derive(Debug)]
pub(super) struct Link {
    pub(super) kept: VecDeque<Kept>,
    /// Messages that the other end has acknowledged.
    acknowledged: u64,
    /// Messages that have come, and those that this end has acknowledged.
    came: u64,
    told: u64,
    /// Bytes that have come since.
    untold_bytes: usize,
    /// When this end acknowledges at the latest.
    pub(super) ack_at: Option<Duration>,
    /// What is to be said once.
    pings: bool,
    pub(super) wish: Option<u32>,
    pub(super) says_drain: bool,
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
            kept: VecDeque::new(),
            acknowledged: 0,
            came: 0,
            told: 0,
            untold_bytes: 0,
            ack_at: None,
            pings: true, // the server has a client once it has spoken
            wish: None,
            says_drain: false,
            drains: false,
            is_drained: false,
            asked: Some(now),
            heard: now,
        }
    }

    /// Whether it takes messages that are kept.
    pub(super) fn takes(&self) -> bool {
        !self.drains && self.kept.len() < MOST_KEPT
    }

    /// Whether it has something of its own to say.
    pub(super) fn says(&self, now: Duration) -> bool {
        self.pings
            || self.wish.is_some()
            || self.says_drain
            || self.ack_at.is_some_and(|at| at <= now)
    }

    /// The next thing of its own that it has to say.
    pub(super) fn passing(&mut self, now: Duration) -> Option<Vec<u8>> {
        if self.ack_at.is_some_and(|at| at <= now) {
            self.ack_at = None;
            self.told = self.came;
            self.untold_bytes = 0;
            return Some(Frame::Acknowledge { count: self.came }.message());
        }
        if std::mem::take(&mut self.pings) {
            self.asked.get_or_insert(now);
            return Some(Frame::Ping.message());
        }
        if let Some(connections) = self.wish.take() {
            return Some(Frame::Wish { connections }.message());
        }
        if std::mem::take(&mut self.says_drain) {
            return Some(Frame::Drain.message());
        }
        None
    }

    pub(super) fn keep(&mut self, message: &Message, charged: usize, now: Duration) {
        self.asked.get_or_insert(now);
        self.kept.push_back(Kept {
            message: message.clone(),
            charged,
            at: now,
            copied: false,
        });
    }

    /// A message that its sender keeps has come.
    pub(super) fn came(&mut self, bytes: usize, now: Duration) {
        self.came += 1;
        self.untold_bytes += bytes;
        let is_due = self.came - self.told >= ACKNOWLEDGE.0 || self.untold_bytes >= ACKNOWLEDGE.1;
        let at = if is_due { now } else { now + ACKNOWLEDGE.2 };
        self.ack_at = Some(self.ack_at.map_or(at, |known| known.min(at)));
    }

    /// So many have come there; what the budget was charged for those that are new.
    pub(super) fn acknowledged(&mut self, count: u64) -> Result<usize, Violation> {
        let new = count.checked_sub(self.acknowledged);
        let new = new.and_then(|new| usize::try_from(new).ok());
        let Some(new) = new.filter(|&new| new <= self.kept.len()) else {
            return violation("acknowledges what was not sent");
        };
        self.acknowledged = count;
        Ok(self.kept.drain(..new).map(|kept| kept.charged).sum())
    }

    pub(super) fn heard(&mut self, now: Duration) {
        self.heard = now;
        self.asked = (!self.kept.is_empty()).then_some(now);
    }

    pub(super) fn ping_if_silent(&mut self, now: Duration, every: Duration) {
        let since = self.asked.unwrap_or(self.heard).max(self.heard);
        if now.saturating_sub(since) > every && self.asked.is_none() {
            self.pings = true;
        }
    }
}

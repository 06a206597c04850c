//! Periodic check of all timeouts of a session.

use std::time::Duration;

use super::link::{Kept, Link};
use super::stream::Stream;
use super::{Event, FIRST_WINDOW, IDLE, IDLE_WINDOW, Session, Waiting};
use crate::frame::{self, Frame, StreamId};

impl Session {
    /// Checks all timeouts. Must be called a few times per second.
    pub fn tick(&mut self, now: Duration) {
        let every = self.limits.timeout / 3;
        if !self.streams.is_empty() {
            for link in self.links.values_mut() {
                link.ping_if_silent(now, every);
            }
        }
        let (mut idle, mut lacking) = (Vec::new(), Vec::new());
        for (&id, stream) in &mut self.streams {
            if stream.lacks_credit(now) {
                (stream.announced_at, stream.repeats) = (now, stream.repeats + 1);
                lacking.push((id, stream.granted, stream.their_epoch));
            }
            if now.saturating_sub(stream.sent_at) > IDLE
                && !stream.readable
                && stream.credit > stream.sent + FIRST_WINDOW
            {
                stream.credit = stream.sent + IDLE_WINDOW;
                stream.epoch += 1;
                idle.push((id, stream.credit, stream.epoch));
            }
        }
        for (stream, until, epoch) in lacking {
            self.enqueue(&Frame::Credit {
                stream,
                until,
                epoch,
            });
        }
        for (stream, until, epoch) in idle {
            self.enqueue(&Frame::GiveBack {
                stream,
                until,
                epoch,
            });
        }
        self.free_the_stuck();
    }

    /// Returns whether a stream has used up its credit, or the session has used up its memory for
    /// unacknowledged data.
    pub fn is_held_up(&self) -> bool {
        let spent = |stream: &Stream| stream.is_open && stream.sent == stream.credit;
        self.kept_bytes > self.memory.unacknowledged.free() || self.streams.values().any(spent)
    }

    /// Sends one message of a stuck link over another link too, if there is another link. The message is the one whose
    /// data are the farthest behind the last data sent in their stream, because a reader probably waits for these data.
    /// Only one message is repeated at a time, because a message that was only late arrives twice.
    fn free_the_stuck(&mut self) {
        if !self.links.values().any(Link::takes) {
            return;
        }
        let Session { links, streams, .. } = self;
        let behind = |entry: &Kept| match Frame::read(&entry.message) {
            Ok(Frame::Data { stream, offset, .. }) => {
                let sent = streams.get(&stream).map_or(0, |stream| stream.sent);
                sent.saturating_sub(offset)
            }
            _ => u64::MAX,
        };
        let stuck = links.values_mut().filter(|link| link.is_stuck);
        let next =
            stuck.filter_map(|link| link.unacknowledged.iter_mut().find(|entry| !entry.copied));
        if let Some(entry) = next.max_by_key(|entry| behind(entry)) {
            entry.copied = true;
            self.counted.again += 1;
            self.waiting.push_back(Waiting {
                message: entry.message.clone(),
                charged: 0,
            });
        }
    }

    /// Returns whether the session is dead: messages are expected, but none has arrived for longer
    /// than the timeout.
    pub fn is_dead(&self, now: Duration) -> bool {
        let is_waited_for = !self.streams.is_empty() || self.links.is_empty();
        is_waited_for && now.saturating_sub(self.heard) > self.limits.timeout
    }

    /// Resets every stream because the session has ended.
    pub fn abandon(&mut self) {
        let ids: Vec<StreamId> = self.streams.keys().copied().collect();
        for id in ids {
            self.forget(id);
            self.counted.resets += 1;
            let code = frame::FAILED;
            self.events.push_back(Event::Reset { stream: id, code });
        }
        self.links.clear();
        self.waiting.clear();
        self.memory.unacknowledged.give(self.kept_bytes);
        self.kept_bytes = 0;
    }
}

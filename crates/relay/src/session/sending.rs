//! Choice of the next message to send over a link.

use std::rc::Rc;
use std::time::Duration;

use super::{Event, LinkId, MAX_BLOCK, Message, Read, Reader, Session};
use crate::frame::{self, DATA_HEAD, Flags, Frame};

impl Session {
    /// Returns the next message for a link. `room` is the number of bytes that the link accepts,
    /// enough for one block.
    pub fn next_message(
        &mut self,
        id: LinkId,
        room: usize,
        now: Duration,
        read: Reader,
    ) -> Option<Message> {
        let link = self.links.get_mut(&id)?;
        if let Some(message) = link.passing(id, now) {
            return Some(Rc::new(message));
        }
        if let Some(message) = self.acknowledgement(now) {
            return Some(Rc::new(message));
        }
        let link = self.links.get_mut(&id)?;
        if !link.takes() {
            return None;
        }
        let (message, charged) = if let Some(next) = self.waiting.pop_front() {
            (next.message, next.charged)
        } else if let Some(message) = self.credit(now) {
            (message, 0)
        } else {
            let message = self.block(room, now, read)?;
            let charged = message.len();
            self.kept_bytes += charged;
            (message, charged)
        };
        self.links.get_mut(&id)?.keep(&message, charged, now);
        Some(message)
    }

    /// Returns an acknowledgement of received messages, if one is due.
    fn acknowledgement(&mut self, now: Duration) -> Option<Vec<u8>> {
        if !self.acknowledges(now) {
            return None;
        }
        self.ack_at = None;
        let unacknowledged = self
            .links
            .iter_mut()
            .filter(|(_, link)| link.has_unacknowledged());
        let counts: Vec<_> = unacknowledged
            .map(|(&id, link)| (id, link.acknowledge()))
            .collect();
        (!counts.is_empty()).then(|| Frame::Acknowledge { counts }.message())
    }

    /// Returns a data block of the next stream in the order of service.
    fn block(&mut self, room: usize, now: Duration, read: Reader) -> Option<Message> {
        let most = room.clamp(1, MAX_BLOCK);
        let reserved = DATA_HEAD + most;
        // a session gets no further memory if it already uses more than the free memory, which is
        // for all sessions
        if self.kept_bytes > self.memory.unacknowledged.free()
            || !self.memory.unacknowledged.take(reserved)
        {
            return None;
        }
        let message = self.read_block(most, now, read);
        let used = message.as_ref().map_or(0, |message| message.len());
        self.memory.unacknowledged.give(reserved - used);
        message
    }

    fn read_block(&mut self, most: usize, now: Duration, read: Reader) -> Option<Message> {
        while let Some(id) = self.turn.pop_front() {
            let Some(stream) = self.streams.get_mut(&id) else {
                continue;
            };
            stream.in_turn = false;
            if !stream.may_send() {
                continue;
            }
            let most = most.min(usize::try_from(stream.credit - stream.sent).unwrap_or(most));
            let mut message = Vec::with_capacity(DATA_HEAD + most);
            message.resize(DATA_HEAD, 0);
            let last = match read(id, &mut message, most) {
                Read::Some(_) => false,
                Read::End => true,
                Read::Nothing => {
                    stream.readable = false;
                    self.events.push_back(Event::Empty(id));
                    continue;
                }
                Read::Broken => {
                    self.reset(id, frame::FAILED);
                    continue;
                }
            };
            let length = message.len() - DATA_HEAD;
            let offset = stream.sent;
            stream.sent += length as u64;
            stream.sent_at = now;
            stream.last_sent = last;
            let spent = stream.sent == stream.credit;
            let flags = Flags { last, spent };
            message[..DATA_HEAD].copy_from_slice(&frame::data_head(id, offset, flags));
            if message.capacity() > 2 * message.len() {
                message.shrink_to_fit();
            }
            self.counted.sent_bytes += length as u64;
            if stream.may_send() {
                stream.in_turn = true;
                self.turn.push_back(id);
            }
            self.end_if_over(id);
            return Some(Rc::new(message));
        }
        None
    }

    /// Returns the next credit frame, if a stream needs one.
    fn credit(&mut self, now: Duration) -> Option<Message> {
        while let Some(id) = self.due.pop_front() {
            let Some(stream) = self.streams.get_mut(&id) else {
                continue;
            };
            stream.is_due = false;
            let Some(until) = stream.to_grant(&self.memory.merging, self.limits.window) else {
                continue;
            };
            if stream.grant(until, now, &self.memory.merging) {
                let epoch = stream.their_epoch;
                let frame = Frame::Credit {
                    stream: id,
                    until,
                    epoch,
                };
                return Some(Rc::new(frame.message()));
            }
        }
        None
    }
}

//! Processing of received frames.

use std::time::Duration;

use super::stream::Stream;
use super::{Event, Lack, LinkId, MAX_BLOCKS, Session, Side, Violation, violation};
use crate::frame::{self, Frame, StreamId, is_kept};

impl Session {
    /// Processes a message received over a link.
    ///
    /// # Errors
    ///
    /// If the message violates the protocol. The session must then be abandoned.
    pub fn receive(&mut self, id: LinkId, message: &[u8], now: Duration) -> Result<(), Violation> {
        let frame = Frame::read(message)?;
        let Some(link) = self.links.get_mut(&id) else {
            return Ok(());
        };
        self.heard = now;
        self.has_heard = true;
        if is_kept(message) {
            let at = link.came(message.len(), now);
            self.acknowledge_by(at);
        }
        self.understand(id, frame, now)?;
        if let Some(link) = self.links.get_mut(&id) {
            link.heard(now);
        }
        Ok(())
    }

    /// Sets the latest time for the acknowledgement of received messages to `at`, if `at` is earlier
    /// than the present value.
    fn acknowledge_by(&mut self, at: Duration) {
        self.ack_at = Some(self.ack_at.map_or(at, |known| known.min(at)));
    }

    fn understand(&mut self, id: LinkId, frame: Frame, now: Duration) -> Result<(), Violation> {
        match frame {
            Frame::Acknowledge { counts } => {
                for (id, count) in counts {
                    if let Some(link) = self.links.get_mut(&id) {
                        let freed = link.acknowledged(count)?;
                        link.heard(now);
                        self.release(freed);
                    }
                }
            }
            Frame::Ping => {
                if let Some(link) = self.links.get_mut(&id) {
                    link.answers = true;
                }
            }
            Frame::Rest { rests } => {
                if let Some(link) = self.links.get_mut(&id) {
                    link.rests = rests.then_some(now);
                }
            }
            Frame::Wish { connections } => self.events.push_back(Event::Wish(connections)),
            Frame::Drain => {
                self.drain(id);
                self.acknowledge_by(now);
                if let Some(link) = self.links.get_mut(&id) {
                    link.is_drained = true;
                }
            }
            Frame::Open {
                stream,
                until,
                port,
                host,
            } => self.asked(stream, until, host, port, now)?,
            Frame::Opened {
                stream: id,
                until,
                code,
            } => {
                if self.side == Side::Server {
                    return violation("only a server opens");
                }
                let Some(stream) = self.known(id)? else {
                    return Ok(());
                };
                if stream.is_open {
                    return Ok(());
                }
                stream.is_open = true;
                stream.credit = until;
                match code {
                    frame::OK => self.queue(id),
                    _ => self.forget(id),
                }
                self.counted.denied += u64::from(code == frame::NOT_ALLOWED);
                if code == frame::NO_ROOM {
                    self.refuse(Lack::Server);
                }
                self.events.push_back(Event::Opened { stream: id, code });
            }
            Frame::Data {
                stream: id,
                offset,
                flags,
                bytes,
            } => {
                let Some(stream) = self.known(id)? else {
                    return Ok(());
                };
                if bytes.len() as u64 > stream.granted.saturating_sub(offset) {
                    return violation("more data than there was credit for");
                }
                let before = stream.merge.len();
                let added = stream.merge.add(offset, bytes, flags.last);
                if added.is_err() {
                    return violation("data that contradict each other");
                }
                if flags.spent {
                    stream.wants_more = true;
                    stream.spent_at = stream.spent_at.max(Some(offset + bytes.len() as u64));
                }
                let after = stream.merge.len();
                let has_next = stream.merge.next().is_some() || stream.merge.is_over();
                self.blocks = self.blocks + after - before;
                if self.blocks > MAX_BLOCKS {
                    return violation("too many pieces out of order");
                }
                if has_next {
                    self.events.push_back(Event::Data(id));
                } else {
                    // the credit is checked here, because the program cannot read while an earlier block is late on a
                    // slow link: the later blocks may have used up the sender's credit
                    self.look_at_credit(id);
                }
            }
            Frame::Credit {
                stream: id,
                until,
                epoch,
            } => {
                let Some(stream) = self.known(id)? else {
                    return Ok(());
                };
                if epoch == stream.epoch && until > stream.credit {
                    stream.credit = until;
                    self.queue(id);
                }
            }
            Frame::Reset { stream: id, code } => {
                if self.side == Side::Server && self.seen.add(id)? {
                    return Ok(()); // the reset arrived before the request
                }
                if self.known(id)?.is_some() {
                    self.forget(id);
                    self.counted.resets += 1;
                    self.events.push_back(Event::Reset { stream: id, code });
                }
            }
            Frame::GiveBack {
                stream: id,
                until,
                epoch,
            } => {
                let merging = self.memory.merging.clone();
                let Some(stream) = self.known(id)? else {
                    return Ok(());
                };
                if epoch > stream.their_epoch {
                    if until > stream.granted || until < stream.merge.highest() {
                        return violation("credit given back that nobody had");
                    }
                    stream.their_epoch = epoch;
                    stream.give_back(until, &merging);
                    // the credit is checked here too: the blocks that used up the remaining credit may have arrived
                    // before this frame, and no further block would cause a check
                    self.look_at_credit(id);
                }
            }
        }
        Ok(())
    }

    /// Returns a stream of this session, or `None` if the stream has ended. A stream that never
    /// existed violates the protocol.
    fn known(&mut self, id: StreamId) -> Result<Option<&mut Stream>, Violation> {
        let was = match self.side {
            Side::Client => id < self.next_stream,
            Side::Server => self.seen.has(id),
        };
        match was {
            true => Ok(self.streams.get_mut(&id)),
            false => violation("a stream that nobody has opened"),
        }
    }

    fn asked(
        &mut self,
        id: StreamId,
        until: u64,
        host: &str,
        port: u16,
        now: Duration,
    ) -> Result<(), Violation> {
        if self.side == Side::Client {
            return violation("only a client asks");
        }
        if !self.seen.add(id)? {
            return Ok(());
        }
        if !self.begin(id, until, now) {
            if self.waiting.len() > 4 * self.limits.streams + 1024 {
                return violation("asks, and does not take the answers");
            }
            self.enqueue(&Frame::Opened {
                stream: id,
                until: 0,
                code: frame::NO_ROOM,
            });
            return Ok(());
        }
        self.events.push_back(Event::Asked {
            stream: id,
            host: host.into(),
            port,
        });
        Ok(())
    }
}

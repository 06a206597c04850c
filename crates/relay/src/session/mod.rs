//! A session between two relays, without sockets and clocks. The session divides each stream into
//! blocks, sends the blocks over links (TCP connections), and reassembles the stream at the other
//! relay.
//!
//! ```text
//!  readable, take, ... --> Session --> events          (streams: the programs' sockets)
//!                            |  ^
//!               next_message v  | receive              (links: the pool's connections)
//! ```
//!
//! If a link is lost, its unacknowledged messages are retransmitted over another link. A message
//! may therefore arrive twice. A block contains its offset, so that repeated data are ignored. Any
//! other repeated frame has no further effect.

mod counted;
mod link;
mod merge;
mod receiving;
mod seen;
mod sending;
mod stream;
#[cfg(test)]
mod tests;
mod time;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use thiserror::Error;

use crate::budget::Budget;
use crate::frame::{self, DATA_HEAD, Frame, NoFrame, StreamId};
use link::Link;
use seen::Seen;
use stream::Stream;

pub use counted::{Counted, Lack};
pub use link::LinkId;

/// A message before encryption. The message lists of several links may share one message.
pub type Message = Rc<Vec<u8>>;

/// Maximum length of a data block. [bytes]
pub const MAX_BLOCK: usize = 32_768;
/// Minimum window of a stream, even if little memory is free. [bytes]
const MIN_WINDOW: u64 = 4_096;
/// Maximum initial window of a stream. [bytes]
const FIRST_WINDOW: u64 = 65_536;
/// Divisor for the initial window of a stream: the window is the free memory, without its reserve,
/// divided by this number.
const FIRST_SHARE: u64 = 256;
/// Number of delivered bytes that shows that a program reads its data: the kernel buffers of a
/// socket that is never read are smaller. [bytes]
const READ_BYTES: u64 = 262_144;
/// Maximum number of blocks of a session that wait for an earlier block.
const MAX_BLOCKS: usize = 40_000;
/// Time without a block after which a stream returns unused credit.
const IDLE: Duration = Duration::from_secs(5);
/// Credit that an idle stream keeps. [bytes]
const IDLE_WINDOW: u64 = 16_384;

/// Role of a relay in the session.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// The relay that opens streams.
    Client,
    /// The relay that connects streams to their targets.
    Server,
}

/// Limits of a session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Maximum number of streams at the same time.
    pub streams: usize,
    /// Largest window of a stream. [bytes]
    pub window: u64,
    /// Time without a message after which a link, and then the session, is considered dead.
    pub timeout: Duration,
}

/// Memory budgets of a relay, which all its sessions share.
#[derive(Clone, Debug)]
pub struct Memory {
    /// Budget for received data: data that programs have not read yet, and data for which the other
    /// relay has credit.
    pub merging: Budget,
    /// Budget for data that were sent and not acknowledged yet.
    pub unacknowledged: Budget,
}

/// Result of a read from a program's socket.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Read {
    /// Number of bytes read and appended.
    Some(usize),
    /// The socket has no data at present.
    Nothing,
    /// The program has ended its data.
    End,
    /// The socket was reset or has failed.
    Broken,
}

/// Function that reads at most the given number of bytes from a stream's socket and appends them to
/// a message.
pub type Reader<'a> = &'a mut dyn FnMut(StreamId, &mut Vec<u8>, usize) -> Read;

/// Event of a session that the pool must process.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The client requests a connection to a target.
    Asked {
        /// Stream for the connection.
        stream: StreamId,
        /// Name or address of the target.
        host: String,
        /// Port of the target.
        port: u16,
    },
    /// The server has connected a stream to its target, or could not connect it.
    Opened {
        /// Stream that was to be connected.
        stream: StreamId,
        /// [`frame::OK`], or the code of the failure.
        code: u8,
    },
    /// The stream has data for the program, or has ended.
    Data(StreamId),
    /// The last read from the stream's socket found no data. The pool must call `readable` when
    /// there are data.
    Empty(StreamId),
    /// This relay or the other relay has reset the stream.
    Reset {
        /// Stream that was reset.
        stream: StreamId,
        /// Code of the reason.
        code: u8,
    },
    /// Both directions of the stream have ended normally.
    Over(StreamId),
    /// The rule of the other relay requests this number of links.
    Wish(u32),
}

/// Error: the other relay has violated the protocol.
#[derive(Debug, Error, PartialEq)]
#[error("{0}")]
pub struct Violation(pub String);

impl From<NoFrame> for Violation {
    fn from(error: NoFrame) -> Violation {
        Violation(error.to_string())
    }
}

fn violation<T>(what: &str) -> Result<T, Violation> {
    Err(Violation(what.into()))
}

/// A message that is not assigned to a link, with the number of budget bytes reserved for it.
#[derive(Debug)]
struct Waiting {
    message: Message,
    charged: usize,
}

/// A session: streams whose data are sent over links.
#[derive(Debug)]
pub struct Session {
    side: Side,
    limits: Limits,
    memory: Memory,
    streams: HashMap<StreamId, Stream>,
    links: BTreeMap<LinkId, Link>,
    next_stream: StreamId,
    /// Streams that the client has requested so far (server only).
    seen: Seen,
    waiting: VecDeque<Waiting>,
    /// Streams that may have to send new credit to the other relay.
    due: VecDeque<StreamId>,
    /// Streams that have credit and a readable socket, in the order of service.
    turn: VecDeque<StreamId>,
    events: VecDeque<Event>,
    /// Number of bytes that this session has reserved in the budget for unacknowledged data.
    kept_bytes: usize,
    /// Number of received blocks that were not delivered completely.
    blocks: usize,
    /// Latest time for the acknowledgement of received messages, if there are any.
    ack_at: Option<Duration>,
    /// Start of the session's timeout: the time of the last received message, or a later time at
    /// which a stream was opened while no other stream was open. Initially the time at which the
    /// session was created.
    heard: Duration,
    has_heard: bool,
    counted: Counted,
    /// Reason for the most recent refusal of a stream, or `None` if no stream was refused.
    lack: Option<Lack>,
}

impl Session {
    /// Returns a session without streams and links.
    pub fn new(side: Side, limits: Limits, memory: Memory, now: Duration) -> Session {
        Session {
            side,
            limits,
            memory,
            streams: HashMap::new(),
            links: BTreeMap::new(),
            next_stream: 0,
            seen: Seen::default(),
            waiting: VecDeque::new(),
            due: VecDeque::new(),
            turn: VecDeque::new(),
            events: VecDeque::new(),
            kept_bytes: 0,
            blocks: 0,
            ack_at: None,
            heard: now,
            has_heard: false,
            counted: Counted::default(),
            lack: None,
        }
    }

    // -- links ---------------------------------------------------------------------------------

    /// Adds a link. Its identifier must be new.
    pub fn join(&mut self, id: LinkId, now: Duration) {
        self.links.insert(id, Link::new(now));
        self.counted.links += 1;
    }

    /// Removes a lost link. Its unacknowledged messages are retransmitted over other links.
    pub fn lose(&mut self, id: LinkId) {
        let Some(link) = self.links.remove(&id) else {
            return;
        };
        self.counted.lost_links += u64::from(!link.unacknowledged.is_empty());
        for other in self.links.values_mut() {
            other.is_doubtful = true;
            self.ack_at = Some(Duration::ZERO);
        }
        for entry in link.unacknowledged.into_iter().rev() {
            if entry.copied {
                self.release(entry.charged);
                continue; // another link carries the same message
            }
            self.counted.again += 1;
            self.waiting.push_front(Waiting {
                message: entry.message,
                charged: entry.charged,
            });
        }
    }

    /// Stops sending new messages over a link. The link can be closed when [`Session::is_empty`]
    /// returns true.
    pub fn drain(&mut self, id: LinkId) {
        if let Some(link) = self.links.get_mut(&id)
            && !link.drains
        {
            link.drains = true;
            link.says_drain = true;
        }
    }

    /// Makes a link rest: it gets no new messages, but stays open and can be used again
    /// immediately.
    pub fn rest(&mut self, id: LinkId, now: Duration) {
        if let Some(link) = self.links.get_mut(&id) {
            link.rest(Some(now));
        }
    }

    /// Ends the rest of one link, so that the link is used again. Chooses the link that began to
    /// rest last, among those that are not stuck. Returns whether there was such a link.
    pub fn rouse(&mut self) -> bool {
        let resting = self
            .links
            .values_mut()
            .filter(|link| link.rests.is_some() && !link.drains && !link.is_stuck);
        let latest = resting.max_by_key(|link| link.rests);
        latest.map(|link| link.rest(None)).is_some()
    }

    /// Sets whether a link is stuck. A stuck link gets no new messages, and its messages are also
    /// sent over other links.
    pub fn tell_stuck(&mut self, id: LinkId, is_stuck: bool) {
        if let Some(link) = self.links.get_mut(&id) {
            link.is_stuck = is_stuck;
        }
    }

    /// Returns the links that have been resting for longer than `time`.
    pub fn rested(&self, now: Duration, time: Duration) -> Vec<LinkId> {
        let is_long = |link: &Link| {
            link.rests
                .is_some_and(|since| now.saturating_sub(since) > time)
        };
        let links = self
            .links
            .iter()
            .filter(|(_, link)| is_long(link) && !link.drains);
        links.map(|(&id, _)| id).collect()
    }

    /// Returns whether new messages are sent over a link: the link is neither draining nor resting.
    pub fn carries(&self, id: LinkId) -> bool {
        let link = self.links.get(&id);
        link.is_some_and(|link| !link.drains && link.rests.is_none())
    }

    /// Returns whether a link is draining and both relays know that all its messages have arrived.
    pub fn is_empty(&self, id: LinkId) -> bool {
        self.links.get(&id).is_none_or(|link| {
            link.is_drained
                && link.unacknowledged.is_empty()
                && !link.says_drain
                && !link.has_unacknowledged()
        })
    }

    /// Returns the links over which no message arrived for too long.
    pub fn silent(&self, now: Duration) -> Vec<LinkId> {
        let late = |link: &&Link| {
            link.asked
                .is_some_and(|asked| now.saturating_sub(asked) > self.limits.timeout)
        };
        let late = self.links.iter().filter(|(_, link)| late(link));
        late.map(|(&id, _)| id).collect()
    }

    /// Sends the other relay the number of links that the rule of this relay requests.
    pub fn wish(&mut self, connections: u32) {
        if let Some(link) = self.links.values_mut().find(|link| !link.drains) {
            link.wish = Some(connections);
        }
    }

    /// Returns whether a message can be sent over the link at present.
    pub fn wants(&self, id: LinkId, now: Duration) -> bool {
        self.says(id) || self.acknowledges(now) || self.may_carry(id)
    }

    /// Returns whether the link has control messages to send that belong to this link only.
    pub fn says(&self, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(Link::says)
    }

    /// Returns whether an acknowledgement is due. This acknowledgement can be sent over any link.
    pub fn acknowledges(&self, now: Duration) -> bool {
        self.ack_at.is_some_and(|at| at <= now)
    }

    /// Returns whether there are data, or other messages that need an acknowledgement, that could be
    /// sent over the link.
    pub fn may_carry(&self, id: LinkId) -> bool {
        let free = self.memory.unacknowledged.free();
        let has_memory = free >= self.kept_bytes.max(MAX_BLOCK + DATA_HEAD);
        let has_data = !self.turn.is_empty() && has_memory;
        let is_asked = has_data || !self.waiting.is_empty() || !self.due.is_empty();
        is_asked && self.links.get(&id).is_some_and(Link::takes)
    }

    /// Returns the time at which an acknowledgement is due. Returns `None` if no acknowledgement is
    /// due or there is no link.
    pub fn deadline(&self) -> Option<Duration> {
        self.ack_at.filter(|_| !self.links.is_empty())
    }

    /// Returns whether a link is marked as stuck.
    pub fn is_stuck(&self, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(|link| link.is_stuck)
    }

    /// Returns whether the session has ever received a message.
    pub fn has_heard(&self) -> bool {
        self.has_heard
    }

    fn begin(&mut self, id: StreamId, credit: u64, now: Duration) -> bool {
        if self.streams.len() >= self.limits.streams {
            self.refuse(Lack::Streams(self.limits.streams));
            return false;
        }
        let plenty = self.memory.merging.plenty() as u64;
        let window = (plenty / FIRST_SHARE).clamp(MIN_WINDOW, FIRST_WINDOW.min(self.limits.window));
        if !self.memory.merging.take(window as usize) {
            self.refuse(Lack::Memory);
            return false;
        }
        if self.streams.is_empty() {
            self.heard = now; // messages are expected from now on
        }
        self.streams.insert(id, Stream::new(window, credit, now));
        self.counted.streams += 1;
        true
    }

    fn refuse(&mut self, lack: Lack) {
        self.counted.refused += 1;
        self.lack = Some(lack);
    }

    /// Returns the reason for the most recent refusal of a stream, or `None` if no stream was
    /// refused.
    pub fn lack(&self) -> Option<Lack> {
        self.lack
    }

    fn release(&mut self, charged: usize) {
        self.kept_bytes -= charged;
        self.memory.unacknowledged.give(charged);
    }

    fn enqueue(&mut self, frame: &Frame) {
        self.waiting.push_back(Waiting {
            message: Rc::new(frame.message()),
            charged: 0,
        });
    }

    // -- streams -------------------------------------------------------------------------------

    /// Sets the maximum number of simultaneous streams.
    pub fn allow(&mut self, streams: usize) {
        self.limits.streams = streams;
    }

    /// Requests a connection to a target from the server. Returns `None` if the stream is refused.
    pub fn open(&mut self, host: &str, port: u16, now: Duration) -> Option<StreamId> {
        let id = self.next_stream;
        if !self.begin(id, 0, now) {
            return None;
        }
        self.next_stream += 1;
        let until = self.streams.get(&id).map_or(0, |stream| stream.granted);
        self.enqueue(&Frame::Open {
            stream: id,
            until,
            port,
            host,
        });
        Some(id)
    }

    /// Sends the server's reply to the request of an [`Event::Asked`].
    pub fn answer(&mut self, id: StreamId, code: u8) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        stream.is_open = true;
        let until = stream.granted;
        self.counted.denied += u64::from(code == frame::NOT_ALLOWED);
        self.enqueue(&Frame::Opened {
            stream: id,
            until,
            code,
        });
        if code != frame::OK {
            self.forget(id);
        }
    }

    /// Records that a program's socket may have data, or that its data may have ended.
    pub fn readable(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.readable = true;
            self.queue(id);
        }
    }

    fn queue(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id)
            && stream.may_send()
            && !stream.in_turn
        {
            stream.in_turn = true;
            self.turn.push_back(id);
        }
    }

    /// Returns the next bytes of a stream for its program, if they have arrived.
    pub fn next(&self, id: StreamId) -> Option<&[u8]> {
        self.streams.get(&id)?.merge.next()
    }

    /// Returns whether a stream exists.
    pub fn has(&self, id: StreamId) -> bool {
        self.streams.contains_key(&id)
    }

    /// Records that the program has accepted `count` bytes of a stream.
    pub fn take(&mut self, id: StreamId, count: usize) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        let before = stream.merge.len();
        stream.merge.take(count);
        self.blocks -= before - stream.merge.len();
        self.counted.taken_bytes += count as u64;
        stream.recharge(&self.memory.merging);
        self.look_at_credit(id);
    }

    /// Schedules a credit frame if the sender of a stream should get more credit.
    fn look_at_credit(&mut self, id: StreamId) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        let until = stream.to_grant(&self.memory.merging, self.limits.window);
        if !stream.is_due && until.is_some() {
            stream.is_due = true;
            self.due.push_back(id);
        }
    }

    /// Returns whether all data of a stream from the other relay were delivered to the program.
    pub fn is_over(&self, id: StreamId) -> bool {
        let stream = self.streams.get(&id);
        stream.is_none_or(|stream| stream.merge.is_over())
    }

    /// Records that the program was notified of the end of its data.
    pub fn ended(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.get_mut(&id) {
            stream.told_end = true;
            self.end_if_over(id);
        }
    }

    fn end_if_over(&mut self, id: StreamId) {
        let stream = self.streams.get(&id);
        if stream.is_some_and(|stream| stream.last_sent && stream.told_end) {
            self.forget(id);
            self.events.push_back(Event::Over(id));
        }
    }

    /// Resets a stream at both relays.
    pub fn reset(&mut self, id: StreamId, code: u8) {
        if self.has(id) {
            self.forget(id);
            self.counted.resets += 1;
            self.enqueue(&Frame::Reset { stream: id, code });
            self.events.push_back(Event::Reset { stream: id, code });
        }
    }

    fn forget(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.remove(&id) {
            self.blocks -= stream.merge.len();
            self.memory.merging.give(stream.charged);
        }
    }

    /// Returns the next event.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// Returns the counters of the session.
    pub fn counted(&self) -> Counted {
        self.counted
    }

    /// Returns the number of open streams.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abandon();
    }
}

//! One pair of relays, without sockets and without a clock: streams of one side cut into blocks, blocks
//! handed to connections, and put together at the other side.
//!
//! ```text
//!  readable, take, ... --> Session --> events          (streams: the programs' sockets)
//!                            |  ^
//!               next_message v  | receive              (links: the pool's connections)
//! ```
//!
//! A link that is lost gives back what its other end had not acknowledged, and another link takes it. Blocks carry
//! their offset and are merged; all other frames say the same when they come twice.

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

/// A message before encryption, which several may hold.
pub type Message = Rc<Vec<u8>>;

/// Longest block of data. [bytes]
pub const MOST_BLOCK: usize = 32_768;
/// What every stream may send ahead, however little memory is left. [bytes]
const LEAST_WINDOW: u64 = 4_096;
/// What a stream may send ahead at first, where memory is plenty. [bytes]
const FIRST_WINDOW: u64 = 65_536;
/// Part of the plentiful memory that a new stream gets.
const FIRST_SHARE: u64 = 256;
/// What its program has taken of a stream that is known to be read: more than the kernel's buffers of a socket that
/// nobody reads. [bytes]
const READ_BYTES: u64 = 262_144;
/// Blocks out of order that a session may hold.
const MOST_BLOCKS: usize = 40_000;
/// Time without a block after which a stream gives back credit. [ns]
const IDLE: Duration = Duration::from_secs(5);
/// What it keeps. [bytes]
const IDLE_WINDOW: u64 = 16_384;

/// Which of the two relays.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Side {
    /// Opens streams.
    Client,
    /// Connects them.
    Server,
}

/// Bounds on one session.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Streams at a time.
    pub streams: usize,
    /// What one stream may send ahead. [bytes]
    pub window: u64,
    /// Silence after which a link, and at last the session, counts as dead.
    pub timeout: Duration,
}

/// Memory of a relay, which its sessions share.
#[derive(Clone, Debug)]
pub struct Memory {
    /// For what has been announced to senders and is not taken by readers.
    pub merging: Budget,
    /// For what has been sent and is not acknowledged.
    pub unacknowledged: Budget,
}

/// What a program's socket gave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Read {
    /// So many bytes, put behind what was there.
    Some(usize),
    /// Nothing now.
    Nothing,
    /// Nothing ever.
    End,
    /// It broke.
    Broken,
}

/// Reads at most so many bytes of a stream behind what a message has already.
pub type Reader<'a> = &'a mut dyn FnMut(StreamId, &mut Vec<u8>, usize) -> Read;

/// What a session has to say to whoever moves bytes.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// The client asks for a connection.
    Asked {
        /// Which stream it is for.
        stream: StreamId,
        /// Name or address.
        host: String,
        /// The port.
        port: u16,
    },
    /// The server has connected a stream, or could not.
    Opened {
        /// Which.
        stream: StreamId,
        /// [`frame::OK`], or why not.
        code: u8,
    },
    /// There is something to take, or the end.
    Data(StreamId),
    /// The last look at its socket found nothing: wait until there is.
    Empty(StreamId),
    /// The other side broke it off, or this side did.
    Reset {
        /// Which.
        stream: StreamId,
        /// Why.
        code: u8,
    },
    /// Both directions have ended well.
    Over(StreamId),
    /// The other side's rule asks for so many links.
    Wish(u32),
}

/// The other side does what no relay does.
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

/// A message that no link holds, and what the budget was charged for it.
#[derive(Debug)]
struct Waiting {
    message: Message,
    charged: usize,
}

/// Streams over links.
#[derive(Debug)]
pub struct Session {
    side: Side,
    limits: Limits,
    memory: Memory,
    streams: HashMap<StreamId, Stream>,
    links: BTreeMap<LinkId, Link>,
    next_stream: StreamId,
    /// Streams that the client has asked for, at the server.
    seen: Seen,
    waiting: VecDeque<Waiting>,
    /// Streams that may have credit to announce.
    due: VecDeque<StreamId>,
    /// Streams with credit whose socket is readable.
    turn: VecDeque<StreamId>,
    events: VecDeque<Event>,
    /// Bytes of this session that the budget for what is kept was charged.
    kept_bytes: usize,
    /// Blocks that wait to be merged.
    blocks: usize,
    /// When something that has come is to be acknowledged at the latest.
    ack_at: Option<Duration>,
    /// When something was heard last, or could first be expected.
    heard: Duration,
    has_heard: bool,
    counted: Counted,
    /// Why the last stream was refused for want of room.
    lack: Option<Lack>,
}

impl Session {
    /// No stream, no link.
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

    /// A new link, by a number that no other has had.
    pub fn join(&mut self, id: LinkId, now: Duration) {
        self.links.insert(id, Link::new(now));
        self.counted.links += 1;
    }

    /// A link is no more. What its other end may not have goes to others.
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
                continue; // another link has it
            }
            self.counted.again += 1;
            self.waiting.push_front(Waiting {
                message: entry.message,
                charged: entry.charged,
            });
        }
    }

    /// Have a link carry nothing new; it is at its end once [`Session::is_empty`] says so.
    pub fn drain(&mut self, id: LinkId) {
        if let Some(link) = self.links.get_mut(&id)
            && !link.drains
        {
            link.drains = true;
            link.says_drain = true;
        }
    }

    /// Have a link carry nothing new for the time being: it is there at once when it is needed again.
    pub fn rest(&mut self, id: LinkId, now: Duration) {
        if let Some(link) = self.links.get_mut(&id) {
            link.rest(Some(now));
        }
    }

    /// Have the link carry again that has rested for the shortest time and gets through; whether there is one.
    pub fn rouse(&mut self) -> bool {
        let resting = self
            .links
            .values_mut()
            .filter(|link| link.rests.is_some() && !link.drains && !link.is_stuck);
        let latest = resting.max_by_key(|link| link.rests);
        latest.map(|link| link.rest(None)).is_some()
    }

    /// Whether a link does not get through: it is given nothing, and what it holds goes over others.
    pub fn tell_stuck(&mut self, id: LinkId, is_stuck: bool) {
        if let Some(link) = self.links.get_mut(&id) {
            link.is_stuck = is_stuck;
        }
    }

    /// Links that have rested for some time.
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

    /// Whether a link carries what there is: neither drains nor rests.
    pub fn carries(&self, id: LinkId) -> bool {
        let link = self.links.get(&id);
        link.is_some_and(|link| !link.drains && link.rests.is_none())
    }

    /// Whether a link drains and both ends know that all has come.
    pub fn is_empty(&self, id: LinkId) -> bool {
        self.links.get(&id).is_none_or(|link| {
            link.is_drained
                && link.unacknowledged.is_empty()
                && !link.says_drain
                && !link.has_untold()
        })
    }

    /// Links that have been silent too long.
    pub fn silent(&self, now: Duration) -> Vec<LinkId> {
        let late = |link: &&Link| {
            link.asked
                .is_some_and(|asked| now.saturating_sub(asked) > self.limits.timeout)
        };
        let late = self.links.iter().filter(|(_, link)| late(link));
        late.map(|(&id, _)| id).collect()
    }

    /// Tell the other side how many links the rule here asks for.
    pub fn wish(&mut self, connections: u32) {
        if let Some(link) = self.links.values_mut().find(|link| !link.drains) {
            link.wish = Some(connections);
        }
    }

    /// Whether a link has something to send at the moment.
    pub fn wants(&self, id: LinkId, now: Duration) -> bool {
        self.says(id) || self.acknowledges(now) || self.may_carry(id)
    }

    /// Whether a link has something of its own to say.
    pub fn says(&self, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(Link::says)
    }

    /// Whether any link is to carry an acknowledgement.
    pub fn acknowledges(&self, now: Duration) -> bool {
        self.ack_at.is_some_and(|at| at <= now)
    }

    /// Whether there are data or other messages to be kept that a link could carry.
    pub fn may_carry(&self, id: LinkId) -> bool {
        let free = self.memory.unacknowledged.free();
        let has_memory = free >= self.kept_bytes.max(MOST_BLOCK + DATA_HEAD);
        let has_data = !self.turn.is_empty() && has_memory;
        let is_asked = has_data || !self.waiting.is_empty() || !self.due.is_empty();
        is_asked && self.links.get(&id).is_some_and(Link::takes)
    }

    /// When it has to acknowledge something, if it can.
    pub fn deadline(&self) -> Option<Duration> {
        self.ack_at.filter(|_| !self.links.is_empty())
    }

    /// Whether a link does not get through, as it was told.
    pub fn is_stuck(&self, id: LinkId) -> bool {
        self.links.get(&id).is_some_and(|link| link.is_stuck)
    }

    /// Whether anything has ever come.
    pub fn has_heard(&self) -> bool {
        self.has_heard
    }

    fn begin(&mut self, id: StreamId, credit: u64, now: Duration) -> bool {
        if self.streams.len() >= self.limits.streams {
            self.refuse(Lack::Streams(self.limits.streams));
            return false;
        }
        let plenty = self.memory.merging.plenty() as u64;
        let window =
            (plenty / FIRST_SHARE).clamp(LEAST_WINDOW, FIRST_WINDOW.min(self.limits.window));
        if !self.memory.merging.take(window as usize) {
            self.refuse(Lack::Memory);
            return false;
        }
        if self.streams.is_empty() {
            self.heard = now; // from now on something is expected
        }
        self.streams.insert(id, Stream::new(window, credit, now));
        self.counted.streams += 1;
        true
    }

    fn refuse(&mut self, lack: Lack) {
        self.counted.refused += 1;
        self.lack = Some(lack);
    }

    /// Why the last stream was refused for want of room.
    pub fn lack(&self) -> Option<Lack> {
        self.lack
    }

    fn release(&mut self, charged: usize) {
        self.kept_bytes -= charged;
        self.memory.unacknowledged.give(charged);
    }

    fn tell(&mut self, frame: &Frame) {
        self.waiting.push_back(Waiting {
            message: Rc::new(frame.message()),
            charged: 0,
        });
    }

    // -- streams -------------------------------------------------------------------------------

    /// Has at most so many streams at a time from now on.
    pub fn allow(&mut self, streams: usize) {
        self.limits.streams = streams;
    }

    /// Asks the server for a connection; none if there are too many streams.
    pub fn open(&mut self, host: &str, port: u16, now: Duration) -> Option<StreamId> {
        let id = self.next_stream;
        if !self.begin(id, 0, now) {
            return None;
        }
        self.next_stream += 1;
        let until = self.streams.get(&id).map_or(0, |stream| stream.granted);
        self.tell(&Frame::Open {
            stream: id,
            until,
            port,
            host,
        });
        Some(id)
    }

    /// Answers [`Event::Asked`].
    pub fn answer(&mut self, id: StreamId, code: u8) {
        let Some(stream) = self.streams.get_mut(&id) else {
            return;
        };
        stream.is_open = true;
        let until = stream.granted;
        self.counted.denied += u64::from(code == frame::NOT_ALLOWED);
        self.tell(&Frame::Opened {
            stream: id,
            until,
            code,
        });
        if code != frame::OK {
            self.forget(id);
        }
    }

    /// A program's socket may have data, or its end.
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

    /// What comes next of a stream.
    pub fn next(&self, id: StreamId) -> Option<&[u8]> {
        self.streams.get(&id)?.merge.next()
    }

    /// Whether a stream is known.
    pub fn has(&self, id: StreamId) -> bool {
        self.streams.contains_key(&id)
    }

    /// The program has taken so many bytes of it.
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

    /// Announces credit soon, if a stream's sender should have more.
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

    /// Whether all that the other side sends has been taken.
    pub fn is_over(&self, id: StreamId) -> bool {
        let stream = self.streams.get(&id);
        stream.is_none_or(|stream| stream.merge.is_over())
    }

    /// The program knows that nothing more comes.
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

    /// Breaks a stream off.
    pub fn reset(&mut self, id: StreamId, code: u8) {
        if self.has(id) {
            self.forget(id);
            self.counted.resets += 1;
            self.tell(&Frame::Reset { stream: id, code });
            self.events.push_back(Event::Reset { stream: id, code });
        }
    }

    fn forget(&mut self, id: StreamId) {
        if let Some(stream) = self.streams.remove(&id) {
            self.blocks -= stream.merge.len();
            self.memory.merging.give(stream.charged);
        }
    }

    /// What is to be done next.
    pub fn next_event(&mut self) -> Option<Event> {
        self.events.pop_front()
    }

    /// What has been counted.
    pub fn counted(&self) -> Counted {
        self.counted
    }

    /// Streams at the moment.
    pub fn streams(&self) -> usize {
        self.streams.len()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.abandon();
    }
}

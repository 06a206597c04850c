//! Medium access of links that hear only some of each other: CSMA on a conflict graph.
//!
//! Each link is a vertex. It counts down a backoff while none of its neighbours sends, stands still
//! while one does, and sends at zero. Three ways to count:
//!
//! - **Adaptive** (paper 001, section 3.3): in continuous time, with a mean of `exp(-beta r)` of the
//!   packet's time on the air; or, as a modified 802.11 module has it, in slots, and after DIFS and EIFS.
//! - **Legacy** (section 4.1): the same with one mean for all.
//! - **DCF** (IEEE 802.11-2016, 10.3): in slots after DIFS, uniform on [0, CW]; CW + 1 doubles after a
//!   failure; a new backoff follows each exchange whether or not there is something to send (post-backoff),
//!   and a link that has none left when a packet comes to an idle channel sends at once.
//!
//! ```text
//!         packet                     a neighbour sends
//! Silent ---------> Counting <-------------------------> Frozen
//!    ^                 | zero          all are silent
//!    +---- end ---- Sending
//! ```
//!
//! The channel: sensing is immediate and propagation takes no time. A transmission stands for a whole
//! exchange, up to the MAC ACK; one that fails takes as long, since whoever hears it waits for the ACK. A
//! link that senses a frame but cannot read it waits for EIFS instead of DIFS, if EIFS is given. Neighbours
//! collide only if they begin in the same instant, that is, in slots with equal backoffs; in continuous
//! time one of them, drawn at random, is the first. Links that are not neighbours do not disturb each
//! other, unless one is said to disturb the other's receiver (a hidden node): then a transmission fails if
//! the two overlap.
//!
//! Differs from the standard in: on a graph each link counts its slots from the end of what it heard last,
//! not on one grid for all; a link that hears frames collide reads them like any others.

mod counting;

pub use self::counting::{Counting, Pace, Slotted};
use crate::kernel::agenda::Agenda;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::NodeCounters;
use crate::words;

words! {
    /// A distribution on the positive numbers, by its mean.
    pub enum Spread {
        /// Exponential.
        Exponential = "exponential",
        /// Uniform between zero and twice the mean.
        Uniform = "uniform",
        /// Always the mean.
        Constant = "constant",
    }
}

/// What all links have in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// How they count down.
    pub counting: Counting,
    /// Time on the air of a packet of length 0. [ns]
    pub overhead_ns: f64,
    /// Time on the air for each byte. [ns]
    pub byte_ns: f64,
    /// Distribution of the time on the air.
    pub transmission: Spread,
    /// Most attempts for a packet, the first one included.
    pub attempts: u32,
}

impl Rules {
    fn nominal_ns(&self, bytes: u16) -> f64 {
        self.overhead_ns + self.byte_ns * f64::from(bytes)
    }
}

/// One link, as the medium is to know it.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// Key of its random streams.
    pub name: String,
    /// Links that it senses, and that sense it.
    pub neighbours: Vec<u32>,
    /// The neighbours whose frames it reads.
    pub reads: Vec<u32>,
    /// Links whose receivers it disturbs unheard.
    pub disturbs: Vec<u32>,
    /// Probability that a frame is lost to channel errors.
    pub error: f64,
    /// Mean backoff over mean transmission, in continuous time.
    pub patience: f64,
}

/// What became of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// Its receiver has it.
    Delivered,
    /// It was given up.
    Discarded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No backoff.
    Silent,
    /// A neighbour sends; `left` is what is left of the backoff.
    Frozen { left: Span },
    /// `left` was left when the backoff began to run, which may lie ahead.
    Counting { since: Time, left: Span },
    /// On the air until an instant that the agenda has.
    Sending,
}

#[derive(Clone, Debug)]
struct Link {
    state: State,
    /// Neighbours on the air.
    busy: u32,
    /// When the last of those transmissions, or the link's own, ended.
    idle_since: Time,
    /// Whether the link could not read that transmission.
    unread: bool,
    /// Length of the packet that waits. [bytes]
    load: Option<u16>,
    /// Length of the dummy packets that it sends while no packet waits; `None` if it sends none. [bytes]
    filler: Option<u16>,
    /// Whether it sends a dummy.
    dummy: bool,
    /// Whether what it sends will not be received.
    spoilt: bool,
    /// Links on the air that disturb its receiver.
    disturbers: u32,
    patience: f64,
    error: f64,
    cw: u32,
    failures: u32,
    /// Start of what it sends.
    began: Time,
    backoffs: Stream,
    lengths: Stream,
    errors: Stream,
    counters: NodeCounters,
    dummies: u64,
    /// Time on the air of transmissions that have ended. [ns]
    air_ns: u64,
    dummy_ns: u64,
}

/// All links of one network.
#[derive(Clone, Debug)]
pub struct Graph {
    rules: Rules,
    links: Vec<Link>,
    neighbours: Lists,
    /// Whether each neighbour in those lists reads what the link sends.
    is_read: Vec<bool>,
    disturbs: Lists,
    /// Slot l is the end of what link l sends, slot `links + l` that of its backoff: ends come first.
    agenda: Agenda,
    /// Links that begin at the same instant.
    ready: Vec<u32>,
    /// Draws which of them is first.
    ties: Stream,
    /// Transmissions that began while a neighbour was on the air, which must not be.
    overlaps: u64,
}

/// Lists of numbers, end to end.
#[derive(Clone, Debug)]
struct Lists {
    starts: Vec<u32>,
    members: Vec<u32>,
}

impl Lists {
    fn new<'a>(lists: impl Iterator<Item = &'a Vec<u32>>) -> Lists {
        let (mut starts, mut members) = (vec![0], Vec::new());
        for list in lists {
            members.extend_from_slice(list);
            starts.push(members.len() as u32);
        }
        Lists { starts, members }
    }

    fn range(&self, list: u32) -> std::ops::Range<usize> {
        let list = list as usize;
        self.starts[list] as usize..self.starts[list + 1] as usize
    }
}

/// Slots of the agenda of so many links: the end of a countdown and of a transmission of each.
fn slots(links: usize) -> usize {
    2 * links
}

impl Graph {
    /// A silent network. Neighbours must be mutual, and no link is its own. A link that has no packet sends
    /// dummies of the length that `dummies` has for it, if it has one. [bytes]
    pub fn new(
        rules: Rules,
        vertices: &[Vertex],
        dummies: &[Option<u16>],
        streams: &Streams,
    ) -> Graph {
        let link = |(vertex, &filler): (&Vertex, &Option<u16>)| Link {
            state: State::Silent,
            busy: 0,
            idle_since: Time::ZERO,
            unread: false,
            load: None,
            filler,
            dummy: false,
            spoilt: false,
            disturbers: 0,
            patience: vertex.patience,
            error: vertex.error,
            cw: rules.counting.first_window(),
            failures: 0,
            began: Time::ZERO,
            backoffs: streams.stream(&format!("{}/backoff", vertex.name)),
            lengths: streams.stream(&format!("{}/transmission", vertex.name)),
            errors: streams.stream(&format!("{}/channel", vertex.name)),
            counters: NodeCounters::default(),
            dummies: 0,
            air_ns: 0,
            dummy_ns: 0,
        };
        let reads = |(link, vertex): (u32, &Vertex)| -> Vec<bool> {
            let neighbours = vertex.neighbours.iter();
            let reads = |&other: &u32| vertices[other as usize].reads.contains(&link);
            neighbours.map(reads).collect()
        };
        let mut graph = Graph {
            rules,
            links: vertices.iter().zip(dummies).map(link).collect(),
            neighbours: Lists::new(vertices.iter().map(|vertex| &vertex.neighbours)),
            is_read: (0..).zip(vertices).flat_map(reads).collect(),
            disturbs: Lists::new(vertices.iter().map(|vertex| &vertex.disturbs)),
            agenda: Agenda::new(slots(vertices.len())),
            ready: Vec::new(),
            ties: streams.stream("csma/ties"),
            overlaps: 0,
        };
        for (link, filler) in (0..).zip(dummies) {
            if filler.is_some() {
                graph.contend(Time::ZERO, link);
            }
        }
        graph
    }

    /// The latest instant that a medium of `vertices` links can hold.
    pub fn horizon_of(vertices: usize) -> Time {
        Agenda::horizon_of(slots(vertices))
    }

    /// When `advance` must be called next.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.agenda.first().0
    }

    /// `link`, which had no packet, has one of `bytes` from `now` on.
    #[inline]
    pub fn backlog(&mut self, now: Time, link: u32, bytes: u16) {
        let state = &mut self.links[link as usize];
        state.load = Some(bytes);
        // a dummy's backoff, or that after the last exchange, is the packet's
        if state.state != State::Silent {
            return;
        }
        let counting = &self.rules.counting;
        let free = match state.busy {
            0 => counting.without_backoff(state.idle_since, state.unread),
            _ => None,
        };
        match free {
            None => self.contend(now, link),
            Some(free) if now >= free => self.send(now, link),
            Some(since) => {
                let left = Span::ZERO;
                state.state = State::Counting { since, left };
                self.agenda.set(self.links.len() + link as usize, since);
            }
        }
    }

    /// Does what is due at `deadline`; returns the packet that has left the air for good, whose link
    /// is then told, by `proceed`, what it has next.
    #[inline]
    pub fn advance(&mut self) -> Option<(u32, Ended)> {
        let (now, slot) = self.agenda.first();
        if slot < self.links.len() {
            self.end(now, slot as u32)
        } else {
            self.begin(now);
            None
        }
    }

    /// `link`, which got rid of its packet at `now`, has one of so many bytes next, or none.
    #[inline]
    pub fn proceed(&mut self, now: Time, link: u32, next: Option<u16>) {
        self.links[link as usize].load = next;
        self.contend(now, link);
    }

    /// Mean backoff over mean transmission of `link` from its next backoff on.
    pub fn set_patience(&mut self, link: u32, patience: f64) {
        self.links[link as usize].patience = patience;
    }

    /// Draws a backoff: in the DCF always, in continuous time if there is something to send.
    #[inline]
    fn contend(&mut self, now: Time, link: u32) {
        let state = &mut self.links[link as usize];
        let bytes = state.load.or(state.filler);
        let mean_ns = bytes.map(|bytes| self.rules.nominal_ns(bytes) * state.patience);
        let counting = &self.rules.counting;
        let Some(left) = counting.backoff(mean_ns, state.cw, &mut state.backoffs) else {
            return;
        };
        if state.busy > 0 {
            state.state = State::Frozen { left };
        } else {
            self.count(now, link, left);
        }
    }

    #[inline]
    fn count(&mut self, now: Time, link: u32, left: Span) {
        let state = &mut self.links[link as usize];
        let since = now + self.rules.counting.space(state.unread);
        state.state = State::Counting { since, left };
        self.agenda
            .set(self.links.len() + link as usize, since + left);
    }

    /// Backoffs have run out.
    #[inline]
    fn begin(&mut self, now: Time) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.clear();
        loop {
            let (at, slot) = self.agenda.first();
            if at != now {
                break;
            }
            self.agenda.set(slot, Time::NEVER);
            ready.push((slot - self.links.len()) as u32);
        }
        match self.rules.counting.collides() {
            false => self.begin_by_lot(now, &mut ready),
            true => self.begin_together(now, &mut ready),
        }
        self.ready = ready;
    }

    /// Links begin in an order drawn by lot, unless a neighbour has begun: in continuous time equal
    /// instants are only an effect of rounding.
    #[inline]
    fn begin_by_lot(&mut self, now: Time, ready: &mut [u32]) {
        for last in (1..ready.len()).rev() {
            ready.swap(last, self.ties.up_to(last as u32) as usize);
        }
        for &link in ready.iter() {
            if self.links[link as usize].busy == 0 {
                self.send(now, link); // the others freeze with nothing left
            }
        }
    }

    fn begin_together(&mut self, now: Time, ready: &mut Vec<u32>) {
        ready.retain(|&link| {
            let state = &mut self.links[link as usize];
            let sends = state.load.or(state.filler).is_some();
            state.state = match sends {
                true => State::Sending,
                false => State::Silent, // the end of a post-backoff
            };
            sends
        });
        for &link in ready.iter() {
            let collided = self.neighbours.range(link).any(|place| {
                let other = self.neighbours.members[place] as usize;
                self.links[other].state == State::Sending
            });
            self.links[link as usize].spoilt = collided;
        }
        for &link in ready.iter() {
            self.transmit(now, link);
        }
    }

    #[inline]
    fn send(&mut self, now: Time, link: u32) {
        let state = &mut self.links[link as usize];
        self.overlaps += u64::from(state.busy > 0);
        state.spoilt = false;
        state.state = State::Sending;
        self.transmit(now, link);
    }

    #[inline]
    fn transmit(&mut self, now: Time, link: u32) {
        let state = &mut self.links[link as usize];
        state.dummy = state.load.is_none();
        // something is there, or it would not contend
        let bytes = state.load.or(state.filler).unwrap_or(0);
        let nominal = self.rules.nominal_ns(bytes);
        let length = draw(self.rules.transmission, nominal, &mut state.lengths).max(1);
        state.began = now;
        self.agenda.set(link as usize, now + Span(length));
        let quantum = self.rules.counting.quantum();
        for place in self.neighbours.range(link) {
            let neighbour = self.neighbours.members[place] as usize;
            let other = &mut self.links[neighbour];
            other.busy += 1;
            if let State::Counting { since, left } = other.state {
                let counted = now.since(since).0;
                let counted = match quantum.0 {
                    1 => counted,
                    slot => counted / slot * slot,
                };
                let left = left - Span(counted);
                other.state = State::Frozen { left };
                self.agenda.set(self.links.len() + neighbour, Time::NEVER);
            }
        }
        self.disturb(link);
    }

    /// Spoils what the link's hidden victims are sending, and its own if it is one.
    #[inline]
    fn disturb(&mut self, link: u32) {
        for place in self.disturbs.range(link) {
            let victim = &mut self.links[self.disturbs.members[place] as usize];
            victim.disturbers += 1;
            if victim.state == State::Sending {
                victim.spoilt = true;
            }
        }
        let own = &mut self.links[link as usize];
        if own.disturbers > 0 {
            own.spoilt = true;
        }
    }

    #[inline]
    fn end(&mut self, now: Time, link: u32) -> Option<(u32, Ended)> {
        self.agenda.set(link as usize, Time::NEVER);
        for place in self.neighbours.range(link) {
            let neighbour = self.neighbours.members[place];
            let other = &mut self.links[neighbour as usize];
            other.busy -= 1;
            if other.busy == 0 {
                // a link whose own transmission ends at the same instant has heard nothing
                let itself = other.idle_since == now && !other.unread;
                other.idle_since = now;
                other.unread = !itself && !self.is_read[place];
                if let State::Frozen { left } = other.state {
                    self.count(now, neighbour, left);
                }
            }
        }
        for place in self.disturbs.range(link) {
            self.links[self.disturbs.members[place] as usize].disturbers -= 1;
        }
        let attempts = self.rules.attempts;
        let counting = &self.rules.counting;
        let own = &mut self.links[link as usize];
        own.state = State::Silent;
        (own.idle_since, own.unread) = (now, false);
        own.air_ns += now.since(own.began).0;
        own.counters.attempts += 1;
        own.counters.collided += u64::from(own.spoilt);
        if own.dummy {
            own.dummies += 1;
            own.dummy_ns += now.since(own.began).0;
            self.contend(now, link);
            return None;
        }
        if !own.spoilt && !own.errors.chance(own.error) {
            own.counters.delivered += 1;
            (own.cw, own.failures) = (counting.first_window(), 0);
            return Some((link, Ended::Delivered));
        }
        own.counters.corrupted += u64::from(!own.spoilt);
        own.failures += 1;
        if own.failures >= attempts {
            own.counters.discarded += 1;
            (own.cw, own.failures) = (counting.first_window(), 0);
            return Some((link, Ended::Discarded));
        }
        own.cw = counting.next_window(own.cw);
        self.contend(now, link);
        None
    }

    /// What `link` has done on the air.
    pub fn counters(&self, link: u32) -> NodeCounters {
        self.links[link as usize].counters
    }

    /// Transmissions of dummy packets that have ended.
    pub fn dummies(&self, link: u32) -> u64 {
        self.links[link as usize].dummies
    }

    /// Time for which `link` has been on the air by `now`, and how much of it with dummies. [ns]
    pub fn air_ns(&self, link: u32, now: Time) -> (u64, u64) {
        let own = &self.links[link as usize];
        let present = match own.state {
            State::Sending => now.since(own.began).0,
            _ => 0,
        };
        let of_dummy = if own.dummy { present } else { 0 };
        (own.air_ns + present, own.dummy_ns + of_dummy)
    }

    /// Whether `link` is on the air.
    pub fn sends(&self, link: u32) -> bool {
        self.links[link as usize].state == State::Sending
    }

    /// Transmissions that began beside one that the link heard: a defect if there are any.
    pub fn overlaps(&self) -> u64 {
        self.overlaps
    }
}

/// A time around `mean`. [ns]
#[inline]
fn draw(spread: Spread, mean: f64, stream: &mut Stream) -> u64 {
    let time = match spread {
        Spread::Constant => mean,
        Spread::Uniform => 2.0 * mean * stream.unit(),
        Spread::Exponential => mean * stream.exponential(),
    };
    time.round() as u64
}

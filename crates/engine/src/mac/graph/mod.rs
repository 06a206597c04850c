//! CSMA on a conflict graph: medium access of links that sense only some of the other links.
//!
//! Each link is a vertex. It counts down a backoff while none of its neighbours transmits, freezes
//! while a neighbour transmits, and transmits when the backoff is zero. There are three kinds of
//! backoffs:
//!
//! - **Adaptive** (paper 001, section 3.3): in continuous time, with a mean of `exp(-beta r)` times
//!   the air time of the packet. Here r is the aggressiveness of the link, and beta is a constant.
//!   The backoff can also be in slots and after DIFS and EIFS, as in a modified 802.11 module.
//! - **Legacy** (section 4.1): like adaptive, but with the same mean backoff for all links.
//! - **DCF** (IEEE 802.11-2016, 10.3): in slots after DIFS, uniform on [0, CW]. CW + 1 doubles after
//!   a failure. A new backoff follows each exchange whether or not the link has a packet
//!   (post-backoff). A link whose post-backoff is zero immediately sends a packet that arrives at an
//!   idle channel.
//!
//! ```text
//!         packet                  a neighbour transmits
//! Silent ---------> Counting <-------------------------> Frozen
//!    ^                 | zero          all are silent
//!    +---- end ---- Sending
//! ```
//!
//! Sensing is immediate, and propagation takes no time. A transmission represents a complete
//! exchange up to the MAC ACK. A failed transmission takes as long as a successful one, because all
//! nodes that hear it wait for the ACK. A link that senses a frame but cannot read it waits for
//! EIFS instead of DIFS, if EIFS is set.
//!
//! Neighbours collide only if they begin at the same time, that is, in slots with equal backoffs.
//! In continuous time one of them, chosen at random, sends first. Links that are not neighbours do
//! not disturb each other, unless one link is set to disturb the receiver of the other (a hidden
//! node). The transmission of the disturbed link then fails if the two transmissions overlap.
//!
//! Differs from the standard in two points. Each link counts its slots from the end of the last
//! frame that it has heard, not on a common grid. A link can read frames that have collided.

mod counting;

pub use self::counting::{BackoffRule, Counting, Pace};
use crate::kernel::agenda::Agenda;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::mac::dcf::NodeCounters;
use crate::words;

words! {
    /// Distribution on the positive numbers with a given mean.
    pub enum Spread {
        /// Exponential.
        Exponential = "exponential",
        /// Uniform between zero and twice the mean.
        Uniform = "uniform",
        /// Always the mean.
        Constant = "constant",
    }
}

/// Rules that all links share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rules {
    /// Countdown of backoffs.
    pub counting: Counting,
    /// Air time of a packet of length 0, for all overheads. [ns]
    pub overhead_ns: f64,
    /// Air time per byte. [ns]
    pub byte_ns: f64,
    /// Distribution of the air time around its nominal value.
    pub transmission: Spread,
    /// Largest number of attempts for a packet, including the first attempt.
    pub attempts: u32,
}

impl Rules {
    fn nominal_ns(&self, bytes: u16) -> f64 {
        self.overhead_ns + self.byte_ns * f64::from(bytes)
    }
}

/// Settings of one link.
#[derive(Clone, Debug)]
pub struct Vertex {
    /// Name of the link, which is part of the names of its random streams.
    pub name: String,
    /// Links in the conflict graph that this link senses, and that sense this link.
    pub neighbours: Vec<u32>,
    /// Neighbours whose frames this link can read.
    pub reads: Vec<u32>,
    /// Links whose receivers this link disturbs, although these links do not sense this link.
    pub disturbs: Vec<u32>,
    /// Probability that a frame is lost to channel errors. [-]
    pub error: f64,
    /// Mean backoff divided by mean air time, in continuous time. [-]
    pub patience: f64,
}

/// Final result for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The receiver has the packet.
    Delivered,
    /// The packet was given up.
    Discarded,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// The link does not transmit and has no backoff.
    Silent,
    /// A neighbour transmits. `left` is the remaining backoff.
    Frozen { left: Span },
    /// The link counts down. The remaining backoff is `left` at time `since`, which may be in the
    /// future.
    Counting { since: Time, left: Span },
    /// The link transmits. The agenda stores the end of the transmission.
    Sending,
}

#[derive(Clone, Debug)]
struct Link {
    state: State,
    /// Number of neighbours that are on the air.
    busy: u32,
    /// End of the last transmission of a neighbour, or of the link itself.
    idle_since: Time,
    /// Whether the link could not read the transmission that ended at `idle_since`.
    unread: bool,
    /// Length of the packet that the link sends next; `None`: the link has no packet. [bytes]
    load: Option<u16>,
    /// Length of the dummy packets that the link sends while it has no packet; `None`: the link
    /// sends no dummy packets. [bytes]
    filler: Option<u16>,
    /// Whether the packet on the air is a dummy packet.
    dummy: bool,
    /// Whether the packet on the air will not be received.
    spoilt: bool,
    /// Number of links on the air that disturb the receiver of this link.
    disturbers: u32,
    patience: f64,
    error: f64,
    cw: u32,
    failures: u32,
    /// Start of the present or last transmission.
    began: Time,
    backoffs: Stream,
    lengths: Stream,
    errors: Stream,
    counters: NodeCounters,
    dummies: u64,
    /// Air time of the transmissions that have ended. [ns]
    air_ns: u64,
    dummy_ns: u64,
}

/// All links of a network.
#[derive(Clone, Debug)]
pub struct Graph {
    rules: Rules,
    links: Vec<Link>,
    neighbours: Lists,
    /// For each entry of `neighbours`: whether this neighbour can read the frames of the link.
    is_read: Vec<bool>,
    disturbs: Lists,
    /// Deadlines of the links. Slot number `l` of the agenda stores the end of the transmission of
    /// link `l`. Slot number `links + l` stores the end of the backoff of link `l`. At equal times,
    /// ends of transmissions therefore come first.
    agenda: Agenda,
    /// Buffer for the links that begin to transmit at the same time.
    ready: Vec<u32>,
    /// Random stream for the order of links whose backoffs end at the same time.
    ties: Stream,
    /// Number of transmissions that began while a neighbour was on the air. A value above 0 shows a
    /// defect of this model.
    overlaps: u64,
}

/// Several lists of numbers, stored in one vector.
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

/// Returns the number of slots of the agenda: two per link, for the end of a backoff and the end of
/// a transmission.
fn slots(links: usize) -> usize {
    2 * links
}

impl Graph {
    /// Returns a network in which no link transmits. Neighbours must be mutual, and no link is its
    /// own neighbour. `dummies` has the length of the dummy packets that each link sends while it
    /// has no packet; `None`: the link sends no dummy packets. [bytes]
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

    /// Returns the latest time that a medium of `vertices` links can represent.
    pub fn horizon_of(vertices: usize) -> Time {
        Agenda::horizon_of(slots(vertices))
    }

    /// Returns when [`Graph::advance`] must be called next.
    #[inline]
    pub fn deadline(&self) -> Time {
        self.agenda.first().0
    }

    /// Records that `link`, which had no packet, has a packet of length `bytes` from `now` on.
    #[inline]
    pub fn backlog(&mut self, now: Time, link: u32, bytes: u16) {
        let state = &mut self.links[link as usize];
        state.load = Some(bytes);
        // a backoff is in progress (for a dummy packet, or a post-backoff), and the packet uses
        // this backoff
        if state.state != State::Silent {
            return;
        }
        let counting = &self.rules.counting;
        let free = match state.busy {
            0 => counting.without_backoff(state.idle_since, state.unread),
            1.. => None,
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

    /// Handles the event at the deadline. If a packet was delivered or given up, returns its link
    /// and the result. The caller then calls [`Graph::proceed`] for this link.
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

    /// Sets the length of the next packet of `link`, after its packet was delivered or given up at
    /// `now`; `None`: the link has no packet. [bytes]
    #[inline]
    pub fn proceed(&mut self, now: Time, link: u32, next: Option<u16>) {
        self.links[link as usize].load = next;
        self.contend(now, link);
    }

    /// Sets the ratio of the mean backoff of `link` to its mean air time. The value applies from
    /// the next backoff on.
    pub fn set_patience(&mut self, link: u32, patience: f64) {
        self.links[link as usize].patience = patience;
    }

    /// Draws the next backoff of `link`. If the rule of backoffs uses a mean, only a link with
    /// something to send draws a backoff.
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

    /// Begins transmissions of the links whose backoffs end at `now`.
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

    /// Begins the transmissions of the `ready` links in random order. A link does not begin if one
    /// of its neighbours has already begun. In continuous time, equal times are only an effect of
    /// rounding.
    #[inline]
    fn begin_by_lot(&mut self, now: Time, ready: &mut [u32]) {
        for last in (1..ready.len()).rev() {
            ready.swap(last, self.ties.up_to(last as u32) as usize);
        }
        for &link in ready.iter() {
            if self.links[link as usize].busy == 0 {
                self.send(now, link); // a link with a busy neighbour stays frozen with a backoff of zero
            }
        }
    }

    /// Begins the transmissions of all `ready` links. Links that are neighbours collide.
    fn begin_together(&mut self, now: Time, ready: &mut Vec<u32>) {
        ready.retain(|&link| {
            let state = &mut self.links[link as usize];
            let sends = state.load.or(state.filler).is_some();
            state.state = match sends {
                true => State::Sending,
                false => State::Silent, // only a post-backoff has ended
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
        // only a link with a packet or with dummy packets transmits, so that 0 is never used
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

    /// Marks the transmissions that `link` disturbs as failed. Also marks the transmission of
    /// `link` itself as failed if another link disturbs it.
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
                // a link whose own transmission also ends now has not heard this transmission, and
                // does not wait for EIFS
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

    /// Returns the counters of `link`.
    pub fn counters(&self, link: u32) -> NodeCounters {
        self.links[link as usize].counters
    }

    /// Returns the number of transmissions of dummy packets of `link` that have ended.
    pub fn dummies(&self, link: u32) -> u64 {
        self.links[link as usize].dummies
    }

    /// Returns the time for which `link` has been on the air by `now`, and the part of this time
    /// that was used for dummy packets. [ns]
    pub fn air_ns(&self, link: u32, now: Time) -> (u64, u64) {
        let own = &self.links[link as usize];
        let present = match own.state {
            State::Sending => now.since(own.began).0,
            State::Silent | State::Frozen { .. } | State::Counting { .. } => 0,
        };
        let of_dummy = if own.dummy { present } else { 0 };
        (own.air_ns + present, own.dummy_ns + of_dummy)
    }

    /// Returns whether `link` is on the air.
    pub fn sends(&self, link: u32) -> bool {
        self.links[link as usize].state == State::Sending
    }

    /// Returns the number of transmissions that began while a neighbour was on the air. A value
    /// above 0 shows a defect of this model.
    pub fn overlaps(&self) -> u64 {
        self.overlaps
    }
}

/// Returns a random time with the given mean and distribution. [ns]
#[inline]
fn draw(spread: Spread, mean: f64, stream: &mut Stream) -> u64 {
    let time = match spread {
        Spread::Constant => mean,
        Spread::Uniform => 2.0 * mean * stream.unit(),
        Spread::Exponential => mean * stream.exponential(),
    };
    time.round() as u64
}

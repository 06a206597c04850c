//! 802.11 DCF/EDCA access in one contention domain: every node hears every other.
//!
//! IEEE 802.11-2016, clauses 10.3 (DCF) and 10.22.2 (EDCA).
//!
//! A node that has a frame counts down a backoff, uniform on [0, CW], in idle slots after AIFS (EIFS
//! after a collision or a corrupted frame), freezes while the medium is busy, sends at zero, doubles
//! CW + 1 after a failure, gives up after its attempt limit, and draws a new backoff after each
//! exchange even if it has nothing more to send (post-backoff). A frame that arrives at a node whose
//! post-backoff has run out, while the medium has been idle for AIFS, goes out at once.
//!
//! The next transmission is planned ahead, up to the end of its data frame, and is revised while it
//! has not begun; so an exchange costs one event. A frame that arrives in the instant in which a
//! transmission begins finds the medium busy.
//!
//! Differs from the standard in: the ACK timeout is by default as long as EIFS less AIFS, so that
//! colliding nodes and the others resume together (`ack_timeout` sets another); MAC ACK, RTS and CTS
//! frames are never corrupted; propagation takes no time; a node that sends again before its RTS's
//! reservation is over (possible only if `ack_timeout` is shorter than a MAC ACK) ends it.

use super::airtime::{ACK_BYTES, RTS_BYTES};
use super::backoff::BackoffRing;
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::{Span, Time};
use crate::scenario::{self, Phy, Scenario};

/// The access point's number; station i of the scenario is node i + 1.
pub const AP: u32 = 0;

/// A data frame handed to the medium.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Receiving node.
    pub to: u32,
    /// Length of the IP packet inside. [bytes]
    pub ip_bytes: u32,
}

/// How the exchange that ended has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver has the frame; its MAC ACK ends at `done`, and then the frame leaves its queue.
    Delivered {
        /// Node whose frame it was.
        from: u32,
        /// End of the MAC ACK.
        done: Time,
    },
    /// One frame was lost to channel errors.
    Corrupted,
    /// Several nodes sent at once.
    Collided,
}

/// When an exchange took place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exchange {
    /// Start of the first frame.
    pub start: Time,
    /// End of the data frame, or of the longest colliding frame.
    pub end: Time,
}

/// What a node has done on the air since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeCounters {
    /// Transmissions begun (RTS or data frame).
    pub attempts: u64,
    /// Attempts that collided.
    pub collided: u64,
    /// Attempts lost to channel errors.
    pub corrupted: u64,
    /// Frames acknowledged.
    pub delivered: u64,
    /// Frames given up at the attempt limit.
    pub discarded: u64,
}

/// Rate and quality of the link between the AP and a station, one direction.
#[derive(Clone, Debug)]
struct Path {
    rate_bps: u64,
    error: f64,
    /// Air times of the two frame lengths seen last.
    known: [(u32, Span); 2],
}

#[derive(Clone, Debug)]
struct Node {
    stream: Stream,
    errors: Stream,
    group: usize,
    /// Idle slot, in its group's count, in which the backoff ends.
    target: u64,
    /// The group's `openings` when the backoff was drawn.
    drawn_at: u64,
    backlogged: bool,
    /// Counting from an instant of its own until the next transmission (see `Loner`).
    lone: bool,
    cw: u32,
    cwmin: u32,
    cwmax: u32,
    short_failures: u32,
    long_failures: u32,
    attempts_short: u32,
    attempts_long: u32,
    frame: Frame,
    /// Air time of the frame's data part.
    data_air: Span,
    protect: bool,
    rts_air: Span,
    cts_air: Span,
    ack_air: Span,
    counters: NodeCounters,
}

/// Nodes with the same AIFS.
#[derive(Clone, Debug)]
struct Group {
    aifs: Span,
    /// When its nodes begin to count slots in the present idle period.
    resume: Time,
    /// Idle periods in which `resume` was reached.
    openings: u64,
    ring: BackoffRing,
    /// Idle slots to its next transmission, as planned.
    ahead: Option<u64>,
}

/// A node that resumes at its own instant, for the present idle period only.
#[derive(Clone, Copy, Debug)]
struct Loner {
    node: u32,
    resume: Time,
    slots: u64,
}

/// One contention domain.
#[derive(Clone, Debug)]
pub struct Dcf {
    phy: Phy,
    mac_bytes: u32,
    rts_threshold: Option<u32>,
    ack_timeout: Option<Span>,
    nodes: Vec<Node>,
    /// To station i: `down[i + 1]`; from station i: `up[i + 1]`.
    down: Vec<Path>,
    up: Vec<Path>,
    groups: Vec<Group>,
    loners: Vec<Loner>,
    /// Start of the transmission planned or on the air.
    start: Time,
    /// End of its data part (of the longest first frame if several collide).
    end: Time,
    on_air: bool,
    /// Contenders or their instants changed since the last plan.
    stale: bool,
    transmitters: Vec<u32>,
    /// Room to collect the transmitters of a plan.
    candidates: Vec<u32>,
    discarded: Vec<u32>,
    exchange: Exchange,
    idle_since: Time,
    idle_ns: u64,
    busy_ns: u64,
}

impl Dcf {
    /// The cell of `scenario`, idle.
    pub fn new(scenario: &Scenario, streams: &Streams) -> Dcf {
        let cell = &scenario.cell;
        let settings = || {
            std::iter::once(("ap", &cell.ap))
                .chain(scenario.stations.iter().map(|s| (s.name.as_str(), &s.node)))
        };
        let mut aifsns: Vec<u32> = settings().map(|(_, node)| node.aifsn).collect();
        aifsns.sort_unstable();
        aifsns.dedup();
        let count = scenario.stations.len() + 1;
        let most = settings()
            .map(|(_, node)| node.cwmax.max(node.cwmin))
            .max()
            .unwrap_or(0);
        let groups = aifsns
            .iter()
            .map(|&aifsn| Group {
                aifs: cell.phy.aifs(aifsn),
                resume: Time::ZERO,
                openings: 1,
                ring: BackoffRing::new(count, most),
                ahead: None,
            })
            .collect();
        let nodes = settings()
            .map(|(name, node)| {
                let group = aifsns
                    .iter()
                    .position(|&aifsn| aifsn == node.aifsn)
                    .unwrap_or(0);
                Node::new(name, node, group, &cell.phy, streams)
            })
            .collect();
        let path = |rate_bps, error| Path {
            rate_bps,
            error,
            known: [(0, Span::ZERO); 2],
        };
        let idle = std::iter::once(path(1, 0.0));
        let stations = &scenario.stations;
        Dcf {
            phy: cell.phy,
            mac_bytes: cell.frame_bytes(0),
            rts_threshold: cell.rts_threshold_bytes,
            ack_timeout: cell.ack_timeout,
            nodes,
            down: idle
                .clone()
                .chain(
                    stations
                        .iter()
                        .map(|s| path(s.downlink_rate_bps, s.error_down)),
                )
                .collect(),
            up: idle
                .chain(stations.iter().map(|s| path(s.rate_bps, s.error_up)))
                .collect(),
            groups,
            loners: Vec::new(),
            start: Time::NEVER,
            end: Time::NEVER,
            on_air: false,
            stale: false,
            transmitters: Vec::with_capacity(8),
            candidates: Vec::with_capacity(8),
            exchange: Exchange::default(),
            discarded: Vec::with_capacity(8),
            idle_since: Time::ZERO,
            idle_ns: 0,
            busy_ns: 0,
        }
    }

    /// When `advance` must be called next. Ask after every batch of calls at one instant: this is
    /// where the next transmission is planned.
    #[inline]
    pub fn deadline(&mut self) -> Time {
        if self.stale {
            self.plan();
        }
        self.end
    }

    /// `node`, which had nothing to send, has `frame` from `now` on.
    #[inline]
    pub fn backlog(&mut self, now: Time, node: u32, frame: Frame) {
        // a stale plan has only contenders from this instant, none of whom can begin in it
        if !self.on_air && !self.stale && self.start <= now {
            self.begin();
        }
        self.load(node, frame);
        let slot = self.phy.slot;
        let state = &mut self.nodes[node as usize];
        state.backlogged = true;
        if state.lone {
            self.backlog_loner(now, node);
            return;
        }
        let group = &mut self.groups[state.group];
        let (open, elapsed) = if self.on_air || now < group.resume {
            (false, 0)
        } else {
            (true, now.since(group.resume).0 / slot.0)
        };
        let ripe = group.openings + u64::from(open) > state.drawn_at;
        if ripe && state.target <= group.ring.passed() + elapsed {
            if open {
                self.begin_at_once(now, node);
                return;
            }
            let backoff = u64::from(state.stream.up_to(state.cw));
            state.target = group.ring.passed() + backoff;
            state.drawn_at = group.openings;
        }
        self.contend(node);
    }

    /// Ends the transmission on the air; call it exactly at `deadline`. The caller then tells, by
    /// `proceed`, what each node that got rid of its frame (the deliverer, the `discarded`) has next.
    #[inline]
    pub fn advance(&mut self) -> Outcome {
        if !self.on_air {
            self.begin();
        }
        self.on_air = false;
        self.stale = true;
        self.discarded.clear();
        self.exchange = Exchange {
            start: self.start,
            end: self.end,
        };
        self.idle_ns += self.start.since(self.idle_since).0;
        if let [from] = self.transmitters[..] {
            self.end_single(from)
        } else {
            self.end_collision()
        }
    }

    /// After `advance`: `node` has `frame` next, or nothing.
    #[inline]
    pub fn proceed(&mut self, node: u32, frame: Option<Frame>) {
        match frame {
            Some(frame) => {
                self.load(node, frame);
                self.nodes[node as usize].backlogged = true;
                if self.nodes[node as usize].lone {
                    self.stale = true;
                } else {
                    self.contend(node);
                }
            }
            None => self.nodes[node as usize].backlogged = false,
        }
    }

    /// Nodes whose frame was given up in the last `advance`.
    pub fn discarded(&self) -> &[u32] {
        &self.discarded
    }

    /// Nodes that sent in the exchange that ended last.
    pub fn transmitters(&self) -> &[u32] {
        &self.transmitters
    }

    /// The exchange that ended last.
    pub fn exchange(&self) -> Exchange {
        self.exchange
    }

    /// Air times of RTS and CTS that opened the last exchange of `node`; `None` without.
    pub fn protection(&self, node: u32) -> Option<(Span, Span)> {
        let state = &self.nodes[node as usize];
        let cts = self.nodes[state.frame.to as usize].cts_air;
        state.protect.then_some((state.rts_air, cts))
    }

    /// Air time of `node`'s MAC ACK.
    pub fn ack_air(&self, node: u32) -> Span {
        self.nodes[node as usize].ack_air
    }

    /// What `node` has done so far.
    pub fn counters(&self, node: u32) -> NodeCounters {
        self.nodes[node as usize].counters
    }

    /// Time the medium was busy, exchanges counted when they end. [ns]
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Idle time before the exchanges that have ended. [ns]
    pub fn idle_ns(&self) -> u64 {
        self.idle_ns
    }

    /// End of the last exchange: busy and idle time add up to it.
    pub fn idle_since(&self) -> Time {
        self.idle_since
    }

    /// A frame for a node that counts from an instant of its own (the medium is idle).
    fn backlog_loner(&mut self, now: Time, node: u32) {
        let at = self
            .loners
            .iter()
            .position(|loner| loner.node == node && loner.start(self.phy.slot) <= now);
        match at {
            Some(index) => {
                self.loners.swap_remove(index);
                self.nodes[node as usize].lone = false;
                self.begin_at_once(now, node);
            }
            None => self.stale = true,
        }
    }

    fn load(&mut self, node: u32, frame: Frame) {
        let path = if node == AP {
            &mut self.down[frame.to as usize]
        } else {
            &mut self.up[node as usize]
        };
        let bytes = frame.ip_bytes + self.mac_bytes;
        let state = &mut self.nodes[node as usize];
        state.data_air = path.airtime(bytes, &self.phy);
        state.protect = self
            .rts_threshold
            .is_some_and(|threshold| bytes > threshold);
        state.frame = frame;
    }

    /// Puts a backlogged node in line.
    #[inline]
    fn contend(&mut self, node: u32) {
        let state = &self.nodes[node as usize];
        self.groups[state.group].ring.add(node, state.target);
        self.stale = !self.on_air;
    }

    /// From the start of an undisturbed exchange to the end of its data frame.
    #[inline]
    fn span_to_delivery(&self, node: u32) -> Span {
        let state = &self.nodes[node as usize];
        if state.protect {
            let cts = self.nodes[state.frame.to as usize].cts_air;
            state.rts_air + self.phy.sifs + cts + self.phy.sifs + state.data_air
        } else {
            state.data_air
        }
    }

    /// Finds the next transmission.
    fn plan(&mut self) {
        self.stale = false;
        let slot = self.phy.slot;
        let mut start = Time::NEVER;
        for group in &mut self.groups {
            group.ahead = group.ring.slots_ahead();
            if let Some(ahead) = group.ahead {
                start = start.min(group.resume + slot * ahead);
            }
        }
        for loner in &self.loners {
            if self.nodes[loner.node as usize].backlogged {
                start = start.min(loner.start(slot));
            }
        }
        self.start = start;
        self.end = if start == Time::NEVER {
            Time::NEVER
        } else {
            start + self.planned_span()
        };
    }

    /// From the planned start to the end of the data frame, or of the longest colliding frame.
    #[inline]
    fn planned_span(&mut self) -> Span {
        if let ([group], []) = (&self.groups[..], &self.loners[..])
            && let Some(node) = group.ahead.and_then(|ahead| group.ring.only_at(ahead))
        {
            return self.span_to_delivery(node);
        }
        self.longest_planned_span()
    }

    fn longest_planned_span(&mut self) -> Span {
        let slot = self.phy.slot;
        self.candidates.clear();
        let candidates = &mut self.candidates;
        for group in &self.groups {
            if let Some(ahead) = group.ahead
                && group.resume + slot * ahead == self.start
            {
                group.ring.visit_at(ahead, |node| candidates.push(node));
            }
        }
        for loner in &self.loners {
            if loner.start(slot) == self.start && self.nodes[loner.node as usize].backlogged {
                candidates.push(loner.node);
            }
        }
        match self.candidates[..] {
            [node] => self.span_to_delivery(node),
            ref several => {
                let spans = several
                    .iter()
                    .map(|&node| self.nodes[node as usize].first_air());
                spans.max().unwrap_or(Span::ZERO)
            }
        }
    }

    /// The planned transmission begins: counters freeze, transmitters leave the line.
    fn begin(&mut self) {
        self.transmitters.clear();
        self.freeze();
    }

    /// Immediate access.
    fn begin_at_once(&mut self, now: Time, node: u32) {
        self.start = now;
        self.end = now + self.span_to_delivery(node);
        self.transmitters.clear();
        self.transmitters.push(node);
        self.freeze();
    }

    /// The medium is busy from `start` on: counters stop, contenders of that slot transmit.
    fn freeze(&mut self) {
        self.on_air = true;
        let slot = self.phy.slot;
        let start = self.start;
        let transmitters = &mut self.transmitters;
        for group in &mut self.groups {
            if start < group.resume {
                continue;
            }
            group.openings += 1;
            match group.ahead {
                Some(ahead) if group.resume + slot * ahead == start => {
                    group.ring.pass(ahead);
                    group.ring.take_present(|node| transmitters.push(node));
                }
                _ => group.ring.pass(start.since(group.resume).0 / slot.0),
            }
        }
        if !self.loners.is_empty() {
            self.gather_loners();
        }
        for &node in &self.transmitters {
            self.nodes[node as usize].counters.attempts += 1;
        }
    }

    /// The loners whose slot it is transmit, the others fall in with their groups.
    fn gather_loners(&mut self) {
        let (slot, start) = (self.phy.slot, self.start);
        for loner in self.loners.drain(..) {
            let state = &mut self.nodes[loner.node as usize];
            state.lone = false;
            if state.backlogged && loner.start(slot) == start {
                self.transmitters.push(loner.node);
                continue;
            }
            let elapsed = start.since(loner.resume).0 / slot.0;
            let group = &mut self.groups[state.group];
            state.target = group.ring.passed() + loner.slots.saturating_sub(elapsed);
            state.drawn_at = group.openings - u64::from(start >= loner.resume);
            if state.backlogged {
                group.ring.add(loner.node, state.target);
            }
        }
    }

    fn end_single(&mut self, from: u32) -> Outcome {
        let state = &mut self.nodes[from as usize];
        let to = state.frame.to;
        let error = if from == AP {
            self.down[to as usize].error
        } else {
            self.up[from as usize].error
        };
        let corrupted = state.errors.chance(error);
        let protect = state.protect;
        let ack_end = self.end + self.phy.sifs + self.nodes[to as usize].ack_air;
        if corrupted {
            // EIFS runs whatever the NAV says, but behind an RTS the NAV may last longer
            let nav = if protect {
                ack_end.since(self.end)
            } else {
                Span::ZERO
            };
            let wait = nav.max(self.phy.eifs_lead());
            let end = self.end;
            self.nodes[from as usize].counters.corrupted += 1;
            self.release_medium(end, wait);
            self.fail(from, protect, end, end, wait);
            return Outcome::Corrupted;
        }
        self.release_medium(ack_end, Span::ZERO);
        let state = &mut self.nodes[from as usize];
        state.counters.delivered += 1;
        state.succeed(&self.groups[state.group]);
        Outcome::Delivered {
            from,
            done: ack_end,
        }
    }

    fn end_collision(&mut self) -> Outcome {
        let Exchange { start, end } = self.exchange;
        let wait = self.phy.eifs_lead();
        self.release_medium(end, wait);
        let transmitters = std::mem::take(&mut self.transmitters);
        for &node in &transmitters {
            let state = &mut self.nodes[node as usize];
            state.counters.collided += 1;
            let own_end = start + state.first_air();
            let long = false; // an RTS or an unprotected frame: both count as short
            self.fail(node, long, own_end, end, wait);
        }
        self.transmitters = transmitters;
        Outcome::Collided
    }

    /// The medium falls idle at `end`; everyone resumes `wait` and its AIFS later.
    fn release_medium(&mut self, end: Time, wait: Span) {
        self.busy_ns += end.since(self.start).0;
        self.idle_since = end;
        for group in &mut self.groups {
            group.resume = end + wait + group.aifs;
        }
    }

    /// One more failure of `node`, whose frame ended at `own_end`: double, retry or give up.
    fn fail(&mut self, node: u32, long: bool, own_end: Time, busy_end: Time, wait: Span) {
        let state = &mut self.nodes[node as usize];
        let group = &mut self.groups[state.group];
        let given_up = state.fail(long);
        if given_up {
            state.counters.discarded += 1;
            state.succeed(group);
            state.backlogged = false;
            self.discarded.push(node);
        } else {
            state.draw(group);
        }
        let resume = match self.ack_timeout {
            Some(timeout) => (own_end + timeout).max(busy_end) + group.aifs,
            None => busy_end + wait + group.aifs,
        };
        if resume != group.resume {
            let slots = state.target - group.ring.passed();
            state.lone = true;
            self.loners.push(Loner {
                node,
                resume,
                slots,
            });
        } else if !given_up {
            group.ring.add(node, state.target);
        }
    }
}

impl Loner {
    /// When it will transmit if the medium stays idle.
    fn start(&self, slot: Span) -> Time {
        self.resume + slot * self.slots
    }
}

impl Node {
    fn new(name: &str, node: &scenario::Node, group: usize, phy: &Phy, streams: &Streams) -> Node {
        let control = |bytes| phy.airtime(bytes, node.control_rate_bps);
        Node {
            stream: streams.stream(&format!("{name}/backoff")),
            errors: streams.stream(&format!("{name}/channel")),
            group,
            target: 0,
            drawn_at: 0,
            backlogged: false,
            lone: false,
            cw: node.cwmin,
            cwmin: node.cwmin,
            cwmax: node.cwmax,
            short_failures: 0,
            long_failures: 0,
            attempts_short: node.attempts_short,
            attempts_long: node.attempts_long,
            frame: Frame {
                to: AP,
                ip_bytes: 0,
            },
            data_air: Span::ZERO,
            protect: false,
            rts_air: control(RTS_BYTES),
            cts_air: control(ACK_BYTES),
            ack_air: control(ACK_BYTES),
            counters: NodeCounters::default(),
        }
    }

    /// Air time of the frame that opens its exchange.
    fn first_air(&self) -> Span {
        if self.protect {
            self.rts_air
        } else {
            self.data_air
        }
    }

    /// Counts a failure; true if the attempt limit is reached.
    fn fail(&mut self, long: bool) -> bool {
        let (failures, attempts) = if long {
            (&mut self.long_failures, self.attempts_long)
        } else {
            (&mut self.short_failures, self.attempts_short)
        };
        *failures += 1;
        let given_up = *failures >= attempts;
        self.cw = (2 * (self.cw + 1) - 1).min(self.cwmax.max(self.cwmin));
        given_up
    }

    /// The frame is done with: counters and window start afresh, post-backoff begins.
    fn succeed(&mut self, group: &Group) {
        self.short_failures = 0;
        self.long_failures = 0;
        self.cw = self.cwmin;
        self.draw(group);
    }

    fn draw(&mut self, group: &Group) {
        self.target = group.ring.passed() + u64::from(self.stream.up_to(self.cw));
        self.drawn_at = group.openings;
    }
}

impl Path {
    #[inline]
    fn airtime(&mut self, bytes: u32, phy: &Phy) -> Span {
        if self.known[0].0 == bytes {
            return self.known[0].1;
        }
        self.known.swap(0, 1);
        if self.known[0].0 != bytes {
            self.known[0] = (bytes, phy.airtime(bytes, self.rate_bps));
        }
        self.known[0].1
    }
}

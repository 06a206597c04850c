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
//! Each access category of a node contends for itself. Categories of one node that are ready in the
//! same slot do not collide on the air: the highest sends, the others act as if they had collided (a
//! frame given up for that leaves its queue when the exchange ends).
//!
//! A contender that wins the medium holds it for a transmission opportunity: its next frame follows SIFS
//! after the MAC ACK, without RTS, if it is there before the MAC ACK ends and if its own MAC ACK would end
//! within the TXOP limits. The first frame is always allowed; a failure ends the opportunity. With
//! `cf_end`, a contender that has time left in its opportunity but nothing more to send ends it with a
//! CF-End frame, SIFS after the last MAC ACK (10.22.2.9). Post-backoff is drawn after each frame; a frame
//! that follows in the same opportunity draws anew.
//!
//! With rate fallback each sender chooses among the rates of each link by what becomes of its data
//! frames; a frame whose rate falls is sent again at the new one.
//!
//! In a cell that aggregates what is sent is formed when the exchange begins (`dcf/bursts.rs`): the medium
//! asks for it then, and for what became of it at its end. One event more for an exchange.
//!
//! The next transmission is planned ahead, up to the end of its data frame, and is revised while it
//! has not begun; so an exchange costs one event. A frame that arrives in the instant in which a
//! transmission begins finds the medium busy.
//!
//! Differs from the standard in: the ACK timeout is by default as long as EIFS less AIFS, so that colliding
//! nodes and the others resume together (`ack_timeout` sets another); counters fall as in the DCF unless
//! `countdown` says otherwise, and immediate access waits for no slot boundary; MAC ACK, RTS, CTS and
//! CF-End frames are never corrupted; propagation takes no time; a node that sends again before its RTS's
//! reservation is over (possible only if `ack_timeout` is shorter than a MAC ACK) ends it.

mod bursts;
mod ending;
mod weather;

use self::bursts::Formed;

use super::contender::{Contender, contenders_of, outranked};
use super::countdown::Countdown;
use super::path::Path;
use super::{Category, Cell, ColliderWait, Node, Phy, RateControl, Rates, Station};
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};

pub use super::contender::{AggregateCounters, DownCounters, NodeCounters};
pub use super::exchange::{Burst, CfEnd, Content, Exchange, Frame, Outcome, Prospect};

/// The access point's number; station i of the scenario is node i + 1.
pub const AP: u32 = 0;

/// The contender that may go on after the MAC ACK without contending again.
#[derive(Clone, Copy, Debug)]
struct Holder {
    contender: u32,
    /// End of its MAC ACK.
    done: Time,
}

/// Where a contender stands in the count of idle slots of those with its interframe space.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Idle slots passed.
    pub passed: u64,
    /// Idle periods that lasted the interframe space.
    pub openings: u64,
    /// Idle slot in which its backoff ends.
    pub target: u64,
    /// Idle periods when it was drawn.
    pub drawn_at: u64,
    /// Whether it counts from an instant of its own until the next transmission.
    pub lone: bool,
    /// When the others begin to count in the present idle period.
    pub resume: Time,
}

/// One contention domain.
///
/// Contender n is best effort at node n (0 is the AP, i + 1 is station i); the other access categories
/// in use follow.
#[derive(Clone, Debug)]
pub struct Dcf {
    phy: Phy,
    mac_bytes: u32,
    rts_threshold: Option<u32>,
    ack_timeout: Option<Span>,
    collider_wait: ColliderWait,
    cf_end: bool,
    contenders: Vec<Contender>,
    countdown: Countdown,
    /// Whether some node has several contenders.
    several_categories: bool,
    /// Whether rates fall back.
    falls_back: bool,
    /// Whether exchanges are formed when they begin, and what is known of them then.
    forms: bool,
    formed: Vec<Formed>,
    /// Whether the exchange on the air is still to be formed.
    unformed: bool,
    /// Number of nodes.
    nodes: usize,
    /// To station i: `down[i]`; from station i: `up[i]`.
    down: Vec<Path>,
    up: Vec<Path>,
    /// What became of the access point's frames to station i.
    down_counters: Vec<DownCounters>,
    /// Start of the transmission planned or on the air.
    start: Time,
    /// End of its data part (of the longest first frame if several collide).
    end: Time,
    on_air: bool,
    /// Start of the present transmission opportunity, and exchanges in it before the one on the air.
    opportunity: Time,
    followed: u32,
    /// Whether contenders or their instants have changed since the last plan.
    stale: bool,
    transmitters: Vec<u32>,
    /// Room to collect the transmitters of a plan.
    candidates: Vec<u32>,
    /// Contenders that gave up a frame in an internal collision of the transmission on the air.
    discarded_inside: Vec<u32>,
    discarded: Vec<u32>,
    holder: Option<Holder>,
    /// The CF-End frame that follows the last exchange unless the holder goes on.
    closing: Option<CfEnd>,
    /// The CF-End frame between the exchange that ended last and the one before.
    closed: Option<CfEnd>,
    exchange: Exchange,
    idle_since: Time,
    idle_ns: u64,
    busy_ns: u64,
}

impl Dcf {
    /// The idle `cell` with its `stations`. `categories` names for each flow its station, counted from
    /// 0, and its category.
    pub fn new(
        cell: &Cell,
        stations: &[Station],
        categories: impl Iterator<Item = (usize, Category)>,
        streams: &Streams,
    ) -> Dcf {
        let nodes: Vec<(&str, u32, &Node)> = std::iter::once(("ap", AP, &cell.ap))
            .chain(
                (1..)
                    .zip(stations)
                    .map(|(n, s)| (s.name.as_str(), n, &s.node)),
            )
            .collect();
        let members = contenders_of(stations.len(), categories);
        let access = |&(node, category): &(u32, Category)| nodes[node as usize].2.access(category);
        let mut aifsns: Vec<u32> = members.iter().map(|member| access(member).aifsn).collect();
        aifsns.sort_unstable();
        aifsns.dedup();
        let windows = members
            .iter()
            .map(|member| access(member).cwmax.max(access(member).cwmin));
        let contender = |member: &(u32, Category)| {
            let aifsn = access(member).aifsn;
            let group = aifsns.iter().position(|&one| one == aifsn).unwrap_or(0);
            Contender::new(nodes[member.0 as usize], member.1, group, streams)
        };
        let falls_back = cell.rate_control == RateControl::Arf;
        let path = |from, to, quality| {
            let ladder = if falls_back {
                cell.rates_up_to_nominal(stations, from, to)
            } else {
                vec![cell.rates(stations, from, to)]
            };
            Path::new(&cell.phy, ladder, falls_back, quality)
        };
        let forms = cell.ppdus.is_some();
        let paths = || (1..).zip(stations).filter(|_| !forms);
        let down = paths().map(|(n, s)| path(AP, n, s.channel.quality_down()));
        let up = paths().map(|(n, s)| path(n, AP, s.channel.quality_up()));
        Dcf {
            phy: cell.phy,
            mac_bytes: cell.frame_bytes(0),
            rts_threshold: cell.rts_threshold_bytes,
            ack_timeout: cell.ack_timeout,
            collider_wait: cell.collider_wait,
            cf_end: cell.cf_end,
            contenders: members.iter().map(contender).collect(),
            countdown: Countdown::new(
                &cell.phy,
                cell.countdown,
                &aifsns,
                members.len(),
                windows.max().unwrap_or(0),
            ),
            several_categories: members.len() > nodes.len(),
            falls_back,
            forms,
            formed: if forms {
                vec![Formed::default(); members.len()]
            } else {
                Vec::new()
            },
            unformed: false,
            nodes: nodes.len(),
            down: down.collect(),
            up: up.collect(),
            down_counters: vec![DownCounters::default(); stations.len()],
            start: Time::NEVER,
            end: Time::NEVER,
            on_air: false,
            opportunity: Time::ZERO,
            followed: 0,
            stale: false,
            transmitters: Vec::with_capacity(8),
            candidates: Vec::with_capacity(8),
            discarded_inside: Vec::new(),
            discarded: Vec::with_capacity(8),
            holder: None,
            closing: None,
            closed: None,
            exchange: Exchange::default(),
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

    /// Whether `advance` is due, `deadline` having been asked since the last change.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.end <= now
    }

    /// `contender`, which had nothing to send, has `frame` from `now` on.
    #[inline]
    pub fn backlog(&mut self, now: Time, contender: u32, frame: Frame) {
        // a stale plan has only contenders from this instant, none of whom can begin in it
        if !self.on_air && !self.stale && self.start <= now {
            self.begin_apart();
        }
        self.load(contender, frame);
        if let Some(holder) = self.holder
            && holder.contender == contender
            && now < holder.done
            && self.follow(holder)
        {
            return;
        }
        let state = &mut self.contenders[contender as usize];
        if self.countdown.arrive(now, self.on_air, contender, state) {
            self.begin_at_once(now, contender);
        } else {
            self.stale = !self.on_air;
        }
    }

    /// Ends the transmission on the air; call it exactly at `deadline`. The caller then tells, by
    /// `proceed`, what each contender that got rid of its frame (the deliverer, the `discarded`) has
    /// next.
    #[inline]
    pub fn advance(&mut self) -> Outcome {
        if !self.on_air {
            self.begin();
        }
        self.end_exchange::<false>(None)
    }

    /// The same. Of bursts `received` tells whether the data of a single transmitter were.
    #[inline(always)]
    fn end_exchange<const OF_BURSTS: bool>(&mut self, received: Option<bool>) -> Outcome {
        self.on_air = false;
        self.stale = true;
        if self.cf_end {
            self.closed = self.closing.take();
        }
        self.discarded.clear();
        if !self.discarded_inside.is_empty() {
            self.discarded.append(&mut self.discarded_inside);
            for &contender in &self.discarded {
                self.contenders[contender as usize].counters.discarded += 1;
            }
        }
        self.exchange = Exchange {
            start: self.start,
            end: self.end,
            follows: self.followed > 0,
        };
        self.idle_ns += self.start.since(self.idle_since).0;
        if let [from] = self.transmitters[..] {
            self.end_single::<OF_BURSTS>(from, received)
        } else {
            self.end_collision::<OF_BURSTS>()
        }
    }

    /// After `advance`: `contender` has `frame` next, or nothing.
    #[inline]
    pub fn proceed(&mut self, contender: u32, frame: Option<Frame>) {
        let Some(frame) = frame else {
            self.contenders[contender as usize].backlogged = false;
            return;
        };
        self.load(contender, frame);
        if let Some(holder) = self.holder
            && holder.contender == contender
            && self.follow(holder)
        {
            return;
        }
        let state = &self.contenders[contender as usize];
        if !state.lone {
            self.countdown.contend(contender, state);
        }
    }

    /// Contenders whose frame was given up in the last `advance`.
    pub fn discarded(&self) -> &[u32] {
        &self.discarded
    }

    /// Contenders that sent in the exchange that ended last.
    pub fn transmitters(&self) -> &[u32] {
        &self.transmitters
    }

    /// The exchange that ended last.
    pub fn exchange(&self) -> Exchange {
        self.exchange
    }

    /// The CF-End frame ahead of the exchange that ended last, if there was one.
    pub fn cf_end(&self) -> Option<CfEnd> {
        self.closed
    }

    /// Number of contenders.
    pub fn contenders(&self) -> usize {
        self.contenders.len()
    }

    /// The contender for `category` at `node`; best effort if no flow there uses that category.
    pub fn contender(&self, node: u32, category: Category) -> u32 {
        let key = |one: &Contender| (one.node, one.category);
        let others = &self.contenders[self.nodes..];
        match others.binary_search_by_key(&(node, category), key) {
            Ok(index) => (self.nodes + index) as u32,
            Err(_) => node,
        }
    }

    /// The contenders of `node`.
    pub fn categories_of(&self, node: u32) -> impl Iterator<Item = u32> {
        let nodes = self.nodes;
        let others = &self.contenders[nodes..];
        let from = others.partition_point(|other| other.node < node);
        let own = others[from..]
            .iter()
            .take_while(move |one| one.node == node);
        let others = (nodes + from) as u32..;
        std::iter::once(node).chain(others.zip(own).map(|(contender, _)| contender))
    }

    /// The node that `contender` belongs to: 0 is the AP, i + 1 is station i.
    pub fn node(&self, contender: u32) -> u32 {
        self.contenders[contender as usize].node
    }

    /// The access category of `contender`.
    pub fn category(&self, contender: u32) -> Category {
        self.contenders[contender as usize].category
    }

    /// Air times of RTS and CTS that opened the last exchange of `contender`; `None` without.
    pub fn protection(&self, contender: u32) -> Option<(Span, Span)> {
        let state = &self.contenders[contender as usize];
        let protected = state.protect && !self.exchange.follows;
        protected.then_some((state.rts_air, self.cts_air(contender)))
    }

    /// Rates of the last exchange of `contender`, as long as nobody has told what it has next.
    pub fn rates(&self, contender: u32) -> Rates {
        let state = &self.contenders[contender as usize];
        match self.falls_back {
            true => state.sent_at,
            false => state.rates,
        }
    }

    /// Where the backoff of `contender` stands; for who records.
    pub fn backoff(&self, contender: u32) -> Backoff {
        let state = &self.contenders[contender as usize];
        let count = self.countdown.count(state.group);
        Backoff {
            passed: count.passed,
            openings: count.openings,
            target: state.target,
            drawn_at: state.drawn_at,
            lone: state.lone,
            resume: self.countdown.resume(state.group),
        }
    }

    /// Length of an idle slot.
    pub fn slot(&self) -> Span {
        self.phy.slot
    }

    /// What `contender` has done so far.
    pub fn counters(&self, contender: u32) -> NodeCounters {
        self.contenders[contender as usize].counters
    }

    /// What became of the access point's frames to station number `station`, counted from 0.
    pub fn down_counters(&self, station: usize) -> DownCounters {
        self.down_counters[station]
    }

    /// Time the medium was busy, exchanges counted when they end. [ns]
    pub fn busy_ns(&self) -> u64 {
        self.busy_ns
    }

    /// Time the medium was busy by `now`, for which [`Dcf::deadline`] has been asked. [ns]
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        // an exchange is counted when its data have ended, its response included
        let ended = self.busy_ns - self.idle_since.since(now).0;
        // one that has begun and not ended; if it is only planned, its start lies ahead
        let is_known = self.on_air || !self.stale;
        let present = if is_known {
            now.since(self.start)
        } else {
            Span::ZERO
        };
        ended + present.0
    }

    /// Idle time before the exchanges that have ended, SIFS between the exchanges of a transmission
    /// opportunity included. [ns]
    pub fn idle_ns(&self) -> u64 {
        self.idle_ns
    }

    /// End of the last exchange: busy and idle time add up to it.
    pub fn idle_since(&self) -> Time {
        self.idle_since
    }

    /// Goes on with the loaded frame in the holder's transmission opportunity, if it fits; returns whether
    /// it does.
    fn follow(&mut self, holder: Holder) -> bool {
        let state = &self.contenders[holder.contender as usize];
        let start = holder.done + self.phy.sifs;
        let delivery = start + state.data_air;
        let ack_end = delivery + self.phy.sifs + state.response_air;
        let opportunity = ack_end.since(self.opportunity);
        if state.txop_limit.is_some_and(|limit| opportunity > limit) {
            return false;
        }
        self.holder = None;
        if self.closing.take().is_some() {
            self.busy_ns -= self.idle_since.since(holder.done).0;
            self.idle_since = holder.done;
        }
        self.transmitters.clear();
        self.transmitters.push(holder.contender);
        (self.start, self.end) = (start, delivery);
        self.on_air = true;
        self.followed += 1;
        self.stale = false;
        true
    }

    #[inline(always)]
    fn load(&mut self, contender: u32, frame: Frame) {
        let state = &mut self.contenders[contender as usize];
        let path = if state.node == AP {
            &mut self.down[frame.to as usize - 1]
        } else {
            &mut self.up[state.node as usize - 1]
        };
        let bytes = frame.ip_bytes + self.mac_bytes;
        (state.data_air, state.error) = path.judge(frame, bytes, &self.phy);
        state.protect = self
            .rts_threshold
            .is_some_and(|threshold| bytes > threshold);
        let present = path.present();
        state.rts_air = present.rts_air;
        state.response_air = present.response_air;
        state.rates = present.rates;
        state.frame = frame;
        state.backlogged = true;
    }

    /// Counts what became of the present frame of `contender` if it is one of the access point's.
    #[inline]
    fn tell_down(&mut self, contender: u32, count: impl FnOnce(&mut DownCounters)) {
        let state = &self.contenders[contender as usize];
        if state.node == AP {
            count(&mut self.down_counters[state.frame.to as usize - 1]);
        }
    }

    /// The data frame of `contender` was acknowledged, or was not: rate fallback hears of it.
    #[inline]
    fn adapt(&mut self, contender: u32, acknowledged: bool) {
        if self.falls_back {
            self.fall_back(contender, acknowledged);
        }
    }

    #[inline(never)]
    fn fall_back(&mut self, contender: u32, acknowledged: bool) {
        let state = &mut self.contenders[contender as usize];
        let path = if state.node == AP {
            &mut self.down[state.frame.to as usize - 1]
        } else {
            &mut self.up[state.node as usize - 1]
        };
        if path.heard(acknowledged, &self.phy) && state.backlogged {
            let frame = state.frame;
            self.load(contender, frame);
        }
    }

    /// From the start of an undisturbed exchange to the end of its data frame.
    #[inline(always)]
    fn span_to_delivery(&self, contender: u32) -> Span {
        let state = &self.contenders[contender as usize];
        if state.protect {
            let cts = state.response_air;
            state.rts_air + self.phy.sifs + cts + self.phy.sifs + state.data_air
        } else {
            state.data_air
        }
    }

    /// Finds the next transmission.
    #[inline(always)]
    fn plan(&mut self) {
        self.stale = false;
        self.start = self.countdown.next_start(&self.contenders);
        let span = match self.countdown.only_next() {
            Some(contender) => self.span_to_delivery(contender),
            None => self.longest_planned_span(),
        };
        self.end = self.start + span; // which may be never
    }

    /// From the planned start to the end of the data frame, or of the longest colliding frame.
    fn longest_planned_span(&mut self) -> Span {
        self.candidates.clear();
        self.countdown
            .ready(self.start, &self.contenders, &mut self.candidates);
        if self.several_categories {
            let ready = self.candidates.clone();
            self.candidates
                .retain(|&one| !outranked(&self.contenders, one, &ready));
        }
        match self.candidates[..] {
            [contender] => self.span_to_delivery(contender),
            ref several => {
                let first = |&one: &u32| self.contenders[one as usize].first_air();
                several.iter().map(first).max().unwrap_or(Span::ZERO)
            }
        }
    }

    /// The planned transmission begins: counters freeze, transmitters leave the line.
    #[inline(always)]
    fn begin(&mut self) {
        self.transmitters.clear();
        self.freeze();
    }

    /// The same where it is seldom so: of bursts, or because something else comes before its end.
    fn begin_apart(&mut self) {
        self.transmitters.clear();
        self.freeze_apart();
    }

    /// Immediate access.
    #[inline(never)]
    fn begin_at_once(&mut self, now: Time, contender: u32) {
        self.start = now;
        self.end = now + self.span_to_delivery(contender);
        self.transmitters.clear();
        self.transmitters.push(contender);
        self.freeze_apart();
    }

    /// [`Dcf::freeze`] where it is seldom called.
    #[inline(never)]
    fn freeze_apart(&mut self) {
        self.freeze();
    }

    /// The medium is busy from `start` on: counters stop, contenders of that slot transmit.
    #[inline(always)]
    fn freeze(&mut self) {
        self.on_air = true;
        self.opportunity = self.start;
        self.followed = 0;
        self.stale = false;
        self.holder = None;
        self.countdown
            .freeze(self.start, &mut self.contenders, &mut self.transmitters);
        if self.several_categories && self.transmitters.len() > 1 {
            self.yield_to_higher_categories();
        }
    }

    /// Several contenders are ready in the same slot. Internal collisions: only the highest category of a node
    /// sends, the others count a failure.
    #[inline(never)]
    fn yield_to_higher_categories(&mut self) {
        let ready = std::mem::take(&mut self.transmitters);
        for &contender in &ready {
            if !outranked(&self.contenders, contender, &ready) {
                self.transmitters.push(contender);
                continue;
            }
            let state = &mut self.contenders[contender as usize];
            if !state.fail(false, self.countdown.count(state.group)) {
                self.countdown.contend(contender, state);
            } else if self.gives_up(contender) {
                self.discarded_inside.push(contender);
                if !self.forms {
                    self.tell_down(contender, |down| down.discarded += 1);
                }
            } else {
                let state = &mut self.contenders[contender as usize];
                state.backlogged = true;
                self.countdown.contend(contender, state);
            }
        }
    }
}

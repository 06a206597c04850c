//! 802.11 DCF/EDCA channel access in one contention domain, in which every node hears every other
//! node.
//!
//! IEEE 802.11-2016, clauses 10.3 (DCF) and 10.22.2 (EDCA).
//!
//! A node that has a frame waits for AIFS (after a collision or a corrupted frame for EIFS). The
//! node then counts down a backoff in idle slots. The backoff is uniform on [0, CW]. The countdown
//! stops while the medium is busy. The node sends when the counter is zero. The sum CW + 1 is
//! doubled after a failure, and the frame is given up after the attempt limit. The node draws a new
//! backoff after each exchange even if it has nothing more to send (post-backoff). A frame may
//! arrive at a node whose post-backoff has ended, while the medium has been idle for AIFS. This
//! frame is sent immediately.
//!
//! Each access category of a node contends separately. Categories of one node that are ready in the
//! same slot do not collide on the air. The highest category sends, and the other categories behave
//! as after a collision (internal collision). A frame that is given up after an internal collision
//! leaves its queue when the exchange on the air ends.
//!
//! A contender that wins the medium holds it for a transmission opportunity (TXOP). Its next frame
//! follows SIFS after the MAC ACK, without RTS, on two conditions: the frame arrives before the MAC
//! ACK ends, and the MAC ACK of the next frame would end within the TXOP limits. The first frame is
//! always allowed. A failure ends the TXOP. With `cf_end`, a contender may have time left in its
//! TXOP but nothing more to send. The contender then ends the TXOP with a CF-End frame, SIFS after
//! the last MAC ACK (10.22.2.9). A post-backoff is drawn after each frame of a TXOP, and replaces
//! the previous post-backoff.
//!
//! A type that implements [`FrameExchange`] decides what an exchange carries. With [`SingleFrame`]
//! the contents are known before the exchange begins. The next transmission is planned up to the
//! end of its data frame, and the plan may change until the transmission begins. An exchange then
//! costs one event. With aggregates the contents are chosen when the exchange begins, which costs
//! one event more:
//!
//! ```text
//!   deadline: start, or immediate access --> load_exchange (each transmitter), launch
//!   --> deadline: end --> end_exchange --> proceed (each transmitter)
//! ```
//!
//! A frame that arrives at the instant at which a transmission begins finds the medium busy.
//!
//! Differs from the standard in six points:
//!
//! - The ACK timeout is by default EIFS minus AIFS (`ack_timeout` sets another value). With the
//!   default, colliding nodes and the other nodes resume at the same time.
//! - Counters decrease as in the DCF unless `countdown` sets EDCA.
//! - Immediate access does not wait for a slot boundary.
//! - MAC ACK, RTS, CTS and CF-End frames are never corrupted.
//! - Propagation takes no time.
//! - A node ends the reservation by its own RTS if it sends again before this reservation is over.
//!   A node can send that early only if `ack_timeout` is shorter than a MAC ACK.

mod ending;
mod planning;
mod reading;
mod reconfigure;

use super::contender::{contenders_of, outranked};
use super::countdown::Countdown;
use super::{Bss, Category, ColliderWait, Node, NodeId, Phy, Station};
use crate::kernel::streams::Streams;
use crate::kernel::time::{Span, Time};

pub use self::reading::Backoff;
pub use super::contender::{AggregateCounters, Contender, DownCounters, NodeCounters};
pub use super::exchange::{
    CfEnd, Content, Exchange, Frame, MinimumExchange, Outcome, PlannedExchange, TxStatus,
};
pub use super::frame_exchange::FrameExchange;
pub use super::single_frame::SingleFrame;

/// The contender that may continue its transmission opportunity (TXOP) after the present MAC ACK.
#[derive(Clone, Copy, Debug)]
struct TxopHolder {
    contender: u32,
    /// End of the MAC ACK of the last exchange.
    done: Time,
}

/// Phase of the transmission that is planned or on the air.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// The transmission has not begun.
    Planned,
    /// The transmission begins, and its contents are not chosen yet.
    Forming,
    /// The transmission is on the air.
    OnAir,
}

/// One contention domain.
///
/// The number of a best-effort contender is the number of its node. The contenders of the other
/// access categories in use have higher numbers.
#[derive(Clone, Debug)]
pub struct Dcf {
    phy: Phy,
    ack_timeout: Option<Span>,
    collider_wait: ColliderWait,
    cf_end: bool,
    contenders: Vec<Contender>,
    countdown: Countdown,
    /// Whether any node has several contenders.
    several_categories: bool,
    /// Number of nodes.
    nodes: usize,
    /// Start of the transmission that is planned or on the air.
    start: Time,
    /// End of the data frame that is planned or on the air; if several frames collide, the end of
    /// the longest first frame.
    end: Time,
    phase: Phase,
    /// Start of the present transmission opportunity (TXOP). `followed` is the number of exchanges
    /// of this TXOP before the exchange on the air.
    opportunity: Time,
    followed: u32,
    /// Whether the plan of the next transmission is out of date, because contenders or their times
    /// have changed.
    stale: bool,
    transmitters: Vec<u32>,
    /// Buffer for the transmitters of the planned transmission.
    candidates: Vec<u32>,
    /// Contenders that gave up a frame after an internal collision, when the transmission on the
    /// air began.
    discarded_inside: Vec<u32>,
    discarded: Vec<u32>,
    holder: Option<TxopHolder>,
    /// CF-End frame that follows the last exchange, unless the TXOP holder sends another frame.
    closing: Option<CfEnd>,
    /// CF-End frame that was sent between the last two exchanges that have ended.
    closed: Option<CfEnd>,
    exchange: Exchange,
    /// End of the last exchange, to which the medium was either idle or busy.
    idle_since: Time,
    idle_ns: u64,
}

impl Dcf {
    /// Returns the idle medium of `bss` with its `stations`. For each flow, `categories` contains
    /// the index of its station, counted from 0, and its category.
    pub fn new(
        bss: &Bss,
        stations: &[Station],
        categories: impl Iterator<Item = (usize, Category)>,
        streams: &Streams,
    ) -> Dcf {
        let cell = &bss.cell;
        let numbered = bss.stations.iter().zip(stations);
        let nodes: Vec<(&str, NodeId, &Node)> = std::iter::once(("ap", bss.ap, &cell.ap))
            .chain(numbered.map(|(&n, s)| (s.name.as_str(), n, &s.node)))
            .collect();
        let members = contenders_of(bss, categories);
        let access =
            |&(node, category): &(NodeId, Category)| nodes[node.index()].2.access(category);
        let mut aifsns: Vec<u32> = members.iter().map(|member| access(member).aifsn).collect();
        aifsns.sort_unstable();
        aifsns.dedup();
        let windows = members
            .iter()
            .map(|member| access(member).cwmax.max(access(member).cwmin));
        let contender = |member: &(NodeId, Category)| {
            let own = access(member).aifsn;
            let group = aifsns.iter().position(|&aifsn| aifsn == own).unwrap_or(0);
            let eifs_lead = cell.phy.eifs_lead();
            Contender::new(nodes[member.0.index()], member.1, group, eifs_lead, streams)
        };
        Dcf {
            phy: cell.phy,
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
            nodes: nodes.len(),
            start: Time::NEVER,
            end: Time::NEVER,
            phase: Phase::Planned,
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
        }
    }

    /// Returns the time of the next event: the end of an exchange, or its start if the contents of
    /// exchanges are chosen at the start. This method plans the next transmission. The caller must
    /// call this method whenever frames have arrived or an exchange has ended.
    #[inline]
    pub fn deadline<X: FrameExchange>(&mut self, _kind: &X) -> Time {
        if self.stale {
            match X::FORMED_AT_START {
                true => self.plan_apart::<X>(),
                false => self.plan::<X>(),
            }
        }
        self.end
    }

    /// Returns whether the next event of the medium is due by `now`. The caller has called
    /// [`Dcf::deadline`] after the last change of the medium.
    #[inline]
    pub fn is_due(&self, now: Time) -> bool {
        self.end <= now
    }

    /// Informs the medium that `contender`, which had nothing to send, wants to send `next` from
    /// `now` on. Returns whether an exchange begins immediately and its contents must be chosen
    /// now.
    #[inline(always)]
    pub fn backlog<X: FrameExchange>(
        &mut self,
        now: Time,
        contender: u32,
        next: X::Next,
        kind: &mut X,
    ) -> bool {
        // if the plan is stale, every contender got its frame at this instant, so that none of them
        // can begin to send at this instant
        if self.phase == Phase::Planned && !self.stale && self.start <= now {
            self.begin_apart::<X>();
        }
        let state = &mut self.contenders[contender as usize];
        kind.load(now, state, next, &self.phy);
        state.backlogged = true;
        if let Some(holder) = self.holder
            && holder.contender == contender
            && now < holder.done
        {
            return self.backlog_of_holder::<X>(now, holder);
        }
        let busy = self.phase != Phase::Planned;
        if self.countdown.arrive(now, busy, contender, state) {
            self.begin_immediately::<X>(now, contender);
            return X::FORMED_AT_START;
        }
        self.stale = !busy;
        false
    }

    /// Performs [`Dcf::backlog`] for the contender that may continue its transmission opportunity.
    /// The exchange of the contender is loaded already.
    #[cold]
    #[inline(never)]
    fn backlog_of_holder<X: FrameExchange>(&mut self, now: Time, holder: TxopHolder) -> bool {
        if self.follow::<X>(holder) {
            return false;
        }
        let contender = holder.contender;
        let busy = self.phase != Phase::Planned;
        let state = &mut self.contenders[contender as usize];
        if self.countdown.arrive(now, busy, contender, state) {
            self.begin_immediately::<X>(now, contender);
            return X::FORMED_AT_START;
        }
        self.stale = !busy;
        false
    }

    /// Begins the exchange that is due, if no exchange is on the air. Returns whether the contents
    /// of the exchange must be chosen now. If the contents are known already, the exchange on the
    /// air is due to end ([`Dcf::end_exchange`]).
    #[inline(always)]
    pub fn begins<X: FrameExchange>(&mut self, _kind: &X) -> bool {
        if self.phase == Phase::Planned {
            match X::FORMED_AT_START {
                true => self.begin_apart::<X>(),
                false => self.begin::<X>(),
            }
        }
        X::FORMED_AT_START && self.phase == Phase::Forming
    }

    /// Sets the planned exchange of `contender`, which is one of the transmitters of the exchange
    /// that begins.
    pub fn load_exchange(&mut self, contender: u32, planned: &PlannedExchange) {
        self.contenders[contender as usize].planned = *planned;
    }

    /// Begins to transmit the exchange. The caller has loaded the exchanges of all transmitters.
    pub fn launch(&mut self) {
        self.phase = Phase::OnAir;
        let span = match self.transmitters[..] {
            [contender] => self.span_to_delivery(contender),
            ref several => self.longest_first(several),
        };
        self.end = self.start + span;
    }

    /// Returns whether channel errors destroy an MPDU of `contender`, at random with the given
    /// `probability`.
    pub fn is_lost(&mut self, contender: u32, probability: f64) -> bool {
        self.contenders[contender as usize]
            .errors
            .chance(probability)
    }

    /// Sets `next` as the next frame or data of `contender` after [`Dcf::end_exchange`]; `None`:
    /// nothing to send. The caller calls this method for the sender of a delivered frame and for
    /// the contenders of [`Dcf::discarded`]. If contents are chosen when an exchange begins, this
    /// method must be called for every transmitter.
    #[inline(always)]
    pub fn proceed<X: FrameExchange>(
        &mut self,
        contender: u32,
        next: Option<X::Next>,
        kind: &mut X,
    ) {
        let state = &mut self.contenders[contender as usize];
        state.backlogged = next.is_some();
        let Some(next) = next else {
            return;
        };
        kind.load(self.exchange.end, state, next, &self.phy);
        if let Some(holder) = self.holder
            && holder.contender == contender
        {
            self.proceed_as_holder::<X>(holder);
        } else if !state.off_grid {
            self.countdown.contend(contender, state);
        }
    }

    /// Performs [`Dcf::proceed`] for the contender that may continue its transmission opportunity.
    /// The next exchange of the contender is loaded already.
    #[inline(never)]
    fn proceed_as_holder<X: FrameExchange>(&mut self, holder: TxopHolder) {
        if self.follow::<X>(holder) {
            return;
        }
        let state = &self.contenders[holder.contender as usize];
        if !state.off_grid {
            self.countdown.contend(holder.contender, state);
        }
    }

    /// Continues the transmission opportunity of `holder` with the exchange that the holder has
    /// loaded, if this exchange fits into the TXOP limit. Returns whether the exchange fits.
    fn follow<X: FrameExchange>(&mut self, holder: TxopHolder) -> bool {
        let state = &self.contenders[holder.contender as usize];
        let start = holder.done + self.phy.sifs;
        let delivery = start + state.planned.data_air;
        let ack_end = delivery + self.phy.sifs + state.planned.response_air;
        let opportunity = ack_end.since(self.opportunity);
        if state.txop_limit.is_some_and(|limit| opportunity > limit) {
            return false;
        }
        self.holder = None;
        if self.closing.take().is_some() {
            self.idle_since = holder.done;
        }
        self.transmitters.clear();
        self.transmitters.push(holder.contender);
        self.start = start;
        (self.phase, self.end) = match X::FORMED_AT_START {
            true => (Phase::Forming, start),
            false => (Phase::OnAir, delivery),
        };
        self.followed += 1;
        self.stale = false;
        true
    }
}

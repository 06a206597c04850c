//! State of a contention domain, for the code that uses or records it.

use super::{CfEnd, Contender, Dcf, Exchange, NodeCounters, Phase};
use crate::kernel::time::{Span, Time};
use crate::mac::{Category, NodeId, Rates};

/// Backoff of a contender. Slots and idle periods are counted per group of contenders with the same
/// AIFS, since the start of the run.
#[derive(Clone, Copy, Debug)]
pub struct Backoff {
    /// Number of idle slots that the group has counted.
    pub passed: u64,
    /// Number of idle periods that lasted at least AIFS.
    pub openings: u64,
    /// Number of the idle slot in which the backoff ends.
    pub target: u64,
    /// Value of `openings` when the backoff was drawn.
    pub drawn_at: u64,
    /// Whether the contender counts slots from another instant than its group. After the next
    /// transmission the contender counts with its group again.
    pub off_grid: bool,
    /// Time at which the other contenders of the group begin to count slots in the present idle
    /// period.
    pub resume: Time,
}

impl Dcf {
    /// Returns the contenders that gave up their frame in the exchange that ended last, including
    /// internal collisions.
    pub fn discarded(&self) -> &[u32] {
        &self.discarded
    }

    /// Returns the contenders that sent in the exchange that ended last.
    pub fn transmitters(&self) -> &[u32] {
        &self.transmitters
    }

    /// Returns the exchange that ended last.
    pub fn exchange(&self) -> Exchange {
        self.exchange
    }

    /// Returns the CF-End frame before the exchange that ended last, if there was one.
    pub fn cf_end(&self) -> Option<CfEnd> {
        self.closed
    }

    /// Returns the number of contenders.
    pub fn contenders(&self) -> usize {
        self.contenders.len()
    }

    /// Returns the contender of `category` at `node`; if no flow at the node uses this category,
    /// the contender of best effort.
    pub fn contender(&self, node: NodeId, category: Category) -> u32 {
        let key = |contender: &Contender| (contender.node, contender.category);
        let others = &self.contenders[self.nodes..];
        match others.binary_search_by_key(&(node, category), key) {
            Ok(index) => (self.nodes + index) as u32,
            Err(_) => node.0,
        }
    }

    /// Returns the contenders of `node`.
    pub fn categories_of(&self, node: NodeId) -> impl Iterator<Item = u32> {
        let nodes = self.nodes;
        let others = &self.contenders[nodes..];
        let from = others.partition_point(|other| other.node < node);
        let own = others[from..]
            .iter()
            .take_while(move |contender| contender.node == node);
        let others = (nodes + from) as u32..;
        std::iter::once(node.0).chain(others.zip(own).map(|(contender, _)| contender))
    }

    /// Returns the node of `contender`.
    pub fn node(&self, contender: u32) -> NodeId {
        self.contenders[contender as usize].node
    }

    /// Returns the access category of `contender`.
    pub fn category(&self, contender: u32) -> Category {
        self.contenders[contender as usize].category
    }

    /// Returns the air times of the RTS and the CTS before the data in the last exchange of
    /// `contender`; `None` if no RTS preceded the data.
    pub fn protection(&self, contender: u32) -> Option<(Span, Span)> {
        let state = &self.contenders[contender as usize];
        let protected = state.planned.protect && !self.exchange.follows;
        protected.then_some((state.planned.rts_air, state.planned.cts_air))
    }

    /// Returns the rates of the last exchange of `contender`. The rates are valid until
    /// [`Dcf::proceed`] is called for `contender`.
    pub fn rates(&self, contender: u32) -> Rates {
        let state = &self.contenders[contender as usize];
        state.sent_at.unwrap_or(state.planned.rates)
    }

    /// Returns the state of the backoff of `contender`, for recorders.
    pub fn backoff(&self, contender: u32) -> Backoff {
        let state = &self.contenders[contender as usize];
        let count = self.countdown.count(state.group);
        Backoff {
            passed: count.passed,
            openings: count.openings,
            target: state.target,
            drawn_at: state.drawn_at,
            off_grid: state.off_grid,
            resume: self.countdown.resume(state.group),
        }
    }

    /// Returns the length of an idle slot.
    pub fn slot(&self) -> Span {
        self.phy.slot
    }

    /// Returns the counters of `contender`.
    pub fn counters(&self, contender: u32) -> NodeCounters {
        self.contenders[contender as usize].counters
    }

    /// Returns whether `contender` has something to send.
    pub fn is_backlogged(&self, contender: u32) -> bool {
        self.contenders[contender as usize].backlogged
    }

    /// Returns whether the transmission opportunities of `contender` have a time limit. If not, the
    /// minimum exchange of the contender is not used.
    pub fn has_limit(&self, contender: u32) -> bool {
        self.contenders[contender as usize].txop_limit.is_some()
    }

    /// Returns the time that is left in the present transmission opportunity of `contender` for an
    /// exchange that begins now (`None`: no limit). Also returns whether this is the first exchange
    /// of the opportunity.
    pub fn opportunity(&self, contender: u32) -> (Option<Span>, bool) {
        let state = &self.contenders[contender as usize];
        let spent = self.start.since(self.opportunity);
        let left = state
            .txop_limit
            .map(|limit| Span(limit.0.saturating_sub(spent.0)));
        (left, self.followed == 0)
    }

    /// Returns the end of the response to the data of `contender`. The data frame ends at `now`.
    pub fn response_end(&self, now: Time, contender: u32) -> Time {
        now + self.phy.sifs + self.contenders[contender as usize].planned.response_air
    }

    /// Returns whether an exchange is on the air and its contents are chosen.
    pub fn is_on_air(&self) -> bool {
        self.phase == Phase::OnAir
    }

    /// Returns how long the data of `contender` have been on the air by `now`. The caller ensures
    /// that `contender` is a transmitter of an exchange that has not ended.
    pub fn data_on_air(&self, now: Time, contender: u32) -> Span {
        let state = &self.contenders[contender as usize];
        let begin = match self.transmitters[..] {
            _ if !self.is_on_air() => return Span::ZERO,
            [_] => Time(self.end.0 - state.planned.data_air.0),
            _ if state.planned.protect => return Span::ZERO, // only RTS frames collide
            _ => self.start,
        };
        now.since(begin).min(state.planned.data_air)
    }

    /// Returns the time for which the medium was busy by `now`. [`Dcf::deadline`] must have been
    /// called for `now`. [ns]
    pub fn busy_ns_by(&self, now: Time) -> u64 {
        // when a data frame ends, `busy_ns` already includes the time of its response; the part of
        // this time after `now` is subtracted
        let ended = self.busy_ns() - self.idle_since.since(now).0;
        // busy time of the exchange on the air; if the exchange is only planned, its start is in
        // the future
        let is_known = self.phase != Phase::Planned || !self.stale;
        let present = if is_known {
            now.since(self.start)
        } else {
            Span::ZERO
        };
        ended + present.0
    }

    /// Returns the total time for which the medium was busy since the start of the run. An exchange
    /// is counted when it ends. [ns]
    pub fn busy_ns(&self) -> u64 {
        self.idle_since.0 - self.idle_ns
    }

    /// Returns the total time for which the medium was idle, from the start of the run to the start
    /// of the last exchange that has ended. SIFS between the exchanges of a transmission
    /// opportunity is included. [ns]
    pub fn idle_ns(&self) -> u64 {
        self.idle_ns
    }

    /// Returns the end of the last exchange. This time is the sum of [`Dcf::busy_ns`] and
    /// [`Dcf::idle_ns`].
    pub fn idle_since(&self) -> Time {
        self.idle_since
    }
}

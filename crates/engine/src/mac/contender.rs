//! One access category of one node: its backoff, its retries and the frame it wants to send.

use super::dcf::AP;
use super::exchange::{Content, Frame};
use super::{Access, Category, Node, Rates};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::Span;

/// What a contender has done on the air since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeCounters {
    /// Transmissions that have ended (of an RTS or a data frame).
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

/// What a contender has sent in aggregates, to all receivers or to one, since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateCounters {
    /// PPDUs with data that went on the air.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Air time of those PPDUs. [ns]
    pub air_ns: u64,
    /// Packets that receivers have handed up.
    pub handed_up: u64,
    /// How long they waited there for others before them. [ns]
    pub waited_ns: u64,
}

impl AggregateCounters {
    /// The sum of both.
    pub fn with(self, other: AggregateCounters) -> AggregateCounters {
        AggregateCounters {
            ppdus: self.ppdus + other.ppdus,
            mpdus: self.mpdus + other.mpdus,
            air_ns: self.air_ns + other.air_ns,
            handed_up: self.handed_up + other.handed_up,
            waited_ns: self.waited_ns + other.waited_ns,
        }
    }

    /// What has been counted since `before`.
    pub fn since(self, before: AggregateCounters) -> AggregateCounters {
        AggregateCounters {
            ppdus: self.ppdus - before.ppdus,
            mpdus: self.mpdus - before.mpdus,
            air_ns: self.air_ns - before.air_ns,
            handed_up: self.handed_up - before.handed_up,
            waited_ns: self.waited_ns - before.waited_ns,
        }
    }
}

/// What became of the access point's frames to one station since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct DownCounters {
    /// Transmissions that ended.
    pub attempts: u64,
    /// Transmissions that collided or were lost to channel errors.
    pub failed: u64,
    /// Frames acknowledged.
    pub delivered: u64,
    /// Frames given up at the attempt limit.
    pub discarded: u64,
}

/// Where a contender stands in the count of idle slots of its interframe space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotCount {
    /// Idle slots passed.
    pub(super) passed: u64,
    /// Idle periods that lasted its interframe space.
    pub(super) openings: u64,
}

#[derive(Clone, Debug)]
pub(super) struct Contender {
    /// Node: 0 is the AP, i + 1 is station i.
    pub(super) node: u32,
    pub(super) category: Category,
    pub(super) stream: Stream,
    pub(super) errors: Stream,
    /// Index of the group with its AIFS.
    pub(super) group: usize,
    /// Idle slot, in its group's count, in which the backoff ends.
    pub(super) target: u64,
    /// The group's `openings` when the backoff was drawn.
    pub(super) drawn_at: u64,
    pub(super) backlogged: bool,
    /// Whether it counts from an instant of its own until the next transmission.
    pub(super) lone: bool,
    pub(super) cw: u32,
    cwmin: u32,
    cwmax: u32,
    short_failures: u32,
    long_failures: u32,
    attempts_short: u32,
    attempts_long: u32,
    /// Frames that may follow the first in a transmission opportunity.
    pub(super) may_follow: u32,
    pub(super) txop_limit: Option<Span>,
    pub(super) frame: Frame,
    /// Rates of the exchange that the frame waits for.
    pub(super) rates: Rates,
    /// Rates of its last exchange, where the rates may fall back when it ends.
    pub(super) sent_at: Rates,
    /// Air time of the frame's data part.
    pub(super) data_air: Span,
    /// Whether RTS and CTS go first.
    pub(super) protect: bool,
    /// Air time of the RTS that announces the frame.
    pub(super) rts_air: Span,
    /// Air time of the MAC ACK that answers the frame, or of the BlockAck, and of the CTS.
    pub(super) response_air: Span,
    /// Probability that channel errors destroy the data frame.
    pub(super) error: f64,
    pub(super) counters: NodeCounters,
}

impl Contender {
    pub(super) fn new(
        (name, number, node): (&str, u32, &Node),
        category: Category,
        group: usize,
        streams: &Streams,
    ) -> Contender {
        let access = node.access(category);
        let prefix = match category {
            Category::BestEffort => name.to_owned(),
            other => format!("{name}/{}", other.name()),
        };
        Contender {
            node: number,
            category,
            stream: streams.stream(&format!("{prefix}/backoff")),
            errors: streams.stream(&format!("{prefix}/channel")),
            group,
            target: 0,
            drawn_at: 0,
            backlogged: false,
            lone: false,
            cw: access.cwmin,
            cwmin: access.cwmin,
            cwmax: access.cwmax.max(access.cwmin),
            short_failures: 0,
            long_failures: 0,
            attempts_short: node.attempts_short,
            attempts_long: node.attempts_long,
            may_follow: may_follow(access),
            txop_limit: access.txop_limit,
            frame: Frame {
                to: AP,
                ip_bytes: 0,
                content: Content::Data,
            },
            rates: Rates::NONE,
            sent_at: Rates::NONE,
            data_air: Span::ZERO,
            protect: false,
            rts_air: Span::ZERO,
            response_air: Span::ZERO,
            error: 0.0,
            counters: NodeCounters::default(),
        }
    }

    /// Windows and opportunities are these from now on: windows from the next draw of a backoff, at the stage
    /// that failures have led to.
    #[cold]
    #[inline(never)]
    pub(super) fn set_access(&mut self, access: &Access) {
        (self.cwmin, self.cwmax) = (access.cwmin, access.cwmax.max(access.cwmin));
        self.may_follow = may_follow(access);
        self.txop_limit = access.txop_limit;
        let failures = self.short_failures + self.long_failures;
        let first = u64::from(self.cwmin) + 1;
        let window = first.saturating_mul(1 << failures.min(31)) - 1;
        self.cw = window.min(u64::from(self.cwmax)) as u32; // at most cwmax
    }

    /// Air time of the frame that opens its exchange.
    pub(super) fn first_air(&self) -> Span {
        if self.protect {
            self.rts_air
        } else {
            self.data_air
        }
    }

    /// Counts a failure of its frame and draws the next backoff; true if the frame is given up.
    pub(super) fn fail(&mut self, long: bool, count: SlotCount) -> bool {
        let (failures, attempts) = if long {
            (&mut self.long_failures, self.attempts_long)
        } else {
            (&mut self.short_failures, self.attempts_short)
        };
        *failures += 1;
        if *failures >= attempts {
            self.backlogged = false;
            self.start_afresh(count);
            return true;
        }
        self.cw = (2 * (self.cw + 1) - 1).min(self.cwmax);
        self.draw(count);
        false
    }

    /// The frame is done with: counters and window start afresh, post-backoff begins.
    pub(super) fn start_afresh(&mut self, count: SlotCount) {
        self.short_failures = 0;
        self.long_failures = 0;
        self.cw = self.cwmin;
        self.draw(count);
    }

    pub(super) fn draw(&mut self, count: SlotCount) {
        self.target = count.passed + u64::from(self.stream.up_to(self.cw));
        self.drawn_at = count.openings;
    }
}

/// Frames that may follow the first in a transmission opportunity.
fn may_follow(access: &Access) -> u32 {
    access.txop_packets.map_or(u32::MAX, |most| most - 1)
}

/// The contenders of a cell: best effort at each node, then the other categories that flows use, which
/// are named with their station, counted from 0.
pub(super) fn contenders_of(
    stations: usize,
    categories: impl Iterator<Item = (usize, Category)>,
) -> Vec<(u32, Category)> {
    let nodes = stations as u32 + 1;
    let mut members: Vec<(u32, Category)> = (0..nodes)
        .map(|node| (node, Category::BestEffort))
        .collect();
    let mut others: Vec<(u32, Category)> = Vec::new();
    for (station, category) in categories {
        if category != Category::BestEffort {
            others.push((AP, category));
            others.push((station as u32 + 1, category));
        }
    }
    others.sort_unstable();
    others.dedup();
    members.extend(others);
    members
}

/// Whether a higher category of the same node is among the `ready`.
pub(super) fn outranked(contenders: &[Contender], one: u32, ready: &[u32]) -> bool {
    let own = &contenders[one as usize];
    ready.iter().any(|&other| {
        let other = &contenders[other as usize];
        other.node == own.node && other.category > own.category
    })
}

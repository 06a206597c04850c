//! One access category of one node: its backoff, its retries and the frame that it has to send.

use super::exchange::{Content, Frame, MinimumExchange, PlannedExchange};
use super::rate_control::TxVector;
use super::{Access, Bss, Category, Node, NodeId, Rates};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::Span;

/// Transmission counters of a contender since the start of the run.
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

/// Counters of the aggregates of a contender, to all receivers or to one, since the start of the
/// run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateCounters {
    /// PPDUs with data that went on the air.
    pub ppdus: u64,
    /// MPDUs in them.
    pub mpdus: u64,
    /// Air time of those PPDUs. [ns]
    pub air_ns: u64,
    /// Packets that receivers have delivered to the upper layer.
    pub handed_up: u64,
    /// Time for which these packets waited at the receiver for earlier packets. [ns]
    pub waited_ns: u64,
}

impl AggregateCounters {
    /// Returns the sum of both.
    pub fn with(self, other: AggregateCounters) -> AggregateCounters {
        self.combined(other, |own, other| own + other)
    }

    /// Returns the difference to the counters at an earlier time, `before`.
    pub fn since(self, before: AggregateCounters) -> AggregateCounters {
        self.combined(before, |now, before| now - before)
    }

    fn combined(self, other: AggregateCounters, by: fn(u64, u64) -> u64) -> AggregateCounters {
        AggregateCounters {
            ppdus: by(self.ppdus, other.ppdus),
            mpdus: by(self.mpdus, other.mpdus),
            air_ns: by(self.air_ns, other.air_ns),
            handed_up: by(self.handed_up, other.handed_up),
            waited_ns: by(self.waited_ns, other.waited_ns),
        }
    }
}

/// Counters of the access point's frames to one station since the start of the run.
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

/// Count of idle slots of the contenders with one interframe space.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotCount {
    /// Idle slots passed.
    pub(super) passed: u64,
    /// Idle periods that lasted the interframe space.
    pub(super) openings: u64,
}

/// State of one access category of one node: an EDCA function, or the DCF of a node.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Number of its node.
    pub(super) node: NodeId,
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
    pub(super) off_grid: bool,
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
    /// Exchange of the frame; its receiver is unused with single frames.
    pub(super) planned: PlannedExchange,
    /// Rates of its last exchange, if the rate control may have changed them at its end.
    pub(super) sent_at: Option<Rates>,
    /// TXVECTOR of the frame, if the rate control may change it.
    pub(super) tx_vector: TxVector,
    /// Whether it gives up what it sends at its attempt limit.
    pub(super) gives_up: bool,
    /// Probability that channel errors destroy the data frame.
    pub(super) error: f64,
    pub(super) counters: NodeCounters,
}

impl Contender {
    pub(super) fn new(
        (name, number, node): (&str, NodeId, &Node),
        category: Category,
        group: usize,
        eifs_lead: Span,
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
            off_grid: false,
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
                to: number, // until a frame is loaded
                ip_bytes: 0,
                content: Content::Data,
            },
            planned: PlannedExchange {
                eifs_leads: [eifs_lead; 2],
                ..PlannedExchange::default()
            },
            sent_at: None,
            tx_vector: TxVector::default(),
            gives_up: true,
            error: 0.0,
            counters: NodeCounters::default(),
        }
    }

    /// Sets windows and opportunities. The windows apply from the next draw of a backoff, at the
    /// stage that the failures so far have reached.
    #[cold]
    #[inline(never)]
    pub(super) fn set_access(&mut self, access: &Access) {
        (self.cwmin, self.cwmax) = (access.cwmin, access.cwmax.max(access.cwmin));
        self.may_follow = may_follow(access);
        self.txop_limit = access.txop_limit;
        let failures = self.retry();
        let first = u64::from(self.cwmin) + 1;
        let window = first.saturating_mul(1 << failures.min(31)) - 1;
        self.cw = window.min(u64::from(self.cwmax)) as u32; // at most cwmax
    }

    /// Declares the shortest exchange that it can begin with.
    #[inline]
    pub(crate) fn declare(&mut self, minimum: MinimumExchange) {
        self.planned.data_air = minimum.data_air;
        self.planned.response_air = minimum.response_air;
        self.gives_up = minimum.gives_up;
    }

    /// Returns EIFS less AIFS after a frame of its exchange is lost: the `first` one, or the data.
    pub(super) fn eifs_lead(&self, first: bool) -> Span {
        self.planned.eifs_leads[usize::from(!(first && self.planned.protect))]
    }

    /// Returns the air time of the frame that opens its exchange.
    pub(super) fn first_air(&self) -> Span {
        match self.planned.protect {
            true => self.planned.rts_air,
            false => self.planned.data_air,
        }
    }

    /// Returns the number of failed attempts at its frame.
    pub(super) fn retry(&self) -> u32 {
        self.short_failures + self.long_failures
    }

    /// Counts a failure of its frame and draws the next backoff. Returns whether the attempts are
    /// used up.
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

    /// Resets counters and window when its frame is delivered or given up, and begins post-backoff.
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

/// Returns the number of frames that may follow the first in a transmission opportunity.
fn may_follow(access: &Access) -> u32 {
    access.txop_packets.map_or(u32::MAX, |most| most - 1)
}

/// Returns the contenders of `bss`: best effort at each node, then the other `categories` that
/// flows use, each with its station, counted from 0.
pub(super) fn contenders_of(
    bss: &Bss,
    categories: impl Iterator<Item = (usize, Category)>,
) -> Vec<(NodeId, Category)> {
    let mut members: Vec<(NodeId, Category)> = bss
        .nodes()
        .map(|node| (node, Category::BestEffort))
        .collect();
    let mut others: Vec<(NodeId, Category)> = Vec::new();
    for (station, category) in categories {
        if category != Category::BestEffort {
            for member in [(bss.ap, category), (bss.roles.node_of(station), category)] {
                if let Err(place) = others.binary_search(&member) {
                    others.insert(place, member);
                }
            }
        }
    }
    members.extend(others);
    members
}

/// Returns whether a higher category of the node of `contender` is among the `ready`.
pub(super) fn outranked(contenders: &[Contender], contender: u32, ready: &[u32]) -> bool {
    let own = &contenders[contender as usize];
    ready.iter().any(|&other| {
        let other = &contenders[other as usize];
        other.node == own.node && other.category > own.category
    })
}

//! A contender, which is one access category of one node: its backoff, its failures, and the frame
//! that it sends next.

use super::exchange::{Content, Frame, MinimumExchange, PlannedExchange};
use super::rate_control::TxVector;
use super::{Access, Bss, Category, Node, NodeId, Rates};
use crate::kernel::streams::{Stream, Streams};
use crate::kernel::time::Span;

/// Transmission counters of a contender, counted since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct NodeCounters {
    /// Number of transmissions of an RTS or a data frame that have ended.
    pub attempts: u64,
    /// Number of attempts that collided.
    pub collided: u64,
    /// Number of attempts that were lost to channel errors.
    pub corrupted: u64,
    /// Number of frames that were acknowledged.
    pub delivered: u64,
    /// Number of frames that were given up at the attempt limit.
    pub discarded: u64,
}

/// Counters of the aggregates of a contender, either to all receivers or to one receiver, counted
/// since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct AggregateCounters {
    /// Number of PPDUs with data that went on the air.
    pub ppdus: u64,
    /// Number of MPDUs in the PPDUs with data.
    pub mpdus: u64,
    /// Air time of the PPDUs with data. [ns]
    pub air_ns: u64,
    /// Number of packets that receivers have handed up to the upper layer.
    pub handed_up: u64,
    /// Time for which the handed-up packets waited at the receivers for earlier packets. [ns]
    pub waited_ns: u64,
}

impl AggregateCounters {
    /// Returns the sums of these counters and `other`.
    pub fn with(self, other: AggregateCounters) -> AggregateCounters {
        self.combined(other, |own, other| own + other)
    }

    /// Returns the increase of these counters since `before`, the counters at an earlier time.
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

/// Counters of the frames from the access point to one station, counted since the start of the run.
#[derive(Clone, Copy, Debug, Default)]
pub struct DownCounters {
    /// Number of transmissions that have ended.
    pub attempts: u64,
    /// Number of transmissions that collided or were lost to channel errors.
    pub failed: u64,
    /// Number of frames that were acknowledged.
    pub delivered: u64,
    /// Number of frames that were given up at the attempt limit.
    pub discarded: u64,
}

/// Numbers of idle slots and idle periods that a group of contenders (with the same AIFS) has
/// counted since the start of the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct SlotCount {
    /// Number of idle slots.
    pub(super) passed: u64,
    /// Number of idle periods that lasted at least AIFS.
    pub(super) openings: u64,
}

/// State of one access category of one node: an EDCA function (EDCAF), or the DCF of a node.
#[derive(Clone, Debug)]
pub struct Contender {
    /// Number of the node of this contender.
    pub(super) node: NodeId,
    pub(super) category: Category,
    pub(super) stream: Stream,
    pub(super) errors: Stream,
    /// Index of the group of contenders with the same AIFS.
    pub(super) group: usize,
    /// Number of the idle slot in which the backoff ends. The group counts idle slots from the
    /// start of the run.
    pub(super) target: u64,
    /// Number of idle periods that the group had counted when the backoff was drawn.
    pub(super) drawn_at: u64,
    pub(super) backlogged: bool,
    /// Whether the contender counts slots from another instant than its group. After the next
    /// transmission the contender counts with its group again.
    pub(super) off_grid: bool,
    pub(super) cw: u32,
    cwmin: u32,
    cwmax: u32,
    short_failures: u32,
    long_failures: u32,
    attempts_short: u32,
    attempts_long: u32,
    /// Number of frames that may follow the first frame in a transmission opportunity.
    pub(super) may_follow: u32,
    pub(super) txop_limit: Option<Span>,
    pub(super) frame: Frame,
    /// Planned exchange of the frame. For a single frame, the field `to` is unused.
    pub(super) planned: PlannedExchange,
    /// Rates of the last exchange, if the rate control may have changed the rates at the end of the
    /// exchange.
    pub(super) sent_at: Option<Rates>,
    /// TXVECTOR of the present frame, if the rate control may change the TXVECTOR.
    pub(super) tx_vector: TxVector,
    /// Whether the contender gives up a frame at the attempt limit.
    pub(super) gives_up: bool,
    /// Probability that channel errors destroy the data frame. [-]
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
                to: number, // placeholder until a frame is loaded
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

    /// Sets the contention windows and the TXOP limits. The next draw of a backoff uses the new
    /// CWmin, doubled once per failure so far, up to the new CWmax.
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

    /// Returns the present frame, and changes the stored length of the frame to a length that no
    /// frame has. The air times and the error probability of the next frame are then computed even
    /// if the next frame is equal to the present frame.
    pub(super) fn unload(&mut self) -> Frame {
        let frame = self.frame;
        self.frame.ip_bytes = u32::MAX;
        frame
    }

    /// Sets the shortest exchange with which the contender can begin.
    #[inline]
    pub(crate) fn declare(&mut self, minimum: MinimumExchange) {
        self.planned.data_air = minimum.data_air;
        self.planned.response_air = minimum.response_air;
        self.gives_up = minimum.gives_up;
    }

    /// Returns EIFS minus AIFS after the loss of a frame. The lost frame is the first frame of the
    /// exchange if `first`, else the data frame.
    pub(super) fn eifs_lead(&self, first: bool) -> Span {
        self.planned.eifs_leads[usize::from(!(first && self.planned.protect))]
    }

    /// Returns the air time of the first frame of the exchange, which is the RTS if there is one.
    pub(super) fn first_air(&self) -> Span {
        match self.planned.protect {
            true => self.planned.rts_air,
            false => self.planned.data_air,
        }
    }

    /// Returns the number of failed attempts to send the present frame.
    pub(super) fn retry(&self) -> u32 {
        self.short_failures + self.long_failures
    }

    /// Counts a failure of the present frame and draws the next backoff. If `long`, the limit for
    /// long frames applies to the failure, else the limit for short frames. Returns whether the
    /// frame has used all its attempts.
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

    /// Resets failures and contention window when the present frame is delivered or given up, and
    /// begins the post-backoff.
    pub(super) fn start_afresh(&mut self, count: SlotCount) {
        self.short_failures = 0;
        self.long_failures = 0;
        self.cw = self.cwmin;
        self.draw(count);
    }

    #[inline(always)]
    pub(super) fn draw(&mut self, count: SlotCount) {
        self.target = count.passed + u64::from(self.stream.up_to(self.cw));
        self.drawn_at = count.openings;
    }
}

/// Returns the number of frames that may follow the first frame in a transmission opportunity,
/// given the access parameters.
fn may_follow(access: &Access) -> u32 {
    access.txop_packets.map_or(u32::MAX, |most| most - 1)
}

/// Returns the contenders of `bss`: first best effort at each node, then the other categories in
/// use, at the access point and at the stations of the flows. For each flow, `categories` contains
/// the index of its station, counted from 0, and its category.
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

/// Returns whether a contender of a higher category at the same node is among the `ready`
/// contenders.
pub(super) fn outranked(contenders: &[Contender], contender: u32, ready: &[u32]) -> bool {
    let own = &contenders[contender as usize];
    ready.iter().any(|&other| {
        let other = &contenders[other as usize];
        other.node == own.node && other.category > own.category
    })
}

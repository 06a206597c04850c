//! The interface of a queue discipline: the queue state that a discipline reads, its verdicts, and
//! the trait of its settings.

use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::{Entry, Located, Section};
use crate::notation::moving::Moving;
use crate::notation::problem::Problems;
use crate::notation::setting::{FileTable, KeyOf};
use crate::packet::{Ecn, Packet};

/// The verdict of a discipline on an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The packet joins the queue.
    Enter,
    /// The packet joins the queue and is marked; it is ECN-capable.
    Mark,
    /// The packet is lost.
    Drop,
}

impl Verdict {
    /// Returns the verdict on a `packet` that AQM selects for a mark or a drop before the queue is
    /// full. The packet is marked if `may` is true (marks are allowed) and the packet is
    /// ECN-capable. If not, the packet is dropped.
    #[inline]
    pub(super) fn early(may: bool, packet: &Packet) -> Verdict {
        match may && packet.ecn != Ecn::NotCapable {
            true => Verdict::Mark,
            false => Verdict::Drop,
        }
    }
}

/// Random drops before the queue is full. Each packet is dropped with a given probability,
/// independently of other packets.
#[derive(Clone, Debug)]
pub(super) struct RandomDrop {
    /// Maximum number of packets in the queue, including the packet in service.
    pub(super) limit: u32,
    ecn: bool,
    stream: Stream,
}

impl RandomDrop {
    pub(super) fn new(limit: u32, ecn: bool, stream: Stream) -> RandomDrop {
        RandomDrop { limit, ecn, stream }
    }

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`. `p` is the
    /// probability of a drop or mark; a value above 1 is treated as 1.
    #[inline]
    pub(super) fn admit(&mut self, p: f64, backlog: &Backlog, packet: &Packet) -> Verdict {
        if backlog.packets >= self.limit {
            Verdict::Drop
        } else if self.stream.chance(p) {
            Verdict::early(self.ecn, packet)
        } else {
            Verdict::Enter
        }
    }
}

/// The state of the queue at the arrival of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Number of packets in the queue, including the packet in service.
    pub packets: u32,
    /// Total length of the packets in the queue. [bytes]
    pub bytes: u64,
    /// Length of the packet in service, or 0 if there is none. [bytes]
    pub in_service_bytes: u32,
    /// Time since which the queue has been empty; `None` if it is not empty. If there has been no
    /// packet yet, the value is [`Time::ZERO`].
    pub idle_since: Option<Time>,
}

impl Backlog {
    pub(super) fn held(&self) -> Held {
        Held {
            packets: self.packets,
            bytes: self.bytes,
        }
    }
}

/// The number and length of the packets in a queue at one time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Number of packets in the queue, including the packet in service.
    pub packets: u32,
    /// Total length of the packets in the queue. [bytes]
    pub bytes: u64,
}

/// The server of a queue: a link, or the channel of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Egress {
    /// Rate at which packets are served: the rate of the link or, in a cell, of data frames.
    /// [bit/s]
    pub rate_bps: u64,
    /// Whether all packets are served at `rate_bps`, as on a wire; false if the service time
    /// varies, as in a cell.
    pub is_fixed: bool,
    /// Propagation time of the link.
    pub delay: Span,
}

/// Default limit of a queue whose discipline has no default limit. [packets]
pub(super) const DEFAULT_LIMIT: u32 = 1_000;

/// Key `limit`, which every queue has.
pub(super) const LIMIT: KeyOf<u32> = KeyOf::new("limit");
pub(super) const THRESHOLD: KeyOf<u32> = KeyOf::new("threshold");

/// Implements `moving` and `moved_to` for the keys of a discipline that may change at run time.
macro_rules! moving {
    ($vis:vis $($key:ident),+) => {
        /// Returns the current values of the keys that may change at run time.
        $vis fn moving(&self) -> Vec<crate::notation::moving::Moving> {
            use crate::notation::moving::Movable;
            vec![$( self.$key.at(Self::$key.name()) ),+]
        }

        /// Returns these settings, with the values of `other` for the keys that may change at run
        /// time.
        $vis fn moved_to(self, other: Self) -> Self {
            Self {
                $( $key: other.$key, )+
                ..self
            }
        }
    };
}
pub(super) use moving;

/// The methods of the settings of a discipline, in addition to those of its table.
pub(crate) trait OfDiscipline: FileTable {
    /// Default limit of a queue with this discipline. [packets]
    const LIMIT: u32 = DEFAULT_LIMIT;

    /// Whether the discipline selects the next packet. If true, no other setting may define the
    /// order of packets.
    const ORDERS: bool = false;

    /// Returns whether the discipline may mark packets.
    fn marks(&self) -> bool;

    /// Returns the current values of the keys that may change at run time.
    fn moving(&self) -> Vec<Moving>;

    /// Returns these settings, with the values of `other` for the keys that may change at run time.
    fn moved_to(self, other: Self) -> Self;

    /// Checks the combination of the discipline's keys, and the keys against the limit of the
    /// queue.
    fn check(_queue: &Section, _own: &Section, _problems: &mut Problems) {}
}

/// Reports keys of a discipline that have no effect, because the key `switch` does not have the
/// value `needed`.
pub(super) fn refuse_idle<T>(
    own: &Section,
    keys: &[&str],
    switch: KeyOf<T>,
    needed: &str,
    problems: &mut Problems,
) {
    let overruled = own.given(switch.name()).is_some_and(Entry::is_set);
    let needed = format!("{} = {needed}", switch.name());
    own.refuse_idle(keys, &needed, overruled, problems);
}

/// Reports that a discipline has no effect, because the queue length `start` at which it begins to
/// drop is not below the limit of the queue.
pub(super) fn check_start<T: Copy + Into<f64>>(
    queue: &Section,
    start: &Located<T>,
    key: &str,
    problems: &mut Problems,
) {
    if queue.entry(THRESHOLD.name()).is_some() {
        return;
    }
    let given = queue.located(LIMIT);
    let limit = match &given {
        Some(limit) => limit.value,
        None if queue.lacks(LIMIT) => return,
        None => DEFAULT_LIMIT,
    };
    let min = start.value.into();
    if f64::from(limit) > min {
        return;
    }
    match given {
        Some(given) => {
            let message = format!(
                "with the limit {} the queue never reaches {key}; expected more than {}",
                given.shown,
                min.floor()
            );
            problems.add(given.origin, &given.path, message);
        }
        None => {
            let message = format!(
                "{} is never reached by a queue with the limit {DEFAULT_LIMIT}; expected less",
                start.shown
            );
            let hint = format!("`{}.limit` sets the limit of the queue", queue.path);
            problems.add_with_hint(start.origin, &start.path, message, Some(hint));
        }
    }
}

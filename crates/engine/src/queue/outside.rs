//! Queue disciplines of other crates: their key and settings in files, their policy behind a pointer.

use std::fmt;

use super::{Admission, Backlog, Managed, Outlet, Verdict};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json};
use crate::notation::table::Brought;
use crate::packet::Packet;

/// A queue discipline of another crate, which decides when a packet arrives.
pub trait Policy: Clone + fmt::Debug + Send + 'static {
    /// The key of its table in the table of a queue.
    const NAME: &'static str;

    /// What it is, for the schema.
    const DOC: &'static str;

    /// Whether it may answer [`Verdict::Mark`].
    const MARKS: bool = false;

    /// What a file says of it.
    type Settings: FileTable + Send + Sync + 'static;

    /// The discipline of an empty queue of `limit` packets, the one in service included, in front of
    /// `outlet`.
    fn new(settings: &Self::Settings, limit: u32, outlet: Outlet, stream: Stream) -> Self;

    /// Decides on `packet`, which finds `backlog`; it has to keep the limit itself.
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;

    /// A packet has left `sojourn` after it came.
    fn departed(&mut self, _now: Time, _sojourn: Span) {}
}

/// A queue discipline of another crate with its settings, which live as long as the program.
#[derive(Clone, Copy)]
pub struct OutsideDiscipline(&'static dyn Maker);

/// What a crate brings to have its discipline in files.
pub(crate) struct QueuePart {
    read: fn(&Section) -> Result<OutsideDiscipline, Refused>,
}

/// A discipline with its settings.
trait Maker: Send + Sync {
    fn name(&self) -> &'static str;
    fn marks(&self) -> bool;
    fn json(&self) -> Json;
    fn policy(&self, limit: u32, outlet: Outlet, stream: Stream) -> OutsidePolicy;
}

struct Configured<P: Policy>(P::Settings);

impl<P: Policy> Maker for Configured<P> {
    fn name(&self) -> &'static str {
        P::NAME
    }

    fn marks(&self) -> bool {
        P::MARKS
    }

    fn json(&self) -> Json {
        self.0.json()
    }

    fn policy(&self, limit: u32, outlet: Outlet, stream: Stream) -> OutsidePolicy {
        OutsidePolicy(Box::new(P::new(&self.0, limit, outlet, stream)))
    }
}

impl QueuePart {
    pub(crate) fn of<P: Policy>() -> QueuePart {
        QueuePart {
            read: |own| {
                let settings = P::Settings::read(&Layers(&[own]))?;
                Ok(OutsideDiscipline(Box::leak(Box::new(Configured::<P>(
                    settings,
                )))))
            },
        }
    }
}

impl OutsideDiscipline {
    /// The discipline that somebody brought, with what its table says; `None` if it is none.
    pub(super) fn read(brought: Brought, own: &Section) -> Result<Option<Self>, Refused> {
        let part = brought.downcast_ref::<QueuePart>();
        part.map(|part| (part.read)(own)).transpose()
    }

    pub(super) fn name(self) -> &'static str {
        self.0.name()
    }

    pub(super) fn marks(self) -> bool {
        self.0.marks()
    }

    pub(super) fn json(self) -> Json {
        self.0.json()
    }

    pub(super) fn managed(self, limit: u32, outlet: Outlet, stream: Stream) -> Managed {
        Admission::Outside(self.0.policy(limit, outlet, stream)).into()
    }
}

/// By name and settings.
impl PartialEq for OutsideDiscipline {
    fn eq(&self, other: &OutsideDiscipline) -> bool {
        (self.name(), self.json()) == (other.name(), other.json())
    }
}

impl fmt::Debug for OutsideDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name(), self.json())
    }
}

/// The discipline of one queue, whatever its type.
pub struct OutsidePolicy(Box<dyn AnyPolicy>);

trait AnyPolicy: fmt::Debug + Send {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;
    fn departed(&mut self, now: Time, sojourn: Span);
    fn boxed(&self) -> Box<dyn AnyPolicy>;
}

impl<P: Policy> AnyPolicy for P {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        Policy::admit(self, now, backlog, packet)
    }

    fn departed(&mut self, now: Time, sojourn: Span) {
        Policy::departed(self, now, sojourn);
    }

    fn boxed(&self) -> Box<dyn AnyPolicy> {
        Box::new(self.clone())
    }
}

impl OutsidePolicy {
    pub(super) fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        self.0.admit(now, backlog, packet)
    }

    pub(super) fn departed(&mut self, now: Time, sojourn: Span) {
        self.0.departed(now, sojourn);
    }
}

impl Clone for OutsidePolicy {
    fn clone(&self) -> OutsidePolicy {
        OutsidePolicy(self.0.boxed())
    }
}

impl fmt::Debug for OutsidePolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

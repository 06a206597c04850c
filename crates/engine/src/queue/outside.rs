//! Queue disciplines of other crates: their key and settings in files, their policy behind a pointer.

use std::fmt;
use std::sync::Arc;

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

    /// Decides on `packet`, which finds `backlog`; the discipline has to keep the limit itself.
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;

    /// A packet has left `sojourn` after it came.
    fn departed(&mut self, _now: Time, _sojourn: Span) {}
}

/// A queue discipline of another crate with its settings.
#[derive(Clone)]
pub struct OutsideDiscipline(pub(super) Arc<Configured>);

/// A discipline of another crate with the settings of one table.
pub(super) struct Configured {
    pub(super) name: &'static str,
    pub(super) marks: bool,
    /// Its settings in the normalised scenario.
    pub(super) json: Json,
    policy: Box<Maker>,
}

/// Makes the discipline of one queue.
type Maker = dyn Fn(u32, Outlet, Stream) -> OutsidePolicy + Send + Sync;

/// What a crate brings to have its discipline in files.
pub(crate) struct QueuePart {
    read: fn(&Section) -> Result<Configured, Refused>,
}

impl QueuePart {
    pub(crate) const fn of<P: Policy>() -> QueuePart {
        QueuePart {
            read: |own| {
                let settings = P::Settings::read(&Layers(&[own]))?;
                Ok(Configured {
                    name: P::NAME,
                    marks: P::MARKS,
                    json: settings.json(),
                    policy: Box::new(move |limit, outlet, stream| {
                        Box::new(P::new(&settings, limit, outlet, stream))
                    }),
                })
            },
        }
    }
}

impl OutsideDiscipline {
    /// The discipline that another crate `brought`, with what its table says; `None` if it brought
    /// something else.
    pub(super) fn read(brought: Brought, own: &Section) -> Result<Option<Self>, Refused> {
        let part = brought.downcast_ref::<QueuePart>();
        let configured = part.map(|part| (part.read)(own)).transpose()?;
        Ok(configured.map(|one| OutsideDiscipline(Arc::new(one))))
    }

    pub(super) fn managed(&self, limit: u32, outlet: Outlet, stream: Stream) -> Managed {
        Managed::OnArrival(Admission::Outside((self.0.policy)(limit, outlet, stream)))
    }
}

/// Two are equal if their names and settings are.
impl PartialEq for OutsideDiscipline {
    fn eq(&self, other: &OutsideDiscipline) -> bool {
        (self.0.name, &self.0.json) == (other.0.name, &other.0.json)
    }
}

impl fmt::Debug for OutsideDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, self.0.json)
    }
}

/// The discipline of one queue, whatever its type.
pub type OutsidePolicy = Box<dyn AnyPolicy>;

/// What a [`Policy`] can do for one queue.
pub trait AnyPolicy: fmt::Debug + Send {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;
    fn departed(&mut self, now: Time, sojourn: Span);
    fn boxed(&self) -> OutsidePolicy;
}

impl<P: Policy> AnyPolicy for P {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        Policy::admit(self, now, backlog, packet)
    }

    fn departed(&mut self, now: Time, sojourn: Span) {
        Policy::departed(self, now, sojourn);
    }

    fn boxed(&self) -> OutsidePolicy {
        Box::new(self.clone())
    }
}

impl Clone for OutsidePolicy {
    fn clone(&self) -> OutsidePolicy {
        (**self).boxed()
    }
}

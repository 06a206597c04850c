//! Queue disciplines from other crates: the reading of their settings, and their policies as trait
//! objects.

use std::fmt;
use std::sync::Arc;

use super::discipline::{Backlog, Egress, Verdict};
use crate::kernel::streams::Stream;
use crate::kernel::time::{Span, Time};
use crate::notation::decode::Section;
use crate::notation::layers::Layers;
use crate::notation::problem::Refused;
use crate::notation::setting::{FileTable, Json};
use crate::notation::table::Extension;
use crate::packet::Packet;

/// A queue discipline from another crate that decides at the arrival of a packet.
pub trait Policy: Clone + fmt::Debug + Send + 'static {
    /// Key of the table of the discipline, within the table of a queue.
    const NAME: &'static str;

    /// Documentation of the discipline in the schema.
    const DOC: &'static str;

    /// Whether `admit` may return [`Verdict::Mark`].
    const MARKS: bool = false;

    /// Settings of the discipline, as a scenario file contains them.
    type Settings: FileTable + Send + Sync + 'static;

    /// Returns the discipline of an empty queue of `limit` packets, including the packet in service, upstream of
    /// `egress`.
    fn new(settings: &Self::Settings, limit: u32, egress: Egress, stream: Stream) -> Self;

    /// Returns the verdict on `packet`, which arrives when the queue holds `backlog`. The
    /// discipline must enforce the limit of the queue itself.
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;

    /// Processes the departure of a packet with this sojourn time.
    fn departed(&mut self, _now: Time, _sojourn: Span) {}
}

/// A queue discipline from another crate, with its settings.
#[derive(Clone)]
pub struct PluginDiscipline(pub(super) Arc<Configured>);

/// A discipline from another crate, with the settings that its table in a file contains.
pub(super) struct Configured {
    pub(super) name: &'static str,
    pub(super) marks: bool,
    /// Settings of the discipline in the normalised scenario.
    pub(super) json: Json,
    policy: Box<Maker>,
}

/// A function that creates the discipline of one queue.
type Maker = dyn Fn(u32, Egress, Stream) -> PluginPolicy + Send + Sync;

/// A function that reads the settings of a discipline from its table in a file.
pub(crate) struct DisciplinePlugin {
    read: fn(&Section) -> Result<Configured, Refused>,
}

impl DisciplinePlugin {
    pub(crate) const fn of<P: Policy>() -> DisciplinePlugin {
        DisciplinePlugin {
            read: |own| {
                let settings = P::Settings::read(&Layers(&[own]))?;
                Ok(Configured {
                    name: P::NAME,
                    marks: P::MARKS,
                    json: settings.json(),
                    policy: Box::new(move |limit, egress, stream| {
                        Box::new(P::new(&settings, limit, egress, stream))
                    }),
                })
            },
        }
    }
}

impl PluginDiscipline {
    /// Returns the discipline of an `extension` with the settings of its table `own`; `None` if the
    /// extension is not a discipline.
    pub(super) fn read(extension: Extension, own: &Section) -> Result<Option<Self>, Refused> {
        let plugin = extension.downcast_ref::<DisciplinePlugin>();
        let configured = plugin.map(|plugin| (plugin.read)(own)).transpose()?;
        Ok(configured.map(|own| PluginDiscipline(Arc::new(own))))
    }

    /// Returns the discipline of an empty queue of `limit` packets upstream of `egress`.
    pub(super) fn policy(&self, limit: u32, egress: Egress, stream: Stream) -> PluginPolicy {
        (self.0.policy)(limit, egress, stream)
    }
}

/// Two disciplines are equal if their names and settings are equal.
impl PartialEq for PluginDiscipline {
    fn eq(&self, other: &PluginDiscipline) -> bool {
        (self.0.name, &self.0.json) == (other.0.name, &other.0.json)
    }
}

impl fmt::Debug for PluginDiscipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.name, self.0.json)
    }
}

/// The discipline of one queue, as a trait object.
pub type PluginPolicy = Box<dyn AnyPolicy>;

/// The methods of a [`Policy`], in a form that trait objects support.
pub trait AnyPolicy: fmt::Debug + Send {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict;
    fn departed(&mut self, now: Time, sojourn: Span);
    fn boxed(&self) -> PluginPolicy;
}

impl<P: Policy> AnyPolicy for P {
    fn admit(&mut self, now: Time, backlog: &Backlog, packet: &Packet) -> Verdict {
        Policy::admit(self, now, backlog, packet)
    }

    fn departed(&mut self, now: Time, sojourn: Span) {
        Policy::departed(self, now, sojourn);
    }

    fn boxed(&self) -> PluginPolicy {
        Box::new(self.clone())
    }
}

impl Clone for PluginPolicy {
    fn clone(&self) -> PluginPolicy {
        (**self).boxed()
    }
}

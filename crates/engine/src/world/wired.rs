//! A wired link of a simulation, with additional properties for results.

use crate::kernel::time::Time;
use crate::link::Link;
use crate::packet::Packet;

/// A wired link. The size of this type is that of a cache line, because a network may have very
/// many access links of hosts.
#[repr(align(64))]
pub(crate) struct WiredLink {
    pub(super) link: Link,
    pub(super) label: Box<Label>,
}

impl WiredLink {
    /// Returns whether the link is the access link of a host.
    pub(super) fn is_of_host(&self) -> bool {
        matches!(self.link, Link::Host(_))
    }

    /// Returns whether packets enter the link with lookahead.
    pub(super) fn enters_ahead(&self) -> bool {
        self.label.lookahead
    }

    /// Returns the simulated link with its counters.
    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Returns the name of the link in results.
    pub(crate) fn name(&self) -> &str {
        &self.label.name
    }

    /// Returns whether results contain the link.
    pub(crate) fn is_shown(&self) -> bool {
        self.label.shown
    }

    /// Returns whether the queue of the link may mark packets.
    pub(crate) fn marks(&self) -> bool {
        self.label.marks
    }

    /// Returns the time at which a packet leaves the access link of a host, if the packet enters at
    /// `at`.
    #[inline(always)]
    pub(super) fn pass_host(&mut self, at: Time, packet: &Packet) -> Time {
        match &mut self.link {
            Link::Host(host) => host.enter(at, packet),
            Link::Pipe(_) | Link::Served(_) | Link::Traced(_) => {
                unreachable!("a leg has the kind of its link")
            }
        }
    }
}

/// Properties of a link that are not read for each packet.
pub(super) struct Label {
    /// Whether packets enter the link with lookahead.
    pub(super) lookahead: bool,
    /// Whether results contain the link.
    pub(super) shown: bool,
    /// Whether the queue of the link may mark packets.
    pub(super) marks: bool,
    /// Name of the link in results.
    pub(super) name: Box<str>,
}
